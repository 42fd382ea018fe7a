/* spec_yaml.h - a YAML file as a small tree that knows its places, and the list of everything that is wrong with it.
 *
 * Inside spec*.c and statement_read*.c only. Aliases are resolved while the tree is built: two parents may share a node, but there are no
 * circles.
 */
#ifndef SPEC_YAML_H
#define SPEC_YAML_H

#include <stddef.h>

#include "error.h"

/* ------------------------------------------------------------------------------------------------ faults */

enum { YAML_FAULTS_MAX = 64, YAML_FAULT_TEXT_MAX = 512 };

typedef struct yaml_fault {
    int line, column; /* from 1; column in characters */
    int width;        /* characters to underline */
    char text[YAML_FAULT_TEXT_MAX];
} yaml_fault;

typedef struct yaml_faults {
    const char *path, *source; /* borrowed; source is NUL-ended, NULL when the file could not be read */
    int count, lost;           /* lost: found after the list was full */
    yaml_fault list[YAML_FAULTS_MAX];
} yaml_faults;

/* The same sentence at the same place is kept once. */
void yaml_fault_add(yaml_faults *f, int line, int column, int width, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* All faults in the order of the file, each "path:line:column: error: ..." with its source line and a caret, into e as
 * ERROR_USAGE. Those that no longer fit are counted. Returns -1; f->count must not be 0. */
int yaml_faults_report(yaml_faults *f, error *e);

/* ------------------------------------------------------------------------------------------------ the tree */

typedef enum yaml_kind {
    YAML_SCALAR,
    YAML_LIST,
    YAML_MAP,
    YAML_BROKEN /* a fault has been recorded for it; readers pass it over */
} yaml_kind;

typedef struct yaml_node yaml_node;

typedef struct yaml_pair {
    yaml_node *key, *value; /* the key is a scalar */
} yaml_pair;

struct yaml_node {
    yaml_kind kind;
    int line, column, width;
    char *text;        /* of a scalar */
    int quoted;        /* written with quotes or as a block, so never null */
    int flow;          /* stands inside [ ] or { } */
    int count;         /* of items or pairs */
    yaml_node **items; /* of a list */
    yaml_pair *pairs;  /* of a map, as written: duplicates and << are still there */
    yaml_node *next;   /* in the document's list of all nodes */
};

typedef struct yaml_document {
    char *source;    /* the whole file, NUL-ended */
    yaml_node *root; /* NULL when the file holds nothing */
    int complete;    /* 0: a fault of syntax cut the tree off; what is missing from it means nothing */
    yaml_node *all;
} yaml_document;

/* Reads a file (a regular one of at most 1 MiB of text). -1 with e set when it cannot be read; faults of the text go to
 * `faults`, whose path and source are set here. The caller frees the document in every case. */
int yaml_load(const char *path, yaml_document *out, yaml_faults *faults, error *e);
void yaml_free(yaml_document *d);

/* An empty plain scalar, `~` or `null`. */
int yaml_is_null(const yaml_node *n);

/* The pairs of a map with merge keys (<<) followed: a map's own keys win over merged ones, earlier merged maps over
 * later ones. A key written twice is a fault. *out is malloc'ed. Returns the count, or -1 with e set when memory is
 * short. */
int yaml_flatten(const yaml_node *map, yaml_faults *faults, yaml_pair **out, error *e);

/* A fault at a node. */
#define yaml_fault_at(f, node, ...) yaml_fault_add((f), (node)->line, (node)->column, (node)->width, __VA_ARGS__)

#endif
