#include "report_probed.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "probed.h"
#include "report_group.h"

/* A column: where its number stands. */
typedef struct probed_column {
    report_column how;
    size_t offset; /* in probed_numbers */
    const char *title, *subtitle;
} probed_column;

#define PROBED_COLUMN_AT(field) offsetof(probed_numbers, field)

static const probed_column probed_columns[] = {
    {{"first", 100, 0, INFINITY, 1, 0}, PROBED_COLUMN_AT(first), "hidden states", "before layers, %"},
    {{"best", 100, 0, INFINITY, 1, 0}, PROBED_COLUMN_AT(best), "hidden states", "best layer, %"},
    {{"best_layer", 1, 1, INFINITY, 1, 0}, PROBED_COLUMN_AT(best_layer), "which", "layer"},
    {{"last", 100, 0, INFINITY, 1, 0}, PROBED_COLUMN_AT(last), "hidden states", "last layer, %"},
    {{"wide_first", 100, 0, INFINITY, 1, 0}, PROBED_COLUMN_AT(wide_first), "by a network", "before layers, %"},
    {{"wide_best", 100, 0, INFINITY, 1, 0}, PROBED_COLUMN_AT(wide_best), "by a network", "best layer, %"},
    {{"positions", 1, 0, INFINITY, 2, 0}, PROBED_COLUMN_AT(positions), "table", "positions"},
    {{"guess", 1, 0, INFINITY, 1, 0}, PROBED_COLUMN_AT(guess), "a guess", "positions"},
    {{"order", 100, 0, 1, 1, 0}, PROBED_COLUMN_AT(order), "table's pairs", "wrong, %"},
    {{"in_order", 1, 0, INFINITY, 3, 0}, PROBED_COLUMN_AT(in_order), "loss", "in order"},
    {{"shuffled", 1, 0, INFINITY, 3, 0}, PROBED_COLUMN_AT(shuffled), "loss", "shuffled"},
    {{"cost", 1, -INFINITY, INFINITY, 3, 1}, PROBED_COLUMN_AT(cost), "shuffled", "less in order"},
};
enum {
    PROBED_HIDDEN = 6,
    PROBED_COLUMNS = sizeof probed_columns / sizeof *probed_columns
}; /* HIDDEN: of hidden states */

static int probed_is_of(const report_groups *g, int run, int group, int encoding)
{
    return g->of[run] == group && g->encoding_of[run] == encoding;
}

/* Column k of the runs of one cell: value[runs]; how many. */
static int probed_collect(const report_groups *g, int group, int encoding, const probed_column *column, double *value)
{
    int count = 0;
    for (int i = 0; i < g->view->runs.count; i++) {
        probed_numbers own;
        if (!probed_is_of(g, i, group, encoding))
            continue;
        probed_read(&g->view->runs.run[i], &own);
        value[count++] = *(const double *)((const char *)&own + column->offset);
    }
    return count;
}

/* Columns first .. end-1 of one table, and what stands above it. */
typedef struct probed_part {
    int first, end;
    const char *caption;
} probed_part;

static const probed_part probed_parts[] = {
    {0, PROBED_HIDDEN,
     "Positions read off hidden states, means over seeds with 95 % intervals: mean absolute error of a token's "
     "position, "
     "read off the residual stream of other test sequences of the training length, in per cent of the error of a "
     "guess. "
     "By least squares: of what enters the first layer, of what leaves the layer where it is read best, with its "
     "number, "
     "and of what leaves the last. By a network: the same with 128 random combinations, cut below at zero, beside the "
     "stream."},
    {PROBED_HIDDEN, PROBED_COLUMNS,
     "Tables and prefixes, means over seeds with 95 % intervals. Table: mean absolute error of a position read by "
     "least "
     "squares off the rows of a trained table with a row for each, five-fold, in positions, beside that of a guess; "
     "and "
     "the share of pairs of rows whose order logistic regression tells wrong. Loss: of the token behind windows of the "
     "text, in nats, as they are, and with all but the last token in random order."},
};

/* Whether the runs of a cell have a value in one of the columns. */
static int probed_has(const report_groups *g, int group, int encoding, const probed_part *part, double *value)
{
    for (int k = part->first; k < part->end; k++) {
        int count = probed_collect(g, group, encoding, &probed_columns[k], value);
        for (int i = 0; i < count; i++)
            if (!isnan(value[i]))
                return 1;
    }
    return 0;
}

static void probed_row(const report_groups *g, int group, int encoding, const probed_part *part, double *value,
                       document *d)
{
    char *title = report_group_title(g, group);
    buffer name = BUFFER_INIT, lengths = BUFFER_INIT;
    doc_name(&name, g->encoding[encoding]);
    doc_plain(&lengths, title ? title : "");
    doc_add(d, DOC_ROW, NULL, NULL);
    doc_block *b = doc_add_buffer(d, DOC_CELL, &name, g->is_baseline[encoding] ? "baseline" : NULL);
    b->has_style = 1;
    b->style = g->style[encoding];
    doc_add_buffer(d, DOC_CELL, &lengths, NULL);
    for (int k = part->first; k < part->end; k++)
        report_mean_cell(&probed_columns[k].how, value, probed_collect(g, group, encoding, &probed_columns[k], value),
                         d);
    free(title);
}

static void probed_heading(const probed_part *part, document *d)
{
    doc_add(d, DOC_TABLE, part->caption, NULL);
    doc_add(d, DOC_COLUMN, "encoding", NULL)->flags = DOC_LEFT;
    doc_add(d, DOC_COLUMN, "training", NULL)->flags = DOC_LEFT;
    for (int k = part->first; k < part->end; k++)
        doc_add(d, DOC_COLUMN, probed_columns[k].title, probed_columns[k].subtitle);
}

/* Rows without any value are left out, and so is a table without rows. */
static void probed_table(const report_groups *g, const probed_part *part, double *value, document *d)
{
    int rows = 0;
    for (int group = 0; group < g->count; group++)
        for (int i = 0; i < g->encodings; i++) {
            if (!probed_has(g, group, i, part, value))
                continue;
            if (rows++ == 0)
                probed_heading(part, d);
            probed_row(g, group, i, part, value, d);
        }
    if (rows)
        doc_add(d, DOC_TABLE_END, NULL, NULL);
}

int report_is_probed(const report_view *v)
{
    for (int i = 0; i < v->runs.count; i++)
        if (probed_takes(&v->runs.run[i]))
            return 1;
    return 0;
}

void report_probed_tables(const report_view *v, document *d)
{
    report_groups g;
    double *value = calloc((size_t)v->runs.count + 1, sizeof *value);
    int failed = !value;
    failed |= report_groups_find(v, probed_takes, NULL, &g);
    d->failed |= failed != 0;
    for (size_t i = 0; !failed && i < sizeof probed_parts / sizeof *probed_parts; i++)
        probed_table(&g, &probed_parts[i], value, d);
    report_groups_free(&g);
    free(value);
}
