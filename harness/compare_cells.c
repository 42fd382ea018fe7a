#include "compare_cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "metric.h"
#include "rng.h"
#include "summary.h"

/* What keeps a cell from statistics, counted over its pairs. */
typedef struct cells_tally {
    int broken[2], undefined[2]; /* runs that did not end well; values that are not there */
    int other_version, other_data;
    double version[2];
    double *a, *b; /* [matched] values of the pairs that count, `pairs` of them */
} cells_tally;

static const char *cells_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static int cells_is_at(const json_t *row, const compare_cell *at)
{
    return strcmp(cells_text(row, "metric"), at->metric) == 0 && strcmp(cells_text(row, "mode"), at->mode) == 0 &&
           json_integer_value(json_object_get(row, "min_len")) == at->min_len &&
           json_integer_value(json_object_get(row, "max_len")) == at->eval_len;
}

/* NULL: this run was not tested there. */
static const json_t *cells_find(const run_record *run, const compare_cell *at)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(run->record, "evaluation"), i, row) if (cells_is_at(row, at)) return row;
    return NULL;
}

static double cells_value(const json_t *row)
{
    const json_t *value = json_object_get(row, "value");
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ------------------------------------------------------------------------------------------------ one cell */

/* A record of before tasks had versions says none: NAN, which is no version to compare with. */
static int cells_same_task(const run_record *a, const run_record *b, cells_tally *t)
{
    double one = results_number(a, "data.task_version"), other = results_number(b, "data.task_version");
    int same_version = one == other || (isnan(one) && isnan(other));
    int same_data = strcmp(results_string(a, "data.corpus_sha256"), results_string(b, "data.corpus_sha256")) == 0;
    if (!same_version) {
        t->version[0] = one;
        t->version[1] = other;
    }
    t->other_version += !same_version;
    t->other_data += !same_data;
    return same_version && same_data;
}

static void cells_add(const compare_match *m, compare_cell *cell, cells_tally *t)
{
    const run_record *run[2] = {m->record, m->partner};
    double value[2] = {NAN, NAN};
    cell->matched++;
    for (int side = 0; side < 2; side++) {
        if (!run[side]->ok) {
            t->broken[side]++;
            continue;
        }
        value[side] = cells_value(cells_find(run[side], cell));
        t->undefined[side] += isnan(value[side]);
    }
    if (run[0]->ok && run[1]->ok)
        cells_same_task(run[0], run[1], t);
    if (isnan(value[0]) || isnan(value[1]))
        return;
    t->a[cell->pairs] = value[0];
    t->b[cell->pairs++] = value[1];
}

/* Whether any run of a side that ended well was tested there. */
static int cells_tested(const compare_match *m, int count, int side, const compare_cell *cell)
{
    for (int i = 0; i < count; i++) {
        const run_record *run = side == 0 ? m[i].record : m[i].partner;
        if (m[i].partner && run->ok && cells_find(run, cell))
            return 1;
    }
    return 0;
}

static void cells_version(double version, char text[16])
{
    if (isnan(version))
        snprintf(text, 16, "none");
    else
        snprintf(text, 16, "%.0f", version);
}

/* ", 2 without a value in B"; nothing for none. */
static void cells_losses(const cells_tally *t, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (int side = 0; side < 2; side++) {
        if (t->broken[side] && length < size)
            length += (size_t)snprintf(out + length, size - length, ", %d %s %c gave no result", t->broken[side],
                                       t->broken[side] == 1 ? "run of" : "runs of", 'A' + side);
        if (t->undefined[side] && length < size)
            length += (size_t)snprintf(out + length, size - length, ", %d without a value in %c", t->undefined[side],
                                       'A' + side);
    }
}

/* Says what is missing and why; 0: nothing is. */
static int cells_explain(const compare_match *m, int count, const cells_tally *t, compare_cell *cell)
{
    char one[16], other[16], losses[96];
    int tested[2] = {cells_tested(m, count, 0, cell), cells_tested(m, count, 1, cell)};
    cells_losses(t, losses, sizeof losses);
    if (tested[0] != tested[1] && t->broken[tested[0]] < cell->matched) {
        snprintf(cell->why, sizeof cell->why, "other test lengths: only %c was tested here", tested[0] ? 'A' : 'B');
    } else if (t->other_version) {
        cells_version(t->version[0], one);
        cells_version(t->version[1], other);
        snprintf(cell->why, sizeof cell->why, "other task version (%s | %s): the sequences are not the same", one,
                 other);
    } else if (t->other_data) {
        snprintf(cell->why, sizeof cell->why, "other data: the corpus has another SHA-256");
    } else if (cell->pairs < 2) {
        snprintf(cell->why, sizeof cell->why, "too few pairs (%d of %d)%s", cell->pairs, cell->matched, losses);
    }
    return cell->why[0] != '\0';
}

/* The numbers of a bootstrap follow from what is resampled alone, whatever else lies in the folders. */
static uint64_t cells_stream(const compare_cell *cell)
{
    buffer name = BUFFER_INIT;
    buffer_format(&name, "compare|%s|%s|%s|%s|%d-%d", cell->task, cell->encoding, cell->metric, cell->mode,
                  cell->min_len, cell->eval_len);
    uint64_t stream = rng_hash(buffer_text(&name));
    buffer_free(&name);
    return stream;
}

static void cells_statistics(const compare_match *m, int count, cells_tally *t, compare_cell *cell)
{
    int n = cell->pairs, comparable = !t->other_version && !t->other_data;
    cell->mean_a = n ? stat_mean(t->a, n) : NAN;
    cell->mean_b = n ? stat_mean(t->b, n) : NAN;
    cell->difference = cell->low = cell->high = NAN;
    int missing = cells_explain(m, count, t, cell);
    if (n == 0 || !comparable)
        return;
    for (int i = 0; i < n; i++)
        t->b[i] -= t->a[i];
    cell->difference = stat_mean(t->b, n);
    if (!missing)
        stat_bootstrap(t->b, n, cells_stream(cell), &cell->low, &cell->high);
}

static int cells_fill(const compare_match *m, int count, compare_cell *cell)
{
    cells_tally t = {.a = calloc((size_t)count + 1, sizeof(double)), .b = calloc((size_t)count + 1, sizeof(double))};
    int failed = !t.a || !t.b;
    for (int i = 0; i < count && !failed; i++)
        if (m[i].partner)
            cells_add(&m[i], cell, &t);
    if (!failed)
        cells_statistics(m, count, &t, cell);
    free(t.a);
    free(t.b);
    return failed ? -1 : 0;
}

/* ------------------------------------------------------------------------------------------------ all cells */

static int cells_known(const comparison *c, int from, const json_t *row)
{
    for (int i = from; i < c->cell_count; i++)
        if (cells_is_at(row, &c->cell[i]))
            return 1;
    return 0;
}

/* Adds a cell for each score and length that one run was tested at, if there is none yet from `from` on. */
static int cells_open(comparison *c, const run_record *run, const run_record *named, int from)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(run->record, "evaluation"), i, row)
    {
        if (metric_find(cells_text(row, "metric"))->role != METRIC_SCORE || cells_known(c, from, row))
            continue;
        compare_cell *larger = realloc(c->cell, ((size_t)c->cell_count + 1) * sizeof *larger);
        if (!larger)
            return -1;
        c->cell = larger;
        c->cell[c->cell_count++] = (compare_cell){.encoding = named->label,
                                                  .task = named->config.task,
                                                  .metric = cells_text(row, "metric"),
                                                  .mode = cells_text(row, "mode"),
                                                  .min_len = (int)json_integer_value(json_object_get(row, "min_len")),
                                                  .eval_len = (int)json_integer_value(json_object_get(row, "max_len"))};
    }
    return 0;
}

static int cells_order(const void *a, const void *b)
{
    const compare_cell *x = a, *y = b;
    int order = strcmp(x->task, y->task);
    if (!order)
        order = strcmp(x->metric, y->metric);
    if (!order)
        order = strcmp(x->mode, y->mode);
    if (!order)
        order = strcmp(x->encoding, y->encoding);
    if (!order)
        order = x->eval_len - y->eval_len;
    return order ? order : x->min_len - y->min_len;
}

/* Runs m[0 .. count-1] differ in the seed alone, what is left out aside. */
static int cells_group(comparison *c, const compare_match *m, int count)
{
    int from = c->cell_count;
    for (int i = 0; i < count; i++)
        if (m[i].partner &&
            (cells_open(c, m[i].record, m[i].record, from) < 0 || cells_open(c, m[i].partner, m[i].record, from) < 0))
            return -1;
    for (int i = from; i < c->cell_count; i++)
        if (cells_fill(m, count, &c->cell[i]) < 0)
            return -1;
    return 0;
}

int compare_cells(comparison *c, const compare_match *m, int count, error *e)
{
    int end, failed = 0;
    for (int first = 0; first < count && !failed; first = end) {
        for (end = first + 1; end < count && strcmp(m[first].cell, m[end].cell) == 0;)
            end++;
        failed = cells_group(c, m + first, end - first) < 0;
    }
    if (failed)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    if (c->cell_count)
        qsort(c->cell, (size_t)c->cell_count, sizeof *c->cell, cells_order);
    return 0;
}
