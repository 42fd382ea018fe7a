/* statement_read_measure.c - a condition on hooks alone: which measurement, of what, at which numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "statement_reading.h"

static int measured_row(const char *row)
{
    return strcmp(row, "encoding") == 0 || strcmp(row, "seed") == 0 || strncmp(row, "model.", 6) == 0 ||
           strcmp(row, "train.len") == 0;
}

static int measured_config(condition *c, const yaml_pair *pair, run_config *out)
{
    spec_axes *axes = calloc(1, sizeof *axes);
    config_defaults(out);
    int result = axes ? reading_axes(c, pair, axes, NULL)
                      : error_set(c->s->e, ERROR_ENVIRONMENT, "%s: out of memory", c->s->path);
    for (int row = 0; result == 0 && config_rows[row].name; row++) {
        error ignored = ERROR_INIT; /* the text was set before */
        const spec_axis *axis = &axes->row[row];
        if (axis->count == 0)
            continue;
        if (axis->count > 1 || !measured_row(config_rows[row].name))
            yaml_fault_at(c->s->faults, axis->choices[0].at,
                          axis->count > 1 ? "%s: one value"
                                          : "%s: a measurement knows encoding, seed, model and train.len",
                          config_rows[row].name);
        else
            config_set(out, config_rows[row].name, axis->choices[0].text, &ignored);
    }
    if (result == 0 && !*out->encoding && pair->value->kind == YAML_MAP)
        yaml_fault_at(c->s->faults, pair->value, "%s: no encoding is given", pair->key->text);
    if (axes)
        spec_axes_free(axes);
    free(axes);
    return result;
}

static void measured_numbers(condition *c, const analytic *measure, analytic_input *in)
{
    const yaml_node *value = c->at->value;
    const yaml_node *const *items = value->kind == YAML_LIST ? (const yaml_node *const *)value->items : &value;
    int count = value->kind == YAML_LIST ? value->count : 1;
    for (int i = 0; i < count; i++) {
        double number;
        if (i == ANALYTIC_VALUES_MAX || items[i]->kind != YAML_SCALAR || number_parse(items[i]->text, &number) < 0 ||
            number != floor(number) || number < measure->least || number > measure->most) {
            if (items[i]->kind != YAML_BROKEN)
                yaml_fault_at(c->s->faults, items[i], "at: %s takes %s, at most %d whole numbers from %g to %g",
                              measure->name, measure->at, ANALYTIC_VALUES_MAX, measure->least, measure->most);
            return;
        }
        in->at[in->count++] = number;
    }
}

int reading_measure(condition *c)
{
    statement_rule *rule = c->rule;
    char name[64];
    error fault = ERROR_INIT;
    rule->input = calloc(1, sizeof *rule->input);
    if (!rule->input)
        return error_set(c->s->e, ERROR_ENVIRONMENT, "%s: out of memory", c->s->path);
    if (!reading_text(c->s, c->measure, name, sizeof name))
        return 0;
    rule->measure = analytic_find(name, &fault);
    if (!rule->measure) {
        yaml_fault_at(c->s->faults, c->measure->value, "measure: %s", fault.message);
        return 0;
    }
    rule->input->has_beside = c->beside != NULL;
    if ((c->sides[0] && measured_config(c, c->sides[0], &rule->input->config) < 0) ||
        (c->beside && measured_config(c, c->beside, &rule->input->beside) < 0))
        return -1;
    if (c->at && rule->measure->at)
        measured_numbers(c, rule->measure, rule->input);
    if (!c->at != !rule->measure->at)
        yaml_fault_at(c->s->faults, c->measure->value, rule->measure->at ? "%s needs 'at': %s" : "%s takes no 'at'%s",
                      name, rule->measure->at ? rule->measure->at : "");
    if (!c->beside != !rule->measure->takes_beside)
        yaml_fault_at(
            c->s->faults, c->measure->value,
            rule->measure->takes_beside ? "%s needs 'beside': what it is compared with" : "%s takes no 'beside'", name);
    return 0;
}
