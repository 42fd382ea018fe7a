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

/* 0.5 x (1 + tanh(u/2)) = x logistic(u), u = 2 sqrt(2/pi) (x + 0.044715 x^3) */
PE_VEC_INLINE pe_vec gelu_of(pe_vec x)
{
    return x * vmath_logistic(GELU_SLOPE * (x + GELU_CUBE * x * x * x));
}

/* With s = logistic(u): s + x s (1 - s) u' */
PE_VEC_INLINE pe_vec gelu_slope(pe_vec x)
{
    pe_vec s = vmath_logistic(GELU_SLOPE * (x + GELU_CUBE * x * x * x));
    return s + x * s * (1 - s) * (GELU_SLOPE * (1 + 3 * GELU_CUBE * x * x));
}

static void gelu_tanh(const real *x, real *y, size_t n)
{
    size_t i = 0;
    for (; i + PE_VEC_LANES <= n; i += PE_VEC_LANES)
        pe_vec_store(y + i, gelu_of(pe_vec_load(x + i)));
    pe_vec_store_first(y + i, gelu_of(pe_vec_load_first(x + i, (int)(n - i), 0)), (int)(n - i));
}

static void gelu_tanh_bwd(const real *x, const real *dy, real *dx, size_t n)
{
    size_t i = 0;
    for (; i + PE_VEC_LANES <= n; i += PE_VEC_LANES)
        pe_vec_store(dx + i, pe_vec_load(dy + i) * gelu_slope(pe_vec_load(x + i)));
    int rest = (int)(n - i);
    pe_vec_store_first(dx + i, pe_vec_load_first(dy + i, rest, 0) * gelu_slope(pe_vec_load_first(x + i, rest, 0)), rest);
}

static void gelu_exact(const real *x, real *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (real)0.5 * x[i] * (1 + vmath_erf(x[i] * (real)0.70710678118654752440));
}

/* d/dx 0.5 x (1 + erf(x/sqrt 2)) = 0.5 (1 + erf(x/sqrt 2)) + x exp(-x^2/2) / sqrt(2 pi) */
static void gelu_exact_bwd(const real *x, const real *dy, real *dx, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        real v = x[i], bell = vmath_exp(pe_vec_fill((real)-0.5 * v * v))[0];
        dx[i] = dy[i] * ((real)0.5 * (1 + vmath_erf(v * (real)0.70710678118654752440)) +
                         v * bell * (real)0.39894228040143267794);
    }
}

void vmath_gelu(const real *x, real *y, size_t n, int exact)
{
    if (exact)
        gelu_exact(x, y, n);
    else
        gelu_tanh(x, y, n);
}

void vmath_gelu_bwd(const real *x, const real *dy, real *dx, size_t n, int exact)
{
    if (exact)
        gelu_exact_bwd(x, dy, dx, n);
    else
        gelu_tanh_bwd(x, dy, dx, n);
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
