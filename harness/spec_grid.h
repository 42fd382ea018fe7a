/* spec_grid.h - the values that a spec gives to the rows of config_rows, and the grid of runs that they span.
 *
 * Inside spec*.c only, and where another file holds a grid or chooses among the runs of one (statement_read*.c).
 */
#ifndef SPEC_GRID_H
#define SPEC_GRID_H

#include "spec.h"
#include "spec_yaml.h"

/* Values of `encoding` that stand for many. */
#define SPEC_WORD_ALL "all"
#define SPEC_WORD_EXAMPLES "examples"

enum { SPEC_ROWS_MAX = 64, SPEC_VALUE_MAX = 8192, SPEC_AXIS_MAX = 2000, SPEC_RULES_MAX = 256, SPEC_RUNS_MAX = 50000 };

/* One value of a row, in canonical text, and where it stands. */
typedef struct spec_choice {
    char *text; /* owned */
    const yaml_node *at;
    int offered; /* 1: stands here by a word for many, so that a run which has no meaning with it is left out */
} spec_choice;

/* The values of one row: none (the default holds), one, or several, which make an axis of the grid. */
typedef struct spec_axis {
    int count;
    spec_choice *choices;
} spec_axis;

typedef struct spec_axes {
    spec_axis row[SPEC_ROWS_MAX]; /* [i] belongs to config_rows[i] */
} spec_axes;

/* An item of `overrides`: where a run has one of the values of every row in `when`, the values of `set` replace its
 * own. */
typedef struct spec_rule {
    const yaml_node *at;
    spec_axes when, set;
    int matched; /* runs */
} spec_rule;

typedef struct spec_draft {
    const registry *registry;
    yaml_faults *faults;
    spec_axes axes;
    int rules_count;
    spec_rule *rules;
    const yaml_node *root;
    const yaml_node *tune; /* the key; NULL: there is none */
    spec *out;             /* the grid adds what it leaves out */
} spec_draft;

/* ------------------------------------------------------------------------------------------------ spec_axes.c */

/* Takes one key of a spec, an override's `when` or its `set`, if it is a row ("task", "train.lr") or a section
 * ("train") with rows. Returns 1, 0 when it is neither, or -1 with e set when memory is short. Wrong values are faults
 * and left out. */
int spec_axes_take(spec_draft *d, const yaml_pair *pair, spec_axes *out, error *e);

/* Adds one value, given as text, to a row: bounds, grammar and names are checked, the canonical text is kept. The same
 * value twice is a fault. */
int spec_axis_add(spec_draft *d, int row, const char *text, const yaml_node *at, spec_axes *out, error *e);

/* "unknown key 'learing_rate'; did you mean 'lr'?" at the key. section: "train", or NULL at the top; words[count]:
 * other keys that may stand there. */
void spec_unknown_key(spec_draft *d, const yaml_node *key, const char *section, const char *const *words, int count);

/* The index of the row whose field is at that offset of run_config. */
int spec_row_at(size_t offset);

/* A value as config_print would write it, in out[size]. -1 with e set to what is wrong with it. */
int spec_canonical(const registry *r, int row, const char *text, char *out, size_t size, error *e);

/* Adds a canonical text as it is. -1 with e set when memory is short. */
int spec_axis_push(spec_axis *axis, const char *canonical, const yaml_node *at, error *e);

void spec_axes_free(spec_axes *a);

/* ------------------------------------------------------------------------------------------------ spec.c */

/* The grid that stands below `root` in a file whose other parts are not a spec's. As spec_load, but faults are added to
 * the list, and where there are any out->count is 0. path: for a name, where the grid gives none. -1: e is set. Free
 * with spec_free in either case. */
int spec_take_tree(const char *path, const yaml_node *root, const registry *r, yaml_faults *faults, spec *out, error *e);

/* ------------------------------------------------------------------------------------------------ spec_grid.c */

/* 1: the run has, in every row that `when` has values for, one of them. */
int spec_matches(const run_config *c, const spec_axes *when);

/* Keeps the runs i with wanted[i] in front, the others behind them as `rest`. To be called once. */
int spec_keep(spec *out, const char *wanted, error *e);

/* Every combination, in the order of config_rows with seeds innermost, overrides applied, checked, alike runs merged.
 * Faults go to the draft; runs and what was left out to d->out. Returns 0, or -1 with e set. */
int spec_grid(spec_draft *d, error *e);

/* ------------------------------------------------------------------------------------------------ spec_tune.c */

/* Takes the value of the key `tune` into d->out. Wrong values are faults. -1 with e set when memory is short. */
int spec_tune_take(spec_draft *d, const yaml_pair *pair, error *e);

/* What the rest of the spec says must leave the rate and the trials' seeds alone; else faults. Nothing without `tune`. */
void spec_tune_check(spec_draft *d);

/* ------------------------------------------------------------------------------------------------ spec_extend.c */

/* A method of extend.methods that no encoding of the grid has is a fault. Reads the finished runs. -1 with e set when
 * memory is short. */
int spec_extend_check(spec_draft *d, error *e);

/* ------------------------------------------------------------------------------------------------ --only */

/* Keeps the runs that "key=value,key=value" allows in front, the rest behind them; one key given several times allows
 * any of its values. A rate that is chosen by tuning cannot be asked for. */
int spec_filter(const registry *r, const char *only, spec *out, error *e);

#endif
