/* tune.h - the learning rate of each cell, chosen by trials before any reported run begins.
 *
 * A cell is what runs of a spec share that differ in the seed alone: encoding, task and every other setting. With
 * `tune: {lr: [...], seeds: k}` each cell gets the same budget: every rate with the seeds 101 .. 100+k, which no
 * reported run may have. A trial is the cell's own run with that rate and seed, but for its evaluation, which is cut
 * down to one sequence at each test length: nothing past the training lengths is known when the choice is made.
 *
 * The choice looks at validation at training lengths only, at the loss of the weights that would be tested
 * (train.select): the rate with the fewest diverged trials, among these the one with the smallest mean loss over its
 * trials, among equal ones the smallest rate. A cell with a trial that failed (not: diverged), or whose trials all
 * diverged, has no rate: its runs are left out, and the others go on.
 *
 * Trials are a sweep of their own in <out>/tune, so that no report takes them for results:
 *
 *   tune/runs/<key>.json     the records of the trials
 *   tune/spec.json           the sweep of the trials (sweep.h)
 *   tune/choice.json         {"schema": "posbench-tune/1", "name", "lr": [number, ...], "seeds": [int, ...],
 *                             "rule": string, "cells": [{"encoding", "task", "cell": canonical text without seed and
 *                             rate, "lr": number or null, "message": why there is none, or null,
 *                             "trials": [{"key", "lr", "seed", "status": as in records, or "missing",
 *                                         "validation_loss": number or null}, ...]}, ...]}
 */
#ifndef TUNE_H
#define TUNE_H

#include <limits.h>

#include "folder.h"
#include "spec.h"
#include "sweep.h"

typedef struct tune_trial {
    char key[CONFIG_KEY_SIZE];
    folder_state state;
    double loss; /* validation at training lengths, nats; NAN: none. A run whose loss is NAN counts as diverged */
} tune_trial;

typedef enum tune_state {
    TUNE_WAITING, /* a trial has no outcome yet */
    TUNE_CHOSEN,
    TUNE_FAILED /* no rate: message */
} tune_state;

typedef struct tune_cell {
    const run_config *config; /* its first run in the spec */
    tune_state state;
    int rate; /* index into spec.tune.rate; -1 */
    char message[320];
} tune_cell;

typedef struct tuning {
    const spec *spec;
    char dir[PATH_MAX]; /* <out>/tune */
    int cell_count;
    tune_cell *cell;
    int *cell_of;                /* [spec->count] the cell of each run */
    tune_trial *trial;           /* [cell_count][rates][seeds] */
    spec trials;                 /* as a spec of their own, no two alike */
    int waiting, chosen, failed; /* cells */
} tuning;

/* The cells and trials of a spec that tunes; reads and makes nothing. `s` must outlive it. -1: no memory. */
int tune_open(const spec *s, const char *out_dir, tuning *out, error *e);
void tune_close(tuning *t);

/* Reads the records of the trials, as they are now, and chooses. */
int tune_choose(tuning *t, error *e);

/* The runs whose cell has its rate, with that rate, in the order of the spec. out->left_out is empty: the spec's own
 * says it. Free with spec_free. */
int tune_resolve(const tuning *t, spec *out, error *e);

/* Writes tune/choice.json. Cells of an earlier part of the same grid (--only) stay in it. */
int tune_save(const tuning *t, error *e);

/* Does the trials that have no outcome yet, waits for those that other workers have, chooses and writes the choice.
 * Options as for the sweep that follows. `out`: of the trials. 0 also when cells have no rate; -1 as sweep_run. */
int tune_run(tuning *t, const sweep_options *o, sweep_outcome *out, error *e);

/* In words: how a rate is chosen. */
extern const char tune_rule[];

#endif
