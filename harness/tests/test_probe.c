/* What trained weights know of positions, with known answers: hidden states that hold the position, a network to which
 * what comes before is a bag, tables against saved weights; and nothing else changes. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "record.h"
#include "rng.h"
#include "scratch.h"
#include "settings.h"
#include "table.h"

#define PROBE_SMALL                                                                                                    \
    "train.len=16|train.batch=8|train.steps=12|model.width=16|model.heads=2|model.layers=2|eval.ratios=1|"             \
    "eval.tokens=640|eval.items=8|"
#define PROBE_ON "|eval.probe=true|eval.shuffle=true"

static scratch probe_room;

static void probe_setup(void)
{
    scratch_open(&probe_room);
}

static void probe_teardown(void)
{
    scratch_close(&probe_room);
}

TestSuite(probes, .init = probe_setup, .fini = probe_teardown);

/* A text of `kind`: 'a' the word "aab" over and over, which one has to see two bytes of to go on; 'r' random letters.
 */
static run_config probe_configure(char kind, const char *more)
{
    enum { BYTES = 16000 };
    static const char word[] = "aab";
    char path[PATH_MAX], text[PATH_MAX + 1024], bytes[BYTES];
    run_config c;
    rng r = rng_stream(7, RNG_TRAIN, 0, 0);
    for (int i = 0; i < BYTES; i++)
        bytes[i] = kind == 'a' ? word[i % 3] : (char)('a' + rng_below(&r, 16));
    scratch_write(&probe_room, "corpus.txt", bytes, BYTES, path);
    snprintf(text, sizeof text, "task=text(file=%s)|" PROBE_SMALL "%s", path, more);
    setting_checked(&c, text);
    return c;
}

static run_result probe_run(const run_config *c, const char *weights)
{
    error e = ERROR_INIT;
    run_result out;
    registry *r = setting_registry();
    cr_assert_eq(run_execute_with(c, r, NULL, &(run_files){.weights = weights}, &out, &e), 0, "%s", e.message);
    cr_assert_eq(out.status, RUN_OK);
    registry_free(r);
    return out;
}

/* ------------------------------------------------------------------------------------------------ hidden states */

/* Before the layer noise, behind it the position among noise: read exactly there, not at all before. */
Test(probes, states_that_hold_the_position_are_read)
{
    enum { TOKENS = 24, WIDTH = 5 };
    error e = ERROR_INIT;
    arena memory = {NULL, 0};
    model m = {.shape = {.layers = 1, .width = WIDTH}};
    probe_states p;
    readout_states out;
    real before[TOKENS * WIDTH], after[TOKENS * WIDTH];
    layer_activations layer = {.in = before};
    workspace w = {.layer = &layer, .h = after};
    rng r = rng_stream(3, RNG_WEIGHTS, 0, 0);
    cr_assert_eq(probe_states_create(&p, &memory, &m, TOKENS, &e), 0);
    cr_assert_eq(p.sequences, 64);
    for (int n = 0; n < p.sequences; n++) {
        int tokens = TOKENS - n % 3; /* sequences differ in length */
        for (int i = 0; i < TOKENS * WIDTH; i++) {
            before[i] = (real)rng_normal(&r);
            after[i] = (real)rng_normal(&r);
        }
        for (int t = 0; t < tokens; t++)
            after[t * WIDTH + 2] = (real)(0.125 * t + after[t * WIDTH] - 3);
        probe_states_add(&p, &w, tokens, n);
    }
    cr_assert_eq(probe_states_read(&p, 1, &out, &e), 0, "%s", e.message);
    cr_assert(out.count == 2 && out.sequences == 64 && out.tokens == 64 * TOKENS - 21 - 2 * 21);
    cr_assert(out.read_error[1] == 0 && out.wide_error[1] < 0.02, "%g", out.wide_error[1]);
    cr_assert_gt(out.wide_error[0], 0.95 * out.guess);
    cr_assert_gt(out.read_error[0], 0.95 * out.guess);
    cr_assert(out.guess > TOKENS / 4.0 - 0.5 && out.guess < TOKENS / 4.0 + 0.5, "%g", out.guess);
    probe_read_free(&out);
    arena_free(&memory);
}

/* Two columns on a circle: where on it is a matter of their angle, which no straight line tells. */
Test(probes, a_network_reads_what_is_not_linear)
{
    enum { ROWS = 400, COLS = 2 };
    error e = ERROR_INIT;
    double x[ROWS * COLS], y[ROWS], linear, bent, guess;
    int fold[ROWS];
    for (int i = 0; i < ROWS; i++) {
        double angle = 5.5 * i / ROWS;
        x[i * COLS] = cos(angle);
        x[i * COLS + 1] = sin(angle);
        y[i] = i;
        fold[i] = i % 5;
    }
    double *wide = readout_widen(x, ROWS, COLS);
    cr_assert_not_null(wide);
    cr_assert(wide[(COLS + READOUT_WIDER) * 7] == x[14] && wide[(COLS + READOUT_WIDER) * 7 + 1] == x[15]);
    cr_assert_eq(readout_regression(x, ROWS, COLS, y, fold, 5, &linear, &guess, &e), 0);
    cr_assert_eq(readout_regression(wide, ROWS, COLS + READOUT_WIDER, y, fold, 5, &bent, &guess, &e), 0);
    cr_assert(linear > 0.3 * guess && bent < 0.03 * guess, "%g, %g of %g", linear, bent, guess);
    free(wide);
}

Test(probes, as_many_sequences_as_make_4096_tokens)
{
    cr_assert(probe_sequences(16) == 64 && probe_sequences(128) == 32 && probe_sequences(1024) == 10);
}

/* Sines that are added to the token vectors are read before the first layer; without positions nothing is. */
Test(probes, of_runs_with_and_without_positions)
{
    run_config c = probe_configure('r', "encoding=sinusoidal|model.scale_embedding=true" PROBE_ON);
    run_result out = probe_run(&c, NULL);
    const readout_states *h = &out.probes->hidden;
    cr_assert(h->count == 3 && h->tokens == 64 * 16);
    cr_assert_lt(h->read_error[0], 0.2 * h->guess, "%g of %g", h->read_error[0], h->guess);
    cr_assert_eq(out.probes->tables, 0);
    run_result_free(&out);
    c = probe_configure('r', "encoding=nope" PROBE_ON);
    out = probe_run(&c, NULL);
    h = &out.probes->hidden;
    cr_assert_gt(h->read_error[0], 0.9 * h->guess);
    cr_assert_lt(h->read_error[1], h->read_error[0]); /* a mean over more tokens is a shorter one */
    run_result_free(&out);
}

/* ------------------------------------------------------------------------------------------------ tables */

/* The rows that were trained, 16 of 40, as they are in the saved weights. */
Test(probes, tables_are_those_of_the_weights)
{
    char path[PATH_MAX], target[PATH_MAX + 128];
    error e = ERROR_INIT;
    table t;
    readout_rows want;
    run_config c = probe_configure('r', "encoding=learned(rows=40)" PROBE_ON);
    scratch_path(&probe_room, "w.safetensors", path);
    run_result out = probe_run(&c, path);
    cr_assert(out.probes->tables == 1 && out.probes->table[0].found.rows == 16);
    snprintf(target, sizeof target, "%s:%s", path, out.probes->table[0].name);
    cr_assert_eq(table_read(target, &t, &e), 0, "%s", e.message);
    cr_assert_eq(t.rows, 40);
    cr_assert_eq(readout_table(t.value, 16, t.cols, &want, &e), 0);
    const readout_rows *found = &out.probes->table[0].found;
    cr_assert(found->pairs == 240 && want.pairs == 240);
    if (sizeof(real) == sizeof(float)) { /* files hold single precision */
        cr_assert(found->read_error == want.read_error && found->order_error == want.order_error);
    }
    cr_assert(found->read_guess == want.read_guess && found->read_guess > 3 && found->read_guess < 5);
    table_free(&t);
    run_result_free(&out);
}

/* Room for weights beyond the rows may hold anything: here what was freed before is NAN, which LAPACKE refuses. */
Test(probes, fewer_rows_than_columns_need_no_clean_memory)
{
    enum { ROWS = 40, COLS = 64, CHUNKS = 16 };
    error e = ERROR_INIT;
    double x[ROWS * COLS], *chunk[CHUNKS];
    readout_rows out;
    rng r = rng_stream(5, RNG_WEIGHTS, 0, 0);
    for (int i = 0; i < ROWS * COLS; i++)
        x[i] = rng_normal(&r) + (i % COLS == 0 ? 20.0 * (i / COLS) : 0);
    for (int i = 0; i < CHUNKS; i++) {
        chunk[i] = malloc(COLS * sizeof(double));
        for (int k = 0; k < COLS; k++)
            chunk[i][k] = NAN;
    }
    for (int i = 0; i < CHUNKS; i++)
        free(chunk[i]);
    cr_assert_eq(readout_table(x, ROWS, COLS, &out, &e), 0, "%s", e.message);
    cr_assert(out.rows == ROWS && out.read_error < 0.5 * out.read_guess, "%g of %g", out.read_error, out.read_guess);
}

/* ------------------------------------------------------------------------------------------------ shuffling */

/* One layer without positions sees a bag and the last token, which stays: nothing is lost. Only the order of a sum
 * differs. */
Test(probes, a_bag_loses_nothing_by_shuffling)
{
    run_config c = probe_configure('a', "encoding=nope|model.layers=1|train.steps=60|train.lr=0.01" PROBE_ON);
    run_result out = probe_run(&c, NULL);
    const run_probes *p = out.probes;
    cr_assert_eq(p->windows, 40);
    cr_assert_float_eq(p->shuffled_loss, p->in_order_loss, 1e-5, "%g", p->shuffled_loss - p->in_order_loss);
    cr_assert_gt(p->in_order_loss, 0.05);
    run_result_free(&out);
}

/* What follows an a is a matter of what stands before it: a network that has learned that loses it. */
Test(probes, a_network_that_uses_order_loses_by_shuffling)
{
    run_config c = probe_configure('a', "encoding=learned|train.steps=150|train.lr=0.01" PROBE_ON);
    run_result out = probe_run(&c, NULL);
    cr_assert_lt(out.probes->in_order_loss, 0.1);
    cr_assert_gt(out.probes->shuffled_loss, 0.3, "%g", out.probes->shuffled_loss);
    run_result_free(&out);
}

/* In order it is the loss at the last position of the windows that evaluation reads. */
Test(probes, in_order_is_what_evaluation_finds_there)
{
    static const char *const encodings[] = {"learned", "rope", "nope"};
    for (int i = 0; i < 3; i++) {
        char more[128];
        snprintf(more, sizeof more, "encoding=%s" PROBE_ON, encodings[i]);
        run_config c = probe_configure('r', more);
        run_result out = probe_run(&c, NULL);
        const run_positions *p = &out.positions[0];
        cr_assert(p->count == 16 && p->n[15] == out.probes->windows && p->n[15] == 40);
        cr_assert_float_eq(out.probes->in_order_loss, p->loss[15], 1e-6);
        run_result_free(&out);
    }
}

/* ------------------------------------------------------------------------------------------------ the record */

static json_t *probe_record(const run_config *c, run_result *out)
{
    host_facts h = {.version = "0", .compiler = "c", .flags = "f", .kernel = "k", .level = "l"};
    out->train_seconds = out->evaluate_seconds = out->cpu_seconds = 0;
    out->peak_bytes = 0;
    return record_json(c, out, &h);
}

Test(probes, are_in_the_record)
{
    char path[PATH_MAX];
    error e = ERROR_INIT;
    run_config c = probe_configure('r', "encoding=learned" PROBE_ON);
    run_result out = probe_run(&c, NULL);
    json_t *record = probe_record(&c, &out), *again;
    scratch_path(&probe_room, "r.json", path);
    cr_assert_eq(record_write(path, record, &e), 0);
    again = record_read(path, &e);
    cr_assert_not_null(again, "%s", e.message);
    size_t size;
    char *text[2] = {record_text(record, &size), record_text(again, &size)}; /* 8.0 is written as 8 */
    cr_assert_str_eq(text[0], text[1]);
    free(text[0]);
    free(text[1]);
    json_t *probes = json_object_get(again, "probes"), *hidden = json_object_get(probes, "hidden");
    json_t *first = json_array_get(json_object_get(probes, "tables"), 0), *shuffle = json_object_get(probes, "shuffle");
    cr_assert_eq(json_array_size(json_object_get(hidden, "position_error")), 3);
    cr_assert_eq(json_number_value(json_array_get(json_object_get(hidden, "position_error"), 2)),
                 out.probes->hidden.read_error[2]);
    cr_assert_eq(json_number_value(json_object_get(first, "order_error")), out.probes->table[0].found.order_error);
    cr_assert_eq(json_number_value(json_object_get(shuffle, "loss_shuffled")), out.probes->shuffled_loss);
    json_object_set_new(record, "probes", json_array());
    cr_assert_eq(record_write(path, record, &e), 0);
    cr_assert_null(record_read(path, &e));
    cr_assert(strstr(e.message, "\"probes\" has the wrong type"), "%s", e.message);
    json_decref(again);
    json_decref(record);
    run_result_free(&out);
}

/* One of the two alone: the other is null, and nothing besides changes. */
Test(probes, change_no_other_result)
{
    static const char *const more[] = {"", "|eval.probe=true", "|eval.shuffle=true"};
    char *text[3];
    for (int i = 0; i < 3; i++) {
        char settings[128];
        snprintf(settings, sizeof settings, "encoding=learned(rows=40)@shift(span=20)%s", more[i]);
        run_config c = probe_configure('r', settings);
        run_result out = probe_run(&c, NULL);
        json_t *record = probe_record(&c, &out), *probes = json_object_get(record, "probes");
        cr_assert_eq(probes != NULL, i > 0);
        cr_assert(!probes || json_is_object(json_object_get(probes, "hidden")) == (i == 1));
        cr_assert(!probes || json_is_array(json_object_get(probes, "tables")) == (i == 1));
        cr_assert(!probes || json_is_object(json_object_get(probes, "shuffle")) == (i == 2));
        static const char *const differ[] = {"probes", "key", "canonical", "config"};
        for (int k = 0; k < 4; k++)
            json_object_del(record, differ[k]);
        text[i] = json_dumps(record, JSON_INDENT(1));
        json_decref(record);
        run_result_free(&out);
    }
    cr_assert_str_eq(text[0], text[1]);
    cr_assert_str_eq(text[0], text[2]);
    for (int i = 0; i < 3; i++)
        free(text[i]);
}

/* Keys of old records stay. */
Test(probes, off_is_not_written)
{
    char text[CONFIG_TEXT_MAX];
    run_config c = probe_configure('r', "encoding=nope");
    config_print(&c, text, sizeof text);
    cr_assert(!strstr(text, "probe") && !strstr(text, "shuffle"), "%s", text);
}

/* ------------------------------------------------------------------------------------------------ what cannot be */

Test(probes, where_they_have_no_meaning_they_are_refused)
{
    static const char *const cases[][2] = {
        {"task=sort|eval.shuffle=true",
         "eval.shuffle: sort has no text, read from left to right, that could be shuffled"},
        {"task=masked_text(file=README.md)|model.causal=false|eval.shuffle=true",
         "eval.shuffle: masked_text has no text"},
        {"task=text(file=README.md)|train.len=2|eval.ratios=1|eval.shuffle=true",
         "eval.shuffle: windows of train.len, 2,"},
        {"task=text(file=README.md)|train.len=1025|eval.ratios=1|eval.probe=true",
         "eval.probe: training sequences have up to 1025 tokens; hidden states of up to 1024 are read"},
    };
    registry *r = setting_registry();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error e = ERROR_INIT;
        run_config c;
        config_defaults(&c);
        char settings[256];
        snprintf(settings, sizeof settings, "encoding=nope|%s", cases[i][0]);
        cr_assert_eq(setting_apply(&c, settings, &e), 0, "%s", e.message);
        cr_assert(config_check(&c, r, &e) < 0 && e.kind == ERROR_USAGE, "%s", cases[i][0]);
        cr_assert(strncmp(e.message, cases[i][1], strlen(cases[i][1])) == 0, "%s", e.message);
    }
    registry_free(r);
}

/* A table that is tested where it has no rows: no value, no failure. */
Test(probes, what_has_no_value_is_left_out)
{
    run_config c = probe_configure('r', "encoding=learned(rows=16)" PROBE_ON);
    cr_assert_eq(config_set(&c, "eval.map", "shift(span=20,test=8)", &(error)ERROR_INIT), 0);
    run_result out = probe_run(&c, NULL);
    cr_assert(out.probes->hidden.count == 0 && out.probes->windows == 0 && isnan(out.probes->shuffled_loss));
    cr_assert_eq(out.probes->tables, 1); /* its rows are there whatever is tested */
    json_t *record = probe_record(&c, &out), *probes = json_object_get(record, "probes");
    cr_assert(json_is_null(json_object_get(probes, "hidden")) && json_is_null(json_object_get(probes, "shuffle")));
    json_decref(record);
    run_result_free(&out);
}
