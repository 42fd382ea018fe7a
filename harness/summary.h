/* summary.h - records to tables: runs.csv (one row per measured value) and summary.csv (one row per point of a curve). */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdint.h>

#include "error.h"

typedef struct summary_row {
    char *encoding, *task, *metric, *mode;
    int train_len, eval_len;
    double ratio;
    int seeds, fitted;             /* runs with a value; of these, how many fitted in distribution */
    double mean, sd, median;       /* sd with n-1; NAN with one seed */
    double ci_low, ci_high;        /* 95 % bootstrap over seeds; NAN with one seed */
    double rank;                   /* among encodings at the same point, 1 = best, ties averaged; NAN when alone */
    double *value;                 /* [seeds] in order of seed */
    int *seed;                     /* [seeds] */
    char flag[64];                 /* of the point, when its runs agree; "mixed" otherwise */
} summary_row;

typedef struct summary {
    int count;
    summary_row *rows;             /* sorted: task, metric, mode, eval_len, then encodings in order of first appearance by name */
    int records, diverged, failed, interrupted;
} summary;

/* Reads every record below dir/runs and writes dir/runs.csv and dir/summary.csv, whole or not at all. `out` may be NULL. */
int summary_collect(const char *dir, summary *out, error *e);
void summary_free(summary *s);

/* The statistics, tested by themselves. n >= 1 unless said otherwise. */
double stat_mean(const double *x, int n);
double stat_sd(const double *x, int n);                 /* n-1; NAN for n < 2 */
double stat_median(const double *x, int n);
void stat_bootstrap(const double *x, int n, uint64_t stream, double *low, double *high); /* NAN for n < 2 */
void stat_ranks(const double *x, int n, int higher_is_better, double *rank); /* NAN values get NAN ranks */

#endif
