#include "queue.h"
#include "stopwatch.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_RECHECK_SECONDS 2.0

/* ------------------------------------------------------------------------------------------------ opening */

static int queue_is_outcome(folder_state state)
{
    return state == FOLDER_OK || state == FOLDER_DIVERGED || state == FOLDER_FAILED;
}

static int queue_needs_run(const queue *q, folder_state state)
{
    return !queue_is_outcome(state) || (state != FOLDER_OK && q->retry_failed);
}

static int queue_allocate(queue *q, const spec *s, error *e)
{
    size_t n = (size_t)s->count;
    q->count = s->count;
    q->job = calloc(n + 1, sizeof *q->job);
    q->key = calloc(n + 1, sizeof *q->key);
    q->order = calloc(n + 1, sizeof *q->order);
    return q->job && q->key && q->order ? 0 : error_set(e, ERROR_ENVIRONMENT, "out of memory");
}

static int queue_open_claims(queue *q, error *e)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/.claims", q->folder.runs);
    return claims_open(&q->claims, path, e);
}

/* A worker that died between its record and the end of its claim leaves a claim that nobody will want. */
static void queue_drop_dead_claim(queue *q, int i)
{
    error ignored = ERROR_INIT; /* it is in nobody's way */
    if (claim_exists(&q->claims, q->key[i]) && claim_take(&q->claims, q->key[i], &ignored) == 1)
        claim_release(&q->claims, q->key[i]);
}

int queue_open(queue *q, const spec *s, const char *out_dir, int make, int retry_failed, error *e)
{
    *q = (queue){.retry_failed = retry_failed, .rechecked = stopwatch_wall()};
    work *w = calloc((size_t)s->count + 1, sizeof *w);
    if (!w || queue_allocate(q, s, e) < 0 || folder_open(&q->folder, out_dir, make, e) < 0 ||
        queue_open_claims(q, e) < 0) {
        if (!w)
            error_set(e, ERROR_ENVIRONMENT, "out of memory");
        free(w);
        queue_close(q);
        return -1;
    }
    work_of_all(s, w);
    for (int i = 0; i < s->count; i++) {
        queue_job *job = &q->job[i];
        job->config = &s->runs[i];
        job->work = w[i];
        config_key(job->config, q->key[i]);
        folder_look(&q->folder, q->key[i], &job->entry);
        job->state = queue_needs_run(q, job->entry.state) ? QUEUE_TODO : QUEUE_FOUND;
        if (make && job->state == QUEUE_FOUND)
            queue_drop_dead_claim(q, i);
    }
    free(w);
    queue_arrange(q, 0, 1);
    return 0;
}

void queue_close(queue *q)
{
    free(q->job);
    free(q->key);
    free(q->order);
    *q = (queue){0};
}

void queue_arrange(queue *q, int index, int workers)
{
    int used = 0;
    for (int distance = 0; distance < workers; distance++) {
        for (int j = 0; j < q->count; j++) {
            int i = distance == 0 ? j : q->count - 1 - j;
            char head[17];
            snprintf(head, sizeof head, "%.16s", q->key[i]);
            int owner = (int)(strtoull(head, NULL, 16) % (unsigned long long)workers);
            if (owner == (index + distance) % workers)
                q->order[used++] = i;
        }
    }
    assert(used == q->count);
    q->next = 0;
}

/* ------------------------------------------------------------------------------------------------ taking */

/* 1: since we looked, another worker has brought it to an outcome. */
static int queue_done_elsewhere(queue *q, int i)
{
    queue_job *job = &q->job[i];
    if (!folder_changed(&q->folder, q->key[i], &job->entry))
        return 0;
    folder_look(&q->folder, q->key[i], &job->entry);
    if (!queue_is_outcome(job->entry.state))
        return 0;
    job->state = QUEUE_ELSEWHERE;
    return 1;
}

static int queue_move_aside(queue *q, int i, progress *p, error *e)
{
    char where[PATH_MAX];
    queue_job *job = &q->job[i];
    if (folder_move_aside(&q->folder, q->key[i], where, e) < 0)
        return -1;
    progress_note(p, "%s", job->entry.message);
    progress_note(p, "  moved to %s; its run is done again", where);
    q->moved_aside++;
    folder_look(&q->folder, q->key[i], &job->entry);
    return 0;
}

/* Tries to get one run for this process. 1: its claim is ours and it is still to be done; 0: not; -1: e is set. */
static int queue_take(queue *q, int i, progress *p, error *e)
{
    queue_job *job = &q->job[i];
    if (queue_done_elsewhere(q, i))
        return 0;
    int won = claim_take(&q->claims, q->key[i], e);
    if (won == 0)
        job->state = QUEUE_HELD;
    if (won != 1)
        return won;
    if (queue_done_elsewhere(q, i)) { /* its holder finished between our look at the record and the claim */
        claim_release(&q->claims, q->key[i]);
        return 0;
    }
    if (job->entry.state == FOLDER_BAD && queue_move_aside(q, i, p, e) < 0) {
        claim_release(&q->claims, q->key[i]);
        return -1;
    }
    job->state = QUEUE_OURS;
    return 1;
}

int queue_next(queue *q, int last_look, progress *p, error *e)
{
    while (q->next < q->count) {
        int i = q->order[q->next++];
        int got = q->job[i].state == QUEUE_TODO ? queue_take(q, i, p, e) : 0;
        if (got != 0)
            return got > 0 ? i : -1;
    }
    double now = stopwatch_wall();
    if (!last_look && now - q->rechecked < QUEUE_RECHECK_SECONDS)
        return -1;
    q->rechecked = now;
    for (int j = 0; j < q->count; j++) {
        int i = q->order[j];
        int got = q->job[i].state == QUEUE_HELD ? queue_take(q, i, p, e) : 0;
        if (got != 0)
            return got > 0 ? i : -1;
    }
    return -1;
}

void queue_release(queue *q, int i, queue_state state)
{
    claim_release(&q->claims, q->key[i]);
    q->job[i].state = state;
}

int queue_count(const queue *q, queue_state state)
{
    int n = 0;
    for (int i = 0; i < q->count; i++)
        n += q->job[i].state == state;
    return n;
}
