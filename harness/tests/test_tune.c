/* Learning rates chosen by trials, with the fake program of the sweep's tests. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"
#include "sweep_fixture.h"
#include "tune.h"

static fixture f;
static tuning t;

static void test_tune_close(void)
{
    tune_close(&t);
    fixture_close(&f);
}

TestSuite(tune, .fini = test_tune_close, .timeout = 120);

/* Two cells, nope and alibi, with reported seeds 1 and 2; two rates with two seeds each: eight trials. */
static void tuned_open(const char *loss)
{
    error e = ERROR_INIT;
    fixture_open(&f, 4);
    setenv("FAKE_LOSS", loss, 1);
    for (int i = 0; i < 4; i++) {
        f.runs[i].seed = 1 + i % 2;
        if (i >= 2)
            strcpy(f.runs[i].encoding, "alibi");
    }
    for (int i = 0; i < 4; i++)
        f.runs[i].eval.decode = 1;
    f.spec.tune = (spec_tune){.rates = 2, .seeds = 2, .rate = {0.001, 0.003}};
    cr_assert_eq(tune_open(&f.spec, f.out, &t, &e), 0, "%s", e.message);
}

static int tuned_run(void)
{
    error_clear(&f.e);
    return tune_run(&t, &f.options, &f.outcome, &f.e);
}

static json_t *tuned_choice(void)
{
    char path[PATH_MAX];
    json_error_t fault;
    snprintf(path, sizeof path, "%.3000s/tune/choice.json", f.out);
    json_t *choice = json_load_file(path, 0, &fault);
    cr_assert_not_null(choice, "%s", fault.text);
    return choice;
}

/* ------------------------------------------------------------------------------------------------ the budget */

Test(tune, every_cell_gets_every_rate_with_seeds_of_its_own)
{
    tuned_open("");
    cr_assert_eq(t.cell_count, 2);
    cr_assert_eq(t.trials.count, 8);
    for (int i = 0; i < 8; i++) {
        const run_config *c = &t.trials.runs[i];
        cr_expect_str_eq(c->encoding, i < 4 ? "nope" : "alibi");
        cr_expect_eq(c->train.lr, i % 4 < 2 ? 0.001 : 0.003);
        cr_expect_eq(c->seed, 101 + i % 2);
        cr_expect(c->eval.items == 1 && c->eval.tokens == 1 && c->eval.stride == 0 && !c->eval.decode);
        for (int j = 0; j < 4; j++)
            cr_expect_neq(c->seed, f.runs[j].seed);
        /* but for these it is the reported run */
        run_config same = *c;
        same.seed = f.runs[0].seed;
        same.train.lr = f.runs[0].train.lr;
        same.eval = f.runs[0].eval;
        strcpy(same.encoding, "nope");
        cr_expect_eq(memcmp(&same.train, &f.runs[0].train, sizeof same.train), 0);
        cr_expect_eq(memcmp(&same.model, &f.runs[0].model, sizeof same.model), 0);
    }
    cr_assert_eq(tune_choose(&t, &f.e), 0);
    cr_assert_eq(t.waiting, 2);
}

/* ------------------------------------------------------------------------------------------------ the choice */

Test(tune, the_smallest_loss_is_chosen_for_all_reported_seeds)
{
    spec resolved;
    tuned_open("0.001=0.7,0.003=0.4");
    cr_assert_eq(tuned_run(), 0, "%s", f.e.message);
    cr_assert_eq(f.outcome.done, 8);
    cr_assert_eq(fixture_executions(&f, 0), 8);
    cr_assert(t.chosen == 2 && t.failed == 0 && t.waiting == 0);
    cr_assert_eq(tune_resolve(&t, &resolved, &f.e), 0);
    cr_assert_eq(resolved.count, 4);
    for (int i = 0; i < 4; i++) {
        cr_expect_eq(resolved.runs[i].train.lr, 0.003);
        cr_expect_eq(resolved.runs[i].seed, f.runs[i].seed);
    }
    cr_assert_str_eq(resolved.name, f.spec.name);
    spec_free(&resolved);

    json_t *choice = tuned_choice(), *cell = json_array_get(json_object_get(choice, "cells"), 1);
    cr_expect_str_eq(json_string_value(json_object_get(choice, "schema")), "posbench-tune/1");
    cr_expect_eq(json_array_size(json_object_get(choice, "lr")), 2);
    cr_expect_eq(json_integer_value(json_array_get(json_object_get(choice, "seeds"), 1)), 102);
    cr_expect_str_eq(json_string_value(json_object_get(cell, "encoding")), "alibi");
    cr_expect_eq(json_real_value(json_object_get(cell, "lr")), 0.003);
    const json_t *trial = json_array_get(json_object_get(cell, "trials"), 3);
    cr_expect_eq(json_number_value(json_object_get(trial, "lr")), 0.003);
    cr_expect_eq(json_integer_value(json_object_get(trial, "seed")), 102);
    cr_expect_str_eq(json_string_value(json_object_get(trial, "status")), "ok");
    cr_expect_eq(json_number_value(json_object_get(trial, "validation_loss")), 0.4);
    json_decref(choice);
    cr_assert_eq(tuned_run(), 0); /* a second time there is nothing to do, and the choice is the same */
    cr_assert_eq(fixture_executions(&f, 0), 8);
    cr_assert_eq(t.cell[0].rate, 1);
}

Test(tune, of_equal_rates_the_smaller_is_taken)
{
    tuned_open("0.001=0.5,0.003=0.5");
    cr_assert_eq(tuned_run(), 0);
    cr_assert(t.cell[0].rate == 0 && t.cell[1].rate == 0);
}

/* A trial's record with this validation loss; what it scores at longer lengths says the opposite. */
static void tuned_write(int rate, int seed, double loss, run_status status)
{
    error e = ERROR_INIT;
    char path[PATH_MAX], key[CONFIG_KEY_SIZE];
    const run_config *c = &t.trials.runs[2 * rate + seed];
    host_facts h;
    host_facts_read(&h);
    run_point points[] = {{.step = 5, .validation_loss = loss}, {.step = 9, .validation_loss = 10 - loss}};
    run_value far = {.bin = {64, 64, 2},
                     .metric = "exact_match",
                     .mode = "teacher_forced",
                     .value = loss / 10,
                     .n = 1,
                     .status = "ok"};
    run_result r = {.status = status,
                    .status_step = 9,
                    .selected_step = 5,
                    .curve_count = 2,
                    .curve = points,
                    .values_count = 1,
                    .values = &far};
    config_key(c, key);
    snprintf(path, sizeof path, "%.3000s/tune/runs/%s.json", f.out, key);
    json_t *record = record_json(c, &r, &h);
    cr_assert_eq(record_write(path, record, &e), 0, "%s", e.message);
    json_decref(record);
}

static void tuned_folder(void)
{
    folder at;
    cr_assert_eq(folder_open(&at, t.dir, 1, &f.e), 0);
}

Test(tune, validation_of_the_tested_weights_alone_decides)
{
    tuned_open("");
    tuned_folder();
    tuned_write(0, 0, 0.2, RUN_OK); /* means 0.5 and 0.6; longer lengths and other steps prefer the second */
    tuned_write(0, 1, 0.8, RUN_OK);
    tuned_write(1, 0, 0.6, RUN_OK);
    tuned_write(1, 1, 0.6, RUN_OK);
    cr_assert_eq(tune_choose(&t, &f.e), 0);
    cr_assert(t.cell[0].state == TUNE_CHOSEN && t.cell[0].rate == 0);
    cr_assert_eq(t.cell[1].state, TUNE_WAITING);
    cr_assert(t.trial[0].loss == 0.2 && t.trial[1].loss == 0.8);
}

Test(tune, a_rate_with_fewer_diverged_trials_wins)
{
    tuned_open("");
    tuned_folder();
    tuned_write(0, 0, 0.1, RUN_OK);
    tuned_write(0, 1, 0.1, RUN_DIVERGED);
    tuned_write(1, 0, 5, RUN_OK);
    tuned_write(1, 1, 5, RUN_OK);
    cr_assert_eq(tune_choose(&t, &f.e), 0);
    cr_assert_eq(t.cell[0].rate, 1);
    tuned_write(1, 0, 5, RUN_DIVERGED); /* one each: the loss of the others */
    cr_assert_eq(tune_choose(&t, &f.e), 0);
    cr_assert_eq(t.cell[0].rate, 0);
    tuned_write(1, 0, 0.05, RUN_DIVERGED);
    tuned_write(1, 1, 0.05, RUN_OK);
    cr_assert_eq(tune_choose(&t, &f.e), 0);
    cr_assert_eq(t.cell[0].rate, 1);
}

Test(tune, a_loss_that_is_no_number_counts_as_diverged)
{
    tuned_open("");
    tuned_folder();
    tuned_write(0, 0, NAN, RUN_OK);
    tuned_write(0, 1, 0.1, RUN_OK);
    tuned_write(1, 0, 3, RUN_OK);
    tuned_write(1, 1, 3, RUN_OK);
    cr_assert_eq(tune_choose(&t, &f.e), 0);
    cr_assert_eq(t.cell[0].rate, 1);
    cr_assert_eq(t.trial[0].state, FOLDER_DIVERGED);
}

/* ------------------------------------------------------------------------------------------------ no choice */

Test(tune, a_cell_whose_trials_all_diverged_is_left_out_and_the_others_go_on)
{
    spec resolved;
    tuned_open("0.001=0.7,0.003=0.4");
    f.spec.count = 2;
    tune_close(&t);
    cr_assert_eq(tune_open(&f.spec, f.out, &t, &f.e), 0);
    setenv("FAKE_LOSS", "0.001=diverge,0.003=diverge", 1);
    cr_assert_eq(tuned_run(), 0, "%s", f.e.message); /* nope */
    cr_assert_eq(t.failed, 1);
    setenv("FAKE_LOSS", "0.001=diverge,0.003=0.4", 1);
    f.spec.count = 4;
    tune_close(&t);
    cr_assert_eq(tune_open(&f.spec, f.out, &t, &f.e), 0);
    cr_assert_eq(tuned_run(), 0, "%s", f.e.message); /* and alibi */
    cr_assert(t.failed == 1 && t.chosen == 1);
    cr_assert_eq(t.cell[0].state, TUNE_FAILED);
    cr_assert_str_eq(t.cell[0].message, "all 4 trials diverged");
    cr_assert_eq(tune_resolve(&t, &resolved, &f.e), 0);
    cr_assert_eq(resolved.count, 2);
    cr_assert_str_eq(resolved.runs[0].encoding, "alibi");
    spec_free(&resolved);
    json_t *choice = tuned_choice(), *cell = json_array_get(json_object_get(choice, "cells"), 0);
    cr_expect(json_is_null(json_object_get(cell, "lr")));
    cr_expect_str_eq(json_string_value(json_object_get(cell, "message")), "all 4 trials diverged");
    json_decref(choice);
}

Test(tune, a_failed_trial_leaves_its_cell_without_a_rate_until_it_is_done_again)
{
    tuned_open("");
    fixture_behave("102:crash,*:ok");
    cr_assert_eq(tuned_run(), 0, "%s", f.e.message);
    cr_assert_eq(t.failed, 2);
    cr_assert(strstr(t.cell[0].message, "2 of 4 trials failed"), "%s", t.cell[0].message);
    fixture_behave("*:ok");
    cr_assert_eq(tuned_run(), 0);
    cr_assert_eq(t.failed, 2);
    f.options.retry_failed = 1;
    cr_assert_eq(tuned_run(), 0);
    cr_assert_eq(t.chosen, 2);
    cr_assert_eq(fixture_executions(&f, 102), 8);
    cr_assert_eq(fixture_executions(&f, 101), 4);
}

/* ------------------------------------------------------------------------------------------------ resuming, workers */

Test(tune, the_same_call_goes_on_after_a_stop)
{
    tuned_open("");
    fixture_behave("*:sleep=0.1");
    fixture_stop_at_executions(&f, 3);
    cr_assert_eq(tuned_run(), -1);
    cr_assert_eq(f.e.kind, ERROR_INTERRUPTED);
    cr_assert(!fixture_exists("choice.json"));
    f.options.stop = NULL;
    fixture_behave("*:ok");
    cr_assert_eq(tuned_run(), 0, "%s", f.e.message);
    cr_assert_eq(t.chosen, 2);
}

Test(tune, workers_share_the_trials_and_wait_for_each_other)
{
    pid_t worker[2];
    tuned_open("0.001=0.7,0.003=0.4");
    fixture_behave("*:sleep=0.4");
    for (int i = 0; i < 2; i++) {
        worker[i] = fork();
        cr_assert_geq(worker[i], 0);
        if (worker[i] > 0)
            continue;
        f.options.worker_index = i;
        f.options.worker_count = 2;
        int result = tuned_run();
        _exit(result == 0 && t.chosen == 2 && t.cell[0].rate == 1 && t.cell[1].rate == 1 ? 0 : 1);
    }
    for (int i = 0; i < 2; i++)
        cr_expect_eq(fixture_wait(worker[i]), 0, "worker %d", i);
    cr_expect_eq(fixture_executions(&f, 0), 8);
}

/* With --only a part of the grid is a spec of its own: the choices of the other part stay. */
Test(tune, the_choices_of_another_part_stay)
{
    tuned_open("");
    cr_assert_eq(tuned_run(), 0);
    tune_close(&t);
    f.spec.count = 2;
    cr_assert_eq(tune_open(&f.spec, f.out, &t, &f.e), 0);
    cr_assert_eq(tuned_run(), 0);
    json_t *choice = tuned_choice();
    cr_expect_eq(json_array_size(json_object_get(choice, "cells")), 2);
    json_decref(choice);
    tune_close(&t);
    f.spec.tune.rate[1] = 0.01; /* another budget: what was chosen before says nothing */
    cr_assert_eq(tune_open(&f.spec, f.out, &t, &f.e), 0);
    cr_assert_eq(tuned_run(), 0);
    choice = tuned_choice();
    cr_expect_eq(json_array_size(json_object_get(choice, "cells")), 1);
    json_decref(choice);
}

/* Reports know by spec.json that the rate was chosen. */
Test(tune, the_reported_sweep_says_its_budget)
{
    spec resolved;
    char path[PATH_MAX];
    tuned_open("");
    cr_assert_eq(tuned_run(), 0);
    cr_assert_eq(tune_resolve(&t, &resolved, &f.e), 0);
    cr_assert_eq(sweep_run(&resolved, &f.options, &f.outcome, &f.e), 0, "%s", f.e.message);
    spec_free(&resolved);
    json_error_t fault;
    snprintf(path, sizeof path, "%.3000s/spec.json", f.out);
    json_t *told = json_load_file(path, 0, &fault), *budget = json_object_get(told, "tune");
    cr_expect_eq(json_number_value(json_array_get(json_object_get(budget, "lr"), 1)), 0.003);
    cr_expect_eq(json_integer_value(json_array_get(json_object_get(budget, "seeds"), 0)), 101);
    json_decref(told);
    snprintf(path, sizeof path, "%.3000s/tune/spec.json", f.out);
    told = json_load_file(path, 0, &fault);
    cr_expect(!json_object_get(told, "tune"));
    json_decref(told);
}
