/* network_head.h - the network's head, backward. Private to the network: its forward side is model_loss and model_logits. */
#ifndef NETWORK_HEAD_H
#define NETWORK_HEAD_H

#include "layers.h"
#include "model.h"

/* After model_loss in training, from w->logits: w->dh[kept][width] (=) the gradient of the residual stream after the last
 * layer, 0 where no token is scored; gradients of the head's parameters +=. */
void network_head_bwd(const model *m, workspace *w);

/* Where the gradient of a normalisation's shift at `at` is added; NULL: it has none. */
static inline real *network_norm_b_grad(const model *m, size_t at)
{
    return m->norm_kind == NORM_LAYER ? m->grad + at : NULL;
}

#endif
