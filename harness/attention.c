#include "attention.h"

#include "attention_block.h"
#include "attention_stream.h"
#include "product.h"

/* ------------------------------------------------------------------------------------------------ set-up */

enum { ATTENTION_BLOCK_REALS = 1 << 18, ATTENTION_ROWS_MOST = ATTENTION_STREAM_ROWS, ATTENTION_ROWS_LEAST = 4 };

int attention_block_rows(const pe_shape *shape, int len)
{
    int rows = ATTENTION_BLOCK_REALS / (shape->heads * len);
    rows = rows > ATTENTION_ROWS_MOST ? ATTENTION_ROWS_MOST : rows < ATTENTION_ROWS_LEAST ? ATTENTION_ROWS_LEAST : rows;
    return rows < len ? rows : len;
}

static size_t attention_save_reals(const attention_layer *layers, int count, const pe_shape *shape, int member, int rows,
                                   int len)
{
    size_t most = 0;
    for (int l = 0; l < count; l++) {
        if (member >= layers[l].count || !layers[l].member[member].encoding->sizes)
            continue;
        pe_sizes sizes = { 0, 0, 0 };
        pe_context c = { .shape = shape, .options = layers[l].member[member].options, .layer = layers[l].layer,
                         .len = len, .total_len = len };
        layers[l].member[member].encoding->sizes(&c, rows, len, &sizes);
        most = sizes.save_reals > most ? sizes.save_reals : most;
    }
    return most;
}

int attention_scratch_init(attention_scratch *s, arena *a, const pe_shape *shape, const attention_layer *layers,
                           int count, int max_sequences, int max_tokens, int max_len, int training)
{
    *s = (attention_scratch){ .max_len = max_len };
    int by_distance = 0, by_tile = 0, together = 0, rotated_dim = 0;
    size_t streamed = 0;
    for (int l = 0; l < count; l++) {
        by_distance |= layers[l].bias_by_distance;
        by_tile |= layers[l].has_bias;
        together |= layers[l].together;
        rotated_dim = layers[l].rotated_dim > rotated_dim ? layers[l].rotated_dim : rotated_dim;
    }
    for (int len = 1; len <= max_len; len++) { /* a shorter sequence may have more rows in its block */
        int rows = attention_block_rows(shape, len);
        size_t plane = (size_t)rows * (size_t)attention_stride(len);
        s->rows_max = rows > s->rows_max ? rows : s->rows_max;
        s->plane = plane > s->plane ? plane : s->plane;
        streamed = attention_stream_plane(len) > streamed ? attention_stream_plane(len) : streamed;
    }
    size_t heads = (size_t)shape->heads, block = s->plane * heads, own = together ? block : s->plane;
    own = own > streamed ? own : streamed;
    size_t vector = (size_t)(2 * max_len - 1) * heads + (size_t)attention_stride(0) + PRODUCT_PANEL;
    size_t packed = (size_t)max_tokens + (size_t)max_sequences * PRODUCT_PANEL;
    s->s = ARENA_NEW(a, real, own);
    s->ds = ARENA_NEW(a, real, training ? own : 0);
    s->packed_k = ARENA_NEW(a, real, packed * heads * (size_t)rotated_dim);
    s->packed_v = ARENA_NEW(a, real, training ? packed * (size_t)shape->width : 0);
    s->bias = ARENA_NEW(a, real, by_tile ? block : 0);
    s->dbias = ARENA_NEW(a, real, by_tile && training ? block : 0);
    s->vector = ARENA_NEW(a, real, by_distance ? vector : 0);
    s->dvector = ARENA_NEW(a, real, by_distance && training ? vector : 0);
    int failed = !s->s || !s->ds || !s->packed_k || !s->packed_v || !s->bias || !s->dbias || !s->vector || !s->dvector;
    for (int m = 0; m < STACK_MEMBERS_MAX; m++) {
        size_t most = 0;
        for (int len = 1; len <= max_len; len += len < 1024 ? 1 : len / 16) {
            size_t reals = attention_save_reals(layers, count, shape, m, attention_block_rows(shape, len), len);
            most = reals > most ? reals : most;
        }
        size_t last = attention_save_reals(layers, count, shape, m, s->rows_max, max_len);
        s->save[m] = ARENA_NEW(a, real, last > most ? last : most);
        failed |= !s->save[m];
    }
    return failed ? -1 : 0;
}

pe_context attention_context(const attention_layer *l, int member, const pe_shape *shape, const placement *place,
                             int backward)
{
    const attention_member *m = &l->member[member];
    return (pe_context){ .shape = shape, .options = m->options, .layer = l->layer, .len = place->len,
                         .total_len = place->total_len, .pos = place->pos,
                         .cache = place->cache[l->pattern * STACK_MEMBERS_MAX + member],
                         .theta = m->params ? m->theta : NULL,
                         .dtheta = m->params && backward ? m->dtheta : NULL };
}

/* ------------------------------------------------------------------------------------------------ rotate */

void attention_rotate(const attention_layer *l, const pe_shape *shape, const attention_io *io)
{
    if (l->rotating < 0)
        return;
    const pe_descriptor *d = l->member[l->rotating].encoding;
    for (int n = 0; n < io->sequences; n++) {
        pe_context c = attention_context(l, l->rotating, shape, io->place[n], 0);
        size_t at = (size_t)io->start[n] * (size_t)io->token_stride_qk;
        d->rotate(&c, PE_QUERY, io->q + at, io->token_stride_qk, l->rotated_dim);
        d->rotate(&c, PE_KEY, io->k + at, io->token_stride_qk, l->rotated_dim);
    }
}

void attention_rotate_bwd(const attention_layer *l, const pe_shape *shape, const attention_io *io)
{
    if (l->rotating < 0)
        return;
    const pe_descriptor *d = l->member[l->rotating].encoding;
    for (int n = 0; n < io->sequences; n++) {
        pe_context c = attention_context(l, l->rotating, shape, io->place[n], 1);
        size_t at = (size_t)io->start[n] * (size_t)io->token_stride_qk;
        d->rotate_bwd(&c, PE_QUERY, io->q + at, io->dq + at, io->token_stride_qk, l->rotated_dim);
        d->rotate_bwd(&c, PE_KEY, io->k + at, io->dk + at, io->token_stride_qk, l->rotated_dim);
    }
}

/* ------------------------------------------------------------------------------------------------ bias by distance */

/* The longest placement with consecutive positions, or NULL: shift invariance makes its vector serve all such. */
static const placement *attention_longest(const attention_io *io)
{
    const placement *longest = NULL;
    for (int n = 0; n < io->sequences; n++)
        if (io->place[n]->contiguous && (!longest || io->place[n]->len > longest->len))
            longest = io->place[n];
    return longest;
}

/* The two rows that hold every distance of a sequence: its last row (keys from far to near, past and own) and, without a
 * causal mask, its first (own and future). Calls bias or bias_bwd for both. */
static void attention_vector_rows(const attention_layer *l, const pe_shape *shape, const placement *place, real *vector,
                                  int stride, int backward)
{
    int len = place->len;
    pe_tile last = { .row_begin = len - 1, .rows = 1, .keys = len, .stride = stride, .plane = stride,
                     .scale = attention_scale(shape) };
    pe_tile first = last;
    first.row_begin = 0;
    for (int m = 0; m < l->count; m++) {
        const pe_descriptor *d = l->member[m].encoding;
        pe_context c = attention_context(l, m, shape, place, backward);
        if (backward) {
            if (d->bias_bwd)
                d->bias_bwd(&c, &last, vector);
            if (d->bias_bwd && !shape->causal)
                d->bias_bwd(&c, &first, vector + len - 1);
        } else if (d->bias) {
            d->bias(&c, &last, vector);
            if (!shape->causal)
                d->bias(&c, &first, vector + len - 1);
        }
    }
}

/* vector[h][2 len - 1] (=), element j - i + len - 1. Both rows hold distance 0: it is kept from the first and written again. */
static void attention_vector_fill(const attention_layer *l, const pe_shape *shape, attention_scratch *s,
                                  const placement *place)
{
    int len = place->len, stride = 2 * len - 1;
    memset(s->vector, 0, sizeof(real) * (size_t)stride * (size_t)shape->heads);
    attention_vector_rows(l, shape, place, s->vector, stride, 0);
    if (!shape->causal)
        for (int h = 0; h < shape->heads; h++)
            s->vector[(size_t)h * stride + len - 1] /= 2;
}

static void attention_vector_grad(const attention_layer *l, const pe_shape *shape, attention_scratch *s,
                                  const placement *place)
{
    int len = place->len, stride = 2 * len - 1;
    if (!shape->causal) /* distance 0 is told twice */
        for (int h = 0; h < shape->heads; h++)
            s->dvector[(size_t)h * stride + len - 1] /= 2;
    attention_vector_rows(l, shape, place, s->dvector, stride, 1);
}

/* ------------------------------------------------------------------------------------------------ all blocks */

/* 0: somebody asks for whole rows of scores or weights. */
static int attention_streams(const attention_layer *l, const attention_io *io)
{
    return !l->together && !io->watch;
}

/* Rows of a block. Those of a streamed block need no room for all their keys, unless there is a tile of biases for them. */
static int attention_step(const attention_block *b, int tiled, int len)
{
    if (b->s->block_rows)
        return b->s->block_rows;
    return attention_streams(b->l, b->io) && !tiled ? ATTENTION_STREAM_ROWS : attention_block_rows(b->shape, len);
}

/* One block of rows of sequence n or, when its biases are in a tile, of all sequences from n on that share its placement: the
 * tile is computed once for them. */
static void attention_rows(attention_block *b, int n, int row, int rows, int backward)
{
    const attention_io *io = b->io;
    int tiled = b->l->has_bias && !b->vector_len;
    b->tile = attention_tile(b->shape, b->place, row, rows);
    if (tiled)
        attention_block_bias(b);
    if (tiled && backward)
        memset(b->s->dbias, 0, sizeof(real) * (size_t)b->tile.plane * (size_t)b->shape->heads);
    for (int other = n; other < io->sequences; other++)
        if (other == n || (tiled && io->place[other] == b->place)) {
            b->sequence = other;
            if (attention_streams(b->l, io))
                attention_stream_run(b, backward);
            else
                attention_block_run(b, backward);
        }
    if (tiled && backward)
        attention_block_bias_bwd(b);
}

/* The first row that sequence n wants or, when it is computed with those that share its placement, any of them. */
static int attention_first_row(const attention_io *io, int n, int shared)
{
    int first = io->first_row ? io->first_row[n] : 0;
    for (int other = n + 1; other < io->sequences && shared && first > 0; other++)
        if (io->place[other] == io->place[n] && io->first_row[other] < first)
            first = io->first_row[other];
    return first;
}

static int attention_seen_before(const attention_io *io, int n)
{
    for (int before = 0; before < n; before++)
        if (io->place[before] == io->place[n])
            return 1;
    return 0;
}

static void attention_all(const attention_layer *l, const pe_shape *shape, attention_scratch *s, const attention_io *io,
                          int backward)
{
    const placement *longest = l->has_bias && l->bias_by_distance ? attention_longest(io) : NULL;
    if (longest) {
        breakdown_at(s->breakdown, BREAKDOWN_ENCODING);
        attention_vector_fill(l, shape, s, longest);
        breakdown_at(s->breakdown, BREAKDOWN_ATTENTION);
        if (backward)
            memset(s->dvector, 0, sizeof(real) * (size_t)(2 * longest->len - 1) * (size_t)shape->heads);
    }
    attention_pack(l, shape, s, io, backward);
    for (int n = 0; n < io->sequences; n++) {
        int len = io->place[n]->len;
        attention_block b = { .l = l, .shape = shape, .s = s, .io = io, .place = io->place[n],
                              .vector_len = longest && io->place[n]->contiguous ? longest->len : 0 };
        int shared = l->has_bias && !b.vector_len, step = attention_step(&b, shared, len);
        if (shared && attention_seen_before(io, n))
            continue; /* done with the first that shares its placement */
        for (int row = attention_first_row(io, n, shared); row < len; row += step)
            attention_rows(&b, n, row, row + step <= len ? step : len - row, backward);
    }
    breakdown_at(s->breakdown, BREAKDOWN_ENCODING);
    if (longest && backward)
        attention_vector_grad(l, shape, s, longest);
}

void attention_forward(const attention_layer *l, const pe_shape *shape, attention_scratch *s, const attention_io *io)
{
    attention_all(l, shape, s, io, 0);
}

void attention_backward(const attention_layer *l, const pe_shape *shape, attention_scratch *s, const attention_io *io)
{
    attention_all(l, shape, s, io, 1);
}
