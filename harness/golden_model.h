/* golden_model.h - the network against a file of reference vectors of a whole network ("pe-golden/1" with a "config";
 * see encodings/tests/golden/README.md): logits, loss, activations, every gradient, the steps of AdamW.
 *
 * Such a file carries its own weights as a closed form, tokens and targets. Each key of its "f64" is one check and
 * gives one line. What is not understood, in the file or of a check, is skipped with the reason.
 */
#ifndef GOLDEN_MODEL_H
#define GOLDEN_MODEL_H

#include "check/golden.h"

/* Whether a file is of a whole network; else it is a list of cases, for golden_run. */
int golden_model_is(const json_t *root);

/* As golden_run. -1: the file lacks what every such file has, or does not hold together (ERROR_USAGE), or memory is
 * short. */
int golden_model_run(const registry *r, const char *path, const json_t *root, golden_line_fn *f, void *user,
                     golden_report *out, error *e);

#endif
