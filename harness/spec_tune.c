/* spec_tune.c - the key `tune` of a spec: which learning rates are tried, and with how many seeds of their own. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "spec_grid.h"

static const char *const spec_tune_words[] = {"lr", "seeds"};

static int spec_tune_rate_row(void)
{
    return spec_row_at(offsetof(run_config, train.lr));
}

static int spec_tune_rate_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The rates go through the row's own bounds; the order in the file says nothing. */
static int spec_tune_take_rates(spec_draft *d, const yaml_node *value, error *e)
{
    spec_tune *tune = &d->out->tune;
    spec_axes given = {0};
    const spec_axis *axis = &given.row[spec_tune_rate_row()];
    if (value->kind == YAML_BROKEN)
        return 0;
    if (value->kind != YAML_LIST || value->count < 2 || value->count > SPEC_TUNE_RATES_MAX) {
        yaml_fault_at(d->faults, value, "tune.lr takes a list of 2 to %d learning rates", SPEC_TUNE_RATES_MAX);
        return 0;
    }
    int result = 0;
    for (int i = 0; i < value->count && result == 0; i++) {
        const yaml_node *item = value->items[i];
        if (item->kind == YAML_SCALAR && !yaml_is_null(item))
            result = spec_axis_add(d, spec_tune_rate_row(), item->text, item, &given, e);
        else if (item->kind != YAML_BROKEN)
            yaml_fault_at(d->faults, item, "tune.lr takes numbers");
    }
    for (int i = 0; i < axis->count && result == 0; i++) {
        number_parse(axis->choices[i].text, &tune->rate[i]); /* canonical text of a REAL */
        tune->rates++;
    }
    qsort(tune->rate, (size_t)tune->rates, sizeof *tune->rate, spec_tune_rate_order);
    spec_axes_free(&given);
    return result;
}

static void spec_tune_take_seeds(spec_draft *d, const yaml_node *value)
{
    static const pe_option rows[] = {
        {"seeds", PE_OPTION_INT, 0, "1", 1, SPEC_TUNE_SEEDS_MAX, 0, NULL, "seeds of the trials"}, {0}};
    error fault = ERROR_INIT;
    if (value->kind == YAML_BROKEN)
        return;
    if (value->kind != YAML_SCALAR || yaml_is_null(value))
        yaml_fault_at(d->faults, value, "tune.seeds takes a number: trials have the seeds %d, %d ...", SPEC_TUNE_SEED,
                      SPEC_TUNE_SEED + 1);
    else if (options_set(rows, "tune", "seeds", value->text, &d->out->tune.seeds, &fault) < 0)
        yaml_fault_at(d->faults, value, "%s", fault.message);
}

/* Rows of a run's configuration are not meant here, so only the two keys are looked at. */
static void spec_tune_unknown(spec_draft *d, const yaml_node *key)
{
    const char *near = nearest_word(key->text, spec_tune_words, 2);
    yaml_fault_at(d->faults, key, "unknown key '%.64s' in tune%s%s%s", key->text, near ? "; did you mean '" : "",
                  near ? near : "", near ? "'?" : "");
}

int spec_tune_take(spec_draft *d, const yaml_pair *pair, error *e)
{
    const yaml_node *map = pair->value, *rates = NULL;
    d->tune = pair->key;
    d->out->tune.seeds = 1;
    if (map->kind != YAML_MAP) {
        if (map->kind != YAML_BROKEN)
            yaml_fault_at(d->faults, map, "tune takes keys of its own, as in tune: {lr: [3e-4, 1e-3], seeds: 2}");
        return 0;
    }
    yaml_pair *pairs;
    int count = yaml_flatten(map, d->faults, &pairs, e), result = count < 0 ? -1 : 0;
    for (int i = 0; i < count && result == 0; i++) {
        if (strcmp(pairs[i].key->text, "lr") == 0)
            result = spec_tune_take_rates(d, rates = pairs[i].value, e);
        else if (strcmp(pairs[i].key->text, "seeds") == 0)
            spec_tune_take_seeds(d, pairs[i].value);
        else
            spec_tune_unknown(d, pairs[i].key);
    }
    free(pairs);
    if (result == 0 && !rates)
        yaml_fault_at(d->faults, pair->key, "tune needs learning rates, lr: [...]");
    return result;
}

/* A rate that stands anywhere else would be without effect. */
static void spec_tune_check_rate(spec_draft *d, const spec_axis *axis)
{
    if (axis->count)
        yaml_fault_at(d->faults, axis->choices[0].at, "train.lr is given, but 'tune' in line %d chooses it",
                      d->tune->line);
}

/* What a rate was chosen by is no evidence for it. */
static void spec_tune_check_seeds(spec_draft *d)
{
    const spec_axis *axis = &d->axes.row[spec_row_at(offsetof(run_config, seed))];
    int last = SPEC_TUNE_SEED + d->out->tune.seeds - 1;
    for (int i = 0; i < axis->count; i++) {
        long seed = strtol(axis->choices[i].text, NULL, 10);
        if (seed < SPEC_TUNE_SEED || seed > last)
            continue;
        yaml_fault_at(d->faults, axis->choices[i].at,
                      "seed %ld belongs to the trials of 'tune' (%d to %d): what a rate was chosen by is not reported",
                      seed, SPEC_TUNE_SEED, last);
        return;
    }
}

void spec_tune_check(spec_draft *d)
{
    if (!d->tune)
        return;
    spec_tune_check_rate(d, &d->axes.row[spec_tune_rate_row()]);
    for (int i = 0; i < d->rules_count; i++) {
        spec_tune_check_rate(d, &d->rules[i].when.row[spec_tune_rate_row()]);
        spec_tune_check_rate(d, &d->rules[i].set.row[spec_tune_rate_row()]);
    }
    spec_tune_check_seeds(d);
}
