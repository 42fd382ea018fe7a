/* cpu.h - a program that was compiled for one processor says so on another, instead of dying by an illegal instruction.
 */
#ifndef CPU_H
#define CPU_H

#include "error.h"

/* 0 when this processor has all that the compiler was allowed to use; else ERROR_ENVIRONMENT naming what is missing.
 * Only a build with -Dnative=true can fail here: others ask for nothing beyond the architecture's baseline. */
int cpu_check(error *e);

#endif
