/* report_starved.h - what positions met in training, read from records: for the section "Starved positions". */
#ifndef REPORT_STARVED_H
#define REPORT_STARVED_H

#include "report_document.h"
#include "report_group.h"

/* A run whose record holds "exposure" and that ended well. */
int report_starved_takes(const run_record *run);

/* Over all quarters of training, of the positions 0 .. count-1, where count is the larger of those that were met and
 * those of the longest training sequence: [count] tokens and squared gradients. malloc'ed; NULL: no memory. */
typedef struct starved_input {
    int count;
    double *tokens, *gradient;
} starved_input;
int report_starved_input(const run_record *run, starved_input *out);
void report_starved_input_free(starved_input *x);

/* One run in numbers; NAN where the record holds none. The last quarter of n positions begins at position 3n/4, rounded
 * up, the first ends before n/4, rounded up. */
typedef struct starved_numbers {
    double tokens, gradient; /* share of all, in the last quarter of positions, at the input */
    double rows, norm;       /* of the first table: share of the squared gradient in its last quarter of rows; mean norm
                              * there over that in its first quarter */
    double loss, accuracy;   /* mean in the last quarter of the tested positions less that in the first */
} starved_numbers;
void report_starved_numbers(const run_record *run, starved_numbers *out);

/* The table of the section; nothing where no run recorded it. */
void report_starved_table(const report_view *v, document *d);

/* Figures (report_starved_figures.c). */
int report_starved_write(const report_view *v, const char *dir, report_figures *out, error *e);

#endif
