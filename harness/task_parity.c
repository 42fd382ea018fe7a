/* Parity: is the number of ones even or odd (Deletang et al. 2023, "parity check"; Huang et al. 2025, "parity").
 *
 *   length    bits
 *   tokens    0 and 1 the bits, 2 even, 3 odd, BOS = 4, SEP = 5, EOS = 6
 *   input     BOS x SEP y                                       length + 3 tokens
 *
 *   length 5:
 *   input     4 1 0 0 1 1 5 3
 *   target    . . . . . . 3 6
 *
 *   balance   counts: the number of ones is uniform over 0 .. length, then its places are (Huang et al.)
 *             bits: each bit is 0 or 1 with probability 1/2 (Deletang et al., Kazemnejad et al.)
 */
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

enum { PARITY_COUNTS, PARITY_BITS };
enum { PARITY_EVEN = 2, PARITY_ODD, PARITY_SYMBOLS };

typedef struct parity_options {
    int balance;
} parity_options;

static int parity_symbols(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return PARITY_SYMBOLS;
}

static void parity_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = len;
    *answer = 1;
}

/* Of the counts 0 .. len, len/2 + 1 are even. */
static double parity_chance(const void *options, const void *state, int len)
{
    const parity_options *o = options;
    (void)state;
    return o->balance == PARITY_BITS ? 0.5 : (len / 2 + 1.0) / (len + 1.0);
}

static void parity_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const parity_options *o = options;
    int ones = 0;
    (void)state;
    if (o->balance == PARITY_COUNTS) {
        ones = (int)rng_below(kind, (uint32_t)len + 1);
        task_arrange_bits(rest, len - ones, len, 1, out->prompt);
    } else {
        for (int i = 0; i < len; i++)
            ones += out->prompt[i] = (int)rng_below(rest, 2);
    }
    out->answer[0] = ones % 2 ? PARITY_ODD : PARITY_EVEN;
    out->prompt_len = len;
    out->answer_len = 1;
}

static const pe_option parity_rows[] = {
    {"balance", PE_OPTION_CHOICE, offsetof(parity_options, balance), "counts", 0, 0, 0, "counts|bits",
     "what is uniform: counts, the number of ones (Huang et al.); bits, each bit (Deletang et al., Kazemnejad et al.)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_parity = {
    .name = "parity",
    .title = "Parity",
    .source = "Huang et al., A Formal Framework for Understanding Length Generalization in Transformers, ICLR 2025; "
              "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023",
    .format = "BOS 1 0 0 1 1 SEP odd EOS",
    .notes = "No transformer of either source solves it past the training lengths: Huang et al. report at most .83 at "
             "twice and .63 at three times the length. With balance=counts strings of few zeros or few ones are "
             "frequent, at every length, and the rarest of them are shared between streams; an even count is a little "
             "more frequent at even lengths. Huang et al. train on lengths 0-50 and test on 51-100 and 101-150; "
             "Deletang et al. train on 1-40 and test up to 500, with balance=bits.",
    .kind = TASK_ANSWER,
    .sentinel = "no transformer of either source solves it past its training lengths; the best has 0.63 at two to three "
                "times the length, where guessing has 0.5",
    .options = parity_rows,
    .options_size = sizeof(parity_options),
    .symbols = parity_symbols,
    .sizes = parity_sizes,
    .chance_token = parity_chance,
    .chance_exact = parity_chance,
    .pair = parity_pair,
    .bibtex = TASK_BIB_HUANG TASK_BIB_DELETANG,
};
