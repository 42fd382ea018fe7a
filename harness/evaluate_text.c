/* evaluate_text.c - language tasks: the loss of a fixed stretch of text, read in windows of each length, or, where a task
 * has no text that is predicted byte by byte, of windows that it draws.
 *
 * Non-overlapping windows give early positions of each window little context (the "early token curse"); a sliding window
 * gives every scored token, after the first window, at least window - stride tokens of it. Both score each prediction of the
 * same stretch once, so their means are over the same tokens.
 */
#include <stdio.h>

#include "evaluate.h"

int evaluate_window(long count, int window, int stride, long i, text_window *out)
{
    long predictions = count - 1;
    if (predictions < 1)
        return 0;
    int first = predictions < window ? (int)predictions : window;
    if (i == 0) {
        *out = (text_window){ .begin = 0, .len = first, .scored = first };
        return 1;
    }
    long done = first + (i - 1) * (long)stride; /* predictions scored by the windows before */
    if (done >= predictions)
        return 0;
    int scored = predictions - done < stride ? (int)(predictions - done) : stride;
    if (stride == window) { /* no context is taken over: the last window is simply shorter */
        *out = (text_window){ .begin = done, .len = scored, .scored = scored };
        return 1;
    }
    *out = (text_window){ .begin = done + scored - window, .len = window, .scored = scored };
    return 1;
}

/* Buffers and sums of one pass over the text. */
typedef struct text_bench {
    arena memory;
    workspace work;
    int *input, *target, *start;
    double *loss, *pos, *position_loss;
    long *position_n;
    double sum;
    long scored;
} text_bench;

enum { TEXT_PART_TOKENS = 2048 };

static int text_bench_create(const evaluation *v, text_bench *t, int window, int per_part, error *e)
{
    if (workspace_create(&t->work, &t->memory, v->model, v->map, v->map_options, per_part, per_part * window, window, 0,
                         e) < 0)
        return -1;
    size_t tokens = (size_t)per_part * (size_t)window;
    t->input = ARENA_NEW(&t->memory, int, tokens);
    t->target = ARENA_NEW(&t->memory, int, tokens);
    t->start = ARENA_NEW(&t->memory, int, per_part + 1);
    t->loss = ARENA_NEW(&t->memory, double, tokens);
    t->pos = ARENA_NEW(&t->memory, double, window);
    t->position_loss = ARENA_NEW(&t->memory, double, window);
    t->position_n = ARENA_NEW(&t->memory, long, window);
    if (!t->input || !t->target || !t->start || !t->loss || !t->pos || !t->position_loss || !t->position_n)
        return error_set(e, ERROR_ENVIRONMENT, "no memory to evaluate windows of %d tokens", window);
    return 0;
}

static void text_append(text_bench *t, const unsigned char *text, text_window w, int sequence)
{
    int at = t->start[sequence];
    for (int i = 0; i < w.len; i++) {
        t->input[at + i] = text[w.begin + i];
        t->target[at + i] = i >= w.len - w.scored ? text[w.begin + i + 1] : TASK_NOT_SCORED;
    }
    t->start[sequence + 1] = at + w.len;
}

static void text_part(const evaluation *v, text_bench *t, int sequences, long index)
{
    batch b = { .sequences = sequences, .start = t->start, .input = t->input, .target = t->target,
                .seed = (uint64_t)v->config->seed, .map_index = (uint64_t)index };
    model_forward(v->model, &t->work, &b);
    model_loss(v->model, &t->work, &b, 0, t->loss, NULL);
    for (int n = 0; n < sequences; n++)
        for (int i = t->start[n]; i < t->start[n + 1]; i++) {
            if (t->target[i] == TASK_NOT_SCORED)
                continue;
            t->sum += t->loss[i];
            t->scored++;
            t->position_loss[i - t->start[n]] += t->loss[i];
            t->position_n[i - t->start[n]]++;
        }
}

/* Whether windows of this length lie inside the definition. */
static point_standing text_standing(const evaluation *v, text_bench *t, int window)
{
    t->start[0] = 0;
    t->start[1] = window;
    point_standing worst = { 0, "" };
    batch b = { .sequences = 1, .start = t->start, .seed = (uint64_t)v->config->seed };
    evaluate_worst(v, &t->work, &b, t->pos, &worst);
    return worst;
}

/* What one pass found: a value, and the loss by position in the window. too_short: the text has no such window. */
static int text_values(const text_bench *t, length_bin bin, const char *mode, const point_standing *standing,
                       int too_short, run_result *out, error *e)
{
    run_value value = { .bin = bin, .metric = "loss", .mode = mode, .value = evaluate_mean_loss(t->sum, t->scored),
                        .n = t->scored, .status = standing->undefined ? "undefined" : too_short ? "not_run" : "ok" };
    if (!standing->undefined)
        memcpy(value.flag, standing->flag, sizeof value.flag);
    if (evaluate_append(out, value, e) < 0)
        return -1;
    if (!t->scored)
        return 0;
    return evaluate_positions(out, bin, mode, bin.max_len, t->position_loss, t->position_n, e);
}

static int text_pass(const evaluation *v, length_bin bin, int stride, const char *mode, run_result *out, error *e)
{
    long count;
    const unsigned char *text = task_text(v->task, TASK_TEST, &count);
    if (count > (long)v->config->eval.tokens + 1)
        count = (long)v->config->eval.tokens + 1;
    int window = bin.max_len, per_part = TEXT_PART_TOKENS / window < 1 ? 1 : TEXT_PART_TOKENS / window;
    text_bench t = { .memory = { NULL, 0 } };
    int failed = text_bench_create(v, &t, window, per_part, e);
    point_standing standing = failed ? (point_standing){ 0, "" } : text_standing(v, &t, window);
    int too_short = count - 1 < window; /* such windows do not exist in this text */
    int sequences = 0;
    text_window w;
    for (long i = 0; !failed && !standing.undefined && !too_short && evaluate_window(count, window, stride, i, &w); i++) {
        text_append(&t, text, w, sequences++);
        if (sequences == per_part) {
            text_part(v, &t, sequences, i);
            sequences = 0;
            failed = evaluate_stopped(v, e);
        }
    }
    if (!failed && sequences)
        text_part(v, &t, sequences, -1);
    if (!failed)
        failed = text_values(&t, bin, mode, &standing, too_short, out, e);
    arena_free(&t.memory);
    return failed;
}

/* Window number `item` of the test stream, behind those that the part holds. */
static void text_draw(const evaluation *v, text_bench *t, int window, long item, int sequence)
{
    int at = t->start[sequence];
    task_sample sample = { .input = t->input + at, .target = t->target + at };
    task_draw(v->task, TASK_TEST, (uint64_t)v->config->seed, (uint64_t)window, (uint32_t)item, window, &sample, NULL);
    t->start[sequence + 1] = at + sample.count;
}

/* As many windows as score eval.tokens tokens, one at least. */
static int text_drawn_pass(const evaluation *v, length_bin bin, run_result *out, error *e)
{
    int window = bin.max_len, per_part = TEXT_PART_TOKENS / window < 1 ? 1 : TEXT_PART_TOKENS / window;
    long windows = v->config->eval.tokens / task_scored(v->task, window);
    windows = windows < 1 ? 1 : windows;
    text_bench t = { .memory = { NULL, 0 } };
    int failed = text_bench_create(v, &t, window, per_part, e);
    point_standing standing = failed ? (point_standing){ 0, "" } : text_standing(v, &t, window);
    for (long first = 0; !failed && !standing.undefined && first < windows; first += per_part) {
        int sequences = windows - first < per_part ? (int)(windows - first) : per_part;
        for (int n = 0; n < sequences; n++)
            text_draw(v, &t, window, first + n, n);
        text_part(v, &t, sequences, first);
        failed = evaluate_stopped(v, e);
    }
    if (!failed)
        failed = text_values(&t, bin, "masked", &standing, 0, out, e);
    arena_free(&t.memory);
    return failed;
}

int evaluate_text_bin(const evaluation *v, length_bin bin, run_result *out, error *e)
{
    if (task_scored(v->task, bin.max_len) > 0)
        return text_drawn_pass(v, bin, out, e);
    if (text_pass(v, bin, bin.max_len, "windows", out, e) < 0)
        return -1;
    int stride = v->config->eval.stride;
    if (stride > 0)
        return text_pass(v, bin, stride < bin.max_len ? stride : bin.max_len, "sliding", out, e);
    return 0;
}
