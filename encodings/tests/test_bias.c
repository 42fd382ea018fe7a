/* test_bias.c - slopes and buckets, each in the order and with the rounding that people have got wrong. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rig.h"

/* ------------------------------------------------------------------------------------------------ alibi */

static void slopes_are(const char *text, int heads, const double *want)
{
    static const double pos[] = {0, 1};
    real bias[16 * 4];
    rig g;
    rig_open(&g, text, rig_shape(heads, 4, 8, 1), pos, 2);
    rig_bias(&g, bias);
    for (int h = 0; h < heads; h++)
        rig_near(-bias[h * 4 + 2], want[h], 1e-6, text);
    rig_close(&g);
}

/* A34, A35: the released rule, in its order. */
Test(alibi, slopes_of_the_released_code)
{
    slopes_are("alibi", 8, (double[]){1 / 2., 1 / 4., 1 / 8., 1 / 16., 1 / 32., 1 / 64., 1 / 128., 1 / 256.});
    slopes_are("alibi", 6, (double[]){1 / 4., 1 / 16., 1 / 64., 1 / 256., 1 / 2., 1 / 8.});
    slopes_are("alibi", 12,
               (double[]){1 / 2., 1 / 4., 1 / 8., 1 / 16., 1 / 32., 1 / 64., 1 / 128., 1 / 256., 0.70710678, 0.35355339,
                          0.17677670, 0.08838835});
    slopes_are("alibi", 3, (double[]){1 / 16., 1 / 256., 1 / 4.});
    slopes_are("alibi", 1, (double[]){1 / 256.});
    slopes_are("alibi(slopes=geometric)", 6,
               (double[]){0.39685026, 0.15749013, 0.0625, 0.02480314, 0.00984313, 0.00390625});
    slopes_are("alibi(bias_max=16)", 4, (double[]){1 / 16., 1 / 256., 1 / 4096., 1 / 65536.});
}

/* A36, A39: near keys are favoured, and the query's own key pays nothing. */
Test(alibi, four_by_four)
{
    static const double want[4][4] = {{0}, {-0.5, 0}, {-1, -0.5, 0}, {-1.5, -1, -0.5, 0}};
    real bias[8 * 16];
    rig g;
    rig_open(&g, "alibi", rig_shape(8, 4, 8, 1), NULL, 4);
    rig_bias(&g, bias);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++)
            cr_assert_eq(bias[i * 4 + j], (real)want[i][j]);
    for (int k = 0; k < 8 * 16; k++)
        cr_assert(bias[k] <= 0, "a bias is positive");
    rig_close(&g);
}

Test(alibi, forms_without_a_causal_mask)
{
    static const double symmetric[3][3] = {{0, -1, -2}, {-1, 0, -1}, {-2, -1, 0}};
    static const double asymmetric[3][3] = {{0, -1, -2}, {-0.5, 0, -1}, {-1.5, -0.5, 0}};
    real bias[8 * 9];
    rig g;
    rig_open(&g, "alibi", rig_shape(8, 4, 8, 0), NULL, 3);
    rig_bias(&g, bias);
    for (int k = 0; k < 9; k++)
        cr_assert_eq(bias[k], (real)(0.5 * symmetric[k / 3][k % 3]));
    rig_close(&g);
    rig_open(&g, "alibi(form=asymmetric)", rig_shape(8, 4, 8, 0), NULL, 3);
    rig_bias(&g, bias);
    for (int k = 0; k < 9; k++)
        cr_assert_eq(bias[k], (real)(0.5 * asymmetric[k / 3][k % 3]));
    rig_close(&g);
}

/* A38: slope times distance, or, as released code has it, slope times key index: the same weights but for rounding. The
 * other form is computed in the same precision here, for the last query of `len`. */
static double alibi_worst_difference(int len)
{
    real *row = calloc((size_t)len, sizeof *row);
    cr_assert_not_null(row);
    rig g;
    rig_open(&g, "alibi(bias_max=3)", rig_shape(1, 4, len, 1), NULL, len);
    pe_tile t = {.row_begin = len - 1, .rows = 1, .keys = len, .stride = len, .plane = len, .scale = 1};
    g.d->bias(&g.c, &t, row);
    const real slope = (real)0.125;
    double sum = 0, other_sum = 0, worst = 0;
    for (int j = 0; j < len; j++) {
        sum += exp(row[j]);
        other_sum += exp((double)(slope * (real)j) - (double)(slope * (real)(len - 1)));
    }
    for (int j = 0; j < len; j++) {
        double other = exp((double)(slope * (real)j) - (double)(slope * (real)(len - 1))) / other_sum;
        worst = fmax(worst, fabs(exp(row[j]) / sum - other));
    }
    cr_assert_gt(sum, 1.5, "all but one key are forgotten: this compares nothing");
    rig_close(&g);
    free(row);
    return worst;
}

Test(alibi, distance_and_key_forms_agree)
{
    cr_assert(alibi_worst_difference(8) <= 1e-6);
    cr_assert(alibi_worst_difference(4096) <= 1e-6);
}

/* ------------------------------------------------------------------------------------------------ t5 */

/* Buckets seen through the bias: row b of the table holds b. */
static void t5_buckets(const char *text, int causal, int train_len, const double *pos, int len, int query, int *bucket)
{
    rig g;
    rig_open(&g, text, rig_shape(1, 4, train_len, causal), pos, len);
    for (int b = 0; b < g.param[0].rows; b++)
        g.theta[0][b] = (real)b;
    real *row = calloc((size_t)len, sizeof *row);
    cr_assert_not_null(row);
    pe_tile t = {
        .row_begin = query, .rows = 1, .keys = causal ? query + 1 : len, .stride = len, .plane = len, .scale = 1};
    g.d->bias(&g.c, &t, row);
    for (int j = 0; j < len; j++)
        bucket[j] = (int)lround(row[j]);
    free(row);
    rig_close(&g);
}

/* A32, by key offset (key - query). */
Test(t5, buckets_of_both_directions)
{
    enum { LEN = 1001, QUERY = 500 };
    static int bucket[LEN];
    static const int both[][2] = {{0, 0},     {-1, 1},    {-7, 7}, {-8, 8}, {-16, 10}, {-64, 14},
                                  {-127, 15}, {-128, 15}, {1, 17}, {8, 24}, {64, 30},  {500, 31}};
    static const int past[][2] = {{-1, 1},   {-15, 15}, {-16, 16},  {-19, 17},
                                  {-32, 21}, {-64, 26}, {-113, 31}, {-128, 31}};
    t5_buckets("t5", 0, 64, NULL, LEN, QUERY, bucket);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        cr_assert_eq(bucket[QUERY + both[i][0]], both[i][1], "offset %d: %d", both[i][0], bucket[QUERY + both[i][0]]);
    t5_buckets("t5", 1, 64, NULL, LEN, QUERY, bucket);
    for (size_t i = 0; i < sizeof past / sizeof *past; i++)
        cr_assert_eq(bucket[QUERY + past[i][0]], past[i][1], "offset %d: %d", past[i][0], bucket[QUERY + past[i][0]]);
    cr_assert_eq(bucket[QUERY + 5], 0, "hidden keys are left alone");
}

/* C8: where the published buckets begin, and which of them short training never meets. */
Test(t5, published_buckets_begin_where_they_should)
{
    enum { LEN = 200 };
    static const int begins[16] = {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
    int bucket[LEN];
    t5_buckets("t5", 1, 64, NULL, LEN, LEN - 1, bucket);
    for (int b = 0; b < 16; b++) {
        cr_assert_eq(bucket[LEN - 1 - begins[b]], 16 + b);
        cr_assert_eq(bucket[LEN - begins[b]], 15 + b, "the distance before");
    }
    cr_assert_lt(bucket[LEN - 1 - 63], 27, "trained on 64 tokens, buckets 27-31 are never met");
}

/* max_distance=auto: no bucket can be met at test time only. */
Test(t5, auto_distance_lets_training_meet_every_bucket)
{
    enum { TEST_LEN = 4096 };
    static int bucket[TEST_LEN];
    static const int counts[] = {2, 3, 4, 8, 16, 31, 32, 64};
    for (int causal = 0; causal <= 1; causal++) {
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
            for (int train_len = 8; train_len <= 512; train_len = train_len * 3 / 2 + 1) {
                int side = causal ? counts[n] : counts[n] / 2;
                if (side < 2 || train_len - 1 <= side / 2)
                    continue;
                char text[64];
                snprintf(text, sizeof text, "t5(buckets=%d,max_distance=auto)", counts[n]);
                t5_buckets(text, causal, train_len, NULL, TEST_LEN, TEST_LEN - 1, bucket);
                cr_assert_eq(bucket[TEST_LEN - train_len], side - 1, "%s, trained on %d: the farthest is in %d", text,
                             train_len, bucket[TEST_LEN - train_len]);
                cr_assert_eq(bucket[0], side - 1);
                cr_assert_lt(bucket[TEST_LEN - 1], side - 1);
            }
        }
    }
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    pe_stack s;
    pe_shape shape = rig_shape(1, 4, 17, 1);
    cr_assert_eq(stack_parse(r, "t5(max_distance=auto)", &s, &e), 0);
    cr_assert_eq(stack_check(&s, &shape, 64, &e), -1);
    cr_assert(strstr(e.message, "needs a training length above 17, not 17"), "%s", e.message);
    stack_free(&s);
    registry_free(r);
}

/* Distances are floored after they are formed, so no shift moves them into another bucket. */
Test(t5, fractions_floor_and_survive_shifts)
{
    static const double pos[] = {0, 0.5, 1.25, 3, 7.75, 8.75};
    static const int want[] = {8, 8, 7, 5, 1, 0};
    int bucket[6];
    for (double shift = 0; shift < 5e5; shift = shift * 2 + 0.1) {
        double moved[6];
        for (int j = 0; j < 6; j++)
            moved[j] = pos[j] + shift;
        t5_buckets("t5", 1, 64, moved, 6, 5, bucket);
        for (int j = 0; j < 6; j++)
            cr_assert_eq(bucket[j], want[j], "shift %g, key %d: %d", shift, j, bucket[j]);
    }
}

/* A33: one query at the end sees what the last row of the whole sees. */
Test(t5, a_row_alone_is_the_row_of_the_whole)
{
    enum { LEN = 300 };
    static real whole[2 * LEN * LEN], row[2 * LEN];
    rig g;
    rig_open(&g, "t5", rig_shape(2, 4, 64, 1), NULL, LEN);
    uint32_t state = 3;
    for (int i = 0; i < 64; i++)
        g.theta[0][i] = (real)rig_noise(&state);
    rig_bias(&g, whole);
    for (int query = 0; query < LEN; query += 13) {
        memset(row, 0, sizeof row);
        pe_tile t = {.row_begin = query, .rows = 1, .keys = query + 1, .stride = LEN, .plane = LEN, .scale = 1};
        g.d->bias(&g.c, &t, row);
        for (int h = 0; h < 2; h++)
            cr_assert_arr_eq(row + h * LEN, whole + h * LEN * LEN + query * LEN, LEN * sizeof(real));
    }
    rig_close(&g);
}
