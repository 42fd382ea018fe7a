/* golden_relative.c - operations of relative_attention.json. */
#include "golden_case.h"

#include <stdio.h>

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

static void relative_rel_shift(golden_case *c)
{
    golden_skip(c, "a trick of memory layout that no encoding here uses");
}

const golden_op golden_relative_ops[] = {
    {"shaw_attention", relative_shaw_attention},
    {"rel_shift", relative_rel_shift},
    {NULL, NULL},
};
