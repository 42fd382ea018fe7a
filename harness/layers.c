#include "layers.h"

#include "clones.h"
#include "gemm.h"
#include "vmath.h"

#define NORM_EPSILON ((real)1e-5)

void linear(const real *x, const real *w, const real *b, real *y, int rows, int in, int out, int add)
{
    if (b)
        for (int i = 0; i < rows; i++) {
            real *row = y + (size_t)i * out;
            if (add)
                vmath_add(row, b, (size_t)out);
            else
                memcpy(row, b, sizeof(real) * (size_t)out);
        }
    gemm(GEMM_PLAIN, GEMM_TRANSPOSED, rows, out, in, 1, x, in, w, in, b || add ? 1 : 0, y, out);
}

void linear_bwd(const real *x, const real *w, const real *dy, real *dx, real *dw, real *db, int rows, int in, int out,
                int add)
{
    if (dx)
        gemm(GEMM_PLAIN, GEMM_PLAIN, rows, in, out, 1, dy, out, w, in, add ? 1 : 0, dx, in);
    if (dw)
        gemm(GEMM_TRANSPOSED, GEMM_PLAIN, out, in, rows, 1, dy, out, x, in, 1, dw, in);
    if (db)
        for (int i = 0; i < rows; i++)
            vmath_add(db, dy + (size_t)i * out, (size_t)out);
}

CLONES_INLINE void norm_row(int kind, const real *x, const real *w, const real *b, real *y, real *stats, int width)
{
    real mean = 0, variance = 0;
    if (kind == NORM_LAYER) {
#pragma omp simd reduction(+ : mean)
        for (int j = 0; j < width; j++)
            mean += x[j];
        mean /= (real)width;
    }
#pragma omp simd reduction(+ : variance)
    for (int j = 0; j < width; j++)
        variance += (x[j] - mean) * (x[j] - mean);
    real inverse = 1 / (real)sqrt((double)(variance / (real)width + NORM_EPSILON));
    stats[0] = mean;
    stats[1] = inverse;
    if (kind == NORM_LAYER)
        for (int j = 0; j < width; j++)
            y[j] = (x[j] - mean) * inverse * w[j] + b[j];
    else
        for (int j = 0; j < width; j++)
            y[j] = x[j] * inverse * w[j];
}

CLONES void norm(int kind, const real *x, const real *w, const real *b, real *y, real *stats, int rows, int width)
{
    for (int i = 0; i < rows; i++)
        norm_row(kind, x + (size_t)i * width, w, b, y + (size_t)i * width, stats + 2 * (size_t)i, width);
}

/* With z = (x - mean) * inverse and g = dy * w:  dx = inverse * (g - mean(g) - z * mean(g z));  RMS: no mean(g). */
CLONES_INLINE void norm_row_bwd(int kind, const real *x, const real *w, const real *stats, const real *dy, real *dx, real *dw,
                         real *db, int width)
{
    real mean = stats[0], inverse = stats[1], sum_g = 0, sum_gz = 0;
#pragma omp simd reduction(+ : sum_g, sum_gz)
    for (int j = 0; j < width; j++) {
        real g = dy[j] * w[j];
        sum_g += g;
        sum_gz += g * (x[j] - mean) * inverse;
    }
    sum_g = kind == NORM_LAYER ? sum_g / (real)width : 0;
    sum_gz /= (real)width;
    for (int j = 0; j < width; j++) {
        real z = (x[j] - mean) * inverse;
        dx[j] += inverse * (dy[j] * w[j] - sum_g - z * sum_gz);
        dw[j] += dy[j] * z;
    }
    if (kind == NORM_LAYER)
        for (int j = 0; j < width; j++)
            db[j] += dy[j];
}

CLONES void norm_bwd(int kind, const real *x, const real *w, const real *stats, const real *dy, real *dx, real *dw, real *db,
              int rows, int width)
{
    for (int i = 0; i < rows; i++)
        norm_row_bwd(kind, x + (size_t)i * width, w, stats + 2 * (size_t)i, dy + (size_t)i * width,
                     dx + (size_t)i * width, dw, db, width);
}
