/* test_txl.c - Transformer-XL positions beside sinusoids computed pair by pair. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "pairs.h"
#include "rig.h"

/* What the test knows of the options; the hooks are told in the stack's text. */
static struct {
    int features;
    double base, clamp;
} txl;

/* W_h s(D), the sinusoid feature by feature. */
static double txl_slow(const pairs *p, int h, int i, int j)
{
    const real *u = pairs_param(p, "u") + h * p->dim, *v = pairs_param(p, "v") + h * p->dim, *r = pairs_param(p, "r");
    const double *pos = p->settings.pos;
    double distance = pos ? pos[i] - pos[j] : i - j, score = pairs_score(p, h, i, j);
    int sines = (txl.features + 1) / 2;
    if (txl.clamp > 0)
        distance = fmax(-txl.clamp, fmin(txl.clamp, distance));
    score += p->scale * pairs_dot(u, pairs_k(p, h, j), p->dim);
    for (int f = 0; f < txl.features; f++) {
        double angle = distance * pow(txl.base, -2.0 * (f < sines ? f : f - sines) / txl.features);
        double wave = f < sines ? sin(angle) : cos(angle);
        for (int d = 0; d < p->dim; d++)
            score +=
                p->scale * (double)(pairs_q(p, h, i)[d] + v[d]) * (double)r[(h * p->dim + d) * txl.features + f] * wave;
    }
    return score;
}

static void txl_expect(const char *text, int len, int causal, const double *pos)
{
    pairs p;
    pairs_open(&p, text, 3, 4, len, causal, pos);
    pairs_expect(&p, txl_slow, 1e-12, 1e-5, text);
    pairs_expect_gradient(&p, text);
    pairs_close(&p);
}

/* 150 keys: more than the hooks take at once. */
Test(txl, is_the_formula_in_both_directions)
{
    for (int causal = 0; causal <= 1; causal++) {
        txl.features = 12;
        txl.base = 10000;
        txl.clamp = 0;
        txl_expect("txl", 150, causal, NULL);
        txl.features = 7;
        txl.base = 100;
        txl.clamp = 5;
        txl_expect("txl(features=7,base=100,clamp=5)", 150, causal, NULL);
        txl.features = 1;
        txl_expect("txl(features=1,base=100,clamp=5)", 9, causal, NULL);
    }
}

/* Fractions, equal positions and positions far from the origin: a float angle of 20000 would be off by a thousandth. */
Test(txl, real_positions_far_out)
{
    double pos[40], back[40];
    for (int t = 0; t < 40; t++) {
        pos[t] = 20000 + t * 0.75 - (t % 5 == 3 ? 0.75 : 0);
        back[t] = t < 20 ? 100 + t : t - 20.5; /* a map may let positions fall */
    }
    txl.features = 12;
    txl.base = 10000;
    for (int causal = 0; causal <= 1; causal++) {
        txl.clamp = 0;
        txl_expect("txl", 40, causal, pos);
        txl_expect("txl", 40, causal, back);
        txl.clamp = 4.5;
        txl_expect("txl(clamp=4.5)", 40, causal, pos);
        txl_expect("txl(clamp=4.5)", 40, causal, back);
    }
}

Test(txl, beyond_the_clamp_all_distances_are_alike)
{
    pairs p;
    pairs_open(&p, "txl(clamp=8)", 1, 4, 300, 1, NULL);
    memset(p.t.k, 0, p.t.plain * sizeof(real));
    refhost_output out = refhost_forward(p.t.host, &p.t.in);
    const real *last = out.logits + 299 * 300;
    for (int j = 0; j < 291; j++)
        cr_assert_eq(last[j], last[0]);
    rig_near((double)last[291], (double)last[0], 1e-5, "distance 8 itself");
    cr_assert(fabs((double)(last[292] - last[0])) > 1e-4, "distance 7 is not clamped");
    pairs_close(&p);
}

/* ------------------------------------------------------------------------------------------------ the shift of rows */

/* The distance that the score hook takes query row `query` and each key for: one slow sine is all that its W reads. */
static void txl_distances(int causal, int len, int query, double *distance)
{
    const real q[1] = {1}, k[1] = {0};
    real row[16] = {0}, keys[256];
    rig g;
    rig_open(&g, "txl(features=3,base=1e12)", rig_shape(1, 1, 8, causal), NULL, len);
    g.theta[0][1] = 1; /* of sin(D), sin(1e-8 D), cos(D) */
    pe_tile t = {.row_begin = query,
                 .rows = 1,
                 .keys = causal ? query + 1 : len,
                 .stride = 16,
                 .plane = 16,
                 .q = q,
                 .k = k,
                 .head_stride = 1,
                 .rotated_dim = 1,
                 .scale = 1,
                 .gate = keys};
    pe_sizes sizes = {0};
    g.d->sizes(&g.c, 1, len, &sizes);
    cr_assert_leq(sizes.gate_reals, sizeof keys / sizeof *keys);
    g.d->gate(&g.c, k, keys);
    g.d->score(&g.c, &t, row, NULL);
    for (int j = 0; j < len; j++)
        distance[j] = round(asin((double)row[j]) / 1e-8);
    rig_close(&g);
}

/* A43. Released code computes a column for each distance and shifts the rows: the 3 x 3 matrix 1 .. 9 becomes
 * [3 0 4][5 6 0][7 8 9], whose upper triangle holds other rows' values. That is harmless under a causal mask and wrong
 * without one. */
Test(txl, a_shift_of_rows_is_right_only_where_a_causal_mask_looks)
{
    static const double columns[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, want[9] = {3, 0, 4, 5, 6, 0, 7, 8, 9};
    double padded[12], shifted[9], distance[16];
    for (int i = 0; i < 12; i++)
        padded[i] = i % 4 == 0 ? 0 : columns[i / 4 * 3 + i % 4 - 1];
    memcpy(shifted, padded + 3, sizeof shifted);
    cr_assert_arr_eq(shifted, want, sizeof want);
    for (int i = 0; i < 3; i++) {
        txl_distances(1, 3, i, distance);
        for (int j = 0; j <= i; j++)
            cr_assert_eq(columns[i * 3 + 2 - (int)distance[j]], shifted[i * 3 + j], "query %d, key %d", i, j);
    }
}

/* Without a mask there are 2L - 1 distances of both signs; and three queries behind a memory of two keys. */
Test(txl, distances_of_both_signs_and_behind_a_memory)
{
    double distance[16];
    int met[5] = {0};
    for (int i = 0; i < 3; i++) {
        txl_distances(0, 3, i, distance);
        for (int j = 0; j < 3; j++) {
            cr_assert_eq(distance[j], i - j);
            met[(int)distance[j] + 2]++;
        }
        txl_distances(1, 5, i + 2, distance);
        for (int j = 0; j <= i + 2; j++)
            cr_assert_eq(distance[j], i + 2 - j, "query %d of 3, key %d of 5: %g", i, j, distance[j]);
    }
    for (int d = 0; d < 5; d++)
        cr_assert_gt(met[d], 0);
}
