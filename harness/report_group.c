#include "report_group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lengths.h"
#include "rng.h"

/* A label is "name" or "name [row=value, row=value]" (results_label.h). */
static const char *group_bracket(const char *label)
{
    const char *bracket = strstr(label, " [");
    return bracket ? bracket : label + strlen(label);
}

char *report_label_name(const char *label)
{
    return strndup(label, (size_t)(group_bracket(label) - label));
}

char *report_label_setting(const char *label, const char *without)
{
    buffer b = BUFFER_INIT;
    const char *item = group_bracket(label);
    size_t skipped = without ? strlen(without) : 0;
    buffer_add(&b, "");
    for (item += *item ? 2 : 0; *item;) {
        const char *end = strstr(item, ", ");
        size_t length = end ? (size_t)(end - item) : strlen(item) - 1; /* the last is followed by "]" */
        if (!(without && strncmp(item, without, skipped) == 0 && item[skipped] == '=')) {
            buffer_add(&b, b.length ? ", " : "");
            buffer_bytes(&b, item, length);
        }
        item += end ? length + 2 : strlen(item);
    }
    return buffer_take(&b);
}

static int group_find(report_groups *g, const run_record *run, int at, const char *without)
{
    char *setting = report_label_setting(run->label, without);
    if (!setting)
        return -1;
    for (int i = 0; i < g->count; i++)
        if (strcmp(g->item[i].task, run->config.task) == 0 && g->item[i].train_len == run->config.train.len &&
            strcmp(g->item[i].setting, setting) == 0) {
            free(setting);
            return i;
        }
    g->item[g->count] = (report_group){run->config.task, run->config.train.len, setting, at};
    return g->count++;
}

static int group_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int group_encoding(const report_groups *g, const char *name)
{
    for (int i = 0; i < g->encodings; i++)
        if (strcmp(g->encoding[i], name) == 0)
            return i;
    return -1;
}

static int group_add_encoding(report_groups *g, const char *label)
{
    char *name = report_label_name(label);
    if (!name || group_encoding(g, name) >= 0) {
        free(name);
        return name ? 0 : -1;
    }
    g->encoding[g->encodings++] = name;
    return 0;
}

static int group_runs(report_groups *g, int (*takes)(const run_record *run), const char *without)
{
    const results *r = &g->view->runs;
    for (int i = 0; i < r->count; i++) {
        g->of[i] = g->encoding_of[i] = -1;
        if (!takes(&r->run[i]))
            continue;
        g->of[i] = group_find(g, &r->run[i], i, without);
        if (g->of[i] < 0 || group_add_encoding(g, r->run[i].label) < 0)
            return -1;
    }
    qsort(g->encoding, (size_t)g->encodings, sizeof *g->encoding, group_compare);
    for (int i = 0; i < r->count; i++) {
        char *name = g->of[i] >= 0 ? report_label_name(r->run[i].label) : NULL;
        if (!name)
            continue;
        g->encoding_of[i] = group_encoding(g, name);
        g->is_baseline[g->encoding_of[i]] |= r->run[i].is_baseline;
        free(name);
    }
    palette_assign((const char *const *)g->encoding, g->encodings, g->style);
    return 0;
}

/* Whether b should stand before a. */
static int group_is_later(const report_groups *g, const report_group *a, const report_group *b)
{
    const run_record *run = g->view->runs.run;
    if (strcmp(a->task, b->task) != 0 || a->train_len != b->train_len)
        return strcmp(a->task, b->task) == 0 && a->train_len > b->train_len;
    return lengths_mean(&run[a->first].config) < lengths_mean(&run[b->first].config);
}

static void group_swap(report_groups *g, int i)
{
    report_group moved = g->item[i];
    g->item[i] = g->item[i + 1];
    g->item[i + 1] = moved;
    for (int k = 0; k < g->view->runs.count; k++)
        g->of[k] = g->of[k] == i ? i + 1 : g->of[k] == i + 1 ? i : g->of[k];
}

/* Runs come by task, so tasks are together already. */
static void group_order(report_groups *g)
{
    for (int round = 1; round < g->count; round++)
        for (int i = 0; i + 1 < g->count; i++)
            if (group_is_later(g, &g->item[i], &g->item[i + 1]))
                group_swap(g, i);
}

int report_groups_find(const report_view *v, int (*takes)(const run_record *run), const char *without,
                       report_groups *out)
{
    size_t room = (size_t)v->runs.count + 1;
    *out = (report_groups){.view = v};
    out->item = calloc(room, sizeof *out->item);
    out->of = calloc(room, sizeof *out->of);
    out->encoding = calloc(room, sizeof *out->encoding);
    out->encoding_of = calloc(room, sizeof *out->encoding_of);
    out->style = calloc(room, sizeof *out->style);
    out->is_baseline = calloc(room, sizeof *out->is_baseline);
    if (!out->item || !out->of || !out->encoding || !out->encoding_of || !out->style || !out->is_baseline)
        return -1;
    if (group_runs(out, takes, without) < 0)
        return -1;
    group_order(out);
    return 0;
}

void report_groups_free(report_groups *g)
{
    for (int i = 0; i < g->count; i++)
        free(g->item[i].setting);
    for (int i = 0; i < g->encodings; i++)
        free(g->encoding[i]);
    free(g->item);
    free(g->of);
    free(g->encoding);
    free(g->encoding_of);
    free(g->style);
    free(g->is_baseline);
    *g = (report_groups){0};
}

void report_lengths_words(const run_config *c, buffer *out)
{
    if (c->train.min_len == c->train.len) {
        buffer_format(out, "length %d", c->train.len);
        return;
    }
    buffer_format(out, "lengths %d-%d, ", c->train.min_len, c->train.len);
    if (c->train.lengths == CONFIG_LENGTHS_GEOMETRIC && c->train.length_ratio != 1) {
        buffer_add(out, "geometric ");
        buffer_number(out, c->train.length_ratio);
    } else if (c->train.lengths == CONFIG_LENGTHS_WEIGHTS) {
        buffer_add(out, "weights ");
        for (int i = 0; i < c->train.length_weights.count; i++) {
            buffer_add(out, i ? ":" : "");
            buffer_number(out, c->train.length_weights.value[i]);
        }
    } else {
        buffer_add(out, "uniform");
    }
    buffer_add(out, ", mean ");
    buffer_fixed(out, lengths_mean(c), 1);
}

/* Whether another group would have the same heading: of another task, or under another setting. */
static void group_ambiguous(const report_groups *g, int group, const char *words, int *by_task, int *by_setting)
{
    const report_group *own = &g->item[group];
    *by_task = *by_setting = 0;
    for (int i = 0; i < g->count; i++) {
        buffer other = BUFFER_INIT;
        report_lengths_words(&g->view->runs.run[g->item[i].first].config, &other);
        int same_task = strcmp(g->item[i].task, own->task) == 0;
        *by_task |= !same_task;
        *by_setting |= i != group && same_task && strcmp(buffer_text(&other), words) == 0;
        buffer_free(&other);
    }
}

char *report_group_title(const report_groups *g, int group)
{
    const report_group *own = &g->item[group];
    int by_task, by_setting;
    buffer b = BUFFER_INIT, words = BUFFER_INIT;
    report_lengths_words(&g->view->runs.run[own->first].config, &words);
    group_ambiguous(g, group, buffer_text(&words), &by_task, &by_setting);
    if (by_task)
        buffer_format(&b, "%s, ", own->task);
    buffer_add(&b, buffer_text(&words));
    if (by_setting)
        buffer_format(&b, ", %s", own->setting);
    buffer_free(&words);
    return buffer_take(&b);
}

/* ------------------------------------------------------------------------------------------------ a cell */

void report_mean_cell(const report_column *c, const double *x, int n, document *d)
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
