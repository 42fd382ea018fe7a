#include "sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "child.h"
#include "inputs.h"
#include "postmortem.h"
#include "progress.h"
#include "queue.h"
#include "stopwatch.h"

enum { SWEEP_POLL_MS = 100, SWEEP_LEAVING_MS = 2 };

#define SWEEP_GRACE_SECONDS 5.0

typedef struct sweep_slot {
    child child;
    int job;                 /* -1: free */
    int taken_over;          /* another worker has its claim: the child was killed */
    double began, refreshed; /* refreshed: its claim */
} sweep_slot;

typedef struct sweep {
    const sweep_options *options;
    sweep_outcome *out;
    error *e; /* once it is set, no more runs are started */
    queue queue;
    progress progress;
    sweep_slot *slot;     /* [options->jobs] */
    struct pollfd *watch; /* [2 * options->jobs] */
    int busy;             /* slots */
    double began;
    double work_done, slot_seconds; /* of runs that have ended here */
} sweep;

static int sweep_stopped(const sweep *s)
{
    return s->options->stop && *s->options->stop;
}

/* ------------------------------------------------------------------------------------------------ the time left */

static double sweep_work(const queue_job *job)
{
    return job->work.train + job->work.evaluate + job->work.extend;
}

/* The part of a run's work that was done when its child told this. */
static double sweep_work_told(const queue_job *job, const child_news *n)
{
    double part = n->total > 0 ? fmin(1, fmax(0, (double)n->done / n->total)) : 0;
    if (!n->phase[0])
        return 0;
    if (strcmp(n->phase, "train") == 0)
        return part * job->work.train;
    if (strcmp(n->phase, "evaluate") == 0)
        return job->work.train + part * job->work.evaluate;
    return job->work.train + job->work.evaluate + part * job->work.extend;
}

/* The work that is left, at the speed that was seen so far; NAN before there is any to speak of. */
static double sweep_time_left(const sweep *s, double now)
{
    double done = s->work_done, seconds = s->slot_seconds, left = 0;
    int workers = s->options->worker_count > 1 ? s->options->worker_count : 1;
    for (int i = 0; i < s->options->jobs; i++) {
        const sweep_slot *slot = &s->slot[i];
        if (slot->job < 0)
            continue;
        const queue_job *job = &s->queue.job[slot->job];
        double told = sweep_work_told(job, &slot->child.news);
        done += told - sweep_work_told(job, &slot->child.first);
        left += sweep_work(job) - told;
        seconds += now - slot->began;
    }
    for (int i = 0; i < s->queue.count; i++)
        left += s->queue.job[i].state == QUEUE_TODO ? sweep_work(&s->queue.job[i]) : 0;
    double at_a_time = fmin(s->busy + queue_count(&s->queue, QUEUE_TODO), (double)s->options->jobs * workers);
    if (seconds < 0.5 || done <= 0 || at_a_time < 1)
        return NAN;
    return left * (seconds / done) / at_a_time;
}

static progress_totals sweep_totals(const sweep *s)
{
    const sweep_outcome *o = s->out;
    double now = stopwatch_wall();
    int elsewhere = queue_count(&s->queue, QUEUE_ELSEWHERE);
    return (progress_totals){.planned = o->planned,
                             .over = o->found + o->done + o->failed + o->diverged + elsewhere,
                             .failed = o->failed,
                             .diverged = o->diverged,
                             .elsewhere = elsewhere + queue_count(&s->queue, QUEUE_HELD),
                             .seconds = now - s->began,
                             .left = sweep_time_left(s, now)};
}

/* ------------------------------------------------------------------------------------------------ starting a run */

static int sweep_start(sweep *s, sweep_slot *slot, int i)
{
    const run_config *c = s->queue.job[i].config;
    char path[PATH_MAX], text[CONFIG_TEXT_MAX];
    folder_record_path(&s->queue.folder, s->queue.key[i], path);
    config_print(c, text, sizeof text);

    const char *const fixed[] = {s->options->program, "run", "--canonical", "-", "--out", path, "--progress-fd", "3"};
    size_t used = sizeof fixed / sizeof fixed[0], plugins = 0;
    while (s->options->plugins && s->options->plugins[plugins])
        plugins++;
    const char **argv = calloc(used + 2 * plugins + 1, sizeof *argv);
    if (!argv)
        return error_set(s->e, ERROR_ENVIRONMENT, "out of memory");
    memcpy(argv, fixed, sizeof fixed);
    for (size_t j = 0; j < plugins; j++) {
        argv[used++] = "--plugin";
        argv[used++] = s->options->plugins[j];
    }
    int result = child_start(&slot->child, argv, text, s->e);
    free(argv);
    if (result < 0)
        return -1;
    slot->job = i;
    slot->taken_over = 0;
    slot->began = slot->refreshed = stopwatch_wall();
    s->busy++;
    progress_begin(&s->progress, (int)(slot - s->slot), c->encoding, c->task, c->seed);
    return 0;
}

/* Gives every free slot a run. */
static void sweep_fill(sweep *s)
{
    for (int k = 0; k < s->options->jobs && s->e->kind == ERROR_NONE && !sweep_stopped(s); k++) {
        if (s->slot[k].job >= 0)
            continue;
        int i = queue_next(&s->queue, s->busy == 0, &s->progress, s->e);
        if (i < 0)
            return;
        if (sweep_start(s, &s->slot[k], i) < 0)
            queue_release(&s->queue, i, QUEUE_TODO);
    }
}

/* ------------------------------------------------------------------------------------------------ ending a run */

/* The child left no record that can be read. Is it the run that failed, or was it stopped, or is the disk full? */
static queue_state sweep_finish_without(sweep *s, sweep_slot *slot, const char *fault, char *how, size_t size)
{
    queue *q = &s->queue;
    const char *key = q->key[slot->job];
    char path[PATH_MAX], message[256];
    int status = slot->child.status;
    if (sweep_stopped(s) || child_was_interrupted(status)) {
        snprintf(how, size, "interrupted");
        s->out->interrupted++;
        return QUEUE_OVER;
    }
    int environment = WIFEXITED(status) && WEXITSTATUS(status) == ERROR_ENVIRONMENT;
    folder_record_path(&q->folder, key, path);
    if ((environment && folder_has_room(&q->folder, key, s->e) < 0) ||
        postmortem_write(path, q->job[slot->job].config, &slot->child, fault, message, sizeof message, s->e) < 0)
        return QUEUE_TODO; /* the error stops the sweep, and this run has no outcome */
    snprintf(how, size, "failed: %s", message);
    s->out->failed++;
    return QUEUE_OVER;
}

/* What has become of a run whose child has ended: counts it, says it in `how`. */
static queue_state sweep_finish_state(sweep *s, sweep_slot *slot, char *how, size_t size)
{
    queue *q = &s->queue;
    queue_job *job = &q->job[slot->job];
    char where[PATH_MAX];
    if (slot->taken_over) {
        snprintf(how, size, "given up: another worker took it over");
        return QUEUE_HELD;
    }
    if (!folder_changed(&q->folder, q->key[slot->job], &job->entry))
        return sweep_finish_without(s, slot, NULL, how, size);
    folder_look(&q->folder, q->key[slot->job], &job->entry);
    snprintf(how, size, "%s", "ok");
    switch (job->entry.state) {
    case FOLDER_OK:
        s->out->done++;
        return QUEUE_OVER;
    case FOLDER_DIVERGED:
        snprintf(how, size, "diverged: %s", job->entry.message);
        s->out->diverged++;
        return QUEUE_OVER;
    case FOLDER_FAILED:
        snprintf(how, size, "failed: %s", job->entry.message);
        s->out->failed++;
        return QUEUE_OVER;
    case FOLDER_INTERRUPTED:
        folder_remove_record(&q->folder, q->key[slot->job]);
        snprintf(how, size, "interrupted");
        s->out->interrupted++;
        return QUEUE_OVER;
    case FOLDER_BAD:
        if (folder_move_aside(&q->folder, q->key[slot->job], where, s->e) < 0)
            return QUEUE_TODO;
        s->out->moved_aside++;
        return sweep_finish_without(s, slot, job->entry.message, how, size);
    case FOLDER_MISSING: /* an old record of a failure, gone by somebody else's hand */
        break;
    }
    return sweep_finish_without(s, slot, NULL, how, size);
}

static void sweep_finish(sweep *s, sweep_slot *slot)
{
    char how[640];
    queue_job *job = &s->queue.job[slot->job];
    queue_state state = sweep_finish_state(s, slot, how, sizeof how);
    if (state == QUEUE_TODO)
        snprintf(how, sizeof how, "no outcome: %.600s", s->e->message);
    if (state == QUEUE_OVER && job->entry.state == FOLDER_OK) {
        s->work_done += sweep_work(job) - sweep_work_told(job, &slot->child.first);
        s->slot_seconds += stopwatch_wall() - slot->began;
    }
    queue_release(&s->queue, slot->job, state);
    slot->job = -1;
    s->busy--;
    progress_totals t = sweep_totals(s);
    progress_finish(&s->progress, (int)(slot - s->slot), how, strcmp(how, "ok") == 0, &t);
}

/* ------------------------------------------------------------------------------------------------ the loop */

/* Keeps the claim alive; a claim that was taken over while this machine slept is not ours to work on any more. */
static void sweep_refresh(sweep *s, sweep_slot *slot, double now)
{
    error fault = ERROR_INIT;
    if (now - slot->refreshed < CLAIM_REFRESH_SECONDS)
        return;
    slot->refreshed = now;
    int ours = claim_refresh(&s->queue.claims, s->queue.key[slot->job], &fault);
    if (ours < 0) /* it goes on: others may take the run over, but what they get is the same */
        progress_note(&s->progress, "%s", fault.message);
    if (ours == 0) {
        slot->taken_over = 1;
        child_signal(&slot->child, SIGKILL);
    }
}

/* Listens to all children for a moment, and ends the runs of those that have ended. */
static void sweep_turn(sweep *s)
{
    int wait = SWEEP_POLL_MS;
    for (int k = 0; k < s->options->jobs; k++) {
        struct pollfd *w = &s->watch[2 * k];
        w[0].fd = w[1].fd = -1;
        if (s->slot[k].job >= 0)
            child_watch(&s->slot[k].child, w);
        if (s->slot[k].job >= 0 && child_is_leaving(&s->slot[k].child))
            wait = SWEEP_LEAVING_MS;
    }
    poll(s->watch, (nfds_t)(2 * s->options->jobs), wait);
    double now = stopwatch_wall();
    for (int k = 0; k < s->options->jobs; k++) {
        sweep_slot *slot = &s->slot[k];
        if (slot->job < 0)
            continue;
        child_read(&slot->child);
        progress_hear(&s->progress, k, &slot->child.news);
        if (child_ended(&slot->child))
            sweep_finish(s, slot);
        else
            sweep_refresh(s, slot, now);
    }
    progress_totals t = sweep_totals(s);
    progress_draw(&s->progress, &t);
}

static void sweep_signal_all(sweep *s, int signal_number)
{
    for (int k = 0; k < s->options->jobs; k++)
        if (s->slot[k].job >= 0)
            child_signal(&s->slot[k].child, signal_number);
}

/* Children are asked to end, and after the grace made to. */
static void sweep_wind_down(sweep *s)
{
    double grace = s->options->grace > 0 ? s->options->grace : SWEEP_GRACE_SECONDS, asked = stopwatch_wall();
    int killed = 0;
    sweep_signal_all(s, SIGTERM);
    while (s->busy > 0) {
        sweep_turn(s);
        if (!killed && stopwatch_wall() - asked >= grace) {
            sweep_signal_all(s, SIGKILL);
            killed = 1;
        }
    }
}

static void sweep_loop(sweep *s)
{
    int draining = 0;
    for (;;) {
        sweep_fill(s);
        if (s->busy == 0 || sweep_stopped(s))
            break;
        if (s->e->kind != ERROR_NONE && !draining) {
            progress_note(&s->progress, "%s; no more runs are started, %d under way", s->e->message, s->busy);
            draining = 1;
        }
        sweep_turn(s);
    }
    sweep_wind_down(s);
}

/* ------------------------------------------------------------------------------------------------ the whole */

static int sweep_check(const sweep_options *o, error *e)
{
    if (o->jobs < 1)
        return error_set(e, ERROR_USAGE, "%d processes at a time; at least 1 is needed", o->jobs);
    if (o->worker_count < 0 || o->worker_index < 0 || (o->worker_count > 0 && o->worker_index >= o->worker_count))
        return error_set(e, ERROR_USAGE, "there is no worker %d of %d; they count from 0", o->worker_index,
                         o->worker_count);
    return 0;
}

static int sweep_allocate(sweep *s)
{
    size_t jobs = (size_t)s->options->jobs;
    s->slot = calloc(jobs, sizeof *s->slot);
    s->watch = calloc(2 * jobs, sizeof *s->watch);
    for (size_t k = 0; s->slot && k < jobs; k++)
        s->slot[k].job = -1;
    return s->slot && s->watch ? 0 : error_set(s->e, ERROR_ENVIRONMENT, "out of memory");
}

/* Counts what is there; says what a person should know before it starts. The rest is in the outcome. */
static void sweep_survey(sweep *s)
{
    const queue *q = &s->queue;
    sweep_outcome *o = s->out;
    o->planned = q->count;
    o->found = queue_count(q, QUEUE_FOUND);
    for (int i = 0; i < q->count; i++)
        o->found_failed += q->job[i].state == QUEUE_FOUND && q->job[i].entry.state != FOLDER_OK;
    o->left_over = folder_clean(&q->folder, &q->claims);
    o->foreign = folder_foreign(&q->folder, (const char(*)[CONFIG_KEY_SIZE])q->key, q->count);
    if (o->left_over)
        progress_note(&s->progress, "%d temporary files of dead writers removed", o->left_over);
    if (o->found_failed)
        progress_note(&s->progress, "%d of %d runs have a record already; %d of these failed or diverged", o->found,
                      o->planned, o->found_failed);
    else if (o->found)
        progress_note(&s->progress, "%d of %d runs have a record already", o->found, o->planned);
}

static void sweep_sum_up(sweep *s)
{
    const queue *q = &s->queue;
    sweep_outcome *o = s->out;
    o->elsewhere = queue_count(q, QUEUE_ELSEWHERE) + queue_count(q, QUEUE_HELD);
    o->left = queue_count(q, QUEUE_TODO);
    o->moved_aside += q->moved_aside;
    o->seconds = stopwatch_wall() - s->began;
    if (sweep_stopped(s) && o->interrupted + o->left > 0) {
        int have = o->found + o->done + o->failed + o->diverged;
        error_set(s->e, ERROR_INTERRUPTED,
                  "interrupted: %d of %d runs have a record; the same command goes on from there", have, o->planned);
    }
}

int sweep_run(const spec *spec_, const sweep_options *o, sweep_outcome *out, error *e)
{
    sweep s = {.options = o, .out = out, .e = e, .began = stopwatch_wall()};
    *out = (sweep_outcome){0};
    if (sweep_check(o, e) < 0 || inputs_check(spec_, o, e) < 0 ||
        queue_open(&s.queue, spec_, o->out_dir, 1, o->retry_failed, e) < 0)
        return -1;
    queue_arrange(&s.queue, o->worker_count ? o->worker_index : 0, o->worker_count ? o->worker_count : 1);
    if (sweep_allocate(&s) == 0 && progress_open(&s.progress, o->progress, o->jobs, e) == 0) {
        sweep_survey(&s);
        if (folder_store_spec(&s.queue.folder, &s.queue.claims, spec_, (const char(*)[CONFIG_KEY_SIZE])s.queue.key,
                              e) >= 0)
            sweep_loop(&s);
        sweep_sum_up(&s);
        progress_totals t = sweep_totals(&s);
        progress_close(&s.progress, &t);
        claims_close(&s.queue.claims);
    }
    free(s.slot);
    free(s.watch);
    queue_close(&s.queue);
    return e->kind == ERROR_NONE ? 0 : -1;
}
