/* golden_bias.c - operations of alibi.json and t5.json: numbers that depend on positions and are added to scores. */
#include "golden_case.h"

#include <stdio.h>

#include "options.h"

double *golden_bias(golden_case *c, refhost *h, int heads, const golden_tokens *t, unsigned char *visible)
{
    const refhost_input nothing = {.x = NULL};
    refhost_output out = refhost_forward(h, &nothing);
    for (int i = 0; visible && i < t->queries; i++)
        for (int j = 0; j < t->keys; j++)
            visible[i * t->keys + j] = (unsigned char)refhost_visible(h, t->query[i], t->key[j]);
    return golden_gather_pairs(c, out.bias, heads, t);
}

refhost *golden_bias_host(golden_case *c, const pe_stack *stack, const pe_shape *shape, const golden_tokens *t)
{
    refhost_settings settings = {.shape = *shape, .len = t->len, .pos = t->pos, .tile_rows = 3, .pad = 2};
    return refhost_new(stack, &settings, c->e);
}

unsigned char *golden_bias_hidden(golden_case *c, int heads, const golden_tokens *t, const unsigned char *visible)
{
    size_t pairs = (size_t)t->queries * (size_t)t->keys;
    unsigned char *hidden = golden_memory(c, (size_t)heads * pairs, 1);
    for (size_t i = 0; hidden && i < (size_t)heads * pairs; i++)
        hidden[i] = !visible[i % pairs];
    return hidden;
}

/* ------------------------------------------------------------------------------------------------ alibi */

static int bias_alibi_stack(golden_case *c, const char *slopes, const char *form, const pe_shape *shape, pe_stack *out)
{
    char bias_max[32], text[256];
    slopes = golden_text(c, "slopes", slopes);
    number_print(golden_number(c, "bias_max", 8), bias_max, sizeof bias_max);
    snprintf(text, sizeof text, "alibi(slopes=%s,form=%s,bias_max=%s,scaled=%s)", slopes, form, bias_max,
             golden_number(c, "bias_scaled", 0) != 0 ? "true" : "false");
    return golden_stack(c, text, shape, out);
}

/* A slope is what one token of distance costs. */
static void bias_alibi_slopes(golden_case *c)
{
    const double one = 1, zero = 0;
    int heads = golden_whole(c, "heads");
    golden_tokens t;
    pe_stack stack;
    if (heads < 1)
        return;
    pe_shape shape = golden_shape(heads, 2, 1);
    if (golden_place(c, &one, 1, &zero, 1, &t) < 0 || bias_alibi_stack(c, c->variant, "auto", &shape, &stack) < 0)
        return;
    refhost *h = golden_bias_host(c, &stack, &shape, &t);
    double *slopes = h ? golden_bias(c, h, heads, &t, NULL) : NULL;
    for (int head = 0; slopes && head < heads; head++)
        slopes[head] = -slopes[head];
    golden_compare(c, "slopes", slopes, (size_t)heads, NULL);
    refhost_free(h);
    stack_free(&stack);
}

/* A form that counts from the keys' end, or from position 0, and not from the query: no option has it, because it
 * differs from the others by a constant in each row, which no softmax sees. Here it is a row of the usual bias: that of
 * a query behind all keys, less its value at the place to count from. */
static double *bias_alibi_from_behind(golden_case *c, const golden_array *pos_q, const golden_array *pos_k, int heads,
                                      double origin)
{
    int queries = pos_q->shape[0], keys = pos_k->shape[0];
    double behind = origin, *places = golden_memory(c, (size_t)keys + 1, sizeof *places);
    double *got = golden_memory(c, (size_t)heads * (size_t)queries * (size_t)keys, sizeof *got), *row = NULL;
    golden_tokens t;
    pe_stack stack;
    pe_shape shape = golden_shape(heads, 2, 1);
    if (!places || !got)
        return NULL;
    for (int j = 0; j < keys; j++) {
        places[j] = pos_k->data[j];
        behind = fmax(behind, places[j]);
    }
    places[keys] = origin;
    if (golden_place(c, &behind, 1, places, keys + 1, &t) < 0 ||
        bias_alibi_stack(c, "interleaved", "auto", &shape, &stack) < 0)
        return NULL;
    refhost *h = golden_bias_host(c, &stack, &shape, &t);
    if (h)
        row = golden_bias(c, h, heads, &t, NULL);
    refhost_free(h);
    stack_free(&stack);
    for (int head = 0; row && head < heads; head++)
        for (int i = 0; i < queries * keys; i++)
            got[head * queries * keys + i] = row[head * (keys + 1) + i % keys] - row[head * (keys + 1) + keys];
    golden_remark(c, "taken from the row of a query behind all keys");
    return row ? got : NULL;
}

static void bias_alibi_compare_from_behind(golden_case *c, const golden_array *pos_q, const golden_array *pos_k,
                                           int heads)
{
    int to_end = strcmp(c->variant, "key_position_end") == 0, keys = pos_k->shape[0];
    double origin = to_end && keys > 0 ? pos_k->data[keys - 1] : 0;
    size_t pairs = (size_t)pos_q->shape[0] * (size_t)keys;
    double *valid = golden_memory(c, pairs, sizeof *valid);
    for (size_t i = 0; valid && i < pairs; i++)
        valid[i] = 1; /* the form knows no mask */
    golden_compare(c, "bias", bias_alibi_from_behind(c, pos_q, pos_k, heads, origin), (size_t)heads * pairs, NULL);
    if (golden_has_out(c, "valid"))
        golden_compare_exact(c, "valid", valid, pairs, NULL, NULL, NULL);
}

static void bias_alibi_compare(golden_case *c, const pe_stack *stack, const pe_shape *shape, const golden_tokens *t)
{
    size_t pairs = (size_t)t->queries * (size_t)t->keys;
    unsigned char *visible = golden_memory(c, pairs, 1);
    double *valid = golden_memory(c, pairs, sizeof *valid);
    refhost *h = visible && valid ? golden_bias_host(c, stack, shape, t) : NULL;
    if (!h)
        return;
    double *bias = golden_bias(c, h, shape->heads, t, visible);
    for (size_t i = 0; i < pairs; i++)
        valid[i] = visible[i];
    golden_compare(c, "bias", bias, (size_t)shape->heads * pairs, golden_bias_hidden(c, shape->heads, t, visible));
    if (golden_has_out(c, "valid"))
        golden_compare_exact(c, "valid", valid, pairs, NULL, NULL, NULL);
    refhost_free(h);
}

static void bias_alibi_bias(golden_case *c)
{
    static const char *const forms[][2] = {
        {"causal", "causal"}, {"symmetric", "symmetric"}, {"asymmetric_half", "asymmetric"}};
    const golden_array *pos_q = golden_in(c, "pos_q", 1), *pos_k = golden_in(c, "pos_k", 1);
    int heads = golden_whole(c, "heads");
    golden_tokens t;
    pe_stack stack;
    if (!pos_q || !pos_k || heads < 1)
        return;
    if (strcmp(c->variant, "key_position") == 0 || strcmp(c->variant, "key_position_end") == 0) {
        bias_alibi_compare_from_behind(c, pos_q, pos_k, heads);
        return;
    }
    for (int f = 0; f < 3; f++) {
        if (strcmp(c->variant, forms[f][0]) != 0)
            continue;
        pe_shape shape = golden_shape(heads, 2, f == 0);
        if (golden_place(c, pos_q->data, pos_q->shape[0], pos_k->data, pos_k->shape[0], &t) < 0 ||
            bias_alibi_stack(c, "interleaved", forms[f][1], &shape, &stack) < 0)
            return;
        bias_alibi_compare(c, &stack, &shape, &t);
        stack_free(&stack);
        return;
    }
    golden_skip(c, "alibi has no form '%s'", c->variant);
}

/* ------------------------------------------------------------------------------------------------ attention */

typedef struct bias_kind {
    const char *name;
    int causal;
    const char *form;
} bias_kind;

/* key_position is the causal form up to a constant in each row, so its attention is the same. */
static const bias_kind bias_alibi_kinds[] = {{"causal", 1, "causal"},
                                             {"key_position", 1, "causal"},
                                             {"key_position_end", 1, "causal"},
                                             {"symmetric", 0, "symmetric"},
                                             {"asymmetric_half", 0, "asymmetric"}};

static void bias_alibi_attention(golden_case *c)
{
    const golden_array *q = golden_in(c, "q", 3), *k = golden_in(c, "k", 3);
    int heads = golden_whole(c, "heads");
    const bias_kind *kind = NULL;
    for (size_t i = 0; i < sizeof bias_alibi_kinds / sizeof bias_alibi_kinds[0]; i++)
        if (strcmp(c->variant, bias_alibi_kinds[i].name) == 0)
            kind = &bias_alibi_kinds[i];
    if (!kind)
        golden_skip(c, "alibi has no form '%s'", c->variant);
    golden_tokens t;
    pe_stack stack;
    if (!q || !k || !kind || heads != q->shape[0] || golden_place_last(c, q->shape[1], k->shape[1], &t) < 0)
        return;
    pe_shape shape = golden_shape(heads, q->shape[2], kind->causal);
    if (bias_alibi_stack(c, "interleaved", kind->form, &shape, &stack) < 0)
        return;
    const golden_attention a = {&stack, &t, kind->causal, golden_number(c, "scale", 0), NULL};
    refhost_free(golden_attend(c, &a));
    stack_free(&stack);
}

/* ------------------------------------------------------------------------------------------------ t5 */

static int bias_t5_stack(golden_case *c, double bias_scale, const pe_shape *shape, pe_stack *out)
{
    char scale[32], text[256];
    int buckets = golden_whole(c, "num_buckets"), longest = golden_whole(c, "max_distance");
    number_print(bias_scale, scale, sizeof scale);
    snprintf(text, sizeof text, "t5(buckets=%d,max_distance=%d,scale=%s)", buckets, longest, scale);
    return c->outcome == GOLDEN_PASSED ? golden_stack(c, text, shape, out) : -1;
}

/* With table[b] = b the bias is the bucket. Future keys are hidden in the causal form. */
static void bias_t5_read_buckets(golden_case *c, refhost *h, const golden_tokens *t)
{
    const refhost_param *table = refhost_param_at(h, 0);
    unsigned char *visible = golden_memory(c, (size_t)t->keys, 1);
    const golden_array *exact = golden_has_out(c, "bucket_exact") ? golden_out(c, "bucket_exact", 1) : NULL;
    const golden_array *ambiguous = golden_has_out(c, "ambiguous") ? golden_out(c, "ambiguous", 1) : NULL;
    int hidden = 0;
    for (size_t b = 0; b < table->count; b++)
        table->theta[b] = (real)b;
    double *bucket = visible ? golden_bias(c, h, 1, t, visible) : NULL;
    unsigned char *future = bucket ? golden_bias_hidden(c, 1, t, visible) : NULL;
    for (int j = 0; future && j < t->keys; j++)
        hidden += future[j];
    if (hidden > 0)
        golden_remark(c, "%d of %d distances lie in the future, where the causal mask removes the bias", hidden,
                      t->keys);
    if (future)
        golden_compare_exact(c, "bucket", bucket, (size_t)t->keys, future, exact, ambiguous);
}

static void bias_t5_bucket(golden_case *c)
{
    const golden_array *distance = golden_in(c, "distance", 1);
    double *pos = distance ? golden_memory(c, distance->count, sizeof *pos) : NULL, query = 0;
    golden_tokens t;
    pe_stack stack;
    if (!pos)
        return;
    for (size_t i = 0; i < distance->count; i++)
        query = fmax(query, distance->data[i]);
    for (size_t i = 0; i < distance->count; i++)
        pos[i] = query - distance->data[i];
    pe_shape shape = golden_shape(1, 2, golden_number(c, "bidirectional", 0) == 0);
    if (golden_place(c, &query, 1, pos, distance->shape[0], &t) < 0 || bias_t5_stack(c, 1, &shape, &stack) < 0)
        return;
    refhost *h = golden_bias_host(c, &stack, &shape, &t);
    if (h)
        bias_t5_read_buckets(c, h, &t);
    refhost_free(h);
    stack_free(&stack);
}

int golden_place_offset(golden_case *c, int queries, int keys, golden_tokens *t)
{
    double *pos = golden_memory(c, (size_t)(queries + keys), sizeof *pos);
    int offset = golden_whole_or(c, "query_offset", 0);
    if (!pos)
        return -1;
    for (int i = 0; i < queries; i++)
        pos[i] = offset + i;
    for (int j = 0; j < keys; j++)
        pos[queries + j] = j;
    return golden_place(c, pos, queries, pos + queries, keys, t);
}

int golden_bias_backward(golden_case *c, refhost *h, const golden_tokens *t, const golden_array *grad)
{
    const refhost_input nothing = {.x = NULL};
    int heads = refhost_context(h, 0, 0, 0)->shape->heads;
    size_t pairs = (size_t)t->queries * (size_t)t->keys;
    if (grad->shape[0] != heads || grad->count != (size_t)heads * pairs) {
        golden_skip(c, "in.grad_bias does not fit the bias");
        return -1;
    }
    real *d_logits = golden_memory(c, (size_t)heads * (size_t)t->len * (size_t)t->len, sizeof *d_logits);
    if (!d_logits)
        return -1;
    for (size_t i = 0; i < grad->count; i++) {
        int head = (int)(i / pairs), query = (int)(i % pairs) / t->keys, key = (int)(i % pairs) % t->keys;
        if (refhost_visible(h, t->query[query], t->key[key]))
            d_logits[(head * t->len + t->query[query]) * t->len + t->key[key]] = (real)grad->data[i];
    }
    refhost_backward(h, &nothing, NULL, d_logits);
    return 0;
}

/* Pairs in the future of a query have no bias here; the file gives them bucket 0 and lets their gradient count, so
 * theirs is added to that row. */
static void bias_t5_compare_gradient(golden_case *c, refhost *h, const golden_tokens *t, const unsigned char *visible,
                                     double scale)
{
    const golden_array *grad = golden_in(c, "grad_bias", 3);
    if (!grad || golden_bias_backward(c, h, t, grad) < 0)
        return;
    int heads = grad->shape[0];
    size_t pairs = (size_t)t->queries * (size_t)t->keys;
    double *hidden = golden_memory(c, (size_t)heads, sizeof *hidden);
    for (size_t i = 0; hidden && i < grad->count; i++)
        hidden[i / pairs] += visible[i % pairs] ? 0 : scale * grad->data[i];
    golden_compare_param_gradient(c, "grad_table", h, "table", hidden, (size_t)heads);
}

static void bias_t5_run(golden_case *c, const pe_stack *stack, const pe_shape *shape, const golden_tokens *t,
                        const golden_array *table)
{
    unsigned char *visible = golden_memory(c, (size_t)t->queries * (size_t)t->keys, 1);
    refhost *h = visible ? golden_bias_host(c, stack, shape, t) : NULL;
    if (h && golden_set_param(c, h, "table", table) == 0) {
        double *bias = golden_bias(c, h, shape->heads, t, visible);
        golden_compare(c, "bias", bias, (size_t)(shape->heads * t->queries) * (size_t)t->keys,
                       golden_bias_hidden(c, shape->heads, t, visible));
        if (golden_has_out(c, "grad_table"))
            bias_t5_compare_gradient(c, h, t, visible, golden_number(c, "scale", 1));
    }
    refhost_free(h);
}

static void bias_t5_bias(golden_case *c)
{
    const golden_array *table = golden_in(c, "table", 2), *bias = golden_out(c, "bias", 3);
    golden_tokens t;
    pe_stack stack;
    if (!table || !bias || bias->shape[0] != golden_whole(c, "heads") ||
        golden_place_offset(c, bias->shape[1], bias->shape[2], &t) < 0)
        return;
    pe_shape shape = golden_shape(bias->shape[0], 2, golden_number(c, "bidirectional", 0) == 0);
    if (bias_t5_stack(c, golden_number(c, "scale", 1), &shape, &stack) < 0)
        return;
    bias_t5_run(c, &stack, &shape, &t, table);
    stack_free(&stack);
}

static void bias_t5_set_table(golden_case *c, refhost *h)
{
    const golden_array *table = golden_in(c, "table", 2);
    if (table)
        golden_set_param(c, h, "table", table);
}

static void bias_t5_attention(golden_case *c)
{
    const golden_array *q = golden_in(c, "q", 3), *k = golden_in(c, "k", 3);
    int causal = golden_number(c, "bidirectional", 0) == 0;
    golden_tokens t;
    pe_stack stack;
    if (!q || !k || q->shape[0] != golden_whole(c, "heads") || golden_place_last(c, q->shape[1], k->shape[1], &t) < 0)
        return;
    pe_shape shape = golden_shape(q->shape[0], q->shape[2], causal);
    if (bias_t5_stack(c, 1, &shape, &stack) < 0)
        return;
    const golden_attention a = {&stack, &t, causal, golden_number(c, "scale", 0), bias_t5_set_table};
    refhost_free(golden_attend(c, &a));
    stack_free(&stack);
}

const golden_op golden_bias_ops[] = {
    {"alibi_slopes", bias_alibi_slopes},
    {"alibi_bias", bias_alibi_bias},
    {"alibi_attention", bias_alibi_attention},
    {"t5_bucket", bias_t5_bucket},
    {"t5_bias", bias_t5_bias},
    {"t5_attention", bias_t5_attention},
    {NULL, NULL},
};
