/* statement_read_rule.c - one condition of a claim: what it is about, where, and the threshold. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "statement_reading.h"

enum { CONDITION_VALUE_MAX = 8192 };

#define CONDITION_HAS_VALUE "has_value"

static const char *const condition_modes[] = {"teacher_forced", "free_running", "windows", "sliding", "masked"};
enum { CONDITION_MODES = sizeof condition_modes / sizeof *condition_modes };

/* ------------------------------------------------------------------------------------------------ which runs */

int reading_axes(condition *c, const yaml_pair *pair, spec_axes *out, yaml_pair *own_after)
{
    statement_reading *s = c->s;
    yaml_pair *pairs;
    if (pair->value->kind != YAML_MAP) {
        if (pair->value->kind != YAML_BROKEN)
            yaml_fault_at(s->faults, pair->value, "%s takes keys and values, as in %s: {encoding: a}", pair->key->text,
                          pair->key->text);
        return 0;
    }
    static const char *const sections[] = {"model", "train", "eval", "extend", "after"};
    int count = yaml_flatten(pair->value, s->faults, &pairs, s->e), result = count < 0 ? -1 : 0;
    for (int i = 0; i < count && result >= 0; i++) {
        if (own_after && strcmp(pairs[i].key->text, "after") == 0) {
            *own_after = pairs[i];
            continue;
        }
        result = spec_axes_take(&s->draft, &pairs[i], out, s->e);
        if (result == 0)
            spec_unknown_key(&s->draft, pairs[i].key, NULL, sections, own_after ? 5 : 4);
    }
    free(pairs);
    return result < 0 ? -1 : 0;
}

/* The first row in which two runs of one seed differ. */
static const char *condition_difference(const run_config *a, const run_config *b)
{
    char one[CONDITION_VALUE_MAX], other[CONDITION_VALUE_MAX];
    for (const pe_option *row = config_rows; row->name; row++) {
        options_print_value(row, a, one, sizeof one);
        options_print_value(row, b, other, sizeof other);
        if (strcmp(one, other) != 0)
            return row->name;
    }
    return "nothing";
}

/* In order of seed. Two of one seed: the index of the first of them, else -1. */
static int condition_add_run(const spec *grid, int run, statement_side *side)
{
    int at = side->count;
    while (at > 0 && grid->runs[side->run[at - 1]].seed > grid->runs[run].seed)
        at--;
    if (at > 0 && grid->runs[side->run[at - 1]].seed == grid->runs[run].seed)
        return side->run[at - 1];
    memmove(side->run + at + 1, side->run + at, (size_t)(side->count - at) * sizeof *side->run);
    side->run[at] = run;
    side->count++;
    return -1;
}

static void condition_choose(condition *c, const yaml_pair *pair, const spec_axes *axes, statement_side *side)
{
    const spec *grid = &c->s->group->spec;
    for (int i = 0; i < grid->count; i++) {
        int twin = spec_matches(&grid->runs[i], axes) ? condition_add_run(grid, i, side) : -1;
        if (twin >= 0) {
            yaml_fault_at(c->s->faults, pair->value, "%s: it leaves several runs of seed %d, which differ in %s",
                          pair->key->text, grid->runs[i].seed, condition_difference(&grid->runs[twin], &grid->runs[i]));
            return;
        }
    }
    if (side->count == 0)
        yaml_fault_at(c->s->faults, pair->value, "%s: no run of the grid has these values", pair->key->text);
    else if (c->of->seeds && side->count < c->of->seeds)
        yaml_fault_at(c->s->faults, pair->value, "%s: %d seeds in the grid; the claim wants %d", pair->key->text,
                      side->count, c->of->seeds);
}

static void condition_words(const run_config *first, statement_side *side)
{
    const statement_after *a = &side->after;
    int used = snprintf(side->words, sizeof side->words, "%.70s%s%.60s on %.50s", first->encoding,
                        *first->eval.encoding_options ? " tested as " : "", first->eval.encoding_options, first->task);
    if (a->given)
        snprintf(side->words + used, sizeof side->words - (size_t)used, "%s%.40s, to %gx by %.60s after %d steps",
                 *a->task_options ? " with " : "", a->task_options, a->factor, a->method, a->steps);
}

static int condition_side(condition *c, int number)
{
    const yaml_pair *pair = c->sides[number];
    statement_side *side = &c->rule->side[number];
    spec_axes *axes = calloc(1, sizeof *axes);
    side->run = calloc((size_t)c->s->group->spec.count + 1, sizeof *side->run);
    int before = c->s->faults->count;
    int result = axes && side->run ? reading_axes(c, pair, axes, &c->own_after[number])
                                   : error_set(c->s->e, ERROR_ENVIRONMENT, "%s: out of memory", c->s->path);
    if (result == 0 && c->s->has_grid && c->s->faults->count == before)
        condition_choose(c, pair, axes, side);
    if (result == 0 && !*c->s->group->grid)
        yaml_fault_at(c->s->faults, pair->key, "%s: this file has neither grid nor spec", pair->key->text);
    if (axes)
        spec_axes_free(axes);
    free(axes);
    if (result == 0 && side->count && c->s->faults->count == before)
        result = reading_after(c, number);
    if (side->count)
        condition_words(&c->s->group->spec.runs[side->run[0]], side);
    return result;
}

/* ------------------------------------------------------------------------------------------------ where */

/* "2x", "51-100", "128". */
static int condition_parse_place(const char *text, statement_place *out)
{
    char end;
    int length = (int)strlen(text);
    *out = (statement_place){0};
    snprintf(out->text, sizeof out->text, "%s", text);
    if (length > 1 && length < (int)sizeof out->text && text[length - 1] == 'x') {
        char number[sizeof out->text];
        snprintf(number, sizeof number, "%.*s", length - 1, text);
        out->kind = PLACE_RATIO;
        return number_parse(number, &out->ratio) == 0 && out->ratio > 0 ? 0 : -1;
    }
    out->kind = PLACE_LENGTHS;
    if (strspn(text, "0123456789-") != (size_t)length)
        return -1;
    if (sscanf(text, "%d-%d%c", &out->min_len, &out->max_len, &end) == 2)
        return out->min_len > 0 && out->max_len >= out->min_len ? 0 : -1;
    if (sscanf(text, "%d%c", &out->max_len, &end) != 1 || out->max_len < 1)
        return -1;
    out->min_len = out->max_len;
    return 0;
}

/* What the run is tested at, for a message. */
static void condition_tested(const length_bin *bins, int count, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used,
                                 bins[i].min_len == bins[i].max_len ? "%s%gx (%d)" : "%s%gx (%d-%d)", i ? ", " : "",
                                 bins[i].ratio, bins[i].min_len == bins[i].max_len ? bins[i].max_len : bins[i].min_len,
                                 bins[i].max_len);
}

static void condition_place(condition *c, const yaml_pair *pair, statement_place *out)
{
    char text[sizeof out->text], tested[256];
    if (!reading_text(c->s, pair, text, sizeof text))
        return;
    if (condition_parse_place(text, out) < 0) {
        yaml_fault_at(c->s->faults, pair->value, "%s: '%s' is no test length, as 2x, 51-100 or 128 are",
                      pair->key->text, text);
        return;
    }
    for (int side = 0; side < 2; side++) {
        length_bin bins[CONFIG_BINS_MAX];
        if (c->rule->side[side].count == 0)
            continue;
        const run_config *run = &c->s->group->spec.runs[c->rule->side[side].run[0]];
        int count = reading_bins(c, side, bins), found = count < 0;
        for (int i = 0; i < count; i++)
            found |= statement_place_is(out, &bins[i]);
        if (found)
            continue;
        condition_tested(bins, count, tested, sizeof tested);
        yaml_fault_at(c->s->faults, pair->value, "%s: %s is not tested at %s%s; it is at %s", pair->key->text,
                      run->encoding, text, c->rule->side[side].after.given ? " after that" : "", tested);
        return;
    }
}

static void condition_metric(condition *c)
{
    const char *names[16] = {CONDITION_HAS_VALUE};
    int count = 1;
    char text[64];
    for (const metric *m; count < 16 && (m = metric_score(count - 1)); count++)
        names[count] = m->name;
    if (!reading_text(c->s, c->metric, text, sizeof text) || strcmp(text, CONDITION_HAS_VALUE) == 0)
        return;
    for (int i = 1; i < count; i++)
        if (strcmp(names[i], text) == 0) {
            c->rule->metric = metric_find(text);
            return;
        }
    const char *near = nearest_word(text, names, (size_t)count);
    yaml_fault_at(c->s->faults, c->metric->value, "metric: unknown score '%s'%s%s%s", text,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static void condition_mode(condition *c)
{
    statement_rule *rule = c->rule;
    int known = 0;
    if (!reading_text(c->s, c->mode, rule->mode, sizeof rule->mode))
        return;
    for (int i = 0; i < CONDITION_MODES; i++)
        known |= strcmp(rule->mode, condition_modes[i]) == 0;
    if (!known) {
        const char *near = nearest_word(rule->mode, condition_modes, CONDITION_MODES);
        yaml_fault_at(c->s->faults, c->mode->value, "mode: unknown mode '%s'%s%s%s", rule->mode,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        return;
    }
    for (int side = 0; side < 2; side++) {
        if (rule->side[side].count == 0)
            continue;
        const run_config *run = &c->s->group->spec.runs[rule->side[side].run[0]];
        if ((strcmp(rule->mode, "sliding") == 0 && run->eval.stride == 0) ||
            (strcmp(rule->mode, "free_running") == 0 && !run->eval.decode))
            yaml_fault_at(c->s->faults, c->mode->value, "mode: %s is not evaluated so: %s", run->encoding,
                          *rule->mode == 's' ? "eval.stride is 0" : "eval.decode is false");
    }
}

/* ------------------------------------------------------------------------------------------------ thresholds */

/* The published numbers as text; where they are to be compared, as numbers too. */
static void condition_theirs(condition *c)
{
    statement_rule *rule = c->rule;
    const yaml_node *value = c->theirs->value;
    const yaml_node *const *items = value->kind == YAML_LIST ? (const yaml_node *const *)value->items : &value;
    int count = value->kind == YAML_LIST ? value->count : 1;
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        double number = NAN;
        if (items[i]->kind != YAML_SCALAR || i == ANALYTIC_VALUES_MAX) {
            if (items[i]->kind != YAML_BROKEN)
                yaml_fault_at(c->s->faults, items[i], "theirs takes a number, a text, or a list of at most %d numbers",
                              ANALYTIC_VALUES_MAX);
            return;
        }
        if (c->within && number_parse(items[i]->text, &number) < 0)
            yaml_fault_at(c->s->faults, items[i], "theirs: '%.64s' is no number, so nothing can be within reach of it",
                          items[i]->text);
        rule->number[i] = number;
        if (used < sizeof rule->theirs)
            used += (size_t)snprintf(rule->theirs + used, sizeof rule->theirs - used, "%s%s", i ? ", " : "",
                                     items[i]->text);
    }
    rule->numbers = c->within ? count : 0;
    if (used >= sizeof rule->theirs)
        memcpy(rule->theirs + sizeof rule->theirs - 4, "...", 4);
}

static void condition_thresholds(condition *c)
{
    statement_rule *rule = c->rule;
    const yaml_pair *const pairs[] = {c->least, c->most, c->within};
    double *const to[] = {&rule->least, &rule->most, &rule->within};
    for (int i = 0; i < 3; i++)
        if (pairs[i] && !reading_number(c->s, pairs[i], to[i]))
            *to[i] = NAN;
    if (c->theirs)
        condition_theirs(c);
    if (rule->least > rule->most)
        yaml_fault_at(c->s->faults, c->most->value, "most is below least");
    if (rule->within < 0)
        yaml_fault_at(c->s->faults, c->within->value, "within is below 0");
    if (!c->least && !c->most && !c->within)
        yaml_fault_at(c->s->faults, c->map, "a condition needs a threshold: %s",
                      c->measure ? "least, most, or within and theirs" : "least or most");
    if (c->within && !c->theirs)
        yaml_fault_at(c->s->faults, c->within->key, "within needs theirs");
}

/* ------------------------------------------------------------------------------------------------ the whole */

/* A key into its place; also which keys there are. */
static void condition_take(condition *c, const yaml_pair *pair)
{
    static const char *const words[] = {"says",    "of",     "less",    "over",  "metric",  "mode",
                                        "at",      "from",   "least",   "most",  "theirs",  "within",
                                        "measure", "beside", "premise", "after", "exposure", "probe"};
    const yaml_pair **const places[] = {NULL,        &c->sides[0], &c->sides[1], &c->sides[1], &c->metric,  &c->mode,
                                        &c->at,      &c->from,     &c->least,    &c->most,     &c->theirs,  &c->within,
                                        &c->measure, &c->beside,   &c->premise,  &c->after,
                                        &c->quantity[QUANTITY_EXPOSURE], &c->quantity[QUANTITY_PROBE]};
    enum { WORDS = sizeof words / sizeof *words };
    for (int i = 0; i < WORDS; i++) {
        if (strcmp(pair->key->text, words[i]) != 0)
            continue;
        if (i == 0)
            reading_text(c->s, pair, c->rule->says, sizeof c->rule->says);
        else if (*places[i])
            yaml_fault_at(c->s->faults, pair->key, "less and over are both given");
        else
            *places[i] = pair;
        return;
    }
    reading_unknown(c->s, pair->key, "a condition", words, WORDS);
}

static void condition_premise(condition *c)
{
    const yaml_node *value = c->premise->value;
    const char *text = value->kind == YAML_SCALAR ? value->text : "";
    c->rule->premise = strcmp(text, "true") == 0;
    if (!c->rule->premise && strcmp(text, "false") != 0 && value->kind != YAML_BROKEN)
        yaml_fault_at(c->s->faults, value, "premise takes true or false");
}

static void condition_refuse(condition *c, const yaml_pair *pair)
{
    if (pair)
        yaml_fault_at(c->s->faults, pair->key,
                      c->measure                               ? "%s is for conditions on runs"
                      : pair == c->within || pair == c->beside ? "%s is for measurements"
                                                               : "%s is for scores; %s is one number of a run",
                      pair->key->text, c->rule->kind ? c->rule->kind->word : "");
}

/* Which score, and at which length. */
static void condition_score(condition *c)
{
    if (c->metric)
        condition_metric(c);
    else
        yaml_fault_at(c->s->faults, c->map, "no 'metric' is given");
    if (c->mode)
        condition_mode(c);
    if (c->at)
        condition_place(c, c->at, &c->rule->at);
    else
        yaml_fault_at(c->s->faults, c->map, "no 'at' is given");
    if (c->from)
        condition_place(c, c->from, &c->rule->from);
}

static int condition_runs(condition *c)
{
    statement_rule *rule = c->rule;
    for (int side = 0; side < 2; side++)
        if (c->sides[side] && condition_side(c, side) < 0)
            return -1;
    if (c->sides[1])
        rule->operation = strcmp(c->sides[1]->key->text, "less") == 0 ? STATEMENT_DIFFERENCE : STATEMENT_RATIO;
    int kind = c->quantity[QUANTITY_EXPOSURE] ? QUANTITY_EXPOSURE : QUANTITY_PROBE;
    if (c->quantity[kind]) {
        const yaml_pair *const foreign[] = {c->metric, c->mode, c->at, c->from, c->after};
        reading_quantity(c, kind);
        for (int i = 0; i < 5; i++)
            condition_refuse(c, foreign[i]);
        if (kind == QUANTITY_EXPOSURE && c->quantity[QUANTITY_PROBE])
            yaml_fault_at(c->s->faults, c->quantity[QUANTITY_PROBE]->key, "exposure and probe are both given");
    } else {
        condition_score(c);
    }
    condition_refuse(c, c->within);
    condition_refuse(c, c->beside);
    return 0;
}

int reading_rule(statement_reading *s, const yaml_node *map, const statement *of, statement_rule *out)
{
    yaml_pair *pairs;
    condition c = {.s = s, .map = map, .of = of, .rule = out};
    *out = (statement_rule){.line = map->line, .least = NAN, .most = NAN, .within = NAN};
    if (map->kind != YAML_MAP) {
        if (map->kind != YAML_BROKEN)
            yaml_fault_at(s->faults, map, "a condition has keys, as in {of: {...}, metric: ..., at: ..., least: ...}");
        return 0;
    }
    int count = yaml_flatten(map, s->faults, &pairs, s->e), result = count < 0 ? -1 : 0;
    for (int i = 0; i < count; i++)
        condition_take(&c, &pairs[i]);
    if (result == 0 && !c.sides[0])
        yaml_fault_at(s->faults, map, "no 'of' is given");
    if (result == 0)
        condition_thresholds(&c);
    if (c.premise)
        condition_premise(&c);
    if (result == 0)
        result = c.measure ? reading_measure(&c) : condition_runs(&c);
    if (c.measure) {
        const yaml_pair *const foreign[] = {c.sides[1], c.metric, c.mode, c.from, c.after,
                                            c.quantity[QUANTITY_EXPOSURE], c.quantity[QUANTITY_PROBE]};
        for (int i = 0; i < 7; i++)
            condition_refuse(&c, foreign[i]);
    }
    free(pairs);
    return result;
}
