#include "probe.h"

#include <stdio.h>
#include <stdlib.h>

enum { PROBE_TOKENS = 4096, PROBE_SEQUENCES_LEAST = 2 * READOUT_FOLDS, PROBE_SEQUENCES_MOST = 64 };

/* ------------------------------------------------------------------------------------------------ hidden states */

int probe_sequences(int len)
{
    int count = PROBE_TOKENS / len;
    return count < PROBE_SEQUENCES_LEAST  ? PROBE_SEQUENCES_LEAST
           : count > PROBE_SEQUENCES_MOST ? PROBE_SEQUENCES_MOST
                                          : count;
}

int probe_states_create(probe_states *p, arena *a, const model *m, int len, error *e)
{
    *p = (probe_states){
        .sequences = probe_sequences(len), .len = len, .count = m->shape.layers + 1, .width = m->shape.width};
    size_t all = (size_t)p->sequences * (size_t)len;
    p->x = ARENA_NEW(a, double, (size_t)p->count *all *(size_t)p->width);
    p->position = ARENA_NEW(a, double, all);
    p->fold = ARENA_NEW(a, int, all);
    if (p->x && p->position && p->fold)
        return 0;
    return error_set(e, ERROR_ENVIRONMENT, "no memory to look at %d sequences of %d tokens", p->sequences, len);
}

batch probe_sequence(const run_config *c, const task *t, batch_buffer *data, int n, int start[2])
{
    uint64_t seed = (uint64_t)c->seed, len = (uint64_t)c->train.len;
    batch_buffer_clear(data);
    batch_buffer_draw(data, t, TASK_TEST, seed, len, (uint32_t)n, c->train.len);
    batch one = batch_buffer_part(data, 0, 1, seed, len, 0, start);
    one.first_sequence = n;
    one.every_token = 1; /* the last layer's states too */
    return one;
}

void probe_states_add(probe_states *p, const workspace *w, int tokens, int n)
{
    size_t width = (size_t)p->width, all = (size_t)p->sequences * (size_t)p->len;
    for (int l = 0; l < p->count; l++) {
        const real *from = l < p->count - 1 ? w->layer[l].in : w->h;
        double *to = p->x + ((size_t)l * all + p->used) * width;
        for (size_t i = 0; i < (size_t)tokens * width; i++)
            to[i] = (double)from[i];
    }
    for (int t = 0; t < tokens; t++) {
        p->position[p->used] = t;
        p->fold[p->used++] = n % READOUT_FOLDS;
    }
}

void probe_read_free(readout_states *s)
{
    free(s->read_error);
    free(s->wide_error);
    *s = (readout_states){0};
}

/* Of layer l, linearly and, where it is asked for, off wider vectors. */
static int probe_read_layer(const probe_states *p, int l, readout_states *out, error *e)
{
    const double *x = p->x + (size_t)l * (size_t)p->sequences * (size_t)p->len * (size_t)p->width;
    int rows = (int)p->used;
    if (readout_regression(x, rows, p->width, p->position, p->fold, READOUT_FOLDS, &out->read_error[l], &out->guess,
                           e) < 0)
        return -1;
    if (!out->wide_error)
        return 0;
    double *wide = readout_widen(x, rows, p->width);
    int status = wide ? readout_regression(wide, rows, p->width + READOUT_WIDER, p->position, p->fold, READOUT_FOLDS,
                                           &out->wide_error[l], &out->guess, e)
                      : error_set(e, ERROR_ENVIRONMENT, "no memory for a probe");
    free(wide);
    return status;
}

int probe_states_read(const probe_states *p, int wide, readout_states *out, error *e)
{
    *out = (readout_states){.count = p->count, .tokens = (int)p->used, .sequences = p->sequences};
    out->read_error = calloc((size_t)p->count, sizeof(double));
    out->wide_error = wide ? calloc((size_t)p->count, sizeof(double)) : NULL;
    if (!out->read_error || (wide && !out->wide_error))
        return error_set(e, ERROR_ENVIRONMENT, "no memory for a probe");
    for (int l = 0; l < p->count; l++)
        if (probe_read_layer(p, l, out, e) < 0)
            return -1;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ of a run */

/* Only language tasks that are read from left to right have `text`. */
int probe_check(const run_config *c, const task *t, const char **row, error *e)
{
    int tokens = task_tokens(t, c->train.len);
    *row = "eval.probe";
    if (c->eval.probe && tokens > READOUT_TOKENS_MAX)
        return error_set(e, ERROR_USAGE, "training sequences have up to %d tokens; hidden states of up to %d are read",
                         tokens, READOUT_TOKENS_MAX);
    *row = "eval.shuffle";
    if (c->eval.shuffle && !task_of(t)->text)
        return error_set(e, ERROR_USAGE, "%s has no text, read from left to right, that could be shuffled",
                         task_of(t)->name);
    if (c->eval.shuffle && c->train.len < 3)
        return error_set(e, ERROR_USAGE, "windows of train.len, %d, have no prefix that could be shuffled",
                         c->train.len);
    return 0;
}

typedef struct probe_bench {
    arena memory;
    workspace work;
    batch_buffer data;
    double *pos;
    probe_states states;
} probe_bench;

static int probe_bench_create(const evaluation *v, probe_bench *b, int len, error *e)
{
    *b = (probe_bench){.memory = {NULL, 0}};
    if (workspace_create(&b->work, &b->memory, v->model, v->map, v->map_options, 1, len, len, 1, e) < 0)
        return -1;
    int failed = batch_buffer_create(&b->data, &b->memory, 1, len) < 0;
    b->pos = ARENA_NEW(&b->memory, double, len);
    if (failed || !b->pos)
        return error_set(e, ERROR_ENVIRONMENT, "no memory to look at a sequence of %d tokens", len);
    return probe_states_create(&b->states, &b->memory, v->model, len, e);
}

/* Nothing is read once one of the sequences has no value. */
static int probe_hidden(const evaluation *v, probe_bench *b, readout_states *out, error *e)
{
    point_standing worst = {0, ""};
    for (int n = 0; n < b->states.sequences; n++) {
        int start[2];
        batch one = probe_sequence(v->config, v->task, &b->data, n, start);
        evaluate_worst(v, &b->work, &one, b->pos, &worst);
        if (worst.undefined)
            return 0;
        model_forward(v->model, &b->work, &one);
        probe_states_add(&b->states, &b->work, start[1], n);
        if (evaluate_stopped(v, e) < 0)
            return -1;
    }
    return probe_states_read(&b->states, 1, out, e);
}

/* Rows that no position of training reached say nothing. */
static int probe_table(const evaluation *v, const model_param *p, run_probe_table *out, error *e)
{
    int rows = v->reach + 1 < p->rows ? (int)v->reach + 1 : p->rows;
    size_t count = (size_t)rows * (size_t)p->cols;
    double *x = malloc((count + 1) * sizeof *x);
    if (!x)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for a probe");
    for (size_t i = 0; i < count; i++)
        x[i] = (double)v->model->value[p->offset + i];
    snprintf(out->name, sizeof out->name, "%s", p->name);
    int status = readout_table(x, rows, p->cols, &out->found, e);
    free(x);
    return status;
}

static int probe_tables(const evaluation *v, run_probes *out, error *e)
{
    const model *m = v->model;
    out->table = calloc((size_t)m->params_count + 1, sizeof *out->table);
    if (!out->table)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for a probe");
    for (int i = 0; i < m->params_count; i++)
        if (m->params[i].per_position && probe_table(v, &m->params[i], &out->table[out->tables++], e) < 0)
            return -1;
    return evaluate_stopped(v, e);
}

static int probe_positions(const evaluation *v, run_probes *out, error *e)
{
    probe_bench b;
    int status = probe_bench_create(v, &b, task_tokens(v->task, v->config->train.len), e);
    if (status == 0)
        status = probe_hidden(v, &b, &out->hidden, e);
    arena_free(&b.memory);
    return status < 0 ? -1 : probe_tables(v, out, e);
}

run_probes *probe_test(const evaluation *v, error *e)
{
    run_probes *out = calloc(1, sizeof *out);
    if (!out) {
        error_set(e, ERROR_ENVIRONMENT, "no memory for probes");
        return NULL;
    }
    if ((!v->config->eval.probe || probe_positions(v, out, e) == 0) &&
        (!v->config->eval.shuffle || probe_shuffle(v, out, e) == 0))
        return out;
    probe_free(out);
    return NULL;
}

void probe_free(run_probes *p)
{
    if (!p)
        return;
    probe_read_free(&p->hidden);
    free(p->table);
    free(p);
}
