/* task_inside.h - what the files of the tasks' user side share. Private to task.c, task_frame.c and task_chance.c. */
#ifndef TASK_INSIDE_H
#define TASK_INSIDE_H

#include "task.h"

enum { TASK_FRAME_TOKENS = 3 }; /* BOS, SEP or slot, EOS: behind the symbols */

typedef struct task_chances task_chances;

struct task {
    const task_descriptor *descriptor;
    void *options;
    void *state; /* NULL when the task has none or was parsed only */
    task_regime regime;
    int min_len, max_len;
    task_chances *chances; /* estimates made so far, by length; NULL: none */
};

/* task_frame.c: the largest number of tokens of a pair of this length. */
int task_frame_tokens(const task *t, int len);
/* One instance (=), of a task with `pair` or with `sample`. */
void task_sample_any(const task *t, rng *kind, rng *rest, int len, task_sample *out);

/* task_chance.c */
void task_chance_forget(task_chances *c);

#endif
