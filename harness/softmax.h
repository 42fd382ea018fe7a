/* softmax.h - the softmax of rows of scores of which a tile of keys is there at a time, and its gradient.
 *
 * A row's largest score and the sum of its exponentials are carried from tile to tile (the online normaliser of Milakov
 * and Gimelshein 2018): with a new largest score m', what was summed so far is multiplied by exp(m - m'). Tiles stay in
 * the nearest caches however long the sequence is. Compiled for each level of encodings/level.h.
 */
#ifndef SOFTMAX_H
#define SOFTMAX_H

#include "pe.h"

/* What is kept of a row: weights are exp(score + bias - top) * inverse. */
typedef struct softmax_row {
    real top;                     /* largest score with its bias so far; -INFINITY: none yet */
    real inverse;                 /* 1 / sum of the exponentials; while tiles come in, the sum itself */
} softmax_row;

/* rows x keys scores; row r at s + r * stride, stride at least keys + SOFTMAX_ROOM reals. */
enum { SOFTMAX_ROOM = 16 };
typedef struct softmax_tile {
    int rows, keys, stride;
    int causal, diagonal;         /* row r sees keys 0 .. diagonal + r of the tile, none when that is negative; not
                                     causal: all */
    int past;                     /* so many entries past what is visible are read by others and become 0, as far as
                                     there are keys */
    real *s;
    const real *bias;             /* row r, key j adds bias[r * bias_step + j]; entries past what is visible are read, to
                                     whole vectors, and ignored; NULL: none. -INFINITY hides a key */
    int bias_step;
} softmax_tile;

/* row[rows] before the first tile. */
void softmax_begin(softmax_row *row, int rows);

/* s (=) exp(s + bias - top) with the new tops, 0 past what is visible; row[] is carried on. o: [rows][dim] at o_stride,
 * sums over the tiles before, which are brought to the new tops; NULL at the first tile. At least one score of a row, over
 * all its tiles, is finite. */
void softmax_add(const softmax_tile *t, softmax_row *row, real *o, int o_stride, int dim);

/* After the last tile: row[].inverse is what its name says, o[rows][dim] is divided by the sums. */
void softmax_end(softmax_row *row, int rows, real *o, int o_stride, int dim);

/* With row[] from softmax_end and mean[rows] = sum over all keys of weight * its gradient:
 * s (=) weights = exp(s + bias - top) * inverse;  ds (=) weights * (ds - mean); both 0 past what is visible. ds: as s. */
void softmax_gradient(const softmax_tile *t, const softmax_row *row, const real *mean, real *ds);

#endif
