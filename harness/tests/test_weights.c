/* A trained network goes into a file and comes back the same, or is refused by name. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evaluate.h"
#include "regime.h"
#include "run.h"
#include "safetensors.h"
#include "scratch.h"
#include "settings.h"
#include "weights.h"

static scratch weights_room;

static void weights_setup(void)
{
    scratch_open(&weights_room);
}

static void weights_teardown(void)
{
    scratch_close(&weights_room);
}

TestSuite(weights, .init = weights_setup, .fini = weights_teardown);

#define WEIGHTS_SMALL                                                                                                  \
    "task=repeat_copy|model.width=16|model.heads=2|model.layers=2|train.len=6|train.batch=4|train.steps=3|eval.items=" \
    "4"

/* Trains three steps and writes the weights. */
static void weights_make(const char *settings, const char *path)
{
    error e = ERROR_INIT;
    run_config c;
    run_result out;
    registry *r = setting_registry();
    setting_checked(&c, settings);
    cr_assert_eq(run_execute_with(&c, r, NULL, &(run_files){.weights = path}, &out, &e), 0, "%s", e.message);
    cr_assert_eq(out.status, RUN_OK);
    cr_assert(out.weights_saved);
    run_result_free(&out);
    registry_free(r);
}

/* What evaluation measures with a network that was read back. */
static void weights_evaluate(const weights *w, run_result *out)
{
    error e = ERROR_INIT;
    int shortest, longest;
    cr_assert_eq(run_lengths(&w->config, &shortest, &longest, &e), 0);
    task *t = task_open(w->config.task, config_regime(&w->config), shortest, longest, &e);
    cr_assert(t != NULL, "%s", e.message);
    evaluation v = {.config = &w->config,
                    .task = t,
                    .model = &w->model,
                    .map = w->eval_stacks.pattern[0].map,
                    .map_options = w->eval_stacks.pattern[0].map_options,
                    .reach = w->config.train.len};
    *out = (run_result){0};
    cr_assert_eq(evaluate_all(&v, out, &e), 0, "%s", e.message);
    task_free(t);
}

/* Exact in single precision; the twin's weights are rounded on their way into the file. */
static void weights_same_values(const run_result *a, const run_result *b)
{
    double tolerance = sizeof(real) == sizeof(float) ? 0 : 1e-5;
    cr_assert(a->values_count == b->values_count && a->values_count > 0);
    for (int i = 0; i < a->values_count; i++)
        if (!strcmp(a->values[i].metric, "loss"))
            cr_assert((isnan(a->values[i].value) && isnan(b->values[i].value)) ||
                          fabs(a->values[i].value - b->values[i].value) <= tolerance,
                      "%g, %g", a->values[i].value, b->values[i].value);
}

static void weights_refuse(const char *path, const char *words)
{
    error e = ERROR_INIT;
    weights w;
    registry *r = setting_registry();
    cr_assert_lt(weights_open(&w, path, r, &e), 0, "taken: %s", words);
    cr_assert(strstr(e.message, words), "'%s' is not in: %s", words, e.message);
    cr_assert_eq(e.kind, ERROR_USAGE);
    weights_close(&w);
    registry_free(r);
}

/* Trains three steps, writes the weights, reads them, evaluates them, and writes them again: the same values and bytes.
 */
static void weights_round_trip(const char *settings)
{
    char first[PATH_MAX], second[PATH_MAX];
    error e = ERROR_INIT;
    run_config c;
    run_result trained, back;
    weights w;
    registry *r = setting_registry();
    scratch_path(&weights_room, "first.safetensors", first);
    scratch_path(&weights_room, "second.safetensors", second);
    setting_checked(&c, settings);
    cr_assert_eq(run_execute_with(&c, r, NULL, &(run_files){.weights = first}, &trained, &e), 0, "%s", e.message);
    cr_assert(trained.status == RUN_OK && trained.weights_saved);
    cr_assert_eq(weights_open(&w, first, r, &e), 0, "%s", e.message);
    cr_assert_eq(w.step, trained.selected_step);
    weights_evaluate(&w, &back);
    weights_same_values(&trained, &back);
    cr_assert_eq(weights_save(second, &w.trained, &w.config, w.step, &e), 0, "%s", e.message);
    size_t one, two;
    char *a = scratch_read(first, &one), *b = scratch_read(second, &two);
    cr_assert(one == two && memcmp(a, b, one) == 0, "%s", settings);
    free(a);
    free(b);
    run_result_free(&trained);
    run_result_free(&back);
    weights_close(&w);
    registry_free(r);
}

Test(weights, come_back_the_same)
{
    weights_round_trip("encoding=learned@clamp|" WEIGHTS_SMALL);
    weights_round_trip("encoding=learned|eval.map=clamp|" WEIGHTS_SMALL);
    weights_round_trip("encoding=[t5(buckets=8),t5(buckets=4)]|model.tied_head=true|" WEIGHTS_SMALL);
    weights_round_trip("encoding=rope+fox|model.norm=rms|model.share_layers=true|" WEIGHTS_SMALL);
    weights_round_trip("encoding=shaw|eval.bins=1-6;7-20|train.select=best|train.check_every=1|" WEIGHTS_SMALL);
}

/* A run that diverged has no weights to keep. */
Test(weights, none_of_a_run_that_diverged)
{
    char path[PATH_MAX];
    error e = ERROR_INIT;
    run_config c;
    run_result out;
    registry *r = setting_registry();
    scratch_path(&weights_room, "none.safetensors", path);
    setting_checked(&c, "encoding=nope|train.lr=1e6|train.clip=0|train.warmup=0|" WEIGHTS_SMALL);
    cr_assert_eq(run_execute_with(&c, r, NULL, &(run_files){.weights = path}, &out, &e), 0, "%s", e.message);
    cr_assert_eq(out.status, RUN_DIVERGED);
    cr_assert(!out.weights_saved && access(path, F_OK) < 0);
    run_result_free(&out);
    registry_free(r);
}

/* The file of weights_make with one thing changed, through the writer. change: called on its tensors. */
static void weights_changed(const char *path,
                            void (*change)(safetensors_tensor *tensors, int *count, const char **canonical))
{
    error e = ERROR_INIT;
    weights w;
    registry *r = setting_registry();
    cr_assert_eq(weights_open(&w, path, r, &e), 0, "%s", e.message);
    char canonical[CONFIG_TEXT_MAX];
    const char *text = canonical;
    config_print(&w.config, canonical, sizeof canonical);
    int count = w.model.params_count;
    safetensors_tensor *tensors = calloc((size_t)count + 1, sizeof *tensors);
    for (int i = 0; i < count; i++) {
        const model_param *p = &w.model.params[i];
        tensors[i] = (safetensors_tensor){
            p->name, p->rows == 1 ? 1 : 2, {p->rows == 1 ? p->cols : p->rows, p->cols}, w.model.value + p->offset};
    }
    change(tensors, &count, &text);
    const char *const metadata[][2] = {{text ? "posbench.canonical" : "format", text ? text : "pt"}, {NULL, NULL}};
    cr_assert_eq(safetensors_write(path, tensors, count, metadata, &e), 0, "%s", e.message);
    free(tensors);
    weights_close(&w);
    registry_free(r);
}

static void weights_lose_one(safetensors_tensor *tensors, int *count, const char **canonical)
{
    (void)tensors, (void)canonical;
    (*count)--;
}

static void weights_turn_one(safetensors_tensor *tensors, int *count, const char **canonical)
{
    (void)count, (void)canonical;
    int rows = tensors[0].dim[0]; /* the token table: as many numbers, in another shape */
    tensors[0].dim[0] = tensors[0].dim[1];
    tensors[0].dim[1] = rows;
}

static const real weights_nan[] = {NAN};

static void weights_add_one(safetensors_tensor *tensors, int *count, const char **canonical)
{
    (void)canonical;
    tensors[(*count)++] = (safetensors_tensor){"spare", 1, {1, 0}, weights_nan};
}

static real weights_spoilt[4096];

static void weights_spoil_one(safetensors_tensor *tensors, int *count, const char **canonical)
{
    (void)count, (void)canonical;
    weights_spoilt[5] = NAN;
    tensors[0].value = weights_spoilt;
}

static void weights_lose_text(safetensors_tensor *tensors, int *count, const char **canonical)
{
    (void)tensors, (void)count;
    *canonical = NULL;
}

static void weights_bend_text(safetensors_tensor *tensors, int *count, const char **canonical)
{
    (void)tensors, (void)count;
    *canonical = "format=1\nencoding=nope\ntask=nothing_like_it\n";
}

Test(weights, refused_by_name)
{
    static const struct {
        void (*change)(safetensors_tensor *, int *, const char **);
        const char *words;
    } rows[] = {
        {weights_lose_one, "no tensor 'head.b'"},
        {weights_turn_one, "tensor 'tok_emb' has another shape"},
        {weights_add_one, "tensor 'spare' has no place in the network"},
        {weights_spoil_one, "tensor 'tok_emb' holds a number that is not finite"},
        {weights_lose_text, "'posbench run --save' did not write it"},
        {weights_bend_text, "nothing_like_it"},
    };
    char path[PATH_MAX];
    scratch_path(&weights_room, "w.safetensors", path);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        weights_make("encoding=learned(rows=20)|" WEIGHTS_SMALL, path);
        weights_changed(path, rows[i].change);
        weights_refuse(path, rows[i].words);
    }
}
