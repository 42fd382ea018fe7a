/* Unique copy: repeat a string in which no symbol occurs twice (Huang et al. 2025, "unique copy").
 *
 *   length    symbols to copy, at most `symbols`
 *   tokens    0 .. symbols-1 the symbols, then BOS = symbols, SEP = symbols+1, EOS = symbols+2
 *   input     BOS x SEP x                                       length + 2 + length tokens
 *   target    nothing up to the last symbol of the prompt, then x EOS: SEP predicts the first symbol
 *   position  proposed: a symbol and its copy share an id, BOS and SEP too (position coupling)
 *
 *   symbols=150, length 3:
 *   input     150   7  93  12 151   7  93  12
 *   target      .   .   .   .   7  93  12 152
 *   position    0   1   2   3   0   1   2   3
 *
 * x is a uniform draw without replacement, so each symbol has one place and one successor: induction suffices to solve
 * it, where copying repeated symbols needs to count.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "task.h"
#include "task_sources.h"

typedef struct unique_copy_options {
    int symbols;
} unique_copy_options;

static int unique_copy_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    const unique_copy_options *o = options;
    (void)min_len;
    if (max_len <= o->symbols)
        return 0;
    snprintf(message, size, "length %d needs that many different symbols, but symbols=%d", max_len, o->symbols);
    return -1;
}

static int unique_copy_symbols(const void *options, int max_len)
{
    const unique_copy_options *o = options;
    (void)max_len;
    return o->symbols;
}

static void unique_copy_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = *answer = len;
}

static double unique_copy_farthest(const void *options, int len)
{
    (void)options;
    return len;
}

static double unique_copy_chance_token(const void *options, const void *state, int len)
{
    const unique_copy_options *o = options;
    (void)state, (void)len;
    return 1.0 / o->symbols;
}

static double unique_copy_chance_exact(const void *options, const void *state, int len)
{
    const unique_copy_options *o = options;
    (void)state;
    return task_chance_arrangement(o->symbols, len);
}

static void unique_copy_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const unique_copy_options *o = options;
    (void)state, (void)kind; /* all strings of a length are equally likely */
    task_distinct(rest, o->symbols, len, 0, out->prompt);
    memcpy(out->answer, out->prompt, (size_t)len * sizeof *out->answer);
    out->prompt_len = out->answer_len = len;
    task_couple_copy(out);
}

static const pe_option unique_copy_rows[] = {
    {"symbols", PE_OPTION_INT, offsetof(unique_copy_options, symbols), "150", 1, TASK_SYMBOLS_MAX, 0, NULL,
     "size of the alphabet; no length can exceed it (Huang et al.: 150, their longest test length)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_unique_copy = {
    .name = "unique_copy",
    .title = "Unique copy",
    .source = "Huang et al., A Formal Framework for Understanding Length Generalization in Transformers, ICLR 2025",
    .format = "BOS c a d SEP c a d EOS",
    .notes = "Drawn without replacement, so each symbol has one successor. The source trains on lengths 1-50 and tests "
             "on 51-100 "
             "and 101-150. Chance of a token counts EOS, whose place a fixed guess knows.",
    .kind = TASK_ANSWER,
    .proposes_positions = 1,
    .positions = "a symbol and its copy share an id: BOS and SEP 0, the i-th symbol i (Cho et al. 2024, position "
                 "coupling, whose code too lets the separator stand one before the first symbol)",
    .options = unique_copy_rows,
    .options_size = sizeof(unique_copy_options),
    .check = unique_copy_check,
    .symbols = unique_copy_symbols,
    .sizes = unique_copy_sizes,
    .farthest = unique_copy_farthest,
    .chance_token = unique_copy_chance_token,
    .chance_exact = unique_copy_chance_exact,
    .pair = unique_copy_pair,
    .bibtex = TASK_BIB_HUANG,
};
