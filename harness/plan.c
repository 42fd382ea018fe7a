/* What a sweep would do: told, not done. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "progress.h"
#include "queue.h"
#include "sweep.h"

enum { PLAN_RUNS_SHOWN = 3, PLAN_VALUES_MAX = 64, PLAN_VALUE_SIZE = 1024 };

/* ------------------------------------------------------------------------------------------------ the grid */

typedef struct plan_axis {
    int count; /* of different values; PLAN_VALUES_MAX + 1: more than are kept */
    int runs[PLAN_VALUES_MAX];
    char value[PLAN_VALUES_MAX][PLAN_VALUE_SIZE];
} plan_axis;

static void plan_axis_count(plan_axis *a, const spec *s, const pe_option *row)
{
    a->count = 0;
    for (int i = 0; i < s->count; i++) {
        char text[PLAN_VALUE_SIZE];
        int j = 0;
        options_print_value(row, &s->runs[i], text, sizeof text);
        while (j < a->count && strcmp(a->value[j], text) != 0)
            j++;
        if (j == PLAN_VALUES_MAX) {
            a->count = PLAN_VALUES_MAX + 1;
            return;
        }
        if (j == a->count) {
            memcpy(a->value[a->count], text, sizeof text);
            a->runs[a->count++] = 0;
        }
        a->runs[j]++;
    }
}

/* "  model.width          2: 64, 128"; with the runs of each value where these differ. */
static void plan_axis_print(const plan_axis *a, const pe_option *row, FILE *to)
{
    if (a->count > PLAN_VALUES_MAX) {
        fprintf(to, "  %-20s more than %d values\n", row->name, PLAN_VALUES_MAX);
        return;
    }
    int even = 1;
    for (int j = 1; j < a->count; j++)
        even &= a->runs[j] == a->runs[0];
    fprintf(to, "  %-20s %d: ", row->name, a->count);
    for (int j = 0; j < a->count; j++) {
        fprintf(to, "%s%s", j ? ", " : "", a->value[j]);
        if (!even)
            fprintf(to, " (%d)", a->runs[j]);
    }
    fprintf(to, "\n");
}

static int plan_axes(const spec *s, FILE *to, error *e)
{
    plan_axis *a = malloc(sizeof *a);
    if (!a)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    for (const pe_option *row = config_rows; row->name; row++) {
        plan_axis_count(a, s, row);
        if (a->count > 1)
            plan_axis_print(a, row, to);
    }
    free(a);
    return 0;
}

void sweep_left_out(const spec *s, FILE *to)
{
    if (s->left_out_count)
        fprintf(to, "left out, since it has no meaning in this network:\n");
    for (int i = 0; i < s->left_out_count; i++)
        fprintf(to, "  %s (%d %s): %s\n", s->left_out[i].encoding, s->left_out[i].runs,
                s->left_out[i].runs == 1 ? "run" : "runs", s->left_out[i].reason);
}

/* ------------------------------------------------------------------------------------------------ the time */

typedef struct plan_time {
    int measured, scaled, assumed; /* runs, by what their time was taken from */
    double speed;                  /* operations a second of the finished runs; NAN without any */
    double total, longest;         /* seconds */
    double operations;             /* of the runs that are missing */
} plan_time;

static double plan_work(const queue_job *job)
{
    return job->work.train + job->work.evaluate + job->work.extend;
}

static int plan_is_measured(const queue_job *job)
{
    return job->entry.state == FOLDER_OK && job->entry.seconds > 0;
}

/* Mean time of the finished runs that differ from run i in their seed alone; NAN without any. */
static double plan_like(const queue *q, const uint64_t *shape, int i)
{
    double sum = 0;
    int n = 0;
    for (int j = 0; j < q->count; j++) {
        if (shape[j] != shape[i] || !plan_is_measured(&q->job[j]))
            continue;
        sum += q->job[j].entry.seconds;
        n++;
    }
    return n ? sum / n : NAN;
}

static int plan_estimate(const queue *q, plan_time *out, error *e)
{
    double operations = 0, seconds = 0;
    uint64_t *shape = malloc(((size_t)q->count + 1) * sizeof *shape);
    if (!shape)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    for (int i = 0; i < q->count; i++) {
        shape[i] = work_shape(q->job[i].config, 0);
        operations += plan_is_measured(&q->job[i]) ? plan_work(&q->job[i]) : 0;
        seconds += plan_is_measured(&q->job[i]) ? q->job[i].entry.seconds : 0;
    }
    *out = (plan_time){.speed = seconds > 0 ? operations / seconds : NAN};
    for (int i = 0; i < q->count; i++) {
        if (q->job[i].state != QUEUE_TODO)
            continue;
        double like = plan_like(q, shape, i);
        int scaled = isnan(like) && out->speed > 0;
        double run = !isnan(like) ? like : plan_work(&q->job[i]) / (scaled ? out->speed : WORK_ASSUMED_SPEED);
        out->measured += !isnan(like);
        out->scaled += scaled;
        out->assumed += isnan(like) && !scaled;
        out->total += run;
        out->longest = fmax(out->longest, run);
        out->operations += plan_work(&q->job[i]);
    }
    free(shape);
    return 0;
}

/* In units of 1e9, with one decimal, in the C locale. */
static void plan_giga(double value, char *text, size_t size)
{
    number_print(round(value / 1e8) / 10, text, size);
}

static void plan_time_print(const plan_time *t, const sweep_options *o, FILE *to)
{
    char time[32], operations[64], speed[64];
    int jobs = o->jobs > 1 ? o->jobs : 1;
    progress_duration(fmax(t->total / jobs, t->longest), time, sizeof time);
    plan_giga(t->operations, operations, sizeof operations);
    fprintf(to, "time: about %s with %d %s at a time", time, jobs, jobs == 1 ? "process" : "processes");
    const char *before = ": ";
    if (t->measured) {
        fprintf(to, "%s%d by finished runs that differ in the seed alone", before, t->measured);
        before = ", ";
    }
    if (t->scaled) {
        plan_giga(t->speed, speed, sizeof speed);
        fprintf(to, "%s%d by arithmetic at the speed of the finished runs, %s GFLOP/s", before, t->scaled, speed);
        before = ", ";
    }
    if (t->assumed) {
        plan_giga(WORK_ASSUMED_SPEED, speed, sizeof speed);
        fprintf(to, "%s%d by arithmetic at an assumed %s GFLOP/s a core", before, t->assumed, speed);
    }
    fprintf(to, "; %s GFLOP in all\n", operations);
}

/* ------------------------------------------------------------------------------------------------ the runs */

static void plan_run_print(const queue *q, int i, FILE *to)
{
    char text[CONFIG_TEXT_MAX];
    config_print(q->job[i].config, text, sizeof text);
    for (char *p = text; *p; p++)
        *p = *p != '\n' ? *p : p[1] ? ' ' : '\0';
    fprintf(to, "  %.12s  %s\n", q->key[i], text);
}

static void plan_records_print(const queue *q, FILE *to)
{
    int state[FOLDER_BAD + 1] = {0}, elsewhere = 0;
    for (int i = 0; i < q->count; i++) {
        state[q->job[i].entry.state]++;
        elsewhere += q->job[i].state == QUEUE_TODO && claim_is_live(&q->claims, q->key[i]);
    }
    int foreign = folder_foreign(&q->folder, (const char(*)[CONFIG_KEY_SIZE])q->key, q->count);
    fprintf(to, "records in %s: %d ok, %d failed, %d diverged; missing: %d\n", q->folder.runs, state[FOLDER_OK],
            state[FOLDER_FAILED], state[FOLDER_DIVERGED],
            state[FOLDER_MISSING] + state[FOLDER_INTERRUPTED] + state[FOLDER_BAD]);
    if (state[FOLDER_BAD])
        fprintf(to, "%d records cannot be read; they would be moved aside and their runs done again\n",
                state[FOLDER_BAD]);
    if (foreign)
        fprintf(to, "%d records belong to no run of this spec; they are kept\n", foreign);
    if (elsewhere)
        fprintf(to, "%d runs are being done by other workers now\n", elsewhere);
}

static void plan_first_runs_print(const queue *q, int todo, FILE *to)
{
    if (todo == 0)
        fprintf(to, "nothing is left to be done\n");
    else
        fprintf(to, "to be started: %d%s\n", todo, todo > PLAN_RUNS_SHOWN ? "; the first:" : "");
    for (int j = 0, shown = 0; j < q->count && shown < PLAN_RUNS_SHOWN; j++) {
        if (q->job[q->order[j]].state != QUEUE_TODO)
            continue;
        plan_run_print(q, q->order[j], to);
        shown++;
    }
}

int sweep_plan(const spec *s, const sweep_options *o, FILE *to, error *e)
{
    queue q;
    plan_time t = {0};
    if (queue_open(&q, s, o->out_dir, 0, o->retry_failed, e) < 0)
        return -1;
    int todo = queue_count(&q, QUEUE_TODO), result = -1;
    fprintf(to, "%s%s%s: %d runs\n", s->name, *s->title ? ": " : "", s->title, s->count);
    if (plan_axes(s, to, e) == 0 && plan_estimate(&q, &t, e) == 0) {
        sweep_left_out(s, to);
        plan_records_print(&q, to);
        if (todo)
            plan_time_print(&t, o, to);
        queue_arrange(&q, o->worker_count ? o->worker_index : 0, o->worker_count ? o->worker_count : 1);
        plan_first_runs_print(&q, todo, to);
        result = 0;
    }
    queue_close(&q);
    return result;
}
