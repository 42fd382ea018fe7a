/* golden_absolute.c - operations of absolute.json: what is added to token vectors. */
#include "golden_case.h"

#include <stdio.h>

#include "options.h"

/* A host for tokens at pos; heads = 1, so that width is head_dim and may be odd. t: where each token went in sorted
 * order. */
static refhost *absolute_host(golden_case *c, const pe_stack *stack, const pe_shape *shape, const golden_array *pos,
                              golden_tokens *t)
{
    if (golden_place(c, pos->data, pos->shape[0], pos->data, pos->shape[0], t) < 0)
        return NULL;
    double last = stack_last_position(stack, shape);
    if (t->pos[t->len - 1] > last) {
        golden_skip(c, "position %g lies past %g, the last that has a meaning", t->pos[t->len - 1], last);
        return NULL;
    }
    refhost_settings settings = {.shape = *shape, .len = t->len, .pos = t->pos};
    return refhost_new(stack, &settings, c->e);
}

/* What embed adds to 0. */
static void absolute_compare_embed(golden_case *c, refhost *h, const golden_tokens *t, int width)
{
    const refhost_input nothing = {.x = NULL};
    refhost_output out = refhost_forward(h, &nothing);
    golden_compare(c, "pe", golden_gather(c, out.x, 1, t->keys, width, t->key), (size_t)(t->keys * width), NULL);
}

static void absolute_sinusoidal(golden_case *c)
{
    const golden_array *pos = golden_in(c, "pos", 1);
    int width = golden_whole(c, "d_model");
    char base[32], scale[32], timescale[32], text[256];
    pe_stack stack;
    golden_tokens t;
    if (!pos || width < 1)
        return;
    number_print(golden_number(c, "base", 10000), base, sizeof base);
    number_print(golden_number(c, "scale", 1), scale, sizeof scale);
    number_print(golden_number(c, "min_timescale", 1), timescale, sizeof timescale);
    snprintf(text, sizeof text, "sinusoidal(layout=%s,base=%s,scale=%s,min_timescale=%s)",
             c->variant[0] ? c->variant : "interleaved", base, scale, timescale);
    pe_shape shape = golden_shape(1, width, 1);
    if (golden_stack(c, text, &shape, &stack) < 0)
        return;
    refhost *h = absolute_host(c, &stack, &shape, pos, &t);
    if (h)
        absolute_compare_embed(c, h, &t, width);
    refhost_free(h);
    stack_free(&stack);
}

/* grad_table: embed_bwd alone, since grad_out is the gradient of what embed added. */
static void absolute_compare_table_gradient(golden_case *c, const pe_stack *stack, refhost *h, const golden_tokens *t,
                                            int width)
{
    const golden_array *grad_out = golden_in(c, "grad_out", 2);
    if (!grad_out)
        return;
    if (grad_out->shape[0] != t->keys || grad_out->shape[1] != width) {
        golden_skip(c, "in.grad_out has a shape that is not understood");
        return;
    }
    const golden_array by_head = {.rank = 3,
                                  .shape = {1, grad_out->shape[0], grad_out->shape[1]},
                                  .count = grad_out->count,
                                  .data = grad_out->data};
    real *dx = golden_scatter(c, &by_head, t->key, t->len);
    if (!dx)
        return;
    stack->member[0].encoding->embed_bwd(refhost_context(h, 0, -1, 1), dx);
    golden_compare_param_gradient(c, "grad_table", h, "table", NULL, 0);
}

static void absolute_run_learned(golden_case *c, const pe_stack *stack, const pe_shape *shape, const golden_array *pos,
                                 const golden_array *table)
{
    golden_tokens t;
    refhost *h = absolute_host(c, stack, shape, pos, &t);
    if (h && golden_set_param(c, h, "table", table) == 0) {
        absolute_compare_embed(c, h, &t, shape->width);
        if (golden_has_out(c, "grad_table"))
            absolute_compare_table_gradient(c, stack, h, &t, shape->width);
    }
    refhost_free(h);
}

/* The variants are settings of the same table, which params spell out. */
static void absolute_learned(golden_case *c)
{
    const golden_array *pos = golden_in(c, "pos", 1), *table = golden_in(c, "table", 2);
    int rows = golden_whole(c, "n_pos"), width = golden_whole(c, "d_model");
    int offset = golden_whole_or(c, "offset", 0);
    char scale[32], text[256];
    pe_stack stack;
    if (!pos || !table || c->outcome != GOLDEN_PASSED)
        return;
    for (size_t i = 0; i < pos->count; i++)
        if (pos->data[i] + offset < 0) {
            golden_skip(c, "position %g lies before the first row", pos->data[i]);
            return;
        }
    number_print(golden_number(c, "scale", 1), scale, sizeof scale);
    snprintf(text, sizeof text, "learned(rows=%d,offset=%d,scale=%s,normalized=%s)", rows, offset, scale,
             golden_number(c, "l2norm", 0) != 0 ? "true" : "false");
    pe_shape shape = golden_shape(1, width, 1);
    if (golden_stack(c, text, &shape, &stack) < 0)
        return;
    absolute_run_learned(c, &stack, &shape, pos, table);
    stack_free(&stack);
}

/* The real tokens of one row, under the identity map: the first stands at 0, the next at 1 .. got[len] (=), with the
 * rows of a table before position 0 counted in; hidden[len] (=): 1 for a pad. */
static int absolute_place_row(golden_case *c, const double *ids, int len, int pad, int offset, double *got,
                              unsigned char *hidden)
{
    error refusal = ERROR_INIT;
    double *pos = golden_memory(c, (size_t)len, sizeof *pos);
    const pe_map *map = registry_find_map(c->registry, "identity", &refusal);
    int real_tokens = 0;
    if (!pos || !map)
        return -1;
    for (int t = 0; t < len; t++)
        real_tokens += !(hidden[t] = ids[t] == pad);
    pe_map_context m = {.len = real_tokens, .total_len = real_tokens, .train_len = len, .last_position = INFINITY};
    map->place(&m, pos);
    for (int t = 0, n = 0; t < len; t++)
        if (!hidden[t])
            got[t] = pos[n++] + offset;
    return 0;
}

/* Sequences are never padded here, so a row is its real tokens; the rows that peers reserve before the first one are
 * the learned table's option `offset`. Pads are left out: nothing stands for them here. */
static void absolute_padded_positions(golden_case *c)
{
    const golden_array *ids = golden_in(c, "ids", 2);
    int pad = golden_whole(c, "pad_id");
    int is_fairseq = strcmp(c->variant, "fairseq") == 0, is_opt = strcmp(c->variant, "opt") == 0;
    if (!is_fairseq && !is_opt)
        golden_skip(c, "which row position 0 reads in the variant '%s' is not known", c->variant);
    double *got = ids ? golden_memory(c, ids->count, sizeof *got) : NULL;
    unsigned char *hidden = ids ? golden_memory(c, ids->count, 1) : NULL;
    if (!got || !hidden || c->outcome != GOLDEN_PASSED)
        return;
    for (int row = 0; row < ids->shape[0]; row++) {
        size_t at = (size_t)row * (size_t)ids->shape[1];
        if (absolute_place_row(c, ids->data + at, ids->shape[1], pad, is_opt ? 2 : pad + 1, got + at, hidden + at) < 0)
            return;
    }
    golden_compare_exact(c, "pos", got, ids->count, hidden, NULL, NULL);
    golden_remark(c, "real tokens only, which stand at 0 .. n-1, plus the table's offset %d", is_opt ? 2 : pad + 1);
}

const golden_op golden_absolute_ops[] = {
    {"sinusoidal", absolute_sinusoidal},
    {"learned", absolute_learned},
    {"padded_positions", absolute_padded_positions},
    {NULL, NULL},
};
