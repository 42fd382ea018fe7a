/* stack_text.h - what parsing a stack and changing one share. Private to stack*.c. */
#ifndef STACK_TEXT_H
#define STACK_TEXT_H

#include "error.h"
#include "scan.h"

enum { STACK_NAME_MAX = 64 };

/* name or name(options): finds the name and what stands between the brackets. `what` names the place in messages. */
int stack_split_item(scan_span item, const char *what, char name[STACK_NAME_MAX], scan_span *options, error *e);

#endif
