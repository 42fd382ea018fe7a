/* test_rope.c - rotations: angles, widths, layouts, and where they must not reach. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>

#include "rig.h"

/* Rotates vectors at given positions, one token each, one head. */
static void rope_at(const char *text, int head_dim, const double *pos, int len, real *u)
{
    rig g;
    rig_open(&g, text, rig_shape(1, head_dim, 8, 1), pos, len);
    g.d->rotate(&g.c, PE_QUERY, u, head_dim, head_dim);
    rig_close(&g);
}

/* A18: at position 1 the pairs turn by their frequencies. */
Test(rope, frequencies_of_eight_dimensions)
{
    static const double want[4] = {1, 0.1, 0.01, 0.001};
    const double one = 1;
    real half[8] = {1, 1, 1, 1, 0, 0, 0, 0}, interleaved[8] = {1, 0, 1, 0, 1, 0, 1, 0};
    rope_at("rope", 8, &one, 1, half);
    rope_at("rope(layout=interleaved)", 8, &one, 1, interleaved);
    for (int p = 0; p < 4; p++) {
        rig_near(atan2(half[p + 4], half[p]), want[p], 1e-7, "half");
        rig_near(atan2(interleaved[2 * p + 1], interleaved[2 * p]), want[p], 1e-7, "interleaved");
    }
}

/* A02, A03: neighbouring and far positions stay apart, in every pair. */
Test(rope, far_angles_are_exact)
{
    static const double pos[] = {256, 257, 4095, 15936, 15962};
    static const double want[] = {-0.039791, 0.819306, -0.065976, -0.267950, -0.908016};
    real u[5 * 64] = {0};
    for (int t = 0; t < 5; t++)
        for (int p = 0; p < 32; p++)
            u[t * 64 + p] = 1;
    rope_at("rope", 64, pos, 5, u);
    for (int t = 0; t < 5; t++) {
        rig_near(u[t * 64], want[t], 1e-6, "cosine of the first pair");
        for (int p = 0; p < 32; p++) {
            double angle = pos[t] * exp(-p / 32.0 * log(10000.0));
            rig_near(u[t * 64 + p], cos(angle), 2e-7, "cosine");
            rig_near(u[t * 64 + 32 + p], sin(angle), 2e-7, "sine");
        }
    }
}

/* A01: one score, moved along the sequence. */
Test(rope, scores_depend_on_the_distance_only)
{
    static const char *const texts[] = {"rope", "rope(layout=interleaved)", "rope(fraction=0.5)", "rope(base=100)"};
    static const double places[] = {7, 1007, 4096, 16383};
    for (size_t v = 0; v < sizeof texts / sizeof *texts; v++) {
        double score[4], norm_q = 0, norm_k = 0;
        for (int n = 0; n < 4; n++) {
            real u[2 * 64];
            uint32_t state = 5;
            for (int i = 0; i < 2 * 64; i++)
                u[i] = (real)rig_noise(&state);
            const double pos[] = {places[n] - 7, places[n]};
            rope_at(texts[v], 64, pos, 2, u);
            score[n] = norm_q = norm_k = 0;
            for (int i = 0; i < 64; i++) {
                score[n] += (double)u[i] * u[64 + i];
                norm_k += (double)u[i] * u[i];
                norm_q += (double)u[64 + i] * u[64 + i];
            }
        }
        for (int n = 1; n < 4; n++)
            rig_near(score[n], score[0], rig_tolerance() * sqrt(norm_q * norm_k), texts[v]);
        cr_assert(fabs(score[0]) > 1e-3);
    }
}

/* A19: heads are not positions. */
Test(rope, turns_along_time_not_along_heads)
{
    enum { HEADS = 3, LEN = 5, DIM = 4 };
    static const real vector[DIM] = {1, 2, 3, 4};
    real u[LEN][HEADS][DIM];
    for (int t = 0; t < LEN; t++)
        for (int h = 0; h < HEADS; h++)
            memcpy(u[t][h], vector, sizeof vector);
    rig g;
    rig_open(&g, "rope", rig_shape(HEADS, DIM, 8, 1), NULL, LEN);
    g.d->rotate(&g.c, PE_KEY, &u[0][0][0], HEADS * DIM, DIM);
    for (int h = 0; h < HEADS; h++) {
        cr_assert_arr_eq(u[0][h], vector, sizeof vector);
        for (int t = 1; t < LEN; t++) {
            cr_assert_arr_eq(u[t][h], u[t][0], sizeof vector);
            cr_assert(fabs(u[t][h][0] - u[t - 1][h][0]) > 0.1, "position %d is like the one before", t);
        }
    }
    rig_close(&g);
}

/* A16: the layouts are one map up to a permutation of dimensions (and the rounding of fused multiply-add). */
Test(rope, layouts_differ_by_a_permutation)
{
    const double pos = 3.5;
    real x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, permuted[8];
    for (int p = 0; p < 4; p++) {
        permuted[p] = x[2 * p];
        permuted[4 + p] = x[2 * p + 1];
    }
    rope_at("rope(layout=interleaved)", 8, &pos, 1, x);
    rope_at("rope", 8, &pos, 1, permuted);
    for (int p = 0; p < 4; p++) {
        cr_assert(fabs(permuted[p] - x[2 * p]) < 1e-6);
        cr_assert(fabs(permuted[4 + p] - x[2 * p + 1]) < 1e-6);
    }
}

/* The strides between tokens and heads belong to the host: the bytes between must stay. */
Test(rope, touches_the_turned_dimensions_only)
{
    enum { STRIDE = 11 };
    real u[2 * STRIDE];
    for (int i = 0; i < 2 * STRIDE; i++)
        u[i] = (real)(i + 1);
    rig g;
    rig_open(&g, "rope(fraction=0.5,start=2)", rig_shape(1, 8, 8, 1), NULL, 2);
    g.d->rotate(&g.c, PE_QUERY, u, STRIDE, 8);
    for (int i = 0; i < 2 * STRIDE; i++) {
        int turned = i >= STRIDE + 2 && i < STRIDE + 6; /* token 0 stands at angle 0 */
        cr_assert(turned ? u[i] != (real)(i + 1) : u[i] == (real)(i + 1), "dimension %d", i);
    }
    rig_close(&g);
}

Test(rope, partial_widths_truncate)
{
    static const struct {
        int head_dim;
        double fraction;
        int turned; /* 0: refused */
    } cases[] = {{64, 0.25, 16}, {80, 0.4, 32}, {100, 0.25, 0}, {10, 0.7, 0}, {10, 0.65, 6}, {8, 0.1, 0}};
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        pe_stack s;
        pe_shape shape = rig_shape(1, cases[i].head_dim, 8, 1);
        snprintf(text, sizeof text, "rope(fraction=%g)", cases[i].fraction);
        error_clear(&e);
        cr_assert_eq(stack_parse(r, text, &s, &e), 0, "%s", e.message);
        cr_assert_eq(stack_check(&s, &shape, 8, &e) == 0, cases[i].turned > 0, "%s of %d", text, cases[i].head_dim);
        stack_free(&s);
        if (cases[i].turned == 0)
            continue;
        real u[128] = {0};
        const double pos = 1;
        for (int k = 0; k < cases[i].head_dim; k++)
            u[k] = 1;
        rope_at(text, cases[i].head_dim, &pos, 1, u);
        int turned = 0;
        for (int k = 0; k < cases[i].head_dim; k++)
            turned += u[k] != 1;
        cr_assert_eq(turned, cases[i].turned, "%s of %d turns %d", text, cases[i].head_dim, turned);
    }
    registry_free(r);
}
