/* quantity.h - single numbers of a run that sections of its record hold, by name: for rules of claims. */
#ifndef QUANTITY_H
#define QUANTITY_H

#include <stddef.h>

#include "results.h"

typedef struct quantity {
    const char *name;
    const char *title; /* in words, "late share of squared gradient" */
    double low, high;  /* values cannot lie outside */
    const char *lack;  /* why a record with the section can be without it */
    const char *row;   /* of the configuration, which must be true for it to be measured: "train.positions" */
    size_t offset;     /* of the field in the section's numbers */
} quantity;

typedef struct quantity_kind {
    const char *word;     /* the key of a condition, "exposure" */
    const char *section;  /* of the record, "exposure" */
    const quantity *rows; /* ended by one without a name */
    /* Of a record that has the section; NAN: the number is not there. */
    double (*read)(const run_record *run, const quantity *q);
} quantity_kind;

enum { QUANTITY_EXPOSURE, QUANTITY_PROBE, QUANTITY_KINDS };
const quantity_kind *quantity_kind_at(int i);

/* A run that ended well and whose record holds the section. */
int quantity_takes(const quantity_kind *k, const run_record *run);

/* Whether the configuration asks for it. */
int quantity_is_on(const quantity *q, const run_config *c);

#endif
