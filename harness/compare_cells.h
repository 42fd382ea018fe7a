/* compare_cells.h - inside compare*.c only: runs that were matched, and the cells that follow from them. */
#ifndef COMPARE_CELLS_H
#define COMPARE_CELLS_H

#include "compare.h"

/* One run of one side. Owns its texts. */
typedef struct compare_match {
    int side;
    const run_record *record;
    const run_record *partner; /* of a run of A: B's run that it is paired with; NULL: none */
    char *run, *cell;          /* canonical text without what is left out; without the seed as well */
} compare_match;

/* Fills c->cell from the pairs among m[count], which is sorted by cell. -1: no memory. */
int compare_cells(comparison *c, const compare_match *m, int count, error *e);

void compare_matches_free(compare_match *m, int count);

#endif
