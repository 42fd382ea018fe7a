/* watch.h - tells how far a run is: to a person at a terminal, to a file, or to the sweep that started it. */
#ifndef WATCH_H
#define WATCH_H

#include <stdio.h>

#include "run.h"

typedef enum watch_style {
    WATCH_LIVE,  /* one line that is written over; for a terminal */
    WATCH_PLAIN, /* a line now and then, no escape codes */
    WATCH_TOLD   /* "phase done total loss\n" several times a second, for the parent process */
} watch_style;

typedef struct watch {
    FILE *to;
    watch_style style;
    double phase_began, last_told; /* seconds of a steady clock */
    char phase[32];
    int line_open; /* a live line stands on the terminal */
} watch;

/* Live when `to` is a terminal that can (TERM is set and not dumb), else plain. */
watch watch_person(FILE *to);
watch watch_parent(FILE *to);

/* run_watch.tell; self is a watch. */
void watch_tell(void *self, const char *phase, int done, int total, double loss);

/* Clears the live line, so that what follows begins at the margin. */
void watch_close(watch *w);

#endif
