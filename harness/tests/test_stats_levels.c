/* The tests keep their level: where nothing is to be found, they find something in 5 % of experiments at most, by
 * simulation. */
#include <criterion/criterion.h>

#include <math.h>

#include "rng.h"
#include "stats.h"

enum { LEVEL_EXPERIMENTS = 2000 };

/* 5 % and three standard deviations of 2,000 experiments. */
#define LEVEL_MOST (0.05 + 3 * sqrt(0.05 * 0.95 / LEVEL_EXPERIMENTS))

static rng level_stream(int n, int i)
{
    return rng_stream(2, RNG_TEST, (uint64_t)n, (uint32_t)i);
}

/* Differences between two encodings that are one: shares of `items` sequences, so that ties and zeros occur. */
static double level_difference(rng *r, int items)
{
    double seed = rng_uniform(r);
    return floor((seed + rng_uniform(r)) * items) / items - floor((seed + rng_uniform(r)) * items) / items;
}

static double level_wilcoxon(int n, int items)
{
    int found = 0;
    for (int i = 0; i < LEVEL_EXPERIMENTS; i++) {
        double d[64];
        rng r = level_stream(n, i);
        for (int k = 0; k < n; k++)
            d[k] = level_difference(&r, items);
        found += stat_wilcoxon(d, n, NULL) <= 0.05;
    }
    return (double)found / LEVEL_EXPERIMENTS;
}

Test(levels, wilcoxon)
{
    cr_assert_eq(level_wilcoxon(5, 1000), 0, "five pairs cannot find anything");
    for (int n = 6; n <= 30; n = n < 10 ? 10 : n + 10)
        for (int items = 8; items <= 1000; items *= 125) {
            double level = level_wilcoxon(n, items);
            cr_assert(level <= LEVEL_MOST, "%d pairs, shares of %d: %g", n, items, level);
            cr_assert(n < 10 || level > 0.02, "%d pairs, shares of %d: %g finds too little", n, items, level);
        }
}

/* A real difference of one standard deviation is found as often as the power says: the t-test's 0.8 at 10 pairs; signed
 * ranks lose little of it. */
Test(levels, the_promised_power_is_there)
{
    int found = 0;
    for (int i = 0; i < LEVEL_EXPERIMENTS; i++) {
        double d[10];
        rng r = level_stream(1000, i);
        for (int k = 0; k < 10; k++)
            d[k] = 1 + rng_normal(&r);
        found += stat_wilcoxon(d, 10, NULL) <= 0.05;
    }
    double power = (double)found / LEVEL_EXPERIMENTS;
    cr_assert(power > 0.74 && power < 0.84, "%g", power);
}

/* Twelve encodings against a baseline that they equal: any of them may be called different in 5 % of the sweeps. */
Test(levels, holm_over_twelve_encodings)
{
    int found = 0, uncorrected = 0;
    for (int i = 0; i < LEVEL_EXPERIMENTS; i++) {
        double score[13][12], p[12];
        rng r = level_stream(2000, i);
        for (int m = 0; m < 13; m++)
            for (int k = 0; k < 12; k++)
                score[m][k] = rng_uniform(&r);
        for (int m = 0; m < 12; m++) {
            double d[12];
            for (int k = 0; k < 12; k++)
                d[k] = score[m][k] - score[12][k];
            p[m] = stat_wilcoxon(d, 12, NULL);
        }
        int any = 0, any_raw = 0;
        for (int m = 0; m < 12; m++)
            any_raw |= p[m] <= 0.05;
        stat_holm(p, 12, p);
        for (int m = 0; m < 12; m++)
            any |= p[m] <= 0.05;
        found += any;
        uncorrected += any_raw;
    }
    double level = (double)found / LEVEL_EXPERIMENTS;
    cr_assert(level <= LEVEL_MOST, "%g", level);
    cr_assert_gt(uncorrected, 4 * found, "without the correction %d of %d sweeps", uncorrected, LEVEL_EXPERIMENTS);
}

/* Encodings that are all alike, ranked on `blocks` tasks; scores are coarse where ties are wanted. The shares in which
 * Friedman's two forms and the critical difference find something. */
static void level_ranks(int blocks, int treatments, int coarse, double share[3])
{
    double cd = stat_critical_difference(treatments, blocks);
    int found[3] = {0};
    for (int i = 0; i < LEVEL_EXPERIMENTS; i++) {
        double rank[blocks][treatments], best = INFINITY, worst = 0;
        rng r = level_stream(100 * blocks + treatments, i);
        for (int b = 0; b < blocks; b++) {
            double score[treatments];
            for (int m = 0; m < treatments; m++)
                score[m] = coarse ? rng_below(&r, (uint32_t)coarse) : rng_uniform(&r);
            stat_ranks(score, treatments, 1, rank[b]);
        }
        for (int m = 0; m < treatments; m++) {
            double sum = 0;
            for (int b = 0; b < blocks; b++)
                sum += rank[b][m];
            best = fmin(best, sum / blocks);
            worst = fmax(worst, sum / blocks);
        }
        stat_friedman_result f;
        stat_friedman(rank[0], blocks, treatments, &f);
        found[0] += f.p_chi2 <= 0.05;
        found[1] += f.p_f <= 0.05;
        found[2] += worst - best >= cd;
    }
    for (int k = 0; k < 3; k++)
        share[k] = (double)found[k] / LEVEL_EXPERIMENTS;
}

Test(levels, friedman_and_nemenyi)
{
    static const int rows[][3] = {{10, 4, 0}, {10, 4, 3}, {20, 12, 0}, {15, 6, 4}};
    for (int i = 0; i < 4; i++) {
        double share[3];
        level_ranks(rows[i][0], rows[i][1], rows[i][2], share);
        for (int k = 0; k < 3; k++)
            cr_assert(share[k] <= LEVEL_MOST, "%d blocks of %d, test %d: %g", rows[i][0], rows[i][1], k, share[k]);
        cr_assert(share[1] >= 0.03, "%d blocks of %d: F finds too little, %g", rows[i][0], rows[i][1], share[1]);
    }
}
