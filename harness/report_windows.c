/* report_windows.c - what longer windows gain, read side by side and sliding: of a text that was scored in both ways.
 */
#include "report_document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

/* The other panel of the same task and training length; NULL: it was not scored so. */
static const view_panel *windows_twin(const report_view *v, const view_panel *p, const char *mode)
{
    for (int i = 0; i < v->panels; i++) {
        const view_panel *other = &v->panel[i];
        if (other->metric == p->metric && other->train_len == p->train_len && strcmp(other->task, p->task) == 0 &&
            strcmp(other->mode, mode) == 0)
            return other;
    }
    return NULL;
}

/* Loss at the longest length less loss at the training length, run by run, into d; how many. Room for the seeds of one
 * row. */
static int windows_changes(const view_panel *p, int method, double *d)
{
    const summary_row *home = view_row(p, method, p->home), *last = view_row(p, method, p->lengths - 1);
    int n = 0;
    for (int i = 0; home && last && i < home->seeds; i++)
        for (int k = 0; k < last->seeds; k++)
            if (last->seed[k] == home->seed[i])
                d[n++] = stat_difference(last->value[k], home->value[i]);
    return n;
}

/* Two cells: the mean change with its interval, and nothing where there is no value. */
static void windows_cell(const view_panel *p, int method, const char *label, document *d)
{
    const summary_row *home = view_row(p, method, p->home);
    double *change = calloc((size_t)(home ? home->seeds : 0) + 1, sizeof *change);
    buffer text = BUFFER_INIT, interval = BUFFER_INIT;
    d->failed |= !change;
    int n = change ? windows_changes(p, method, change) : 0;
    if (n > 0) {
        stat_paired s;
        stat_pair(change, n, rng_hash(label), &s);
        buffer_add(&text, s.mean > 0 ? "+" : "");
        report_number(s.mean, &text);
        report_interval(s.low, s.high, &interval);
    } else {
        buffer_add(&text, "\342\200\224");
    }
    doc_add_buffer(d, DOC_CELL, &text, buffer_text(&interval))->flags = n > 0 ? 0 : DOC_DIM;
    buffer_free(&interval);
    free(change);
}

static void windows_table(const report_view *v, const view_panel *windows, const view_panel *sliding, document *d)
{
    char ratio[VIEW_RATIO_MAX];
    buffer caption = BUFFER_INIT;
    view_ratio_text(windows->length[windows->lengths - 1].ratio, ratio);
    doc_name(&caption, windows->task);
    buffer_format(
        &caption,
        ", %s at %s less that at the training length, of the same runs, with its 95 %% interval: below 0, longer "
        "windows read better. What windows gain that do not overlap, and sliding ones do not, is that fewer tokens "
        "stand near the beginning of one; it is no use of longer context.",
        windows->metric->title, ratio);
    doc_add_buffer(d, DOC_TABLE, &caption, NULL);
    doc_add(d, DOC_COLUMN, "encoding", NULL)->flags = DOC_LEFT;
    doc_add(d, DOC_COLUMN, "windows", "that do not overlap");
    doc_add(d, DOC_COLUMN, "sliding", "windows");
    for (int m = 0; m < v->methods; m++) {
        if (!view_ran(windows, m) && !view_ran(sliding, m))
            continue;
        report_method_cell(v, m, d);
        windows_cell(windows, m, "windows", d);
        windows_cell(sliding, m, "sliding", d);
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}

void report_window_tables(const report_view *v, document *d)
{
    for (int i = 0; i < v->panels; i++) {
        const view_panel *windows = &v->panel[i];
        if (strcmp(windows->mode, "windows") != 0 || windows->home < 0 || windows->home == windows->lengths - 1)
            continue;
        const view_panel *sliding = windows_twin(v, windows, "sliding");
        if (sliding && sliding->home >= 0 && sliding->lengths == windows->lengths)
            windows_table(v, windows, sliding, d);
    }
}
