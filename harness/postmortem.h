/* postmortem.h - the record of a run whose process could not write its own. */
#ifndef POSTMORTEM_H
#define POSTMORTEM_H

#include "child.h"
#include "config.h"

/* Writes a record with status failed to `path`. Its message says how the child ended and why: `fault` if not NULL, else
 * its last line on standard error; "last_words" keeps the last 2 kB of that. What it used of processor and memory is in
 * "cost". The message is left in `message` too. -1 with e set: the file could not be written. */
int postmortem_write(const char *path, const run_config *c, const child *dead, const char *fault, char *message,
                     size_t size, error *e);

#endif
