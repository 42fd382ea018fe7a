/* main.c - finds the command, runs it, and is the only place that prints errors and exits.
 *
 * setlocale is never called: numbers print and parse with a point whatever the user's locale. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "cpu.h"
#include "places.h"
#include "record.h"

/* The one mutable global: a signal handler can reach nothing else. */
static volatile sig_atomic_t main_stop;

static void main_on_signal(int number)
{
    (void)number;
    main_stop = 1;
}

static void main_catch_signals(const command *c)
{
    struct sigaction action = {.sa_handler = main_on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (c->stops_cleanly) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
    }
}

/* A program that is started with a standard stream closed would get its first file there, and print into it. Read-only,
 * so that printing to a closed stream stays an error. */
static void main_open_streams(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDONLY);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

/* 1 when standard output is a pipe whose reader has had enough, as in a pipe to head: that is its business, no error.
 */
static int main_reader_left(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* Output that could not be written is an error, even where all else went well. */
static int main_close_output(int status, error *e)
{
    errno = 0;
    int failed = fflush(stdout) || ferror(stdout);
    int reason = errno; /* 0 when an earlier write failed and the last had nothing to say */
    if (failed && !reason) {
        clearerr(stdout); /* what is lost is lost; one more byte tells why */
        reason = putchar('\n') == EOF || fflush(stdout) ? errno : 0;
    }
    if (!failed || reason == EPIPE || main_reader_left())
        return status;
    return error_set(e, ERROR_ENVIRONMENT, "standard output: %s", reason ? strerror(reason) : "write error");
}

static int main_version(const command_host *host, const args *a, error *e)
{
    (void)host;
    (void)a;
    (void)e;
    host_facts facts;
    host_facts_read(&facts);
    printf("posbench %s\nreal      %s\nlevel     %s\nkernel    %s\ncompiler  %s\nflags     %s\n", facts.version,
           sizeof(real) == sizeof(double) ? "double" : "float", facts.level, facts.kernel, facts.compiler, facts.flags);
    return 0;
}

static const command command_version = {
    .name = "--version", .summary = "tell the version", .words = "", .run = main_version};

/* A command and the words that are meant for it. */
typedef struct invocation {
    const command *command;
    int count;
    char **words;
} invocation;

static int main_asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
            return 1;
    return 0;
}

static int main_find(int argc, char **argv, invocation *out, error *e)
{
    if (argc < 2)
        return error_set(e, ERROR_USAGE, "no command given; see 'posbench --help'");
    const char *name = argv[1];
    *out = (invocation){NULL, argc - 2, argv + 2};
    if (!strcmp(name, "--version") || !strcmp(name, "-V"))
        out->command = &command_version;
    else if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        out->command = command_find("help", e);
    else if (name[0] == '-')
        return error_set(e, ERROR_USAGE, "'%s' where a command should be; see 'posbench --help'", name);
    else if (main_asks_for_help(argc - 2, argv + 2)) /* posbench sweep --help = posbench help sweep */
        *out = (invocation){command_find("help", e), 1, argv + 1};
    else
        out->command = command_find(name, e);
    return out->command ? 0 : -1;
}

static int main_check_words(const command *c, const args *a, error *e)
{
    if (a->word_count < c->least_words)
        return error_set(e, ERROR_USAGE, "%s: %s is missing; see 'posbench help %s'", c->name, c->words, c->name);
    if (a->word_count > c->most_words)
        return error_set(e, ERROR_USAGE, "%s: unexpected '%s'; see 'posbench help %s'", c->name, a->word[c->most_words],
                         c->name);
    return 0;
}

static int main_run(int argc, char **argv, error *e)
{
    invocation i = {0};
    args a;
    char program[PLACES_PATH_MAX];
    if (cpu_check(e) || main_find(argc, argv, &i, e) || places_program(program, e) ||
        args_parse(i.command->options, i.command->name, i.count, i.words, &a, e))
        return -1;
    registry *r = NULL;
    int status = main_check_words(i.command, &a, e);
    if (!status)
        status = (r = registry_new(e)) ? 0 : -1;
    if (!status) {
        main_catch_signals(i.command);
        command_host host = {r, program, argv, &main_stop};
        status = i.command->run(&host, &a, e);
    }
    registry_free(r);
    args_free(&a);
    return status;
}

/* A message of several lines is a spec's list of faults, each with its place: they stand at the margin, as a compiler's
 * do. */
static int main_report(const error *e)
{
    size_t length = strlen(e->message);
    int has_lines = strchr(e->message, '\n') != NULL;
    fprintf(stderr, "%s%s%s", has_lines ? "" : "posbench: ", e->message,
            length && e->message[length - 1] == '\n' ? "" : "\n");
    return (int)e->kind;
}

int main(int argc, char **argv)
{
    main_open_streams();
    signal(SIGPIPE, SIG_IGN); /* a broken pipe is then an error of the write that met it */
    error e = ERROR_INIT;
    int status = main_run(argc, argv, &e);
    status = main_close_output(status, &e);
    return status < 0 ? main_report(&e) : status;
}
