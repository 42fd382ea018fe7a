#include "summary.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "metric.h"
#include "rng.h"

/* One value of one run: an element of its record's "evaluation". */
typedef struct summary_item {
    const run_record *run;
    const char *metric, *mode, *status, *flag;
    int min_len, eval_len;
    double ratio, value;
} summary_item;

/* ------------------------------------------------------------------------------------------------ from records */

static const char *summary_string(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static double summary_number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static summary_item summary_item_read(const run_record *run, const json_t *row)
{
    return (summary_item){.run = run,
                          .metric = summary_string(row, "metric"),
                          .mode = summary_string(row, "mode"),
                          .status = summary_string(row, "status"),
                          .flag = summary_string(row, "flag"),
                          .min_len = (int)json_integer_value(json_object_get(row, "min_len")),
                          .eval_len = (int)json_integer_value(json_object_get(row, "max_len")),
                          .ratio = summary_number(row, "ratio"),
                          .value = summary_number(row, "value")};
}

/* All values of all runs that ended well. The caller frees the array. */
static summary_item *summary_items(const results *r, int *count, error *e)
{
    size_t room = 1;
    for (int i = 0; i < r->count; i++)
        room += json_array_size(json_object_get(r->run[i].record, "evaluation"));
    summary_item *items = calloc(room, sizeof *items);
    if (!items) {
        error_set(e, ERROR_ENVIRONMENT, "out of memory");
        return NULL;
    }
    *count = 0;
    for (int i = 0; i < r->count; i++) {
        size_t at;
        json_t *row;
        if (!r->run[i].ok)
            continue;
        json_array_foreach(json_object_get(r->run[i].record, "evaluation"), at, row) items[(*count)++] =
            summary_item_read(&r->run[i], row);
    }
    return items;
}

/* The order of summary_rows, except for the encoding and the seed. Equal: the same point of all encodings' curves. */
static int summary_compare_point(const summary_item *a, const summary_item *b)
{
    int order = strcmp(a->run->config.task, b->run->config.task);
    if (!order)
        order = strcmp(a->metric, b->metric);
    if (!order)
        order = strcmp(a->mode, b->mode);
    if (!order)
        order = a->run->config.train.len - b->run->config.train.len;
    if (!order)
        order = a->eval_len - b->eval_len;
    return order ? order : a->min_len - b->min_len;
}

static int summary_compare_curve(const summary_item *a, const summary_item *b)
{
    int order = summary_compare_point(a, b);
    return order ? order : strcmp(a->run->label, b->run->label);
}

static int summary_compare(const void *a, const void *b)
{
    const summary_item *x = a, *y = b;
    int order = summary_compare_curve(x, y);
    if (!order)
        order = (x->run->config.seed > y->run->config.seed) - (x->run->config.seed < y->run->config.seed);
    return order ? order : strcmp(x->run->key, y->run->key);
}

/* ------------------------------------------------------------------------------------------------ rows */

/* The text (at `field` of each item) on which all items agree, or "mixed". */
static void summary_agree(const summary_item *items, int count, size_t field, char *out, size_t size)
{
    for (int i = 0; i < count; i++) {
        const char *text = *(const char *const *)((const char *)&items[i] + field);
        if (i == 0)
            snprintf(out, size, "%s", text);
        else if (strncmp(out, text, size - 1) != 0)
            snprintf(out, size, "mixed");
    }
}

/* The numbers of one bootstrap follow from what is resampled alone, so that adding an encoding changes no interval. */
static uint64_t summary_stream(const summary_row *row)
{
    buffer name = BUFFER_INIT;
    buffer_format(&name, "%s|%s|%s|%s|%d|%d-%d", row->task, row->encoding, row->metric, row->mode, row->train_len,
                  row->min_len, row->eval_len);
    uint64_t stream = rng_hash(buffer_text(&name));
    buffer_free(&name);
    return stream;
}

static void summary_statistics(summary_row *row)
{
    const metric *m = metric_find(row->metric);
    double fitted = 0;
    row->mean = row->sd = row->median = row->ci_low = row->ci_high = row->rank = row->mean_fitted = row->chance = NAN;
    if (row->seeds == 0)
        return;
    for (int i = 0; i < row->seeds; i++)
        fitted += row->fit[i] ? row->value[i] : 0;
    row->mean_fitted = row->fitted > 0 ? fitted / row->fitted : NAN;
    row->mean = stat_mean(row->value, row->seeds);
    row->sd = stat_sd(row->value, row->seeds);
    row->median = stat_median(row->value, row->seeds);
    if (row->seeds < 2)
        return;
    stat_bootstrap(row->value, row->seeds, summary_stream(row), &row->ci_low, &row->ci_high);
    row->ci_low = fmax(row->ci_low, m->low);
    row->ci_high = fmin(row->ci_high, m->high);
}

/* `count` items of one point and one encoding. */
static int summary_row_build(const summary_item *items, int count, summary_row *row)
{
    const run_config *c = &items[0].run->config;
    *row = (summary_row){.encoding = strdup(items[0].run->label),
                         .task = strdup(c->task),
                         .metric = strdup(items[0].metric),
                         .mode = strdup(items[0].mode),
                         .train_len = c->train.len,
                         .min_len = items[0].min_len,
                         .eval_len = items[0].eval_len,
                         .ratio = items[0].ratio,
                         .value = calloc((size_t)count, sizeof(double)),
                         .is_baseline = items[0].run->is_baseline,
                         .seed = calloc((size_t)count, sizeof(int)),
                         .fit = calloc((size_t)count, sizeof(int))};
    if (!row->encoding || !row->task || !row->metric || !row->mode || !row->value || !row->seed || !row->fit)
        return -1;
    for (int i = 0; i < count; i++) {
        if (isnan(items[i].value))
            continue;
        row->value[row->seeds] = items[i].value;
        row->fit[row->seeds] = items[i].run->fitted;
        row->seed[row->seeds++] = items[i].run->config.seed;
        row->fitted += items[i].run->fitted;
    }
    summary_agree(items, count, offsetof(summary_item, flag), row->flag, sizeof row->flag);
    if (row->seeds > 0)
        snprintf(row->status, sizeof row->status, "ok");
    else
        summary_agree(items, count, offsetof(summary_item, status), row->status, sizeof row->status);
    summary_statistics(row);
    return 0;
}

/* Rows first .. end-1 are the encodings of one point. */
static void summary_rank(summary_row *rows, int count)
{
    const metric *m = metric_find(rows[0].metric);
    double mean[count], rank[count];
    int compared = 0;
    for (int i = 0; i < count; i++) {
        mean[i] = rows[i].mean;
        compared += !isnan(mean[i]);
    }
    stat_ranks(mean, count, m->higher_is_better, rank);
    for (int i = 0; i < count; i++)
        rows[i].rank = m->role == METRIC_SCORE && compared > 1 ? rank[i] : NAN;
}

/* The mean of the metric's level of chance at the same lengths, of whichever encoding has one. */
static double summary_chance(const summary *s, const summary_row *at)
{
    const char *name = metric_find(at->metric)->chance;
    for (int i = 0; name && i < s->count; i++) {
        const summary_row *row = &s->rows[i];
        if (row->eval_len == at->eval_len && row->min_len == at->min_len && row->train_len == at->train_len &&
            row->seeds > 0 && strcmp(row->metric, name) == 0 && strcmp(row->task, at->task) == 0)
            return row->mean;
    }
    return NAN;
}

static int summary_same_point(const summary_row *a, const summary_row *b)
{
    return a->eval_len == b->eval_len && a->min_len == b->min_len && a->train_len == b->train_len &&
           strcmp(a->task, b->task) == 0 && strcmp(a->metric, b->metric) == 0 && strcmp(a->mode, b->mode) == 0;
}

static void summary_add_chance(summary *s)
{
    for (int i = 0; i < s->count; i++)
        s->rows[i].chance = i > 0 && summary_same_point(&s->rows[i - 1], &s->rows[i]) ? s->rows[i - 1].chance
                                                                                      : summary_chance(s, &s->rows[i]);
}

static void summary_count(const results *r, summary *s)
{
    s->records = r->count;
    for (int i = 0; i < r->count; i++) {
        s->diverged += strcmp(r->run[i].status, "diverged") == 0;
        s->failed += strcmp(r->run[i].status, "failed") == 0;
        s->interrupted += strcmp(r->run[i].status, "interrupted") == 0;
        s->exposed += r->run[i].ok && json_object_get(r->run[i].record, "exposure");
    }
}

static int summary_rows_build(const summary_item *items, int count, summary *out)
{
    int end, curve;
    for (int first = 0; first < count; first = end) {
        int row = out->count;
        for (end = first; end < count && summary_compare_point(&items[first], &items[end]) == 0; end = curve) {
            for (curve = end + 1; curve < count && summary_compare_curve(&items[end], &items[curve]) == 0;)
                curve++;
            if (summary_row_build(&items[end], curve - end, &out->rows[out->count++]) < 0)
                return -1;
        }
        summary_rank(out->rows + row, out->count - row);
    }
    return 0;
}

int summary_build(const results *r, summary *out, error *e)
{
    *out = (summary){0};
    int count;
    summary_item *items = summary_items(r, &count, e);
    if (!items)
        return -1;
    qsort(items, (size_t)count, sizeof *items, summary_compare);
    summary_count(r, out);
    out->rows = calloc((size_t)count + 1, sizeof *out->rows);
    int result = out->rows ? summary_rows_build(items, count, out) : -1;
    free(items);
    if (result == 0) {
        summary_add_chance(out);
        result = summary_curves(out) < 0 || summary_contrasts(out) < 0 || summary_extensions(r, out) < 0 ? -1 : 0;
    }
    if (result < 0) {
        summary_free(out);
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    }
    return 0;
}

void summary_free(summary *s)
{
    for (int i = 0; i < s->count; i++) {
        summary_row *row = &s->rows[i];
        free(row->encoding);
        free(row->task);
        free(row->metric);
        free(row->mode);
        free(row->value);
        free(row->seed);
        free(row->fit);
    }
    for (int i = 0; i < s->curves; i++) {
        free(s->curve[i].point);
        free(s->curve[i].area);
        free(s->curve[i].seed);
    }
    free(s->rows);
    free(s->curve);
    free(s->contrast);
    for (int i = 0; i < s->extensions; i++) {
        summary_extension *x = &s->extension[i];
        free(x->encoding);
        free(x->task);
        free(x->metric);
        free(x->mode);
        free(x->method);
        free(x->task_options);
        free(x->reason);
        free(x->value);
    }
    free(s->extension);
    *s = (summary){0};
}

int summary_collect(const char *dir, summary *out, error *e)
{
    results r;
    summary s = {0};
    error fault = ERROR_INIT;
    int result = results_load(dir, &r, &fault);
    if (r.count > 0 && (summary_build(&r, &s, e) < 0 || summary_write(dir, &r, &s, e) < 0))
        result = -1;
    if (fault.kind != ERROR_NONE)
        error_set(e, fault.kind, "%s", fault.message);
    results_free(&r);
    if (out)
        *out = s;
    else
        summary_free(&s);
    return result;
}
