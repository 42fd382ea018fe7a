/* record_probes.h - what trained weights know of positions, as a section of a record. */
#ifndef RECORD_PROBES_H
#define RECORD_PROBES_H

#include <jansson.h>

#include "run.h"

/* The caller owns the value:
 *
 *   {"hidden": {"folds": int, "sequences": int, "tokens": int, "position_error": [number, ...],
 *               "position_error_wide": [number, ...], "position_error_of_a_guess": number} or null,
 *    "tables": [{"name", "folds": int, "rows": int, "position_error": number, "position_error_of_a_guess": number,
 *                "pairs": int, "order_error": number}, ...] or null,
 *    "shuffle": {"windows": int, "loss_in_order": number, "loss_shuffled": number} or null}
 *
 * "position_error" of hidden states: one for what enters each layer, and one for what the last leaves; "wide": read off
 * wider vectors (readout_widen). null: the
 * configuration does not ask for it, or, of hidden states and of "shuffle", there is no value. */
json_t *record_probes(const run_config *c, const run_probes *p);

#endif
