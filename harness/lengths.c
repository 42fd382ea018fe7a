#include "lengths.h"

#include <math.h>

#include "rng.h"

static int lengths_count(const run_config *c)
{
    return c->train.len - c->train.min_len + 1;
}

int lengths_uniform(uint64_t seed, uint64_t index, uint32_t item, int min_len, int max_len)
{
    rng r = rng_stream(seed, RNG_LENGTHS, index, item);
    return min_len + (int)rng_below(&r, (uint32_t)(max_len - min_len + 1));
}

/* ------------------------------------------------------------------------------------------------ geometric */

/* The first of n places whose cumulative probability (1 - ratio^(i+1)) / (1 - ratio^n) passes u, for ratio < 1. */
static int lengths_geometric(double u, double ratio, int n)
{
    double mass = 1 - pow(ratio, n);
    int i = (int)(log1p(-u * mass) / log(ratio));
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* A ratio above 1 is the same distribution seen from the long end. */
static int lengths_draw_geometric(const run_config *c, rng *r)
{
    double ratio = c->train.length_ratio, u = rng_uniform(r);
    int n = lengths_count(c);
    if (ratio == 1)
        return c->train.min_len + (int)(u * n);
    return ratio < 1 ? c->train.min_len + lengths_geometric(u, ratio, n)
                     : c->train.len - lengths_geometric(u, 1 / ratio, n);
}

/* ------------------------------------------------------------------------------------------------ bands */

/* Where band b of the range begins, counted from min_len; band K begins behind the last length. */
static int lengths_band(const run_config *c, int b)
{
    return (int)((int64_t)b * lengths_count(c) / c->train.length_weights.count);
}

static double lengths_weights_sum(const pe_list *w)
{
    double sum = 0;
    for (int b = 0; b < w->count; b++)
        sum += w->value[b];
    return sum;
}

static int lengths_draw_weighted(const run_config *c, rng *r)
{
    const pe_list *w = &c->train.length_weights;
    double left = rng_uniform(r) * lengths_weights_sum(w);
    int b = 0;
    while (b < w->count - 1 && left >= w->value[b])
        left -= w->value[b++];
    int begin = lengths_band(c, b), end = lengths_band(c, b + 1);
    return c->train.min_len + begin + (int)rng_below(r, (uint32_t)(end - begin));
}

/* ------------------------------------------------------------------------------------------------ all of them */

int lengths_draw(const run_config *c, uint64_t index, uint32_t item)
{
    uint64_t seed = (uint64_t)c->seed;
    rng r = rng_stream(seed, RNG_LENGTHS, index, item);
    switch (c->train.lengths) {
    case CONFIG_LENGTHS_FIXED:
        return c->train.len;
    case CONFIG_LENGTHS_GEOMETRIC:
        return lengths_draw_geometric(c, &r);
    case CONFIG_LENGTHS_WEIGHTS:
        return lengths_draw_weighted(c, &r);
    default:
        return lengths_uniform(seed, index, item, c->train.min_len, c->train.len);
    }
}

static double lengths_probability_geometric(const run_config *c, int len)
{
    double ratio = c->train.length_ratio;
    int n = lengths_count(c), i = len - c->train.min_len;
    if (ratio == 1)
        return 1.0 / n;
    if (ratio > 1) {
        ratio = 1 / ratio;
        i = n - 1 - i;
    }
    return pow(ratio, i) * (1 - ratio) / (1 - pow(ratio, n));
}

static double lengths_probability_weighted(const run_config *c, int len)
{
    const pe_list *w = &c->train.length_weights;
    int i = len - c->train.min_len, b = 0;
    while (lengths_band(c, b + 1) <= i)
        b++;
    return w->value[b] / lengths_weights_sum(w) / (lengths_band(c, b + 1) - lengths_band(c, b));
}

double lengths_probability(const run_config *c, int len)
{
    if (len < c->train.min_len || len > c->train.len)
        return 0;
    switch (c->train.lengths) {
    case CONFIG_LENGTHS_FIXED:
        return len == c->train.len;
    case CONFIG_LENGTHS_GEOMETRIC:
        return lengths_probability_geometric(c, len);
    case CONFIG_LENGTHS_WEIGHTS:
        return lengths_probability_weighted(c, len);
    default:
        return 1.0 / lengths_count(c);
    }
}

double lengths_mean(const run_config *c)
{
    double mean = 0;
    if (c->train.lengths == CONFIG_LENGTHS_UNIFORM)
        return (c->train.min_len + (double)c->train.len) / 2;
    for (int len = c->train.min_len; len <= c->train.len; len++)
        mean += len * lengths_probability(c, len);
    return mean;
}

/* ------------------------------------------------------------------------------------------------ what fits */

/* What says nothing under this distribution is a mistake when it is written. */
static int lengths_check_unused(const run_config *c, const char **row, error *e)
{
    run_config initial;
    config_defaults(&initial);
    *row = "train.length_ratio";
    if (c->train.lengths != CONFIG_LENGTHS_GEOMETRIC && c->train.length_ratio != initial.train.length_ratio)
        return error_set(e, ERROR_USAGE, "it belongs to train.lengths=geometric");
    const pe_list *w = &c->train.length_weights, *usual = &initial.train.length_weights;
    *row = "train.length_weights";
    if (c->train.lengths != CONFIG_LENGTHS_WEIGHTS && (w->count != usual->count || w->value[0] != usual->value[0]))
        return error_set(e, ERROR_USAGE, "they belong to train.lengths=weights");
    return 0;
}

static int lengths_check_weights(const run_config *c, const char **row, error *e)
{
    const pe_list *w = &c->train.length_weights;
    *row = "train.length_weights";
    if (w->count > lengths_count(c))
        return error_set(e, ERROR_USAGE, "%d bands, but from train.min_len to train.len there are %d lengths", w->count,
                         lengths_count(c));
    if (!(w->value[w->count - 1] > 0))
        return error_set(e, ERROR_USAGE,
                         "the last is 0, so no sequence would be as long as train.len; lower train.len");
    return 0;
}

int lengths_check(const run_config *c, const char **row, error *e)
{
    if (lengths_check_unused(c, row, e) < 0)
        return -1;
    *row = "train.min_len";
    if (c->train.lengths == CONFIG_LENGTHS_FIXED && c->train.min_len != c->train.len)
        return error_set(e, ERROR_USAGE, "train.lengths=fixed trains at train.len alone; leave train.min_len out");
    *row = "train.lengths";
    int shaped = c->train.lengths == CONFIG_LENGTHS_GEOMETRIC || c->train.lengths == CONFIG_LENGTHS_WEIGHTS;
    if (shaped && lengths_count(c) == 1)
        return error_set(e, ERROR_USAGE, "train.min_len is train.len, %d: there is one length only", c->train.len);
    return c->train.lengths == CONFIG_LENGTHS_WEIGHTS ? lengths_check_weights(c, row, e) : 0;
}
