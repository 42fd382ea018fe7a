/* statement_read_section.c - conditions on what a record holds besides its evaluation: tests after training, at longer
 * lengths, what positions met in training, and what trained weights know of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "statement_reading.h"

/* ------------------------------------------------------------------------------------------------ after training */

enum { SECTION_FACTOR, SECTION_METHOD, SECTION_STEPS, SECTION_OPTIONS, SECTION_KEYS };

static const char *const section_keys[SECTION_KEYS] = {"factor", "method", "steps", "task_options"};

/* `after` of one side while it is read. */
typedef struct section_after {
    condition *c;
    const run_config *run;        /* one of its runs */
    yaml_pair pair[SECTION_KEYS]; /* NULL, NULL: not given */
    int is_shared[SECTION_KEYS];  /* 1: by the condition, for both sides */
    statement_after *out;
} section_after;

/* Keys of one map; those that are there already stay. */
static int section_take(section_after *a, const yaml_pair *map, int is_shared)
{
    statement_reading *s = a->c->s;
    yaml_pair *pairs;
    int is_told = is_shared && a->c->shared_bad;
    if (map->value->kind != YAML_MAP) {
        if (map->value->kind != YAML_BROKEN && !is_told)
            yaml_fault_at(s->faults, map->value,
                          "after takes keys and values, as in after: {factor: 2, method: none, steps: 200}");
        return 0;
    }
    int count = yaml_flatten(map->value, s->faults, &pairs, s->e);
    for (int i = 0; i < count; i++) {
        int key = 0;
        while (key < SECTION_KEYS && strcmp(pairs[i].key->text, section_keys[key]) != 0)
            key++;
        if (key == SECTION_KEYS && is_told)
            continue;
        if (key == SECTION_KEYS)
            reading_unknown(s, pairs[i].key, "after", section_keys, SECTION_KEYS);
        else if (!a->pair[key].key) {
            a->pair[key] = pairs[i];
            a->is_shared[key] = is_shared;
        }
    }
    free(pairs);
    return count < 0 ? -1 : 0;
}

/* A value that none of the runs has: "steps: 20 is none of rope's: 0, 50, 200". */
static void section_none(const section_after *a, int key, const char *text, const char *const *words, int count)
{
    char all[512] = "";
    size_t used = 0;
    for (int i = 0; i < count && used < sizeof all; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%.64s", i ? ", " : "", words[i]);
    int is_word = key == SECTION_METHOD || key == SECTION_OPTIONS;
    const char *near = is_word ? nearest_word(text, words, (size_t)count) : NULL;
    yaml_fault_at(a->c->s->faults, a->pair[key].value, "%s: %s goes on with no %s %.64s: extend.%s%s is %s%s%s%s",
                  section_keys[key], a->run->encoding, section_keys[key], text, section_keys[key],
                  key == SECTION_FACTOR || key == SECTION_METHOD ? "s" : "", *all ? all : "empty",
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static void section_number(section_after *a, int key, const pe_list *list, double *out)
{
    char texts[PE_LIST_MAX][32], text[32];
    const char *words[PE_LIST_MAX];
    if (!reading_number(a->c->s, &a->pair[key], out))
        return;
    for (int i = 0; i < list->count; i++) {
        if (fabs(list->value[i] - *out) < 1e-9)
            return;
        number_print(list->value[i], texts[i], sizeof texts[i]);
        words[i] = texts[i];
    }
    number_print(*out, text, sizeof text);
    section_none(a, key, text, words, list->count);
}

/* A method or options of the task: as it stands in the configuration, which is canonical. */
static void section_word(section_after *a, int key, const extend_words *known, char out[EXTEND_METHOD_MAX])
{
    char text[EXTEND_METHOD_MAX];
    const char *words[EXTEND_METHODS_MAX];
    error ignored = ERROR_INIT; /* an unknown name is told with those that the runs have */
    if (!reading_text(a->c->s, &a->pair[key], text, sizeof text))
        return;
    if (key != SECTION_METHOD ||
        stack_method_canonical(a->c->s->draft.registry, text, out, EXTEND_METHOD_MAX, &ignored) < 0)
        snprintf(out, EXTEND_METHOD_MAX, "%s", text);
    for (int i = 0; i < known->count; i++) {
        if (strcmp(known->name[i], out) == 0)
            return;
        words[i] = known->name[i];
    }
    section_none(a, key, text, words, known->count);
}

/* Whether a fault of this key is still to be told: one that both sides share is told once. */
static int section_wants(section_after *a, int key)
{
    return a->pair[key].key && !(a->is_shared[key] && a->c->shared_bad);
}

static void section_values(section_after *a)
{
    const run_config *run = a->run;
    extend_words methods, options;
    double steps = 0;
    extend_read(run, &methods);
    extend_read_tasks(run, &options);
    if (section_wants(a, SECTION_FACTOR))
        section_number(a, SECTION_FACTOR, &run->extend.factors, &a->out->factor);
    if (section_wants(a, SECTION_METHOD))
        section_word(a, SECTION_METHOD, &methods, a->out->method);
    if (section_wants(a, SECTION_STEPS))
        section_number(a, SECTION_STEPS, &run->extend.steps, &steps);
    if (section_wants(a, SECTION_OPTIONS))
        section_word(a, SECTION_OPTIONS, &options, a->out->task_options);
    a->out->steps = (int)steps;
}

/* Faults of the whole, at the key that comes first. */
static void section_check(const section_after *a, const yaml_pair *at)
{
    if (!extend_is_on(a->run))
        yaml_fault_at(a->c->s->faults, at->key, "after: nothing follows the training of %s: extend.methods is empty",
                      a->run->encoding);
    for (int key = 0; key < SECTION_OPTIONS && at->value->kind == YAML_MAP; key++)
        if (!a->pair[key].key)
            yaml_fault_at(a->c->s->faults, at->key, "after: no '%s' is given, here or for both sides",
                          section_keys[key]);
}

int reading_after(condition *c, int side)
{
    const yaml_pair *own = &c->own_after[side];
    section_after a = {.c = c, .out = &c->rule->side[side].after};
    int before = c->s->faults->count;
    if (!own->key && !c->after)
        return 0;
    const yaml_pair *first = own->key ? own : c->after;
    a.run = &c->s->group->spec.runs[c->rule->side[side].run[0]];
    a.out->given = 1;
    if ((own->key && section_take(&a, own, 0) < 0) || (c->after && section_take(&a, c->after, 1) < 0))
        return -1;
    if (extend_is_on(a.run))
        section_values(&a);
    if (own->key || !c->shared_bad)
        section_check(&a, first);
    c->after_bad[side] = c->shared_bad || c->s->faults->count > before;
    c->shared_bad |= c->after && c->after_bad[side];
    return 0;
}

int reading_bins(const condition *c, int side, length_bin out[CONFIG_BINS_MAX])
{
    const statement_side *of = &c->rule->side[side];
    const run_config *run = &c->s->group->spec.runs[of->run[0]];
    run_config test;
    error ignored = ERROR_INIT; /* the spec was checked */
    if (c->after_bad[side])
        return -1;
    if (of->after.given)
        extend_test_config(run, of->after.factor, &test);
    return config_bins(of->after.given ? &test : run, out, &ignored);
}

/* ------------------------------------------------------------------------------------------------ one number */

/* Which of the kind's numbers is meant; NULL after a fault. */
static const quantity *section_quantity(condition *c, const quantity_kind *kind, const yaml_pair *pair)
{
    const char *names[16];
    int count = 0;
    char text[64];
    for (; count < 16 && kind->rows[count].name; count++)
        names[count] = kind->rows[count].name;
    if (!reading_text(c->s, pair, text, sizeof text))
        return NULL;
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], text) == 0)
            return &kind->rows[i];
    const char *near = nearest_word(text, names, (size_t)count);
    yaml_fault_at(c->s->faults, pair->value, "%s: unknown number '%s'%s%s%s", kind->word, text,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return NULL;
}

void reading_quantity(condition *c, int kind)
{
    const quantity_kind *k = quantity_kind_at(kind);
    const yaml_pair *pair = c->quantity[kind];
    const quantity *q = section_quantity(c, k, pair);
    c->rule->kind = k;
    c->rule->quantity = q;
    for (int side = 0; side < 2; side++) {
        const statement_side *of = &c->rule->side[side];
        const run_config *run = of->count ? &c->s->group->spec.runs[of->run[0]] : NULL;
        if (run && q && !quantity_is_on(q, run))
            yaml_fault_at(c->s->faults, pair->key, "%s: %s records none: %s is false", k->word, run->encoding, q->row);
        if (c->own_after[side].key)
            yaml_fault_at(c->s->faults, c->own_after[side].key, "after is for scores; %s is one number of a run", k->word);
    }
}
