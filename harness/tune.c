#include "tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record.h"
#include "work.h"

enum { TUNE_WAIT_SECONDS = 2 };

const char tune_rule[] = "fewest diverged trials, then the smallest mean validation loss at training lengths, then the "
                         "smallest rate";

static int tune_budget(const tuning *t)
{
    return t->spec->tune.rates * t->spec->tune.seeds;
}

static tune_trial *tune_trial_at(const tuning *t, int cell, int rate, int seed)
{
    return &t->trial[(cell * t->spec->tune.rates + rate) * t->spec->tune.seeds + seed];
}

/* ------------------------------------------------------------------------------------------------ cells and trials */

/* Runs of one cell differ in the seed alone, and the rate is no part of it. */
static uint64_t tune_cell_hash(const run_config *c)
{
    run_config cell = *c;
    cell.train.lr = 0;
    return work_shape(&cell, 0);
}

static int tune_make_cells(tuning *t)
{
    uint64_t *hash = calloc((size_t)t->spec->count + 1, sizeof *hash);
    t->cell = calloc((size_t)t->spec->count + 1, sizeof *t->cell);
    t->cell_of = calloc((size_t)t->spec->count + 1, sizeof *t->cell_of);
    for (int i = 0; hash && t->cell && t->cell_of && i < t->spec->count; i++) {
        uint64_t mine = tune_cell_hash(&t->spec->runs[i]);
        int c = 0;
        while (c < t->cell_count && hash[c] != mine)
            c++;
        if (c == t->cell_count) {
            hash[c] = mine;
            t->cell[t->cell_count++] = (tune_cell){.config = &t->spec->runs[i], .rate = -1};
        }
        t->cell_of[i] = c;
    }
    int made = hash && t->cell && t->cell_of;
    free(hash);
    return made ? 0 : -1;
}

static run_config tune_trial_config(const tuning *t, int cell, int rate, int seed)
{
    run_config c = *t->cell[cell].config, initial;
    config_defaults(&initial);
    c.seed = SPEC_TUNE_SEED + seed;
    c.train.lr = t->spec->tune.rate[rate];
    c.eval.items = c.eval.tokens = 1;
    c.eval.stride = 0;
    c.eval.decode = 0;
    c.extend = initial.extend;
    return c;
}

static int tune_trial_is_new(const tuning *t, const tune_trial *trial)
{
    for (const tune_trial *before = t->trial; before < trial; before++)
        if (strcmp(before->key, trial->key) == 0)
            return 0;
    return 1;
}

/* Seeds innermost, then rates, as in a grid. Cells that differ in the size of their evaluation alone share trials. */
static int tune_make_trials(tuning *t)
{
    size_t all = (size_t)t->cell_count * (size_t)tune_budget(t);
    t->trial = calloc(all + 1, sizeof *t->trial);
    t->trials.runs = calloc(all + 1, sizeof *t->trials.runs);
    if (!t->trial || !t->trials.runs)
        return -1;
    for (int cell = 0; cell < t->cell_count; cell++)
        for (int rate = 0; rate < t->spec->tune.rates; rate++)
            for (int seed = 0; seed < t->spec->tune.seeds; seed++) {
                run_config c = tune_trial_config(t, cell, rate, seed);
                tune_trial *trial = tune_trial_at(t, cell, rate, seed);
                config_key(&c, trial->key);
                if (tune_trial_is_new(t, trial))
                    t->trials.runs[t->trials.count++] = c;
            }
    return 0;
}

int tune_open(const spec *s, const char *out_dir, tuning *out, error *e)
{
    *out = (tuning){.spec = s};
    snprintf(out->dir, sizeof out->dir, "%.*s/tune", (int)(sizeof out->dir - 200), out_dir);
    snprintf(out->trials.name, sizeof out->trials.name, "%.120s-tune", s->name);
    snprintf(out->trials.title, sizeof out->trials.title, "Trials that choose the learning rates of %.200s", s->name);
    if (tune_make_cells(out) == 0 && tune_make_trials(out) == 0)
        return 0;
    tune_close(out);
    return error_set(e, ERROR_ENVIRONMENT, "out of memory");
}

void tune_close(tuning *t)
{
    free(t->cell);
    free(t->cell_of);
    free(t->trial);
    spec_free(&t->trials);
    *t = (tuning){0};
}

/* ------------------------------------------------------------------------------------------------ choosing */

static double tune_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Of the step whose weights were tested. */
static double tune_loss(const json_t *record)
{
    double step = tune_number(json_object_get(record, "selection"), "step"), loss = NAN;
    const json_t *point;
    size_t i;
    json_array_foreach(json_object_get(record, "training"), i, point) if (tune_number(point, "step") == step) loss =
        tune_number(point, "validation_loss");
    return loss;
}

static void tune_look(const folder *f, tune_trial *trial)
{
    char path[PATH_MAX];
    folder_entry entry;
    error unused = ERROR_INIT;
    folder_look(f, trial->key, &entry);
    trial->state = entry.state;
    trial->loss = NAN;
    if (entry.state != FOLDER_OK)
        return;
    folder_record_path(f, trial->key, path);
    json_t *record = record_read(path, &unused);
    trial->loss = record ? tune_loss(record) : NAN;
    json_decref(record);
    if (isnan(trial->loss))
        trial->state = FOLDER_DIVERGED;
}

/* Whether rate b of a cell is better than a, the best so far; of equals the smaller, which comes first. */
static int tune_is_better(const tuning *t, int cell, int a, int b)
{
    int diverged[2] = {0, 0}, rate[2] = {a, b}, seeds = t->spec->tune.seeds;
    double sum[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        for (int seed = 0; seed < seeds; seed++) {
            const tune_trial *trial = tune_trial_at(t, cell, rate[i], seed);
            diverged[i] += trial->state == FOLDER_DIVERGED;
            sum[i] += trial->state == FOLDER_OK ? trial->loss : 0;
        }
    if (diverged[0] != diverged[1])
        return diverged[1] < diverged[0];
    return sum[1] < sum[0]; /* as many trials in both */
}

static int tune_count(const tuning *t, int cell, folder_state state)
{
    int count = 0;
    for (int i = 0; i < tune_budget(t); i++)
        count += tune_trial_at(t, cell, 0, i)->state == state;
    return count;
}

/* -1: no rate, which the cell then explains. */
static int tune_choose_cell(tuning *t, int index)
{
    tune_cell *cell = &t->cell[index];
    int failed = tune_count(t, index, FOLDER_FAILED), diverged = tune_count(t, index, FOLDER_DIVERGED);
    cell->rate = -1;
    cell->message[0] = '\0';
    if (failed + diverged + tune_count(t, index, FOLDER_OK) < tune_budget(t)) {
        cell->state = TUNE_WAITING;
        return -1;
    }
    cell->state = TUNE_FAILED;
    if (failed)
        snprintf(cell->message, sizeof cell->message,
                 "%d of %d trials failed; tune/runs has their messages, and --retry failed does them again", failed,
                 tune_budget(t));
    else if (diverged == tune_budget(t))
        snprintf(cell->message, sizeof cell->message, "all %d trials diverged", diverged);
    if (cell->message[0])
        return -1;
    cell->state = TUNE_CHOSEN;
    cell->rate = 0;
    for (int rate = 1; rate < t->spec->tune.rates; rate++)
        if (tune_is_better(t, index, cell->rate, rate))
            cell->rate = rate;
    return 0;
}

int tune_choose(tuning *t, error *e)
{
    folder f;
    if (folder_open(&f, t->dir, 0, e) < 0)
        return -1;
    t->waiting = t->chosen = t->failed = 0;
    for (int i = 0; i < t->cell_count * tune_budget(t); i++)
        tune_look(&f, &t->trial[i]);
    for (int i = 0; i < t->cell_count; i++) {
        tune_choose_cell(t, i);
        t->waiting += t->cell[i].state == TUNE_WAITING;
        t->chosen += t->cell[i].state == TUNE_CHOSEN;
        t->failed += t->cell[i].state == TUNE_FAILED;
    }
    return 0;
}

static int tune_has_rate(const tuning *t, int run)
{
    return run < t->spec->count && t->cell[t->cell_of[run]].state == TUNE_CHOSEN;
}

int tune_resolve(const tuning *t, spec *out, error *e)
{
    const spec *s = t->spec;
    size_t all = (size_t)s->count + (size_t)s->rest;
    *out = (spec){.tune = s->tune, .runs = calloc(all + 1, sizeof *out->runs), .place = calloc(all + 1, sizeof(int))};
    if (!out->runs || !out->place) {
        spec_free(out);
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    }
    memcpy(out->name, s->name, sizeof out->name);
    memcpy(out->title, s->title, sizeof out->title);
    memcpy(out->baseline, s->baseline, sizeof out->baseline);
    for (int chosen = 1; chosen >= 0; chosen--) /* the rest behind the others */
        for (int i = 0; i < (int)all; i++) {
            if (tune_has_rate(t, i) != chosen)
                continue;
            int to = out->count + out->rest;
            out->runs[to] = s->runs[i];
            out->place[to] = s->place ? s->place[i] : i;
            if (chosen)
                out->runs[to].train.lr = s->tune.rate[t->cell[t->cell_of[i]].rate];
            out->count += chosen;
            out->rest += !chosen;
        }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ running */

static void tune_add(sweep_outcome *sum, const sweep_outcome *more)
{
    sum->done += more->done;
    sum->failed += more->failed;
    sum->diverged += more->diverged;
    sum->elsewhere -= more->done + more->failed + more->diverged; /* taken over from a worker that is gone */
    sum->seconds += more->seconds;
}

/* Another worker has the trials that are missing. It may die, so its runs are looked at again and again. */
static int tune_wait(tuning *t, const sweep_options *o, sweep_outcome *out, error *e)
{
    if (o->progress)
        fprintf(o->progress, "tuning: %d of %d cells wait for trials of other workers\n", t->waiting, t->cell_count);
    while (t->waiting) {
        sweep_outcome more = {0};
        sweep_options again = *o;
        again.progress = NULL;
        again.retry_failed = 0;
        nanosleep(&(struct timespec){.tv_sec = TUNE_WAIT_SECONDS}, NULL);
        if (o->stop && *o->stop)
            return error_set(e, ERROR_INTERRUPTED, "interrupted while other workers finish their trials");
        if (sweep_run(&t->trials, &again, &more, e) < 0)
            return -1;
        tune_add(out, &more);
        if (tune_choose(t, e) < 0)
            return -1;
    }
    return 0;
}

int tune_run(tuning *t, const sweep_options *o, sweep_outcome *out, error *e)
{
    sweep_options own = *o;
    own.out_dir = t->dir;
    if (sweep_run(&t->trials, &own, out, e) < 0 || tune_choose(t, e) < 0)
        return -1;
    if (t->waiting && tune_wait(t, &own, out, e) < 0)
        return -1;
    return tune_save(t, e);
}
