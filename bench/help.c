#include "help.h"

#include <stdio.h>

void help_synopsis(const command *c, char text[TEXT_LINE_MAX])
{
    size_t used = (size_t)snprintf(text, TEXT_LINE_MAX, "%s%s%s", c->name, *c->words ? " " : "", c->words);
    for (const args_option *o = c->options; o && o->name; o++)
        if (!o->hidden)
            used += (size_t)snprintf(text + used, TEXT_LINE_MAX - used, " %s--%s%s%s%s%s", o->needed ? "" : "[",
                                     o->name, o->value ? " " : "", o->value ? o->value : "", o->repeats ? " ..." : "",
                                     o->needed ? "" : "]");
}

const help_status help_statuses[] = {
    {"0", "all went well"},
    {"1", "it finished, but a check did not hold or a run failed or diverged"},
    {"2", "the command line or a spec is wrong; nothing was started"},
    {"3", "the environment failed: a file, the disk, memory, a missing program"},
    {"130", "interrupted; what had finished is kept, and the same command goes on from there"},
    {NULL, NULL},
};

const char help_about[] =
    "posbench trains the same small transformer from scratch with every position encoding, on the same tasks with the "
    "same "
    "data and the same initial weights, and measures how far each holds past the training length.";
