/* clones.h - one body, compiled for each level of the processor and chosen when the program is loaded.
 *
 * The default build runs on any x86-64 and still uses AVX2 or AVX-512 where they are. Under AddressSanitizer there is one
 * version: its run-time starts too late for the chooser.
 */
#ifndef CLONES_H
#define CLONES_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

/* What a cloned body calls must become part of it. */
#define CLONES_INLINE static inline __attribute__((always_inline))

#endif
