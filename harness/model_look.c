#include "model_look.h"

#include "attention.h"

/* ------------------------------------------------------------------------------------------------ set-up */

static size_t look_gate_reals(const look *k, int member)
{
    size_t most = 0;
    for (int l = 0; l < k->m->shape.layers; l++) {
        const attention_layer *a = &k->m->attention[l];
        pe_sizes sizes = {0, 0, 0};
        if (member >= a->count || !a->member[member].encoding->sizes)
            continue;
        pe_context c = {.shape = &k->m->shape,
                        .options = a->member[member].options,
                        .layer = l,
                        .len = k->max_len,
                        .total_len = k->max_len};
        a->member[member].encoding->sizes(&c, 1, k->max_len, &sizes);
        most = sizes.gate_reals > most ? sizes.gate_reals : most;
    }
    return most;
}

static int look_buffers(look *k)
{
    const pe_shape *shape = &k->m->shape;
    size_t values = (size_t)k->max_len * (size_t)shape->width;
    k->v = ARENA_NEW(&k->memory, real, values);
    k->o = ARENA_NEW(&k->memory, real, values);
    int failed = !k->v || !k->o;
    for (int i = 0; i < STACK_MEMBERS_MAX; i++) {
        k->gate[i] = ARENA_NEW(&k->memory, real, look_gate_reals(k, i));
        failed |= !k->gate[i];
    }
    return failed || attention_scratch_init(&k->scratch, &k->memory, shape, k->m->attention, shape->layers, 1,
                                            k->max_len, k->max_len, 0) < 0
               ? -1
               : 0;
}

int look_open(look *k, const model *m, const pe_map *map, const void *map_options, int max_len, error *e)
{
    *k = (look){
        .m = m, .memory = {NULL, 0}, .len = 1, .max_len = max_len, .source = {.last_position = m->last_position}};
    if (placements_init(&k->places, &k->memory, m->stacks, &m->shape, map, map_options, 1, max_len) == 0 &&
        look_buffers(k) == 0)
        return 0;
    return error_set(e, ERROR_ENVIRONMENT, "no memory to look at %d tokens", max_len);
}

void look_close(look *k)
{
    arena_free(&k->memory);
}

/* A layer's own where the map draws for each layer. */
static const placement *look_placement(look *k, int layer)
{
    k->source.layer = layer < 0 ? 0 : layer;
    placements_begin(&k->places);
    return placements_get(&k->places, &k->source, k->len, k->len);
}

double look_place(look *k, int len, uint64_t index, int sequence, const double *given)
{
    k->len = len;
    k->source.index = index;
    k->source.sequence = sequence;
    k->source.given = given;
    k->source.layer = 0;
    placements_positions(&k->places, &k->source, len, len, k->places.trial);
    return placement_farthest(k->places.trial, len);
}

/* ------------------------------------------------------------------------------------------------ hooks */

/* The cache of a member that adds to the token vectors stands with the stack that it came from. */
static const void *look_embed_cache(const look *k, const placement *place, const attention_member *member)
{
    const void *cache = NULL;
    for (int p = 0; p < k->m->stacks->count; p++)
        for (int i = 0; i < k->m->stacks->pattern[p].count; i++)
            if (k->m->stacks->pattern[p].member[i].options == member->options &&
                k->m->stacks->pattern[p].member[i].encoding == member->encoding)
                cache = place->cache[p * STACK_MEMBERS_MAX + i];
    return cache;
}

void look_embed(look *k, real *x)
{
    const placement *place = look_placement(k, -1);
    for (int i = 0; i < k->m->embed.count; i++) {
        pe_context c = attention_context(&k->m->embed, i, &k->m->shape, place, 0);
        c.cache = look_embed_cache(k, place, &k->m->embed.member[i]);
        k->m->embed.member[i].encoding->embed(&c, x);
    }
}

void look_bias(look *k, int layer, int row, real *out)
{
    const pe_shape *shape = &k->m->shape;
    const attention_layer *l = &k->m->attention[layer];
    const placement *place = look_placement(k, layer);
    int keys = shape->causal ? row + 1 : k->len;
    pe_tile t = {.row_begin = row,
                 .rows = 1,
                 .keys = keys,
                 .stride = keys,
                 .plane = keys,
                 .scale = (real)(1 / sqrt((double)shape->head_dim))};
    memset(out, 0, (size_t)keys * (size_t)shape->heads * sizeof(real));
    for (int i = 0; i < l->count; i++) {
        if (!l->member[i].encoding->bias)
            continue;
        pe_context c = attention_context(l, i, shape, place, 0);
        l->member[i].encoding->bias(&c, &t, out);
    }
}

int look_rotated_dim(const look *k, int layer)
{
    return k->m->attention[layer].rotated_dim;
}

/* One sequence, with values of 0. */
static attention_io look_io(look *k, int layer, const int start[2], const placement *const *place, real *q, real *key)
{
    const pe_shape *shape = &k->m->shape;
    static const size_t first[1] = {0};
    static const size_t *const gate_at[STACK_MEMBERS_MAX] = {first, first, first, first, first, first, first, first};
    return (attention_io){.sequences = 1,
                          .start = start,
                          .place = place,
                          .q = q,
                          .k = key,
                          .token_stride_qk = shape->heads * k->m->attention[layer].rotated_dim,
                          .v = k->v,
                          .token_stride_v = shape->width,
                          .o = k->o,
                          .gate = k->gate,
                          .gate_at = gate_at};
}

void look_rotate(look *k, int layer, pe_role role, real *u)
{
    const attention_layer *l = &k->m->attention[layer];
    if (l->rotating < 0)
        return;
    pe_context c = attention_context(l, l->rotating, &k->m->shape, look_placement(k, layer), 0);
    l->member[l->rotating].encoding->rotate(&c, role, u, k->m->shape.heads * l->rotated_dim, l->rotated_dim);
}

void look_attention(look *k, int layer, const real *x, real *q, real *key, const attention_watch *w)
{
    const pe_shape *shape = &k->m->shape;
    const attention_layer *l = &k->m->attention[layer];
    const placement *place = look_placement(k, layer);
    const int start[] = {0, k->len};
    attention_io io = look_io(k, layer, start, &place, q, key);
    io.watch = w;
    for (int i = 0; i < l->count; i++)
        if (l->member[i].encoding->gate) {
            pe_context c = attention_context(l, i, shape, place, 0);
            l->member[i].encoding->gate(&c, x, k->gate[i]);
        }
    attention_rotate(l, shape, &io);
    attention_forward(l, shape, &k->scratch, &io);
}
