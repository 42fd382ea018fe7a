/* A stand-in for `posbench run`, so that the sweep is tested without a network:
 *
 *   fake_run run --canonical - --out FILE --progress-fd 3
 *
 * What a run does is chosen by its seed from the environment: FAKE_RUN="3:crash,5:sleep=0.5,*:ok". FAKE_LOG names a
 * file to which each execution appends one line "seed encoding pid\n". FAKE_LOSS="0.001=0.5,0.003=diverge" gives the
 * validation loss at the end by the learning rate, or makes the run diverge; else it is 1.
 *
 *   ok           writes its record                       crash        dies of SIGSEGV, with last words
 *   sleep=T      tells progress for T seconds, then ok   silent       exits 0 without a record
 *   diverge      writes a record that says diverged      words        exits 1 without a record, last words in Latin-1
 *   garbage      writes half a record, exits 0           spam         3 MB to standard error, then as words
 *   stranger     writes another run's record             environment  exits 3 without a record, as for a missing corpus
 *   polite       sleeps; SIGTERM: record "interrupted"   stubborn     ignores SIGTERM and sleeps
 *   quit         ends by SIGTERM of its own              fill         fills the disk, then exits 3 for want of it
 *   resumed=T    as sleep=T, but tells of the last tenth of its steps only: the others were made before
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "options.h"
#include "record.h"

typedef struct fake {
    const char *out;
    int progress;
    run_config config;
} fake;

static volatile sig_atomic_t fake_terminated;

static void fake_on_term(int number)
{
    fake_terminated = number;
}

static void fake_die(const char *why)
{
    fprintf(stderr, "fake_run: %s\n", why);
    exit(ERROR_USAGE);
}

/* The command line must be exactly what sweep.h promises; --plugin may follow. */
static void fake_arguments(fake *f, int argc, char **argv)
{
    static const char *const expected[] = {"run", "--canonical", "-", "--out", NULL, "--progress-fd", "3"};
    int fixed = (int)(sizeof expected / sizeof expected[0]);
    if (argc < 1 + fixed)
        fake_die("too few arguments");
    for (int i = 0; i < fixed; i++)
        if (expected[i] && strcmp(argv[1 + i], expected[i]) != 0)
            fake_die("an argument is not what was promised");
    f->out = argv[5];
    f->progress = 3;
    if (argc > 1 + fixed && (argc != 3 + fixed || strcmp(argv[1 + fixed], "--plugin") != 0))
        fake_die("an argument too many");
}

static void fake_threads(void)
{
    static const char *const names[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (!value || strcmp(value, "1") != 0)
            fake_die("threads are not pinned to 1");
    }
}

static void fake_read(fake *f)
{
    char text[CONFIG_TEXT_MAX];
    size_t n = fread(text, 1, sizeof text - 1, stdin);
    error e = ERROR_INIT;
    text[n] = '\0';
    if (config_read(&f->config, text, &e) < 0)
        fake_die(e.message);
}

static void fake_log(const fake *f)
{
    const char *path = getenv("FAKE_LOG");
    char line[PE_TEXT_MAX + 64];
    if (!path)
        return;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
    int n = snprintf(line, sizeof line, "%d %s %ld\n", f->config.seed, f->config.encoding, (long)getpid());
    if (fd < 0 || write(fd, line, (size_t)n) != n || close(fd) < 0)
        fake_die("the log cannot be written");
}

/* "crash" of "3:crash,*:ok" for seed 3. */
static void fake_behaviour(int seed, char *word, size_t size)
{
    const char *p = getenv("FAKE_RUN");
    snprintf(word, size, "ok");
    while (p && *p) {
        size_t length = strcspn(p, ","), name = strcspn(p, ":");
        if (*p == '*' || atoi(p) == seed) {
            snprintf(word, size, "%.*s", (int)(length - name - 1), p + name + 1);
            return;
        }
        p += length + (p[length] == ',');
    }
}

/* "0.5" of "0.001=0.5,*=1" for that rate; "1" without an entry. */
static void fake_loss(double rate, char *word, size_t size)
{
    const char *p = getenv("FAKE_LOSS");
    snprintf(word, size, "1");
    while (p && *p) {
        size_t length = strcspn(p, ","), name = strcspn(p, "=");
        if (strtod(p, NULL) == rate) {
            snprintf(word, size, "%.*s", (int)(length - name - 1), p + name + 1);
            return;
        }
        p += length + (p[length] == ',');
    }
}

static json_t *fake_record(const run_config *c, run_status status)
{
    host_facts h;
    host_facts_read(&h);
    length_bin bin = {8, 8, 1};
    run_value value = {
        .bin = bin, .metric = "exact_match", .mode = "teacher_forced", .value = 0.25 * c->seed, .n = 8, .status = "ok"};
    char loss[32];
    fake_loss(c->train.lr, loss, sizeof loss);
    run_point end = {.step = 7, .loss = 1, .lr = c->train.lr, .grad_norm = 1, .validation_exact = 0.5};
    end.validation_loss = strtod(loss, NULL);
    run_result r = {.status = status,
                    .status_step = 7,
                    .selected_step = 7,
                    .curve_count = 1,
                    .curve = &end,
                    .fit_score = 1,
                    .fitted = 1,
                    .parameters = 100,
                    .values_count = 1,
                    .values = &value,
                    .train_seconds = 2,
                    .evaluate_seconds = 1};
    snprintf(r.message, sizeof r.message, "%s", status == RUN_DIVERGED ? "the loss is not finite" : "");
    return record_json(c, &r, &h);
}

static int fake_write(const fake *f, const run_config *c, run_status status)
{
    error e = ERROR_INIT;
    json_t *record = fake_record(c, status);
    int result = record_write(f->out, record, &e);
    json_decref(record);
    if (result < 0)
        fprintf(stderr, "%s\n", e.message);
    return result < 0 ? ERROR_ENVIRONMENT : status == RUN_OK ? 0 : status == RUN_INTERRUPTED ? ERROR_INTERRUPTED : 1;
}

static void fake_tell(const fake *f, const char *phase, int done, int total)
{
    dprintf(f->progress, "%s %d %d %d.5\n", phase, done, total, total - done);
}

static void fake_sleep_after(const fake *f, int before, double seconds)
{
    int steps = (int)(seconds / 0.02) + 1;
    for (int i = 0; i <= steps && !fake_terminated; i++) {
        struct timespec t = {0, 20 * 1000 * 1000};
        fake_tell(f, i < steps ? "train" : "evaluate", before * steps + i, (before + 1) * steps);
        nanosleep(&t, NULL);
    }
}

static void fake_sleep(const fake *f, double seconds)
{
    fake_sleep_after(f, 0, seconds);
}

/* The first half of a record, as a machine leaves it that lost its power, at its final place. */
static int fake_garbage(const fake *f)
{
    size_t size;
    json_t *record = fake_record(&f->config, RUN_OK);
    char *text = record_text(record, &size);
    int fd = open(f->out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int failed = fd < 0 || write(fd, text, size / 2) < 0;
    json_decref(record);
    free(text);
    return failed ? ERROR_ENVIRONMENT : 0;
}

static int fake_spam(void)
{
    for (int i = 0; i < 30000; i++)
        fprintf(stderr,
                "warning %06d: this line is written again and again, until somebody reads it, or not, as it may be.\n",
                i);
    return 1;
}

/* Writes until nothing more goes in. Whoever runs this gives it a disk of its own. */
static int fake_fill(const fake *f)
{
    static const char block[4096];
    char path[4096];
    snprintf(path, sizeof path, "%s.tmp.1", f->out);
    int fd = open(path, O_WRONLY | O_CREAT, 0666);
    while (write(fd, block, sizeof block) > 0)
        ;
    fprintf(stderr, "%s: %s\n", f->out, strerror(ENOSPC));
    return ERROR_ENVIRONMENT;
}

static int fake_behave(const fake *f, const char *word)
{
    if (strcmp(word, "crash") == 0) {
        fprintf(stderr, "about to fall\nlast words\n");
        signal(SIGSEGV, SIG_DFL); /* not the sanitizer's handler, which exits */
        raise(SIGSEGV);
    }
    if (strcmp(word, "silent") == 0)
        return 0;
    if (strcmp(word, "words") == 0)
        return fprintf(stderr, "caf\xe9 \x1b[31mred\n") > 0;
    if (strcmp(word, "spam") == 0)
        return fake_spam();
    if (strcmp(word, "environment") == 0)
        return fprintf(stderr, "corpus.txt: No such file\n") > 0 ? ERROR_ENVIRONMENT : 1;
    if (strcmp(word, "fill") == 0)
        return fake_fill(f);
    if (strcmp(word, "garbage") == 0)
        return fake_garbage(f);
    if (strcmp(word, "diverge") == 0)
        return fake_write(f, &f->config, RUN_DIVERGED);
    if (strcmp(word, "quit") == 0)
        raise(SIGTERM);
    if (strcmp(word, "polite") == 0 || strcmp(word, "stubborn") == 0) {
        fake_sleep(f, 60);
        return fake_write(f, &f->config, RUN_INTERRUPTED);
    }
    if (strcmp(word, "stranger") == 0) {
        run_config other = f->config;
        other.seed += 1000;
        return fake_write(f, &other, RUN_OK);
    }
    if (strncmp(word, "sleep=", 6) == 0)
        fake_sleep(f, strtod(word + 6, NULL));
    if (strncmp(word, "resumed=", 8) == 0)
        fake_sleep_after(f, 9, strtod(word + 8, NULL));
    char loss[32];
    fake_loss(f->config.train.lr, loss, sizeof loss);
    if (strcmp(loss, "diverge") == 0)
        return fake_write(f, &f->config, RUN_DIVERGED);
    return fake_write(f, &f->config, RUN_OK);
}

int main(int argc, char **argv)
{
    fake f;
    char word[64];
    fake_arguments(&f, argc, argv);
    fake_threads();
    fake_read(&f);
    fake_behaviour(f.config.seed, word, sizeof word);
    if (strcmp(word, "polite") == 0)
        signal(SIGTERM, fake_on_term);
    if (strcmp(word, "stubborn") == 0)
        signal(SIGTERM, SIG_IGN);
    fake_log(&f); /* from here on tests may rely on what it does */
    return fake_behave(&f, word);
}
