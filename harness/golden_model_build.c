/* golden_model_build.c - what a file says of its network, checked and built. */
#include "golden_model_build.h"

#include <stdio.h>
#include <string.h>

#include "check/golden_config.h"
#include "options.h"

enum { GOLDEN_MODEL_TOKENS_MAX = 100000 };

const json_t *golden_model_data(const json_t *value)
{
    return json_is_object(value) ? json_object_get(value, "data") : value;
}

double golden_model_at(const json_t *data, size_t i)
{
    return json_number_value(json_array_get(data, i));
}

const model_param *golden_model_param(const golden_model *g, const char *name)
{
    char ours[128];
    golden_config_param(name, ours, sizeof ours);
    return model_find(&g->model, ours);
}

/* A whole number of config. */
static int golden_model_whole(golden_model *g, const char *key, int most)
{
    double value = json_number_value(json_object_get(g->config, key));
    if (value >= 1 && value <= most && value == (int)value)
        return (int)value;
    error_set(g->e, ERROR_USAGE, "%s: config.%s is no whole number from 1 to %d", g->path, key, most);
    return 1;
}

/* What has to be as it is here for the numbers to mean the same; the reason when it is not, else NULL. */
static const char *golden_model_foreign(const golden_model *g)
{
    const json_t *rule = json_object_get(g->root, "optimizer"), *epsilon = json_object_get(g->config, "ln_eps");
    const char *gelu = json_string_value(json_object_get(g->config, "gelu"));
    const char *name = json_string_value(json_object_get(rule, "name"));
    if (epsilon && !json_is_null(epsilon) && json_number_value(epsilon) != 1e-5)
        return "config.ln_eps is not 1e-5";
    if (!gelu || (strcmp(gelu, "tanh") != 0 && strcmp(gelu, "exact") != 0))
        return "config.gelu is neither tanh nor exact";
    if (name && strcmp(name, "AdamW") != 0)
        return "the optimizer is not AdamW";
    return NULL;
}

/* Goes through the rows of a run's configuration, so that their bounds hold. */
static void golden_model_set(golden_model *g, const char *row, double value)
{
    char text[64];
    error fault = ERROR_INIT;
    number_print(value, text, sizeof text);
    if (config_set(&g->run, row, text, &fault) != 0)
        error_set(g->e, ERROR_USAGE, "%s: %s", g->path, fault.message);
}

static void golden_model_configure(golden_model *g)
{
    const json_t *rule = json_object_get(g->root, "optimizer"), *betas = json_object_get(rule, "betas");
    int width = golden_model_whole(g, "d_model", 4096), heads = golden_model_whole(g, "n_heads", width);
    int hidden = golden_model_whole(g, "d_ff", 16384);
    g->len = golden_model_whole(g, "T", GOLDEN_MODEL_TOKENS_MAX);
    g->vocab = golden_model_whole(g, "vocab", 65536);
    config_defaults(&g->run);
    if (width % heads != 0 || hidden % width != 0)
        error_set(g->e, ERROR_USAGE, "%s: d_model %d is no multiple of n_heads %d, or d_ff %d none of d_model", g->path,
                  width, heads, hidden);
    golden_model_set(g, "model.width", width);
    golden_model_set(g, "model.layers", golden_model_whole(g, "n_layers", 64));
    golden_model_set(g, "model.heads", heads);
    golden_model_set(g, "model.mlp", hidden / width);
    golden_model_set(g, "train.lr", json_number_value(json_object_get(rule, "lr")));
    golden_model_set(g, "train.beta1", golden_model_at(betas, 0));
    golden_model_set(g, "train.beta2", golden_model_at(betas, 1));
    golden_model_set(g, "train.epsilon", json_number_value(json_object_get(rule, "eps")));
    golden_model_set(g, "train.weight_decay", json_number_value(json_object_get(rule, "weight_decay")));
    golden_model_set(g, "train.clip", json_number_value(json_object_get(rule, "clip")));
    const char *gelu = json_string_value(json_object_get(g->config, "gelu"));
    g->run.model.gelu = strcmp(gelu, "exact") == 0 ? CONFIG_GELU_EXACT : CONFIG_GELU_TANH;
    g->run.train.decay = json_is_true(json_object_get(rule, "decay_1d")) ? CONFIG_DECAY_ALL : CONFIG_DECAY_TWO_DIM;
}

static const json_t *golden_model_tokens(golden_model *g, const char *key)
{
    const json_t *data = golden_model_data(json_object_get(g->root, key));
    for (size_t i = 0; i < json_array_size(data); i++)
        if (!(golden_model_at(data, i) >= 0 && golden_model_at(data, i) < g->vocab))
            error_set(g->e, ERROR_USAGE, "%s: %s[%zu] is outside the vocabulary of %d", g->path, key, i, g->vocab);
    return data;
}

static void golden_model_read_batch(golden_model *g)
{
    const json_t *tokens = golden_model_tokens(g, "tokens"), *targets = golden_model_tokens(g, "targets");
    size_t count = json_array_size(tokens);
    if (count == 0 || count > GOLDEN_MODEL_TOKENS_MAX || count % (size_t)g->len != 0 ||
        json_array_size(targets) != count) {
        error_set(g->e, ERROR_USAGE, "%s: %zu tokens and %zu targets are not rows of %d", g->path, count,
                  json_array_size(targets), g->len);
        return;
    }
    int sequences = (int)count / g->len;
    g->tokens = (int)count;
    g->input = ARENA_NEW(&g->memory, int, count);
    g->target = ARENA_NEW(&g->memory, int, count);
    g->start = ARENA_NEW(&g->memory, int, sequences + 1);
    if (!g->input || !g->target || !g->start) {
        error_set(g->e, ERROR_ENVIRONMENT, "out of memory");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        g->input[i] = (int)golden_model_at(tokens, i);
        g->target[i] = (int)golden_model_at(targets, i);
    }
    for (int n = 0; n <= sequences; n++)
        g->start[n] = n * g->len;
    g->batch =
        (batch){.sequences = sequences, .start = g->start, .input = g->input, .target = g->target, .training = 1};
}

/* The closed form of the data set, in 64-bit integers. */
static void golden_model_fill(golden_model *g, const json_t *p, const model_param *ours)
{
    long long t = json_integer_value(json_object_get(p, "index"));
    long long seed = (long long)json_number_value(json_object_get(g->config, "seed"));
    double base = json_number_value(json_object_get(p, "base")), amp = json_number_value(json_object_get(p, "amp"));
    for (size_t i = 0; i < model_param_length(ours); i++) {
        long long a = (long long)i + 17 * t + 1;
        long long m = (a * a * (t + 3) * 31 + (long long)i * 1327 + t * 757 + seed * 97) % 10007;
        g->model.value[ours->offset + i] = (real)(base + amp * (2.0 * (double)m / 10007.0 - 1.0));
    }
}

/* 0, or -1 with the reason why the two have not the same parameters. */
static int golden_model_weights(golden_model *g, char *reason, size_t size)
{
    const json_t *params = json_object_get(g->root, "params"), *p;
    size_t index;
    if ((int)json_array_size(params) != g->model.params_count) {
        snprintf(reason, size, "the file has %zu parameters, the network here %d", json_array_size(params),
                 g->model.params_count);
        return -1;
    }
    json_array_foreach(params, index, p)
    {
        const char *name = json_string_value(json_object_get(p, "name"));
        const model_param *ours = name ? golden_model_param(g, name) : NULL;
        const json_t *shape = json_object_get(p, "shape");
        double length = 1;
        for (size_t i = 0; i < json_array_size(shape); i++)
            length *= golden_model_at(shape, i);
        if (!ours || (shape && length != (double)model_param_length(ours))) {
            snprintf(reason, size, "the network here has no parameter '%.80s' of that size", name ? name : "");
            return -1;
        }
        golden_model_fill(g, p, ours);
    }
    model_changed(&g->model);
    return 0;
}

int golden_model_build(golden_model *g, const registry *r, char *reason, size_t size)
{
    static const char *const known[] = {"d_model", "n_layers", "n_heads", "d_ff",  "T",
                                        "vocab",   "gelu",     "seed",    "ln_eps"};
    error refusal = ERROR_INIT;
    const char *foreign = golden_model_foreign(g);
    if (foreign) {
        snprintf(reason, size, "%s", foreign);
        return 1;
    }
    if (golden_config_stack(g->config, known, sizeof known / sizeof known[0], g->stack, sizeof g->stack, reason,
                            size) != 0)
        return 1;
    golden_model_configure(g);
    golden_model_read_batch(g);
    if (g->e->kind != ERROR_NONE)
        return -1;
    pe_shape shape = {.width = g->run.model.width,
                      .heads = g->run.model.heads,
                      .head_dim = g->run.model.width / g->run.model.heads,
                      .layers = g->run.model.layers,
                      .train_len = g->len,
                      .causal = 1};
    if (layered_parse(r, g->stack, &g->stacks, &refusal) != 0 ||
        layered_check(&g->stacks, &shape, g->len, &refusal) != 0) {
        snprintf(reason, size, "refused: %s", refusal.message);
        return 1;
    }
    if (model_create(&g->model, &g->memory, &g->run, &g->stacks, g->vocab, g->len, 1, g->e) != 0 ||
        workspace_create(&g->work, &g->memory, &g->model, NULL, NULL, g->batch.sequences, g->tokens, g->len, 1, g->e) !=
            0 ||
        adamw_create(&g->optimiser, &g->memory, &g->model, &g->run, g->e) != 0)
        return -1;
    return golden_model_weights(g, reason, size) == 0 ? 0 : 1;
}
