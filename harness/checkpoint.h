/* checkpoint.h - where an unfinished training stands, in a file: so that hours of work outlive Ctrl-C, a crash, a job's time
 * limit. A run that goes on from it gives the bytes that it would have given without the interruption, costs aside.
 *
 * The file belongs to one configuration and one build on one kind of processor; what was written by another, or is damaged,
 * is no state, and the run begins anew. Its layout is private to this module.
 */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "buffer.h"
#include "train.h"

/* What a run has cost so far, over all its sittings. */
typedef struct checkpoint_cost {
    double train_seconds, cpu_seconds;
} checkpoint_cost;

/* Writes the trainer and out's training part after `steps` steps, whole or not at all. ended: there are no more to come, be it
 * before all are done. -1 with ERROR_ENVIRONMENT. */
int checkpoint_save(const char *path, const trainer *t, const run_result *out, int steps, int ended, checkpoint_cost cost,
                    error *e);

/* Reads a state back into a trainer that was created for the same configuration, and into out. Returns the steps done, 0 when
 * there is no state that fits (then nothing was changed), or -1 with e set when memory is short. */
int checkpoint_load(const char *path, trainer *t, run_result *out, int *ended, checkpoint_cost *cost, error *e);

/* The same for whatever follows training: body, with what it belongs to and a digest, whole or not at all. -1 with
 * ERROR_ENVIRONMENT. And back: the bytes (the caller frees them), or NULL where there is no state that fits. */
int checkpoint_keep(const char *path, const run_config *c, const buffer *body, error *e);
char *checkpoint_recall(const char *path, const run_config *c, size_t *size);

#endif
