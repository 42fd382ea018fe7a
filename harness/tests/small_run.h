/* small_run.h - runs of a tiny network, for tests: a second at the most. */
#ifndef SMALL_RUN_H
#define SMALL_RUN_H

#include "run.h"

/* No encoding, copies of up to 6 bits, one layer of width 16; `settings`, "name=value name=value", change that. Returns
 * config_check's status, or the first one that config_set refuses. */
int small_run_configure(const registry *r, const char *settings, run_config *c, error *e);

/* The same, and the test fails if it is refused. */
run_config small_run_config(const registry *r, const char *settings);

/* From these settings to the numbers; run_result_free frees them. */
run_result small_run(const char *settings);

/* The value at this length; NULL: there is none. */
const run_value *small_run_find(const run_result *r, int max_len, const char *metric, const char *mode);

#endif
