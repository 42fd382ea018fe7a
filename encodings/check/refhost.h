/* refhost.h - a host for one layer that is too simple to be wrong.
 *
 * It runs embed and the complete attention of one layer for one sequence through a stack's hooks, in the order that
 * pe.h prescribes, and back. Plain loops, no libraries, nothing shared with the network of the product: it is what fast
 * hosts and encodings are compared with. Every liberty that the contract gives a host is taken: strides are wider than
 * needed, tiles have any height, what a hook must write is NaN before, and every buffer lies between canaries.
 *
 *   h = x + embed            [len][width]
 *   q = q_in + W h           likewise k, v; then rotate
 *   s = scale q.k            [heads][len][len], by tiles of whole rows
 *   logits = score(s) + bias, masked
 *   p = softmax(logits),  o = p.v + value
 *
 * Without weights W and with x = 0 it is attention of given q, k and v. There are no norms, no residual stream and no
 * output projection: positions do not enter there.
 */
#ifndef REFHOST_H
#define REFHOST_H

#include <stdint.h>

#include "error.h"
#include "registry.h"

typedef struct refhost_settings {
    pe_shape shape;
    int layer;                 /* what the hooks of a layer are told */
    int len;                   /* tokens, >= 1 */
    int total_len;             /* 0: len */
    const double *pos;         /* [len], copied; NULL: 0, 1, 2 ... */
    const unsigned char *mask; /* [len][len], copied; 0: key j is hidden from query i even within the causal limit */
    double scale;              /* 0: 1/sqrt(head_dim) */
    double garbage;            /* what scores beyond the causal limit hold when hooks get them */
    int tile_rows;             /* height of a tile; 0: len */
    int pad;                   /* reals added to every stride */
    int watch;                 /* 1: after every hook call, verify that only what it may write has changed */
} refhost_settings;

/* All [len][width], width = heads * head_dim; NULL: zeros. */
typedef struct refhost_input {
    const real *x;
    const real *q, *k, *v;
    const real *weights; /* [3*width][width]: rows of q, then of k, then of v; NULL: no projection */
} refhost_input;

/* Results of the last forward pass; owned by the host, valid until the next one. */
typedef struct refhost_output {
    const real *x;      /* [len][width] after embed */
    const real *logits; /* [heads][len][len]; hidden entries are -INFINITY */
    const real *bias;   /* [heads][len][len]: the sum of the stack's biases; 0 beyond the causal limit */
    const real *p;      /* [heads][len][len]; hidden entries are 0 */
    const real *o;      /* [len][width] */
} refhost_output;

/* Results of the last backward pass, each [len][width]. */
typedef struct refhost_gradient {
    const real *x, *q, *k, *v;
} refhost_gradient;

typedef struct refhost_param {
    int member; /* of the stack */
    int index;  /* of the encoding's params */
    pe_param about;
    size_t count; /* rows * cols */
    real *theta;  /* free to write between passes */
    real *dtheta; /* accumulates over backward passes until refhost_clear */
} refhost_param;

typedef struct refhost refhost;

/* The stack must outlive the host, and must have passed stack_check for this shape. Parameters start as refhost_init(h,
 * 0) leaves them. NULL with e set: no memory, more parameters than PE_PARAMS_MAX. */
refhost *refhost_new(const pe_stack *stack, const refhost_settings *settings, error *e);
void refhost_free(refhost *h);

/* Start values as a new model has them; the same seed gives the same bytes. */
void refhost_init(refhost *h, uint64_t seed);
/* Moves every parameter to where training might have taken it: those that start around 0 by up to +-0.3, all others by
 * up to a fifth of their value. Nothing stays 0 by accident of its start. */
void refhost_disturb(refhost *h, uint64_t seed);

int refhost_param_count(const refhost *h);
const refhost_param *refhost_param_at(const refhost *h, int i);

refhost_output refhost_forward(refhost *h, const refhost_input *in);

/* Follows a forward pass with the same input. d_o: [len][width]; d_logits: [heads][len][len], hidden entries are
 * ignored; NULL: zeros. */
refhost_gradient refhost_backward(refhost *h, const refhost_input *in, const real *d_o, const real *d_logits);

/* Sets all dtheta to 0. */
void refhost_clear(refhost *h);

/* What a member's hooks are told, to call one of them alone. layer: -1 for embed. backward: 0 leaves dtheta NULL, as
 * forward hooks find it. Valid until the next call into the host. */
const pe_context *refhost_context(refhost *h, int member, int layer, int backward);

/* 1: key j counts for query i. */
int refhost_visible(const refhost *h, int i, int j);

/* The first breach of the contract since the host was made, as "alibi: bias wrote to q"; NULL: none. */
const char *refhost_fault(refhost *h);

#endif
