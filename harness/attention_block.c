#include "attention_block.h"

#include "attention_product.h"
#include "vmath.h"

real attention_scale(const pe_shape *shape)
{
    return (real)(1 / sqrt((double)shape->head_dim));
}

int attention_stride(int keys)
{
    return (keys + PRODUCT_PANEL - 1) / PRODUCT_PANEL * PRODUCT_PANEL + VMATH_WHOLE;
}

pe_tile attention_tile(const pe_shape *shape, const placement *place, int row_begin, int rows)
{
    int keys = shape->causal ? row_begin + rows : place->len, stride = attention_stride(keys);
    return (pe_tile){ .row_begin = row_begin, .rows = rows, .keys = keys, .stride = stride, .plane = rows * stride,
                      .scale = attention_scale(shape) };
}

void attention_block_point(attention_block *b)
{
    const attention_io *io = b->io;
    size_t first = (size_t)io->start[b->sequence] * (size_t)io->token_stride_qk;
    b->tile.q = io->q + first + (size_t)b->tile.row_begin * (size_t)io->token_stride_qk;
    b->tile.k = io->k + first;
    b->tile.token_stride = io->token_stride_qk;
    b->tile.head_stride = b->tile.rotated_dim = b->l->rotated_dim;
}

static pe_tile attention_member_tile(const attention_block *b, int m)
{
    const pe_descriptor *d = b->l->member[m].encoding;
    pe_tile t = b->tile;
    t.gate = d->gate ? b->io->gate[m] + b->io->gate_at[m][b->sequence] : NULL;
    t.bias = d->reads_bias ? b->s->bias : NULL;
    return t;
}

/* Where a head's scores begin in s->s and s->ds: its own plane when hooks see all heads at once, else the same for all. */
static size_t attention_plane(const attention_block *b, int head)
{
    return b->l->together ? (size_t)head * (size_t)b->tile.plane : 0;
}

static int attention_visible(const attention_block *b, int r)
{
    return b->shape->causal ? b->tile.row_begin + r + 1 : b->tile.keys;
}

/* How much of row r must be 0 past what is visible. Products read little of it; hooks, and sums over a tile of biases, may
 * read all of it. */
static int attention_room(const attention_block *b, int r)
{
    int tiled = b->l->has_bias && !b->vector_len, last = attention_visible(b, r) + PRODUCT_PAST;
    int room = (last + PE_VEC_LANES - 1) / PE_VEC_LANES * PE_VEC_LANES;
    return b->l->together || tiled || room > b->tile.stride ? b->tile.stride : room;
}

void attention_block_bias(const attention_block *b)
{
    breakdown_at(b->s->breakdown, BREAKDOWN_ENCODING);
    memset(b->s->bias, 0, sizeof(real) * (size_t)b->tile.plane * (size_t)b->shape->heads);
    for (int m = 0; m < b->l->count; m++) {
        if (!b->l->member[m].encoding->bias)
            continue;
        pe_context c = attention_context(b->l, m, b->shape, b->place, 0);
        b->l->member[m].encoding->bias(&c, &b->tile, b->s->bias);
    }
    breakdown_at(b->s->breakdown, BREAKDOWN_ATTENTION);
}

/* ------------------------------------------------------------------------------------------------ packed operands */

size_t attention_packed_at(const attention_io *io, int n, int per_token)
{
    return ((size_t)io->start[n] + (size_t)n * PRODUCT_PANEL) * (size_t)per_token;
}

static void attention_pack_heads(const attention_io *io, int heads, int dim, const real *x, int token_stride, real *packed)
{
    for (int n = 0; n < io->sequences; n++) {
        int len = io->start[n + 1] - io->start[n];
        real *to = packed + attention_packed_at(io, n, heads * dim);
        for (int h = 0; h < heads; h++, to += product_packed_reals(len, dim))
            product_pack(x + (size_t)io->start[n] * (size_t)token_stride + h * dim, token_stride, len, dim, to);
    }
}

void attention_pack(const attention_layer *l, const pe_shape *shape, attention_scratch *s, const attention_io *io,
                    int backward)
{
    attention_pack_heads(io, shape->heads, l->rotated_dim, io->k, io->token_stride_qk, s->packed_k);
    if (backward)
        attention_pack_heads(io, shape->heads, shape->head_dim, io->v, io->token_stride_v, s->packed_v);
}

const real *attention_packed(const attention_block *b, const real *packed, int dim, int h)
{
    return packed + attention_packed_at(b->io, b->sequence, b->shape->heads * dim) +
           (size_t)h * product_packed_reals(b->place->len, dim);
}

static attention_span attention_all_keys(const attention_block *b)
{
    return (attention_span){ .rows = b->tile.rows, .keys = b->tile.keys, .stride = b->tile.stride,
                             .causal = b->shape->causal, .diagonal = b->tile.row_begin };
}

/* ------------------------------------------------------------------------------------------------ forward */

static void attention_scores(const attention_block *b, int head)
{
    const pe_tile *t = &b->tile;
    int dim = b->l->rotated_dim;
    attention_span span = attention_all_keys(b);
    attention_rows_by_keys(&span, t->q + head * t->head_stride, t->token_stride,
                           attention_packed(b, b->s->packed_k, dim, head), dim, t->scale,
                           b->s->s + attention_plane(b, head));
}

static void attention_score_hooks(const attention_block *b)
{
    breakdown_at(b->s->breakdown, BREAKDOWN_ENCODING);
    for (int m = 0; m < b->l->count && b->l->has_score; m++) {
        if (!b->l->member[m].encoding->score)
            continue;
        pe_context c = attention_context(b->l, m, b->shape, b->place, 0);
        pe_tile own = attention_member_tile(b, m);
        b->l->member[m].encoding->score(&c, &own, b->s->s, b->s->save[m]);
    }
    breakdown_at(b->s->breakdown, BREAKDOWN_ATTENTION);
}

/* s = softmax(s + bias) over the visible keys, 0 beyond as far as anybody reads. */
static void attention_weights(const attention_block *b, int head)
{
    const pe_tile *t = &b->tile;
    const real *by_distance = b->s->vector + (size_t)head * (2 * b->vector_len - 1) + b->vector_len - 1;
    for (int r = 0; r < t->rows; r++) {
        size_t at = (size_t)r * t->stride;
        const real *bias = !b->l->has_bias ? NULL
                           : b->vector_len ? by_distance - (t->row_begin + r)
                                           : b->s->bias + (size_t)head * t->plane + at;
        vmath_softmax(b->s->s + attention_plane(b, head) + at, bias, attention_visible(b, r), attention_room(b, r));
    }
}

static void attention_show(const attention_block *b, int head)
{
    const attention_watch *w = b->io->watch;
    for (int r = 0; w && r < b->tile.rows; r++)
        w->see(w->self, b->l->layer, b->sequence, head, b->tile.row_begin + r,
               b->s->s + attention_plane(b, head) + (size_t)r * b->tile.stride, attention_visible(b, r));
}

static void attention_output(const attention_block *b, int head)
{
    const pe_tile *t = &b->tile;
    const attention_io *io = b->io;
    int width = b->shape->width, dim = b->shape->head_dim;
    size_t token = (size_t)io->start[b->sequence];
    attention_span span = attention_all_keys(b);
    attention_plane_by_keys(&span, b->s->s + attention_plane(b, head),
                            io->v + token * (size_t)io->token_stride_v + head * dim, io->token_stride_v, dim, 1,
                            io->o + (token + (size_t)t->row_begin) * (size_t)width + head * dim, width, 0);
}

static void attention_value_hooks(const attention_block *b)
{
    int width = b->shape->width;
    real *o = b->io->o + ((size_t)b->io->start[b->sequence] + (size_t)b->tile.row_begin) * (size_t)width;
    breakdown_at(b->s->breakdown, BREAKDOWN_ENCODING);
    for (int m = 0; m < b->l->count && b->l->has_value; m++) {
        if (!b->l->member[m].encoding->value)
            continue;
        pe_context c = attention_context(b->l, m, b->shape, b->place, 0);
        b->l->member[m].encoding->value(&c, &b->tile, b->s->s, o, width);
    }
    breakdown_at(b->s->breakdown, BREAKDOWN_ATTENTION);
}

/* ------------------------------------------------------------------------------------------------ backward */

/* ds (=) gradient of the weights; dv +=. */
static void attention_output_bwd(const attention_block *b, int head)
{
    const pe_tile *t = &b->tile;
    const attention_io *io = b->io;
    int width = b->shape->width, dim = b->shape->head_dim;
    size_t token = (size_t)io->start[b->sequence], plane = attention_plane(b, head);
    const real *d_o = io->d_o + (token + (size_t)t->row_begin) * (size_t)width + head * dim;
    real *dv = io->dv + token * (size_t)io->token_stride_v + head * dim;
    attention_span span = attention_all_keys(b);
    attention_rows_by_keys(&span, d_o, width, attention_packed(b, b->s->packed_v, dim, head), dim, 1, b->s->ds + plane);
    attention_plane_by_rows(&span, b->s->s + plane, d_o, width, dim, 1, dv, io->token_stride_v);
}

static void attention_value_hooks_bwd(const attention_block *b)
{
    int width = b->shape->width;
    const real *d_o = b->io->d_o + ((size_t)b->io->start[b->sequence] + (size_t)b->tile.row_begin) * (size_t)width;
    breakdown_at(b->s->breakdown, BREAKDOWN_ENCODING);
    for (int m = 0; m < b->l->count && b->l->has_value; m++)
        if (b->l->member[m].encoding->value_bwd) {
            pe_context c = attention_context(b->l, m, b->shape, b->place, 1);
            b->l->member[m].encoding->value_bwd(&c, &b->tile, b->s->s, d_o, width, b->s->ds);
        }
    breakdown_at(b->s->breakdown, BREAKDOWN_ATTENTION);
}

/* ds: gradient of the weights on entry, of the scores after the bias on exit; 0 where nothing is visible. */
static void attention_weights_bwd(const attention_block *b, int head)
{
    const pe_tile *t = &b->tile;
    for (int r = 0; r < t->rows; r++) {
        size_t row = attention_plane(b, head) + (size_t)r * t->stride;
        vmath_softmax_bwd(b->s->s + row, b->s->ds + row, attention_visible(b, r), attention_room(b, r));
    }
}

static void attention_bias_collect(const attention_block *b, int head)
{
    const pe_tile *t = &b->tile;
    size_t plane = attention_plane(b, head);
    if (!b->l->has_bias)
        return;
    if (!b->vector_len) {
        vmath_add(b->s->dbias + (size_t)head * t->plane, b->s->ds + plane, (size_t)t->plane);
        return;
    }
    real *by_distance = b->s->dvector + (size_t)head * (2 * b->vector_len - 1) + b->vector_len - 1;
    for (int r = 0; r < t->rows; r++)
        vmath_add(by_distance - (t->row_begin + r), b->s->ds + plane + (size_t)r * t->stride,
                  (size_t)attention_visible(b, r));
}

static void attention_score_hooks_bwd(const attention_block *b)
{
    const attention_io *io = b->io;
    size_t first = (size_t)io->start[b->sequence] * (size_t)io->token_stride_qk;
    breakdown_at(b->s->breakdown, BREAKDOWN_ENCODING);
    for (int m = b->l->count - 1; m >= 0 && b->l->has_score; m--) {
        const pe_descriptor *d = b->l->member[m].encoding;
        if (!d->score_bwd)
            continue;
        pe_context c = attention_context(b->l, m, b->shape, b->place, 1);
        pe_tile own = attention_member_tile(b, m);
        pe_tile_grad g = { .dq = io->dq + first + (size_t)b->tile.row_begin * (size_t)io->token_stride_qk,
                           .dk = io->dk + first, .dbias = d->reads_bias ? b->s->dbias : NULL,
                           .dgate = d->gate ? io->dgate[m] + io->gate_at[m][b->sequence] : NULL };
        d->score_bwd(&c, &own, b->s->save[m], b->s->ds, &g);
    }
    breakdown_at(b->s->breakdown, BREAKDOWN_ATTENTION);
}

/* dq, dk += from ds, the gradient of the scaled products. */
static void attention_scores_bwd(const attention_block *b, int head)
{
    const pe_tile *t = &b->tile;
    const attention_io *io = b->io;
    int dim = b->l->rotated_dim, stride = t->token_stride;
    size_t first = (size_t)io->start[b->sequence] * (size_t)io->token_stride_qk + (size_t)head * t->head_stride;
    const real *ds = b->s->ds + attention_plane(b, head);
    attention_span span = attention_all_keys(b);
    attention_plane_by_keys(&span, ds, t->k + head * t->head_stride, stride, dim, t->scale,
                            io->dq + first + (size_t)t->row_begin * (size_t)stride, stride, 1);
    attention_plane_by_rows(&span, ds, t->q + head * t->head_stride, stride, dim, t->scale, io->dk + first, stride);
}

void attention_block_bias_bwd(const attention_block *b)
{
    breakdown_at(b->s->breakdown, BREAKDOWN_ENCODING);
    for (int m = 0; m < b->l->count; m++) {
        if (!b->l->member[m].encoding->bias_bwd)
            continue;
        pe_context c = attention_context(b->l, m, b->shape, b->place, 1);
        b->l->member[m].encoding->bias_bwd(&c, &b->tile, b->s->dbias);
    }
    breakdown_at(b->s->breakdown, BREAKDOWN_ATTENTION);
}

static void attention_block_forward(attention_block *b)
{
    for (int h = 0; h < b->shape->heads; h++) {
        if (!b->l->together)
            attention_scores(b, h);
        attention_weights(b, h);
        attention_show(b, h);
        attention_output(b, h);
    }
    attention_value_hooks(b);
}

static void attention_block_backward(attention_block *b)
{
    int heads = b->shape->heads;
    for (int h = 0; h < heads; h++) {
        attention_weights(b, h);
        attention_output_bwd(b, h);
    }
    attention_value_hooks_bwd(b);
    for (int h = 0; h < heads; h++) {
        attention_weights_bwd(b, h);
        attention_bias_collect(b, h);
    }
    attention_score_hooks_bwd(b);
    for (int h = 0; h < heads; h++)
        attention_scores_bwd(b, h);
}

/* Hooks see all heads at once, so where there are any, the heads wait for each other. */
void attention_block_run(attention_block *b, int backward)
{
    attention_block_point(b);
    for (int h = 0; h < b->shape->heads && b->l->together; h++)
        attention_scores(b, h);
    attention_score_hooks(b);
    if (backward)
        attention_block_backward(b);
    else
        attention_block_forward(b);
}
