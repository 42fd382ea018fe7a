/* report_fixture.h - results folders made up for the tests of tables and reports. */
#ifndef REPORT_FIXTURE_H
#define REPORT_FIXTURE_H

#include "run.h"

enum { MADE_LENGTHS = 3 };           /* tested at 1, 2 and 4 times the training length, 16 */

/* One record. Fields left 0 take the defaults named. */
typedef struct made_run {
    const char *encoding;
    const char *task;                /* repeat_copy */
    int seed;                        /* 1 */
    double lr;                       /* config's */
    run_status status;
    const char *message;
    int unfit;                       /* 1: did not reach eval.fit */
    double score[MADE_LENGTHS];      /* exact match; NAN: undefined there. With `loss`: the loss of sliding windows */
    int loss;                        /* 1: a language task, with windows and sliding and loss by position */
    const char *flag;                /* of the points past the training length */
    double training_loss[3];         /* at steps 10, 20, 30; all 0: 2, 1, 0.5 */
    int steps;                       /* train.steps, 30 */
    int lengths;                     /* tested: the first so many, all */
    int task_version;
    const char *settings;            /* more of the configuration, "train.lengths=geometric|train.clip=0" */
    const char *tested_as;           /* eval.encoding_options */
    int decoded;                     /* 1: with eval.decode, the same exact match, and `written` as token accuracy */
    double written;
    double overlap[MADE_LENGTHS];    /* shares of test sequences that training may have met */
    long distinct;                   /* as in run_result */
    run_exposure *exposure;          /* borrowed; NULL: none */
    run_probes *probes;              /* borrowed; NULL: none */
    run_extension *extended;         /* [extended_count] what followed training; settings must ask for it */
    int extended_count;
} made_run;

/* Makes dir/runs if need be and writes the record below it. The path of the file into `path` (may be NULL). */
void made_write(const char *dir, const made_run *made, char *path);

/* A spec.json that names the baseline. */
void made_baseline(const char *dir, const char *baseline);

/* Two encodings, two tasks, three seeds: one that holds, one that is undefined past training. */
void made_folder(const char *dir);

/* Skips the test where gnuplot is not installed. */
void gnuplot_or_skip(void);

#endif
