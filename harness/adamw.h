/* adamw.h - AdamW with decoupled decay and clipping of the global norm (Loshchilov & Hutter 2019).
 *
 *   g *= min(1, clip / (norm + 1e-6));  w *= 1 - lr decay (where it applies);  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2;
 *   w -= lr (m / (1 - b1^t)) / (sqrt(v) / sqrt(1 - b2^t) + epsilon)
 */
#ifndef ADAMW_H
#define ADAMW_H

#include "arena.h"
#include "config.h"
#include "model.h"

typedef struct adamw {
    double beta1, beta2, epsilon, weight_decay, clip; /* clip 0: no clipping */
    int decay;              /* CONFIG_DECAY_MATRICES: weight matrices of linear maps only | _TWO_DIM: all with two dimensions | _ALL */
    int step;               /* updates made */
    real *first, *second;   /* moments, laid out as the model's parameters */
} adamw;

int adamw_create(adamw *o, arena *a, const model *m, const run_config *c, error *e);

/* One update from m->grad, which is cleared. Returns the norm before clipping, computed in double, so that finite gradients
 * always have a finite norm; if a gradient is not finite nothing changes but the clearing, and the norm is not finite. */
double adamw_update(adamw *o, model *m, double lr);

/* Whether this parameter shrinks under decay. */
int adamw_decays(const adamw *o, const model_param *p);

#endif
