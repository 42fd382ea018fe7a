/* attention_stream.h - attention of one block of query rows, tile of keys by tile of keys. Private to attention.
 *
 * For layers whose hooks ask for no scores: a tile's scores and weights live in the nearest caches and are gone when the next
 * one comes, so that time does not grow faster than the arithmetic at any length (Rabe and Staats 2021, Dao et al. 2022). The
 * backward pass makes the weights again from what softmax.h keeps of each row.
 */
#ifndef ATTENTION_STREAM_H
#define ATTENTION_STREAM_H

#include "attention_block.h"

/* Most rows of any block, with a tile of biases or without, and most keys of a tile, a multiple of PRODUCT_PANEL: the tile
 * stays in the first two caches. */
enum { ATTENTION_STREAM_ROWS = 64, ATTENTION_STREAM_KEYS = 256 };

/* Reals of a tile's plane for sequences of at most `len` tokens. */
size_t attention_stream_plane(int len);

/* Output of b->tile's rows of sequence b->sequence, all heads, and where io->rows is not NULL, what the backward pass needs of
 * them; with backward, gradients instead. */
void attention_stream_run(attention_block *b, int backward);

#endif
