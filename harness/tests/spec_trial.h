/* spec_trial.h - a spec from a text, for tests. */
#ifndef SPEC_TRIAL_H
#define SPEC_TRIAL_H

#include "scratch.h"
#include "spec.h"

/* The least that a spec must say. */
#define BASE "encoding: rope\ntask: repeat_copy\n"

/* One spec in a scratch folder, and what came of it. */
typedef struct spec_trial {
    scratch folder;
    registry *registry;
    char path[PATH_MAX];
    spec spec;
    error e;
    char shown[sizeof(error)]; /* of trial_fault */
} spec_trial;

void trial_open(spec_trial *t);
void trial_close(spec_trial *t);

/* Loads the text as trial.yaml. spec_load's result, spec and error. */
int trial_load(spec_trial *t, const char *text, const char *only);

/* Loads a good spec and asserts that it has so many runs. */
void trial_good(spec_trial *t, const char *text, int runs);

/* Asserts that the text is refused. Returns the message without the folder's name; it lies in t until the next call. */
const char *trial_fault(spec_trial *t, const char *text);

#endif
