/* report_extended_tables.c - a table for each task and longer length, and why values are missing. */
#include "report_extended.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void extended_cell(const summary_extension *x, document *d)
{
    buffer text = BUFFER_INIT, interval = BUFFER_INIT;
    if (!x || x->seeds == 0) {
        doc_add(d, DOC_CELL, x ? "\342\200\224" : "", x && strcmp(x->status, "diverged") == 0 ? "diverged" : NULL)
            ->flags = DOC_DIM;
        return;
    }
    int hollow = *x->flag && x->steps == 0;
    report_number(x->mean, &text);
    buffer_add(&text, hollow ? " *" : "");
    report_interval(x->ci_low, x->ci_high, &interval);
    doc_add_buffer(d, DOC_CELL, &text, buffer_text(&interval))->flags = hollow ? DOC_HOLLOW : 0;
    buffer_free(&interval);
}

/* The table's beginning up to its first two columns. `what` says which tests it shows. */
static void extended_table_head(const report_view *v, const extended_group *g, const char *what, document *d)
{
    const view_panel *p = g->panel;
    int is_usual = strcmp(p->mode, "teacher_forced") == 0;
    char *title = report_panel_title(v, p);
    buffer caption = BUFFER_INIT;
    doc_name(&caption, title ? title : p->task);
    free(title);
    buffer_format(&caption, ", %s (%s, %s is better%s%s), %s: mean over seeds and its 95 %% interval.",
                  p->metric->title, p->metric->unit, p->metric->higher_is_better ? "higher" : "lower",
                  is_usual ? "" : ", ", is_usual ? "" : p->mode, what);
    if (strcmp(p->metric->name, "loss") == 0)
        buffer_add(&caption, " Perplexity is its exponential.");
    doc_add_buffer(d, DOC_TABLE, &caption, NULL);
    doc_add(d, DOC_COLUMN, "encoding", NULL)->flags = DOC_LEFT;
    doc_add(d, DOC_COLUMN, "method", NULL)->flags = DOC_LEFT;
}

/* The two cells that begin a row. 0: this encoding was not run so, or the method has no meaning for it. */
static int extended_row(const report_view *v, const extended_group *g, int factor, int method, const char *name,
                        document *d)
{
    buffer text = BUFFER_INIT;
    const summary_extension *last = extended_find(v, g, factor, method, name, "", g->steps - 1, 0);
    if (!last || strcmp(last->status, "undefined") == 0)
        return 0;
    report_method_cell(v, method, d);
    doc_name(&text, name);
    doc_add_buffer(d, DOC_CELL, &text, NULL);
    return 1;
}

/* By steps of fine-tuning. */
static void extended_table(const report_view *v, const extended_group *g, int factor, document *d)
{
    char ratio[VIEW_RATIO_MAX], text[160];
    view_ratio_text(g->factor[factor], ratio);
    snprintf(text, sizeof text,
             "at %s the training length after so many steps of fine-tuning there, and at the training "
             "length after the last",
             ratio);
    extended_table_head(v, g, text, d);
    for (int s = 0; s < g->steps; s++) {
        snprintf(text, sizeof text, "%d steps", g->step[s]);
        doc_add(d, DOC_COLUMN, ratio, text);
    }
    doc_add(d, DOC_COLUMN, "1\303\227", text);
    for (int m = 0; m < v->methods; m++)
        for (int n = 0; n < g->names; n++) {
            if (!extended_row(v, g, factor, m, g->name[n], d))
                continue;
            for (int s = 0; s < g->steps; s++)
                extended_cell(extended_find(v, g, factor, m, g->name[n], "", s, 0), d);
            extended_cell(extended_find(v, g, factor, m, g->name[n], "", g->steps - 1, 1), d);
        }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}

/* By options of the task, before fine-tuning (or after the fewest steps) and after the most. */
static void extended_options_table(const report_view *v, const extended_group *g, int factor, document *d)
{
    char ratio[VIEW_RATIO_MAX], text[160];
    int tested[2] = {0, g->steps - 1};
    view_ratio_text(g->factor[factor], ratio);
    snprintf(text, sizeof text, "at %s the training length, tested under these options of the task", ratio);
    extended_table_head(v, g, text, d);
    for (int t = g->steps > 1 ? 0 : 1; t < 2; t++)
        for (int o = 0; o < g->options; o++) {
            snprintf(text, sizeof text, "%d steps", g->step[tested[t]]);
            doc_add(d, DOC_COLUMN, g->option[o], text);
        }
    for (int m = 0; m < v->methods; m++)
        for (int n = 0; n < g->names; n++) {
            if (!extended_row(v, g, factor, m, g->name[n], d))
                continue;
            for (int t = g->steps > 1 ? 0 : 1; t < 2; t++)
                for (int o = 0; o < g->options; o++)
                    extended_cell(extended_find(v, g, factor, m, g->name[n], g->option[o], tested[t], 0), d);
        }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}

static int extended_same_reason(const summary_extension *a, const summary_extension *b)
{
    return strcmp(a->encoding, b->encoding) == 0 && strcmp(a->reason, b->reason) == 0;
}

/* "`encoding` with `a`, `b`: reason", for the methods of all rows from `first` on that share it. */
static void extended_reason(const summary *s, int first, document *d)
{
    const summary_extension *x = &s->extension[first];
    const char *said[EXTENDED_MAX];
    int count = 0;
    buffer b = BUFFER_INIT;
    doc_name(&b, x->encoding);
    for (int i = first; i < s->extensions; i++) {
        const char *method = s->extension[i].method;
        int before = !extended_same_reason(&s->extension[i], x) || count == EXTENDED_MAX;
        for (int k = 0; k < count && !before; k++)
            before = strcmp(said[k], method) == 0;
        if (before)
            continue;
        buffer_add(&b, count == 0 ? " with " : ", ");
        doc_name(&b, method);
        said[count++] = method;
    }
    buffer_add(&b, strcmp(x->status, "ok") == 0 ? ", not all runs: " : ": ");
    doc_plain(&b, x->reason);
    doc_add_buffer(d, DOC_ITEM, &b, NULL);
}

/* Each reason for a missing value once. */
static void extended_reasons(const report_view *v, document *d)
{
    const summary *s = &v->summary;
    for (int i = 0; i < s->extensions; i++) {
        int before = !*s->extension[i].reason;
        for (int k = 0; k < i && !before; k++)
            before = extended_same_reason(&s->extension[k], &s->extension[i]);
        if (!before)
            extended_reason(s, i, d);
    }
}

void report_extended_tables(const report_view *v, document *d)
{
    extended_group *g = calloc(1, sizeof *g);
    d->failed |= !g;
    for (int i = 0; g && i < v->panels; i++)
        for (int k = 0; extended_gather(v, &v->panel[i], g) && k < g->factors; k++) {
            extended_table(v, g, k, d);
            if (g->options > 0)
                extended_options_table(v, g, k, d);
        }
    free(g);
    extended_reasons(v, d);
}
