/* statement_reading.h - what the parts of reading a file of claims share. Inside statement_read*.c only. */
#ifndef STATEMENT_READING_H
#define STATEMENT_READING_H

#include "spec_grid.h"
#include "spec_yaml.h"
#include "statement.h"

typedef struct statement_reading {
    const char *path, *specs;
    const works *works;
    char source[STATEMENT_TEXT_MAX], cites[STATEMENT_CITES_MAX]; /* of claims that give none; "": the file has none */
    yaml_faults *faults;
    spec_draft draft; /* for values of `of` */
    statement_group *group;
    int has_grid; /* 1: it was given and is good, so conditions can choose among its runs */
    error *e;
} statement_reading;

/* The text of a scalar on one line, without white space at its ends. 1, or 0 after a fault. */
int reading_text(statement_reading *s, const yaml_pair *pair, char *out, size_t size);

/* A finite number. 1, or 0 after a fault. */
int reading_number(statement_reading *s, const yaml_pair *pair, double *out);

/* The keys of works that a claim or a file cites, "a,b"; what nobody knows is a fault at its place. */
void reading_cites(statement_reading *s, const yaml_pair *pair, char out[STATEMENT_CITES_MAX]);

/* "unknown key 'thires' in rule; did you mean 'theirs'?" */
void reading_unknown(statement_reading *s, const yaml_node *key, const char *where, const char *const *words,
                     int count);

/* A condition of the statement from its map. -1: e is set. Faults are added. */
int reading_rule(statement_reading *s, const yaml_node *map, const statement *of, statement_rule *out);

/* A condition while it is read: its keys; NULL: not given. */
typedef struct condition {
    statement_reading *s;
    const yaml_node *map;
    const statement *of;
    statement_rule *rule;
    const yaml_pair *sides[2]; /* of, and less or over */
    const yaml_pair *beside, *metric, *mode, *at, *from, *theirs, *least, *most, *within, *measure, *premise, *after,
        *quantity[QUANTITY_KINDS];
    yaml_pair own_after[2]; /* of the sides; NULL, NULL: not given */
    int after_bad[2];       /* 1: what follows training has a fault there, so its lengths are not known */
    int shared_bad;         /* 1: a fault was told beside keys that both sides share, which tell none any more */
} condition;

/* The values of a map of rows. own_after: where the map may hold the key `after`, which is put there; NULL: it may not.
 * -1: e is set. */
int reading_axes(condition *c, const yaml_pair *pair, spec_axes *out, yaml_pair *own_after);

/* What follows training, of a side whose runs are chosen: its own keys before those of the condition. -1: e is set. */
int reading_after(condition *c, int side);

/* The lengths at which a side is tested. Their number; -1: not known, after a fault that has been told. */
int reading_bins(const condition *c, int side, length_bin out[CONFIG_BINS_MAX]);

/* The number of a run, of that kind, of a condition that has one. */
void reading_quantity(condition *c, int kind);

/* The measurement of a condition that has one, and what it is taken of. -1: e is set. */
int reading_measure(condition *c);

#endif
