/* workspace.c - the buffers of one pass through the network. */
#include "model.h"

/* Takes `count` reals; remembers in *failed that there were none. */
static real *workspace_reals(arena *a, size_t count, int *failed)
{
    real *block = ARENA_NEW(a, real, count);
    *failed |= block == NULL;
    return block;
}

static size_t workspace_gate_reals(const model *m, const attention_layer *l, int member, int len)
{
    pe_sizes sizes = { 0, 0, 0 };
    const attention_member *owner = &l->member[member];
    pe_context c = { .shape = &m->shape, .options = owner->options, .layer = l->layer, .len = len, .total_len = len };
    if (owner->encoding->gate && owner->encoding->sizes)
        owner->encoding->sizes(&c, 1, len, &sizes);
    return sizes.gate_reals;
}

/* Room for the gate saves of any batch: each sequence's own, rounded up, for the longest sequences that fit. */
static size_t workspace_gate_room(const model *m, const workspace *w, int member)
{
    size_t most = 0;
    for (int l = 0; l < m->shape.layers; l++)
        if (member < m->attention[l].count) {
            size_t one = workspace_gate_reals(m, &m->attention[l], member, w->max_len);
            most = one > most ? one : most;
        }
    return most * (size_t)w->max_sequences;
}

static void workspace_layer(arena *a, const model *m, const workspace *w, const attention_layer *at,
                            layer_activations *to, int *failed)
{
    size_t tokens = (size_t)w->max_tokens, width = (size_t)m->shape.width;
    to->in = workspace_reals(a, tokens * width, failed);
    to->norm1 = workspace_reals(a, tokens * width, failed);
    to->stats1 = workspace_reals(a, tokens * 2, failed);
    to->qkv = workspace_reals(a, tokens * 3 * width, failed);
    if (at->rotated_dim != m->shape.head_dim) {
        size_t rotated = (size_t)m->shape.heads * (size_t)at->rotated_dim;
        to->q = workspace_reals(a, tokens * rotated, failed);
        to->k = workspace_reals(a, tokens * rotated, failed);
    }
    to->o = workspace_reals(a, tokens * width, failed);
    if (w->training) {
        to->rows = ARENA_NEW(a, softmax_row, tokens * (size_t)m->shape.heads);
        *failed |= to->rows == NULL;
    }
    to->mid = workspace_reals(a, tokens * width, failed);
    to->norm2 = workspace_reals(a, tokens * width, failed);
    to->stats2 = workspace_reals(a, tokens * 2, failed);
    size_t inner = (size_t)(w->training || w->max_tokens < model_rows_together(m) ? w->max_tokens : model_rows_together(m));
    to->slope = workspace_reals(a, inner * (size_t)model_hidden_stride(m), failed);
    to->act = w->training ? workspace_reals(a, inner * (size_t)model_hidden_stride(m), failed) : to->slope;
    for (int i = 0; i < STACK_MEMBERS_MAX; i++)
        to->gate[i] = workspace_reals(a, workspace_gate_room(m, w, i), failed);
}

/* The layer whose rotated vectors are widest: in evaluation all layers use its buffers. */
static const attention_layer *workspace_widest(const model *m)
{
    const attention_layer *widest = &m->attention[0];
    for (int l = 1; l < m->shape.layers; l++)
        if (m->attention[l].rotated_dim > widest->rotated_dim)
            widest = &m->attention[l];
    return widest;
}

static void workspace_gradients(arena *a, const model *m, workspace *w, int *failed)
{
    size_t tokens = (size_t)w->max_tokens, width = (size_t)m->shape.width;
    size_t rotated = (size_t)m->shape.heads * (size_t)workspace_widest(m)->rotated_dim;
    w->dh = workspace_reals(a, tokens * width, failed);
    w->dwork = workspace_reals(a, tokens * width, failed);
    w->dhidden = workspace_reals(a, tokens * (size_t)model_hidden_stride(m), failed);
    w->dqkv = workspace_reals(a, tokens * 3 * width, failed);
    w->dq = workspace_reals(a, rotated != width ? tokens * rotated : 0, failed);
    w->dk = workspace_reals(a, rotated != width ? tokens * rotated : 0, failed);
    for (int i = 0; i < STACK_MEMBERS_MAX; i++)
        w->dgate[i] = workspace_reals(a, workspace_gate_room(m, w, i), failed);
}

enum { WORKSPACE_HEAD_ROWS = 256 };

int workspace_create(workspace *w, arena *a, const model *m, const pe_map *map, const void *map_options,
                     int max_sequences, int max_tokens, int max_len, int training, error *e)
{
    int layers = m->shape.layers, failed = 0;
    size_t tokens = (size_t)max_tokens, width = (size_t)m->shape.width;
    *w = (workspace){ .max_sequences = max_sequences, .max_tokens = max_tokens, .max_len = max_len,
                      .training = training };
    failed |= placements_init(&w->placements, a, m->stacks, &m->shape, map, map_options, max_sequences, max_len) < 0;
    failed |= attention_scratch_init(&w->scratch, a, &m->shape, m->attention, layers, max_sequences, max_tokens, max_len,
                                     training) < 0;
    w->place = ARENA_NEW(a, const placement *, (size_t)layers * (size_t)max_sequences);
    w->layer = ARENA_NEW(a, layer_activations, layers);
    w->kept = ARENA_NEW(a, int, tokens);
    w->first_row = ARENA_NEW(a, int, max_sequences);
    w->scored = ARENA_NEW(a, int, tokens);
    failed |= !w->place || !w->layer || !w->kept || !w->first_row || !w->scored;
    for (int i = 0; i < STACK_MEMBERS_MAX; i++) {
        w->gate_at[i] = ARENA_NEW(a, size_t, max_sequences);
        failed |= !w->gate_at[i];
    }
    for (int l = 0; l < layers && !failed; l++) {
        if (l == 0 || training)
            workspace_layer(a, m, w, training ? &m->attention[l] : workspace_widest(m), &w->layer[l], &failed);
        else
            w->layer[l] = w->layer[0];
    }
    w->h = workspace_reals(a, tokens * width, &failed);
    w->head_rows = training ? max_tokens : max_tokens < WORKSPACE_HEAD_ROWS ? max_tokens : WORKSPACE_HEAD_ROWS;
    size_t rows = (size_t)w->head_rows;
    w->head_in = workspace_reals(a, rows * width, &failed);
    w->head_norm = workspace_reals(a, rows * width, &failed);
    w->head_stats = workspace_reals(a, rows * 2, &failed);
    w->logits = workspace_reals(a, rows * (size_t)m->vocab, &failed);
    if (training && !failed)
        workspace_gradients(a, m, w, &failed);
    if (failed)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for %d tokens in sequences of up to %d", max_tokens, max_len);
    return 0;
}
