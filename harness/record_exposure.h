/* record_exposure.h - what each position met in training, as a section of a record. */
#ifndef RECORD_EXPOSURE_H
#define RECORD_EXPOSURE_H

#include <jansson.h>

#include "run.h"

/* NULL for NULL. The caller owns the value:
 *
 *   {"phases": [{"step": int, "tokens": [int, ...], "gradient": [number, ...]}, ...],
 *    "beyond": int,
 *    "tables": [{"name", "first_norm": [number, ...], "norm": [number, ...],
 *                "phases": [{"step": int, "updates": [int, ...], "gradient": [number, ...]}, ...]}, ...],
 *    "quality": {"loss": [number, ...], "accuracy": [number, ...], "n": [int, ...]} or null}
 *
 * Element i of an array is position i, in a table row i. A phase is a quarter of the steps: it ends with `step` and
 * holds sums over its own steps alone. */
json_t *record_exposure(const run_config *c, const run_exposure *x);

#endif
