/* attention_block.h - one block of query rows of one sequence, against all its keys. Private to attention. */
#ifndef ATTENTION_BLOCK_H
#define ATTENTION_BLOCK_H

#include "attention.h"

/* Everything that one call on a block needs. */
typedef struct attention_block {
    const attention_layer *l;
    const pe_shape *shape;
    attention_scratch *s;
    const attention_io *io;
    const placement *place;
    int sequence;
    pe_tile tile;
    int vector_len;               /* length that s->vector is laid out for; 0: biases are in s->bias */
} attention_block;

/* 1/sqrt(head_dim) */
real attention_scale(const pe_shape *shape);

/* Rows row_begin .. row_begin+rows-1 of a sequence that stands at `place`. */
pe_tile attention_tile(const pe_shape *shape, const placement *place, int row_begin, int rows);

/* s->bias (=) the sum of the stack's biases for the block's tile. */
void attention_block_bias(const attention_block *b);
/* Gradient of the biases from s->dbias, summed over the sequences that share the tile. */
void attention_block_bias_bwd(const attention_block *b);

/* Scores, weights and output of sequence b->sequence; with backward, its gradients instead of the output. */
void attention_block_run(attention_block *b, int backward);

#endif
