/* breakdown.h - where the time of a step goes, section by section.
 *
 * Code that is timed says which section begins, in one line; the time since the line before is charged to the section that
 * ends there. With NULL, as in every run, a line costs a test of a pointer that is not taken. It reads a steady clock, which
 * costs some 25 ns: sections are whole matrix products and blocks of rows, never single rows.
 */
#ifndef BREAKDOWN_H
#define BREAKDOWN_H

#include "stopwatch.h"

typedef enum breakdown_section {
    BREAKDOWN_GEMM,        /* linear maps, their biases included; those inside attention are attention's */
    BREAKDOWN_ATTENTION,   /* scores, softmax and weighted sums */
    BREAKDOWN_ELEMENTWISE, /* norms, GELU, residual sums, token vectors, cross-entropy */
    BREAKDOWN_ENCODING,    /* the hooks of encodings, prepare included */
    BREAKDOWN_OPTIMISER,
    BREAKDOWN_DATA,        /* drawing the batch */
    BREAKDOWN_SECTIONS
} breakdown_section;

typedef struct breakdown {
    double seconds[BREAKDOWN_SECTIONS];
    breakdown_section current;
    double since;          /* when `current` began */
} breakdown;

/* From here on time is charged to `section`; b may be NULL. */
static inline void breakdown_at(breakdown *b, breakdown_section section)
{
    if (!b)
        return;
    double now = stopwatch_wall();
    b->seconds[b->current] += now - b->since;
    b->current = section;
    b->since = now;
}

/* Empty, and the first section begins now. */
static inline breakdown breakdown_begin(breakdown_section section)
{
    return (breakdown){ .current = section, .since = stopwatch_wall() };
}

#endif
