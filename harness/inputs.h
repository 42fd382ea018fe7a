/* inputs.h - before a sweep starts: can the files be read that its tasks are made of? */
#ifndef INPUTS_H
#define INPUTS_H

#include "error.h"
#include "sweep.h"

/* Opens once each task that reads a file and has a run without a record, so that a text that is missing is one error
 * before anything starts, not a failure of every run. Makes nothing, not even the sweep's folder. -1 with e set as by
 * task_open: mostly ERROR_ENVIRONMENT, with the file's name and where it comes from. */
int inputs_check(const spec *s, const sweep_options *o, error *e);

#endif
