#include "attention_stream.h"

#include "attention_product.h"
#include "softmax.h"
#include "vmath.h"

/* One head of a block, and the tile of keys that is being worked off. */
typedef struct attention_stream {
    const attention_block *b;
    int head, first;              /* of the tile's keys */
    attention_span span;
    softmax_tile softmax;
    softmax_row *row;             /* [rows] */
} attention_stream;

static int attention_stream_keys(const attention_block *b)
{
    int keys = b->s->tile_keys ? b->s->tile_keys : ATTENTION_STREAM_KEYS;
    return keys < b->tile.keys ? keys : b->tile.keys;
}

size_t attention_stream_plane(int len)
{
    int rows = len < ATTENTION_STREAM_ROWS ? len : ATTENTION_STREAM_ROWS;
    return (size_t)rows * (size_t)attention_stride(len < ATTENTION_STREAM_KEYS ? len : ATTENTION_STREAM_KEYS);
}

/* Keys first .. first+most-1, or as many as there are. */
static void attention_stream_to(attention_stream *t, int first, int most)
{
    const attention_block *b = t->b;
    int keys = b->tile.keys - first < most ? b->tile.keys - first : most, diagonal = b->tile.row_begin - first;
    t->first = first;
    t->span = (attention_span){ .rows = b->tile.rows, .keys = keys, .stride = attention_stride(keys),
                                .causal = b->shape->causal, .diagonal = diagonal };
    t->softmax = (softmax_tile){ .rows = b->tile.rows, .keys = keys, .stride = t->span.stride, .causal = b->shape->causal,
                                 .diagonal = diagonal, .past = PRODUCT_PAST, .s = b->s->s };
    if (b->l->has_bias && b->vector_len) { /* row i, key j: element j - i + vector_len - 1 of the head's vector */
        t->softmax.bias = b->s->vector + (size_t)t->head * (2 * (size_t)b->vector_len - 1) + b->vector_len - 1 - diagonal;
        t->softmax.bias_step = -1;
    } else if (b->l->has_bias) {
        t->softmax.bias = b->s->bias + (size_t)t->head * (size_t)b->tile.plane + first;
        t->softmax.bias_step = b->tile.stride;
    }
}

/* The tile's keys or values of this head, packed: `dim` reals for each token. */
static const real *attention_stream_packed(const attention_stream *t, const real *packed, int dim)
{
    return attention_packed(t->b, packed, dim, t->head) + (size_t)t->first * (size_t)dim;
}

static void attention_stream_scores(const attention_stream *t)
{
    const attention_block *b = t->b;
    const pe_tile *rows = &b->tile;
    int dim = b->l->rotated_dim;
    attention_rows_by_keys(&t->span, rows->q + t->head * rows->head_stride, rows->token_stride,
                           attention_stream_packed(t, b->s->packed_k, dim), dim, rows->scale, b->s->s);
}

/* ------------------------------------------------------------------------------------------------ forward */

static void attention_stream_head(attention_stream *t, int most)
{
    const attention_block *b = t->b;
    const attention_io *io = b->io;
    int width = b->shape->width, dim = b->shape->head_dim, rows = b->tile.rows;
    size_t token = (size_t)io->start[b->sequence];
    real *o = io->o + (token + (size_t)b->tile.row_begin) * (size_t)width + t->head * dim;
    softmax_begin(t->row, rows);
    for (int first = 0; first < b->tile.keys; first += most) {
        attention_stream_to(t, first, most);
        attention_stream_scores(t);
        softmax_add(&t->softmax, t->row, first > 0 ? o : NULL, width, dim);
        attention_plane_by_keys(&t->span, b->s->s,
                                io->v + (token + (size_t)first) * (size_t)io->token_stride_v + t->head * dim,
                                io->token_stride_v, dim, 1, o, width, first > 0);
    }
    softmax_end(t->row, rows, o, width, dim);
}

/* ------------------------------------------------------------------------------------------------ backward */

/* mean[rows]: a row's sum of weight times its gradient, sum_j p_j (d_o . v_j) = d_o . o. */
static void attention_stream_means(const attention_stream *t, real *mean)
{
    const attention_block *b = t->b;
    int width = b->shape->width, dim = b->shape->head_dim;
    size_t at = ((size_t)b->io->start[b->sequence] + (size_t)b->tile.row_begin) * (size_t)width + (size_t)t->head * dim;
    for (int r = 0; r < b->tile.rows; r++, at += (size_t)width)
        mean[r] = vmath_dot(b->io->d_o + at, b->io->o + at, dim);
}

static void attention_stream_collect_bias(const attention_stream *t)
{
    const attention_block *b = t->b;
    real *to = b->vector_len ? b->s->dvector + (t->softmax.bias - b->s->vector)
                             : b->s->dbias + (t->softmax.bias - b->s->bias);
    for (int r = 0; r < t->span.rows; r++) {
        int visible = t->span.causal && t->span.diagonal + r + 1 < t->span.keys ? t->span.diagonal + r + 1 : t->span.keys;
        if (visible > 0)
            vmath_add(to + (ptrdiff_t)r * t->softmax.bias_step, b->s->ds + (size_t)r * (size_t)t->span.stride,
                      (size_t)visible);
    }
}

/* With p the weights: dv += p^T d_o;  ds = p (d_o v^T - mean);  dq += scale ds k;  dk += scale ds^T q. */
static void attention_stream_head_bwd(attention_stream *t, int most)
{
    const attention_block *b = t->b;
    const attention_io *io = b->io;
    const pe_tile *rows = &b->tile;
    int width = b->shape->width, dim = b->shape->head_dim, rotated = b->l->rotated_dim, qk = rows->token_stride;
    size_t token = (size_t)io->start[b->sequence];
    size_t queries = (token + (size_t)rows->row_begin) * (size_t)qk + (size_t)t->head * (size_t)rows->head_stride;
    const real *d_o = io->d_o + (token + (size_t)rows->row_begin) * (size_t)width + t->head * dim;
    real mean[ATTENTION_STREAM_ROWS];
    attention_stream_means(t, mean);
    for (int first = 0; first < rows->keys; first += most) {
        size_t values = (token + (size_t)first) * (size_t)io->token_stride_v + (size_t)t->head * (size_t)dim;
        size_t keys = (token + (size_t)first) * (size_t)qk + (size_t)t->head * (size_t)rows->head_stride;
        attention_stream_to(t, first, most);
        attention_stream_scores(t);
        attention_rows_by_keys(&t->span, d_o, width, attention_stream_packed(t, b->s->packed_v, dim), dim, 1, b->s->ds);
        softmax_gradient(&t->softmax, t->row, mean, b->s->ds);
        attention_plane_by_rows(&t->span, b->s->s, d_o, width, dim, 1, io->dv + values, io->token_stride_v);
        if (b->l->has_bias)
            attention_stream_collect_bias(t);
        attention_plane_by_keys(&t->span, b->s->ds, io->k + keys, qk, rotated, rows->scale, io->dq + queries, qk, 1);
        attention_plane_by_rows(&t->span, b->s->ds, io->q + queries, qk, rotated, rows->scale, io->dk + keys, qk);
    }
}

void attention_stream_run(attention_block *b, int backward)
{
    softmax_row own[ATTENTION_STREAM_ROWS];
    const attention_io *io = b->io;
    attention_block_point(b);
    for (int h = 0; h < b->shape->heads; h++) {
        size_t row = (size_t)h * (size_t)io->start[io->sequences] + (size_t)io->start[b->sequence];
        attention_stream t = { .b = b, .head = h, .row = io->rows ? io->rows + row + b->tile.row_begin : own };
        if (backward)
            attention_stream_head_bwd(&t, attention_stream_keys(b));
        else
            attention_stream_head(&t, attention_stream_keys(b));
    }
}
