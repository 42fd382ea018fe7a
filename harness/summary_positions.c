/* summary_positions.c - positions.csv: what each position and each row of a table met in training, run by run. */
#include "summary.h"

#include <math.h>

#include "csv.h"

static const char positions_csv_header[] =
    "key,encoding,task,seed,train_len,table,step,position,updates,gradient,share,"
    "first_norm,norm,loss,accuracy,n\n";

static double positions_csv_at(const json_t *object, const char *key, size_t i)
{
    const json_t *value = json_array_get(json_object_get(object, key), i);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double positions_csv_sum(const json_t *list)
{
    double sum = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        sum += json_number_value(json_array_get(list, i));
    return sum;
}

static void positions_csv_run(buffer *b, const run_record *run, const char *table)
{
    csv_text(b, run->key);
    csv_text(b, run->label);
    csv_text(b, run->config.task);
    csv_integer(b, run->config.seed);
    csv_integer(b, run->config.train.len);
    csv_text(b, table);
}

/* One phase of the input (table "") or of a table. more: the object of `first_norm` and `norm`, quality: of `loss` ...;
 * they stand in the rows of the last phase only, and are NULL before. */
static void positions_csv_phase(buffer *b, const run_record *run, const char *table, const json_t *phase,
                                const char *counts, const json_t *more, const json_t *quality)
{
    const json_t *gradient = json_object_get(phase, "gradient");
    double sum = positions_csv_sum(gradient);
    size_t met = json_array_size(gradient), tested = json_array_size(json_object_get(quality, "n"));
    for (size_t i = 0; i < met || i < tested; i++) {
        double own = positions_csv_at(phase, "gradient", i);
        positions_csv_run(b, run, table);
        csv_number(b, json_number_value(json_object_get(phase, "step")));
        csv_integer(b, (long)i);
        csv_number(b, positions_csv_at(phase, counts, i));
        csv_number(b, own);
        csv_number(b, sum > 0 ? own / sum : NAN);
        csv_number(b, positions_csv_at(more, "first_norm", i));
        csv_number(b, positions_csv_at(more, "norm", i));
        csv_number(b, positions_csv_at(quality, "loss", i));
        csv_number(b, positions_csv_at(quality, "accuracy", i));
        csv_number(b, positions_csv_at(quality, "n", i));
        csv_end(b);
    }
}

static void positions_csv_record(buffer *b, const run_record *run, const json_t *exposure)
{
    const json_t *phases = json_object_get(exposure, "phases"), *tables = json_object_get(exposure, "tables");
    size_t last = json_array_size(phases);
    for (size_t p = 0; p < last; p++)
        positions_csv_phase(b, run, "", json_array_get(phases, p), "tokens", NULL,
                            p + 1 == last ? json_object_get(exposure, "quality") : NULL);
    for (size_t t = 0; t < json_array_size(tables); t++) {
        const json_t *table = json_array_get(tables, t);
        phases = json_object_get(table, "phases");
        last = json_array_size(phases);
        for (size_t p = 0; p < last; p++)
            positions_csv_phase(b, run, json_string_value(json_object_get(table, "name")), json_array_get(phases, p),
                                "updates", p + 1 == last ? table : NULL, NULL);
    }
}

int summary_positions(const results *r, buffer *b)
{
    int runs = 0;
    buffer_add(b, positions_csv_header);
    for (int i = 0; i < r->count; i++) {
        const json_t *exposure = json_object_get(r->run[i].record, "exposure");
        if (!exposure || !r->run[i].ok)
            continue;
        positions_csv_record(b, &r->run[i], exposure);
        runs++;
    }
    return runs;
}
