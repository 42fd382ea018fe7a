/* The network against vectors of an independent implementation: logits, loss, every gradient, ten AdamW steps. The data carry
 * their own weights (a closed form), tokens and targets; see encodings/tests/golden/README.md. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "adamw.h"
#include "model.h"

#define GOLDEN_FOLDER "encodings/tests/golden/"

typedef struct golden {
    json_t *root;
    const char *file;
    arena memory;
    registry *registry;
    layered_stack stacks;
    run_config config;
    model model;
    workspace work;
    adamw optimiser;
    batch batch;
    int start[64], *input, *target;
    int tokens;
} golden;

static double golden_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    cr_assert(json_is_number(value), "no number '%s'", key);
    return json_number_value(value);
}

static const json_t *golden_data(const json_t *object, const char *key, size_t *count)
{
    const json_t *array = json_object_get(object, key);
    const json_t *data = json_is_object(array) ? json_object_get(array, "data") : array;
    cr_assert(json_is_array(data), "no array '%s'", key);
    *count = json_array_size(data);
    return data;
}

static double golden_at(const json_t *data, size_t i)
{
    return json_number_value(json_array_get(data, i));
}

/* The option string that makes our encoding what the file's was. */
static void golden_encoding(const json_t *config, char *out, size_t size)
{
    const char *name = json_string_value(json_object_get(config, "pe"));
    if (strcmp(name, "rope") == 0)
        snprintf(out, size, "rope(layout=%s,base=%g,fraction=%g)",
                 json_string_value(json_object_get(config, "layout")), golden_number(config, "base"),
                 golden_number(config, "rotary_dim") * golden_number(config, "n_heads") / golden_number(config, "d_model"));
    else if (strcmp(name, "sinusoidal") == 0)
        snprintf(out, size, "sinusoidal(base=%g)", golden_number(config, "base"));
    else if (strcmp(name, "t5") == 0)
        snprintf(out, size, "t5(buckets=%g,max_distance=%g,shared=%s)", golden_number(config, "num_buckets"),
                 golden_number(config, "max_distance"),
                 json_is_true(json_object_get(config, "share_bias")) ? "true" : "false");
    else if (strcmp(name, "shaw") == 0)
        snprintf(out, size, "shaw(clip=%g,value=%s)", golden_number(config, "clip_distance"),
                 json_is_true(json_object_get(config, "value_term")) ? "true" : "false");
    else if (strcmp(name, "kerple_log") == 0)
        snprintf(out, size, "kerple(kind=log,shared=%s)",
                 json_is_true(json_object_get(config, "share_bias")) ? "true" : "false");
    else if (strcmp(name, "fire") == 0)
        snprintf(out, size, "fire(hidden=%g,threshold=%g)", golden_number(config, "fire_width"),
                 golden_number(config, "fire_L"));
    else
        snprintf(out, size, "%s", name);
}

static void golden_configure(golden *g)
{
    const json_t *config = json_object_get(g->root, "config"), *rule = json_object_get(g->root, "optimizer");
    run_config *c = &g->config;
    config_defaults(c);
    golden_encoding(config, c->encoding, sizeof c->encoding);
    c->model.width = (int)golden_number(config, "d_model");
    c->model.layers = (int)golden_number(config, "n_layers");
    c->model.heads = (int)golden_number(config, "n_heads");
    c->model.mlp = (int)golden_number(config, "d_ff") / c->model.width;
    const char *gelu = json_string_value(json_object_get(config, "gelu"));
    c->model.gelu = strcmp(gelu, "tanh") == 0 ? CONFIG_GELU_TANH : CONFIG_GELU_EXACT;
    c->train.lr = golden_number(rule, "lr");
    c->train.beta1 = golden_at(json_object_get(rule, "betas"), 0);
    c->train.beta2 = golden_at(json_object_get(rule, "betas"), 1);
    c->train.epsilon = golden_number(rule, "eps");
    c->train.weight_decay = golden_number(rule, "weight_decay");
    c->train.clip = golden_number(rule, "clip");
    c->train.decay = json_is_true(json_object_get(rule, "decay_1d")) ? CONFIG_DECAY_ALL : CONFIG_DECAY_TWO_DIM;
}

/* The names of the vectors' position parameters in our table. */
static const char *golden_name(const char *name, char *out, size_t size)
{
    static const char *const endings[][2] = { { "pos_emb", "learned.table" }, { "shaw.k", "shaw.key" },
                                              { "shaw.v", "shaw.value" }, { "fire.L_mult", "fire.L_multiplier" } };
    size_t length = strlen(name);
    snprintf(out, size, "%s", name);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t tail = strlen(endings[i][0]);
        if (length >= tail && strcmp(name + length - tail, endings[i][0]) == 0)
            snprintf(out + length - tail, size - (length - tail), "%s", endings[i][1]);
    }
    return out;
}

static const model_param *golden_param(const golden *g, const char *name)
{
    char ours[96];
    const model_param *p = model_find(&g->model, golden_name(name, ours, sizeof ours));
    cr_assert_not_null(p, "%s: the network has no parameter '%s'", g->file, name);
    return p;
}

static void golden_weights(golden *g)
{
    const json_t *params = json_object_get(g->root, "params"), *p;
    long long seed = (long long)golden_number(json_object_get(g->root, "config"), "seed");
    size_t index;
    cr_assert_eq((int)json_array_size(params), g->model.params_count, "%s: another number of parameters", g->file);
    json_array_foreach (params, index, p) {
        const model_param *ours = golden_param(g, json_string_value(json_object_get(p, "name")));
        long long t = (long long)golden_number(p, "index");
        double base = golden_number(p, "base"), amp = golden_number(p, "amp");
        for (size_t i = 0; i < model_param_length(ours); i++) {
            long long a = (long long)i + 17 * t + 1;
            long long m = (a * a * (t + 3) * 31 + (long long)i * 1327 + t * 757 + seed * 97) % 10007;
            g->model.value[ours->offset + i] = (real)(base + amp * (2.0 * (double)m / 10007.0 - 1.0));
        }
    }
}

static void golden_open(golden *g, const char *file)
{
    char path[256];
    json_error_t fault;
    error e = ERROR_INIT;
    memset(g, 0, sizeof *g);
    g->file = file;
    snprintf(path, sizeof path, GOLDEN_FOLDER "%s", file);
    g->root = json_load_file(path, 0, &fault);
    cr_assert_not_null(g->root, "%s: %s", path, fault.text);
    golden_configure(g);
    g->registry = registry_new(&e);
    cr_assert_eq(layered_parse(g->registry, g->config.encoding, &g->stacks, &e), 0, "%s", e.message);

    size_t count, targets;
    const json_t *tokens = golden_data(g->root, "tokens", &count), *target = golden_data(g->root, "targets", &targets);
    int len = (int)golden_number(json_object_get(g->root, "config"), "T");
    g->tokens = (int)count;
    g->input = ARENA_NEW(&g->memory, int, count);
    g->target = ARENA_NEW(&g->memory, int, count);
    for (size_t i = 0; i < count; i++) {
        g->input[i] = (int)golden_at(tokens, i);
        g->target[i] = (int)golden_at(target, i);
    }
    int sequences = (int)count / len;
    for (int n = 0; n <= sequences; n++)
        g->start[n] = n * len;
    g->batch = (batch){ .sequences = sequences, .start = g->start, .input = g->input, .target = g->target, .training = 1 };
    int vocab = (int)golden_number(json_object_get(g->root, "config"), "vocab");
    cr_assert_eq(model_create(&g->model, &g->memory, &g->config, &g->stacks, vocab, len, 1, &e), 0, "%s", e.message);
    cr_assert_eq(workspace_create(&g->work, &g->memory, &g->model, NULL, NULL, sequences, (int)count, len, 1, &e), 0,
                 "%s", e.message);
    cr_assert_eq(adamw_create(&g->optimiser, &g->memory, &g->model, &g->config, &e), 0, "%s", e.message);
    golden_weights(g);
}

static void golden_close(golden *g)
{
    layered_free(&g->stacks);
    registry_free(g->registry);
    arena_free(&g->memory);
    json_decref(g->root);
}

static const int golden_double = sizeof(real) == sizeof(double);

/* In the twin the file's f64 tolerance; in the product the f32 bound that the file measured, as an absolute one. */
static void golden_close_to(const golden *g, double got, double want, const char *f64, double f32, const char *what,
                            size_t i)
{
    double limit = f32;
    if (golden_double) {
        const json_t *tol = json_object_get(json_object_get(g->root, "tol"), f64);
        limit = golden_at(tol, 0) + golden_at(tol, 1) * fabs(want);
    }
    cr_assert(fabs(got - want) <= limit, "%s: %s[%zu] is %.17g, not %.17g (off by %.2g, allowed %.2g)", g->file, what, i,
              got, want, fabs(got - want), limit);
}

static double golden_tol(const golden *g, const char *key)
{
    return golden_number(json_object_get(g->root, "tol"), key);
}

static void golden_array(const golden *g, const char *key, const real *got, size_t n, double f32)
{
    size_t count;
    const json_t *want = golden_data(json_object_get(g->root, "f64"), key, &count);
    cr_assert_eq(count, n);
    for (size_t i = 0; i < n; i++)
        golden_close_to(g, (double)got[i], golden_at(want, i), "f64_full", f32, key, i);
}

/* [sum, euclidean norm, sum x_i c_i, max |x|, x_0, x_(n-1)] with c_i = ((i*7919+13) mod 101 - 50)/50 */
static void golden_digest(const real *x, size_t n, double out[6])
{
    memset(out, 0, 6 * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        double v = (double)x[i];
        out[0] += v;
        out[1] += v * v;
        out[2] += v * ((double)((i * 7919 + 13) % 101) - 50) / 50;
        out[3] = fabs(v) > out[3] ? fabs(v) : out[3];
    }
    out[1] = sqrt(out[1]);
    out[4] = (double)x[0];
    out[5] = (double)x[n - 1];
}

static int golden_zero_grad(const golden *g, const char *name)
{
    const json_t *list = json_object_get(json_object_get(g->root, "facts"), "zero_grad_params"), *entry;
    size_t i;
    json_array_foreach (list, i, entry)
        if (strcmp(json_string_value(entry), name) == 0)
            return 1;
    return 0;
}

/* Elements from first on, up to count, whose gradient is nothing but rounding: in float Adam takes its sign for a step. The
 * file names parameters; single elements are found in its gradients, where it has them. One that is exactly 0, as a unit that
 * never fires has it, stays 0. */
static int golden_noisy(const golden *g, const char *name, size_t first, size_t count)
{
    const json_t *grads = json_object_get(json_object_get(g->root, "f64"), "grads");
    if (golden_zero_grad(g, name))
        return 1;
    if (golden_double || !json_object_get(grads, name))
        return 0;
    size_t length;
    const json_t *grad = golden_data(grads, name, &length);
    for (size_t i = first; i < first + count && i < length; i++)
        if (golden_at(grad, i) != 0 && fabs(golden_at(grad, i)) <= 1e-7)
            return 1;
    return 0;
}

/* All parameters' digests of `block`. f32: bound of one element; sums may be off by the root of the count more. */
static void golden_digests(const golden *g, const char *key, const real *block, double f32, double f32_zero)
{
    const json_t *digests = json_object_get(json_object_get(g->root, "f64"), key);
    void *entry = json_object_iter((json_t *)digests);
    cr_assert_not_null(entry);
    for (; entry; entry = json_object_iter_next((json_t *)digests, entry)) {
        const char *name = json_object_iter_key(entry);
        const model_param *p = golden_param(g, name);
        size_t n = model_param_length(p);
        double got[6], bound = golden_noisy(g, name, 0, n) ? f32_zero : f32;
        golden_digest(block + p->offset, n, got);
        for (size_t i = 0; i < 6; i++)
            golden_close_to(g, got[i], golden_at(json_object_iter_value(entry), i),
                            golden_zero_grad(g, name) ? "f64_digest_zero_grad_params" : "f64_digest",
                            i < 3 ? bound * (double)n : bound, name, i);
    }
}

/* Element by element where the file has all of them. */
static void golden_whole(const golden *g, const char *key, const real *block, double f32, double f32_zero)
{
    const json_t *all = json_object_get(json_object_get(g->root, "f64"), key);
    for (void *entry = json_object_iter((json_t *)all); entry; entry = json_object_iter_next((json_t *)all, entry)) {
        const char *name = json_object_iter_key(entry);
        const model_param *p = golden_param(g, name);
        size_t count;
        const json_t *want = golden_data(all, name, &count);
        cr_assert_eq(count, model_param_length(p));
        for (size_t i = 0; i < count; i++)
            if (!golden_zero_grad(g, name) || !golden_double)
                golden_close_to(g, (double)block[p->offset + i], golden_at(want, i), "f64_full",
                                golden_noisy(g, name, i, 1) ? f32_zero : f32, name, i);
    }
}

static double golden_pass(golden *g)
{
    model_forward(&g->model, &g->work, &g->batch);
    double loss = model_loss(&g->model, &g->work, &g->batch, 1.0 / g->tokens, NULL, NULL) / g->tokens;
    model_backward(&g->model, &g->work, &g->batch);
    return loss;
}

static void golden_logits(golden *g, const char *key, double f32)
{
    model_forward(&g->model, &g->work, &g->batch);
    real *all = ARENA_NEW(&g->memory, real, g->tokens * g->model.vocab);
    for (int t = 0; t < g->tokens; t++)
        model_logits(&g->model, &g->work, t, all + t * g->model.vocab);
    golden_array(g, key, all, (size_t)(g->tokens * g->model.vocab), f32);
}

static double golden_weights_tol(const golden *g, const char *key, int step)
{
    char text[8];
    snprintf(text, sizeof text, "%d", step);
    return golden_number(json_object_get(json_object_get(g->root, "tol"), key), text);
}

static void golden_steps(golden *g)
{
    const json_t *f64 = json_object_get(g->root, "f64");
    size_t count;
    const json_t *losses = golden_data(f64, "losses", &count), *norms = golden_data(f64, "grad_norms", &count);
    cr_assert_eq(count, 11);
    for (int step = 0; step <= 10; step++) {
        double loss = golden_pass(g);
        golden_close_to(g, loss, golden_at(losses, (size_t)step), "f64_digest", 10 * golden_tol(g, "f32_loss"), "losses",
                        (size_t)step);
        if (step == 10)
            break;
        double norm = adamw_update(&g->optimiser, &g->model, g->config.train.lr);
        golden_close_to(g, norm, golden_at(norms, (size_t)step), "f64_digest", 1e-4, "grad_norms", (size_t)step);
        char key[32];
        snprintf(key, sizeof key, "weight_digest_%d", step + 1);
        if (json_object_get(f64, key))
            golden_digests(g, key, g->model.value, golden_weights_tol(g, "f32_weights", step + 1),
                           golden_weights_tol(g, "f32_weights_all", step + 1));
    }
    golden_whole(g, "weights_after_10", g->model.value, golden_weights_tol(g, "f32_weights", 10),
                 golden_weights_tol(g, "f32_weights_all", 10));
    golden_logits(g, "logits_after_10", golden_weights_tol(g, "f32_weights_all", 10));
}

static void golden_model(const char *file)
{
    golden g;
    golden_open(&g, file);
    golden_logits(&g, "logits", golden_tol(&g, "f32_logits"));
    double loss = golden_pass(&g), grad = golden_tol(&g, "f32_grad_abs");
    golden_close_to(&g, loss, golden_number(json_object_get(g.root, "f64"), "loss"), "f64_digest",
                    golden_tol(&g, "f32_loss"), "loss", 0);
    golden_digests(&g, "grad_digest", g.model.grad, grad, grad);
    golden_whole(&g, "grads", g.model.grad, grad, grad);
    memset(g.model.grad, 0, sizeof(real) * g.model.length);
    golden_steps(&g);
    golden_close(&g);
}

#define GOLDEN_MODEL(name)                                                                                              \
    Test(model_golden, name)                                                                                           \
    {                                                                                                                  \
        golden_model("model_" #name ".json");                                                                          \
    }

GOLDEN_MODEL(nope)
GOLDEN_MODEL(nope_exact_gelu)
GOLDEN_MODEL(learned)
GOLDEN_MODEL(learned_decay2d)
GOLDEN_MODEL(sinusoidal)
GOLDEN_MODEL(rope)
GOLDEN_MODEL(alibi)
GOLDEN_MODEL(t5)
GOLDEN_MODEL(shaw)
GOLDEN_MODEL(kerple_log)
GOLDEN_MODEL(fire)
