/* results.h - the records of a results folder, read, sorted and told apart. */
#ifndef RESULTS_H
#define RESULTS_H

#include <jansson.h>

#include "config.h"
#include "error.h"

/* One record. Strings belong to it. */
typedef struct run_record {
    json_t *record;
    run_config config;
    char *label;         /* the encoding and its options of evaluation; where runs of one encoding and task differ in more than the seed, what sets this
                          * one apart follows: "name [train.lr=0.0003]" */
    const char *key, *status, *message;
    int ok;              /* status "ok": the run was evaluated, whatever it scored */
    int fitted;          /* reached eval.fit in distribution */
    int is_baseline;     /* of the sweep's baseline, tested as it was trained */
} run_record;

/* Runs of one encoding on one task that the sweep is to make and that have no record. Strings belong to it. */
typedef struct results_gap {
    char *encoding, *task;
    int runs;
} results_gap;

typedef struct results {
    int count;
    run_record *run;     /* sorted by task, label, seed, key */
    char name[128];      /* of the sweep: spec.json's, or the folder's */
    char title[256];     /* spec.json's; may be empty */
    char baseline[PE_TEXT_MAX]; /* spec.json's; may be empty */
    int tuned;           /* 1: spec.json says that train.lr was chosen by tuning (tune.h) */
    json_t *choice;      /* then tune/choice.json, which says how; NULL: it is not there */
    int missing;         /* runs of spec.json's grid that have no record; in `gaps` gaps, as the grid has them */
    int gaps;
    results_gap *gap;
} results;

/* Reads dir/runs/<key>.json, and dir/spec.json when it is there. Returns 0, or -1 with e set. Files that are no records do
 * not hide the others: `out` then holds all that could be read (out->count > 0), and e names each bad file and what is wrong
 * with it. A record that lies there twice under two names is one of these faults, for it would count as two seeds. The
 * caller frees `out` with results_free in every case. */
int results_load(const char *dir, results *out, error *e);
void results_free(results *r);

/* A number of the record by its path, "cost.train_seconds"; NAN where it is null or missing. */
double results_number(const run_record *r, const char *path);

/* A text of the record by its path, "host.cpu"; "" where it is null or missing. */
const char *results_string(const run_record *r, const char *path);

/* Stable orders for the tables: by task, label, seed, key. */
int results_compare(const void *a, const void *b);

#endif
