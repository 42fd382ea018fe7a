/* summary.h - records to tables: runs.csv (one row per measured value) and summary.csv (one row per point of a curve). */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdint.h>

#include "error.h"
#include "results.h"
#include "stats.h"

typedef struct summary_row {
    char *encoding, *task, *metric, *mode; /* encoding: the label of results.h, which tells configurations apart */
    int train_len, min_len, eval_len;      /* min_len < eval_len where a range of lengths was tested */
    double ratio;
    int seeds, fitted;             /* runs with a value; of these, how many fitted in distribution */
    double mean, sd, median;       /* sd with n-1; NAN with one seed; all NAN without a value */
    double ci_low, ci_high;        /* 95 % bootstrap over seeds, within what the metric can be; NAN with one seed */
    double rank;                   /* of the mean among encodings at the same point, 1 = best, ties averaged; NAN when alone */
    double *value;                 /* [seeds] in order of seed */
    int *seed;                     /* [seeds] */
    char status[16];               /* ok as soon as one run has a value; else undefined, not_run or mixed */
    char flag[64];                 /* of the point, when its runs agree; "mixed" otherwise */
} summary_row;

typedef struct summary {
    int count;
    summary_row *rows;             /* sorted: task, metric, mode, train_len, eval_len, then encodings by name */
    int records, diverged, failed, interrupted;
} summary;

/* Reads every record below dir/runs and writes dir/runs.csv and dir/summary.csv, whole or not at all. `out` may be NULL.
 *
 * A run that diverged, failed or was interrupted has one row in runs.csv, with its status and without a value; it is counted
 * in `summary` and enters no mean. Runs that did not fit in distribution do enter: `fitted` says how many did. Files that
 * are no records are named in e and the result is -1, but the tables and `out` hold all others: the caller frees `out` in
 * either case. */
int summary_collect(const char *dir, summary *out, error *e);
void summary_free(summary *s);

/* The two halves of it: records that are in memory already to rows, and to the two files. */
int summary_build(const results *r, summary *out, error *e);
int summary_write(const char *dir, const results *r, const summary *s, error *e);

#endif
