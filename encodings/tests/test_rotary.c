/* test_rotary.c - what xpos, rerope, pope and learned frequencies do besides turning. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rotary_fixture.h"

/* ------------------------------------------------------------------------------------------------ learned frequencies
 */

/* They start as the fixed ones of the chosen scaling, and as many as turn. */
Test(frequencies, start_as_the_fixed_ones)
{
    static const struct {
        const char *learned, *fixed;
        int rows, cols;
    } cases[] = {
        {"rope(frequencies=learned)", "rope", 1, 4},
        {"rope(frequencies=per_head,layout=interleaved)", "rope(layout=interleaved)", 3, 4},
        {"rope(frequencies=per_head,keep=0.5)", "rope(keep=0.5)", 3, 2},
        {"rope(frequencies=learned,fraction=0.5,start=2)", "rope(fraction=0.5,start=2)", 1, 2},
        {"rope(frequencies=learned,scaling=yarn)", "rope(scaling=yarn)", 1, 4},
        {"rope(frequencies=learned,scaling=ntk)", "rope(scaling=ntk)", 1, 4},
    };
    enum { LEN = 6, WIDTH = 24 };
    for (size_t v = 0; v < sizeof cases / sizeof *cases; v++) {
        real learned[LEN * WIDTH], fixed[LEN * WIDTH];
        rig g;
        rig_open(&g, cases[v].learned, rig_shape(3, 8, 64, 1), NULL, LEN);
        cr_assert_eq(g.params, 1);
        cr_assert(g.param[0].rows == cases[v].rows && g.param[0].cols == cases[v].cols && g.param[0].per_layer);
        rig_close(&g);
        rotary_noise(1, learned, LEN * WIDTH);
        rotary_noise(1, fixed, LEN * WIDTH);
        rotary_turn(cases[v].learned, rig_shape(3, 8, 64, 1), NULL, LEN, 0, PE_KEY, learned);
        rotary_turn(cases[v].fixed, rig_shape(3, 8, 64, 1), NULL, LEN, 0, PE_KEY, fixed);
        for (int i = 0; i < LEN * WIDTH; i++)
            rig_near(learned[i], fixed[i], 2 * rig_tolerance(), cases[v].learned);
    }
}

/* One pair, x = (1, 0) at position 3: the angle is 3 theta, and a gradient along the turn is worth the position. */
Test(frequencies, gradient_is_the_position_times_the_torque)
{
    const double pos = 3, theta = 0.5;
    real u[2] = {1, 0}, du[2] = {(real)-sin(3 * 0.5), (real)cos(3 * 0.5)};
    rig g;
    rig_open(&g, "rope(frequencies=learned)", rig_shape(1, 2, 64, 1), &pos, 1);
    g.theta[0][0] = (real)theta;
    g.d->rotate(&g.c, PE_QUERY, u, 2, 2);
    rig_near(u[0], cos(1.5), rig_tolerance(), "x");
    rig_near(u[1], sin(1.5), rig_tolerance(), "y");
    g.d->rotate_bwd(&g.c, PE_QUERY, u, du, 2, 2);
    rig_near(g.dtheta[0][0], 3, 4 * rig_tolerance(), "gradient");
    rig_near(du[0], 0, rig_tolerance(), "dx");
    rig_near(du[1], 1, rig_tolerance(), "dy");
    rig_close(&g);
}

/* keep: floor(keep * pairs) of the highest frequencies, with the exponents that they have when all turn. */
Test(frequencies, keep_drops_the_slowest)
{
    static const struct {
        double keep;
        int kept;
    } cases[] = {{1, 8}, {0.75, 6}, {0.74, 5}, {0.125, 1}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char text[64];
        double angle[8], all[8];
        snprintf(text, sizeof text, "rope(layout=interleaved,keep=%g)", cases[n].keep);
        rotary_angles(text, 16, 64, 1, angle);
        rotary_angles("rope(layout=interleaved)", 16, 64, 1, all);
        for (int p = 0; p < 8; p++)
            cr_assert_eq(angle[p], p < cases[n].kept ? all[p] : 0, "%s, pair %d: %g", text, p, angle[p]);
    }
}

/* ------------------------------------------------------------------------------------------------ xpos */

/* A23: token by token, and with 16 tokens before it, a sequence gives what the whole gives; and its keys need not be
 * turned again. */
Test(xpos, a_growing_sequence_gives_what_the_whole_gives)
{
    enum { LEN = 33, DIM = 8 };
    static real q[LEN * DIM], k[LEN * DIM], whole[LEN * DIM], part[LEN * DIM];
    static double all[LEN * LEN], s[LEN * LEN];
    pe_shape shape = rig_shape(1, DIM, 64, 1);
    rotary_noise(1, q, LEN * DIM);
    rotary_noise(2, k, LEN * DIM);
    memcpy(whole, k, sizeof k);
    rotary_turn("xpos(scale_base=8)", shape, NULL, LEN, 0, PE_KEY, whole);
    rotary_scores("xpos(scale_base=8)", shape, NULL, LEN, 0, q, k, all);
    for (int len = 1; len < LEN; len++) {
        memcpy(part, k, sizeof k);
        rotary_turn("xpos(scale_base=8)", shape, NULL, len, LEN, PE_KEY, part);
        cr_assert_arr_eq(part, whole, (size_t)len * DIM * sizeof(real), "keys of %d tokens", len);
        rotary_scores("xpos(scale_base=8)", shape, NULL, len, LEN, q, k, s);
        for (int j = 0; j < len; j++)
            rig_near(s[(len - 1) * len + j], all[(len - 1) * LEN + j], 1e-5, "score");
    }
}

/* A24: without a causal mask the decay would be growth on one side, so it is refused; with one, nothing ever grows. */
Test(xpos, never_grows)
{
    enum { LEN = 600, DIM = 8 };
    static real ones[LEN * DIM];
    static double s[LEN * LEN];
    char message[512];
    rotary_refusal("xpos", rig_shape(1, DIM, 64, 0), message, sizeof message);
    cr_assert(strstr(message, "xpos has no meaning without a causal mask"), "%s", message);
    for (int pair = 0; pair < DIM / 2; pair++) {
        memset(ones, 0, sizeof ones);
        for (int t = 0; t < LEN; t++)
            ones[t * DIM + 2 * pair] = 1;
        rotary_scores("xpos(base=1)", rig_shape(1, DIM, 64, 1), NULL, LEN, 0, ones, ones, s);
        double zeta = (2.0 * pair / DIM + 0.4) / 1.4; /* base 1: all pairs turn by 1 */
        for (int i = 0; i < LEN; i++)
            for (int j = 0; j <= i; j++)
                rig_near(s[i * LEN + j], cos(i - j) * pow(zeta, (i - j) / 512.0) / sqrt(DIM), 2e-6, "score");
    }
}

/* Factors stay in the range of the type up to the last position, and their product right. */
Test(xpos, is_finite_up_to_its_last_position)
{
    enum { DIM = 8 };
    rig g;
    rig_open(&g, "xpos", rig_shape(1, DIM, 64, 1), NULL, 1);
    double last = g.d->last_position(g.c.options, &g.shape);
    rig_close(&g);
    rig_near(last, 28328.69, 0.01, "last position");
    const double pos[] = {0, last - 512, last - 1, last};
    real ones[4 * DIM];
    double s[16];
    for (int total_len = 4; total_len <= 1 << 20; total_len <<= 4) {
        for (int i = 0; i < 4 * DIM; i++)
            ones[i] = (real)(i % DIM == 0);
        rotary_scores("xpos", rig_shape(1, DIM, 64, 1), pos, 4, total_len, ones, ones, s);
        rig_near(s[3 * 4 + 1] * sqrt(DIM), cos(512) * 0.4 / 1.4, 4 * rig_tolerance(), "distance 512");
        rig_near(s[3 * 4 + 2] * sqrt(DIM), cos(1) * pow(0.4 / 1.4, 1 / 512.0), 4 * rig_tolerance(), "distance 1");
        rig_near(s[3 * 4 + 0], 0, 1e-29, "the whole way");
        cr_assert(s[3 * 4 + 0] != 0 || sizeof(real) == sizeof(float));
    }
}

/* ------------------------------------------------------------------------------------------------ rerope */

/* What rope makes of a query and a key at this distance, in scores scaled by 1/sqrt(dim). */
static double rerope_reference(const char *rope, int dim, const real *q, const real *k, double distance)
{
    const double pos = fabs(distance);
    real turned[128];
    double s = 0;
    memcpy(turned, distance >= 0 ? q : k, (size_t)dim * sizeof *q);
    rotary_turn(rope, rig_shape(1, dim, 64, 1), &pos, 1, 0, PE_QUERY, turned);
    for (int i = 0; i < dim; i++)
        s += (double)turned[i] * (distance >= 0 ? k[i] : q[i]);
    return s / sqrt(dim);
}

/* Every score is RoPE's at the rectified distance, on both sides; more keys, rows and pairs than a block holds. */
Test(rerope, scores_are_those_of_rectified_distances)
{
    static const struct {
        const char *text, *rope;
        double window, leak;
        int dim;
    } cases[] = {{"rerope(window=5)", "rope", 5, 0, 40},
                 {"rerope(window=70.5,leak=0.25,layout=interleaved)", "rope(layout=interleaved)", 70.5, 0.25, 36},
                 {"rerope(window=16,leak=0.0625,fraction=0.5,base=100)", "rope(fraction=0.5,base=100)", 16, 0.0625, 8},
                 {"rerope", "rope", 32, 0, 8}};
    enum { LEN = 150 };
    static real q[LEN * 40], k[LEN * 40];
    static double s[LEN * LEN], pos[LEN];
    for (size_t v = 0; v < sizeof cases / sizeof *cases; v++) {
        int dim = cases[v].dim;
        rotary_noise(1, q, (size_t)(LEN * dim));
        rotary_noise(2, k, (size_t)(LEN * dim));
        for (int t = 0; t < LEN; t++)
            pos[t] = t < 20 ? t / 2 : 1.25 * t; /* fractions, and equal positions */
        for (int causal = 0; causal <= 1; causal++) {
            rotary_scores(cases[v].text, rig_shape(1, dim, 64, causal), pos, LEN, 0, q, k, s);
            for (int i = 0; i < LEN; i += 7)
                for (int j = 0; j < (causal ? i + 1 : LEN); j += 5) {
                    double d = pos[i] - pos[j], far = fmax(fabs(d) - cases[v].window, 0);
                    double rectified = copysign(fabs(d) - far + cases[v].leak * far, d);
                    rig_near(s[i * LEN + j], rerope_reference(cases[v].rope, dim, q + i * dim, k + j * dim, rectified),
                             sizeof(real) == sizeof(double) ? 1e-12 : 4e-6, cases[v].text);
                }
        }
    }
}

/* Within the window it is RoPE, to the bit; with all of the distance leaking, to rounding. */
Test(rerope, is_rope_within_the_window)
{
    enum { LEN = 20, DIM = 8 };
    real q[LEN * DIM], k[LEN * DIM];
    double wide[LEN * LEN], leaking[LEN * LEN], rope[LEN * LEN];
    rotary_noise(1, q, LEN * DIM);
    rotary_noise(2, k, LEN * DIM);
    for (int causal = 0; causal <= 1; causal++) {
        pe_shape shape = rig_shape(1, DIM, 64, causal);
        rotary_scores("rerope(window=19)", shape, NULL, LEN, 0, q, k, wide);
        rotary_scores("rerope(window=1,leak=1)", shape, NULL, LEN, 0, q, k, leaking);
        rotary_scores("rope", shape, NULL, LEN, 0, q, k, rope);
        cr_assert_arr_eq(wide, rope, sizeof rope);
        for (int i = 0; i < LEN; i++)
            for (int j = 0; j < (causal ? i + 1 : LEN); j++)
                rig_near(leaking[i * LEN + j], rope[i * LEN + j], 4 * rig_tolerance(), "leak=1");
    }
}

/* ------------------------------------------------------------------------------------------------ pope */

/* q.k is a sum of magnitudes times cosines; with all magnitudes ln 2, of cosines alone. */
Test(pope, scores_are_sums_of_cosines)
{
    enum { LEN = 5, DIM = 3 };
    static const double pos[LEN] = {0, 1, 2.5, 2.5, 40};
    real zeros[LEN * DIM] = {0};
    double s[LEN * LEN];
    for (int causal = 0; causal <= 1; causal++) {
        rotary_scores("pope(base=1000)", rig_shape(1, DIM, 64, causal), pos, LEN, 0, zeros, zeros, s);
        for (int i = 0; i < LEN; i++)
            for (int j = 0; j < (causal ? i + 1 : LEN); j++) {
                double want = 0; /* frequencies 1, 1/10, 1/100 */
                for (int c = 0; c < DIM; c++)
                    want += log(2) * log(2) * cos((pos[i] - pos[j]) * pow(10, -c)) / sqrt(DIM);
                rig_near(s[i * LEN + j], want, 2 * rig_tolerance(), "score");
            }
    }
}

/* One dimension, key at position 1 with a bias, query at 0: softplus(q) softplus(k) cos(1 + clamped bias). */
Test(pope, bias_is_clamped_as_torch_does)
{
    static const struct {
        double bias, phase, gradient; /* of the phase: whether it passes */
    } cases[] = {{-1.5, -1.5, 1}, {0, 0, 1}, {0.5, 0, 0}, {-7, -6.283185307179586, 0}, {-6.25, -6.25, 1}};
    const double one = 1;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        real u[2] = {2, 0}, du[2];
        double m = log1p(exp(2)), angle = 1 + cases[n].phase;
        rig g;
        rig_open(&g, "pope", rig_shape(1, 1, 64, 1), &one, 1);
        cr_assert(g.param[0].rows == 1 && g.param[0].cols == 1);
        g.theta[0][0] = (real)cases[n].bias;
        g.d->rotate(&g.c, PE_KEY, u, 2, 2);
        rig_near(u[0], m * cos(angle), 4 * rig_tolerance(), "x");
        rig_near(u[1], m * sin(angle), 4 * rig_tolerance(), "y");
        du[0] = (real)-sin(angle);
        du[1] = (real)cos(angle);
        g.d->rotate_bwd(&g.c, PE_KEY, u, du, 2, 2);
        rig_near(g.dtheta[0][0], cases[n].gradient * m, 8 * rig_tolerance(), "gradient of the bias");
        rig_near(du[0], 0, 4 * rig_tolerance(), "gradient across the phase");
        du[0] = (real)cos(angle);
        du[1] = (real)sin(angle);
        g.d->rotate_bwd(&g.c, PE_KEY, u, du, 2, 2);
        rig_near(du[0], 1 / (1 + exp(-2)), 4 * rig_tolerance(), "softplus' derivative");
        g.theta[0][0] = -1;
        real query[2] = {2, 0};
        g.d->rotate(&g.c, PE_QUERY, query, 2, 2);
        rig_near(query[0], m * cos(1), 4 * rig_tolerance(), "a query has no bias");
        rig_close(&g);
    }
}

Test(pope, large_numbers_neither_overflow_nor_vanish_in_nan)
{
    static const double inputs[] = {-1000, -200, -80, 0, 80, 200, 1000};
    const double zero = 0;
    for (size_t n = 0; n < sizeof inputs / sizeof *inputs; n++) {
        real u[2] = {(real)inputs[n], 0}, du[2] = {1, 1};
        rig g;
        rig_open(&g, "pope", rig_shape(1, 1, 64, 1), &zero, 1);
        g.d->rotate(&g.c, PE_QUERY, u, 2, 2);
        rig_near(u[0], fmax(inputs[n], 0) + (inputs[n] == 0 ? log(2) : 0), 1e-6, "magnitude");
        g.d->rotate_bwd(&g.c, PE_QUERY, u, du, 2, 2);
        rig_near(du[0], inputs[n] > 0 ? 1 : inputs[n] < 0 ? 0 : 0.5, 1e-6, "slope");
        rig_close(&g);
    }
}

/* Magnitudes and their derivatives, relative to themselves: small ones too. */
Test(pope, magnitudes_are_softplus_everywhere)
{
    enum { DIM = 2000 };
    static real u[2 * DIM], du[2 * DIM];
    const double zero = 0, margin = sizeof(real) == sizeof(double) ? 1e-14 : 5e-7;
    for (int i = 0; i < DIM; i++) {
        u[i] = (real)(-60 + 0.06 * i);
        du[i] = 1;
    }
    rig g;
    rig_open(&g, "pope(bias=false)", rig_shape(1, DIM, 64, 1), &zero, 1);
    g.d->rotate(&g.c, PE_QUERY, u, 2 * DIM, 2 * DIM);
    g.d->rotate_bwd(&g.c, PE_QUERY, u, du, 2 * DIM, 2 * DIM);
    rig_close(&g);
    for (int i = 0; i < DIM; i++) {
        double x = (double)(real)(-60 + 0.06 * i), m = fmax(x, 0) + log1p(exp(-fabs(x)));
        rig_near(u[i], m, margin * m, "softplus");
        rig_near(du[i], -expm1(-m), margin * -expm1(-m), "derivative");
    }
}

Test(pope, refuses_who_reads_heads)
{
    char message[512];
    rotary_refusal("pope+shaw", rig_shape(1, 8, 64, 1), message, sizeof message);
    cr_assert(strstr(message, "beside pope they have 16 dimensions"), "%s", message);
    rotary_refusal("pope+rerope", rig_shape(1, 8, 64, 1), message, sizeof message);
    cr_assert_str_not_empty(message);
    cr_assert_str_empty(rotary_refusal("pope+alibi", rig_shape(1, 8, 64, 1), message, sizeof message));
}
