/* Comparisons: on the same seeds, with what is missing said in words. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_fixture.h"
#include "scratch.h"
#include "summary.h"

static scratch room;
static summary s;

static void contrast_setup(void)
{
    scratch_open(&room);
}

static void contrast_teardown(void)
{
    summary_free(&s);
    scratch_close(&room);
}

TestSuite(contrast, .init = contrast_setup, .fini = contrast_teardown);

static void contrast_collect(void)
{
    error e = ERROR_INIT;
    if (s.count == 0)
        cr_assert(summary_collect(room.dir, &s, &e) == 0, "%s", e.message);
}

/* Exact match at a length; 0: areas. */
static const summary_contrast *contrast_at(const char *against, const char *encoding, int eval_len)
{
    contrast_collect();
    for (int i = 0; i < s.contrasts; i++) {
        const summary_contrast *c = &s.contrast[i];
        if (strcmp(c->against, against) == 0 && strcmp(c->encoding, encoding) == 0 && c->eval_len == eval_len &&
            strcmp(c->metric, "exact_match") == 0)
            return c;
    }
    return NULL;
}

static void contrast_seeds(const char *encoding, int first, const double *score, int count)
{
    for (int i = 0; i < count; i++)
        made_write(room.dir, &(made_run){.encoding = encoding, .seed = first + i, .score = {1, score[i], 0}}, NULL);
}

/* Seeds 2 and 3 of a, 1 to 3 of the baseline: two pairs. Differences 0.25 and 0.125. */
Test(contrast, pairs_are_equal_seeds)
{
    made_baseline(room.dir, "z");
    contrast_seeds("z", 1, (double[]){0.9, 0.25, 0.5}, 3);
    contrast_seeds("a", 2, (double[]){0.5, 0.625, 0.1}, 3);
    const summary_contrast *c = contrast_at("baseline", "a", 32);
    cr_assert(c && c->d.n == 2 && c->d.mean == 0.1875 && strcmp(c->reference, "z") == 0);
    cr_assert(fabs(c->d.sd - 0.08838834764831845) < 1e-15);
    cr_assert(c->d.low >= -1 && c->d.high <= 1, "no more than a share can differ by");
    cr_assert(c->d.p == 0.5 && c->p_holm == 0.5 && c->tests == 1 && c->d.biserial == 1);
    cr_assert_str_eq(c->reason, "2 differences other than 0: p cannot be below 0.5000");
    cr_assert_null(contrast_at("baseline", "z", 32), "the baseline is not compared with itself");
}

Test(contrast, one_pair_says_why_it_says_little)
{
    made_baseline(room.dir, "z");
    contrast_seeds("z", 1, (double[]){0.5}, 1);
    contrast_seeds("a", 1, (double[]){0.75}, 1);
    const summary_contrast *c = contrast_at("baseline", "a", 32);
    cr_assert(c->d.n == 1 && c->d.mean == 0.25 && isnan(c->d.sd) && isnan(c->d.low) && isnan(c->d.high) &&
              isnan(c->d.p) && isnan(c->p_holm));
    char *csv = scratch_text(&room, "comparisons.csv");
    cr_assert(
        strstr(csv, "\nrepeat_copy,16,32,2,exact_match,teacher_forced,score,baseline,z,a,1,0.25,,,,,,0,,,,one pair: no "
                    "interval and no test\n"),
        "%s", csv);
    free(csv);
}

/* Five pairs, all on one side: the least p there is, and it is not below 0.05. */
Test(contrast, five_seeds_cannot_reach_five_percent)
{
    made_baseline(room.dir, "z");
    contrast_seeds("z", 1, (double[]){0.1, 0.2, 0.3, 0.15, 0.25}, 5);
    contrast_seeds("a", 1, (double[]){0.8, 0.85, 0.9, 0.95, 0.7}, 5);
    const summary_contrast *c = contrast_at("baseline", "a", 32);
    cr_assert(c->d.n == 5 && c->d.p == 0.0625 && c->d.low > 0.3);
    cr_assert_str_eq(c->reason, "5 differences other than 0: p cannot be below 0.0625");
    const summary_contrast *area = contrast_at("baseline", "a", 0);
    cr_assert(area && area->d.n == 5 && isnan(area->ratio) && fabs(area->d.mean - c->d.mean / 2) < 1e-12,
              "the other two lengths are equal: half of the difference at the middle one");
}

/* Three encodings, six seeds: p = 1/32 each, times three. */
Test(contrast, holm_counts_the_encodings)
{
    made_baseline(room.dir, "z");
    contrast_seeds("z", 1, (double[]){0.1, 0.2, 0.3, 0.15, 0.25, 0.2}, 6);
    contrast_seeds("a", 1, (double[]){0.8, 0.85, 0.9, 0.95, 0.7, 0.75}, 6);
    contrast_seeds("b", 1, (double[]){0.5, 0.55, 0.6, 0.65, 0.5, 0.55}, 6);
    contrast_seeds("c", 1, (double[]){0.1, 0.2, 0.3, 0.15, 0.25, 0.2}, 6);
    const summary_contrast *a = contrast_at("baseline", "a", 32), *b = contrast_at("baseline", "b", 32);
    const summary_contrast *c = contrast_at("baseline", "c", 32);
    cr_assert(a->d.p == 0.03125 && b->d.p == 0.03125 && a->p_holm == 0.09375 && b->p_holm == 0.09375 && a->tests == 3);
    cr_assert_str_eq(a->reason, "6 differences other than 0: p_holm over 3 tests stays above 0.05 for the smallest p");
    cr_assert(c->d.mean == 0 && c->d.p == 1 && c->p_holm == 1 && isnan(c->d.effect) && c->d.needed == 0);
    cr_assert_str_eq(c->reason, "all differences are 0");
    const summary_contrast *best = contrast_at("best", "b", 32);
    cr_assert(best && strcmp(best->reference, "a") == 0 && best->tests == 3 && best->d.mean < 0);
    cr_assert_null(contrast_at("best", "a", 32), "the best is not compared with itself");
}

Test(contrast, what_has_no_value_has_a_row_and_a_reason)
{
    made_baseline(room.dir, "z");
    contrast_seeds("z", 1, (double[]){0.5, 0.5}, 2);
    contrast_seeds("a", 1, (double[]){NAN, NAN}, 2);
    contrast_seeds("b", 3, (double[]){0.5, 0.5}, 2);
    cr_assert_str_eq(contrast_at("baseline", "a", 32)->reason, "no value: undefined");
    cr_assert_str_eq(contrast_at("baseline", "a", 0)->reason, "no value: undefined at some length");
    cr_assert_str_eq(contrast_at("baseline", "b", 32)->reason, "no seed in common");
}

Test(contrast, an_undefined_baseline_is_the_reason)
{
    made_baseline(room.dir, "z");
    contrast_seeds("z", 1, (double[]){NAN, NAN}, 2);
    contrast_seeds("a", 1, (double[]){0.5, 0.5}, 2);
    cr_assert_str_eq(contrast_at("baseline", "a", 32)->reason, "the baseline has no value: undefined");
}

/* Equal settings are compared with each other; other settings of an encoding with none. */
Test(contrast, settings_meet_their_own)
{
    made_baseline(room.dir, "z");
    for (int seed = 1; seed <= 2; seed++) {
        made_write(room.dir, &(made_run){.encoding = "z", .seed = seed, .lr = 0.0003, .score = {1, 0.25, 0}}, NULL);
        made_write(room.dir, &(made_run){.encoding = "z", .seed = seed, .lr = 0.003, .score = {1, 0.5, 0}}, NULL);
        made_write(room.dir, &(made_run){.encoding = "a", .seed = seed, .lr = 0.0003, .score = {1, 0.75, 0}}, NULL);
        made_write(room.dir, &(made_run){.encoding = "a", .seed = seed, .lr = 0.003, .score = {1, 0.875, 0}}, NULL);
        made_write(room.dir, &(made_run){.encoding = "b", .seed = seed, .lr = 0.01, .score = {1, 0.875, 0}}, NULL);
    }
    const summary_contrast *low = contrast_at("baseline", "a [train.lr=0.0003]", 32),
                           *lone = contrast_at("baseline", "b", 32);
    cr_assert(low && low->d.mean == 0.5 && strcmp(low->reference, "z [train.lr=0.0003]") == 0);
    cr_assert(contrast_at("baseline", "a [train.lr=0.003]", 32)->d.mean == 0.375);
    cr_assert(lone && lone->d.n == 0 && !*lone->reference);
    cr_assert_str_eq(lone->reason, "the baseline was run with several settings, none of them this one's");
}

/* The baseline's weights under other options of evaluation are not the baseline. */
Test(contrast, tested_otherwise_is_not_the_baseline)
{
    made_baseline(room.dir, "z");
    contrast_seeds("z", 1, (double[]){0.5, 0.25}, 2);
    for (int seed = 1; seed <= 2; seed++)
        made_write(room.dir, &(made_run){.encoding = "z", .seed = seed, .tested_as = "z(x=1)", .score = {1, 0.75, 0}},
                   NULL);
    const summary_contrast *c = contrast_at("baseline", "z tested as z(x=1)", 32);
    cr_assert(c && strcmp(c->reference, "z") == 0 && c->d.mean == 0.375);
}

Test(contrast, without_a_baseline_there_is_the_best)
{
    contrast_seeds("z", 1, (double[]){0.5, 0.25}, 2);
    contrast_seeds("a", 1, (double[]){0.75, 0.5}, 2);
    cr_assert_null(contrast_at("baseline", "a", 32));
    cr_assert(contrast_at("best", "z", 32)->d.mean == -0.25);
}

/* For losses lower is better. */
Test(contrast, the_best_loss_is_the_lowest)
{
    for (int seed = 1; seed <= 2; seed++) {
        made_write(room.dir, &(made_run){.encoding = "a", .task = "prose", .seed = seed, .loss = 1, .score = {2, 2, 2}},
                   NULL);
        made_write(room.dir, &(made_run){.encoding = "b", .task = "prose", .seed = seed, .loss = 1, .score = {2, 1, 2}},
                   NULL);
    }
    contrast_collect();
    int found = 0;
    for (int i = 0; i < s.contrasts; i++) {
        const summary_contrast *c = &s.contrast[i];
        if (c->eval_len != 32)
            continue;
        cr_assert(strcmp(c->reference, "b") == 0 && c->d.mean == 1 && !isfinite(c->d.effect));
        found++;
    }
    cr_assert_eq(found, 2, "one of each mode");
}
