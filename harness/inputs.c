#include "inputs.h"

#include <stdlib.h>
#include <string.h>

#include "queue.h"
#include "regime.h"
#include "run.h"
#include "task.h"

/* 1: a task of this text reads a file. What cannot be understood is refused elsewhere. */
static int inputs_reads_file(const run_config *c)
{
    int shortest, longest, reads = 0;
    error ignored = ERROR_INIT;
    if (run_lengths(c, &shortest, &longest, &ignored) < 0)
        return 0;
    task *t = task_parse(c->task, config_regime(c), shortest, longest, &ignored);
    if (t)
        reads = task_of(t)->digest != NULL;
    task_free(t);
    return reads;
}

static int inputs_open(const run_config *c, error *e)
{
    int shortest, longest;
    if (run_lengths(c, &shortest, &longest, e) < 0)
        return -1;
    task *t = task_open(c->task, config_regime(c), shortest, longest, e);
    task_free(t);
    return t ? 0 : -1;
}

/* Runs of different tasks, the first of each: out[s->count]; returns how many. */
static int inputs_tasks(const spec *s, const run_config **out)
{
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        int known = 0;
        while (known < count && strcmp(out[known]->task, s->runs[i].task) != 0)
            known++;
        if (known == count)
            out[count++] = &s->runs[i];
    }
    return count;
}

/* Whether a run of this task is still to be done. */
static int inputs_needed(const queue *q, const char *text)
{
    for (int i = 0; i < q->count; i++)
        if (q->job[i].state == QUEUE_TODO && strcmp(q->job[i].config->task, text) == 0)
            return 1;
    return 0;
}

int inputs_check(const spec *s, const sweep_options *o, error *e)
{
    const run_config **first = calloc((size_t)s->count + 1, sizeof *first);
    int count = 0, files = 0, status = 0;
    queue q;
    if (!first)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    count = inputs_tasks(s, first);
    for (int i = 0; i < count; i++)
        if (inputs_reads_file(first[i]))
            first[files++] = first[i];
    if (files > 0) {
        status = queue_open(&q, s, o->out_dir, 0, o->retry_failed, e);
        for (int i = 0; i < files && status == 0; i++)
            if (inputs_needed(&q, first[i]->task))
                status = inputs_open(first[i], e);
        queue_close(&q);
    }
    free(first);
    return status;
}
