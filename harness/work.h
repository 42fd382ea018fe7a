/* work.h - how much arithmetic a run is: what a sweep weighs its runs by when it tells the time that is left.
 *
 * A sequence of T tokens, of which S are scored, is multiplied with
 *
 *   M = layers (4 + 2 mlp) width^2 T - (1 + 2 mlp) width^2 (T - S) + vocabulary width S
 *
 * weights of matrices: behind its queries, keys and values the last layer is finished for the scored tokens alone (outputs.h).
 * Of its rows of attention those before the first scored token are left out: scored tokens are taken to stand at the end.
 * That costs forward   2 M + 4 layers width A          A: visible pairs, T^2/2 in a causal layer
 * and in training      3 (2 M) + 3.5 (4 layers width A)
 * floating-point operations: the backward pass is two products for each one, and attention's scores are made anew in it
 * (Kaplan et al. 2020, section 2.1, with the attention term kept). Encodings are taken for free: an estimate is for comparing
 * runs, and measured times take its place as soon as there are any.
 */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

#include "config.h"
#include "spec.h"

typedef struct work {
    double train, evaluate, extend; /* floating-point operations; extend: of what follows training, its tests included */
} work;

/* What one core of an ordinary machine does on networks of this size, in operations a second: for a plan that has
 * nothing measured to go by. */
#define WORK_ASSUMED_SPEED 5e10

work work_of(const run_config *c);

/* The same for all runs of a spec: out[s->count]. Runs that differ in encoding and seed alone are worked out once. */
void work_of_all(const spec *s, work *out);

/* A fingerprint of everything but the seed; with `any_encoding`, of everything but seed and encoding. */
uint64_t work_shape(const run_config *c, int any_encoding);

#endif
