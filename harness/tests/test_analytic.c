/* Measurements through hooks against the formulas themselves, written out here, and against published tables. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analytic.h"
#include "settings.h"

/* Measures; the number of results. */
static int taken(const char *name, const char *encoding, const char *settings, const double *at, int count, double *out)
{
    registry *r = setting_registry();
    error e = ERROR_INIT;
    analytic_input in = {.count = count};
    int found = 0;
    const analytic *m = analytic_find(name, &e);
    cr_assert(m != NULL, "%s", e.message);
    config_defaults(&in.config);
    cr_assert_eq(setting_apply(&in.config, settings, &e), 0, "%s", e.message);
    snprintf(in.config.encoding, sizeof in.config.encoding, "%s", encoding);
    for (int i = 0; i < count; i++)
        in.at[i] = at[i];
    cr_assert_eq(m->measure(&in, r, out, &found, &e), 0, "%s", e.message);
    registry_free(r);
    return found;
}

static double one(const char *name, const char *encoding, const char *settings)
{
    double out[ANALYTIC_VALUES_MAX];
    cr_assert_eq(taken(name, encoding, settings, NULL, 0, out), 1);
    return out[0];
}

static void refused(const char *name, const char *encoding, const char *words)
{
    registry *r = setting_registry();
    error e = ERROR_INIT;
    analytic_input in = {.count = 1};
    double out[ANALYTIC_VALUES_MAX];
    int count;
    config_defaults(&in.config);
    snprintf(in.config.encoding, sizeof in.config.encoding, "%s", encoding);
    cr_assert_lt(analytic_find(name, &e)->measure(&in, r, out, &count, &e), 0, "%s of %s", name, encoding);
    cr_assert(strstr(e.message, words), "%s", e.message);
    registry_free(r);
}

Test(analytic, sinusoids)
{
    static const double at[] = {1, 2, 8, 64, 256};
    double out[ANALYTIC_VALUES_MAX];
    cr_assert_eq(taken("dot_by_distance", "sinusoidal", "model.width=64", at, 5, out), 5);
    for (int i = 0; i < 5; i++) {
        double sum = 0;
        for (int p = 0; p < 32; p++)
            sum += cos(at[i] * pow(10000, -p / 32.0)) / 32;
        cr_assert_float_eq(out[i], sum, 1e-5);
    }
    static const int minimum[][2] = {{32, 4}, {64, 5}, {128, 11}, {256, 24}};
    for (int i = 0; i < 4; i++) {
        char width[32];
        snprintf(width, sizeof width, "model.width=%d", minimum[i][0]);
        cr_assert_eq(one("dot_minimum", "sinusoidal", width), minimum[i][1]);
    }
    cr_assert_lt(one("dot_spread", "sinusoidal", "model.width=64"), 1e-6);
    cr_assert_gt(one("dot_spread", "learned(rows=256)", "model.width=64|train.len=256"), 0.05);
    cr_assert_eq(one("position_error", "sinusoidal", "model.width=64"), 0);
    refused("dot_spread", "rope", "rope: it adds nothing to token vectors");
    refused("dot_minimum", "rope", "rope: it adds nothing to token vectors");
}

Test(analytic, rotations)
{
    static const double at[] = {1, 16, 200};
    double out[ANALYTIC_VALUES_MAX];
    cr_assert_lt(one("rotation_spread", "rope", "model.width=32|model.heads=1"), 1e-5);
    cr_assert_lt(one("rotation_norm", "rope", "model.width=32|model.heads=2"), 1e-5);
    cr_assert_gt(one("rotation_norm", "xpos", "model.width=32|model.heads=1"), 0.01); /* it scales */
    cr_assert_lt(one("rotation_mean", "rope", "model.width=32|model.heads=1|train.len=64"), 4.5);
    cr_assert_gt(one("rotation_elsewhere", "rope", "model.width=32|model.heads=1|train.len=64"), 0.8);
    cr_assert_eq(taken("rotation_choice", "rope", "model.width=32|model.heads=1", at, 3, out), 3);
    cr_assert(out[0] == 1 && out[1] == 1 && out[2] == 1);
    cr_assert_eq(taken("rotation_bound", "rope", "model.width=64|model.heads=1", at, 3, out), 3);
    for (int i = 0; i < 3; i++) {
        double re = 0, im = 0, sum = 0;
        for (int p = 0; p < 32; p++) {
            re += cos(at[i] * pow(10000, -p / 32.0));
            im += sin(at[i] * pow(10000, -p / 32.0));
            sum += hypot(re, im) / 32;
        }
        cr_assert_float_eq(out[i], sum, 2e-3);
    }
    refused("rotation_norm", "nope", "nope: it does not rotate queries and keys");
    refused("rotation_bound", "alibi", "alibi: it does not rotate queries and keys");
    refused("rotation_gap", "rope", "rope: tokens do not stand 1/8 apart");
}

/* The straight line misses a cosine of frequency w by at most w^2/8 between whole positions. With all h_j = 2 the terms
 * add up to the sum of 2 cos(s w), which stands here for the hook. */
Test(analytic, between_whole_positions)
{
    double out = one("rotation_gap", "rope@interpolate(factor=8)", "model.width=64|model.heads=1"), most = 0, same = 0;
    double value[9] = {0};
    for (int p = 0; p < 32; p++) {
        most += pow(10000, -p / 16.0) / 8;
        for (int i = 0; i <= 8; i++)
            value[i] += 2 * cos(i / 8.0 * pow(10000, -p / 32.0));
    }
    for (int i = 1; i < 8; i++)
        same = fmax(same, fabs(value[i] - value[0] - (value[8] - value[0]) * i / 8) / 128);
    cr_assert(out > 0 && out <= most / 64, "%g, at most %g", out, most / 64);
    cr_assert_float_eq(one("rotation_gap_same", "rope@interpolate(factor=8)", "model.width=64|model.heads=1"), same,
                       1e-6);
    cr_assert_gt(same, 1 / (32 * log(10000))); /* so the published constant is no bound for a head of 64 */
}

/* Peng et al. 2023, eq. 17-20: the fastest plane makes L / 2 pi turns. */
Test(analytic, what_yarn_keeps)
{
    static const int lengths[] = {32, 64, 128, 256};
    registry *r = setting_registry();
    for (int i = 0; i < 4; i++) {
        analytic_input in = {.has_beside = 1};
        error e = ERROR_INIT;
        double out[ANALYTIC_VALUES_MAX], ramp = (lengths[i] / (2 * acos(-1)) - 1) / 31;
        int count;
        config_defaults(&in.config);
        cr_assert_eq(setting_apply(&in.config, "model.width=64|model.heads=1", &e), 0);
        in.config.train.len = lengths[i];
        in.beside = in.config;
        snprintf(in.beside.encoding, sizeof in.beside.encoding, "rope");
        snprintf(in.config.encoding, sizeof in.config.encoding,
                 "rope(scaling=yarn,factor=4,ramp=by_wavelength,beta_fast=32)");
        cr_assert_eq(analytic_find("rotation_kept", &e)->measure(&in, r, out, &count, &e), 0, "%s", e.message);
        cr_assert_float_eq(out[0], ramp > 1 ? 1 : ramp, 2e-3);
    }
    registry_free(r);
}

Test(analytic, biases)
{
    static const double edges[] = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113},
                        unmet[] = {16, 32, 64, 128}, slopes_of_six[] = {.25, .0625, .015625, .00390625, .5, .125};
    double out[ANALYTIC_VALUES_MAX];
    cr_assert_eq(taken("bias_edges", "t5", "model.width=16|model.heads=2", (double[]){16, 1024}, 2, out), 16);
    for (int i = 0; i < 16; i++)
        cr_assert_eq(out[i], edges[i]);
    cr_assert_eq(taken("bias_unmet", "t5", "model.width=16|model.heads=2", unmet, 4, out), 4);
    cr_assert(out[0] == 16 && out[1] == 10 && out[2] == 5 && out[3] == 0);
    cr_assert_eq(taken("bias_slope", "alibi", "model.width=48|model.heads=6", NULL, 0, out), 6);
    for (int h = 0; h < 6; h++)
        cr_assert_float_eq(out[h], slopes_of_six[h], 1e-6);
    refused("bias_slope", "rope", "rope: it adds nothing to scores");
    refused("bias_edges", "t5", "bias_edges takes two distances");
}

Test(analytic, one_token_over_and_over)
{
    double even = 0;
    for (int row = 8; row < 32; row++)
        even += 1.0 / (row + 1) / 24;
    cr_assert_lt(one("constant_attention", "nope", ""), 1e-5);
    cr_assert_lt(one("constant_output", "nope", ""), 1e-5);
    cr_assert_lt(one("constant_gradient", "nope", ""), 1e-5);
    cr_assert_gt(one("constant_attention", "rope", ""), 0.01);
    cr_assert_gt(one("constant_output", "sinusoidal", ""), 0.01);
    cr_assert_gt(one("constant_gradient", "sinusoidal", ""), 1e-3);
    cr_assert_float_eq(one("previous_token", "nope", "model.heads=1"), even, 1e-5);
    cr_assert_gt(one("previous_token", "rope", "model.heads=1"), 0.99);
    cr_assert_lt(one("previous_token", "alibi", "model.heads=1"), 0.1);
}

Test(analytic, the_list)
{
    error e = ERROR_INIT;
    for (int i = 0; analytic_row(i); i++) {
        cr_assert_eq(analytic_find(analytic_row(i)->name, &e), analytic_row(i));
        cr_assert(*analytic_row(i)->help && analytic_row(i)->measure);
    }
    cr_assert(analytic_find("nothing_like_it_at_all", &e) == NULL);
    cr_assert(strstr(e.message, "posbench claims --measurements"));
}
