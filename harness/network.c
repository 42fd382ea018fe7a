/* network.c - one pass through the network up to its head, forward and backward side by side. */
#include <assert.h>

#include "layers.h"
#include "model.h"
#include "network_head.h"
#include "outputs.h"
#include "vmath.h"

/* ------------------------------------------------------------------------------------------------ positions */

static placement_source network_source(const model *m, const batch *b, int n, int layer)
{
    return (placement_source){ .seed = b->seed, .index = b->map_index, .training = b->training,
                               .sequence = b->first_sequence + n, .layer = layer,
                               .given = b->given ? b->given + b->start[n] : NULL, .last_position = m->last_position };
}

static int network_len(const batch *b, int n)
{
    return b->start[n + 1] - b->start[n];
}

static int network_total(const batch *b, int n)
{
    return b->total_len ? b->total_len : network_len(b, n);
}

/* Layers share their placements unless the map draws for each layer. */
static void network_place(const model *m, workspace *w, const batch *b)
{
    placements_begin(&w->placements);
    int own = w->placements.scope == PE_MAP_PER_LAYER;
    for (int l = 0; l < m->shape.layers; l++)
        for (int n = 0; n < b->sequences; n++) {
            const placement **to = &w->place[(size_t)l * w->max_sequences + n];
            placement_source s = network_source(m, b, n, l);
            *to = l == 0 || own ? placements_get(&w->placements, &s, network_len(b, n), network_total(b, n))
                                : w->place[n];
        }
}

void model_positions(const model *m, workspace *w, const batch *b, int n, int layer, double *pos)
{
    placement_source s = network_source(m, b, n, layer);
    placements_positions(&w->placements, &s, network_len(b, n), network_total(b, n), pos);
}

/* ------------------------------------------------------------------------------------------------ embedding */

static void network_embed_hooks(const model *m, workspace *w, const batch *b, real *x, int backward)
{
    for (int i = 0; i < m->embed.count; i++)
        for (int n = 0; n < b->sequences; n++) {
            const pe_descriptor *d = m->embed.member[i].encoding;
            const placement *place = w->place[n];
            pe_context c = attention_context(&m->embed, i, &m->shape, place, backward);
            c.cache = NULL;
            for (int p = 0; p < m->stacks->count; p++) /* its cache stands with the stack that it came from */
                for (int k = 0; k < m->stacks->pattern[p].count; k++)
                    if (m->stacks->pattern[p].member[k].options == m->embed.member[i].options &&
                        m->stacks->pattern[p].member[k].encoding == d)
                        c.cache = place->cache[p * STACK_MEMBERS_MAX + k];
            real *rows = x + (size_t)b->start[n] * m->shape.width;
            if (!backward)
                d->embed(&c, rows);
            else if (d->embed_bwd)
                d->embed_bwd(&c, rows);
        }
}

static real network_token_scale(const model *m)
{
    return m->scale_embedding ? (real)sqrt((double)m->shape.width) : 1;
}

static void network_embed(const model *m, workspace *w, const batch *b, real *x)
{
    int width = m->shape.width, tokens = b->start[b->sequences];
    real scale = network_token_scale(m);
    for (int t = 0; t < tokens; t++) {
        assert(b->input[t] >= 0 && b->input[t] < m->vocab);
        const real *row = m->value + m->token + (size_t)b->input[t] * width;
        for (int j = 0; j < width; j++)
            x[(size_t)t * width + j] = row[j] * scale;
    }
    breakdown_at(w->breakdown, BREAKDOWN_ENCODING);
    network_embed_hooks(m, w, b, x, 0);
}

static void network_embed_bwd(const model *m, workspace *w, const batch *b, real *dx)
{
    int width = m->shape.width, tokens = b->start[b->sequences];
    real scale = network_token_scale(m);
    breakdown_at(w->breakdown, BREAKDOWN_ENCODING);
    network_embed_hooks(m, w, b, dx, 1);
    breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
    for (int t = 0; t < tokens; t++)
        vmath_axpy(m->grad + m->token + (size_t)b->input[t] * width, scale, dx + (size_t)t * width, (size_t)width);
}

/* ------------------------------------------------------------------------------------------------ a layer's gates */

static void network_gate_layout(const model *m, workspace *w, const batch *b, const attention_layer *at)
{
    for (int i = 0; i < at->count; i++) {
        size_t next = 0;
        for (int n = 0; n < b->sequences; n++) {
            w->gate_at[i][n] = next;
            const pe_descriptor *d = at->member[i].encoding;
            pe_sizes sizes = { 0, 0, 0 };
            pe_context c = attention_context(at, i, &m->shape, w->place[n], 0);
            if (d->gate && d->sizes)
                d->sizes(&c, 1, c.len, &sizes);
            next += sizes.gate_reals;
        }
    }
}

static void network_gates(const model *m, workspace *w, const batch *b, const attention_layer *at, layer_activations *a)
{
    if (!at->has_gate)
        return;
    network_gate_layout(m, w, b, at);
    for (int i = 0; i < at->count; i++)
        for (int n = 0; n < b->sequences && at->member[i].encoding->gate; n++) {
            pe_context c = attention_context(at, i, &m->shape, w->place[(size_t)at->layer * w->max_sequences + n], 0);
            at->member[i].encoding->gate(&c, a->norm1 + (size_t)b->start[n] * m->shape.width,
                                         a->gate[i] + w->gate_at[i][n]);
        }
}

static size_t network_gate_used(const workspace *w, const model *m, const batch *b, const attention_layer *at, int i)
{
    int last = b->sequences - 1;
    pe_sizes sizes = { 0, 0, 0 };
    pe_context c = attention_context(at, i, &m->shape, w->place[last], 0);
    if (at->member[i].encoding->gate && at->member[i].encoding->sizes)
        at->member[i].encoding->sizes(&c, 1, c.len, &sizes);
    return w->gate_at[i][last] + sizes.gate_reals;
}

/* dx: gradient of the layer's normalised input, += . */
static void network_gates_bwd(const model *m, workspace *w, const batch *b, const attention_layer *at,
                              const layer_activations *a, real *dx)
{
    for (int i = 0; i < at->count && at->has_gate; i++)
        for (int n = 0; n < b->sequences && at->member[i].encoding->gate_bwd; n++) {
            pe_context c = attention_context(at, i, &m->shape, w->place[(size_t)at->layer * w->max_sequences + n], 1);
            size_t row = (size_t)b->start[n] * m->shape.width, gate = w->gate_at[i][n];
            at->member[i].encoding->gate_bwd(&c, a->norm1 + row, a->gate[i] + gate, w->dgate[i] + gate, dx + row);
        }
}

/* ------------------------------------------------------------------------------------------------ a layer */

/* When rotation widens the vectors, q and k move to buffers of their own; head h's first head_dim reals are the projection. */
static void network_spread(const model *m, const attention_layer *at, real *qkv, real *wide, int part, int tokens,
                           int back)
{
    int width = m->shape.width, head_dim = m->shape.head_dim, row = m->shape.heads * at->rotated_dim;
    for (int t = 0; t < tokens; t++)
        for (int h = 0; h < m->shape.heads; h++) {
            real *narrow = qkv + (size_t)t * 3 * width + (size_t)part * width + (size_t)h * head_dim;
            real *to = wide + (size_t)t * row + (size_t)h * at->rotated_dim;
            memcpy(back ? narrow : to, back ? to : narrow, sizeof(real) * (size_t)head_dim);
        }
}

static attention_io network_io(const model *m, workspace *w, const batch *b, const attention_layer *at,
                               const layer_activations *a)
{
    int width = m->shape.width, wide = at->rotated_dim != m->shape.head_dim;
    return (attention_io){ .sequences = b->sequences, .start = b->start,
                           .first_row = at->layer + 1 == m->shape.layers ? w->first_row : NULL,
                           .place = w->place + (size_t)at->layer * w->max_sequences,
                           .q = wide ? a->q : a->qkv, .k = wide ? a->k : a->qkv + width,
                           .token_stride_qk = wide ? m->shape.heads * at->rotated_dim : 3 * width,
                           .v = a->qkv + 2 * width, .token_stride_v = 3 * width, .o = a->o, .gate = a->gate,
                           .gate_at = (const size_t *const *)w->gate_at, .watch = w->watch, .rows = a->rows };
}

/* Tokens that a layer's second half, after attention, is computed for. */
static int network_kept(const model *m, const workspace *w, int l, int tokens)
{
    return l + 1 == m->shape.layers ? w->kept_count : tokens;
}

static int network_rows(const model *m, int first, int all)
{
    int most = model_rows_together(m);
    return most < all - first ? most : all - first;
}

/* Up to attention: normalisation, gates, queries, keys and values. */
static void network_first_half(const model *m, workspace *w, const batch *b, int l)
{
    layer_activations *a = &w->layer[l];
    const model_layer *p = &m->layer[l];
    const real *v = m->value;
    int width = m->shape.width, tokens = b->start[b->sequences];
    for (int first = 0, rows; first < tokens; first += rows) {
        size_t at = (size_t)first * (size_t)width;
        rows = network_rows(m, first, tokens);
        breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
        norm(m->norm_kind, a->in + at, v + p->norm1_w, v + p->norm1_b, a->norm1 + at, a->stats1 + 2 * (size_t)first, rows,
             width);
        breakdown_at(w->breakdown, BREAKDOWN_GEMM);
        linear(a->norm1 + at, width, m->turned + p->qkv_w, v + p->qkv_b, NULL, a->qkv + 3 * at, 3 * width, rows, width,
               3 * width);
    }
    breakdown_at(w->breakdown, BREAKDOWN_ENCODING);
    network_gates(m, w, b, &m->attention[l], a);
}

/* From attention's output o on: projection, residual and MLP. o, residual, out: [kept][width]. */
static void network_second_half(const model *m, workspace *w, int l, const real *o, const real *residual, int kept, real *out)
{
    layer_activations *a = &w->layer[l];
    const model_layer *p = &m->layer[l];
    const real *v = m->value, *turned = m->turned;
    int width = m->shape.width, hidden = m->hidden, stride = model_hidden_stride(m);
    for (int first = 0, rows; first < kept; first += rows) {
        size_t at = (size_t)first * (size_t)width, inner = w->training ? (size_t)first * (size_t)stride : 0;
        rows = network_rows(m, first, kept);
        breakdown_at(w->breakdown, BREAKDOWN_GEMM);
        linear(o + at, width, turned + p->proj_w, v + p->proj_b, residual + at, a->mid + at, width, rows, width, width);
        breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
        norm(m->norm_kind, a->mid + at, v + p->norm2_w, v + p->norm2_b, a->norm2 + at, a->stats2 + 2 * (size_t)first, rows,
             width);
        breakdown_at(w->breakdown, BREAKDOWN_GEMM);
        linear(a->norm2 + at, width, turned + p->fc1_w, NULL, NULL, a->slope + inner, stride, rows, width, hidden);
        breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
        vmath_gelu(a->slope + inner, v + p->fc1_b, a->act + inner, w->training ? a->slope + inner : NULL, rows, hidden,
                   stride, m->gelu_exact);
        breakdown_at(w->breakdown, BREAKDOWN_GEMM);
        linear(a->act + inner, stride, turned + p->fc2_w, v + p->fc2_b, a->mid + at, out + at, width, rows, hidden, width);
    }
}

static void network_layer(const model *m, workspace *w, const batch *b, int l, real *out)
{
    layer_activations *a = &w->layer[l];
    const attention_layer *at = &m->attention[l];
    int width = m->shape.width, tokens = b->start[b->sequences], kept = network_kept(m, w, l, tokens);
    network_first_half(m, w, b, l);
    attention_io io = network_io(m, w, b, at, a);
    if (at->rotated_dim != m->shape.head_dim) {
        network_spread(m, at, a->qkv, a->q, 0, tokens, 0);
        network_spread(m, at, a->qkv, a->k, 1, tokens, 0);
    }
    attention_rotate(at, &m->shape, &io);
    breakdown_at(w->breakdown, BREAKDOWN_ATTENTION);
    attention_forward(at, &m->shape, &w->scratch, &io);
    const real *o = a->o, *residual = a->in;
    if (kept < tokens) {
        breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
        outputs_gather(w, a->o, width, a->norm2);
        outputs_gather(w, a->in, width, a->mid);
        o = a->norm2;
        residual = a->mid;
    }
    network_second_half(m, w, l, o, residual, kept, out);
}

/* The second half of a layer: its projection, residual and MLP. dh: gradient of the layer's output on entry, of its residual
 * stream on exit, at all tokens; w->dwork: of attention's output, at all tokens. */
static void network_second_half_bwd(const model *m, workspace *w, const batch *b, int l, real *dh)
{
    layer_activations *a = &w->layer[l];
    const model_layer *p = &m->layer[l];
    const real *v = m->value, *o = a->o;
    real *g = m->grad;
    int width = m->shape.width, tokens = b->start[b->sequences], kept = network_kept(m, w, l, tokens);
    int stride = model_hidden_stride(m);

    breakdown_at(w->breakdown, BREAKDOWN_GEMM);
    linear_bwd(a->act, stride, v + p->fc2_w, dh, width, w->dhidden, g + p->fc2_w, g + p->fc2_b, kept, m->hidden, width);
    breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
    vmath_gelu_bwd(a->slope, w->dhidden, g + p->fc1_b, kept, m->hidden, stride);
    breakdown_at(w->breakdown, BREAKDOWN_GEMM);
    linear_bwd(a->norm2, width, v + p->fc1_w, w->dhidden, stride, w->dwork, g + p->fc1_w, NULL, kept, width, m->hidden);
    breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
    norm_bwd(m->norm_kind, a->mid, v + p->norm2_w, a->stats2, w->dwork, dh, g + p->norm2_w,
             network_norm_b_grad(m, p->norm2_b), kept, width);
    if (kept < tokens) {
        outputs_gather(w, a->o, width, w->dhidden);
        o = w->dhidden;
    }
    breakdown_at(w->breakdown, BREAKDOWN_GEMM);
    linear_bwd(o, width, v + p->proj_w, dh, width, w->dwork, g + p->proj_w, g + p->proj_b, kept, width, width);
    if (kept < tokens) {
        breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
        outputs_spread(w, tokens, width, dh);
        outputs_spread(w, tokens, width, w->dwork);
    }
}

/* dh: gradient of the layer's output on entry, of its input on exit. */
static void network_layer_bwd(const model *m, workspace *w, const batch *b, int l, real *dh)
{
    layer_activations *a = &w->layer[l];
    const attention_layer *at = &m->attention[l];
    const model_layer *p = &m->layer[l];
    const real *v = m->value;
    real *g = m->grad;
    int width = m->shape.width, tokens = b->start[b->sequences];

    network_second_half_bwd(m, w, b, l, dh);
    breakdown_at(w->breakdown, BREAKDOWN_ATTENTION);
    int wide = at->rotated_dim != m->shape.head_dim;
    attention_io io = network_io(m, w, b, at, a);
    memset(w->dqkv, 0, sizeof(real) * (size_t)tokens * 3 * width);
    io.dq = wide ? w->dq : w->dqkv;
    io.dk = wide ? w->dk : w->dqkv + width;
    io.dv = w->dqkv + 2 * width;
    io.d_o = w->dwork;
    io.dgate = w->dgate;
    if (wide) {
        memset(w->dq, 0, sizeof(real) * (size_t)tokens * io.token_stride_qk);
        memset(w->dk, 0, sizeof(real) * (size_t)tokens * io.token_stride_qk);
    }
    if (at->has_gate) {
        network_gate_layout(m, w, b, at);
        for (int i = 0; i < at->count; i++)
            memset(w->dgate[i], 0, sizeof(real) * network_gate_used(w, m, b, at, i));
    }
    attention_backward(at, &m->shape, &w->scratch, &io);
    breakdown_at(w->breakdown, BREAKDOWN_ENCODING);
    attention_rotate_bwd(at, &m->shape, &io);
    if (wide) {
        network_spread(m, at, w->dqkv, w->dq, 0, tokens, 1);
        network_spread(m, at, w->dqkv, w->dk, 1, tokens, 1);
    }
    breakdown_at(w->breakdown, BREAKDOWN_GEMM);
    linear_bwd(a->norm1, width, v + p->qkv_w, w->dqkv, 3 * width, w->dwork, g + p->qkv_w, g + p->qkv_b, tokens, width,
               3 * width);
    breakdown_at(w->breakdown, BREAKDOWN_ENCODING);
    network_gates_bwd(m, w, b, at, a, w->dwork);
    breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
    norm_bwd(m->norm_kind, a->in, v + p->norm1_w, a->stats1, w->dwork, dh, g + p->norm1_w,
             network_norm_b_grad(m, p->norm1_b), tokens, width);
}

/* ------------------------------------------------------------------------------------------------ trunk */

void model_forward(const model *m, workspace *w, const batch *b)
{
    assert(b->sequences <= w->max_sequences && b->start[b->sequences] <= w->max_tokens);
    assert(model_is_current(m)); /* else call model_changed */
    outputs_choose(w, b);
    breakdown_at(w->breakdown, BREAKDOWN_ENCODING);
    network_place(m, w, b);
    breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
    network_embed(m, w, b, w->layer[0].in);
    for (int l = 0; l < m->shape.layers; l++)
        network_layer(m, w, b, l, l + 1 < m->shape.layers ? w->layer[l + 1].in : w->h);
}

void model_backward(const model *m, workspace *w, const batch *b)
{
    network_head_bwd(m, w);
    for (int l = m->shape.layers - 1; l >= 0; l--)
        network_layer_bwd(m, w, b, l, w->dh);
    network_embed_bwd(m, w, b, w->dh);
}
