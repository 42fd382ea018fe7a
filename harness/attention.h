/* attention.h - multi-head attention with the hooks of a stack, forward and backward, in blocks of rows.
 *
 * Memory grows with the length, never with its square: a block of rows is scored against its keys, used, and forgotten; the
 * backward pass computes it again. Where hooks ask for scores the block has whole rows (attention_block.h), else a tile of
 * keys at a time (attention_stream.h). A bias that is shift-invariant is asked for once as a vector over distance and
 * sliced: row i, key j reads vector[j - i + len - 1].
 */
#ifndef ATTENTION_H
#define ATTENTION_H

#include "arena.h"
#include "breakdown.h"
#include "pe.h"
#include "placement.h"
#include "registry.h"
#include "softmax.h"

/* One member of a layer's stack with its parameters. */
typedef struct attention_member {
    const pe_descriptor *encoding;
    const void *options;
    const real *theta[PE_PARAMS_MAX];
    real *dtheta[PE_PARAMS_MAX];
    size_t at[PE_PARAMS_MAX];     /* where each parameter stands in the model's flat block */
    int params;
} attention_member;

typedef struct attention_layer {
    int layer, pattern;           /* pattern: index of the stack in the layered_stack, for placement caches */
    int count;
    attention_member member[STACK_MEMBERS_MAX];
    int rotating;                 /* index of the member that rotates; -1: none */
    int rotated_dim;              /* reals per head in q and k afterwards */
    int has_bias, has_score, has_value, has_gate;
    int together;                 /* 1: hooks see the scores of all heads at once; 0: nobody asks for whole rows */
    int bias_by_distance;         /* 1: all biases are shift-invariant and nobody reads them */
} attention_layer;

/* Scratch for blocks of rows; one for a workspace. */
typedef struct attention_scratch {
    int max_len, rows_max;        /* longest sequence; most rows of a block */
    int block_rows;               /* rows of a block, at most rows_max; 0: as many as suit the caches */
    int tile_keys;                /* keys of a tile, a multiple of PRODUCT_PANEL, at most ATTENTION_STREAM_KEYS; 0: that many */
    size_t plane;                 /* most reals of one head's block: rows times its stride, see attention_stride */
    real *s, *ds;                 /* [heads][plane]; one plane when no layer has `together` */
    real *bias, *dbias;           /* [heads][plane], for biases that are not by distance */
    real *vector, *dvector;       /* [heads][2 * max_len - 1], for biases by distance, and room for one row's rounding up */
    real *packed_k, *packed_v;    /* transposes of all sequences' keys and, in training, values: see attention_pack */
    real *save[STACK_MEMBERS_MAX];
    breakdown *breakdown;         /* where its time goes; NULL: nobody asks */
} attention_scratch;

/* Who wants to see attention weights, which are not kept: `see` is called in the forward pass, after the softmax, for each
 * row (query token `row` of `sequence`): weights[visible] of keys 0 .. visible-1, which are gone when it returns. */
typedef struct attention_watch {
    void (*see)(void *self, int layer, int sequence, int head, int row, const real *weights, int visible);
    void *self;
} attention_watch;

/* The sequences of a batch as attention sees them. Sequence n: tokens start[n] .. start[n+1]-1. Rows of q, k and v are
 * token_stride_qk (v: token_stride_v) reals apart, heads follow each other. Gradients have the same layout. */
typedef struct attention_io {
    int sequences;
    const int *start;
    const int *first_row;            /* [sequences]: queries of rows before it are not wanted, o is not written there and
                                        d_o is 0; NULL: all rows are wanted */
    const placement *const *place;   /* [sequences] */
    real *q, *k;
    int token_stride_qk;
    const real *v;
    int token_stride_v;
    real *o;                         /* [tokens][width] */
    real *const *gate;               /* [member] gate saves of all sequences, at gate[m] + gate_at[m][n] */
    const size_t *const *gate_at;
    const attention_watch *watch;    /* NULL: nobody looks */
    softmax_row *rows;               /* [heads][tokens] kept from the forward pass for the backward pass; NULL: evaluation */
    /* backward only */
    real *dq, *dk;                   /* += */
    real *dv;                        /* += , stride token_stride_v */
    const real *d_o;                 /* [tokens][width] */
    real *const *dgate;              /* += */
} attention_io;

/* Whole rows of a block for sequences of this length: as many as keep a block near the second-level cache. */
int attention_block_rows(const pe_shape *shape, int len);

/* Room for batches of at most max_tokens tokens in at most max_sequences sequences of at most max_len. layers[count]: those
 * that will use it. -1: no memory. */
int attention_scratch_init(attention_scratch *s, arena *a, const pe_shape *shape, const attention_layer *layers,
                           int count, int max_sequences, int max_tokens, int max_len, int training);

/* q and k in place, all sequences. */
void attention_rotate(const attention_layer *l, const pe_shape *shape, const attention_io *io);
/* dq, dk: gradients of the rotated vectors on entry, of the projections on exit, in each head's first head_dim reals. */
void attention_rotate_bwd(const attention_layer *l, const pe_shape *shape, const attention_io *io);

/* o (=) attention of rotated q, k and v. */
void attention_forward(const attention_layer *l, const pe_shape *shape, attention_scratch *s, const attention_io *io);
/* After attention_forward, whose o and rows it reads: dq, dk, dv, dgate and dtheta +=. */
void attention_backward(const attention_layer *l, const pe_shape *shape, attention_scratch *s, const attention_io *io);

/* A hook's context for one sequence. */
pe_context attention_context(const attention_layer *l, int member, const pe_shape *shape, const placement *place,
                             int backward);

#endif
