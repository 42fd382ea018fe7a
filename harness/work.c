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
    task *task;      /* NULL: its text is not understood; a length is then taken for as many tokens, all scored */
    double vocabulary;
} work_sizes;

static double work_tokens(const work_sizes *z, int len)
{
    return z->task ? task_tokens(z->task, len) : len;
}

/* At most: of its `tokens` tokens. */
static double work_scored(const work_sizes *z, int len)
{
    const task_descriptor *d = z->task ? task_of(z->task) : NULL;
    if (d && d->pair) {
        int prompt = 0, answer = 0, closing = task_regime_of(z->task) == TASK_DECODER; /* EOS */
        d->sizes(task_options(z->task), len, &prompt, &answer);
        return answer + closing;
    }
    return d && d->scored ? task_scored(z->task, len) : work_tokens(z, len);
}

/* M of one sequence, in multiply-adds. */
static double work_matrices(const work_sizes *z, int len)
{
    const run_config *c = z->config;
    double width = c->model.width, mlp = 2.0 * c->model.mlp, tokens = work_tokens(z, len), scored = work_scored(z, len);
    double layers = c->model.layers * (4 + mlp) * tokens - (1 + mlp) * (tokens - scored);
    return width * width * layers + z->vocabulary * width * scored;
}

/* 4 layers width A of one sequence. */
static double work_attention(const work_sizes *z, int len)
{
    const run_config *c = z->config;
    double tokens = work_tokens(z, len), unscored = tokens - work_scored(z, len);
    double whole = c->model.causal ? tokens * tokens / 2 : tokens * tokens;
    double left_out = c->model.causal ? unscored * unscored / 2 : unscored * tokens;
    return 4.0 * c->model.width * (c->model.layers * whole - left_out);
}

static double work_forward(const work_sizes *z, int len)
{
    return 2 * work_matrices(z, len) + work_attention(z, len);
}

static double work_train(const work_sizes *z)
{
    const run_config *c = z->config;
    int mean = c->train.min_len > 0 ? (int)lengths_mean(c) : c->train.len;
    double sequence = 6 * work_matrices(z, mean) + WORK_ATTENTION_TRAIN * work_attention(z, mean);
    return sequence * c->train.batch * c->train.steps;
}

/* Language tasks read `eval.tokens` tokens in whole windows, and with a stride once more, a window for every step of
 * it; or windows that score as many. */
static double work_evaluate_bin(const work_sizes *z, const length_bin *b)
{
    const run_config *c = z->config;
    int len = b->min_len + (b->max_len - b->min_len) / 2;
    double sequence = work_forward(z, len), tokens = work_tokens(z, len);
    if (!z->task || task_of(z->task)->kind == TASK_ANSWER)
        return sequence * c->eval.items;
    int scored = task_scored(z->task, b->max_len);
    if (scored > 0)
        return sequence * ((double)c->eval.tokens / scored);
    double windows = c->eval.stride > 0 ? (double)c->eval.tokens / c->eval.stride : 0;
    return sequence * (c->eval.tokens / tokens + windows);
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
    z.vocabulary = z.task ? task_vocab(z.task) : 0;
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
