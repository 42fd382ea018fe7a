/* test_temperature.c - what temperatures multiply, by how much, and what they leave alone. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "refhost.h"
#include "rig.h"

/* s[heads][len][len] of ones through score; rows below the causal limit keep what they had. */
static void factors_of(rig *g, real *s)
{
    int len = g->c.len, heads = g->shape.heads;
    pe_sizes sizes = {0};
    pe_tile t = rig_tile(g);
    if (g->d->sizes)
        g->d->sizes(&g->c, len, len, &sizes);
    real *save = malloc((sizes.save_reals ? sizes.save_reals : 1) * sizeof *save);
    cr_assert_not_null(save);
    for (int i = 0; i < heads * len * len; i++)
        s[i] = 1;
    g->d->score(&g->c, &t, s, save);
    for (int h = 0; h < heads; h++)
        for (int r = 0; r < len; r++)
            for (int j = r + 1; g->shape.causal && j < len; j++)
                cr_assert_eq(s[(h * len + r) * len + j], 1, "hidden keys are left alone");
    free(save);
}

/* want[len]: the factor of each query's row, the same for all heads and keys. */
static void rows_are(const char *text, pe_shape shape, const double *pos, int len, const double *want)
{
    real *s = malloc((size_t)shape.heads * (size_t)len * (size_t)len * sizeof *s);
    rig g;
    cr_assert_not_null(s);
    rig_open(&g, text, shape, pos, len);
    factors_of(&g, s);
    for (int h = 0; h < shape.heads; h++)
        for (int r = 0; r < len; r++)
            for (int j = 0; j < (shape.causal ? r + 1 : len); j++)
                rig_near(s[(h * len + r) * len + j], want[r], 1e-6, text);
    rig_close(&g);
    free(s);
}

/* ------------------------------------------------------------------------------------------------ logn */

/* ln n / ln L with n = i + 1 under a causal mask: 1 up to L = 4 keys, then ln 5 / ln 4 ..; 2 at 16 keys. */
Test(logn, grows_with_the_keys_past_the_length)
{
    const double want[16] = {[0] = 1,
                             [1] = 1,
                             [2] = 1,
                             [3] = 1,
                             [4] = 1.160964047,
                             [5] = 1.292481250,
                             [6] = 1.403677461,
                             [7] = 1.5,
                             [8] = 1.584962501,
                             [9] = 1.660964047,
                             [10] = 1.729715809,
                             [11] = 1.792481250,
                             [12] = 1.850219859,
                             [13] = 1.903677461,
                             [14] = 1.953445298,
                             [15] = 2};
    const double plain[3] = {1, 1, 1}, all[5] = {1.160964047, 1.160964047, 1.160964047, 1.160964047, 1.160964047};
    rows_are("logn", rig_shape(2, 4, 4, 1), NULL, 16, want);
    rows_are("logn(length=4)", rig_shape(2, 4, 9, 1), NULL, 16, want);
    rows_are("logn", rig_shape(1, 4, 4, 0), NULL, 3, plain);
    rows_are("logn", rig_shape(1, 4, 4, 0), NULL, 5, all); /* every query sees all five */
}

/* While decoding without a causal mask, all keys of the complete sequence count. */
Test(logn, counts_the_complete_sequence)
{
    real s[9];
    rig g;
    rig_open(&g, "logn", rig_shape(1, 4, 4, 0), NULL, 3);
    g.c.total_len = 16;
    factors_of(&g, s);
    for (int i = 0; i < 9; i++)
        rig_near(s[i], 2, 1e-6, "factor");
    rig_close(&g);
}

Test(logn, a_length_of_one_is_refused)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    pe_stack s;
    pe_shape shape = rig_shape(1, 4, 1, 1);
    cr_assert_eq(stack_parse(r, "logn", &s, &e), 0);
    cr_assert_eq(stack_check(&s, &shape, 8, &e), -1);
    cr_assert_str_eq(e.message, "logn: length 1 has no logarithm to divide by; it must be at least 2");
    stack_free(&s);
    registry_free(r);
}

/* ------------------------------------------------------------------------------------------------ ssmax */

/* s_h ln n: each head has its own; one visible key is multiplied by 0. */
Test(ssmax, is_s_times_the_logarithm_of_the_keys)
{
    real s[2 * 9];
    rig g;
    rig_open(&g, "ssmax", rig_shape(2, 4, 8, 1), NULL, 3);
    cr_assert_eq(g.params, 1);
    cr_assert(g.param[0].rows == 1 && g.param[0].cols == 2 && g.param[0].per_layer == 1);
    cr_assert(g.param[0].mean == 0.43 && g.param[0].deviation == 0, "all heads start at 0.43");
    g.theta[0][0] = (real)0.43;
    g.theta[0][1] = 2;
    factors_of(&g, s);
    rig_near(s[0], 0, 1e-9, "one key");
    rig_near(s[3], 0.298053287, 1e-6, "0.43 ln 2");
    rig_near(s[6], 0.472403284, 1e-6, "0.43 ln 3");
    rig_near(s[9 + 8], 2.197224577, 1e-6, "2 ln 3");
    rig_close(&g);
}

/* The paper's figure 1: one score of 3 among n - 1 of -2, s = 0.43. The largest weight stays near 1 where that of a
 * plain softmax vanishes: n^(5 s) / (n^(5 s) + n - 1). */
Test(ssmax, attention_does_not_fade)
{
    enum { LEN = 1000 };
    static real s[LEN];
    real *save = calloc(LEN, sizeof *save);
    rig g;
    cr_assert_not_null(save);
    rig_open(&g, "ssmax", rig_shape(1, 4, 8, 1), NULL, LEN);
    g.theta[0][0] = (real)0.43;
    pe_tile t = {.row_begin = LEN - 1, .rows = 1, .keys = LEN, .stride = LEN, .plane = LEN, .scale = 1};
    for (int j = 0; j < LEN; j++)
        s[j] = j == LEN - 1 ? 3 : -2;
    g.d->score(&g.c, &t, s, save);
    double sum = 0;
    for (int j = 0; j < LEN; j++)
        sum += exp(s[j] - s[LEN - 1]);
    rig_near(1 / sum, 0.999645667, 1e-5, "weight of the largest");
    rig_near(1 / (1 + 999 * exp(-5)), 0.129345875, 1e-5, "the same without");
    rig_close(&g);
    free(save);
}

/* ------------------------------------------------------------------------------------------------ temper */

/* 1 + c ln s with s = max(1, total_len / training length). */
Test(temper, by_length)
{
    const double plain[4] = {1, 1, 1, 1};
    double twice[8], small[8];
    for (int i = 0; i < 8; i++) {
        twice[i] = 1.285576638; /* 1 + 0.412 ln 2 */
        small[i] = 1.071394160; /* 1 + 0.103 ln 2 */
    }
    rows_are("temper", rig_shape(2, 4, 4, 1), NULL, 4, plain);
    rows_are("temper", rig_shape(2, 4, 9, 0), NULL, 4, plain);
    rows_are("temper", rig_shape(2, 4, 4, 1), NULL, 8, twice);
    rows_are("temper(coefficient=0.103)", rig_shape(1, 4, 4, 0), NULL, 8, small);
}

Test(temper, fixed)
{
    const double want[3] = {1.2, 1.2, 1.2}, seven[3] = {7, 7, 7};
    rows_are("temper(form=fixed)", rig_shape(2, 4, 8, 1), NULL, 3, want);
    rows_are("temper(form=fixed,factor=7)", rig_shape(2, 4, 8, 0), NULL, 3, seven);
}

/* 1 + 0.1 ln(floor((p+1)/8192) + 1): the first 8191 positions change nothing; p = 8191 is the first that does. */
Test(temper, llama4)
{
    const double pos[] = {0, 8190, 8190.5, 8191, 16382, 16383, 131071};
    const double want[] = {1, 1, 1, 1.069314718, 1.069314718, 1.109861229, 1.283321334};
    rows_are("temper(form=llama4)", rig_shape(2, 4, 8, 1), pos, 7, want);
    rows_are("temper(form=llama4)", rig_shape(1, 4, 8, 0), pos, 7, want);
}

Test(temper, options_of_other_forms_are_refused)
{
    static const char *const cases[][2] = {
        {"temper(form=fixed,coefficient=1)", "temper: coefficient has a meaning in form=length only"},
        {"temper(factor=2)", "temper: factor has a meaning in form=fixed only"},
        {"temper(scale=2)", "temper: scale has a meaning in form=llama4 only"},
        {"temper(form=fixed,interval=4)", "temper: interval has a meaning in form=llama4 only"},
    };
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    pe_shape shape = rig_shape(1, 4, 8, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pe_stack s;
        error refusal = ERROR_INIT;
        cr_assert_eq(stack_parse(r, cases[i][0], &s, &e), 0, "%s", e.message);
        cr_assert_eq(stack_check(&s, &shape, 8, &refusal), -1, "%s", cases[i][0]);
        cr_assert_str_eq(refusal.message, cases[i][1]);
        stack_free(&s);
    }
    registry_free(r);
}

/* ------------------------------------------------------------------------------------------------ in a stack */

enum { STACKED_LEN = 6, STACKED_WIDTH = 8, STACKED_PAIRS = 2 * STACKED_LEN * STACKED_LEN };

/* Logits (=) and bias (=) of a stack for fixed q and k; two heads of 4, causal, every parameter the same noise
 * wherever its owner stands. */
static void stacked(const char *text, double logits[STACKED_PAIRS], double bias[STACKED_PAIRS])
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    pe_stack stack;
    real q[STACKED_LEN * STACKED_WIDTH], k[STACKED_LEN * STACKED_WIDTH];
    uint32_t state = 9;
    for (int i = 0; i < STACKED_LEN * STACKED_WIDTH; i++) {
        q[i] = (real)rig_noise(&state);
        k[i] = (real)rig_noise(&state);
    }
    const refhost_settings settings = {.shape = rig_shape(2, 4, 8, 1), .len = STACKED_LEN, .tile_rows = 2, .pad = 1};
    const refhost_input in = {.q = q, .k = k};
    cr_assert(r && stack_parse(r, text, &stack, &e) == 0 && stack_check(&stack, &settings.shape, 8, &e) == 0, "%s",
              e.message);
    refhost *h = refhost_new(&stack, &settings, &e);
    cr_assert_not_null(h, "%s", e.message);
    for (int i = 0; i < refhost_param_count(h); i++) {
        const refhost_param *p = refhost_param_at(h, i);
        uint32_t own = 3;
        for (size_t j = 0; j < p->count; j++)
            p->theta[j] = (real)rig_noise(&own);
    }
    refhost_output out = refhost_forward(h, &in);
    for (int i = 0; i < STACKED_PAIRS; i++) {
        logits[i] = (double)out.logits[i];
        bias[i] = (double)out.bias[i];
    }
    refhost_free(h);
    stack_free(&stack);
    registry_free(r);
}

/* What earlier members made of the scores is multiplied, biases are not, wherever they stand in the text. */
Test(temperature, multiplies_scores_and_no_bias)
{
    static double rope[STACKED_PAIRS], hot[STACKED_PAIRS], biased[STACKED_PAIRS], swapped[STACKED_PAIRS];
    static double none[STACKED_PAIRS], bias[STACKED_PAIRS];
    stacked("rope", rope, none);
    stacked("rope+temper(form=fixed,factor=3)", hot, none);
    stacked("rope+alibi+temper(form=fixed,factor=3)", biased, bias);
    stacked("temper(form=fixed,factor=3)+alibi+rope", swapped, bias);
    for (int i = 0; i < STACKED_PAIRS; i++) {
        if (isinf(rope[i]))
            continue;
        rig_near(hot[i], 3 * rope[i], 1e-5, "rotated scores");
        rig_near(biased[i], 3 * rope[i] + bias[i], 1e-5, "scores and slopes");
        rig_near(swapped[i], biased[i], 1e-5, "a rotation and a bias have no place in the order");
    }
    cr_assert(bias[STACKED_LEN * (STACKED_LEN - 1)] < -0.1, "there is a bias");
}

/* Among members that work on scores, order is meaning: shaw's term is multiplied behind it only. */
Test(temperature, order_among_score_members_is_meaning)
{
    static double plain[STACKED_PAIRS], keys[STACKED_PAIRS], before[STACKED_PAIRS], behind[STACKED_PAIRS];
    static double none[STACKED_PAIRS];
    double apart = 0;
    stacked("nope", plain, none);
    stacked("shaw", keys, none);
    stacked("temper(form=fixed,factor=3)+shaw", before, none);
    stacked("shaw+temper(form=fixed,factor=3)", behind, none);
    for (int i = 0; i < STACKED_PAIRS; i++) {
        if (isinf(plain[i]))
            continue;
        rig_near(before[i], 3 * plain[i] + (keys[i] - plain[i]), 1e-5, "multiplied before");
        rig_near(behind[i], 3 * keys[i], 1e-5, "multiplied behind");
        apart = fmax(apart, fabs(keys[i] - plain[i]));
    }
    cr_assert(apart > 0.01, "shaw adds something");
}
