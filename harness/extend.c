#include "extend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lengths.h"
#include "options.h"
#include "regime.h"
#include "task.h"

/* ------------------------------------------------------------------------------------------------ methods */

static int extend_order(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Takes text up to a semicolon outside of brackets; returns what is behind it, NULL at the end. */
static const char *extend_next(const char *text, char out[PE_TEXT_MAX])
{
    int depth = 0;
    size_t n = 0;
    for (; text[n] && (text[n] != ';' || depth > 0); n++)
        depth += (text[n] == '(') - (text[n] == ')');
    snprintf(out, PE_TEXT_MAX, "%.*s", (int)n, text);
    return text[n] ? text + n + 1 : NULL;
}

static int extend_take(const registry *r, const char *text, extend_words *m, error *e)
{
    char item[PE_TEXT_MAX];
    for (const char *rest = text; rest; m->count++) {
        rest = extend_next(rest, item);
        if (m->count == EXTEND_METHODS_MAX)
            return error_set(e, ERROR_USAGE, "more than %d methods", EXTEND_METHODS_MAX);
        if (stack_method_canonical(r, item, m->name[m->count], EXTEND_METHOD_MAX, e) < 0)
            return -1;
        for (int i = 0; i < m->count; i++)
            if (strcmp(m->name[i], m->name[m->count]) == 0)
                return error_set(e, ERROR_USAGE, "the method '%s' stands there twice", m->name[i]);
    }
    return 0;
}

/* Sorted, with semicolons between. */
static int extend_join(extend_words *m, char out[PE_TEXT_MAX], error *e)
{
    char text[EXTEND_METHODS_MAX * (EXTEND_METHOD_MAX + 1) + 1] = "";
    size_t length = 0;
    qsort(m->name, (size_t)m->count, sizeof m->name[0], extend_order);
    for (int i = 0; i < m->count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i ? ";" : "", m->name[i]);
    if (length >= PE_TEXT_MAX)
        return error_set(e, ERROR_USAGE, "the text is too long (more than %d characters)", PE_TEXT_MAX - 1);
    memcpy(out, text, length + 1);
    return 0;
}

int extend_canonical(run_config *c, const registry *r, error *e)
{
    extend_words m = {0};
    if (!c->extend.methods[strspn(c->extend.methods, " ")]) {
        c->extend.methods[0] = '\0';
        return 0;
    }
    return extend_take(r, c->extend.methods, &m, e) < 0 ? -1 : extend_join(&m, c->extend.methods, e);
}

static void extend_split(const char *text, extend_words *out)
{
    char item[PE_TEXT_MAX];
    out->count = 0;
    for (const char *rest = *text ? text : NULL; rest && out->count < EXTEND_METHODS_MAX;) {
        rest = extend_next(rest, item);
        snprintf(out->name[out->count++], EXTEND_METHOD_MAX, "%.*s", EXTEND_METHOD_MAX - 1, item);
    }
}

void extend_read(const run_config *c, extend_words *out)
{
    extend_split(c->extend.methods, out);
}

void extend_read_tasks(const run_config *c, extend_words *out)
{
    extend_split(c->extend.task_options, out);
}

/* ------------------------------------------------------------------------------------------------ numbers */

int extend_len(const run_config *c, double factor)
{
    return (int)fmin(round(factor * c->train.len), 1 << 30);
}

int extend_longest(const run_config *c)
{
    int longest = 0;
    for (int i = 0; extend_is_on(c) && i < c->extend.factors.count; i++)
        longest =
            extend_len(c, c->extend.factors.value[i]) > longest ? extend_len(c, c->extend.factors.value[i]) : longest;
    return longest;
}

int extend_most(const run_config *c)
{
    double most = 0;
    for (int i = 0; i < c->extend.steps.count; i++)
        most = fmax(most, c->extend.steps.value[i]);
    return (int)most;
}

double extend_rate(const run_config *c)
{
    return c->extend.lr == PE_AUTO_REAL ? 0.1 * c->train.lr : c->extend.lr;
}

static int extend_same_list(const pe_list *a, const pe_list *b)
{
    int same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = a->value[i] == b->value[i];
    return same;
}

/* What says nothing without methods is a mistake when it is written. */
static int extend_check_unused(const run_config *c, const char **row, error *e)
{
    run_config initial;
    config_defaults(&initial);
    *row = !extend_same_list(&c->extend.factors, &initial.extend.factors) ? "extend.factors"
           : !extend_same_list(&c->extend.steps, &initial.extend.steps)   ? "extend.steps"
           : c->extend.lr != initial.extend.lr                            ? "extend.lr"
           : c->extend.task_options[0]                                    ? "extend.task_options"
                                                                          : NULL;
    return *row ? error_set(e, ERROR_USAGE, "it belongs to extend.methods, which names none") : 0;
}

static int extend_check_factors(const run_config *c, error *e)
{
    const pe_list *f = &c->extend.factors;
    char text[64];
    for (int i = 0; i < f->count; i++) {
        int len = extend_len(c, f->value[i]);
        number_print(f->value[i], text, sizeof text);
        if (len <= c->train.len || len > 1 << 24)
            return error_set(e, ERROR_USAGE, "%s times train.len %d is no longer length up to %d", text, c->train.len,
                             1 << 24);
        if (i > 0 && len == extend_len(c, f->value[i - 1]))
            return error_set(e, ERROR_USAGE, "two factors give the same length, %d", len);
    }
    return 0;
}

static int extend_check_steps(const run_config *c, error *e)
{
    const pe_list *s = &c->extend.steps;
    char text[64];
    for (int i = 0; i < s->count; i++) {
        number_print(s->value[i], text, sizeof text);
        if (s->value[i] != floor(s->value[i]))
            return error_set(e, ERROR_USAGE, "%s is no number of steps", text);
        if (i > 0 && s->value[i] == s->value[i - 1])
            return error_set(e, ERROR_USAGE, "%s stands there twice", text);
    }
    return 0;
}

int extend_check(const run_config *c, const char **row, error *e)
{
    if (!extend_is_on(c))
        return extend_check_unused(c, row, e);
    *row = "extend.factors";
    if (extend_check_factors(c, e) < 0)
        return -1;
    *row = "extend.steps";
    if (extend_check_steps(c, e) < 0)
        return -1;
    *row = "extend.methods";
    if (c->eval.map[0] || c->eval.encoding_options[0])
        return error_set(e, ERROR_USAGE,
                         "they begin from the encoding as it was trained, but %s gives it another form in "
                         "evaluation",
                         c->eval.map[0] ? "eval.map" : "eval.encoding_options");
    return 0;
}

/* ------------------------------------------------------------------------------------------------ the task's options
 */

int extend_task(const run_config *c, const char *options, char *out, size_t size)
{
    size_t length = strlen(c->task);
    int has_options = length > 0 && c->task[length - 1] == ')';
    int n = snprintf(out, size, "%.*s%s%s)", (int)(has_options ? length - 1 : length), c->task, has_options ? "," : "(",
                     options);
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

/* One set of options in canonical text, even where they are at their defaults. */
static int extend_take_options(const task *t, const char *text, char out[EXTEND_METHOD_MAX], error *e)
{
    const task_descriptor *d = task_of(t);
    unsigned char given[OPTIONS_ROWS_MAX];
    void *values = calloc(1, d->options_size ? d->options_size : 1);
    if (!values)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    options_defaults(d->options, values);
    int length = options_change(d->options, d->name, text, strlen(text), given, values, e) == 0
                     ? options_print_given(d->options, given, values, out, EXTEND_METHOD_MAX)
                     : -1;
    free(values);
    if (length == 0)
        return error_set(e, ERROR_USAGE, "%s: no option is given", d->name);
    return length < 0                   ? -1
           : length < EXTEND_METHOD_MAX ? 0
                                        : error_set(e, ERROR_USAGE, "%s: the options are too long", d->name);
}

/* Weights and batches of the task must fit it under these options. */
static int extend_check_task(const run_config *c, const task *t, const char *options, error *e)
{
    char text[PE_TEXT_MAX + EXTEND_METHOD_MAX];
    if (extend_task(c, options, text, sizeof text) < 0)
        return error_set(e, ERROR_USAGE, "%s: the task's text is too long with it", options);
    task *other = task_parse(text, config_regime(c), c->train.len, extend_longest(c), e);
    if (!other)
        return -1;
    int same = task_vocab(other) == task_vocab(t);
    for (int i = -1; i < c->extend.factors.count; i++) {
        int len = i < 0 ? c->train.len : extend_len(c, c->extend.factors.value[i]);
        same &= task_tokens(other, len) == task_tokens(t, len);
    }
    task_free(other);
    return same ? 0
                : error_set(e, ERROR_USAGE, "%s makes sequences of another vocabulary or length of %s", options,
                            task_of(t)->name);
}

int extend_check_tasks(run_config *c, const task *t, const char **row, error *e)
{
    extend_words given, m = {0};
    *row = "extend.task_options";
    if (!c->extend.task_options[strspn(c->extend.task_options, " ")]) {
        c->extend.task_options[0] = '\0';
        return 0;
    }
    extend_read_tasks(c, &given);
    for (; m.count < given.count; m.count++) {
        if (extend_take_options(t, given.name[m.count], m.name[m.count], e) < 0 ||
            extend_check_task(c, t, m.name[m.count], e) < 0)
            return -1;
        for (int i = 0; i < m.count; i++)
            if (strcmp(m.name[i], m.name[m.count]) == 0)
                return error_set(e, ERROR_USAGE, "%s stands there twice", m.name[i]);
    }
    return extend_join(&m, c->extend.task_options, e);
}

/* ------------------------------------------------------------------------------------------------ the two parts of it
 */

double extend_mean_tokens(const run_config *c, const task *t)
{
    double mean = 0;
    for (int len = c->train.min_len; len <= c->train.len; len++)
        mean += lengths_probability(c, len) * task_tokens(t, len);
    return mean;
}

void extend_train_config(const run_config *c, const task *t, double factor, run_config *out)
{
    *out = *c;
    out->train.len = extend_len(c, factor);
    if (c->train.min_len == c->train.len)
        out->train.min_len = out->train.len;
    double batch = c->train.batch * extend_mean_tokens(c, t) / extend_mean_tokens(out, t);
    out->train.batch = batch < 1 ? 1 : (int)round(batch);
    out->train.steps = extend_most(c);
    out->train.lr = extend_rate(c);
    out->train.schedule = CONFIG_SCHEDULE_CONSTANT;
    out->train.warmup = out->train.steps / 10 < EXTEND_WARMUP ? out->train.steps / 10 : EXTEND_WARMUP;
    out->train.check_every = 0;
    out->train.stop_at = 0;
    out->train.select = CONFIG_SELECT_LAST;
}

void extend_test_config(const run_config *c, double factor, run_config *out)
{
    *out = *c;
    out->eval.bins[0] = '\0';
    out->eval.ratios = (pe_list){.count = 2, .value = {1, factor}};
}

/* The smallest divisor, to rounding, under which the last position of `len` tokens does not pass that of train_len. */
static double extend_ends(int train_tokens, int tokens)
{
    double last = tokens - 1, end = train_tokens - 1, ends = end > 0 ? last / end : 1;
    while (end > 0 && last / ends > end)
        ends = nextafter(ends, INFINITY);
    return ends;
}

/* Whether the stretched stacks can be trained and tested at up to `tokens` tokens, under the trained parameters. */
static int extend_check_stacks(const task *t, const pe_shape *shape, const layered_stack *trained,
                               const layered_stack *s, int len, error *e)
{
    if (layered_check(s, shape, task_tokens(t, len), e) < 0 ||
        layered_check_reach(s, shape, task_tokens(t, len), e) < 0 || config_check_given(s, t, e) < 0 ||
        layered_check_given(s, shape, task_farthest(t, len), e) < 0)
        return -1;
    return config_check_same(trained, s, shape, e);
}

int extend_stacks(const run_config *c, const registry *r, const task *t, const pe_shape *shape, double factor,
                  const char *method, layered_stack *out, char *reason, size_t size, error *e)
{
    layered_stack trained;
    error fault = ERROR_INIT;
    int len = extend_len(c, factor), tokens = task_tokens(t, len);
    stack_stretch by = {.factor = (double)tokens / shape->train_len, .ends = extend_ends(shape->train_len, tokens)};
    if (layered_parse(r, c->encoding, &trained, e) < 0)
        return -1;
    if (layered_parse(r, c->encoding, out, e) < 0) {
        layered_free(&trained);
        return -1;
    }
    int status = layered_extend(r, out, method, &by, &fault);
    if (status == 0)
        status = extend_check_stacks(t, shape, &trained, out, len, &fault);
    layered_free(&trained);
    if (status == 0)
        return 0;
    layered_free(out);
    if (fault.kind == ERROR_ENVIRONMENT)
        return error_set(e, fault.kind, "%s", fault.message);
    snprintf(reason, size, "%s", fault.message);
    return 1;
}
