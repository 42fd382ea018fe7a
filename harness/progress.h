/* progress.h - what a sweep shows while it works.
 *
 * On a terminal: a block at the bottom, one line for each running process and a total, redrawn in place at most ten
 * times a second and cut to the terminal's width. Anywhere else, and with TERM=dumb: whole plain lines, one for each
 * finished run and a total now and then, without carriage returns or escape codes. NO_COLOR takes the colour away.
 *
 * The cursor is hidden only within a redraw, which is a single write: however the program ends, it is visible.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdio.h>

#include "child.h"

typedef struct progress_totals {
    int planned;                       /* runs of the sweep */
    int over;                          /* of these, those that have an outcome */
    int failed, diverged, interrupted; /* in this process */
    int elsewhere;                     /* claimed by other workers */
    double seconds, left;              /* since the start; to the end, NAN when it cannot be told */
} progress_totals;

typedef struct progress_slot {
    int busy;
    char encoding[64], task[64];
    int seed;
    double since; /* when it began */
    child_news news;
} progress_slot;

typedef struct progress {
    FILE *to; /* NULL: silent */
    int live, colour;
    int slots;
    progress_slot *slot; /* [slots] */
    int encoding_columns, task_columns;
    int *drawn; /* [slots + 1] columns of the lines on the screen */
    int drawn_lines;
    double started, told_at; /* told_at: of the last redraw or plain total */
} progress;

int progress_open(progress *p, FILE *to, int slots, error *e);

/* Leaves the total as the last line and gives back the memory. */
void progress_close(progress *p, const progress_totals *t);

void progress_begin(progress *p, int slot, const char *encoding, const char *task, int seed);
void progress_hear(progress *p, int slot, const child_news *news);

/* A run has ended; `how` is "ok", "diverged", "failed: killed by SIGSEGV" ... `quiet` keeps it off a terminal. */
void progress_finish(progress *p, int slot, const char *how, int quiet, const progress_totals *t);

/* A line that stays. */
void progress_note(progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* To be called often; draws when it is time to. */
void progress_draw(progress *p, const progress_totals *t);

/* "42s", "3m12s", "2h05m", "3d04h". */
void progress_duration(double seconds, char *text, size_t size);

#endif
