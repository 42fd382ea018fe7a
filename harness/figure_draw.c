/* figure_draw.c - gnuplot, run without a shell. */
#include "figure.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"
#include "report.h"
#include "svg.h"

static const struct {
    int bit;
    const char *suffix, *needs;
} draw_formats[] = {
    {PLOT_SVG, "svg", "the svg terminal"},
    {PLOT_PDF, "pdf", "the pdfcairo terminal"},
    {PLOT_PNG, "png", "the pngcairo terminal"},
};
enum {
    DRAW_FORMATS = sizeof draw_formats / sizeof draw_formats[0],
    DRAW_NO_PROGRAM = 127,
    DRAW_PATH_MAX = PATH_MAX + 256 /* a folder and a name of ours in it */
};

/* In the child: gnuplot with the C locale and its standard error in the pipe. Arguments go as they are: no shell, no
 * option parsing (the names are absolute), no start-up file of the user (-d). */
static void draw_exec(int log, char *const argv[])
{
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(126);
    setenv("LC_ALL", "C", 1);
    unsetenv("GNUTERM");
    unsetenv("GNUPLOT_LIB");
    execvp(argv[0], argv);
    _exit(errno == ENOENT ? DRAW_NO_PROGRAM : 126);
}

/* All that comes through the pipe; the first `size` bytes are kept. */
static void draw_read(int fd, char *out, size_t size)
{
    size_t used = 0;
    char piece[512];
    for (ssize_t n; (n = read(fd, piece, sizeof piece)) != 0;) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        size_t kept = (size_t)n < size - 1 - used ? (size_t)n : size - 1 - used;
        memcpy(out + used, piece, kept);
        used += kept;
    }
    out[used] = '\0';
}

/* Runs the program and waits. Returns its wait status; -1 with errno when it could not be started. */
static int draw_run(char *const argv[], char *log, size_t size)
{
    int ends[2], status;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    if (child == 0)
        draw_exec(ends[1], argv);
    close(ends[1]);
    draw_read(ends[0], log, size);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* The line of gnuplot's output that tells most: the last one that is no mere warning. */
static const char *draw_reason(char *log)
{
    const char *reason = "it said nothing";
    for (char *rest = log, *line; (line = strsep(&rest, "\n"));) {
        line += strspn(line, " \t");
        if (*line && *line != '^' && !strcasestr(line, "warning"))
            reason = line;
    }
    return reason;
}

static int draw_failed(int status, const char *script, int format, char *log, error *e)
{
    if (status == -1)
        return error_set(e, ERROR_ENVIRONMENT, "gnuplot: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == DRAW_NO_PROGRAM)
        return error_set(
            e, ERROR_ENVIRONMENT,
            "gnuplot is not installed, so no figures were drawn (their data and the pages were written); it needs "
            "gnuplot 5.4 or newer with the svg, pdfcairo and pngcairo terminals: apt-get install gnuplot-nox");
    if (strstr(log, "unknown or ambiguous terminal"))
        return error_set(e, ERROR_ENVIRONMENT,
                         "this gnuplot lacks %s, so no .%s figures were drawn; gnuplot-nox of Debian has it",
                         draw_formats[format].needs, draw_formats[format].suffix);
    return error_set(e, ERROR_ENVIRONMENT, "gnuplot failed on %s (.%s): %s", script, draw_formats[format].suffix,
                     draw_reason(log));
}

/* gnuplot leaves an empty file where a script fails, hence the temporary name. */
static int draw_finish(const char *temporary, const char *path, int format, const char *title, error *e)
{
    if (draw_formats[format].bit == PLOT_SVG) {
        buffer svg = BUFFER_INIT;
        int status = svg_read(temporary, &svg, e);
        if (status == 0)
            status = svg_finish(&svg, title, e);
        if (status == 0)
            status = buffer_save(&svg, path, e);
        buffer_free(&svg);
        unlink(temporary);
        return status;
    }
    if (rename(temporary, path) == 0)
        return 0;
    error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    unlink(temporary);
    return -1;
}

static int draw_format(const char *plots, const char *script, const char *dir, const char *name, const char *title,
                       int format, error *e)
{
    const char *suffix = draw_formats[format].suffix;
    char program[] = "gnuplot", defaults[] = "-d", call[] = "-c", kind[8], log[4096];
    char file[DRAW_PATH_MAX], data[DRAW_PATH_MAX], layout[DRAW_PATH_MAX], path[DRAW_PATH_MAX];
    char hidden[DRAW_PATH_MAX], temporary[DRAW_PATH_MAX + FILE_TEMPORARY_ROOM];
    snprintf(kind, sizeof kind, "%s", suffix);
    snprintf(file, sizeof file, "%s/%s", plots, script);
    snprintf(data, sizeof data, "%s/%s.tsv", dir, name);
    snprintf(layout, sizeof layout, "%s/%s.layout.tsv", dir, name);
    snprintf(path, sizeof path, "%s/%s.%s", dir, name, suffix);
    snprintf(hidden, sizeof hidden, "%s/.%s.%s", dir, name, suffix);
    file_temporary_name(hidden, temporary, sizeof temporary);
    char *argv[] = {program, defaults, call, file, (char *)plots, temporary, kind, data, layout, NULL};
    int status = draw_run(argv, log, sizeof log);
    if (status != 0 || access(temporary, R_OK) < 0) {
        unlink(temporary);
        return draw_failed(status, file, format, log, e);
    }
    return draw_finish(temporary, path, format, title, e);
}

int figure_draw(const char *plots_dir, const char *script, const char *dir, const char *name, const char *title,
                int formats, error *e)
{
    char plots[PATH_MAX], folder[PATH_MAX];
    if (!realpath(plots_dir, plots))
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", plots_dir, strerror(errno));
    if (!realpath(dir, folder))
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", dir, strerror(errno));
    int status = 0;
    for (int i = 0; i < DRAW_FORMATS; i++)
        if (formats & draw_formats[i].bit && draw_format(plots, script, folder, name, title, i, e) < 0)
            status = -1;
    return status;
}
