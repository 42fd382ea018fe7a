#include "stopwatch.h"

#include <time.h>

static double stopwatch_read(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double stopwatch_wall(void)
{
    return stopwatch_read(CLOCK_MONOTONIC);
}

double stopwatch_cpu(void)
{
    return stopwatch_read(CLOCK_PROCESS_CPUTIME_ID);
}
