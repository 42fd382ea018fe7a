/* The report where one score was measured in two ways: decoding beside teacher forcing, sliding windows beside others.
 */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_figures.h"
#include "report_fixture.h"
#include "report_view.h"
#include "scratch.h"

static scratch modes_room;

static void modes_setup(void)
{
    scratch_open(&modes_room);
}

static void modes_teardown(void)
{
    scratch_close(&modes_room);
}

TestSuite(modes, .init = modes_setup, .fini = modes_teardown);

/* The words alone: gnuplot is not even looked for. */
static void modes_report(void)
{
    error e = ERROR_INIT;
    setenv("PATH", "/nonexistent", 1);
    registry *known = registry_new(&e);
    cr_assert_not_null(known, "%s", e.message);
    cr_assert_eq(report_write(modes_room.dir, known, "plots", REPORT_MD, PLOT_SVG, &e), -1);
    cr_assert(strstr(e.message, "gnuplot is not installed"), "%s", e.message);
    registry_free(known);
}

static int modes_count(const char *text, const char *words)
{
    int count = 0;
    for (; (text = strstr(text, words)); text += strlen(words))
        count++;
    return count;
}

static void modes_decoded(const char *encoding, double score, double written)
{
    for (int seed = 1; seed <= 2; seed++)
        made_write(modes_room.dir,
                   &(made_run){.encoding = encoding,
                               .seed = seed,
                               .score = {1, score, score / 2},
                               .decoded = 1,
                               .written = written,
                               .settings = "eval.decode=true"},
                   NULL);
}

/* Both modes have a table of their own, which says where they differ; ranks, headline and figures are of one of them.
 */
Test(modes, decoding_stands_beside_teacher_forcing)
{
    modes_decoded("a", 0.8, 0.7);
    modes_decoded("b", 0.4, 0.2);
    modes_report();
    char *md = scratch_text(&modes_room, "report.md");
    cr_assert(strstr(md, "`repeat_copy`, exact match (share of sequences, higher is better, free-running: answers "
                         "written token by token)"),
              "%s", md);
    cr_assert(strstr(md,
                     "Against teacher forcing, mean exact match is the same at all 6 points of encoding and length. "
                     "The two are one event"),
              "%s", md);
    /* 0.7 and 0.2, beside 1, 0.9, 0.7 and 1, 0.7, 0.6: one of six is the same */
    cr_assert(strstr(md,
                     "Against teacher forcing, mean token accuracy differs at 5 of 6 points of encoding and length, "
                     "by up to 0.800: a wrong token is read by all that follow."),
              "%s", md);
    cr_assert_eq(modes_count(md, "best mean `a`"), 1, "one headline, not one for each mode");
    cr_assert(strstr(md, "Answers are teacher-forced, and also decoded greedily."));
    free(md);
    char *csv = scratch_text(&modes_room, "summary.csv");
    cr_assert(strstr(csv, "\na,repeat_copy,16,32,2,exact_match,free_running,2,2,0.8,"), "%s", csv);
    cr_assert(strstr(csv, "\nb,repeat_copy,16,32,2,token_accuracy,free_running,2,2,0.2,"), "%s", csv);
    free(csv);
    char *tsv = scratch_text(&modes_room, "plots/extrapolation.tsv");
    cr_assert_null(strstr(tsv, "0.2\n"));
    free(tsv);
}

Test(modes, without_decoding_nothing_is_said_of_it)
{
    made_folder(modes_room.dir);
    modes_report();
    char *md = scratch_text(&modes_room, "report.md");
    cr_assert_eq(modes_count(md, "free-running"), 0, "%s", md);
    cr_assert(strstr(md, "Answers are teacher-forced."));
    free(md);
}

/* Loss by position has a panel for each mode of a text; where windows slide it holds the last positions of each length,
 * each scored at least an eighth as often as the best: of 16, 32 and 64 tokens with a stride of 8 those from 8, 24 and
 * 56 on, with gaps between them. */
Test(modes, both_windows_have_loss_by_position)
{
    made_folder(modes_room.dir);
    modes_report();
    char *md = scratch_text(&modes_room, "report.md"), *tsv = scratch_text(&modes_room, "plots/positions.tsv");
    char *layout = scratch_text(&modes_room, "plots/positions.layout.tsv");
    cr_assert(strstr(md, "plots/positions.tsv"), "the figure's data lie beside it");
    cr_assert(strstr(layout, "loss by position, nats per token, windows"), "%s", layout);
    cr_assert(strstr(layout, "loss by position, nats per token, sliding"), "%s", layout);
    int windows = 0, sliding = 0, gaps = 0, tested[3] = {0, 0, 0};
    for (char *line = strtok(tsv, "\n"); line; line = strtok(NULL, "\n")) {
        char panel[256], method[64];
        double x, y;
        if (sscanf(line, "%255[^\t]\t%63[^\t]\t%lf\t%lf", panel, method, &x, &y) != 4 || strcmp(method, "holds") != 0)
            continue;
        gaps += isnan(y);
        if (isnan(y))
            continue;
        int last = windows > 0 && x < 20 && sliding == 0 && windows >= 60;
        if (windows < 64 && !last)
            windows++;
        else {
            sliding++;
            tested[x >= 8 && x < 16.5 ? 0 : x >= 24 && x < 32.5 ? 1 : 2]++;
            cr_assert((x >= 8 && x < 16.5) || (x >= 24 && x < 32.5) || x >= 56, "a position %g of few tokens is shown",
                      x);
        }
    }
    cr_assert_eq(windows, 64, "%d positions of the longest windows", windows);
    cr_assert_eq(sliding, 24, "%d positions where windows slide", sliding);
    cr_assert_eq(gaps, 2, "%d gaps", gaps);
    cr_assert(tested[0] == 8 && tested[1] == 8 && tested[2] == 8);
    free(md);
    free(layout);
}

/* By hand: sliding losses 1.51, 1.61 and 1.71 (and with the seeds' wobble) rise by 0.2 in every seed; windows, 0.01
 * below, too. */
Test(modes, what_longer_windows_gain)
{
    made_folder(modes_room.dir);
    for (int seed = 1; seed <= 3; seed++)
        made_write(
            modes_room.dir,
            &(made_run){.encoding = "falls", .task = "prose", .seed = seed, .loss = 1, .score = {1.5, 1.4, 1.25}},
            NULL);
    modes_report();
    char *md = scratch_text(&modes_room, "report.md");
    cr_assert(strstr(md, "`prose`, loss at 4\303\227 less that at the training length, of the same runs"), "%s", md);
    cr_assert(strstr(md, "| `holds` | +0.200 (0.200\342\200\2230.200) | +0.200 (0.200\342\200\2230.200) |"), "%s", md);
    cr_assert(strstr(md, "| `falls` | -0.250 (-0.250 to -0.250) | -0.250 (-0.250 to -0.250) |"), "%s", md);
    cr_assert(strstr(md, "| `ends` | \342\200\224 | \342\200\224 |"), "%s", md);
    free(md);
}

/* Both panels of a text have one scale, so that flat looks flat in both. */
Test(modes, a_task_measured_in_two_ways_has_one_scale)
{
    figure_point one[2] = {{.x = 1, .y = 1.5, .low = NAN, .high = NAN}, {.x = 2, .y = 1.6, .low = NAN, .high = NAN}};
    figure_point two[2] = {{.x = 1, .y = 1.5, .low = NAN, .high = NAN}, {.x = 2, .y = 5.6, .low = NAN, .high = NAN}};
    figure_curve curve[3] = {{.count = 2, .point = one}, {.count = 2, .point = two}, {.count = 2, .point = two}};
    figure_panel panel[3] = {{.shares = "prose", .curves = 1, .curve = &curve[0]},
                             {.shares = "prose", .curves = 1, .curve = &curve[1]},
                             {.shares = "other", .curves = 1, .curve = &curve[0]}};
    figure f = {.panels = 3, .panel = panel};
    for (int i = 0; i < 3; i++)
        figure_fit(&panel[i], NAN, NAN);
    double alone = panel[2].y_high;
    cr_assert(panel[0].y_high < panel[1].y_high);
    figure_share(&f);
    cr_assert(panel[0].y_high == panel[1].y_high && panel[0].y_low == panel[1].y_low && panel[0].y_high >= 5.6);
    cr_assert_eq(panel[2].y_high, alone);
}

/* The best mean may be that of a single run: that is what is said, and not that chance was not beaten. */
Test(modes, one_run_is_no_best)
{
    made_write(modes_room.dir, &(made_run){.encoding = "a", .task = "prose", .loss = 1, .score = {1, 1, 1}}, NULL);
    for (int seed = 1; seed <= 3; seed++)
        made_write(modes_room.dir,
                   &(made_run){.encoding = "b", .task = "prose", .seed = seed, .loss = 1, .score = {2, 2, 2}}, NULL);
    modes_report();
    char *md = scratch_text(&modes_room, "report.md");
    cr_assert(strstr(md, "the best mean, of `a`, is that of one run, so the data cannot say which is best."), "%s", md);
    cr_assert_null(strstr(md, "above chance."));
    free(md);
}
