#include "speed_side.h"

#include <math.h>
#include <stdio.h>

#include "evaluate.h"
#include "gemm.h"
#include "rng.h"
#include "stopwatch.h"
#include "subnormals.h"

static void speed_side_configure(const speed_setting *s, const char *stack, run_config *c)
{
    config_defaults(c);
    snprintf(c->encoding, sizeof c->encoding, "%s", stack);
    c->model.width = s->width;
    c->model.layers = s->layers;
    c->model.heads = s->heads;
}

int speed_side_parse(layered_stack *out, const registry *r, const char *stack, const speed_setting *s, error *e)
{
    pe_shape shape = { .width = s->width, .heads = s->heads, .head_dim = s->width / s->heads, .layers = s->layers,
                       .train_len = s->len, .causal = 1 };
    if (layered_parse(r, stack, out, e) < 0 || layered_check(out, &shape, s->len, e) < 0)
        return -1;
    const pe_map *map = out->pattern[0].map;
    if (map->needs_given)
        return error_set(e, ERROR_USAGE, "no task runs here, so nothing proposes positions for the map %s", map->name);
    return 0;
}

/* Sequences of a part: as many as stay near the core, in training and in evaluation as a run has it. */
static int speed_side_part(const speed_side *side, int training)
{
    int tokens = training ? train_part_tokens(&side->config, side->setting->len) : EVALUATE_PART_TOKENS;
    int count = tokens / side->setting->len;
    return count < 1 ? 1 : count < side->setting->batch ? count : side->setting->batch;
}

static int speed_side_workspace(speed_side *side, int training, error *e)
{
    int part = speed_side_part(side, training), len = side->setting->len;
    return workspace_create(training ? &side->train : &side->eval, &side->memory, &side->model, NULL, NULL, part,
                            part * len, len, training, e);
}

int speed_side_open(speed_side *side, const registry *r, const char *stack, const speed_setting *s, int kinds, error *e)
{
    int training = (kinds & SPEED_TRAIN) != 0;
    gemm_use_one_thread();
    subnormals_flush();
    *side = (speed_side){ .setting = s };
    speed_side_configure(s, stack, &side->config);
    if (speed_side_parse(&side->stacks, r, stack, s, e) < 0 ||
        model_create(&side->model, &side->memory, &side->config, &side->stacks, s->vocab, s->len, training, e) < 0)
        return -1;
    side->eval_bytes = side->memory.used;
    if (training && (adamw_create(&side->optimiser, &side->memory, &side->model, &side->config, e) < 0 ||
                     speed_side_workspace(side, 1, e) < 0))
        return -1;
    side->train_bytes = side->memory.used;
    if (kinds & SPEED_EVAL && speed_side_workspace(side, 0, e) < 0)
        return -1;
    side->eval_bytes = training ? side->memory.used - side->train_bytes : side->memory.used;
    side->part_start = ARENA_NEW(&side->memory, int, s->batch + 1);
    if (!side->part_start || batch_buffer_create(&side->data, &side->memory, s->batch, s->batch * s->len) < 0)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for %d tokens", s->batch * s->len);
    model_init(&side->model, 1);
    return 0;
}

void speed_side_close(speed_side *side)
{
    layered_free(&side->stacks);
    arena_free(&side->memory);
}

/* A batch of random tokens: the next one is the target. */
static void speed_side_draw(speed_side *side)
{
    const speed_setting *s = side->setting;
    batch_buffer *b = &side->data;
    rng r = rng_stream(1, RNG_TRAIN, (uint64_t)side->drawn++, 0);
    for (int n = 0; n <= s->batch; n++)
        b->start[n] = n * s->len;
    b->sequences = s->batch;
    for (int n = 0; n < s->batch; n++) {
        int *input = b->input + n * s->len, *target = b->target + n * s->len;
        input[0] = (int)rng_below(&r, (uint32_t)s->vocab);
        for (int t = 0; t < s->len; t++) {
            target[t] = (int)rng_below(&r, (uint32_t)s->vocab);
            if (t + 1 < s->len)
                input[t + 1] = target[t];
        }
    }
}

void speed_side_step(speed_side *side, int training, breakdown *b)
{
    const speed_setting *s = side->setting;
    workspace *w = training ? &side->train : &side->eval;
    int part = speed_side_part(side, training);
    workspace_time(w, b);
    breakdown_at(b, BREAKDOWN_DATA);
    speed_side_draw(side);
    for (int first = 0; first < s->batch; first += part) {
        int count = s->batch - first < part ? s->batch - first : part;
        batch own = batch_buffer_part(&side->data, first, count, 1, (uint64_t)side->drawn, training, side->part_start);
        model_forward(&side->model, w, &own);
        model_loss(&side->model, w, &own, 1.0 / (s->batch * s->len), NULL, NULL);
        if (training)
            model_backward(&side->model, w, &own);
    }
    breakdown_at(b, BREAKDOWN_OPTIMISER);
    if (training)
        adamw_update(&side->optimiser, &side->model, 1e-4);
    breakdown_at(b, BREAKDOWN_DATA);
}

double speed_side_time(speed_side *side, int training, int steps)
{
    double begin = stopwatch_cpu();
    for (int i = 0; i < steps; i++)
        speed_side_step(side, training, NULL);
    return (stopwatch_cpu() - begin) / steps;
}

int speed_side_steps(double once, double seconds)
{
    double steps = once > 0 ? seconds / once : 1;
    return steps < 1 ? 1 : steps > 1e6 ? 1000000 : (int)lround(steps);
}
