#include "results.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "record.h"
#include "results_label.h"

int results_compare(const void *a, const void *b)
{
    const run_record *x = a, *y = b;
    int order = strcmp(x->config.task, y->config.task);
    if (!order && x->label && y->label)
        order = strcmp(x->label, y->label);
    if (!order)
        order = strcmp(x->config.encoding, y->config.encoding);
    if (!order)
        order = (x->config.seed > y->config.seed) - (x->config.seed < y->config.seed);
    return order ? order : strcmp(x->key, y->key);
}

static const json_t *results_at(const run_record *r, const char *path)
{
    const json_t *value = r->record;
    for (const char *dot; value && *path; path = dot + (*dot == '.')) {
        dot = path + strcspn(path, ".");
        value = json_object_getn(value, path, (size_t)(dot - path));
    }
    return value;
}

double results_number(const run_record *r, const char *path)
{
    const json_t *value = results_at(r, path);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *results_string(const run_record *r, const char *path)
{
    const char *text = json_string_value(results_at(r, path));
    return text ? text : "";
}

/* ------------------------------------------------------------------------------------------------ reading */

static int results_read(const char *path, run_record *out, error *e)
{
    *out = (run_record){.record = record_read(path, e)};
    if (!out->record)
        return -1;
    if (config_read(&out->config, results_string(out, "canonical"), e) < 0) {
        json_decref(out->record);
        return error_prefix(e, "%s", path);
    }
    out->key = results_string(out, "key");
    out->status = results_string(out, "status");
    out->message = results_string(out, "message");
    out->ok = strcmp(out->status, "ok") == 0;
    out->fitted = json_is_true(results_at(out, "selection.fitted"));
    return 0;
}

/* Records only: what is being written has another ending, "<key>.json.tmp. ...". */
static int results_is_record(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

static void results_fault(buffer *faults, const char *message)
{
    if (faults->length > 0)
        buffer_add(faults, "\n");
    buffer_add(faults, message);
}

static void results_read_all(const char *runs, struct dirent **names, int count, results *out, buffer *faults)
{
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX + 512];
        error fault = ERROR_INIT;
        snprintf(path, sizeof path, "%s/%s", runs, names[i]->d_name);
        if (results_read(path, &out->run[out->count], &fault) == 0)
            out->count++;
        else
            results_fault(faults, fault.message);
    }
}

/* Equal keys stand side by side once sorted. */
static void results_drop_twins(const char *runs, results *out, buffer *faults)
{
    int kept = 0;
    for (int i = 0; i < out->count; i++) {
        if (kept == 0 || strcmp(out->run[kept - 1].key, out->run[i].key) != 0) {
            out->run[kept++] = out->run[i];
            continue;
        }
        char message[PATH_MAX + 256];
        snprintf(message, sizeof message,
                 "%s: the record of run %.16s... lies there twice under two names; one was left out", runs,
                 out->run[i].key);
        results_fault(faults, message);
        json_decref(out->run[i].record);
    }
    out->count = kept;
}

/* ------------------------------------------------------------------------------------------------ the sweep's own file
 */

static void results_copy(const json_t *spec, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(spec, key));
    if (text && *text)
        snprintf(out, size, "%s", text);
}

static json_t *results_read_json(const char *path, error *e)
{
    json_error_t fault;
    json_t *value = json_load_file(path, 0, &fault);
    if (!value && !(json_error_code(&fault) == json_error_cannot_open_file && errno == ENOENT))
        error_set(e, ERROR_ENVIRONMENT, "%s:%d:%d: %s", path, fault.line, fault.column, fault.text);
    return value;
}

/* Of a tuned sweep the grid has no keys: the rate was not chosen yet. */
static int results_has(const results *r, const char *key, const char *encoding, const char *task, int seed)
{
    for (int i = 0; i < r->count; i++)
        if (key ? strcmp(r->run[i].key, key) == 0
                : r->run[i].config.seed == seed && strcmp(r->run[i].config.task, task) == 0 &&
                      strcmp(r->run[i].config.encoding, encoding) == 0)
            return 1;
    return 0;
}

static int results_add_gap(results *r, const char *encoding, const char *task)
{
    r->missing++;
    for (int i = 0; i < r->gaps; i++)
        if (strcmp(r->gap[i].encoding, encoding) == 0 && strcmp(r->gap[i].task, task) == 0) {
            r->gap[i].runs++;
            return 0;
        }
    results_gap *more = realloc(r->gap, ((size_t)r->gaps + 1) * sizeof *more);
    if (!more)
        return -1;
    r->gap = more;
    r->gap[r->gaps] = (results_gap){.encoding = strdup(encoding), .task = strdup(task), .runs = 1};
    r->gaps++;
    return r->gap[r->gaps - 1].encoding && r->gap[r->gaps - 1].task ? 0 : -1;
}

static int results_find_gaps(const json_t *spec, results *out)
{
    size_t i;
    json_t *run;
    json_array_foreach(json_object_get(spec, "runs"), i, run)
    {
        const char *key = json_string_value(json_object_get(run, "key"));
        const char *encoding = json_string_value(json_object_get(run, "encoding"));
        const char *task = json_string_value(json_object_get(run, "task"));
        int seed = (int)json_integer_value(json_object_get(run, "seed"));
        if (encoding && task && !results_has(out, key, encoding, task, seed) && results_add_gap(out, encoding, task) < 0)
            return -1;
    }
    return 0;
}

/* A folder that no sweep made (records copied together) has no spec.json: its own name must do. */
static int results_read_spec(const char *dir, results *out, error *e)
{
    char path[PATH_MAX + 64], whole[PATH_MAX];
    const char *last = realpath(dir, whole) ? strrchr(whole, '/') : NULL;
    snprintf(out->name, sizeof out->name, "%.127s", last && last[1] ? last + 1 : dir);
    snprintf(path, sizeof path, "%s/spec.json", dir);
    json_t *spec = results_read_json(path, e);
    if (!spec)
        return e->kind == ERROR_NONE ? 0 : -1;
    results_copy(spec, "name", out->name, sizeof out->name);
    results_copy(spec, "title", out->title, sizeof out->title);
    results_copy(spec, "baseline", out->baseline, sizeof out->baseline);
    out->tuned = json_is_object(json_object_get(spec, "tune"));
    if (results_find_gaps(spec, out) < 0)
        error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    json_decref(spec);
    snprintf(path, sizeof path, "%s/tune/choice.json", dir);
    out->choice = out->tuned ? results_read_json(path, e) : NULL;
    return e->kind == ERROR_NONE ? 0 : -1;
}

/* ------------------------------------------------------------------------------------------------ loading */

static void results_free_names(struct dirent **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static int results_label_all(results *out, error *e)
{
    qsort(out->run, (size_t)out->count, sizeof *out->run, results_compare);
    if (results_label(out, e) < 0)
        return -1;
    for (int i = 0; i < out->count; i++)
        out->run[i].is_baseline = *out->baseline && !*out->run[i].config.eval.encoding_options &&
                                  strcmp(out->run[i].config.encoding, out->baseline) == 0;
    qsort(out->run, (size_t)out->count, sizeof *out->run, results_compare);
    return 0;
}

int results_load(const char *dir, results *out, error *e)
{
    *out = (results){0};
    char runs[PATH_MAX];
    snprintf(runs, sizeof runs, "%s/runs", dir);
    struct dirent **names;
    int count = scandir(runs, &names, results_is_record, alphasort);
    if (count < 0)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", runs, strerror(errno));
    out->run = calloc((size_t)count + 1, sizeof *out->run);
    if (!out->run) {
        results_free_names(names, count);
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", runs);
    }
    buffer faults = BUFFER_INIT;
    error fault = ERROR_INIT;
    results_read_all(runs, names, count, out, &faults);
    results_free_names(names, count);
    qsort(out->run, (size_t)out->count, sizeof *out->run, results_compare);
    results_drop_twins(runs, out, &faults);
    int spec_fault = results_read_spec(dir, out, &fault); /* first: labels depend on whether the rate was tuned */
    if (results_label_all(out, &fault) < 0 || spec_fault < 0)
        results_fault(&faults, fault.message);
    if (out->count == 0 && faults.length == 0)
        results_fault(&faults, "no records: a sweep puts one there for each finished run");
    if (faults.length > 0)
        error_set(e, ERROR_ENVIRONMENT, "%s", buffer_text(&faults));
    if (faults.length > 0 && out->count == 0)
        error_prefix(e, "%s", runs);
    int result = faults.length > 0 ? -1 : 0;
    buffer_free(&faults);
    return result;
}

void results_free(results *r)
{
    for (int i = 0; i < r->count; i++) {
        json_decref(r->run[i].record);
        free(r->run[i].label);
    }
    for (int i = 0; i < r->gaps; i++) {
        free(r->gap[i].encoding);
        free(r->gap[i].task);
    }
    free(r->gap);
    free(r->run);
    json_decref(r->choice);
    *r = (results){0};
}
