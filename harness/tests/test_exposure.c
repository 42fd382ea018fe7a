/* What positions meet in training: counted again from the batches, squared gradients against differences and against
 * each other, norms against saved weights, loss and accuracy against evaluation; and nothing else changes. */
#include <criterion/criterion.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exposure.h"
#include "lengths.h"
#include "record.h"
#include "regime.h"
#include "safetensors.h"
#include "scratch.h"
#include "settings.h"
#include "train.h"

#define EXPOSURE_SMALL                                                                                                 \
    "task=sort(symbols=20)|train.len=6|train.batch=8|train.steps=21|model.width=16|model.heads=2|model.layers=2|"      \
    "eval.ratios=0.5;1|eval.items=24|train.lengths=geometric|train.length_ratio=0.6|"

static run_config exposure_configure(const char *more)
{
    char text[1024];
    run_config c;
    snprintf(text, sizeof text, EXPOSURE_SMALL "%s", more);
    setting_checked(&c, text);
    return c;
}

static run_result exposure_run(const run_config *c, const char *weights)
{
    error e = ERROR_INIT;
    run_result out;
    registry *r = setting_registry();
    cr_assert_eq(run_execute_with(c, r, NULL, &(run_files){.weights = weights}, &out, &e), 0, "%s", e.message);
    cr_assert_eq(out.status, RUN_OK);
    registry_free(r);
    return out;
}

static long exposure_tokens(const run_exposure *x)
{
    long sum = x->beyond;
    for (int i = 0; i < x->positions * RUN_PHASES; i++)
        sum += x->met[i].updates;
    return sum;
}

/* ------------------------------------------------------------------------------------------------ counts */

/* Tokens of the training sequence (step, n), drawn here. */
static int exposure_draw(const run_config *c, const task *t, int step, int n)
{
    int input[256], target[256];
    task_sample s = {.input = input, .target = target};
    task_draw(t, TASK_TRAIN, (uint64_t)c->seed, (uint64_t)step, (uint32_t)n,
              lengths_draw(c, (uint64_t)step, (uint32_t)n), &s, NULL);
    return s.count;
}

/* Sequences of `count` tokens begin at `first`, which the shift's own formula gives; span < 0: the identity. */
static void exposure_recount(const char *encoding, int rows)
{
    error e = ERROR_INIT;
    char more[256];
    snprintf(more, sizeof more, "encoding=%s|train.positions=true", encoding);
    run_config c = exposure_configure(more);
    run_result out = exposure_run(&c, NULL);
    const run_exposure *x = out.exposure;
    task *t = task_open(c.task, config_regime(&c), 1, c.train.len, &e);
    cr_assert_not_null(t, "%s", e.message);
    long want[64][4] = {{0}}, total = 0;
    for (int step = 0; step < c.train.steps; step++)
        for (int n = 0; n < c.train.batch; n++) {
            int count = exposure_draw(&c, t, step, n), first = 0;
            rng r = rng_stream(1, RNG_MAP_TRAIN, (uint64_t)step, 0x10000 + (uint32_t)n);
            if (rows > 0)
                first = (int)(rng_uniform(&r) * (rows - count + 1));
            for (int i = first; i < first + count; i++, total++)
                want[i][step * 4 / c.train.steps]++;
        }
    cr_assert_eq(out.tokens_seen, total);
    cr_assert_eq(exposure_tokens(x), total);
    for (int i = 0; i < 64; i++)
        for (int p = 0; p < 4; p++)
            cr_assert_eq(i < x->positions ? x->met[i * 4 + p].updates : 0, want[i][p], "position %d, quarter %d", i, p);
    task_free(t);
    run_result_free(&out);
}

Test(exposure, tokens_are_those_of_the_batches)
{
    exposure_recount("nope", 0);
    exposure_recount("learned", 0);
    exposure_recount("learned(rows=30)@shift", 30);
}

/* Geometric lengths starve late positions, a shift over the table feeds them: the instrument shows it. */
Test(exposure, skew_starves_and_a_shift_feeds)
{
    double late[2];
    static const char *const encodings[2] = {"encoding=learned|train.positions=true",
                                             "encoding=learned@shift|train.positions=true"};
    for (int i = 0; i < 2; i++) {
        run_config c = exposure_configure(encodings[i]);
        run_result out = exposure_run(&c, NULL);
        const run_exposure_table *t = &out.exposure->table[0];
        double all = 0;
        late[i] = 0;
        for (int r = 0; r < t->rows; r++)
            for (int p = 0; p < RUN_PHASES; p++) {
                all += t->met[r * RUN_PHASES + p].gradient;
                late[i] += r >= t->rows - 3 ? t->met[r * RUN_PHASES + p].gradient : 0;
            }
        late[i] /= all;
        run_result_free(&out);
    }
    cr_assert(late[0] < 0.12 && late[1] > 2 * late[0], "late share %g, shifted %g", late[0], late[1]);
}

/* Positions between two whole ones count at the nearer one; past the last that is kept they are counted together. */
Test(exposure, every_token_stands_somewhere)
{
    static const char *const maps[] = {"random(scope=batch)", "cape", "random_float", "interpolate", "shift(span=100)"};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        char more[128];
        snprintf(more, sizeof more, "encoding=sinusoidal@%s|train.positions=true|train.steps=4", maps[i]);
        run_config c = exposure_configure(more);
        run_result out = exposure_run(&c, NULL);
        cr_assert_eq(exposure_tokens(out.exposure), out.tokens_seen, "%s", maps[i]);
        cr_assert_eq(out.exposure->beyond, 0, "%s", maps[i]);
        cr_assert_eq(out.exposure->positions, (int)lround(out.map_reach) + 1, "%s", maps[i]);
        run_result_free(&out);
    }
    run_config c = exposure_configure("encoding=nope@shift(span=10000000)|train.positions=true|train.steps=4");
    run_result out = exposure_run(&c, NULL);
    cr_assert(out.exposure->beyond > 0 && out.exposure->positions <= EXPOSURE_POSITIONS_MAX);
    cr_assert_eq(exposure_tokens(out.exposure), out.tokens_seen);
    run_result_free(&out);
}

Test(exposure, quarters_cover_all_steps)
{
    static const int steps[] = {1, 3, 4, 21, 1000, 1999};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        int before = 0;
        for (int s = 0; s < steps[i]; s++) {
            int phase = exposure_phase(s, steps[i]);
            cr_assert(phase >= before && phase < RUN_PHASES);
            cr_assert(s < exposure_phase_end(phase, steps[i]));
            cr_assert(phase == 0 || s >= exposure_phase_end(phase - 1, steps[i]));
            before = phase;
        }
        cr_assert_eq(exposure_phase_end(RUN_PHASES - 1, steps[i]), steps[i]);
    }
}

/* ------------------------------------------------------------------------------------------------ gradients */

typedef struct exposure_net {
    arena memory;
    registry *known;
    layered_stack stacks;
    run_config config;
    task *task;
    model model;
    trainer trainer;
} exposure_net;

static void exposure_open(exposure_net *x, const char *more)
{
    error e = ERROR_INIT;
    *x = (exposure_net){.known = setting_registry(), .config = exposure_configure(more)};
    const run_config *c = &x->config;
    cr_assert_eq(layered_parse(x->known, c->encoding, &x->stacks, &e), 0);
    x->task = task_open(c->task, TASK_DECODER, 1, c->train.len, &e);
    cr_assert_not_null(x->task, "%s", e.message);
    cr_assert_eq(model_create(&x->model, &x->memory, c, &x->stacks, task_vocab(x->task),
                              task_tokens(x->task, c->train.len), 1, &e),
                 0);
    model_init(&x->model, 1);
    cr_assert_eq(trainer_create(&x->trainer, &x->memory, c, x->task, &x->model, &e), 0);
    x->trainer.exposure = exposure_new(&x->model, &e);
    cr_assert_not_null(x->trainer.exposure);
}

static void exposure_close(exposure_net *x)
{
    exposure_free(x->trainer.exposure);
    task_free(x->task);
    layered_free(&x->stacks);
    arena_free(&x->memory);
    registry_free(x->known);
}

/* The mean loss of the batch that the trainer drew last, all in one part. */
static double exposure_loss(exposure_net *x)
{
    trainer *t = &x->trainer;
    int scored = 0;
    batch b = batch_buffer_part(&t->data, 0, t->data.sequences, 1, 0, 1, t->part_start);
    for (int i = 0; i < b.start[b.sequences]; i++)
        scored += b.target[i] != TASK_NOT_SCORED;
    model_changed(&x->model);
    model_forward(&x->model, &t->work, &b);
    return model_loss(&x->model, &t->work, &b, 0, NULL, NULL) / scored;
}

/* Rows of the table against central differences of the loss, over the whole batch. */
Test(exposure, squared_gradients_are_those_of_differences)
{
    if (sizeof(real) == sizeof(float)) {
        cr_skip_test("differences need double precision");
    }
    exposure_net x;
    double norm, h = 1e-5;
    exposure_open(&x, "encoding=learned|train.batch=5|train.clip=0.001");
    real *start = malloc(sizeof *start * x.model.length);
    memcpy(start, x.model.value, sizeof *start * x.model.length);
    trainer_step(&x.trainer, 0, &norm);
    memcpy(x.model.value, start, sizeof *start * x.model.length);
    const run_exposure_table *t = &x.trainer.exposure->table[0];
    cr_assert_eq(x.trainer.exposure->tables, 1);
    cr_assert_str_eq(t->name, "learned.table");
    for (int r = 0; r < t->rows; r++) {
        double square = 0;
        for (int k = 0; k < t->cols; k++) {
            real *at = &x.model.value[t->offset + (size_t)(r * t->cols + k)], kept = *at;
            *at = (real)(kept + h);
            double above = exposure_loss(&x);
            *at = (real)(kept - h);
            double below = exposure_loss(&x);
            *at = kept;
            square += (above - below) * (above - below) / (4 * h * h);
        }
        double got = t->met[r * RUN_PHASES].gradient;
        cr_assert(fabs(got - square) <= 1e-6 * square + 1e-14, "row %d: %g, by differences %g", r, got, square);
        cr_assert_eq(t->met[r * RUN_PHASES].updates, square > 0);
    }
    free(start);
    exposure_close(&x);
}

/* With one sequence a row is read by one token, so its gradient is that of the token's input: two ways to one number.
 * Rows of several sequences in several parts would differ. */
Test(exposure, inputs_and_rows_agree_where_a_row_has_one_token)
{
    exposure_net x;
    double norm, sum = 0;
    exposure_open(&x, "encoding=learned|train.batch=1|train.min_len=5");
    trainer_step(&x.trainer, 0, &norm);
    const run_exposure *e = x.trainer.exposure;
    for (int i = 0; i < e->positions; i++) {
        double input = e->met[i * RUN_PHASES].gradient, row = e->table[0].met[i * RUN_PHASES].gradient;
        cr_assert(fabs(input - row) <= 1e-6 * row, "position %d: %g and %g", i, input, row);
        sum += row;
    }
    cr_assert(sum > 0 && sum < norm * norm, "rows are a part of the whole gradient");
    exposure_close(&x);
}

/* ------------------------------------------------------------------------------------------------ the end */

Test(exposure, norms_are_those_of_the_saved_weights)
{
    error e = ERROR_INIT;
    scratch room;
    char path[PATH_MAX];
    safetensors s;
    scratch_open(&room);
    scratch_path(&room, "w.safetensors", path);
    run_config c = exposure_configure("encoding=learned(rows=40)|train.positions=true|train.select=best|"
                                      "train.check_every=5|train.lr=0.03");
    run_result out = exposure_run(&c, path);
    const run_exposure_table *t = &out.exposure->table[0];
    cr_assert_eq(safetensors_open(&s, path, &e), 0, "%s", e.message);
    const safetensors_entry *entry = safetensors_find(&s, t->name, &e);
    cr_assert(entry && entry->dim[0] == 40 && t->rows == 40 && (int)entry->dim[1] == t->cols);
    double *value = malloc(sizeof *value * entry->count);
    cr_assert_eq(safetensors_read(&s, entry, value, &e), 0);
    int moved = 0;
    for (int r = 0; r < t->rows; r++) {
        double square = 0;
        for (int k = 0; k < t->cols; k++)
            square += value[r * t->cols + k] * value[r * t->cols + k];
        cr_assert(fabs(t->norm[r] - sqrt(square)) < 1e-6, "row %d: %g, saved %g", r, t->norm[r], sqrt(square));
        moved += t->norm[r] != t->first_norm[r];
        if (r >= out.train_tokens_max) {
            cr_assert_eq(t->norm[r], t->first_norm[r], "row %d was never read", r);
        }
    }
    cr_assert(moved > 5);
    free(value);
    safetensors_close(&s);
    run_result_free(&out);
    scratch_close(&room);
}

static double exposure_value(const run_result *r, const char *metric)
{
    for (int i = 0; i < r->values_count; i++)
        if (r->values[i].bin.ratio == 1 && strcmp(r->values[i].metric, metric) == 0)
            return r->values[i].value;
    return NAN;
}

/* The test by position is over the sequences that evaluation draws at the training length. */
Test(exposure, quality_by_position_adds_up_to_the_score)
{
    static const char *const encodings[] = {"learned", "sinusoidal@shift(span=9,test=4)", "nope"};
    for (int i = 0; i < 3; i++) {
        char more[128];
        snprintf(more, sizeof more, "encoding=%s|train.positions=true", encodings[i]);
        run_config c = exposure_configure(more);
        run_result out = exposure_run(&c, NULL);
        const run_exposure *x = out.exposure;
        double loss = 0, right = 0;
        long n = 0;
        for (int p = 0; p < x->tested; p++) {
            cr_assert(x->n[p] == 0 ? isnan(x->loss[p]) : x->n[p] == c.eval.items);
            n += x->n[p];
            loss += x->n[p] ? x->loss[p] * (double)x->n[p] : 0;
            right += x->n[p] ? x->accuracy[p] * (double)x->n[p] : 0;
        }
        int begin = i == 1 ? 4 : 0; /* BOS, 6 symbols, SEP; then 6 symbols of the answer and EOS */
        cr_assert_eq(x->tested, begin + 14);
        cr_assert(x->n[begin + 6] == 0 && x->n[begin + 7] > 0);
        cr_assert(n > 0 && fabs(loss / (double)n - exposure_value(&out, "loss")) < 1e-9);
        cr_assert(fabs(right / (double)n - exposure_value(&out, "token_accuracy")) < 1e-12);
        run_result_free(&out);
    }
}

/* Of a text: the windows of evaluation, each position as often as the others. */
Test(exposure, quality_of_a_text_is_that_of_its_windows)
{
    run_config c =
        exposure_configure("task=text(file=README.md)|encoding=learned|train.len=16|train.min_len=4|eval.ratios=1|"
                           "eval.tokens=320|train.positions=true|train.steps=5");
    run_result out = exposure_run(&c, NULL);
    const run_exposure *x = out.exposure;
    cr_assert(x->tested == 16 && out.positions_count == 1 && out.positions[0].count == 16);
    for (int p = 0; p < 16; p++) {
        cr_assert_eq(x->n[p], out.positions[0].n[p]);
        cr_assert(fabs(x->loss[p] - out.positions[0].loss[p]) < 1e-9, "position %d", p);
        cr_assert(x->accuracy[p] >= 0 && x->accuracy[p] <= 1);
    }
    run_result_free(&out);
}

/* Where the training length itself has no value, there is nothing to say. */
Test(exposure, undefined_positions_have_no_quality)
{
    run_config c = exposure_configure("encoding=learned|train.positions=true|eval.map=shift(span=0,test=5)");
    run_result out = exposure_run(&c, NULL);
    cr_assert_eq(out.exposure->tested, 0);
    cr_assert(out.exposure->positions > 0);
    run_result_free(&out);
}

/* The record without what recording adds: its switch, its key and its section. The caller frees it. */
static char *exposure_bytes(const run_config *c, run_result *out, int *has_section)
{
    host_facts h = {.version = "0", .compiler = "", .flags = "", .kernel = "", .level = ""};
    out->train_seconds = out->evaluate_seconds = out->cpu_seconds = 0;
    out->peak_bytes = 0;
    json_t *record = record_json(c, out, &h);
    *has_section = json_object_get(record, "exposure") != NULL;
    json_object_del(record, "exposure");
    json_object_del(record, "key");
    json_object_del(record, "canonical");
    json_object_del(record, "config");
    char *text = json_dumps(record, JSON_INDENT(1));
    json_decref(record);
    return text;
}

Test(exposure, recording_changes_no_result)
{
    static const char *const encodings[] = {"learned(rows=30)@shift", "rope", "nope@random"};
    for (int i = 0; i < 3; i++) {
        char *text[2];
        for (int on = 0; on < 2; on++) {
            char more[128];
            int has_section;
            snprintf(more, sizeof more, "encoding=%s%s", encodings[i], on ? "|train.positions=true" : "");
            run_config c = exposure_configure(more);
            run_result out = exposure_run(&c, NULL);
            text[on] = exposure_bytes(&c, &out, &has_section);
            cr_assert_eq(has_section, on);
            cr_assert_eq(out.exposure != NULL, on);
            run_result_free(&out);
        }
        cr_assert_str_eq(text[0], text[1]);
        free(text[0]);
        free(text[1]);
    }
}

/* Keys of old records stay: a switch that is off is not in the canonical text. */
Test(exposure, off_is_not_written)
{
    char text[CONFIG_TEXT_MAX];
    run_config c = exposure_configure("encoding=nope");
    config_print(&c, text, sizeof text);
    cr_assert(!strstr(text, "train.positions") && !strstr(text, "train.data"), "%s", text);
}
