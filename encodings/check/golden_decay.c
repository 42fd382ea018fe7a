/* golden_decay.c - operations of kerple_sandwich_fire.json: biases that fall with the distance. */
#include "golden_case.h"

#include <stdio.h>

#include "options.h"

/* A mask is causal unless the case says otherwise, in either word. */
static int decay_is_causal(golden_case *c)
{
    double causal = golden_number(c, "causal", 1), bidirectional = golden_number(c, "bidirectional", 0);
    return causal != 0 && bidirectional == 0;
}

/* Compares out.bias; where an array is missing or of another shape the case has been skipped. */
static void decay_compare_bias(golden_case *c, refhost *h, const pe_shape *shape, const golden_tokens *t)
{
    size_t pairs = (size_t)t->queries * (size_t)t->keys;
    unsigned char *visible = golden_memory(c, pairs, 1);
    double *bias = visible ? golden_bias(c, h, shape->heads, t, visible) : NULL;
    if (bias)
        golden_compare(c, "bias", bias, (size_t)shape->heads * pairs, golden_bias_hidden(c, shape->heads, t, visible));
}

static void decay_compare_gradient(golden_case *c, const refhost *h, const char *name, const char *param)
{
    if (golden_has_out(c, name))
        golden_compare_param_gradient(c, name, h, param, NULL, 0);
}

/* ------------------------------------------------------------------------------------------------ kerple */

static int decay_kerple_stack(golden_case *c, const char *kind, const pe_shape *shape, pe_stack *out)
{
    char eps[32], text[128];
    int power = strcmp(kind, "log") != 0;
    number_print(golden_number(c, "eps", 0.01), eps, sizeof eps);
    double most = golden_number(c, "p_max", power ? 2 : INFINITY);
    if (most != (power ? 2 : INFINITY))
        golden_skip(c, "kerple(kind=%s) does not hold p at most %g", kind, most);
    snprintf(text, sizeof text, "kerple(kind=%s,eps=%s)", kind, eps);
    return c->outcome == GOLDEN_PASSED ? golden_stack(c, text, shape, out) : -1;
}

static int decay_kerple_start(golden_case *c, refhost *h)
{
    const golden_array *p = golden_in(c, "p", 1), *a = golden_in(c, "a", 1);
    return p && a && golden_set_param(c, h, "p", p) == 0 && golden_set_param(c, h, "a", a) == 0 ? 0 : -1;
}

/* The parameters as the formula reads them, from what it makes of distances 1 and 2. power: bias(1) = -a and bias(2) =
 * -a 2^p. log: a gradient of 1 at distance 1 comes back to p as -ln(1 + a), and bias(1) = -p ln(1 + a). */
static void decay_kerple_compare_used(golden_case *c, const pe_stack *stack, const pe_shape *shape, int power)
{
    static const double pos[] = {0, 1, 2};
    int heads = shape->heads;
    golden_tokens t;
    double *p = golden_memory(c, (size_t)heads, sizeof *p), *a = golden_memory(c, (size_t)heads, sizeof *a);
    golden_array unit = {3, {heads, 1, 3}, (size_t)heads * 3, golden_memory(c, (size_t)heads * 3, sizeof(double))};
    if (!p || !a || !unit.data || golden_place(c, pos + 2, 1, pos, 3, &t) < 0)
        return;
    refhost *h = golden_bias_host(c, stack, shape, &t);
    double *bias = h && decay_kerple_start(c, h) == 0 ? golden_bias(c, h, heads, &t, NULL) : NULL;
    for (int head = 0; head < heads; head++)
        unit.data[3 * head + 1] = 1;
    if (bias && golden_bias_backward(c, h, &t, &unit) == 0) {
        for (int head = 0; head < heads; head++) {
            double far = bias[3 * head], near = bias[3 * head + 1], by_p = (double)refhost_param_at(h, 0)->dtheta[head];
            p[head] = power ? log2(far / near) : near / by_p;
            a[head] = power ? -near : expm1(-by_p);
        }
        if (golden_has_out(c, "p_used"))
            golden_compare(c, "p_used", p, (size_t)heads, NULL);
        if (golden_has_out(c, "a_used"))
            golden_compare(c, "a_used", a, (size_t)heads, NULL);
    }
    refhost_free(h);
}

static void decay_kerple_run(golden_case *c, const pe_stack *stack, const pe_shape *shape, const golden_tokens *t)
{
    refhost *h = golden_bias_host(c, stack, shape, t);
    const golden_array *grad = golden_has_in(c, "grad_bias") ? golden_in(c, "grad_bias", 3) : NULL;
    if (h && decay_kerple_start(c, h) == 0) {
        decay_compare_bias(c, h, shape, t);
        if (grad && golden_bias_backward(c, h, t, grad) == 0) {
            decay_compare_gradient(c, h, "grad_p", "p");
            decay_compare_gradient(c, h, "grad_a", "a");
        }
    }
    refhost_free(h);
}

static void decay_kerple_bias(golden_case *c)
{
    const golden_array *bias = golden_out(c, "bias", 3);
    int heads = golden_whole(c, "heads"), power = strcmp(c->variant, "power") == 0;
    golden_tokens t;
    pe_stack stack;
    if (!power && strcmp(c->variant, "log") != 0)
        golden_skip(c, "kerple has no kind '%s'", c->variant);
    if (!bias || c->outcome != GOLDEN_PASSED || bias->shape[0] != heads ||
        golden_place_offset(c, bias->shape[1], bias->shape[2], &t) < 0)
        return;
    pe_shape shape = golden_shape(heads, 2, decay_is_causal(c));
    if (decay_kerple_stack(c, c->variant, &shape, &stack) < 0)
        return;
    decay_kerple_run(c, &stack, &shape, &t);
    if (golden_has_out(c, "p_used") || golden_has_out(c, "a_used"))
        decay_kerple_compare_used(c, &stack, &shape, power);
    stack_free(&stack);
}

/* Scores of the file as products: q_i holds row i, k_j is the unit vector j, and the scale is 1. */
static void decay_composite_run(golden_case *c, const pe_stack *stack, const pe_shape *shape, const golden_tokens *t,
                                const golden_array *scores)
{
    static const char *const params[][2] = {
        {"bias_p", "p"}, {"bias_a", "a"}, {"weight_p", "weight_p"}, {"weight_a", "weight_a"}};
    int heads = shape->heads, queries = t->queries, keys = t->keys;
    refhost_settings settings = {.shape = *shape, .len = t->len, .pos = t->pos, .scale = 1, .tile_rows = 3, .pad = 2};
    golden_array unit = {3, {heads, keys, keys}, (size_t)(heads * keys) * (size_t)keys, NULL};
    unsigned char *visible = golden_memory(c, (size_t)queries * (size_t)keys, 1);
    unit.data = golden_memory(c, unit.count, sizeof *unit.data);
    refhost *h = visible && unit.data ? refhost_new(stack, &settings, c->e) : NULL;
    for (int i = 0; h && i < heads * keys; i++)
        unit.data[i * keys + i % keys] = 1;
    const refhost_input in = {.q = h ? golden_scatter(c, scores, t->query, t->len) : NULL,
                              .k = h ? golden_scatter(c, &unit, t->key, t->len) : NULL};
    int ready = in.q && in.k;
    for (int p = 0; ready && p < 4; p++) {
        const golden_array *values = golden_in(c, params[p][0], 1);
        ready = values && golden_set_param(c, h, params[p][1], values) == 0;
    }
    if (ready) {
        refhost_output out = refhost_forward(h, &in);
        for (int i = 0; i < queries * keys; i++)
            visible[i] = (unsigned char)refhost_visible(h, t->query[i / keys], t->key[i % keys]);
        golden_compare(c, "scores_out", golden_gather_pairs(c, out.logits, heads, t), scores->count,
                       golden_bias_hidden(c, heads, t, visible));
    }
    refhost_free(h);
}

static void decay_kerple_composite(golden_case *c)
{
    const golden_array *scores = golden_in(c, "scores", 3);
    int heads = golden_whole(c, "heads");
    golden_tokens t;
    pe_stack stack;
    if (strcmp(c->variant, "power_with_weight") != 0)
        golden_skip(c, "kerple has no composite form '%s'", c->variant);
    if (!scores || c->outcome != GOLDEN_PASSED || scores->shape[0] != heads ||
        golden_place_last(c, scores->shape[1], scores->shape[2], &t) < 0)
        return;
    pe_shape shape = golden_shape(heads, scores->shape[2], decay_is_causal(c));
    if (decay_kerple_stack(c, "composite", &shape, &stack) < 0)
        return;
    decay_composite_run(c, &stack, &shape, &t, scores);
    stack_free(&stack);
}

/* ------------------------------------------------------------------------------------------------ sandwich */

static void decay_sandwich_bias(golden_case *c)
{
    const golden_array *distance = golden_in(c, "distance", 1);
    double *pos = distance ? golden_memory(c, distance->count, sizeof *pos) : NULL, query = 0, least = 0;
    char text[128];
    golden_tokens t;
    pe_stack stack;
    if (!pos)
        return;
    for (size_t i = 0; i < distance->count; i++) {
        query = fmax(query, distance->data[i]);
        least = fmin(least, distance->data[i]);
    }
    for (size_t i = 0; i < distance->count; i++)
        pos[i] = query - distance->data[i];
    pe_shape shape = golden_shape(golden_whole(c, "heads"), 2, least >= 0);
    snprintf(text, sizeof text, "sandwich(width=%d,first_index=%d,centered=%s)", golden_whole(c, "bar_d"),
             golden_whole_or(c, "first_index", 0), golden_number(c, "centered", 0) != 0 ? "true" : "false");
    if (c->outcome != GOLDEN_PASSED || golden_place(c, &query, 1, pos, distance->shape[0], &t) < 0 ||
        golden_stack(c, text, &shape, &stack) < 0)
        return;
    refhost *h = golden_bias_host(c, &stack, &shape, &t);
    if (h)
        decay_compare_bias(c, h, &shape, &t);
    refhost_free(h);
    stack_free(&stack);
}

/* ------------------------------------------------------------------------------------------------ fire */

static int decay_fire_stack(golden_case *c, int hidden, const pe_shape *shape, pe_stack *out)
{
    char threshold[32], eps[32], text[160];
    number_print(golden_number(c, "L", 512), threshold, sizeof threshold);
    number_print(golden_number(c, "eps", 1e-6), eps, sizeof eps);
    snprintf(text, sizeof text, "fire(hidden=%d,threshold=%s,eps=%s)", hidden, threshold, eps);
    return c->outcome == GOLDEN_PASSED ? golden_stack(c, text, shape, out) : -1;
}

/* A number as the array that golden_set_param takes. */
static int decay_set_scalar(golden_case *c, refhost *h, const char *param, double value)
{
    const golden_array scalar = {1, {1}, 1, &value};
    return golden_set_param(c, h, param, &scalar);
}

static int decay_fire_start_distance(golden_case *c, refhost *h)
{
    double multiplier = golden_number(c, "L_multiplier", 1), start = golden_number(c, "c", 0.1);
    return decay_set_scalar(c, h, "c", start) == 0 && decay_set_scalar(c, h, "L_multiplier", multiplier) == 0 ? 0 : -1;
}

static int decay_fire_start(golden_case *c, refhost *h)
{
    static const char *const params[][2] = {{"W1", "w1"}, {"b1", "b1"}, {"W2", "w2"}, {"b2", "b2"}};
    for (int p = 0; p < 4; p++) {
        const golden_array *values = golden_in(c, params[p][0], 0);
        if (!values || golden_set_param(c, h, params[p][1], values) < 0)
            return -1;
    }
    return decay_fire_start_distance(c, h);
}

/* Normalised distances: the bias of a network that hands through what it is given, which is never negative. */
static void decay_fire_compare_distance(golden_case *c, const golden_tokens *t, int causal)
{
    pe_shape shape = golden_shape(1, 2, causal);
    size_t pairs = (size_t)t->queries * (size_t)t->keys;
    unsigned char *visible = golden_memory(c, pairs, 1);
    pe_stack stack;
    if (!visible || decay_fire_stack(c, 1, &shape, &stack) < 0)
        return;
    refhost *h = golden_bias_host(c, &stack, &shape, t);
    if (h && decay_fire_start_distance(c, h) == 0 && decay_set_scalar(c, h, "w1", 1) == 0 &&
        decay_set_scalar(c, h, "b1", 0) == 0 && decay_set_scalar(c, h, "w2", 1) == 0 &&
        decay_set_scalar(c, h, "b2", 0) == 0) {
        double *x = golden_bias(c, h, 1, t, visible);
        golden_compare(c, "x", x, pairs, golden_bias_hidden(c, 1, t, visible));
    }
    refhost_free(h);
    stack_free(&stack);
}

static void decay_fire_run(golden_case *c, const pe_stack *stack, const pe_shape *shape, const golden_tokens *t)
{
    static const char *const params[][2] = {{"grad_c", "c"},   {"grad_L_multiplier", "L_multiplier"},
                                            {"grad_W1", "w1"}, {"grad_b1", "b1"},
                                            {"grad_W2", "w2"}, {"grad_b2", "b2"}};
    refhost *h = golden_bias_host(c, stack, shape, t);
    const golden_array *grad = golden_has_in(c, "grad_bias") ? golden_in(c, "grad_bias", 3) : NULL;
    if (h && decay_fire_start(c, h) == 0) {
        decay_compare_bias(c, h, shape, t);
        int ran = grad && golden_bias_backward(c, h, t, grad) == 0;
        for (int p = 0; ran && p < 6; p++)
            decay_compare_gradient(c, h, params[p][0], params[p][1]);
    }
    refhost_free(h);
}

static void decay_fire_bias(golden_case *c)
{
    const golden_array *pos_q = golden_in(c, "pos_q", 1), *pos_k = golden_in(c, "pos_k", 1);
    int hidden = golden_whole(c, "width"), causal = decay_is_causal(c);
    golden_tokens t;
    pe_stack stack;
    pe_shape shape = golden_shape(golden_whole(c, "heads"), 2, causal);
    if (strcmp(c->variant, "code") != 0 && strcmp(c->variant, "paper") != 0)
        golden_skip(c, "fire has no form '%s'", c->variant);
    if (!pos_q || !pos_k || c->outcome != GOLDEN_PASSED ||
        golden_place(c, pos_q->data, pos_q->shape[0], pos_k->data, pos_k->shape[0], &t) < 0 ||
        decay_fire_stack(c, hidden, &shape, &stack) < 0)
        return;
    decay_fire_run(c, &stack, &shape, &t);
    if (golden_has_out(c, "x"))
        decay_fire_compare_distance(c, &t, causal);
    stack_free(&stack);
}

const golden_op golden_decay_ops[] = {
    {"kerple_bias", decay_kerple_bias},
    {"kerple_composite", decay_kerple_composite},
    {"sandwich_bias", decay_sandwich_bias},
    {"fire_bias", decay_fire_bias},
    {NULL, NULL},
};
