/* network_fixture.h - a small network with random weights and ragged random batches, for tests. */
#ifndef NETWORK_FIXTURE_H
#define NETWORK_FIXTURE_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "config.h"
#include "model.h"
#include "rng.h"

enum { FIXTURE_TOKENS = 512, FIXTURE_SEQUENCES = 16, FIXTURE_VOCAB = 13 };

typedef struct fixture {
    arena memory;
    registry *registry;
    layered_stack stacks;
    run_config config;
    model model;
    workspace work;
    int max_len;
    int start[FIXTURE_SEQUENCES + 1], input[FIXTURE_TOKENS], target[FIXTURE_TOKENS];
    double given[FIXTURE_TOKENS]; /* 0, 1, 2, 0, 1 ... in each sequence */
    batch batch;
} fixture;

/* Moves every parameter away from where it starts, within its bounds. */
static inline void fixture_disturb(fixture *f)
{
    rng r = rng_stream(11, RNG_TEST, 0, 0);
    for (int p = 0; p < f->model.params_count; p++) {
        const model_param *param = &f->model.params[p];
        for (size_t i = 0; i < model_param_length(param); i++) {
            double value = (double)f->model.value[param->offset + i] + 0.3 * (2 * rng_uniform(&r) - 1);
            if (param->least < param->most)
                value = fmin(fmax(value, param->least + 0.01), param->most - 0.01);
            f->model.value[param->offset + i] = (real)value;
        }
    }
    model_changed(&f->model);
}

/* settings: "model.norm=rms model.tied_head=true", separated by spaces. Every parameter is moved away from where it starts,
 * so that nothing is 0 or 1 by accident. */
static inline void fixture_open(fixture *f, const char *encoding, const char *settings, int max_len, int training)
{
    error e = ERROR_INIT;
    memset(f, 0, sizeof *f);
    f->max_len = max_len;
    config_defaults(&f->config);
    config_set(&f->config, "model.width", "12", &e);
    config_set(&f->config, "model.heads", "3", &e);
    char copy[512];
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value = '\0';
        cr_assert_eq(config_set(&f->config, word, value + 1, &e), 0, "%s", e.message);
    }
    snprintf(f->config.encoding, sizeof f->config.encoding, "%s", encoding);
    f->registry = registry_new(&e);
    cr_assert_eq(layered_parse(f->registry, encoding, &f->stacks, &e), 0, "%s", e.message);
    pe_shape shape = { .width = f->config.model.width, .heads = f->config.model.heads,
                       .head_dim = f->config.model.width / f->config.model.heads, .layers = f->config.model.layers,
                       .train_len = max_len, .causal = f->config.model.causal };
    cr_assert_eq(layered_check(&f->stacks, &shape, max_len, &e), 0, "%s", e.message);
    cr_assert_eq(model_create(&f->model, &f->memory, &f->config, &f->stacks, FIXTURE_VOCAB, max_len, training, &e), 0,
                 "%s", e.message);
    cr_assert_eq(workspace_create(&f->work, &f->memory, &f->model, NULL, NULL, FIXTURE_SEQUENCES, FIXTURE_TOKENS, max_len,
                                  training, &e), 0, "%s", e.message);
    model_init(&f->model, 7);
    fixture_disturb(f);
}

static inline void fixture_close(fixture *f)
{
    layered_free(&f->stacks);
    registry_free(f->registry);
    arena_free(&f->memory);
}

/* Random tokens in sequences of random lengths (all of max_len with equal = 1); about a third is not scored. */
static inline void fixture_draw(fixture *f, uint64_t stream, int sequences, int equal)
{
    rng r = rng_stream(13, RNG_TEST, stream, 0);
    f->start[0] = 0;
    for (int n = 0; n < sequences; n++)
        f->start[n + 1] = f->start[n] + (equal ? f->max_len : 1 + (int)rng_below(&r, (uint32_t)f->max_len));
    for (int t = 0; t < f->start[sequences]; t++) {
        f->input[t] = (int)rng_below(&r, FIXTURE_VOCAB);
        f->target[t] = rng_below(&r, 3) ? (int)rng_below(&r, FIXTURE_VOCAB) : -1;
    }
    for (int n = 0; n < sequences; n++)
        for (int t = f->start[n]; t < f->start[n + 1]; t++)
            f->given[t] = (t - f->start[n]) % 3;
    f->target[0] = 3;
    f->batch = (batch){ .sequences = sequences, .start = f->start, .input = f->input, .target = f->target, .given = f->given,
                        .training = f->work.training };
}

static inline double fixture_loss(fixture *f, double factor)
{
    model_forward(&f->model, &f->work, &f->batch);
    return model_loss(&f->model, &f->work, &f->batch, factor, NULL, NULL);
}

#endif
