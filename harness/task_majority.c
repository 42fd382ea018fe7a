/* Majority: which symbol occurs most often (Huang et al. 2025, "majority").
 *
 *   length    symbols
 *   tokens    0 .. symbols-1 the symbols, then BOS = symbols, SEP = symbols+1, EOS = symbols+2
 *   input     BOS x SEP y                                       length + 3 tokens, y = the symbol that prevails
 *
 *   symbols=26, length 5:
 *   input     26  7  0  7 19  3 27  7
 *   target     .  .  .  .  .  .  7 28
 *
 * Symbols are independent and uniform, and drawn again until one of them occurs more often than any other.
 */
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

/* Two symbols out of many are seldom the same, and then they have to be drawn that often. */
enum { MAJORITY_MAX = 256 };

typedef struct majority_options {
    int symbols;
} majority_options;

static int majority_symbols(const void *options, int max_len)
{
    const majority_options *o = options;
    (void)max_len;
    return o->symbols;
}

static void majority_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = len;
    *answer = 1;
}

/* No symbol differs from another. */
static double majority_chance(const void *options, const void *state, int len)
{
    const majority_options *o = options;
    (void)state, (void)len;
    return 1.0 / o->symbols;
}

/* x = len symbols; returns the one that occurs most often, or -1 when another one does as often. */
static int majority_draw(rng *rest, int symbols, int len, int *x)
{
    int count[MAJORITY_MAX] = {0}, best = 0, ties = 0;
    for (int i = 0; i < len; i++)
        count[x[i] = (int)rng_below(rest, (uint32_t)symbols)]++;
    for (int v = 1; v < symbols; v++) {
        if (count[v] > count[best]) {
            best = v;
            ties = 0;
        } else if (count[v] == count[best]) {
            ties++;
        }
    }
    return ties ? -1 : best;
}

static void majority_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const majority_options *o = options;
    (void)state, (void)kind; /* all strings without a tie are equally likely */
    do
        out->answer[0] = majority_draw(rest, o->symbols, len, out->prompt);
    while (out->answer[0] < 0);
    out->prompt_len = len;
    out->answer_len = 1;
}

static const pe_option majority_rows[] = {
    {"symbols", PE_OPTION_INT, offsetof(majority_options, symbols), "26", 2, MAJORITY_MAX, 0, NULL,
     "size of the alphabet (Huang et al.: 26)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_majority = {
    .name = "majority",
    .title = "Majority",
    .source = "Huang et al., A Formal Framework for Understanding Length Generalization in Transformers, ICLR 2025",
    .format = "BOS h a h t d SEP h EOS",
    .notes = "Uniform symbols: at great lengths the winner leads by little. The source trains on lengths 1-50 and "
             "tests on 51-100 and 101-150. Length 1 has `symbols` strings and length 2 as many, which streams share.",
    .kind = TASK_ANSWER,
    .options = majority_rows,
    .options_size = sizeof(majority_options),
    .symbols = majority_symbols,
    .sizes = majority_sizes,
    .chance_token = majority_chance,
    .chance_exact = majority_chance,
    .pair = majority_pair,
    .bibtex = TASK_BIB_HUANG,
};
