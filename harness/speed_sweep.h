/* speed_sweep.h - what a sweep makes of several cores, and how a run's time divides between training and evaluation. */
#ifndef SPEED_SWEEP_H
#define SPEED_SWEEP_H

#include <signal.h>

#include "speed.h"

/* The runs that are swept: default settings on one task, with fewer steps. */
typedef struct speed_sweep {
    const char *program;  /* path of the posbench to start for each run */
    int jobs;             /* processes at once, 1 or more */
    int rounds;           /* each: two runs one after the other, then two a process with `jobs` processes at once */
    int steps;            /* of training in each run */
    const volatile sig_atomic_t *stop; /* as in sweep.h */
} speed_sweep;

/* By the clock on the wall, starts of processes and writing of records included: it is what a user waits for. */
typedef struct speed_sweep_result {
    speed_spread gain;        /* runs a second with `jobs` processes over those with one */
    speed_spread evaluation;  /* evaluation's share of the time of a run with the default number of steps */
    speed_spread run_seconds; /* of such a run, from the time of its steps */
} speed_sweep_result;

/* Works in a folder of its own under $TMPDIR (or /tmp), which is removed. ERROR_RUN when a run failed; ERROR_INTERRUPTED
 * after `stop`. */
int speed_sweep_measure(const registry *r, const speed_sweep *s, speed_sweep_result *out, error *e);

#endif
