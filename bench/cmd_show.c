/* cmd_show.c - everything that is known of one encoding, map or task; or of all encodings and maps, as Markdown. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "options.h"
#include "sheet.h"

enum { CMD_SHOW_NAMES_MAX = 512 };

static const task_descriptor *cmd_show_find_task(const char *name)
{
    for (int i = 0; i < task_count(); i++)
        if (!strcmp(task_at(i)->name, name))
            return task_at(i);
    return NULL;
}

static int cmd_show_unknown(const registry *r, const char *name, error *e)
{
    const char *names[CMD_SHOW_NAMES_MAX];
    size_t count = 0;
    for (int i = 0; i < registry_encoding_count(r) && count < CMD_SHOW_NAMES_MAX; i++)
        names[count++] = registry_encoding(r, i)->name;
    for (int i = 0; i < registry_map_count(r) && count < CMD_SHOW_NAMES_MAX; i++)
        names[count++] = registry_map(r, i)->name;
    for (int i = 0; i < task_count() && count < CMD_SHOW_NAMES_MAX; i++)
        names[count++] = task_at(i)->name;
    const char *nearest = nearest_word(name, names, count);
    if (nearest)
        return error_set(e, ERROR_USAGE, "no encoding, map or task is called '%s'; did you mean '%s'?", name, nearest);
    return error_set(e, ERROR_USAGE, "no encoding, map or task is called '%s'; see 'posbench list'", name);
}

static int cmd_show_one(const registry *r, const sheet_writer *w, const char *name, error *e)
{
    error not_found = ERROR_INIT;
    const pe_descriptor *encoding = registry_find_encoding(r, name, &not_found);
    error_clear(&not_found);
    const pe_map *map = encoding ? NULL : registry_find_map(r, name, &not_found);
    const task_descriptor *found = encoding || map ? NULL : cmd_show_find_task(name);
    if (encoding)
        sheet_encoding(w, stdout, r, encoding);
    else if (map)
        sheet_map(w, stdout, r, map);
    else if (found)
        sheet_task(w, stdout, found);
    else
        return cmd_show_unknown(r, name, e);
    return 0;
}

static int cmd_show_run(const command_host *host, const args *a, error *e)
{
    if (command_load_plugins(host, a, e))
        return -1;
    int markdown = args_flag(a, "markdown");
    if (a->word_count)
        return cmd_show_one(host->registry, markdown ? &sheet_markdown : &sheet_text, a->word[0], e);
    if (!markdown)
        return error_set(e, ERROR_USAGE, "show: NAME is missing; see 'posbench help show'");
    sheet_registry(stdout, host->registry);
    return 0;
}

static const args_option cmd_show_arguments[] = {
    {.name = "markdown",
     .help = "as Markdown; without a NAME every encoding and position map, as in encodings/README.md"},
    COMMAND_PLUGIN_OPTION,
    {0},
};

static const command_example cmd_show_example[] = {
    {"show {6}", "formula, source, options with bounds, claims"},
    {"show clamp", "a position map"},
    {"show --markdown", "all encodings and position maps, as a document"},
    {"show --plugin ./mine.so mine", "an encoding of your own"},
    {0},
};

const command command_show = {
    .name = "show",
    .summary = "tell everything about one encoding, position map or task",
    .words = "[NAME]",
    .most_words = 1,
    .description =
        "Prints the formula, where it comes from, the stages of the network at which it enters, its options with "
        "defaults and bounds, the claims that 'posbench check' tests in both directions and the options under which "
        "they are others, what it needs of the mask, of positions and of its neighbours, and examples of its options.",
    .options = cmd_show_arguments,
    .examples = cmd_show_example,
    .run = cmd_show_run,
};
