#include "zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ZONE_CANARY = 64 };
static const unsigned char zone_mark = 0xC5;

static real zone_nan(void)
{
    real value;
#ifdef PE_REAL_DOUBLE
    uint64_t bits = UINT64_C(0x7ff8c0ffee5eed01);
#else
    uint32_t bits = UINT32_C(0x7fc5eed1);
#endif
    _Static_assert(sizeof bits == sizeof value, "a NaN of the size of real");
    memcpy(&value, &bits, sizeof value);
    return value;
}

void zone_poison(real *values, size_t count)
{
    real nan = zone_nan();
    if (count == 0)
        return;
    memcpy(values, &nan, sizeof nan); /* by bytes: an assignment may change the bits of a NaN */
    for (size_t done = 1; done < count; done *= 2)
        memcpy(values + done, values, (done <= count - done ? done : count - done) * sizeof nan);
}

static zone *zone_push(zone_set *set, const char *name, error *e)
{
    if (set->count == set->room) {
        int room = set->room ? 2 * set->room : 32;
        zone *more = realloc(set->zone, (size_t)room * sizeof *more);
        if (!more) {
            error_set(e, ERROR_ENVIRONMENT, "out of memory");
            return NULL;
        }
        set->zone = more;
        set->room = room;
    }
    zone *z = &set->zone[set->count];
    *z = (zone){.data = NULL};
    snprintf(z->name, sizeof z->name, "%s", name);
    return z;
}

/* Memory between canaries, not yet filled. */
static void *zone_allocate(zone_set *set, const char *name, size_t bytes, error *e)
{
    zone *z = zone_push(set, name, e);
    if (!z)
        return NULL;
    unsigned char *memory = malloc(bytes + 2 * ZONE_CANARY);
    if (!memory) {
        error_set(e, ERROR_ENVIRONMENT, "out of memory: %zu bytes for %s", bytes, name);
        return NULL;
    }
    memset(memory, zone_mark, ZONE_CANARY);
    memset(memory + ZONE_CANARY + bytes, zone_mark, ZONE_CANARY);
    z->data = memory + ZONE_CANARY;
    z->bytes = bytes;
    z->owned = 1;
    set->count++;
    return z->data;
}

void *zone_add(zone_set *set, const char *name, size_t bytes, error *e)
{
    void *data = zone_allocate(set, name, bytes, e);
    if (data)
        memset(data, 0xff, bytes); /* a NaN in either precision, -1 as an integer */
    return data;
}

real *zone_add_reals(zone_set *set, const char *name, size_t count, error *e)
{
    real *data = zone_allocate(set, name, count * sizeof(real), e);
    if (data)
        zone_poison(data, count);
    return data;
}

real *zone_add_spread(zone_set *set, const char *name, zone_layout layout, error *e)
{
    real *data = zone_add_reals(set, name, (size_t)layout.blocks * (size_t)layout.block_stride, e);
    if (data)
        set->zone[set->count - 1].layout = layout;
    return data;
}

int zone_add_foreign(zone_set *set, const char *name, const void *data, size_t bytes, error *e)
{
    zone *z = zone_push(set, name, e);
    if (!z)
        return -1;
    z->data = (void *)data; /* only ever read */
    z->bytes = bytes;
    set->count++;
    return 0;
}

void zone_free_all(zone_set *set)
{
    for (int i = 0; i < set->count; i++)
        if (set->zone[i].owned)
            free((unsigned char *)set->zone[i].data - ZONE_CANARY);
    free(set->zone);
    *set = (zone_set){NULL, 0, 0};
}

static zone *zone_of(const zone_set *set, const void *data)
{
    for (int i = 0; i < set->count; i++)
        if (set->zone[i].data == data)
            return &set->zone[i];
    return NULL;
}

void zone_poison_payload(zone_set *set, const void *data)
{
    zone *z = zone_of(set, data);
    zone_poison(z->data, z->bytes / sizeof(real)); /* gaps hold the same pattern */
}

void zone_clear_payload(zone_set *set, const void *data)
{
    zone *z = zone_of(set, data);
    real *values = z->data;
    if (z->layout.blocks == 0)
        memset(values, 0, z->bytes);
    for (int block = 0; block < z->layout.blocks; block++)
        for (int line = 0; line < z->layout.lines; line++)
            memset(values + (size_t)block * (size_t)z->layout.block_stride +
                       (size_t)line * (size_t)z->layout.line_stride,
                   0, (size_t)z->layout.cells * sizeof *values);
}

static uint64_t zone_hash(const zone *z)
{
    const unsigned char *bytes = z->data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t i = 0;
    for (; i + 8 <= z->bytes; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    for (; i < z->bytes; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void zone_seal(zone_set *set)
{
    for (int i = 0; i < set->count; i++)
        set->zone[i].seal = zone_hash(&set->zone[i]);
}

static int zone_check_borders(const zone *z, char *message, size_t size)
{
    if (!z->owned)
        return 0;
    const unsigned char *bytes = z->data;
    for (int i = 0; i < ZONE_CANARY; i++) {
        if (bytes[i - ZONE_CANARY] != zone_mark) {
            snprintf(message, size, "wrote before the start of %s", z->name);
            return -1;
        }
        if (bytes[z->bytes + (size_t)i] != zone_mark) {
            snprintf(message, size, "wrote past the end of %s", z->name);
            return -1;
        }
    }
    return 0;
}

/* Is [line][first .. end) of a block still as it was poisoned? A line past the last one has gap only. */
static int zone_check_gap(const zone *z, int block, int line, int first, int end, char *message, size_t size)
{
    real nan = zone_nan();
    const real *values = z->data;
    values += (size_t)block * (size_t)z->layout.block_stride + (size_t)line * (size_t)z->layout.line_stride;
    for (int cell = first; cell < end; cell++)
        if (memcmp(values + cell, &nan, sizeof nan) != 0) {
            snprintf(message, size, "wrote into a gap of %s, at [%d][%d][%d] of [%d][%d][%d]", z->name, block, line,
                     cell, z->layout.blocks, z->layout.lines, z->layout.cells);
            return -1;
        }
    return 0;
}

static int zone_check_gaps(const zone *z, char *message, size_t size)
{
    const zone_layout *l = &z->layout;
    for (int block = 0; block < l->blocks; block++)
        for (int line = 0; line * l->line_stride < l->block_stride; line++) {
            int room = l->block_stride - line * l->line_stride;
            int end = room < l->line_stride ? room : l->line_stride;
            if (zone_check_gap(z, block, line, line < l->lines ? l->cells : 0, end, message, size) < 0)
                return -1;
        }
    return 0;
}

int zone_intact(const zone_set *set, char *message, size_t size)
{
    for (int i = 0; i < set->count; i++)
        if (zone_check_borders(&set->zone[i], message, size) < 0 || zone_check_gaps(&set->zone[i], message, size) < 0)
            return -1;
    return 0;
}

int zone_verify(const zone_set *set, const void *const *writable, char *message, size_t size)
{
    for (int i = 0; i < set->count; i++) {
        const zone *z = &set->zone[i];
        int may_change = 0;
        for (const void *const *w = writable; *w; w++)
            may_change |= *w == z->data;
        if (!may_change && zone_hash(z) != z->seal) {
            snprintf(message, size, "wrote to %s", z->name);
            return -1;
        }
    }
    return zone_intact(set, message, size);
}
