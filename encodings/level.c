#include "level.h"

int level_of_cpu(void)
{
#if defined(LEVELS)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4"))
        return LEVEL_V4;
    if (__builtin_cpu_supports("x86-64-v3"))
        return LEVEL_V3;
#endif
    return LEVEL_BASE;
}

const char *level_name(int level)
{
#if defined(LEVEL_NATIVE)
    (void)level;
    return "native";
#elif defined(__x86_64__)
    return level == LEVEL_V4 ? "x86-64-v4" : level == LEVEL_V3 ? "x86-64-v3" : "x86-64";
#else
    (void)level;
    return "baseline";
#endif
}
