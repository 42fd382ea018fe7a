/* sweep.h - runs that have no record yet, one process each, until all have one. */
#ifndef SWEEP_H
#define SWEEP_H

#include <signal.h>
#include <stdio.h>

#include "error.h"
#include "spec.h"

typedef struct sweep_options {
    const char *out_dir;          /* results/<name>; made when missing */
    const char *program;          /* the posbench to exec for each run */
    const char *const *plugins;   /* NULL-ended; handed on */
    int jobs;                     /* processes at a time */
    int worker_index, worker_count; /* --worker I/N: this process begins with the keys that fall to it, then helps out */
    int retry_failed;             /* runs whose record says failed, diverged or interrupted are done again */
    FILE *progress;               /* a terminal gets live lines, anything else (or TERM=dumb) plain ones; NULL: silent */
    const volatile sig_atomic_t *stop; /* set by SIGINT/SIGTERM: children are stopped, what is finished stays */
} sweep_options;

typedef struct sweep_outcome {
    int planned, found, done, failed, diverged, interrupted, elsewhere; /* elsewhere: claimed by another live worker */
    double seconds;
} sweep_outcome;

/* The child that a run is: `program run --canonical - --out FILE --progress-fd 3 [--plugin FILE ...]`, the canonical text on
 * its standard input, OMP_NUM_THREADS and the BLAS's thread counts set to 1. It writes the record itself and tells lines
 * "phase done total loss\n" on descriptor 3. A child that dies without a record is recorded as failed, with its signal or
 * status and its last words on standard error. */
int sweep_run(const spec *s, const sweep_options *o, sweep_outcome *out, error *e);

/* --dry-run: counts by axis, what is done already, and an estimate of the time from finished records of the same shape or,
 * without any, from the arithmetic; to `to`. */
int sweep_plan(const spec *s, const sweep_options *o, FILE *to, error *e);

#endif
