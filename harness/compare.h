/* compare.h - two results folders side by side: which runs belong together, and what differs between them.
 *
 * A run of A and one of B are a pair when encoding, task, seed and all other settings are the same. Left out of the
 * comparison are settings that differ by design: a row for which all runs of a task have one value in A and all runs of
 * that task another one in B; train.lr where a folder's sweep chose it by tuning; rows that the caller names. Runs that
 * are then alike on one side are not paired: nothing says which belongs to which.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include "config.h"
#include "error.h"
#include "results.h"

enum { COMPARE_ROWS_MAX = 64, COMPARE_VALUE_MAX = 96, COMPARE_WHY_MAX = 160 };

/* A setting that was left out of the matching. */
typedef struct compare_setting {
    const char *row;
    char a[COMPARE_VALUE_MAX], b[COMPARE_VALUE_MAX]; /* its value, or "several"; cut where it is longer */
    const char *reason; /* "differs by design", "chosen by tuning", "left out on request" */
} compare_setting;

/* A run without a partner. */
typedef struct compare_single {
    int side; /* 0: A, 1: B */
    const run_record *run;
    int alike; /* runs of its side that look the same without the rows left out; 1: it is alone */
} compare_single;

/* One score of one encoding and task at one range of test lengths. */
typedef struct compare_cell {
    const char *encoding, *task; /* encoding: the label in A (results.h) */
    const char *metric, *mode;
    int min_len, eval_len;
    int matched;                  /* pairs of runs in the cell */
    int pairs;                    /* of these, with a value on both sides */
    double mean_a, mean_b;        /* over these; NAN without any */
    double difference, low, high; /* mean of B - A and its 95 % interval (stat_bootstrap); NAN where why says so */
    char why[COMPARE_WHY_MAX];    /* why difference or interval are missing; empty: they are there */
} compare_cell;

typedef struct comparison {
    results side[2];
    int setting_count, pair_count, single_count, cell_count;
    compare_setting setting[COMPARE_ROWS_MAX];
    compare_single *single; /* A's first, each in the order of results */
    compare_cell *cell;     /* by task, metric, mode, encoding, length */
} comparison;

/* Reads both folders. ignore[ignore_count]: rows of config_rows that matching leaves out. As in results_load, records
 * that cannot be read leave a comparison of all others and -1 with e set; single and cell are then there if either
 * folder held any record. The caller frees it in every case. */
int compare_load(const char *dir_a, const char *dir_b, const char *const *ignore, int ignore_count, comparison *out,
                 error *e);
void compare_free(comparison *c);

#endif
