/* rng.h - counter-based random numbers (Philox4x32-10 of Random123).
 *
 * A stream is named by (seed, purpose, index, item) and can be opened anywhere at no cost, so data, initial weights and
 * position maps never share numbers, runs with the same seed are paired, and a resumed run needs no saved state.
 */
#ifndef RNG_H
#define RNG_H

#include <stdint.h>

typedef enum rng_purpose {
    RNG_WEIGHTS = 1,    /* index: parameter name's hash, item: layer */
    RNG_LENGTHS,        /* index: step */
    RNG_TRAIN,          /* index: step, item: sequence in the batch */
    RNG_VALIDATION,     /* index: length, item: sequence */
    RNG_TEST,           /* index: length, item: sequence */
    RNG_MAP_TRAIN,      /* index: step, item: layer or sequence */
    RNG_MAP_TEST,       /* index: length, item: layer or sequence */
    RNG_BOOTSTRAP,      /* index: hash of what is resampled */
    RNG_DATA,           /* index: 0; which part of a text training reads */
    RNG_SHUFFLE         /* index: length, item: window of a text whose prefix is shuffled */
} rng_purpose;

typedef struct rng {
    uint32_t key[2];
    uint32_t counter[4]; /* counter[0] counts blocks */
    uint32_t block[4];
    int used;            /* words of block handed out */
} rng;

rng rng_stream(uint64_t seed, rng_purpose purpose, uint64_t index, uint32_t item);

/* A second generator of the same name that shares no number with r: it begins 2^31 blocks further on. r must be fresh
 * from rng_stream, and neither may draw 2^33 words. */
rng rng_second(const rng *r);

uint32_t rng_u32(rng *r);
uint64_t rng_u64(rng *r);
uint32_t rng_below(rng *r, uint32_t n); /* uniform over 0 .. n-1, exactly; n >= 1 */
double rng_uniform(rng *r);             /* [0,1), 53 bits */
double rng_normal(rng *r);              /* Box-Muller, the cosine branch */

/* One to one, and every bit of x reaches every bit of the result. 0 stays 0. */
uint64_t rng_mix(uint64_t x);

/* A 64-bit hash of text, for the index of a stream. */
uint64_t rng_hash(const char *text);

#endif
