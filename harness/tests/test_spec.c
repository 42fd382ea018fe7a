/* Specs: the grid of runs that a file spans. */
#include <criterion/criterion.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "spec_trial.h"

/* ------------------------------------------------------------------------------------------------ the grid */

Test(spec, one_run_of_defaults)
{
    spec_trial t;
    trial_open(&t);
    trial_good(&t, BASE, 1);
    cr_assert_str_eq(t.spec.name, "trial");
    cr_assert_str_eq(t.spec.title, "");
    cr_assert_str_eq(t.spec.baseline, "");
    run_config c;
    config_defaults(&c);
    strcpy(c.encoding, "rope");
    strcpy(c.task, "repeat_copy");
    cr_assert(config_check(&c, t.registry, &t.e) == 0);
    char expected[CONFIG_KEY_SIZE], key[CONFIG_KEY_SIZE];
    config_key(&c, expected);
    config_key(&t.spec.runs[0], key);
    cr_assert_str_eq(key, expected);
    trial_close(&t);
}

Test(spec, axes_and_their_order)
{
    spec_trial t;
    trial_open(&t);
    trial_good(&t,
               "name: my-spec.2\ntitle: \"Zw\xc3\xb6lf: 12\"\nbaseline: rope ( base = 1e4 )\n"
               "train: {lr: [1e-3, 3e-4], steps: 10}\nseed: [5, 3]\n"
               "task: repeat_copy\nencoding: [nope, rope, \"rope(base=500,layout=interleaved)\"]\n",
               12);
    cr_assert_str_eq(t.spec.name, "my-spec.2");
    cr_assert_str_eq(t.spec.title, "Zw\xc3\xb6lf: 12");
    cr_assert_str_eq(t.spec.baseline, "rope");
    static const char *const encodings[] = {"nope", "rope", "rope(base=500,layout=interleaved)"};
    for (int i = 0; i < 12; i++) { /* seeds vary fastest, then later rows before earlier ones */
        cr_assert_eq(t.spec.runs[i].seed, i % 2 ? 3 : 5);
        cr_assert_eq(t.spec.runs[i].train.lr, i / 2 % 2 ? 3e-4 : 1e-3);
        cr_assert_str_eq(t.spec.runs[i].encoding, encodings[i / 4]);
        cr_assert_eq(t.spec.runs[i].train.steps, 10);
    }
    trial_close(&t);
}

Test(spec, layers_that_differ)
{
    spec_trial t;
    trial_open(&t);
    trial_good(&t, "encoding: [nope, [rope, rope, nope]]\ntask: repeat_copy\nmodel: {layers: 3}\n", 2);
    cr_assert_str_eq(t.spec.runs[1].encoding, "[rope,rope,nope]");
    trial_good(&t, "encoding: \"[rope,nope]\"\ntask: repeat_copy\n", 1);
    cr_assert_str_eq(t.spec.runs[0].encoding, "[rope,nope]");
    trial_good(&t, "encoding:\n- - rope(base=2e4)+alibi\n  - nope\ntask: repeat_copy\n", 1);
    cr_assert_str_eq(t.spec.runs[0].encoding, "[rope(base=20000)+alibi,nope]");
    trial_close(&t);
}

Test(spec, a_row_that_is_a_list_takes_lists_of_lists)
{
    spec_trial t;
    trial_open(&t);
    trial_good(&t, BASE "eval: {ratios: [1, 2, 4]}\n", 1);
    cr_assert_eq(t.spec.runs[0].eval.ratios.count, 3);
    trial_good(&t, BASE "eval: {ratios: [[1, 2], [1, 4, 1.25]]}\n", 2);
    cr_assert_eq(t.spec.runs[0].eval.ratios.count, 2);
    cr_assert_eq(t.spec.runs[1].eval.ratios.count, 3);
    cr_assert_eq(t.spec.runs[1].eval.ratios.value[1], 1.25);
    trial_good(&t, BASE "eval:\n  ratios: 1;3\n", 1);
    cr_assert_eq(t.spec.runs[0].eval.ratios.value[1], 3);
    trial_close(&t);
}

Test(spec, methods_are_a_list_of_words)
{
    spec_trial t;
    trial_open(&t);
    trial_good(&t, BASE "extend: {methods: [yarn, none, interpolate(factor=3)]}\n", 1);
    cr_assert_str_eq(t.spec.runs[0].extend.methods, "interpolate(factor=3);none;yarn");
    trial_good(&t, BASE "extend: {methods: [[none], [none, yarn]]}\n", 2);
    cr_assert_str_eq(t.spec.runs[1].extend.methods, "none;yarn");
    trial_good(&t, BASE "extend: {methods: none}\n", 1);
    /* A method has a meaning for one encoding of the grid at least. */
    trial_good(&t, "encoding: [learned, rope]\ntask: repeat_copy\nextend: {methods: [none, yarn]}\n", 2);
    trial_close(&t);
}

Test(spec, seeds)
{
    spec_trial t;
    trial_open(&t);
    trial_good(&t, "seeds: 3\n" BASE, 3);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(t.spec.runs[i].seed, i + 1);
    trial_close(&t);
}

Test(spec, anchors_and_merge_keys)
{
    spec_trial t;
    trial_open(&t);
    trial_good(&t,
               "x-small: &small {width: 16, heads: 2, layers: 1}\n"
               "x-wide: &wide\n  width: 32\n  mlp: 2\n"
               "x-list: &both [nope, rope]\n"
               "encoding: *both\ntask: repeat_copy\n"
               "model:\n  layers: 3\n  <<: [*wide, *small]\n",
               2);
    cr_assert_eq(t.spec.runs[0].model.width, 32); /* the first map that is merged wins */
    cr_assert_eq(t.spec.runs[0].model.heads, 2);
    cr_assert_eq(t.spec.runs[0].model.layers, 3); /* a map's own key wins over all */
    cr_assert_eq(t.spec.runs[0].model.mlp, 2);
    trial_good(&t, "x-all: &all\n  encoding: rope\n  task: repeat_copy\n  seeds: 2\n<<: *all\ntask: sort\n", 2);
    cr_assert_str_eq(t.spec.runs[0].task, "sort");
    trial_close(&t);
}

Test(spec, overrides)
{
    spec_trial t;
    trial_open(&t);
    trial_good(
        &t,
        "encoding: [nope, rope]\ntask: [sort, repeat_copy]\nseeds: 2\ntrain: {steps: 100}\n"
        "overrides:\n"
        "- when: {task: sort(symbols=150)}\n  set: {train: {steps: 7}, model: {layers: 1}}\n"
        "- when: {task: [sort, repeat_copy], encoding: rope}\n  set: {train: {steps: 9}, eval: {ratios: [1, 3]}}\n",
        8);
    for (int i = 0; i < 8; i++) {
        const run_config *c = &t.spec.runs[i];
        int sort = strcmp(c->task, "sort") == 0, rope = strcmp(c->encoding, "rope") == 0;
        cr_assert_eq(c->train.steps, rope ? 9 : sort ? 7 : 100); /* the last one that matches wins */
        cr_assert_eq(c->model.layers, sort ? 1 : 2);
        cr_assert_eq(c->eval.ratios.count, rope ? 2 : 5);
    }
    trial_close(&t);
}

Test(spec, conditions_look_at_the_grid_not_at_other_overrides)
{
    spec_trial t;
    trial_open(&t);
    trial_good(&t,
               BASE "train: {steps: 100}\n"
                    "overrides:\n- {when: {train.steps: 100}, set: {train: {steps: 50}}}\n"
                    "- {when: {train: {steps: 100}}, set: {train.batch: 3}}\n",
               1);
    cr_assert_eq(t.spec.runs[0].train.steps, 50);
    cr_assert_eq(t.spec.runs[0].train.batch, 3);
    trial_close(&t);
}

/* Runs that an override makes alike are one run; the same value twice in a list is a slip and refused (see the faults).
 */
Test(spec, runs_that_become_alike_are_merged)
{
    spec_trial t;
    trial_open(&t);
    trial_good(&t,
               "encoding: [nope, rope]\ntask: repeat_copy\ntrain: {lr: [1e-3, 1e-4, 1e-5]}\n"
               "overrides:\n- {when: {encoding: nope}, set: {train: {lr: 3e-4}}}\n",
               4);
    cr_assert_eq(t.spec.runs[0].train.lr, 3e-4);
    trial_good(&t, BASE "train: {warmup: [auto, 100]}\n", 1);
    trial_close(&t);
}

/* ------------------------------------------------------------------------------------------------ identity */

static void keys_of(spec_trial *t, const char *text, int count, char keys[][CONFIG_KEY_SIZE])
{
    trial_good(t, text, count);
    for (int i = 0; i < count; i++)
        config_key(&t->spec.runs[i], keys[i]);
}

static const char plain_spec[] = "encoding: [nope, \"rope(base=500,layout=interleaved)\"]\ntask: sort(symbols=128)\n"
                                 "seed: [1, 2]\ntrain: {lr: 0.001, len: 16}\neval: {ratios: [1, 1.25, 2]}\n";

Test(spec, one_identity_however_it_is_written)
{
    static const char *const same[] = {
        "eval:\n    ratios:   [ 2 , 1.250, 1 ]\ntrain:\n    len: \"16\"\n    lr: 1e-3\n    steps: 2000\nseeds: 2\n"
        "task: 'sort( symbols = 128 )'\nencoding:\n    - nope\n    - rope( layout=interleaved , base=5e2)@identity\n",
        "{\"seed\": [1, 2], \"task\": \"sort(symbols=1.28e2)\", \"encoding\": [[\"nope\"], "
        "\"rope(base=500,layout=interleaved)\"], \"eval.ratios\": \"2;1;1.25\", \"train.len\": 16, \"model\": "
        "{\"causal\": yes}}\n",
        "# comment\r\nx-t: &t {len: 16, lr: +.001}\r\ntrain: *t\r\nencoding: [nope, "
        "\"rope(base=500,layout=interleaved)\"]\r\n"
        "task: sort(symbols=128)\r\nseed:\r\n- 1\r\n- 2\r\neval: {ratios: [1, 1.25, 2], map: \"\"}\r\n",
    };
    spec_trial t;
    char expected[4][CONFIG_KEY_SIZE], keys[4][CONFIG_KEY_SIZE];
    trial_open(&t);
    keys_of(&t, plain_spec, 4, expected);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        keys_of(&t, same[i], 4, keys);
        for (int j = 0; j < 4; j++)
            cr_assert_str_eq(keys[j], expected[j], "%s", same[i]);
    }
    trial_close(&t);
}

Test(spec, a_comma_locale_changes_nothing)
{
    spec_trial t;
    char expected[4][CONFIG_KEY_SIZE], keys[4][CONFIG_KEY_SIZE];
    trial_open(&t);
    keys_of(&t, plain_spec, 4, expected);
    if (!scratch_comma_locale(&t.folder)) {
        trial_close(&t);
        cr_skip_test("no locale with a decimal comma here");
    }
    keys_of(&t, plain_spec, 4, keys);
    cr_assert_eq(t.spec.runs[0].eval.ratios.value[1], 1.25);
    for (int j = 0; j < 4; j++)
        cr_assert_str_eq(keys[j], expected[j]);
    cr_assert(strstr(trial_fault(&t, BASE "train: {lr: 0,001}\n"), "unknown key '001'") != NULL, "%s", t.e.message);
    trial_close(&t);
}

/* ------------------------------------------------------------------------------------------------ --only */

Test(spec, only)
{
    static const char text[] = "encoding: [nope, rope, \"rope(base=500,layout=interleaved)\", [rope, nope]]\n"
                               "task: [sort, repeat_copy]\nseeds: 3\n";
    static const struct {
        const char *only;
        int runs;
    } good[] = {
        {"encoding=rope", 6},
        {"encoding=rope,encoding=nope", 12},
        {"encoding=rope,task=sort(symbols=150)", 3},
        {"encoding=rope(layout=interleaved, base=5e2),seed=2", 2},
        {"encoding=[rope,nope],seed=2,task=sort", 1},
        {"train.lr=1e-3", 24},
        {"train.min_len=1, seed=3", 8},
    };
    static const char *const bad[][2] = {
        {"encoding=alibi", "it matches none of the 24 runs"},
        {"encoding=ropee", "did you mean 'rope'?"},
        {"lr=1e-3", "did you mean 'train.lr'?"},
        {"seed=x", "seed=x: not a number"},
        {"seed", "'seed' is not key=value"},
        {"seed=1,", "'' is not key=value"},
        {"", "'' is not key=value"},
    };
    spec_trial t;
    trial_open(&t);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        cr_assert(trial_load(&t, text, good[i].only) == 0, "%s", t.e.message);
        cr_assert_eq(t.spec.count, good[i].runs, "%s: %d", good[i].only, t.spec.count);
        int seen[64] = {0}, all = t.spec.count + t.spec.rest; /* the rest of the grid is behind, each in its place */
        for (int k = 0; k < all; k++)
            cr_assert(t.spec.place[k] >= 0 && t.spec.place[k] < all && !seen[t.spec.place[k]]++);
        for (int k = 1; k < t.spec.count; k++)
            cr_assert(t.spec.place[k - 1] < t.spec.place[k]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert(trial_load(&t, text, bad[i][0]) < 0, "%s", bad[i][0]);
        cr_assert_eq(t.e.kind, ERROR_USAGE);
        cr_assert(strncmp(t.e.message, "--only ", 7) == 0 && strstr(t.e.message, bad[i][1]), "%s", t.e.message);
    }
    trial_close(&t);
}

/* ------------------------------------------------------------------------------------------------ shipped specs */

Test(spec, shipped_specs_load)
{
    static const struct {
        const char *path;
        int least;
    } cases[] = {{"bench/specs/quick.yaml", 14},
                 {"bench/specs/smoke.yaml", 42},
                 {"bench/specs/smoke_tasks.yaml", 120},
                 {"bench/specs/main.yaml", 200},
                 {"bench/specs/huang.yaml", 30},
                 {"bench/specs/starved.yaml", 54},
                 {"bench/specs/data_scale.yaml", 100}};
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        spec s;
        cr_assert(spec_load(cases[i].path, r, NULL, &s, &e) == 0, "%s", e.message);
        cr_assert_geq(s.count, cases[i].least);
        char expected[PATH_MAX];
        snprintf(expected, sizeof expected, "bench/specs/%s.yaml", s.name);
        cr_assert_str_eq(expected, cases[i].path);
        cr_assert(s.title[0] && s.baseline[0]);
        spec_free(&s);
    }
    registry_free(r);
}

/* Huang et al. 2025 at the published sizes: cells with their own network and learning rate; tables with and without
 * random offsets. */
Test(spec, huang_has_the_published_sizes)
{
    static const struct {
        const char *task, *encoding;
        int layers, heads, width;
        double lr;
    } cells[] = {
        {"binary_majority", "nope", 1, 1, 16, 1e-3},
        {"sort", "nope", 1, 1, 256, 1e-3},
        {"unique_copy", "nope", 4, 4, 256, 1e-3},
        {"binary_majority", "learned(rows=302)@shift", 1, 1, 16, 1e-3},
        {"sort", "learned(rows=302)@shift", 1, 2, 256, 1e-4},
        {"unique_copy", "learned(rows=302)@shift", 2, 1, 64, 1e-3},
        {"binary_majority", "learned(rows=302)", 1, 1, 16, 1e-3}, /* as with offsets, without them */
        {"sort", "learned(rows=302)", 1, 2, 256, 1e-4},
        {"unique_copy", "learned(rows=302)", 2, 1, 64, 1e-3},
    };
    enum { CELLS = sizeof cells / sizeof cells[0] };
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    spec s;
    cr_assert(spec_load("bench/specs/huang.yaml", r, NULL, &s, &e) == 0, "%s", e.message);
    cr_assert_eq(s.count, 5 * CELLS);
    int found[CELLS] = {0};
    for (int i = 0; i < s.count; i++) {
        const run_config *c = &s.runs[i];
        length_bin b[CONFIG_BINS_MAX];
        cr_assert_eq(config_bins(c, b, &e), 3);
        cr_assert(b[0].min_len == 1 && b[0].max_len == 50 && b[1].max_len == 100 && b[2].max_len == 150);
        cr_assert(c->train.min_len == 1 && c->train.len == 50 && c->train.batch == 64 && c->train.steps == 30000);
        cr_assert(c->train.weight_decay == 0.01 && c->eval.items == 2000 &&
                  c->train.schedule == CONFIG_SCHEDULE_LINEAR);
        for (size_t j = 0; j < CELLS; j++)
            found[j] += strcmp(c->task, cells[j].task) == 0 && strcmp(c->encoding, cells[j].encoding) == 0 &&
                        c->model.layers == cells[j].layers && c->model.heads == cells[j].heads &&
                        c->model.width == cells[j].width && c->train.lr == cells[j].lr;
    }
    for (size_t j = 0; j < CELLS; j++)
        cr_assert_eq(found[j], 5, "%s %s: %d runs", cells[j].task, cells[j].encoding, found[j]);
    spec_free(&s);
    registry_free(r);
}
