/* Sort: put different symbols into ascending order (Huang et al. 2025, "sort").
 *
 *   length    symbols to sort, at most `symbols`
 *   tokens    0 .. symbols-1 the symbols, then BOS = symbols, SEP = symbols+1, EOS = symbols+2
 *   input     BOS x SEP y                                       length + 2 + length tokens, y = x in ascending order
 *   target    nothing up to the last symbol of the prompt, then y EOS: SEP predicts the first symbol
 *
 *   symbols=150, length 3:
 *   input     150  93   7  12 151   7  12  93
 *   target      .   .   .   .   7  12  93 152
 *
 * Symbols are ordered as their tokens are. x is a uniform draw without replacement. Positions tell nothing about the
 * answer: whoever is hurt by unseen positions here is hurt by the encoding alone.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task.h"
#include "task_sources.h"

typedef struct sort_options {
    int symbols;
} sort_options;

static int sort_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    const sort_options *o = options;
    (void)min_len;
    if (max_len <= o->symbols)
        return 0;
    snprintf(message, size, "length %d needs that many different symbols, but symbols=%d", max_len, o->symbols);
    return -1;
}

static int sort_symbols(const void *options, int max_len)
{
    const sort_options *o = options;
    (void)max_len;
    return o->symbols;
}

static void sort_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = *answer = len;
}

static double sort_log_choose(int n, int k)
{
    int sign;
    return lgamma_r(n + 1.0, &sign) - lgamma_r(k + 1.0, &sign) - lgamma_r(n - k + 1.0, &sign);
}

/* The i-th smallest (from 0) of k = len of n = symbols values 0 .. n-1 is v with probability
 * C(v,i) C(n-1-v, k-1-i) / C(n,k), largest at v = floor(i n / (k-1)), or n-1 if that is less: the best fixed guess. */
static double sort_chance_token(const void *options, const void *state, int len)
{
    int n = ((const sort_options *)options)->symbols;
    double right = 0.0;
    (void)state;
    for (int i = 0; i < len; i++) {
        int v = len == 1 ? 0 : (int)((long)i * n / (len - 1));
        if (v > n - 1)
            v = n - 1;
        right += exp(sort_log_choose(v, i) + sort_log_choose(n - 1 - v, len - 1 - i) - sort_log_choose(n, len));
    }
    return right / len;
}

/* 1 / C(symbols, len): all sets are equally likely. */
static double sort_chance_exact(const void *options, const void *state, int len)
{
    const sort_options *o = options;
    (void)state;
    return exp(-sort_log_choose(o->symbols, len));
}

static int sort_order(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sort_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const sort_options *o = options;
    (void)state, (void)kind; /* all strings of a length are equally likely */
    task_distinct(rest, o->symbols, len, 0, out->prompt);
    memcpy(out->answer, out->prompt, (size_t)len * sizeof *out->answer);
    qsort(out->answer, (size_t)len, sizeof *out->answer, sort_order);
    out->prompt_len = out->answer_len = len;
}

static const pe_option sort_rows[] = {
    {"symbols", PE_OPTION_INT, offsetof(sort_options, symbols), "150", 1, TASK_SYMBOLS_MAX, 0, NULL,
     "size of the alphabet; no length can exceed it (Huang et al.: 150, their longest test length)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_sort = {
    .name = "sort",
    .title = "Sort",
    .source = "Huang et al., A Formal Framework for Understanding Length Generalization in Transformers, ICLR 2025",
    .format = "BOS c a d SEP a c d EOS",
    .notes = "Drawn without replacement. A length near `symbols` leaves few sets of symbols, so the fixed guess gains: "
             "the chance "
             "levels say how much.",
    .kind = TASK_ANSWER,
    .options = sort_rows,
    .options_size = sizeof(sort_options),
    .check = sort_check,
    .symbols = sort_symbols,
    .sizes = sort_sizes,
    .chance_token = sort_chance_token,
    .chance_exact = sort_chance_exact,
    .pair = sort_pair,
    .bibtex = TASK_BIB_HUANG,
};
