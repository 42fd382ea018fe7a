/* What the interval promises, by simulation. */
#include <criterion/criterion.h>

#include <math.h>

#include "rng.h"
#include "stats.h"

/* The share of experiments of n seeds, with scores of mean 0, whose interval holds 0. */
static double coverage(int n, int experiments, double (*score)(rng *r))
{
    int held = 0;
    for (int i = 0; i < experiments; i++) {
        double x[64], low, high;
        rng r = rng_stream(1, RNG_TEST, (uint64_t)n, (uint32_t)i);
        for (int k = 0; k < n; k++)
            x[k] = score(&r);
        stat_bootstrap(x, n, (uint64_t)i, &low, &high);
        held += low <= 0 && 0 <= high;
    }
    return (double)held / experiments;
}

static double uniform_score(rng *r)
{
    return rng_uniform(r) - 0.5;
}

/* Two encodings with one seed: half of the spread is the seed's and cancels, the rest is each one's own. Scores are
 * shares of 256 sequences, as records have them. */
static double paired_score(rng *r)
{
    double seed = 0.3 * rng_uniform(r);
    double a = seed + 0.7 * rng_uniform(r), b = seed + 0.7 * rng_uniform(r);
    return floor(256 * a) / 256 - floor(256 * b) / 256;
}

/* Most runs near 0, a few far above: skewness 1.1. */
static double cubed_score(rng *r)
{
    double u = rng_uniform(r);
    return u * u * u - 0.25;
}

/* Skewness 2. */
static double exponential_score(rng *r)
{
    return -log(1 - rng_uniform(r)) - 1;
}

/* Student's t with three degrees of freedom: heavy tails. */
static double heavy_score(rng *r)
{
    double z = rng_normal(r), a = rng_normal(r), b = rng_normal(r), c = rng_normal(r);
    return z / sqrt((a * a + b * b + c * c) / 3);
}

/* Runs that learn the task or do not: 0.8 or 0, each half of the time, with a little noise. */
static double split_score(rng *r)
{
    return (rng_uniform(r) < 0.5 ? 0.4 : -0.4) + 0.02 * rng_normal(r);
}

/* At 5 and 10 seeds and, where `all`, at 30: few seeds decide between intervals, and many cost most of the time. */
static void covers(double (*score)(rng *r), double most_at_10, int all)
{
    for (int n = 5; n <= (all ? 30 : 10); n = n == 5 ? 10 : n + 20) {
        double share = coverage(n, 2000, score);
        cr_assert(share >= 0.93 && share <= (n == 10 ? most_at_10 : 0.97), "n = %d: %g", n, share);
    }
}

Test(coverage, intervals_of_normal_scores_cover_95_percent)
{
    covers(rng_normal, 0.97, 1);
}

Test(coverage, intervals_of_bounded_scores_cover_95_percent)
{
    covers(uniform_score, 0.97, 0);
}

Test(coverage, intervals_of_paired_differences_cover_95_percent)
{
    covers(paired_score, 0.97, 1);
}

Test(coverage, intervals_of_skewed_scores_cover_95_percent)
{
    covers(cubed_score, 0.97, 0);
}

Test(coverage, intervals_of_heavy_tails_cover_95_percent)
{
    covers(heavy_score, 0.97, 0);
}

/* What is as skewed as an exponential is held a little too rarely by five seeds. */
Test(coverage, intervals_of_exponential_scores_nearly_cover_95_percent)
{
    double five = coverage(5, 2000, exponential_score), ten = coverage(10, 2000, exponential_score);
    cr_assert(five >= 0.92 && five <= 0.97, "%g", five);
    cr_assert(ten >= 0.92 && ten <= 0.97, "%g", ten);
}

/* Where runs take one of two values the number of high ones is all that n seeds say: coverage comes in steps, and errs
 * on the safe side at n = 10. */
Test(coverage, intervals_of_two_kinds_of_runs)
{
    covers(split_score, 1, 0);
}
