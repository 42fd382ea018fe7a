/* speed_peak.h - what one core could do at most: single-precision multiply-adds that wait for nothing.
 *
 * The measure of everything in speed.h. It is taken in the same process, right before and after what it is compared with,
 * since the clock of a core changes from second to second and with what its neighbours do.
 */
#ifndef SPEED_PEAK_H
#define SPEED_PEAK_H

/* The instructions that are counted, the widest that this processor has: "AVX-512 FMA", "AVX2 FMA", "SSE multiply and add",
 * "NEON FMA", or "plain multiply and add" where the compiler chooses. Static. */
const char *speed_peak_kernel(void);

/* Floating-point operations a second of processor time (a multiply-add is two), the median of `bursts` of about a
 * millisecond each. */
double speed_peak(int bursts);

#endif
