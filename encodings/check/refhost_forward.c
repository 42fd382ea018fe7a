#include "refhost_private.h"

static void forward_embed(refhost *h, const refhost_input *in)
{
    size_t count = (size_t)h->settings.len * (size_t)h->shape->width;
    for (size_t i = 0; i < count; i++)
        h->x[i] = in->x ? in->x[i] : 0;
    for (int m = 0; m < h->stack->count; m++) {
        const pe_descriptor *encoding = h->stack->member[m].encoding;
        if (!encoding->embed)
            continue;
        refhost_hook_begin(h);
        encoding->embed(refhost_context(h, m, -1, 0), h->x);
        refhost_hook_end(h, m, "embed", (const void *[]){h->x, NULL});
    }
}

static void forward_gate(refhost *h)
{
    for (int m = 0; m < h->stack->count; m++) {
        const pe_descriptor *encoding = h->stack->member[m].encoding;
        if (!encoding->gate)
            continue;
        zone_poison_payload(&h->zones, h->gate[m]);
        refhost_hook_begin(h);
        encoding->gate(refhost_context(h, m, h->settings.layer, 0), h->x, h->gate[m]);
        refhost_hook_end(h, m, "gate", (const void *[]){h->gate[m], NULL});
    }
}

/* u[t][h][c] = given + W x, W: [width][width]. Reals past head_dim stay poison until rotate fills them. */
static void forward_project(refhost *h, const real *given, const real *weights, real *u)
{
    int width = h->shape->width, head_dim = h->shape->head_dim;
    zone_poison_payload(&h->zones, u);
    for (int t = 0; t < h->settings.len; t++)
        for (int row = 0; row < width; row++) {
            real sum = given ? given[t * width + row] : 0;
            for (int w = 0; weights && w < width; w++)
                sum += weights[row * width + w] * h->x[t * width + w];
            u[t * h->token_stride + row / head_dim * h->head_stride + row % head_dim] = sum;
        }
}

static void forward_rotate(refhost *h)
{
    for (int m = 0; m < h->stack->count; m++) {
        const pe_descriptor *encoding = h->stack->member[m].encoding;
        if (!encoding->rotate)
            continue;
        const pe_context *c = refhost_context(h, m, h->settings.layer, 0);
        refhost_hook_begin(h);
        encoding->rotate(c, PE_QUERY, h->q, h->token_stride, h->head_stride);
        refhost_hook_end(h, m, "rotate of q", (const void *[]){h->q, NULL});
        refhost_hook_begin(h);
        encoding->rotate(c, PE_KEY, h->k, h->token_stride, h->head_stride);
        refhost_hook_end(h, m, "rotate of k", (const void *[]){h->k, NULL});
    }
}

static void forward_bias(refhost *h, const refhost_tile *t)
{
    const pe_tile *a = &t->about;
    int watch = h->settings.watch;
    for (int head = 0; head < h->shape->heads; head++)
        for (int r = 0; r < a->rows; r++)
            for (int j = 0; j < a->keys; j++) {
                int beyond = refhost_beyond(h, a->row_begin + r, j);
                t->bias[head * a->plane + r * a->stride + j] = beyond  ? (real)h->settings.garbage
                                                               : watch ? refhost_pattern(head, r, j)
                                                                       : 0;
            }
    for (int m = 0; m < h->stack->count; m++) {
        const pe_descriptor *encoding = h->stack->member[m].encoding;
        if (!encoding->bias)
            continue;
        pe_tile view = refhost_view(h, t, m, 1);
        const pe_context *c = refhost_context(h, m, h->settings.layer, 0);
        refhost_hook_begin(h);
        encoding->bias(c, &view, t->bias);
        refhost_hook_end(h, m, "bias", (const void *[]){t->bias, NULL});
    }
    int len = h->settings.len;
    for (int head = 0; head < h->shape->heads; head++)
        for (int r = 0; r < a->rows; r++)
            for (int j = 0; j < a->keys; j++) {
                real *bias = &t->bias[head * a->plane + r * a->stride + j];
                int i = a->row_begin + r, beyond = refhost_beyond(h, i, j);
                if (watch && !beyond)
                    *bias -= refhost_pattern(head, r, j);
                h->out_bias[(head * len + i) * len + j] = beyond ? 0 : *bias;
            }
}

/* s[h][r][j] = scale q.k */
static void forward_multiply(refhost *h, const refhost_tile *t)
{
    const pe_tile *a = &t->about;
    for (int head = 0; head < h->shape->heads; head++)
        for (int r = 0; r < a->rows; r++)
            for (int j = 0; j < a->keys; j++) {
                real *s = &t->s[head * a->plane + r * a->stride + j];
                if (refhost_beyond(h, a->row_begin + r, j)) {
                    *s = (real)h->settings.garbage;
                    continue;
                }
                const real *q = a->q + r * a->token_stride + head * a->head_stride;
                const real *k = a->k + j * a->token_stride + head * a->head_stride;
                real dot = 0;
                for (int c = 0; c < h->dim; c++)
                    dot += q[c] * k[c];
                *s = dot * a->scale;
            }
}

static void forward_score(refhost *h, const refhost_tile *t)
{
    for (int m = 0; m < h->stack->count; m++) {
        const pe_descriptor *encoding = h->stack->member[m].encoding;
        if (!encoding->score)
            continue;
        zone_poison_payload(&h->zones, t->save[m]);
        pe_tile view = refhost_view(h, t, m, 0);
        const pe_context *c = refhost_context(h, m, h->settings.layer, 0);
        refhost_hook_begin(h);
        encoding->score(c, &view, t->s, t->save[m]);
        refhost_hook_end(h, m, "score", (const void *[]){t->s, t->save[m], NULL});
    }
}

/* One row: logits = s + bias where visible, p = softmax(logits), 0 where hidden. A row that sees nothing has no mass.
 */
static void forward_softmax_row(refhost *h, const refhost_tile *t, int head, int r)
{
    const pe_tile *a = &t->about;
    int i = a->row_begin + r, at = head * a->plane + r * a->stride;
    real *logits = h->out_logits + (head * h->settings.len + i) * h->settings.len;
    real most = -INFINITY, sum = 0;
    for (int j = 0; j < a->keys; j++) {
        logits[j] = refhost_visible(h, i, j) ? t->s[at + j] + t->bias[at + j] : -INFINITY;
        most = logits[j] > most || isnan(logits[j]) ? logits[j] : most;
    }
    for (int j = 0; j < a->keys; j++) {
        t->p[at + j] = most == -INFINITY || !refhost_visible(h, i, j) ? 0 : (real)exp((double)(logits[j] - most));
        sum += t->p[at + j];
    }
    for (int j = 0; j < a->keys && sum != 0; j++)
        t->p[at + j] /= sum;
}

static void forward_values(refhost *h, const refhost_tile *t)
{
    const pe_tile *a = &t->about;
    int head_dim = h->shape->head_dim;
    real *o = h->o + a->row_begin * h->o_stride;
    for (int head = 0; head < h->shape->heads; head++)
        for (int r = 0; r < a->rows; r++)
            for (int c = 0; c < head_dim; c++) {
                real sum = 0;
                for (int j = 0; j < a->keys; j++)
                    if (refhost_visible(h, a->row_begin + r, j))
                        sum += t->p[head * a->plane + r * a->stride + j] *
                               h->v[j * h->token_stride + head * h->head_stride + c];
                o[r * h->o_stride + head * head_dim + c] = sum;
            }
    for (int m = 0; m < h->stack->count; m++) {
        const pe_descriptor *encoding = h->stack->member[m].encoding;
        if (!encoding->value)
            continue;
        pe_tile view = refhost_view(h, t, m, 0);
        const pe_context *c = refhost_context(h, m, h->settings.layer, 0);
        refhost_hook_begin(h);
        encoding->value(c, &view, t->p, o, h->o_stride);
        refhost_hook_end(h, m, "value", (const void *[]){h->o, NULL});
    }
}

static void forward_copy_out(refhost *h, const refhost_tile *t)
{
    const pe_tile *a = &t->about;
    int len = h->settings.len, width = h->shape->width;
    for (int head = 0; head < h->shape->heads; head++)
        for (int r = 0; r < a->rows; r++)
            for (int j = 0; j < len; j++) {
                int to = (head * len + a->row_begin + r) * len + j;
                h->out_p[to] = j < a->keys ? t->p[head * a->plane + r * a->stride + j] : 0;
                if (j >= a->keys) {
                    h->out_logits[to] = -INFINITY;
                    h->out_bias[to] = 0;
                }
            }
    for (int r = a->row_begin; r < a->row_begin + a->rows; r++)
        memcpy(h->out_o + r * width, h->o + r * h->o_stride, (size_t)width * sizeof(real));
}

refhost_output refhost_forward(refhost *h, const refhost_input *in)
{
    ptrdiff_t block = (ptrdiff_t)h->shape->width * h->shape->width;
    forward_embed(h, in);
    forward_gate(h);
    forward_project(h, in->q, in->weights, h->q);
    forward_project(h, in->k, in->weights ? in->weights + block : NULL, h->k);
    forward_project(h, in->v, in->weights ? in->weights + 2 * block : NULL, h->v);
    forward_rotate(h);
    for (int i = 0; i < h->tile_count; i++) {
        const refhost_tile *t = &h->tile[i];
        forward_bias(h, t);
        forward_multiply(h, t);
        forward_score(h, t);
        for (int head = 0; head < h->shape->heads; head++)
            for (int r = 0; r < t->about.rows; r++)
                forward_softmax_row(h, t, head, r);
        forward_values(h, t);
        forward_copy_out(h, t);
    }
    return (refhost_output){h->x, h->out_logits, h->out_bias, h->out_p, h->out_o};
}
