/* claims.h - what an encoding claims must hold, and what holds must be claimed. */
#ifndef CLAIMS_H
#define CLAIMS_H

#include "registry.h"

typedef struct claims_report {
    unsigned made, held; /* of pe_claim */
    int failures;
    char message[600]; /* about the first failure */
} claims_report;

/* Measures each pe_claim in all cases that the stack accepts:
 *   shift-invariant   random shifts leave o and p as they are, and embed adds nothing
 *   position-blind    other positions leave every bit of o and p as it is
 *   parameter-free    no parameters are declared
 *   any-length        no last position; a sequence of 64 times the training length gives finite numbers
 *   zero-at-init      a new model computes what the same host computes without any encoding
 * For a stack of one member a claim that holds but is not made fails too. With more members only the first direction is
 * tested: members may cancel each other. Returns -1 when it could not be run. */
int claims_check(const pe_stack *stack, claims_report *out, error *e);

/* "shift-invariant" */
const char *claim_name(pe_claim claim);

#endif
