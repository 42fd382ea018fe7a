/* Odds first: the symbols at every second place, then the others (Deletang et al. 2023).
 *
 *   length    symbols
 *   tokens    0 .. symbols-1 the symbols, then BOS = symbols, SEP = symbols+1, EOS = symbols+2
 *   input     BOS x SEP y, for x = s1 s2 s3 ..
 *             order=code: y = s2 s4 .. s1 s3 ..     order=docstring: y = s1 s3 .. s2 s4 ..
 *   position  proposed: a symbol and its copy share an id, BOS and SEP too (position coupling)
 *
 *   symbols=2, order=code, length 5:
 *   input     2 0 0 1 1 1 3 0 1 0 1 1
 *   target    . . . . . . 0 1 0 1 1 4
 *   position  0 1 2 3 4 5 0 2 4 1 3 5
 *
 * Symbols are independent and uniform. The released code puts the odd indices first as a program counts them, from 0;
 * its own description counts from 1.
 */
#include <math.h>
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

enum { ODDS_FIRST_CODE, ODDS_FIRST_DOCSTRING };

typedef struct odds_first_options {
    int symbols;
    int order;
} odds_first_options;

static int odds_first_symbols(const void *options, int max_len)
{
    const odds_first_options *o = options;
    (void)max_len;
    return o->symbols;
}

static void odds_first_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = *answer = len;
}

static double odds_first_farthest(const void *options, int len)
{
    (void)options;
    return len;
}

static double odds_first_chance_token(const void *options, const void *state, int len)
{
    const odds_first_options *o = options;
    (void)state, (void)len;
    return 1.0 / o->symbols;
}

static double odds_first_chance_exact(const void *options, const void *state, int len)
{
    const odds_first_options *o = options;
    (void)state;
    return pow(o->symbols, -len);
}

static void odds_first_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const odds_first_options *o = options;
    int first = o->order == ODDS_FIRST_CODE ? 1 : 0; /* index, from 0 */
    (void)state, (void)kind;                         /* all strings of a length are equally likely */
    for (int i = 0; i < len; i++)
        out->prompt[i] = (int)rng_below(rest, (uint32_t)o->symbols);
    out->prompt_len = len;
    out->answer_len = 0;
    task_place_prompt(out, 0);
    for (int i = first; i < len; i += 2)
        task_answer(out, out->prompt[i], i + 1);
    for (int i = 1 - first; i < len; i += 2)
        task_answer(out, out->prompt[i], i + 1);
}

static const pe_option odds_first_rows[] = {
    {"symbols", PE_OPTION_INT, offsetof(odds_first_options, symbols), "2", 2, TASK_SYMBOLS_MAX, 0, NULL,
     "size of the alphabet (Deletang et al.: 2)"},
    {"order", PE_OPTION_CHOICE, offsetof(odds_first_options, order), "code", 0, 0, 0, "code|docstring",
     "code: second, fourth .. symbol first, as the released code does; docstring: first, third .. symbol first, as it "
     "says that it does"},
    {.name = NULL},
};

const task_descriptor task_descriptor_odds_first = {
    .name = "odds_first",
    .title = "Odds first",
    .source = "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023",
    .format = "BOS s1 s2 s3 s4 s5 SEP s2 s4 s1 s3 s5 EOS   order=docstring: SEP s1 s3 s5 s2 s4 EOS",
    .notes = "The released code and its own description differ in the order; results of the source are of the code. "
             "It trains on lengths 1-40 and tests up to 500, in the encoder regime. Short lengths have so few strings "
             "that streams share some.",
    .kind = TASK_ANSWER,
    .proposes_positions = 1,
    .positions = "a symbol and its copy share an id: BOS and SEP 0, the i-th symbol i (Cho et al. 2024, position "
                 "coupling, applied to this task)",
    .options = odds_first_rows,
    .options_size = sizeof(odds_first_options),
    .symbols = odds_first_symbols,
    .sizes = odds_first_sizes,
    .farthest = odds_first_farthest,
    .chance_token = odds_first_chance_token,
    .chance_exact = odds_first_chance_exact,
    .pair = odds_first_pair,
    .bibtex = TASK_BIB_DELETANG,
};
