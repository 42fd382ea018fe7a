/* Two results folders side by side: which runs are matched, what is said of them, and what is not. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "compare.h"
#include "report_fixture.h"
#include "scratch.h"
#include "summary.h"

static scratch room;
static char side_a[PATH_MAX], side_b[PATH_MAX];

static void test_compare_open(void)
{
    scratch_open(&room);
    mkdir(scratch_path(&room, "a", side_a), 0777);
    mkdir(scratch_path(&room, "b", side_b), 0777);
}

static void test_compare_close(void)
{
    scratch_close(&room);
}

TestSuite(compare, .init = test_compare_open, .fini = test_compare_close);

static void compared(const char *ignore, comparison *c)
{
    error e = ERROR_INIT;
    cr_assert_eq(compare_load(side_a, side_b, &ignore, ignore != NULL, c, &e), 0, "%s", e.message);
}

static const compare_cell *cell_at(const comparison *c, const char *encoding, const char *metric, int len)
{
    for (int i = 0; i < c->cell_count; i++)
        if (strcmp(c->cell[i].encoding, encoding) == 0 && strcmp(c->cell[i].metric, metric) == 0 &&
            c->cell[i].eval_len == len)
            return &c->cell[i];
    cr_assert_fail("no cell %s %s %d", encoding, metric, len);
    return NULL;
}

static void write_seeds(const char *dir, made_run made, int seeds, const double *score)
{
    for (int seed = 1; seed <= seeds; seed++) {
        made.seed = seed;
        for (int l = 0; l < MADE_LENGTHS; l++)
            made.score[l] = score[seed - 1] / (1 << l);
        made_write(dir, &made, NULL);
    }
}

/* By hand: A 0.5 0.7 0.9, B 0.6 0.9 0.9: means 0.7 and 0.8, differences 0.1 0.2 0, mean 0.1. */
Test(compare, pairs_by_seed_and_gives_the_mean_difference)
{
    static const double a[] = {0.5, 0.7, 0.9}, b[] = {0.6, 0.9, 0.9};
    static const double scale[] = {1, 2, 4};
    comparison c;
    write_seeds(side_a, (made_run){.encoding = "one"}, 3, a);
    write_seeds(side_b, (made_run){.encoding = "one"}, 3, b);
    compared(NULL, &c);
    cr_assert_eq(c.pair_count, 3);
    cr_assert_eq(c.single_count, 0);
    cr_assert_eq(c.setting_count, 0);
    cr_assert_eq(c.cell_count, 6); /* two scores at three lengths; chance and overlap are no scores */
    for (int l = 0; l < 3; l++) {
        const compare_cell *cell = cell_at(&c, "one", "exact_match", 16 << l);
        cr_assert_eq(cell->pairs, 3);
        cr_assert_eq(cell->matched, 3);
        cr_assert(fabs(cell->mean_a - 0.7 / scale[l]) < 1e-15);
        cr_assert(fabs(cell->mean_b - 0.8 / scale[l]) < 1e-15);
        cr_assert(fabs(cell->difference - 0.1 / scale[l]) < 1e-15);
        cr_assert(cell->low < cell->difference && cell->difference < cell->high);
        cr_assert_str_eq(cell->why, "");
    }
    compare_free(&c);
}

/* Two differences: Student's interval with one degree of freedom, 0.15 +- 12.7062 * 0.05. */
Test(compare, the_interval_is_that_of_the_differences)
{
    static const double a[] = {0.5, 0.5}, b[] = {0.6, 0.7};
    comparison c;
    write_seeds(side_a, (made_run){.encoding = "one"}, 2, a);
    write_seeds(side_b, (made_run){.encoding = "one"}, 2, b);
    compared(NULL, &c);
    const compare_cell *cell = cell_at(&c, "one", "exact_match", 16);
    cr_assert(fabs(cell->low - (0.15 - 12.706204736432095 * 0.05)) < 1e-12);
    cr_assert(fabs(cell->high - (0.15 + 12.706204736432095 * 0.05)) < 1e-12);
    compare_free(&c);
}

Test(compare, a_folder_with_itself_differs_in_nothing)
{
    comparison c;
    made_folder(side_a);
    made_folder(side_b);
    compared(NULL, &c);
    cr_assert_gt(c.cell_count, 0);
    cr_assert_eq(c.single_count, 0);
    for (int i = 0; i < c.cell_count; i++) {
        cr_assert(c.cell[i].pairs < 2 || (c.cell[i].difference == 0 && c.cell[i].low == 0 && c.cell[i].high == 0));
        cr_assert((c.cell[i].pairs < 2) == (c.cell[i].why[0] != '\0'));
    }
    compare_free(&c);
}

Test(compare, runs_of_one_side_are_listed)
{
    static const double score[] = {0.5, 0.6, 0.7};
    comparison c;
    write_seeds(side_a, (made_run){.encoding = "one"}, 3, score);
    write_seeds(side_b, (made_run){.encoding = "one"}, 2, score);
    write_seeds(side_b, (made_run){.encoding = "two"}, 1, score);
    write_seeds(side_b, (made_run){.encoding = "one", .task = "sort"}, 1, score);
    compared(NULL, &c);
    cr_assert_eq(c.pair_count, 2);
    cr_assert_eq(c.single_count, 3);
    cr_assert(c.single[0].side == 0 && c.single[0].run->config.seed == 3 && c.single[0].alike == 1);
    cr_assert(c.single[1].side == 1 && strcmp(c.single[1].run->config.encoding, "two") == 0);
    cr_assert(c.single[2].side == 1 && strcmp(c.single[2].run->config.task, "sort") == 0);
    compare_free(&c);
}

/* All of A in 30 steps and all of B in 60: that is what is compared. An axis on one side is not. */
Test(compare, a_setting_that_differs_by_design_is_left_out)
{
    static const double score[] = {0.5, 0.6};
    comparison c;
    write_seeds(side_a, (made_run){.encoding = "one"}, 2, score);
    write_seeds(side_b, (made_run){.encoding = "one", .steps = 60}, 2, score);
    compared(NULL, &c);
    cr_assert_eq(c.pair_count, 2);
    cr_assert_eq(c.setting_count, 1);
    cr_assert_str_eq(c.setting[0].row, "train.steps");
    cr_assert_str_eq(c.setting[0].a, "30");
    cr_assert_str_eq(c.setting[0].b, "60");
    cr_assert_str_eq(c.setting[0].reason, "differs by design");
    compare_free(&c);

    write_seeds(side_b, (made_run){.encoding = "one", .steps = 90}, 2, score);
    compared(NULL, &c);
    cr_assert_eq(c.pair_count, 0);
    cr_assert_eq(c.single_count, 6);
    compare_free(&c);
    compared("train.steps", &c); /* now two runs of B are alike: which is the partner? */
    cr_assert_eq(c.pair_count, 0);
    cr_assert_eq(c.single[0].alike, 1);
    cr_assert_eq(c.single[5].alike, 2);
    cr_assert_str_eq(c.setting[0].reason, "left out on request");
    cr_assert_str_eq(c.setting[0].b, "several");
    compare_free(&c);
}

Test(compare, the_rate_of_a_tuned_sweep_is_no_setting)
{
    static const char spec[] = "{\"schema\":\"posbench-sweep/1\",\"tune\":{\"lr\":[0.001]}}";
    static const double score[] = {0.5, 0.6};
    char path[PATH_MAX];
    comparison c;
    write_seeds(side_a, (made_run){.encoding = "one"}, 2, score);
    write_seeds(side_a, (made_run){.encoding = "two"}, 2, score);
    write_seeds(side_b, (made_run){.encoding = "one"}, 2, score);
    write_seeds(side_b, (made_run){.encoding = "two", .lr = 0.01}, 2, score);
    compared(NULL, &c);
    cr_assert_eq(c.pair_count, 2);
    compare_free(&c);
    scratch_write(&room, "b/spec.json", spec, sizeof spec - 1, path);
    compared(NULL, &c);
    cr_assert_eq(c.pair_count, 4);
    cr_assert_str_eq(c.setting[0].row, "train.lr");
    cr_assert_str_eq(c.setting[0].reason, "chosen by tuning");
    compare_free(&c);
}

/* Where there are no statistics, the reason stands there. */
Test(compare, says_why_there_are_no_statistics)
{
    static const double score[] = {0.5, 0.6, 0.7};
    comparison c;
    write_seeds(side_a, (made_run){.encoding = "single"}, 1, score);
    write_seeds(side_b, (made_run){.encoding = "single"}, 1, score);
    write_seeds(side_a, (made_run){.encoding = "other", .task_version = 1}, 3, score);
    write_seeds(side_b, (made_run){.encoding = "other", .task_version = 2}, 3, score);
    write_seeds(side_a, (made_run){.encoding = "short"}, 3, score);
    write_seeds(side_b, (made_run){.encoding = "short"}, 1, score);
    made_write(side_b, &(made_run){.encoding = "short", .seed = 2, .status = RUN_DIVERGED}, NULL);
    made_write(side_b, &(made_run){.encoding = "short", .seed = 3, .score = {0.5, NAN, NAN}}, NULL);
    compared(NULL, &c);
    const compare_cell *cell = cell_at(&c, "single", "exact_match", 16);
    cr_assert_str_eq(cell->why, "too few pairs (1 of 1)");
    cr_assert(cell->mean_a == 0.5 && cell->difference == 0 && isnan(cell->low));
    cell = cell_at(&c, "other", "exact_match", 16);
    cr_assert_str_eq(cell->why, "other task version (1 | 2): the sequences are not the same");
    cr_assert(fabs(cell->mean_a - 0.6) < 1e-15 && isnan(cell->difference) && isnan(cell->low));
    cell = cell_at(&c, "short", "exact_match", 32);
    cr_assert_str_eq(cell->why, "too few pairs (1 of 3), 1 run of B gave no result, 1 without a value in B");
    cell = cell_at(&c, "short", "exact_match", 16);
    cr_assert_eq(cell->pairs, 2);
    cr_assert_str_eq(cell->why, "");
    compare_free(&c);
}

Test(compare, other_test_lengths_are_told)
{
    static const double score[] = {0.5, 0.6, 0.7};
    comparison c;
    write_seeds(side_a, (made_run){.encoding = "one"}, 3, score);
    write_seeds(side_b, (made_run){.encoding = "one", .lengths = 2}, 3, score);
    compared(NULL, &c);
    cr_assert_eq(c.pair_count, 3);
    cr_assert_str_eq(c.setting[0].row, "eval.ratios");
    const compare_cell *cell = cell_at(&c, "one", "exact_match", 64);
    cr_assert_str_eq(cell->why, "other test lengths: only A was tested here");
    cr_assert(cell->pairs == 0 && isnan(cell->mean_a) && isnan(cell->difference));
    cr_assert_str_eq(cell_at(&c, "one", "exact_match", 32)->why, "");
    compare_free(&c);
}

Test(compare, bad_folders_and_records_are_told)
{
    static const double score[] = {0.5, 0.6, 0.7};
    char bad[PATH_MAX];
    comparison c;
    error e = ERROR_INIT;
    cr_assert_eq(compare_load(side_a, "/nowhere/at/all", NULL, 0, &c, &e), -1);
    cr_assert(e.kind == ERROR_ENVIRONMENT && strstr(e.message, side_a), "%s", e.message);
    compare_free(&c);
    write_seeds(side_a, (made_run){.encoding = "one"}, 3, score);
    write_seeds(side_b, (made_run){.encoding = "one"}, 3, score);
    scratch_write(&room, "b/runs/bad.json", "{", 1, bad);
    error_clear(&e);
    cr_assert_eq(compare_load(side_a, side_b, NULL, 0, &c, &e), -1);
    cr_assert(strstr(e.message, bad), "%s", e.message);
    cr_assert_eq(c.pair_count, 3); /* and the others are compared */
    compare_free(&c);
    const char *wrong = "train.lrr";
    error_clear(&e);
    cr_assert_eq(compare_load(side_a, side_b, &wrong, 1, &c, &e), -1);
    cr_assert_eq(e.kind, ERROR_USAGE);
    compare_free(&c);
}
