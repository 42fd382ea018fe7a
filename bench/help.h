/* help.h - what the help and the man page have in common. */
#ifndef HELP_H
#define HELP_H

#include "command.h"
#include "text.h"

/* "run --encoding STACK [--seed N]", without the program's name. */
void help_synopsis(const command *c, char text[TEXT_LINE_MAX]);

typedef struct help_status {
    const char *code, *meaning;
} help_status;
extern const help_status help_statuses[]; /* ends with a NULL code */

extern const char help_about[];

#endif
