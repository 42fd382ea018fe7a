/* probed.h - what a record says that trained weights know of positions (probe.h), brought down to a few numbers: for
 * the report's section "Probes" and for rules of claims. */
#ifndef PROBED_H
#define PROBED_H

#include "quantity.h"

/* One run in numbers; NAN where the record holds none. */
typedef struct probed_numbers {
    double first, best, last; /* error of positions read off hidden states, over that of a guess: before the first
                               * layer, the least of those after a layer, after the last one */
    double best_layer;        /* after which it is least, 1 .. layers */
    double wide_first, wide_best, wide_last; /* the same of positions read by a network whose first layer is random */
    double positions,
        guess;    /* mean absolute error off the rows of the first table, in positions, and that of a guess */
    double order; /* share of pairs of its rows whose order is told wrong */
    double in_order, shuffled,
        cost; /* loss behind windows, nats: as they are, prefix shuffled, the second less the first */
} probed_numbers;
void probed_read(const run_record *run, probed_numbers *out);

/* The numbers by name. */
extern const quantity_kind probed_quantities;

/* A run whose record holds "probes" and that ended well. */
int probed_takes(const run_record *run);

#endif
