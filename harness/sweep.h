/* sweep.h - runs that have no record yet, one process each, until all have one.
 *
 * What is on disk is the whole state (folder.h); workers that share the folder keep out of each other's way by claims
 * (claim.h). A run is over when results/<sweep>/runs/<key>.json holds a valid record with status ok, diverged or
 * failed. A run that was stopped leaves no record, so that the next sweep does it again from its beginning. A record
 * that cannot be read is moved aside as <key>.json.bad, reported, and its run done again.
 *
 * results/<sweep>/spec.json tells reports what was asked for:
 *   {"schema": "posbench-sweep/1", "name", "title", "baseline": a canonical encoding or "",
 *    "tune": {"lr": [number, ...], "seeds": [int, ...]}                only where train.lr was chosen by trials (tune.h)
 *    "runs": [{"key", "encoding", "task", "seed": int}, ...]}           the whole grid, whatever --only says; key null:
 *                                                                      its rate was not chosen in the latest sweep
 *
 * A run whose process died without a record gets one with status failed: "message" says how it ended and its last line
 * on standard error, and one more key, "last_words", holds the last 2 kB of that (a string, or null).
 */
#ifndef SWEEP_H
#define SWEEP_H

#include <signal.h>
#include <stdio.h>

#include "error.h"
#include "spec.h"

typedef struct sweep_options {
    const char *out_dir;            /* results/<name>; made when missing, with its parents */
    const char *program;            /* path of the posbench to exec for each run; PATH is not searched */
    const char *const *plugins;     /* NULL-ended; handed on; NULL: none */
    int jobs;                       /* processes at a time, 1 or more */
    int worker_index, worker_count; /* --worker I/N: begins with the keys that fall to it, then helps out; 0/0: alone */
    int retry_failed;               /* runs whose record says failed or diverged are done again */
    FILE *progress;                 /* a terminal gets live lines, all else (or TERM=dumb) plain ones; NULL: silent */
    const volatile sig_atomic_t *stop; /* set by SIGINT, SIGTERM: children are stopped, what is finished stays */
    double grace;                      /* seconds from SIGTERM to SIGKILL for a child that is stopped; 0: 5 */
} sweep_options;

/* planned = found + done + failed + diverged + interrupted + elsewhere + left. */
typedef struct sweep_outcome {
    int planned;
    int found;                  /* had an outcome before */
    int done, failed, diverged; /* here and now */
    int interrupted;            /* begun here, and stopped */
    int elsewhere;              /* done, or being done, by other workers */
    double seconds;
    int left;         /* not begun: the sweep was stopped or could not go on */
    int found_failed; /* of `found`: failed or diverged */
    int moved_aside;  /* records that could not be read */
    int foreign;      /* records in the folder of no run of this spec; they are kept */
    int left_over;    /* temporary files of dead writers that were removed */
} sweep_outcome;

/* The child that a run is: `program run --canonical - --out FILE --progress-fd 3 [--plugin FILE ...]`, the canonical
 * text on its standard input, OMP_NUM_THREADS and the BLAS's thread counts set to 1. It writes the record itself and
 * tells lines "phase done total loss\n" on descriptor 3. A child that dies without a record is recorded as failed, with
 * its signal or status and its last words on standard error; a child that exits with ERROR_ENVIRONMENT because the disk
 * is full is not: the sweep then starts no more runs, lets those that are on their way end, and returns.
 *
 * 0: every run has an outcome, or is claimed by another live worker. -1: ERROR_INTERRUPTED after o->stop, unless
 * nothing was left; ERROR_ENVIRONMENT when it could not go on (disk, program). `out` is filled in all cases, and the
 * same call takes up where this one ended. */
int sweep_run(const spec *s, const sweep_options *o, sweep_outcome *out, error *e);

/* --dry-run: counts by axis, what was left out, what is done already, and an estimate of the time from finished records of the same shape
 * or, without any, from the arithmetic (work.h); to `to`. Starts nothing and makes nothing. */
int sweep_plan(const spec *s, const sweep_options *o, FILE *to, error *e);

/* Which encodings the spec's `all` or `examples` could not stand for, and why; nothing when there are none. */
void sweep_left_out(const spec *s, FILE *to);

#endif
