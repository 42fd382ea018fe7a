/* examples.h - walks the default options and every example of an encoding. */
#ifndef EXAMPLES_H
#define EXAMPLES_H

#include "registry.h"

/* text: "rope(base=100)", for messages. */
typedef void example_fn(const pe_stack *stack, const char *text);

/* Fails the running test when the encoding or an example does not parse. */
void examples_walk(const char *encoding, example_fn *f);

#endif
