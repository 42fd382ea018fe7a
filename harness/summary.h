/* summary.h - records to tables: every measured value, every point of a curve, every curve, and every comparison. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdint.h>

#include "buffer.h"
#include "error.h"
#include "results.h"
#include "stats.h"

typedef struct summary_row {
    char *encoding, *task, *metric, *mode; /* encoding: the label of results.h, which tells configurations apart */
    int train_len, min_len, eval_len;      /* min_len < eval_len where a range of lengths was tested */
    double ratio;
    int seeds, fitted;       /* runs with a value; of these, how many fitted in distribution */
    double mean, sd, median; /* sd with n-1; NAN with one seed; all NAN without a value */
    double ci_low, ci_high;  /* 95 % bootstrap over seeds, within what the metric can be; NAN with one seed */
    double rank;        /* of the mean among encodings at the same point, 1 = best, ties averaged; NAN when alone */
    double mean_fitted; /* over the runs that fitted; NAN when none did */
    double chance;      /* level of chance at this length; NAN: not known, or no score */
    int is_baseline;    /* runs of the sweep's baseline, tested as trained */
    double *value;      /* [seeds] in order of seed */
    int *seed, *fit;    /* [seeds]; fit: 1 when that run fitted */
    char status[16];    /* ok as soon as one run has a value; else undefined, not_run or mixed */
    char flag[64];      /* of the point, when its runs agree; "mixed" otherwise */
} summary_row;

/* One encoding's score on one task over all tested lengths. The texts are those of its rows.
 *
 * Its area, for each seed: the mean of the score over the logarithm of the length, from the longest length within
 * training (or, where none was tested, the shortest) to the longest; straight lines between the tested lengths. It is
 * the area under the curve as it is drawn, over its width, and has the score's own unit. A seed without a value at one
 * of the lengths has no area.
 *
 * Its reach: the longest tested multiple of the training length up to which all keep 90 % of the mean in distribution
 * (a loss: at most 1/0.9 of it). */
typedef struct summary_curve {
    const char *encoding, *task, *metric, *mode;
    int train_len, is_baseline;
    int lengths, home;         /* home: the longest length within the training lengths; -1: none was tested */
    const summary_row **point; /* [lengths], ascending; NULL: not run */
    int seeds, fitted;         /* runs with an area; of these, how many fitted */
    double *area;              /* [seeds] in order of seed */
    int *seed;                 /* [seeds] */
    double mean, sd, ci_low, ci_high, mean_fitted; /* of the areas, as in summary_row */
    const char *reason;                            /* why there is no area; "" when there is one */
    double reach;                                  /* NAN: no value at home, or none above chance */
    int reach_is_last;                             /* no longer length was tested */
    int learned; /* a run fitted in distribution; losses have no such threshold: always 1 */
} summary_curve;

/* One encoding less another on the same seeds, at one length or over the whole curve (its areas). */
typedef struct summary_contrast {
    const char *against;   /* "baseline", or "best": the best mean of all at that point */
    const char *reference; /* its label; "" where there is none to compare with */
    const char *encoding, *task, *metric, *mode;
    int train_len, min_len, eval_len; /* of areas 0, 0 */
    double ratio;                     /* NAN: areas */
    stat_paired d;    /* encoding less reference, over the seeds that both have; interval within what the metric
                       * can differ by */
    double p_holm;    /* corrected over all encodings that are compared with the same kind of reference here */
    int tests;        /* how many these are */
    char reason[160]; /* what is missing, and why; "" when nothing is */
} summary_contrast;

/* One encoding stretched by one method to one longer length, after some steps of fine-tuning, tested at one length. */
typedef struct summary_extension {
    char *encoding, *task, *metric, *mode, *method;
    char *task_options;   /* of the task, in this test; "": as in training */
    char *reason;         /* why a run has no value; "" when all have one */
    int train_len, steps, eval_len;
    double factor, ratio; /* of the longer length; of the length of the test; both to train_len */
    double tokens;        /* read by fine-tuning, mean over the seeds */
    int seeds;            /* runs with a value */
    double mean, sd, median, ci_low, ci_high; /* as in summary_row */
    double *value;        /* [seeds] in order of seed */
    char status[16], flag[64]; /* as in summary_row; diverged: fine-tuning did, in all runs */
} summary_extension;

typedef struct summary {
    int count;
    summary_row *rows; /* sorted: task, metric, mode, train_len, eval_len, then encodings by name */
    int curves;
    summary_curve *curve; /* scores only; sorted: task, metric, mode, train_len, then encodings by name */
    int contrasts;
    summary_contrast
        *contrast; /* scores only; in the order of the rows, areas after the last length; baseline before best */
    int extensions;
    summary_extension *extension; /* sorted: task, metric, mode, train_len, factor, eval_len, encoding, method, task_options,
                                   * steps */
    int records, diverged, failed, interrupted;
    int exposed; /* ended well and recorded what positions met */
} summary;

/* Reads every record below dir/runs and writes dir/runs.csv, summary.csv, curves.csv and comparisons.csv, and, where a
 * record says what positions met in training, positions.csv, and where some run went on at longer lengths,
 * extension.csv, each whole or not at all. `out` may be NULL.
 *
 * A run that diverged, failed or was interrupted has one row in runs.csv, with its status and without a value; it is
 * counted in `summary` and enters no mean. Runs that did not fit in distribution do enter: `fitted` says how many did.
 * Files that are no records are named in e and the result is -1, but the tables and `out` hold all others: the caller
 * frees `out` in either case. */
int summary_collect(const char *dir, summary *out, error *e);
void summary_free(summary *s);

/* The two halves of it: records that are in memory already to rows, and to the files. */
int summary_build(const results *r, summary *out, error *e);
int summary_write(const char *dir, const results *r, const summary *s, error *e);

/* positions.csv (summary_positions.c): what each position met in training, of all runs that ended well and recorded it. Returns
 * how many these are. summary_write writes the file where there is one. */
int summary_positions(const results *r, buffer *b);

/* The parts of summary_build, one file each: curves and contrasts of s->rows. -1: no memory. */
int summary_curves(summary *s);
int summary_contrasts(summary *s);

/* The rows of s->extension, of the runs that ended well (summary_extension.c). -1: no memory. */
int summary_extensions(const results *r, summary *s);

/* The contrast of an encoding at a length (eval_len 0: areas) with that kind of reference; NULL when there is none. */
const summary_contrast *summary_contrast_find(const summary *s, const char *against, const summary_row *at,
                                              const char *encoding, int areas);

#endif
