#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.h"

extern char **environ;

/* One run is one thread: several pools of threads on the same cores are slower than one, up to thirty times. */
static const char *const child_settings[] = {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "GOTO_NUM_THREADS=1",
                                             "MKL_NUM_THREADS=1", "BLIS_NUM_THREADS=1",     "OMP_DYNAMIC=false"};
enum { CHILD_SETTINGS = sizeof child_settings / sizeof child_settings[0] };

/* Reads of one child in one turn; 64 kB each at most. */
enum { CHILD_READS_A_TURN = 8 };

/* ------------------------------------------------------------------------------------------------ starting */

/* The descriptors that a start needs; all close-on-exec and above those that the child will have. */
typedef struct child_ends {
    int input, null;
    int told[2], words[2];
    int failed[2]; /* carries errno when exec fails; closes by itself when it succeeds */
} child_ends;

static void child_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void child_close_ends(child_ends *d)
{
    int *all[] = {&d->input,    &d->null,     &d->told[0],   &d->told[1],
                  &d->words[0], &d->words[1], &d->failed[0], &d->failed[1]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        child_close(all[i]);
}

/* Moves a descriptor above 3, so that dup2 onto 0..3 in the child can overwrite none that is still needed (a parent
 * that was started with closed standard streams gets low numbers). */
static int child_lift(int *fd)
{
    if (*fd < 0)
        return -1;
    if (*fd > CHILD_PROGRESS_FD)
        return 0;
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, CHILD_PROGRESS_FD + 1);
    int why = errno;
    close(*fd);
    errno = why;
    *fd = high;
    return high < 0 ? -1 : 0;
}

static int child_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) < 0)
        return ends[0] = ends[1] = -1;
    return child_lift(&ends[0]) < 0 || child_lift(&ends[1]) < 0 ? -1 : 0;
}

/* A file in memory, so that neither a short pipe nor a child that never reads can hold up the parent. */
static int child_input(const char *text)
{
    int fd = memfd_create("posbench-run", MFD_CLOEXEC);
    if (child_lift(&fd) < 0)
        return -1;
    size_t length = strlen(text);
    if (write(fd, text, length) == (ssize_t)length && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static int child_open_ends(child_ends *d, const char *input)
{
    *d = (child_ends){-1, -1, {-1, -1}, {-1, -1}, {-1, -1}};
    d->input = child_input(input);
    d->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return d->input < 0 || child_lift(&d->null) < 0 || child_pipe(d->told) < 0 || child_pipe(d->words) < 0 ||
                   child_pipe(d->failed) < 0
               ? -1
               : 0;
}

/* The parent's environment with child_settings in place of what it says about threads. The caller frees the array only.
 */
static char **child_environment(void)
{
    size_t count = 0, used = 0;
    while (environ[count])
        count++;
    char **out = malloc((count + CHILD_SETTINGS + 1) * sizeof *out);
    if (!out)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        int replaced = 0;
        for (size_t j = 0; j < CHILD_SETTINGS; j++) {
            size_t name = strcspn(child_settings[j], "=") + 1;
            replaced |= strncmp(environ[i], child_settings[j], name) == 0;
        }
        if (!replaced)
            out[used++] = environ[i];
    }
    for (size_t j = 0; j < CHILD_SETTINGS; j++)
        out[used++] = (char *)(size_t)child_settings[j]; /* execve's type lacks a const; it writes nothing */
    out[used] = NULL;
    return out;
}

/* Between fork and exec: only calls that are safe in a copy of a process that may have held locks (BLAS, malloc). */
static _Noreturn void child_become(const char *const argv[], char *const env[], const child_ends *d, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL); /* what is ignored stays ignored over exec: a parent's choice is not the child's */
    signal(SIGCHLD, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    int ok = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent; /* it may have died before prctl */
    ok = ok && dup2(d->input, STDIN_FILENO) >= 0 && dup2(d->null, STDOUT_FILENO) >= 0 &&
         dup2(d->words[1], STDERR_FILENO) >= 0 && dup2(d->told[1], CHILD_PROGRESS_FD) >= 0;
    if (ok) {
        sigprocmask(SIG_SETMASK, &none, NULL);
        execve(argv[0], (char *const *)(size_t)argv, env);
    }
    int why = errno;
    ssize_t told = write(d->failed[1], &why, sizeof why);
    _exit(told == sizeof why ? 127 : 126);
}

/* Waits for exec to succeed (end of file) or fail (errno arrives): microseconds. */
static int child_exec_failed(const child_ends *d, int *why)
{
    ssize_t got;
    while ((got = read(d->failed[0], why, sizeof *why)) < 0 && errno == EINTR)
        ;
    return got == sizeof *why;
}

int child_start(child *c, const char *const argv[], const char *input, error *e)
{
    *c = (child){.told = -1, .words = -1, .news = {.loss = NAN}};
    child_ends d;
    char **env = NULL;
    int why = 0;
    if (child_open_ends(&d, input) < 0 || !(env = child_environment())) {
        why = errno;
    } else {
        sigset_t all, before;
        sigfillset(&all); /* no handler of the parent's may run in the copy */
        sigprocmask(SIG_SETMASK, &all, &before);
        pid_t parent = getpid(), pid = fork();
        if (pid == 0)
            child_become(argv, env, &d, parent);
        why = pid < 0 ? errno : 0;
        sigprocmask(SIG_SETMASK, &before, NULL);
        if (pid > 0) {
            child_close(&d.failed[1]);
            if (child_exec_failed(&d, &why))
                waitpid(pid, NULL, 0);
            else
                c->pid = pid;
        }
    }
    free(env);
    if (c->pid) {
        c->told = d.told[0];
        c->words = d.words[0];
        d.told[0] = d.words[0] = -1;
        fcntl(c->told, F_SETFL, O_NONBLOCK);
        fcntl(c->words, F_SETFL, O_NONBLOCK);
    }
    child_close_ends(&d);
    return c->pid ? 0 : error_set(e, ERROR_ENVIRONMENT, "cannot start %s: %s", argv[0], strerror(why));
}

/* ------------------------------------------------------------------------------------------------ listening */

void child_watch(const child *c, struct pollfd out[2])
{
    out[0] = (struct pollfd){.fd = c->told, .events = POLLIN};
    out[1] = (struct pollfd){.fd = c->words, .events = POLLIN};
}

/* "phase done total loss". What does not read so is not news; the run's record is what counts. */
static void child_hear(child *c)
{
    child_news n;
    char loss[64];
    if (sscanf(c->line, "%15s %d %d %63s", n.phase, &n.done, &n.total, loss) != 4)
        return;
    if (number_parse(loss, &n.loss) < 0)
        n.loss = c->news.loss;
    for (char *p = n.phase; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    if (!c->first.phase[0])
        c->first = n;
    c->news = n;
}

static void child_take_told(child *c, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n') {
            c->line[c->line_used] = '\0';
            child_hear(c);
            c->line_used = 0;
        } else if (c->line_used + 1 < sizeof c->line) {
            c->line[c->line_used++] = text[i];
        }
    }
}

/* Keeps the last CHILD_WORDS_MAX bytes, and moves them only once in so many. */
static void child_take_words(child *c, const char *text, size_t size)
{
    if (size >= CHILD_WORDS_MAX) {
        memcpy(c->kept, text + size - CHILD_WORDS_MAX, CHILD_WORDS_MAX);
        c->kept_used = CHILD_WORDS_MAX;
        return;
    }
    if (c->kept_used + size > sizeof c->kept) {
        memmove(c->kept, c->kept + c->kept_used - CHILD_WORDS_MAX, CHILD_WORDS_MAX);
        c->kept_used = CHILD_WORDS_MAX;
    }
    memcpy(c->kept + c->kept_used, text, size);
    c->kept_used += size;
}

static void child_read_pipe(child *c, int *fd, void (*take)(child *, const char *, size_t))
{
    char text[65536];
    for (int i = 0; i < CHILD_READS_A_TURN && *fd >= 0; i++) {
        ssize_t got = read(*fd, text, sizeof text);
        if (got > 0)
            take(c, text, (size_t)got);
        else if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        else
            child_close(fd);
    }
}

void child_read(child *c)
{
    child_read_pipe(c, &c->told, child_take_told);
    child_read_pipe(c, &c->words, child_take_words);
}

/* ------------------------------------------------------------------------------------------------ ending */

int child_is_leaving(const child *c)
{
    return c->pid && c->told < 0 && c->words < 0;
}

int child_ended(child *c)
{
    struct rusage used = {0};
    pid_t ended = wait4(c->pid, &c->status, WNOHANG, &used);
    if (ended < 0 && errno == ECHILD) /* a host that ignores SIGCHLD has it reaped already: how it ended is not known */
        c->status = 0;
    else if (ended != c->pid)
        return 0;
    c->pid = 0;
    c->cpu_seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    c->peak_bytes = 1024 * used.ru_maxrss;
    child_read(c); /* a pipe holds less than what one turn reads */
    child_close(&c->told);
    child_close(&c->words);
    return 1;
}

void child_signal(const child *c, int signal_number)
{
    if (c->pid > 0)
        kill(c->pid, signal_number);
}

void child_print_status(int status, char *text, size_t size)
{
    const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;
    if (name)
        snprintf(text, size, "killed by SIG%s", name);
    else if (WIFSIGNALED(status))
        snprintf(text, size, "killed by signal %d", WTERMSIG(status));
    else
        snprintf(text, size, "exit status %d", WEXITSTATUS(status));
}

int child_was_interrupted(int status)
{
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGHUP;
    return WEXITSTATUS(status) == ERROR_INTERRUPTED;
}

/* Length of the UTF-8 character that begins at s, or 0 if none does: no overlong forms, surrogates, or numbers beyond
 * U+10FFFF (RFC 3629, section 4). */
static size_t child_utf8(const unsigned char *s, size_t left)
{
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
               : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;
    if (n == 0 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    int wrong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
                (s[0] == 0xf4 && s[1] > 0x8f);
    return wrong ? 0 : n;
}

void child_last_words(const child *c, char text[CHILD_WORDS_MAX + 1])
{
    size_t left = c->kept_used < CHILD_WORDS_MAX ? c->kept_used : CHILD_WORDS_MAX;
    const unsigned char *s = (const unsigned char *)c->kept + c->kept_used - left;
    char *out = text;
    while (left > 0) {
        size_t n = child_utf8(s, left);
        int plain = n > 1 || (n == 1 && (s[0] == '\n' || s[0] == '\t' || (s[0] >= ' ' && s[0] != 0x7f)));
        n = plain ? n : 1;
        memcpy(out, plain ? (const char *)s : "?", n);
        out += n;
        s += n;
        left -= n;
    }
    *out = '\0';
}
