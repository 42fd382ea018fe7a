/* rotary_fixture.h - what tests of rotations share. */
#ifndef ROTARY_FIXTURE_H
#define ROTARY_FIXTURE_H

#include "rig.h"

/* Turns u[len][heads][head_dim] in place, in a sequence that will have total_len tokens (0: len). Parameters are as
 * init leaves them. pos NULL: 0, 1, 2 ... */
void rotary_turn(const char *text, pe_shape shape, const double *pos, int len, int total_len, pe_role role, real *u);

/* Of one head with interleaved pairs: angle[head_dim/2] (=) that position 1 turns them by. Returns the first pair's
 * length, which was 1. */
double rotary_angles(const char *text, int head_dim, int train_len, int total_len, double *angle);

/* s[heads][len][len] (=): scores of given q, k[len][heads][head_dim], all in one tile; what a causal mask hides is
 * -INFINITY.
 */
void rotary_scores(const char *text, pe_shape shape, const double *pos, int len, int total_len, const real *q,
                   const real *k, double *s);

/* Why the stack is refused for this shape, in a buffer of the caller; "" when it is not. */
const char *rotary_refusal(const char *text, pe_shape shape, char *message, size_t size);

void rotary_noise(uint32_t seed, real *u, size_t count);

#endif
