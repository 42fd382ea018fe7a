#include "rng.h"

#include <math.h>

#include <Random123/philox.h>

uint64_t rng_mix(uint64_t x)
{
    x ^= x >> 33; /* the finaliser of MurmurHash3: every input bit reaches every output bit */
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

/* The seed and the purpose make the key; index and item stand in the counter, so streams of one key never meet:
 * counter = { block, item, index low, index high }, and no stream draws 2^32 blocks. */
rng rng_stream(uint64_t seed, rng_purpose purpose, uint64_t index, uint32_t item)
{
    uint64_t key = rng_mix(seed * 0x9e3779b97f4a7c15ULL + (uint64_t)purpose);
    rng r = {.key = {(uint32_t)key, (uint32_t)(key >> 32)},
             .counter = {0, item, (uint32_t)index, (uint32_t)(index >> 32)},
             .used = 4};
    return r;
}

rng rng_second(const rng *r)
{
    rng second = *r;
    second.counter[0] += 1u << 31;
    second.used = 4;
    return second;
}

uint32_t rng_u32(rng *r)
{
    if (r->used == 4) {
        philox4x32_ctr_t counter = {{r->counter[0], r->counter[1], r->counter[2], r->counter[3]}};
        philox4x32_key_t key = {{r->key[0], r->key[1]}};
        philox4x32_ctr_t block = philox4x32(counter, key);
        for (int i = 0; i < 4; i++)
            r->block[i] = block.v[i];
        r->counter[0]++;
        r->used = 0;
    }
    return r->block[r->used++];
}

uint64_t rng_u64(rng *r)
{
    uint64_t low = rng_u32(r);
    return low | (uint64_t)rng_u32(r) << 32;
}

/* Lemire's multiply-shift with rejection of the few values that would make some results more likely. */
uint32_t rng_below(rng *r, uint32_t n)
{
    uint64_t product = (uint64_t)rng_u32(r) * n;
    if ((uint32_t)product < n) {
        uint32_t threshold = -n % n;
        while ((uint32_t)product < threshold)
            product = (uint64_t)rng_u32(r) * n;
    }
    return (uint32_t)(product >> 32);
}

double rng_uniform(rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

double rng_normal(rng *r)
{
    double radius = sqrt(-2.0 * log(1.0 - rng_uniform(r))); /* 1-u is never 0 */
    return radius * cos(2.0 * 3.14159265358979323846 * rng_uniform(r));
}

uint64_t rng_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325ULL; /* FNV-1a, then mixed */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
    return rng_mix(hash);
}
