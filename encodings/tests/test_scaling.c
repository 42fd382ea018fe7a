/* test_scaling.c - rope's scalings: which frequencies a sequence gets, whatever ran before it, and what is refused. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>

#include "rotary_fixture.h"

/* How exact a frequency is that is read off a rotation: of itself. */
static double scaling_exactness(void)
{
    return sizeof(real) == sizeof(double) ? 1e-9 : 1e-6;
}

static void scaling_expect(double got, double want, const char *what)
{
    rig_near(got, want, scaling_exactness() * fabs(want), what);
}

/* ------------------------------------------------------------------------------------------------ dynamic */

#define DYNAMIC "rope(layout=interleaved,scaling=dynamic,factor=2,original=64)"

/* The base that a sequence of this many tokens gets, of the slowest of 16 pairs: b^(-30/32). */
static double scaling_base(int total_len)
{
    double angle[16];
    rotary_angles(DYNAMIC, 32, 64, total_len, angle);
    return pow(angle[15], -32 / 30.0);
}

/* A06: the base belongs to the length of this sequence, not to the longest that was ever seen. */
Test(scaling, dynamic_base_is_that_of_the_length)
{
    static const struct {
        int len;
        double base;
    } cases[] = {{64, 10000},        {256, 79696.2542}, {128, 32279.6887}, {65, 10333.6772},
                 {512, 179679.0087}, {128, 32279.6887}, {65, 10333.6772},  {32, 10000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        rig_near(scaling_base(cases[i].len), cases[i].base, 5.1e-5 + scaling_exactness() * cases[i].base, "base");
}

/* A05: a long sequence between two short ones leaves no trace, and short ones are not scaled at all. A08: the same for
 * rows of 40, 40 and 256 tokens, in queries as in keys. */
Test(scaling, a_long_sequence_leaves_no_trace)
{
    enum { LONG = 256, DIM = 32 };
    static real first[LONG * DIM], plain[LONG * DIM], longer[LONG * DIM], again[LONG * DIM], key[LONG * DIM];
    static const int lengths[] = {32, 40, 64};
    pe_shape shape = rig_shape(1, DIM, 64, 1);
    for (int n = 0; n < 3; n++) {
        int len = lengths[n];
        size_t bytes = (size_t)len * DIM * sizeof(real);
        real *const all[] = {first, plain, longer, again, key};
        for (int i = 0; i < 5; i++)
            rotary_noise(3, all[i], LONG * DIM);
        rotary_turn(DYNAMIC, shape, NULL, len, 0, PE_QUERY, first);
        rotary_turn(DYNAMIC, shape, NULL, LONG, 0, PE_QUERY, longer);
        rotary_turn(DYNAMIC, shape, NULL, len, 0, PE_QUERY, again);
        rotary_turn(DYNAMIC, shape, NULL, len, 0, PE_KEY, key);
        rotary_turn("rope(layout=interleaved)", shape, NULL, len, 0, PE_QUERY, plain);
        cr_assert_arr_eq(first, again, bytes, "%d tokens, before and after %d", len, LONG);
        cr_assert_arr_eq(first, key, bytes, "queries and keys of %d tokens", len);
        cr_assert_arr_eq(first, plain, bytes, "%d tokens are no more than the original 64", len);
        cr_assert_arr_neq(first, longer, bytes);
    }
}

/* ------------------------------------------------------------------------------------------------ longrope */

#define LONGROPE "rope(layout=interleaved,scaling=longrope,original=64,short_factor=1;1.5;2;3,long_factor=2;4;8;16)"

/* A15: one set of factors for a sequence, up to and with the original length the short one. */
Test(scaling, longrope_chooses_by_the_whole_length)
{
    static const int lengths[] = {63, 64, 65, 200};
    static const double factor[2][4] = {{1, 1.5, 2, 3}, {2, 4, 8, 16}};
    for (int n = 0; n < 4; n++) {
        double angle[4];
        rotary_angles(LONGROPE, 8, 64, lengths[n], angle);
        for (int p = 0; p < 4; p++)
            scaling_expect(angle[p], pow(10, -p) / factor[lengths[n] > 64][p], "frequency");
    }
}

/* A15: a sequence that grows, token by token or in chunks of 16, turns its tokens as the whole does: the keys of a
 * cache stay right. Likewise for dynamic. */
Test(scaling, a_growing_sequence_keeps_its_frequencies)
{
    enum { LEN = 200, DIM = 8 };
    static const char *const texts[] = {LONGROPE, DYNAMIC,
                                        "rope(scaling=longrope_dynamic,original=64,long_factor=3,unscaled=4)"};
    static real whole[LEN * DIM], part[LEN * DIM];
    pe_shape shape = rig_shape(1, DIM, 64, 1);
    for (size_t v = 0; v < sizeof texts / sizeof *texts; v++) {
        rotary_noise(7, whole, LEN * DIM);
        rotary_turn(texts[v], shape, NULL, LEN, 0, PE_KEY, whole);
        for (int len = 1; len < LEN; len += len % 16 == 0 ? 16 : 1) {
            rotary_noise(7, part, LEN * DIM);
            rotary_turn(texts[v], shape, NULL, len, LEN, PE_KEY, part);
            cr_assert_arr_eq(part, whole, (size_t)len * DIM * sizeof(real), "%s: %d of %d tokens", texts[v], len, LEN);
        }
    }
}

Test(scaling, longrope_dynamic_grows_from_one_to_the_long_factors)
{
    static const struct {
        int len;
        double factor;
    } cases[] = {{1, 1}, {32, 1}, {64, 1}, {128, 1 + 7 / 3.0}, {160, 1 + 7 / 2.0}, {256, 8}};
    double angle[4];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rotary_angles("rope(layout=interleaved,scaling=longrope_dynamic,original=64,factor=4,long_factor=8)", 8, 64,
                      cases[i].len, angle);
        for (int p = 0; p < 4; p++)
            scaling_expect(angle[p], pow(10, -p) / cases[i].factor, "frequency");
    }
}

Test(scaling, first_positions_may_stay_unscaled)
{
    static const char text[] = "rope(layout=interleaved,scaling=longrope,original=2,long_factor=4,unscaled=2,"
                               "attention_factor=1)";
    static const double pos[] = {0, 1, 1.5, 2, 3}, turns[] = {0, 1, 1.5, 0.5, 0.75};
    real u[5 * 2] = {1, 0, 1, 0, 1, 0, 1, 0, 1, 0};
    rotary_turn(text, rig_shape(1, 2, 2, 1), pos, 5, 0, PE_QUERY, u);
    for (int t = 0; t < 5; t++)
        rig_near(atan2(u[2 * t + 1], u[2 * t]), turns[t], rig_tolerance(), "angle");
}

/* ------------------------------------------------------------------------------------------------ yarn */

/* A14: what stays and what is interpolated are made of the same base. Bit for bit, since the attention factor is off.
 */
Test(scaling, yarn_lies_between_plain_and_interpolated)
{
    enum { DIM = 64, LOW = 8, HIGH = 21 }; /* the ramp's limits for L = 2048 */
    double plain[DIM / 2], linear[DIM / 2], yarn[DIM / 2];
    rotary_angles("rope(layout=interleaved)", DIM, 64, 1, plain);
    rotary_angles("rope(layout=interleaved,scaling=linear)", DIM, 64, 1, linear);
    rotary_angles("rope(layout=interleaved,scaling=yarn,original=2048,attention_factor=1)", DIM, 64, 1, yarn);
    for (int p = 0; p < DIM / 2; p++) {
        if (p <= LOW) {
            cr_assert_eq(yarn[p], plain[p], "pair %d", p);
        } else if (p >= HIGH) {
            cr_assert_eq(yarn[p], linear[p], "pair %d", p);
        } else {
            cr_assert(yarn[p] < plain[p] && yarn[p] > linear[p], "pair %d", p);
        }
        scaling_expect(linear[p], pow(10000, -2.0 * p / DIM) / 4, "interpolated");
    }
}

/* A11: scores grow by m^2: neither by m, nor by m^4. */
Test(scaling, attention_factor_acts_once_on_each_side)
{
    static const struct {
        int factor;
        double m;
    } cases[] = {{4, 1.138629436}, {64, 1.415888308}, {128, 1.485203026}};
    enum { LEN = 6, DIM = 16 };
    real q[LEN * DIM], k[LEN * DIM];
    double with[LEN * LEN], without[LEN * LEN], angle[DIM / 2];
    rotary_noise(1, q, LEN * DIM);
    rotary_noise(2, k, LEN * DIM);
    for (int n = 0; n < 3; n++) {
        char text[2][96];
        pe_shape shape = rig_shape(1, DIM, 64, 0);
        snprintf(text[0], sizeof text[0], "rope(layout=interleaved,scaling=yarn,factor=%d)", cases[n].factor);
        snprintf(text[1], sizeof text[1], "rope(layout=interleaved,scaling=yarn,factor=%d,attention_factor=1)",
                 cases[n].factor);
        scaling_expect(rotary_angles(text[0], DIM, 64, 1, angle), cases[n].m, "m");
        rotary_scores(text[0], shape, NULL, LEN, 0, q, k, with);
        rotary_scores(text[1], shape, NULL, LEN, 0, q, k, without);
        for (int i = 0; i < LEN * LEN; i++)
            rig_near(with[i], cases[n].m * cases[n].m * without[i], 1e-6, "score");
    }
    cr_assert_float_eq(cases[0].m * cases[0].m, 1.296476993, 1e-8);
}

/* A12: an attention factor that is given is used as it is; one that is misspelt is not passed over. */
Test(scaling, a_given_attention_factor_is_kept)
{
    static const char *const texts[] = {
        "rope(layout=interleaved,scaling=yarn,factor=64,attention_factor=1.0)",
        "rope(layout=interleaved,scaling=yarn,factor=64,attention_factor=1,mscale=2,mscale_all_dim=3)",
        "rope(layout=interleaved,scaling=longrope,factor=64,long_factor=2,attention_factor=1)",
    };
    char message[512];
    for (size_t v = 0; v < sizeof texts / sizeof *texts; v++) {
        real u[2] = {1, 0};
        const double zero = 0;
        rotary_turn(texts[v], rig_shape(1, 2, 64, 1), &zero, 1, 0, PE_QUERY, u);
        cr_assert_eq(u[0], 1, "%s: %g", texts[v], (double)u[0]);
    }
    rotary_refusal("rope(scaling=yarn,factor=64,atention_factor=1.0)", rig_shape(1, 8, 64, 1), message, sizeof message);
    cr_assert(strstr(message, "'atention_factor'; did you mean 'attention_factor'?"), "%s", message);
    rotary_refusal("rope(scaling=yarn,factor=64,attn_factor=1.0)", rig_shape(1, 8, 64, 1), message, sizeof message);
    cr_assert(strstr(message, "unknown option 'attn_factor'"), "%s", message);
}

/* C7: with the published 32/1, training on up to 128 tokens leaves no pair as it was. With auto, the first always is.
 */
Test(scaling, published_ramp_is_degenerate_for_short_training)
{
    static const struct {
        int original;
        double share; /* of the first pair's frequency that is left unscaled */
    } cases[] = {{32, 0.132}, {64, 0.296}, {128, 0.625}, {256, 1.0}};
    double angle[32], scaled[32];
    for (int head_dim = 16; head_dim <= 64; head_dim *= 2) {
        for (int n = 0; n < 4; n++) {
            rotary_angles("rope(layout=interleaved,scaling=yarn,ramp=by_wavelength)", head_dim, cases[n].original, 1,
                          angle);
            rotary_angles("rope(layout=interleaved,scaling=yarn,ramp=by_wavelength,beta_fast=auto)", head_dim,
                          cases[n].original, 1, scaled);
            double most = 0;
            for (int p = 0; p < head_dim / 2; p++)
                most = fmax(most, (angle[p] * pow(10000, 2.0 * p / head_dim) - 0.25) / 0.75);
            cr_assert_float_eq(most, cases[n].share, 0.0005, "L = %d: %g", cases[n].original, most);
            scaling_expect(scaled[0], 1, "first pair with beta_fast=auto");
            cr_assert(scaled[head_dim / 2 - 1] < 0.26 * pow(10000, 2.0 / head_dim - 1), "the last one is interpolated");
        }
    }
    /* 2 pi 32 = 201.06 tokens */
    rotary_angles("rope(layout=interleaved,scaling=yarn,ramp=by_wavelength,original=201)", 16, 64, 1, angle);
    cr_assert(angle[0] < 1);
    rotary_angles("rope(layout=interleaved,scaling=yarn,ramp=by_wavelength,original=202)", 16, 64, 1, angle);
    scaling_expect(angle[0], 1, "first pair at 202");
}

Test(scaling, automatic_beta_is_the_published_one_at_its_length)
{
    static const char *const ramps[] = {"by_index", "by_wavelength", "by_index_ggml"};
    for (int n = 0; n < 3; n++) {
        for (int original = 4096; original <= 65536; original *= 4) {
            char text[128];
            double published[16], automatic[16];
            snprintf(text, sizeof text, "rope(layout=interleaved,scaling=yarn,ramp=%s,original=%d)", ramps[n],
                     original);
            rotary_angles(text, 32, 64, 1, published);
            snprintf(text, sizeof text, "rope(layout=interleaved,scaling=yarn,ramp=%s,original=%d,beta_fast=auto)",
                     ramps[n], original);
            rotary_angles(text, 32, 64, 1, automatic);
            for (int p = 0; p < 16; p++)
                scaling_expect(automatic[p], published[p], text);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ refusing */

/* A09: the exponent d/(d-2) has no value for two dimensions. Where there is no such exponent, two dimensions work. */
Test(scaling, two_dimensions)
{
    static const char *const refused[] = {"rope(scaling=ntk)", "rope(scaling=ntk,alpha=1)",
                                          "rope(scaling=dynamic,factor=1)", "rope(scaling=dynamic,factor=2)"};
    static const char *const fine[] = {"yarn", "linear", "llama3"};
    pe_shape shape = rig_shape(2, 2, 64, 1);
    char message[512];
    for (size_t v = 0; v < sizeof refused / sizeof *refused; v++) {
        rotary_refusal(refused[v], shape, message, sizeof message);
        cr_assert(strstr(message, "d > 2") && strstr(message, "head_dim 2"), "%s: '%s'", refused[v], message);
    }
    for (int n = 0; n < 3; n++) {
        for (int factor = 1; factor <= 2; factor++) {
            char text[96];
            double angle;
            snprintf(text, sizeof text, "rope(layout=interleaved,scaling=%s,factor=%d)", fine[n], factor);
            double m = rotary_angles(text, 2, 64, 1, &angle);
            cr_assert(isfinite(angle) && angle > 0 && isfinite(m), "%s: %g, %g", text, angle, m);
            if (factor == 1) {
                scaling_expect(angle, 1, text);
                scaling_expect(m, 1, text);
            }
        }
    }
}

Test(scaling, nothing_is_ignored_in_silence)
{
    static const struct {
        const char *options, *words;
    } cases[] = {
        {"factor=8", "factor has no meaning with scaling=none"},
        {"attention_factor=2", "attention_factor has no meaning with scaling=none"},
        {"scaling=ntk,factor=8", "factor has no meaning with scaling=ntk"},
        {"scaling=linear,alpha=2", "alpha has no meaning with scaling=linear"},
        {"scaling=linear,original=64", "original has no meaning with scaling=linear"},
        {"scaling=llama3,beta_fast=16", "beta_fast has no meaning with scaling=llama3"},
        {"scaling=llama3,truncate=false", "truncate has no meaning with scaling=llama3"},
        {"scaling=llama3,ramp=by_wavelength", "ramp has no meaning with scaling=llama3"},
        {"scaling=yarn,low_freq_factor=2", "low_freq_factor has no meaning with scaling=yarn"},
        {"scaling=dynamic,long_factor=2", "long_factor has no meaning with scaling=dynamic"},
        {"scaling=dynamic,unscaled=4", "unscaled has no meaning with scaling=dynamic"},
        {"scaling=longrope_dynamic,long_factor=2,short_factor=2", "short_factor has no meaning with scaling="},
        {"scaling=longrope,long_factor=2,mscale=1", "mscale has no meaning with scaling=longrope"},
        {"scaling=yarn,ramp=by_wavelength,truncate=false", "truncate=false has no meaning with ramp=by_wavelength"},
        {"scaling=yarn,ramp=by_wavelength,beta_fast=1", "beta_fast above beta_slow, not 1 and 1"},
        {"scaling=yarn,base=1", "needs base > 1"},
        {"scaling=llama3,low_freq_factor=4", "high_freq_factor must be above low_freq_factor"},
        {"scaling=longrope", "needs long_factor"},
        {"scaling=longrope,long_factor=1;2;3", "long_factor 3, but 4 pairs turn"},
        {"scaling=longrope,long_factor=2,short_factor=1;2", "short_factor has 2 numbers"},
        {"scaling=longrope,long_factor=2,original=1", "original must be above 1"},
        {"scaling=longrope_dynamic,long_factor=2,factor=1", "needs a factor above 1"},
        {"frequencies=learned,scaling=dynamic", "scaling=dynamic has one for each length"},
        {"frequencies=per_head,scaling=longrope,long_factor=2", "scaling=longrope has one for each length"},
        {"keep=0.2", "head_dim 8"},
    };
    char message[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[160];
        snprintf(text, sizeof text, "rope(%s)", cases[i].options);
        rotary_refusal(text, rig_shape(1, 8, 64, 1), message, sizeof message);
        cr_expect(strstr(message, cases[i].words), "%s: '%s'", text, message);
    }
    /* Spelled out, a default is no wish. */
    rotary_refusal("rope(factor=4,original=auto,truncate=true,ramp=by_index,short_factor=1,unscaled=0,beta_fast=32)",
                   rig_shape(1, 8, 64, 1), message, sizeof message);
    cr_expect_str_empty(message);
}
