/* golden_scaling.c - operations of rope_scaling.json and xpos.json. Frequencies and factors are read off what the
 * rotation makes of unit vectors. */
#include "golden_case.h"

#include <stdio.h>

#include "options.h"

enum { SCALING_TEXT_MAX = 16384 };

/* ------------------------------------------------------------------------------------------------ probing */

/* Turns u[dim], a query or key of one head, at a position. u has room for [2*dim]. first < 0: it is the only token;
 * else another one stands there before it. 0, or -1 with c->e set. */
static int scaling_turn(golden_case *c, const pe_stack *stack, int dim, int total_len, double first, double pos,
                        pe_role role, real *u)
{
    const double both[] = {first, pos};
    const pe_descriptor *d = stack->member[0].encoding;
    int before = first >= 0;
    refhost_settings settings = {.shape = golden_shape(1, dim, d->causal_only),
                                 .len = 1 + before,
                                 .total_len = total_len,
                                 .pos = both + 1 - before};
    refhost *h = refhost_new(stack, &settings, c->e);
    if (!h)
        return -1;
    memcpy(u + before * dim, u, (size_t)(before * dim) * sizeof *u);
    d->rotate(refhost_context(h, 0, 0, 0), role, u, dim, dim);
    memcpy(u, u + before * dim, (size_t)(before * dim) * sizeof *u);
    refhost_free(h);
    return 0;
}

/* For each pair of neighbours, the angle by which a position turns it. magnitude (if not NULL): what it becomes. */
static double *scaling_probe(golden_case *c, const pe_stack *stack, int dim, int total_len, double pos,
                             double *magnitude)
{
    double *angle = golden_memory(c, (size_t)(dim / 2), sizeof *angle);
    real *u = golden_memory(c, (size_t)(2 * dim), sizeof *u);
    for (int i = 0; u && i < dim; i += 2)
        u[i] = 1;
    if (!angle || !u || scaling_turn(c, stack, dim, total_len, -1, pos, PE_QUERY, u) < 0)
        return NULL;
    for (int p = 0; p < dim / 2; p++)
        angle[p] = atan2((double)u[2 * p + 1], (double)u[2 * p]);
    if (magnitude)
        *magnitude = hypot((double)u[0], (double)u[1]);
    return angle;
}

/* ------------------------------------------------------------------------------------------------ options */

static void scaling_add(char *text, const char *option, double value)
{
    char number[32];
    size_t used = strlen(text);
    number_print(value, number, sizeof number);
    snprintf(text + used, SCALING_TEXT_MAX - used, ",%s=%s", option, number);
}

static void scaling_add_list(golden_case *c, char *text, const char *name)
{
    const golden_array *list = golden_has_in(c, name) ? golden_in(c, name, 1) : NULL;
    for (size_t i = 0; list && i < list->count; i++) {
        char number[32];
        size_t used = strlen(text);
        number_print(list->data[i], number, sizeof number);
        if (i == 0)
            snprintf(text + used, SCALING_TEXT_MAX - used, ",%s=%s", name, number);
        else
            snprintf(text + used, SCALING_TEXT_MAX - used, ";%s", number);
    }
}

/* What the parameters of all these operations are called in options. */
static void scaling_add_params(golden_case *c, char *text)
{
    static const char *const names[][2] = {
        {"base", "base"},
        {"factor", "factor"},
        {"alpha", "alpha"},
        {"orig_max_pos", "original"},
        {"beta_fast", "beta_fast"},
        {"beta_slow", "beta_slow"},
        {"truncate", "truncate"},
        {"extrapolation_factor", "extrapolation_factor"},
        {"attention_factor", "attention_factor"},
        {"mscale", "mscale"},
        {"mscale_all_dim", "mscale_all_dim"},
        {"low_freq_factor", "low_freq_factor"},
        {"high_freq_factor", "high_freq_factor"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        double value = golden_number(c, names[i][0], 0);
        if (golden_has(c, names[i][0]))
            scaling_add(text, names[i][1], value);
    }
    if (golden_has(c, "max_pos") && !golden_has(c, "factor"))
        scaling_add(text, "factor", golden_number(c, "max_pos", 0) / golden_number(c, "orig_max_pos", 1));
    scaling_add_list(c, text, "short_factor");
    scaling_add_list(c, text, "long_factor");
}

/* "rope(...)" by the case's parameters. variant: of the method, "" for none. dim of head_dim dimensions turn. */
static int scaling_stack(golden_case *c, const char *method, const char *variant, const char *layout, int dim,
                         int head_dim, pe_stack *out)
{
    char *text = golden_memory(c, SCALING_TEXT_MAX, 1);
    pe_shape shape = golden_shape(1, head_dim, 0);
    int blended = strcmp(method, "longrope") == 0 && strcmp(variant, "dynamic") == 0;
    if (!text)
        return -1;
    snprintf(text, SCALING_TEXT_MAX, "rope(layout=%s,scaling=%s", layout, blended ? "longrope_dynamic" : method);
    if (strcmp(method, "yarn") == 0 && variant[0])
        snprintf(text + strlen(text), SCALING_TEXT_MAX - strlen(text), ",ramp=%s", variant);
    else if (variant[0] && !blended)
        golden_skip(c, "variant '%s' is not understood", variant);
    if (dim < head_dim)
        scaling_add(text, "fraction", (dim + 0.5) / head_dim);
    scaling_add_params(c, text);
    snprintf(text + strlen(text), SCALING_TEXT_MAX - strlen(text), ")");
    /* Shorter sequences than the original: see the notes of the encoding. */
    if (blended && golden_number(c, "seq_len", 0) < golden_number(c, "orig_max_pos", 0))
        golden_skip(c, "in sequences shorter than the original, factors are 1 here");
    return c->outcome == GOLDEN_PASSED ? golden_stack(c, text, &shape, out) : -1;
}

static int scaling_total_len(golden_case *c)
{
    int len = golden_whole_or(c, "seq_len", 1);
    return len > 1 ? len : 1;
}

/* ------------------------------------------------------------------------------------------------ frequencies */

/* inv_freq and m. A quarter of a position, so that no angle is more than half a turn. */
static double *scaling_compare_frequencies(golden_case *c, const pe_stack *stack, int dim)
{
    int total_len = scaling_total_len(c);
    double magnitude = 0;
    double *angle = scaling_probe(c, stack, dim, total_len, 0.25, NULL);
    for (int p = 0; angle && p < dim / 2; p++)
        angle[p] *= 4;
    golden_compare(c, "inv_freq", angle, (size_t)(dim / 2), NULL);
    if (angle && golden_has_out(c, "attention_factor") && scaling_probe(c, stack, dim, total_len, 0, &magnitude))
        golden_compare(c, "attention_factor", &magnitude, 1, NULL);
    return angle;
}

static void scaling_method(golden_case *c, const char *method)
{
    int dim = golden_whole(c, "rotary_dim");
    pe_stack stack;
    if (c->outcome != GOLDEN_PASSED || scaling_stack(c, method, c->variant, "interleaved", dim, dim, &stack) < 0)
        return;
    const double *inv_freq = scaling_compare_frequencies(c, &stack, dim);
    if (inv_freq && golden_has_out(c, "new_base")) {
        double base = pow(inv_freq[dim / 2 - 1], -dim / (dim - 2.0)); /* of the last pair: b^(-(d-2)/d) */
        golden_compare(c, "new_base", &base, 1, NULL);
    }
    if (golden_has_out(c, "low") || golden_has_out(c, "high")) {
        golden_out(c, "low", 0);
        golden_out(c, "high", 0);
        golden_remark(c, "low and high show in inv_freq only");
    }
    stack_free(&stack);
}

static void scaling_linear(golden_case *c)
{
    scaling_method(c, "linear");
}

static void scaling_ntk(golden_case *c)
{
    scaling_method(c, "ntk");
}

static void scaling_dynamic_ntk(golden_case *c)
{
    scaling_method(c, "dynamic");
}

static void scaling_yarn(golden_case *c)
{
    scaling_method(c, "yarn");
}

static void scaling_llama3(golden_case *c)
{
    scaling_method(c, "llama3");
}

static void scaling_longrope(golden_case *c)
{
    scaling_method(c, "longrope");
}

static void scaling_attention_factor(golden_case *c)
{
    const golden_array *factor = golden_in(c, "factor", 1);
    double *value = factor ? golden_memory(c, factor->count, sizeof *value) : NULL;
    pe_shape shape = golden_shape(1, 4, 0);
    for (size_t i = 0; value && i < factor->count; i++) {
        pe_stack stack;
        char number[32], text[96];
        number_print(factor->data[i], number, sizeof number);
        snprintf(text, sizeof text, "rope(layout=interleaved,scaling=yarn,factor=%s)", number);
        if (golden_stack(c, text, &shape, &stack) < 0)
            return;
        scaling_probe(c, &stack, 4, 1, 0, &value[i]);
        stack_free(&stack);
    }
    golden_compare(c, "value", value, factor ? factor->count : 0, NULL);
}

static void scaling_scores(golden_case *c)
{
    const golden_array *q = golden_in(c, "q", 2), *k = golden_in(c, "k", 2), *pos = golden_in(c, "pos", 1);
    const char *method = golden_text(c, "method", "none"), *layout = golden_text(c, "layout", "half");
    golden_tokens t;
    pe_stack probed, stack;
    if (!q || !k || !pos)
        return;
    int head_dim = q->shape[1], dim = golden_whole_or(c, "rotary_dim", head_dim);
    if (k->shape[1] != head_dim || q->shape[0] != pos->shape[0] || k->shape[0] != pos->shape[0]) {
        golden_skip(c, "the shapes of q, k and their positions do not fit each other");
        return;
    }
    if (strcmp(method, "dynamic_ntk") == 0)
        method = "dynamic";
    if (golden_place(c, pos->data, pos->shape[0], pos->data, pos->shape[0], &t) < 0 ||
        scaling_stack(c, method, c->variant, "interleaved", dim, dim, &probed) < 0)
        return;
    scaling_compare_frequencies(c, &probed, dim);
    stack_free(&probed);
    if (scaling_stack(c, method, c->variant, layout, dim, head_dim, &stack) < 0)
        return;
    golden_attention a = {.stack = &stack, .tokens = &t, .scale = golden_number(c, "scale", 1)};
    golden_compare_scores(c, &a, "scores", q, k, golden_has(c, "seq_len") ? scaling_total_len(c) : 0);
    stack_free(&stack);
}

/* ------------------------------------------------------------------------------------------------ xpos */

static int scaling_xpos_stack(golden_case *c, int dim, pe_stack *out)
{
    static const char *const names[] = {"base", "gamma", "scale_base"};
    char *text = golden_memory(c, SCALING_TEXT_MAX, 1);
    pe_shape shape = golden_shape(1, dim, 1);
    if (!text)
        return -1;
    strcpy(text, "xpos(layout=interleaved");
    for (int i = 0; i < 3; i++) {
        double value = golden_number(c, names[i], 0);
        if (golden_has(c, names[i]))
            scaling_add(text, names[i], value);
    }
    strcat(text, ")");
    return golden_stack(c, text, &shape, out);
}

/* How much longer each pair of a query at distance D and of a key at 0 is, multiplied: decay[pairs]. Factors count from
 * position 0: there is a token there, and one token has its middle where it stands. */
static int scaling_decay(golden_case *c, const pe_stack *stack, int dim, double distance, double *decay)
{
    real *q = golden_memory(c, (size_t)(4 * dim), sizeof *q), *k = q + 2 * dim;
    for (int i = 0; q && i < dim; i += 2)
        q[i] = k[i] = 1;
    if (!q || scaling_turn(c, stack, dim, 1, 0, distance, PE_QUERY, q) < 0 ||
        scaling_turn(c, stack, dim, 1, 0, 0, PE_KEY, k) < 0)
        return -1;
    for (int p = 0; p < dim / 2; p++)
        decay[p] = hypot((double)q[2 * p], (double)q[2 * p + 1]) * hypot((double)k[2 * p], (double)k[2 * p + 1]);
    return 0;
}

static void scaling_xpos_zeta(golden_case *c)
{
    int dim = golden_whole(c, "head_dim");
    pe_stack stack;
    if (c->outcome != GOLDEN_PASSED || scaling_xpos_stack(c, dim, &stack) < 0)
        return;
    double *zeta = golden_memory(c, (size_t)dim, sizeof *zeta);
    if (zeta && scaling_decay(c, &stack, dim, golden_number(c, "scale_base", 512), zeta) == 0)
        golden_compare(c, "zeta", zeta, (size_t)(dim / 2), NULL);
    stack_free(&stack);
}

static void scaling_xpos_decay(golden_case *c)
{
    const golden_array *distance = golden_in(c, "distance", 1);
    int dim = golden_whole(c, "head_dim");
    pe_stack stack;
    if (!distance || c->outcome != GOLDEN_PASSED || scaling_xpos_stack(c, dim, &stack) < 0)
        return;
    size_t pairs = (size_t)(dim / 2);
    double *decay = golden_memory(c, distance->count * pairs, sizeof *decay);
    int status = decay ? 0 : -1;
    for (size_t i = 0; status == 0 && i < distance->count; i++)
        status = scaling_decay(c, &stack, dim, distance->data[i], decay + i * pairs);
    if (status == 0)
        golden_compare(c, "decay", decay, distance->count * pairs, NULL);
    stack_free(&stack);
}

static void scaling_compare_rows(golden_case *c, const pe_stack *stack, const golden_array *x, const golden_array *pos,
                                 int total_len, pe_role role, const char *name)
{
    int dim = x->shape[1];
    double *turned = golden_memory(c, x->count, sizeof *turned);
    real *u = golden_memory(c, (size_t)(2 * dim), sizeof *u);
    for (int t = 0; turned && u && t < pos->shape[0]; t++) {
        for (int i = 0; i < dim; i++)
            u[i] = (real)x->data[t * dim + i];
        if (scaling_turn(c, stack, dim, total_len, 0, pos->data[t], role, u) < 0)
            return;
        for (int i = 0; i < dim; i++)
            turned[t * dim + i] = (double)u[i];
    }
    golden_compare(c, name, u ? turned : NULL, x->count, NULL);
}

/* A token of its own at position 0 and the total length put the centre where the case has it. */
static void scaling_xpos(golden_case *c)
{
    const golden_array *q = golden_in(c, "q", 2), *k = golden_in(c, "k", 2), *pos = golden_in(c, "pos", 1);
    int center = golden_whole_or(c, "center", 0), total_len = center > 0 ? 2 * center : 1;
    golden_tokens t;
    pe_stack stack;
    if (!q || !k || !pos)
        return;
    int rows = pos->shape[0], dim = q->shape[1];
    if (k->shape[1] != dim || q->shape[0] != rows || k->shape[0] != rows || center < 0 ||
        golden_whole_or(c, "head_dim", dim) != dim) {
        golden_skip(c, "the shapes of q, k and their positions do not fit each other, or the centre is negative");
        return;
    }
    double *keys = golden_memory(c, (size_t)rows + 1, sizeof *keys);
    if (!keys)
        return;
    memcpy(keys + 1, pos->data, (size_t)rows * sizeof *keys);
    if (golden_place(c, pos->data, rows, keys, rows + 1, &t) < 0 || scaling_xpos_stack(c, dim, &stack) < 0)
        return;
    t.key++; /* the token at 0 is no key of the case */
    t.keys--;
    scaling_compare_rows(c, &stack, q, pos, total_len, PE_QUERY, "q_rot");
    scaling_compare_rows(c, &stack, k, pos, total_len, PE_KEY, "k_rot");
    golden_attention a = {.stack = &stack, .tokens = &t, .causal = 1, .scale = golden_number(c, "scale", 1)};
    golden_compare_scores(c, &a, "scores_causal", q, k, total_len);
    stack_free(&stack);
}

const golden_op golden_scaling_ops[] = {
    {"rope_scaling_linear", scaling_linear},
    {"rope_scaling_ntk", scaling_ntk},
    {"rope_scaling_dynamic_ntk", scaling_dynamic_ntk},
    {"rope_scaling_yarn", scaling_yarn},
    {"rope_scaling_llama3", scaling_llama3},
    {"rope_scaling_longrope", scaling_longrope},
    {"yarn_attention_factor", scaling_attention_factor},
    {"rope_scaled_scores", scaling_scores},
    {"xpos_zeta", scaling_xpos_zeta},
    {"xpos_decay", scaling_xpos_decay},
    {"xpos", scaling_xpos},
    {NULL, NULL},
};
