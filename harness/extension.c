#include "extension.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint.h"
#include "evaluate.h"
#include "metric.h"
#include "regime.h"
#include "stopwatch.h"

enum { EXTENSION_STATE_SECONDS = 60 };

/* How far an extension has come. With the rows and, inside a pair of factor and method, values and moments, it is a
 * state. */
typedef struct extension_place {
    int pair;                  /* factor number times methods plus method number */
    int points;                /* of its step counts that have been tested */
    int steps;                 /* of its fine-tuning */
    int optimiser_steps, lost; /* lost: the step at which fine-tuning diverged; 0: it has not */
    int rows;
    long tokens;                 /* that its fine-tuning has read */
    double reach;                /* the largest position met so far */
    double seconds, cpu_seconds; /* of the sittings before */
} extension_place;

/* One sitting. */
typedef struct extension_sitting {
    const extension *x;
    run_result *out;
    extend_words methods, variants;    /* variants: options of the task, tested besides it */
    task *variant[EXTEND_METHODS_MAX]; /* [variants.count] */
    int pairs, most;                   /* most: steps of fine-tuning of a pair */
    real *trained;                     /* [length] values to begin from */
    extension_place place;
    char *state; /* of the sitting before; NULL: none, or already taken up */
    size_t state_size;
    double began, began_cpu, saved, told;
} extension_sitting;

/* One pair of factor and method. */
typedef struct extension_pair {
    arena memory;
    double factor;
    const char *method;
    run_config train, test;
    layered_stack stacks;
    int has_stacks;
    model view;
    trainer trainer;
    char reason[256];   /* why there are no values */
    const char *status; /* that they have then */
} extension_pair;

static int extension_no_memory(error *e)
{
    return error_set(e, ERROR_ENVIRONMENT, "no memory to go on at longer lengths");
}

/* ------------------------------------------------------------------------------------------------ rows */

static int extension_append(run_result *out, const run_extension *row, error *e)
{
    run_extension *grown = realloc(out->extensions, sizeof *grown * ((size_t)out->extensions_count + 1));
    if (!grown)
        return extension_no_memory(e);
    out->extensions = grown;
    out->extensions[out->extensions_count++] = *row;
    return 0;
}

/* One row: v as it was measured, or, with a reason, v's place without a value. */
static int extension_add(extension_sitting *s, const extension_pair *p, int steps, const char *options,
                         const run_value *v, const char *reason, error *e)
{
    run_extension row;
    if (metric_find(v->metric)->role !=
        METRIC_SCORE) /* levels of chance are the task's: the run's evaluation has them */
        return 0;
    memset(&row, 0, sizeof row); /* rows are written to files as they stand in memory */
    row.factor = p->factor;
    row.steps = steps;
    row.tokens = s->place.tokens;
    row.bin = v->bin;
    row.value = reason ? NAN : v->value;
    row.n = reason ? 0 : v->n;
    snprintf(row.method, sizeof row.method, "%s", p->method);
    snprintf(row.task_options, sizeof row.task_options, "%s", options);
    snprintf(row.metric, sizeof row.metric, "%s", v->metric);
    snprintf(row.mode, sizeof row.mode, "%s", v->mode);
    snprintf(row.status, sizeof row.status, "%s", reason ? p->status : v->status);
    snprintf(row.flag, sizeof row.flag, "%s", reason ? "" : v->flag);
    snprintf(row.reason, sizeof row.reason, "%s", reason ? reason : "");
    return extension_append(s->out, &row, e);
}

/* A step count without values: as many rows as the run's own evaluation has for a length, at both lengths. */
static int extension_add_none(extension_sitting *s, const extension_pair *p, int steps, error *e)
{
    length_bin bins[CONFIG_BINS_MAX], first = s->out->values[0].bin;
    int count = config_bins(&p->test, bins, e);
    for (int b = 0; b < count; b++)
        for (int i = 0; i < s->out->values_count; i++) {
            run_value v = s->out->values[i];
            if (v.bin.min_len != first.min_len || v.bin.max_len != first.max_len)
                continue;
            v.bin = bins[b];
            if (extension_add(s, p, steps, "", &v, p->reason, e) < 0)
                return -1;
        }
    return count < 0 ? -1 : 0;
}

/* ------------------------------------------------------------------------------------------------ states */

static void extension_save(extension_sitting *s, const extension_pair *p)
{
    buffer b = BUFFER_INIT;
    error unsaved = ERROR_INIT; /* no reason to give up: it is tried again a minute later */
    extension_place now;
    memcpy(&now, &s->place, sizeof now);
    now.rows = s->out->extensions_count;
    now.seconds += stopwatch_wall() - s->began;
    now.cpu_seconds += stopwatch_cpu() - s->began_cpu;
    buffer_bytes(&b, (const char *)&now, sizeof now);
    buffer_bytes(&b, (const char *)s->out->extensions, sizeof(run_extension) * (size_t)now.rows);
    if (now.steps > 0) {
        size_t bytes = p->view.length * sizeof(real);
        buffer_bytes(&b, (const char *)p->view.value, bytes);
        buffer_bytes(&b, (const char *)p->trainer.optimiser.first, bytes);
        buffer_bytes(&b, (const char *)p->trainer.optimiser.second, bytes);
    }
    checkpoint_keep(s->x->state, s->x->config, &b, &unsaved);
    buffer_free(&b);
    s->saved = stopwatch_wall();
}

/* Whether somebody wants this to end; the state is written then, and now and then. */
static int extension_pause(extension_sitting *s, const extension_pair *p)
{
    const run_watch *watch = s->x->watch;
    int wanted = watch && watch->stop && *watch->stop;
    if (s->x->state && (wanted || stopwatch_wall() - s->saved > EXTENSION_STATE_SECONDS))
        extension_save(s, p);
    return wanted;
}

/* Takes up the place and the rows of the sitting before. What it holds of a pair is taken up by extension_resume. */
static int extension_load(extension_sitting *s, error *e)
{
    extension_place then;
    s->state = s->x->state ? checkpoint_recall(s->x->state, s->x->config, &s->state_size) : NULL;
    if (!s->state || s->state_size < sizeof then)
        return 0;
    memcpy(&then, s->state, sizeof then);
    size_t rows = sizeof(run_extension) * (size_t)then.rows;
    size_t blocks = then.steps > 0 ? 3 * s->x->model->length * sizeof(real) : 0;
    if (s->state_size != sizeof then + rows + blocks)
        return 0;
    s->out->extensions = malloc(rows + 1);
    if (!s->out->extensions)
        return extension_no_memory(e);
    memcpy(s->out->extensions, s->state + sizeof then, rows);
    s->out->extensions_count = then.rows;
    s->place = then;
    return 0;
}

/* Inside the pair at which the sitting before stopped. */
static void extension_resume(extension_sitting *s, extension_pair *p)
{
    size_t bytes = p->view.length * sizeof(real);
    if (s->place.steps > 0) {
        const char *from = s->state + s->state_size - 3 * bytes;
        memcpy(p->view.value, from, bytes);
        memcpy(p->trainer.optimiser.first, from + bytes, bytes);
        memcpy(p->trainer.optimiser.second, from + 2 * bytes, bytes);
        p->trainer.optimiser.step = s->place.optimiser_steps;
        model_changed(&p->view);
    }
    p->trainer.reach = s->place.reach;
}

/* ------------------------------------------------------------------------------------------------ one pair */

static void extension_tell(extension_sitting *s, double loss)
{
    const run_watch *watch = s->x->watch;
    int each = s->most > 0 ? s->most : 1, done = s->place.pair * each + s->place.steps, all = s->pairs * each;
    if (!watch || !watch->tell || (stopwatch_wall() - s->told < 0.1 && done < all))
        return;
    s->told = stopwatch_wall();
    watch->tell(watch->self, "extend", done, all, loss);
}

/* Back to the trained weights, under the stretched stacks. Returns 0, 1 where these have no meaning, -1 with e set. */
static int extension_open(extension_sitting *s, extension_pair *p, error *e)
{
    const extension *x = s->x;
    const run_config *c = x->config;
    p->factor = c->extend.factors.value[s->place.pair / s->methods.count];
    p->method = s->methods.name[s->place.pair % s->methods.count];
    extend_train_config(c, x->task, p->factor, &p->train);
    extend_test_config(c, p->factor, &p->test);
    memcpy(x->model->value, s->trained, sizeof(real) * x->model->length);
    model_changed(x->model);
    int status = extend_stacks(c, x->registry, x->task, &x->model->shape, p->factor, p->method, &p->stacks, p->reason,
                               sizeof p->reason, e);
    p->status = "undefined";
    p->has_stacks = status == 0;
    if (status != 0)
        return status;
    if (model_view(&p->view, &p->memory, x->model, &p->stacks) < 0)
        return extension_no_memory(e);
    if (s->most > 0 && trainer_create(&p->trainer, &p->memory, &p->train, x->task, &p->view, e) < 0)
        return -1;
    p->trainer.offset = c->train.steps;
    p->trainer.reach = x->reach;
    return 0;
}

static void extension_close(extension_pair *p)
{
    if (p->has_stacks)
        layered_free(&p->stacks);
    arena_free(&p->memory);
}

/* Fine-tunes up to `steps` steps in all. Returns 1 when it was interrupted. */
static int extension_tune(extension_sitting *s, extension_pair *p, int steps)
{
    extension_place *at = &s->place;
    while (at->steps < steps && !at->lost) {
        double norm, loss = trainer_step(&p->trainer, at->steps, &norm);
        at->steps++;
        at->tokens += p->trainer.data.start[p->trainer.data.sequences];
        at->optimiser_steps = p->trainer.optimiser.step;
        at->reach = p->trainer.reach;
        if (trainer_lost(&p->trainer, loss, norm))
            at->lost = at->steps;
        if (at->steps < s->most) /* the end of a pair is told when it has been tested */
            extension_tell(s, loss);
        if (extension_pause(s, p))
            return 1;
    }
    return 0;
}

/* Tests the present weights at both lengths on one task. Returns 0, 1 when it was interrupted, or -1 with e set. */
static int extension_test_on(extension_sitting *s, extension_pair *p, int steps, const task *t, const char *options,
                             error *e)
{
    run_watch silent = {.stop = s->x->watch ? s->x->watch->stop : NULL}; /* the phase is not evaluation */
    evaluation v = {.config = &p->test,
                    .task = t,
                    .model = &p->view,
                    .map = p->stacks.pattern[0].map,
                    .map_options = p->stacks.pattern[0].map_options,
                    .reach = p->trainer.reach,
                    .watch = &silent};
    run_result found = {0};
    error fault = ERROR_INIT;
    int status = evaluate_all(&v, &found, &fault) == 0 ? 0 : fault.kind == ERROR_INTERRUPTED ? 1 : -1;
    for (int i = 0; status == 0 && i < found.values_count; i++)
        status = extension_add(s, p, steps, options, &found.values[i], NULL, e);
    run_result_free(&found);
    return status < 0 && e->kind == ERROR_NONE ? error_set(e, fault.kind, "%s", fault.message) : status;
}

/* On the task, and under all options of it that are asked for. Rows of a test that was interrupted are taken back. */
static int extension_test(extension_sitting *s, extension_pair *p, int steps, error *e)
{
    int rows = s->out->extensions_count, status = extension_test_on(s, p, steps, s->x->task, "", e);
    for (int i = 0; status == 0 && i < s->variants.count; i++)
        status = extension_test_on(s, p, steps, s->variant[i], s->variants.name[i], e);
    if (status == 1)
        s->out->extensions_count = rows;
    return status;
}

/* All step counts of a pair. Returns 0, 1 when it was interrupted, or -1 with e set. */
static int extension_pair_run(extension_sitting *s, extension_pair *p, error *e)
{
    const pe_list *points = &s->x->config->extend.steps;
    int status = extension_open(s, p, e), has_values = status == 0;
    if (has_values && s->state)
        extension_resume(s, p);
    free(s->state);
    s->state = NULL;
    for (status = status < 0 ? -1 : 0; status == 0 && s->place.points < points->count;) {
        int steps = (int)points->value[s->place.points];
        if (has_values && extension_tune(s, p, steps))
            return 1;
        if (s->place.lost) {
            p->status = run_status_name(RUN_DIVERGED);
            snprintf(p->reason, sizeof p->reason, "fine-tuning diverged at step %d", s->place.lost);
        }
        status = has_values && !s->place.lost ? extension_test(s, p, steps, e) : extension_add_none(s, p, steps, e);
        s->place.points += status == 0;
        if (status == 1)
            extension_pause(s, p); /* writes the state: this test is done anew */
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ all of them */

static int extension_pairs_run(extension_sitting *s, error *e)
{
    int status = 0;
    while (status == 0 && s->place.pair < s->pairs) {
        extension_pair *p = calloc(1, sizeof *p);
        if (!p)
            return extension_no_memory(e);
        status = extension_pair_run(s, p, e);
        if (status == 0) {
            s->place = (extension_place){.pair = s->place.pair + 1,
                                         .reach = s->x->reach,
                                         .seconds = s->place.seconds,
                                         .cpu_seconds = s->place.cpu_seconds};
            extension_tell(s, NAN);
            status = extension_pause(s, p);
        }
        extension_close(p);
        free(p);
    }
    return status;
}

/* Opens the task under each of its options. -1 with e set. */
static int extension_open_tasks(extension_sitting *s, error *e)
{
    const run_config *c = s->x->config;
    char text[PE_TEXT_MAX + EXTEND_METHOD_MAX];
    int shortest, longest;
    if (run_lengths(c, &shortest, &longest, e) < 0)
        return -1;
    extend_read_tasks(c, &s->variants);
    for (int i = 0; i < s->variants.count; i++) {
        extend_task(c, s->variants.name[i], text, sizeof text); /* has been checked to fit */
        s->variant[i] = task_open(text, config_regime(c), shortest, longest, e);
        if (!s->variant[i])
            return -1;
    }
    return 0;
}

static void extension_free(extension_sitting *s)
{
    for (int i = 0; i < s->variants.count; i++)
        task_free(s->variant[i]);
    free(s->state);
    free(s->trained);
    free(s);
}

int extension_run(const extension *x, run_result *out, error *e)
{
    extension_sitting *s = calloc(1, sizeof *s);
    size_t bytes = sizeof(real) * x->model->length;
    if (!s || !(s->trained = malloc(bytes))) {
        free(s);
        return extension_no_memory(e);
    }
    s->x = x;
    s->out = out;
    s->most = extend_most(x->config);
    s->place.reach = x->reach;
    s->began = s->saved = stopwatch_wall();
    s->began_cpu = stopwatch_cpu();
    extend_read(x->config, &s->methods);
    s->pairs = x->config->extend.factors.count * s->methods.count;
    memcpy(s->trained, x->model->value, bytes);
    int status = extension_open_tasks(s, e);
    if (status == 0)
        status = extension_load(s, e) < 0 ? -1 : extension_pairs_run(s, e);
    if (status == 1)
        out->status = RUN_INTERRUPTED;
    out->evaluate_seconds += s->place.seconds;
    out->cpu_seconds += s->place.cpu_seconds;
    memcpy(x->model->value, s->trained, bytes);
    model_changed(x->model);
    extension_free(s);
    return status < 0 ? -1 : 0;
}
