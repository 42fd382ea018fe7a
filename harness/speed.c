#include "speed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "adamw.h"
#include "gemm.h"
#include "model.h"
#include "rng.h"
#include "stopwatch.h"
#include "subnormals.h"

const speed_setting speed_default = { .width = 64, .layers = 2, .heads = 4, .len = 64, .batch = 16, .vocab = 32,
                                      .rounds = 7, .round_seconds = 0.08 };

/* One encoding, ready to be timed. */
typedef struct speed_side {
    arena memory;
    layered_stack stacks;
    run_config config;
    model model;
    workspace train, eval;
    adamw optimiser;
    batch batch;
    size_t train_bytes, eval_bytes;
} speed_side;

static void speed_close(speed_side *s)
{
    layered_free(&s->stacks);
    arena_free(&s->memory);
}

static void speed_configure(const speed_setting *s, const char *stack, run_config *c)
{
    config_defaults(c);
    snprintf(c->encoding, sizeof c->encoding, "%s", stack);
    c->model.width = s->width;
    c->model.layers = s->layers;
    c->model.heads = s->heads;
}

static int speed_data(speed_side *side, const speed_setting *s, error *e)
{
    int tokens = s->batch * s->len;
    int *start = ARENA_NEW(&side->memory, int, s->batch + 1), *input = ARENA_NEW(&side->memory, int, 2 * tokens);
    if (!start || !input)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for %d tokens", tokens);
    rng r = rng_stream(1, RNG_TEST, 0, 0);
    for (int n = 0; n <= s->batch; n++)
        start[n] = n * s->len;
    for (int t = 0; t < 2 * tokens; t++)
        input[t] = (int)rng_below(&r, (uint32_t)s->vocab);
    side->batch = (batch){ .sequences = s->batch, .start = start, .input = input, .target = input + tokens, .seed = 1 };
    return 0;
}

static int speed_open(speed_side *side, const registry *r, const char *stack, const speed_setting *s, error *e)
{
    int tokens = s->batch * s->len;
    *side = (speed_side){ .memory = { NULL, 0 } };
    speed_configure(s, stack, &side->config);
    pe_shape shape = { .width = s->width, .heads = s->heads, .head_dim = s->width / s->heads, .layers = s->layers,
                       .train_len = s->len, .causal = 1 };
    if (layered_parse(r, stack, &side->stacks, e) < 0 || layered_check(&side->stacks, &shape, s->len, e) < 0)
        return -1;
    const pe_map *map = side->stacks.pattern[0].map;
    if (map->needs_given)
        return error_set(e, ERROR_USAGE, "no task runs here, so nothing proposes positions for the map %s", map->name);
    if (model_create(&side->model, &side->memory, &side->config, &side->stacks, s->vocab, s->len, 1, e) < 0 ||
        adamw_create(&side->optimiser, &side->memory, &side->model, &side->config, e) < 0 ||
        workspace_create(&side->train, &side->memory, &side->model, NULL, NULL, s->batch, tokens, s->len, 1, e) < 0)
        return -1;
    side->train_bytes = side->memory.used;
    if (workspace_create(&side->eval, &side->memory, &side->model, NULL, NULL, s->batch, tokens, s->len, 0, e) < 0)
        return -1;
    side->eval_bytes = side->memory.used - side->train_bytes;
    model_init(&side->model, 1);
    return speed_data(side, s, e);
}

static void speed_step(speed_side *side, int training)
{
    workspace *w = training ? &side->train : &side->eval;
    side->batch.training = training;
    model_forward(&side->model, w, &side->batch);
    model_loss(&side->model, w, &side->batch, 1.0 / side->batch.start[side->batch.sequences], NULL, NULL);
    if (training) {
        model_backward(&side->model, w, &side->batch);
        adamw_update(&side->optimiser, &side->model, 1e-4);
    }
}

/* Seconds of one step, over `steps`. */
static double speed_time(speed_side *side, int training, int steps)
{
    double begin = stopwatch_wall();
    for (int i = 0; i < steps; i++)
        speed_step(side, training);
    return (stopwatch_wall() - begin) / steps;
}

static int speed_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double speed_quantile(double *x, int n, double share)
{
    qsort(x, (size_t)n, sizeof *x, speed_order);
    double at = share * (n - 1);
    int below = (int)at;
    return below + 1 < n ? x[below] + (at - below) * (x[below + 1] - x[below]) : x[below];
}

enum { SPEED_ROUNDS_MAX = 101 };

/* The two in turn; the first pair warms caches and page tables and is not counted. */
static void speed_pairs(speed_side *base, speed_side *own, int training, const speed_setting *s, double *ratios,
                        double *seconds, int rounds)
{
    double once = speed_time(base, training, 2);
    int steps = (int)(s->round_seconds / once) + 1;
    speed_time(own, training, steps);
    for (int i = 0; i < rounds; i++) {
        double of_base = speed_time(base, training, steps);
        seconds[i] = speed_time(own, training, steps);
        ratios[i] = seconds[i] / of_base;
    }
}

const char *speed_baseline(const registry *r, error *e)
{
    unsigned wanted = PE_POSITION_BLIND | PE_PARAMETER_FREE | PE_ZERO_AT_INIT;
    for (int i = 0; i < registry_encoding_count(r); i++)
        if ((registry_encoding(r, i)->claims & wanted) == wanted)
            return registry_encoding(r, i)->name;
    error_set(e, ERROR_USAGE, "no encoding that does nothing is there to compare with");
    return NULL;
}

static void speed_fill(speed_side *base, speed_side *own, const speed_setting *s, speed_cost *out)
{
    int rounds = s->rounds < SPEED_ROUNDS_MAX ? s->rounds : SPEED_ROUNDS_MAX;
    double ratios[SPEED_ROUNDS_MAX], seconds[SPEED_ROUNDS_MAX], tokens = (double)s->batch * s->len;
    speed_pairs(base, own, 1, s, ratios, seconds, rounds);
    out->train_ratio = speed_quantile(ratios, rounds, 0.5);
    out->train_low = speed_quantile(ratios, rounds, 0.25);
    out->train_high = speed_quantile(ratios, rounds, 0.75);
    out->train_tokens = tokens / speed_quantile(seconds, rounds, 0.5);
    speed_pairs(base, own, 0, s, ratios, seconds, rounds);
    out->eval_ratio = speed_quantile(ratios, rounds, 0.5);
    out->eval_tokens = tokens / speed_quantile(seconds, rounds, 0.5);
    out->parameters = model_encoding_parameters(&own->model);
    out->train_bytes = (double)own->train_bytes;
    out->eval_bytes = (double)own->eval_bytes;
    layered_print(&own->stacks, out->encoding, sizeof out->encoding);
}

int speed_measure(const registry *r, const char *stack, const speed_setting *s, speed_cost *out, error *e)
{
    gemm_use_one_thread();
    subnormals_flush();
    const char *baseline = speed_baseline(r, e);
    if (!baseline)
        return -1;
    speed_side base = { .memory = { NULL, 0 } }, own = { .memory = { NULL, 0 } };
    int failed = speed_open(&base, r, baseline, s, e) < 0 || speed_open(&own, r, stack, s, e) < 0;
    if (!failed)
        speed_fill(&base, &own, s, out);
    speed_close(&base);
    speed_close(&own);
    return failed ? -1 : 0;
}
