/* Records to tables: what is averaged, what is counted, what is refused, and the bytes of the two CSV files. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "csv.h"
#include "record.h"
#include "report_fixture.h"
#include "scratch.h"
#include "summary.h"

static scratch room;

static void tables_setup(void)
{
    scratch_open(&room);
}

static void tables_teardown(void)
{
    scratch_close(&room);
}

TestSuite(csv);
TestSuite(summary, .init = tables_setup, .fini = tables_teardown);

/* ------------------------------------------------------------------------------------------------ quoting */

static void assert_text(buffer *b, const char *expected)
{
    cr_assert_str_eq(buffer_text(b), expected);
    buffer_free(b);
}

Test(csv, fields_are_quoted_as_in_rfc_4180)
{
    buffer b = BUFFER_INIT;
    csv_text(&b, "plain");
    csv_text(&b, "a,b");
    csv_text(&b, "say \"no\"");
    csv_text(&b, "two\nlines");
    csv_text(&b, "");
    csv_text(&b, NULL);
    csv_text(&b, "[x,y]@z");
    csv_end(&b);
    assert_text(&b, "plain,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\",,,\"[x,y]@z\"\n");
}

Test(csv, numbers_are_shortest_and_missing_ones_empty)
{
    buffer b = BUFFER_INIT;
    csv_text(&b, "x");
    csv_number(&b, 0.1);
    csv_number(&b, NAN);
    csv_number(&b, 1.0 / 3);
    csv_number(&b, 1e-7);
    csv_integer(&b, -5);
    csv_end(&b);
    assert_text(&b, "x,0.1,,0.3333333333333333,1e-07,-5\n");
}

/* gnuplot takes backslashes and quotes in data for its own. */
Test(csv, text_for_gnuplot_is_literal)
{
    buffer b = BUFFER_INIT;
    tsv_text(&b, "a\\nb \"q\"\tc");
    tsv_text(&b, "");
    tsv_text(&b, " x");
    tsv_number(&b, NAN);
    tsv_number(&b, 0.5);
    tsv_end(&b);
    assert_text(&b, "a\\134nb \\042q\\042 c\t\\040\t\\040x\tNaN\t0.5\n");
}

Test(csv, fixed_decimals_never_show_a_negative_zero)
{
    buffer b = BUFFER_INIT;
    buffer_fixed(&b, -0.0001, 3);
    buffer_add(&b, " ");
    buffer_fixed(&b, -1.5, 2);
    buffer_add(&b, " ");
    buffer_fixed(&b, NAN, 2);
    assert_text(&b, "0.000 -1.50 ");
}

/* ------------------------------------------------------------------------------------------------ collecting */

static const summary_row *row_of(const summary *s, const char *encoding, const char *metric, int eval_len)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->rows[i].encoding, encoding) == 0 && strcmp(s->rows[i].metric, metric) == 0 &&
            s->rows[i].eval_len == eval_len)
            return &s->rows[i];
    cr_assert_fail("no row %s %s %d", encoding, metric, eval_len);
    return NULL;
}

static void collect(summary *s)
{
    error e = ERROR_INIT;
    cr_assert(summary_collect(room.dir, s, &e) == 0, "%s", e.message);
}

static char *tables_read(const char *name)
{
    char path[PATH_MAX];
    size_t size;
    return scratch_read(scratch_path(&room, name, path), &size);
}

Test(summary, a_point_is_a_mean_over_seeds)
{
    summary s;
    for (int seed = 3; seed >= 1; seed--)
        made_write(room.dir, &(made_run){.encoding = "a", .seed = seed, .score = {1, 0.25 * seed, 0}}, NULL);
    collect(&s);
    const summary_row *row = row_of(&s, "a", "exact_match", 32);
    cr_assert(row->seeds == 3 && row->fitted == 3 && row->seed[0] == 1 && row->seed[2] == 3);
    cr_assert(row->value[0] == 0.25 && row->value[2] == 0.75);
    cr_assert(row->mean == 0.5 && row->sd == 0.25 && row->median == 0.5);
    cr_assert(row->ci_low >= 0 && row->ci_low < 0.25 && row->ci_high <= 1 && row->ci_high > 0.75);
    cr_assert(isnan(row->rank), "nothing to compare with");
    cr_assert(s.records == 3 && s.diverged + s.failed + s.interrupted == 0);
    summary_free(&s);
}

Test(summary, ranks_follow_the_direction_of_the_metric)
{
    summary s;
    made_write(room.dir, &(made_run){.encoding = "a", .score = {1, 0.5, 0}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "b", .score = {1, 0.75, NAN}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "a", .task = "prose", .loss = 1, .score = {2, 2, 2}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "b", .task = "prose", .loss = 1, .score = {2, 3, 2}}, NULL);
    collect(&s);
    cr_assert(row_of(&s, "a", "exact_match", 16)->rank == 1.5 && row_of(&s, "b", "exact_match", 16)->rank == 1.5);
    cr_assert(row_of(&s, "a", "exact_match", 32)->rank == 2 && row_of(&s, "b", "exact_match", 32)->rank == 1);
    cr_assert(row_of(&s, "a", "loss", 32)->rank == 1 && row_of(&s, "b", "loss", 32)->rank == 2);
    cr_assert(isnan(row_of(&s, "a", "exact_match", 64)->rank), "the other has no value there");
    cr_assert(isnan(row_of(&s, "a", "chance_exact", 16)->rank), "chance is no score");
    summary_free(&s);
}

Test(summary, one_seed_leaves_spread_empty)
{
    made_write(room.dir, &(made_run){.encoding = "a", .score = {1, 0.5, 0}}, NULL);
    summary s;
    collect(&s);
    char *csv = tables_read("summary.csv");
    cr_assert(strstr(csv, "\na,repeat_copy,16,32,2,exact_match,teacher_forced,1,1,0.5,,0.5,,,,0.5,0.25\n"), "%s", csv);
    free(csv);
    summary_free(&s);
}

/* A learned table past its last row: a row without a value, not a 0 and not a missing row. */
Test(summary, undefined_points_have_a_row_and_no_value)
{
    summary s;
    made_write(room.dir, &(made_run){.encoding = "a", .score = {1, NAN, NAN}}, NULL);
    collect(&s);
    const summary_row *row = row_of(&s, "a", "exact_match", 32);
    cr_assert(row->seeds == 0 && isnan(row->mean) && isnan(row->sd) && isnan(row->ci_low));
    cr_assert_str_eq(row->status, "undefined");
    char *runs = tables_read("runs.csv"), *csv = tables_read("summary.csv");
    cr_assert(strstr(runs, ",32,2,exact_match,teacher_forced,,0,undefined,\n"), "%s", runs);
    cr_assert(strstr(csv, "\na,repeat_copy,16,32,2,exact_match,teacher_forced,0,0,,,,,,,,0.25\n"), "%s", csv);
    free(runs);
    free(csv);
    summary_free(&s);
}

Test(summary, runs_that_did_not_fit_stay_in_the_mean)
{
    summary s;
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 1, .score = {1, 1, 1}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 2, .score = {0, 0, 0}, .unfit = 1}, NULL);
    collect(&s);
    const summary_row *row = row_of(&s, "a", "exact_match", 32);
    cr_assert(row->seeds == 2 && row->fitted == 1 && row->mean == 0.5 && row->mean_fitted == 1);
    cr_assert(row->fit[0] == 1 && row->fit[1] == 0 && row->chance == 0.25);
    cr_assert(row->ci_low == 0 && row->ci_high == 1, "an interval of shares ends at 0 and 1");
    summary_free(&s);
}

Test(summary, broken_runs_are_counted_and_enter_no_mean)
{
    summary s;
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 1, .score = {1, 0.5, 0}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 2, .status = RUN_DIVERGED, .message = "not finite"},
               NULL);
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 3, .status = RUN_FAILED, .message = "signal 9"}, NULL);
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 4, .status = RUN_INTERRUPTED}, NULL);
    collect(&s);
    cr_assert(s.records == 4 && s.diverged == 1 && s.failed == 1 && s.interrupted == 1);
    cr_assert(row_of(&s, "a", "exact_match", 32)->seeds == 1 && row_of(&s, "a", "exact_match", 32)->mean == 0.5);
    char *runs = tables_read("runs.csv");
    cr_assert(strstr(runs, ",a,repeat_copy,2,16,,,,,,,diverged,\n"), "%s", runs);
    cr_assert(strstr(runs, ",a,repeat_copy,3,16,,,,,,,failed,\n"), "%s", runs);
    cr_assert(strstr(runs, ",a,repeat_copy,4,16,,,,,,,interrupted,\n"), "%s", runs);
    free(runs);
    summary_free(&s);
}

Test(summary, flags_agree_or_are_mixed)
{
    summary s;
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 1, .score = {1, 0.5, 0.5}, .flag = "clamp"}, NULL);
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 2, .score = {1, 0.5, 0.5}, .flag = "clamp"}, NULL);
    made_write(room.dir, &(made_run){.encoding = "b", .seed = 1, .score = {1, 0.5, 0.5}, .flag = "clamp"}, NULL);
    made_write(room.dir, &(made_run){.encoding = "b", .seed = 2, .score = {1, 0.5, 0.5}, .flag = "untrained"}, NULL);
    collect(&s);
    cr_assert_str_eq(row_of(&s, "a", "exact_match", 16)->flag, "");
    cr_assert_str_eq(row_of(&s, "a", "exact_match", 32)->flag, "clamp");
    cr_assert_str_eq(row_of(&s, "b", "exact_match", 32)->flag, "mixed");
    summary_free(&s);
}

/* Averaging over configurations would hide what differs. */
Test(summary, configurations_are_told_apart)
{
    summary s;
    for (int seed = 1; seed <= 2; seed++) {
        made_write(room.dir, &(made_run){.encoding = "a", .seed = seed, .lr = 0.0003, .score = {1, 0.25, 0}}, NULL);
        made_write(room.dir, &(made_run){.encoding = "a", .seed = seed, .lr = 0.003, .score = {1, 0.75, 0}}, NULL);
        made_write(room.dir, &(made_run){.encoding = "b", .seed = seed, .lr = 0.003, .score = {1, 0.5, 0}}, NULL);
    }
    collect(&s);
    cr_assert(row_of(&s, "a [train.lr=0.0003]", "exact_match", 32)->mean == 0.25);
    cr_assert(row_of(&s, "a [train.lr=0.003]", "exact_match", 32)->mean == 0.75);
    cr_assert(row_of(&s, "b", "exact_match", 32)->mean == 0.5, "a single configuration needs no remark");
    summary_free(&s);
}

/* ------------------------------------------------------------------------------------------------ files that are no
 * records */

Test(summary, a_bad_record_is_named_and_the_others_collected)
{
    char bad[PATH_MAX], cut[PATH_MAX];
    error e = ERROR_INIT;
    summary s;
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 1, .score = {1, 0.5, 0}}, NULL);
    made_write(room.dir, &(made_run){.encoding = "a", .seed = 2, .score = {1, 0.5, 0}}, cut);
    cr_assert_eq(truncate(cut, 100), 0);
    scratch_write(&room, "runs/other.json", "{\"schema\": \"somebody/1\"}", 23, bad);
    cr_assert_eq(summary_collect(room.dir, &s, &e), -1);
    cr_assert(e.kind == ERROR_ENVIRONMENT && strstr(e.message, bad) && strstr(e.message, cut), "%s", e.message);
    cr_assert(s.records == 1 && row_of(&s, "a", "exact_match", 32)->seeds == 1);
    char *runs = tables_read("runs.csv");
    cr_assert(strstr(runs, ",a,repeat_copy,1,16,32,"), "%s", runs);
    free(runs);
    summary_free(&s);
}

/* Copying folders together must not turn one seed into two. */
Test(summary, a_record_under_two_names_counts_once)
{
    char path[PATH_MAX], copy[PATH_MAX];
    size_t size;
    error e = ERROR_INIT;
    summary s;
    made_write(room.dir, &(made_run){.encoding = "a", .score = {1, 0.5, 0}}, path);
    char *text = scratch_read(path, &size);
    scratch_write(&room, "runs/copy.json", text, size, copy);
    free(text);
    cr_assert_eq(summary_collect(room.dir, &s, &e), -1);
    cr_assert(strstr(e.message, "twice"), "%s", e.message);
    cr_assert(s.records == 1 && row_of(&s, "a", "exact_match", 32)->seeds == 1);
    summary_free(&s);
}

Test(summary, temporary_files_are_no_records)
{
    char path[PATH_MAX];
    summary s;
    made_write(room.dir, &(made_run){.encoding = "a", .score = {1, 0.5, 0}}, NULL);
    scratch_write(&room, "runs/0123.json.tmp.99", "{", 1, path);
    scratch_write(&room, "runs/.hidden.json", "{", 1, path);
    collect(&s);
    cr_assert_eq(s.records, 1);
    summary_free(&s);
}

Test(summary, an_empty_folder_is_an_error)
{
    error e = ERROR_INIT;
    cr_assert_eq(summary_collect(room.dir, NULL, &e), -1);
    cr_assert(e.kind == ERROR_ENVIRONMENT && strstr(e.message, "/runs: No such file"), "%s", e.message);
}

/* ------------------------------------------------------------------------------------------------ bytes */

Test(summary, tables_are_the_same_in_every_locale)
{
    made_folder(room.dir);
    summary s;
    collect(&s);
    summary_free(&s);
    char *runs = tables_read("runs.csv"), *csv = tables_read("summary.csv");
    if (!scratch_comma_locale(&room))
        cr_skip_test("no locale with a decimal comma can be had here");
    collect(&s);
    summary_free(&s);
    char *runs_again = tables_read("runs.csv"), *csv_again = tables_read("summary.csv");
    cr_assert_str_eq(runs_again, runs);
    cr_assert_str_eq(csv_again, csv);
    cr_assert(strstr(csv, ",0.82,"), "%s", csv);
    free(runs);
    free(csv);
    free(runs_again);
    free(csv_again);
}

Test(summary, columns_are_those_that_others_read)
{
    made_folder(room.dir);
    summary s;
    collect(&s);
    summary_free(&s);
    char *runs = tables_read("runs.csv"), *csv = tables_read("summary.csv");
    static const char runs_columns[] =
        "key,encoding,task,seed,train_len,eval_len,ratio,metric,mode,value,n,status,flag\n";
    static const char columns[] =
        "encoding,task,train_len,eval_len,ratio,metric,mode,seeds,fitted,mean,sd,median,ci_low,ci_high,"
        "rank,mean_fitted,chance\n";
    static const char curves_columns[] =
        "encoding,task,train_len,metric,mode,lengths,seeds,fitted,area,sd,ci_low,ci_high,"
        "area_fitted,reach,reach_is_last,reason\n";
    static const char comparisons_columns[] =
        "task,train_len,eval_len,ratio,metric,mode,what,against,reference,encoding,pairs,"
        "difference,sd,ci_low,ci_high,p,p_holm,tests,effect,rank_biserial,seeds_needed,"
        "reason\n";
    char *curves = tables_read("curves.csv"), *comparisons = tables_read("comparisons.csv");
    cr_assert(strncmp(runs, runs_columns, strlen(runs_columns)) == 0 && strncmp(csv, columns, strlen(columns)) == 0);
    cr_assert(strncmp(curves, curves_columns, strlen(curves_columns)) == 0, "%s", curves);
    cr_assert(strncmp(comparisons, comparisons_columns, strlen(comparisons_columns)) == 0, "%s", comparisons);
    free(runs), free(csv), free(curves), free(comparisons);
}
