#include "record_probes.h"

#include <math.h>

static json_t *probes_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *probes_hidden(const readout_states *h)
{
    if (h->count == 0)
        return json_null();
    json_t *errors = json_array(), *wide = json_array();
    for (int l = 0; l < h->count; l++) {
        json_array_append_new(errors, probes_real(h->read_error[l]));
        json_array_append_new(wide, probes_real(h->wide_error[l]));
    }
    return json_pack("{s:i, s:i, s:i, s:o, s:o, s:o}", "folds", READOUT_FOLDS, "sequences", h->sequences, "tokens",
                     h->tokens, "position_error", errors, "position_error_wide", wide, "position_error_of_a_guess",
                     probes_real(h->guess));
}

static json_t *probes_tables(const run_probes *p)
{
    json_t *tables = json_array();
    for (int i = 0; i < p->tables; i++) {
        const readout_rows *r = &p->table[i].found;
        json_array_append_new(tables,
                              json_pack("{s:s, s:i, s:i, s:o, s:o, s:i, s:o}", "name", p->table[i].name, "folds",
                                        READOUT_FOLDS, "rows", r->rows, "position_error", probes_real(r->read_error),
                                        "position_error_of_a_guess", probes_real(r->read_guess), "pairs", r->pairs,
                                        "order_error", probes_real(r->order_error)));
    }
    return tables;
}

static json_t *probes_shuffle(const run_probes *p)
{
    if (p->windows == 0)
        return json_null();
    return json_pack("{s:I, s:o, s:o}", "windows", (json_int_t)p->windows, "loss_in_order",
                     probes_real(p->in_order_loss), "loss_shuffled", probes_real(p->shuffled_loss));
}

json_t *record_probes(const run_config *c, const run_probes *p)
{
    return json_pack("{s:o, s:o, s:o}", "hidden", probes_hidden(&p->hidden), "tables",
                     c->eval.probe ? probes_tables(p) : json_null(), "shuffle", probes_shuffle(p));
}
