/* What a score counts, situation by situation: each of these has gone wrong in somebody's evaluation. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evaluate.h"
#include "metric.h"
#include "record.h"
#include "run.h"
#include "settings.h"
#include "small_run.h"

static const run_value *scoring_find(const run_result *r, int max_len, const char *name)
{
    for (int i = 0; i < r->values_count; i++)
        if (r->values[i].bin.max_len == max_len && strcmp(r->values[i].metric, name) == 0)
            return &r->values[i];
    cr_assert_fail("no %s at %d", name, max_len);
    return NULL;
}

/* Five tokens of an answer, all wrong, in a row of 40 whose other 35 tokens are predicted right: 0 of 5, not 35 of 40.
 * How long the row is changes nothing. */
Test(scoring, what_is_around_an_answer_is_neither_right_nor_wrong)
{
    for (int count = 5; count <= 40; count += 35) {
        int target[40], guess[40];
        double loss[40], position_loss[40] = {0};
        long position_n[40] = {0};
        answer_sums sums = {.position_loss = position_loss, .position_n = position_n};
        for (int t = 0; t < count; t++) {
            target[t] = t < 5 ? 3 : TASK_NOT_SCORED;
            guess[t] = t < 5 ? 4 : TASK_NOT_SCORED;
            loss[t] = t < 5 ? 2 : 0;
        }
        evaluate_sequence(target, guess, loss, count, &sums);
        cr_assert(sums.right == 0 && sums.tokens == 5 && sums.exact == 0 && sums.sequences == 1, "row of %d", count);
        cr_assert(evaluate_mean_loss(sums.loss, sums.tokens) == 2 && sums.positions == 5);
    }
}

/* An answer of ten tokens with one wrong: token accuracy 0.9, exact match 0. */
Test(scoring, one_wrong_token_of_ten)
{
    int target[12] = {TASK_NOT_SCORED, TASK_NOT_SCORED, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, guess[12];
    double loss[12] = {0}, position_loss[12] = {0};
    long position_n[12] = {0};
    answer_sums sums = {.position_loss = position_loss, .position_n = position_n};
    memcpy(guess, target, sizeof guess);
    guess[7] = 0;
    evaluate_sequence(target, guess, loss, 12, &sums);
    cr_assert(sums.tokens == 10 && (double)sums.right / (double)sums.tokens == 0.9);
    cr_assert(sums.sequences == 1 && sums.exact == 0);
}

/* The two scores have names of their own, and say that they were teacher-forced. */
Test(scoring, scores_name_what_they_count)
{
    run_result r = small_run("encoding=t5 train.steps=2");
    cr_assert_str_eq(scoring_find(&r, 6, "token_accuracy")->mode, "teacher_forced");
    cr_assert_str_eq(scoring_find(&r, 6, "exact_match")->mode, "teacher_forced");
    cr_assert_str_eq(metric_find("exact_match")->unit, "share of sequences");
    cr_assert_str_eq(metric_find("token_accuracy")->unit, "share of tokens");
    run_result_free(&r);
}

/* Losses .1 .2 .1 and .3 .5 .1 .4 .2: perplexity is exp of the mean over tokens, 1.268075, not the mean of the
 * sequences' own, 1.246245; the metric says which. */
Test(scoring, a_loss_is_per_token)
{
    const double first[] = {.1, .2, .1}, second[] = {.3, .5, .1, .4, .2};
    double a = .4, b = 1.5, per_token = exp(evaluate_mean_loss(a + b, 8));
    double per_sequence = (exp(evaluate_mean_loss(a, 3)) + exp(evaluate_mean_loss(b, 5))) / 2;
    cr_assert(fabs(first[0] + first[1] + first[2] - a) < 1e-15 &&
              fabs(second[0] + second[1] + second[2] + second[3] + second[4] - b) < 1e-15);
    cr_assert(fabs(per_token - 1.268075) < 5e-7 && fabs(per_sequence - 1.246245) < 5e-7);
    cr_assert_str_eq(metric_find("loss")->unit, "nats per token");
}

/* A prompt of three symbols and an answer of three: exactly four targets, three symbols and the end, the first of which
 * is predicted from the last token of the prompt, SEP. */
Test(scoring, three_symbols_are_four_targets)
{
    error e = ERROR_INIT;
    task *t = task_open("unique_copy(symbols=9)", TASK_DECODER, 3, 3, &e);
    cr_assert_not_null(t, "%s", e.message);
    int input[16], target[16], scored = 0;
    task_sample s = {.input = input, .target = target};
    task_draw(t, TASK_TEST, 1, 1, 1, 3, &s, NULL);
    for (int i = 0; i < s.count; i++)
        scored += target[i] != TASK_NOT_SCORED;
    cr_assert(s.count == 8 && scored == 4, "%d tokens, %d targets", s.count, scored);
    cr_assert(input[4] == task_symbols(t) + 1 && s.answer_begin == 4);
    for (int i = 0; i < 4; i++)
        cr_assert(target[i] == TASK_NOT_SCORED && target[4 + i] == (i < 3 ? input[1 + i] : task_symbols(t) + 2));
    task_free(t);
}

/* 100 tokens at mean loss 1 and 10 at 3: exp(130/110) = 3.260297; batches weighed alike would give 7.389056,
 * perplexities averaged 11.401909. */
Test(scoring, short_batches_weigh_little)
{
    double position_loss[110] = {0}, loss[110];
    long position_n[110] = {0};
    int target[110] = {0}, guess[110] = {0};
    answer_sums sums = {.position_loss = position_loss, .position_n = position_n};
    for (int i = 0; i < 110; i++)
        loss[i] = i < 100 ? 1 : 3;
    evaluate_sequence(target, guess, loss, 100, &sums);
    evaluate_sequence(target, guess, loss + 100, 10, &sums);
    double perplexity = exp(evaluate_mean_loss(sums.loss, sums.tokens));
    cr_assert(fabs(perplexity - 3.260297) < 5e-7);
    cr_assert(fabs(exp((1 + 3) / 2.0) - 7.389056) < 5e-7 && fabs((exp(1) + exp(3)) / 2 - 11.401909) < 5e-7);
}

/* A document of five tokens holds four predictions. */
Test(scoring, five_tokens_are_four_predictions)
{
    for (int window = 1; window <= 6; window++) {
        long scored = 0;
        text_window w;
        for (long i = 0; evaluate_window(5, window, window, i, &w); i++)
            scored += w.scored;
        cr_assert_eq(scored, 4, "windows of %d", window);
    }
}

/* Ten tokens in windows of 4 with stride 4, 2 and 1: where each begins, how long it is, what it scores. */
Test(scoring, windows_of_four_on_ten_tokens)
{
    static const struct {
        int stride, count;
        text_window windows[8];
    } rows[] = {
        {4, 3, {{0, 4, 4}, {4, 4, 4}, {8, 1, 1}}},
        {2, 4, {{0, 4, 4}, {2, 4, 2}, {4, 4, 2}, {5, 4, 1}}},
        {1, 6, {{0, 4, 4}, {1, 4, 1}, {2, 4, 1}, {3, 4, 1}, {4, 4, 1}, {5, 4, 1}}},
    };
    for (int k = 0; k < 3; k++) {
        text_window w;
        int i = 0;
        for (; evaluate_window(10, 4, rows[k].stride, i, &w); i++)
            cr_assert(i < rows[k].count && w.scored == rows[k].windows[i].scored &&
                          w.begin == rows[k].windows[i].begin && w.len == rows[k].windows[i].len,
                      "stride %d, window %d: %ld, %d, %d", rows[k].stride, i, w.begin, w.len, w.scored);
        cr_assert_eq(i, rows[k].count, "stride %d", rows[k].stride);
        cr_assert(evaluate_window(10, 10, rows[k].stride, 0, &w) && w.begin == 0 && w.len == 9 && w.scored == 9);
        cr_assert_eq(evaluate_window(10, 10, rows[k].stride, 1, &w), 0, "one window holds all");
    }
}

/* Long lengths are tested at their length: 16 sequences of L symbols and the end, whatever was trained. */
Test(scoring, long_tests_are_long)
{
    run_result r = small_run("encoding=t5 train.steps=2 eval.ratios=1;4;16");
    static const int lengths[] = {6, 24, 96};
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(scoring_find(&r, lengths[i], "token_accuracy")->n, 16 * (lengths[i] + 1));
        cr_assert_eq(scoring_find(&r, lengths[i], "exact_match")->n, 16);
        cr_assert_str_eq(scoring_find(&r, lengths[i], "exact_match")->status, "ok");
    }
    run_result_free(&r);
}

/* The best step is the one with the best loss in distribution; asking for other, longer tests moves neither it nor what
 * is measured at home. Rule and step are in the record. */
Test(scoring, longer_tests_choose_nothing)
{
    static const char settings[] = "encoding=t5 train.select=best train.steps=60 train.check_every=10 train.lr=0.01 ";
    char text[256];
    snprintf(text, sizeof text, "%seval.ratios=1", settings);
    run_result home = small_run(text);
    snprintf(text, sizeof text, "%seval.ratios=1;2;8", settings);
    run_result longer = small_run(text);
    registry *r = setting_registry();
    run_config c = small_run_config(r, text);
    registry_free(r);
    cr_assert_eq(home.selected_step, longer.selected_step);
    cr_assert_eq(scoring_find(&home, 6, "loss")->value, scoring_find(&longer, 6, "loss")->value);
    double best = INFINITY;
    int step = 0;
    for (int i = 0; i < longer.curve_count; i++)
        if (longer.curve[i].validation_loss < best) {
            best = longer.curve[i].validation_loss;
            step = longer.curve[i].step;
        }
    cr_assert_eq(longer.selected_step, step);
    host_facts h = {.version = "0", .compiler = "", .flags = "", .kernel = "", .level = ""};
    json_t *record = record_json(&c, &longer, &h), *selection = json_object_get(record, "selection");
    cr_assert_str_eq(json_string_value(json_object_get(selection, "rule")), "best");
    cr_assert_eq(json_integer_value(json_object_get(selection, "step")), step);
    json_decref(record);
    run_result_free(&home);
    run_result_free(&longer);
}
