/* starved.c - a record's section "exposure" in a few numbers. */
#include "starved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int starved_takes(const run_record *run)
{
    return quantity_takes(&starved_quantities, run);
}

static double starved_at(const json_t *list, size_t i)
{
    const json_t *value = json_array_get(list, i);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* sum[count] += element i of `key` in each phase. */
static void starved_add(const json_t *phases, const char *key, double *sum, int count)
{
    for (size_t p = 0; p < json_array_size(phases); p++) {
        const json_t *list = json_object_get(json_array_get(phases, p), key);
        for (int i = 0; i < count && (size_t)i < json_array_size(list); i++)
            sum[i] += starved_at(list, (size_t)i);
    }
}

int starved_input_read(const run_record *run, starved_input *out)
{
    const json_t *phases = json_object_get(json_object_get(run->record, "exposure"), "phases");
    double tokens = results_number(run, "data.train_tokens_max");
    size_t met = json_array_size(json_object_get(json_array_get(phases, 0), "gradient"));
    *out = (starved_input){.count = (double)met > tokens ? (int)met : (int)tokens};
    out->tokens = calloc((size_t)out->count + 1, sizeof *out->tokens);
    out->gradient = calloc((size_t)out->count + 1, sizeof *out->gradient);
    if (!out->tokens || !out->gradient)
        return -1;
    starved_add(phases, "tokens", out->tokens, out->count);
    starved_add(phases, "gradient", out->gradient, out->count);
    return 0;
}

void starved_input_free(starved_input *x)
{
    free(x->tokens);
    free(x->gradient);
    *x = (starved_input){0};
}

/* The first of the last quarter's positions; as many, or one more, stand before n - this one. */
static int starved_late(int n)
{
    return (3 * n + 3) / 4;
}

static double starved_late_share(const double *x, int n)
{
    double all = 0, late = 0;
    for (int i = 0; i < n; i++) {
        all += x[i];
        late += i >= starved_late(n) ? x[i] : 0;
    }
    return all > 0 ? late / all : NAN;
}

/* The last quarter's sum over the first's; NAN where the first has none. */
static double starved_late_ratio(const double *x, int n)
{
    double early = 0, late = 0;
    for (int i = 0; i < n; i++) {
        early += i < (n + 3) / 4 ? x[i] : 0;
        late += i >= starved_late(n) ? x[i] : 0;
    }
    return early > 0 ? late / early : NAN;
}

/* Mean of `key` over elements first .. end-1 that have a value, weighted by `n` (NULL: all alike). */
static double starved_mean(const json_t *object, const char *key, const json_t *n, int first, int end)
{
    double sum = 0, weight = 0;
    for (int i = first; i < end; i++) {
        double value = starved_at(json_object_get(object, key), (size_t)i), own = n ? starved_at(n, (size_t)i) : 1;
        if (isnan(value))
            continue;
        sum += own * value;
        weight += own;
    }
    return weight > 0 ? sum / weight : NAN;
}

static void starved_read_table(const json_t *table, starved_numbers *out)
{
    int rows = (int)json_array_size(json_object_get(table, "norm"));
    double *gradient = calloc((size_t)rows + 1, sizeof *gradient);
    if (rows == 0 || !gradient) {
        free(gradient);
        return;
    }
    starved_add(json_object_get(table, "phases"), "gradient", gradient, rows);
    out->rows = starved_late_share(gradient, rows);
    out->rows_ratio = starved_late_ratio(gradient, rows);
    out->norm = starved_mean(table, "norm", NULL, starved_late(rows), rows) /
                starved_mean(table, "norm", NULL, 0, (rows + 3) / 4);
    free(gradient);
}

void starved_read(const run_record *run, starved_numbers *out)
{
    const json_t *exposure = json_object_get(run->record, "exposure"), *quality = json_object_get(exposure, "quality");
    const json_t *n = json_object_get(quality, "n");
    int tested = (int)json_array_size(n), late = starved_late(tested), early = (tested + 3) / 4;
    starved_input x;
    *out = (starved_numbers){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (starved_input_read(run, &x) == 0) {
        out->tokens = starved_late_share(x.tokens, x.count);
        out->gradient = starved_late_share(x.gradient, x.count);
        out->gradient_ratio = starved_late_ratio(x.gradient, x.count);
    }
    starved_input_free(&x);
    starved_read_table(json_array_get(json_object_get(exposure, "tables"), 0), out);
    out->loss = starved_mean(quality, "loss", n, late, tested) - starved_mean(quality, "loss", n, 0, early);
    out->accuracy = starved_mean(quality, "accuracy", n, late, tested) - starved_mean(quality, "accuracy", n, 0, early);
}

/* ------------------------------------------------------------------------------------------------ by name */

#define STARVED_NO_INPUT "no position met a gradient"
#define STARVED_NO_TABLE "no parameters belong to one position each"
#define STARVED_NO_TEST "no position of the training length was tested"
#define STARVED_AT(field) offsetof(starved_numbers, field)

#define STARVED_ROW "train.positions"

static const quantity starved_by_name[] = {
    {"tokens", "late share of tokens", 0, 1, STARVED_NO_INPUT, STARVED_ROW, STARVED_AT(tokens)},
    {"gradient", "late share of squared gradient", 0, 1, STARVED_NO_INPUT, STARVED_ROW, STARVED_AT(gradient)},
    {"rows", "late rows' share of squared gradient", 0, 1, STARVED_NO_TABLE, STARVED_ROW, STARVED_AT(rows)},
    {"norm", "norm of late over early rows", 0, INFINITY, STARVED_NO_TABLE, STARVED_ROW, STARVED_AT(norm)},
    {"loss", "late less early loss", -INFINITY, INFINITY, STARVED_NO_TEST, STARVED_ROW, STARVED_AT(loss)},
    {"accuracy", "late less early accuracy", -1, 1, STARVED_NO_TEST, STARVED_ROW, STARVED_AT(accuracy)},
    {"gradient_ratio", "late over early squared gradient", 0, INFINITY, STARVED_NO_INPUT, STARVED_ROW,
     STARVED_AT(gradient_ratio)},
    {"rows_ratio", "late over early rows' squared gradient", 0, INFINITY, STARVED_NO_TABLE, STARVED_ROW,
     STARVED_AT(rows_ratio)},
    {0}};

static double starved_value(const run_record *run, const quantity *q)
{
    starved_numbers x;
    starved_read(run, &x);
    return *(const double *)((const char *)&x + q->offset);
}

const quantity_kind starved_quantities = {"exposure", "exposure", starved_by_name, starved_value};
