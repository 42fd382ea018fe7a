/* Binary majority: which of two bits occurs more often (Huang et al. 2025, "binary majority").
 *
 *   length    bits
 *   tokens    0 and 1 the bits, BOS = 2, SEP = 3, EOS = 4
 *   input     BOS x SEP y                                       length + 3 tokens, y = the bit that prevails
 *   target    nothing up to the last bit, then y EOS: SEP predicts y
 *
 *   length 5:
 *   input     2 1 0 0 1 0 3 0
 *   target    . . . . . . 0 4
 *
 * There are no ties. The number of zeros is uniform over all that are no tie, then its places are: so hard instances
 * (near a tie) are as frequent at every length, where uniform bits would be all near a tie at great lengths.
 */
#include <stddef.h>

#include "task.h"

static int binary_majority_symbols(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return 2;
}

static void binary_majority_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = len;
    *answer = 1;
}

/* By symmetry, at every length. */
static double binary_majority_chance_token(const void *options, const void *state, int len)
{
    (void)options, (void)state, (void)len;
    return 0.5;
}

static double binary_majority_chance_exact(const void *options, const void *state, int len)
{
    (void)options, (void)state, (void)len;
    return 0.5;
}

/* Uniform over 0 .. len without len/2 when that would be a tie. */
static int binary_majority_zeros(rng *kind, int len)
{
    if (len % 2 == 1)
        return (int)rng_below(kind, (uint32_t)len + 1);
    int zeros = (int)rng_below(kind, (uint32_t)len);
    return zeros < len / 2 ? zeros : zeros + 1;
}

static void binary_majority_pair(const void *options, const void *state, rng *kind, rng *rest, int len,
                                 task_pair *out)
{
    int zeros = binary_majority_zeros(kind, len);
    (void)options, (void)state;
    for (int i = 0, left = zeros; i < len; i++) { /* each arrangement is equally likely */
        int bit = rng_below(rest, (uint32_t)(len - i)) >= (uint32_t)left;
        left -= !bit;
        out->prompt[i] = bit;
    }
    out->answer[0] = 2 * zeros < len;
    out->prompt_len = len;
    out->answer_len = 1;
}

const task_descriptor task_descriptor_binary_majority = {
    .name = "binary_majority",
    .title = "Binary majority",
    .source = "Huang et al., A Formal Framework for Understanding Length Generalization in Transformers, ICLR 2025",
    .format = "BOS 1 0 0 1 0 SEP 0 EOS",
    .notes = "The number of zeros is uniform, ties left out. Strings of one bit only, and all short strings, are so "
             "few that "
             "streams share them: see the overlap in the record.",
    .kind = TASK_ANSWER,
    .symbols = binary_majority_symbols,
    .sizes = binary_majority_sizes,
    .chance_token = binary_majority_chance_token,
    .chance_exact = binary_majority_chance_exact,
    .pair = binary_majority_pair,
    .bibtex = "@inproceedings{huang2025formal, title = {A Formal Framework for Understanding Length Generalization in "
              "Transformers}, author = {Huang, Xinting and Yang, Andy and Bhattamishra, Satwik and Sarrof, Yash and "
              "Krebs, Andreas and Zhou, Hattie and Nakkiran, Preetum and Hahn, Michael}, booktitle = {International "
              "Conference on Learning Representations}, year = {2025}, eprint = {2410.02140}, archiveprefix = {arXiv}}",
};
