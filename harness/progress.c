#include "progress.h"
#include "stopwatch.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PROGRESS_LINE = 512, PROGRESS_ENCODING_MAX = 28, PROGRESS_TASK_MAX = 24, PROGRESS_BAR = 16 };

#define PROGRESS_REDRAW_SECONDS 0.1
#define PROGRESS_PLAIN_SECONDS 30.0

int progress_open(progress *p, FILE *to, int slots, error *e)
{
    const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");
    *p = (progress){.to = to, .slots = slots, .started = stopwatch_wall()};
    p->told_at = p->started;
    p->live = to && isatty(fileno(to)) && term && *term && strcmp(term, "dumb") != 0;
    p->colour = p->live && !(plain && *plain);
    p->slot = calloc((size_t)slots, sizeof *p->slot);
    p->drawn = calloc((size_t)slots + 1, sizeof *p->drawn);
    if (p->slot && p->drawn)
        return 0;
    free(p->slot);
    free(p->drawn);
    return error_set(e, ERROR_ENVIRONMENT, "out of memory");
}

/* ------------------------------------------------------------------------------------------------ words */

void progress_duration(double seconds, char *text, size_t size)
{
    long s = seconds < 9e15 ? (long)(seconds + 0.5) : 0;
    if (s < 60)
        snprintf(text, size, "%lds", s);
    else if (s < 3600)
        snprintf(text, size, "%ldm%02lds", s / 60, s % 60);
    else if (s < 86400)
        snprintf(text, size, "%ldh%02ldm", s / 3600, s / 60 % 60);
    else
        snprintf(text, size, "%ldd%02ldh", s / 86400, s / 3600 % 24);
}

/* Four decimals with a point whatever the locale; large values in whole powers of ten. */
static void progress_loss(double loss, char *text, size_t size)
{
    double a = fabs(loss);
    if (isnan(loss))
        snprintf(text, size, "-");
    else if (a >= 1e4)
        snprintf(text, size, "%.0e", loss);
    else {
        long units = lround(a * 1e4);
        snprintf(text, size, "%s%ld.%04ld", loss < 0 ? "-" : "", units / 10000, units % 10000);
    }
}

static int progress_percent(const child_news *n)
{
    return n->total > 0 && n->done >= 0 ? (int)(100.0 * fmin(1, (double)n->done / n->total)) : 0;
}

/* Columns of UTF-8 text: every byte but those that continue a character. */
static int progress_columns(const char *s)
{
    int n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

/* Cuts to `most` columns; nothing that a terminal would obey survives. Returns the columns that are left. */
static int progress_cut(char *s, int most)
{
    int n = 0;
    for (; *s; s++) {
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            *s = '?';
        if (((unsigned char)*s & 0xc0) == 0x80)
            continue;
        if (n == most) {
            *s = '\0';
            break;
        }
        n++;
    }
    return n;
}

static void progress_append(char *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void progress_append(char *line, const char *format, ...)
{
    size_t used = strlen(line);
    va_list args;
    va_start(args, format);
    vsnprintf(line + used, PROGRESS_LINE - used, format, args);
    va_end(args);
}

static void progress_bar(char *line, double share)
{
    int full = (int)(share * PROGRESS_BAR + 0.5);
    progress_append(line, " [%.*s%.*s]", full, "################", PROGRESS_BAR - full, "................");
}

static void progress_total_line(const progress_totals *t, int bar, char *line)
{
    char time[32];
    progress_append(line, "%d/%d runs", t->over, t->planned);
    if (bar && t->planned > 0)
        progress_bar(line, (double)t->over / t->planned);
    if (t->failed)
        progress_append(line, ", %d failed", t->failed);
    if (t->diverged)
        progress_append(line, ", %d diverged", t->diverged);
    if (t->interrupted)
        progress_append(line, ", %d interrupted", t->interrupted);
    if (t->elsewhere)
        progress_append(line, ", %d elsewhere", t->elsewhere);
    progress_duration(t->seconds, time, sizeof time);
    progress_append(line, ", %s so far", time);
    if (!isnan(t->left)) {
        progress_duration(t->left, time, sizeof time);
        progress_append(line, ", about %s left", time);
    }
}

static void progress_pad(char *line, const char *text, int columns)
{
    progress_append(line, "%s%*s", text, columns > progress_columns(text) ? columns - progress_columns(text) : 0, "");
}

static void progress_slot_line(const progress *p, int i, char *line)
{
    const progress_slot *s = &p->slot[i];
    char loss[32], time[32];
    if (!s->busy) {
        progress_append(line, "-");
        return;
    }
    progress_pad(line, s->encoding, p->encoding_columns);
    progress_append(line, "  ");
    progress_pad(line, s->task, p->task_columns);
    progress_append(line, "  seed %-3d", s->seed);
    if (!s->news.phase[0]) {
        progress_append(line, " starting");
        return;
    }
    progress_append(line, " %-8s %3d%%", s->news.phase, progress_percent(&s->news));
    progress_bar(line, 0.01 * progress_percent(&s->news));
    progress_loss(s->news.loss, loss, sizeof loss);
    progress_duration(stopwatch_wall() - s->since, time, sizeof time);
    progress_append(line, " loss %s  %s", loss, time);
}

/* ------------------------------------------------------------------------------------------------ the terminal */

/* What one redraw writes. */
typedef struct progress_ink {
    char *text;
    size_t used, size;
} progress_ink;

static void progress_ink_add(progress_ink *k, const char *text)
{
    size_t n = strlen(text);
    if (k->used + n + 1 > k->size) {
        char *more = realloc(k->text, k->size = 2 * (k->used + n + 1));
        if (!more) { /* a display is not worth failing for: this redraw stays empty */
            free(k->text);
            *k = (progress_ink){NULL, 0, 0};
            return;
        }
        k->text = more;
    }
    memcpy(k->text + k->used, text, n + 1);
    k->used += n;
}

static void progress_size(const progress *p, int *rows, int *columns)
{
    struct winsize w;
    int known = ioctl(fileno(p->to), TIOCGWINSZ, &w) == 0 && w.ws_col > 0;
    *columns = known ? w.ws_col : 80;
    *rows = known && w.ws_row > 0 ? w.ws_row : 24;
}

/* Takes the block off the screen. Terminals fold long lines anew when they become narrower, so that a line may take
 * several rows by now. */
static void progress_erase(progress *p, progress_ink *k, int columns)
{
    char move[32];
    int rows = 0;
    for (int i = 0; i < p->drawn_lines; i++)
        rows += p->drawn[i] > columns ? (p->drawn[i] + columns - 1) / columns : 1;
    p->drawn_lines = 0;
    if (rows > 0) {
        snprintf(move, sizeof move, "\033[%dA", rows);
        progress_ink_add(k, move);
    }
    progress_ink_add(k, "\r\033[J");
}

static void progress_put_line(progress *p, progress_ink *k, char *line, int columns, const char *colour)
{
    p->drawn[p->drawn_lines++] = progress_cut(line, columns - 1);
    progress_ink_add(k, p->colour && colour ? colour : "");
    progress_ink_add(k, line);
    progress_ink_add(k, p->colour && colour ? "\033[0m\n" : "\n");
}

static void progress_write(progress *p, const progress_ink *k)
{
    fflush(p->to);
    for (size_t done = 0; done < k->used;) {
        ssize_t n = write(fileno(p->to), k->text + done, k->used - done);
        if (n < 0 && errno != EINTR && errno != EAGAIN) {
            p->to = NULL; /* the terminal has gone; the work has not */
            return;
        }
        done += n > 0 ? (size_t)n : 0;
    }
}

/* One write: the block away, a lasting line if there is one, the block again (its total only, when it is the last). */
static void progress_redraw(progress *p, const char *lasting, const char *colour, const progress_totals *t, int last)
{
    int rows, columns;
    progress_ink k = {NULL, 0, 0};
    progress_size(p, &rows, &columns);
    progress_ink_add(&k, "\033[?25l");
    progress_erase(p, &k, columns);
    if (lasting) {
        progress_ink_add(&k, p->colour && colour ? colour : "");
        progress_ink_add(&k, lasting);
        progress_ink_add(&k, p->colour && colour ? "\033[0m\n" : "\n");
    }
    int room = rows > 2 ? rows - 2 : 0; /* the total, and the line that the cursor stands on */
    for (int i = 0; i < p->slots && i < room && t && !last; i++) {
        char line[PROGRESS_LINE] = "";
        progress_slot_line(p, i, line);
        progress_put_line(p, &k, line, columns, NULL);
    }
    if (t) {
        char line[PROGRESS_LINE] = "";
        progress_total_line(t, 1, line);
        progress_put_line(p, &k, line, columns, "\033[1m");
    }
    progress_ink_add(&k, "\033[?25h");
    progress_write(p, &k);
    free(k.text);
}

/* ------------------------------------------------------------------------------------------------ what the sweep says
 */

void progress_note(progress *p, const char *format, ...)
{
    char line[PROGRESS_LINE];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (!p->to)
        return;
    progress_cut(line, PROGRESS_LINE);
    if (p->live) {
        progress_redraw(p, line, "\033[33m", NULL, 0);
        p->told_at = 0; /* the block is off the screen: bring it back with the next call */
    } else {
        fprintf(p->to, "%s\n", line);
        fflush(p->to);
    }
}

void progress_begin(progress *p, int slot, const char *encoding, const char *task, int seed)
{
    progress_slot *s = &p->slot[slot];
    *s = (progress_slot){.busy = 1, .seed = seed, .since = stopwatch_wall(), .news = {.loss = NAN}};
    snprintf(s->encoding, sizeof s->encoding, "%s", encoding);
    snprintf(s->task, sizeof s->task, "%s", task);
    int e = progress_cut(s->encoding, PROGRESS_ENCODING_MAX), k = progress_cut(s->task, PROGRESS_TASK_MAX);
    p->encoding_columns = e > p->encoding_columns ? e : p->encoding_columns;
    p->task_columns = k > p->task_columns ? k : p->task_columns;
}

void progress_hear(progress *p, int slot, const child_news *news)
{
    p->slot[slot].news = *news;
}

void progress_finish(progress *p, int slot, const char *how, int quiet, const progress_totals *t)
{
    progress_slot *s = &p->slot[slot];
    s->busy = 0;
    if (!p->to || (p->live && quiet))
        return;
    char line[PROGRESS_LINE] = "", time[32], loss[32];
    progress_append(line, "%d/%d  %s  %s  seed %d  ", t->over, t->planned, s->encoding, s->task, s->seed);
    progress_append(line, "%s", how);
    progress_duration(stopwatch_wall() - s->since, time, sizeof time);
    progress_loss(s->news.loss, loss, sizeof loss);
    progress_append(line, "  (%s, loss %s)", time, loss);
    progress_note(p, "%s", line);
}

/* A terminal that was halted with Ctrl-S must not halt the sweep. */
static int progress_takes_more(const progress *p)
{
    struct pollfd w = {.fd = fileno(p->to), .events = POLLOUT};
    return poll(&w, 1, 0) > 0;
}

void progress_draw(progress *p, const progress_totals *t)
{
    double now = stopwatch_wall();
    if (!p->to)
        return;
    if (p->live && now - p->told_at >= PROGRESS_REDRAW_SECONDS && progress_takes_more(p)) {
        progress_redraw(p, NULL, NULL, t, 0);
        p->told_at = now;
    }
    /* A log of a long sweep stays short: after the first ten minutes the totals come ever more seldom. */
    if (!p->live && now - p->told_at >= fmax(PROGRESS_PLAIN_SECONDS, (now - p->started) / 20)) {
        char line[PROGRESS_LINE] = "";
        progress_total_line(t, 0, line);
        progress_note(p, "%s", line);
        p->told_at = now;
    }
}

void progress_close(progress *p, const progress_totals *t)
{
    if (p->to && p->live) {
        progress_redraw(p, NULL, NULL, t, 1);
    } else if (p->to) {
        char line[PROGRESS_LINE] = "";
        progress_total_line(t, 0, line);
        progress_note(p, "%s", line);
    }
    free(p->slot);
    free(p->drawn);
    p->slot = NULL;
    p->drawn = NULL;
}
