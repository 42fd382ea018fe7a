/* product.h - matrix products inside attention: small, of one head, with most of a causal half left out.
 *
 * A library's product pays at these sizes for what it does not know: oneDNN's reaches 0.41 of the peak at 64 x 64 x 16 and
 * 0.29 at 16 x 4096 x 32, 0.83 to 0.9 in the dense layers (where it is used, see gemm.h), and none skips the masked half.
 * Here one operand is read a scalar at a time and the other in rows of whole vectors, all sums stay in registers, and
 * rows stop, or begin, at the diagonal.
 */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "pe.h"

/* Columns of a panel of a packed operand. Rows of c that are written in panels have this many reals more or less. */
enum { PRODUCT_PANEL = 32 };

/* What a triangular operand makes unnecessary. `diagonal`: row r of c belongs to the query or key diagonal + r, or begins at
 * depth r - diagonal. A group of rows is worked off together, so up to PRODUCT_PAST entries past the limit are read or
 * written all the same: there a must be 0 (depth) or c is free to hold anything (columns). */
enum { PRODUCT_PAST = 7 };
typedef enum product_part {
    PRODUCT_WHOLE,
    PRODUCT_COLUMNS_TO_DIAGONAL,   /* row r: columns 0 .. diagonal + r, to the end of their panel */
    PRODUCT_DEPTH_TO_DIAGONAL,     /* row r: sum over k <= diagonal + r */
    PRODUCT_DEPTH_FROM_DIAGONAL    /* row r: sum over k >= r - diagonal */
} product_part;

/* c[r][j] (=, or with add +=) alpha * sum over k of a(r, k) b(k, j).
 * a(r, k) at a + r * a_row + k * a_col, where one of the two steps is 1.
 * b(k, j) at b + k * b_row + j; or, when b_panel is not 0, b is packed: panel j / PRODUCT_PANEL begins at b + b_panel * that,
 * and c must have room for whole panels. */
typedef struct product_job {
    int rows, cols, depth;
    const real *a;
    int a_row, a_col;
    const real *b;
    int b_row;
    size_t b_panel;
    real *c;
    int c_row;
    real alpha;
    int add;
    product_part part;
    int diagonal;
} product_job;

void product(const product_job *p);

/* Reals of the packed transpose of x[rows][cols]. */
static inline size_t product_packed_reals(int rows, int cols)
{
    return (size_t)((rows + PRODUCT_PANEL - 1) / PRODUCT_PANEL) * PRODUCT_PANEL * (size_t)cols;
}

/* The transpose of x[rows][cols], rows x_row reals apart, as a packed operand b(k, j) = x[j][k]: panel i is
 * y[i][cols][PRODUCT_PANEL], b_row = PRODUCT_PANEL, b_panel = cols * PRODUCT_PANEL; columns past the last are 0. */
void product_pack(const real *x, int x_row, int rows, int cols, real *y);

/* y[cols][rows] = the transpose of x[rows][cols]. */
void product_transpose(const real *x, int rows, int cols, real *y);

#endif
