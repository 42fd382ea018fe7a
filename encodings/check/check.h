/* check.h - everything that can be verified about an encoding without training it: gradients, claims, protocol. */
#ifndef CHECK_H
#define CHECK_H

#include "claims.h"
#include "gradient.h"
#include "protocol.h"

typedef struct check_line {
    char stack[1024];  /* canonical text */
    int with_gradient; /* 0 in single precision: there the limits would be so loose that real bugs pass */
    gradient_report gradient;
    claims_report claims;
    protocol_report protocol;
    error refused; /* set when the stack could not be tried at all */
    int failed;
} check_line;

typedef void check_line_fn(void *user, const check_line *line);

/* Checks one stack ("rope+alibi"; of "[rope,nope]" each different entry; a position map makes no difference here), or
 * with text NULL all encodings of the registry with their default options and each example. Calls f once for each.
 * *failed: how many lines failed. Returns -1 for a text that does not parse or when memory is short. */
int check_stack(const registry *r, const char *text, check_line_fn *f, void *user, int *failed, error *e);

/* "rope(layout=interleaved)  gradient ok 3.1e-09  claims ok  protocol ok", then one indented line for each failure. No
 * newline at the end. */
void check_line_print(const check_line *line, char *text, size_t size);

#endif
