/* placement.h - where the tokens of a sequence stand, and what the encodings have computed for it.
 *
 * A placement is a sequence length, its positions and the caches that each encoding's `prepare` has written for them. Equal
 * placements are found again: with the identity map each length is prepared once in a run.
 */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include <stdint.h>

#include "arena.h"
#include "pe.h"
#include "registry.h"

typedef struct placement {
    int len, total_len;
    double *pos;             /* [len] */
    void **cache;            /* [pattern * STACK_MEMBERS_MAX + member]; NULL where an encoding keeps none */
    int contiguous;          /* 1: pos[t] = pos[0] + t */
    uint64_t used;           /* the round in which it was last asked for; 0: empty */
} placement;

/* The largest of pos[len]. */
static inline double placement_farthest(const double *pos, int len)
{
    double farthest = pos[0];
    for (int t = 1; t < len; t++)
        farthest = pos[t] > farthest ? pos[t] : farthest;
    return farthest;
}

/* What the positions of one sequence depend on, besides its length. */
typedef struct placement_source {
    uint64_t seed, index;    /* index: the training step, or the number of the evaluation batch */
    int training;
    int sequence;            /* its number in the batch, for maps that draw for each sequence */
    int layer;               /* for maps that draw for each layer */
    const double *given;     /* [len] the task's own proposal, or NULL */
    double last_position;    /* of the stacks */
} placement_source;

typedef struct placements {
    const layered_stack *stacks;
    const pe_shape *shape;
    const pe_map *map;
    const void *map_options;
    pe_map_scope scope;
    int slots_count, max_len;
    placement *slots;
    double *trial, *uniform, *scratch;
    uint64_t round;
} placements;

/* Buffers for sequences of up to max_len tokens, `alive` of which are used at the same time. map: replaces the stacks' own
 * when not NULL. -1: no memory. */
int placements_init(placements *p, arena *a, const layered_stack *stacks, const pe_shape *shape, const pe_map *map,
                    const void *map_options, int alive, int max_len);

/* A new round begins: what is asked for from now on stays valid until the next one. */
void placements_begin(placements *p);

/* Writes the positions (=) pos[len] that the map gives. */
void placements_positions(placements *p, const placement_source *s, int len, int total_len, double *pos);

/* The placement of such a sequence, prepared. Valid until the next round. */
const placement *placements_get(placements *p, const placement_source *s, int len, int total_len);

#endif
