#include "record_exposure.h"

#include <math.h>

/* Phases end as exposure.h says; the network's parts are not known here. */
static int record_phase_end(const run_config *c, int phase)
{
    return (int)(((json_int_t)(phase + 1) * c->train.steps + RUN_PHASES - 1) / RUN_PHASES);
}

static json_t *record_reals(const double *value, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, isfinite(value[i]) ? json_real(value[i]) : json_null());
    return list;
}

/* met[count][RUN_PHASES]; counts under the name `updates`. */
static json_t *record_phases(const run_config *c, const run_met *met, int count, const char *updates)
{
    json_t *phases = json_array();
    for (int p = 0; p < RUN_PHASES; p++) {
        json_t *counts = json_array(), *gradient = json_array();
        for (int i = 0; i < count; i++) {
            const run_met *m = &met[i * RUN_PHASES + p];
            json_array_append_new(counts, json_integer(m->updates));
            json_array_append_new(gradient, isfinite(m->gradient) ? json_real(m->gradient) : json_null());
        }
        json_array_append_new(phases, json_pack("{s:i, s:o, s:o}", "step", record_phase_end(c, p), updates, counts,
                                                "gradient", gradient));
    }
    return phases;
}

static json_t *record_quality(const run_exposure *x)
{
    if (x->tested == 0)
        return json_null();
    json_t *n = json_array();
    for (int i = 0; i < x->tested; i++)
        json_array_append_new(n, json_integer(x->n[i]));
    return json_pack("{s:o, s:o, s:o}", "loss", record_reals(x->loss, x->tested), "accuracy",
                     record_reals(x->accuracy, x->tested), "n", n);
}

json_t *record_exposure(const run_config *c, const run_exposure *x)
{
    if (!x)
        return NULL;
    json_t *tables = json_array();
    for (int i = 0; i < x->tables; i++) {
        const run_exposure_table *t = &x->table[i];
        json_array_append_new(tables,
                              json_pack("{s:s, s:o, s:o, s:o}", "name", t->name, "first_norm",
                                        record_reals(t->first_norm, t->rows), "norm", record_reals(t->norm, t->rows),
                                        "phases", record_phases(c, t->met, t->rows, "updates")));
    }
    return json_pack("{s:o, s:I, s:o, s:o}", "phases", record_phases(c, x->met, x->positions, "tokens"), "beyond",
                     (json_int_t)x->beyond, "tables", tables, "quality", record_quality(x));
}
