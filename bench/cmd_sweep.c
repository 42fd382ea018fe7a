/* cmd_sweep.c - a whole grid of runs: plan it, or do what has no record yet, then gather the results. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "places.h"
#include "spec.h"
#include "summary.h"
#include "sweep.h"
#include "tune.h"

enum { SWEEP_JOBS_MAX = 4096, SWEEP_PLUGINS_MAX = 64 };

static int cmd_sweep_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > SWEEP_JOBS_MAX ? SWEEP_JOBS_MAX : (int)cores;
}

/* "3/8": this is worker 3 of 8; they count from 0. */
static int cmd_sweep_worker(const args *a, sweep_options *o, error *e)
{
    const char *text = args_value(a, "worker");
    char end;
    if (!text)
        return 0;
    if (strspn(text, "0123456789/") != strlen(text) ||
        sscanf(text, "%d/%d%c", &o->worker_index, &o->worker_count, &end) != 2)
        return error_set(e, ERROR_USAGE, "sweep: --worker: '%s' is not I/N, as in 0/8", text);
    if (o->worker_count < 1 || o->worker_index < 0 || o->worker_index >= o->worker_count)
        return error_set(e, ERROR_USAGE, "sweep: --worker: '%s': I counts from 0 to N-1", text);
    return 0;
}

static int cmd_sweep_options(const args *a, sweep_options *o, const char *plugins[SWEEP_PLUGINS_MAX + 1], error *e)
{
    int only_failed = 0, count = 0;
    if (args_integer(a, "jobs", 1, SWEEP_JOBS_MAX, &o->jobs, e) || args_choice(a, "retry", "failed", &only_failed, e) ||
        cmd_sweep_worker(a, o, e))
        return -1;
    o->retry_failed = args_flag(a, "retry");
    for (const char *path; (path = args_nth(a, "plugin", count)) && count < SWEEP_PLUGINS_MAX;)
        plugins[count++] = path;
    if (args_nth(a, "plugin", count))
        return error_set(e, ERROR_USAGE, "sweep: more than %d plug-ins", SWEEP_PLUGINS_MAX);
    plugins[count] = NULL;
    o->plugins = plugins;
    return 0;
}

/* ", 3 failed"; nothing for none. */
static void cmd_sweep_count(int count, const char *what)
{
    if (count)
        printf(", %d %s", count, what);
}

static void cmd_sweep_tell(const spec *s, const sweep_options *o, const sweep_outcome *out)
{
    printf("%s: %d of %d runs were there, %d done in %.0f s", s->name, out->found, out->planned, out->done,
           out->seconds);
    cmd_sweep_count(out->failed, "failed");
    cmd_sweep_count(out->diverged, "diverged");
    cmd_sweep_count(out->interrupted, "interrupted");
    cmd_sweep_count(out->left, "not begun");
    cmd_sweep_count(out->elsewhere, "with other workers");
    if (out->found_failed)
        printf("\n%d runs failed or diverged in an earlier sweep; --retry failed does them again", out->found_failed);
    if (out->moved_aside)
        printf("\n%d records could not be read and were moved aside", out->moved_aside);
    if (out->foreign)
        printf("\n%d records in the folder belong to no run of this spec; they are in the tables", out->foreign);
    printf("\nrecords  %s/runs\n", o->out_dir);
}

/* The tables, and what to do next. */
static int cmd_sweep_gather(const sweep_options *o, error *e)
{
    summary sum;
    if (summary_collect(o->out_dir, &sum, e))
        return -1;
    summary_free(&sum);
    printf("tables   %s/runs.csv, summary.csv, curves.csv, comparisons.csv\nnext     posbench report %s\n", o->out_dir,
           o->out_dir);
    return 0;
}

static int cmd_sweep_do(const spec *s, const sweep_options *o, error *e)
{
    sweep_outcome out = {0};
    fflush(stdout); /* before what takes its time */
    int status = sweep_run(s, o, &out, e);
    if (out.planned)
        cmd_sweep_tell(s, o, &out);
    if (status || cmd_sweep_gather(o, e))
        return -1;
    return out.failed || out.diverged || out.interrupted || out.found_failed ? ERROR_RUN : 0;
}

/* ------------------------------------------------------------------------------------------------ tuning */

static void cmd_sweep_budget(const tuning *t)
{
    const spec_tune *tune = &t->spec->tune;
    printf("tuning: %d learning rates with %d %s (%d to %d) for each of %d cells: %d trials\n", tune->rates,
           tune->seeds, tune->seeds == 1 ? "seed" : "seeds", SPEC_TUNE_SEED, SPEC_TUNE_SEED + tune->seeds - 1,
           t->cell_count, t->trials.count);
}

static void cmd_sweep_choices(const tuning *t)
{
    printf("learning rates chosen for %d of %d cells, by validation at training lengths: %s/choice.json\n", t->chosen,
           t->cell_count, t->dir);
    for (int i = 0; i < t->cell_count; i++)
        if (t->cell[i].state == TUNE_FAILED)
            printf("no learning rate for %s on %s, whose runs are left out: %s\n", t->cell[i].config->encoding,
                   t->cell[i].config->task, t->cell[i].message);
}

/* Trials first, then the runs of all cells that have a rate. */
static int cmd_sweep_tune(tuning *t, const sweep_options *o, error *e)
{
    sweep_options trials = *o;
    sweep_outcome out = {0};
    spec resolved;
    trials.out_dir = t->dir;
    cmd_sweep_budget(t);
    fflush(stdout);
    int status = tune_run(t, o, &out, e);
    if (out.planned)
        cmd_sweep_tell(&t->trials, &trials, &out);
    if (status)
        return -1;
    cmd_sweep_choices(t);
    if (tune_resolve(t, &resolved, e))
        return -1;
    status = resolved.count ? cmd_sweep_do(&resolved, o, e) : ERROR_RUN;
    spec_free(&resolved);
    return status == 0 && t->failed ? ERROR_RUN : status;
}

/* The plan of the trials, and of the runs as far as they are known: where the rate is not, the smallest stands in. */
static int cmd_sweep_plan_tuned(tuning *t, const sweep_options *o, error *e)
{
    sweep_options trials = *o;
    spec resolved;
    trials.out_dir = t->dir;
    cmd_sweep_budget(t);
    if (sweep_plan(&t->trials, &trials, stdout, e) || tune_choose(t, e))
        return -1;
    int waiting = t->waiting;
    for (int i = 0; i < t->cell_count; i++)
        if (t->cell[i].state == TUNE_WAITING)
            t->cell[i] = (tune_cell){.config = t->cell[i].config, .state = TUNE_CHOSEN};
    if (tune_resolve(t, &resolved, e))
        return -1;
    printf("\nthen the runs themselves; %d of %d cells have their learning rate", t->chosen, t->cell_count);
    printf(waiting ? ", the smallest stands in for the others\n" : "\n");
    for (int i = 0; i < t->cell_count; i++)
        if (t->cell[i].state == TUNE_FAILED)
            printf("no learning rate for %s on %s: %s\n", t->cell[i].config->encoding, t->cell[i].config->task,
                   t->cell[i].message);
    int status = sweep_plan(&resolved, o, stdout, e);
    spec_free(&resolved);
    return status;
}

/* A spec as it is or, with `tune`, its trials and then what they decide. */
static int cmd_sweep_spec(const spec *s, const sweep_options *o, int plan, error *e)
{
    tuning t;
    if (!plan || s->tune.rates)
        sweep_left_out(s, stdout);
    if (!s->tune.rates)
        return plan ? sweep_plan(s, o, stdout, e) : cmd_sweep_do(s, o, e);
    if (tune_open(s, o->out_dir, &t, e))
        return -1;
    int status = plan ? cmd_sweep_plan_tuned(&t, o, e) : cmd_sweep_tune(&t, o, e);
    tune_close(&t);
    return status;
}

static int cmd_sweep_run(const command_host *host, const args *a, error *e)
{
    const char *plugins[SWEEP_PLUGINS_MAX + 1];
    char path[PLACES_PATH_MAX], out_dir[PLACES_PATH_MAX];
    sweep_options o = {
        .program = host->program, .jobs = cmd_sweep_cores(), .worker_count = 1, .progress = stderr, .stop = host->stop};
    spec s;
    if (cmd_sweep_options(a, &o, plugins, e) || command_load_plugins(host, a, e) ||
        places_spec(host->program, a->word[0], path, e) ||
        spec_load(path, host->registry, args_value(a, "only"), &s, e))
        return -1;
    snprintf(out_dir, sizeof out_dir, "results/%s", s.name);
    o.out_dir = args_value(a, "out") ? args_value(a, "out") : out_dir;
    int status = cmd_sweep_spec(&s, &o, args_flag(a, "dry-run"), e);
    spec_free(&s);
    return status;
}

static const args_option cmd_sweep_arguments[] = {
    {.name = "out", .value = "DIR", .help = "where records and tables go (default results/NAME, from the spec's name)"},
    {.name = "jobs",
     .value = "N",
     .help = "runs at a time, one process each with one thread (default: the number of cores)"},
    {.name = "dry-run", .help = "print the plan with counts and an estimate of the time; run nothing"},
    {.name = "only", .value = "KEY=VALUE,...", .help = "only the runs of the grid with these settings"},
    {.name = "retry", .value = "failed", .help = "do runs again whose record says failed or diverged"},
    {.name = "worker",
     .value = "I/N",
     .help =
         "be worker I (from 0) of N that share DIR: begin with the runs that fall to it, then help the others. For job "
         "arrays and several machines"},
    COMMAND_PLUGIN_OPTION,
    {0},
};

static const command_example cmd_sweep_example[] = {
    {"sweep quick", "a bundled spec, into results/quick"},
    {"sweep main --dry-run", "how many runs, how long"},
    {"sweep main --only task=sort,seed=1 --jobs 2", "a part of the grid"},
    {"sweep mine.yaml --out results/mine --plugin ./mine.so", "your own spec and encoding"},
    {"sweep main --worker $SLURM_ARRAY_TASK_ID/8", "in a job array of 8 (sbatch --array=0-7)"},
    {"sweep main --retry failed", "do again what failed or diverged"},
    {0},
};

const command command_sweep = {
    .name = "sweep",
    .summary = "do every run of a spec that has no record yet",
    .words = "SPEC",
    .least_words = 1,
    .most_words = 1,
    .description =
        "SPEC is a YAML file, or the name of a bundled one (see 'posbench list specs'). A list where a single value "
        "may stand spans the grid; every combination is one run and one process. Faults of the spec are reported "
        "all at once, and then nothing starts.\n\n"
        "Where encodings stand, the word all is every encoding there is (those of plug-ins too) with its default "
        "options, and the word examples each of them with each of its examples: 'encoding: [all, \"mine(n=2)\"]'. "
        "An encoding that is named is refused in a network in which it has no meaning; one that is there by such a "
        "word is left out of it, and --dry-run lists which and why.\n\n"
        "With 'tune: {lr: [3e-4, 1e-3, 3e-3], seeds: 2}' the learning rate is chosen for each cell - encoding, task "
        "and every other setting but the seed - with the same budget for all: first every rate is tried with the "
        "seeds 101, 102 ..., which no reported run may have; the rate with the smallest mean validation loss at training lengths "
        "is then used for the reported seeds. Longer lengths have no part in the choice. Trials are kept apart, in "
        "DIR/tune, with the choice in DIR/tune/choice.json. Workers wait for each other's trials. A cell whose trials "
        "all diverged is left out and named, and the exit status is then 1.\n\n"
        "Each finished run leaves one record, DIR/runs/KEY.json, and a run that has a record is not done again: "
        "after Ctrl-C or a crash the same command goes on with what is missing, and runs that had begun go on where they stood "
        "(KEY.json.state, written about once a minute; the same build on the same kind of processor). A run that fails or "
        "diverges is a recorded outcome, and the sweep goes on; the exit status is then 1. At the end the tables are written as "
        "by 'posbench collect'.",
    .options = cmd_sweep_arguments,
    .examples = cmd_sweep_example,
    .stops_cleanly = 1,
    .run = cmd_sweep_run,
};
