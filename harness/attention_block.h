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

/* Reals from one row of a block to the next: `keys` rounded up to whole panels, and a cache line more, so that rows of long
 * sequences do not fall into the same lines of the cache. */
int attention_stride(int keys);

/* s->packed_k (=) the transposes of all sequences' rotated keys, one head behind the other, and with backward s->packed_v those
 * of the values: product_pack's layout. Every block of rows reads them. */
void attention_pack(const attention_layer *l, const pe_shape *shape, attention_scratch *s, const attention_io *io,
                    int backward);
/* Where sequence n begins in packed_k (per_token = heads * rotated_dim) or packed_v (width). */
size_t attention_packed_at(const attention_io *io, int n, int per_token);

/* Rows row_begin .. row_begin+rows-1 of a sequence that stands at `place`. */
pe_tile attention_tile(const pe_shape *shape, const placement *place, int row_begin, int rows);

/* s->bias (=) the sum of the stack's biases for the block's tile. */
void attention_block_bias(const attention_block *b);
/* Gradient of the biases from s->dbias, summed over the sequences that share the tile. */
void attention_block_bias_bwd(const attention_block *b);

/* Points b->tile at the queries and keys of sequence b->sequence. */
void attention_block_point(attention_block *b);

/* Head h's packed keys (packed_k, dim = rotated_dim) or values (packed_v, dim = head_dim) of sequence b->sequence. */
const real *attention_packed(const attention_block *b, const real *packed, int dim, int h);

/* Whole rows of scores, for hooks and watchers that ask for them: scores, weights and output of sequence b->sequence; with
 * backward, which needs hooks of scores or values in the layer, its gradients instead of the output. */
void attention_block_run(attention_block *b, int backward);

#endif
