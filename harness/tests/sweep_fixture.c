#include "sweep_fixture.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void fixture_spec(fixture *f, int count)
{
    f->spec = (spec){.name = "fixture", .title = "A small spec", .count = count, .runs = f->runs};
    for (int i = 0; i < count; i++) {
        config_defaults(&f->runs[i]);
        strcpy(f->runs[i].encoding, "nope");
        strcpy(f->runs[i].task, "sort");
        f->runs[i].train.min_len = 2;
        f->runs[i].seed = i + 1;
    }
}

void fixture_open(fixture *f, int count)
{
    memset(f, 0, sizeof *f);
    strcpy(f->base, "/tmp/posbench-sweep-XXXXXX");
    cr_assert_not_null(mkdtemp(f->base));
    snprintf(f->out, sizeof f->out, "%.64s/out", f->base);
    snprintf(f->log, sizeof f->log, "%.64s/log", f->base);
    ssize_t n = readlink("/proc/self/exe", f->program, sizeof f->program - 16);
    cr_assert_gt(n, 0);
    strcpy(strrchr(f->program, '/') + 1, "fake_run");
    setenv("FAKE_LOG", f->log, 1);
    fixture_spec(f, count);
    f->options = (sweep_options){.out_dir = f->out, .program = f->program, .jobs = 1};
}

static int fixture_remove(const char *path, const struct stat *s, int flag, struct FTW *at)
{
    (void)s, (void)flag, (void)at;
    return remove(path);
}

void fixture_close(fixture *f)
{
    if (f->watcher > 0)
        waitpid(f->watcher, NULL, 0);
    nftw(f->base, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
}

void fixture_behave(const char *plan)
{
    setenv("FAKE_RUN", plan, 1);
}

int fixture_sweep(fixture *f)
{
    error_clear(&f->e);
    const sweep_outcome *o = &f->outcome;
    int result = sweep_run(&f->spec, &f->options, &f->outcome, &f->e);
    cr_expect_eq(o->planned, o->found + o->done + o->failed + o->diverged + o->interrupted + o->elsewhere + o->left);
    return result;
}

pid_t fixture_fork_sweep(fixture *f)
{
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0)
        _exit(fixture_sweep(f) < 0 ? (int)f->e.kind : 0);
    return pid;
}

int fixture_wait(pid_t pid)
{
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ------------------------------------------------------------------------------------------------ the log */

static int fixture_count(const fixture *f, int seed, int living)
{
    FILE *log = fopen(f->log, "r");
    int n = 0, its_seed;
    long pid;
    while (log && fscanf(log, "%d %*s %ld", &its_seed, &pid) == 2)
        n += (seed == 0 || seed == its_seed) && (!living || claim_process_lives(pid, 0));
    if (log)
        fclose(log);
    return n;
}

int fixture_executions(const fixture *f, int seed)
{
    return fixture_count(f, seed, 0);
}

int fixture_living(const fixture *f)
{
    return fixture_count(f, 0, 1);
}

void fixture_await_executions(const fixture *f, int count)
{
    for (int i = 0; i < 4000 && fixture_executions(f, 0) < count; i++)
        nanosleep(&(struct timespec){0, 5 * 1000 * 1000}, NULL);
    cr_assert_geq(fixture_executions(f, 0), count);
}

/* SIGUSR1 stands for Ctrl-C. */
static volatile sig_atomic_t fixture_stop;

static void fixture_on_signal(int number)
{
    fixture_stop = number;
}

void fixture_stop_at_executions(fixture *f, int count)
{
    struct sigaction action = {.sa_handler = fixture_on_signal};
    sigaction(SIGUSR1, &action, NULL);
    fixture_stop = 0;
    f->options.stop = &fixture_stop;
    f->watcher = fork();
    if (f->watcher == 0) {
        fixture_await_executions(f, count);
        kill(getppid(), SIGUSR1);
        _exit(0);
    }
}

/* ------------------------------------------------------------------------------------------------ files */

const char *fixture_key(const fixture *f, int seed, char key[CONFIG_KEY_SIZE])
{
    config_key(&f->runs[seed - 1], key);
    return key;
}

void fixture_record_path(const fixture *f, int seed, char path[PATH_MAX])
{
    char key[CONFIG_KEY_SIZE];
    snprintf(path, PATH_MAX, "%.3000s/runs/%s.json", f->out, fixture_key(f, seed, key));
}

folder_entry fixture_entry(const fixture *f, int seed)
{
    char key[CONFIG_KEY_SIZE];
    folder at;
    error e = ERROR_INIT;
    folder_entry entry;
    cr_assert_eq(folder_open(&at, f->out, 0, &e), 0);
    folder_look(&at, fixture_key(f, seed, key), &entry);
    return entry;
}

void fixture_expect(const fixture *f, int seed, folder_state state, const char *message)
{
    folder_entry entry = fixture_entry(f, seed);
    cr_expect_eq(entry.state, state, "seed %d: state %d, %s", seed, entry.state, entry.message);
    cr_expect(strstr(entry.message, message), "seed %d: '%s' is not in '%s'", seed, message, entry.message);
}

void fixture_expect_no_claims(const fixture *f)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.3000s/runs/.claims", f->out);
    cr_expect(!fixture_exists(path), "claims were left behind");
}

char *fixture_slurp(FILE *file)
{
    size_t used = 0, size = 1 << 20;
    char *text = malloc(size);
    rewind(file);
    used = fread(text, 1, size - 1, file);
    text[used] = '\0';
    return text;
}

char *fixture_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    char *text = fixture_slurp(file);
    if (size)
        *size = strlen(text);
    fclose(file);
    return text;
}

void fixture_write(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(text, 1, size, file), size);
    fclose(file);
}

int fixture_exists(const char *path)
{
    return access(path, F_OK) == 0;
}
