/* model_look.h - what the hooks of a network compute, looked at one by one and outside of a pass through it. */
#ifndef MODEL_LOOK_H
#define MODEL_LOOK_H

#include "arena.h"
#include "model.h"
#include "placement.h"

typedef struct look {
    const model *m;
    arena memory; /* of the buffers below */
    placements places;
    placement_source source;
    int len, max_len;
    attention_scratch scratch;
    real *v, *o; /* [max_len][width] values, all 0, and what attention makes of them */
    real *gate[STACK_MEMBERS_MAX];
} look;

/* Buffers for sequences of up to max_len tokens under the map (NULL: the stacks' own). m must outlive it. Free with
 * look_close in either case. -1: no memory. */
int look_open(look *k, const model *m, const pe_map *map, const void *map_options, int max_len, error *e);
void look_close(look *k);

/* From here on a sequence of len tokens is looked at, the `sequence`-th of batch `index`, in evaluation; given[len]:
 * positions that the task proposes, or NULL. It starts as 1 token of sequence 0. Returns the largest position. */
double look_place(look *k, int len, uint64_t index, int sequence, const double *given);

/* x[len][width] += what encodings add to the token vectors. */
void look_embed(look *k, real *x);

/* out[heads][keys] (=) the biases of query `row` in a layer; keys: row + 1 under a causal mask, else len. */
void look_bias(look *k, int layer, int row, real *out);

/* Reals of each head that rotate leaves. */
int look_rotated_dim(const look *k, int layer);

/* u[len][heads][rotated_dim]: head_dim reals of each head are rotated in place. */
void look_rotate(look *k, int layer, pe_role role, real *u);

/* Shows the attention weights of a layer to w. x[len][width]: its normalised input, for gates; q, key as in
 * look_rotate, before the rotation; they are rotated in place. */
void look_attention(look *k, int layer, const real *x, real *q, real *key, const attention_watch *w);

#endif
