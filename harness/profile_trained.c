/* profile_trained.c - what a trained network does on its task's test stream, at the training length: attention by
 * distance, and where position can be read off the residual stream. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_network.h"
#include "probe.h"
#include "regime.h"
#include "run.h"
#include "task.h"
#include "train.h"
#include "weights.h"

typedef struct trained_bench {
    const weights *w;
    const model *m;
    task *task;
    int tokens; /* of a sequence at most */
    arena memory;
    workspace work;
    look look;
    batch_buffer data;
    probe_states states;
} trained_bench;

/* The network under its eval map; activations of every layer are kept, as for training. */
static int trained_open(trained_bench *b, const weights *w, error *e)
{
    const pe_map *map = w->eval_stacks.pattern[0].map;
    const void *options = w->eval_stacks.pattern[0].map_options;
    int shortest, longest;
    *b = (trained_bench){.w = w, .m = &w->model, .tokens = w->model.shape.train_len, .memory = {NULL, 0}};
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
    return probe_states_create(&b->states, &b->memory, b->m, b->tokens, e);
}

static void trained_close(trained_bench *b)
{
    if (b->task)
        task_free(b->task);
    look_close(&b->look);
    arena_free(&b->memory);
}

static int trained_sequence(trained_bench *b, int n, profile_attention *out, error *e)
{
    int start[2];
    batch one = probe_sequence(&b->w->config, b->task, &b->data, n, start);
    double farthest = look_place(&b->look, start[1], one.map_index, n, one.given);
    if (farthest > b->m->last_position)
        return error_set(e, ERROR_USAGE, "its test positions reach %g; the last that has a meaning is %g", farthest,
                         b->m->last_position);
    attention_watch w = profile_attention_watch(out);
    b->work.watch = &w;
    model_forward(b->m, &b->work, &one);
    b->work.watch = NULL;
    profile_attention_count(out, b->m->shape.causal, start[1]);
    probe_states_add(&b->states, &b->work, start[1], n);
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
    for (int n = 0; n < b->states.sequences; n++)
        if (trained_sequence(b, n, &out->attention, e) < 0)
            return -1;
    profile_attention_finish(&out->attention);
    out->has_attention = 1;
    out->has_hidden = probe_states_read(&b->states, 0, &out->hidden, e) == 0;
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
