/* results_label.h - names under which runs may be averaged. */
#ifndef RESULTS_LABEL_H
#define RESULTS_LABEL_H

#include "error.h"
#include "results.h"

/* Sets the label of every result. Results must be sorted by task and encoding. Runs of one task and encoding that differ in
 * more than the seed must never be averaged together: the configuration rows in which they differ are put behind the
 * encoding, so that two runs share a label exactly when the seed alone tells them apart. In a
 * tuned folder (results.h) the rate is left out where it follows from the other settings. */
int results_label(results *r, error *e);

#endif
