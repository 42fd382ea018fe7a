/* golden_model_build.h - a network from a file of reference vectors. Private to golden_model*.c. */
#ifndef GOLDEN_MODEL_BUILD_H
#define GOLDEN_MODEL_BUILD_H

#include "adamw.h"
#include "golden_model.h"
#include "model.h"

typedef struct golden_model {
    const json_t *root, *config, *tol, *f64;
    const char *path;
    golden_line_fn *tell;
    void *user;
    golden_report *report;
    char stack[STACK_TEXT_MAX];
    arena memory;
    layered_stack stacks;
    run_config run;
    model model;
    workspace work;
    adamw optimiser;
    batch batch;
    int *start, *input, *target;
    int tokens, len, vocab;
    error *e;
} golden_model;

/* The numbers of an array, which is a list or {"shape", "data"}. NULL: it is neither. */
const json_t *golden_model_data(const json_t *value);

double golden_model_at(const json_t *data, size_t i);

/* The parameter that a file calls so; NULL when the network has none. */
const model_param *golden_model_param(const golden_model *g, const char *name);

/* The network with the file's weights, its batch and its optimiser. 1 with a reason when it is none that can be built
 * here; -1 with e set. */
int golden_model_build(golden_model *g, const registry *r, char *reason, size_t size);

#endif
