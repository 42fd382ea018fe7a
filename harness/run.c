#include "run.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "evaluate.h"
#include "exposure.h"
#include "extension.h"
#include "gemm.h"
#include "linalg.h"
#include "probe.h"
#include "regime.h"
#include "stopwatch.h"
#include "subnormals.h"
#include "train.h"
#include "weights.h"

const char *run_status_name(run_status s)
{
    static const char *const names[] = { "ok", "diverged", "failed", "interrupted" };
    return names[s];
}

void run_result_free(run_result *out)
{
    for (int i = 0; i < out->positions_count; i++) {
        free(out->positions[i].loss);
        free(out->positions[i].n);
    }
    free(out->positions);
    free(out->values);
    free(out->curve);
    free(out->extensions);
    exposure_free(out->exposure);
    probe_free(out->probes);
    *out = (run_result){ 0 };
}

/* Everything that lives as long as a run. */
typedef struct run_session {
    arena memory;
    layered_stack stacks, eval_stacks;
    task *task;
    long distinct; /* as in run_result */
    model model, eval_model;
    trainer trainer;
} run_session;

static void session_free(run_session *s)
{
    layered_free(&s->stacks);
    layered_free(&s->eval_stacks);
    if (s->task)
        task_free(s->task);
    arena_free(&s->memory);
}

int run_lengths(const run_config *c, int *shortest, int *longest, error *e)
{
    length_bin bins[CONFIG_BINS_MAX];
    int count = config_bins(c, bins, e);
    if (count < 0)
        return -1;
    *shortest = bins[0].min_len < c->train.min_len ? bins[0].min_len : c->train.min_len;
    *longest = bins[count - 1].max_len > c->train.len ? bins[count - 1].max_len : c->train.len;
    *longest = extend_longest(c) > *longest ? extend_longest(c) : *longest;
    return 0;
}

/* Language tasks hold a text, of which training may read less; answer tasks draw sequences without end, or draw the first
 * ones again. */
static int session_limit(run_session *s, const run_config *c, error *e)
{
    const task_descriptor *d = task_of(s->task);
    long drawn = (long)c->train.steps * c->train.batch;
    if (d->kind == TASK_ANSWER)
        s->distinct = c->train.data > 0 && c->train.data < drawn ? c->train.data : drawn;
    else if (d->limit)
        s->distinct = task_limit(s->task, c->train.data, (uint64_t)c->seed, e);
    return s->distinct < 0 ? -1 : 0;
}

/* What is missing is told before training, not behind it. */
static int session_readout(const run_config *c, error *e)
{
    linalg l;
    if (!c->eval.probe)
        return 0;
    if (linalg_open(&l, e) < 0)
        return error_prefix(e, "eval.probe");
    linalg_close(&l);
    return 0;
}

static int session_open(run_session *s, const run_config *c, const registry *r, error *e)
{
    int shortest, longest;
    if (session_readout(c, e) < 0 || run_lengths(c, &shortest, &longest, e) < 0 ||
        layered_parse(r, c->encoding, &s->stacks, e) < 0 || config_eval_stacks(c, r, &s->eval_stacks, e) < 0)
        return -1;
    s->task = task_open(c->task, config_regime(c), shortest, longest, e);
    if (!s->task || session_limit(s, c, e) < 0)
        return -1;
    int train_tokens = task_tokens(s->task, c->train.len);
    if (model_create(&s->model, &s->memory, c, &s->stacks, task_vocab(s->task), train_tokens, 1, e) < 0)
        return -1;
    if (model_view(&s->eval_model, &s->memory, &s->model, &s->eval_stacks) < 0)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for the evaluated encoding");
    model_init(&s->model, (uint64_t)c->seed);
    return trainer_create(&s->trainer, &s->memory, c, s->task, &s->model, e);
}

static void run_describe(const run_session *s, run_result *out)
{
    const char *digest = task_digest(s->task);
    out->parameters = model_parameters(&s->model);
    out->encoding_parameters = model_encoding_parameters(&s->model);
    out->train_tokens_max = s->model.shape.train_len;
    out->task_version = task_of(s->task)->version;
    out->distinct = s->distinct;
    snprintf(out->corpus_digest, sizeof out->corpus_digest, "%s", digest ? digest : "");
}

static int run_evaluate(run_session *s, const run_config *c, const run_watch *watch, run_result *out, error *e)
{
    evaluation v = { .config = c, .task = s->task, .model = &s->eval_model, .map = s->eval_stacks.pattern[0].map,
                     .map_options = s->eval_stacks.pattern[0].map_options, .reach = s->trainer.reach, .watch = watch };
    int probes = c->eval.probe || c->eval.shuffle;
    if (evaluate_all(&v, out, e) == 0 && (!out->exposure || exposure_test(&v, out->exposure, e) == 0) &&
        (!probes || (out->probes = probe_test(&v, e)) != NULL))
        return 0;
    if (e->kind != ERROR_INTERRUPTED)
        return -1;
    error_clear(e);
    out->status = RUN_INTERRUPTED;
    return 0;
}

/* The second file of a state; "" where there is none. */
static void run_state_beside(const char *state, char path[PATH_MAX])
{
    if (!state || snprintf(path, PATH_MAX, "%s-extend", state) >= PATH_MAX)
        path[0] = '\0';
}

void run_state_remove(const char *state)
{
    char beside[PATH_MAX];
    run_state_beside(state, beside);
    unlink(state);
    if (beside[0])
        unlink(beside);
}

static int run_extend(run_session *s, const run_config *c, const registry *r, const run_watch *watch, const char *state,
                      run_result *out, error *e)
{
    char path[PATH_MAX];
    run_state_beside(state, path);
    extension x = { .config = c, .registry = r, .task = s->task, .model = &s->model, .reach = s->trainer.reach,
                    .watch = watch, .state = path[0] ? path : NULL };
    return extension_run(&x, out, e);
}

int run_execute(const run_config *c, const registry *r, const run_watch *watch, run_result *out, error *e)
{
    static const run_files none = { NULL, NULL };
    return run_execute_with(c, r, watch, &none, out, e);
}

int run_execute_with(const run_config *c, const registry *r, const run_watch *watch, const run_files *files,
                     run_result *out, error *e)
{
    *out = (run_result){ 0 };
    gemm_use_one_thread();
    subnormals_flush();
    run_session s = { .memory = { NULL, 0 } };
    int failed = session_open(&s, c, r, e);
    if (!failed) {
        run_describe(&s, out);
        failed = trainer_run(&s.trainer, watch, files->state, out, e);
        out->map_reach = s.trainer.reach;
        double trained = stopwatch_wall(), trained_cpu = stopwatch_cpu();
        if (!failed && files->weights && out->status == RUN_OK) {
            failed = weights_save(files->weights, &s.model, c, out->selected_step, e);
            out->weights_saved = !failed;
        }
        if (!failed && out->status == RUN_OK)
            failed = run_evaluate(&s, c, watch, out, e);
        if (!failed && out->status == RUN_OK && extend_is_on(c))
            failed = run_extend(&s, c, r, watch, files->state, out, e);
        out->evaluate_seconds += stopwatch_wall() - trained;
        out->cpu_seconds += stopwatch_cpu() - trained_cpu;
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        out->peak_bytes = usage.ru_maxrss * 1024L;
        if (out->status == RUN_DIVERGED)
            snprintf(out->message, sizeof out->message, "training diverged at step %d", out->status_step);
    }
    session_free(&s);
    return failed;
}
