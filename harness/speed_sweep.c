#define _GNU_SOURCE /* nftw */
#include "speed_sweep.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "record.h"
#include "sweep.h"

/* A task whose sequences grow with the length, so that testing past the training length costs what it usually does. */
static const char speed_sweep_task[] = "sort";

/* `count` runs that differ in their seed; checked. */
static int speed_sweep_spec(const registry *r, int count, int steps, spec *out, error *e)
{
    const char *encoding = speed_baseline(r, e);
    if (!encoding)
        return -1;
    *out = (spec){ .name = "speed", .count = count, .runs = calloc((size_t)count, sizeof *out->runs) };
    if (!out->runs)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for %d runs", count);
    for (int i = 0; i < count; i++) {
        run_config *c = &out->runs[i];
        config_defaults(c);
        snprintf(c->encoding, sizeof c->encoding, "%s", encoding);
        snprintf(c->task, sizeof c->task, "%s", speed_sweep_task);
        c->seed = i + 1;
        c->train.steps = steps;
        if (config_check(c, r, e))
            return -1;
    }
    return 0;
}

static double speed_sweep_cost(const json_t *record, const char *key)
{
    return json_number_value(json_object_get(json_object_get(record, "cost"), key));
}

/* Times of the first run of a sweep, scaled to the default number of steps. */
static int speed_sweep_shares(const spec *s, const char *dir, double *seconds, double *share, error *e)
{
    folder f;
    run_config usual;
    char key[CONFIG_KEY_SIZE], path[PATH_MAX];
    config_defaults(&usual);
    config_key(&s->runs[0], key);
    if (folder_open(&f, dir, 0, e))
        return -1;
    folder_record_path(&f, key, path);
    json_t *record = record_read(path, e);
    if (!record)
        return -1;
    double train = speed_sweep_cost(record, "train_seconds") * usual.train.steps / s->runs[0].train.steps;
    double evaluate = speed_sweep_cost(record, "evaluate_seconds");
    json_decref(record);
    *seconds = train + evaluate;
    *share = evaluate / *seconds;
    return 0;
}

/* Runs a second, by the wall clock, of a sweep into a fresh folder. */
static int speed_sweep_rate(const speed_sweep *s, const spec *what, int jobs, const char *dir, double *rate, error *e)
{
    sweep_options o = { .out_dir = dir, .program = s->program, .jobs = jobs, .stop = s->stop };
    sweep_outcome done;
    if (sweep_run(what, &o, &done, e))
        return -1;
    if (done.done != what->count)
        return error_set(e, ERROR_RUN, "%d of %d runs failed", what->count - done.done, what->count);
    *rate = what->count / done.seconds;
    return 0;
}

static int speed_sweep_rounds(const speed_sweep *s, const spec *one, const spec *many, const char *dir,
                              speed_sweep_result *out, error *e)
{
    double gain[SPEED_ROUNDS_MAX], seconds[SPEED_ROUNDS_MAX], share[SPEED_ROUNDS_MAX];
    int rounds = s->rounds < SPEED_ROUNDS_MAX ? s->rounds : SPEED_ROUNDS_MAX;
    for (int i = 0; i < rounds; i++) {
        char alone[PATH_MAX], together[PATH_MAX];
        double of_one = 1, of_many = 1;
        snprintf(alone, sizeof alone, "%s/%d-alone", dir, i);
        snprintf(together, sizeof together, "%s/%d-together", dir, i);
        if (speed_sweep_rate(s, one, 1, alone, &of_one, e) ||
            speed_sweep_rate(s, many, s->jobs, together, &of_many, e) ||
            speed_sweep_shares(one, alone, &seconds[i], &share[i], e))
            return -1;
        gain[i] = of_many / of_one;
    }
    *out = (speed_sweep_result){ speed_spread_of(gain, rounds), speed_spread_of(share, rounds),
                                 speed_spread_of(seconds, rounds) };
    return 0;
}

static int speed_sweep_remove(const char *path, const struct stat *s, int kind, struct FTW *place)
{
    (void)s;
    (void)kind;
    (void)place;
    return remove(path);
}

int speed_sweep_measure(const registry *r, const speed_sweep *s, speed_sweep_result *out, error *e)
{
    enum { RUNS_A_PROCESS = 2, DESCRIPTORS = 16 };
    const char *temporary = getenv("TMPDIR");
    char dir[PATH_MAX / 2];
    snprintf(dir, sizeof dir, "%s/posbench-speed-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(dir))
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", dir, strerror(errno));
    spec one = { .count = 0 }, many = { .count = 0 };
    int failed = speed_sweep_spec(r, RUNS_A_PROCESS, s->steps, &one, e) ||
                 speed_sweep_spec(r, RUNS_A_PROCESS * s->jobs, s->steps, &many, e) ||
                 speed_sweep_rounds(s, &one, &many, dir, out, e);
    free(one.runs);
    free(many.runs);
    nftw(dir, speed_sweep_remove, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
    return failed ? -1 : 0;
}
