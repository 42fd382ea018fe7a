/* attention_product.h - the three kinds of matrix products in attention, between rows of queries and a span of keys. Private to
 * attention.
 */
#ifndef ATTENTION_PRODUCT_H
#define ATTENTION_PRODUCT_H

#include "product.h"

/* `rows` queries against `keys` keys. Under a causal mask row r sees keys 0 .. diagonal + r of the span. A plane holds one real
 * for each pair, rows `stride` reals apart; what is not visible must be 0 there where a plane is read, see PRODUCT_PAST. */
typedef struct attention_span {
    int rows, keys, stride, causal, diagonal;
} attention_span;

/* plane[rows][keys] (=) alpha * x y^T; x: [rows][dim] at x_stride; packed: product_pack's layout of y[keys][dim]. What is not
 * visible may hold anything afterwards. */
static inline void attention_rows_by_keys(const attention_span *t, const real *x, int x_stride, const real *packed, int dim,
                                          real alpha, real *plane)
{
    product_job job = { .rows = t->rows, .cols = t->keys, .depth = dim, .a = x, .a_row = x_stride, .a_col = 1, .b = packed,
                        .b_row = PRODUCT_PANEL, .b_panel = (size_t)dim * PRODUCT_PANEL, .c = plane, .c_row = t->stride,
                        .alpha = alpha, .diagonal = t->diagonal,
                        .part = t->causal ? PRODUCT_COLUMNS_TO_DIAGONAL : PRODUCT_WHOLE };
    product(&job);
}

/* y[rows][dim] (=, with add +=) alpha * plane x; x: [keys][dim] at x_stride. */
static inline void attention_plane_by_keys(const attention_span *t, const real *plane, const real *x, int x_stride, int dim,
                                           real alpha, real *y, int y_stride, int add)
{
    product_job job = { .rows = t->rows, .cols = dim, .depth = t->keys, .a = plane, .a_row = t->stride, .a_col = 1, .b = x,
                        .b_row = x_stride, .c = y, .c_row = y_stride, .alpha = alpha, .add = add, .diagonal = t->diagonal,
                        .part = t->causal ? PRODUCT_DEPTH_TO_DIAGONAL : PRODUCT_WHOLE };
    product(&job);
}

/* y[keys][dim] += alpha * plane^T x; x: [rows][dim] at x_stride. */
static inline void attention_plane_by_rows(const attention_span *t, const real *plane, const real *x, int x_stride, int dim,
                                           real alpha, real *y, int y_stride)
{
    product_job job = { .rows = t->keys, .cols = dim, .depth = t->rows, .a = plane, .a_row = 1, .a_col = t->stride, .b = x,
                        .b_row = x_stride, .c = y, .c_row = y_stride, .alpha = alpha, .add = 1, .diagonal = t->diagonal,
                        .part = t->causal ? PRODUCT_DEPTH_FROM_DIAGONAL : PRODUCT_WHOLE };
    product(&job);
}

#endif
