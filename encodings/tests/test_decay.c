/* test_decay.c - biases that fall with the distance: what people met when they trained, decoded or re-used them. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rig.h"

static real *decay_zeros(size_t count)
{
    real *memory = calloc(count, sizeof *memory);
    cr_assert_not_null(memory);
    return memory;
}

/* Some value for every parameter, where there are any. */
static void decay_fill(rig *g)
{
    uint32_t state = 5;
    for (int p = 0; p < g->params; p++)
        for (int i = 0; i < g->param[p].rows * g->param[p].cols; i++)
            g->theta[p][i] = (real)(0.6 + rig_noise(&state));
}

static void decay_start(rig *g)
{
    for (int p = 0; p < g->params && g->d->init; p++)
        g->d->init(&g->c, p, g->theta[p]);
}

static void decay_expect_refusal(const char *text, pe_shape shape, const char *words)
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

/* ------------------------------------------------------------------------------------------------ all of them */

/* own_most: a key at distance 0 has bias 0, and none has more. */
static const struct {
    const char *text;
    int own_most;
} decay_family[] = {
    {"alibi", 1},
    {"alibi(slopes=learned)", 1},
    {"t5", 0},
    {"kerple", 1},
    {"kerple(kind=power)", 1},
    {"kerple(kind=composite)", 1},
    {"sandwich", 0},
    {"sandwich(first_index=1,centered=true)", 1},
    {"fire(hidden=4)", 0},
    {"window(size=5,sinks=1)", 1},
};
enum { DECAY_FAMILY = sizeof decay_family / sizeof decay_family[0] };

/* A33: decoding. The last token of every beginning of a sequence sees what its row of the whole sequence sees. */
Test(decay, a_decoded_row_is_the_row_of_the_whole)
{
    enum { LEN = 40, HEADS = 3 };
    real whole[HEADS * LEN * LEN], row[HEADS * LEN];
    for (int f = 0; f < DECAY_FAMILY; f++) {
        rig all;
        rig_open(&all, decay_family[f].text, rig_shape(HEADS, 4, 16, 1), NULL, LEN);
        decay_fill(&all);
        rig_bias(&all, whole);
        for (int len = 1; len <= LEN; len++) {
            rig part;
            rig_open(&part, decay_family[f].text, rig_shape(HEADS, 4, 16, 1), NULL, len);
            decay_fill(&part);
            part.c.total_len = LEN;
            pe_tile t = {.row_begin = len - 1, .rows = 1, .keys = len, .stride = LEN, .plane = LEN, .scale = 0.5};
            memset(row, 0, sizeof row);
            part.d->bias(&part.c, &t, row);
            for (int h = 0; h < HEADS; h++)
                cr_assert_arr_eq(row + h * LEN, whole + (h * LEN + len - 1) * LEN, len * sizeof(real), "%s, %d tokens",
                                 decay_family[f].text, len);
            rig_close(&part);
        }
        rig_close(&all);
    }
}

/* A39: four queries against six keys, then against four, from the same cache: as if there had been no first call, and
 * distance 0 is where key and query are the same. */
Test(decay, a_cache_serves_fewer_keys)
{
    enum { HEADS = 3 };
    for (int f = 0; f < DECAY_FAMILY; f++) {
        real first[HEADS * 24] = {0}, second[HEADS * 16] = {0}, fresh[HEADS * 16];
        pe_tile six = {.row_begin = 2, .rows = 4, .keys = 6, .stride = 6, .plane = 24, .scale = 0.5};
        pe_tile four = {.row_begin = 0, .rows = 4, .keys = 4, .stride = 4, .plane = 16, .scale = 0.5};
        rig g, other;
        rig_open(&g, decay_family[f].text, rig_shape(HEADS, 4, 16, 1), NULL, 6);
        rig_open(&other, decay_family[f].text, rig_shape(HEADS, 4, 16, 1), NULL, 4);
        decay_fill(&g);
        decay_fill(&other);
        g.d->bias(&g.c, &six, first);
        g.d->bias(&g.c, &four, second);
        rig_bias(&other, fresh);
        cr_assert_arr_eq(second, fresh, sizeof fresh, "%s", decay_family[f]);
        for (int i = 0; i < HEADS * 24 && decay_family[f].own_most; i++) {
            int r = i / 6 % 4, j = i % 6;
            cr_assert(j == r + 2 ? fabs((double)first[i]) < 1e-12 : j > r + 2 || first[i] <= 0, "%s: query %d, key %d",
                      decay_family[f].text, r, j);
        }
        rig_close(&g);
        rig_close(&other);
    }
}

/* ------------------------------------------------------------------------------------------------ alibi */

/* A36: from equal scores, nearer keys get more weight; and the first step of training moves slopes the right way. */
Test(alibi_learned, nearer_keys_weigh_more)
{
    static const char *const texts[] = {"alibi", "alibi(slopes=learned)"};
    for (int k = 0; k < 2; k++) {
        real bias[8 * 16], ds[8 * 16] = {0};
        rig g;
        rig_open(&g, texts[k], rig_shape(8, 4, 8, 1), NULL, 4);
        decay_start(&g);
        rig_bias(&g, bias);
        const double row[] = {-1.5, -1, -0.5, 0};
        for (int j = 0; j < 4; j++)
            rig_near(bias[12 + j], row[j], 1e-6, "row 3 of head 0");
        for (int h = 0; h < 8; h++)
            for (int j = 1; j < 4; j++)
                cr_assert_gt(exp(bias[h * 16 + 12 + j]), exp(bias[h * 16 + 12 + j - 1]));
        if (k == 1) {
            pe_tile t = rig_tile(&g);
            ds[2 * 16 + 12] = 1; /* head 2 wants less of the farthest key */
            g.d->bias_bwd(&g.c, &t, ds);
            rig_near(g.dtheta[0][2], -3 / 8., 1e-6, "d(-m 3) / d ln m");
            cr_assert_eq(g.dtheta[0][1], 0);
        }
        rig_close(&g);
    }
}

/* Learned slopes begin where the released rule has them, for head counts that are no power of two as well (A34, A35),
 * in every form. */
Test(alibi_learned, starts_as_the_released_rule)
{
    static const char *const texts[][2] = {{"alibi", "alibi(slopes=learned)"},
                                           {"alibi(bias_max=4)", "alibi(slopes=learned,bias_max=4)"},
                                           {"alibi(scaled=true)", "alibi(slopes=learned,scaled=true)"},
                                           {"alibi(form=asymmetric)", "alibi(slopes=learned,form=asymmetric)"}};
    static const int heads[] = {1, 3, 6, 8, 12};
    real fixed[12 * 16], learned[12 * 16];
    for (int k = 0; k < 4; k++)
        for (int n = 0; n < 5; n++)
            for (int causal = 0; causal < 2; causal++) {
                rig a, b;
                rig_open(&a, texts[k][0], rig_shape(heads[n], 4, 8, causal), NULL, 4);
                rig_open(&b, texts[k][1], rig_shape(heads[n], 4, 8, causal), NULL, 4);
                cr_assert_eq(b.params, 1);
                cr_assert(!b.param[0].per_layer && b.param[0].cols == heads[n], "one vector for all layers");
                decay_start(&b);
                rig_bias(&a, fixed);
                rig_bias(&b, learned);
                for (int i = 0; i < heads[n] * 16; i++)
                    rig_near(learned[i], fixed[i], 2e-6, texts[k][1]);
                rig_close(&a);
                rig_close(&b);
            }
}

/* A39: eight heads with bias on five: slopes of five heads, and nothing at all on the last three. */
Test(alibi, heads_without_bias)
{
    static const double slopes[] = {1 / 4., 1 / 16., 1 / 64., 1 / 256., 1 / 2.};
    static const char *const texts[] = {"alibi(biased_heads=5)", "alibi(biased_heads=5,slopes=learned)"};
    for (int k = 0; k < 2; k++) {
        real bias[8 * 16], ds[8 * 16];
        rig g;
        rig_open(&g, texts[k], rig_shape(8, 4, 8, 1), NULL, 4);
        decay_start(&g);
        rig_bias(&g, bias);
        for (int h = 0; h < 8; h++)
            for (int j = 0; j < 4; j++)
                rig_near(bias[h * 16 + 12 + j], h < 5 ? -slopes[h] * (3 - j) : 0, 1e-6, texts[k]);
        for (int i = 0; i < 8 * 16; i++)
            ds[i] = 1;
        pe_tile t = rig_tile(&g);
        g.d->bias_bwd(&g.c, &t, ds);
        cr_assert_eq(g.params, k);
        if (k == 1) {
            cr_assert_eq(g.param[0].cols, 5);
            rig_near(g.dtheta[0][0], -10 / 4., 1e-5, "sum of ten distances");
        }
        rig_close(&g);
    }
    decay_expect_refusal("alibi(biased_heads=9)", rig_shape(8, 4, 8, 1), "biased_heads=9, but there are only 8 heads");
}

/* ------------------------------------------------------------------------------------------------ t5 */

/* Rows of the table that a training step on len tokens reaches: bit b for row b. */
static unsigned t5_rows_with_gradient(int len)
{
    rig g;
    unsigned rows = 0;
    rig_open(&g, "t5", rig_shape(1, 4, len, 1), NULL, len);
    real *ds = decay_zeros((size_t)len * (size_t)len);
    for (int i = 0; i < len * len; i++)
        ds[i] = 1;
    pe_tile t = rig_tile(&g);
    g.d->bias_bwd(&g.c, &t, ds);
    for (int b = 0; b < 32; b++)
        rows |= (unsigned)(g.dtheta[0][b] != 0) << b;
    free(ds);
    rig_close(&g);
    return rows;
}

static unsigned t5_rows_from_to(int first, int last)
{
    return (unsigned)((UINT64_C(1) << (last + 1)) - (UINT64_C(1) << first));
}

/* C8: with T5's defaults training below 114 tokens leaves rows of the table as they started, and longer tests read
 * them.
 */
Test(t5, short_training_leaves_rows_untouched)
{
    static const struct {
        int len, untouched, met_at_twice, met_at_four_times; /* rows from untouched on; the last that a test reads */
    } cases[] = {{16, 16, 21, 26}, {32, 22, 26, 31}, {64, 27, 31, 31}, {113, 31, 31, 31}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned trained = t5_rows_with_gradient(cases[i].len);
        cr_assert_eq(trained, t5_rows_from_to(0, cases[i].untouched - 1), "trained on %d: rows %#x", cases[i].len,
                     trained);
        cr_assert_eq(t5_rows_with_gradient(2 * cases[i].len) & ~trained,
                     t5_rows_from_to(cases[i].untouched, cases[i].met_at_twice));
        cr_assert_eq(t5_rows_with_gradient(4 * cases[i].len) & ~trained,
                     t5_rows_from_to(cases[i].untouched, cases[i].met_at_four_times));
    }
    cr_assert_eq(t5_rows_with_gradient(114), 0xffffffffu);
    cr_assert_eq(t5_rows_with_gradient(128), 0xffffffffu);
}
