/* pairs.h - the logits of a stack on random input beside a slow formula, and derivatives on sequences that are longer
 * than the chunks in which hooks work (those of `posbench check` are not). */
#ifndef PAIRS_H
#define PAIRS_H

#include "trial.h"

typedef struct pairs {
    registry *r;
    pe_stack stack;
    refhost_settings settings;
    trial t; /* t.q, t.k, t.v, t.x: [len][heads*dim], random; parameters as if trained */
    int heads, dim, width, len;
    double scale;
    const real *bias; /* [heads][len][len], of the last pairs_expect */
} pairs;

/* Fails the test if the stack is refused. pos NULL: 0, 1, 2 ... Without projections: q, k and v are t.q, t.k and t.v.
 */
void pairs_open(pairs *p, const char *text, int heads, int dim, int len, int causal, const double *pos);
/* The same with a member of the test's own in front of the stack. */
void pairs_open_behind(pairs *p, const pe_descriptor *first, const char *text, int heads, int dim, int len, int causal);
void pairs_close(pairs *p);

/* The values of a parameter, by its name; the test fails if there is none. */
real *pairs_param(const pairs *p, const char *name);

/* scale q_i.k_j in double. */
double pairs_score(const pairs *p, int h, int i, int j);
double pairs_dot(const real *a, const real *b, int n);
const real *pairs_q(const pairs *p, int h, int i);
const real *pairs_k(const pairs *p, int h, int j);

/* Runs forward and compares every visible pair with slow(p, h, i, j): in double to `margin`, in float to
 * `margin_float`. */
typedef double pairs_slow(const pairs *p, int h, int i, int j);
void pairs_expect(pairs *p, pairs_slow *slow, double margin, double margin_float, const char *what);

/* Drawn derivatives of q, k, x and each parameter against differences; in double only, in float nothing. */
void pairs_expect_gradient(pairs *p, const char *what);

#endif
