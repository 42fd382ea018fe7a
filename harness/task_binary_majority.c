/* Majorities of bits: which of two bits occurs more often (Huang et al. 2025, "binary majority"), and the same for
 * several interleaved strings at once ("binary majority interleave").
 *
 * binary_majority
 *   length    bits
 *   tokens    0 and 1 the bits, BOS = 2, SEP = 3, EOS = 4
 *   input     BOS x SEP y                                       length + 3 tokens, y = the bit that prevails
 *   target    nothing up to the last bit, then y EOS: SEP predicts y
 *
 *   length 5:
 *   input     2 1 0 0 1 0 3 0
 *   target    . . . . . . 0 4
 *
 * interleaved_majority
 *   length    bits of each of the `period` strings
 *   tokens    the same
 *   input     BOS x SEP y       period * length + 2 + period tokens; bit i of string k is x[i * period + k], and
 *                               y[k] is the bit that prevails in it
 *
 *   period=3, length 3: the strings 100, 111, 010
 *   input     2 1 1 0 0 1 1 0 1 0 3 0 1 0
 *   target    . . . . . . . . . . 0 1 0 4
 *
 * There are no ties. The number of zeros of a string is uniform over all that are no tie, then its places are: so hard
 * instances (near a tie) are as frequent at every length, where uniform bits would be all near a tie at great lengths.
 */
#include <math.h>
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

/* ------------------------------------------------------------------------------------------------ one string */

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

static void binary_majority_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    int zeros = binary_majority_zeros(kind, len);
    (void)options, (void)state;
    task_arrange_bits(rest, zeros, len, 1, out->prompt);
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
             "few that streams share them: see the overlap in the record.",
    .kind = TASK_ANSWER,
    .symbols = binary_majority_symbols,
    .sizes = binary_majority_sizes,
    .chance_token = binary_majority_chance_token,
    .chance_exact = binary_majority_chance_exact,
    .pair = binary_majority_pair,
    .bibtex = TASK_BIB_HUANG,
};

/* ------------------------------------------------------------------------------------------------ several strings */

typedef struct interleaved_majority_options {
    int period;
} interleaved_majority_options;

static void interleaved_majority_sizes(const void *options, int len, int *prompt, int *answer)
{
    const interleaved_majority_options *o = options;
    *prompt = o->period * len;
    *answer = o->period;
}

static double interleaved_majority_chance_exact(const void *options, const void *state, int len)
{
    const interleaved_majority_options *o = options;
    (void)state, (void)len;
    return pow(2.0, -o->period);
}

static void interleaved_majority_pair(const void *options, const void *state, rng *kind, rng *rest, int len,
                                      task_pair *out)
{
    const interleaved_majority_options *o = options;
    (void)state;
    for (int k = 0; k < o->period; k++) {
        int zeros = binary_majority_zeros(kind, len);
        task_arrange_bits(rest, zeros, len, o->period, out->prompt + k);
        out->answer[k] = 2 * zeros < len;
    }
    out->prompt_len = o->period * len;
    out->answer_len = o->period;
}

static const pe_option interleaved_majority_rows[] = {
    {"period", PE_OPTION_INT, offsetof(interleaved_majority_options, period), "3", 1, 64, 0, NULL,
     "how many strings take turns, one answer for each (Huang et al.: 3)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_interleaved_majority = {
    .name = "interleaved_majority",
    .title = "Interleaved majority",
    .source = "Huang et al., A Formal Framework for Understanding Length Generalization in Transformers, ICLR 2025",
    .format = "BOS 1 1 0 0 1 1 0 1 0 SEP 0 1 0 EOS",
    .notes = "Length counts the bits of one string; the prompt is `period` times as long. The source counts all bits "
             "and makes their number a multiple of 3: its 1-50, 51-100 and 101-150 are lengths 1-16, 17-33 and 34-50 "
             "here. Counting has to tell places apart modulo the period, so position is needed where binary_majority "
             "needs none. The number of zeros of each string is uniform, ties left out.",
    .kind = TASK_ANSWER,
    .options = interleaved_majority_rows,
    .options_size = sizeof(interleaved_majority_options),
    .symbols = binary_majority_symbols,
    .sizes = interleaved_majority_sizes,
    .chance_token = binary_majority_chance_token,
    .chance_exact = interleaved_majority_chance_exact,
    .pair = interleaved_majority_pair,
    .bibtex = TASK_BIB_HUANG,
};
