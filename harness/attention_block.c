#include "attention_block.h"

#include "gemm.h"
#include "vmath.h"

real attention_scale(const pe_shape *shape)
{
    return (real)(1 / sqrt((double)shape->head_dim));
}

pe_tile attention_tile(const pe_shape *shape, const placement *place, int row_begin, int rows)
{
    int keys = shape->causal ? row_begin + rows : place->len;
    return (pe_tile){ .row_begin = row_begin, .rows = rows, .keys = keys, .stride = keys, .plane = rows * keys,
                      .scale = attention_scale(shape) };
}

static void attention_block_point(attention_block *b)
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

static int attention_visible(const attention_block *b, int r)
{
    return b->shape->causal ? b->tile.row_begin + r + 1 : b->tile.keys;
}

void attention_block_bias(const attention_block *b)
{
    memset(b->s->bias, 0, sizeof(real) * (size_t)b->tile.plane * (size_t)b->shape->heads);
    for (int m = 0; m < b->l->count; m++) {
        if (!b->l->member[m].encoding->bias)
            continue;
        pe_context c = attention_context(b->l, m, b->shape, b->place, 0);
        b->l->member[m].encoding->bias(&c, &b->tile, b->s->bias);
    }
}

static void attention_scores(const attention_block *b)
{
    const pe_tile *t = &b->tile;
    for (int h = 0; h < b->shape->heads; h++)
        gemm(GEMM_PLAIN, GEMM_TRANSPOSED, t->rows, t->keys, b->l->rotated_dim, t->scale, t->q + h * t->head_stride,
             t->token_stride, t->k + h * t->head_stride, t->token_stride, 0, b->s->s + (size_t)h * t->plane, t->stride);
    if (!b->l->has_score)
        return;
    for (int m = 0; m < b->l->count; m++) {
        if (!b->l->member[m].encoding->score)
            continue;
        pe_context c = attention_context(b->l, m, b->shape, b->place, 0);
        pe_tile own = attention_member_tile(b, m);
        b->l->member[m].encoding->score(&c, &own, b->s->s, b->s->save[m]);
    }
}

/* s = softmax(s + bias) over the visible keys, 0 beyond. */
static void attention_weights(const attention_block *b)
{
    const pe_tile *t = &b->tile;
    for (int h = 0; h < b->shape->heads; h++)
        for (int r = 0; r < t->rows; r++) {
            size_t row = (size_t)h * t->plane + (size_t)r * t->stride;
            int visible = attention_visible(b, r), i = t->row_begin + r;
            real *s = b->s->s + row;
            if (b->l->has_bias && b->vector_len)
                vmath_add(s, b->s->vector + (size_t)h * (2 * b->vector_len - 1) + b->vector_len - 1 - i, (size_t)visible);
            else if (b->l->has_bias)
                vmath_add(s, b->s->bias + row, (size_t)visible);
            vmath_softmax(s, s, visible);
            memset(s + visible, 0, sizeof(real) * (size_t)(t->keys - visible));
        }
}

static void attention_output(const attention_block *b)
{
    const pe_tile *t = &b->tile;
    const attention_io *io = b->io;
    int width = b->shape->width, head_dim = b->shape->head_dim;
    size_t token = (size_t)io->start[b->sequence];
    real *o = io->o + (token + (size_t)t->row_begin) * (size_t)width;
    const real *v = io->v + token * (size_t)io->token_stride_v;
    for (int h = 0; h < b->shape->heads; h++)
        gemm(GEMM_PLAIN, GEMM_PLAIN, t->rows, head_dim, t->keys, 1, b->s->s + (size_t)h * t->plane, t->stride,
             v + h * head_dim, io->token_stride_v, 0, o + h * head_dim, width);
    if (!b->l->has_value)
        return;
    for (int m = 0; m < b->l->count; m++) {
        if (!b->l->member[m].encoding->value)
            continue;
        pe_context c = attention_context(b->l, m, b->shape, b->place, 0);
        b->l->member[m].encoding->value(&c, t, b->s->s, o, width);
    }
}

/* ds (=) gradient of the weights, then of the scores after the bias; dv +=. */
static void attention_output_bwd(const attention_block *b)
{
    const pe_tile *t = &b->tile;
    const attention_io *io = b->io;
    int width = b->shape->width, head_dim = b->shape->head_dim;
    size_t token = (size_t)io->start[b->sequence];
    const real *d_o = io->d_o + (token + (size_t)t->row_begin) * (size_t)width;
    const real *v = io->v + token * (size_t)io->token_stride_v;
    real *dv = io->dv + token * (size_t)io->token_stride_v;
    for (int h = 0; h < b->shape->heads; h++) {
        const real *p = b->s->s + (size_t)h * t->plane;
        gemm(GEMM_PLAIN, GEMM_TRANSPOSED, t->rows, t->keys, head_dim, 1, d_o + h * head_dim, width, v + h * head_dim,
             io->token_stride_v, 0, b->s->ds + (size_t)h * t->plane, t->stride);
        gemm(GEMM_TRANSPOSED, GEMM_PLAIN, t->keys, head_dim, t->rows, 1, p, t->stride, d_o + h * head_dim, width, 1,
             dv + h * head_dim, io->token_stride_v);
    }
    for (int m = 0; m < b->l->count && b->l->has_value; m++)
        if (b->l->member[m].encoding->value_bwd) {
            pe_context c = attention_context(b->l, m, b->shape, b->place, 1);
            b->l->member[m].encoding->value_bwd(&c, t, b->s->s, d_o, width, b->s->ds);
        }
    for (int h = 0; h < b->shape->heads; h++)
        for (int r = 0; r < t->rows; r++) {
            size_t row = (size_t)h * t->plane + (size_t)r * t->stride;
            int visible = attention_visible(b, r);
            vmath_softmax_bwd(b->s->s + row, b->s->ds + row, visible);
            memset(b->s->ds + row + visible, 0, sizeof(real) * (size_t)(t->keys - visible));
        }
}

static void attention_bias_collect(const attention_block *b)
{
    const pe_tile *t = &b->tile;
    if (!b->l->has_bias)
        return;
    if (!b->vector_len) {
        vmath_add(b->s->dbias, b->s->ds, (size_t)t->plane * (size_t)b->shape->heads);
        return;
    }
    int stride = 2 * b->vector_len - 1;
    for (int h = 0; h < b->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            vmath_add(b->s->dvector + (size_t)h * stride + b->vector_len - 1 - (t->row_begin + r),
                      b->s->ds + (size_t)h * t->plane + (size_t)r * t->stride, (size_t)attention_visible(b, r));
}

static void attention_scores_bwd(const attention_block *b)
{
    const pe_tile *t = &b->tile;
    const attention_io *io = b->io;
    size_t first = (size_t)io->start[b->sequence] * (size_t)io->token_stride_qk;
    real *dq = io->dq + first + (size_t)t->row_begin * (size_t)io->token_stride_qk;
    real *dk = io->dk + first;
    for (int m = b->l->count - 1; m >= 0 && b->l->has_score; m--) {
        const pe_descriptor *d = b->l->member[m].encoding;
        if (!d->score_bwd)
            continue;
        pe_context c = attention_context(b->l, m, b->shape, b->place, 1);
        pe_tile own = attention_member_tile(b, m);
        pe_tile_grad g = { .dq = dq, .dk = dk, .dbias = d->reads_bias ? b->s->dbias : NULL,
                           .dgate = d->gate ? io->dgate[m] + io->gate_at[m][b->sequence] : NULL };
        d->score_bwd(&c, &own, b->s->save[m], b->s->ds, &g);
    }
    for (int h = 0; h < b->shape->heads; h++) {
        const real *ds = b->s->ds + (size_t)h * t->plane;
        int at = h * t->head_stride, dim = b->l->rotated_dim, stride = t->token_stride;
        gemm(GEMM_PLAIN, GEMM_PLAIN, t->rows, dim, t->keys, t->scale, ds, t->stride, t->k + at, stride, 1, dq + at,
             stride);
        gemm(GEMM_TRANSPOSED, GEMM_PLAIN, t->keys, dim, t->rows, t->scale, ds, t->stride, t->q + at, stride, 1, dk + at,
             stride);
    }
}

void attention_block_bias_bwd(const attention_block *b)
{
    for (int m = 0; m < b->l->count; m++) {
        if (!b->l->member[m].encoding->bias_bwd)
            continue;
        pe_context c = attention_context(b->l, m, b->shape, b->place, 1);
        b->l->member[m].encoding->bias_bwd(&c, &b->tile, b->s->dbias);
    }
}

void attention_block_run(attention_block *b, int backward)
{
    attention_block_point(b);
    attention_scores(b);
    attention_weights(b);
    if (!backward) {
        attention_output(b);
        return;
    }
    attention_output_bwd(b);
    attention_bias_collect(b);
    attention_scores_bwd(b);
}
