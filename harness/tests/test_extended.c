/* The tables and the report of runs that went on at longer lengths, from records made up for it. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "report.h"
#include "report_figures.h"
#include "report_fixture.h"
#include "report_view.h"
#include "scratch.h"

static scratch extended_room;

static void extended_setup(void)
{
    scratch_open(&extended_room);
}

static void extended_teardown(void)
{
    scratch_close(&extended_room);
}

TestSuite(extended, .init = extended_setup, .fini = extended_teardown);

enum { EXTENDED_ROWS_MAX = 32 };

static void extended_row(run_extension *rows, int *count, const char *method, const char *options, int steps, int len,
                         double value, const char *reason)
{
    run_extension *x = &rows[(*count)++];
    *x = (run_extension){.factor = 2, .steps = steps, .tokens = 100 * steps, .bin = {len, len, len / 16.0}, .value = value,
                         .n = isnan(value) ? 0 : 256};
    snprintf(x->method, sizeof x->method, "%s", method);
    snprintf(x->task_options, sizeof x->task_options, "%s", options);
    snprintf(x->metric, sizeof x->metric, "exact_match");
    snprintf(x->mode, sizeof x->mode, "teacher_forced");
    snprintf(x->status, sizeof x->status, "%s", !isnan(value) ? "ok" : strstr(reason, "diverged") ? "diverged" : "undefined");
    snprintf(x->flag, sizeof x->flag, "%s", strcmp(method, "squeeze") == 0 && len > 16 ? "squeeze" : "");
    snprintf(x->reason, sizeof x->reason, "%s", reason);
}

/* Two methods at 0 and 50 steps: one that the encoding has, at `score` and after fine-tuning 0.5 more, and one that it has
 * not. wobble: what this seed adds. */
static void extended_write(const char *encoding, int seed, double score, double wobble, int diverges)
{
    run_extension rows[EXTENDED_ROWS_MAX];
    int count = 0;
    for (int steps = 0; steps <= 50; steps += 50) {
        double value = score + wobble + (steps ? 0.5 : 0);
        int lost = diverges && steps;
        extended_row(rows, &count, "squeeze", "", steps, 16, lost ? NAN : 0.9, lost ? "fine-tuning diverged at step 7" : "");
        extended_row(rows, &count, "squeeze", "", steps, 32, lost ? NAN : value, lost ? "fine-tuning diverged at step 7" : "");
        extended_row(rows, &count, "squeeze", "depth=1", steps, 32, lost ? NAN : value / 2,
                     lost ? "fine-tuning diverged at step 7" : "");
        extended_row(rows, &count, "turn", "", steps, 16, NAN, "no member of the stack has it");
        extended_row(rows, &count, "turn", "", steps, 32, NAN, "no member of the stack has it");
    }
    made_write(extended_room.dir,
               &(made_run){.encoding = encoding,
                           .seed = seed,
                           .score = {1, 0.5, 0.25},
                           .extended = rows,
                           .extended_count = count,
                           .settings = "extend.methods=squeeze;turn|extend.steps=0;50"},
               NULL);
}

static void extended_folder(void)
{
    extended_write("a", 1, 0.25, 0, 0);
    extended_write("a", 2, 0.25, 0.125, 0);
    extended_write("a", 3, 0.25, 0.25, 0);
    extended_write("b", 1, 0.125, 0, 0);
    extended_write("b", 2, 0.125, 0, 1);
}

Test(extended, means_over_seeds_are_in_the_csv_file)
{
    error e = ERROR_INIT;
    double mean, sd, median, low, high, tokens;
    int seeds;
    extended_folder();
    cr_assert_eq(summary_collect(extended_room.dir, NULL, &e), 0, "%s", e.message);
    char *csv = scratch_text(&extended_room, "extension.csv");
    const char *row = strstr(csv, "a,repeat_copy,16,2,squeeze,,50,5000,32,2,exact_match,teacher_forced,");
    cr_assert(row != NULL, "%s", csv);
    cr_assert_eq(sscanf(row, "a,repeat_copy,16,2,squeeze,,50,%lf,32,2,exact_match,teacher_forced,%d,%lf,%lf,%lf,%lf,%lf,ok",
                        &tokens, &seeds, &mean, &sd, &median, &low, &high),
                 7);
    cr_assert_eq(seeds, 3);
    cr_assert(tokens == 5000 && fabs(mean - 0.875) < 1e-12 && fabs(sd - 0.125) < 1e-12 && fabs(median - 0.875) < 1e-12);
    cr_assert(low < 0.875 && high > 0.875 && high <= 1);
    /* One of two seeds diverged: the other's value, and the reason. */
    row = strstr(csv, "b,repeat_copy,16,2,squeeze,,50,5000,32,2,exact_match,teacher_forced,1,0.625,");
    cr_assert(row != NULL, "%s", csv);
    cr_assert(strstr(row, "ok,squeeze,fine-tuning diverged at step 7\n") < strchr(row, '\n'));
    row = strstr(csv, "a,repeat_copy,16,2,turn,,0,0,32,2,exact_match,teacher_forced,0,,,,,,undefined,,no member of the stack");
    cr_assert(row != NULL, "%s", csv);
    cr_assert(strstr(csv, "a,repeat_copy,16,2,squeeze,depth=1,0,0,32,2,exact_match,teacher_forced,3,0.1875,"), "%s", csv);
    free(csv);
}

Test(extended, other_sweeps_have_no_such_file)
{
    error e = ERROR_INIT;
    made_folder(extended_room.dir);
    cr_assert_eq(summary_collect(extended_room.dir, NULL, &e), 0, "%s", e.message);
    cr_assert_eq(scratch_count(&extended_room, "extension"), 0);
}

/* The words alone: gnuplot is not even looked for. */
static char *extended_report(void)
{
    error e = ERROR_INIT;
    setenv("PATH", "/nonexistent", 1);
    registry *known = registry_new(&e);
    cr_assert_not_null(known, "%s", e.message);
    cr_assert_eq(report_write(extended_room.dir, known, "plots", REPORT_MD, PLOT_SVG, &e), -1);
    cr_assert(strstr(e.message, "gnuplot is not installed"), "%s", e.message);
    registry_free(known);
    return scratch_text(&extended_room, "report.md");
}

Test(extended, the_report_has_a_section_of_its_own)
{
    extended_folder();
    char *md = extended_report();
    const char *section = strstr(md, "## Extended");
    cr_assert(section != NULL, "%s", md);
    cr_assert(strstr(section, "multiples of the training length: 2)"), "%s", section);
    cr_assert(strstr(section, "(squeeze, turn; none is plain fine-tuning)"), "%s", section);
    const char *row = strstr(section, "| `a` | `squeeze` | *0.375 \\** (");
    cr_assert(row != NULL, "%s", section);
    cr_assert(strstr(row, "| 0.875 (") < strchr(row, '\n'), "%s", row);
    cr_assert(!strstr(section, "| `turn` |"), "%s", section);
    cr_assert(strstr(section, "- `a` with `turn`: no member of the stack has it"), "%s", section);
    cr_assert(strstr(section, "- `b` with `squeeze`, not all runs: fine-tuning diverged at step 7"), "%s", section);
    row = strstr(section, "tested under these options of the task");
    cr_assert(row && strstr(row, "| `a` | `squeeze` | *0.188 \\** (") && strstr(row, "| 0.438 ("), "%s", section);
    free(md);
}

/* A curve for each method with values, and a line for the training length; a method without a meaning has none. */
Test(extended, the_figure_holds_means_and_intervals)
{
    extended_folder();
    free(extended_report());
    char *tsv = scratch_text(&extended_room, "plots/extended.tsv"), *part = scratch_text(&extended_room,
                                                                                            "plots/extended.layout.tsv");
    cr_assert(strstr(tsv, "squeeze\t0\t0.375\t") && strstr(tsv, "squeeze\t1\t0.875\t"), "%s", tsv);
    cr_assert(!strstr(tsv, "turn"), "%s", tsv);
    cr_assert(strstr(part, "steps of fine-tuning") && strstr(part, "a at 2"), "%s", part);
    free(tsv);
    free(part);
}

Test(extended, other_reports_have_no_such_section)
{
    made_folder(extended_room.dir);
    char *md = extended_report();
    cr_assert(!strstr(md, "## Extended"));
    free(md);
}

/* The section of the record, and the records of programs that knew none. */
Test(extended, a_record_may_have_the_section_or_not)
{
    char path[PATH_MAX], other[PATH_MAX];
    error e = ERROR_INIT;
    made_write(extended_room.dir, &(made_run){.encoding = "a", .score = {1, 1, 1}}, path);
    json_t *plain = record_read(path, &e);
    cr_assert(plain && !json_object_get(plain, "extension"), "%s", e.message);
    extended_write("a", 2, 0.2, 0, 0);
    json_object_set_new(plain, "extension", json_object());
    cr_assert_eq(record_write(scratch_path(&extended_room, "other.json", other), plain, &e), 0);
    cr_assert(record_read(other, &e) == NULL && strstr(e.message, "\"extension\" has the wrong type"), "%s", e.message);
    json_decref(plain);
}
