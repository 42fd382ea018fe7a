#include "watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "stopwatch.h"

/* Seconds between two tellings. */
static const double watch_pause[] = {[WATCH_LIVE] = 0.2, [WATCH_PLAIN] = 10, [WATCH_TOLD] = 0.1};

watch watch_person(FILE *to)
{
    const char *term = getenv("TERM");
    int can = isatty(fileno(to)) && term && *term && strcmp(term, "dumb");
    return (watch){.to = to, .style = can ? WATCH_LIVE : WATCH_PLAIN};
}

watch watch_parent(FILE *to)
{
    return (watch){.to = to, .style = WATCH_TOLD};
}

/* "train  1200/5000   24 %  loss 1.2345  0:12 left" */
static void watch_line(const watch *w, int done, int total, double loss, double now)
{
    fprintf(w->to, "%-9s %d/%d  %3d %%", w->phase, done, total, total > 0 ? (int)(100.0 * done / total) : 100);
    if (isfinite(loss))
        fprintf(w->to, "  loss %.4f", loss);
    double spent = now - w->phase_began;
    if (done > 0 && done < total && spent > 1) {
        int left = (int)ceil(spent * (total - done) / done);
        fprintf(w->to, "  %d:%02d left", left / 60, left % 60);
    }
}

void watch_tell(void *self, const char *phase, int done, int total, double loss)
{
    watch *w = self;
    double now = stopwatch_wall();
    int begins = strncmp(w->phase, phase, sizeof w->phase - 1) != 0;
    if (begins) {
        snprintf(w->phase, sizeof w->phase, "%s", phase);
        w->phase_began = now;
        w->last_told = w->style == WATCH_PLAIN ? now : 0; /* a plain line says something only once something is done */
    }
    if (done < total && now - w->last_told < watch_pause[w->style])
        return;
    w->last_told = now;
    if (w->style == WATCH_TOLD) {
        char text[64];
        number_print(loss, text, sizeof text);
        fprintf(w->to, "%s %d %d %s\n", w->phase, done, total, isfinite(loss) ? text : "nan");
    } else {
        fputs(w->style == WATCH_LIVE ? "\r\033[K" : "", w->to);
        watch_line(w, done, total, loss, now);
        fputs(w->style == WATCH_LIVE ? "" : "\n", w->to);
        w->line_open = w->style == WATCH_LIVE;
    }
    fflush(w->to);
}

void watch_close(watch *w)
{
    if (w->line_open)
        fputs("\r\033[K", w->to);
    w->line_open = 0;
    fflush(w->to);
}
