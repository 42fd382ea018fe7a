#include "cpu.h"

#ifdef __x86_64__
#define CPU_NEEDS(feature, name)                                                                                       \
    if (!__builtin_cpu_supports(feature))                                                                              \
    return error_set(e, ERROR_ENVIRONMENT,                                                                             \
                     "this program was built with -Dnative=true for a processor with %s, which this one lacks; "       \
                     "build it here, or without that option",                                                          \
                     name)
#endif

int cpu_check(error *e)
{
    (void)e;
#ifdef __AVX__
    CPU_NEEDS("avx", "AVX");
#endif
#ifdef __AVX2__
    CPU_NEEDS("avx2", "AVX2");
#endif
#ifdef __FMA__
    CPU_NEEDS("fma", "FMA");
#endif
#ifdef __AVX512F__
    CPU_NEEDS("avx512f", "AVX-512F");
#endif
#ifdef __AVX512BW__
    CPU_NEEDS("avx512bw", "AVX-512BW");
#endif
#ifdef __AVX512VL__
    CPU_NEEDS("avx512vl", "AVX-512VL");
#endif
#ifdef __AVX512VNNI__
    CPU_NEEDS("avx512vnni", "AVX-512VNNI");
#endif
    return 0;
}
