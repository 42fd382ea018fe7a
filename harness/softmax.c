#include "softmax.h"

/* Entries of row r that are visible. */
PE_VEC_INLINE int softmax_visible(const softmax_tile *t, int r)
{
    int n = t->causal ? t->diagonal + r + 1 : t->keys;
    return n < 0 ? 0 : n < t->keys ? n : t->keys;
}

/* n rounded up to whole vectors. */
PE_VEC_INLINE int softmax_end_of(int n)
{
    return (n + PE_VEC_LANES - 1) / PE_VEC_LANES * PE_VEC_LANES;
}

/* 0 behind the vector in which the n visible ones end, as far as somebody reads. */
PE_VEC_INLINE void softmax_clear(const softmax_tile *t, real *s, int n)
{
    int to = n + t->past < t->keys ? n + t->past : t->keys;
    for (int j = softmax_end_of(n); j < to; j += PE_VEC_LANES)
        pe_vec_store(s + j, pe_vec_fill(0));
}

/* Only the vector in which n ends needs a mask, and nothing beyond it an exponential: half a causal tile is such. */
PE_VEC_INLINE pe_vec softmax_score(const real *s, const real *bias, int j, int n, const int masked)
{
    pe_vec x = pe_vec_load(s + j);
    if (bias)
        x += pe_vec_load(bias + j);
    return masked ? pe_vec_select(pe_vec_below(j, n), x, pe_vec_fill(-INFINITY)) : x;
}

/* s += bias; with the largest so far. */
PE_VEC_INLINE pe_vec softmax_look(real *s, const real *bias, int j, pe_vec top)
{
    pe_vec x = softmax_score(s, bias, j, 0, 0);
    if (bias)
        pe_vec_store(s + j, x);
    return pe_vec_max(x, top);
}

/* In two chains, since each link takes as long as four vectors. */
PE_VEC_INLINE real softmax_largest(real *s, const real *bias, int n)
{
    pe_vec top = pe_vec_fill(-INFINITY), other = top;
    int whole = n / PE_VEC_LANES * PE_VEC_LANES, j = 0;
    for (; j + PE_VEC_LANES < whole; j += 2 * PE_VEC_LANES) {
        top = softmax_look(s, bias, j, top);
        other = softmax_look(s, bias, j + PE_VEC_LANES, other);
    }
    for (; j < whole; j += PE_VEC_LANES)
        top = softmax_look(s, bias, j, top);
    top = pe_vec_max(top, other);
    if (whole < n) {
        pe_vec x = softmax_score(s, bias, whole, n, 1);
        pe_vec_store(s + whole, x);
        top = pe_vec_max(top, x);
    }
    return pe_vec_top(top);
}

/* s = exp(s - top); their sum. */
PE_VEC_INLINE real softmax_exponentials(real *s, real top, int end)
{
    pe_vec sum = pe_vec_fill(0);
    for (int j = 0; j < end; j += PE_VEC_LANES) {
        pe_vec e = pe_vec_exp(pe_vec_load(s + j) - top);
        pe_vec_store(s + j, e);
        sum += e;
    }
    return pe_vec_sum(sum);
}

PE_VEC_INLINE void softmax_scale(real *o, real factor, int dim)
{
    for (int j = 0; j < dim; j++)
        o[j] *= factor;
}

void softmax_begin(softmax_row *row, int rows)
{
    for (int r = 0; r < rows; r++)
        row[r] = (softmax_row){ -INFINITY, 0 };
}

void softmax_add(const softmax_tile *t, softmax_row *row, real *o, int o_stride, int dim)
{
    for (int r = 0; r < t->rows; r++) {
        int n = softmax_visible(t, r);
        real *s = t->s + (size_t)r * (size_t)t->stride;
        softmax_clear(t, s, n);
        if (n == 0)
            continue;
        const real *bias = t->bias ? t->bias + (ptrdiff_t)r * t->bias_step : NULL;
        real before = row[r].top, top = bias ? softmax_largest(s, bias, n) : softmax_largest(s, NULL, n);
        top = top > before ? top : before;
        /* Keys hidden by a bias may be all that came: their exponentials are 0, whatever is subtracted. */
        real sum = softmax_exponentials(s, top > -INFINITY ? top : 0, softmax_end_of(n));
        if (top > before) {
            real factor = before > -INFINITY ? pe_vec_exp(pe_vec_fill(before - top))[0] : 0;
            row[r].inverse *= factor;
            row[r].top = top;
            if (o)
                softmax_scale(o + (size_t)r * (size_t)o_stride, factor, dim);
        }
        row[r].inverse += sum;
    }
}

void softmax_end(softmax_row *row, int rows, real *o, int o_stride, int dim)
{
    for (int r = 0; r < rows; r++) {
        row[r].inverse = 1 / row[r].inverse;
        softmax_scale(o + (size_t)r * (size_t)o_stride, row[r].inverse, dim);
    }
}

PE_VEC_INLINE void softmax_gradient_at(real *s, real *ds, const real *bias, int j, int n, const softmax_row *row, real mean,
                                       const int masked)
{
    pe_vec p = pe_vec_exp(softmax_score(s, bias, j, n, masked) - row->top) * row->inverse;
    pe_vec d = p * (pe_vec_load(ds + j) - mean);
    pe_vec_store(s + j, p);
    pe_vec_store(ds + j, masked ? pe_vec_select(pe_vec_below(j, n), d, pe_vec_fill(0)) : d);
}

PE_VEC_INLINE void softmax_gradient_row(real *s, real *ds, const real *bias, int n, const softmax_row *row, real mean)
{
    int whole = n / PE_VEC_LANES * PE_VEC_LANES;
    for (int j = 0; j < whole; j += PE_VEC_LANES)
        softmax_gradient_at(s, ds, bias, j, n, row, mean, 0);
    if (whole < n)
        softmax_gradient_at(s, ds, bias, whole, n, row, mean, 1);
}

void softmax_gradient(const softmax_tile *t, const softmax_row *row, const real *mean, real *ds)
{
    for (int r = 0; r < t->rows; r++) {
        int n = softmax_visible(t, r);
        size_t at = (size_t)r * (size_t)t->stride;
        if (t->bias)
            softmax_gradient_row(t->s + at, ds + at, t->bias + (ptrdiff_t)r * t->bias_step, n, &row[r], mean[r]);
        else
            softmax_gradient_row(t->s + at, ds + at, NULL, n, &row[r], mean[r]);
        softmax_clear(t, t->s + at, n);
        softmax_clear(t, ds + at, n);
    }
}
