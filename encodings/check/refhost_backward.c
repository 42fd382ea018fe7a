#include "refhost_private.h"

#include <stdio.h>

/* Puts the pattern of a watching host (sign 1) and takes it away (-1). */
static void backward_mark_tile(const refhost *h, const refhost_tile *t, real *values, real sign)
{
    const pe_tile *a = &t->about;
    for (int head = 0; h->settings.watch && head < h->shape->heads; head++)
        for (int r = 0; r < a->rows; r++)
            for (int j = 0; j < a->keys; j++)
                values[head * a->plane + r * a->stride + j] += sign * refhost_pattern(head, r, j);
}

/* For dq and dk: only score hooks add to them. Elsewhere the pattern would cost digits of what may be tiny there and be
 * made large by a rotation that scales. */
static void backward_mark_tokens(const refhost *h, real *values, real sign)
{
    int scored = 0;
    for (int m = 0; m < h->stack->count; m++)
        scored |= h->stack->member[m].encoding->score_bwd != NULL;
    for (int t = 0; scored && h->settings.watch && t < h->settings.len; t++)
        for (int head = 0; head < h->shape->heads; head++)
            for (int c = 0; c < h->dim; c++)
                values[t * h->token_stride + head * h->head_stride + c] += sign * refhost_pattern(t, head, c);
}

/* dp = d_o.v where visible, 0 elsewhere; dv += p d_o; then the value hooks, last member first. */
static void backward_values(refhost *h, const refhost_tile *t)
{
    const pe_tile *a = &t->about;
    int head_dim = h->shape->head_dim;
    const real *d_o = h->d_o + a->row_begin * h->o_stride;
    zone_clear_payload(&h->zones, t->dp);
    for (int head = 0; head < h->shape->heads; head++)
        for (int r = 0; r < a->rows; r++)
            for (int j = 0; j < a->keys; j++) {
                if (!refhost_visible(h, a->row_begin + r, j))
                    continue;
                int at = head * a->plane + r * a->stride + j;
                for (int c = 0; c < head_dim; c++) {
                    int value = j * h->token_stride + head * h->head_stride + c;
                    real d = d_o[r * h->o_stride + head * head_dim + c];
                    t->dp[at] += d * h->v[value];
                    h->dv[value] += d * t->p[at];
                }
            }
    backward_mark_tile(h, t, t->dp, 1);
    for (int m = h->stack->count - 1; m >= 0; m--) {
        const pe_descriptor *encoding = h->stack->member[m].encoding;
        if (!encoding->value_bwd)
            continue;
        pe_tile view = refhost_view(h, t, m, 0);
        const pe_context *c = refhost_context(h, m, h->settings.layer, 1);
        refhost_hook_begin(h);
        encoding->value_bwd(c, &view, t->p, d_o, h->o_stride, t->dp);
        refhost_hook_end(h, m, "value_bwd", (const void *[]){t->dp, NULL});
    }
    backward_mark_tile(h, t, t->dp, -1);
}

/* The caller's gradient of a logit; one that a bias sent to -INFINITY cannot move. */
static real backward_given(const refhost *h, const real *d_logits, int at)
{
    return d_logits && !isinf(h->out_logits[at]) ? d_logits[at] : 0;
}

/* ds = p (dp - sum p dp) + d_logits where visible, 0 elsewhere. */
static void backward_softmax(refhost *h, const refhost_tile *t, const real *d_logits)
{
    const pe_tile *a = &t->about;
    int len = h->settings.len;
    zone_clear_payload(&h->zones, t->ds);
    for (int head = 0; head < h->shape->heads; head++)
        for (int r = 0; r < a->rows; r++) {
            int i = a->row_begin + r, at = head * a->plane + r * a->stride;
            real mean = 0; /* of dp under p */
            for (int j = 0; j < a->keys; j++)
                if (refhost_visible(h, i, j))
                    mean += t->p[at + j] * t->dp[at + j];
            for (int j = 0; j < a->keys; j++)
                if (refhost_visible(h, i, j))
                    t->ds[at + j] =
                        t->p[at + j] * (t->dp[at + j] - mean) + backward_given(h, d_logits, (head * len + i) * len + j);
        }
}

/* Hosts multiply whole rows of ds with keys, so nothing may be left where no score counts. */
static void backward_expect_zero_beyond(refhost *h, int member, const refhost_tile *t)
{
    const pe_tile *a = &t->about;
    for (int head = 0; head < h->shape->heads; head++)
        for (int r = 0; r < a->rows; r++)
            for (int j = 0; j < a->keys; j++)
                if (refhost_beyond(h, a->row_begin + r, j) && t->ds[head * a->plane + r * a->stride + j] != 0 &&
                    !h->fault[0])
                    snprintf(h->fault, sizeof h->fault,
                             "%s: score_bwd left a gradient beyond the causal limit, at query %d, key %d",
                             h->stack->member[member].encoding->name, a->row_begin + r, j);
}

static void backward_score(refhost *h, const refhost_tile *t)
{
    const pe_tile *a = &t->about;
    for (int m = h->stack->count - 1; m >= 0; m--) {
        const pe_descriptor *encoding = h->stack->member[m].encoding;
        if (!encoding->score_bwd)
            continue;
        pe_tile view = refhost_view(h, t, m, 0);
        pe_tile_grad g = {h->dq + a->row_begin * h->token_stride, h->dk, h->dgate[m],
                          encoding->reads_bias ? t->dbias : NULL};
        const pe_context *c = refhost_context(h, m, h->settings.layer, 1);
        refhost_hook_begin(h);
        encoding->score_bwd(c, &view, t->save[m], t->ds, &g);
        const void *writable[] = {t->ds, h->dq, h->dk, NULL, NULL, NULL};
        int w = 3;
        if (g.dgate)
            writable[w++] = g.dgate;
        if (g.dbias)
            writable[w] = g.dbias;
        refhost_hook_end(h, m, "score_bwd", writable);
        backward_expect_zero_beyond(h, m, t);
    }
}

static void backward_bias(refhost *h, const refhost_tile *t)
{
    for (int m = h->stack->count - 1; m >= 0; m--) {
        const pe_descriptor *encoding = h->stack->member[m].encoding;
        if (!encoding->bias_bwd)
            continue;
        pe_tile view = refhost_view(h, t, m, 1);
        const pe_context *c = refhost_context(h, m, h->settings.layer, 1);
        refhost_hook_begin(h);
        encoding->bias_bwd(c, &view, t->dbias);
        refhost_hook_end(h, m, "bias_bwd", (const void *[]){NULL});
    }
}

/* s = scale q.k:  dq += scale ds k,  dk += scale ds q. */
static void backward_multiply(refhost *h, const refhost_tile *t)
{
    const pe_tile *a = &t->about;
    for (int head = 0; head < h->shape->heads; head++)
        for (int r = 0; r < a->rows; r++)
            for (int j = 0; j < a->keys; j++) {
                if (refhost_beyond(h, a->row_begin + r, j))
                    continue;
                real d = t->ds[head * a->plane + r * a->stride + j] * a->scale;
                int query = (a->row_begin + r) * h->token_stride + head * h->head_stride;
                int key = j * h->token_stride + head * h->head_stride;
                for (int c = 0; c < h->dim; c++) {
                    h->dq[query + c] += d * h->k[key + c];
                    h->dk[key + c] += d * h->q[query + c];
                }
            }
}

static void backward_rotate(refhost *h)
{
    for (int m = h->stack->count - 1; m >= 0; m--) {
        const pe_descriptor *encoding = h->stack->member[m].encoding;
        if (!encoding->rotate_bwd)
            continue;
        const pe_context *c = refhost_context(h, m, h->settings.layer, 1);
        refhost_hook_begin(h);
        encoding->rotate_bwd(c, PE_QUERY, h->q, h->dq, h->token_stride, h->head_stride);
        refhost_hook_end(h, m, "rotate_bwd of q", (const void *[]){h->dq, NULL});
        refhost_hook_begin(h);
        encoding->rotate_bwd(c, PE_KEY, h->k, h->dk, h->token_stride, h->head_stride);
        refhost_hook_end(h, m, "rotate_bwd of k", (const void *[]){h->dk, NULL});
    }
}

/* du of one of q, k, v -> gradient of what was given, and dx += W^T du. */
static void backward_project(refhost *h, const real *du, const real *weights, real *given)
{
    int width = h->shape->width, head_dim = h->shape->head_dim;
    for (int t = 0; t < h->settings.len; t++)
        for (int row = 0; row < width; row++) {
            real d = du[t * h->token_stride + row / head_dim * h->head_stride + row % head_dim];
            given[t * width + row] = d;
            for (int w = 0; weights && w < width; w++)
                h->dx[t * width + w] += weights[row * width + w] * d;
        }
}

static void backward_gate(refhost *h)
{
    for (int m = h->stack->count - 1; m >= 0; m--) {
        const pe_descriptor *encoding = h->stack->member[m].encoding;
        if (!encoding->gate_bwd)
            continue;
        const pe_context *c = refhost_context(h, m, h->settings.layer, 1);
        refhost_hook_begin(h);
        encoding->gate_bwd(c, h->x, h->gate[m], h->dgate[m], h->dx);
        refhost_hook_end(h, m, "gate_bwd", (const void *[]){h->dx, NULL});
    }
}

static void backward_embed(refhost *h)
{
    for (int m = h->stack->count - 1; m >= 0; m--) {
        const pe_descriptor *encoding = h->stack->member[m].encoding;
        if (!encoding->embed_bwd)
            continue;
        refhost_hook_begin(h);
        encoding->embed_bwd(refhost_context(h, m, -1, 1), h->dx);
        refhost_hook_end(h, m, "embed_bwd", (const void *[]){NULL});
    }
}

static void backward_start(refhost *h, const real *d_o)
{
    int width = h->shape->width;
    real *const cleared[] = {h->dx, h->dq, h->dk, h->dv};
    for (int i = 0; i < 4; i++)
        zone_clear_payload(&h->zones, cleared[i]);
    for (int m = 0; m < h->stack->count; m++)
        if (h->dgate[m])
            zone_clear_payload(&h->zones, h->dgate[m]);
    for (int t = 0; t < h->settings.len; t++)
        for (int w = 0; w < width; w++)
            h->d_o[t * h->o_stride + w] = d_o ? d_o[t * width + w] : 0;
}

refhost_gradient refhost_backward(refhost *h, const refhost_input *in, const real *d_o, const real *d_logits)
{
    ptrdiff_t block = (ptrdiff_t)h->shape->width * h->shape->width;
    backward_start(h, d_o);
    backward_mark_tokens(h, h->dq, 1);
    backward_mark_tokens(h, h->dk, 1);
    for (int i = h->tile_count - 1; i >= 0; i--) {
        const refhost_tile *t = &h->tile[i];
        backward_values(h, t);
        backward_softmax(h, t, d_logits);
        memcpy(t->dbias, t->ds, (size_t)h->shape->heads * (size_t)t->about.plane * sizeof(real));
        backward_score(h, t);
        backward_bias(h, t);
        backward_multiply(h, t);
    }
    backward_mark_tokens(h, h->dq, -1);
    backward_mark_tokens(h, h->dk, -1);
    backward_rotate(h);
    backward_project(h, h->dq, in->weights, h->grad_q);
    backward_project(h, h->dk, in->weights ? in->weights + block : NULL, h->grad_k);
    backward_project(h, h->dv, in->weights ? in->weights + 2 * block : NULL, h->grad_v);
    backward_gate(h);
    backward_embed(h);
    return (refhost_gradient){h->dx, h->grad_q, h->grad_k, h->grad_v};
}
