/* Curves: the area under them and how far they hold. */
#include <criterion/criterion.h>

#include <math.h>
#include <string.h>

#include "report_fixture.h"
#include "scratch.h"
#include "summary.h"

static scratch room;
static summary s;

static void curve_setup(void)
{
    scratch_open(&room);
}

static void curve_teardown(void)
{
    summary_free(&s);
    scratch_close(&room);
}

TestSuite(curve, .init = curve_setup, .fini = curve_teardown);

static const summary_curve *curve_of(const char *encoding, const char *metric)
{
    if (s.count == 0) {
        error e = ERROR_INIT;
        cr_assert(summary_collect(room.dir, &s, &e) == 0, "%s", e.message);
    }
    for (int i = 0; i < s.curves; i++)
        if (strcmp(s.curve[i].encoding, encoding) == 0 && strcmp(s.curve[i].metric, metric) == 0)
            return &s.curve[i];
    cr_assert_fail("no curve %s %s", encoding, metric);
    return NULL;
}

/* 1, 2 and 4 times the training length are equally far apart on a logarithmic axis: trapezoids of equal width. */
Test(curve, area_is_the_mean_over_the_logarithm_of_the_length)
{
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 1, .score = {1, 0.5, 0}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 2, .score = {1, 1, 0.5}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 3, .score = {0, 0, 0}, .unfit = 1}, NULL);
    const summary_curve *c = curve_of("a", "exact_match");
    cr_assert(c->seeds == 3 && c->fitted == 2 && c->lengths == 3 && c->home == 0);
    cr_assert(fabs(c->area[0] - 0.5) < 1e-15 && fabs(c->area[1] - 0.875) < 1e-15 && c->area[2] == 0);
    cr_assert(fabs(c->mean - 1.375 / 3) < 1e-15 && fabs(c->mean_fitted - 0.6875) < 1e-15);
    cr_assert(c->ci_low == 0 && c->ci_high == 1, "three wide seeds say nothing, within 0 and 1");
    cr_assert_str_eq(c->reason, "");
}

/* A constant score is its own area: nothing of the axis is left in it. */
Test(curve, a_level_curve_has_its_own_height)
{
    made_write(room.dir, &(made_run){.encoding = "a", .task = "prose", .loss = 1, .score = {1.75, 1.75, 1.75}}, NULL);
    cr_assert(fabs(curve_of("a", "loss")->mean - 1.75) < 1e-14);
}

Test(curve, where_a_length_has_no_value_there_is_no_area)
{
    made_write(room.dir, &(made_run){.encoding = "a", .score = {1, 0.5, NAN}}, NULL);
    const summary_curve *c = curve_of("a", "exact_match");
    cr_assert(c->seeds == 0 && isnan(c->mean) && isnan(c->ci_low));
    cr_assert_str_eq(c->reason, "undefined at some length");
    char *csv = scratch_text(&room, "curves.csv");
    cr_assert(strstr(csv, "\na,repeat_copy,16,exact_match,teacher_forced,3,0,0,,,,,,1,0,undefined at some length\n"),
              "%s", csv);
    free(csv);
}

/* Recovering later does not count, and guessing keeps nothing. */
Test(curve, reach_keeps_ninety_percent)
{
    made_write(room.dir, &(made_run){.encoding = "all", .score = {1, 0.95, 0.9}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "dip", .score = {1, 0.899, 1}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "guess", .score = {0.25, 0.25, 0.25}, .unfit = 1}, NULL);
    made_write(room.dir, &(made_run){.encoding = "unfit", .score = {0.5, 0.45, 0}, .unfit = 1}, NULL);
    const summary_curve *all = curve_of("all", "exact_match"), *dip = curve_of("dip", "exact_match");
    const summary_curve *guess = curve_of("guess", "exact_match"), *unfit = curve_of("unfit", "exact_match");
    cr_assert(all->reach == 4 && all->reach_is_last && all->learned);
    cr_assert(dip->reach == 1 && !dip->reach_is_last);
    cr_assert(isnan(guess->reach) && !guess->learned);
    cr_assert(unfit->reach == 2 && !unfit->learned);
}
