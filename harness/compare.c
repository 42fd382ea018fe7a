#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_cells.h"
#include "options.h"

enum { COMPARE_TEXT_MAX = 8192 };

/* ------------------------------------------------------------------------------------------------ what is left out */

/* Encoding, task and seed are what runs are matched by, unless the caller leaves one out. */
static int compare_is_identity(const pe_option *row)
{
    return !strchr(row->name, '.');
}

static int compare_is_asked(const pe_option *row, const char *const *ignore, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(row->name, ignore[i]) == 0)
            return 1;
    return 0;
}

/* The one value that all runs of a task have in a row. 1, or 0 when they have several or there are none. */
static int compare_value_of(const results *r, const char *task, const pe_option *row, char value[COMPARE_TEXT_MAX])
{
    int runs = 0;
    for (int i = 0; i < r->count; i++) {
        char text[COMPARE_TEXT_MAX];
        if (strcmp(r->run[i].config.task, task) != 0)
            continue;
        options_print_value(row, &r->run[i].config, text, sizeof text);
        if (runs++ && strcmp(text, value) != 0)
            return 0;
        strcpy(value, text);
    }
    return runs > 0;
}

static int compare_differs_by_design(const comparison *c, const char *task, const pe_option *row)
{
    char a[COMPARE_TEXT_MAX], b[COMPARE_TEXT_MAX];
    return !compare_is_identity(row) && compare_value_of(&c->side[0], task, row, a) &&
           compare_value_of(&c->side[1], task, row, b) && strcmp(a, b) != 0;
}

/* The value of a row in all runs of a side: itself, or "several". */
static void compare_show_value(const results *r, const pe_option *row, char out[COMPARE_VALUE_MAX])
{
    char first[COMPARE_TEXT_MAX] = "", text[COMPARE_TEXT_MAX];
    int same = 1;
    for (int i = 0; i < r->count; i++) {
        options_print_value(row, &r->run[i].config, text, sizeof text);
        if (i == 0)
            strcpy(first, text);
        same &= strcmp(first, text) == 0;
    }
    snprintf(out, COMPARE_VALUE_MAX, "%.*s", COMPARE_VALUE_MAX - 1, same ? first : "several");
}

static void compare_note(comparison *c, const pe_option *row, const char *reason)
{
    for (int i = 0; i < c->setting_count; i++)
        if (strcmp(c->setting[i].row, row->name) == 0)
            return;
    compare_setting *s = &c->setting[c->setting_count++];
    *s = (compare_setting){.row = row->name, .reason = reason};
    compare_show_value(&c->side[0], row, s->a);
    compare_show_value(&c->side[1], row, s->b);
}

/* ------------------------------------------------------------------------------------------------ matching */

/* Which rows the runs of one task are not matched by. */
typedef struct compare_rules {
    const char *const *ignore;
    int ignore_count;
    char task[PE_TEXT_MAX];                   /* the task that left_out is of; empty: of none yet */
    unsigned char left_out[COMPARE_ROWS_MAX]; /* [i] belongs to config_rows[i] */
} compare_rules;

static void compare_rules_for(comparison *c, const char *task, compare_rules *rules)
{
    if (strcmp(rules->task, task) == 0)
        return;
    snprintf(rules->task, sizeof rules->task, "%s", task);
    for (const pe_option *row = config_rows; row->name; row++) {
        int asked = compare_is_asked(row, rules->ignore, rules->ignore_count);
        int tuned = strcmp(row->name, "train.lr") == 0 && (c->side[0].tuned || c->side[1].tuned);
        rules->left_out[row - config_rows] = asked || tuned || compare_differs_by_design(c, task, row);
        if (rules->left_out[row - config_rows])
            compare_note(c, row, asked ? "left out on request" : tuned ? "chosen by tuning" : "differs by design");
    }
}

/* A run with what is left out set back to its default; without its seed too if `any_seed`. */
static void compare_reduce(const compare_rules *rules, const run_config *from, int any_seed, char *out, size_t size)
{
    run_config reduced = *from, initial;
    config_defaults(&initial);
    for (const pe_option *row = config_rows; row->name; row++) {
        char usual[COMPARE_TEXT_MAX];
        error unused = ERROR_INIT;
        if (!rules->left_out[row - config_rows])
            continue;
        options_print_value(row, &initial, usual, sizeof usual);
        config_set(&reduced, row->name, row->kind == PE_OPTION_TEXT ? "" : usual, &unused);
    }
    if (any_seed)
        reduced.seed = 0;
    config_print(&reduced, out, size);
}

static int compare_match_order(const void *a, const void *b)
{
    const compare_match *x = a, *y = b;
    int order = strcmp(x->cell, y->cell);
    if (!order)
        order = strcmp(x->run, y->run);
    if (!order)
        order = x->side - y->side;
    return order ? order : strcmp(x->record->key, y->record->key);
}

/* All runs of both sides, alike ones side by side. NULL: no memory. */
static compare_match *compare_matches(comparison *c, compare_rules *rules, int *count)
{
    compare_match *m = calloc((size_t)(c->side[0].count + c->side[1].count) + 1, sizeof *m);
    char text[CONFIG_TEXT_MAX];
    int failed = !m;
    *count = 0;
    for (int side = 0; side < 2 && !failed; side++)
        for (int i = 0; i < c->side[side].count && !failed; i++) {
            compare_match *one = &m[(*count)++];
            *one = (compare_match){.side = side, .record = &c->side[side].run[i]};
            compare_rules_for(c, one->record->config.task, rules);
            compare_reduce(rules, &one->record->config, 0, text, sizeof text);
            one->run = strdup(text);
            compare_reduce(rules, &one->record->config, 1, text, sizeof text);
            one->cell = strdup(text);
            failed = !one->run || !one->cell;
        }
    if (failed) {
        compare_matches_free(m, *count);
        return NULL;
    }
    qsort(m, (size_t)*count, sizeof *m, compare_match_order);
    return m;
}

void compare_matches_free(compare_match *m, int count)
{
    for (int i = 0; m && i < count; i++) {
        free(m[i].run);
        free(m[i].cell);
    }
    free(m);
}

/* Tells partners from singles; pairs end up as m[i] of A with m[i].partner of B. */
static void compare_pair(comparison *c, compare_match *m, int count)
{
    int end;
    for (int first = 0; first < count; first = end) {
        int alike[2] = {0, 0};
        for (end = first; end < count && strcmp(m[first].run, m[end].run) == 0; end++)
            alike[m[end].side]++;
        if (alike[0] == 1 && alike[1] == 1) {
            m[first].partner = m[first + 1].record;
            c->pair_count++;
            continue;
        }
        for (int i = first; i < end; i++)
            c->single[c->single_count++] =
                (compare_single){.side = m[i].side, .run = m[i].record, .alike = alike[m[i].side]};
    }
}

static int compare_single_order(const void *a, const void *b)
{
    const compare_single *x = a, *y = b;
    return x->side != y->side ? x->side - y->side : results_compare(x->run, y->run);
}

/* ------------------------------------------------------------------------------------------------ the whole */

static int compare_all(comparison *c, compare_rules *rules, error *e)
{
    int count;
    compare_match *m = compare_matches(c, rules, &count);
    c->single = calloc((size_t)count + 1, sizeof *c->single);
    if (!m || !c->single) {
        compare_matches_free(m, m ? count : 0);
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    }
    compare_pair(c, m, count);
    qsort(c->single, (size_t)c->single_count, sizeof *c->single, compare_single_order);
    int result = compare_cells(c, m, count, e);
    compare_matches_free(m, count);
    return result;
}

int compare_load(const char *dir_a, const char *dir_b, const char *const *ignore, int ignore_count, comparison *out,
                 error *e)
{
    *out = (comparison){0};
    for (int i = 0; i < ignore_count; i++)
        if (!config_row(ignore[i], e))
            return -1;
    compare_rules rules = {.ignore = ignore, .ignore_count = ignore_count};
    error fault[2] = {ERROR_INIT, ERROR_INIT};
    results_load(dir_a, &out->side[0], &fault[0]);
    results_load(dir_b, &out->side[1], &fault[1]);
    int result = 0;
    if (out->side[0].count > 0 && out->side[1].count > 0)
        result = compare_all(out, &rules, e);
    for (int side = 0; side < 2; side++)
        if (fault[side].kind != ERROR_NONE)
            result = error_set(e, fault[side].kind, "%s", fault[side].message);
    return result;
}

void compare_free(comparison *c)
{
    free(c->single);
    free(c->cell);
    results_free(&c->side[0]);
    results_free(&c->side[1]);
    *c = (comparison){0};
}
