/* stats_tests.c - the tests of stats.h: pairs, many tests at once, ranks over blocks. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ pairs */

double stat_difference(double a, double b)
{
    double d = a - b;
    return fabs(d) <= 1e-12 * (fabs(a) + fabs(b)) ? 0 : d;
}

static double tests_largest(const double *d, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(d[i]));
    return largest;
}

/* Twice the rank of |d[i]| among all, so that shared ranks are whole numbers; 0 for a zero. */
static int tests_double_rank(const double *d, int n, int i, double tolerance)
{
    int below = 0, equal = 0;
    for (int j = 0; j < n; j++) {
        double apart = fabs(d[j]) - fabs(d[i]);
        below += apart < -tolerance;
        equal += fabs(apart) <= tolerance;
    }
    return fabs(d[i]) <= tolerance ? 0 : 2 * below + equal + 1;
}

/* P(|2S - total| >= |2 seen - total|), S the sum of those ranks whose coin fell on plus. chance[s] grows by one rank at
 * a time: half of it stays, half moves up by the rank. */
static double tests_tail(const int *rank, int n, int total, int seen)
{
    double *chance = calloc((size_t)total + 1, sizeof *chance), p = 0;
    if (!chance)
        return NAN;
    chance[0] = 1;
    for (int i = 0; i < n; i++)
        for (int s = total; rank[i] > 0 && s >= 0; s--)
            chance[s] = (chance[s] + (s >= rank[i] ? chance[s - rank[i]] : 0)) / 2;
    for (int s = 0; s <= total; s++)
        p += abs(2 * s - total) >= abs(2 * seen - total) ? chance[s] : 0;
    free(chance);
    return fmin(p, 1);
}

double stat_wilcoxon(const double *d, int n, double *biserial)
{
    double tolerance = 1e-9 * tests_largest(d, n);
    int total = 0, seen = 0;
    if (biserial)
        *biserial = n < 1 ? NAN : 0;
    int *rank = n < 1 ? NULL : malloc((size_t)n * sizeof *rank);
    if (!rank)
        return NAN;
    for (int i = 0; i < n; i++) {
        rank[i] = tests_double_rank(d, n, i, tolerance);
        total += rank[i];
        seen += d[i] > 0 ? rank[i] : 0;
    }
    if (biserial && total > 0)
        *biserial = (2.0 * seen - total) / total;
    double p = tests_tail(rank, n, total, seen);
    free(rank);
    return p;
}

double stat_wilcoxon_least(int n)
{
    return n < 1 ? 1 : ldexp(1, 1 - n);
}

void stat_pair(const double *d, int n, uint64_t stream, stat_paired *out)
{
    *out = (stat_paired){
        .n = n, .mean = NAN, .sd = NAN, .low = NAN, .high = NAN, .p = NAN, .effect = NAN, .biserial = NAN};
    if (n < 1)
        return;
    for (int i = 0; i < n; i++)
        out->nonzero += fabs(d[i]) > 1e-9 * tests_largest(d, n);
    out->mean = stat_mean(d, n);
    if (n < 2)
        return;
    out->sd = stat_sd(d, n);
    stat_bootstrap(d, n, stream, &out->low, &out->high);
    out->p = stat_wilcoxon(d, n, &out->biserial);
    if (out->sd > 1e-12 * fabs(out->mean)) /* else every pair differs by the same */
        out->effect = out->mean / out->sd;
    out->needed = stat_pairs_needed(out->effect);
}

/* ------------------------------------------------------------------------------------------------ many tests */

int stat_holm(const double *p, int n, double *adjusted)
{
    double raw[n > 0 ? n : 1];
    int tests = 0;
    for (int i = 0; i < n; i++) {
        raw[i] = p[i];
        tests += !isnan(p[i]);
    }
    for (int i = 0; i < n; i++) {
        adjusted[i] = isnan(raw[i]) ? NAN : 0;
        for (int j = 0; j < n && !isnan(raw[i]); j++) {
            int done = 0; /* smaller ones; of equals the first counts, whose factor is the largest */
            if (!(raw[j] <= raw[i]))
                continue;
            for (int k = 0; k < n; k++)
                done += raw[k] < raw[j];
            adjusted[i] = fmax(adjusted[i], fmin(1, (tests - done) * raw[j]));
        }
    }
    return tests;
}

/* ------------------------------------------------------------------------------------------------ blocks */

/* Distinct arrangements of a block: k! over the factorials of its ties, as a logarithm. */
static double tests_log_arrangements(const double *rank, int k)
{
    double sum = lgamma(k + 1);
    for (int i = 0; i < k; i++) {
        int equal = 0, first = 1;
        for (int j = 0; j < k; j++) {
            equal += rank[j] == rank[i];
            first &= j >= i || rank[j] != rank[i];
        }
        sum -= first ? lgamma(equal + 1) : 0;
    }
    return sum;
}

void stat_friedman(const double *rank, int blocks, int treatments, stat_friedman_result *out)
{
    double between = 0, all = 0, middle = (treatments + 1) / 2.0;
    *out = (stat_friedman_result){blocks, treatments, NAN, NAN, NAN, NAN};
    for (int j = 0; j < treatments; j++) {
        double sum = 0;
        for (int i = 0; i < blocks; i++) {
            double off = rank[i * treatments + j] - middle;
            sum += off;
            all += off * off;
        }
        between += sum * sum;
    }
    if (blocks < 2 || treatments < 2 || all == 0)
        return;
    double df = treatments - 1, most = blocks * df;
    out->chi2 = df * between / all;
    out->p_chi2 = stat_gamma_upper(df / 2, out->chi2 / 2);
    if (most - out->chi2 > 1e-9 * most) {
        out->f = (blocks - 1) * out->chi2 / (most - out->chi2);
        out->p_f = stat_f_upper(out->f, df, df * (blocks - 1));
        return;
    }
    out->f = INFINITY;
    out->p_f = exp(-(blocks - 1) * tests_log_arrangements(rank, treatments));
}
