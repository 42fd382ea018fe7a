/* The report: what it says of results that say little, and that it is always finished. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"
#include "report_fixture.h"
#include "report_view.h"
#include "scratch.h"

static scratch room;
static registry *known; /* of one test: each runs in a process of its own */

static void report_setup(void)
{
    scratch_open(&room);
}

static void report_teardown(void)
{
    scratch_close(&room);
    registry_free(known);
}

static const registry *built_in(void)
{
    error e = ERROR_INIT;
    known = known ? known : registry_new(&e);
    cr_assert(known, "%s", e.message);
    return known;
}

TestSuite(view, .init = report_setup, .fini = report_teardown);
TestSuite(report, .init = report_setup, .fini = report_teardown);

static void view_open(report_view *v)
{
    error e = ERROR_INIT;
    cr_assert(view_load(room.dir, v, &e) == 0, "%s", e.message);
}

static const view_panel *panel_of(const report_view *v, const char *task, const char *score)
{
    for (int i = 0; i < v->panels; i++)
        if (strcmp(v->panel[i].task, task) == 0 && strcmp(v->panel[i].metric->name, score) == 0)
            return &v->panel[i];
    cr_assert_fail("no panel %s %s", task, score);
    return NULL;
}

static int method_of(const report_view *v, const char *label)
{
    for (int m = 0; m < v->methods; m++)
        if (strcmp(v->method[m].label, label) == 0)
            return m;
    cr_assert_fail("no method %s", label);
    return -1;
}

/* ------------------------------------------------------------------------------------------------ what is separable */

static void write_seeds(const char *encoding, const double *score, int seeds)
{
    for (int s = 0; s < seeds; s++)
        made_write(room.dir, &(made_run){.encoding = encoding, .seed = s + 1, .score = {1, score[s], 0.3}}, NULL);
}

/* Same configuration, same cloud: a higher mean of three seeds is no finding. */
Test(view, overlapping_seeds_are_not_separated)
{
    report_view v;
    write_seeds("a", (double[]){0.40, 0.60, 0.50}, 3);
    write_seeds("b", (double[]){0.55, 0.45, 0.62}, 3);
    view_open(&v);
    view_mark mark[2];
    cr_assert(view_marks(&v, panel_of(&v, "repeat_copy", "exact_match"), 1, mark));
    cr_assert(mark[method_of(&v, "b")] == VIEW_BEST && mark[method_of(&v, "a")] == VIEW_TIED);
    view_free(&v);
}

/* Wide clouds, but each seed of b is 0.1 better than the same seed of a: pairing sees it. */
Test(view, paired_differences_separate)
{
    report_view v;
    write_seeds("a", (double[]){0.30, 0.70, 0.50, 0.40, 0.60}, 5);
    write_seeds("b", (double[]){0.40, 0.81, 0.60, 0.49, 0.70}, 5);
    view_open(&v);
    view_mark mark[2];
    cr_assert(view_marks(&v, panel_of(&v, "repeat_copy", "exact_match"), 1, mark));
    cr_assert(mark[method_of(&v, "b")] == VIEW_BEST && mark[method_of(&v, "a")] == VIEW_PLAIN);
    view_free(&v);
}

Test(view, one_seed_separates_nothing)
{
    report_view v;
    write_seeds("a", (double[]){0.3}, 1);
    write_seeds("b", (double[]){0.9}, 1);
    view_open(&v);
    view_mark mark[2];
    cr_assert_not(view_marks(&v, panel_of(&v, "repeat_copy", "exact_match"), 1, mark));
    cr_assert(mark[0] == VIEW_PLAIN && mark[1] == VIEW_PLAIN);
    view_free(&v);
}

/* made_write's chance level is 0.25. */
Test(view, nobody_is_best_at_chance)
{
    report_view v;
    write_seeds("a", (double[]){0.25, 0.20}, 2);
    write_seeds("b", (double[]){0.10, 0.10}, 2);
    view_open(&v);
    view_mark mark[2];
    cr_assert_not(view_marks(&v, panel_of(&v, "repeat_copy", "exact_match"), 1, mark));
    view_free(&v);
}

/* ------------------------------------------------------------------------------------------------ how far, and ranks
 */

Test(view, reach_ends_where_the_score_falls)
{
    report_view v;
    made_write(room.dir, &(made_run){.encoding = "far", .score = {1, 0.95, 0.9}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "near", .score = {1, 0.89, 0.95}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "ends", .score = {1, NAN, NAN}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "guesses", .score = {0.25, 0.25, 0.25}, .unfit = 1}, NULL);
    made_write(room.dir, &(made_run){.encoding = "fails", .score = {0.3, 0.3, 0}, .unfit = 1}, NULL);
    view_open(&v);
    const view_panel *p = panel_of(&v, "repeat_copy", "exact_match");
    const summary_curve *far = p->curve[method_of(&v, "far")], *near = p->curve[method_of(&v, "near")];
    const summary_curve *ends = p->curve[method_of(&v, "ends")], *fails = p->curve[method_of(&v, "fails")];
    cr_assert(far->reach == 4 && far->reach_is_last && far->learned);
    cr_assert(near->reach == 1 && !near->reach_is_last, "a later recovery does not count");
    cr_assert(ends->reach == 1 && !ends->reach_is_last && ends->learned);
    cr_assert(fails->reach == 2 && !fails->learned);
    cr_assert(isnan(p->curve[method_of(&v, "guesses")]->reach), "chance is nothing to keep");
    view_free(&v);
}

Test(view, reach_of_a_loss_allows_a_ninth_more)
{
    report_view v;
    made_write(room.dir, &(made_run){.encoding = "a", .task = "prose", .loss = 1, .score = {1.8, 1.99, 2.01}}, NULL);
    view_open(&v);
    const summary_curve *reach = v.panel[0].curve[0];
    cr_assert_str_eq(v.panel[0].mode, "sliding");
    cr_assert(reach->reach == 2 && !reach->reach_is_last && reach->learned);
    view_free(&v);
}

/* Not being defined must not pay: what has no value past training shares the last rank. */
Test(view, undefined_points_rank_last)
{
    report_view v;
    made_folder(room.dir);
    made_write(room.dir, &(made_run){.encoding = "zero", .seed = 1, .score = {1, 0, 0}}, NULL);
    view_open(&v);
    cr_assert_eq(v.ranked_tasks, 1, "the third encoding did not run on prose");
    cr_assert_eq(v.ranked_seeds, 1, "and with one seed only");
    cr_assert(v.method[0].rank == 1 && strcmp(v.method[0].label, "holds") == 0);
    cr_assert(v.method[1].rank == 2 && strcmp(v.method[1].label, "zero") == 0);
    cr_assert(v.method[2].rank == 3 && strcmp(v.method[2].label, "ends") == 0);
    cr_assert(isnan(v.method[0].rank_low), "one seed: no interval");
    cr_assert_eq(v.unranked_tasks, 1);
    view_free(&v);
}

/* ------------------------------------------------------------------------------------------------ the whole */

static void write_report(const char *dir, int formats)
{
    error e = ERROR_INIT;
    cr_assert(report_write(dir, built_in(), "plots", formats, PLOT_SVG, &e) == 0, "%s", e.message);
}

/* For tests of what the pages say: gnuplot is not even looked for, and its absence is all that is complained of. */
static void write_words(int formats)
{
    error e = ERROR_INIT;
    setenv("PATH", "/nonexistent", 1);
    cr_assert_eq(report_write(room.dir, built_in(), "plots", formats, PLOT_SVG, &e), -1);
    cr_assert(strstr(e.message, "gnuplot is not installed"), "%s", e.message);
}

Test(report, a_page_holds_all_of_it)
{
    gnuplot_or_skip();
    made_folder(room.dir);
    write_report(room.dir, REPORT_HTML | REPORT_MD | REPORT_TEX);
    char *page = scratch_text(&room, "report.html");
    char *md = scratch_text(&room, "report.md");
    char *tex = scratch_text(&room, "report.tex");
    cr_assert(strstr(page, "<svg class=\"plot\"") && strstr(page, "href=\"runs.csv\"") &&
              strstr(page, "CPU &lt;9&gt; &amp; co"));
    cr_assert(strstr(page, "ends</code>: has no value past the positions that it defines"));
    cr_assert(strstr(page, ">chance<") && strstr(page, ">0.250<"), "the level of chance stands beside the scores");
    cr_assert(!strstr(page, "http://") || !strstr(page, "src="), "nothing is loaded from anywhere");
    cr_assert(strstr(md, "](plots/extrapolation.svg)") && strstr(tex, "{plots/extrapolation.pdf}"));
    cr_assert(strstr(page, "loss by position") && strstr(md, "plots/positions.svg"), "language tasks show positions");
    free(page), free(md), free(tex);
}

Test(report, a_rerun_gives_the_same_bytes)
{
    gnuplot_or_skip();
    made_folder(room.dir);
    write_report(room.dir, REPORT_HTML | REPORT_MD);
    char *page = scratch_text(&room, "report.html");
    char *md = scratch_text(&room, "report.md");
    char *svg = scratch_text(&room, "plots/extrapolation.svg");
    write_report(room.dir, REPORT_HTML | REPORT_MD);
    char *page_again = scratch_text(&room, "report.html"), *md_again = scratch_text(&room, "report.md");
    char *svg_again = scratch_text(&room, "plots/extrapolation.svg");
    cr_assert_str_eq(page_again, page);
    cr_assert_str_eq(md_again, md);
    cr_assert_str_eq(svg_again, svg);
    free(page), free(md), free(svg), free(page_again), free(md_again), free(svg_again);
}

Test(report, every_locale_gives_the_same_bytes)
{
    gnuplot_or_skip();
    made_folder(room.dir);
    write_report(room.dir, REPORT_HTML);
    char *page = scratch_text(&room, "report.html"), *data = scratch_text(&room, "plots/extrapolation.tsv");
    if (!scratch_comma_locale(&room))
        cr_skip_test("no locale with a decimal comma can be had here");
    write_report(room.dir, REPORT_HTML);
    char *page_again = scratch_text(&room, "report.html"), *data_again = scratch_text(&room, "plots/extrapolation.tsv");
    cr_assert_str_eq(page_again, page);
    cr_assert_str_eq(data_again, data);
    cr_assert(strstr(data, "\t0.92\t"), "%s", data);
    free(page), free(data), free(page_again), free(data_again);
}

/* Spaces, quotes, what a shell would run, letters beyond ASCII, a leading dash. */
Test(report, folders_may_have_any_name)
{
    gnuplot_or_skip();
    static const char *const names[] = {"a b'c\"d $(touch ran) \303\251", "-x; touch ran"};
    for (int i = 0; i < 2; i++) {
        char dir[PATH_MAX], file[PATH_MAX + 64];
        cr_assert_eq(mkdir(scratch_path(&room, names[i], dir), 0777), 0);
        made_folder(dir);
        write_report(dir, REPORT_HTML);
        snprintf(file, sizeof file, "%s/plots/extrapolation.svg", dir);
        cr_assert(access(file, R_OK) == 0);
    }
    cr_assert(scratch_count(&room, "ran") == 2 && access("ran", F_OK) != 0, "nothing was executed");
}

Test(report, a_relative_folder_with_a_leading_dash_works)
{
    gnuplot_or_skip();
    char plots[PATH_MAX];
    cr_assert(realpath("plots", plots) && chdir(room.dir) == 0 && mkdir("-v", 0777) == 0);
    made_folder("-v");
    error e = ERROR_INIT;
    cr_assert(report_write("-v", built_in(), plots, REPORT_MD, PLOT_SVG, &e) == 0, "%s", e.message);
    cr_assert(access("-v/plots/extrapolation.svg", R_OK) == 0);
}

Test(report, without_gnuplot_the_rest_is_finished)
{
    error e = ERROR_INIT;
    made_folder(room.dir);
    setenv("PATH", "/nonexistent", 1);
    cr_assert_eq(report_write(room.dir, built_in(), "plots", REPORT_HTML | REPORT_MD | REPORT_TEX, PLOT_SVG, &e), -1);
    cr_assert(e.kind == ERROR_ENVIRONMENT && strstr(e.message, "gnuplot is not installed"), "%s", e.message);
    cr_assert(!strchr(e.message, '\n'), "one message, however many figures there are");
    char *page = scratch_text(&room, "report.html");
    char *data = scratch_text(&room, "plots/extrapolation.tsv");
    char *runs = scratch_text(&room, "runs.csv");
    cr_assert(strstr(page, "Not drawn") && strstr(page, "</html>") && strstr(data, "holds"));
    free(page), free(data), free(runs);
}

Test(report, one_seed_shows_no_spread)
{
    made_write(room.dir, &(made_run){.encoding = "a", .score = {1, 0.5, 0}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "b", .score = {1, 0.7, 0}}, NULL);
    write_words(REPORT_MD);
    char *md = scratch_text(&room, "report.md"), *data = scratch_text(&room, "plots/extrapolation.tsv");
    cr_assert(strstr(md, "One seed was run, so the data cannot say which encoding is best"), "%s", md);
    cr_assert(strstr(md, "sd n/a"), "%s", md);
    cr_assert(!strstr(md, "nan") && !strstr(md, "\342\211\210 ("), "%s", md);
    cr_assert(strstr(data, "repeat_copy\ta\t2\t0.5\tNaN\tNaN\t0\n"), "%s", data);
    free(md), free(data);
}

Test(report, says_what_is_not_separated)
{
    write_seeds("a", (double[]){0.40, 0.60, 0.50}, 3);
    write_seeds("b", (double[]){0.55, 0.45, 0.62}, 3);
    write_words(REPORT_MD);
    char *md = scratch_text(&room, "report.md");
    cr_assert(strstr(md, "best mean `b` 0.540"), "%s", md);
    cr_assert(strstr(md, "cannot be told apart from it: `a` (about 136 seeds would be needed)"), "%s", md);
    cr_assert(strstr(md, "0.400 0.600 0.500"), "each seed's value is shown: %s", md);
    free(md);
}

Test(report, tells_of_runs_that_broke_and_points_with_a_stand_in)
{
    made_write(room.dir, &(made_run){.encoding = "a", .score = {1, 0.5, 0.5}, .flag = "clamp"}, NULL);
    made_write(room.dir, &(made_run){.encoding = "b", .score = {0.4, 0.3, 0.2}, .unfit = 1}, NULL);
    made_write(room.dir, &(made_run){.encoding = "b", .seed = 2, .status = RUN_DIVERGED, .message = "loss | is <inf>"},
               NULL);
    write_words(REPORT_MD);
    char *md = scratch_text(&room, "report.md"), *data = scratch_text(&room, "plots/extrapolation.tsv");
    cr_assert(strstr(md, "1 of 3 runs gave no result: 1 diverged"), "%s", md);
    cr_assert(strstr(md, "`b` on `repeat_copy`, seed 2, diverged at step 17: loss \\| is &lt;inf&gt;"), "%s", md);
    cr_assert(strstr(md, "`repeat_copy`, runs that fitted in distribution: `b` 0 of 1; all are in the means"), "%s",
              md);
    cr_assert(strstr(md, "position map 'clamp'") && strstr(md, "*0.500 \\**"), "%s", md);
    cr_assert(strstr(data, "repeat_copy\ta\t2\t0.5\tNaN\tNaN\t1\n"), "hollow: %s", data);
    free(md), free(data);
}

/* A training loss of exactly 0 on the figure's logarithmic axis. */
Test(report, counts_what_a_logarithmic_axis_cannot_show)
{
    made_write(room.dir, &(made_run){.encoding = "a", .score = {1, 0.5, 0}, .training_loss = {1, 0, 0.5}}, NULL);
    write_words(REPORT_MD);
    char *md = scratch_text(&room, "report.md");
    cr_assert(strstr(md, "1 point at or below 0 cannot be drawn on a logarithmic axis"), "%s", md);
    free(md);
}

Test(report, bad_records_are_told_when_all_else_is_done)
{
    gnuplot_or_skip();
    char bad[PATH_MAX];
    error e = ERROR_INIT;
    made_folder(room.dir);
    scratch_write(&room, "runs/bad.json", "{", 1, bad);
    cr_assert_eq(report_write(room.dir, built_in(), "plots", REPORT_HTML, PLOT_SVG, &e), -1);
    cr_assert(strstr(e.message, bad), "%s", e.message);
    char *page = scratch_text(&room, "report.html");
    cr_assert(strstr(page, "</html>") && strstr(page, "<svg class=\"plot\""));
    free(page);
}

Test(report, the_sweeps_own_file_gives_title_and_baseline)
{
    static const char spec[] =
        "{\"schema\":\"posbench-sweep/1\",\"name\":\"n\",\"title\":\"A <title>\",\"baseline\":\"ends\"}";
    char path[PATH_MAX];
    made_folder(room.dir);
    scratch_write(&room, "spec.json", spec, sizeof spec - 1, path);
    write_words(REPORT_HTML);
    char *page = scratch_text(&room, "report.html");
    cr_assert(strstr(page, "<h1>A &lt;title&gt;</h1>") && strstr(page, "ends</code> <span class=\"muted\">baseline"));
    free(page);
}

/* What was planned is known by key or, in a tuned sweep, by what the run is of. */
Test(report, runs_that_are_missing_are_named)
{
    static const char spec[] = "{\"schema\":\"posbench-sweep/1\",\"name\":\"n\",\"runs\":["
                               "{\"key\":\"nobody\",\"encoding\":\"rope\",\"task\":\"sort\",\"seed\":7},"
                               "{\"key\":\"nobody either\",\"encoding\":\"rope\",\"task\":\"sort\",\"seed\":8},"
                               "{\"key\":null,\"encoding\":\"%s\",\"task\":\"%s\",\"seed\":%d},"
                               "{\"key\":\"%s\",\"encoding\":\"%s\",\"task\":\"%s\",\"seed\":%d}]}";
    char path[PATH_MAX], text[2048], fact[128];
    error e = ERROR_INIT;
    results r;
    made_folder(room.dir);
    cr_assert_eq(results_load(room.dir, &r, &e), 0, "%s", e.message);
    cr_assert_eq(r.missing, 0, "without a plan nothing is missing");
    const run_record *a = &r.run[0], *b = &r.run[1];
    int n = snprintf(text, sizeof text, spec, a->config.encoding, a->config.task, a->config.seed, b->key, b->config.encoding,
                     b->config.task, b->config.seed);
    scratch_write(&room, "spec.json", text, (size_t)n, path);
    int count = r.count;
    results_free(&r);
    cr_assert_eq(results_load(room.dir, &r, &e), 0, "%s", e.message);
    cr_expect_eq(r.missing, 2);
    cr_assert_eq(r.gaps, 1);
    cr_expect_eq(r.gap[0].runs, 2);
    cr_expect_str_eq(r.gap[0].encoding, "rope");
    results_free(&r);
    write_words(REPORT_MD);
    char *page = scratch_text(&room, "report.md");
    snprintf(fact, sizeof fact, "2 of the sweep's %d runs have no record yet: `rope` on `sort` (2).", count + 2);
    cr_expect(strstr(page, fact), "%s is not in: %.1500s", fact, page);
    cr_expect(strstr(page, ". Up to ") && strstr(page, " seeds were run of each"), "%.1500s", page);
    free(page);
}
