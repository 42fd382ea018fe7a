/* Bucket sort: put symbols of a small alphabet into ascending order (Deletang et al. 2023; Kazemnejad et al. 2023,
 * "sort" of single tokens).
 *
 *   length    symbols to sort
 *   tokens    0 .. symbols-1 the symbols, then BOS = symbols, SEP = symbols+1, EOS = symbols+2
 *   input     BOS x SEP y                                       length + 2 + length tokens, y = x in ascending order
 *
 *   symbols=5, length 6:
 *   input     5 1 0 2 0 4 1 6 0 0 1 1 2 4
 *   target    . . . . . . . 0 0 1 1 2 4 7
 *
 * Symbols are independent and uniform: unlike in `sort` they recur, and how often each does has to be counted.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "task.h"
#include "task_sources.h"

enum { BUCKET_SORT_MAX = 1024 };

typedef struct bucket_sort_options {
    int symbols;
} bucket_sort_options;

static int bucket_sort_symbols(const void *options, int max_len)
{
    const bucket_sort_options *o = options;
    (void)max_len;
    return o->symbols;
}

static void bucket_sort_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = *answer = len;
}

static double bucket_sort_log_choose(int n, int k)
{
    int sign;
    return lgamma_r(n + 1.0, &sign) - lgamma_r(k + 1.0, &sign) - lgamma_r(n - k + 1.0, &sign);
}

/* The i-th smallest (from 0) of n = len symbols is above v when at most i of them are v or less, whose number is
 * binomial with p = (v+1)/symbols. It is v with the difference of two such probabilities; the best fixed guess is the v
 * with the largest. */
static double bucket_sort_chance_token(const void *options, const void *state, int len)
{
    const bucket_sort_options *o = options;
    double above[BUCKET_SORT_MAX] = {0}, right = 0.0;
    (void)state;
    for (int i = 0; i < len; i++) {
        double best = 0.0, above_last = 1.0;
        for (int v = 0; v < o->symbols; v++) {
            double p = (v + 1.0) / o->symbols;
            if (v < o->symbols - 1)
                above[v] += exp(bucket_sort_log_choose(len, i) + i * log(p) + (len - i) * log1p(-p));
            best = fmax(best, above_last - above[v]);
            above_last = above[v];
        }
        right += best;
    }
    return right / len;
}

/* The most frequent answer has each symbol as often as the others, or once more. */
static double bucket_sort_chance_exact(const void *options, const void *state, int len)
{
    const bucket_sort_options *o = options;
    int sign, each = len / o->symbols, more = len % o->symbols;
    (void)state;
    return exp(lgamma_r(len + 1.0, &sign) - more * lgamma_r(each + 2.0, &sign) -
               (o->symbols - more) * lgamma_r(each + 1.0, &sign) - len * log(o->symbols));
}

static void bucket_sort_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const bucket_sort_options *o = options;
    int count[BUCKET_SORT_MAX] = {0};
    (void)state, (void)kind; /* all strings of a length are equally likely */
    for (int i = 0; i < len; i++)
        count[out->prompt[i] = (int)rng_below(rest, (uint32_t)o->symbols)]++;
    out->prompt_len = len;
    out->answer_len = 0;
    for (int v = 0; v < o->symbols; v++)
        while (count[v]-- > 0)
            out->answer[out->answer_len++] = v;
}

static const pe_option bucket_sort_rows[] = {
    {"symbols", PE_OPTION_INT, offsetof(bucket_sort_options, symbols), "5", 2, BUCKET_SORT_MAX, 0, NULL,
     "size of the alphabet (Deletang et al.: 5; Kazemnejad et al., sorting single tokens: 50)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_bucket_sort = {
    .name = "bucket_sort",
    .title = "Bucket sort",
    .source = "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023",
    .format = "BOS 1 0 2 0 4 1 SEP 0 0 1 1 2 4 EOS",
    .notes = "The source trains on lengths 1-40 and tests up to 500, in the encoder regime. A fixed guess that knows "
             "the length is far better than one in five: the smallest symbol comes first. symbols=50 is the sort of "
             "single tokens of Kazemnejad et al. 2023. Short lengths have so few strings that streams share some.",
    .kind = TASK_ANSWER,
    .options = bucket_sort_rows,
    .options_size = sizeof(bucket_sort_options),
    .symbols = bucket_sort_symbols,
    .sizes = bucket_sort_sizes,
    .chance_token = bucket_sort_chance_token,
    .chance_exact = bucket_sort_chance_exact,
    .pair = bucket_sort_pair,
    .bibtex = TASK_BIB_DELETANG,
};
