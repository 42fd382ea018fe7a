/* starved.h - what positions met in training (exposure.h), read from one record and brought down to a few numbers: for
 * the report's section "Starved positions" and for rules of claims. */
#ifndef STARVED_H
#define STARVED_H

#include "quantity.h"

/* A run whose record holds "exposure" and that ended well. */
int starved_takes(const run_record *run);

/* Over all quarters of training, of the positions 0 .. count-1, where count is the larger of those that were met and
 * those of the longest training sequence: [count] tokens and squared gradients. malloc'ed; NULL: no memory. */
typedef struct starved_input {
    int count;
    double *tokens, *gradient;
} starved_input;
int starved_input_read(const run_record *run, starved_input *out);
void starved_input_free(starved_input *x);

/* One run in numbers; NAN where the record holds none. The last quarter of n positions begins at position 3n/4, rounded
 * up, the first ends before n/4, rounded up. */
typedef struct starved_numbers {
    double tokens, gradient; /* share of all, in the last quarter of positions, at the input */
    double rows, norm;       /* of the first table: share of the squared gradient in its last quarter of rows; mean norm
                              * there over that in its first quarter */
    double loss, accuracy;   /* mean in the last quarter of the tested positions less that in the first */
    double gradient_ratio;   /* squared gradient at the input in the last quarter of positions over that in the first */
    double rows_ratio;       /* the same of the first table's rows */
} starved_numbers;
void starved_read(const run_record *run, starved_numbers *out);

/* The numbers by name: a row for each field. */
extern const quantity_kind starved_quantities;

#endif
