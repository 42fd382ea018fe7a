/* test_extend.c - training that goes on at longer lengths: held against evaluation of the same stretched encoding, against
 * runs without it, against itself in several sittings. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extend.h"
#include "options.h"
#include "run.h"
#include "settings.h"
#include "task.h"
#include "train.h"

/* mqar: a sequence of length n has n tokens. */
static const char extend_settings[] =
    "task=mqar(vocab=24,pairs=2)|train.len=16|train.lengths=fixed|train.steps=20|train.batch=8|model.width=16|"
    "model.heads=2|eval.items=16|eval.ratios=1;2;4|extend.steps=0;3;7";

static run_result extend_run(const char *more)
{
    char text[2048];
    run_config c;
    run_result out;
    error e = ERROR_INIT;
    registry *r = setting_registry();
    snprintf(text, sizeof text, "%s|%s", extend_settings, more);
    setting_checked(&c, text);
    cr_assert_eq(run_execute(&c, r, NULL, &out, &e), 0, "%s", e.message);
    cr_assert_eq(out.status, RUN_OK);
    registry_free(r);
    return out;
}

/* The same without extend.steps, for runs that do not go on. */
static run_result extend_plain(const char *more)
{
    char text[2048], *cut;
    run_config c;
    run_result out;
    error e = ERROR_INIT;
    registry *r = setting_registry();
    snprintf(text, sizeof text, "%s", extend_settings);
    cut = strstr(text, "|extend.steps");
    snprintf(cut, sizeof text - (size_t)(cut - text), "|%s", more);
    setting_checked(&c, text);
    cr_assert_eq(run_execute(&c, r, NULL, &out, &e), 0, "%s", e.message);
    registry_free(r);
    return out;
}

static const run_extension *extend_find(const run_result *r, double factor, const char *method, int steps, int max_len,
                                        const char *metric)
{
    for (int i = 0; i < r->extensions_count; i++) {
        const run_extension *x = &r->extensions[i];
        if (x->factor == factor && strcmp(x->method, method) == 0 && x->steps == steps && x->bin.max_len == max_len &&
            strcmp(x->metric, metric) == 0)
            return x;
    }
    cr_assert_fail("no row %g %s %d %d %s", factor, method, steps, max_len, metric);
    return NULL;
}

static double extend_evaluated(const run_result *r, int max_len, const char *metric)
{
    for (int i = 0; i < r->values_count; i++)
        if (r->values[i].bin.max_len == max_len && strcmp(r->values[i].metric, metric) == 0)
            return r->values[i].value;
    cr_assert_fail("no value at %d", max_len);
    return NAN;
}

/* ------------------------------------------------------------------------------------------------ without a step */

/* Step 0 of a method is what evaluation under the same map or options gives, at both lengths, bit by bit. */
static void extend_agrees(const char *encoding, const char *method, double factor, const char *evaluation)
{
    char text[512];
    snprintf(text, sizeof text, "encoding=%s|extend.methods=%s|extend.steps=0|extend.factors=%g", encoding, method, factor);
    run_result extended = extend_run(text);
    snprintf(text, sizeof text, "encoding=%s|%s", encoding, evaluation);
    run_result evaluated = extend_plain(text);
    for (int k = 0; k < 2; k++) {
        int len = k == 0 ? 16 : (int)(16 * factor);
        const run_extension *x = extend_find(&extended, factor, method, 0, len, "loss");
        cr_assert_str_eq(x->status, "ok");
        cr_assert(x->value == extend_evaluated(&evaluated, len, "loss"), "%s %s at %d: %.17g, evaluated %.17g", encoding,
                  method, len, x->value, extend_evaluated(&evaluated, len, "loss"));
        cr_assert_eq(x->tokens, 0);
    }
    run_result_free(&extended);
    run_result_free(&evaluated);
}

Test(extend, no_steps_of_a_map_are_evaluation_under_it)
{
    char map[128], number[64];
    /* 16 tokens end at position 15, 32 at 31, 64 at 63. */
    number_print(31.0 / 15, number, sizeof number);
    snprintf(map, sizeof map, "eval.map=interpolate(factor=%s)", number);
    extend_agrees("sinusoidal", "interpolate", 2, map);
    extend_agrees("rope", "interpolate", 2, map);
    number_print(63.0 / 15, number, sizeof number);
    snprintf(map, sizeof map, "eval.map=interpolate(factor=%s)", number);
    extend_agrees("learned", "interpolate", 4, map);
    extend_agrees("learned", "clamp", 2, "eval.map=clamp");
    extend_agrees("learned", "interpolate(factor=8)", 4, "eval.map=interpolate(factor=8)");
    extend_agrees("sinusoidal", "none", 2, "seed=1");
}

Test(extend, no_steps_of_an_extension_are_evaluation_under_its_options)
{
    extend_agrees("rope", "linear", 2, "eval.encoding_options=rope(scaling=linear,factor=2)");
    extend_agrees("rope", "ntk", 4, "eval.encoding_options=rope(scaling=ntk,alpha=4)");
    extend_agrees("rope", "dynamic", 4, "eval.encoding_options=rope(scaling=dynamic,factor=1)");
    extend_agrees("rope", "yarn", 2, "eval.encoding_options=rope(scaling=yarn,factor=2)");
    extend_agrees("rope", "yarn(beta_fast=auto)", 2,
                  "eval.encoding_options=rope(scaling=yarn,factor=2,beta_fast=auto)");
}

/* NTK with s = L'/L and its dynamic form meet at the longest length; the latter leaves the training length alone. */
Test(extend, dynamic_meets_ntk_at_the_longer_length_and_none_at_home)
{
    run_result r = extend_run("encoding=rope|extend.methods=none;ntk;dynamic|extend.steps=0|extend.factors=4");
    double ntk = extend_find(&r, 4, "ntk", 0, 64, "loss")->value, none = extend_find(&r, 4, "none", 0, 16, "loss")->value;
    cr_assert(fabs(extend_find(&r, 4, "dynamic", 0, 64, "loss")->value - ntk) < 1e-12);
    cr_assert(extend_find(&r, 4, "dynamic", 0, 16, "loss")->value == none);
    cr_assert(extend_find(&r, 4, "ntk", 0, 16, "loss")->value != none);
    run_result_free(&r);
}

/* ------------------------------------------------------------------------------------------------ fine-tuning */

Test(extend, a_step_has_as_many_tokens_as_one_of_training)
{
    run_result r = extend_run("encoding=rope|extend.methods=none;interpolate;yarn|extend.factors=2;4");
    long each = r.tokens_seen / 20;
    cr_assert_eq(each, 8 * 16);
    for (int i = 0; i < r.extensions_count; i++)
        cr_assert_eq(r.extensions[i].tokens, each * r.extensions[i].steps);
    run_result_free(&r);
}

/* The loss of one step at untrained weights: step `step` of a training that goes on from one of `offset` steps. */
static double extend_loss_at(int offset, int step)
{
    run_config c;
    error e = ERROR_INIT;
    arena memory = {NULL, 0};
    layered_stack stacks;
    model m;
    trainer t;
    double norm;
    registry *r = setting_registry();
    setting_checked(&c, "encoding=rope|task=mqar(vocab=24,pairs=2)|train.len=16|train.min_len=8|train.lr=0|model.width=16|"
                        "model.heads=2");
    task *what = task_open(c.task, TASK_DECODER, 8, 16, &e);
    cr_assert(what && layered_parse(r, c.encoding, &stacks, &e) == 0, "%s", e.message);
    cr_assert_eq(model_create(&m, &memory, &c, &stacks, task_vocab(what), task_tokens(what, 16), 1, &e), 0);
    model_init(&m, 1);
    cr_assert_eq(trainer_create(&t, &memory, &c, what, &m, &e), 0);
    t.offset = offset;
    double loss = trainer_step(&t, step, &norm);
    task_free(what);
    layered_free(&stacks);
    arena_free(&memory);
    registry_free(r);
    return loss;
}

Test(extend, batches_are_those_that_follow_training)
{
    cr_assert(extend_loss_at(20, 0) == extend_loss_at(0, 20));
    cr_assert(extend_loss_at(20, 0) != extend_loss_at(0, 0));
}

/* With lengths that are drawn: the same for all methods, and as many as in training on average. */
Test(extend, all_methods_read_the_same_tokens)
{
    run_result r = extend_run("encoding=rope|train.lengths=uniform|train.min_len=8|train.batch=30|train.steps=200|"
                              "extend.steps=50|extend.methods=none;interpolate;ntk|extend.factors=3");
    long tokens = extend_find(&r, 3, "none", 50, 48, "loss")->tokens;
    for (int i = 0; i < r.extensions_count; i++)
        cr_assert_eq(r.extensions[i].tokens, tokens);
    double each = (double)r.tokens_seen / 200;
    cr_assert(fabs(tokens / 50.0 - each) < 0.1 * each, "%g tokens a step, %g in training", tokens / 50.0, each);
    run_result_free(&r);
}

/* Each method and factor begins from the trained weights, whatever came before it, and leaves them as they were. */
Test(extend, pairs_do_not_see_each_other)
{
    run_result all = extend_run("encoding=rope|extend.methods=clamp;none;yarn|extend.factors=2;4");
    run_result one = extend_run("encoding=rope|extend.methods=yarn|extend.factors=4");
    run_result plain = extend_plain("encoding=rope");
    cr_assert_gt(one.extensions_count, 0);
    for (int i = 0; i < one.extensions_count; i++) {
        const run_extension *x = &one.extensions[i];
        cr_assert(x->value == extend_find(&all, x->factor, x->method, x->steps, x->bin.max_len, x->metric)->value);
    }
    cr_assert_eq(all.values_count, plain.values_count);
    for (int i = 0; i < plain.values_count; i++)
        cr_assert(all.values[i].value == plain.values[i].value);
    for (int i = 0; i < plain.curve_count; i++)
        cr_assert(all.curve[i].loss == plain.curve[i].loss);
    cr_assert(extend_find(&all, 4, "none", 0, 64, "loss")->value == extend_evaluated(&plain, 64, "loss"));
    cr_assert(extend_find(&all, 4, "none", 7, 64, "loss")->value != extend_find(&all, 4, "none", 0, 64, "loss")->value);
    run_result_free(&all);
    run_result_free(&one);
    run_result_free(&plain);
}

/* A step count is a stop on the way, not a training of its own. */
Test(extend, tests_on_the_way_change_nothing)
{
    run_result often = extend_run("encoding=sinusoidal|extend.methods=interpolate|extend.steps=0;2;7;40");
    run_result once = extend_run("encoding=sinusoidal|extend.methods=interpolate|extend.steps=40");
    cr_assert(extend_find(&often, 2, "interpolate", 40, 32, "loss")->value ==
              extend_find(&once, 2, "interpolate", 40, 32, "loss")->value);
    run_result_free(&often);
    run_result_free(&once);
}

/* What fine-tuning is for: a network that has learned its task at 16 gets better at 32. */
Test(extend, fine_tuning_helps)
{
    run_result r = extend_run("encoding=sinusoidal|model.width=32|train.steps=400|train.lr=0.003|train.batch=32|"
                              "extend.lr=0.002|extend.methods=none|extend.steps=0;200");
    double before = extend_find(&r, 2, "none", 0, 32, "loss")->value;
    double after = extend_find(&r, 2, "none", 200, 32, "loss")->value;
    cr_assert_lt(after, before - 0.2, "from %g to %g", before, after);
    run_result_free(&r);
}

Test(extend, fine_tuning_that_diverges_is_recorded)
{
    run_result r = extend_run("encoding=rope|extend.methods=none|extend.lr=1e9|train.clip=0|extend.steps=0;30");
    cr_assert_str_eq(extend_find(&r, 2, "none", 0, 32, "loss")->status, "ok");
    const run_extension *x = extend_find(&r, 2, "none", 30, 32, "loss");
    cr_assert_str_eq(x->status, "diverged");
    cr_assert(isnan(x->value) && strstr(x->reason, "fine-tuning diverged at step "), "%s", x->reason);
    run_result_free(&r);
}

/* Tests under other options of the task are those of a run on that task, with the same weights: here, untrained ones. */
Test(extend, tests_under_options_of_the_task)
{
    static const char *const depths[] = {"depth=0", "depth=0.5"};
    static const char *const begin = "encoding=alibi|train.lr=0|extend.methods=none|extend.steps=0|eval.items=64";
    char text[256];
    snprintf(text, sizeof text, "%s|task=passkey(digits=2)|extend.task_options=depth=0.5; depth=0.0", begin);
    run_result r = extend_run(text);
    cr_assert_eq(r.extensions_count, 3 * 2 * 3);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s|task=passkey(digits=2,%s)", begin, depths[i]);
        run_result one = extend_run(text);
        int compared = 0;
        for (int k = 0; k < r.extensions_count; k++) {
            const run_extension *x = &r.extensions[k];
            if (strcmp(x->task_options, depths[i]) != 0)
                continue;
            cr_assert(x->value == extend_find(&one, 2, "none", 0, x->bin.max_len, x->metric)->value);
            compared++;
        }
        cr_assert_eq(compared, 2 * 3);
        run_result_free(&one);
    }
    run_result_free(&r);
}

/* ------------------------------------------------------------------------------------------------ without a meaning */

static void extend_undefined(const char *encoding, const char *method, const char *reason)
{
    char text[512];
    snprintf(text, sizeof text, "encoding=%s|extend.methods=%s", encoding, method);
    run_result r = extend_run(text);
    cr_assert_eq(r.extensions_count, 3 * 2 * 3, "%d rows", r.extensions_count); /* steps, lengths, scores */
    for (int i = 0; i < r.extensions_count; i++) {
        const run_extension *x = &r.extensions[i];
        cr_assert_str_eq(x->status, "undefined");
        cr_assert(isnan(x->value) && x->n == 0 && strstr(x->reason, reason), "%s: %s", method, x->reason);
    }
    run_result_free(&r);
}

Test(extend, what_has_no_meaning_says_why)
{
    extend_undefined("learned", "none", "a training sequence of 32 tokens reaches position 31");
    extend_undefined("learned", "yarn", "no member of the stack has it");
    extend_undefined("nope", "interpolate", "no member of the stack reads positions");
    extend_undefined("rope(frequencies=learned)", "linear", "no meaning under its option frequencies");
    extend_undefined("rope(fraction=0.25)", "ntk", "needs d > 2");
    extend_undefined("learned", "task", "proposes no positions");
}

/* The three rows of a learned table past its training length. */
Test(extend, a_table_is_untrained_clamped_or_interpolated)
{
    run_result r = extend_run("encoding=learned(rows=32)|extend.methods=none;clamp;interpolate");
    cr_assert_str_eq(extend_find(&r, 2, "none", 0, 32, "loss")->flag, "untrained");
    cr_assert_str_eq(extend_find(&r, 2, "none", 0, 16, "loss")->flag, "");
    cr_assert_str_eq(extend_find(&r, 2, "none", 3, 32, "loss")->flag, "", "its rows are trained by then");
    cr_assert_str_eq(extend_find(&r, 2, "clamp", 0, 32, "loss")->flag, "clamp");
    cr_assert_str_eq(extend_find(&r, 2, "interpolate", 0, 32, "loss")->flag, "interpolate");
    run_result_free(&r);
}

/* ------------------------------------------------------------------------------------------------ configuration */

static void extend_refused(const char *settings, const char *message)
{
    run_config c;
    error e = ERROR_INIT;
    registry *r = setting_registry();
    char text[1024];
    snprintf(text, sizeof text, "encoding=rope|task=repeat_copy|%s", settings);
    cr_assert(setting_apply(&c, text, &e) < 0 || config_check(&c, r, &e) < 0, "taken: %s", settings);
    cr_assert_eq(e.kind, ERROR_USAGE);
    cr_assert(strstr(e.message, message), "%s: %s", settings, e.message);
    registry_free(r);
}

Test(extend, settings_that_do_not_fit_are_refused)
{
    extend_refused("extend.methods=yran", "extend.methods: unknown method 'yran'; did you mean 'yarn'?");
    extend_refused("extend.methods=interpolat", "did you mean 'interpolate'?");
    extend_refused("extend.methods=none;;yarn", "extend.methods: a method is missing");
    extend_refused("extend.methods=yarn;yarn", "the method 'yarn' stands there twice");
    extend_refused("extend.methods=yarn(beta_fst=3)", "did you mean 'beta_fast'?");
    extend_refused("extend.methods=none(a=1)", "none: unknown option 'a'");
    extend_refused("extend.methods=none|extend.factors=1", "extend.factors: 1 times train.len 32 is no longer length");
    extend_refused("extend.methods=none|extend.factors=2;2.001", "two factors give the same length, 64");
    extend_refused("extend.methods=none|extend.steps=1.5", "extend.steps: 1.5 is no number of steps");
    extend_refused("extend.methods=none|extend.steps=5;5", "extend.steps: 5 stands there twice");
    extend_refused("extend.factors=4", "extend.factors: it belongs to extend.methods");
    extend_refused("extend.steps=4", "extend.steps: it belongs to extend.methods");
    extend_refused("extend.lr=4", "extend.lr: it belongs to extend.methods");
    extend_refused("extend.task_options=a=1", "extend.task_options: it belongs to extend.methods");
    extend_refused("extend.methods=none|extend.task_options=dept=1", "extend.task_options: repeat_copy: unknown option 'dept'");
    extend_refused("extend.methods=none|task=passkey|extend.task_options=depth=0;depth=0.0", "depth=0 stands there twice");
    extend_refused("extend.methods=none|task=passkey|extend.task_options=digits=3", "another vocabulary or length of passkey");
    extend_refused("extend.methods=none|eval.map=clamp", "eval.map gives it another form in evaluation");
}

/* The order in which methods, factors and steps are written makes no other run; nor do rows that are off. */
Test(extend, one_canonical_form)
{
    run_config a, b, off;
    char one[CONFIG_KEY_SIZE], other[CONFIG_KEY_SIZE], text[CONFIG_TEXT_MAX];
    setting_checked(&a, "encoding=rope|task=repeat_copy|extend.methods=yarn;none; yarn( beta_fast = auto )|extend.factors=4;2|"
                        "extend.steps=200;0");
    setting_checked(&b, "encoding=rope|task=repeat_copy|extend.methods=none;yarn;yarn(beta_fast=auto)|extend.factors=2;4|"
                        "extend.steps=0;200");
    config_key(&a, one);
    config_key(&b, other);
    cr_assert_str_eq(one, other);
    cr_assert_str_eq(a.extend.methods, "none;yarn;yarn(beta_fast=auto)");
    setting_checked(&off, "encoding=rope|task=repeat_copy|extend.methods= ");
    config_print(&off, text, sizeof text);
    cr_assert(!strstr(text, "extend"), "%s", text);
}

/* The mean that the batch follows from, against the plain sum. */
Test(extend, the_batch_shrinks_as_sequences_grow)
{
    run_config c, longer;
    error e = ERROR_INIT;
    setting_checked(&c, "encoding=rope|task=mqar(vocab=24,pairs=2)|train.min_len=8|train.len=16|train.batch=60|"
                        "extend.methods=none|extend.factors=3");
    task *t = task_parse(c.task, TASK_DECODER, 8, 48, &e);
    cr_assert(t != NULL, "%s", e.message);
    cr_assert(fabs(extend_mean_tokens(&c, t) - 12) < 1e-9); /* 8 .. 16 */
    extend_train_config(&c, t, 3, &longer);
    cr_assert_eq(longer.train.len, 48);
    cr_assert_eq(longer.train.min_len, 8);
    cr_assert_eq(longer.train.batch, 26); /* 60 * 12 / 28 = 25.7 */
    cr_assert(fabs(longer.train.lr - 0.1 * c.train.lr) < 1e-15);
    cr_assert_eq(longer.train.steps, 1000);
    cr_assert_eq(longer.train.warmup, 20);
    task_free(t);
}
