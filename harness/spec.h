/* spec.h - an experiment as text: a YAML file that spans a grid of runs. */
#ifndef SPEC_H
#define SPEC_H

#include "config.h"
#include "error.h"
#include "registry.h"

typedef struct spec {
    char name[128];        /* "name:" of the file, or its file name without .yaml */
    char title[256];       /* "title:", may be empty */
    char baseline[PE_TEXT_MAX]; /* "baseline:", canonical; empty: none */
    int count;
    run_config *runs;      /* [count], checked, canonical, no two alike; seeds innermost so that partial sweeps are useful */
} spec;

/* Reads and checks the whole file. All faults are found in one go: e->message then holds one block for each,
 * "file:line:column: error: unknown key 'learing_rate'; did you mean 'lr'?" followed by the source line and a caret.
 * Nothing is left to free on failure. `only` (may be NULL) is "key=value,key=value" on config rows and filters the grid;
 * a filter that matches nothing is an error. */
int spec_load(const char *path, const registry *r, const char *only, spec *out, error *e);
void spec_free(spec *s);

#endif
