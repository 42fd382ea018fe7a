/* scores.h - a run's result as a table for the eye: one row for each tested length, one column for each metric. */
#ifndef SCORES_H
#define SCORES_H

#include <stdio.h>

#include "run.h"

/* Points without a value say why (undefined, not_run); a flag stands behind its value in brackets. */
void scores_print(FILE *to, const run_result *r);

/* What followed training, one row for each longer length, method and tested length, one column for each step count, in the
 * first metric of the run. Nothing where nothing followed. */
void scores_print_extensions(FILE *to, const run_result *r);

#endif
