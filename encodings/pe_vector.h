/* pe_vector.h - the few loops that many hooks are made of, in a form that the compiler vectorises. Part of pe.h. */
#ifndef PE_VECTOR_H
#define PE_VECTOR_H

#include "pe_vec.h"

/* Both sums take what does not fill a vector by four (two doubles), then one by one: heads of 8 and runs of 1 are common. */

/* sum of a[i] b[i] */
static inline real pe_dot(const real *restrict a, const real *restrict b, int n)
{
    pe_vec whole = pe_vec_fill(0);
    real sum = 0;
    int i = 0;
    for (; i + PE_VEC_LANES <= n; i += PE_VEC_LANES)
        whole += pe_vec_load(a + i) * pe_vec_load(b + i);
    for (; PE_VEC_LANES > PE_VEC_QUARTER && i + PE_VEC_QUARTER <= n; i += PE_VEC_QUARTER)
        sum += pe_vec_quarter_sum(pe_vec_quarter_load(a + i) * pe_vec_quarter_load(b + i));
    for (; i < n; i++)
        sum += a[i] * b[i];
    return n < PE_VEC_LANES ? sum : sum + pe_vec_sum(whole);
}

/* sum of a[i] */
static inline real pe_sum(const real *a, int n)
{
    pe_vec whole = pe_vec_fill(0);
    real sum = 0;
    int i = 0;
    for (; i + PE_VEC_LANES <= n; i += PE_VEC_LANES)
        whole += pe_vec_load(a + i);
    for (; PE_VEC_LANES > PE_VEC_QUARTER && i + PE_VEC_QUARTER <= n; i += PE_VEC_QUARTER)
        sum += pe_vec_quarter_sum(pe_vec_quarter_load(a + i));
    for (; i < n; i++)
        sum += a[i];
    return n < PE_VEC_LANES ? sum : sum + pe_vec_sum(whole);
}

/* y[i] += factor x[i] */
static inline void pe_axpy(real *restrict y, real factor, const real *restrict x, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += factor * x[i];
}

/* y[i] += x[i], i < n, by whole vectors as long as they end before `room`: that far both are read, and y from n on is written
 * as it was. Spares short rows a remainder that costs more than all else. */
static inline void pe_add(real *y, const real *x, int n, int room)
{
    int i = 0;
    for (; i < n && i + PE_VEC_LANES <= room; i += PE_VEC_LANES)
        pe_vec_store(y + i, pe_vec_load(y + i) + pe_vec_select(pe_vec_below(i, n), pe_vec_load(x + i), pe_vec_fill(0)));
    for (; i < n; i++)
        y[i] += x[i];
}

/* How many keys the query of row r of a tile sees: keys 0 .. pe_visible-1. */
static inline int pe_visible(const pe_context *c, const pe_tile *t, int r)
{
    return c->shape->causal ? t->row_begin + r + 1 : t->keys;
}

/* 1 if the first n positions follow each other by one, each off by less than `slack`: then only distances are left, -(n-1) ..
 * n-1, and keys that have the same distance from different queries lie on a diagonal. */
static inline int pe_evenly(const pe_context *c, int n, double slack)
{
    int even = 1;
    for (int j = 0; j < n; j++)
        even &= fabs(c->pos[j] - c->pos[0] - j) < slack;
    return even;
}

#endif
