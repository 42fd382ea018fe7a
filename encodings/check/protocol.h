/* protocol.h - do the hooks keep to the rules of pe.h? */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include "registry.h"

typedef struct protocol_report {
    int checks; /* tried */
    int failures;
    char message[600]; /* about the first failure, starting with the rule that was broken */
} protocol_report;

/* Every case that the stack accepts, one rule after the other:
 *   descriptor  head, texts, options and examples are complete; hooks come in pairs
 *   bounds      canaries and gaps whole, inputs untouched, after each hook call
 *   finite      no NaN although all that a hook must write was NaN before
 *   repeatable  the same bits again, also after another host ran with other positions
 *   layout      tile heights and strides change nothing
 *   garbage     what lies beyond the causal limit changes nothing
 *   causal      a later token changes no bit of an earlier row
 *   prefix      the beginning of a sequence gives the beginning of the result
 *   adds        embed and bias add to what is there
 *   accumulate  backward twice doubles the gradients of parameters
 *   init        the same start values for the same seed
 * Returns -1 when it could not be run. */
int protocol_check(const pe_stack *stack, protocol_report *out, error *e);

#endif
