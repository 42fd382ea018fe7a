/* arena.h - memory of one run: handed out in order, given back all at once.
 *
 * A run's buffers are all laid out before its first step, so a run that starts has the memory that it needs, and no page
 * is ever returned and faulted in again. Under AddressSanitizer every block stands between red zones.
 */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>

typedef struct arena_chunk arena_chunk;

typedef struct arena {
    arena_chunk *last;   /* newest chunk; chunks never move */
    size_t used;         /* bytes handed out in all, padding included */
} arena;

/* size bytes, zeroed, aligned to 64. NULL when the system has no more. A size of 0 gives a valid pointer. */
void *arena_alloc(arena *a, size_t size);

/* Gives everything back; the arena is then empty and usable. */
void arena_free(arena *a);

#define ARENA_NEW(a, type, count) ((type *)arena_alloc((a), sizeof(type) * (size_t)(count)))

#endif
