#include "speed_child.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stopwatch.h"

extern char **environ;

void speed_child_print(const speed_round *round)
{
    printf("first_step_at %.9f step_seconds %.9f tokens %.9g peak %.9g mfu %.9g resident_bytes %ld arena_bytes %ld\n",
           round->first_step_at, round->step_seconds, round->tokens, round->peak, round->mfu, round->resident_bytes,
           round->arena_bytes);
}

static int speed_child_read(int fd, speed_round *out)
{
    FILE *from = fdopen(fd, "r");
    if (!from) {
        close(fd);
        return -1;
    }
    int fields = fscanf(from,
                        "first_step_at %lf step_seconds %lf tokens %lf peak %lf mfu %lf resident_bytes %ld "
                        "arena_bytes %ld",
                        &out->first_step_at, &out->step_seconds, &out->tokens, &out->peak, &out->mfu,
                        &out->resident_bytes, &out->arena_bytes);
    fclose(from);
    return fields == 7 ? 0 : -1;
}

/* The process with its standard output in a pipe, whose other end is *out. */
static int speed_child_start(const char *program, const char *const argv[], pid_t *pid, int *out, error *e)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe(ends))
        return error_set(e, ERROR_ENVIRONMENT, "speed: pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int reason = posix_spawn(pid, program, &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *out = ends[0];
    if (!reason)
        return 0;
    close(ends[0]);
    return error_set(e, ERROR_ENVIRONMENT, "speed: %s: %s", program, strerror(reason));
}

enum { SPEED_CHILD_PLUGINS_MAX = 64, SPEED_CHILD_ARGUMENTS = 16 };

int speed_child_run(const command_host *host, const args *a, const speed_setting *s, int len, const char *stack,
                    speed_round *out, double *start, error *e)
{
    const char *argv[SPEED_CHILD_ARGUMENTS + 2 * SPEED_CHILD_PLUGINS_MAX], *plugin;
    char length[16];
    int count = 0, fd = -1, status = -1;
    const char *const head[] = { host->program, "speed", "--once", "--config", s->name };
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        argv[count++] = head[i];
    if (len) {
        snprintf(length, sizeof length, "%d", len);
        argv[count++] = "--len";
        argv[count++] = length;
    }
    for (int i = 0; i < SPEED_CHILD_PLUGINS_MAX && (plugin = args_nth(a, "plugin", i)); i++) {
        argv[count++] = "--plugin";
        argv[count++] = plugin;
    }
    argv[count++] = "--";
    argv[count++] = stack;
    argv[count] = NULL;
    pid_t pid;
    double begin = stopwatch_wall();
    if (speed_child_start(host->program, argv, &pid, &fd, e))
        return -1;
    int failed = speed_child_read(fd, out);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (host->stop && *host->stop)
        return error_set(e, ERROR_INTERRUPTED, "interrupted");
    if (failed || !WIFEXITED(status) || WEXITSTATUS(status))
        return error_set(e, ERROR_RUN, "speed: the process that measured %s in %s failed", stack, s->name);
    *start = out->first_step_at - begin;
    return 0;
}
