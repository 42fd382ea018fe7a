#include "layers.h"

#include "gemm.h"
#include "vmath.h"

void linear(const real *x, const real *turned, const real *b, const real *residual, real *y, int rows, int in, int out)
{
    if (b)
        vmath_add_to(y, residual, b, rows, out);
    gemm(GEMM_PLAIN, GEMM_PLAIN, rows, out, in, 1, x, in, turned, out, b ? 1 : 0, y, out);
}

void linear_bwd(const real *x, const real *w, const real *dy, real *dx, real *dw, real *db, int rows, int in, int out)
{
    gemm(GEMM_PLAIN, GEMM_PLAIN, rows, in, out, 1, dy, out, w, in, 0, dx, in);
    gemm(GEMM_TRANSPOSED, GEMM_PLAIN, out, in, rows, 1, dy, out, x, in, 1, dw, in);
    if (db)
        vmath_add_columns(db, dy, rows, out);
}
