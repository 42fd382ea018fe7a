/* test_far.c - rotations of every kind: relative, along time, exact at far positions; odd widths are refused. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>

#include "examples.h"
#include "rotary_fixture.h"

static const char *const rotary_kinds[] = {"rope", "xpos", "rerope", "pope"};

/* ------------------------------------------------------------------------------------------------ relative */

/* A01: one score, moved along the sequence: a table or a position in a narrow type would lose it. */
static void rotary_expect_relative(const pe_stack *stack, const char *text)
{
    enum { DIM = 64 };
    static const double places[] = {7, 1007, 4096, 16383};
    real q[2 * DIM], k[2 * DIM];
    double first = 0, norm = 0;
    pe_shape shape = rig_shape(1, DIM, 64, 1);
    const stack_member *m = &stack->member[0];
    double last = m->encoding->last_position ? m->encoding->last_position(m->options, &shape) : INFINITY;
    if (!(stack_claims(stack) & PE_SHIFT_INVARIANT))
        return;
    rotary_noise(5, q, 2 * DIM);
    rotary_noise(6, k, 2 * DIM);
    for (int i = 0; i < DIM; i++)
        norm += (double)q[i] * q[i] + (double)k[i] * k[i];
    for (int n = 0; n < 4 && places[n] <= last; n++) {
        const double pos[] = {places[n] - 7, places[n]};
        double s[4];
        rotary_scores(text, shape, pos, 2, 0, q, k, s);
        if (n == 0)
            first = s[2];
        rig_near(s[2], first, 4 * rig_tolerance() * norm, text);
    }
    cr_assert(fabs(first) > 1e-4, "%s: %g", text, first);
}

Test(rotary, scores_depend_on_the_distance_only)
{
    for (int n = 0; n < 4; n++)
        examples_walk(rotary_kinds[n], rotary_expect_relative);
}

/* A19: heads are not positions. Position 0 leaves what is not scaled as it is. */
static void rotary_expect_along_time(const pe_stack *stack, const char *text)
{
    enum { HEADS = 3, LEN = 5, DIM = 8 };
    real u[LEN][HEADS][2 * DIM] = {{{0}}};
    rig g;
    rig_open(&g, text, rig_shape(HEADS, DIM, 8, 1), NULL, LEN);
    for (int i = 0; g.d->init && i < g.params; i++)
        g.d->init(&g.c, i, g.theta[i]);
    for (int t = 0; t < LEN; t++)
        for (int h = 0; h < HEADS; h++)
            for (int i = 0; i < DIM; i++)
                u[t][h][i] = (real)(i + 1);
    g.d->rotate(&g.c, PE_KEY, &u[0][0][0], HEADS * 2 * DIM, 2 * DIM);
    for (int t = 0; t < LEN; t++) {
        double moved = 0;
        for (int h = 1; h < HEADS; h++)
            cr_assert_arr_eq(u[t][h], u[t][0], sizeof u[t][0], "%s: head %d, position %d", text, h, t);
        for (int i = 0; t > 0 && i < 2 * DIM; i++)
            moved += fabs((double)u[t][0][i] - (double)u[t - 1][0][i]);
        cr_assert(t == 0 || moved > 0.1, "%s: position %d is like the one before", text, t);
    }
    rig_close(&g);
    (void)stack;
}

Test(rotary, turns_along_time_not_along_heads)
{
    for (int n = 0; n < 4; n++)
        examples_walk(rotary_kinds[n], rotary_expect_along_time);
    static const char *const plain[] = {"rope", "rope(keep=0.5)", "rope(scaling=ntk)", "rope(frequencies=learned)",
                                        "rerope"};
    for (int n = 0; n < 5; n++) {
        real u[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        rotary_turn(plain[n], rig_shape(1, 8, 8, 1), NULL, 1, 0, PE_QUERY, u);
        for (int i = 0; i < 8; i++)
            cr_assert_eq(u[i], (real)(i + 1), "%s turns position 0", plain[n]);
    }
}

/* A16: the layouts are one map up to a permutation of dimensions, for every kind and scaling. */
Test(rotary, layouts_differ_by_a_permutation)
{
    static const char *const kinds[][2] = {{"rope", "scaling=yarn"},
                                           {"rope", "frequencies=learned,keep=0.5"},
                                           {"xpos", "scale_base=16"},
                                           {"rerope", "window=2,leak=0.5"}};
    enum { LEN = 9, DIM = 8 };
    real apart[LEN * DIM], paired[LEN * DIM];
    double s[2][LEN * LEN];
    rotary_noise(1, paired, LEN * DIM);
    for (int i = 0; i < LEN * DIM; i++)
        apart[i / DIM * DIM + (i % 2) * (DIM / 2) + i % DIM / 2] = paired[i];
    for (int n = 0; n < 4; n++) {
        char text[2][96];
        snprintf(text[0], sizeof text[0], "%s(layout=half,%s)", kinds[n][0], kinds[n][1]);
        snprintf(text[1], sizeof text[1], "%s(layout=interleaved,%s)", kinds[n][0], kinds[n][1]);
        rotary_scores(text[0], rig_shape(1, DIM, 64, 1), NULL, LEN, 0, apart, apart, s[0]);
        rotary_scores(text[1], rig_shape(1, DIM, 64, 1), NULL, LEN, 0, paired, paired, s[1]);
        for (int i = 0; i < LEN; i++)
            for (int j = 0; j <= i; j++)
                rig_near(s[0][i * LEN + j], s[1][i * LEN + j], 4 * rig_tolerance(), text[0]);
    }
}

/* ------------------------------------------------------------------------------------------------ far positions */

/* What pair p turns by at one position, of 32 pairs, s = 4, L = 64, sequences of 4096 tokens; from the published
 * formulas. */
typedef long double far_frequency(int p);

static long double far_plain(int p)
{
    return powl(10000, -p / 32.0L);
}

static long double far_linear(int p)
{
    return far_plain(p) / 4;
}

static long double far_kept(int p)
{
    return p < 24 ? far_plain(p) : 0;
}

static long double far_ntk(int p)
{
    return powl(10000 * powl(8, 64 / 62.0L), -p / 32.0L);
}

static long double far_dynamic(int p)
{
    return powl(10000 * powl(4 * 64.0L - 3, 64 / 62.0L), -p / 32.0L);
}

static long double far_mix(int p, long double share)
{
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    return far_plain(p) * share + far_linear(p) * (1 - share);
}

static long double far_turns(int p)
{
    return 64 * far_plain(p) / (2 * acosl(-1));
}

static long double far_yarn(int p)
{
    return far_mix(p, 1 - p / 9.0L); /* limits -4.0 and 8.06, rounded to -4 -> 0 and 9 */
}

static long double far_yarn_paper(int p)
{
    return far_mix(p, (far_turns(p) - 1) / 31);
}

static long double far_llama3(int p)
{
    return far_mix(p, (far_turns(p) - 1) / 3);
}

static long double far_longrope(int p)
{
    return far_plain(p) / 3;
}

static long double far_longrope_dynamic(int p)
{
    return far_plain(p) / (1 + 2 * 63 / 63.0L);
}

/* A03: the cosines and sines of every kind at position 4095. Learned frequencies are rounded where they are stored. */
Test(rotary, far_angles_are_exact)
{
    static const struct {
        const char *text;
        far_frequency *frequency;
    } kinds[] = {
        {"rope(layout=interleaved)", far_plain},
        {"rope(layout=interleaved,keep=0.75)", far_kept},
        {"rope(layout=interleaved,frequencies=learned)", far_plain},
        {"rope(layout=interleaved,frequencies=per_head,keep=0.75)", far_kept},
        {"rope(layout=interleaved,scaling=linear)", far_linear},
        {"rope(layout=interleaved,scaling=ntk)", far_ntk},
        {"rope(layout=interleaved,scaling=dynamic)", far_dynamic},
        {"rope(layout=interleaved,scaling=yarn,attention_factor=1)", far_yarn},
        {"rope(layout=interleaved,scaling=yarn,ramp=by_index_ggml,attention_factor=1)", far_yarn},
        {"rope(layout=interleaved,scaling=yarn,ramp=by_wavelength,attention_factor=1)", far_yarn_paper},
        {"rope(layout=interleaved,frequencies=learned,scaling=yarn,attention_factor=1)", far_yarn},
        {"rope(layout=interleaved,scaling=llama3)", far_llama3},
        {"rope(layout=interleaved,scaling=longrope,long_factor=3,attention_factor=1)", far_longrope},
        {"rope(layout=interleaved,scaling=longrope_dynamic,factor=64,long_factor=3,attention_factor=1)",
         far_longrope_dynamic},
        {"rerope(layout=interleaved)", far_plain},
    };
    const double pos = 4095;
    for (size_t v = 0; v < sizeof kinds / sizeof *kinds; v++) {
        double margin = sizeof(real) == sizeof(double) ? 1e-11 : strstr(kinds[v].text, "frequencies") ? 2e-4 : 2e-7;
        real u[64];
        for (int i = 0; i < 64; i++)
            u[i] = (real)(i % 2 == 0);
        rotary_turn(kinds[v].text, rig_shape(1, 64, 64, 1), &pos, 1, 4096, PE_KEY, u);
        for (int p = 0; p < 32; p++) {
            long double angle = 4095 * kinds[v].frequency(p);
            rig_near(u[2 * p], (double)cosl(angle), margin, kinds[v].text);
            rig_near(u[2 * p + 1], (double)sinl(angle), margin, kinds[v].text);
        }
    }
}

/* A03, of those whose vectors do not keep their length, and of scores that a rotation alone does not make. */
Test(rotary, far_angles_of_the_others_are_exact)
{
    const double far = 4095, both[] = {0, 4095};
    double margin = sizeof(real) == sizeof(double) ? 1e-11 : 1e-6;
    real u[2][128] = {{0}};
    double s[4];
    for (int i = 0; i < 64; i++)
        u[0][i] = (real)(i % 2 == 0);
    rotary_turn("xpos", rig_shape(1, 64, 64, 1), &far, 1, 0, PE_QUERY, u[0]); /* its own middle: factors are 1 */
    for (int p = 0; p < 32; p++) {
        rig_near(u[0][2 * p], (double)cosl(4095 * far_plain(p)), margin, "xpos");
        rig_near(u[0][2 * p + 1], (double)sinl(4095 * far_plain(p)), margin, "xpos");
    }
    memset(u, 0, sizeof u);
    rotary_turn("pope(bias=false)", rig_shape(1, 64, 64, 1), &far, 1, 0, PE_QUERY, u[0]);
    for (int i = 0; i < 64; i++) {
        long double angle = 4095 * powl(10000, -i / 64.0L);
        rig_near(u[0][i], (double)(logl(2) * cosl(angle)), margin, "pope");
        rig_near(u[0][64 + i], (double)(logl(2) * sinl(angle)), margin, "pope");
    }
    for (int i = 0; i < 128; i++)
        u[i / 64][i % 64] = (real)(i % 2 == 0);
    real q[128];
    for (int i = 0; i < 128; i++)
        q[i] = u[i / 64][i % 64];
    long double want = 0;
    for (int p = 0; p < 32; p++)
        want += cosl((16 + (4095 - 16) / 16.0L) * far_plain(p)) / 8;
    rotary_scores("rerope(layout=interleaved,window=16,leak=0.0625)", rig_shape(1, 64, 64, 1), both, 2, 0, q, q, s);
    rig_near(s[2], (double)want, 4 * margin, "rerope");
}

/* ------------------------------------------------------------------------------------------------ refusing */

/* A21: three heads of 9 dimensions: what turns pairs says so before anything runs; the others run. */
Test(rotary, odd_heads_are_refused_by_name)
{
    static const char *const refused[] = {"rope", "rope(scaling=yarn)", "rope(frequencies=per_head)", "xpos", "rerope"};
    static const char *const fine[] = {"nope",
                                       "pope",
                                       "alibi",
                                       "t5",
                                       "shaw",
                                       "learned",
                                       "rope(fraction=0.9)",
                                       "xpos(fraction=0.5)",
                                       "rerope(fraction=0.9)"};
    pe_shape shape = rig_shape(3, 9, 64, 1);
    char message[512];
    for (size_t v = 0; v < sizeof refused / sizeof *refused; v++) {
        rotary_refusal(refused[v], shape, message, sizeof message);
        cr_expect(strstr(message, "head_dim 9") && strstr(message, "even"), "%s: '%s'", refused[v], message);
    }
    for (size_t v = 0; v < sizeof fine / sizeof *fine; v++)
        cr_expect_str_empty(rotary_refusal(fine[v], shape, message, sizeof message));
}
