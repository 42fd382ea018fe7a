/* test_absolute.c - what is added to token vectors, against numbers worked out by hand. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "rig.h"

/* ------------------------------------------------------------------------------------------------ sinusoidal */

/* A25: odd widths, with no cosine too many. */
Test(sinusoidal, odd_width)
{
    static const double want[5] = {0.841470985, 0.540302306, 0.025116223, 0.999684538, 0.000630957};
    const double one = 1;
    real x[6] = {0, 0, 0, 0, 0, 77};
    rig g;
    rig_open(&g, "sinusoidal", rig_shape(1, 5, 8, 1), &one, 1);
    g.d->embed(&g.c, x);
    for (int i = 0; i < 5; i++)
        rig_near(x[i], want[i], 1e-6, "column");
    cr_assert_eq(x[5], 77, "written past the width");
    rig_close(&g);

    real single = 0;
    rig_open(&g, "sinusoidal", rig_shape(1, 1, 8, 1), &one, 1);
    g.d->embed(&g.c, &single);
    rig_near(single, 0.841470985, 1e-6, "width 1");
    rig_close(&g);
}

Test(sinusoidal, embed_adds)
{
    real x[8];
    rig g;
    rig_open(&g, "sinusoidal", rig_shape(1, 8, 8, 1), NULL, 1);
    for (int i = 0; i < 8; i++)
        x[i] = 10;
    g.d->embed(&g.c, x);
    for (int i = 0; i < 8; i++)
        cr_assert_eq(x[i], 10 + i % 2, "position 0 is 0, 1, 0, 1 ..");
    rig_close(&g);
}

/* C1: PE(p).PE(p+k), divided by width/2, depends on k alone, and is not monotone. */
Test(sinusoidal, dot_products_depend_on_the_distance)
{
    enum { WIDTH = 64, LEN = 300 };
    static real x[LEN * WIDTH];
    static const struct {
        int distance;
        double want;
    } known[] = {{1, 0.966}, {2, 0.884}, {5, 0.734}, {8, 0.700}, {64, 0.435}, {256, 0.354}};
    rig g;
    rig_open(&g, "sinusoidal", rig_shape(1, WIDTH, 64, 1), NULL, LEN);
    g.d->embed(&g.c, x);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (int p = 0; p + known[i].distance < LEN; p += 17) {
            double dot = 0;
            for (int k = 0; k < WIDTH; k++)
                dot += (double)x[p * WIDTH + k] * x[(p + known[i].distance) * WIDTH + k];
            rig_near(dot / (WIDTH / 2), known[i].want, 6e-4, "normalised dot product");
        }
    }
    rig_close(&g);
}

/* The dot product falls to a first minimum and rises again, early: at 4 to 24 tokens, by the width. It is the sum of
 * cos(k w_i) on both sides. */
Test(sinusoidal, dot_products_are_not_monotone)
{
    static const struct {
        int width, minimum;
        double value;
    } known[] = {{32, 4, 0.729}, {64, 5, 0.734}, {128, 11, 0.662}, {256, 24, 0.587}};
    enum { LEN = 60, WIDTH_MAX = 256 };
    static real x[LEN * WIDTH_MAX];
    for (size_t n = 0; n < sizeof known / sizeof *known; n++) {
        int width = known[n].width, minimum = 0;
        double dot[LEN] = {0};
        rig g;
        rig_open(&g, "sinusoidal", rig_shape(1, width, LEN, 1), NULL, LEN);
        memset(x, 0, sizeof x);
        g.d->embed(&g.c, x);
        for (int k = 0; k < LEN; k++) {
            double sum = 0;
            for (int i = 0; i < width; i++)
                dot[k] += (double)x[i] * (double)x[k * width + i] / (width / 2);
            for (int i = 0; i < width / 2; i++)
                sum += cos(k * pow(10000, -2.0 * i / width)) / (width / 2);
            rig_near(dot[k], sum, 20 * rig_tolerance(), "normalised dot product");
        }
        while (dot[minimum + 1] < dot[minimum])
            minimum++;
        cr_expect_eq(minimum, known[n].minimum, "width %d: first minimum at %d", width, minimum);
        rig_near(dot[minimum], known[n].value, 6e-4, "first minimum");
        rig_close(&g);
    }
}

/* ------------------------------------------------------------------------------------------------ learned */

static void learned_table(rig *g)
{
    for (int i = 0; i < g->param[0].rows * g->param[0].cols; i++)
        g->theta[0][i] = (real)(1 + i);
}

Test(learned, interpolates_between_rows)
{
    static const double pos[] = {0, 0.25, 2.5, 3};
    static const double want[] = {1, 1.5, 6, 7}; /* first column: rows begin at 1, 3, 5, 7 */
    real x[8] = {0};
    rig g;
    rig_open(&g, "learned", rig_shape(1, 2, 4, 1), pos, 4);
    cr_assert_eq(g.param[0].rows, 4);
    cr_assert_eq(g.param[0].per_position, 1);
    learned_table(&g);
    g.d->embed(&g.c, x);
    for (int t = 0; t < 4; t++)
        rig_near(x[2 * t], want[t], rig_tolerance(), "token");
    rig_close(&g);
}

/* A position between two rows gives each its share; a repeated position gives twice. */
Test(learned, gradients_are_shared_and_accumulate)
{
    static const double pos[] = {1, 1, 1.75};
    static const real dx[] = {1, 10, 2, 20, 4, 40};
    static const double want[] = {0, 0, 4, 40, 3, 30, 0, 0};
    rig g;
    rig_open(&g, "learned", rig_shape(1, 2, 4, 1), pos, 3);
    learned_table(&g);
    g.d->embed_bwd(&g.c, dx);
    for (int i = 0; i < 8; i++)
        rig_near(g.dtheta[0][i], want[i], rig_tolerance() * 40, "gradient");
    rig_close(&g);
}

Test(learned, normalized_rows_have_length_scale)
{
    real x[6] = {0};
    rig g;
    rig_open(&g, "learned(normalized=true,scale=3)", rig_shape(1, 2, 3, 1), NULL, 3);
    learned_table(&g);
    g.d->embed(&g.c, x);
    for (int t = 0; t < 3; t++)
        rig_near(hypot(x[2 * t], x[2 * t + 1]), 3, 3e-6, "length");
    rig_near(x[0] / x[1], 0.5, 1e-6, "direction");
    rig_close(&g);
}

/* A27, A29: the table ends, and says where. */
Test(learned, last_position_is_that_of_the_last_row)
{
    rig g;
    pe_shape shape = rig_shape(1, 4, 64, 1);
    rig_open(&g, "learned", shape, NULL, 64);
    cr_assert_eq(g.d->last_position(g.c.options, &shape), 63);
    rig_close(&g);
    rig_open(&g, "learned(rows=514,offset=2)", shape, NULL, 512);
    cr_assert_eq(g.d->last_position(g.c.options, &shape), 511);
    real *x = calloc(512 * 4, sizeof *x);
    g.d->embed(&g.c, x); /* the sanitizer watches the last row */
    free(x);
    rig_close(&g);
}
