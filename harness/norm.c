#include "layers.h"

#define NORM_EPSILON ((real)1e-5)

/* Sum of (x - mean)^power over a row, power 1 with mean 0, or 2. */
PE_VEC_INLINE real norm_moment(const real *x, real mean, int power, int width)
{
    pe_vec sum = pe_vec_fill(0);
    int j = 0;
    for (; j + PE_VEC_LANES <= width; j += PE_VEC_LANES) {
        pe_vec z = pe_vec_load(x + j) - mean;
        sum += power == 1 ? z : z * z;
    }
    pe_vec z = pe_vec_load_first(x + j, width - j, mean) - mean;
    return pe_vec_sum(sum + (power == 1 ? z : z * z));
}

PE_VEC_INLINE void norm_row(int kind, const real *restrict x, const real *restrict w, const real *restrict b,
                         real *restrict y, real *restrict stats, int width)
{
    real mean = kind == NORM_LAYER ? norm_moment(x, 0, 1, width) / (real)width : 0;
    real variance = norm_moment(x, mean, 2, width) / (real)width;
    real inverse = 1 / (real)sqrt((double)(variance + NORM_EPSILON));
    stats[0] = mean;
    stats[1] = inverse;
    if (kind == NORM_LAYER)
        for (int j = 0; j < width; j++)
            y[j] = (x[j] - mean) * inverse * w[j] + b[j];
    else
        for (int j = 0; j < width; j++)
            y[j] = x[j] * inverse * w[j];
}

void norm(int kind, const real *x, const real *w, const real *b, real *y, real *stats, int rows, int width)
{
    for (int i = 0; i < rows; i++)
        norm_row(kind, x + (size_t)i * width, w, b, y + (size_t)i * width, stats + 2 * (size_t)i, width);
}

/* Sums of g = dy w (*plain) and of g z, z = (x - mean) inverse. */
PE_VEC_INLINE real norm_sums(const real *x, const real *w, const real *dy, real mean, real inverse, int width, real *plain)
{
    pe_vec sum = pe_vec_fill(0), sum_z = pe_vec_fill(0);
    int j = 0;
    for (; j + PE_VEC_LANES <= width; j += PE_VEC_LANES) {
        pe_vec g = pe_vec_load(dy + j) * pe_vec_load(w + j);
        sum += g;
        sum_z += g * (pe_vec_load(x + j) - mean);
    }
    int rest = width - j;
    pe_vec g = pe_vec_load_first(dy + j, rest, 0) * pe_vec_load_first(w + j, rest, 0);
    *plain = pe_vec_sum(sum + g);
    return pe_vec_sum(sum_z + g * (pe_vec_load_first(x + j, rest, 0) - mean)) * inverse;
}

/* With z = (x - mean) * inverse and g = dy * w:  dx = inverse * (g - mean(g) - z * mean(g z));  RMS: no mean(g). */
PE_VEC_INLINE void norm_row_bwd(int kind, const real *restrict x, const real *restrict w, const real *restrict stats,
                             const real *restrict dy, real *restrict dx, real *restrict dw, real *restrict db, int width)
{
    real mean = stats[0], inverse = stats[1], plain;
    real mean_gz = norm_sums(x, w, dy, mean, inverse, width, &plain) / (real)width;
    real mean_g = kind == NORM_LAYER ? plain / (real)width : 0;
    for (int j = 0; j < width; j++) {
        real z = (x[j] - mean) * inverse;
        dx[j] += inverse * (dy[j] * w[j] - mean_g - z * mean_gz);
        dw[j] += dy[j] * z;
    }
    if (kind == NORM_LAYER)
        for (int j = 0; j < width; j++)
            db[j] += dy[j];
}

void norm_bwd(int kind, const real *x, const real *w, const real *stats, const real *dy, real *dx, real *dw, real *db,
              int rows, int width)
{
    for (int i = 0; i < rows; i++)
        norm_row_bwd(kind, x + (size_t)i * width, w, stats + 2 * (size_t)i, dy + (size_t)i * width,
                     dx + (size_t)i * width, dw, db, width);
}
