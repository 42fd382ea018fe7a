/* queue.h - the runs of a sweep as one worker sees them: which have an outcome, which are others', which is next.
 *
 * Worker i of n begins with the keys whose hash leaves i, in the order of the spec; then it helps its neighbours,
 * worker i+1 first, from the end of their lists, where they are not yet.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "claim.h"
#include "folder.h"
#include "progress.h"
#include "spec.h"
#include "work.h"

typedef enum queue_state {
    QUEUE_FOUND, /* had an outcome when the sweep began */
    QUEUE_TODO,
    QUEUE_HELD, /* another live worker has it */
    QUEUE_OURS,
    QUEUE_OVER,     /* came to an end in this process; also when it was interrupted */
    QUEUE_ELSEWHERE /* another worker finished it meanwhile */
} queue_state;

typedef struct queue_job {
    const run_config *config;
    work work;
    queue_state state;
    folder_entry entry; /* of its record, when it was last looked at */
} queue_job;

typedef struct queue {
    int count;
    queue_job *job;               /* [count], in the order of the spec */
    char (*key)[CONFIG_KEY_SIZE]; /* [count] */
    folder folder;
    claims claims;
    int retry_failed;
    int moved_aside;  /* records that could not be read, so far */
    int *order;       /* [count] in which jobs are tried */
    int next;         /* of order: all before it were tried */
    double rechecked; /* when jobs that others held were tried last */
} queue;

/* Reads all records of a folder. With `make` the folder is made when missing; without, nothing is touched and a missing
 * folder holds no records. */
int queue_open(queue *q, const spec *s, const char *out_dir, int make, int retry_failed, error *e);

void queue_close(queue *q);

/* Worker `index` of `workers`. */
void queue_arrange(queue *q, int index, int workers);

/* The next run for this process, claimed; or -1 when there is none for now, or e is set. Records that cannot be read
 * are moved aside on the way and told to p. `last_look`: try at once what others held, and not only every two seconds.
 */
int queue_next(queue *q, int last_look, progress *p, error *e);

/* Gives a job's claim back and sets its state. */
void queue_release(queue *q, int i, queue_state state);

int queue_count(const queue *q, queue_state state);

#endif
