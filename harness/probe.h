/* probe.h - what trained weights know of positions: read off hidden states and off trained tables (config row
 * eval.probe), and what the order of a prefix is worth (eval.shuffle). What is found is kept in run_probes (run.h).
 */
#ifndef PROBE_H
#define PROBE_H

#include "evaluate.h"
#include "model.h"
#include "readout.h"
#include "run.h"
#include "train.h"

/* ------------------------------------------------------------------------------------------------ hidden states */

/* The residual stream of some sequences: what enters each layer, and what the last leaves. */
typedef struct probe_states {
    int sequences, len; /* how many at most, and of how many tokens each at most */
    int count, width;   /* count: layers + 1 */
    size_t used;        /* tokens so far */
    double *x;          /* [count][sequences * len][width] */
    double *position;   /* [sequences * len] index in the sequence */
    int *fold;          /* [sequences * len] whole sequences are left out */
} probe_states;

/* How many sequences of `len` tokens are looked at: about 4096 tokens, at least 10 and at most 64 sequences. */
int probe_sequences(int len);

/* Room for probe_sequences(len) sequences. -1 with e set: no memory. */
int probe_states_create(probe_states *p, arena *a, const model *m, int len, error *e);

/* Sequence n of those that are looked at: of the test stream, at the longest training length; start[2] becomes the
 * batch's. data has room for one. */
batch probe_sequence(const run_config *c, const task *t, batch_buffer *data, int n, int start[2]);

/* After model_forward on that sequence, with a workspace for training, which alone keeps every layer's input. */
void probe_states_add(probe_states *p, const workspace *w, int tokens, int n);

/* wide: also off wider vectors. Free with probe_read_free in either case. Errors: readout.h. */
int probe_states_read(const probe_states *p, int wide, readout_states *out, error *e);
void probe_read_free(readout_states *s);

/* ------------------------------------------------------------------------------------------------ of a run */

/* Refuses what cannot be looked at: hidden states of sequences longer than READOUT_TOKENS_MAX, and the prefix of what
 * is no text read from left to right. *row: the row to blame. ERROR_USAGE. */
int probe_check(const run_config *c, const task *t, const char **row, error *e);

/* What eval.probe and eval.shuffle ask for, of the weights that are tested. Positions: hidden states of
 * probe_sequences(len) test sequences of the longest training length, and of each parameter with a row for each
 * position the rows 0 .. the largest position met in training. Order: probe_shuffle. What has no value
 * (evaluate_standing) is left out. NULL with e set: no memory, no LAPACK, or interrupted. The caller frees it with
 * probe_free (run_result_free does). */
run_probes *probe_test(const evaluation *v, error *e);
void probe_free(run_probes *p);

/* probe_shuffle.c: the loss of the byte behind each whole window of the training length that evaluation reads, with the
 * window as it is, and with all its bytes but the last in random order. The last byte stays where it is, so that a
 * network that takes what comes before it as a bag loses nothing. -1 with e set: no memory, or interrupted. */
int probe_shuffle(const evaluation *v, run_probes *out, error *e);

#endif
