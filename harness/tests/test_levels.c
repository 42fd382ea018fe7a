/* test_levels.c - the kernels of all levels against each other. They differ by rounding: fused multiply-add, and sums in
 * another order. Each element agrees to LEVELS_TOLERANCE of the largest in its row. */
#include <criterion/criterion.h>
#include <math.h>

#include "adamw_step.h"
#include "layers.h"
#include "level.h"
#include "product.h"
#include "rng.h"
#include "softmax.h"
#include "vmath.h"

#if defined(LEVELS)

#define LEVELS_TOLERANCE 4e-6

#define KERNEL(result, name, parameters)                                                                               \
    result name##_base parameters;                                                                                     \
    result name##_v3 parameters;                                                                                       \
    result name##_v4 parameters;
#include "kernel_list.h"
#undef KERNEL

/* Calls a kernel of one level. */
#define LEVELS_CALL(level, name, arguments)                                                                            \
    ((level) == LEVEL_V4 ? name##_v4 arguments : (level) == LEVEL_V3 ? name##_v3 arguments : name##_base arguments)

enum { LENGTH = 96, ROWS = 5 };

/* What all kernels leave behind, one after the other. */
typedef struct levels_trace {
    real softmax[LENGTH], softmax_bwd[LENGTH], entropy[LENGTH], gelu[LENGTH], gelu_slope[LENGTH], exact[LENGTH],
        exact_slope[LENGTH], gelu_bwd[LENGTH], columns[LENGTH], moved[ROWS * LENGTH], norm[ROWS * LENGTH], stats[2 * ROWS],
        norm_bwd[(ROWS + 2) * LENGTH], weights[ROWS * (LENGTH + SOFTMAX_ROOM)], slopes[ROWS * (LENGTH + SOFTMAX_ROOM)],
        out[ROWS * LENGTH], adamw[4][LENGTH], product[ROWS * (LENGTH + PRODUCT_PANEL)], numbers[4];
} levels_trace;

static void levels_fill(uint64_t seed, real *x, size_t n)
{
    rng r = rng_stream(seed, RNG_TEST, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (real)(4 * rng_uniform(&r) - 2);
}

/* Two tiles of the same scores, and the gradient of the second. */
static void levels_tiles(int level, const real *x, const real *b, int n, levels_trace *t)
{
    enum { STRIDE = LENGTH + SOFTMAX_ROOM };
    softmax_row row[ROWS];
    real mean[ROWS] = { (real)0.1, (real)-0.2, (real)0.3, (real)-0.4, (real)0.5 };
    softmax_tile tile = { .rows = ROWS, .keys = n, .stride = STRIDE, .causal = n % 2, .diagonal = n - ROWS,
                          .past = PRODUCT_PAST, .s = t->weights, .bias = n % 3 ? b : NULL };
    LEVELS_CALL(level, softmax_begin, (row, ROWS));
    for (int pass = 0; pass < 3; pass++) {
        for (int r = 0; r < ROWS; r++)
            memcpy(t->weights + r * STRIDE, x + r * LENGTH, sizeof(real) * LENGTH);
        for (int i = 0; i < ROWS * STRIDE; i++)
            t->weights[i] *= (real)(pass + 1);
        if (pass == 0)
            memcpy(t->out, x, sizeof t->out);
        if (pass < 2)
            LEVELS_CALL(level, softmax_add, (&tile, row, pass > 0 ? t->out : NULL, LENGTH, n));
        if (pass == 1)
            LEVELS_CALL(level, softmax_end, (row, ROWS, t->out, LENGTH, n));
    }
    for (int r = 0; r < ROWS; r++)
        memcpy(t->slopes + r * STRIDE, x + (ROWS - 1 - r) * LENGTH, sizeof(real) * LENGTH);
    LEVELS_CALL(level, softmax_gradient, (&tile, row, mean, t->slopes));
    for (int r = 0; r < ROWS; r++) /* what nobody reads may differ */
        for (int j = tile.causal ? tile.diagonal + r + 1 : n; j < STRIDE; j++)
            t->weights[r * STRIDE + j] = t->slopes[r * STRIDE + j] = 0;
}

static void levels_run(int level, uint64_t seed, levels_trace *t)
{
    static real x[ROWS * LENGTH], w[LENGTH * LENGTH], b[LENGTH], packed[2 * LENGTH * LENGTH], turned[LENGTH * LENGTH];
    int n = 40 + (int)(seed * 13 % (LENGTH - 40)), room = (n + VMATH_WHOLE - 1) / VMATH_WHOLE * VMATH_WHOLE;
    memset(t, 0, sizeof *t);
    levels_fill(seed, x, ROWS * LENGTH);
    levels_fill(seed + 1000, w, LENGTH * LENGTH);
    levels_fill(seed + 2000, b, LENGTH);
    levels_tiles(level, x, b, n, t);
    memcpy(t->softmax, x, sizeof t->softmax);
    memcpy(t->softmax_bwd, w, sizeof t->softmax_bwd);
    LEVELS_CALL(level, vmath_softmax, (t->softmax, seed % 2 ? b : NULL, n, room));
    LEVELS_CALL(level, vmath_softmax_bwd, (t->softmax, t->softmax_bwd, n, room));
    t->numbers[0] = (real)LEVELS_CALL(level, vmath_cross_entropy, (x, n, n / 2, (real)0.5, t->entropy));
    t->numbers[1] = LEVELS_CALL(level, vmath_dot, (x, b, n));
    t->numbers[2] = (real)LEVELS_CALL(level, vmath_sum_squares, (x, (size_t)n));
    t->numbers[3] = (real)LEVELS_CALL(level, vmath_argmax, (x, n));
    for (int exact = 0; exact < 2; exact++) {
        real *value = exact ? t->exact : t->gelu, *slope = exact ? t->exact_slope : t->gelu_slope;
        LEVELS_CALL(level, vmath_gelu, (x, b, value, slope, 2, n / 2, n / 2 + 1, exact));
        memcpy(t->gelu_bwd, w, sizeof t->gelu_bwd);
        LEVELS_CALL(level, vmath_gelu_bwd, (slope, t->gelu_bwd, t->columns, 2, n / 2, n / 2 + 1));
    }
    LEVELS_CALL(level, vmath_add_to, (t->moved, x, b, ROWS, n));
    LEVELS_CALL(level, vmath_add, (t->moved, w, (size_t)n));
    LEVELS_CALL(level, vmath_axpy, (t->moved, (real)0.3, w, (size_t)n));
    LEVELS_CALL(level, vmath_scale, (t->moved, (real)1.1, (size_t)n));
    LEVELS_CALL(level, vmath_add_columns, (t->columns, x, ROWS, n));
    int kind = seed % 2 ? NORM_RMS : NORM_LAYER;
    LEVELS_CALL(level, norm, (kind, x, b, b, t->norm, t->stats, ROWS, n));
    LEVELS_CALL(level, norm_bwd, (kind, x, b, t->stats, w, t->norm_bwd, t->norm_bwd + ROWS * LENGTH,
                                  kind == NORM_LAYER ? t->norm_bwd + (ROWS + 1) * LENGTH : NULL, ROWS, n));
    adamw_rates rates = { (real)0.5, (real)0.9, (real)0.95, (real)1e-8, (real)0.01, 1, (real)0.999 };
    memcpy(t->adamw[0], x, sizeof t->adamw[0]);
    memcpy(t->adamw[1], w, sizeof t->adamw[1]);
    LEVELS_CALL(level, adamw_step, (&rates, t->adamw[0], t->adamw[1], t->adamw[2], t->adamw[3], (size_t)n));
    LEVELS_CALL(level, product_transpose, (w, LENGTH, n, turned));
    LEVELS_CALL(level, product_pack, (turned, LENGTH, n, 24, packed));
    product_job p = { .rows = ROWS, .cols = n, .depth = 24, .a = x, .a_row = LENGTH, .a_col = 1, .b = packed,
                      .b_row = PRODUCT_PANEL, .b_panel = 24 * PRODUCT_PANEL, .c = t->product,
                      .c_row = LENGTH + PRODUCT_PANEL, .alpha = 1 };
    LEVELS_CALL(level, product, (&p));
}

static void levels_compare(const char *what, int level, const real *got, const real *want, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)want[i]));
    cr_assert(most > 0, "%s is 0 everywhere", what);
    for (size_t i = 0; i < n; i++) {
        cr_assert(fabs((double)got[i] - (double)want[i]) <= LEVELS_TOLERANCE * most, "%s[%zu] of %s: %.9g, not %.9g", what, i,
                  level_name(level), (double)got[i], (double)want[i]);
    }
}

#define LEVELS_COMPARE(field)                                                                                          \
    levels_compare(#field, level, (const real *)got.field, (const real *)base.field, sizeof got.field / sizeof(real))

Test(levels, kernels_agree_within_their_tolerance)
{
    cr_assert(level_of_cpu() >= LEVEL_BASE);
    for (int level = LEVEL_V3; level <= level_of_cpu(); level++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            static levels_trace base, got;
            levels_run(LEVEL_BASE, seed, &base);
            levels_run(level, seed, &got);
            LEVELS_COMPARE(softmax);
            LEVELS_COMPARE(softmax_bwd);
            LEVELS_COMPARE(weights);
            LEVELS_COMPARE(slopes);
            LEVELS_COMPARE(out);
            LEVELS_COMPARE(entropy);
            LEVELS_COMPARE(gelu);
            LEVELS_COMPARE(gelu_slope);
            LEVELS_COMPARE(exact);
            LEVELS_COMPARE(exact_slope);
            LEVELS_COMPARE(gelu_bwd);
            LEVELS_COMPARE(columns);
            LEVELS_COMPARE(moved);
            LEVELS_COMPARE(norm);
            LEVELS_COMPARE(stats);
            LEVELS_COMPARE(norm_bwd);
            LEVELS_COMPARE(adamw);
            LEVELS_COMPARE(product);
            LEVELS_COMPARE(numbers);
        }
}

#else

Test(levels, one_level_is_built)
{
    cr_assert_eq(level_of_cpu(), LEVEL_BASE);
    cr_assert(level_name(LEVEL_BASE)[0] != '\0');
}

#endif
