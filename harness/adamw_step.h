/* adamw_step.h - AdamW's arithmetic over a stretch of parameters: a kernel of its own, so that it is compiled for each level. */
#ifndef ADAMW_STEP_H
#define ADAMW_STEP_H

#include "pe.h"

typedef struct adamw_rates {
    real scale;               /* of the gradient: what clipping leaves of it */
    real beta1, beta2, epsilon;
    real rate;                /* lr / (1 - beta1^step) */
    real inverse_root;        /* 1 / sqrt(1 - beta2^step) */
    real keep;                /* 1 - lr * weight decay, or 1 */
} adamw_rates;

/* For each of n parameters, g = scale * gradient (Loshchilov & Hutter 2019, algorithm 2, without a schedule of its own):
 *   first = beta1 first + (1 - beta1) g;  second = beta2 second + (1 - beta2) g^2
 *   w = keep w - rate first / (inverse_root sqrt(second) + epsilon)
 * The gradient is 0 afterwards. */
void adamw_step(const adamw_rates *rates, real *w, real *gradient, real *first, real *second, size_t n);

#endif
