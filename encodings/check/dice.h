/* dice.h - random numbers of the checks: SplitMix64, one word of state, the same everywhere and for ever, so that a
 * failing element has the same index on every machine.
 */
#ifndef DICE_H
#define DICE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "pe.h"

typedef struct dice {
    uint64_t state; /* any seed will do */
} dice;

static inline uint64_t dice_u64(dice *d)
{
    uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* [0,1), 53 bits. */
static inline double dice_uniform(dice *d)
{
    return (double)(dice_u64(d) >> 11) * 0x1p-53;
}

/* [-1,1). */
static inline double dice_symmetric(dice *d)
{
    return 2 * dice_uniform(d) - 1;
}

/* N(0,1), the cosine branch of Box-Muller. */
static inline double dice_normal(dice *d)
{
    double radius = sqrt(-2 * log(1 - dice_uniform(d)));
    return radius * cos(6.283185307179586 * dice_uniform(d));
}

static inline size_t dice_below(dice *d, size_t n)
{
    return (size_t)(dice_u64(d) % n);
}

static inline void dice_fill(dice *d, real *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (real)dice_symmetric(d);
}

#endif
