/* level.h - the levels of instructions that hot code is compiled for, and which of them this processor has.
 *
 * Encodings and the kernels of the harness are compiled once for each level, from the same source; LEVELS is defined when
 * there is more than one. On one machine the choice is always the same, so results are reproducible there; between levels
 * they differ by rounding (fused multiply-add, order of sums).
 */
#ifndef LEVEL_H
#define LEVEL_H

enum { LEVEL_BASE, LEVEL_V3, LEVEL_V4 };

/* The highest level that is built and that this processor runs. May be called before the program's start-up code has run. */
int level_of_cpu(void);

/* "x86-64-v4", "x86-64-v3", "x86-64", "native", or for other processors "baseline". Static. */
const char *level_name(int level);

/* The symbol of this level: level_v4, level_v3 or the one without a suffix. */
#if defined(LEVELS)
#define LEVEL_DECLARE(type, symbol) extern type symbol, symbol##_v3, symbol##_v4;
#define LEVEL_PICK(level, symbol) ((level) == LEVEL_V4 ? &symbol##_v4 : (level) == LEVEL_V3 ? &symbol##_v3 : &symbol)
#else
#define LEVEL_DECLARE(type, symbol) extern type symbol;
#define LEVEL_PICK(level, symbol) ((void)(level), &symbol)
#endif

#endif
