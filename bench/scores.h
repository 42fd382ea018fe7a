/* scores.h - a run's result as a table for the eye: one row for each tested length, one column for each metric. */
#ifndef SCORES_H
#define SCORES_H

#include <stdio.h>

#include "run.h"

/* Points without a value say why (undefined, not_run); a flag stands behind its value in brackets. */
void scores_print(FILE *to, const run_result *r);

#endif
