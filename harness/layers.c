#include "layers.h"

#include <assert.h>

#include "gemm.h"
#include "vmath.h"

void linear(const real *x, int x_stride, const real *turned, const real *b, const real *residual, real *y, int y_stride,
            int rows, int in, int out)
{
    assert(!b || y_stride == out);
    if (b)
        vmath_add_to(y, residual, b, rows, out);
    gemm(GEMM_PLAIN, GEMM_PLAIN, rows, out, in, 1, x, x_stride, turned, out, b ? 1 : 0, y, y_stride);
}

void linear_bwd(const real *x, int x_stride, const real *w, const real *dy, int dy_stride, real *dx, real *dw, real *db,
                int rows, int in, int out)
{
    assert(!db || dy_stride == out);
    gemm(GEMM_PLAIN, GEMM_PLAIN, rows, in, out, 1, dy, dy_stride, w, in, 0, dx, x_stride);
    gemm(GEMM_TRANSPOSED, GEMM_PLAIN, out, in, rows, 1, dy, dy_stride, x, x_stride, 1, dw, in);
    if (db)
        vmath_add_columns(db, dy, rows, out);
}
