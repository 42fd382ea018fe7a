/* vmath.h - element-wise mathematics over rows, written so that the compiler vectorises it.
 * Compiled for each level of encodings/level.h.
 *
 * exp and tanh are polynomials in the product (a scalar libm call costs 10 to 50 times as much an element) and libm's
 * in the double twin, which so checks them. Sums are taken in several lanes: equal on one machine from run to run, and
 * within rounding of each other between kernel levels.
 */
#ifndef VMATH_H
#define VMATH_H

#include "pe.h"

/* Rows of scores may be longer than what is visible, to a multiple of this many reals: loops then have no remainder. */
enum { VMATH_WHOLE = 16 };

/* s[0..n-1] = softmax(s + bias), s[n..room-1] = 0; bias [room], what it holds from n on does not matter, or NULL. -INFINITY
 * gives exactly 0; at least one of the n sums is finite. room: a multiple of VMATH_WHOLE, at least n. */
void vmath_softmax(real *s, const real *bias, int n, int room);

/* Backward in place: ds[j] = p[j] * (ds[j] - sum_l p[l] ds[l]) for j < n, 0 from there to room; p is 0 there, what ds held
 * does not matter. */
void vmath_softmax_bwd(const real *p, real *ds, int n, int room);

/* -log softmax(s)[target] in double; gradient: g = (softmax(s) - onehot(target)) * factor; g may be s,
 * or NULL. */
double vmath_cross_entropy(const real *s, int n, int target, real factor, real *g);

/* y = gelu(x + b), tanh form 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) or exact form 0.5 x (1 + erf(x / sqrt 2)), and
 * slope = gelu'(x + b), unless NULL: both come out of one exponential. x, y, slope: [rows][cols], rows `stride` apart, b:
 * [cols]; y or slope may be x. */
void vmath_gelu(const real *x, const real *b, real *y, real *slope, int rows, int cols, int stride, int exact);
/* dy *= slope, which makes it the gradient of x; db += the sums of its columns. Laid out as in vmath_gelu. */
void vmath_gelu_bwd(const real *slope, real *dy, real *db, int rows, int cols, int stride);

real vmath_dot(const real *a, const real *b, int n);
void vmath_add(real *y, const real *x, size_t n);                 /* y += x */
void vmath_add_to(real *y, const real *x, const real *b, int rows, int cols); /* y[rows][cols] = x + b[cols]; x NULL: 0 */
void vmath_add_columns(real *sum, const real *x, int rows, int cols); /* sum[cols] += the sums of x's columns */
void vmath_scale(real *y, real factor, size_t n);                  /* y *= factor */
void vmath_axpy(real *y, real factor, const real *x, size_t n);   /* y += factor x */
double vmath_sum_squares(const real *x, size_t n);                /* in double: cannot overflow where the floats do not */
int vmath_argmax(const real *x, int n);                           /* the first of equals */

#endif
