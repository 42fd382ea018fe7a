/* profile_trained.c - what a trained network does on its task's test stream, at the training length: attention by
 * distance, and where position can be read off the residual stream. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_network.h"
#include "regime.h"
#include "run.h"
#include "task.h"
#include "train.h"
#include "weights.h"

enum { TRAINED_TOKENS = 4096, TRAINED_SEQUENCES_LEAST = 2 * PROFILE_FOLDS, TRAINED_SEQUENCES_MOST = 64 };

typedef struct trained_bench {
    const weights *w;
    const model *m;
    task *task;
    int sequences, tokens; /* how many, and of how many tokens at most each */
    arena memory;
    workspace work;
    look look;
    batch_buffer data;
    double *hidden;   /* [layers + 1][sequences * tokens][width] */
    double *position; /* [sequences * tokens] */
    int *fold;
    size_t used; /* tokens in hidden */
} trained_bench;

static int trained_buffers(trained_bench *b, error *e)
{
    const pe_shape *s = &b->m->shape;
    size_t width = (size_t)s->width, all = (size_t)b->tokens * (size_t)b->sequences;
    b->hidden = ARENA_NEW(&b->memory, double, ((size_t)s->layers + 1) * all * width);
    b->position = ARENA_NEW(&b->memory, double, all);
    b->fold = ARENA_NEW(&b->memory, int, all);
    if (b->hidden && b->position && b->fold)
        return 0;
    return error_set(e, ERROR_ENVIRONMENT, "no memory to look at %d sequences of %d tokens", b->sequences, b->tokens);
}

/* The network under its eval map; activations of every layer are kept, as for training. */
static int trained_open(trained_bench *b, const weights *w, error *e)
{
    const pe_map *map = w->eval_stacks.pattern[0].map;
    const void *options = w->eval_stacks.pattern[0].map_options;
    int shortest, longest;
    *b = (trained_bench){.w = w, .m = &w->model, .tokens = w->model.shape.train_len, .memory = {NULL, 0}};
    b->sequences = TRAINED_TOKENS / b->tokens;
    b->sequences = b->sequences < TRAINED_SEQUENCES_LEAST ? TRAINED_SEQUENCES_LEAST : b->sequences;
    b->sequences = b->sequences > TRAINED_SEQUENCES_MOST ? TRAINED_SEQUENCES_MOST : b->sequences;
    if (b->tokens > PROFILE_LEN_MAX)
        return error_set(e, ERROR_USAGE, "it was trained on sequences of %d tokens; up to %d can be looked at",
                         b->tokens, PROFILE_LEN_MAX);
    if (run_lengths(&w->config, &shortest, &longest, e) < 0)
        return -1;
    b->task = task_open(w->config.task, config_regime(&w->config), shortest, longest, e);
    if (!b->task || look_open(&b->look, b->m, map, options, b->tokens, e) < 0 ||
        workspace_create(&b->work, &b->memory, b->m, map, options, 1, b->tokens, b->tokens, 1, e) < 0)
        return -1;
    if (batch_buffer_create(&b->data, &b->memory, 1, b->tokens) < 0)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for a sequence of %d tokens", b->tokens);
    b->look.source.seed = (uint64_t)w->config.seed;
    return trained_buffers(b, e);
}

static void trained_close(trained_bench *b)
{
    if (b->task)
        task_free(b->task);
    look_close(&b->look);
    arena_free(&b->memory);
}

static void trained_keep_hidden(trained_bench *b, int sequence, int tokens)
{
    size_t width = (size_t)b->m->shape.width, all = (size_t)b->sequences * (size_t)b->tokens;
    for (int l = 0; l <= b->m->shape.layers; l++) {
        const real *from = l < b->m->shape.layers ? b->work.layer[l].in : b->work.h;
        double *to = b->hidden + ((size_t)l * all + b->used) * width;
        for (size_t i = 0; i < (size_t)tokens * width; i++)
            to[i] = (double)from[i];
    }
    for (int t = 0; t < tokens; t++) {
        b->position[b->used] = t;
        b->fold[b->used++] = sequence % PROFILE_FOLDS;
    }
}

static int trained_sequence(trained_bench *b, int n, profile_attention *out, error *e)
{
    const run_config *c = &b->w->config;
    int start[2];
    batch_buffer_clear(&b->data);
    batch_buffer_draw(&b->data, b->task, TASK_TEST, (uint64_t)c->seed, (uint64_t)c->train.len, (uint32_t)n,
                      c->train.len);
    batch one = batch_buffer_part(&b->data, 0, 1, (uint64_t)c->seed, (uint64_t)c->train.len, 0, start);
    one.first_sequence = n;
    double farthest = look_place(&b->look, start[1], one.map_index, n, one.given);
    if (farthest > b->m->last_position)
        return error_set(e, ERROR_USAGE, "its test positions reach %g; the last that has a meaning is %g", farthest,
                         b->m->last_position);
    attention_watch w = profile_attention_watch(out);
    b->work.watch = &w;
    model_forward(b->m, &b->work, &one);
    b->work.watch = NULL;
    profile_attention_count(out, b->m->shape.causal, start[1]);
    trained_keep_hidden(b, n, start[1]);
    return 0;
}

static int trained_probe(const trained_bench *b, profile_hidden *out, error *e)
{
    int count = b->m->shape.layers + 1;
    size_t stride = (size_t)b->sequences * (size_t)b->tokens * (size_t)b->m->shape.width;
    *out = (profile_hidden){.count = count, .tokens = (int)b->used, .sequences = b->sequences};
    out->read_error = calloc((size_t)count, sizeof(double));
    if (!out->read_error)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for a probe");
    for (int l = 0; l < count; l++)
        if (profile_regression(b->hidden + (size_t)l * stride, (int)b->used, b->m->shape.width, b->position, b->fold,
                               PROFILE_FOLDS, &out->read_error[l], &out->guess, e) < 0)
            return -1;
    return 0;
}

/* A map that takes positions from the task says nothing of positions without a sequence. */
static int trained_positions(trained_bench *b, int rows, profile *out, error *e)
{
    look k;
    out->rows = rows ? rows : b->tokens;
    if (b->look.places.map->needs_given)
        return 0;
    int status = look_open(&k, b->m, b->look.places.map, b->look.places.map_options, out->rows, e);
    k.source.seed = (uint64_t)b->w->config.seed;
    if (status == 0)
        status = profile_network_place(&k, out->rows, e);
    if (status == 0)
        status = profile_network_positions(&k, out, e);
    look_close(&k);
    return status;
}

static int trained_all(trained_bench *b, int rows, profile *out, error *e)
{
    if (trained_positions(b, rows, out, e) < 0 ||
        profile_attention_open(&out->attention, &b->m->shape, b->tokens, e) < 0)
        return -1;
    for (int n = 0; n < b->sequences; n++)
        if (trained_sequence(b, n, &out->attention, e) < 0)
            return -1;
    profile_attention_finish(&out->attention);
    out->has_attention = 1;
    out->has_hidden = trained_probe(b, &out->hidden, e) == 0;
    return out->has_hidden ? 0 : -1;
}

int profile_trained(const char *path, const registry *r, int rows, profile *out, error *e)
{
    weights w;
    trained_bench b;
    *out = (profile){.kind = PROFILE_TRAINED};
    snprintf(out->target, sizeof out->target, "%s", path);
    profile_network_begin();
    int status = weights_open(&w, path, r, e);
    out->config = w.config;
    out->step = w.step;
    if (status == 0) {
        status = trained_open(&b, &w, e) < 0 || trained_all(&b, rows, out, e) < 0 ? error_prefix(e, "%s", path) : 0;
        trained_close(&b);
    }
    weights_close(&w);
    return status;
}
