#include "subnormals.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <stdint.h>
#endif

void subnormals_flush(void)
{
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040); /* flush-to-zero and denormals-are-zero */
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | (1ULL << 24)));
#endif
}
