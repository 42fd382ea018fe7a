/* The small base: memory, matrix products, element-wise mathematics, against the slow and obvious. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "arena.h"
#include "gemm.h"
#include "layers.h"
#include "rng.h"
#include "subnormals.h"
#include "vmath.h"

static const double tight = sizeof(real) == sizeof(double) ? 1e-12 : 2e-5;

static void numbers_fill(rng *r, real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (real)(2 * rng_uniform(r) - 1);
}

Test(arena, blocks_are_zero_aligned_and_apart)
{
    arena a = { NULL, 0 };
    unsigned char *end = NULL;
    for (size_t size = 0; size < 3000; size += 37) {
        unsigned char *block = arena_alloc(&a, size);
        cr_assert_not_null(block);
        cr_assert_eq((uintptr_t)block % 64, 0);
        for (size_t i = 0; i < size; i++)
            cr_assert_eq(block[i], 0);
        memset(block, 0xa5, size);
        cr_assert(block >= end, "blocks overlap");
        end = block + size;
    }
    real *large = arena_alloc(&a, (size_t)80 << 20); /* more than a chunk */
    cr_assert_not_null(large);
    large[(80 << 20) / sizeof(real) - 1] = 1;
    arena_free(&a);
    cr_assert_eq(a.used, 0);
    cr_assert_not_null(arena_alloc(&a, 8));
    arena_free(&a);
}

Test(arena, an_impossible_size_is_refused)
{
    arena a = { NULL, 0 };
    cr_assert_null(arena_alloc(&a, SIZE_MAX - 10));
    cr_assert_null(arena_alloc(&a, SIZE_MAX / 2));
    arena_free(&a);
}

static double gemm_entry(gemm_op op_a, gemm_op op_b, int i, int j, int k, const real *a, int lda, const real *b, int ldb)
{
    double sum = 0;
    for (int l = 0; l < k; l++)
        sum += (double)(op_a == GEMM_PLAIN ? a[i * lda + l] : a[l * lda + i]) *
               (double)(op_b == GEMM_PLAIN ? b[l * ldb + j] : b[j * ldb + l]);
    return sum;
}

/* Odd sizes, rows wider than needed, slices that begin one number into a block: nothing may be assumed aligned. */
Test(gemm, agrees_with_the_definition)
{
    rng r = rng_stream(1, RNG_TEST, 0, 0);
    real *a = malloc(sizeof *a * 20000), *b = malloc(sizeof *b * 20000), *c = malloc(sizeof *c * 20000);
    real *before = malloc(sizeof *before * 20000);
    for (int round = 0; round < 200; round++) {
        int m = (int)rng_below(&r, 40), n = (int)rng_below(&r, 40), k = (int)rng_below(&r, 70);
        gemm_op op_a = rng_below(&r, 2) ? GEMM_TRANSPOSED : GEMM_PLAIN, op_b = rng_below(&r, 2) ? GEMM_TRANSPOSED : GEMM_PLAIN;
        int lda = (op_a == GEMM_PLAIN ? k : m) + 1 + (int)rng_below(&r, 5);
        int ldb = (op_b == GEMM_PLAIN ? n : k) + 1 + (int)rng_below(&r, 5), ldc = n + 1 + (int)rng_below(&r, 5);
        real alpha = (real)(rng_uniform(&r) + 0.5), beta = rng_below(&r, 3) ? (real)rng_uniform(&r) : 0;
        numbers_fill(&r, a, 20000);
        numbers_fill(&r, b, 20000);
        numbers_fill(&r, c, 20000);
        if (beta == 0)
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++)
                    c[1 + i * ldc + j] = NAN; /* must not be read */
        memcpy(before, c, sizeof *c * 20000);
        gemm(op_a, op_b, m, n, k, alpha, a + 1, lda, b + 1, ldb, beta, c + 1, ldc);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < ldc; j++) {
                double got = (double)c[1 + i * ldc + j], was = (double)before[1 + i * ldc + j];
                double want = j >= n ? was
                                     : (double)alpha * gemm_entry(op_a, op_b, i, j, k, a + 1, lda, b + 1, ldb) +
                                           (beta == 0 ? 0 : (double)beta * was);
                cr_assert(fabs(got - want) <= tight, "%d x %d x %d [%d,%d]: %g, not %g", m, n, k, i, j, got, want);
            }
    }
    free(a);
    free(b);
    free(c);
    free(before);
}

Test(gemm, names_its_kernel)
{
    cr_assert_gt(strlen(gemm_kernel()), 4);
    cr_assert_str_eq(gemm_kernel(), gemm_kernel());
}

Test(vmath, softmax_of_anything_sums_to_one)
{
    rng r = rng_stream(2, RNG_TEST, 0, 0);
    for (int round = 0; round < 300; round++) {
        real s[320], p[320], bias[320];
        int n = 1 + (int)rng_below(&r, 299), room = (n + VMATH_WHOLE - 1) / VMATH_WHOLE * VMATH_WHOLE, biased = round % 2;
        double scale = round % 3 == 0 ? 1 : round % 3 == 1 ? 40 : 1e4;
        for (int i = 0; i < room; i++) {
            s[i] = rng_below(&r, 10) == 0 && i > 0 ? -INFINITY : (real)(scale * (2 * rng_uniform(&r) - 1));
            bias[i] = i < n ? (real)(scale * rng_uniform(&r)) : (real)NAN; /* beyond what is visible, anything */
            p[i] = i < n ? s[i] : (real)NAN;
            s[i] += biased ? bias[i] : 0;
        }
        double top = -INFINITY, sum = 0, got = 0;
        for (int i = 0; i < n; i++)
            top = fmax(top, (double)s[i]);
        for (int i = 0; i < n; i++)
            sum += exp((double)s[i] - top);
        vmath_softmax(p, biased ? bias : NULL, n, room);
        for (int i = 0; i < n; i++) {
            got += (double)p[i];
            cr_assert(fabs((double)p[i] - exp((double)s[i] - top) / sum) < 1e-6);
            cr_assert(s[i] != -INFINITY || p[i] == 0);
        }
        for (int i = n; i < room; i++) {
            cr_assert(p[i] == 0);
        }
        cr_assert(fabs(got - 1) < 1e-5);
    }
}

Test(vmath, softmax_backward_is_its_derivative)
{
    rng r = rng_stream(3, RNG_TEST, 0, 0);
    real s[32], p[32], ds[32], weight[32];
    numbers_fill(&r, s, 32);
    numbers_fill(&r, weight, 32);
    memcpy(p, s, sizeof p);
    vmath_softmax(p, NULL, 17, 32);
    memcpy(ds, weight, sizeof ds);
    for (int i = 17; i < 32; i++)
        ds[i] = (real)NAN;
    vmath_softmax_bwd(p, ds, 17, 32);
    for (int i = 17; i < 32; i++) {
        cr_assert(ds[i] == 0);
    }
    for (int i = 0; i < 17; i++) {
        double mean = 0;
        for (int j = 0; j < 17; j++)
            mean += (double)p[j] * (double)weight[j];
        cr_assert(fabs((double)ds[i] - (double)p[i] * ((double)weight[i] - mean)) < 1e-6);
    }
}

Test(vmath, cross_entropy_and_its_gradient_may_share_a_block)
{
    rng r = rng_stream(4, RNG_TEST, 0, 0);
    real s[50], g[50];
    for (int round = 0; round < 50; round++) {
        int n = 2 + (int)rng_below(&r, 48), target = (int)rng_below(&r, (uint32_t)n);
        double sum = 0;
        for (int i = 0; i < n; i++)
            s[i] = (real)(20 * rng_uniform(&r) - 10);
        for (int i = 0; i < n; i++)
            sum += exp((double)s[i]);
        double want = log(sum) - (double)s[target];
        cr_assert(fabs(vmath_cross_entropy(s, n, target, 1, NULL) - want) < 1e-5);
        cr_assert(fabs(vmath_cross_entropy(s, n, target, (real)0.25, g) - want) < 1e-5);
        for (int i = 0; i < n; i++)
            cr_assert(fabs((double)g[i] - 0.25 * (exp((double)s[i]) / sum - (i == target))) < 1e-6);
        cr_assert(fabs(vmath_cross_entropy(s, n, target, (real)0.25, s) - want) < 1e-5, "in place");
        cr_assert_arr_eq(s, g, sizeof(real) * (size_t)n);
    }
}

/* Rows of every length up to two vectors and a bit, so that each remainder is met. */
Test(vmath, gelu_and_its_slope)
{
    enum { ROWS = 3, MOST = 40 };
    rng draw = rng_stream(5, RNG_TEST, 0, 0);
    for (int n = 2; n < 2 * MOST - 4; n++) {
        int exact = n % 2, cols = n / 2, stride = cols + n % 3;
        real x[ROWS * MOST], b[MOST], y[ROWS * MOST], slope[ROWS * MOST], alone[ROWS * MOST];
        for (int i = 0; i < ROWS * stride; i++)
            x[i] = (real)(24 * rng_uniform(&draw) - 12);
        for (int j = 0; j < cols; j++)
            b[j] = (real)(rng_uniform(&draw) - 0.5);
        memcpy(alone, x, sizeof x);
        vmath_gelu(x, b, y, slope, ROWS, cols, stride, exact);
        vmath_gelu(alone, b, alone, NULL, ROWS, cols, stride, exact);
        for (int i = 0; i < ROWS * stride; i++) {
            if (i % stride >= cols) {
                cr_assert_eq(alone[i], x[i], "behind the columns");
                continue;
            }
            double h = 1e-5, v = (double)(x[i] + b[i % stride]);
#define GELU(t)                                                                                                        \
    (exact ? 0.5 * (t) * (1 + erf((t) / sqrt(2.0)))                                                                    \
           : 0.5 * (t) * (1 + tanh(sqrt(2 / M_PI) * ((t) + 0.044715 * (t) * (t) * (t)))))
            cr_assert(fabs((double)y[i] - GELU(v)) < 1e-5, "gelu(%g) = %g", v, (double)y[i]);
            cr_assert(fabs((double)slope[i] - (GELU(v + h) - GELU(v - h)) / (2 * h)) < 1e-5, "slope at %g is %g", v,
                      (double)slope[i]);
            cr_assert(fabs((double)alone[i] - (double)y[i]) < 1e-5, "in place, without the slope: %g, not %g",
                      (double)alone[i], (double)y[i]);
        }
    }
}

Test(vmath, gelu_backward_is_a_product_and_sums_of_columns)
{
    enum { ROWS = 7, MOST = 37, STRIDE = MOST + 2 };
    rng draw = rng_stream(6, RNG_TEST, 0, 0);
    for (int rows = 1; rows <= ROWS; rows++)
        for (int cols = 1; cols <= MOST; cols++) {
            real slope[ROWS * STRIDE], d[ROWS * STRIDE], was[ROWS * STRIDE], db[MOST];
            for (int i = 0; i < ROWS * STRIDE; i++) {
                slope[i] = (real)(2 * rng_uniform(&draw) - 1);
                was[i] = d[i] = (real)(2 * rng_uniform(&draw) - 1);
            }
            for (int j = 0; j < cols; j++)
                db[j] = 2;
            vmath_gelu_bwd(slope, d, db, rows, cols, STRIDE);
            for (int j = 0; j < cols; j++) {
                double sum = 2;
                for (int i = j; i < rows * STRIDE; i += STRIDE) {
                    cr_assert_eq(d[i], was[i] * slope[i]);
                    sum += (double)d[i];
                }
                cr_assert(fabs((double)db[j] - sum) < 1e-5, "column %d of %d: %g, not %g", j, cols, (double)db[j], sum);
            }
        }
}

Test(vmath, a_sum_of_squares_cannot_overflow_where_its_terms_are_finite)
{
    real x[100];
    for (int i = 0; i < 100; i++)
        x[i] = (real)1e20; /* squares are past the largest float */
    cr_assert(fabs(sqrt(vmath_sum_squares(x, 100)) / 1e21 - 1) < 1e-6);
}

Test(vmath, subnormals_are_flushed)
{
    subnormals_flush();
    volatile float small = 1e-38f, factor = 0.1f;
    volatile float product = small * factor;
    cr_assert(product == 0.0f);
}

/* dx, dw, db by central differences of a random linear functional. */
static void norm_gradient(int kind)
{
    enum { ROWS = 3, WIDTH = 10 };
    rng r = rng_stream(5, RNG_TEST, (uint64_t)kind, 0);
    real x[ROWS * WIDTH], w[WIDTH], b[WIDTH], y[ROWS * WIDTH], stats[2 * ROWS], dy[ROWS * WIDTH];
    real dx[ROWS * WIDTH] = { 0 }, dw[WIDTH] = { 0 }, db[WIDTH] = { 0 };
    numbers_fill(&r, x, ROWS * WIDTH);
    numbers_fill(&r, w, WIDTH);
    numbers_fill(&r, b, WIDTH);
    numbers_fill(&r, dy, ROWS * WIDTH);
    norm(kind, x, w, b, y, stats, ROWS, WIDTH);
    norm_bwd(kind, x, w, stats, dy, dx, dw, kind == NORM_LAYER ? db : NULL, ROWS, WIDTH);
    double h = sizeof(real) == sizeof(double) ? 1e-5 : 1e-2, limit = sizeof(real) == sizeof(double) ? 1e-7 : 2e-2;
    struct {
        real *value, *grad;
        int n;
    } parts[] = { { x, dx, ROWS * WIDTH }, { w, dw, WIDTH }, { b, db, kind == NORM_LAYER ? WIDTH : 0 } };
    for (int part = 0; part < 3; part++)
        for (int i = 0; i < parts[part].n; i++) {
            real keep = parts[part].value[i];
            double side[2];
            for (int s = 0; s < 2; s++) {
                parts[part].value[i] = keep + (real)(s ? h : -h);
                norm(kind, x, w, b, y, stats, ROWS, WIDTH);
                side[s] = 0;
                for (int j = 0; j < ROWS * WIDTH; j++)
                    side[s] += (double)y[j] * (double)dy[j];
            }
            parts[part].value[i] = keep;
            double slope = (side[1] - side[0]) / (2 * h);
            cr_assert(fabs(slope - (double)parts[part].grad[i]) < limit * (1 + fabs(slope)), "part %d [%d]: %g, not %g",
                      part, i, (double)parts[part].grad[i], slope);
        }
}

Test(layers, layer_norm_gradient)
{
    norm_gradient(NORM_LAYER);
}

Test(layers, rms_norm_gradient)
{
    norm_gradient(NORM_RMS);
}
