/* test_measure.c - sandwich, fire and window: sums of cosines, distances measured against a position, and a mask. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "refhost.h"
#include "rig.h"

static void measure_expect_refusal(const char *text, pe_shape shape, const char *words)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    pe_stack s;
    cr_assert_eq(stack_parse(r, text, &s, &e), 0, "%s", e.message);
    cr_expect_eq(stack_check(&s, &shape, 16, &e), -1, "%s is accepted", text);
    cr_expect(strstr(e.message, words), "'%s' does not say '%s'", e.message, words);
    stack_free(&s);
    registry_free(r);
}

/* ------------------------------------------------------------------------------------------------ sandwich */

/* C1: the inner product of sinusoids, over its value at distance 0. It is not monotone: with 64 numbers it turns at 5.
 */
Test(sandwich, known_products_of_sinusoids)
{
    enum { LEN = 257, LAST = LEN - 1 };
    static const double want[][2] = {{0, 1}, {1, 0.966}, {2, 0.884}, {5, 0.734}, {8, 0.700}, {64, 0.435}, {256, 0.354}};
    static const int turns[][2] = {{32, 4}, {64, 5}, {128, 11}, {256, 24}};
    static real bias[8 * LEN * LEN];
    rig g;
    for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
        int width = turns[k][0], at = turns[k][1];
        rig_open(&g, "sandwich", rig_shape(8, width, 64, 1), NULL, LEN);
        rig_bias(&g, bias);
        const real *row = bias + LAST * LEN; /* head 1 of 8: divided by 8h/H = 1 */
        for (int d = 1; d <= at + 1; d++)
            cr_assert_eq(row[LAST - d] < row[LAST - d + 1], d <= at, "width %d, distance %d", width, d);
        for (size_t i = 0; width == 64 && i < sizeof want / sizeof *want; i++)
            rig_near(row[LAST - (int)want[i][0]] / 32, want[i][1], 6e-4, "width 64");
        for (int h = 0; h < 8; h++)
            rig_near(bias[(h * LEN + LAST) * LEN + LAST], width / 2 / (h + 1.0), 1e-4, "distance 0 of each head");
        rig_close(&g);
    }
}

/* NeMo subtracts width/2, which no softmax sees, and starts one frequency later, which it does see. */
Test(sandwich, variants)
{
    enum { LEN = 9 };
    static const char *const texts[] = {"sandwich(width=6)", "sandwich(width=6,centered=true)",
                                        "sandwich(width=6,first_index=1)"};
    real bias[3][LEN * LEN];
    for (int k = 0; k < 3; k++) {
        rig g;
        rig_open(&g, texts[k], rig_shape(1, 5, 64, 0), NULL, LEN);
        rig_bias(&g, bias[k]);
        rig_close(&g);
    }
    for (int i = 0; i < LEN * LEN; i++) {
        int d = abs(i / LEN - i % LEN);
        double sum[2] = {0, 0};
        for (int k = 0; k < 4; k++) {
            double term = cos(d * pow(10000, -2 * k / 6.0));
            sum[0] += k < 3 ? term : 0;
            sum[1] += k > 0 ? term : 0;
        }
        rig_near(bias[0][i], sum[0] / 8, 1e-6, "paper");
        rig_near(bias[1][i], (sum[0] - 3) / 8, 1e-6, "centered");
        rig_near(bias[2][i], sum[1] / 8, 1e-6, "first index 1");
    }
    measure_expect_refusal("sandwich(width=7)", rig_shape(1, 4, 64, 0), "width=7 must be even");
}

/* An odd head_dim is no obstacle, since the vectors' width is the encoding's own: the next even number below is taken.
 */
Test(sandwich, takes_an_even_width_by_itself)
{
    static const int dims[][2] = {{1, 2}, {2, 2}, {3, 2}, {9, 8}};
    real bias[1];
    for (int k = 0; k < 4; k++) {
        rig g;
        rig_open(&g, "sandwich", rig_shape(1, dims[k][0], 64, 1), NULL, 1);
        rig_bias(&g, bias);
        rig_near(bias[0], dims[k][1] / 2 / 8.0, 1e-6, "half the width over 8h/H");
        rig_close(&g);
    }
}

/* Products of cosines and sines replace a cosine of the difference: also far from the origin, and at fractions. */
Test(sandwich, holds_far_from_the_origin)
{
    static const double pos[] = {1e6, 1e6 + 0.25, 1e6 + 7.5, 2e6};
    real bias[16];
    rig g;
    rig_open(&g, "sandwich(width=32)", rig_shape(1, 4, 64, 0), pos, 4);
    rig_bias(&g, bias);
    for (int i = 0; i < 16; i++) {
        double sum = 0;
        for (int k = 0; k < 16; k++)
            sum += cos((pos[i / 4] - pos[i % 4]) * pow(10000, -2 * k / 32.0));
        rig_near(bias[i], sum / 8, sizeof(real) == sizeof(double) ? 1e-8 : 1e-6, "bias");
    }
    rig_close(&g);
}

/* ------------------------------------------------------------------------------------------------ fire */

enum { FIRE_C, FIRE_W1, FIRE_B1, FIRE_W2, FIRE_B2, FIRE_MULTIPLIER };

/* One hidden unit that hands on what it is given: the bias is the measured distance. */
static void fire_open(rig *g, const char *text, int causal, const double *pos, int len)
{
    rig_open(g, text, rig_shape(1, 4, 16, causal), pos, len);
    g->theta[FIRE_C][0] = (real)0.1;
    g->theta[FIRE_W1][0] = g->theta[FIRE_W2][0] = 1;
    if (g->params > FIRE_MULTIPLIER)
        g->theta[FIRE_MULTIPLIER][0] = 1;
}

static double fire_psi(double x)
{
    return log(0.1 * x + 1);
}

/* Before the threshold all queries share a measure; past it, each has its own and its first key is at 1. */
Test(fire, distances_are_measured_against_the_query)
{
    enum { LEN = 40 };
    static const char *const texts[] = {"fire(hidden=1)", "fire(hidden=1,learned_threshold=false)",
                                        "fire(hidden=1,threshold=8)"};
    static const double thresholds[] = {16, 16, 8}; /* auto: the training length */
    real bias[LEN * LEN];
    for (int k = 0; k < 3; k++) {
        rig g;
        fire_open(&g, texts[k], 1, NULL, LEN);
        cr_assert_eq(g.params, k == 1 ? 5 : 6);
        rig_bias(&g, bias);
        for (int i = 0; i < LEN; i++)
            for (int j = 0; j <= i; j++) {
                double want = fire_psi(i - j) / (fire_psi(fmax(i, thresholds[k])) + 1e-6);
                rig_near(bias[i * LEN + j], want, 1e-6, texts[k]);
                cr_assert(bias[i * LEN + j] <= 1);
            }
        rig_close(&g);
    }
}

/* What long texts, equal positions, and no mask do: everything stays finite, and only keys ahead exceed 1. */
Test(fire, far_and_equal_positions)
{
    static const double pos[] = {0, 0, 3.5, 3.5, 1e6, 1e6 + 1};
    real bias[36];
    for (int causal = 0; causal < 2; causal++) {
        rig g;
        fire_open(&g, "fire(hidden=1,threshold=2)", causal, pos, 6);
        rig_bias(&g, bias);
        for (int i = 0; i < 36; i++) {
            double from = pos[i / 6], to = pos[i % 6];
            if (causal && i % 6 > i / 6)
                continue;
            rig_near(bias[i], fire_psi(fabs(from - to)) / (fire_psi(fmax(from, 2)) + 1e-6), 1e-4, "bias");
            cr_assert(bias[i] <= 1 || to > from);
        }
        rig_close(&g);
    }
}

/* The gradient of the threshold where it wins, where it ties, and where the position wins: 1, 1/2 and 0 parts of it. */
Test(fire, the_threshold_shares_a_tie)
{
    static const double parts[] = {1, 0.5, 0}, pos[] = {0, 3, 4, 5};
    for (int q = 1; q <= 3; q++) {
        real ds[16] = {0};
        rig g;
        fire_open(&g, "fire(hidden=1,threshold=4,eps=0)", 1, pos, 4);
        ds[q * 4] = 1;
        pe_tile t = rig_tile(&g);
        g.d->bias_bwd(&g.c, &t, ds);
        double n = fmax(pos[q], 4), by_n = -fire_psi(pos[q]) / pow(fire_psi(n), 2) * 0.1 / (1 + 0.1 * n);
        rig_near(g.dtheta[FIRE_MULTIPLIER][0], parts[q - 1] * 4 * by_n, 1e-6, "d bias / d multiplier");
        rig_close(&g);
    }
}

/* c and the multiplier act by their absolute value; where both are 0 nothing is divided by 0. */
Test(fire, signs_and_zeros)
{
    real plain[9], other[9], ds[9];
    for (int k = 0; k < 2; k++) {
        rig g;
        fire_open(&g, "fire(hidden=1,eps=0)", 1, NULL, 3);
        rig_bias(&g, plain);
        g.theta[FIRE_C][0] *= k ? 0 : -1;
        g.theta[FIRE_MULTIPLIER][0] *= k ? 0 : -1;
        rig_bias(&g, other);
        for (int i = 0; i < 9; i++) {
            cr_assert_eq(other[i], k ? 0 : plain[i]);
            ds[i] = 1;
        }
        pe_tile t = rig_tile(&g);
        g.d->bias_bwd(&g.c, &t, ds);
        for (int p = 0; p < g.params; p++)
            cr_assert(isfinite(g.dtheta[p][0]), "%s", g.param[p].name);
        rig_close(&g);
    }
}

/* ------------------------------------------------------------------------------------------------ window */

static void window_expect(const char *text, int causal, const double *pos, int len, double size, double sinks)
{
    real *bias = calloc((size_t)(2 * len * len), sizeof *bias);
    cr_assert_not_null(bias);
    rig g;
    rig_open(&g, text, rig_shape(2, 4, 6, causal), pos, len);
    rig_bias(&g, bias);
    for (int i = 0; i < 2 * len * len; i++) {
        int query = i / len % len, key = i % len;
        double from = pos ? pos[query] : query, to = pos ? pos[key] : key;
        int hidden = fabs(from - to) >= size && to >= sinks;
        if (!causal || key <= query) {
            cr_assert_eq(bias[i], hidden ? -(real)INFINITY : 0, "%s: query %d, key %d", text, query, key);
        }
    }
    rig_close(&g);
    free(bias);
}

Test(window, hides_what_is_far)
{
    static const double pos[] = {0, 0, 0.5, 2, 3.75, 4, 1e6, 1e6 + 3, 1e6 + 3};
    static const double unordered[] = {5, 0, 1, 9, 5, 2};
    for (int causal = 0; causal < 2; causal++) {
        window_expect("window", causal, NULL, 20, 6, 0); /* auto: the training length */
        window_expect("window(size=1)", causal, NULL, 20, 1, 0);
        window_expect("window(size=3,sinks=2)", causal, NULL, 20, 3, 2);
        window_expect("window(size=1.75,sinks=0.5)", causal, pos, 9, 1.75, 0.5);
        window_expect("window(size=3)", causal, unordered, 6, 3, 0);
    }
}

/* 5.3 - 2.3 is not quite 3, and a shift must not open or close the window at its edge. */
Test(window, survives_shifts)
{
    static const double pos[] = {0, 1, 2, 3, 4, 5};
    real want[2 * 36], got[2 * 36];
    for (double shift = 0; shift < 5e5; shift = shift * 2 + 0.1) {
        double moved[6];
        rig g;
        for (int t = 0; t < 6; t++)
            moved[t] = pos[t] + shift;
        rig_open(&g, "window(size=3)", rig_shape(2, 4, 6, 0), moved, 6);
        rig_bias(&g, shift == 0 ? want : got);
        if (shift > 0) {
            cr_assert_arr_eq(got, want, sizeof got, "shift %g", shift);
        }
        rig_close(&g);
    }
}

/* Stacked on another bias: outside the window no weight, inside the other's proportions; the query's own key always. */
Test(window, composes)
{
    enum { LEN = 12, HEADS = 2 };
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    pe_stack stack;
    refhost_settings settings = {.shape = rig_shape(HEADS, 4, 6, 1), .len = LEN};
    const refhost_input nothing = {.x = NULL};
    cr_assert_eq(stack_parse(r, "alibi+window(size=4,sinks=1)", &stack, &e), 0, "%s", e.message);
    cr_assert_eq(stack_check(&stack, &settings.shape, LEN, &e), 0, "%s", e.message);
    refhost *h = refhost_new(&stack, &settings, &e);
    cr_assert_not_null(h, "%s", e.message);
    refhost_output out = refhost_forward(h, &nothing);
    for (int i = 0; i < HEADS * LEN * LEN; i++) {
        int head = i / LEN / LEN, query = i / LEN % LEN, key = i % LEN;
        double slope = head ? 1 / 256. : 1 / 16., own = out.p[i - key + query];
        cr_assert_gt(own, 0);
        if (key > query || (query - key >= 4 && key > 0)) {
            cr_assert_eq(out.p[i], 0);
        } else {
            rig_near(out.p[i] / own, exp(-slope * (query - key)), 1e-5, "weight against the own key's");
        }
    }
    refhost_free(h);
    stack_free(&stack);
    registry_free(r);
}
