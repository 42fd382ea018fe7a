/* sweep_fixture.h - a folder, a small spec and a fake program for the tests of the sweep. */
#ifndef SWEEP_FIXTURE_H
#define SWEEP_FIXTURE_H

#include <limits.h>
#include <sys/types.h>

#include "config.h"
#include "folder.h"
#include "sweep.h"

enum { FIXTURE_RUNS_MAX = 64 };

typedef struct fixture {
    char base[PATH_MAX];    /* a new folder, removed by fixture_close */
    char out[PATH_MAX];     /* base/out: not made */
    char log[PATH_MAX];     /* what fake_run appends to */
    char program[PATH_MAX]; /* fake_run, beside the test program */
    run_config runs[FIXTURE_RUNS_MAX];
    spec spec;             /* runs[0 .. count-1]: seeds 1 .. count, encoding nope */
    sweep_options options; /* 1 job, silent, into out */
    sweep_outcome outcome;
    pid_t watcher; /* of fixture_stop_at_executions */
    error e;
} fixture;

void fixture_open(fixture *f, int count);
void fixture_close(fixture *f);

/* FAKE_RUN for the runs that follow. */
void fixture_behave(const char *plan);

/* sweep_run into f->outcome and f->e. */
int fixture_sweep(fixture *f);

/* The same in a process of its own. The parent gets its number; it exits with 0, or the kind of the error. */
pid_t fixture_fork_sweep(fixture *f);
int fixture_wait(pid_t pid); /* exit status; 128 + signal if one ended it */

/* Executions of the run with that seed so far; of all for seed 0. */
int fixture_executions(const fixture *f, int seed);
void fixture_await_executions(const fixture *f, int count); /* fails the test after 20 seconds */
void fixture_stop_at_executions(fixture *f, int count);     /* sets *options.stop at that moment */
int fixture_living(const fixture *f);                       /* logged processes that still run */

const char *fixture_key(const fixture *f, int seed, char key[CONFIG_KEY_SIZE]);
folder_entry fixture_entry(const fixture *f, int seed);
void fixture_expect(const fixture *f, int seed, folder_state state,
                    const char *message); /* part of the record's message */
void fixture_expect_no_claims(const fixture *f);
void fixture_record_path(const fixture *f, int seed, char path[PATH_MAX]);

/* Whole files. The caller frees what is read. */
char *fixture_read(const char *path, size_t *size);
void fixture_write(const char *path, const char *text, size_t size);
int fixture_exists(const char *path);

/* Everything that a stream holds, for a FILE from tmpfile; rewinds it. The caller frees it. */
char *fixture_slurp(FILE *file);

#endif
