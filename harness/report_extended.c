/* report_extended.c - what becomes of a trained network at longer lengths, by method and steps of fine-tuning: a figure
 * with a panel for each encoding, and a table for each task and longer length. */
#include "report_document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXTENDED_MAX = 64
}; /* methods, factors or step counts that one task can have here; more are left to the CSV file */

/* The rows of one score of one task, and what they range over. */
typedef struct extended_group {
    const view_panel *panel;
    int factors, steps, names, options;
    double factor[EXTENDED_MAX];
    int step[EXTENDED_MAX];
    const char *name[EXTENDED_MAX];   /* of methods, in the order of the alphabet */
    const char *option[EXTENDED_MAX]; /* of the task, under which it was tested besides */
} extended_group;

static int extended_is_of(const summary_extension *x, const view_panel *p)
{
    return x->train_len == p->train_len && strcmp(x->task, p->task) == 0 && strcmp(x->metric, p->metric->name) == 0 &&
           strcmp(x->mode, p->mode) == 0;
}

static int extended_whole_order(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int extended_name_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds what one row has and no row before it had. Factors come in ascending order. */
static void extended_note(extended_group *g, const summary_extension *x)
{
    int steps = 0, names = 0, options = !*x->task_options;
    if (g->factors < EXTENDED_MAX && (g->factors == 0 || g->factor[g->factors - 1] != x->factor))
        g->factor[g->factors++] = x->factor;
    for (int i = 0; i < g->steps; i++)
        steps |= g->step[i] == x->steps;
    for (int i = 0; i < g->names; i++)
        names |= strcmp(g->name[i], x->method) == 0;
    for (int i = 0; i < g->options; i++)
        options |= strcmp(g->option[i], x->task_options) == 0;
    if (!options && g->options < EXTENDED_MAX)
        g->option[g->options++] = x->task_options;
    if (!steps && g->steps < EXTENDED_MAX)
        g->step[g->steps++] = x->steps;
    if (!names && g->names < EXTENDED_MAX)
        g->name[g->names++] = x->method;
}

/* 1 when the panel's score was measured after training. */
static int extended_gather(const report_view *v, const view_panel *p, extended_group *g)
{
    *g = (extended_group){.panel = p};
    for (int i = 0; p->primary && i < v->summary.extensions; i++)
        if (extended_is_of(&v->summary.extension[i], p))
            extended_note(g, &v->summary.extension[i]);
    qsort(g->step, (size_t)g->steps, sizeof g->step[0], extended_whole_order);
    qsort(g->name, (size_t)g->names, sizeof g->name[0], extended_name_order);
    return g->names > 0;
}

/* At the longer length, or with `home` at the training length. NULL: not run. */
static const summary_extension *extended_find(const report_view *v, const extended_group *g, int factor, int method,
                                              const char *name, const char *options, int step, int home)
{
    for (int i = 0; i < v->summary.extensions; i++) {
        const summary_extension *x = &v->summary.extension[i];
        if (x->factor == g->factor[factor] && x->steps == g->step[step] && home == (x->eval_len == x->train_len) &&
            strcmp(x->encoding, v->method[method].label) == 0 && strcmp(x->method, name) == 0 &&
            strcmp(x->task_options, options) == 0 && extended_is_of(x, g->panel))
            return x;
    }
    return NULL;
}

int report_is_extended(const report_view *v)
{
    return v->summary.extensions > 0;
}

/* ------------------------------------------------------------------------------------------------ the figure */

/* Methods keep their style in all panels of a report: colours in order, so that the few that there are differ. */
static int extended_styles(const report_view *v, const char *name[EXTENDED_MAX], palette_style style[EXTENDED_MAX])
{
    extended_group all = {0};
    for (int i = 0; i < v->summary.extensions; i++)
        extended_note(&all, &v->summary.extension[i]);
    qsort(all.name, (size_t)all.names, sizeof all.name[0], extended_name_order);
    memcpy(name, all.name, sizeof all.name);
    for (int i = 0; i < all.names; i++)
        style[i] =
            (palette_style){.colour = i % PALETTE_COLOURS, .shape = i % PALETTE_SHAPES, .dash = i / PALETTE_COLOURS};
    return all.names;
}

/* The scores of a text that slides say the same as those of windows, but for the early tokens of each: one is drawn. */
static int extended_is_drawn(const report_view *v, const view_panel *p)
{
    for (int i = 0; i < v->panels && strcmp(p->mode, "sliding") != 0; i++)
        if (v->panel[i].primary && v->panel[i].metric == p->metric && v->panel[i].train_len == p->train_len &&
            strcmp(v->panel[i].task, p->task) == 0 && strcmp(v->panel[i].mode, "sliding") == 0)
            return 0;
    return 1;
}

/* The encoding as trained, at the training length. */
static int extended_add_level(const extended_group *g, int method, figure_panel *out)
{
    const view_panel *p = g->panel;
    const summary_row *home = p->home >= 0 && p->length[p->home].ratio == 1 ? view_row(p, method, p->home) : NULL;
    if (!home || isnan(home->mean))
        return 0;
    figure_curve *c = figure_add_curve(out, "1\303\227", (palette_style){0}, g->steps);
    if (!c)
        return -1;
    c->reference = 1;
    for (int s = 0; s < g->steps; s++)
        c->point[s] = (figure_point){.x = s, .y = home->mean, .low = NAN, .high = NAN};
    return 0;
}

static int extended_add_curve(const report_view *v, const extended_group *g, int factor, int method, const char *name,
                              palette_style style, figure_panel *out)
{
    int values = 0;
    for (int s = 0; s < g->steps; s++) {
        const summary_extension *x = extended_find(v, g, factor, method, name, "", s, 0);
        values += x && x->seeds > 0;
    }
    if (values == 0)
        return 0;
    figure_curve *c = figure_add_curve(out, name, style, g->steps);
    if (!c)
        return -1;
    for (int s = 0; s < g->steps; s++) {
        const summary_extension *x = extended_find(v, g, factor, method, name, "", s, 0);
        c->point[s].x = s;
        if (x && x->seeds > 0)
            c->point[s] = (figure_point){
                .x = s, .y = x->mean, .low = x->ci_low, .high = x->ci_high, .hollow = *x->flag && x->steps == 0};
    }
    return 1;
}

static void extended_set_x(const extended_group *g, figure_panel *out)
{
    out->x_title = "steps of fine-tuning";
    out->train_x = NAN;
    out->x_low = -0.3;
    out->x_high = g->steps > 1 ? g->steps - 1 : 1;
    for (int s = 0; s < g->steps && out->x_tics < FIGURE_TICS_MAX; s++) {
        figure_tic *tic = &out->x_tic[out->x_tics++];
        tic->at = s;
        snprintf(tic->text, sizeof tic->text, "%d", g->step[s]);
    }
}

/* The panel of one encoding at one longer length. Returns whether there is one; -1: no memory. */
static int extended_panel(const report_view *v, const extended_group *g, int factor, int method, figure_panel *out)
{
    const char *name[EXTENDED_MAX];
    palette_style style[EXTENDED_MAX];
    int names = extended_styles(v, name, style), curves = 0;
    const metric *m = g->panel->metric;
    char ratio[VIEW_RATIO_MAX];
    buffer subtitle = BUFFER_INIT;
    view_ratio_text(g->factor[factor], ratio);
    buffer_format(&subtitle, "%s at %s: %s", v->method[method].label, ratio, m->title);
    if (isinf(m->high))
        buffer_format(&subtitle, ", %s", m->unit);
    *out = (figure_panel){.title = report_panel_title(v, g->panel), .subtitle = buffer_take(&subtitle)};
    if (!out->title || !out->subtitle || extended_add_level(g, method, out) < 0)
        return -1;
    for (int i = 0; i < names; i++) {
        int added = extended_add_curve(v, g, factor, method, name[i], style[i], out);
        if (added < 0)
            return -1;
        curves += added;
    }
    extended_set_x(g, out);
    int bounded = isfinite(m->high);
    figure_fit(out, bounded ? m->low : NAN, bounded ? m->high : NAN);
    return curves > 0;
}

/* A panel without a method's curve is taken back. */
static void extended_drop(figure *f)
{
    figure one = {.panels = 1, .panel = calloc(1, sizeof *one.panel)};
    if (!one.panel)
        return;
    one.panel[0] = f->panel[--f->panels];
    figure_free(&one);
}

static int extended_panels(const report_view *v, figure *f)
{
    extended_group *g = calloc(1, sizeof *g);
    int status = g ? 0 : -1;
    for (int i = 0; status >= 0 && i < v->panels; i++) {
        if (!extended_is_drawn(v, &v->panel[i]) || !extended_gather(v, &v->panel[i], g))
            continue;
        for (int k = 0; status >= 0 && k < g->factors; k++)
            for (int m = 0; status >= 0 && m < v->methods; m++) {
                figure_panel *grown = realloc(f->panel, (size_t)(f->panels + 1) * sizeof *grown);
                if (!grown) {
                    status = -1;
                    break;
                }
                f->panel = grown;
                status = extended_panel(v, g, k, m, &f->panel[f->panels++]);
                if (status == 0)
                    extended_drop(f);
            }
    }
    free(g);
    return status < 0 ? -1 : 0;
}

int report_extended_write(const report_view *v, const char *dir, report_figures *out, error *e)
{
    figure f = {.name = "extended", .title = "Score at longer lengths over steps of fine-tuning"};
    int status = report_is_extended(v) ? extended_panels(v, &f) : 0;
    if (status == 0)
        report_share_scale(&f);
    if (status == 0 && f.panels > 0)
        return report_panels_write(&f, REPORT_EXTENDED, "curves.gp", dir, out, e);
    figure_free(&f);
    return status < 0 ? error_set(e, ERROR_ENVIRONMENT, "out of memory") : 0;
}

/* ------------------------------------------------------------------------------------------------ tables */

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

/* ------------------------------------------------------------------------------------------------ words */

/* The values of a row, with ", " where it holds a list. */
static void extended_setting(const report_view *v, const char *row, buffer *out)
{
    buffer values = BUFFER_INIT;
    report_setting(v, row, &values);
    for (const char *p = buffer_text(&values); *p; p++)
        buffer_bytes(out, *p == ';' && p[1] != ' ' ? ", " : p, *p == ';' && p[1] != ' ' ? 2 : 1);
    buffer_free(&values);
}

void report_extended_method(const report_view *v, document *d)
{
    buffer b = BUFFER_INIT;
    buffer_add(&b,
               "From the trained weights, training went on at longer lengths, anew for each length (multiples of the "
               "training length: ");
    extended_setting(v, "extend.factors", &b);
    buffer_add(&b, ") and each method of stretching positions (");
    extended_setting(v, "extend.methods", &b);
    buffer_add(&b,
               "; none is plain fine-tuning). A step read as many tokens as one of training, on average: the batch was "
               "smaller by as much as sequences were longer. All methods read the same batches, those that would have "
               "followed in training. AdamW began anew, at a constant learning rate (");
    extended_setting(v, "extend.lr", &b);
    buffer_add(&b, "; auto is a tenth of that of training) after a short warm-up; tests came after ");
    extended_setting(v, "extend.steps", &b);
    buffer_add(&b,
               " steps. A map's factor takes the last position of the longer sequences to the last one of training; "
               "an encoding's own scaling gets the ratio of the lengths. extension.csv holds every number, at both "
               "lengths.");
    doc_add_buffer(d, DOC_PARAGRAPH, &b, NULL);
}
