/* train.h - from start values to trained weights: AdamW on a task's training stream, watched in distribution. */
#ifndef TRAIN_H
#define TRAIN_H

#include "adamw.h"
#include "config.h"
#include "model.h"
#include "run.h"
#include "task.h"

/* A batch with its own memory. */
typedef struct batch_buffer {
    int max_sequences, max_tokens;
    int sequences;
    int *start, *input, *target;
    double *given;            /* what the task proposes, where it does */
    int proposes;             /* 1: given holds the task's own positions */
    int *answer_begin;        /* [sequences] */
} batch_buffer;

/* Room for max_sequences sequences of together at most max_tokens tokens. -1: no memory. */
int batch_buffer_create(batch_buffer *b, arena *a, int max_sequences, int max_tokens);
void batch_buffer_clear(batch_buffer *b);
/* Draws one sequence of the task to the end of the buffer. Returns 1 if it could be shared with another stream. */
int batch_buffer_draw(batch_buffer *b, const task *t, task_stream stream, uint64_t seed, uint64_t index, uint32_t item,
                      int len);
/* Sequences first .. first+count-1 of the buffer as the network reads them. */
batch batch_buffer_part(const batch_buffer *b, int first, int count, uint64_t seed, uint64_t map_index, int training,
                        int *start);

/* The learning rate of step 0 .. steps-1: linear warm-up, then the schedule from lr down to lr * min_lr at the last step. */
double train_rate(const run_config *c, int step);

/* Most tokens of a part: a step is worked off in parts whose activations stay near the core. longest: tokens of the longest
 * training sequence. */
int train_part_tokens(const run_config *c, int longest);

typedef struct trainer {
    const run_config *config;
    const task *task;
    model *model;
    adamw optimiser;
    workspace work;           /* of one part of a batch */
    workspace check;          /* of validation */
    batch_buffer data, check_data;
    int *part_start;
    int part_tokens;          /* most tokens of a part */
    real *best;               /* weights with the best validation loss so far, when they are to be selected */
    double best_loss, best_exact;
    int best_step;
    double reach;             /* the largest position met so far */
    run_exposure *exposure;   /* borrowed from the result; NULL: what positions meet is not recorded */
    int offset;               /* steps of an earlier training: step s draws batch offset + s */
} trainer;

int trainer_create(trainer *t, arena *a, const run_config *c, const task *what, model *m, error *e);

/* The step and item by whose numbers sequence n of a step is drawn. With train.data, in answer tasks, those of sequence
 * (step batch + n) mod train.data: the same sequences come again in the same order. Their positions are drawn anew. */
void train_source(const run_config *c, int answers, int step, int n, uint64_t *index, uint32_t *item);

/* One step: draws batch offset + `step`, adds up the gradients of its parts and updates. Returns the mean loss over the
 * scored tokens, in nats; *norm: the gradient's before clipping. Not finite: nothing was updated. */
double trainer_step(trainer *t, int step, double *norm);

/* Whether a step's loss or gradient says that training has diverged: not finite, or so far above the loss of a uniform guess
 * that it does not come back. */
int trainer_lost(const trainer *t, double loss, double norm);

/* Exact match and mean loss of the current weights on the validation stream at training lengths. */
void trainer_validate(trainer *t, double *exact, double *loss);

/* All steps, with validation, early stop, selection. Fills the training part of out, train_seconds and cpu_seconds included;
 * status RUN_OK, RUN_DIVERGED or RUN_INTERRUPTED. -1 with e set: no memory.
 *
 * state: the file (NULL: none) from which a training that was interrupted goes on, written about once a minute and when the
 * training is interrupted. Where it cannot be written, training goes on without. */
int trainer_run(trainer *t, const run_watch *watch, const char *state, run_result *out, error *e);

#endif
