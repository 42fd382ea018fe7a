/* spec.h - an experiment as text: a YAML file that spans a grid of runs.
 *
 *   name: mine                       the results folder; without it the file's name
 *   title: What is asked
 *   baseline: a                      one of the encodings, drawn in every figure
 *   encoding: [a, b(n=2)+c, [a, b]]  required; an inner list is one stack for each layer. The word `all` stands for every
 *                                    encoding there is, those of plug-ins too, in the order of their list and with
 *                                    default options; `examples` for each of them with each of its examples
 *   task: [t, "u(n=2,m=3)"]          required; quotes where commas stand inside [ ]
 *   seeds: 5                         1 to 5; or seed: [3, 7]
 *   model: {width: 64}               the rows of config_rows by section, here or as model.width: 64
 *   train: {lr: [1e-3, 1e-4]}        a list where a scalar may stand is an axis of the grid
 *   eval: {ratios: [1, 2, 4]}        one value; a list of lists is an axis
 *         encoding_options: a(n=3)     other options of a in evaluation alone; "" in an axis: as it was trained
 *   extend: {methods: [none, interpolate], factors: [2, 4], steps: [0, 200]}   training goes on at longer lengths
 *   overrides:                       in order, the last match wins; `when` looks at the grid's values only
 *     - {when: {task: t, encoding: [a, b]}, set: {train: {lr: 3e-4}}}
 *   tune: {lr: [3e-4, 1e-3], seeds: 2}   the learning rate of each cell is chosen among these (tune.h), by trials with as
 *                                    many seeds of their own (1), 101, 102 ...; train.lr is then given nowhere else
 *   x-anything: &base {...}          a place for anchors; <<: *base merges, own keys win
 *
 * A value that stands twice in one list is refused. Runs that become alike otherwise (an override that fixes what the
 * grid varies) are merged: the first stays.
 *
 * An encoding that is named is refused in a network in which it has no meaning. One that stands there by `all` or
 * `examples` is left out there, and told in left_out; naming it beside the word makes it named. The runs are those that a
 * spec with the names written out has.
 */
#ifndef SPEC_H
#define SPEC_H

#include "config.h"
#include "error.h"
#include "registry.h"

/* Runs of the grid that a word for many encodings would have made. */
typedef struct spec_left_out {
    char encoding[PE_TEXT_MAX];
    char reason[256];
    int runs;
} spec_left_out;

/* Seeds of trials are these and the following; no reported run may have one of them. */
enum { SPEC_TUNE_SEED = 101, SPEC_TUNE_SEEDS_MAX = 1000, SPEC_TUNE_RATES_MAX = 32 };

/* The budget of tuning: rates x seeds trials for each cell, the runs that differ in the seed alone. */
typedef struct spec_tune {
    int rates, seeds; /* rates 0: nothing is tuned, train.lr is what the runs say */
    double rate[SPEC_TUNE_RATES_MAX]; /* [rates], ascending */
} spec_tune;

typedef struct spec {
    char name[128];             /* "name:" of the file, or its file name without .yaml */
    char title[256];            /* "title:", may be empty */
    char baseline[PE_TEXT_MAX]; /* "baseline:", canonical; empty: none */
    int count;
    run_config *runs; /* [count], checked, canonical, no two alike; seeds innermost so that partial sweeps are useful */
    int rest; /* runs of the grid that are not meant now (`only`, or no rate chosen by tuning): behind the others */
    int *place;       /* [count + rest] of each run in the grid; NULL: they stand in its order */
    spec_tune tune;
    int left_out_count;
    spec_left_out *left_out; /* [left_out_count], of the whole grid, whatever `only` says */
} spec;

/* Reads and checks the whole file. All faults are found in one go: e->message then holds one block for each,
 * "file:line:column: error: unknown key 'learing_rate'; did you mean 'lr'?" followed by the source line and a caret.
 * Nothing is left to free on failure. `only` (may be NULL) is "key=value,key=value" on config rows and filters the
 * grid; a filter that matches nothing is an error. */
int spec_load(const char *path, const registry *r, const char *only, spec *out, error *e);
void spec_free(spec *s);

#endif
