#include "vmath.h"

/* ------------------------------------------------------------------------------------------------ exp, tanh, erf */

/* Above 88 the result is held at exp(88). */
PE_VEC_INLINE pe_vec vmath_exp(pe_vec x)
{
    return pe_vec_exp(sizeof(real) == sizeof(float) ? pe_vec_min(x, pe_vec_fill(88)) : x);
}

PE_VEC_INLINE real vmath_erf(real x)
{
    return sizeof(real) == sizeof(float) ? (real)erff((float)x) : (real)erf((double)x);
}

/* 1 / (1 + exp(-x)) = (1 + tanh(x/2)) / 2; its absolute error is that of exp's, which is what GELU needs. */
PE_VEC_INLINE pe_vec vmath_logistic(pe_vec x)
{
    return 1 / (1 + vmath_exp(-x));
}

/* ------------------------------------------------------------------------------------------------ softmax */

/* Only the vector in which n ends needs a mask, and nothing beyond it an exponential: half a causal block is such. */
void vmath_softmax(real *s, const real *bias, int n, int room)
{
    pe_vec top = pe_vec_fill(-INFINITY), sum = pe_vec_fill(0);
    int whole = n / PE_VEC_LANES * PE_VEC_LANES, end = whole < n ? whole + PE_VEC_LANES : whole;
    for (int j = 0; j < whole; j += PE_VEC_LANES) {
        pe_vec x = pe_vec_load(s + j);
        if (bias)
            pe_vec_store(s + j, x += pe_vec_load(bias + j));
        top = pe_vec_max(top, x);
    }
    if (whole < n) {
        pe_vec x = pe_vec_load(s + whole);
        if (bias)
            x += pe_vec_load(bias + whole);
        x = pe_vec_select(pe_vec_below(whole, n), x, pe_vec_fill(-INFINITY));
        pe_vec_store(s + whole, x);
        top = pe_vec_max(top, x);
    }
    real most = pe_vec_top(top);
    for (int j = 0; j < end; j += PE_VEC_LANES) {
        pe_vec e = pe_vec_exp(pe_vec_load(s + j) - most);
        pe_vec_store(s + j, e);
        sum += e;
    }
    real factor = 1 / pe_vec_sum(sum);
    for (int j = 0; j < end; j += PE_VEC_LANES)
        pe_vec_store(s + j, pe_vec_load(s + j) * factor);
    for (int j = end; j < room; j += PE_VEC_LANES)
        pe_vec_store(s + j, pe_vec_fill(0));
}

void vmath_softmax_bwd(const real *p, real *ds, int n, int room)
{
    pe_vec sum = pe_vec_fill(0);
    int whole = n / PE_VEC_LANES * PE_VEC_LANES, end = whole < n ? whole + PE_VEC_LANES : whole;
    for (int j = 0; j < whole; j += PE_VEC_LANES)
        sum += pe_vec_load(p + j) * pe_vec_load(ds + j);
    if (whole < n) {
        pe_vec d = pe_vec_select(pe_vec_below(whole, n), pe_vec_load(ds + whole), pe_vec_fill(0));
        pe_vec_store(ds + whole, d);
        sum += pe_vec_load(p + whole) * d;
    }
    real mean = pe_vec_sum(sum);
    for (int j = 0; j < end; j += PE_VEC_LANES)
        pe_vec_store(ds + j, pe_vec_load(p + j) * (pe_vec_load(ds + j) - mean));
    for (int j = end; j < room; j += PE_VEC_LANES)
        pe_vec_store(ds + j, pe_vec_fill(0));
}

double vmath_cross_entropy(const real *s, int n, int target, real factor, real *g)
{
    real own = s[target]; /* read before g, which may be s, is written */
    pe_vec most = pe_vec_fill(-INFINITY), sums = pe_vec_fill(0);
    int whole = n / PE_VEC_LANES * PE_VEC_LANES, rest = n - whole;
    for (int j = 0; j < whole; j += PE_VEC_LANES)
        most = pe_vec_max(most, pe_vec_load(s + j));
    pe_vec last = pe_vec_load_first(s + whole, rest, -INFINITY);
    real top = pe_vec_top(pe_vec_max(most, last));
    for (int j = 0; j < whole; j += PE_VEC_LANES) {
        pe_vec e = pe_vec_exp(pe_vec_load(s + j) - top);
        if (g)
            pe_vec_store(g + j, e);
        sums += e;
    }
    last = pe_vec_exp(last - top);
    real sum = pe_vec_sum(sums + last);
    if (g) {
        pe_vec_store_first(g + whole, last, rest);
        vmath_scale(g, factor / sum, (size_t)n);
        g[target] -= factor;
    }
    return log((double)sum) - ((double)own - (double)top);
}

/* ------------------------------------------------------------------------------------------------ GELU */

#define GELU_SLOPE ((real)1.59576912160573071176) /* 2 sqrt(2/pi) */
#define GELU_CUBE ((real)0.044715)

/* 0.5 x (1 + tanh(u/2)) = x s, s = logistic(u), u = 2 sqrt(2/pi) (x + 0.044715 x^3); its slope is s + x s (1 - s) u'. */
PE_VEC_INLINE pe_vec gelu_tanh(pe_vec x, pe_vec *slope)
{
    pe_vec cube = GELU_CUBE * x * x, s = vmath_logistic(GELU_SLOPE * x * (1 + cube)), y = x * s;
    *slope = s + y * (1 - s) * (GELU_SLOPE * (1 + 3 * cube));
    return y;
}

/* 0.5 x (1 + erf(x/sqrt 2)); its slope is 0.5 (1 + erf(x/sqrt 2)) + x exp(-x^2/2) / sqrt(2 pi). */
PE_VEC_INLINE pe_vec gelu_exact(pe_vec x, pe_vec *slope)
{
    pe_vec s;
    for (int l = 0; l < PE_VEC_LANES; l++)
        s[l] = (real)0.5 * (1 + vmath_erf(x[l] * (real)0.70710678118654752440));
    *slope = s + x * vmath_exp((real)-0.5 * x * x) * (real)0.39894228040143267794;
    return x * s;
}

/* One vector, of which the first n count. y and slope may be x. */
PE_VEC_INLINE void gelu_at(const real *x, const real *b, real *y, real *slope, const int n, const int exact)
{
    pe_vec to, in = n == PE_VEC_LANES ? pe_vec_load(x) + pe_vec_load(b)
                                      : pe_vec_load_first(x, n, 0) + pe_vec_load_first(b, n, 0);
    pe_vec out = exact ? gelu_exact(in, &to) : gelu_tanh(in, &to);
    if (n == PE_VEC_LANES)
        pe_vec_store(y, out);
    else
        pe_vec_store_first(y, out, n);
    if (slope && n == PE_VEC_LANES)
        pe_vec_store(slope, to);
    else if (slope)
        pe_vec_store_first(slope, to, n);
}

PE_VEC_INLINE void gelu_rows(const real *x, const real *b, real *y, real *slope, int rows, int cols, int stride,
                             const int exact)
{
    for (size_t at = 0; at < (size_t)rows * (size_t)stride; at += (size_t)stride) {
        int j = 0;
        for (; j + PE_VEC_LANES <= cols; j += PE_VEC_LANES)
            gelu_at(x + at + j, b + j, y + at + j, slope ? slope + at + j : NULL, PE_VEC_LANES, exact);
        if (j < cols)
            gelu_at(x + at + j, b + j, y + at + j, slope ? slope + at + j : NULL, cols - j, exact);
    }
}

void vmath_gelu(const real *x, const real *b, real *y, real *slope, int rows, int cols, int stride, int exact)
{
    if (exact)
        gelu_rows(x, b, y, slope, rows, cols, stride, 1);
    else if (slope)
        gelu_rows(x, b, y, slope, rows, cols, stride, 0);
    else
        gelu_rows(x, b, y, NULL, rows, cols, stride, 0);
}

/* Four rows at a time, so that the sums pass through memory a quarter as often. */
void vmath_gelu_bwd(const real *slope, real *dy, real *db, int rows, int cols, int stride)
{
    size_t width = (size_t)stride;
    for (int r = 0, together; r < rows; r += together) {
        together = rows - r < 4 ? 1 : 4;
        const real *by = slope + (size_t)r * width;
        real *to = dy + (size_t)r * width;
        int j = 0;
        for (; j + PE_VEC_LANES <= cols; j += PE_VEC_LANES) {
            pe_vec sum = pe_vec_load(db + j);
            for (int i = 0; i < together; i++) {
                pe_vec d = pe_vec_load(to + i * width + j) * pe_vec_load(by + i * width + j);
                pe_vec_store(to + i * width + j, d);
                sum += d;
            }
            pe_vec_store(db + j, sum);
        }
        for (; j < cols; j++)
            for (int i = 0; i < together; i++)
                db[j] += to[i * width + j] *= by[i * width + j];
    }
}

/* ------------------------------------------------------------------------------------------------ sums and moves */

real vmath_dot(const real *a, const real *b, int n)
{
    pe_vec sum = pe_vec_fill(0);
    int i = 0;
    for (; i + PE_VEC_LANES <= n; i += PE_VEC_LANES)
        sum += pe_vec_load(a + i) * pe_vec_load(b + i);
    sum += pe_vec_load_first(a + i, n - i, 0) * pe_vec_load_first(b + i, n - i, 0);
    return pe_vec_sum(sum);
}

void vmath_add(real *restrict y, const real *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

void vmath_add_to(real *restrict y, const real *restrict x, const real *restrict b, int rows, int cols)
{
    size_t width = (size_t)cols;
    for (size_t at = 0; at < (size_t)rows * width; at += width)
        if (x)
            for (size_t j = 0; j < width; j++)
                y[at + j] = x[at + j] + b[j];
        else
            memcpy(y + at, b, sizeof *b * width);
}

/* Four rows at a time, so that the sums pass through memory a quarter as often. */
void vmath_add_columns(real *restrict sum, const real *restrict x, int rows, int cols)
{
    size_t width = (size_t)cols;
    int i = 0;
    for (; i + 4 <= rows; i += 4) {
        const real *row = x + (size_t)i * width;
        for (size_t j = 0; j < width; j++)
            sum[j] += (row[j] + row[width + j]) + (row[2 * width + j] + row[3 * width + j]);
    }
    for (; i < rows; i++)
        for (size_t j = 0; j < width; j++)
            sum[j] += x[(size_t)i * width + j];
}

void vmath_scale(real *y, real factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] *= factor;
}

void vmath_axpy(real *restrict y, real factor, const real *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

double vmath_sum_squares(const real *x, size_t n)
{
    double lane[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            lane[l] += (double)x[i + (size_t)l] * (double)x[i + (size_t)l];
    for (; i < n; i++)
        lane[0] += (double)x[i] * (double)x[i];
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

int vmath_argmax(const real *x, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best])
            best = i;
    return best;
}
