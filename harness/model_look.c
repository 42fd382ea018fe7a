#include "model_look.h"

#include "attention_block.h"

/* ------------------------------------------------------------------------------------------------ set-up */

static void look_member_sizes(const look *k, const attention_layer *l, int member, pe_sizes *most)
{
    pe_sizes sizes = {0, 0, 0};
    pe_context c = {.shape = &k->m->shape,
                    .options = l->member[member].options,
                    .layer = l->layer,
                    .len = k->max_len,
                    .total_len = k->max_len};
    if (l->member[member].encoding->sizes)
        l->member[member].encoding->sizes(&c, k->max_len, k->max_len, &sizes);
    most->gate_reals = sizes.gate_reals > most->gate_reals ? sizes.gate_reals : most->gate_reals;
    most->save_reals = sizes.save_reals > most->save_reals ? sizes.save_reals : most->save_reals;
}

static int look_buffers(look *k)
{
    size_t square = (size_t)k->max_len * (size_t)k->max_len;
    k->bias = ARENA_NEW(&k->memory, real, square * (size_t)k->m->shape.heads);
    int failed = !k->bias;
    for (int i = 0; i < STACK_MEMBERS_MAX; i++) {
        pe_sizes most = {0, 0, 0};
        for (int l = 0; l < k->m->shape.layers; l++)
            if (i < k->m->attention[l].count)
                look_member_sizes(k, &k->m->attention[l], i, &most);
        k->save[i] = ARENA_NEW(&k->memory, real, most.save_reals);
        k->gate[i] = ARENA_NEW(&k->memory, real, most.gate_reals);
        failed |= !k->save[i] || !k->gate[i];
    }
    return failed ? -1 : 0;
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

/* += for a tile of whole rows. */
static void look_add_biases(const look *k, int layer, const placement *place, const pe_tile *t, real *s)
{
    const attention_layer *l = &k->m->attention[layer];
    for (int i = 0; i < l->count; i++) {
        if (!l->member[i].encoding->bias)
            continue;
        pe_context c = attention_context(l, i, &k->m->shape, place, 0);
        l->member[i].encoding->bias(&c, t, s);
    }
}

/* Rows without anything between them: nothing here is fast. */
static pe_tile look_tile(const pe_shape *shape, const placement *place, int row, int rows)
{
    pe_tile t = attention_tile(shape, place, row, rows);
    t.stride = t.keys;
    t.plane = t.rows * t.keys;
    return t;
}

void look_bias(look *k, int layer, int row, real *out)
{
    const pe_shape *shape = &k->m->shape;
    const placement *place = look_placement(k, layer);
    pe_tile t = look_tile(shape, place, row, 1);
    memset(out, 0, (size_t)t.plane * (size_t)shape->heads * sizeof(real));
    look_add_biases(k, layer, place, &t, out);
}

int look_rotated_dim(const look *k, int layer)
{
    return k->m->attention[layer].rotated_dim;
}

static void look_rotate_at(const look *k, int layer, const placement *place, pe_role role, real *u)
{
    const attention_layer *l = &k->m->attention[layer];
    if (l->rotating < 0)
        return;
    pe_context c = attention_context(l, l->rotating, &k->m->shape, place, 0);
    l->member[l->rotating].encoding->rotate(&c, role, u, k->m->shape.heads * l->rotated_dim, l->rotated_dim);
}

void look_rotate(look *k, int layer, pe_role role, real *u)
{
    look_rotate_at(k, layer, look_placement(k, layer), role, u);
}

/* ------------------------------------------------------------------------------------------------ attention */

/* s[heads][len][len] (=) scale q.k; what a causal mask hides is computed as well, and is finite. */
static void look_multiply(const look *k, const pe_tile *t, real *s)
{
    for (int h = 0; h < k->m->shape.heads; h++)
        for (int i = 0; i < t->rows; i++)
            for (int j = 0; j < t->keys; j++)
                s[(size_t)h * (size_t)t->plane + (size_t)i * (size_t)t->stride + (size_t)j] =
                    t->scale * pe_dot(t->q + (size_t)i * (size_t)t->token_stride + (size_t)h * (size_t)t->head_stride,
                                      t->k + (size_t)j * (size_t)t->token_stride + (size_t)h * (size_t)t->head_stride,
                                      t->rotated_dim);
}

static void look_scores(look *k, int layer, const placement *place, const pe_tile *t, real *s)
{
    const attention_layer *l = &k->m->attention[layer];
    for (int i = 0; i < l->count; i++) {
        const pe_descriptor *d = l->member[i].encoding;
        if (!d->score)
            continue;
        pe_context c = attention_context(l, i, &k->m->shape, place, 0);
        pe_tile own = *t;
        own.gate = d->gate ? k->gate[i] : NULL;
        own.bias = d->reads_bias ? k->bias : NULL;
        d->score(&c, &own, s, k->save[i]);
    }
}

static void look_softmax(real *s, const real *bias, int visible, int keys)
{
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < visible; j++) {
        s[j] += bias[j];
        most = (double)s[j] > most ? (double)s[j] : most;
    }
    for (int j = 0; j < visible; j++) {
        s[j] = (real)exp((double)s[j] - most);
        sum += (double)s[j];
    }
    for (int j = 0; j < keys; j++)
        s[j] = j < visible ? (real)((double)s[j] / sum) : 0;
}

void look_attention(look *k, int layer, const real *x, real *q, real *key, real *p)
{
    const pe_shape *shape = &k->m->shape;
    const attention_layer *l = &k->m->attention[layer];
    const placement *place = look_placement(k, layer);
    pe_tile t = look_tile(shape, place, 0, k->len);
    t.q = q;
    t.k = key;
    t.token_stride = shape->heads * l->rotated_dim;
    t.head_stride = t.rotated_dim = l->rotated_dim;
    for (int i = 0; i < l->count; i++)
        if (l->member[i].encoding->gate) {
            pe_context c = attention_context(l, i, shape, place, 0);
            l->member[i].encoding->gate(&c, x, k->gate[i]);
        }
    look_rotate_at(k, layer, place, PE_QUERY, q);
    look_rotate_at(k, layer, place, PE_KEY, key);
    memset(k->bias, 0, (size_t)t.plane * (size_t)shape->heads * sizeof(real));
    look_add_biases(k, layer, place, &t, k->bias);
    look_multiply(k, &t, p);
    look_scores(k, layer, place, &t, p);
    for (int h = 0; h < shape->heads; h++)
        for (int i = 0; i < t.rows; i++) {
            size_t at = (size_t)h * (size_t)t.plane + (size_t)i * (size_t)t.stride;
            look_softmax(p + at, k->bias + at, shape->causal ? i + 1 : t.keys, t.keys);
        }
}
