#include "work.h"

#include <string.h>

#include "extend.h"
#include "lengths.h"
#include "regime.h"
#include "rng.h"
#include "task.h"

#define WORK_ATTENTION_TRAIN 3.5

/* The sizes that the formulas of work.h are about. */
typedef struct work_sizes {
    const run_config *config;
    task *task;      /* NULL: its text is not understood; a length is then taken for as many tokens */
    double matrices; /* P */
} work_sizes;

static double work_tokens(const work_sizes *z, int len)
{
    return z->task ? task_tokens(z->task, len) : len;
}

static double work_attention(const work_sizes *z, double tokens)
{
    double visible = z->config->model.causal ? 0.5 : 1;
    return 4.0 * z->config->model.layers * z->config->model.width * tokens * visible;
}

static double work_train(const work_sizes *z)
{
    const run_config *c = z->config;
    int mean = c->train.min_len > 0 ? (int)lengths_mean(c) : c->train.len;
    double tokens = work_tokens(z, mean);
    double token = 6 * z->matrices + WORK_ATTENTION_TRAIN * work_attention(z, tokens);
    return token * tokens * c->train.batch * c->train.steps;
}

/* Language tasks read `eval.tokens` tokens in whole windows, and with a stride once more, a window for every step of
 * it; or windows that score as many. */
static double work_evaluate_bin(const work_sizes *z, const length_bin *b)
{
    const run_config *c = z->config;
    double tokens = work_tokens(z, b->min_len + (b->max_len - b->min_len) / 2);
    double token = 2 * z->matrices + work_attention(z, tokens);
    if (!z->task || task_of(z->task)->kind == TASK_ANSWER)
        return token * tokens * c->eval.items;
    int scored = task_scored(z->task, b->max_len);
    if (scored > 0)
        return token * tokens * ((double)c->eval.tokens / scored);
    double windows = c->eval.stride > 0 ? (double)c->eval.tokens / c->eval.stride : 0;
    return token * (c->eval.tokens + tokens * windows);
}

/* Every factor with every method, whether it has a meaning for the encoding or not. */
static double work_extend(const work_sizes *z)
{
    const run_config *c = z->config;
    extend_words methods, variants;
    double sum = 0;
    extend_read(c, &methods);
    extend_read_tasks(c, &variants);
    for (int i = 0; z->task && methods.count > 0 && i < c->extend.factors.count; i++) {
        run_config train, test;
        error ignored = ERROR_INIT;
        length_bin bins[CONFIG_BINS_MAX];
        work_sizes longer = *z;
        extend_train_config(c, z->task, c->extend.factors.value[i], &train);
        extend_test_config(c, c->extend.factors.value[i], &test);
        longer.config = &train;
        int count = config_bins(&test, bins, &ignored);
        sum += methods.count * work_train(&longer);
        for (int b = 0; b < count; b++)
            sum += methods.count * (1 + variants.count) * c->extend.steps.count * work_evaluate_bin(z, &bins[b]);
    }
    return sum;
}

work work_of(const run_config *c)
{
    error ignored = ERROR_INIT; /* what cannot be run is refused elsewhere; here it only goes without an estimate */
    length_bin bins[CONFIG_BINS_MAX];
    int count = config_bins(c, bins, &ignored);
    int longest = c->train.len, shortest = c->train.min_len > 0 ? c->train.min_len : c->train.len;
    for (int i = 0; i < count; i++) {
        longest = bins[i].max_len > longest ? bins[i].max_len : longest;
        shortest = bins[i].min_len < shortest ? bins[i].min_len : shortest;
    }
    longest = extend_longest(c) > longest ? extend_longest(c) : longest;
    error_clear(&ignored);
    work_sizes z = {.config = c, .task = task_parse(c->task, config_regime(c), shortest, longest, &ignored)};
    double width = c->model.width, vocabulary = z.task ? task_vocab(z.task) : 0;
    z.matrices = c->model.layers * (4 + 2.0 * c->model.mlp) * width * width + vocabulary * width;
    work w = {.train = work_train(&z), .evaluate = 0, .extend = c->train.min_len > 0 ? work_extend(&z) : 0};
    for (int i = 0; i < count; i++)
        w.evaluate += work_evaluate_bin(&z, &bins[i]);
    task_free(z.task);
    return w;
}

uint64_t work_shape(const run_config *c, int any_encoding)
{
    run_config shape = *c;
    char text[CONFIG_TEXT_MAX];
    shape.seed = 0;
    if (any_encoding)
        shape.encoding[0] = '\0';
    config_print(&shape, text, sizeof text);
    return rng_hash(text);
}

void work_of_all(const spec *s, work *out)
{
    enum { SEEN_MAX = 256 };
    uint64_t seen[SEEN_MAX];
    int first[SEEN_MAX], count = 0;
    for (int i = 0; i < s->count; i++) {
        uint64_t shape = work_shape(&s->runs[i], 1);
        int j = 0;
        while (j < count && seen[j] != shape)
            j++;
        out[i] = j < count ? out[first[j]] : work_of(&s->runs[i]);
        if (j == count && count < SEEN_MAX) {
            seen[count] = shape;
            first[count++] = i;
        }
    }
}
