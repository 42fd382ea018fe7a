/* summary_extension.c - what runs measured after training, at longer lengths, over the seeds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "metric.h"
#include "rng.h"
#include "summary.h"

/* One value of one run: an element of its record's "extension". */
typedef struct longer_item {
    const run_record *run;
    const char *metric, *mode, *method, *task_options, *status, *flag, *reason;
    int steps, eval_len;
    double factor, ratio, tokens, value;
} longer_item;

static const char *longer_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static double longer_number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static longer_item longer_read(const run_record *run, const json_t *row)
{
    return (longer_item){.run = run,
                         .metric = longer_text(row, "metric"),
                         .mode = longer_text(row, "mode"),
                         .method = longer_text(row, "method"),
                         .task_options = longer_text(row, "task_options"),
                         .status = longer_text(row, "status"),
                         .flag = longer_text(row, "flag"),
                         .reason = longer_text(row, "reason"),
                         .steps = (int)json_integer_value(json_object_get(row, "steps")),
                         .eval_len = (int)json_integer_value(json_object_get(row, "max_len")),
                         .factor = longer_number(row, "factor"),
                         .ratio = longer_number(row, "ratio"),
                         .tokens = longer_number(row, "tokens"),
                         .value = longer_number(row, "value")};
}

static int longer_number_order(double a, double b)
{
    return (a > b) - (a < b);
}

/* The order of the rows. Equal: one row. */
static int longer_compare_rows(const longer_item *a, const longer_item *b)
{
    int order = strcmp(a->run->config.task, b->run->config.task);
    if (!order)
        order = strcmp(a->metric, b->metric);
    if (!order)
        order = strcmp(a->mode, b->mode);
    if (!order)
        order = a->run->config.train.len - b->run->config.train.len;
    if (!order)
        order = longer_number_order(a->factor, b->factor);
    if (!order)
        order = a->eval_len - b->eval_len;
    if (!order)
        order = strcmp(a->run->label, b->run->label);
    if (!order)
        order = strcmp(a->method, b->method);
    if (!order)
        order = strcmp(a->task_options, b->task_options);
    return order ? order : a->steps - b->steps;
}

static int longer_compare(const void *a, const void *b)
{
    const longer_item *x = a, *y = b;
    int order = longer_compare_rows(x, y);
    if (!order)
        order = (x->run->config.seed > y->run->config.seed) - (x->run->config.seed < y->run->config.seed);
    return order ? order : strcmp(x->run->key, y->run->key);
}

/* The first text; `mixed` where others differ from it. */
static const char *longer_agree(const char *one, const char *other, const char *mixed)
{
    return strcmp(one, other) == 0 ? one : mixed;
}

static void longer_statistics(summary_extension *x)
{
    const metric *m = metric_find(x->metric);
    x->mean = x->sd = x->median = x->ci_low = x->ci_high = NAN;
    if (x->seeds == 0)
        return;
    x->mean = stat_mean(x->value, x->seeds);
    x->sd = stat_sd(x->value, x->seeds);
    x->median = stat_median(x->value, x->seeds);
    if (x->seeds < 2)
        return;
    buffer name = BUFFER_INIT;
    buffer_format(&name, "extension|%s|%s|%s|%s|%s|%s|%d|%d|%d|", x->task, x->encoding, x->method, x->task_options,
                  x->metric, x->mode, x->train_len, x->eval_len, x->steps);
    buffer_number(&name, x->factor);
    stat_bootstrap(x->value, x->seeds, rng_hash(buffer_text(&name)), &x->ci_low, &x->ci_high);
    buffer_free(&name);
    x->ci_low = fmax(x->ci_low, m->low);
    x->ci_high = fmin(x->ci_high, m->high);
}

/* `count` items of one row. */
static int longer_build(const longer_item *items, int count, summary_extension *x)
{
    const run_config *c = &items[0].run->config;
    const char *status = items[0].status, *flag = items[0].flag, *reason = items[0].reason;
    *x = (summary_extension){.encoding = strdup(items[0].run->label),
                             .task = strdup(c->task),
                             .metric = strdup(items[0].metric),
                             .mode = strdup(items[0].mode),
                             .method = strdup(items[0].method),
                             .task_options = strdup(items[0].task_options),
                             .train_len = c->train.len,
                             .steps = items[0].steps,
                             .eval_len = items[0].eval_len,
                             .factor = items[0].factor,
                             .ratio = items[0].ratio,
                             .value = calloc((size_t)count, sizeof(double))};
    if (!x->encoding || !x->task || !x->metric || !x->mode || !x->method || !x->task_options || !x->value)
        return -1;
    for (int i = 0; i < count; i++) {
        x->tokens += items[i].tokens / count;
        status = longer_agree(status, items[i].status, "mixed");
        flag = longer_agree(flag, items[i].flag, "mixed");
        if (!isnan(items[i].value))
            x->value[x->seeds++] = items[i].value;
        reason = *reason ? reason : items[i].reason;
    }
    x->reason = strdup(reason);
    snprintf(x->status, sizeof x->status, "%s", x->seeds > 0 ? "ok" : status);
    snprintf(x->flag, sizeof x->flag, "%s", flag);
    longer_statistics(x);
    return x->reason ? 0 : -1;
}

int summary_extensions(const results *r, summary *s)
{
    size_t room = 1;
    int count = 0, end, result = 0;
    for (int i = 0; i < r->count; i++)
        room += json_array_size(json_object_get(r->run[i].record, "extension"));
    longer_item *items = calloc(room, sizeof *items);
    s->extension = calloc(room, sizeof *s->extension);
    for (int i = 0; items && i < r->count; i++) {
        const json_t *row;
        size_t at;
        if (r->run[i].ok)
            json_array_foreach(json_object_get(r->run[i].record, "extension"), at, row) items[count++] =
                longer_read(&r->run[i], row);
    }
    if (items)
        qsort(items, (size_t)count, sizeof *items, longer_compare);
    for (int first = 0; items && s->extension && first < count && result == 0; first = end) {
        for (end = first + 1; end < count && longer_compare_rows(&items[first], &items[end]) == 0;)
            end++;
        result = longer_build(&items[first], end - first, &s->extension[s->extensions++]);
    }
    result = items && s->extension ? result : -1;
    free(items);
    return result;
}
