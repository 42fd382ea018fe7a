/* zone.h - memory that notices who writes where.
 *
 * A zone is one buffer that a host hands to hooks. It lies between canaries, it may have gaps (rows and planes further
 * apart than needed), and it starts out as NaN, so that a hook that reads what it must not read is heard of. Sealing
 * remembers the bytes of all zones; verifying tells which of them changed although nobody was allowed to.
 */
#ifndef ZONE_H
#define ZONE_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "pe.h"

/* Which elements of a zone belong to the payload: [blocks][lines][cells] at block*block_stride + line*line_stride.
 * Everything else is gap. */
typedef struct zone_layout {
    int blocks, block_stride, lines, line_stride, cells;
} zone_layout;

typedef struct zone {
    char name[64];
    void *data; /* payload and gaps */
    size_t bytes;
    zone_layout layout; /* blocks = 0: no gaps */
    int owned;          /* 0: somebody else's memory, watched only */
    uint64_t seal;
} zone;

typedef struct zone_set {
    zone *zone;
    int count, room;
} zone_set;

/* Fills with a quiet NaN of a payload that no arithmetic makes: poison for readers, a pattern for gaps. */
void zone_poison(real *values, size_t count);

/* New memory of `bytes`, poisoned; a zone of 0 bytes has a valid address. NULL with e set when memory is short. */
void *zone_add(zone_set *set, const char *name, size_t bytes, error *e);
/* New memory of `count` reals, poisoned. */
real *zone_add_reals(zone_set *set, const char *name, size_t count, error *e);
/* New memory for a layout with gaps, poisoned. */
real *zone_add_spread(zone_set *set, const char *name, zone_layout layout, error *e);
/* Watches memory that belongs to somebody else. */
int zone_add_foreign(zone_set *set, const char *name, const void *data, size_t bytes, error *e);

void zone_free_all(zone_set *set);

/* Poisons or clears the payload of one zone; its gaps stay. */
void zone_poison_payload(zone_set *set, const void *data);
void zone_clear_payload(zone_set *set, const void *data);

void zone_seal(zone_set *set);

/* Compares with the seal. `writable` lists the data pointers that may have changed, NULL at the end; even there, gaps
 * and canaries must be whole. Returns 0, or -1 with what happened in message: "wrote to q", "wrote past the end of
 * save". */
int zone_verify(const zone_set *set, const void *const *writable, char *message, size_t size);

/* Gaps and canaries of all zones. */
int zone_intact(const zone_set *set, char *message, size_t size);

#endif
