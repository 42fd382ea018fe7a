/* Missing duplicate: a string twice, one symbol of which is hidden; say it (Deletang et al. 2023, "missing duplicate
 * string").
 *
 *   length    symbols of the prompt
 *   tokens    0 .. symbols-1 the symbols, ? = symbols, pad = symbols+1, then BOS = symbols+2, SEP = symbols+3,
 *             EOS = symbols+4
 *   prompt    w w with one symbol replaced by ?, and pad behind it when the length is odd: w has length/2 symbols
 *   answer    the symbol behind ?
 *
 *   symbols=2, length 7:
 *   input     4 1 0 1 1 2 1 3 5 0
 *   target    . . . . . . . . 0 6
 *
 * w and the place of ? are uniform and independent. Length 1 has no room for a w: there the prompt is the symbol 1 and
 * so is the answer, as in the released code.
 */
#include <stddef.h>
#include <string.h>

#include "task.h"
#include "task_sources.h"

typedef struct missing_duplicate_options {
    int symbols;
} missing_duplicate_options;

enum { MISSING_DUPLICATE_MARKS = 2 }; /* ? and pad */

static int missing_duplicate_symbols(const void *options, int max_len)
{
    const missing_duplicate_options *o = options;
    (void)max_len;
    return o->symbols + MISSING_DUPLICATE_MARKS;
}

static void missing_duplicate_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = len;
    *answer = 1;
}

static double missing_duplicate_chance(const void *options, const void *state, int len)
{
    const missing_duplicate_options *o = options;
    (void)state;
    return len == 1 ? 1.0 : 1.0 / o->symbols;
}

static void missing_duplicate_pair(const void *options, const void *state, rng *kind, rng *rest, int len,
                                   task_pair *out)
{
    const missing_duplicate_options *o = options;
    int half = len / 2, *w = out->prompt;
    (void)state, (void)kind; /* all prompts of a length are equally likely */
    out->prompt_len = len;
    out->answer_len = 1;
    w[len - 1] = o->symbols + 1; /* stays where it is when the length is odd */
    if (half == 0) {
        w[0] = out->answer[0] = 1;
        return;
    }
    for (int i = 0; i < half; i++)
        w[i] = (int)rng_below(rest, (uint32_t)o->symbols);
    memcpy(w + half, w, (size_t)half * sizeof *w);
    int hidden = (int)rng_below(rest, 2 * (uint32_t)half);
    out->answer[0] = w[hidden];
    w[hidden] = o->symbols;
}

static const pe_option missing_duplicate_rows[] = {
    {"symbols", PE_OPTION_INT, offsetof(missing_duplicate_options, symbols), "2", 2, TASK_SYMBOLS_MAX, 0, NULL,
     "size of the alphabet (Deletang et al.: 2)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_missing_duplicate = {
    .name = "missing_duplicate",
    .title = "Missing duplicate",
    .source = "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023",
    .format = "BOS b a b b ? b pad SEP a EOS",
    .notes = "The source trains on lengths 1-40 and tests up to 500, in the encoder regime. Length 1 has one "
             "instance, which every stream shares; other short lengths have so few that streams share some.",
    .kind = TASK_ANSWER,
    .options = missing_duplicate_rows,
    .options_size = sizeof(missing_duplicate_options),
    .symbols = missing_duplicate_symbols,
    .sizes = missing_duplicate_sizes,
    .chance_token = missing_duplicate_chance,
    .chance_exact = missing_duplicate_chance,
    .pair = missing_duplicate_pair,
    .bibtex = TASK_BIB_DELETANG,
};
