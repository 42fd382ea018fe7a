/* manual.h - posbench(1), made from the tables of the commands when the program is built. */
#ifndef MANUAL_H
#define MANUAL_H

#include <stdio.h>

#include "registry.h"

/* Writes the page in man(7) macros. */
void manual_print(FILE *to, const registry *r);

#endif
