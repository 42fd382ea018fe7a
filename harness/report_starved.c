#include "report_starved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

int report_starved_takes(const run_record *run)
{
    return run->ok && json_is_object(json_object_get(run->record, "exposure"));
}

/* ------------------------------------------------------------------------------------------------ one run */

static double starved_at(const json_t *list, size_t i)
{
    const json_t *value = json_array_get(list, i);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* sum[count] += element i of `key` in each phase. */
static void starved_add(const json_t *phases, const char *key, double *sum, int count)
{
    for (size_t p = 0; p < json_array_size(phases); p++) {
        const json_t *list = json_object_get(json_array_get(phases, p), key);
        for (int i = 0; i < count && (size_t)i < json_array_size(list); i++)
            sum[i] += starved_at(list, (size_t)i);
    }
}

int report_starved_input(const run_record *run, starved_input *out)
{
    const json_t *phases = json_object_get(json_object_get(run->record, "exposure"), "phases");
    double tokens = results_number(run, "data.train_tokens_max");
    size_t met = json_array_size(json_object_get(json_array_get(phases, 0), "gradient"));
    *out = (starved_input){.count = (double)met > tokens ? (int)met : (int)tokens};
    out->tokens = calloc((size_t)out->count + 1, sizeof *out->tokens);
    out->gradient = calloc((size_t)out->count + 1, sizeof *out->gradient);
    if (!out->tokens || !out->gradient)
        return -1;
    starved_add(phases, "tokens", out->tokens, out->count);
    starved_add(phases, "gradient", out->gradient, out->count);
    return 0;
}

void report_starved_input_free(starved_input *x)
{
    free(x->tokens);
    free(x->gradient);
    *x = (starved_input){0};
}

/* The first of the last quarter's positions; as many, or one more, stand before n - this one. */
static int starved_late(int n)
{
    return (3 * n + 3) / 4;
}

static double starved_late_share(const double *x, int n)
{
    double all = 0, late = 0;
    for (int i = 0; i < n; i++) {
        all += x[i];
        late += i >= starved_late(n) ? x[i] : 0;
    }
    return all > 0 ? late / all : NAN;
}

/* Mean of `key` over elements first .. end-1 that have a value, weighted by `n` (NULL: all alike). */
static double starved_mean(const json_t *object, const char *key, const json_t *n, int first, int end)
{
    double sum = 0, weight = 0;
    for (int i = first; i < end; i++) {
        double value = starved_at(json_object_get(object, key), (size_t)i), own = n ? starved_at(n, (size_t)i) : 1;
        if (isnan(value))
            continue;
        sum += own * value;
        weight += own;
    }
    return weight > 0 ? sum / weight : NAN;
}

static void starved_read_table(const json_t *table, starved_numbers *out)
{
    int rows = (int)json_array_size(json_object_get(table, "norm"));
    double *gradient = calloc((size_t)rows + 1, sizeof *gradient);
    if (rows == 0 || !gradient) {
        free(gradient);
        return;
    }
    starved_add(json_object_get(table, "phases"), "gradient", gradient, rows);
    out->rows = starved_late_share(gradient, rows);
    out->norm = starved_mean(table, "norm", NULL, starved_late(rows), rows) /
                starved_mean(table, "norm", NULL, 0, (rows + 3) / 4);
    free(gradient);
}

void report_starved_numbers(const run_record *run, starved_numbers *out)
{
    const json_t *exposure = json_object_get(run->record, "exposure"), *quality = json_object_get(exposure, "quality");
    const json_t *n = json_object_get(quality, "n");
    int tested = (int)json_array_size(n), late = starved_late(tested), early = (tested + 3) / 4;
    starved_input x;
    *out = (starved_numbers){NAN, NAN, NAN, NAN, NAN, NAN};
    if (report_starved_input(run, &x) == 0) {
        out->tokens = starved_late_share(x.tokens, x.count);
        out->gradient = starved_late_share(x.gradient, x.count);
    }
    report_starved_input_free(&x);
    starved_read_table(json_array_get(json_object_get(exposure, "tables"), 0), out);
    out->loss = starved_mean(quality, "loss", n, late, tested) - starved_mean(quality, "loss", n, 0, early);
    out->accuracy = starved_mean(quality, "accuracy", n, late, tested) - starved_mean(quality, "accuracy", n, 0, early);
}

/* ------------------------------------------------------------------------------------------------ the table */

enum { STARVED_NUMBERS = 6, STARVED_LOSS = 4 };

typedef struct starved_column {
    const char *name;
    double factor, least, most; /* what is shown is factor times a value, which cannot lie outside */
    int decimals, is_signed;
} starved_column;
static const starved_column starved_columns[STARVED_NUMBERS] = {
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
        report_starved_numbers(&g->view->runs.run[i], &own);
        const double all[STARVED_NUMBERS] = {own.tokens, own.gradient, own.rows, own.norm, own.loss, own.accuracy};
        for (int k = 0; k < STARVED_NUMBERS; k++)
            value[k * runs + count] = all[k];
        seed[count++] = g->view->runs.run[i].config.seed;
    }
    return count;
}

/* Mean and interval; nothing where a run has no value. */
static void starved_cell(const starved_column *c, const double *x, int n, document *d)
{
    buffer text = BUFFER_INIT, interval = BUFFER_INIT;
    double mean = n > 0 ? stat_mean(x, n) : NAN, low, high;
    if (isnan(mean)) {
        doc_add(d, DOC_CELL, "\342\200\224", NULL)->flags = DOC_DIM;
        return;
    }
    stat_bootstrap(x, n, rng_hash(c->name), &low, &high);
    buffer_add(&text, c->is_signed && mean > 0 ? "+" : "");
    buffer_fixed(&text, mean * c->factor, c->decimals);
    if (!isnan(low)) {
        buffer_fixed(&interval, fmax(low, c->least) * c->factor, c->decimals);
        buffer_add(&interval, " to ");
        buffer_fixed(&interval, fmin(high, c->most) * c->factor, c->decimals);
    }
    doc_add_buffer(d, DOC_CELL, &text, buffer_text(&interval));
    buffer_free(&interval);
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
    starved_cell(&starved_columns[STARVED_LOSS], r->d, pairs, d);
}

static void starved_row(const report_groups *g, int group, int encoding, starved_room *r, document *d)
{
    int runs = g->view->runs.count, n = starved_collect(g, group, encoding, r->value, r->seed);
    if (n == 0)
        return;
    char *title = report_group_title(g, group);
    buffer name = BUFFER_INIT, lengths = BUFFER_INIT;
    doc_name(&name, g->encoding[encoding]);
    doc_plain(&lengths, title ? title : "");
    doc_add(d, DOC_ROW, NULL, NULL);
    doc_block *b = doc_add_buffer(d, DOC_CELL, &name, g->is_baseline[encoding] ? "baseline" : NULL);
    b->has_style = 1;
    b->style = g->style[encoding];
    doc_add_buffer(d, DOC_CELL, &lengths, NULL);
    for (int k = 0; k < STARVED_NUMBERS; k++) {
        starved_cell(&starved_columns[k], r->value + k * runs, n, d);
        if (k == STARVED_LOSS)
            starved_against(g, group, encoding, n, r, d);
    }
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
    doc_add(d, DOC_COLUMN, "training", NULL)->flags = DOC_LEFT;
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
    failed |= report_groups_find(v, report_starved_takes, NULL, &g);
    d->failed |= failed != 0;
    if (!failed && g.count > 0) {
        starved_heading(d);
        for (int group = 0; group < g.count; group++)
            for (int i = 0; i < g.encodings; i++)
                starved_row(&g, group, i, &r, d);
        doc_add(d, DOC_TABLE_END, NULL, NULL);
    }
    report_groups_free(&g);
    free(r.value);
    free(r.base);
    free(r.d);
    free(r.seed);
    free(r.base_seed);
}
