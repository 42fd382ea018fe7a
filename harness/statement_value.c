/* statement_value.c - what one run says: a point of its evaluation, one of those after training, or one number of
 * another section. */
#include <math.h>
#include <string.h>

#include "statement.h"
#include "stats.h"

static int value_is_usual(const char *mode)
{
    return strcmp(mode, "teacher_forced") == 0 || strcmp(mode, "windows") == 0 || strcmp(mode, "masked") == 0;
}

static const char *value_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

/* Whether a row of "extension" is of that test, under those options of the task. */
static int value_is_after(const json_t *row, const statement_after *a, const char *task_options)
{
    return fabs(json_number_value(json_object_get(row, "factor")) - a->factor) < 1e-9 &&
           json_integer_value(json_object_get(row, "steps")) == a->steps &&
           strcmp(value_text(row, "method"), a->method) == 0 &&
           strcmp(value_text(row, "task_options"), task_options) == 0;
}

/* The point of a record; NULL: there is none. has_value looks at any score. */
static const json_t *value_point(const run_record *run, const statement_rule *r, const statement_after *after,
                                 const char *task_options, const statement_place *place)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(run->record, after->given ? "extension" : "evaluation"), i, row)
    {
        const char *mode = value_text(row, "mode"), *name = value_text(row, "metric");
        length_bin bin = {(int)json_integer_value(json_object_get(row, "min_len")),
                          (int)json_integer_value(json_object_get(row, "max_len")),
                          json_number_value(json_object_get(row, "ratio"))};
        int is_metric = r->metric ? strcmp(name, r->metric->name) == 0 : metric_find(name)->role == METRIC_SCORE;
        if (is_metric && statement_place_is(place, &bin) &&
            (*r->mode ? strcmp(mode, r->mode) == 0 : value_is_usual(mode)) &&
            (!after->given || value_is_after(row, after, task_options)))
            return row;
    }
    return NULL;
}

static statement_value value_at(const run_record *run, const statement_rule *r, const statement_after *after,
                                const statement_place *place)
{
    const json_t *row = value_point(run, r, after, after->task_options, place);
    statement_value v = {.state = STATEMENT_VALUE_UNDEFINED, .value = NAN, .reason = ""};
    if (!row && *after->task_options) /* what is without a value is told once, for the task as trained */
        row = value_point(run, r, after, "", place);
    if (!row)
        return v;
    const json_t *value = json_object_get(row, "value");
    int is_there =
        json_is_number(value) && (!after->given || strcmp(value_text(row, "task_options"), after->task_options) == 0);
    v.reason = value_text(row, "reason");
    if (!is_there && strcmp(value_text(row, "status"), "diverged") == 0)
        v.state = STATEMENT_VALUE_ENDED;
    else if (is_there || !r->metric) {
        v.state = STATEMENT_VALUE_THERE;
        v.value = r->metric ? json_number_value(value) : is_there;
        v.hollow = r->metric && *value_text(row, "flag");
    }
    return v;
}

/* At `at`, or less what it is at `from`. */
static statement_value value_score(const run_record *run, const statement_rule *r, const statement_after *after)
{
    statement_value at = value_at(run, r, after, &r->at);
    if (r->from.kind != PLACE_NONE && at.state == STATEMENT_VALUE_THERE) {
        statement_value from = value_at(run, r, after, &r->from);
        at.state = from.state;
        at.value = stat_difference(at.value, from.value);
        at.hollow |= from.hollow;
        at.reason = from.reason;
    }
    return at;
}

static statement_value value_quantity(const run_record *run, const statement_rule *r)
{
    double value = r->kind->read(run, r->quantity);
    int is_there = isfinite(value);
    return (statement_value){.state = is_there ? STATEMENT_VALUE_THERE : STATEMENT_VALUE_UNDEFINED,
                             .value = value,
                             .reason = is_there ? "" : r->quantity->lack};
}

statement_value statement_value_of(const run_record *record, const statement_rule *r, int side)
{
    const statement_after *after = &r->side[side].after;
    statement_value none = {.value = NAN, .reason = ""};
    none.state = !record ? STATEMENT_VALUE_ABSENT : !record->ok ? STATEMENT_VALUE_ENDED : STATEMENT_VALUE_LACKING;
    int is_lacking = record && ((r->kind && !quantity_takes(r->kind, record)) ||
                                (after->given && !json_object_get(record->record, "extension")));
    if (!record || !record->ok || is_lacking)
        return none;
    statement_value v = r->kind ? value_quantity(record, r) : value_score(record, r, after);
    v.version = (int)results_number(record, "data.task_version");
    return v;
}
