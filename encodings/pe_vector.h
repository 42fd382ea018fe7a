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

/* How many keys the query of row r of a tile sees: keys 0 .. pe_visible-1. */
static inline int pe_visible(const pe_context *c, const pe_tile *t, int r)
{
    return c->shape->causal ? t->row_begin + r + 1 : t->keys;
}

#endif
