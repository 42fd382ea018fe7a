#include "placement.h"

#include <assert.h>

#include "rng.h"

static void placement_map_context(const placements *p, const placement_source *s, int len, int total_len,
                                  pe_map_context *c)
{
    *c = (pe_map_context){ .options = p->map_options, .len = len, .total_len = total_len,
                           .train_len = p->shape->train_len, .training = s->training,
                           .last_position = s->last_position, .given = s->given };
}

static void placement_needs(const placements *p, const pe_map_context *c, size_t *draws, size_t *scratch)
{
    *draws = *scratch = 0;
    if (p->map->needs)
        p->map->needs(c, draws, scratch);
}

static size_t placement_cache_bytes(const placements *p, const stack_member *member, int len)
{
    pe_sizes sizes = { 0, 0, 0 };
    pe_context c = { .shape = p->shape, .options = member->options, .len = len, .total_len = len };
    if (member->encoding->sizes)
        member->encoding->sizes(&c, 1, len, &sizes);
    return sizes.cache_bytes;
}

static int placement_slot_init(placements *p, arena *a, placement *slot)
{
    slot->pos = ARENA_NEW(a, double, p->max_len);
    slot->cache = ARENA_NEW(a, void *, p->stacks->count * STACK_MEMBERS_MAX);
    if (!slot->pos || !slot->cache)
        return -1;
    for (int i = 0; i < p->stacks->count; i++)
        for (int m = 0; m < p->stacks->pattern[i].count; m++) {
            size_t bytes = placement_cache_bytes(p, &p->stacks->pattern[i].member[m], p->max_len);
            void **cache = &slot->cache[i * STACK_MEMBERS_MAX + m];
            if (bytes && !(*cache = arena_alloc(a, bytes)))
                return -1;
        }
    return 0;
}

int placements_init(placements *p, arena *a, const layered_stack *stacks, const pe_shape *shape, const pe_map *map,
                    const void *map_options, int alive, int max_len)
{
    *p = (placements){ .stacks = stacks, .shape = shape, .max_len = max_len };
    p->map = map ? map : stacks->pattern[0].map;
    p->map_options = map ? map_options : stacks->pattern[0].map_options;
    p->scope = p->map->scope ? p->map->scope(p->map_options) : PE_MAP_PER_BATCH;
    p->slots_count = p->scope == PE_MAP_PER_LAYER ? alive * shape->layers : alive;

    pe_map_context c;
    placement_source nothing = { .last_position = INFINITY };
    size_t draws, scratch;
    placement_map_context(p, &nothing, max_len, max_len, &c);
    placement_needs(p, &c, &draws, &scratch);
    p->trial = ARENA_NEW(a, double, max_len);
    p->uniform = ARENA_NEW(a, double, draws);
    p->scratch = ARENA_NEW(a, double, scratch);
    p->slots = ARENA_NEW(a, placement, p->slots_count);
    if (!p->trial || !p->uniform || !p->scratch || !p->slots)
        return -1;
    for (int i = 0; i < p->slots_count; i++)
        if (placement_slot_init(p, a, &p->slots[i]) < 0)
            return -1;
    return 0;
}

void placements_begin(placements *p)
{
    p->round++;
}

/* The streams of a batch: 0 for the whole batch, then one for each layer, then one for each sequence. */
static uint32_t placement_item(pe_map_scope scope, const placement_source *s)
{
    switch (scope) {
    case PE_MAP_PER_LAYER:
        return 1 + (uint32_t)s->layer;
    case PE_MAP_PER_SEQUENCE:
        return 0x10000 + (uint32_t)s->sequence;
    default:
        return 0;
    }
}

void placements_positions(placements *p, const placement_source *s, int len, int total_len, double *pos)
{
    pe_map_context c;
    size_t draws, scratch;
    placement_map_context(p, s, len, total_len, &c);
    placement_needs(p, &c, &draws, &scratch);
    rng r = rng_stream(s->seed, s->training ? RNG_MAP_TRAIN : RNG_MAP_TEST, s->index, placement_item(p->scope, s));
    for (size_t i = 0; i < draws; i++)
        p->uniform[i] = rng_uniform(&r);
    c.uniform = p->uniform;
    c.scratch = p->scratch;
    p->map->place(&c, pos);
}

static void placement_prepare(placements *p, placement *slot)
{
    for (int i = 0; i < p->stacks->count; i++)
        for (int m = 0; m < p->stacks->pattern[i].count; m++) {
            const stack_member *member = &p->stacks->pattern[i].member[m];
            if (!member->encoding->prepare)
                continue;
            pe_context c = { .shape = p->shape, .options = member->options, .layer = -1, .len = slot->len,
                             .total_len = slot->total_len, .pos = slot->pos };
            member->encoding->prepare(&c, slot->cache[i * STACK_MEMBERS_MAX + m]);
        }
}

const placement *placements_get(placements *p, const placement_source *s, int len, int total_len)
{
    assert(len <= p->max_len);
    placements_positions(p, s, len, total_len, p->trial);
    placement *oldest = NULL;
    for (int i = 0; i < p->slots_count; i++) {
        placement *slot = &p->slots[i];
        if (slot->used && slot->len == len && slot->total_len == total_len &&
            memcmp(slot->pos, p->trial, sizeof(double) * (size_t)len) == 0) {
            slot->used = p->round;
            return slot;
        }
        if (!oldest || slot->used < oldest->used)
            oldest = slot;
    }
    assert(oldest && oldest->used < p->round); /* more placements alive than announced */
    oldest->len = len;
    oldest->total_len = total_len;
    memcpy(oldest->pos, p->trial, sizeof(double) * (size_t)len);
    oldest->contiguous = 1;
    for (int t = 1; t < len; t++)
        if (oldest->pos[t] != oldest->pos[0] + t)
            oldest->contiguous = 0;
    oldest->used = p->round;
    placement_prepare(p, oldest);
    return oldest;
}
