/* task_room.h - an opened task with buffers to draw into, for tests. */
#ifndef TASK_ROOM_H
#define TASK_ROOM_H

#include "task.h"

enum { ROOM_POISON = -77, ROOM_GUARD = 16 };

typedef struct task_room {
    task *task;
    int size; /* of each buffer: tokens(max_len) + ROOM_GUARD */
    task_sample sample;
    int shared, len; /* of what was drawn last */
} task_room;

/* Fails the test when the task does not open. For a decoder, or for either. */
task_room room_open(const char *text, int min_len, int max_len);
task_room room_open_in(task_regime regime, const char *text, int min_len, int max_len);
void room_close(task_room *r);

/* Poisons the buffers, then draws. */
void room_draw(task_room *r, task_stream stream, uint64_t seed, uint64_t index, uint32_t item, int len);

/* Draws from the task's sampler itself, without sides: item names the stream of numbers. */
void room_sample(task_room *r, uint32_t item, int len);

/* Pearson's statistic of counts against expected counts, and a limit six standard deviations above its mean. */
double chi_square(const long *count, const double *expected, int cells);
double chi_limit(int freedom);

/* Counts are as expected: the statistic stays below that limit. share: of each cell, they sum to 1. */
void chi_expect_shares(const char *what, const long *count, const double *share, int cells);
void chi_expect_uniform(const char *what, const long *count, int cells);

#endif
