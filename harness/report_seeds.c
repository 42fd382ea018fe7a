/* report_seeds.c - tables of what a mean over all runs hides: single seeds, and the fitted runs alone. */
#include "report_document.h"

#include <math.h>
#include <stdlib.h>

/* The means without the runs that did not fit; each cell says how many are left. */
static void seeds_fitted_cell(const summary_row *row, document *d)
{
    buffer text = BUFFER_INIT, share = BUFFER_INIT;
    if (row && row->seeds > 0) {
        if (row->fitted > 0)
            report_number(row->mean_fitted, &text);
        else
            buffer_add(&text, "\342\200\224");
        buffer_format(&share, "%d of %d", row->fitted, row->seeds);
    } else if (row) {
        buffer_add(&text, "\342\200\224");
    }
    doc_add_buffer(d, DOC_CELL, &text, buffer_text(&share))->flags = row && row->fitted > 0 ? 0 : DOC_DIM;
    buffer_free(&share);
}

static void seeds_columns(const view_panel *p, document *d)
{
    doc_add(d, DOC_COLUMN, "encoding", NULL)->flags = DOC_LEFT;
    for (int l = 0; l < p->lengths; l++) {
        char ratio[VIEW_RATIO_MAX], tokens[32];
        report_length_text(&p->length[l], ratio, tokens);
        doc_add(d, DOC_COLUMN, ratio, tokens);
    }
}

void report_fitted_table(const report_view *v, const view_panel *p, document *d)
{
    int unfit = 0;
    for (int m = 0; m < v->methods; m++)
        for (int l = 0; l < p->lengths; l++)
            unfit |= view_row(p, m, l) && view_row(p, m, l)->fitted < view_row(p, m, l)->seeds;
    if (!unfit || isinf(p->metric->high)) /* losses know no "fitted" */
        return;
    buffer caption = BUFFER_INIT;
    char *title = report_panel_title(v, p);
    doc_name(&caption, title ? title : p->task);
    free(title);
    buffer_format(&caption, ", %s: mean over the fitted runs alone, and how many these are.", p->metric->title);
    doc_add_buffer(d, DOC_TABLE, &caption, NULL);
    seeds_columns(p, d);
    for (int m = 0; m < v->methods; m++) {
        if (!view_ran(p, m))
            continue;
        report_method_cell(v, m, d);
        for (int l = 0; l < p->lengths; l++)
            seeds_fitted_cell(view_row(p, m, l), d);
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}

/* "n 5, sd 0.158, median 0.500, max 1.000" */
static void seeds_spread(const summary_row *row, buffer *spread)
{
    double most = row->value[0];
    for (int s = 1; s < row->seeds; s++)
        most = fmax(most, row->value[s]);
    buffer_format(spread, "n %d, sd ", row->seeds);
    report_number(row->sd, spread);
    buffer_add(spread, row->seeds < 2 ? "n/a, median " : ", median ");
    report_number(row->median, spread);
    buffer_add(spread, ", max ");
    report_number(most, spread);
}

/* Every seed's value: what the means hide. */
void report_seed_table(const report_view *v, const view_panel *p, document *d)
{
    doc_add(d, DOC_TABLE,
            "Value of each seed, in the order of the seeds; their number, standard deviation (n \342\210\222 1), "
            "median and "
            "maximum below.",
            NULL);
    seeds_columns(p, d);
    for (int m = 0; m < v->methods; m++) {
        if (!view_ran(p, m))
            continue;
        report_method_cell(v, m, d);
        for (int l = 0; l < p->lengths; l++) {
            const summary_row *row = view_row(p, m, l);
            buffer values = BUFFER_INIT, spread = BUFFER_INIT;
            for (int s = 0; row && s < row->seeds; s++) {
                buffer_add(&values, s ? " " : "");
                report_number(row->value[s], &values);
            }
            if (row && row->seeds > 0)
                seeds_spread(row, &spread);
            else if (row)
                buffer_add(&values, "\342\200\224");
            doc_add_buffer(d, DOC_CELL, &values, buffer_text(&spread));
            buffer_free(&spread);
        }
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}
