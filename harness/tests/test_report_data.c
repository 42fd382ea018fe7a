/* Score over the amount of training data in a report: made-up records, differences and crossings counted by hand. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_data.h"
#include "report_fixture.h"
#include "scratch.h"

static scratch scale_dir;

static void scale_setup(void)
{
    scratch_open(&scale_dir);
}

static void scale_teardown(void)
{
    scratch_close(&scale_dir);
}

TestSuite(scale, .init = scale_setup, .fini = scale_teardown);

/* The words alone: gnuplot is not even looked for. */
static char *scale_report(void)
{
    error e = ERROR_INIT;
    setenv("PATH", "/nonexistent", 1);
    registry *known = registry_new(&e);
    cr_assert_eq(report_write(scale_dir.dir, known, "plots", REPORT_MD, PLOT_SVG, &e), -1);
    cr_assert(strstr(e.message, "gnuplot is not installed"), "%s", e.message);
    registry_free(known);
    return scratch_text(&scale_dir, "report.md");
}

/* A run on so much data; of 0 the record says that there were 6400 sequences. */
static void scale_write(const char *encoding, int data, int seed, double score, const char *more)
{
    char settings[128];
    snprintf(settings, sizeof settings, "train.data=%d%s%s", data, *more ? "|" : "", more);
    made_write(scale_dir.dir,
               &(made_run){.encoding = encoding,
                           .seed = seed,
                           .score = {score, 0.1, 0.1},
                           .lengths = 1,
                           .settings = settings,
                           .distinct = data ? data : 6400},
               NULL);
}

static const int scale_amounts[] = {100, 400, 1600, 0};

/* One starts below the baseline and ends above it, half way from 400 to 1600, that is at 800; one stays below. */
static void scale_folder(void)
{
    static const double late[] = {-0.2, -0.1, 0.1, 0.2}, never[] = {-0.3, -0.2, -0.1, -0.05};
    for (int seed = 1; seed <= 3; seed++)
        for (int k = 0; k < 4; k++) {
            double base = 0.4 + 0.05 * seed;
            scale_write("base", scale_amounts[k], seed, base, "");
            scale_write("late", scale_amounts[k], seed, base + late[k], "");
            scale_write("never", scale_amounts[k], seed, base + never[k], "");
        }
    made_baseline(scale_dir.dir, "base");
}

Test(scale, a_table_of_differences_and_crossings)
{
    scale_folder();
    char *md = scale_report();
    cr_assert(strstr(md, "## Data scale"));
    cr_assert(strstr(md, "of each encoding less that of `base`, by distinct training sequences at equal steps"), "%s",
              md);
    cr_assert(strstr(md, "| encoding | 100 (sequences) | 400 | 1.60k | 6.40k | crossing |"), "%s", md);
    cr_assert(strstr(md, "| `late` | -0.200 (-0.200"), "%s", md);
    cr_assert(strstr(md, "| 800 (800 to 800, in 100 % of resamples) |"), "%s", md);
    cr_assert(strstr(md, "no crossing (0 % of resamples) |"), "%s", md);
    free(md);
}

Test(scale, without_a_limit_there_is_no_section)
{
    for (int seed = 1; seed <= 2; seed++) {
        scale_write("base", 0, seed, 0.5, "");
        scale_write("other", 0, seed, 0.6, "");
    }
    char *md = scale_report();
    cr_assert_null(strstr(md, "Data scale"));
    cr_assert(strstr(md, "No training sequence is stored and used again"));
    free(md);
}

/* The methods must not say that every sequence is new. */
Test(scale, methods_say_that_data_is_limited)
{
    scale_folder();
    char *md = scale_report();
    cr_assert_null(strstr(md, "No training sequence is stored and used again"));
    cr_assert(strstr(md, "How much training meets differs or is limited"), "%s", md);
    free(md);
}

/* Means of each encoding stand at their amounts, in the order of the amounts; runs under another setting have a panel
 * of their own and are never averaged with these. */
Test(scale, panels_for_each_setting)
{
    error e = ERROR_INIT;
    report_view v;
    report_groups g;
    report_scale s;
    double value[64];
    int seed[64];
    scale_folder();
    for (int k = 0; k < 4; k++)
        scale_write("late", scale_amounts[k], 1, 0.9, "train.clip=0");
    cr_assert_eq(view_load(scale_dir.dir, &v, &e), 0, "%s", e.message);
    cr_assert_eq(report_data_groups(&v, &g), 0);
    int found = 0, with_setting = 0;
    for (int group = 0; group < g.count; group++) {
        for (int p = 0; p < v.panels; p++)
            found += report_scale_find(&g, group, &v.panel[p], &s);
        with_setting += strcmp(g.item[group].setting, "train.clip=0") == 0;
    }
    cr_assert(with_setting == 1 && found == g.count, "%d groups, %d panels", g.count, found);
    for (int group = 0; group < g.count; group++)
        for (int p = 0; p < v.panels; p++)
            if (report_scale_find(&g, group, &v.panel[p], &s)) {
                cr_assert(s.amounts == 4 && s.amount[0] == 100 && s.amount[3] == 6400);
                for (int i = 0; i < g.encodings; i++) {
                    int n = report_scale_values(&s, i, 1, value, seed);
                    cr_assert(n == 0 || n == 3 || (n == 1 && value[0] == 0.9), "%s: %d", g.encoding[i], n);
                }
            }
    report_groups_free(&g);
    view_free(&v);
}

Test(scale, the_figure_is_over_the_logarithm_of_the_amount)
{
    scale_folder();
    free(scale_report());
    char *tsv = scratch_text(&scale_dir, "plots/data.tsv");
    cr_assert(strstr(tsv, "late\t400\t0.4"), "%s", tsv);
    cr_assert(strstr(tsv, "base\t6400\t0.5\t"), "%s", tsv);
    free(tsv);
}

Test(scale, amounts_are_short)
{
    static const struct {
        double amount;
        const char *text;
    } cases[] = {{1, "1"},         {999, "999"},     {1000, "1.00k"},   {16384, "16.4k"},   {65536, "65.5k"},
                 {262144, "262k"}, {999499, "999k"}, {999500, "1.00M"}, {3725134, "3.73M"}, {2e9, "2.00G"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        buffer b = BUFFER_INIT;
        report_amount_text(cases[i].amount, &b);
        cr_assert_str_eq(buffer_text(&b), cases[i].text);
        buffer_free(&b);
    }
}
