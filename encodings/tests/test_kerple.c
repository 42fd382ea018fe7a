/* test_kerple.c - parameters that must stay positive, and the two places where the composite form acts. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "rig.h"

static real *kerple_zeros(size_t count)
{
    real *memory = calloc(count, sizeof *memory);
    cr_assert_not_null(memory);
    return memory;
}

static const double kerple_far[] = {0, 0, 0.25, 1, 2, 50, 1e4, 1e6};
enum { KERPLE_LEN = sizeof kerple_far / sizeof kerple_far[0] };

/* Sets all parameters of all heads. */
static void kerple_set(rig *g, double value)
{
    for (int p = 0; p < g->params; p++)
        for (int h = 0; h < g->param[p].cols; h++)
            g->theta[p][h] = (real)value;
}

/* s[len][len] of one head: a penalty of 0 at distance 0, which never falls with the distance and is always finite. */
static void kerple_expect_sane(const real *s, double at_zero, double value, const char *text)
{
    for (int i = 0; i < KERPLE_LEN; i++)
        for (int j = 0; j < KERPLE_LEN; j++) {
            double own = s[i * KERPLE_LEN + j], distance = fabs(kerple_far[i] - kerple_far[j]);
            cr_assert(isfinite(own), "%s, %g: %g at distance %g", text, value, own, distance);
            cr_assert(distance > 0 || own == at_zero, "%s, %g: %g at distance 0", text, value, own);
            for (int k = 0; k < KERPLE_LEN; k++)
                cr_assert(fabs(kerple_far[i] - kerple_far[k]) < distance || s[i * KERPLE_LEN + k] <= own,
                          "%s, %g: farther keys are favoured", text, value);
        }
}

/* A45: a logarithm of a signed distance is NaN without a causal mask; parameters kept positive by writing them make
 * evaluation change the model. */
Test(kerple, any_parameter_gives_a_sane_bias_and_stays_as_it_is)
{
    static const char *const kinds[] = {"kerple", "kerple(kind=power)", "kerple(kind=composite)",
                                        "kerple(kind=power,scaled=true)", "kerple(eps=1e-6)"};
    static const double values[] = {-1, 0, 1e-30, 1e30};
    real bias[KERPLE_LEN * KERPLE_LEN], again[KERPLE_LEN * KERPLE_LEN], ds[KERPLE_LEN * KERPLE_LEN];
    for (int k = 0; k < 5; k++)
        for (int v = 0; v < 4; v++) {
            rig g;
            rig_open(&g, kinds[k], rig_shape(1, 4, 8, 0), kerple_far, KERPLE_LEN);
            kerple_set(&g, values[v]);
            rig_bias(&g, bias);
            rig_bias(&g, again);
            cr_assert_arr_eq(bias, again, sizeof bias);
            kerple_expect_sane(bias, 0, values[v], kinds[k]);
            for (int i = 0; i < KERPLE_LEN * KERPLE_LEN; i++)
                ds[i] = 1;
            pe_tile t = rig_tile(&g);
            g.d->bias_bwd(&g.c, &t, ds);
            for (int p = 0; p < g.params; p++) {
                cr_assert_eq(g.theta[p][0], (real)values[v], "evaluation writes parameter %s", g.param[p].name);
                cr_assert(isfinite(g.dtheta[p][0]));
            }
            for (int p = 0; p < 2 && values[v] < 1; p++)
                cr_assert(g.dtheta[p][0] < 0, "%s, %g: no way back for %s", kinds[k], values[v], g.param[p].name);
            rig_close(&g);
        }
}

/* The upper bound of an exponent lets a gradient through as well: at p = 5, read as 2, that of p = 2. */
Test(kerple, the_gradient_passes_the_bounds)
{
    static const double pos[] = {0, 3};
    static const double raw[][2] = {{5, 2}, {-4, 0.01}};
    for (int k = 0; k < 2; k++) {
        rig g;
        real ds[4] = {0, 0, 1, 0};
        rig_open(&g, "kerple(kind=power)", rig_shape(1, 4, 8, 1), pos, 2);
        g.theta[0][0] = (real)raw[k][0];
        g.theta[1][0] = (real)0.5;
        pe_tile t = rig_tile(&g);
        g.d->bias_bwd(&g.c, &t, ds);
        rig_near(g.dtheta[0][0], -0.5 * pow(3, raw[k][1]) * log(3), 1e-6, "by p");
        rig_near(g.dtheta[1][0], -pow(3, raw[k][1]), 2e-6, "by a");
        rig_close(&g);
    }
}

/* The product of the composite form: weights between 0 and 1, at any position and any parameter; the other kinds leave
 * scores alone and ask for no memory. */
Test(kerple, scores_are_weighed_by_the_composite_form_only)
{
    static const char *const texts[] = {"kerple", "kerple(kind=power)", "kerple(kind=composite)"};
    static const double values[] = {-1, 0, 1e-30, 0.5, 1e30};
    for (int k = 0; k < 3; k++)
        for (int v = 0; v < 5; v++) {
            rig g;
            pe_sizes sizes = {0, 0, 0};
            real s[KERPLE_LEN * KERPLE_LEN];
            rig_open(&g, texts[k], rig_shape(1, 4, 8, 0), kerple_far, KERPLE_LEN);
            g.d->sizes(&g.c, KERPLE_LEN, KERPLE_LEN, &sizes);
            cr_assert_eq(sizes.save_reals > 0, k == 2);
            cr_assert_eq(sizes.cache_bytes > 0, k == 2);
            kerple_set(&g, values[v]);
            for (int i = 0; i < KERPLE_LEN * KERPLE_LEN; i++)
                s[i] = 2;
            real *save = kerple_zeros(sizes.save_reals + 1);
            pe_tile t = rig_tile(&g);
            g.d->score(&g.c, &t, s, save);
            for (int i = 0; k < 2 && i < KERPLE_LEN * KERPLE_LEN; i++)
                cr_assert_eq(s[i], 2);
            if (k == 2)
                kerple_expect_sane(s, 2, values[v], texts[k]);
            free(save);
            rig_close(&g);
        }
}

/* Tokens one apart share their weights by distance; a hair's breadth beside them every pair has its own. Both ways must
 * agree, forwards and backwards. */
Test(kerple, both_ways_to_weigh_agree)
{
    enum { LEN = 300, HEADS = 2, ALL = HEADS * LEN * LEN };
    static double beside[LEN];
    for (int causal = 0; causal < 2; causal++) {
        real *s[2], *ds[2];
        double by[2][2];
        for (int t = 0; t < LEN; t++)
            beside[t] = t + (t == LEN / 2 ? 1e-9 : 0);
        for (int way = 0; way < 2; way++) {
            rig g;
            pe_sizes sizes = {0, 0, 0};
            uint32_t state = 9;
            rig_open(&g, "kerple(kind=composite)", rig_shape(HEADS, 4, 8, causal), way ? beside : NULL, LEN);
            for (int p = 0; p < 4; p++)
                for (int h = 0; h < HEADS; h++)
                    g.theta[p][h] = (real)(0.6 + rig_noise(&state));
            g.d->sizes(&g.c, LEN, LEN, &sizes);
            real *save = kerple_zeros(sizes.save_reals);
            s[way] = kerple_zeros(ALL);
            ds[way] = kerple_zeros(ALL);
            for (int i = 0; i < ALL; i++) {
                s[way][i] = (real)rig_noise(&state);
                ds[way][i] = !causal || i % LEN <= i / LEN % LEN ? (real)rig_noise(&state) : 0;
            }
            pe_tile t = rig_tile(&g);
            pe_tile_grad none = {NULL, NULL, NULL, NULL};
            g.d->score(&g.c, &t, s[way], save);
            g.d->score_bwd(&g.c, &t, save, ds[way], &none);
            by[way][0] = (double)g.dtheta[2][1];
            by[way][1] = (double)g.dtheta[3][0];
            free(save);
            rig_close(&g);
        }
        for (int i = 0; i < ALL; i++) {
            cr_assert(fabs((double)s[0][i] - (double)s[1][i]) < 1e-7);
            cr_assert(fabs((double)ds[0][i] - (double)ds[1][i]) < 1e-7);
        }
        rig_near(by[0][0], by[1][0], 1e-4, "d weight_p");
        rig_near(by[0][1], by[1][1], 1e-4, "d weight_a");
        cr_assert(by[0][0] != 0 && by[0][1] != 0);
        for (int way = 0; way < 2; way++) {
            free(s[way]);
            free(ds[way]);
        }
    }
}

/* U(0,2) and U(0,1) as released, or ones; one set for all layers unless asked. */
Test(kerple, start_values)
{
    rig g;
    rig_open(&g, "kerple(kind=composite)", rig_shape(2, 4, 8, 1), NULL, 2);
    cr_assert_eq(g.params, 4);
    for (int p = 0; p < 4; p++) {
        double middle = p % 2 == 0 ? 1 : 0.5; /* p and a in turn */
        cr_assert(g.param[p].mean == middle && g.param[p].deviation == middle && g.param[p].init == PE_INIT_UNIFORM);
        cr_assert_eq(g.param[p].per_layer, 0);
    }
    rig_close(&g);
    rig_open(&g, "kerple(start=ones,shared=false)", rig_shape(2, 4, 8, 1), NULL, 2);
    cr_assert(g.params == 2 && g.param[0].mean == 1 && g.param[1].mean == 1 && g.param[1].deviation == 0);
    cr_assert_eq(g.param[1].per_layer, 1);
    rig_close(&g);
}

/* The paper adds the bias before the division by sqrt(head_dim). */
Test(kerple, the_papers_reading_divides_the_bias)
{
    static const double pos[] = {0, 3};
    static const char *const texts[] = {"kerple", "kerple(scaled=true)"};
    for (int k = 0; k < 2; k++) {
        real bias[4];
        rig g;
        rig_open(&g, texts[k], rig_shape(1, 16, 8, 1), pos, 2);
        kerple_set(&g, 2);
        rig_bias(&g, bias);
        rig_near(bias[2], -2 * log(7) / (k ? 4 : 1), 1e-6, texts[k]);
        rig_close(&g);
    }
}
