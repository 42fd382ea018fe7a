/* spec.c - the keys of a spec that are no rows of a run's configuration, and the way from the file to the runs. */
#include "spec.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "spec_grid.h"
#include "spec_yaml.h"

enum { SEEDS_MAX = 1000 };

/* What top level, overrides, when and set may hold besides rows; for "did you mean". */
static const char *const spec_words[] = {"name", "title", "baseline", "seeds", "overrides", "tune",
                                         "model", "train", "eval", "extend"};
static const char *const rule_words[] = {"when", "set"};
static const char *const section_words[] = {"model", "train", "eval", "extend"};

typedef struct spec_reader {
    spec_draft draft;
    spec *out;
    const yaml_node *baseline; /* NULL: none is given */
    const yaml_node *name;
    error *e;
} spec_reader;

/* ------------------------------------------------------------------------------------------------ names */

/* A line of text into out[size]. Returns 1, or 0 after a fault. */
static int spec_take_text(spec_reader *s, const yaml_pair *pair, char *out, size_t size)
{
    const yaml_node *value = pair->value;
    if (value->kind == YAML_BROKEN)
        return 0;
    if (value->kind != YAML_SCALAR || yaml_is_null(value)) {
        yaml_fault_at(s->draft.faults, value, "%s takes a text", pair->key->text);
        return 0;
    }
    for (const char *p = value->text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) {
            yaml_fault_at(s->draft.faults, value, "%s: a line break or another control character", pair->key->text);
            return 0;
        }
    if (strlen(value->text) >= size) {
        yaml_fault_at(s->draft.faults, value, "%s: more than %zu characters", pair->key->text, size - 1);
        return 0;
    }
    strcpy(out, value->text);
    return 1;
}

/* The name becomes a folder's. */
static int spec_name_is_good(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return name[0] && name[0] != '.' && name[0] != '-' && name[strspn(name, letters)] == '\0';
}

static void spec_default_name(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    if (length > 5 && strcmp(base + length - 5, ".yaml") == 0)
        length -= 5;
    else if (length > 4 && strcmp(base + length - 4, ".yml") == 0)
        length -= 4;
    snprintf(out, size, "%.*s", (int)length, base);
}

static void spec_check_name(spec_reader *s, const char *path)
{
    if (!s->name)
        spec_default_name(path, s->out->name, sizeof s->out->name);
    if (!spec_name_is_good(s->out->name))
        yaml_fault_at(
            s->draft.faults, s->name ? s->name : s->draft.root,
            "name: '%s' cannot name a results folder: letters, digits, '.', '_' and '-' can, not beginning with '.' "
            "or '-'%s",
            s->out->name, s->name ? "" : "; give one with 'name:'");
}

/* The baseline is drawn in every figure, so it must be among what is trained. */
static void spec_check_baseline(spec_reader *s)
{
    int row = spec_row_at(offsetof(run_config, encoding));
    spec_axis *trained = &s->draft.axes.row[row];
    spec_axes asked = {0};
    if (!s->baseline)
        return;
    if (spec_axis_add(&s->draft, row, s->baseline->text, s->baseline, &asked, s->e) == 0 && asked.row[row].count == 1) {
        const char *text = asked.row[row].choices[0].text;
        int found = trained->count == 0; /* without encodings there is a fault already */
        for (int i = 0; i < trained->count; i++)
            if (strcmp(trained->choices[i].text, text) == 0) {
                found = 1;
                trained->choices[i].offered = 0; /* who names it wants it */
            }
        if (!found)
            yaml_fault_at(s->draft.faults, s->baseline, "baseline: '%.128s' is not among the encodings of this spec",
                          text);
        snprintf(s->out->baseline, sizeof s->out->baseline, "%s", text);
    }
    spec_axes_free(&asked);
}

/* ------------------------------------------------------------------------------------------------ seeds */

/* seeds: 5 stands for seed: [1, 2, 3, 4, 5]. */
static int spec_take_seeds(spec_reader *s, const yaml_pair *pair)
{
    static const pe_option rows[] = {{"seeds", PE_OPTION_INT, 0, "1", 1, SEEDS_MAX, 0, NULL, "seeds 1 to this"}, {0}};
    const yaml_node *value = pair->value;
    error fault = ERROR_INIT;
    int seeds, row = spec_row_at(offsetof(run_config, seed));
    if (value->kind == YAML_BROKEN)
        return 0;
    if (value->kind != YAML_SCALAR || yaml_is_null(value)) {
        yaml_fault_at(s->draft.faults, value, "seeds takes a number; 'seed' takes a list of them");
        return 0;
    }
    if (options_set(rows, "spec", "seeds", value->text, &seeds, &fault) < 0) {
        yaml_fault_at(s->draft.faults, value, "%s", fault.message);
        return 0;
    }
    if (s->draft.axes.row[row].count) {
        yaml_fault_at(s->draft.faults, pair->key, "seeds and seed are both given");
        return 0;
    }
    for (int seed = 1; seed <= seeds; seed++) {
        char text[16];
        snprintf(text, sizeof text, "%d", seed);
        if (spec_axis_add(&s->draft, row, text, value, &s->draft.axes, s->e) < 0)
            return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ overrides */

static int spec_take_axes(spec_reader *s, const char *what, const yaml_node *map, spec_axes *out)
{
    if (map->kind != YAML_MAP || map->count == 0) {
        if (map->kind != YAML_BROKEN)
            yaml_fault_at(s->draft.faults, map, "%s takes keys and values, as in %s", what,
                          strcmp(what, "when") == 0 ? "when: {task: sort}" : "set: {train: {lr: 1e-4}}");
        return 0;
    }
    yaml_pair *pairs;
    int count = yaml_flatten(map, s->draft.faults, &pairs, s->e), result = count < 0 ? -1 : 0;
    for (int i = 0; i < count && result >= 0; i++) {
        result = spec_axes_take(&s->draft, &pairs[i], out, s->e);
        if (result == 0)
            spec_unknown_key(&s->draft, pairs[i].key, NULL, section_words,
                             (int)(sizeof section_words / sizeof *section_words));
    }
    free(pairs);
    return result < 0 ? -1 : 0;
}

/* What an override sets is one value for each row, and never which encoding, task or seed a run is of: those are the
 * grid. */
static void spec_check_set(spec_reader *s, const spec_axes *set)
{
    for (int row = 0; config_rows[row].name; row++) {
        const spec_axis *axis = &set->row[row];
        if (axis->count && !strchr(config_rows[row].name, '.'))
            yaml_fault_at(s->draft.faults, axis->choices[0].at,
                          "an override cannot set %s: it is what runs are told apart by", config_rows[row].name);
        else if (axis->count > 1)
            yaml_fault_at(s->draft.faults, axis->choices[1].at,
                          "%s: an override sets one value; an axis belongs to the top level", config_rows[row].name);
    }
}

static int spec_take_rule(spec_reader *s, const yaml_node *map)
{
    spec_rule *rule = &s->draft.rules[s->draft.rules_count];
    if (map->kind == YAML_BROKEN)
        return 0;
    if (map->kind != YAML_MAP) {
        yaml_fault_at(s->draft.faults, map, "an override is {when: {...}, set: {...}}");
        return 0;
    }
    rule->at = map;
    s->draft.rules_count++;
    yaml_pair *pairs;
    int count = yaml_flatten(map, s->draft.faults, &pairs, s->e), result = count < 0 ? -1 : 0, seen = 0;
    for (int i = 0; i < count && result == 0; i++) {
        const char *key = pairs[i].key->text;
        int is_when = strcmp(key, "when") == 0, is_set = strcmp(key, "set") == 0;
        seen |= is_when | is_set << 1;
        if (is_when || is_set)
            result = spec_take_axes(s, key, pairs[i].value, is_when ? &rule->when : &rule->set);
        else
            spec_unknown_key(&s->draft, pairs[i].key, "overrides", rule_words, 2);
    }
    free(pairs);
    if (result == 0 && seen != 3)
        yaml_fault_at(s->draft.faults, map, "an override needs both 'when' and 'set'");
    spec_check_set(s, &rule->set);
    return result;
}

static int spec_take_rules(spec_reader *s, const yaml_node *list)
{
    if (list->kind != YAML_LIST) {
        if (list->kind != YAML_BROKEN)
            yaml_fault_at(s->draft.faults, list, "overrides takes a list of {when: {...}, set: {...}}");
        return 0;
    }
    if (list->count > SPEC_RULES_MAX) {
        yaml_fault_at(s->draft.faults, list, "more than %d overrides", SPEC_RULES_MAX);
        return 0;
    }
    s->draft.rules = calloc((size_t)list->count + 1, sizeof *s->draft.rules);
    if (!s->draft.rules)
        return error_set(s->e, ERROR_ENVIRONMENT, "out of memory");
    for (int i = 0; i < list->count; i++)
        if (spec_take_rule(s, list->items[i]) < 0)
            return -1;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ the top level */

static int spec_take_pair(spec_reader *s, const yaml_pair *pair)
{
    const char *key = pair->key->text;
    if (strncmp(key, "x-", 2) == 0) /* a place for anchors; what they hold is checked where it is used */
        return 0;
    if (strcmp(key, "name") == 0) {
        if (spec_take_text(s, pair, s->out->name, sizeof s->out->name))
            s->name = pair->value;
        return 0;
    }
    if (strcmp(key, "title") == 0) {
        spec_take_text(s, pair, s->out->title, sizeof s->out->title);
        return 0;
    }
    if (strcmp(key, "baseline") == 0) {
        if (spec_take_text(s, pair, s->out->baseline, sizeof s->out->baseline))
            s->baseline = pair->value;
        return 0;
    }
    if (strcmp(key, "overrides") == 0)
        return spec_take_rules(s, pair->value);
    if (strcmp(key, "tune") == 0)
        return spec_tune_take(&s->draft, pair, s->e);
    if (strcmp(key, "seeds") == 0)
        return 0; /* after all rows, so that seed is known */
    int taken = spec_axes_take(&s->draft, pair, &s->draft.axes, s->e);
    if (taken == 0)
        spec_unknown_key(&s->draft, pair->key, NULL, spec_words, (int)(sizeof spec_words / sizeof *spec_words));
    return taken < 0 ? -1 : 0;
}

static int spec_take_root(spec_reader *s, const yaml_node *root)
{
    yaml_pair *pairs;
    int count = yaml_flatten(root, s->draft.faults, &pairs, s->e), result = count < 0 ? -1 : 0, has_encoding = 0,
        has_task = 0;
    for (int i = 0; i < count && result == 0; i++) {
        result = spec_take_pair(s, &pairs[i]);
        has_encoding |= strcmp(pairs[i].key->text, "encoding") == 0;
        has_task |= strcmp(pairs[i].key->text, "task") == 0;
    }
    for (int i = 0; i < count && result == 0; i++)
        if (strcmp(pairs[i].key->text, "seeds") == 0)
            result = spec_take_seeds(s, &pairs[i]);
    free(pairs);
    if (!has_encoding)
        yaml_fault_add(s->draft.faults, root->line, root->column, 1, "no 'encoding' is given");
    if (!has_task)
        yaml_fault_add(s->draft.faults, root->line, root->column, 1, "no 'task' is given");
    return result;
}

/* Two rounds: what is wrong with single values is told first, all of it; whether values fit each other is asked only of
 * values that are good, or one slip would be told twice over. */
static int spec_take_grid(spec_reader *s, const char *path, const yaml_node *root)
{
    yaml_faults *faults = s->draft.faults;
    int before = faults->count;
    if (root->kind != YAML_MAP) {
        if (root->kind != YAML_BROKEN)
            yaml_fault_at(faults, root, "a spec begins with keys, as in 'encoding: [...]'");
        return 0;
    }
    s->draft.root = root;
    if (spec_take_root(s, root) < 0)
        return -1;
    spec_check_name(s, path);
    spec_check_baseline(s);
    spec_tune_check(&s->draft);
    if (faults->count > before || s->e->kind != ERROR_NONE)
        return s->e->kind != ERROR_NONE ? -1 : 0;
    return spec_grid(&s->draft, s->e) < 0 ? -1 : spec_extend_check(&s->draft, s->e);
}

static void spec_draft_free(spec_draft *d)
{
    spec_axes_free(&d->axes);
    for (int i = 0; i < d->rules_count; i++) {
        spec_axes_free(&d->rules[i].when);
        spec_axes_free(&d->rules[i].set);
    }
    free(d->rules);
}

int spec_take_tree(const char *path, const yaml_node *root, const registry *r, yaml_faults *faults, spec *out, error *e)
{
    spec_reader *s = calloc(1, sizeof *s);
    if (!s)
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    *s = (spec_reader){.draft = {.registry = r, .faults = faults, .out = out}, .out = out, .e = e};
    int result = spec_take_grid(s, path, root);
    spec_draft_free(&s->draft);
    free(s);
    return result;
}

static int spec_take_document(const char *path, const yaml_document *document, const registry *r, yaml_faults *faults,
                              spec *out, error *e)
{
    if (!document->complete)
        return 0;
    if (!document->root)
        return error_set(e, ERROR_USAGE, "%s: the file is empty", path);
    return spec_take_tree(path, document->root, r, faults, out, e);
}

int spec_load(const char *path, const registry *r, const char *only, spec *out, error *e)
{
    *out = (spec){0};
    yaml_document document;
    yaml_faults *faults = calloc(1, sizeof *faults);
    if (!faults)
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    int result = yaml_load(path, &document, faults, e);
    if (result == 0)
        result = spec_take_document(path, &document, r, faults, out, e);
    if (result == 0 && faults->count)
        result = yaml_faults_report(faults, e);
    if (result == 0 && only) {
        result = spec_filter(r, only, out, e);
        result = result < 0 ? error_prefix(e, "--only %.256s", only) : 0;
    }
    yaml_free(&document);
    free(faults);
    if (result < 0)
        spec_free(out);
    return result;
}

void spec_free(spec *s)
{
    free(s->runs);
    free(s->place);
    free(s->left_out);
    *s = (spec){0};
}
