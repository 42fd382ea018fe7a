/* profile_json.c - a profile as data. */
#include "profile_show.h"

#include <math.h>

static json_t *json_of(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_reals(const double *value, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_of(value[i]));
    return list;
}

/* [outer][inner] */
static json_t *json_rows(const double *value, int outer, int inner)
{
    json_t *list = json_array();
    for (int i = 0; i < outer; i++)
        json_array_append_new(list, json_reals(value + (size_t)i * (size_t)inner, inner));
    return list;
}

static json_t *json_components(const profile_table *t)
{
    json_t *list = json_array();
    for (int i = 0; i < t->leading; i++) {
        double share;
        int peak = profile_peak(t, i, &share);
        json_array_append_new(
            list,
            json_pack("{s:o, s:i, s:o, s:o, s:o}", "singular_value", json_of(t->singular[i]), "peak_cycles", peak,
                      "peak_period", peak ? json_of((double)t->rows / peak) : json_null(), "peak_share", json_of(share),
                      "power", json_reals(t->power + (size_t)i * (size_t)t->frequencies, t->frequencies)));
    }
    return list;
}

static json_t *json_probes(const profile_table *t)
{
    return json_pack("{s:i, s:i, s:o, s:o, s:i, s:o}", "folds", READOUT_FOLDS, "rows", t->probe.rows, "position_error",
                     json_of(t->probe.read_error), "position_error_of_a_guess", json_of(t->probe.read_guess), "pairs",
                     t->probe.pairs, "order_error", json_of(t->probe.order_error));
}

static json_t *json_table(const profile_table *t)
{
    return json_pack("{s:i, s:i, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:{s:i, s:i, s:i}, s:o, s:o}", "rows", t->rows,
                     "columns", t->cols, "unexplained_by_distance", json_of(t->unexplained), "cosine_first_minimum",
                     t->dip, "cosine_next_maximum", t->rise, "dot_mean", json_reals(t->dot_mean, t->rows), "dot_spread",
                     json_reals(t->dot_spread, t->rows), "cosine_mean", json_reals(t->cosine_mean, t->rows), "norm",
                     json_reals(t->norm, t->rows), "singular_values", json_reals(t->singular, t->rank),
                     "components_needed", "0.90", t->needed[0], "0.95", t->needed[1], "0.99", t->needed[2],
                     "components", json_components(t), "probes", json_probes(t));
}

static json_t *json_biases(const profile *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->biases; i++) {
        const profile_bias *b = &p->bias[i];
        json_array_append_new(list, json_pack("{s:i, s:i, s:o}", "first_layer", b->layer, "least_distance", b->least,
                                              "heads", json_rows(b->value, b->heads, b->count)));
    }
    return list;
}

static json_t *json_rotaries(const profile *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->rotaries; i++) {
        const profile_rotary *r = &p->rotary[i];
        json_array_append_new(list, json_pack("{s:i, s:b, s:i, s:o, s:o, s:o, s:o, s:i, s:o}", "first_layer", r->layer,
                                              "heads_alike", r->heads == 1, "planes", r->pairs, "bound",
                                              json_rows(r->bound, r->heads, r->count), "equal_vectors",
                                              json_rows(r->same, r->heads, r->count), "independent_vectors",
                                              json_rows(r->other, r->heads, r->count), "independent_vectors_error",
                                              json_rows(r->other_error, r->heads, r->count), "draws", r->draws,
                                              "largest_elsewhere", json_of(r->peak_elsewhere)));
    }
    return list;
}

static json_t *json_attention(const profile_attention *a)
{
    json_t *layers = json_array();
    for (int l = 0; l < a->layers; l++) {
        size_t at = (size_t)l * (size_t)a->heads;
        json_array_append_new(layers,
                              json_pack("{s:o, s:o, s:o}", "mean_distance", json_reals(a->distance + at, a->heads),
                                        "entropy", json_reals(a->entropy + at, a->heads), "weight_by_distance",
                                        json_rows(a->weight + at * (size_t)a->len, a->heads, a->len)));
    }
    return json_pack("{s:s, s:I, s:o, s:{s:o, s:o, s:o}}", "content",
                     a->random_content ? "normal queries, keys and inputs" : "test stream", "sequences",
                     (json_int_t)a->sequences, "layers", layers, "even_attention", "mean_distance",
                     json_of(a->uniform_distance), "entropy", json_of(a->uniform_entropy), "weight_by_distance",
                     json_reals(a->uniform, a->len));
}

static json_t *json_hidden(const readout_states *h)
{
    return json_pack("{s:i, s:i, s:i, s:o, s:o}", "folds", READOUT_FOLDS, "sequences", h->sequences, "tokens",
                     h->tokens, "position_error", json_reals(h->read_error, h->count), "position_error_of_a_guess",
                     json_of(h->guess));
}

json_t *profile_json(const profile *p)
{
    static const char *const kinds[] = {"table", "stack", "trained"};
    char canonical[CONFIG_TEXT_MAX] = "";
    if (p->kind != PROFILE_FILE)
        config_print(&p->config, canonical, sizeof canonical);
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "schema", "posbench-profile/1", "kind",
        kinds[p->kind], "target", p->target, "canonical", *canonical ? json_string(canonical) : json_null(), "step",
        p->kind == PROFILE_TRAINED ? json_integer(p->step) : json_null(), "positions", p->rows, "positions_left_out",
        p->cut, "table", p->has_table ? json_table(&p->table) : json_null(), "biases", json_biases(p), "rotations",
        json_rotaries(p), "attention", p->has_attention ? json_attention(&p->attention) : json_null(), "hidden_states",
        p->has_hidden ? json_hidden(&p->hidden) : json_null());
}
