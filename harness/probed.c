/* probed.c - a record's section "probes" in a few numbers. */
#include "probed.h"

#include <math.h>

static double probed_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Errors over that of a guess: of the first, of the least of those behind it, and of the last; *layer: the least one's.
 */
static void probed_errors(const json_t *errors, double guess, double *first, double *best, double *last, double *layer)
{
    size_t count = json_array_size(errors);
    for (size_t l = 0; l < count; l++) {
        const json_t *value = json_array_get(errors, l);
        double share = json_is_number(value) && guess > 0 ? json_number_value(value) / guess : NAN;
        if (l == 0)
            *first = share;
        else if (!(*best <= share)) {
            *best = share;
            *layer = (double)l;
        }
        if (l > 0 && l + 1 == count)
            *last = share;
    }
}

static void probed_hidden(const json_t *hidden, probed_numbers *out)
{
    double guess = probed_number(hidden, "position_error_of_a_guess"), ignored;
    probed_errors(json_object_get(hidden, "position_error"), guess, &out->first, &out->best, &out->last,
                  &out->best_layer);
    probed_errors(json_object_get(hidden, "position_error_wide"), guess, &out->wide_first, &out->wide_best,
                  &out->wide_last, &ignored);
}

int probed_takes(const run_record *run)
{
    return quantity_takes(&probed_quantities, run);
}

void probed_read(const run_record *run, probed_numbers *out)
{
    const json_t *probes = json_object_get(run->record, "probes"), *shuffle = json_object_get(probes, "shuffle");
    const json_t *table = json_array_get(json_object_get(probes, "tables"), 0);
    *out = (probed_numbers){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    probed_hidden(json_object_get(probes, "hidden"), out);
    out->positions = probed_number(table, "position_error");
    out->guess = probed_number(table, "position_error_of_a_guess");
    out->order = probed_number(table, "order_error");
    out->in_order = probed_number(shuffle, "loss_in_order");
    out->shuffled = probed_number(shuffle, "loss_shuffled");
    out->cost = out->shuffled - out->in_order;
}

/* ------------------------------------------------------------------------------------------------ by name */

#define PROBED_NO_STATES "the test sequences have no value"
#define PROBED_NO_TABLE "no parameters belong to one position each, or they have too few rows"
#define PROBED_NO_WINDOWS "the windows have no value"
#define PROBED_AT(field) offsetof(probed_numbers, field)

static const quantity probed_by_name[] = {
    {"hidden_first", "error of positions read before the first layer, over a guess", 0, INFINITY, PROBED_NO_STATES,
     "eval.probe", PROBED_AT(first)},
    {"hidden_best", "least error of positions read after a layer, over a guess", 0, INFINITY, PROBED_NO_STATES,
     "eval.probe", PROBED_AT(best)},
    {"hidden_last", "error of positions read after the last layer, over a guess", 0, INFINITY, PROBED_NO_STATES,
     "eval.probe", PROBED_AT(last)},
    {"wide_first", "error of positions read by a random layer and a linear one before the first layer, over a guess", 0,
     INFINITY, PROBED_NO_STATES, "eval.probe", PROBED_AT(wide_first)},
    {"wide_best", "least error of positions read by a random layer and a linear one after a layer, over a guess", 0,
     INFINITY, PROBED_NO_STATES, "eval.probe", PROBED_AT(wide_best)},
    {"wide_last", "error of positions read by a random layer and a linear one after the last layer, over a guess", 0,
     INFINITY, PROBED_NO_STATES, "eval.probe", PROBED_AT(wide_last)},
    {"table_error", "error of positions read off the table", 0, INFINITY, PROBED_NO_TABLE, "eval.probe",
     PROBED_AT(positions)},
    {"table_order", "share of the table's pairs told in the wrong order", 0, 1, PROBED_NO_TABLE, "eval.probe",
     PROBED_AT(order)},
    {"loss_in_order", "loss behind windows", 0, INFINITY, PROBED_NO_WINDOWS, "eval.shuffle", PROBED_AT(in_order)},
    {"loss_shuffled", "loss behind windows with the prefix shuffled", 0, INFINITY, PROBED_NO_WINDOWS, "eval.shuffle",
     PROBED_AT(shuffled)},
    {"shuffle_cost", "loss behind windows, prefix shuffled less in order", -INFINITY, INFINITY, PROBED_NO_WINDOWS,
     "eval.shuffle", PROBED_AT(cost)},
    {0}};

static double probed_value(const run_record *run, const quantity *q)
{
    probed_numbers x;
    probed_read(run, &x);
    return *(const double *)((const char *)&x + q->offset);
}

const quantity_kind probed_quantities = {"probe", "probes", probed_by_name, probed_value};
