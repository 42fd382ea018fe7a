#include "vmath.h"

#include <stdint.h>

#include "clones.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

void vmath_flush_subnormals(void)
{
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040); /* flush-to-zero and denormals-are-zero */
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | (1ULL << 24)));
#endif
}

#if defined(PE_REAL_DOUBLE)

CLONES_INLINE real vmath_exp(real x)
{
    return exp(x);
}

CLONES_INLINE real vmath_tanh(real x)
{
    return tanh(x);
}

#else

CLONES_INLINE float vmath_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

CLONES_INLINE uint32_t vmath_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2)/2. Adding 1.5 * 2^23 rounds to an integer and leaves it in the low
 * bits (which any value-changing optimisation would break). ln 2 is subtracted in two parts, so that r is exact. The polynomial
 * is the Taylor series to r^7, whose rest is below 2^-27. Below -87 the result is 0, above 88 it is held at exp(88). */
CLONES_INLINE float vmath_exp(float x)
{
    const float shift = 12582912.0f, low = -87.0f, high = 88.0f;
    float c = x < low ? low : x;
    c = c > high ? high : c;
    float t = c * 1.44269504088896341f + shift;
    float n = t - shift;
    float r = c - n * 0.693145751953125f;
    r = r - n * 1.428606765330187e-06f;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    float y = vmath_of_bits(vmath_bits(p) + (vmath_bits(t) << 23));
    return x < low ? 0.0f : y;
}

/* tanh(x) = 1 - 2 / (exp(2x) + 1): its absolute error is that of exp's, which is what GELU needs. */
CLONES_INLINE float vmath_tanh(float x)
{
    return 1.0f - 2.0f / (vmath_exp(2.0f * x) + 1.0f);
}

#endif

CLONES_INLINE real vmath_max(const real *s, int n)
{
    real top = s[0];
#pragma omp simd reduction(max : top)
    for (int j = 0; j < n; j++)
        top = s[j] > top ? s[j] : top;
    return top;
}

CLONES void vmath_softmax(const real *s, real *p, int n)
{
    real top = vmath_max(s, n), sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < n; j++) {
        real e = vmath_exp(s[j] - top);
        p[j] = e;
        sum += e;
    }
    real factor = 1 / sum;
    for (int j = 0; j < n; j++)
        p[j] *= factor;
}

CLONES void vmath_softmax_bwd(const real *p, real *ds, int n)
{
    real mean = 0;
#pragma omp simd reduction(+ : mean)
    for (int j = 0; j < n; j++)
        mean += p[j] * ds[j];
    for (int j = 0; j < n; j++)
        ds[j] = p[j] * (ds[j] - mean);
}

CLONES double vmath_cross_entropy(const real *s, int n, int target, real factor, real *g)
{
    real top = vmath_max(s, n), sum = 0, own = s[target]; /* read before g, which may be s, is written */
    if (g) {
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < n; j++) {
            real e = vmath_exp(s[j] - top);
            g[j] = e;
            sum += e;
        }
        real scale = factor / sum;
        for (int j = 0; j < n; j++)
            g[j] *= scale;
        g[target] -= factor;
    } else {
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < n; j++)
            sum += vmath_exp(s[j] - top);
    }
    return log((double)sum) - ((double)own - (double)top);
}

#define GELU_SLOPE ((real)0.79788456080286535588) /* sqrt(2/pi) */
#define GELU_CUBE ((real)0.044715)

CLONES_INLINE real vmath_erf(real x)
{
#if defined(PE_REAL_DOUBLE)
    return erf(x);
#else
    return erff(x);
#endif
}

static void gelu_exact(const real *x, real *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = (real)0.5 * x[i] * (1 + vmath_erf(x[i] * (real)0.70710678118654752440));
}

CLONES static void gelu_tanh(const real *restrict x, real *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        real v = x[i];
        y[i] = (real)0.5 * v * (1 + vmath_tanh(GELU_SLOPE * (v + GELU_CUBE * v * v * v)));
    }
}

void vmath_gelu(const real *x, real *y, size_t n, int exact)
{
    if (exact)
        gelu_exact(x, y, n);
    else
        gelu_tanh(x, y, n);
}

/* d/dx 0.5 x (1 + erf(x/sqrt 2)) = 0.5 (1 + erf(x/sqrt 2)) + x exp(-x^2/2) / sqrt(2 pi) */
static void gelu_exact_bwd(const real *x, const real *dy, real *dx, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        real v = x[i];
        real slope = (real)0.5 * (1 + vmath_erf(v * (real)0.70710678118654752440)) +
                     v * vmath_exp((real)-0.5 * v * v) * (real)0.39894228040143267794;
        dx[i] = dy[i] * slope;
    }
}

CLONES static void gelu_tanh_bwd(const real *x, const real *dy, real *dx, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        real v = x[i];
        real t = vmath_tanh(GELU_SLOPE * (v + GELU_CUBE * v * v * v));
        real inner = GELU_SLOPE * (1 + 3 * GELU_CUBE * v * v);
        dx[i] = dy[i] * ((real)0.5 * (1 + t) + (real)0.5 * v * (1 - t * t) * inner);
    }
}

void vmath_gelu_bwd(const real *x, const real *dy, real *dx, size_t n, int exact)
{
    if (exact)
        gelu_exact_bwd(x, dy, dx, n);
    else
        gelu_tanh_bwd(x, dy, dx, n);
}

CLONES real vmath_dot(const real *a, const real *b, int n)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

CLONES void vmath_add(real *restrict y, const real *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

CLONES void vmath_axpy(real *restrict y, real factor, const real *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

CLONES double vmath_sum_squares(const real *x, size_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

int vmath_argmax(const real *x, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best])
            best = i;
    return best;
}
