/* stats.h - the statistics behind every table: each function is tested against values computed elsewhere, and what it
 * promises (a coverage, a level) by simulation. Nothing here knows records; draws come from named streams, so equal
 * arguments give equal results.
 */
#ifndef STATS_H
#define STATS_H

#include <stdint.h>

/* ------------------------------------------------------------------------------------------------ one sample */

/* n >= 1. */
double stat_mean(const double *x, int n);
double stat_sd(const double *x, int n); /* n-1; NAN for n < 2 */
double stat_median(const double *x, int n);

/* A 95 % interval of the mean by the studentised bootstrap, 4000 resamples drawn from the stream of that number, drawn
 * to Student's t above five values. NAN for n < 2; Student's t for n = 2; a point where all values are equal. Of 2,000
 * simulated experiments it covers 93 to 97 % at n = 5, 10 and 30, for values that are normal, uniform, skewed like the
 * cube of a uniform or long-tailed like Student's t with 3 degrees of freedom, and for paired differences of bounded
 * ones; for exponential ones it covers 92 to 94 %. Nothing is promised for 3 and 4. */
void stat_bootstrap(const double *x, int n, uint64_t stream, double *low, double *high);

/* ------------------------------------------------------------------------------------------------ pairs */

/* The exact two-sided p-value of Wilcoxon's signed-rank test for n paired differences: absolute differences are ranked,
 * ties share the mean of their ranks, zeros are ranked with the rest and then left out (Pratt 1959), and the sign of
 * every other rank is a fair coin: the distribution over all signs of the actual ranks is computed, not approximated.
 * Differences that agree to 1e-9 of the largest are ties, since 0.3 - 0.1 and 0.4 - 0.2 are the same result. 1 where
 * all are zero; NAN for n < 1 and where memory is short.
 *
 * *biserial (may be NULL): the matched-pairs rank-biserial correlation (W+ - W-) / (W+ + W-) of Kerby 2014, in -1 .. 1;
 * 0 where all are zero. */
double stat_wilcoxon(const double *d, int n, double *biserial);

/* The smallest p that n differences other than zero can reach: 2^(1-n), at most 1. 5 give 0.0625, 6 give 0.03125. */
double stat_wilcoxon_least(int n);

/* Holm's step-down correction (1979): adjusted[i] = the largest over all p_j <= p_i of min(1, (tests not yet done)
 * p_j). NAN p-values are no tests: they stay NAN and do not count. Returns how many tests there are. `adjusted` may be
 * `p`. */
int stat_holm(const double *p, int n, double *adjusted);

/* How many pairs a two-sided paired t-test at the 5 % level needs to find a mean difference of effect standard
 * deviations (Cohen's d_z) with probability 0.8: the smallest n whose exact power, by the non-central t distribution,
 * reaches it. 0 for an effect of 0 or NAN; at most STAT_PAIRS_MAX, which stands for that many or more. */
enum { STAT_PAIRS_MAX = 100000 };
int stat_pairs_needed(double effect);

/* The power of that test with n >= 2 pairs. */
double stat_power(double effect, int n);

/* All about n paired differences. NAN where there are too few: sd, interval and effect need two. */
typedef struct stat_paired {
    int n, nonzero;
    double mean, sd;
    double low, high; /* 95 % of the mean, stat_bootstrap */
    double p;         /* stat_wilcoxon */
    double effect;    /* Cohen's d_z = mean / sd; NAN where sd is 0 */
    double biserial;
    int needed; /* stat_pairs_needed(effect); 0: no number can be given */
} stat_paired;
void stat_pair(const double *d, int n, uint64_t stream, stat_paired *out);

/* Where two curves cross, from their paired differences d[pairs][points] at x[points] > 0, ascending: the first place at which
 * the mean difference, drawn with straight lines over log x, changes its sign. The interval holds the middle 95 % of that
 * place in those of 4000 resamples of the pairs that cross at all. */
typedef struct stat_crossed {
    double at;             /* NAN: the means do not cross */
    int count;             /* how often they do */
    double low, high;      /* NAN for fewer than two pairs, or where no resample crosses */
    double share;          /* of the resamples that cross; NAN for fewer than two pairs */
} stat_crossed;
void stat_crossing(const double *x, const double *d, int pairs, int points, uint64_t stream, stat_crossed *out);

/* a - b, and exactly 0 where only rounding tells them apart (1e-12 of their size). */
double stat_difference(double a, double b);

/* ------------------------------------------------------------------------------------------------ ranks */

/* rank[i]: 1 is best, ties share the mean of the places they take. NAN values get NAN ranks. */
void stat_ranks(const double *x, int n, int higher_is_better, double *rank);

/* Friedman's test on rank[blocks][treatments] (ranks within each block, ties averaged; each block sums to k(k+1)/2), in
 * the form that holds with ties: chi2 = (k-1) sum_j (S_j - N(k+1)/2)^2 / sum_ij (R_ij - (k+1)/2)^2, S_j the sum of
 * treatment j, and Iman & Davenport's F = (N-1) chi2 / (N(k-1) - chi2) with k-1 and (k-1)(N-1) degrees of freedom
 * (1980), which is closer to its level. Where all blocks agree F is infinite and p_f is the chance of that: 1 over the
 * distinct arrangements of a block, to the power N-1. All NAN with fewer than two blocks or treatments, or where every
 * rank is the same. */
typedef struct stat_friedman_result {
    int blocks, treatments;
    double chi2, p_chi2, f, p_f;
} stat_friedman_result;
void stat_friedman(const double *rank, int blocks, int treatments, stat_friedman_result *out);

/* Nemenyi's critical difference of mean ranks at the 5 % level (Demsar 2006): q sqrt(k(k+1) / (6N)), q the upper 5 %
 * point of the studentised range of k means with infinite degrees of freedom, over sqrt 2. NAN for k < 2 or N < 1. */
double stat_critical_difference(int treatments, int blocks);
double stat_nemenyi_q(int treatments);

/* ------------------------------------------------------------------------------------------------ distributions */

double stat_normal_cdf(double z);
double stat_gamma_upper(double a, double x);    /* regularised Q(a,x), a > 0, x >= 0; chi2: Q(df/2, x/2) */
double stat_beta(double a, double b, double x); /* regularised I_x(a,b), a, b > 0, 0 <= x <= 1 */
double stat_f_upper(double f, double df1, double df2);
double stat_t_quantile(double p, double df); /* 0.5 <= p < 1 */
double stat_range_cdf(double q, int k);      /* of the range of k independent standard normals */

#endif
