/* speed_child.h - one round of a measurement in a process of its own, so that memory and start are that round's alone. */
#ifndef SPEED_CHILD_H
#define SPEED_CHILD_H

#include "args.h"
#include "command.h"
#include "speed.h"

/* What a child prints, on one line, and what its parent reads. */
void speed_child_print(const speed_round *round);

/* Starts `posbench speed --once --config NAME [--len LEN] STACK`, with the plug-ins that `a` names, waits for it and reads its
 * round; len 0: the setting's own. *start: seconds from before the process was there to its first step done. What it says on
 * standard error is seen there; ERROR_RUN when it failed. */
int speed_child_run(const command_host *host, const args *a, const speed_setting *s, int len, const char *stack,
                    speed_round *out, double *start, error *e);

#endif
