#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "spec_grid.h"

enum { AXES_NAME_MAX = 128 };

void spec_axes_free(spec_axes *a)
{
    for (int i = 0; i < SPEC_ROWS_MAX; i++) {
        for (int j = 0; j < a->row[i].count; j++)
            free(a->row[i].choices[j].text);
        free(a->row[i].choices);
    }
    memset(a, 0, sizeof *a);
}

/* The index of the row section.key, or of key; -1: there is none. */
static int axes_row(const char *section, const char *key)
{
    char name[AXES_NAME_MAX];
    snprintf(name, sizeof name, "%s%s%s", section ? section : "", section ? "." : "", key);
    for (int i = 0; config_rows[i].name; i++)
        if (strcmp(config_rows[i].name, name) == 0)
            return i;
    return -1;
}

int spec_row_at(size_t offset)
{
    int row = 0;
    while (config_rows[row].offset != offset)
        row++;
    return row;
}

/* The index of the section's first row; -1: it is no section. */
static int axes_section(const char *key)
{
    size_t length = strlen(key);
    for (int i = 0; config_rows[i].name; i++)
        if (strncmp(config_rows[i].name, key, length) == 0 && config_rows[i].name[length] == '.')
            return i;
    return -1;
}

void spec_unknown_key(spec_draft *d, const yaml_node *key, const char *section, const char *const *words, int count)
{
    const char *near = config_suggest(key->text, words, count);
    size_t length = section ? strlen(section) : 0;
    if (near && length && strncmp(near, section, length) == 0 && near[length] == '.')
        near += length + 1; /* a sibling goes by its own name */
    yaml_fault_at(d->faults, key, "unknown key '%.64s'%s%s%s%s%s", key->text, section ? " in " : "",
                  section ? section : "", near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* ------------------------------------------------------------------------------------------------ values */

/* [rope(base=1e4,layout=half)] without quotes is two items in YAML; the message should say so. */
static const char *axes_quote_hint(const yaml_node *at)
{
    int depth = 0;
    if (!at->flow || at->quoted || at->kind != YAML_SCALAR)
        return "";
    for (const char *p = at->text; *p; p++)
        depth += (*p == '(') - (*p == ')');
    return depth ? " (inside [ ] and { } an option list with commas needs quotes)" : "";
}

/* `all` inside a stack or a list of layers. */
static const char *axes_word_hint(const char *fault)
{
    return strstr(fault, "unknown encoding '" SPEC_WORD_ALL "'") ||
                   strstr(fault, "unknown encoding '" SPEC_WORD_EXAMPLES "'")
               ? " (in 'encoding' the words all and examples stand for lists, so by themselves)"
               : "";
}

int spec_canonical(const registry *r, int row, const char *text, char *out, size_t size, error *e)
{
    const char *name = config_rows[row].name;
    run_config scratch;
    config_defaults(&scratch);
    if (config_set(&scratch, name, text, e) < 0 || config_canonical(&scratch, name, r, e) < 0)
        return -1;
    options_print_value(&config_rows[row], &scratch, out, size);
    return 0;
}

int spec_axis_push(spec_axis *axis, const char *canonical, const yaml_node *at, error *e)
{
    spec_choice *larger = realloc(axis->choices, (size_t)(axis->count + 1) * sizeof *larger);
    char *copy = strdup(canonical);
    if (larger)
        axis->choices = larger;
    if (!larger || !copy) {
        free(copy);
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    }
    axis->choices[axis->count++] = (spec_choice){.text = copy, .at = at};
    return 0;
}

static spec_choice *axes_choice(spec_axis *axis, const char *canonical)
{
    for (int i = 0; i < axis->count; i++)
        if (strcmp(axis->choices[i].text, canonical) == 0)
            return &axis->choices[i];
    return NULL;
}

int spec_axis_add(spec_draft *d, int row, const char *text, const yaml_node *at, spec_axes *out, error *e)
{
    char canonical[SPEC_VALUE_MAX];
    spec_axis *axis = &out->row[row];
    error fault = ERROR_INIT;
    if (spec_canonical(d->registry, row, text, canonical, sizeof canonical, &fault) < 0) {
        if (fault.kind == ERROR_ENVIRONMENT)
            return error_set(e, fault.kind, "%s", fault.message);
        yaml_fault_at(d->faults, at, "%s%s%s", fault.message, axes_quote_hint(at), axes_word_hint(fault.message));
        return 0;
    }
    spec_choice *there = axes_choice(axis, canonical);
    if (there && there->offered) { /* `[all, a]`: now it is named */
        *there = (spec_choice){.text = there->text, .at = at};
        return 0;
    }
    if (there) {
        yaml_fault_at(d->faults, at, "%s: '%.128s' is in the list already, in line %d", config_rows[row].name,
                      canonical, there->at->line);
        return 0;
    }
    if (axis->count == SPEC_AXIS_MAX) {
        yaml_fault_at(d->faults, at, "%s: more than %d values", config_rows[row].name, SPEC_AXIS_MAX);
        return 0;
    }
    return spec_axis_push(axis, canonical, at, e);
}

/* The one text that a YAML value is for a row: a scalar as it is; a list joined, as [a,b] for layers or 1;2 for
 * numbers and words. Returns 1, or 0 after a fault. */
static int axes_value_text(spec_draft *d, const pe_option *row, const yaml_node *value, char text[SPEC_VALUE_MAX])
{
    int is_list = config_row_is_list(row);
    size_t length = 0;
    if (value->kind == YAML_BROKEN)
        return 0;
    if (value->kind == YAML_MAP) {
        yaml_fault_at(d->faults, value, "%s takes a value, not a mapping", row->name);
        return 0;
    }
    if (yaml_is_null(value)) {
        yaml_fault_at(d->faults, value, "%s has no value; leave the key out for its default", row->name);
        return 0;
    }
    if (value->kind == YAML_SCALAR) {
        length = (size_t)snprintf(text, SPEC_VALUE_MAX, "%s", value->text);
    } else {
        text[0] = '\0';
        length = is_list ? 0 : (size_t)snprintf(text, SPEC_VALUE_MAX, "[");
        for (int i = 0; i < value->count && length < SPEC_VALUE_MAX; i++) {
            if (value->items[i]->kind != YAML_SCALAR || yaml_is_null(value->items[i])) {
                if (value->items[i]->kind != YAML_BROKEN)
                    yaml_fault_at(d->faults, value->items[i], "%s: a %s cannot stand here", row->name,
                                  value->items[i]->kind == YAML_MAP    ? "mapping"
                                  : value->items[i]->kind == YAML_LIST ? "list inside these lists"
                                                                       : "missing value");
                return 0;
            }
            length += (size_t)snprintf(text + length, SPEC_VALUE_MAX - length, "%s%s", i ? (is_list ? ";" : ",") : "",
                                       value->items[i]->text);
        }
        if (!is_list && length < SPEC_VALUE_MAX)
            length += (size_t)snprintf(text + length, SPEC_VALUE_MAX - length, "]");
    }
    if (length < SPEC_VALUE_MAX)
        return 1;
    yaml_fault_at(d->faults, value, "%s: more than %d characters", row->name, SPEC_VALUE_MAX - 1);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ words for many */

static int axes_is_word(int row, const yaml_node *value)
{
    return row == spec_row_at(offsetof(run_config, encoding)) && value->kind == YAML_SCALAR &&
           (strcmp(value->text, SPEC_WORD_ALL) == 0 || strcmp(value->text, SPEC_WORD_EXAMPLES) == 0);
}

/* What is there already stays what it is. */
static int axes_offer(spec_draft *d, int row, const char *text, const yaml_node *at, spec_axis *axis, error *e)
{
    char canonical[SPEC_VALUE_MAX];
    if (spec_canonical(d->registry, row, text, canonical, sizeof canonical, e) < 0)
        return -1;
    if (axes_choice(axis, canonical))
        return 0;
    if (spec_axis_push(axis, canonical, at, e) < 0)
        return -1;
    axis->choices[axis->count - 1].offered = 1;
    return 0;
}

/* `all` or `examples`; the registry has checked that these are good. */
static int axes_take_word(spec_draft *d, int row, const yaml_node *value, spec_axis *axis, error *e)
{
    int all = strcmp(value->text, SPEC_WORD_ALL) == 0, result = 0;
    for (int i = 0; i < axis->count; i++)
        if (axis->choices[i].offered && strcmp(axis->choices[i].at->text, value->text) == 0) {
            yaml_fault_at(d->faults, value, "%s: '%s' is in the list already, in line %d", config_rows[row].name,
                          value->text, axis->choices[i].at->line);
            return 0;
        }
    for (int i = 0; i < registry_encoding_count(d->registry) && result == 0; i++) {
        const pe_descriptor *encoding = registry_encoding(d->registry, i);
        if (all)
            result = axes_offer(d, row, encoding->name, value, axis, e);
        for (int x = 0; !all && result == 0 && encoding->examples && encoding->examples[x]; x++) {
            char text[SPEC_VALUE_MAX];
            snprintf(text, sizeof text, "%s(%s)", encoding->name, encoding->examples[x]);
            result = axes_offer(d, row, text, value, axis, e);
        }
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------ lists */

/* May one value of the row be a list itself? Ratios are a list of numbers, methods one of words, an encoding a list of
 * stacks, one for each layer. */
static int axes_value_may_be_list(const pe_option *row)
{
    return config_row_is_list(row) || row->offset == offsetof(run_config, encoding);
}

static int axes_take_value(spec_draft *d, int row, const yaml_node *value, spec_axes *out, error *e)
{
    const pe_option *option = &config_rows[row];
    char text[SPEC_VALUE_MAX];
    int axis = value->kind == YAML_LIST;
    if (axis && config_row_is_list(option)) /* [1, 2] is one value, [[1, 2], [1, 4]] is an axis */
        axis = value->count > 0 && value->items[0]->kind == YAML_LIST;
    if (value->kind == YAML_LIST && value->count == 0) {
        yaml_fault_at(d->faults, value, "%s: an empty list", option->name);
        return 0;
    }
    if (axes_is_word(row, value))
        return axes_take_word(d, row, value, &out->row[row], e);
    if (!axis)
        return axes_value_text(d, option, value, text) ? spec_axis_add(d, row, text, value, out, e) : 0;
    for (int i = 0; i < value->count; i++) {
        const yaml_node *item = value->items[i];
        if (axes_is_word(row, item)) {
            if (axes_take_word(d, row, item, &out->row[row], e) < 0)
                return -1;
        } else if (item->kind == YAML_LIST && (!axes_value_may_be_list(option) || item->count == 0))
            yaml_fault_at(d->faults, item, "%s: %s", option->name,
                          item->count ? "a list inside a list means something for encodings and for rows that are lists"
                                      : "an empty list");
        else if (axes_value_text(d, option, item, text) && spec_axis_add(d, row, text, item, out, e) < 0)
            return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ keys */

static int axes_take_row(spec_draft *d, int row, const yaml_pair *pair, spec_axes *out, error *e)
{
    if (out->row[row].count > 0) { /* train.lr beside train: {lr: } */
        yaml_fault_at(d->faults, pair->key, "%s is given twice; it has a value in line %d already",
                      config_rows[row].name, out->row[row].choices[0].at->line);
        return 0;
    }
    return axes_take_value(d, row, pair->value, out, e);
}

static int axes_take_section(spec_draft *d, const char *section, const yaml_node *map, spec_axes *out, error *e)
{
    if (map->kind == YAML_BROKEN)
        return 0;
    if (map->kind != YAML_MAP) {
        yaml_fault_at(d->faults, map, "%s takes keys of its own, as in %s: {%s: ...}", section, section,
                      config_rows[axes_section(section)].name + strlen(section) + 1);
        return 0;
    }
    yaml_pair *pairs;
    int count = yaml_flatten(map, d->faults, &pairs, e), result = count < 0 ? -1 : 0;
    for (int i = 0; i < count && result == 0; i++) {
        int row = axes_row(section, pairs[i].key->text);
        if (row >= 0)
            result = axes_take_row(d, row, &pairs[i], out, e);
        else
            spec_unknown_key(d, pairs[i].key, section, NULL, 0);
    }
    free(pairs);
    return result;
}

int spec_axes_take(spec_draft *d, const yaml_pair *pair, spec_axes *out, error *e)
{
    int row = axes_row(NULL, pair->key->text);
    if (row >= 0)
        return axes_take_row(d, row, pair, out, e) < 0 ? -1 : 1;
    if (axes_section(pair->key->text) < 0)
        return 0;
    return axes_take_section(d, pair->key->text, pair->value, out, e) < 0 ? -1 : 1;
}
