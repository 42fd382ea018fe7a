/* pe_vector.h - the few loops that many hooks are made of, in a form that the compiler vectorises. Part of pe.h. */
#ifndef PE_VECTOR_H
#define PE_VECTOR_H

#include "pe.h" /* which includes this file at its end */

/* A plug-in may be built without -fopenmp-simd: then the loops below are plain, and that is no fault of its author. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"

/* sum of a[i] b[i] */
static inline real pe_dot(const real *restrict a, const real *restrict b, int n)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* sum of a[i] */
static inline real pe_sum(const real *a, int n)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

#pragma GCC diagnostic pop

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
