#include "record.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "record_exposure.h"
#include "record_probes.h"

static const char record_schema[] = "posbench-record/1";

/* ------------------------------------------------------------------------------------------------ building */

/* NaN and infinity are no JSON: null says that there is no value. */
static json_t *record_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* Bytes that are no UTF-8 (a dying process's last words) become '?'. Empty texts say nothing: null. */
static json_t *record_string(const char *text)
{
    if (!text || !*text)
        return json_null();
    json_t *value = json_string(text);
    if (value)
        return value;
    char *plain = strdup(text);
    for (char *p = plain; p && *p; p++)
        if ((unsigned char)*p >= 0x80)
            *p = '?';
    value = plain ? json_string(plain) : NULL;
    free(plain);
    return value;
}

static json_t *record_option(const pe_option *row, const run_config *c)
{
    const char *field = (const char *)c + row->offset;
    char text[PE_TEXT_MAX];
    json_t *list;
    switch (row->kind) {
    case PE_OPTION_INT:
        return *(const int *)field == PE_AUTO_INT ? json_string("auto") : json_integer(*(const int *)field);
    case PE_OPTION_REAL:
        return *(const double *)field == PE_AUTO_REAL ? json_string("auto") : record_real(*(const double *)field);
    case PE_OPTION_BOOL:
        return json_boolean(*(const int *)field);
    case PE_OPTION_LIST:
        list = json_array();
        for (int i = 0; i < ((const pe_list *)field)->count; i++)
            json_array_append_new(list, record_real(((const pe_list *)field)->value[i]));
        return list;
    case PE_OPTION_TEXT:
        return json_string(field);
    case PE_OPTION_CHOICE:
        break;
    }
    options_print_value(row, c, text, sizeof text);
    return json_string(text);
}

/* "model.width" goes into config["model"]["width"]. */
static json_t *record_config(const run_config *c)
{
    json_t *config = json_object();
    for (const pe_option *row = config_rows; row->name; row++) {
        const char *dot = strchr(row->name, '.');
        json_t *section = config;
        if (dot) {
            section = json_object_getn(config, row->name, (size_t)(dot - row->name));
            if (!section) {
                section = json_object();
                json_object_setn_new(config, row->name, (size_t)(dot - row->name), section);
            }
        }
        json_object_set_new(section, dot ? dot + 1 : row->name, record_option(row, c));
    }
    return config;
}

static json_t *record_training(const run_result *r)
{
    json_t *curve = json_array();
    for (int i = 0; i < r->curve_count; i++) {
        const run_point *p = &r->curve[i];
        json_array_append_new(
            curve, json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "step", p->step, "loss", record_real(p->loss), "lr",
                             record_real(p->lr), "grad_norm", record_real(p->grad_norm), "validation_exact",
                             record_real(p->validation_exact), "validation_loss", record_real(p->validation_loss)));
    }
    return curve;
}

static json_t *record_evaluation(const run_result *r)
{
    json_t *rows = json_array();
    for (int i = 0; i < r->values_count; i++) {
        const run_value *v = &r->values[i];
        json_array_append_new(rows,
                              json_pack("{s:i, s:i, s:o, s:s, s:s, s:o, s:I, s:s, s:o}", "min_len", v->bin.min_len,
                                        "max_len", v->bin.max_len, "ratio", record_real(v->bin.ratio), "metric",
                                        v->metric, "mode", v->mode, "value", record_real(v->value), "n",
                                        (json_int_t)v->n, "status", v->status, "flag", record_string(v->flag)));
    }
    return rows;
}

static json_t *record_per_position(const run_result *r)
{
    json_t *rows = json_array();
    for (int i = 0; i < r->positions_count; i++) {
        const run_positions *p = &r->positions[i];
        json_t *loss = json_array(), *n = json_array();
        for (int t = 0; t < p->count; t++) {
            json_array_append_new(loss, record_real(p->loss[t]));
            json_array_append_new(n, json_integer(p->n[t]));
        }
        json_array_append_new(rows, json_pack("{s:i, s:i, s:o, s:s, s:o, s:o}", "min_len", p->bin.min_len, "max_len",
                                              p->bin.max_len, "ratio", record_real(p->bin.ratio), "mode", p->mode,
                                              "loss", loss, "n", n));
    }
    return rows;
}

static json_t *record_extension(const run_result *r)
{
    json_t *rows = json_array();
    for (int i = 0; i < r->extensions_count; i++) {
        const run_extension *x = &r->extensions[i];
        json_array_append_new(
            rows, json_pack("{s:o, s:s, s:o, s:i, s:I, s:i, s:i, s:o, s:s, s:s, s:o, s:I, s:s, s:o, s:o}", "factor",
                            record_real(x->factor), "method", x->method, "task_options",
                            record_string(x->task_options), "steps", x->steps, "tokens",
                            (json_int_t)x->tokens, "min_len", x->bin.min_len, "max_len", x->bin.max_len, "ratio",
                            record_real(x->bin.ratio), "metric", x->metric, "mode", x->mode, "value",
                            record_real(x->value), "n", (json_int_t)x->n, "status", x->status, "flag",
                            record_string(x->flag), "reason", record_string(x->reason)));
    }
    return rows;
}

static json_t *record_selection(const run_config *c, const run_result *r)
{
    const char *rule = c->train.select == CONFIG_SELECT_BEST ? "best" : "last";
    return json_pack("{s:s, s:i, s:b, s:o}", "rule", rule, "step", r->selected_step, "fitted", r->fitted, "fit_score",
                     record_real(r->fit_score));
}

static json_t *record_data(const run_result *r)
{
    json_t *data = json_pack("{s:i, s:I, s:o, s:i, s:o}", "train_tokens_max", r->train_tokens_max, "tokens_seen",
                             (json_int_t)r->tokens_seen, "map_reach", record_real(r->map_reach), "task_version",
                             r->task_version, "corpus_sha256", record_string(r->corpus_digest));
    if (r->distinct > 0)
        json_object_set_new(data, "distinct", json_integer(r->distinct));
    return data;
}

static json_t *record_cost(const run_result *r)
{
    return json_pack("{s:o, s:o, s:o, s:I}", "train_seconds", record_real(r->train_seconds), "evaluate_seconds",
                     record_real(r->evaluate_seconds), "cpu_seconds", record_real(r->cpu_seconds), "peak_bytes",
                     (json_int_t)r->peak_bytes);
}

static json_t *record_host(const host_facts *h)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "version", record_string(h->version), "compiler",
                     record_string(h->compiler), "flags", record_string(h->flags), "level", record_string(h->level),
                     "kernel", record_string(h->kernel), "cpu", record_string(h->cpu), "host", record_string(h->host),
                     "cores", h->cores);
}

json_t *record_json(const run_config *c, const run_result *r, const host_facts *h)
{
    char key[CONFIG_KEY_SIZE], canonical[CONFIG_TEXT_MAX];
    config_key(c, key);
    config_print(c, canonical, sizeof canonical);
    json_t *record = json_pack("{s:s, s:s, s:s, s:o, s:s, s:i, s:o, s:{s:I, s:I}, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o*}", "schema",
                     record_schema, "key", key, "canonical", canonical, "config", record_config(c), "status",
                     run_status_name(r->status), "status_step", r->status_step, "message", record_string(r->message),
                     "parameters", "total", (json_int_t)r->parameters, "encoding", (json_int_t)r->encoding_parameters,
                     "data", record_data(r), "selection", record_selection(c, r), "training", record_training(r),
                     "evaluation", record_evaluation(r), "per_position", record_per_position(r), "cost", record_cost(r),
                     "host", record_host(h), "exposure", record_exposure(c, r->exposure));
    if (record && extend_is_on(c))
        json_object_set_new(record, "extension", record_extension(r));
    if (record && r->probes)
        json_object_set_new(record, "probes", record_probes(c, r->probes));
    return record;
}

int record_write(const char *path, const json_t *record, error *e)
{
    size_t size;
    char *text = record ? record_text(record, &size) : NULL;
    if (!text)
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    int result = file_write_atomic(path, text, size, e);
    free(text);
    return result;
}

/* ------------------------------------------------------------------------------------------------ reading */

enum { MAY_BE_NULL = 1, MAY_BE_MISSING };

static const struct {
    const char *name;
    json_type type;
    int may;
} record_sections[] = {
    {"key", JSON_STRING, 0},        {"canonical", JSON_STRING, 0},    {"config", JSON_OBJECT, 0},
    {"status", JSON_STRING, 0},     {"status_step", JSON_INTEGER, 0}, {"message", JSON_STRING, MAY_BE_NULL},
    {"parameters", JSON_OBJECT, 0}, {"data", JSON_OBJECT, 0},         {"selection", JSON_OBJECT, 0},
    {"training", JSON_ARRAY, 0},    {"evaluation", JSON_ARRAY, 0},    {"per_position", JSON_ARRAY, 0},
    {"cost", JSON_OBJECT, 0},       {"host", JSON_OBJECT, 0},         {"exposure", JSON_OBJECT, MAY_BE_MISSING},
    {"extension", JSON_ARRAY, MAY_BE_MISSING}, {"probes", JSON_OBJECT, MAY_BE_MISSING},
};

static int record_check_key(const char *path, const json_t *record, error *e)
{
    const char *text = json_string_value(json_object_get(record, "canonical"));
    const char *key = json_string_value(json_object_get(record, "key"));
    run_config c;
    char expected[CONFIG_KEY_SIZE];
    if (config_read(&c, text, e) < 0) {
        e->kind = ERROR_ENVIRONMENT; /* a bad file, not a bad command line */
        return error_prefix(e, "%s", path);
    }
    config_key(&c, expected);
    if (strcmp(key, expected) != 0)
        return error_set(e, ERROR_ENVIRONMENT,
                         "%s: its key is %.16s..., but its canonical text has %.16s...: one was edited", path, key,
                         expected);
    return 0;
}

static int record_check(const char *path, const json_t *record, error *e)
{
    const json_t *schema = json_is_object(record) ? json_object_get(record, "schema") : NULL;
    if (!json_is_string(schema))
        return error_set(e, ERROR_ENVIRONMENT, "%s: no record of posbench: it has no \"schema\"", path);
    if (strcmp(json_string_value(schema), record_schema) != 0)
        return error_set(e, ERROR_ENVIRONMENT, "%s: its schema is '%.64s', but this program reads '%s'", path,
                         json_string_value(schema), record_schema);
    for (size_t i = 0; i < sizeof record_sections / sizeof record_sections[0]; i++) {
        const json_t *section = json_object_get(record, record_sections[i].name);
        if (!section && record_sections[i].may == MAY_BE_MISSING)
            continue;
        if (!section)
            return error_set(e, ERROR_ENVIRONMENT, "%s: \"%s\" is missing", path, record_sections[i].name);
        if (json_typeof(section) != record_sections[i].type &&
            !(record_sections[i].may == MAY_BE_NULL && json_is_null(section)))
            return error_set(e, ERROR_ENVIRONMENT, "%s: \"%s\" has the wrong type", path, record_sections[i].name);
    }
    return record_check_key(path, record, e);
}

json_t *record_read(const char *path, error *e)
{
    json_error_t fault;
    json_t *record = json_load_file(path, JSON_REJECT_DUPLICATES, &fault);
    if (!record) {
        enum json_error_code code = json_error_code(&fault);
        if (code == json_error_cannot_open_file)
            error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
        else if (code == json_error_premature_end_of_input)
            error_set(e, ERROR_ENVIRONMENT, "%s:%d:%d: the record ends too soon; the file was cut off", path,
                      fault.line, fault.column);
        else
            error_set(e, ERROR_ENVIRONMENT, "%s:%d:%d: no JSON: %s", path, fault.line, fault.column, fault.text);
        return NULL;
    }
    if (record_check(path, record, e) < 0) {
        json_decref(record);
        return NULL;
    }
    return record;
}
