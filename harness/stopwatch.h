/* stopwatch.h - seconds, for progress and costs. No result depends on them. */
#ifndef STOPWATCH_H
#define STOPWATCH_H

double stopwatch_wall(void); /* since some fixed moment; never goes back */
double stopwatch_cpu(void);  /* that this process has computed */

#endif
