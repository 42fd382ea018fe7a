/* gradient.h - backward hooks against finite differences through the whole reference host. */
#ifndef GRADIENT_H
#define GRADIENT_H

#include "registry.h"

/* A derivative passes when |hook - difference| <= GRADIENT_TOLERANCE * max(|hook|, |difference|, GRADIENT_FLOOR), what
 * the rounding of the loss explains apart. The loss is a sum of products of numbers around 1, so the floor is a
 * ten-thousandth of a usual derivative. */
#define GRADIENT_TOLERANCE 1e-6
#define GRADIENT_FLOOR 1e-4

typedef struct gradient_report {
    int cases;       /* shapes, masks and positions tried */
    int derivatives; /* compared */
    double worst;    /* the largest relative error */
    int failures;
    char message[600]; /* about the first failure: what, where, expected, got */
} gradient_report;

/* Compares, for every case that the stack accepts, all elements of each parameter (200 drawn ones where there are more)
 * and some of x, q, k and v. Every parameter must have had a derivative other than 0 somewhere, or nothing was tested.
 * Meaningful in double only: with float it fails. Returns -1 when it could not be run. */
int gradient_check(const pe_stack *stack, gradient_report *out, error *e);

#endif
