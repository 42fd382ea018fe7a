/* cmd_list.c - the names that may stand on a command line or in a spec, for people and, as JSON, for programs.
 *
 * Every kind is turned into the same JSON, and the text is printed from that: what one shows the other has. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "command.h"
#include "places.h"
#include "spec.h"
#include "task.h"
#include "text.h"

/* A bound that the type sets, or an infinite one, is no bound: null. */
static json_t *cmd_list_bound(double value)
{
    return isfinite(value) && fabs(value) < 1e300 ? json_real(value) : json_null();
}

static json_t *cmd_list_options(const pe_option *rows)
{
    static const char *const kinds[] = {
        [PE_OPTION_INT] = "integer",   [PE_OPTION_REAL] = "number", [PE_OPTION_BOOL] = "boolean",
        [PE_OPTION_CHOICE] = "choice", [PE_OPTION_LIST] = "list",   [PE_OPTION_TEXT] = "text"};
    json_t *list = json_array();
    for (const pe_option *row = rows; row && row->name; row++) {
        int bounded = row->kind == PE_OPTION_INT || row->kind == PE_OPTION_REAL || row->kind == PE_OPTION_LIST;
        json_t *option = json_pack("{s:s, s:s, s:s, s:b, s:s}", "name", row->name, "kind", kinds[row->kind], "default",
                                   row->initial, "auto", row->may_be_auto, "help", row->help);
        if (bounded) {
            json_object_set_new(option, "least", cmd_list_bound(row->least));
            json_object_set_new(option, "most", cmd_list_bound(row->most));
        }
        if (row->kind == PE_OPTION_CHOICE)
            json_object_set_new(option, "choices", json_string(row->choices));
        json_array_append_new(list, option);
    }
    return list;
}

/* Appends what json_pack built. It gives NULL for text that is not UTF-8, which only a plug-in can bring. */
static int cmd_list_add(json_t *list, const char *name, json_t *item, error *e)
{
    if (json_array_append_new(list, item) == 0)
        return 0;
    return error_set(e, ERROR_ENVIRONMENT, "%s: its texts do not fit into JSON (not UTF-8?)", name);
}

static json_t *cmd_list_finish(json_t *list, int status)
{
    if (!status)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *cmd_list_texts(const char *const *texts)
{
    json_t *list = json_array();
    for (int i = 0; texts && texts[i]; i++)
        json_array_append_new(list, json_string(texts[i]));
    return list;
}

static json_t *cmd_list_encodings(const command_host *host, error *e)
{
    json_t *list = json_array();
    int status = 0;
    for (int i = 0; !status && i < registry_encoding_count(host->registry); i++) {
        const pe_descriptor *d = registry_encoding(host->registry, i);
        json_t *claims = json_array();
        for (int c = 0; text_claim(c); c++)
            if (d->claims & 1u << c)
                json_array_append_new(claims, json_string(text_claim(c)));
        char stages[TEXT_LINE_MAX];
        text_stages(d, stages);
        json_t *item = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s?, s:o, s:b, s:b, s:b, s:b, s:o, s:o}", "name", d->name,
                                 "family", d->family, "title", d->title, "source", d->source, "formula", d->formula,
                                 "stages", stages, "notes", d->notes, "claims", claims, "causal_only", d->causal_only,
                                 "needs_order", d->needs_order, "reads_bias", d->reads_bias, "reads_heads",
                                 d->reads_heads, "options", cmd_list_options(d->options), "examples",
                                 cmd_list_texts(d->examples));
        status = cmd_list_add(list, d->name, item, e);
    }
    return cmd_list_finish(list, status);
}

static json_t *cmd_list_maps(const command_host *host, error *e)
{
    json_t *list = json_array();
    int status = 0;
    for (int i = 0; !status && i < registry_map_count(host->registry); i++) {
        const pe_map *m = registry_map(host->registry, i);
        json_t *item =
            json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:b, s:b, s:b, s:o, s:o}", "name", m->name, "title", m->title,
                      "source", m->source, "formula", m->formula, "notes", m->notes, "gives_meaning", m->gives_meaning,
                      "needs_given", m->needs_given, "unordered", m->unordered, "options", cmd_list_options(m->options),
                      "examples", cmd_list_texts(m->examples));
        status = cmd_list_add(list, m->name, item, e);
    }
    return cmd_list_finish(list, status);
}

static json_t *cmd_list_tasks(const command_host *host, error *e)
{
    (void)host;
    json_t *list = json_array();
    int status = 0;
    for (int i = 0; !status && i < task_count(); i++) {
        const task_descriptor *t = task_at(i);
        json_t *item = json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:s, s:b, s:b, s:s?, s:o}", "name", t->name, "title",
                                 t->title, "source", t->source, "format", t->format, "notes", t->notes, "kind",
                                 t->kind == TASK_ANSWER ? "answer" : "language", "causal_only", t->causal_only,
                                 "bidirectional_only", t->bidirectional_only, "sentinel", t->sentinel, "options",
                                 cmd_list_options(t->options));
        status = cmd_list_add(list, t->name, item, e);
    }
    return cmd_list_finish(list, status);
}

static int cmd_list_add_spec(const command_host *host, const char *folder, const char *name, json_t *list, error *e)
{
    char path[PLACES_PATH_MAX];
    spec s;
    if (places_spec_path(folder, name, path, e) || spec_load(path, host->registry, NULL, &s, e))
        return -1;
    int status = cmd_list_add(
        list, name, json_pack("{s:s, s:s, s:i, s:s}", "name", name, "title", s.title, "runs", s.count, "path", path),
        e);
    spec_free(&s);
    return status;
}

static json_t *cmd_list_specs(const command_host *host, error *e)
{
    char folder[PLACES_PATH_MAX], names[PLACES_SPECS_MAX][PLACES_NAME_SIZE];
    int count = places_specs(host->program, folder, e) ? -1 : places_spec_names(folder, names, e);
    json_t *list = json_array();
    int status = count < 0 ? -1 : 0;
    for (int i = 0; !status && i < count; i++)
        status = cmd_list_add_spec(host, folder, names[i], list, e);
    return cmd_list_finish(list, status);
}

static const struct cmd_list_kind {
    const char *name;
    json_t *(*build)(const command_host *host, error *e); /* a new array, or NULL with e set */
    const char *group;                                    /* the text's first column: rows that share it stand together */
} cmd_list_kinds[] = {
    {"encodings", cmd_list_encodings, "family"},
    {"maps", cmd_list_maps, NULL},
    {"tasks", cmd_list_tasks, "kind"},
    {"specs", cmd_list_specs, NULL},
};
enum { CMD_LIST_KINDS = sizeof cmd_list_kinds / sizeof *cmd_list_kinds };

static const char *cmd_list_text(const json_t *row, const char *key)
{
    const char *text = key ? json_string_value(json_object_get(row, key)) : NULL;
    return text ? text : "";
}

static int cmd_list_width(const json_t *list, const char *key)
{
    size_t i, width = 0;
    const json_t *row;
    json_array_foreach(list, i, row)
    {
        size_t length = strlen(cmd_list_text(row, key));
        width = length > width ? length : width;
    }
    return (int)width;
}

/* 1 if no row before is of the same group. */
static int cmd_list_opens(const json_t *list, size_t at, const char *group)
{
    for (size_t i = 0; i < at; i++)
        if (!strcmp(cmd_list_text(json_array_get(list, i), group), cmd_list_text(json_array_get(list, at), group)))
            return 0;
    return 1;
}

static void cmd_list_print_row(const json_t *row, const char *group, int group_width, int name_width)
{
    const json_t *runs = json_object_get(row, "runs");
    printf("  ");
    if (group_width)
        printf("%-*s  ", group_width, group);
    printf("%-*s  ", name_width, cmd_list_text(row, "name"));
    if (runs)
        printf("%4d runs  ", (int)json_integer_value(runs));
    puts(cmd_list_text(row, "title"));
}

/* Groups in the order in which their first rows come; a group's name stands once. */
static void cmd_list_print_text(const struct cmd_list_kind *kind, const json_t *list)
{
    int group_width = cmd_list_width(list, kind->group), name_width = cmd_list_width(list, "name");
    for (size_t first = 0; first < json_array_size(list); first++) {
        const char *group = cmd_list_text(json_array_get(list, first), kind->group);
        if (!kind->group)
            cmd_list_print_row(json_array_get(list, first), "", 0, name_width);
        for (size_t i = first; kind->group && cmd_list_opens(list, first, kind->group) && i < json_array_size(list); i++)
            if (!strcmp(cmd_list_text(json_array_get(list, i), kind->group), group))
                cmd_list_print_row(json_array_get(list, i), i == first ? group : "", group_width, name_width);
    }
}

static int cmd_list_print(const json_t *all, int first, int last, int as_json, error *e)
{
    if (as_json) {
        const json_t *what = first == last ? json_object_get(all, cmd_list_kinds[first].name) : all;
        char *text = json_dumps(what, JSON_INDENT(2));
        if (!text)
            return error_set(e, ERROR_ENVIRONMENT, "list: out of memory");
        puts(text);
        free(text);
        return 0;
    }
    for (int i = first; i <= last; i++) {
        if (first != last)
            printf("%s%s\n", i ? "\n" : "", cmd_list_kinds[i].name);
        cmd_list_print_text(&cmd_list_kinds[i], json_object_get(all, cmd_list_kinds[i].name));
    }
    return 0;
}

static int cmd_list_run(const command_host *host, const args *a, error *e)
{
    int as_json = 0, first = 0, last = CMD_LIST_KINDS - 1;
    if (args_choice(a, "format", "text|json", &as_json, e) || command_load_plugins(host, a, e))
        return -1;
    if (a->word_count && args_word_choice(a, 0, "encodings|maps|tasks|specs", &first, e))
        return -1;
    if (a->word_count)
        last = first;
    json_t *all = json_object();
    int status = 0;
    for (int i = first; i <= last && !status; i++) {
        json_t *list = cmd_list_kinds[i].build(host, e);
        status = list ? json_object_set_new(all, cmd_list_kinds[i].name, list) : -1;
    }
    if (!status)
        status = cmd_list_print(all, first, last, as_json, e);
    json_decref(all);
    return status;
}

static const args_option cmd_list_arguments[] = {
    {.name = "format",
     .value = "text|json",
     .help = "a table for people (the default), or JSON with everything that is known"},
    COMMAND_PLUGIN_OPTION,
    {0},
};

static const command_example cmd_list_example[] = {
    {"list", "everything"},
    {"list encodings", "the encodings alone"},
    {"list encodings --format json", "with formulas, options and claims, for a program"},
    {0},
};

const command command_list = {
    .name = "list",
    .summary = "list encodings, position maps, tasks and bundled specs",
    .words = "[encodings|maps|tasks|specs]",
    .most_words = 1,
    .description = "Lists the names that may stand on a command line and in a spec.",
    .options = cmd_list_arguments,
    .examples = cmd_list_example,
    .run = cmd_list_run,
};
