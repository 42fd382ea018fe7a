/* Tables whose answers are known: sinusoids, a helix, a line, noise, a constant. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "rng.h"

static profile_table known_profile(table *t)
{
    error e = ERROR_INIT;
    profile_table p;
    cr_assert_eq(profile_table_make(t, &p, &e), 0, "%s", e.message);
    cr_assert(p.rows == t->rows && p.cols == t->cols);
    table_free(t);
    return p;
}

static table known_table(int rows, int cols)
{
    error e = ERROR_INIT;
    table t;
    cr_assert_eq(table_create(&t, rows, cols, "known", &e), 0);
    return t;
}

static double known_frequency(int pair, int cols)
{
    return pow(10000, -2.0 * pair / cols);
}

static table known_sinusoid(int rows, int cols)
{
    table t = known_table(rows, cols);
    for (int p = 0; p < rows; p++)
        for (int i = 0; i < cols / 2; i++) {
            t.value[p * cols + 2 * i] = sin(p * known_frequency(i, cols));
            t.value[p * cols + 2 * i + 1] = cos(p * known_frequency(i, cols));
        }
    return t;
}

static table known_noise(int rows, int cols)
{
    table t = known_table(rows, cols);
    rng r = rng_stream(5, RNG_TEST, 0, 0);
    for (int i = 0; i < rows * cols; i++)
        t.value[i] = rng_normal(&r);
    return t;
}

/* Vaswani 2017: sin p w sin q w + cos p w cos q w = cos (p - q) w. */
Test(known, a_sinusoid_is_exactly_shift_invariant)
{
    table t = known_sinusoid(96, 64);
    profile_table p = known_profile(&t);
    cr_assert_lt(p.unexplained, 1e-20);
    for (int d = 0; d < 96; d++) {
        double sum = 0;
        for (int i = 0; i < 32; i++)
            sum += cos(d * known_frequency(i, 64));
        cr_assert_float_eq(p.dot_mean[d], sum, 1e-10, "%d: %g", d, p.dot_mean[d]);
        cr_assert_float_eq(p.cosine_mean[d], sum / 32, 1e-12);
        cr_assert_lt(p.dot_spread[d], 1e-10);
        cr_assert_float_eq(p.norm[d], sqrt(32), 1e-12);
    }
    cr_assert_eq(p.dip, 5);
    cr_assert_float_eq(p.cosine_mean[5], 0.734, 5e-4);
    cr_assert_float_eq(p.cosine_mean[64], 0.435, 5e-4);
    cr_assert_eq(p.probe.read_error, 0);
    cr_assert_eq(p.probe.rows, 96);
    profile_table_free(&p);
}

/* Rows turn three times around a circle that lies askew in 16 dimensions, around a point that is not the origin. */
Test(known, a_helix_has_two_components_with_one_frequency)
{
    enum { ROWS = 120, COLS = 16, TURNS = 3 };
    table t = known_table(ROWS, COLS);
    double u[COLS], v[COLS], uu = 0, uv = 0, vv = 0;
    for (int j = 0; j < COLS; j++) {
        u[j] = cos(j + 0.3);
        v[j] = sin(1.7 * j);
        uu += u[j] * u[j];
        uv += u[j] * v[j];
    }
    for (int j = 0; j < COLS; j++) {
        v[j] -= uv / uu * u[j];
        vv += v[j] * v[j];
    }
    for (int p = 0; p < ROWS; p++)
        for (int j = 0; j < COLS; j++)
            t.value[p * COLS + j] = 7 + cos(2 * M_PI * TURNS * p / ROWS) * u[j] / sqrt(uu) +
                                    sin(2 * M_PI * TURNS * p / ROWS) * v[j] / sqrt(vv);
    profile_table p = known_profile(&t);
    for (int s = 0; s < PROFILE_SHARES; s++)
        cr_assert_eq(p.needed[s], 2);
    for (int i = 0; i < 2; i++) {
        double share, size = 0;
        cr_assert_float_eq(p.singular[i], sqrt(ROWS / 2.0), 1e-9);
        cr_assert_eq(profile_peak(&p, i, &share), TURNS);
        cr_assert_float_eq(share, 1, 1e-9);
        cr_assert_geq(p.component[i * ROWS], 0);
        for (int r = 0; r < ROWS; r++)
            size += p.component[i * ROWS + r] * p.component[i * ROWS + r];
        cr_assert_float_eq(size, 1, 1e-9);
    }
    cr_assert_lt(p.singular[2], 1e-9);
    profile_table_free(&p);
}

/* The helix around the origin: the cosine of two rows is that of their angle. */
Test(known, a_circle_turns_back)
{
    enum { ROWS = 80 };
    table t = known_table(ROWS, 2);
    for (int p = 0; p < ROWS; p++) {
        t.value[2 * p] = 3 * cos(2 * M_PI * p / 20);
        t.value[2 * p + 1] = 3 * sin(2 * M_PI * p / 20);
    }
    profile_table p = known_profile(&t);
    cr_assert(p.dip == 10 && p.rise == 20, "%d %d", p.dip, p.rise);
    cr_assert_float_eq(p.cosine[3 * ROWS + 13], -1, 1e-12);
    cr_assert_float_eq(p.dot_mean[20], 9, 1e-9);
    cr_assert_lt(p.unexplained, 1e-20);
    profile_table_free(&p);
}

Test(known, a_line_is_read_off)
{
    table t = known_table(60, 3);
    for (int p = 0; p < 60; p++)
        for (int j = 0; j < 3; j++)
            t.value[3 * p + j] = 0.1 * p * (j + 1) - 2;
    profile_table p = known_profile(&t);
    cr_assert(p.needed[0] == 1 && p.needed[2] == 1);
    cr_assert_eq(p.probe.read_error, 0);
    cr_assert_gt(p.probe.read_guess, 13); /* of 60 rows: about 15 */
    cr_assert_lt(p.probe.order_error, 0.03);
    cr_assert_gt(p.unexplained, 0.5); /* products of a line grow along each diagonal */
    profile_table_free(&p);
}

/* Of n rows of d normal numbers, products have the variance d besides n products of d on the diagonal: distance
 * explains about d / (d + n) of it. */
Test(known, noise_holds_no_positions)
{
    table t = known_noise(200, 64);
    profile_table p = known_profile(&t);
    cr_assert_float_eq(p.unexplained, 200.0 / 264, 0.05, "%g", p.unexplained);
    cr_assert_gt(p.probe.read_error, 0.7 * p.probe.read_guess);
    cr_assert(p.probe.order_error > 0.35 && p.probe.order_error < 0.65, "%g", p.probe.order_error);
    cr_assert_gt(p.needed[0], 35);
    cr_assert_lt(fabs(p.cosine_mean[1]), 0.05);
    profile_table_free(&p);
}

Test(known, a_constant_holds_nothing)
{
    table t = known_table(40, 5);
    for (int i = 0; i < 200; i++)
        t.value[i] = 0.1 * (i % 5) - 0.3;
    profile_table p = known_profile(&t);
    cr_assert_eq(p.unexplained, 0);
    cr_assert(p.needed[0] == 0 && p.needed[2] == 0);
    cr_assert_float_eq(p.cosine[39], 1, 1e-12);
    cr_assert_eq(p.probe.read_error, p.probe.read_guess);
    profile_table_free(&p);
}

/* A row of zeros has no direction; a table below ten rows no probe; more columns than rows as many components as rows.
 */
Test(known, what_has_no_value)
{
    double share;
    table t = known_noise(9, 20);
    memset(t.value + 4 * 20, 0, 20 * sizeof(double));
    profile_table p = known_profile(&t);
    cr_assert_eq(p.rank, 9);
    cr_assert_lt(p.singular[8], 1e-9); /* one direction goes with the mean */
    cr_assert(isnan(p.cosine[4 * 9 + 4]) && isnan(p.cosine[4]) && !isnan(p.cosine[5]));
    cr_assert(p.norm[4] == 0 && isfinite(p.cosine_mean[1]));
    cr_assert(isnan(p.probe.read_error) && isnan(p.probe.order_error) && p.probe.rows == 0 && p.probe.pairs == 0);
    cr_assert_neq(profile_peak(&p, 0, &share), 0);
    profile_table_free(&p);
    t = known_table(2, 1);
    p = known_profile(&t);
    cr_assert(p.frequencies == 1 && profile_peak(&p, 0, &share) == 0);
    profile_table_free(&p);
}

Test(known, sizes_that_are_refused)
{
    error e = ERROR_INIT;
    profile_table p;
    table t = known_table(1, 3);
    cr_assert_lt(profile_table_make(&t, &p, &e), 0);
    cr_assert(strstr(e.message, "a table of 1 row cannot be profiled"), "%s", e.message);
    profile_table_free(&p);
    table_free(&t);
    error_clear(&e);
    t = known_table(PROFILE_ROWS_MAX + 1, 1);
    cr_assert_lt(profile_table_make(&t, &p, &e), 0);
    cr_assert_eq(e.kind, ERROR_USAGE);
    profile_table_free(&p);
    table_free(&t);
}

/* ------------------------------------------------------------------------------------------------ probes */

/* A row that no other row looks like cannot be predicted: the other folds' mean is all there is. */
Test(probe, sees_only_the_other_folds)
{
    enum { N = 20 };
    error e = ERROR_INIT;
    double x[N * N] = {0}, y[N], wrong, guess;
    int fold[N];
    for (int i = 0; i < N; i++) {
        x[i * N + i] = 1e3;
        y[i] = i * i;
        fold[i] = i % 5;
    }
    cr_assert_eq(readout_regression(x, N, N, y, fold, 5, &wrong, &guess, &e), 0, "%s", e.message);
    /* Less the mean, a column that is 0 everywhere else still pulls: the least norm spreads the target evenly. */
    cr_assert_gt(wrong, 0.8 * guess);
    for (int i = 0; i < N; i++) { /* and what is linear in one column is found in all */
        x[i * N] = y[i] - 7;
        x[i * N + i] += i == 0 ? 0 : 1;
    }
    for (int i = 0; i < N; i++)
        for (int j = 1; j < N; j++)
            x[i * N + j] = 0;
    cr_assert_eq(readout_regression(x, N, N, y, fold, 5, &wrong, &guess, &e), 0, "%s", e.message);
    cr_assert_eq(wrong, 0);
}

/* Small sets show the penalty: 10 of 100 pairs are told wrong, as by the LogisticRegression of scikit-learn 1.2.1 on
 * the same folds. */
Test(probe, order_is_told_as_by_others)
{
    enum { ROWS = 40, PAIRS = 100 };
    error e = ERROR_INIT;
    double x[ROWS], wrong;
    int pair[PAIRS][2];
    for (int i = 0; i < ROWS; i++)
        x[i] = i - ROWS / 2;
    for (int i = 0; i < PAIRS; i++) {
        pair[i][0] = 7 * i % ROWS;
        pair[i][1] = (11 * i + 3) % ROWS;
    }
    cr_assert_eq(readout_order(x, 1, (const int(*)[2])pair, PAIRS, 5, &wrong, &e), 0, "%s", e.message);
    cr_assert_float_eq(wrong, 0.10, 1e-12, "%g", wrong);
    for (int i = 0; i < ROWS; i++)
        x[i] = 1;
    cr_assert_eq(readout_order(x, 1, (const int(*)[2])pair, PAIRS, 5, &wrong, &e), 0, "%s", e.message);
    int expected = 0; /* the intercept alone: the commoner answer of the other folds */
    for (int out = 0; out < 5; out++) {
        int later = 0;
        for (int i = 0; i < PAIRS; i++)
            later += i % 5 == out ? 0 : pair[i][1] > pair[i][0] ? 1 : -1;
        for (int i = out; i < PAIRS; i += 5)
            expected += (later > 0) != (pair[i][1] > pair[i][0]);
    }
    cr_assert_float_eq(wrong, (double)expected / PAIRS, 1e-12);
}

/* Vectors of any size: rows a thousand times larger change no order that is separable. */
Test(probe, order_converges_at_any_scale)
{
    enum { ROWS = 60, PAIRS = 200 };
    error e = ERROR_INIT;
    int pair[PAIRS][2];
    rng r = rng_stream(3, RNG_TEST, 0, 0);
    for (int i = 0; i < PAIRS; i++) {
        pair[i][0] = (int)rng_below(&r, ROWS);
        pair[i][1] = (pair[i][0] + 1 + (int)rng_below(&r, ROWS - 1)) % ROWS;
    }
    for (double scale = 0.1; scale < 1e5; scale *= 10) {
        double x[ROWS * 2], wrong;
        for (int i = 0; i < ROWS; i++) {
            x[2 * i] = scale * (i - 30);
            x[2 * i + 1] = scale * 5 * sin(i);
        }
        cr_assert_eq(readout_order(x, 2, (const int(*)[2])pair, PAIRS, 5, &wrong, &e), 0, "%g: %s", scale, e.message);
        cr_assert_leq(wrong, 0.05, "%g: %g", scale, wrong);
    }
}
