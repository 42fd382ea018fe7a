/* The key `tune` of a spec. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "spec_trial.h"

static spec_trial t;

static void tune_close_trial(void)
{
    trial_close(&t);
}

static void tune_open_trial(void)
{
    trial_open(&t);
}

TestSuite(spec_tune, .init = tune_open_trial, .fini = tune_close_trial);

Test(spec_tune, rates_are_sorted_and_seeds_have_a_default)
{
    trial_good(&t, BASE "seeds: 3\ntune: {lr: [3e-3, 3e-4, 1e-3], seeds: 2}\n", 3);
    cr_assert_eq(t.spec.tune.rates, 3);
    cr_assert_eq(t.spec.tune.seeds, 2);
    cr_assert(t.spec.tune.rate[0] == 3e-4 && t.spec.tune.rate[1] == 1e-3 && t.spec.tune.rate[2] == 3e-3);
    spec_free(&t.spec);
    trial_good(&t, BASE "tune: {lr: [1e-3, 2e-3]}\n", 1);
    cr_assert_eq(t.spec.tune.seeds, 1);
    spec_free(&t.spec);
    trial_good(&t, BASE, 1);
    cr_assert_eq(t.spec.tune.rates, 0);
    spec_free(&t.spec);
}

Test(spec_tune, the_grid_is_that_of_the_reported_runs)
{
    trial_good(&t,
               "encoding: [rope, nope]\ntask: repeat_copy\nseed: [1, 100, 103]\ntrain: {steps: [10, 20]}\n"
               "tune: {lr: [1e-3, 2e-3], seeds: 2}\n",
               12);
    for (int i = 0; i < t.spec.count; i++)
        cr_assert_eq(t.spec.runs[i].train.lr, 0.001); /* the default: the rate is not known yet */
    spec_free(&t.spec);
    error_clear(&t.e);
    cr_assert_eq(trial_load(&t, BASE "tune: {lr: [1e-3, 2e-3]}\nseeds: 2\n", "seed=2"), 0, "%s", t.e.message);
    cr_assert_eq(t.spec.count, 1);
    spec_free(&t.spec);
    cr_assert_eq(trial_load(&t, BASE "tune: {lr: [1e-3, 2e-3]}\nseeds: 2\n", "train.lr=1e-3"), -1);
    cr_assert(strstr(t.e.message, "train.lr is chosen by tuning"), "%s", t.e.message);
}

Test(spec_tune, faults)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"tune: 3\n", "trial.yaml:3:7: error: tune takes keys of its own"},
        {"tune: {seeds: 2}\n", "trial.yaml:3:1: error: tune needs learning rates"},
        {"tune: {lr: 1e-3}\n", "trial.yaml:3:12: error: tune.lr takes a list of 2 to 32"},
        {"tune: {lr: [1e-3]}\n", "tune.lr takes a list of 2 to 32"},
        {"tune: {lr: [1e-3, fast]}\n", "trial.yaml:3:19: error: train.lr"},
        {"tune: {lr: [1e-3, -1]}\n", "trial.yaml:3:19: error: train.lr"},
        {"tune: {lr: [1e-3, 0.001]}\n", "train.lr: '0.001' is in the list already"},
        {"tune: {lr: [1e-3, [2e-3]]}\n", "tune.lr takes numbers"},
        {"tune: {lr: [1e-3, 2e-3], seeds: 0}\n", "trial.yaml:3:33: error: "},
        {"tune: {lr: [1e-3, 2e-3], seeds: [101]}\n", "tune.seeds takes a number: trials have the seeds 101, 102"},
        {"tune: {lr: [1e-3, 2e-3], seed: 2}\n", "unknown key 'seed' in tune; did you mean 'seeds'?"},
        {"tune: {lr: [1e-3, 2e-3]}\ntrain: {lr: 1e-3}\n",
         "trial.yaml:4:13: error: train.lr is given, but 'tune' in line 3 chooses it"},
        {"tune: {lr: [1e-3, 2e-3]}\noverrides:\n  - {when: {task: repeat_copy}, set: {train.lr: 1e-4}}\n",
         "train.lr is given, but 'tune' in line 3 chooses it"},
        {"tune: {lr: [1e-3, 2e-3], seeds: 2}\nseed: [1, 102]\n",
         "trial.yaml:4:11: error: seed 102 belongs to the trials of 'tune' (101 to 102)"},
        {"tune: {lr: [1e-3, 2e-3]}\nseeds: 101\n", "trial.yaml:4:8: error: seed 101 belongs to the trials"},
        {"tunes: {lr: [1e-3, 2e-3]}\n", "unknown key 'tunes'; did you mean 'tune'?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, BASE "%s", cases[i].text);
        const char *message = trial_fault(&t, text);
        cr_assert(strstr(message, cases[i].message), "%s: %s", cases[i].text, message);
    }
}
