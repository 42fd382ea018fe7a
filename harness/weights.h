/* weights.h - a trained network as a file that others can load, and back.
 *
 * The file is safetensors with one F32 tensor for each parameter of the model's table, under its name ("layer0.qkv.w";
 * a vector has one dimension). Metadata: "format" is "pt", so that loaders of PyTorch take it; "posbench.canonical" is
 * the run's configuration as config_print writes it, which with the task's vocabulary decides every shape.
 */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "arena.h"
#include "config.h"
#include "error.h"
#include "model.h"
#include "registry.h"

/* Writes the values of m, trained as c says up to `step`; whole or not at all. ERROR_ENVIRONMENT. */
int weights_save(const char *path, const model *m, const run_config *c, int step, error *e);

/* A network that was read back; it cannot be trained on. Must not move: the model points into it. */
typedef struct weights {
    arena memory;
    run_config config;
    int step; /* up to which it was trained; 0: the file does not say */
    layered_stack stacks, eval_stacks;
    model model;   /* under the stacks of evaluation */
    model trained; /* the same values under those of training */
} weights;

/* Is this the path of a whole file, "FILE.safetensors"? */
int weights_is_target(const char *target);

/* Reads what weights_save wrote. Refused by name (ERROR_USAGE): a file that `posbench run --save` did not write, a
 * configuration that this program cannot run, a parameter that is missing, of another shape or not finite, and a tensor
 * that the network has no place for. Free with weights_close in either case. */
int weights_open(weights *w, const char *path, const registry *r, error *e);
void weights_close(weights *w);

#endif
