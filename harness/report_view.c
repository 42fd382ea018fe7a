#include "report_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

const summary_row *view_row(const view_panel *p, int method, int length)
{
    return p->row[method * p->lengths + length];
}

int view_ran(const view_panel *p, int method)
{
    for (int l = 0; l < p->lengths; l++)
        if (view_row(p, method, l))
            return 1;
    return 0;
}

int view_is_past(const view_panel *p)
{
    return p->length[p->lengths - 1].ratio > 1;
}

void view_ratio_text(double ratio, char out[VIEW_RATIO_MAX])
{
    char number[64];
    number_print(round(ratio * 100) / 100, number, sizeof number);
    snprintf(out, VIEW_RATIO_MAX, "%.16s\303\227", number);
}

/* ------------------------------------------------------------------------------------------------ methods */

static int view_find_method(const report_view *v, const char *label)
{
    for (int m = 0; m < v->methods; m++)
        if (strcmp(v->method[m].label, label) == 0)
            return m;
    return -1;
}

static int view_compare_names(const void *a, const void *b)
{
    return strcmp(((const view_method *)a)->label, ((const view_method *)b)->label);
}

static int view_compare_ranks(const view_method *x, const view_method *y)
{
    if (isnan(x->rank) != isnan(y->rank))
        return isnan(x->rank) - isnan(y->rank);
    if (!isnan(x->rank) && x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return view_compare_names(x, y);
}

static int view_compare_methods(const void *a, const void *b)
{
    const view_method *x = a, *y = b;
    if (x->part != y->part)
        return x->part - y->part;
    return x->place != y->place ? x->place - y->place : view_compare_ranks(x, y);
}

static void view_count_run(const registry *r, const run_record *run, view_method *m)
{
    m->runs++;
    m->ok += run->ok;
    m->fitted += run->ok && run->fitted;
    m->is_baseline |= run->is_baseline;
    m->is_given |= view_is_given(r, run->config.encoding) || view_is_given(r, run->config.eval.map);
}

static int view_find_methods(report_view *v)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    v->method = calloc((size_t)v->runs.count + 1, sizeof *v->method);
    if (!v->method || !r) {
        registry_free(r);
        return -1;
    }
    for (int i = 0; i < v->runs.count; i++) {
        const run_record *run = &v->runs.run[i];
        int m = view_find_method(v, run->label);
        if (m < 0) {
            m = v->methods++;
            v->method[m] =
                (view_method){.label = run->label, .rank = NAN, .rank_low = NAN, .rank_high = NAN, .reciprocal = NAN};
        }
        view_count_run(r, run, &v->method[m]);
    }
    registry_free(r);
    qsort(v->method, (size_t)v->methods, sizeof *v->method, view_compare_names);
    return 0;
}

static int view_sort_by_rank(report_view *v)
{
    v->by_rank = calloc((size_t)v->methods + 1, sizeof *v->by_rank);
    for (int m = 0; v->by_rank && m < v->methods; m++) {
        int at = m;
        for (; at > 0 && view_compare_ranks(&v->method[v->by_rank[at - 1]], &v->method[m]) > 0; at--)
            v->by_rank[at] = v->by_rank[at - 1];
        v->by_rank[at] = m;
    }
    return v->by_rank ? 0 : -1;
}

/* ------------------------------------------------------------------------------------------------ panels */

static int view_same_panel(const summary_row *a, const summary_row *b)
{
    return strcmp(a->task, b->task) == 0 && strcmp(a->metric, b->metric) == 0 && strcmp(a->mode, b->mode) == 0 &&
           a->train_len == b->train_len;
}

/* The row of a reference metric (chance, overlap) at the same length, of whichever method has one. */
static double view_reference(const summary *s, const summary_row *at, const char *metric_name)
{
    for (int i = 0; metric_name && i < s->count; i++) {
        const summary_row *row = &s->rows[i];
        if (strcmp(row->metric, metric_name) == 0 && strcmp(row->task, at->task) == 0 &&
            row->train_len == at->train_len && row->eval_len == at->eval_len && row->min_len == at->min_len &&
            row->seeds > 0)
            return row->mean;
    }
    return NAN;
}

static void view_find_lengths(const report_view *v, view_panel *p, const summary_row *rows, int count)
{
    p->home = p->headline = -1;
    for (int i = 0; i < count; i++) {
        if (i > 0 && rows[i].eval_len == rows[i - 1].eval_len && rows[i].min_len == rows[i - 1].min_len)
            continue;
        int l = p->lengths++;
        int in_training = rows[i].min_len <= p->train_len; /* no stream of training holds anything longer */
        p->length[l] = (view_length){.min_len = rows[i].min_len,
                                     .eval_len = rows[i].eval_len,
                                     .ratio = rows[i].ratio,
                                     .chance = view_reference(&v->summary, &rows[i], p->metric->chance),
                                     .overlap = in_training ? view_reference(&v->summary, &rows[i], "overlap") : NAN};
        if (rows[i].ratio <= 1)
            p->home = l;
        if (p->headline < 0 && rows[i].ratio >= 2)
            p->headline = l;
    }
    if (p->headline < 0)
        p->headline = p->lengths - 1;
}

/* Rows of one panel: by length, and by encoding within a length. */
static int view_build_panel(report_view *v, const summary_row *rows, int count)
{
    view_panel *p = &v->panel[v->panels];
    *p = (view_panel){.task = rows[0].task,
                      .mode = rows[0].mode,
                      .metric = metric_find(rows[0].metric),
                      .train_len = rows[0].train_len,
                      .decoded = strcmp(rows[0].mode, "free_running") == 0,
                      .length = calloc((size_t)count, sizeof *p->length),
                      .row = calloc((size_t)count * (size_t)v->methods, sizeof *p->row),
                      .curve = calloc((size_t)v->methods, sizeof *p->curve)};
    v->panels++;
    if (!p->length || !p->row || !p->curve)
        return -1;
    view_find_lengths(v, p, rows, count);
    for (int i = 0, l = 0; i < count; i++) {
        while (p->length[l].eval_len != rows[i].eval_len || p->length[l].min_len != rows[i].min_len)
            l++;
        int m = view_find_method(v, rows[i].encoding);
        p->row[m * p->lengths + l] = &rows[i];
    }
    for (int i = 0; i < v->summary.curves; i++) {
        const summary_curve *c = &v->summary.curve[i];
        if (c->train_len == p->train_len && strcmp(c->task, p->task) == 0 && strcmp(c->metric, p->metric->name) == 0 &&
            strcmp(c->mode, p->mode) == 0)
            p->curve[view_find_method(v, c->encoding)] = c;
    }
    return 0;
}

/* The place of a metric in the order in which a task's headline is looked for. */
static int view_score_place(const metric *m)
{
    int place = 0;
    while (metric_score(place) && metric_score(place) != m)
        place++;
    return place;
}

static int view_compare_panels(const void *a, const void *b)
{
    const view_panel *x = a, *y = b;
    int order = strcmp(x->task, y->task);
    if (!order)
        order = x->train_len - y->train_len;
    if (!order)
        order = view_score_place(x->metric) - view_score_place(y->metric);
    if (!order)
        order = x->decoded - y->decoded;
    return order ? order : strcmp(x->mode, y->mode);
}

static int view_find_panels(report_view *v)
{
    const summary *s = &v->summary;
    v->panel = calloc((size_t)s->count + 1, sizeof *v->panel);
    if (!v->panel)
        return -1;
    int end;
    for (int first = 0; first < s->count; first = end) {
        for (end = first + 1; end < s->count && view_same_panel(&s->rows[first], &s->rows[end]);)
            end++;
        if (metric_find(s->rows[first].metric)->role == METRIC_SCORE &&
            view_build_panel(v, &s->rows[first], end - first) < 0)
            return -1;
    }
    qsort(v->panel, (size_t)v->panels, sizeof *v->panel, view_compare_panels);
    for (int i = 0; i < v->panels; i++) {
        view_panel *p = &v->panel[i], *before = p - 1;
        int same_task = i > 0 && strcmp(p->task, before->task) == 0 && p->train_len == before->train_len;
        p->primary = !same_task || (before->primary && before->metric == p->metric && !p->decoded);
    }
    return 0;
}

/* Methods are ordered by part and rank, ranks need panels, and panels are laid out by method: the columns move with the
 * methods. */
static int view_order(report_view *v, error *e)
{
    if (view_rank(v, e) < 0)
        return -1;
    qsort(v->method, (size_t)v->methods, sizeof *v->method, view_compare_methods);
    if (view_sort_by_rank(v) < 0)
        return -1;
    for (int i = 0; i < v->panels; i++) {
        free(v->panel[i].length);
        free(v->panel[i].row);
        free(v->panel[i].curve);
    }
    free(v->panel);
    v->panel = NULL;
    v->panels = 0;
    return view_find_panels(v);
}

/* ------------------------------------------------------------------------------------------------ loading */

int view_load(const char *dir, report_view *out, error *e)
{
    *out = (report_view){0};
    error fault = ERROR_INIT;
    int status = results_load(dir, &out->runs, &fault);
    if (out->runs.count > 0) {
        if (summary_build(&out->runs, &out->summary, e) < 0 || summary_write(dir, &out->runs, &out->summary, e) < 0)
            status = -1;
        if (view_find_methods(out) < 0 || view_find_parts(out) < 0 || view_find_panels(out) < 0 ||
            view_order(out, e) < 0) {
            view_free(out);
            status = error_set(e, ERROR_ENVIRONMENT, "out of memory");
        }
    }
    if (fault.kind != ERROR_NONE)
        error_set(e, fault.kind, "%s", fault.message);
    return status;
}

void view_free(report_view *v)
{
    for (int i = 0; i < v->panels; i++) {
        free(v->panel[i].length);
        free(v->panel[i].row);
        free(v->panel[i].curve);
    }
    free(v->panel);
    for (int m = 0; m < v->methods; m++)
        free(v->method[m].line);
    for (int i = 0; v->part && i < v->parts; i++)
        free(v->part[i]);
    free(v->part);
    free(v->by_rank);
    free(v->method);
    summary_free(&v->summary);
    results_free(&v->runs);
    *v = (report_view){0};
}

/* ------------------------------------------------------------------------------------------------ questions */

/* Whether a mean is no better than guessing, or than nothing where the level of chance is not known. */
static int view_is_chance(const view_panel *p, int length, double mean)
{
    double chance = p->length[length].chance;
    return p->metric->higher_is_better && mean <= (isnan(chance) ? p->metric->low : chance);
}

const summary_contrast *view_contrast(const report_view *v, const view_panel *p, const char *against, int method,
                                      int length)
{
    const summary_row *at = length == VIEW_AREA ? NULL : view_row(p, method, length);
    for (int l = 0; length == VIEW_AREA && !at && l < p->lengths; l++)
        at = view_row(p, method, l);
    return at ? summary_contrast_find(&v->summary, against, at, v->method[method].label, length == VIEW_AREA) : NULL;
}

/* The method that the others of this column are compared with. */
static int view_best(const report_view *v, const view_panel *p, int length)
{
    for (int m = 0; m < v->methods; m++) {
        const summary_contrast *c = view_contrast(v, p, "best", m, length);
        if (!c)
            continue;
        int best = view_find_method(v, c->reference);
        const summary_row *row = view_row(p, best, length);
        int compared = 0;
        for (int k = 0; k < v->methods; k++)
            compared += view_row(p, k, length) && !isnan(view_row(p, k, length)->mean);
        return compared < 2 || row->seeds < 2 || view_is_chance(p, length, row->mean) ? -1 : best;
    }
    return -1;
}

/* Too few pairs have no interval, and separate nothing. */
static int view_separable(const summary_contrast *c)
{
    return c->d.low > 0 || c->d.high < 0;
}

int view_marks(const report_view *v, const view_panel *p, int length, view_mark *mark)
{
    for (int m = 0; m < v->methods; m++)
        mark[m] = VIEW_PLAIN;
    int best = view_best(v, p, length);
    if (best < 0)
        return 0;
    for (int m = 0; m < v->methods; m++) {
        const summary_row *row = view_row(p, m, length);
        if (m == best)
            mark[m] = VIEW_BEST;
        else if (row && !isnan(row->mean) && !view_separable(view_contrast(v, p, "best", m, length)))
            mark[m] = VIEW_TIED;
    }
    return 1;
}
