#include "report_document.h"

#include <math.h>
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

static void table_number(double value, buffer *out)
{
    buffer_fixed(out, value, TABLE_DECIMALS);
}

static void table_method(const report_view *v, int m, document *d)
{
    buffer name = BUFFER_INIT;
    doc_name(&name, v->method[m].label);
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
    table_number(row->mean, &text);
    if (*row->flag) {
        buffer_add(&text, " *");
        flags |= DOC_HOLLOW;
    }
    if (!isnan(row->ci_low)) {
        table_number(row->ci_low, &interval);
        buffer_add(&interval, "\342\200\223");
        table_number(row->ci_high, &interval);
    }
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

static void table_chance_row(const view_panel *p, int columns_behind, document *d)
{
    int known = 0;
    for (int l = 0; l < p->lengths; l++)
        known |= !isnan(p->length[l].chance);
    if (!known)
        return;
    doc_add(d, DOC_ROW, NULL, NULL);
    doc_add(d, DOC_CELL, "chance", NULL)->flags = DOC_DIM;
    for (int l = 0; l < p->lengths; l++) {
        buffer text = BUFFER_INIT;
        table_number(p->length[l].chance, &text);
        doc_add_buffer(d, DOC_CELL, &text, NULL)->flags = DOC_DIM;
    }
    for (int i = 0; i < columns_behind; i++)
        doc_add(d, DOC_CELL, NULL, NULL);
}

static void table_panel_caption(const report_view *v, const view_panel *p, buffer *caption)
{
    char *title = report_panel_title(v, p);
    doc_name(caption, title ? title : p->task);
    free(title);
    buffer_format(caption, ", %s (%s", p->metric->title, p->metric->unit);
    buffer_format(caption, ", %s is better", p->metric->higher_is_better ? "higher" : "lower");
    if (strcmp(p->mode, "teacher_forced") != 0)
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
    table_column(d, "runs", "done");
    if (fits)
        table_column(d, "fitted", "in distr.");
    for (int m = 0; m < v->methods; m++) {
        int fitted, ok, runs = table_runs(v, p, m, &fitted, &ok);
        if (runs == 0)
            continue;
        table_method(v, m, d);
        for (int l = 0; l < p->lengths; l++)
            table_score(view_row(p, m, l), mark[l * v->methods + m], d);
        table_share(ok, runs, d);
        if (fits)
            table_share(fitted, runs, d);
    }
    table_chance_row(p, 1 + fits, d);
    doc_add(d, DOC_TABLE_END, NULL, NULL);
    free(mark);
}

/* Every seed's value: what the means hide. */
void report_seed_table(const report_view *v, const view_panel *p, document *d)
{
    doc_add(d, DOC_TABLE,
            "Value of each seed, in the order of the seeds; standard deviation (n \342\210\222 1) and median "
            "below.",
            NULL);
    table_column(d, "encoding", NULL)->flags = DOC_LEFT;
    for (int l = 0; l < p->lengths; l++) {
        char ratio[VIEW_RATIO_MAX], tokens[32];
        report_length_text(&p->length[l], ratio, tokens);
        table_column(d, ratio, tokens);
    }
    for (int m = 0; m < v->methods; m++) {
        if (!view_ran(p, m))
            continue;
        table_method(v, m, d);
        for (int l = 0; l < p->lengths; l++) {
            const summary_row *row = view_row(p, m, l);
            buffer values = BUFFER_INIT, spread = BUFFER_INIT;
            for (int s = 0; row && s < row->seeds; s++) {
                buffer_add(&values, s ? " " : "");
                table_number(row->value[s], &values);
            }
            if (row && row->seeds > 0) {
                buffer_add(&spread, "sd ");
                table_number(row->sd, &spread);
                buffer_add(&spread, row->seeds < 2 ? "n/a, median " : ", median ");
                table_number(row->median, &spread);
            } else if (row) {
                buffer_add(&values, "\342\200\224");
            }
            doc_add_buffer(d, DOC_CELL, &values, buffer_text(&spread));
            buffer_free(&spread);
        }
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
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
    if (ranked)
        table_column(d, "mean rank", "all lengths > 1\303\227");
}

void report_overview_table(const report_view *v, document *d)
{
    int ranked = v->ranked_tasks > 0 && v->ranked_seeds > 0;
    view_mark *mark = calloc((size_t)(v->methods * v->panels) + 1, sizeof *mark); /* [panels][methods] */
    d->failed |= !mark;
    if (!mark)
        return;
    doc_add(d, DOC_TABLE,
            "Score at the first tested length of at least twice the training length: mean over seeds, and its "
            "95 % interval.",
            NULL);
    table_overview_columns(v, ranked, d);
    for (int i = 0; i < v->panels; i++)
        view_marks(v, &v->panel[i], v->panel[i].headline, mark + i * v->methods);
    for (int m = 0; m < v->methods; m++) {
        table_method(v, m, d);
        for (int i = 0; i < v->panels; i++)
            if (v->panel[i].primary)
                table_score(view_row(&v->panel[i], m, v->panel[i].headline), mark[i * v->methods + m], d);
        if (ranked)
            table_rank(&v->method[m], d);
    }
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
    table_column(d, "training", "s");
    table_column(d, "evaluation", "s");
    table_column(d, "memory", "MiB at most");
    for (int m = 0; m < v->methods; m++) {
        table_method(v, m, d);
        table_mean_cell(v, m, "parameters.total", 1, 0, d);
        table_mean_cell(v, m, "parameters.encoding", 1, 0, d);
        table_mean_cell(v, m, "cost.train_seconds", 1, 1, d);
        table_mean_cell(v, m, "cost.evaluate_seconds", 1, 1, d);
        table_mean_cell(v, m, "cost.peak_bytes", 1 / 1048576.0, 0, d);
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}
