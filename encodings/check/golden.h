/* golden.h - reference vectors ("pe-golden/1", see encodings/tests/golden/README.md) against the encodings of the
 * registry.
 *
 * A case names an operation, its parameters, inputs and expected outputs. It is turned into an option string and
 * positions, run through the encoding's own hooks, and compared element by element. What no encoding of this program
 * computes is skipped with a reason, never in silence; so is a case with a parameter, input or output that is not
 * understood.
 */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <jansson.h>

#include "registry.h"

typedef enum golden_outcome { GOLDEN_PASSED, GOLDEN_FAILED, GOLDEN_SKIPPED } golden_outcome;

typedef struct golden_line {
    const char *path, *id, *op;
    golden_outcome outcome;
    int compared;       /* numbers */
    double worst;       /* the largest |got - expected| over what the tolerance allows; <= 1 passes */
    const char *remark; /* the first failure, the reason for skipping, or what was adapted; "" if nothing */
} golden_line;

typedef void golden_line_fn(void *user, const golden_line *line);

typedef struct golden_report {
    int passed, failed, skipped;
} golden_report;

/* A file of this schema; the caller releases it. NULL with e set: it cannot be read (ERROR_ENVIRONMENT), or it is broken,
 * with the line at which, or of another schema (ERROR_USAGE). */
json_t *golden_read(const char *path, error *e);

/* Runs all cases of a file and adds to *out; f may be NULL. A double-precision build uses the f64 tolerances of the
 * file, a single one those for f32. Returns -1 when it has no list of cases or memory is short. path: for the lines. */
int golden_run(const registry *r, const char *path, const json_t *root, golden_line_fn *f, void *user,
               golden_report *out, error *e);

/* The two in one. */
int golden_run_file(const registry *r, const char *path, golden_line_fn *f, void *user, golden_report *out, error *e);

/* Counts a line, and tells it. */
void golden_tell(const golden_line *line, golden_line_fn *f, void *user, golden_report *out);

/* "ok       sin.concat.d7  sinusoidal  28 numbers, at worst 0.02 of the tolerance". No newline at the end. */
void golden_line_print(const golden_line *line, char *text, size_t size);

#endif
