/* exposure_test.c - how well tokens are predicted at each position in the end, within the training length. */
#include "exposure.h"

#include <stdlib.h>

typedef struct exposure_bench {
    arena memory;
    workspace work;
    batch_buffer data;
    int *part_start, *guess;
    double *loss, *pos;
    int positions;   /* with room in the sums */
    double *sum;     /* [positions] of losses */
    long *right, *n; /* [positions] */
} exposure_bench;

static int exposure_bench_create(const evaluation *v, exposure_bench *b, int longest, int per_part, error *e)
{
    arena *a = &b->memory;
    if (workspace_create(&b->work, a, v->model, v->map, v->map_options, per_part, per_part * longest, longest, 0, e) <
        0)
        return -1;
    int failed = batch_buffer_create(&b->data, a, per_part, per_part * longest) < 0;
    b->part_start = ARENA_NEW(a, int, per_part + 1);
    b->guess = ARENA_NEW(a, int, per_part *longest);
    b->loss = ARENA_NEW(a, double, per_part *longest);
    b->pos = ARENA_NEW(a, double, longest);
    if (failed || !b->part_start || !b->guess || !b->loss || !b->pos)
        return error_set(e, ERROR_ENVIRONMENT, "no memory to test %d positions", longest);
    return 0;
}

/* Sums for positions 0 .. count-1: the old ones are taken over. */
static int exposure_bench_grow(exposure_bench *b, int count)
{
    if (count <= b->positions)
        return 0;
    double *sum = realloc(b->sum, sizeof *sum * (size_t)count);
    b->sum = sum ? sum : b->sum;
    long *right = realloc(b->right, sizeof *right * (size_t)count);
    b->right = right ? right : b->right;
    long *n = realloc(b->n, sizeof *n * (size_t)count);
    b->n = n ? n : b->n;
    if (!sum || !right || !n)
        return -1;
    for (int i = b->positions; i < count; i++) {
        b->sum[i] = 0;
        b->right[i] = b->n[i] = 0;
    }
    b->positions = count;
    return 0;
}

static int exposure_count(exposure_bench *b, const batch *part)
{
    for (int n = 0; n < part->sequences; n++)
        for (int t = part->start[n]; t < part->start[n + 1]; t++) {
            double pos = b->work.place[n]->pos[t - part->start[n]];
            if (part->target[t] == TASK_NOT_SCORED || !(pos < EXPOSURE_POSITIONS_MAX - 0.5))
                continue;
            int at = (int)(pos + 0.5);
            if (exposure_bench_grow(b, at + 1) < 0)
                return -1;
            b->sum[at] += b->loss[t];
            b->right[at] += b->guess[t] == part->target[t];
            b->n[at]++;
        }
    return 0;
}

/* The test stretch of a task that has a text, and how many bytes of it; else NULL. */
static const unsigned char *exposure_text(const evaluation *v, long *count)
{
    return task_of(v->task)->text ? task_text(v->task, TASK_TEST, count) : NULL;
}

/* How many sequences are tested: what eval.items and eval.tokens say, of a text at most its whole windows. */
static long exposure_items(const evaluation *v, int longest)
{
    const run_config *c = v->config;
    long items = task_of(v->task)->kind == TASK_LANGUAGE ? c->eval.tokens / longest : c->eval.items, bytes;
    items = items < 1 ? 1 : items;
    if (exposure_text(v, &bytes) && items > (bytes - 1) / longest)
        items = (bytes - 1) / longest;
    return items;
}

/* Window i of the test text, with the byte that follows it, as evaluation reads it. */
static void exposure_window(const unsigned char *text, long i, int len, batch_buffer *b)
{
    int at = b->start[b->sequences];
    for (int t = 0; t < len; t++) {
        b->input[at + t] = text[i * len + t];
        b->target[at + t] = text[i * len + t + 1];
    }
    b->answer_begin[b->sequences++] = -1;
    b->start[b->sequences] = at + len;
}

/* Sequences first .. first+count-1. Returns 1 when they have no value, -1 when memory is short. */
static int exposure_part(const evaluation *v, exposure_bench *b, long first, int count)
{
    uint64_t seed = (uint64_t)v->config->seed, len = (uint64_t)v->config->train.len;
    const unsigned char *text = exposure_text(v, &(long){0});
    batch_buffer_clear(&b->data);
    for (int n = 0; n < count; n++) {
        if (text)
            exposure_window(text, first + n, v->config->train.len, &b->data);
        else
            batch_buffer_draw(&b->data, v->task, TASK_TEST, seed, len, (uint32_t)(first + n), v->config->train.len);
    }
    batch part = batch_buffer_part(&b->data, 0, count, seed, len << 32 | (uint64_t)first, 0, b->part_start);
    point_standing worst = {0, ""};
    evaluate_worst(v, &b->work, &part, b->pos, &worst);
    if (worst.undefined)
        return 1;
    model_forward(v->model, &b->work, &part);
    model_loss(v->model, &b->work, &part, 0, b->loss, b->guess);
    return exposure_count(b, &part);
}

/* Takes the sums over as means. */
static int exposure_take(exposure_bench *b, run_exposure *x)
{
    x->tested = b->positions;
    x->loss = b->sum;
    x->n = b->n;
    x->accuracy = calloc((size_t)b->positions + 1, sizeof *x->accuracy);
    b->sum = NULL;
    b->n = NULL;
    for (int i = 0; x->accuracy && i < x->tested; i++) {
        x->loss[i] = evaluate_mean_loss(x->loss[i], x->n[i]);
        x->accuracy[i] = x->n[i] > 0 ? (double)b->right[i] / (double)x->n[i] : NAN;
    }
    return x->accuracy ? 0 : -1;
}

int exposure_test(const evaluation *v, run_exposure *x, error *e)
{
    int longest = task_tokens(v->task, v->config->train.len), status = 0;
    int per_part = EVALUATE_PART_TOKENS / longest < 1 ? 1 : EVALUATE_PART_TOKENS / longest;
    long items = exposure_items(v, longest);
    exposure_bench b = {.memory = {NULL, 0}};
    if (exposure_bench_create(v, &b, longest, per_part, e) < 0) {
        arena_free(&b.memory);
        return -1;
    }
    for (long first = 0; status == 0 && first < items; first += per_part) {
        status = exposure_part(v, &b, first, items - first < per_part ? (int)(items - first) : per_part);
        if (status == 0)
            status = evaluate_stopped(v, e);
    }
    if (status == 0)
        status = exposure_take(&b, x);
    if (status < 0 && e->kind == ERROR_NONE)
        error_set(e, ERROR_ENVIRONMENT, "no memory to test %d positions", longest);
    free(b.sum);
    free(b.right);
    free(b.n);
    arena_free(&b.memory);
    return status < 0 ? -1 : 0;
}
