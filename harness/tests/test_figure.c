/* Figures before they are drawn: where labels stand, what axes show. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "figure.h"
#include "one_curve.h"

TestSuite(figure);

/* ------------------------------------------------------------------------------------------------ labels */

static void assert_heights(const double *y, const double *expected, int n)
{
    for (int i = 0; i < n; i++)
        cr_assert(fabs(y[i] - expected[i]) < 1e-9, "%d: %g is not %g", i, y[i], expected[i]);
}

Test(figure, labels_with_room_stay_where_they_are)
{
    double y[] = {80, 10, 40};
    figure_spread(y, 3, 15, 0, 100);
    assert_heights(y, (double[]){80, 10, 40}, 3);
}

/* Two at 50 share the way: 42.5 and 57.5. A third at 60 pushes all: the three best heights sum to 160. */
Test(figure, crowded_labels_share_the_way)
{
    double two[] = {50, 50}, three[] = {50, 60, 50};
    figure_spread(two, 2, 15, 0, 100);
    assert_heights(two, (double[]){42.5, 57.5}, 2);
    figure_spread(three, 3, 15, 0, 100);
    assert_heights(three, (double[]){160.0 / 3 - 15, 160.0 / 3 + 15, 160.0 / 3}, 3);
}

Test(figure, labels_stay_within_the_picture)
{
    double y[] = {0, 0, 0, 100};
    figure_spread(y, 4, 10, 0, 100);
    assert_heights(y, (double[]){0, 10, 20, 100}, 4);
    double many[] = {5, 5, 5, 5, 5};
    figure_spread(many, 5, 50, 0, 100); /* no room for gaps of 50: 25 each */
    assert_heights(many, (double[]){0, 25, 50, 75, 100}, 5);
}

/* Whatever comes in: order kept, gaps kept, within bounds. */
Test(figure, labels_never_overlap)
{
    for (unsigned seed = 1; seed < 200; seed++) {
        double before[12], y[12];
        unsigned state = seed;
        for (int i = 0; i < 12; i++)
            before[i] = y[i] = (state = state * 1103515245u + 12345u) / 4294967296.0 * 200;
        figure_spread(y, 12, 15, -4, 204);
        for (int i = 0; i < 12; i++) {
            cr_assert(y[i] >= -4 - 1e-9 && y[i] <= 204 + 1e-9);
            for (int k = 0; k < 12; k++)
                cr_assert(before[i] >= before[k] || y[k] - y[i] >= 15 - 1e-9, "%u: %g %g", seed, y[i], y[k]);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ axes */

static void free_panel(figure_panel *p)
{
    figure_panel *panel = malloc(sizeof *panel);
    *panel = *p;
    figure_free(&(figure){.panels = 1, .panel = panel});
}

Test(figure, tics_are_round_and_hold_all_points)
{
    figure_panel p = {0};
    one_curve(&p, (double[]){1.63, 2.2, 5.97}, 3);
    figure_fit(&p, NAN, NAN);
    cr_assert(p.y_low <= 1.63 && p.y_high >= 5.97 && p.y_tics >= 4 && p.y_tics <= 8);
    cr_assert_str_eq(p.y_tic[0].text, "1");
    cr_assert(p.x_high == 3, "the axis ends where the curve does");
    free_panel(&p);
}

Test(figure, a_flat_curve_still_has_an_axis)
{
    figure_panel p = {0};
    one_curve(&p, (double[]){0, 0}, 2);
    figure_fit(&p, NAN, NAN);
    cr_assert(p.y_high > p.y_low && p.y_tics >= 2);
    free_panel(&p);
}

Test(figure, a_curve_without_values_still_has_an_axis)
{
    figure_panel p = {.y_log = 10};
    one_curve(&p, (double[]){NAN, NAN}, 2);
    figure_fit(&p, NAN, NAN);
    cr_assert(p.y_high > p.y_low && p.y_low > 0 && p.y_tics >= 2);
    free_panel(&p);
}

/* Far from 1, powers of ten are written as such. */
Test(figure, tics_of_many_decades_are_powers)
{
    figure_panel p = {.y_log = 10};
    one_curve(&p, (double[]){1e-6, 1e6, 1}, 3);
    figure_fit(&p, NAN, NAN);
    const char *low = NULL, *one = NULL, *high = NULL;
    for (int i = 0; i < p.y_tics; i++) {
        low = fabs(p.y_tic[i].at / 1e-6 - 1) < 1e-9 ? p.y_tic[i].text : low;
        one = fabs(p.y_tic[i].at - 1) < 1e-9 ? p.y_tic[i].text : one;
        high = fabs(p.y_tic[i].at / 1e6 - 1) < 1e-9 ? p.y_tic[i].text : high;
    }
    cr_assert(low && one && high);
    cr_expect_str_eq(low, "10\342\201\273\342\201\266");
    cr_expect_str_eq(one, "1");
    cr_expect_str_eq(high, "10\342\201\266");
    free_panel(&p);
}

/* Panels that share have one range of x and y and the same tics; an x axis of one's own is kept. */
Test(figure, sharing_panels_have_common_axes)
{
    figure_panel panel[4] = {{.shares = "a"}, {.shares = "a"}, {.shares = "b"}, {.shares = NULL}};
    figure f = {.panels = 4, .panel = panel};
    one_curve(&panel[0], (double[]){1, 2}, 2);
    one_curve(&panel[1], (double[]){5, 3, 9, 8}, 4);
    one_curve(&panel[2], (double[]){1, 2}, 2);
    one_curve(&panel[3], (double[]){7, 8}, 2);
    panel[2].x_tics = 1;
    panel[2].x_low = 0.5;
    panel[2].x_high = 7;
    panel[2].x_tic[0] = (figure_tic){1, "one"};
    for (int i = 0; i < 4; i++)
        figure_fit(&panel[i], NAN, NAN);
    double alone = panel[3].y_low;
    figure_share(&f);
    cr_expect(panel[0].y_low == panel[1].y_low && panel[0].y_high == panel[1].y_high && panel[0].y_high >= 9);
    cr_expect(panel[0].x_low == panel[1].x_low && panel[0].x_high == 4 && panel[1].x_high == 4);
    cr_expect(panel[0].x_tics == panel[1].x_tics && panel[0].y_tics == panel[1].y_tics);
    cr_expect(panel[2].x_high == 7 && panel[2].x_tics == 1);
    cr_expect_eq(panel[3].y_low, alone);
    for (int i = 0; i < 4; i++)
        free_panel(&panel[i]);
}

/* A loss of exactly 0 has no place on a logarithmic axis: a gap, counted. The others are shown. */
Test(figure, zeros_on_a_logarithmic_axis_are_left_out_and_counted)
{
    figure_panel p = {.y_log = 10};
    figure_curve *c = one_curve(&p, (double[]){3, 0, -1, 0.02}, 4);
    c->point[0].low = 0;
    c->point[0].high = 4;
    figure_fit(&p, NAN, NAN);
    cr_assert_eq(p.left_out, 2);
    cr_assert(isnan(c->point[1].y) && isnan(c->point[2].y) && c->point[3].y == 0.02 && isnan(c->point[0].low));
    cr_assert(p.y_low > 0 && p.y_low <= 0.02 && p.y_high >= 3);
    free_panel(&p);
}
