/* Each kernel keeps many independent accumulators r = r * m + k in registers: enough to cover the latency of an operation (4
 * or 5 cycles) at the rate of two a cycle, and no more than there are registers beside m and k. The empty assembly after
 * each turn makes m and k look changed, so that turns cannot be merged. */
#include "speed_peak.h"

#include <stdlib.h>

#include "speed.h"
#include "stopwatch.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* The body of a kernel: `count` accumulators of `type`, `turns` times; ends in the first lane of their sum. `constraint`:
 * of the assembler, for a vector register. */
#define SPEED_PEAK_BODY(type, count, constraint, set, multiply_add, add)                                               \
    type m = set(0.999999f), k = set(1e-7f), r[count];                                                                 \
    _Pragma("GCC unroll 32") for (int i = 0; i < count; i++) r[i] = set(1e-3f * (float)i);                             \
    for (long turn = 0; turn < turns; turn++) {                                                                        \
        _Pragma("GCC unroll 32") for (int i = 0; i < count; i++) r[i] = multiply_add(r[i], m, k);                      \
        __asm__ volatile("" : "+" constraint(m), "+" constraint(k));                                                   \
    }                                                                                                                  \
    _Pragma("GCC unroll 32") for (int i = 1; i < count; i++) r[0] = add(r[0], r[i]);                                   \
    return ((union { type vector; float lane[sizeof(type) / sizeof(float)]; }){ .vector = r[0] }).lane[0]

typedef struct speed_peak_level {
    const char *name;
    int accumulators, lanes;
    float (*run)(long turns);
} speed_peak_level;

#if defined(__x86_64__)

#define SPEED_PEAK_V4 __attribute__((target("avx512f")))
#define SPEED_PEAK_V3 __attribute__((target("avx2,fma")))
#define SPEED_PEAK_SSE(r, m, k) _mm_add_ps(_mm_mul_ps(r, m), k)

SPEED_PEAK_V4 static float speed_peak_avx512(long turns)
{
    SPEED_PEAK_BODY(__m512, 24, "v", _mm512_set1_ps, _mm512_fmadd_ps, _mm512_add_ps);
}

SPEED_PEAK_V3 static float speed_peak_avx2(long turns)
{
    SPEED_PEAK_BODY(__m256, 12, "x", _mm256_set1_ps, _mm256_fmadd_ps, _mm256_add_ps);
}

static float speed_peak_sse(long turns)
{
    SPEED_PEAK_BODY(__m128, 12, "x", _mm_set1_ps, SPEED_PEAK_SSE, _mm_add_ps);
}

static speed_peak_level speed_peak_choose(void)
{
    if (__builtin_cpu_supports("avx512f"))
        return (speed_peak_level){ "AVX-512 FMA", 24, 16, speed_peak_avx512 };
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (speed_peak_level){ "AVX2 FMA", 12, 8, speed_peak_avx2 };
    return (speed_peak_level){ "SSE multiply and add", 12, 4, speed_peak_sse };
}

#elif defined(__aarch64__)

#define SPEED_PEAK_NEON(r, m, k) vfmaq_f32(k, r, m)

static float speed_peak_neon(long turns)
{
    SPEED_PEAK_BODY(float32x4_t, 24, "w", vdupq_n_f32, SPEED_PEAK_NEON, vaddq_f32);
}

static speed_peak_level speed_peak_choose(void)
{
    return (speed_peak_level){ "NEON FMA", 24, 4, speed_peak_neon };
}

#else

typedef float speed_peak_vector __attribute__((vector_size(16)));
#define SPEED_PEAK_SET(x) ((speed_peak_vector){ (x), (x), (x), (x) })
#define SPEED_PEAK_PLAIN(r, m, k) ((r) * (m) + (k))
#define SPEED_PEAK_ADD(a, b) ((a) + (b))

static float speed_peak_plain(long turns)
{
    SPEED_PEAK_BODY(speed_peak_vector, 12, "m", SPEED_PEAK_SET, SPEED_PEAK_PLAIN, SPEED_PEAK_ADD);
}

static speed_peak_level speed_peak_choose(void)
{
    return (speed_peak_level){ "plain multiply and add", 12, 4, speed_peak_plain };
}

#endif

const char *speed_peak_kernel(void)
{
    return speed_peak_choose().name;
}

/* Operations a second over `turns`. */
static double speed_peak_burst(const speed_peak_level *level, long turns)
{
    double begin = stopwatch_cpu();
    volatile float sink = level->run(turns);
    (void)sink;
    double seconds = stopwatch_cpu() - begin;
    return seconds > 0 ? 2.0 * level->accumulators * level->lanes * (double)turns / seconds : 0;
}

double speed_peak(int bursts)
{
    speed_peak_level level = speed_peak_choose();
    double rate[SPEED_ROUNDS_MAX];
    long turns = 1 << 10;
    bursts = bursts < SPEED_ROUNDS_MAX ? bursts : SPEED_ROUNDS_MAX;
    rate[0] = speed_peak_burst(&level, 1 << 16); /* wakes the wide units up, and tells how long a burst must be */
    turns = (long)(rate[0] * 1e-3 / (2.0 * level.accumulators * level.lanes)) + turns;
    for (int i = 0; i < bursts; i++)
        rate[i] = speed_peak_burst(&level, turns);
    return speed_spread_of(rate, bursts).median;
}
