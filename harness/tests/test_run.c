/* A run from its configuration to its numbers, on tasks small enough for a second. */
#include <criterion/criterion.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "small_run.h"
#include "train.h"

/* ------------------------------------------------------------------------------------------------ learning rate */

Test(rate, cosine_without_warmup)
{
    run_config c;
    config_defaults(&c);
    c.train.steps = 100;
    c.train.warmup = 0;
    c.train.lr = 1e-3;
    c.train.min_lr = 0;
    c.train.schedule = CONFIG_SCHEDULE_COSINE;
    cr_assert(fabs(train_rate(&c, 45) - 5.78217233e-4) < 1e-12);
    cr_assert(train_rate(&c, 0) == 1e-3);
}

Test(rate, warmup_then_schedule_then_floor)
{
    run_config c;
    config_defaults(&c);
    c.train.steps = 1000;
    c.train.warmup = 10;
    c.train.lr = 1;
    c.train.min_lr = 0.1;
    for (int schedule = CONFIG_SCHEDULE_CONSTANT; schedule <= CONFIG_SCHEDULE_LINEAR; schedule++) {
        c.train.schedule = schedule;
        cr_assert(fabs(train_rate(&c, 0) - 0.1) < 1e-12);
        cr_assert(fabs(train_rate(&c, 9) - 1) < 1e-12);
        for (int step = 10; step < 1000; step++)
            cr_assert(train_rate(&c, step) <= train_rate(&c, step - 1) + 1e-15);
        double end = train_rate(&c, 999);
        cr_assert(schedule == CONFIG_SCHEDULE_CONSTANT ? end == 1 : end >= 0.1 && end < 0.102);
    }
}

/* ------------------------------------------------------------------------------------------------ training */

Test(run, one_batch_can_be_learned_by_heart)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    run_config c = small_run_config(r, "encoding=learned model.width=32 train.lr=0.003 train.min_len=6 train.warmup=0");
    layered_stack stacks;
    cr_assert_eq(layered_parse(r, c.encoding, &stacks, &e), 0);
    arena memory = {NULL, 0};
    task *t = task_open(c.task, TASK_DECODER, 6, 6, &e);
    model m;
    trainer tr;
    cr_assert_eq(model_create(&m, &memory, &c, &stacks, task_vocab(t), task_tokens(t, 6), 1, &e), 0);
    model_init(&m, 1);
    cr_assert_eq(trainer_create(&tr, &memory, &c, t, &m, &e), 0);
    double norm, loss = 0, begin = trainer_step(&tr, 0, &norm);
    for (int step = 0; step < 400; step++)
        loss = trainer_step(&tr, 0, &norm); /* always batch 0 */
    cr_assert(begin > 1 && loss < 0.01, "from %g to %g", begin, loss);
    task_free(t);
    layered_free(&stacks);
    arena_free(&memory);
    registry_free(r);
}

static void run_same(const run_result *a, const run_result *b)
{
    cr_assert_eq(a->curve_count, b->curve_count);
    for (int i = 0; i < a->curve_count; i++)
        cr_assert(a->curve[i].loss == b->curve[i].loss && a->curve[i].grad_norm == b->curve[i].grad_norm);
    cr_assert_eq(a->values_count, b->values_count);
    for (int i = 0; i < a->values_count; i++)
        cr_assert(a->values[i].value == b->values[i].value || isnan(a->values[i].value));
}

Test(run, the_same_command_gives_the_same_bits)
{
    run_result a = small_run("encoding=t5 train.steps=40"), b = small_run("encoding=t5 train.steps=40");
    run_same(&a, &b);
    run_result c = small_run("encoding=t5 train.steps=40 seed=2");
    cr_assert(c.curve[0].loss != a.curve[0].loss, "another seed, the same first loss");
    run_result_free(&a);
    run_result_free(&b);
    run_result_free(&c);
}

/* kerple has two numbers for each of its heads, which leave most of a cache line unused: only what is trained counts. */
Test(run, parameters_are_those_that_are_trained)
{
    run_result a = small_run("encoding=nope train.steps=1"), b = small_run("encoding=kerple model.heads=2 train.steps=1");
    enum { WIDTH = 16, HIDDEN = 4 * WIDTH, VOCAB = 5 }; /* two bits and three marks */
    long layer = 2 * 2 * WIDTH + (3 * WIDTH + WIDTH) * (WIDTH + 1) + HIDDEN * (WIDTH + 1) + WIDTH * (HIDDEN + 1);
    cr_expect_eq(a.parameters, layer + 2 * WIDTH + VOCAB * WIDTH + VOCAB * (WIDTH + 1), "%ld", a.parameters);
    cr_expect_eq(a.encoding_parameters, 0);
    cr_expect_eq(b.parameters - a.parameters, 2 * 2);
    cr_expect_eq(b.encoding_parameters, 2 * 2);
    run_result_free(&a);
    run_result_free(&b);
}

/* Paired: with one seed all encodings that start at zero see the same first batch with the same weights. */
Test(run, encodings_are_paired)
{
    run_result a = small_run("encoding=nope train.steps=1"), b = small_run("encoding=t5(deviation=0) train.steps=1");
    cr_assert(fabs(a.curve[0].loss - b.curve[0].loss) < 1e-6);
    run_result_free(&a);
    run_result_free(&b);
}

/* Training does not see the options of evaluation; testing does. */
Test(run, options_in_evaluation_alone)
{
#define ROPE_AND_ALIBI                                                                                                 \
    "encoding=[rope,alibi+rope] model.layers=2 task=sort(symbols=40) train.steps=30 train.check_every=10 "
    run_result plain = small_run(ROPE_AND_ALIBI),
               same = small_run(ROPE_AND_ALIBI "eval.encoding_options=rope(base=10000)");
    run_result other = small_run(ROPE_AND_ALIBI "eval.encoding_options=rope(base=3)+alibi(bias_max=2)");
    run_same(&plain, &same);
    cr_assert_eq(plain.curve_count, other.curve_count);
    for (int i = 0; i < plain.curve_count; i++)
        cr_assert_eq(plain.curve[i].loss, other.curve[i].loss);
    int differ = 0;
    for (int i = 0; i < plain.values_count; i++)
        differ += plain.values[i].value != other.values[i].value;
    cr_assert_gt(differ, 4);

    /* Weights that hardly left their start, which both have in common. */
#define HARDLY_TRAINED "task=sort(symbols=40) train.steps=1 train.warmup=0 train.lr=1e-12 "
    run_result late = small_run(HARDLY_TRAINED "encoding=rope eval.encoding_options=rope(base=3)");
    run_result early = small_run(HARDLY_TRAINED "encoding=rope(base=3)");
    for (int i = 0; i < late.values_count; i++) {
        cr_assert_float_eq(late.values[i].value, early.values[i].value, 1e-5);
    }
    run_result_free(&plain);
    run_result_free(&same);
    run_result_free(&other);
    run_result_free(&late);
    run_result_free(&early);
}

Test(run, divergence_stops_at_once_and_is_recorded)
{
    run_result r = small_run("train.lr=1e6 train.steps=1000 train.warmup=0 train.clip=0");
    cr_assert_eq(r.status, RUN_DIVERGED);
    cr_assert(r.status_step < 100 && r.status_step >= 1, "step %d", r.status_step);
    cr_assert_eq(r.values_count, 0);
    cr_assert_gt(strlen(r.message), 0);
    run_result_free(&r);
}

static void run_stop_soon(void *self, const char *phase, int done, int total, double loss)
{
    (void)phase, (void)done, (void)total, (void)loss;
    *(volatile sig_atomic_t *)self = 1;
}

/* Maps that draw in evaluation draw from the run's seed: the same run twice has the same values, bit for bit. */
Test(run, random_positions_are_part_of_the_seed)
{
    static const char *const settings = "encoding=rope@random(span=200) train.steps=20 eval.ratios=1;2";
    run_result a = small_run(settings), b = small_run(settings);
    cr_assert_eq(a.values_count, b.values_count);
    for (int i = 0; i < a.values_count; i++)
        cr_assert(memcmp(&a.values[i].value, &b.values[i].value, sizeof(double)) == 0, "%s", a.values[i].metric);
    run_result_free(&a);
    run_result_free(&b);
}

/* Position coupling at work: one layer with one learned id for a symbol and its copy, shifted at random in training,
 * copies strings of two letters twice as long as it was trained on; without the ids it does not even learn to. */
Test(run, coupled_positions_copy_past_the_training_length)
{
    static const char *const settings = "task=repeat_copy train.len=10 train.steps=600 train.batch=32 train.lr=0.003 "
                                        "model.width=32 eval.ratios=1;2 eval.items=64 encoding=";
    char text[256];
    snprintf(text, sizeof text, "%slearned(rows=22)@task(start=auto)", settings);
    run_result r = small_run(text);
    cr_assert_gt(small_run_find(&r, 10, "exact_match", "teacher_forced")->value, 0.9);
    cr_assert_gt(small_run_find(&r, 20, "token_accuracy", "teacher_forced")->value,
                 0.9); /* 20 of 21: the end is harder */
    run_result_free(&r);
    snprintf(text, sizeof text, "%slearned(rows=42)@shift", settings);
    r = small_run(text);
    cr_assert_lt(small_run_find(&r, 20, "token_accuracy", "teacher_forced")->value, 0.7);
    run_result_free(&r);
}

Test(run, an_interrupt_ends_it)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    run_config c = small_run_config(r, "train.steps=1000000");
    volatile sig_atomic_t stop = 0;
    run_watch watch = {.tell = run_stop_soon, .self = (void *)&stop, .stop = &stop};
    run_result out;
    cr_assert_eq(run_execute(&c, r, &watch, &out, &e), 0);
    cr_assert_eq(out.status, RUN_INTERRUPTED);
    run_result_free(&out);
    registry_free(r);
}

Test(run, stops_early_when_validation_is_solved)
{
    run_result r = small_run("task=binary_majority encoding=nope train.len=3 train.steps=3000 train.check_every=50 "
                             "train.stop_at=0.9 train.lr=0.003");
    cr_assert(r.status_step < 3000 && r.fit_score >= 0.9, "step %d, %g", r.status_step, r.fit_score);
    cr_assert_eq(r.selected_step, r.status_step);
    run_result_free(&r);
}

/* The best weights are chosen in distribution, and the step is told. */
Test(run, selection_is_in_distribution)
{
    run_result r = small_run("train.select=best train.steps=60 train.check_every=10 train.lr=0.01");
    double best = INFINITY;
    int step = 0;
    for (int i = 0; i < r.curve_count; i++)
        if (r.curve[i].validation_loss < best) {
            best = r.curve[i].validation_loss;
            step = r.curve[i].step;
        }
    cr_assert_eq(r.selected_step, step);
    run_result_free(&r);
    run_result last = small_run("train.select=last train.steps=60 train.check_every=10 train.lr=0.01");
    cr_assert_eq(last.selected_step, 60);
    run_result_free(&last);
}

/* ------------------------------------------------------------------------------------------------ overlap */

/* Whether a string of bits belongs to a stream, and each stream has strings of that length: by looking at all of them.
 */
static void overlap_sides(int len, int exists[3])
{
    for (int code = 0; code < 1 << len; code++) {
        int input[32] = {2};
        for (int i = 0; i < len; i++)
            input[1 + i] = input[2 + len + i] = code >> i & 1;
        input[1 + len] = 3;
        exists[task_side(input, 2 * len + 2)] = 1;
    }
}

/* Case B01: copies of 1 to 8 bits, 1000 test sequences each. There are 2^L strings, so some lengths have none to hold
 * out: the record says for each length which share of its test sequences training can meet too - all or none here, as
 * the sides of all strings tell - and none at lengths with strings enough. */
Test(run, overlap_is_told_for_each_length)
{
    run_result r = small_run("train.steps=1 train.len=8 eval.items=1000 eval.bins=1;2;3;4;5;6;7;8;20;40");
    int shared = 0;
    for (int len = 1; len <= 8; len++) {
        int exists[3] = {0, 0, 0};
        overlap_sides(len, exists);
        const run_value *v = small_run_find(&r, len, "overlap", "teacher_forced");
        cr_assert_not_null(v);
        cr_assert_eq(v->n, 1000);
        cr_assert_eq(v->value, exists[TASK_TEST] && exists[TASK_TRAIN] ? 0 : 1, "length %d: %g", len, v->value);
        shared += v->value > 0;
    }
    cr_assert_gt(shared, 0, "so few strings cannot have three sides");
    for (int len = 20; len <= 40; len += 20)
        cr_assert_eq(small_run_find(&r, len, "overlap", "teacher_forced")->value, 0);
    run_result_free(&r);
}
