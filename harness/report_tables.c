#include "report_document.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three digits tell 0.996 from 1. */
enum { TABLE_DECIMALS = 3 };

void report_length_text(const view_length *length, char ratio[VIEW_RATIO_MAX], char tokens[32])
{
    view_ratio_text(length->ratio, ratio);
    if (length->min_len == length->eval_len)
        snprintf(tokens, 32, "%d", length->eval_len);
    else
        snprintf(tokens, 32, "%d\342\200\223%d", length->min_len, length->eval_len);
}

void report_number(double value, buffer *out)
{
    buffer_fixed(out, value, TABLE_DECIMALS);
}

void report_interval(double low, double high, buffer *out)
{
    if (isnan(low))
        return;
    int is_signed = low < 0 || high < 0; /* a dash between would look like another minus */
    report_number(low, out);
    buffer_add(out, is_signed ? " to " : "\342\200\223");
    report_number(high, out);
}

/* The heading of its part before the first row of one. */
static void table_part(const report_view *v, int m, document *d)
{
    int last = d->count - 1;
    while (last >= 0 && d->block[last].kind != DOC_GROUP && d->block[last].kind != DOC_TABLE)
        last--;
    buffer heading = BUFFER_INIT;
    if (v->by_setting)
        doc_plain(&heading, v->part[v->method[m].part]);
    else
        doc_name(&heading, v->part[v->method[m].part]);
    if (last < 0 || d->block[last].kind == DOC_TABLE || strcmp(d->block[last].text, buffer_text(&heading)) != 0)
        doc_add_buffer(d, DOC_GROUP, &heading, NULL);
    buffer_free(&heading);
}

void report_method_cell(const report_view *v, int m, document *d)
{
    buffer name = BUFFER_INIT;
    if (v->parts > 1)
        table_part(v, m, d);
    if (v->parts > 1 && !v->by_setting)
        doc_plain(&name, v->method[m].line);
    else
        doc_name(&name, v->method[m].line);
    if (v->method[m].is_baseline)
        buffer_add(&name, " " DOC_MUTED "baseline" DOC_END);
    doc_add(d, DOC_ROW, NULL, NULL);
    doc_block *cell = doc_add_buffer(d, DOC_CELL, &name, NULL);
    cell->has_style = 1;
    cell->style = v->method[m].style;
}

/* A dash says that there is no value; what a map gave its meaning is slanted and starred. */
static void table_score(const summary_row *row, view_mark mark, document *d)
{
    buffer text = BUFFER_INIT, interval = BUFFER_INIT;
    int flags = mark == VIEW_BEST ? DOC_BEST : mark == VIEW_TIED ? DOC_TIED : 0;
    if (!row || isnan(row->mean)) {
        doc_add(d, DOC_CELL, row ? "\342\200\224" : "", NULL)->flags = DOC_DIM;
        return;
    }
    report_number(row->mean, &text);
    if (*row->flag) {
        buffer_add(&text, " *");
        flags |= DOC_HOLLOW;
    }
    report_interval(row->ci_low, row->ci_high, &interval);
    doc_add_buffer(d, DOC_CELL, &text, buffer_text(&interval))->flags = flags;
    buffer_free(&interval);
}

static void table_share(int part, int whole, document *d)
{
    buffer text = BUFFER_INIT;
    buffer_format(&text, "%d/%d", part, whole);
    doc_add_buffer(d, DOC_CELL, &text, NULL);
}

static doc_block *table_column(document *d, const char *title, const char *second)
{
    return doc_add(d, DOC_COLUMN, title, second);
}

/* ------------------------------------------------------------------------------------------------ one task */

/* Seeds with a value at home, or anywhere; runs of this label, task and length in all states. */
static int table_runs(const report_view *v, const view_panel *p, int m, int *fitted, int *ok)
{
    int runs = 0;
    *fitted = *ok = 0;
    for (int i = 0; i < v->runs.count; i++) {
        const run_record *run = &v->runs.run[i];
        if (strcmp(run->config.task, p->task) != 0 || run->config.train.len != p->train_len ||
            strcmp(run->label, v->method[m].label) != 0)
            continue;
        runs++;
        *ok += run->ok;
        *fitted += run->ok && run->fitted;
    }
    return runs;
}

/* A reference below the scores, "chance", where one of its numbers is above `least`. */
static void table_reference_row(const view_panel *p, const char *name, size_t field, double least, int columns_behind,
                                document *d)
{
    int known = 0;
    for (int l = 0; l < p->lengths; l++)
        known |= *(const double *)((const char *)&p->length[l] + field) > least;
    if (!known)
        return;
    doc_add(d, DOC_ROW, NULL, NULL);
    doc_add(d, DOC_CELL, name, NULL)->flags = DOC_DIM;
    for (int l = 0; l < p->lengths; l++) {
        buffer text = BUFFER_INIT;
        report_number(*(const double *)((const char *)&p->length[l] + field), &text);
        doc_add_buffer(d, DOC_CELL, &text, NULL)->flags = DOC_DIM;
    }
    for (int i = 0; i < columns_behind; i++)
        doc_add(d, DOC_CELL, NULL, NULL);
}

/* The two numbers of a whole curve. */
static void table_curve(const summary_curve *c, document *d)
{
    buffer area = BUFFER_INIT, interval = BUFFER_INIT, reach = BUFFER_INIT;
    if (c && c->seeds > 0) {
        report_number(c->mean, &area);
        report_interval(c->ci_low, c->ci_high, &interval);
    } else if (c) {
        buffer_add(&area, "\342\200\224");
    }
    doc_add_buffer(d, DOC_CELL, &area, buffer_text(&interval))->flags = c && c->seeds > 0 ? 0 : DOC_DIM;
    report_reach_text(c, &reach);
    doc_add_buffer(d, DOC_CELL, &reach, NULL);
    buffer_free(&interval);
}

static void table_panel_caption(const report_view *v, const view_panel *p, buffer *caption)
{
    char *title = report_panel_title(v, p);
    doc_name(caption, title ? title : p->task);
    free(title);
    buffer_format(caption, ", %s (%s", p->metric->title, p->metric->unit);
    buffer_format(caption, ", %s is better", p->metric->higher_is_better ? "higher" : "lower");
    if (p->decoded)
        buffer_add(caption, ", free-running: answers written token by token");
    else if (strcmp(p->mode, "teacher_forced") != 0)
        buffer_format(caption, ", %s", p->mode);
    buffer_format(caption, "), trained at lengths up to %d.", p->train_len);
}

void report_panel_table(const report_view *v, const view_panel *p, document *d)
{
    buffer caption = BUFFER_INIT;
    view_mark *mark = calloc((size_t)(v->methods * p->lengths) + 1, sizeof *mark); /* [lengths][methods] */
    d->failed |= !mark;
    if (!mark)
        return;
    table_panel_caption(v, p, &caption);
    doc_add_buffer(d, DOC_TABLE, &caption, NULL);
    table_column(d, "encoding", NULL)->flags = DOC_LEFT;
    for (int l = 0; l < p->lengths; l++) {
        char ratio[VIEW_RATIO_MAX], tokens[32];
        report_length_text(&p->length[l], ratio, tokens);
        table_column(d, ratio, tokens);
        view_marks(v, p, l, mark + l * v->methods);
    }
    int fits = !isinf(p->metric->high); /* losses know no "fitted" */
    int past = view_is_past(p);
    if (past) {
        table_column(d, "area", "over log length");
        table_column(d, "reach", "keeps 90 %");
    }
    table_column(d, "runs", "done");
    if (fits)
        table_column(d, "fitted", "in distr.");
    for (int m = 0; m < v->methods; m++) {
        int fitted, ok, runs = table_runs(v, p, m, &fitted, &ok);
        if (runs == 0)
            continue;
        report_method_cell(v, m, d);
        for (int l = 0; l < p->lengths; l++)
            table_score(view_row(p, m, l), mark[l * v->methods + m], d);
        if (past)
            table_curve(p->curve[m], d);
        table_share(ok, runs, d);
        if (fits)
            table_share(fitted, runs, d);
    }
    table_reference_row(p, "chance", offsetof(view_length, chance), -1, 1 + 2 * past + fits, d);
    table_reference_row(p, "also in training", offsetof(view_length, overlap), 0, 1 + 2 * past + fits, d);
    doc_add(d, DOC_TABLE_END, NULL, NULL);
    free(mark);
}

/* ------------------------------------------------------------------------------------------------ all tasks */

static void table_rank(const view_method *m, document *d)
{
    buffer text = BUFFER_INIT, interval = BUFFER_INIT;
    buffer_fixed(&text, m->rank, 2);
    if (!isnan(m->rank_low)) {
        buffer_fixed(&interval, m->rank_low, 2);
        buffer_add(&interval, "\342\200\223");
        buffer_fixed(&interval, m->rank_high, 2);
    }
    doc_add_buffer(d, DOC_CELL, &text, buffer_text(&interval));
    buffer_free(&interval);
    buffer_fixed(&text, m->reciprocal, 2);
    doc_add_buffer(d, DOC_CELL, &text, NULL);
}

static void table_overview_columns(const report_view *v, int ranked, document *d)
{
    table_column(d, "encoding", NULL)->flags = DOC_LEFT;
    for (int i = 0; i < v->panels; i++) {
        const view_panel *p = &v->panel[i];
        if (!p->primary)
            continue;
        char ratio[VIEW_RATIO_MAX], tokens[32];
        buffer title = BUFFER_INIT, second = BUFFER_INIT;
        char *name = report_panel_title(v, p);
        doc_plain(&title, name ? name : p->task);
        free(name);
        report_length_text(&p->length[p->headline], ratio, tokens);
        buffer_format(&second, "%s at %s", p->metric->title, ratio);
        if (strcmp(p->mode, "teacher_forced") != 0)
            buffer_format(&second, ", %s", p->mode);
        doc_add_buffer(d, DOC_COLUMN, &title, buffer_text(&second));
        buffer_free(&second);
    }
    if (!ranked)
        return;
    table_column(d, "mean rank", "all lengths > 1\303\227");
    table_column(d, "mean 1/rank", "higher is better");
}

/* Guessing, at the lengths of this table. */
static void table_overview_chance(const report_view *v, int ranked, document *d)
{
    int known = 0;
    for (int i = 0; i < v->panels; i++)
        known |= v->panel[i].primary && !isnan(v->panel[i].length[v->panel[i].headline].chance);
    if (!known)
        return;
    doc_add(d, DOC_ROW, NULL, NULL);
    doc_add(d, DOC_CELL, "chance", NULL)->flags = DOC_DIM;
    for (int i = 0; i < v->panels; i++) {
        buffer text = BUFFER_INIT;
        if (!v->panel[i].primary)
            continue;
        report_number(v->panel[i].length[v->panel[i].headline].chance, &text);
        doc_add_buffer(d, DOC_CELL, &text, NULL)->flags = DOC_DIM;
    }
    for (int i = 0; ranked && i < 2; i++)
        doc_add(d, DOC_CELL, NULL, NULL);
}

void report_overview_table(const report_view *v, document *d)
{
    int ranked = v->ranked_tasks > 0 && v->ranked_seeds > 0;
    view_mark *mark = calloc((size_t)(v->methods * v->panels) + 1, sizeof *mark); /* [panels][methods] */
    d->failed |= !mark;
    if (!mark)
        return;
    doc_add(d, DOC_TABLE,
            "Score at the first tested length of at least twice the training length, or else at the longest: mean over "
            "all seeds, fitted or not, and its 95 % interval (studentised bootstrap). Bold: the best mean of a column, and \342\211\210 what cannot be "
            "told apart "
            "from it.",
            NULL);
    table_overview_columns(v, ranked, d);
    for (int i = 0; i < v->panels; i++)
        view_marks(v, &v->panel[i], v->panel[i].headline, mark + i * v->methods);
    for (int m = 0; m < v->methods; m++) {
        report_method_cell(v, m, d);
        for (int i = 0; i < v->panels; i++)
            if (v->panel[i].primary)
                table_score(view_row(&v->panel[i], m, v->panel[i].headline), mark[i * v->methods + m], d);
        if (ranked)
            table_rank(&v->method[m], d);
    }
    table_overview_chance(v, ranked, d);
    doc_add(d, DOC_TABLE_END, NULL, NULL);
    free(mark);
}

/* ------------------------------------------------------------------------------------------------ cost */

/* Mean over a method's runs that have the number. */
static double table_mean(const report_view *v, int m, const char *path)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < v->runs.count; i++) {
        double value = results_number(&v->runs.run[i], path);
        if (strcmp(v->runs.run[i].label, v->method[m].label) != 0 || isnan(value))
            continue;
        sum += value;
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

static void table_mean_cell(const report_view *v, int m, const char *path, double scale, int decimals, document *d)
{
    buffer text = BUFFER_INIT;
    buffer_fixed(&text, table_mean(v, m, path) * scale, decimals);
    doc_add_buffer(d, DOC_CELL, &text, NULL);
}

void report_cost_table(const report_view *v, document *d)
{
    doc_add(d, DOC_TABLE, "Cost of a run, mean over tasks and seeds.", NULL);
    table_column(d, "encoding", NULL)->flags = DOC_LEFT;
    table_column(d, "parameters", "all");
    table_column(d, "parameters", "of the encoding");
    table_column(d, "processor", "s");
    table_column(d, "training", "s by the clock");
    table_column(d, "tests", "s by the clock");
    table_column(d, "memory", "MiB at most");
    for (int m = 0; m < v->methods; m++) {
        report_method_cell(v, m, d);
        table_mean_cell(v, m, "parameters.total", 1, 0, d);
        table_mean_cell(v, m, "parameters.encoding", 1, 0, d);
        table_mean_cell(v, m, "cost.cpu_seconds", 1, 1, d);
        table_mean_cell(v, m, "cost.train_seconds", 1, 1, d);
        table_mean_cell(v, m, "cost.evaluate_seconds", 1, 1, d);
        table_mean_cell(v, m, "cost.peak_bytes", 1 / 1048576.0, 0, d);
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}
