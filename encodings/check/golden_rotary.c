/* golden_rotary.c - operations of rope.json. */
#include "golden_case.h"

#include <stdio.h>

#include "options.h"

/* "rope(...)" with `dim` of head_dim dimensions turning, from `start` on. The option is a fraction that is truncated;
 * half a dimension more keeps it clear of rounding. */
static int rotary_stack(golden_case *c, const char *layout, double base, int dim, int start, int head_dim,
                        pe_stack *out)
{
    char number[32], fraction[32], text[256];
    pe_shape shape = golden_shape(1, head_dim, 0);
    number_print(base, number, sizeof number);
    number_print(dim >= head_dim ? 1 : (dim + 0.5) / head_dim, fraction, sizeof fraction);
    snprintf(text, sizeof text, "rope(layout=%s,base=%s,fraction=%s,start=%d)", layout, number, fraction, start);
    return golden_stack(c, text, &shape, out);
}

/* u[len][heads][dim], in place, forwards or back. */
static void rotary_turn(const pe_stack *stack, refhost *h, int heads, int dim, real *u, int back)
{
    const pe_descriptor *rope = stack->member[0].encoding;
    if (back)
        rope->rotate_bwd(refhost_context(h, 0, 0, 1), PE_QUERY, u, u, heads * dim, dim);
    else
        rope->rotate(refhost_context(h, 0, 0, 0), PE_QUERY, u, heads * dim, dim);
}

static refhost *rotary_host(golden_case *c, const pe_stack *stack, int heads, int dim, int len, const double *pos)
{
    refhost_settings settings = {.shape = golden_shape(heads, dim, 0), .len = len, .pos = pos};
    return refhost_new(stack, &settings, c->e);
}

/* ------------------------------------------------------------------------------------------------ rope_rotate */

static void rotary_compare_turned(golden_case *c, const pe_stack *stack, refhost *h, const golden_tokens *t,
                                  const char *in, const char *out, int back)
{
    const golden_array *x = golden_in(c, in, 3);
    int heads = refhost_context(h, 0, 0, 0)->shape->heads, dim = refhost_context(h, 0, 0, 0)->shape->head_dim;
    if (!x)
        return;
    if (x->shape[0] != heads || x->shape[1] != t->keys || x->shape[2] != dim) {
        golden_skip(c, "in.%s does not fit the positions", in);
        return;
    }
    real *u = golden_scatter(c, x, t->key, t->len);
    if (!u)
        return;
    rotary_turn(stack, h, heads, dim, u, back);
    golden_compare(c, out, golden_gather(c, u, heads, t->keys, dim, t->key), x->count, NULL);
}

static void rotary_rotate(golden_case *c)
{
    const golden_array *x = golden_in(c, "x", 3), *pos = golden_in(c, "pos", 1);
    golden_tokens t;
    pe_stack stack;
    if (!x || !pos)
        return;
    int dim = x->shape[2];
    if (golden_place(c, pos->data, pos->shape[0], pos->data, pos->shape[0], &t) < 0 ||
        rotary_stack(c, c->variant, golden_number(c, "base", 10000), golden_whole_or(c, "rotary_dim", dim),
                     golden_whole_or(c, "start", 0), dim, &stack) < 0)
        return;
    refhost *h = rotary_host(c, &stack, x->shape[0], dim, t.len, t.pos);
    if (h) {
        rotary_compare_turned(c, &stack, h, &t, "x", "y", 0);
        if (golden_has_in(c, "grad_y"))
            rotary_compare_turned(c, &stack, h, &t, "grad_y", "grad_x", 1);
    }
    refhost_free(h);
    stack_free(&stack);
}

/* ------------------------------------------------------------------------------------------------ frequencies */

/* For every column of a head, the angle by which position 1 turns it: positive for the first of a pair, whose partner
 * gains a sine; negative for the second, whose partner loses one; 0: it does not turn. */
static double *rotary_probe(golden_case *c, const pe_stack *stack, int dim)
{
    const double pos[] = {1};
    refhost *h = rotary_host(c, stack, 1, dim, 1, pos);
    double *angle = golden_memory(c, (size_t)dim, sizeof *angle);
    real *u = golden_memory(c, (size_t)dim, sizeof *u);
    for (int column = 0; h && angle && u && column < dim; column++) {
        memset(u, 0, (size_t)dim * sizeof *u);
        u[column] = 1;
        rotary_turn(stack, h, 1, dim, u, 0);
        double partner = 0;
        for (int i = 0; i < dim; i++)
            partner += i == column ? 0 : (double)u[i];
        angle[column] = atan2(partner, (double)u[column]);
    }
    int failed = !h || !angle || !u;
    refhost_free(h);
    return failed ? NULL : angle;
}

static void rotary_inv_freq(golden_case *c)
{
    int dim = golden_whole(c, "rotary_dim");
    pe_stack stack;
    if (dim < 1 || rotary_stack(c, "interleaved", golden_number(c, "base", 10000), dim, 0, dim, &stack) < 0)
        return;
    double *angle = rotary_probe(c, &stack, dim);
    for (int p = 0; angle && p < dim / 2; p++)
        angle[p] = angle[2 * p];
    golden_compare(c, "inv_freq", angle, (size_t)(dim / 2), NULL);
    stack_free(&stack);
}

/* The column of `from` that turns by the same signed angle as each column of `to`. */
static double *rotary_match(golden_case *c, const double *to, const double *from, int dim)
{
    double *perm = golden_memory(c, (size_t)dim, sizeof *perm);
    for (int column = 0; perm && column < dim; column++) {
        int best = 0;
        for (int i = 1; i < dim; i++)
            if (fabs(from[i] - to[column]) < fabs(from[best] - to[column]))
                best = i;
        perm[column] = best;
    }
    return perm;
}

/* y = rope(x[.][order]), order NULL: as it is. */
static double *rotary_turn_rows(golden_case *c, const pe_stack *stack, const golden_array *x, const golden_array *pos,
                                const double *order)
{
    golden_tokens t;
    int rows = x->shape[0], dim = x->shape[1];
    if (golden_place(c, pos->data, rows, pos->data, rows, &t) < 0)
        return NULL;
    golden_array picked = {
        .rank = 3, .shape = {1, rows, dim}, .count = x->count, .data = golden_memory(c, x->count, sizeof *picked.data)};
    for (int i = 0; picked.data && i < rows * dim; i++)
        picked.data[i] = x->data[i / dim * dim + (order ? (int)order[i % dim] : i % dim)];
    real *u = picked.data ? golden_scatter(c, &picked, t.key, t.len) : NULL;
    refhost *h = u ? rotary_host(c, stack, 1, dim, t.len, t.pos) : NULL;
    if (!h)
        return NULL;
    rotary_turn(stack, h, 1, dim, u, 0);
    refhost_free(h);
    return golden_gather(c, u, 1, rows, dim, t.key);
}

static void rotary_layout_permutation(golden_case *c)
{
    const golden_array *x = golden_in(c, "x", 2), *pos = golden_in(c, "pos", 1);
    int dim = golden_whole(c, "head_dim");
    double base = golden_number(c, "base", 10000);
    pe_stack half, interleaved;
    if (x && pos && (x->shape[1] != dim || x->shape[0] != pos->shape[0])) {
        golden_skip(c, "in.x does not fit head_dim and the positions");
        return;
    }
    if (!x || !pos || dim < 1 || rotary_stack(c, "half", base, dim, 0, dim, &half) < 0)
        return;
    if (rotary_stack(c, "interleaved", base, dim, 0, dim, &interleaved) == 0) {
        double *to = rotary_probe(c, &half, dim), *from = rotary_probe(c, &interleaved, dim);
        double *perm = to && from ? rotary_match(c, to, from, dim) : NULL;
        if (perm) {
            golden_compare_exact(c, "perm", perm, (size_t)dim, NULL, NULL, NULL);
            golden_compare(c, "y_interleaved", rotary_turn_rows(c, &interleaved, x, pos, NULL), x->count, NULL);
            golden_compare(c, "y_half_of_permuted", rotary_turn_rows(c, &half, x, pos, perm), x->count, NULL);
        }
        stack_free(&interleaved);
    }
    stack_free(&half);
}

/* How many columns of a head turn under rope(fraction=...): odd numbers must be refused, since pairs would be
 * incomplete. */
static void rotary_partial_dim(golden_case *c)
{
    const golden_array *head_dim = golden_in(c, "head_dim", 1), *factor = golden_in(c, "factor", 1);
    const golden_array *want = golden_out(c, "rotary_dim", 1);
    double *got = head_dim && factor && want ? golden_memory(c, want->count, sizeof *got) : NULL;
    unsigned char *refused = got ? golden_memory(c, want->count, 1) : NULL;
    for (size_t i = 0; refused && i < want->count && i < head_dim->count && i < factor->count; i++) {
        char fraction[32], text[64];
        pe_stack stack;
        error refusal = ERROR_INIT;
        int dim = (int)fmax(0, fmin(head_dim->data[i], GOLDEN_WIDTH_MAX + 1));
        pe_shape shape = golden_shape(1, dim, 0);
        if (shape.width == 0) {
            golden_skip(c, "head_dim %d is not 1 to %d", dim, GOLDEN_WIDTH_MAX);
            return;
        }
        number_print(factor->data[i], fraction, sizeof fraction);
        snprintf(text, sizeof text, "rope(base=2,fraction=%s)", fraction); /* a small base: every pair turns visibly */
        if (stack_parse(c->registry, text, &stack, &refusal) < 0) {
            golden_skip(c, "refused: %s", refusal.message);
            return;
        }
        refused[i] = stack_check(&stack, &shape, 1, &refusal) < 0;
        int unusable = (int)want->data[i] % 2 != 0 || want->data[i] == 0;
        if (refused[i] != unusable)
            golden_fail(c, "head_dim %d, factor %s: %g dimensions, and the encoding %s", dim, fraction, want->data[i],
                        refused[i] ? "refuses" : "accepts");
        double *angle = refused[i] ? NULL : rotary_probe(c, &stack, dim);
        for (int column = 0; angle && column < dim; column++)
            got[i] += angle[column] != 0;
        stack_free(&stack);
    }
    if (refused) {
        golden_remark(c, "odd widths are refused");
        golden_compare_exact(c, "rotary_dim", got, want->count, refused, NULL, NULL);
    }
}

/* ------------------------------------------------------------------------------------------------ rope_scores */

static void rotary_scores(golden_case *c)
{
    const golden_array *q = golden_in(c, "q", 2), *k = golden_in(c, "k", 2);
    const golden_array *pos_q = golden_in(c, "pos_q", 1), *pos_k = golden_in(c, "pos_k", 1);
    golden_tokens t;
    pe_stack stack;
    if (!q || !k || !pos_q || !pos_k)
        return;
    if (q->shape[1] != k->shape[1] || q->shape[0] != pos_q->shape[0] || k->shape[0] != pos_k->shape[0]) {
        golden_skip(c, "the shapes of q, k and their positions do not fit each other");
        return;
    }
    int dim = q->shape[1];
    if (golden_place(c, pos_q->data, pos_q->shape[0], pos_k->data, pos_k->shape[0], &t) < 0 ||
        rotary_stack(c, c->variant, golden_number(c, "base", 10000), golden_whole_or(c, "rotary_dim", dim), 0, dim,
                     &stack) < 0)
        return;
    golden_attention a = {.stack = &stack, .tokens = &t, .scale = golden_number(c, "scale", 1)};
    golden_compare_scores(c, &a, "scores", q, k, 0);
    stack_free(&stack);
}

const golden_op golden_rotary_ops[] = {
    {"rope_inv_freq", rotary_inv_freq},
    {"rope_rotate", rotary_rotate},
    {"rope_scores", rotary_scores},
    {"rope_layout_permutation", rotary_layout_permutation},
    {"partial_rotary_dim", rotary_partial_dim},
    {NULL, NULL},
};
