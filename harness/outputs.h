/* outputs.h - the tokens of a batch whose output is read, for which alone the last layer is finished.
 *
 * Attention in the last layer needs keys and values of all tokens. What follows it there (projection, residual, MLP) acts on
 * each token by itself, so a token whose output nobody reads needs none of it, and its query none either: of an algorithmic
 * task the whole prompt. Losses, outputs and gradients are the same as if all had been computed.
 */
#ifndef OUTPUTS_H
#define OUTPUTS_H

#include "model.h"

/* Sets w->kept, w->kept_count and w->first_row: the scored tokens, or all where the batch wants every token or somebody
 * watches attention. */
void outputs_choose(workspace *w, const batch *b);

/* rows[kept_count][width] = all[tokens][width] at the kept tokens; rows must not overlap all. */
void outputs_gather(const workspace *w, const real *all, int width, real *rows);

/* The reverse in place: rows[kept_count][width] become all[tokens][width], 0 at the other tokens. */
void outputs_spread(const workspace *w, int tokens, int width, real *rows);

/* The row of token t among the kept ones; -1: it is not kept. */
int outputs_row(const workspace *w, int t);

#endif
