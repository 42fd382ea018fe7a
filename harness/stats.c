/* stats.c - the statistics of stats.h that need one sample only, and ranks. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

enum { STAT_RESAMPLES = 4000 };

static int stat_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double stat_mean(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum / n;
}

double stat_sd(const double *x, int n)
{
    if (n < 2)
        return NAN;
    double mean = stat_mean(x, n), sum = 0;
    for (int i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sqrt(sum / (n - 1));
}

double stat_median(const double *x, int n)
{
    double *sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted)
        return NAN;
    memcpy(sorted, x, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, stat_compare);
    double median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    free(sorted);
    return median;
}

/* The k-th smallest of t[n], 0 <= k < n, by Hoare's selection: what stands before it is no larger afterwards, what
 * stands behind no smaller. Sorting all resamples for two of them would take longer than drawing them. */
static double stat_select(double *t, int n, int k)
{
    for (int low = 0, high = n - 1; low < high;) {
        double pivot = t[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (t[i] < pivot)
                i++;
            while (t[j] > pivot)
                j--;
            if (i <= j) {
                double swap = t[i];
                t[i++] = t[j];
                t[j--] = swap;
            }
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return t[k];
}

/* One resample's t = (mean* - mean) / (s* / sqrt(n)). With few seeds many resamples repeat one value and have s* near
 * 0, which would blow the quantiles up; s* is therefore kept at or above 0.15 s. A higher floor gives narrower
 * intervals that hold skewed means too rarely; below five seeds resamples of one value are so many that the floor alone
 * would be what decides, and it is 0.3 s. */
static double stat_resample_t(const double *x, int n, double mean, double sd, rng *r)
{
    const double least = (n < 5 ? 0.3 : 0.15) * sd;
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) {
        double d = x[rng_below(r, (uint32_t)n)] - mean;
        sum += d;
        squares += d * d;
    }
    double variance = (squares - sum * sum / n) / (n - 1);
    double spread = sqrt(fmax(variance, least * least));
    return sum / n / (spread / sqrt(n));
}

/* The studentised bootstrap (Efron & Tibshirani 1993, section 12.5): the interval is mean - t*[97.5 %] s/sqrt(n) to
 * mean - t*[2.5 %] s/sqrt(n). A percentile interval of 5 seeds covers 85 % where it promises 95 %, Student's follows no
 * skewness: 88 % of exponential values. Above 5 seeds the quantiles t* are drawn to Student's, by the weight
 * (n-5) / n: with growing n these become right for every distribution, while t* keeps too much of short tails and
 * too little of long ones. What the interval covers, in % of 6,000
 * simulated experiments:
 *
 *                                     n = 5    10    30
 *     normal                           94.6  95.4  95.4
 *     uniform                          95.0  96.8  95.1
 *     paired difference of bounded     95.0  95.4  95.2
 *     cube of uniform (skewness 1.1)   93.9  96.3  95.0
 *     Student's t, 3 degrees           94.8  94.7  94.9
 *     exponential (skewness 2)         92.8  93.6  93.7
 *     0 or 0.8, half each, and noise   93.7  99.7  95.2
 *
 * No interval can promise this for every distribution (Bahadur & Savage 1956): what is more skewed than an exponential
 * is covered less, and where runs take one of two values coverage comes in steps.
 *
 * Two values resample into three patterns only, so n = 2 is Student's t with one degree of freedom. */
void stat_bootstrap(const double *x, int n, uint64_t stream, double *low, double *high)
{
    *low = *high = NAN;
    if (n < 2)
        return;
    double mean = stat_mean(x, n), sd = stat_sd(x, n), scale = sd / sqrt(n), student;
    if (sd == 0) {
        *low = *high = mean;
        return;
    }
    student = n == 2 ? 12.706204736432095 : stat_t_quantile(0.975, n - 1);
    if (n == 2) {
        *low = mean - student * scale;
        *high = mean + student * scale;
        return;
    }
    double *t = malloc(STAT_RESAMPLES * sizeof *t);
    if (!t)
        return;
    rng r = rng_stream(0, RNG_BOOTSTRAP, stream, (uint32_t)n);
    for (int b = 0; b < STAT_RESAMPLES; b++)
        t[b] = stat_resample_t(x, n, mean, sd, &r);
    double weight = n > 5 ? (n - 5.0) / n : 0;
    double above = stat_select(t, STAT_RESAMPLES, STAT_RESAMPLES * 39 / 40 - 1);
    double below = stat_select(t, STAT_RESAMPLES, STAT_RESAMPLES / 40);
    *low = mean - ((1 - weight) * above + weight * student) * scale;
    *high = mean - ((1 - weight) * below - weight * student) * scale;
    free(t);
}

/* rank = 1 + number of better ones + half the number of equals: ties share the mean of the places they take. */
void stat_ranks(const double *x, int n, int higher_is_better, double *rank)
{
    for (int i = 0; i < n; i++) {
        double better = 0, equal = 0;
        for (int j = 0; j < n; j++) {
            better += higher_is_better ? x[j] > x[i] : x[j] < x[i];
            equal += j != i && x[j] == x[i];
        }
        rank[i] = isnan(x[i]) ? NAN : 1 + better + equal / 2;
    }
}
