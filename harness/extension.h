/* extension.h - training goes on at longer lengths, with stretched encodings: what extend.h describes, done.
 *
 * Every pair of a factor and a method begins from the same trained weights, which are there again at the end. One that
 * has no meaning for the encoding (a table that ends before the longer sequences do, an extension that no member of the
 * stack has) gives rows with the status "undefined" and the reason.
 */
#ifndef EXTENSION_H
#define EXTENSION_H

#include "model.h"
#include "run.h"
#include "task.h"

typedef struct extension {
    const run_config *config;
    const registry *registry;
    const task *task; /* open for the longest length, run_lengths */
    model *model;     /* trained, with gradients; its values are changed and brought back */
    double reach;     /* the largest position met in training */
    const run_watch *watch;
    const char *state; /* the file (NULL: none) from which an interrupted extension goes on, written about once a minute
                          and when it is interrupted. Where it cannot be written, the extension goes on without */
} extension;

/* Appends the values of all factors, methods and steps to out->extensions, in the order of configuration: factors,
 * methods, steps, then train.len before the longer length, each with the metrics and modes of out->values, which hold
 * the run's evaluation. Adds what earlier sittings cost to out. An interruption sets out->status. -1 with e set: no
 * memory. */
int extension_run(const extension *x, run_result *out, error *e);

#endif
