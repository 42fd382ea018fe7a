/* stats_crossing.c - where two curves cross, and how well that is known. */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

#include "rng.h"

enum { CROSSING_RESAMPLES = 4000 };

/* Means over the chosen pairs into mean[points]; pick[pairs], or NULL for all. */
static void crossing_means(const double *d, const int *pick, int pairs, int points, double *mean)
{
    for (int k = 0; k < points; k++) {
        double sum = 0;
        for (int i = 0; i < pairs; i++)
            sum += d[(pick ? pick[i] : i) * points + k];
        mean[k] = sum / pairs;
    }
}

/* The first place where mean[points] changes its sign; NAN: nowhere. A point at 0 belongs to the side that it came
 * from; *count: how often it changes. */
static double crossing_place(const double *x, const double *mean, int points, int *count)
{
    double place = NAN;
    int last = -1; /* the last point that is not 0 */
    *count = 0;
    for (int k = 0; k < points; k++) {
        if (mean[k] == 0)
            continue;
        if (last >= 0 && (mean[last] > 0) != (mean[k] > 0)) {
            double share = mean[k - 1] / (mean[k - 1] - mean[k]);
            if ((*count)++ == 0)
                place = x[k - 1] * pow(x[k] / x[k - 1], share);
        }
        last = k;
    }
    return place;
}

static int crossing_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stat_crossing(const double *x, const double *d, int pairs, int points, uint64_t stream, stat_crossed *out)
{
    *out = (stat_crossed){.at = NAN, .low = NAN, .high = NAN, .share = NAN};
    if (pairs < 1 || points < 2)
        return;
    double *mean = malloc(sizeof *mean * (size_t)points), *place = malloc(sizeof *place * CROSSING_RESAMPLES);
    int *pick = malloc(sizeof *pick * (size_t)pairs), crossed = 0, ignored;
    if (mean && place && pick) {
        crossing_means(d, NULL, pairs, points, mean);
        out->at = crossing_place(x, mean, points, &out->count);
    }
    rng r = rng_stream(0, RNG_BOOTSTRAP, stream, (uint32_t)pairs);
    for (int b = 0; mean && place && pick && pairs > 1 && b < CROSSING_RESAMPLES; b++) {
        for (int i = 0; i < pairs; i++)
            pick[i] = (int)rng_below(&r, (uint32_t)pairs);
        crossing_means(d, pick, pairs, points, mean);
        place[crossed] = crossing_place(x, mean, points, &ignored);
        crossed += !isnan(place[crossed]);
        out->share = (double)crossed / CROSSING_RESAMPLES;
    }
    if (crossed > 0) {
        qsort(place, (size_t)crossed, sizeof *place, crossing_compare);
        out->low = place[(int)(0.025 * (crossed - 1))];
        out->high = place[(int)ceil(0.975 * (crossed - 1))];
    }
    free(mean);
    free(place);
    free(pick);
}
