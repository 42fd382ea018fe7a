/* What a configuration must fulfil before a run is started, beyond the bounds of its single values. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "extend.h"
#include "lengths.h"
#include "options.h"
#include "probe.h"
#include "regime.h"
#include "task.h"

enum { LENGTH_MAX = 1 << 24, CANONICAL_MAX = 8192 };

/* ------------------------------------------------------------------------------------------------ test lengths */

static int bin_order(const void *a, const void *b)
{
    const length_bin *x = a, *y = b;
    return x->min_len != y->min_len ? (x->min_len > y->min_len) - (x->min_len < y->min_len)
                                    : (x->max_len > y->max_len) - (x->max_len < y->max_len);
}

/* A length from text[0..length): digits with spaces around. Returns it, or -1. */
static int bin_length(const char *text, size_t length)
{
    while (length && *text == ' ')
        text++, length--;
    while (length && text[length - 1] == ' ')
        length--;
    if (length < 1 || length > 8)
        return -1;
    int value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = 10 * value + (text[i] - '0');
    }
    return value >= 1 && value <= LENGTH_MAX ? value : -1;
}

static int bins_from_ranges(const char *text, length_bin *out, error *e)
{
    int count = 0;
    for (const char *p = text;; p++) {
        size_t length = strcspn(p, ";");
        const char *dash = memchr(p, '-', length);
        if (count == CONFIG_BINS_MAX)
            return error_set(e, ERROR_USAGE, "more than %d ranges", CONFIG_BINS_MAX);
        length_bin *b = &out[count++];
        b->min_len = dash ? bin_length(p, (size_t)(dash - p)) : bin_length(p, length);
        b->max_len = dash ? bin_length(dash + 1, (size_t)(p + length - dash - 1)) : b->min_len;
        if (b->min_len < 0 || b->max_len < b->min_len)
            return error_set(e, ERROR_USAGE, "'%.*s' is no range of lengths; write 1-50;51-100",
                             (int)(length < 80 ? length : 80), p);
        p += length;
        if (!*p)
            return count;
    }
}

static int bins_from_ratios(const run_config *c, length_bin *out, error *e)
{
    int count = c->eval.ratios.count;
    if (count < 1 || count > CONFIG_BINS_MAX)
        return error_set(e, ERROR_USAGE, "%d ratios; from 1 to %d can be tested", count, CONFIG_BINS_MAX);
    for (int i = 0; i < count; i++) {
        double len = round(c->eval.ratios.value[i] * c->train.len);
        if (!(len >= 1 && len <= LENGTH_MAX)) {
            char ratio[64];
            number_print(c->eval.ratios.value[i], ratio, sizeof ratio);
            return error_set(e, ERROR_USAGE, "ratio %s of train.len %d is no length from 1 to %d", ratio, c->train.len,
                             LENGTH_MAX);
        }
        out[i].min_len = out[i].max_len = (int)len;
    }
    return count;
}

int config_bins(const run_config *c, length_bin out[CONFIG_BINS_MAX], error *e)
{
    int ranges = c->eval.bins[0] != '\0';
    int count = ranges ? bins_from_ranges(c->eval.bins, out, e) : bins_from_ratios(c, out, e);
    if (count < 0)
        return -1;
    qsort(out, (size_t)count, sizeof *out, bin_order);
    for (int i = 0; i < count; i++) {
        out[i].ratio = (double)out[i].max_len / c->train.len;
        if (i > 0 && out[i].min_len <= out[i - 1].max_len) {
            if (ranges)
                return error_set(e, ERROR_USAGE, "the ranges %d-%d and %d-%d overlap", out[i - 1].min_len,
                                 out[i - 1].max_len, out[i].min_len, out[i].max_len);
            return error_set(e, ERROR_USAGE, "two ratios give the same length, %d", out[i].max_len);
        }
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------ canonical texts */

static int check_store(char out[PE_TEXT_MAX], const char *text, error *e)
{
    if (strlen(text) >= PE_TEXT_MAX)
        return error_set(e, ERROR_USAGE, "the text is too long (more than %d characters)", PE_TEXT_MAX - 1);
    strcpy(out, text);
    return 0;
}

static int real_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Order and spaces of ratios and ranges change no result, so they are no part of a run's identity. */
static int check_ranges_text(run_config *c, error *e)
{
    length_bin bins[CONFIG_BINS_MAX];
    if (!c->eval.bins[strspn(c->eval.bins, " ")]) {
        c->eval.bins[0] = '\0';
        return 0;
    }
    int count = config_bins(c, bins, e);
    if (count < 0)
        return -1;
    char text[CANONICAL_MAX];
    size_t length = 0;
    for (int i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%d-%d", i ? ";" : "", bins[i].min_len,
                                   bins[i].max_len);
    return check_store(c->eval.bins, text, e);
}

/* With ranges the ratios say nothing; written all the same, one of the two is a mistake. */
static int check_ratios_unset(const run_config *c, error *e)
{
    run_config initial;
    config_defaults(&initial);
    const pe_list *given = &c->eval.ratios, *usual = &initial.eval.ratios;
    int same = given->count == usual->count;
    for (int i = 0; same && i < given->count; i++)
        same = given->value[i] == usual->value[i];
    return same ? 0
                : error_set(e, ERROR_USAGE,
                            "eval.bins are given too; only one of them can say which lengths are tested");
}

static int check_encoding_text(run_config *c, const registry *r, error *e)
{
    if (!c->encoding[strspn(c->encoding, " ")])
        return error_set(e, ERROR_USAGE, "no encoding is given; 'posbench list encodings' names them");
    layered_stack s;
    char text[CANONICAL_MAX];
    if (layered_parse(r, c->encoding, &s, e) < 0)
        return -1;
    layered_print(&s, text, sizeof text);
    layered_free(&s);
    return check_store(c->encoding, text, e);
}

static int check_task_text(run_config *c, error *e)
{
    if (!c->task[strspn(c->task, " ")])
        return error_set(e, ERROR_USAGE, "no task is given; 'posbench list tasks' names them");
    char text[CANONICAL_MAX];
    if (task_canonical(c->task, text, sizeof text, e) < 0)
        return -1;
    return check_store(c->task, text, e);
}

/* Maps are parsed at the end of a stack only, so the map is read behind the first encoding of the registry. */
static int check_map_text(run_config *c, const registry *r, error *e)
{
    const char *bare = c->eval.map + strspn(c->eval.map, " @");
    if (!*bare) {
        c->eval.map[0] = '\0';
        return 0;
    }
    char text[CANONICAL_MAX], written[CANONICAL_MAX];
    pe_stack s;
    int length = snprintf(text, sizeof text, "%s@%s", registry_encoding(r, 0)->name, bare);
    if (stack_parse(r, text, &s, e) < 0) {
        snprintf(written, sizeof written, "'%.*s': ", length, text); /* says what nobody wrote */
        if (strncmp(e->message, written, strlen(written)) == 0)
            memmove(e->message, e->message + strlen(written), strlen(e->message + strlen(written)) + 1);
        return -1;
    }
    stack_print(&s, text, sizeof text);
    /* The identity is not printed, yet as eval.map it says something: not the stack's own map. */
    const char *at = strchr(text, '@');
    int result = check_store(c->eval.map, at ? at + 1 : s.map->name, e);
    stack_free(&s);
    return result;
}

static int check_options_text(run_config *c, const registry *r, error *e)
{
    if (!c->eval.encoding_options[strspn(c->eval.encoding_options, " ")]) {
        c->eval.encoding_options[0] = '\0';
        return 0;
    }
    char text[CANONICAL_MAX];
    if (stack_options_canonical(r, c->eval.encoding_options, text, sizeof text, e) < 0)
        return -1;
    return check_store(c->eval.encoding_options, text, e);
}

int config_canonical(run_config *c, const char *name, const registry *r, error *e)
{
    const pe_option *row = config_row(name, e);
    if (!row)
        return -1;
    char *field = (char *)c + row->offset;
    if (field == c->encoding)
        return check_encoding_text(c, r, e);
    if (field == c->task)
        return check_task_text(c, e);
    if (field == c->eval.map)
        return check_map_text(c, r, e);
    if (field == c->eval.encoding_options)
        return check_options_text(c, r, e);
    if (field == c->eval.bins)
        return check_ranges_text(c, e);
    if (field == c->extend.methods)
        return extend_canonical(c, r, e);
    if (field == (char *)&c->eval.ratios || field == (char *)&c->extend.factors || field == (char *)&c->extend.steps)
        /* their order says nothing; that of weights says which band each is of */
        qsort(((pe_list *)field)->value, (size_t)((pe_list *)field)->count, sizeof(double), real_order);
    return 0;
}

int config_eval_stacks(const run_config *c, const registry *r, layered_stack *out, error *e)
{
    if (layered_parse(r, c->encoding, out, e) < 0)
        return -1;
    if ((!c->eval.map[0] || layered_set_map(r, out, c->eval.map, e) == 0) &&
        (!c->eval.encoding_options[0] || layered_set_options(r, out, c->eval.encoding_options, e) == 0))
        return 0;
    layered_free(out);
    return -1;
}

/* ------------------------------------------------------------------------------------------------ what must fit */

/* `auto` is replaced before anything else looks, so that written out or not it is the same run. A task that takes a
 * shortest length n takes every longer one, hence the bisection. */
static int check_shortest(run_config *c, task_kind kind, int longest, error *e)
{
    if (c->train.min_len != PE_AUTO_INT)
        return 0;
    if (kind == TASK_LANGUAGE || c->train.lengths == CONFIG_LENGTHS_FIXED) {
        c->train.min_len = c->train.len;
        return 0;
    }
    int refused = 0, taken = c->train.len;
    if (task_check(c->task, config_regime(c), taken, longest, e) < 0)
        return -1;
    while (taken - refused > 1) {
        int middle = refused + (taken - refused) / 2;
        error ignored = ERROR_INIT;
        if (task_check(c->task, config_regime(c), middle, longest, &ignored) < 0)
            refused = middle;
        else
            taken = middle;
    }
    c->train.min_len = taken;
    return 0;
}

static int check_training(run_config *c, const char **row, error *e)
{
    *row = "train.warmup";
    if (c->train.warmup == PE_AUTO_INT)
        c->train.warmup = c->train.steps < 1000 ? c->train.steps / 10 : 100;
    if (c->train.warmup > c->train.steps)
        return error_set(e, ERROR_USAGE, "%d steps of warm-up, but train.steps is %d", c->train.warmup, c->train.steps);
    *row = "train.min_len";
    if (c->train.min_len != PE_AUTO_INT && c->train.min_len > c->train.len)
        return error_set(e, ERROR_USAGE, "%d is longer than train.len, %d", c->train.min_len, c->train.len);
    *row = "model.heads";
    if (c->model.width % c->model.heads != 0)
        return error_set(e, ERROR_USAGE, "%d heads do not divide model.width, %d", c->model.heads, c->model.width);
    return 0;
}

/* The longest training window and the token behind it must lie in what training may read. How much text there is, is
 * seen when the run opens its task. */
static int check_data(const run_config *c, const task *t, const char **row, error *e)
{
    *row = "train.data";
    if (c->train.data == 0 || task_of(t)->kind != TASK_LANGUAGE)
        return 0;
    if (!task_of(t)->limit)
        return error_set(e, ERROR_USAGE, "%s has no text of which training could read less", task_of(t)->name);
    if (c->train.data > task_tokens(t, c->train.len))
        return 0;
    return error_set(e, ERROR_USAGE, "%d tokens of text are too few: a window of train.len, %d, and the token behind "
                     "it need %d", c->train.data, c->train.len, task_tokens(t, c->train.len) + 1);
}

static int check_language_lengths(const run_config *c, const task *t, const length_bin *bins, int count, const char **row,
                                  error *e)
{
    *row = "eval.bins";
    for (int i = 0; i < count; i++)
        if (bins[i].min_len != bins[i].max_len)
            return error_set(e, ERROR_USAGE, "%d-%d: a language task is tested at single lengths, as in 64;128",
                             bins[i].min_len, bins[i].max_len);
    *row = "eval.stride";
    if (c->eval.stride > 0 && task_scored(t, bins[0].min_len) > 0)
        return error_set(e, ERROR_USAGE, "windows cannot slide over %s, which draws them", task_of(t)->name);
    if (c->eval.stride > bins[0].min_len)
        return error_set(e, ERROR_USAGE, "windows %d tokens apart would skip text at the shortest test length, %d",
                         c->eval.stride, bins[0].min_len);
    return 0;
}

/* Decoding needs an answer that stands behind its prompt, and a network that reads from left to right. */
static int check_decode(const run_config *c, const task *t, const char **row, error *e)
{
    *row = "eval.decode";
    if (!c->eval.decode || task_decodes(t))
        return 0;
    if (task_of(t)->kind == TASK_LANGUAGE)
        return error_set(e, ERROR_USAGE, "a language task such as %s has no answer to decode", task_of(t)->name);
    if (!task_of(t)->pair)
        return error_set(e, ERROR_USAGE, "the answers of %s stand among given tokens, so there is nothing to decode",
                         task_of(t)->name);
    return error_set(e, ERROR_USAGE,
                     "without a causal mask (model.causal=false) all of an answer is filled in at once");
}

/* A map that takes positions from the task, beside a task that has none. */
int config_check_given(const layered_stack *s, const task *t, error *e)
{
    const pe_map *map = s->pattern[0].map;
    if (!map->needs_given || task_of(t)->proposes_positions)
        return 0;
    return error_set(e, ERROR_USAGE, "task %s proposes no positions, but the map %s takes them from the task",
                     task_of(t)->name, map->name);
}

/* Trained values must fit: the same parameters, of the same size, under both options. */
static int check_same_params(const stack_member *trained, const stack_member *tested, const pe_shape *shape, error *e)
{
    const pe_descriptor *d = trained->encoding;
    pe_param before[PE_PARAMS_MAX], after[PE_PARAMS_MAX];
    int count = d->params ? d->params(trained->options, shape, before) : 0;
    int same = d->params ? d->params(tested->options, shape, after) : 0;
    if (same != count)
        return error_set(e, ERROR_USAGE, "%s has %d parameters in training and %d under these options", d->name, count,
                         same);
    for (int i = 0; i < count; i++)
        if (strcmp(before[i].name, after[i].name) != 0 || before[i].rows != after[i].rows ||
            before[i].cols != after[i].cols || before[i].per_layer != after[i].per_layer)
            return error_set(e, ERROR_USAGE, "%s: its %s is %d x %d%s in training, but %s is %d x %d%s under these options",
                             d->name, before[i].name, before[i].rows, before[i].cols,
                             before[i].per_layer ? " in each layer" : "", after[i].name, after[i].rows, after[i].cols,
                             after[i].per_layer ? " in each layer" : "");
    return 0;
}

int config_check_same(const layered_stack *trained, const layered_stack *tested, const pe_shape *shape, error *e)
{
    for (int i = 0; i < trained->count; i++)
        for (int k = 0; k < trained->pattern[i].count; k++)
            if (check_same_params(&trained->pattern[i].member[k], &tested->pattern[i].member[k], shape, e) < 0)
                return -1;
    return 0;
}

/* In training: under its own map, at training lengths. *row is the row to blame. */
static int check_trained_encoding(const run_config *c, const registry *r, const pe_shape *shape, const task *t,
                                  int max_tokens, layered_stack *out, const char **row, error *e)
{
    *row = "encoding";
    if (layered_parse(r, c->encoding, out, e) < 0)
        return -1;
    if (layered_check(out, shape, max_tokens, e) == 0 && config_check_given(out, t, e) == 0 &&
        layered_check_given(out, shape, task_farthest(t, c->train.len), e) == 0)
        return 0;
    layered_free(out);
    return -1;
}

/* In evaluation: under eval.map and eval.encoding_options, at all lengths. Points past a table are recorded, not refused.
 */
static int check_tested_encoding(const run_config *c, const registry *r, const pe_shape *shape, const task *t,
                                 int max_tokens, const layered_stack *trained, const char **row, error *e)
{
    layered_stack tested;
    *row = c->eval.encoding_options[0] ? "eval.encoding_options" : "eval.map";
    if (config_eval_stacks(c, r, &tested, e) < 0)
        return -1;
    int result = layered_check(&tested, shape, max_tokens, e);
    if (result == 0)
        result = config_check_given(&tested, t, e);
    if (result == 0)
        result = config_check_same(trained, &tested, shape, e);
    layered_free(&tested);
    return result;
}

/* The encoding against the network and the lengths in tokens. */
static int config_check_encoding(const run_config *c, const registry *r, const task *t, int longest, const char **row,
                                 error *e)
{
    pe_shape shape = {.width = c->model.width,
                      .heads = c->model.heads,
                      .head_dim = c->model.width / c->model.heads,
                      .layers = c->model.layers,
                      .train_len = task_tokens(t, c->train.len),
                      .causal = c->model.causal};
    int eval_tokens = task_tokens(t, longest), differs = c->eval.map[0] || c->eval.encoding_options[0];
    if (shape.train_len > eval_tokens)
        eval_tokens = shape.train_len;
    layered_stack trained;
    if (check_trained_encoding(c, r, &shape, t, differs ? shape.train_len : eval_tokens, &trained, row, e) < 0)
        return -1;
    int result = differs ? check_tested_encoding(c, r, &shape, t, eval_tokens, &trained, row, e) : 0;
    layered_free(&trained);
    return result;
}

static int check_task(run_config *c, const registry *r, const length_bin *bins, int count, const char **row, error *e)
{
    int longest = bins[count - 1].max_len > c->train.len ? bins[count - 1].max_len : c->train.len;
    if (extend_check(c, row, e) < 0)
        return -1;
    longest = extend_longest(c) > longest ? extend_longest(c) : longest;
    *row = "task";
    task *t = task_parse(c->task, config_regime(c), c->train.len, longest, e);
    if (!t)
        return -1;
    int result = check_shortest(c, task_of(t)->kind, longest, e);
    if (result == 0)
        result = lengths_check(c, row, e);
    if (result == 0) {
        *row = "task";
        int shortest = bins[0].min_len < c->train.min_len ? bins[0].min_len : c->train.min_len;
        result = task_check(c->task, config_regime(c), shortest, longest, e);
    }
    if (result == 0 && task_of(t)->kind == TASK_LANGUAGE)
        result = check_language_lengths(c, t, bins, count, row, e);
    if (result == 0)
        result = check_data(c, t, row, e);
    if (result == 0)
        result = extend_check_tasks(c, t, row, e);
    if (result == 0)
        result = check_decode(c, t, row, e);
    if (result == 0)
        result = probe_check(c, t, row, e);
    if (result == 0)
        result = config_check_encoding(c, r, t, longest, row, e);
    task_free(t);
    return result;
}

int config_check_row(run_config *c, const registry *r, const char **row, error *e)
{
    for (const pe_option *o = config_rows; o->name; o++) {
        *row = o->name;
        if (config_canonical(c, o->name, r, e) < 0)
            return -1;
    }
    if (check_training(c, row, e) < 0)
        return -1;
    length_bin bins[CONFIG_BINS_MAX];
    *row = "eval.ratios";
    if (c->eval.bins[0] && check_ratios_unset(c, e) < 0)
        return -1;
    *row = c->eval.bins[0] ? "eval.bins" : "eval.ratios";
    int count = config_bins(c, bins, e);
    return count < 0 ? -1 : check_task(c, r, bins, count, row, e);
}

int config_check(run_config *c, const registry *r, error *e)
{
    const char *row = NULL;
    return config_check_row(c, r, &row, e) < 0 ? error_prefix(e, "%s", row) : 0;
}
