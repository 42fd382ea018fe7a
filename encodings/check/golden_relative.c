/* golden_relative.c - operations of relative_attention.json. */
#include "golden_case.h"

#include <stdio.h>

#include "options.h"

static void relative_shaw_start(golden_case *c, refhost *h)
{
    const golden_array *key = golden_in(c, "table_k", 2);
    const golden_array *value = golden_has_in(c, "table_v") ? golden_in(c, "table_v", 2) : NULL;
    if (key)
        golden_set_param(c, h, "key", key);
    if (value)
        golden_set_param(c, h, "value", value);
}

/* With q the first unit vector, k = 0 and key[a][0] = a, a score is scale times the table row. Without a mask, so that
 * rows of the future are seen too. */
static double *relative_shaw_index(golden_case *c, const char *text, const golden_tokens *t, int dim)
{
    pe_stack stack;
    pe_shape shape = golden_shape(1, dim, 0);
    if (golden_stack(c, text, &shape, &stack) < 0)
        return NULL;
    refhost_settings settings = {.shape = shape, .len = t->len, .pos = t->pos, .scale = 0.25};
    refhost *h = refhost_new(&stack, &settings, c->e);
    real *q = golden_memory(c, (size_t)t->len * (size_t)dim, sizeof *q);
    double *index = NULL;
    if (h && q) {
        const refhost_param *key = refhost_param_at(h, 0);
        for (size_t i = 0; i < key->count; i++)
            key->theta[i] = i % (size_t)dim == 0 ? (real)(i / (size_t)dim) : 0;
        for (int i = 0; i < t->len; i++)
            q[i * dim] = 1;
        const refhost_input in = {.q = q};
        index = golden_gather_pairs(c, refhost_forward(h, &in).logits, 1, t);
        for (int i = 0; index && i < t->queries * t->keys; i++)
            index[i] *= 4;
    }
    refhost_free(h);
    stack_free(&stack);
    return index;
}

static void relative_run_shaw(golden_case *c, const char *text, const golden_tokens *t, const golden_array *q)
{
    pe_stack stack;
    int causal = golden_number(c, "causal", 1) != 0;
    pe_shape shape = golden_shape(q->shape[0], q->shape[2], causal);
    if (golden_stack(c, text, &shape, &stack) < 0)
        return;
    const golden_attention a = {&stack, t, causal, golden_number(c, "scale", 0), relative_shaw_start};
    refhost *h = golden_attend(c, &a);
    if (h && golden_has_out(c, "grad_table_k"))
        golden_compare_param_gradient(c, "grad_table_k", h, "key", NULL, 0);
    if (h && golden_has_out(c, "grad_table_v"))
        golden_compare_param_gradient(c, "grad_table_v", h, "value", NULL, 0);
    refhost_free(h);
    stack_free(&stack);
}

static void relative_shaw_attention(golden_case *c)
{
    const golden_array *q = golden_in(c, "q", 3), *k = golden_in(c, "k", 3);
    const golden_array *pos_q = golden_in(c, "pos_q", 1), *pos_k = golden_in(c, "pos_k", 1);
    int heads = golden_whole(c, "heads"), dim = golden_whole(c, "head_dim"), clip = golden_whole(c, "clip");
    char text[96];
    golden_tokens t;
    if (!q || !k || !pos_q || !pos_k || c->outcome != GOLDEN_PASSED)
        return;
    if (q->shape[0] != heads || q->shape[2] != dim || q->shape[1] != pos_q->shape[0] ||
        k->shape[1] != pos_k->shape[0]) {
        golden_skip(c, "the shapes of q, k and their positions do not fit each other");
        return;
    }
    if (golden_place(c, pos_q->data, pos_q->shape[0], pos_k->data, pos_k->shape[0], &t) < 0)
        return;
    snprintf(text, sizeof text, "shaw(clip=%d,value=%s)", clip,
             golden_number(c, "value_term", 1) != 0 ? "true" : "false");
    relative_run_shaw(c, text, &t, q);
    if (golden_has_out(c, "index"))
        golden_compare_exact(c, "index", relative_shaw_index(c, text, &t, dim), (size_t)t.queries * (size_t)t.keys,
                             NULL, NULL, NULL);
}

/* ------------------------------------------------------------------------------------------------ txl */

static int relative_is_causal(golden_case *c)
{
    int otherwise = strcmp(c->variant, "bidirectional") != 0;
    if (otherwise && c->variant[0] && strcmp(c->variant, "causal") != 0)
        golden_skip(c, "txl has no variant '%s'", c->variant);
    return golden_number(c, "causal", otherwise) != 0;
}

static void relative_txl_start(golden_case *c, refhost *h)
{
    const golden_array *u = golden_in(c, "u", 2), *v = golden_in(c, "v_bias", 2), *r = golden_in(c, "Wr", 2);
    if (u && v && r) {
        golden_set_param(c, h, "u", u);
        golden_set_param(c, h, "v", v);
        golden_set_param(c, h, "r", r);
    }
}

static void relative_txl_clear(refhost *h, const char *param)
{
    for (int i = 0; i < refhost_param_count(h); i++) {
        const refhost_param *p = refhost_param_at(h, i);
        if (strcmp(p->about.name, param) == 0)
            memset(p->theta, 0, p->count * sizeof *p->theta);
    }
}

/* Compares the logits of these q and k, which may be NULL, brought to before their scale; hidden pairs are left out. */
static void relative_txl_compare(golden_case *c, const char *name, refhost *h, const golden_tokens *t, double scale,
                                 const real *q, const real *k)
{
    const golden_array *want = golden_out(c, name, 3);
    const refhost_input in = {.q = q, .k = k};
    if (!want || !q)
        return;
    int heads = want->shape[0];
    double *got = golden_gather_pairs(c, refhost_forward(h, &in).logits, heads, t);
    unsigned char *hidden = golden_memory(c, want->count, 1);
    if (!got || !hidden)
        return;
    if (want->shape[1] != t->queries || want->shape[2] != t->keys) {
        golden_skip(c, "out.%s does not fit q and k", name);
        return;
    }
    for (size_t i = 0; i < want->count; i++) {
        int query = (int)(i / (size_t)t->keys) % t->queries, key = (int)(i % (size_t)t->keys);
        hidden[i] = !refhost_visible(h, t->query[query], t->key[key]);
        got[i] /= scale;
    }
    golden_compare(c, name, got, want->count, hidden);
}

/* The parts of the scores: content without W, position without keys. */
static void relative_txl_parts(golden_case *c, const pe_stack *stack, const pe_shape *shape, const golden_tokens *t,
                               const golden_array *q, const golden_array *k)
{
    double scale = golden_number(c, "scale", 0);
    refhost_settings settings = {
        .shape = *shape, .len = t->len, .pos = t->pos, .scale = scale, .tile_rows = 3, .pad = 2};
    const real *queries = golden_scatter(c, q, t->query, t->len), *keys = golden_scatter(c, k, t->key, t->len);
    scale = scale != 0 ? scale : 1 / sqrt(shape->head_dim);
    for (int part = 0; part < 2; part++) {
        const char *name = part == 0 ? "content" : "position";
        refhost *h = golden_has_out(c, name) ? refhost_new(stack, &settings, c->e) : NULL;
        if (!h)
            continue;
        relative_txl_start(c, h);
        if (part == 0)
            relative_txl_clear(h, "r");
        relative_txl_compare(c, name, h, t, scale, queries, part == 0 ? keys : NULL);
        refhost_free(h);
    }
}

static void relative_run_txl(golden_case *c, const char *text, const golden_tokens *t, const golden_array *q,
                             const golden_array *k)
{
    static const char *const names[][2] = {{"grad_u", "u"}, {"grad_v_bias", "v"}, {"grad_Wr", "r"}};
    pe_stack stack;
    int causal = relative_is_causal(c);
    pe_shape shape = golden_shape(q->shape[0], q->shape[2], causal);
    if (golden_stack(c, text, &shape, &stack) < 0)
        return;
    const golden_attention a = {&stack, t, causal, golden_number(c, "scale", 0), relative_txl_start};
    refhost *h = golden_attend(c, &a);
    for (int i = 0; h && i < 3; i++)
        if (golden_has_out(c, names[i][0]))
            golden_compare_param_gradient(c, names[i][0], h, names[i][1], NULL, 0);
    refhost_free(h);
    if (h)
        relative_txl_parts(c, &stack, &shape, t, q, k);
    stack_free(&stack);
}

/* Queries stand behind a memory of keys that no query belongs to. */
static void relative_txl_attention(golden_case *c)
{
    const golden_array *q = golden_in(c, "q", 3), *k = golden_in(c, "k", 3), *r = golden_in(c, "Wr", 2);
    int heads = golden_whole(c, "heads"), dim = golden_whole(c, "head_dim");
    double clamp = golden_number(c, "clamp_len", -1);
    char text[96];
    golden_tokens t;
    double *pos = q && k ? golden_memory(c, (size_t)(q->shape[1] + k->shape[1]), sizeof *pos) : NULL;
    if (!pos || !r || c->outcome != GOLDEN_PASSED)
        return;
    int memory = golden_whole_or(c, "mem_len", k->shape[1] - q->shape[1]);
    if (q->shape[0] != heads || q->shape[2] != dim || memory < 0) {
        golden_skip(c, "the shapes of q and k do not fit the parameters");
        return;
    }
    for (int i = 0; i < q->shape[1]; i++)
        pos[i] = i + memory;
    for (int j = 0; j < k->shape[1]; j++)
        pos[q->shape[1] + j] = j;
    if (golden_place(c, pos, q->shape[1], pos + q->shape[1], k->shape[1], &t) < 0)
        return;
    int used = snprintf(text, sizeof text, "txl(features=%d,clamp=", golden_whole_or(c, "d_model", r->shape[1]));
    number_print(clamp > 0 ? clamp : 0, text + used, sizeof text - (size_t)used - 1);
    strcat(text, ")");
    relative_run_txl(c, text, &t, q, k);
}

/* ------------------------------------------------------------------------------------------------ rel_shift */

/* The distance that txl takes a pair for, [queries][keys], read off a position term of one slow sine. */
static double *relative_txl_distance(golden_case *c, const golden_tokens *t, int causal, unsigned char *visible)
{
    pe_stack stack;
    pe_shape shape = golden_shape(1, 1, causal);
    refhost *h = NULL;
    double *distance = NULL, theta = 1e-8; /* of the second of three features: 1e12^(-2/3) */
    if (golden_stack(c, "txl(features=3,base=1e12)", &shape, &stack) < 0)
        return NULL;
    refhost_settings settings = {.shape = shape, .len = t->len, .pos = t->pos, .scale = 1};
    real *q = golden_memory(c, (size_t)t->len, sizeof *q);
    if (q)
        h = refhost_new(&stack, &settings, c->e);
    if (h) {
        for (int i = 0; i < t->len; i++)
            q[i] = 1;
        relative_txl_clear(h, "v");
        relative_txl_clear(h, "r");
        refhost_param_at(h, 0)->theta[1] = 1;
        const refhost_input in = {.q = q};
        distance = golden_gather_pairs(c, refhost_forward(h, &in).logits, 1, t);
    }
    for (int i = 0; distance && i < t->queries * t->keys; i++) {
        visible[i] = (unsigned char)refhost_visible(h, t->query[i / t->keys], t->key[i % t->keys]);
        distance[i] = visible[i] ? round(asin(distance[i]) / theta) : 0;
    }
    refhost_free(h);
    stack_free(&stack);
    return distance;
}

/* Released code gets the position terms of all distances from one product, a column each, and shifts the rows so that
 * every pair finds its own. No encoding here shifts; but the column it should find is that of its distance. */
static void relative_rel_shift(golden_case *c)
{
    const golden_array *x = golden_in(c, "x", 2);
    int queries = golden_whole(c, "Tq"), keys = golden_whole(c, "Tk"), causal = relative_is_causal(c);
    int columns = causal ? keys : queries + keys, nearest = causal ? keys - 1 : keys; /* the column of distance 0 */
    golden_tokens t;
    if (!x || c->outcome != GOLDEN_PASSED)
        return;
    if (queries < 1 || queries > keys || x->shape[0] != queries || x->shape[1] != columns) {
        golden_skip(c, "in.x does not have a column for each distance");
        return;
    }
    size_t pairs = (size_t)queries * (size_t)keys;
    unsigned char *visible = golden_memory(c, pairs, 1);
    double *distance =
        golden_place_last(c, queries, keys, &t) == 0 && visible ? relative_txl_distance(c, &t, causal, visible) : NULL;
    double *valid = golden_memory(c, pairs, sizeof *valid), *y = golden_memory(c, pairs, sizeof *y);
    unsigned char *hidden = golden_memory(c, pairs, 1);
    if (!distance || !valid || !y || !hidden)
        return;
    for (size_t i = 0; i < pairs; i++) {
        double column = nearest - distance[i];
        valid[i] = visible[i];
        hidden[i] = !visible[i];
        y[i] = column >= 0 && column < columns ? x->data[i / (size_t)keys * (size_t)columns + (size_t)column] : NAN;
    }
    golden_remark(c, "distances read off txl's position term pick the columns");
    golden_compare_exact(c, "y", y, pairs, hidden, NULL, NULL);
    if (golden_has_out(c, "valid"))
        golden_compare_exact(c, "valid", valid, pairs, NULL, NULL, NULL);
}

const golden_op golden_relative_ops[] = {
    {"shaw_attention", relative_shaw_attention},
    {"txl_attention", relative_txl_attention},
    {"rel_shift", relative_rel_shift},
    {NULL, NULL},
};
