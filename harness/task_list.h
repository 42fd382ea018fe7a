/* task_list.h - the tasks, one a line; the order is that of lists.
 *
 * Include it with TASK defined. The build takes its sources from the same lines: TASK(x) stands for task_x.c, which
 * defines task_descriptor_x; when there is no such file, another task's file defines it (a family may share one).
 */
#ifndef TASK
#define TASK(name)
#endif

TASK(unique_copy)
TASK(repeat_copy)
TASK(sort)
TASK(binary_majority)
TASK(mqar)
TASK(passkey)
TASK(induction)
TASK(variable_tracking)
TASK(scan)
TASK(lego)
TASK(pcfg)
TASK(text)
TASK(masked_text)

#undef TASK
