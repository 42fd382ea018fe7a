/* golden_model.c - what a network computes against what a file says that it does. */
#include "golden_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "golden_model_build.h"

static const int golden_model_in_double = sizeof(real) == sizeof(double);

/* One line in the making. */
typedef struct golden_model_check {
    const char *name; /* its key in f64 */
    golden_outcome outcome;
    int compared;
    double worst;
    char remark[400];
} golden_model_check;

/* ------------------------------------------------------------------------------------------------ comparing */

static golden_model_check golden_model_begin(const char *name)
{
    return (golden_model_check){.name = name, .outcome = GOLDEN_PASSED};
}

/* The first reason stays; a failure replaces a skip. */
__attribute__((format(printf, 3, 4))) static void golden_model_say(golden_model_check *c, golden_outcome outcome,
                                                                   const char *format, ...)
{
    if (c->outcome == GOLDEN_FAILED || c->outcome == outcome)
        return;
    c->outcome = outcome;
    va_list args;
    va_start(args, format);
    vsnprintf(c->remark, sizeof c->remark, format, args);
    va_end(args);
}

static void golden_model_end(golden_model *g, golden_model_check *c)
{
    char id[160];
    const char *file = json_string_value(json_object_get(g->root, "id"));
    if (c->outcome == GOLDEN_PASSED && c->compared == 0)
        golden_model_say(c, GOLDEN_SKIPPED, "there was nothing to compare");
    snprintf(id, sizeof id, "%s.%s", file ? file : "network", c->name);
    golden_line line = {g->path, id, "network", c->outcome, c->compared, c->worst, c->remark};
    golden_tell(&line, g->tell, g->user, g->report);
}

/* In the twin the file's tolerance `f64`; in the product the bound that the file measured for floats, as an absolute
 * one. A bound that the file does not have is 0: it lets nothing pass but equality, rather than everything. */
static void golden_model_close(const golden_model *g, golden_model_check *c, double got, double want, const char *f64,
                               double f32, const char *what, size_t i)
{
    double allowed = f32, apart = fabs(got - want);
    if (golden_model_in_double) {
        const json_t *tol = json_object_get(g->tol, f64);
        allowed = golden_model_at(tol, 0) + golden_model_at(tol, 1) * fabs(want);
    }
    c->compared++;
    c->worst = fmax(c->worst, apart == 0 ? 0 : allowed > 0 ? apart / allowed : INFINITY);
    if (!(apart <= allowed))
        golden_model_say(c, GOLDEN_FAILED, "%s[%zu]: expected %.17g, got %.17g, %.2g apart where %.2g is allowed", what,
                         i, want, got, apart, allowed);
}

static double golden_model_tol(const golden_model *g, const char *key)
{
    return json_number_value(json_object_get(g->tol, key));
}

/* A bound on weights after that many steps; `all`: of elements whose gradient is rounding noise too. */
static double golden_model_tol_weights(const golden_model *g, int all, int step)
{
    char text[16];
    snprintf(text, sizeof text, "%d", step);
    return json_number_value(json_object_get(json_object_get(g->tol, all ? "f32_weights_all" : "f32_weights"), text));
}

static void golden_model_array(golden_model *g, golden_model_check *c, const json_t *array, const real *got, size_t n,
                               double f32, const char *what)
{
    const json_t *want = golden_model_data(array);
    if (json_array_size(want) != n) {
        golden_model_say(c, GOLDEN_SKIPPED, "%s has %zu numbers, not %zu", what, json_array_size(want), n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        golden_model_close(g, c, (double)got[i], golden_model_at(want, i), "f64_full", f32, what, i);
}

/* [sum, euclidean norm, sum x_i c_i, max |x|, x_0, x_(n-1)] with c_i = ((i*7919+13) mod 101 - 50)/50 */
static void golden_model_digest(const real *x, size_t n, double out[6])
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

static int golden_model_zero_grad(const golden_model *g, const char *name)
{
    const json_t *list = json_object_get(json_object_get(g->root, "facts"), "zero_grad_params"), *entry;
    size_t i;
    json_array_foreach(list, i, entry)
    {
        const char *text = json_string_value(entry);
        if (text && strcmp(text, name) == 0)
            return 1;
    }
    return 0;
}

/* Whether elements first .. first+count-1 have one whose gradient is nothing but rounding: in float Adam takes its sign
 * for a step. The file names parameters; single elements are found in its gradients, where it has them. One that is
 * exactly 0, as a unit that never fires has it, stays 0. */
static int golden_model_noisy(const golden_model *g, const char *name, size_t first, size_t count)
{
    const json_t *grad = golden_model_data(json_object_get(json_object_get(g->f64, "grads"), name));
    if (golden_model_zero_grad(g, name))
        return 1;
    for (size_t i = first; !golden_model_in_double && i < first + count && i < json_array_size(grad); i++)
        if (golden_model_at(grad, i) != 0 && fabs(golden_model_at(grad, i)) <= 1e-7)
            return 1;
    return 0;
}

/* All parameters' digests of `block`. f32: bound of one element, f32_noisy: of one whose gradient is noise; sums may be
 * off by the count more. */
static void golden_model_digests(golden_model *g, const char *key, const real *block, double f32, double f32_noisy)
{
    const json_t *value;
    const char *name;
    golden_model_check c = golden_model_begin(key);
    json_object_foreach(json_object_get(g->f64, key), name, value)
    {
        const model_param *p = golden_model_param(g, name);
        const char *f64 = golden_model_zero_grad(g, name) ? "f64_digest_zero_grad_params" : "f64_digest";
        if (!p || json_array_size(value) != 6) {
            golden_model_say(&c, GOLDEN_SKIPPED, "%s: no such parameter, or no digest", name);
            continue;
        }
        size_t n = model_param_length(p);
        double got[6], bound = golden_model_noisy(g, name, 0, n) ? f32_noisy : f32;
        golden_model_digest(block + p->offset, n, got);
        for (size_t i = 0; i < 6; i++)
            golden_model_close(g, &c, got[i], golden_model_at(value, i), f64, i < 3 ? bound * (double)n : bound, name,
                               i);
    }
    golden_model_end(g, &c);
}

/* Element by element. In double the parameters with elements whose gradient is noise are left to the digests. */
static void golden_model_elements(golden_model *g, const char *key, const real *block, double f32, double f32_noisy)
{
    const json_t *value;
    const char *name;
    golden_model_check c = golden_model_begin(key);
    json_object_foreach(json_object_get(g->f64, key), name, value)
    {
        const model_param *p = golden_model_param(g, name);
        const json_t *want = golden_model_data(value);
        size_t n = p ? model_param_length(p) : 0;
        if (!p || json_array_size(want) != n)
            golden_model_say(&c, GOLDEN_SKIPPED, "%s: no such parameter, or of another size", name);
        else if (!golden_model_in_double || !golden_model_zero_grad(g, name))
            for (size_t i = 0; i < n; i++)
                golden_model_close(g, &c, (double)block[p->offset + i], golden_model_at(want, i), "f64_full",
                                   golden_model_noisy(g, name, i, 1) ? f32_noisy : f32, name, i);
    }
    golden_model_end(g, &c);
}

/* ------------------------------------------------------------------------------------------------ the checks */

static double golden_model_pass(golden_model *g)
{
    model_forward(&g->model, &g->work, &g->batch);
    double loss = model_loss(&g->model, &g->work, &g->batch, 1.0 / g->tokens, NULL, NULL) / g->tokens;
    model_backward(&g->model, &g->work, &g->batch);
    return loss;
}

static void golden_model_logits(golden_model *g, const char *key, double f32)
{
    golden_model_check c = golden_model_begin(key);
    size_t vocab = (size_t)g->vocab, count = (size_t)g->tokens * vocab;
    real *all = ARENA_NEW(&g->memory, real, count);
    if (!all) {
        error_set(g->e, ERROR_ENVIRONMENT, "out of memory");
        return;
    }
    batch whole = g->batch;
    whole.every_token = 1;
    model_forward(&g->model, &g->work, &whole);
    for (int t = 0; t < g->tokens; t++)
        model_logits(&g->model, &g->work, t, all + (size_t)t * vocab);
    golden_model_array(g, &c, json_object_get(g->f64, key), all, count, f32, key);
    golden_model_end(g, &c);
}

/* The attention weights of the first layer as they go by, [heads][len][len] with 0 where nothing is visible. */
typedef struct golden_model_weights_seen {
    real *all;
    int len;
} golden_model_weights_seen;

static void golden_model_see(void *self, int layer, int sequence, int head, int row, const real *weights, int visible)
{
    golden_model_weights_seen *seen = self;
    size_t at = ((size_t)head * (size_t)seen->len + (size_t)row) * (size_t)seen->len;
    if (layer == 0 && sequence == 0)
        memcpy(seen->all + at, weights, sizeof *weights * (size_t)visible);
}

/* NULL, with an error set: no memory. */
static const real *golden_model_weights_of_first(golden_model *g, const batch *row)
{
    size_t count = (size_t)g->model.shape.heads * (size_t)g->len * (size_t)g->len;
    golden_model_weights_seen seen = {ARENA_NEW(&g->memory, real, count), g->len};
    attention_watch watch = {golden_model_see, &seen};
    if (!seen.all) {
        error_set(g->e, ERROR_ENVIRONMENT, "out of memory");
        return NULL;
    }
    g->work.watch = &watch;
    model_forward(&g->model, &g->work, row);
    g->work.watch = NULL;
    return seen.all;
}

/* Row 0 of the batch on its way: "embed", "probs_layer0", "after_attn<l>", "after_mlp<l>". */
static void golden_model_trace(golden_model *g, double f32)
{
    const json_t *value;
    const char *name;
    golden_model_check c = golden_model_begin("trace");
    batch row = g->batch;
    row.sequences = row.every_token = 1;
    size_t stream = (size_t)g->len * (size_t)g->model.shape.width;
    model_forward(&g->model, &g->work, &row);
    json_object_foreach(json_object_get(g->f64, "trace"), name, value)
    {
        const real *got = NULL;
        size_t count = stream;
        int layer = -1, layers = g->model.shape.layers, end = 0;
        if (strcmp(name, "embed") == 0) {
            got = g->work.layer[0].in;
        } else if (strcmp(name, "probs_layer0") == 0) {
            got = golden_model_weights_of_first(g, &row);
            count = (size_t)g->model.shape.heads * (size_t)g->len * (size_t)g->len;
        } else if (sscanf(name, "after_attn%d%n", &layer, &end) == 1 && !name[end] && layer >= 0 && layer < layers) {
            got = g->work.layer[layer].mid;
        } else if (sscanf(name, "after_mlp%d%n", &layer, &end) == 1 && !name[end] && layer >= 0 && layer < layers) {
            got = layer + 1 < layers ? g->work.layer[layer + 1].in : g->work.h;
        }
        if (got)
            golden_model_array(g, &c, value, got, count, f32, name);
        else
            golden_model_say(&c, GOLDEN_SKIPPED, "trace.%s is not understood", name);
    }
    golden_model_end(g, &c);
}

/* "weight_digest_2" is what the block is checked for after step 2. NULL when the file has none. */
static const char *golden_model_key_at(const golden_model *g, const char *stem, int step)
{
    char name[64];
    const char *key;
    const json_t *value;
    snprintf(name, sizeof name, "%s%d", stem, step);
    json_object_foreach((json_t *)g->f64, key, value) if (strcmp(key, name) == 0) return key;
    return NULL;
}

static void golden_model_after(golden_model *g, int step)
{
    double weights = golden_model_tol_weights(g, 0, step), all = golden_model_tol_weights(g, 1, step);
    const char *digests = golden_model_key_at(g, "weight_digest_", step);
    const char *whole = golden_model_key_at(g, "weights_after_", step);
    const char *logits = golden_model_key_at(g, "logits_after_", step);
    if (digests)
        golden_model_digests(g, digests, g->model.value, weights, all);
    if (whole)
        golden_model_elements(g, whole, g->model.value, weights, all);
    if (logits)
        golden_model_logits(g, logits, all);
}

/* The same batch at every step; losses[k] and grad_norms[k] are measured after k updates. */
static void golden_model_steps(golden_model *g)
{
    const json_t *losses = golden_model_data(json_object_get(g->f64, "losses"));
    const json_t *norms = golden_model_data(json_object_get(g->f64, "grad_norms"));
    size_t measured = json_array_size(losses);
    golden_model_check loss_check = golden_model_begin("losses"), norm_check = golden_model_begin("grad_norms");
    if (norms && json_array_size(norms) != measured)
        golden_model_say(&norm_check, GOLDEN_SKIPPED, "grad_norms has another number of steps than losses");
    for (size_t step = 0; step < measured; step++) {
        double loss = golden_model_pass(g), norm = adamw_update(&g->optimiser, &g->model, g->run.train.lr);
        golden_model_close(g, &loss_check, loss, golden_model_at(losses, step), "f64_digest",
                           10 * golden_model_tol(g, "f32_loss"), "losses", step);
        if (norm_check.outcome != GOLDEN_SKIPPED)
            golden_model_close(g, &norm_check, norm, golden_model_at(norms, step), "f64_digest", 1e-4, "grad_norms",
                               step);
        if (step + 1 < measured)
            golden_model_after(g, (int)step + 1);
    }
    if (losses)
        golden_model_end(g, &loss_check);
    if (norms)
        golden_model_end(g, &norm_check);
}

/* ------------------------------------------------------------------------------------------------ one file */

int golden_model_is(const json_t *root)
{
    return json_is_object(json_object_get(root, "config")) && !json_object_get(root, "cases");
}

/* 1 if golden_model_checks looks at that key. */
static int golden_model_knows(const golden_model *g, const char *key)
{
    static const char *const stems[] = {"weight_digest_", "weights_after_", "logits_after_"};
    static const char *const names[] = {"logits", "trace", "loss", "grad_digest", "grads", "losses", "grad_norms"};
    size_t updates = json_array_size(golden_model_data(json_object_get(g->f64, "losses")));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(key, names[i]) == 0)
            return 1;
    for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++) {
        size_t length = strlen(stems[i]);
        int step = 0, end = 0;
        if (strncmp(key, stems[i], length) == 0 && sscanf(key + length, "%d%n", &step, &end) == 1 &&
            !key[length + (size_t)end] && step >= 1 && (size_t)step < updates)
            return 1;
    }
    return 0;
}

static void golden_model_checks(golden_model *g)
{
    double grad = golden_model_tol(g, "f32_grad_abs");
    golden_model_check c = golden_model_begin("loss");
    if (json_object_get(g->f64, "logits"))
        golden_model_logits(g, "logits", golden_model_tol(g, "f32_logits"));
    if (json_object_get(g->f64, "trace"))
        golden_model_trace(g, golden_model_tol(g, "f32_logits"));
    double loss = golden_model_pass(g);
    if (json_object_get(g->f64, "loss")) {
        golden_model_close(g, &c, loss, json_number_value(json_object_get(g->f64, "loss")), "f64_digest",
                           golden_model_tol(g, "f32_loss"), "loss", 0);
        golden_model_end(g, &c);
    }
    if (json_object_get(g->f64, "grad_digest"))
        golden_model_digests(g, "grad_digest", g->model.grad, grad, grad);
    if (json_object_get(g->f64, "grads"))
        golden_model_elements(g, "grads", g->model.grad, grad, grad);
    memset(g->model.grad, 0, sizeof(real) * g->model.length);
    golden_model_steps(g);
}

/* Lines for the keys that golden_model_checks does not look at: all of them when there is no network. */
static void golden_model_skip(golden_model *g, int all, const char *reason)
{
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)g->f64, key, value)
    {
        if (!all && golden_model_knows(g, key))
            continue;
        golden_model_check c = golden_model_begin(key);
        golden_model_say(&c, GOLDEN_SKIPPED, "%s", reason);
        golden_model_end(g, &c);
    }
}

int golden_model_run(const registry *r, const char *path, const json_t *root, golden_line_fn *f, void *user,
                     golden_report *out, error *e)
{
    golden_model g = {.root = root,
                      .config = json_object_get(root, "config"),
                      .tol = json_object_get(root, "tol"),
                      .f64 = json_object_get(root, "f64"),
                      .path = path,
                      .tell = f,
                      .user = user,
                      .report = out,
                      .e = e};
    char reason[400];
    if (!json_is_object(g.f64) || !json_is_object(g.tol))
        return error_set(e, ERROR_USAGE, "%s: it has no 'f64' or no 'tol'", path);
    int built = golden_model_build(&g, r, reason, sizeof reason);
    if (built == 0)
        golden_model_checks(&g);
    if (built >= 0)
        golden_model_skip(&g, built > 0, built > 0 ? reason : "f64 has a key that is not understood");
    layered_free(&g.stacks);
    arena_free(&g.memory);
    return e->kind == ERROR_NONE ? 0 : -1;
}
