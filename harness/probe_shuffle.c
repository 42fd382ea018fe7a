/* probe_shuffle.c - what the order of a prefix is worth: the next byte's loss behind a window, as it is and shuffled.
 */
#include "probe.h"

typedef struct shuffle_bench {
    arena memory;
    workspace work;
    int *input, *target, *start;
    double *pos;
} shuffle_bench;

static int shuffle_bench_create(const evaluation *v, shuffle_bench *b, int len, int per_part, error *e)
{
    size_t tokens = (size_t)per_part * (size_t)len;
    *b = (shuffle_bench){.memory = {NULL, 0}};
    if (workspace_create(&b->work, &b->memory, v->model, v->map, v->map_options, per_part, per_part * len, len, 0, e) <
        0)
        return -1;
    b->input = ARENA_NEW(&b->memory, int, tokens);
    b->target = ARENA_NEW(&b->memory, int, tokens);
    b->start = ARENA_NEW(&b->memory, int, per_part + 1);
    b->pos = ARENA_NEW(&b->memory, double, len);
    if (b->input && b->target && b->start && b->pos)
        return 0;
    return error_set(e, ERROR_ENVIRONMENT, "no memory to shuffle windows of %d tokens", len);
}

/* Windows first .. first+count-1 as they stand in the text, each with its next byte as the only target. */
static void shuffle_read(shuffle_bench *b, const unsigned char *text, long first, int count, int len)
{
    for (int n = 0; n < count; n++) {
        const unsigned char *window = text + (first + n) * len;
        for (int t = 0; t < len; t++) {
            b->input[n * len + t] = window[t];
            b->target[n * len + t] = TASK_NOT_SCORED;
        }
        b->target[n * len + len - 1] = window[len];
        b->start[n + 1] = (n + 1) * len;
    }
}

/* All but the last input of each window, in an order that the seed and the window's number give. */
static void shuffle_mix(shuffle_bench *b, const run_config *c, long first, int count, int len)
{
    for (int n = 0; n < count; n++) {
        int *input = b->input + n * len;
        rng r = rng_stream((uint64_t)c->seed, RNG_SHUFFLE, (uint64_t)len, (uint32_t)(first + n));
        for (int i = len - 2; i > 0; i--) {
            int k = (int)rng_below(&r, (uint32_t)i + 1), swapped = input[i];
            input[i] = input[k];
            input[k] = swapped;
        }
    }
}

/* Both losses of one part, += ; nothing where it has no value. */
static void shuffle_part(const evaluation *v, shuffle_bench *b, long first, int count, run_probes *out,
                         point_standing *worst)
{
    int len = v->config->train.len;
    const unsigned char *text = task_text(v->task, TASK_TEST, &(long){0});
    batch part = {.sequences = count,
                  .start = b->start,
                  .input = b->input,
                  .target = b->target,
                  .seed = (uint64_t)v->config->seed,
                  .map_index = (uint64_t)len << 32 | (uint64_t)first};
    shuffle_read(b, text, first, count, len);
    evaluate_worst(v, &b->work, &part, b->pos, worst);
    if (worst->undefined)
        return;
    model_forward(v->model, &b->work, &part);
    out->in_order_loss += model_loss(v->model, &b->work, &part, 0, NULL, NULL);
    shuffle_mix(b, v->config, first, count, len);
    model_forward(v->model, &b->work, &part);
    out->shuffled_loss += model_loss(v->model, &b->work, &part, 0, NULL, NULL);
    out->windows += count;
}

int probe_shuffle(const evaluation *v, run_probes *out, error *e)
{
    int len = v->config->train.len, per_part = EVALUATE_PART_TOKENS / len < 1 ? 1 : EVALUATE_PART_TOKENS / len;
    long windows = v->config->eval.tokens / len, bytes;
    task_text(v->task, TASK_TEST, &bytes);
    windows = windows < 1 ? 1 : windows < (bytes - 1) / len ? windows : (bytes - 1) / len;
    shuffle_bench b;
    point_standing worst = {0, ""};
    int status = shuffle_bench_create(v, &b, len, per_part, e);
    out->in_order_loss = out->shuffled_loss = 0;
    out->windows = 0;
    for (long first = 0; status == 0 && !worst.undefined && first < windows; first += per_part) {
        shuffle_part(v, &b, first, windows - first < per_part ? (int)(windows - first) : per_part, out, &worst);
        status = evaluate_stopped(v, e);
    }
    out->windows = worst.undefined ? 0 : out->windows;
    out->in_order_loss = evaluate_mean_loss(out->in_order_loss, out->windows);
    out->shuffled_loss = evaluate_mean_loss(out->shuffled_loss, out->windows);
    arena_free(&b.memory);
    return status;
}
