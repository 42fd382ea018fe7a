/* The report's statements: what the data say, what they cannot say, and what it would take. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_fixture.h"
#include "report_view.h"
#include "scratch.h"

static scratch room;

static void findings_setup(void)
{
    scratch_open(&room);
}

static void findings_teardown(void)
{
    scratch_close(&room);
}

TestSuite(findings, .init = findings_setup, .fini = findings_teardown);

static void findings_seeds(const char *encoding, const char *task, const double *score, int seeds)
{
    for (int s = 0; s < seeds; s++)
        made_write(room.dir,
                   &(made_run){.encoding = encoding, .task = task, .seed = s + 1, .score = {1, score[s], 0.3}}, NULL);
}

/* The words alone: gnuplot is not even looked for. */
static char *findings_text(int format, const char *file)
{
    error e = ERROR_INIT;
    setenv("PATH", "/nonexistent", 1);
    registry *known = registry_new(&e);
    cr_assert_not_null(known, "%s", e.message);
    cr_assert_eq(report_write(room.dir, known, "plots", format, PLOT_SVG, &e), -1);
    cr_assert(strstr(e.message, "gnuplot is not installed"), "%s", e.message);
    registry_free(known);
    return scratch_text(&room, file);
}

#define assert_says(text, words) cr_assert(strstr(text, words), "it does not say '%s':\n%s", words, text)

/* Ten seeds at 0.5 but one at 1: the mean is the headline; the maximum has its name and its n. */
Test(findings, the_lucky_seed_is_not_the_headline)
{
    made_baseline(room.dir, "b");
    findings_seeds("a", NULL, (double[]){0.5, 0.5, 0.5, 0.5, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5}, 10);
    findings_seeds("b", NULL, (double[]){0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3}, 10);
    char *md = findings_text(REPORT_MD, "report.md");
    assert_says(md, "best mean `a` 0.550 ");
    assert_says(md, ", n = 10 (chance 0.250)");
    assert_says(md, "(n 10, sd 0.158, median 0.500, max 1.000)");
    assert_says(md, "\n| `a` | **0.550** (");
    free(md);
}

/* Overlapping ranges of three seeds: no gain is claimed; n, spread and each seed are there. */
Test(findings, noise_is_no_gain)
{
    findings_seeds("a", NULL, (double[]){0.40, 0.60, 0.50}, 3);
    findings_seeds("b", NULL, (double[]){0.55, 0.45, 0.62}, 3);
    char *md = findings_text(REPORT_MD, "report.md");
    assert_says(md, "cannot be told apart from it: `a` (about 136 seeds would be needed)");
    assert_says(md, "0.400 0.600 0.500 (n 3, sd 0.100, median 0.500, max 0.600)");
    assert_says(md, "0.550 0.450 0.620 (n 3, sd 0.085, median 0.550, max 0.620)");
    assert_says(md, "**0.540**");
    assert_says(md, "**0.500** \342\211\210");
    free(md);
}

/* A scaling method without the encoding that it scales proves nothing; with it, both are shown at the same lengths. */
Test(findings, options_need_the_plain_encoding_beside)
{
    findings_seeds("a(x=1)", NULL, (double[]){0.9, 0.9}, 2);
    findings_seeds("b", NULL, (double[]){0.5, 0.5}, 2);
    char *md = findings_text(REPORT_MD, "report.md");
    assert_says(md,
                "`a(x=1)` was not run without these options: whether the plain encoding does as well is not known.");
    free(md);
    findings_seeds("a", NULL, (double[]){0.9, 0.9}, 2);
    md = findings_text(REPORT_MD, "report.md");
    cr_assert_not(strstr(md, "without these options"), "%s", md);
    assert_says(md, "best mean `a` 0.900 \\[0.900, 0.900\\], n = 2 (chance 0.250); cannot be told apart from it: "
                    "`a(x=1)` (equal in every "
                    "seed).");
    free(md);
}

Test(findings, options_of_evaluation_need_the_encoding_as_trained)
{
    for (int seed = 1; seed <= 2; seed++)
        made_write(room.dir, &(made_run){.encoding = "a", .tested_as = "a(x=1)", .seed = seed, .score = {1, 0.9, 0.3}},
                   NULL);
    findings_seeds("b", NULL, (double[]){0.5, 0.5}, 2);
    char *md = findings_text(REPORT_MD, "report.md");
    assert_says(md, "`a tested as a(x=1)` was not run without these options");
    free(md);
}

Test(findings, the_baseline_has_a_table_of_differences)
{
    made_baseline(room.dir, "b");
    findings_seeds("a", NULL, (double[]){0.8, 0.85, 0.9, 0.95, 0.7}, 5);
    findings_seeds("b", NULL, (double[]){0.1, 0.2, 0.3, 0.15, 0.25}, 5);
    char *md = findings_text(REPORT_MD, "report.md");
    assert_says(md, "each encoding less the baseline `b` on the same seeds");
    assert_says(md, "| `a` | +0.640 (");
    assert_says(md, "| 0.0625 (0.0625) |");
    assert_says(md, "`a`: 5 differences other than 0: p cannot be below 0.0625.");
    cr_assert_not(strstr(md, "names no baseline"));
    free(md);
}

Test(findings, without_a_baseline_it_says_so)
{
    findings_seeds("a", NULL, (double[]){0.8, 0.85}, 2);
    findings_seeds("b", NULL, (double[]){0.1, 0.2}, 2);
    char *md = findings_text(REPORT_MD, "report.md");
    assert_says(md, "The spec names no baseline");
    free(md);
    made_baseline(room.dir, "c");
    md = findings_text(REPORT_MD, "report.md");
    assert_says(md, "The baseline `c` has no run here");
    free(md);
}

Test(findings, fitted_runs_have_a_mean_of_their_own)
{
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 1, .score = {1, 0.75, 0.5}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 2, .score = {0.25, 0.25, 0.25}, .unfit = 1}, NULL);
    char *md = findings_text(REPORT_MD, "report.md");
    assert_says(md, "mean over the fitted runs alone");
    assert_says(md, "| `a` | 1.000 (1 of 2) | 0.750 (1 of 2) | 0.500 (1 of 2) |");
    assert_says(md, "| `a` | 0.625 (0.000\342\200\2231.000) | 0.500 (0.000\342\200\2231.000) |");
    assert_says(md, "`repeat_copy`, runs that fitted in distribution: `a` 1 of 2; all are in the means.");
    free(md);
}

/* Sequences longer than any in training cannot have occurred there, whatever side their hash is on. */
Test(findings, overlap_is_told_where_it_is_not_zero)
{
    made_write(room.dir, &(made_run){.encoding = "a", .score = {1, 0.5, 0.3}, .overlap = {0.125, 0.5, 0}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "b", .score = {1, 0.5, 0.3}, .overlap = {0.125, 0.5, 0}}, NULL);
    char *md = findings_text(REPORT_MD, "report.md");
    assert_says(md, "may also have occurred in training, `repeat_copy`: 12.5 % at length 16.");
    assert_says(md, "| also in training | 0.125 |  |  |");
    free(md);
}

/* Four tasks on which a beats b beats c: all agree, so p is one over the 3! arrangements to the power 3, and four tasks
 * are enough for the critical difference of three to tell the first from the last, not from the second: 2.3437
 * sqrt(12/24) = 1.657. */
Test(findings, ranks_over_tasks_are_tested)
{
    static const char *const tasks[] = {"repeat_copy", "sort", "unique_copy", "binary_majority"};
    for (int i = 0; i < 4; i++) {
        findings_seeds("a", tasks[i], (double[]){0.9, 0.9}, 2);
        findings_seeds("b", tasks[i], (double[]){0.6, 0.6}, 2);
        findings_seeds("c", tasks[i], (double[]){0.4, 0.4}, 2);
    }
    report_view v;
    error e = ERROR_INIT;
    cr_assert(view_load(room.dir, &v, &e) == 0, "%s", e.message);
    /* at 4x all score 0.3: ranks 1, 2, 3 at one length, 2, 2, 2 at the other */
    cr_assert(v.method[0].rank == 1.5 && v.method[1].rank == 2 && v.method[2].rank == 2.5);
    cr_assert(fabs(v.method[0].reciprocal - 0.75) < 1e-15 &&
              fabs(v.method[2].reciprocal - (1.0 / 3 + 0.5) / 2) < 1e-15);
    cr_assert(fabs(v.critical - 1.657) < 0.001 && v.friedman.blocks == 4 && v.friedman.treatments == 3);
    cr_assert(fabs(v.friedman.chi2 - 8) < 1e-12 && isinf(v.friedman.f) && fabs(v.friedman.p_f - 1.0 / 216) < 1e-12);
    view_free(&v);
    char *md = findings_text(REPORT_MD, "report.md");
    assert_says(md, "Over 4 tasks Friedman's test of equal ranks gives \317\207\302\262(2) = 8.00, p = 0.0183");
    assert_says(md, "F(2, 6) = infinite (all tasks agree), p = 0.0046");
    assert_says(
        md,
        "at least 1.66 apart. By these tasks alone, the following cannot be told apart from the best, `a`: `b`, `c`");
    assert_says(md, "With so few tasks both are coarse.");
    char *data = scratch_text(&room, "plots/ranks.tsv");
    assert_says(data, "\t1.50\t0.75\t3.15");
    assert_says(data, "\tcritical difference 1.66\n");
    free(md), free(data);
}

Test(findings, one_task_says_nothing_about_others)
{
    findings_seeds("a", NULL, (double[]){0.8, 0.85}, 2);
    findings_seeds("b", NULL, (double[]){0.1, 0.2}, 2);
    char *md = findings_text(REPORT_MD, "report.md"), *data = scratch_text(&room, "plots/ranks.tsv");
    assert_says(md, "One task was ranked, so these ranks say nothing about other tasks");
    cr_assert_not(strstr(data, "critical difference"));
    free(md), free(data);
}
