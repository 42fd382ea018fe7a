/* exposure.h - what each position meets in training (config row train.positions): tokens, squared gradients, the rows
 * of parameters that belong to one position, and how well tokens are predicted there in the end.
 *
 * Positions are those that the map gives to the layer that comes first, rounded to the nearest whole number, not
 * indices in the sequence. The gradient is that of a step's mean loss, before it is clipped. What is known is kept in
 * run_exposure (run.h), which grows with the largest position that is met.
 */
#ifndef EXPOSURE_H
#define EXPOSURE_H

#include "buffer.h"
#include "evaluate.h"
#include "model.h"
#include "run.h"

/* Positions from this one on are counted together, as `beyond`. */
enum { EXPOSURE_POSITIONS_MAX = 1 << 16 };

/* A record of nothing yet, with the norms of the model's rows as they are now. NULL with e set: no memory. The caller
 * frees it with exposure_free (run_result_free does). */
run_exposure *exposure_new(const model *m, error *e);
void exposure_free(run_exposure *x);

/* Which quarter of `steps` steps the step 0 .. steps-1 lies in, and after how many steps that quarter ends. */
int exposure_phase(int step, int steps);
int exposure_phase_end(int phase, int steps);

/* After model_backward on a part of a step's batch: counts its tokens and adds |d loss / d x_0|^2 of each, x_0[width]
 * being what enters the first layer. Memory that is short is noted in x->failed. */
void exposure_add_tokens(run_exposure *x, int phase, const model *m, const workspace *w, const batch *b);

/* After the last part, before the update: adds the squared gradient of each row, and counts rows whose gradient is not
 * 0. */
void exposure_add_rows(run_exposure *x, int phase, const model *m);

/* The rows' norms as they are now. */
void exposure_norms(run_exposure *x, const model *m);

/* Loss and share of right guesses at each position, over test sequences of the longest training length: eval.items of
 * them, or as many windows as hold eval.tokens tokens of text, which are those that evaluation meets at that length.
 * Where such sequences have no value (evaluate_standing) there is nothing. -1 with e set: no memory, or interrupted. */
int exposure_test(const evaluation *v, run_exposure *x, error *e);

/* ------------------------------------------------------------------------------------------------ for checkpoints */

/* Bytes of what exposure_save writes when `positions` positions have been met; x may be NULL: 0. */
size_t exposure_size(const run_exposure *x, int positions);
void exposure_save(const run_exposure *x, buffer *b);
/* Reads exposure_size bytes back into x, which must be of the same model. -1: no memory. */
int exposure_load(run_exposure *x, int positions, const char *from);

#endif
