#include "report_starved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ the table */

enum { STARVED_NUMBERS = 6, STARVED_LOSS = 4 };

static const report_column starved_columns[STARVED_NUMBERS] = {
    {"tokens", 100, 0, 1, 1, 0},    {"gradient", 100, 0, 1, 1, 0},          {"rows", 100, 0, 1, 1, 0},
    {"norm", 1, 0, INFINITY, 2, 0}, {"loss", 1, -INFINITY, INFINITY, 3, 1}, {"accuracy", 100, -1, 1, 1, 1}};

/* value[STARVED_NUMBERS][runs] of the runs of one cell, and their seeds; how many. */
static int starved_collect(const report_groups *g, int group, int encoding, double *value, int *seed)
{
    int runs = g->view->runs.count, count = 0;
    for (int i = 0; i < runs; i++) {
        if (g->of[i] != group || g->encoding_of[i] != encoding)
            continue;
        starved_numbers own;
        starved_read(&g->view->runs.run[i], &own);
        const double all[STARVED_NUMBERS] = {own.tokens, own.gradient, own.rows, own.norm, own.loss, own.accuracy};
        for (int k = 0; k < STARVED_NUMBERS; k++)
            value[k * runs + count] = all[k];
        seed[count++] = g->view->runs.run[i].config.seed;
    }
    return count;
}

/* Numbers of one cell of the table and of the baseline, under the same training. */
typedef struct starved_room {
    double *value, *base, *d; /* [STARVED_NUMBERS][runs] twice, [runs] */
    int *seed, *base_seed;    /* [runs] */
} starved_room;

/* Late less early loss, less that of the baseline with the same seed. */
static void starved_against(const report_groups *g, int group, int encoding, int n, starved_room *r, document *d)
{
    int runs = g->view->runs.count, pairs = 0, reference = -1, others = 0;
    for (int i = 0; i < g->encodings; i++)
        reference = g->is_baseline[i] ? i : reference;
    if (reference >= 0 && reference != encoding)
        others = starved_collect(g, group, reference, r->base, r->base_seed);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < others; k++)
            if (r->seed[i] == r->base_seed[k])
                r->d[pairs++] = r->value[STARVED_LOSS * runs + i] - r->base[STARVED_LOSS * runs + k];
    report_mean_cell(&starved_columns[STARVED_LOSS], r->d, pairs, d);
}

static void starved_row(const report_groups *g, int group, int encoding, starved_room *r, document *d)
{
    int runs = g->view->runs.count, n = starved_collect(g, group, encoding, r->value, r->seed);
    if (n == 0)
        return;
    buffer name = BUFFER_INIT;
    doc_name(&name, g->encoding[encoding]);
    doc_add(d, DOC_ROW, NULL, NULL);
    doc_block *b = doc_add_buffer(d, DOC_CELL, &name, g->is_baseline[encoding] ? "baseline" : NULL);
    b->has_style = 1;
    b->style = g->style[encoding];
    for (int k = 0; k < STARVED_NUMBERS; k++) {
        report_mean_cell(&starved_columns[k], r->value + k * runs, n, d);
        if (k == STARVED_LOSS)
            starved_against(g, group, encoding, n, r, d);
    }
}

static void starved_group(const report_groups *g, int group, document *d)
{
    char *title = report_group_title(g, group);
    buffer lengths = BUFFER_INIT;
    doc_plain(&lengths, title ? title : "");
    doc_add_buffer(d, DOC_GROUP, &lengths, NULL);
    free(title);
}

static void starved_heading(document *d)
{
    doc_add(
        d, DOC_TABLE,
        "Starvation in numbers, means over seeds with 95 % intervals. The first three: the share, in per cent, of "
        "the last quarter of positions in all tokens, in the squared gradient at the network's input, and, of a "
        "table with a row for each position, of its last quarter of rows in their squared gradient; 25 would be an "
        "even share. Norms: the mean norm of the last quarter of rows over that of the first. Loss and accuracy (in "
        "points): the mean of the last quarter of positions less that of the first, on test sequences of the "
        "training length, all positions of which are equally frequent. Later tokens have more to go by, and the "
        "test sequences are what they are: what starvation costs shows in the difference of that loss from the "
        "baseline's with the same seed.",
        NULL);
    doc_add(d, DOC_COLUMN, "encoding", NULL)->flags = DOC_LEFT;
    doc_add(d, DOC_COLUMN, "tokens", "late, %");
    doc_add(d, DOC_COLUMN, "gradient", "late, %");
    doc_add(d, DOC_COLUMN, "rows", "late, %");
    doc_add(d, DOC_COLUMN, "norms", "late / early");
    doc_add(d, DOC_COLUMN, "loss", "late \342\210\222 early");
    doc_add(d, DOC_COLUMN, "loss", "less the baseline's");
    doc_add(d, DOC_COLUMN, "accuracy", "late \342\210\222 early");
}

static int starved_room_new(starved_room *r, size_t runs)
{
    *r = (starved_room){calloc(runs * STARVED_NUMBERS + 1, sizeof(double)),
                        calloc(runs * STARVED_NUMBERS + 1, sizeof(double)), calloc(runs + 1, sizeof(double)),
                        calloc(runs + 1, sizeof(int)), calloc(runs + 1, sizeof(int))};
    return r->value && r->base && r->d && r->seed && r->base_seed ? 0 : -1;
}

void report_starved_table(const report_view *v, document *d)
{
    report_groups g;
    starved_room r;
    int failed = starved_room_new(&r, (size_t)v->runs.count);
    failed |= report_groups_find(v, starved_takes, NULL, &g);
    d->failed |= failed != 0;
    if (!failed && g.count > 0) {
        starved_heading(d);
        for (int group = 0; group < g.count; group++) {
            starved_group(&g, group, d);
            for (int i = 0; i < g.encodings; i++)
                starved_row(&g, group, i, &r, d);
        }
        doc_add(d, DOC_TABLE_END, NULL, NULL);
    }
    report_groups_free(&g);
    free(r.value);
    free(r.base);
    free(r.d);
    free(r.seed);
    free(r.base_seed);
}
