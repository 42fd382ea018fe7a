/* cmd_show.c - everything that is known of one encoding, map or task, from its descriptor alone. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "options.h"
#include "task.h"
#include "text.h"

enum { CMD_SHOW_COLUMN = 12, CMD_SHOW_NAMES_MAX = 512 };

static void cmd_show_row(const char *label, const char *text)
{
    if (!text || !*text)
        return;
    int at = printf("  %-*s", CMD_SHOW_COLUMN - 2, label);
    text_wrap(stdout, CMD_SHOW_COLUMN, at, text);
}

static void cmd_show_options(const pe_option *rows)
{
    if (!rows || !rows->name) {
        cmd_show_row("options", "none");
        return;
    }
    puts("  options");
    text_options(stdout, 4, rows);
}

static void cmd_show_examples(const char *name, const char *const *examples)
{
    for (int i = 0; examples && examples[i]; i++) {
        char text[TEXT_LINE_MAX];
        snprintf(text, sizeof text, "%s(%s)", name, examples[i]);
        cmd_show_row(i ? "" : "examples", text);
    }
}

static void cmd_show_encoding(const pe_descriptor *d)
{
    char text[TEXT_LINE_MAX];
    size_t used = 0;
    printf("%s - %s\n", d->name, d->title);
    cmd_show_row("kind", "encoding");
    cmd_show_row("family", d->family);
    cmd_show_row("source", d->source);
    cmd_show_row("formula", d->formula);
    text_stages(d, text);
    cmd_show_row("enters at", text);
    text[0] = '\0';
    for (int i = 0; text_claim(i); i++)
        if (d->claims & 1u << i)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "", text_claim(i));
    cmd_show_row("claims", used ? text : "none");
    cmd_show_row("mask", d->causal_only ? "causal only" : "causal and bidirectional");
    cmd_show_row("notes", d->notes);
    cmd_show_options(d->options);
    cmd_show_examples(d->name, d->examples);
}

static void cmd_show_map(const pe_map *m)
{
    printf("%s - %s\n", m->name, m->title);
    cmd_show_row("kind", "position map; attach it to a stack with @");
    cmd_show_row("source", m->source);
    cmd_show_row("formula", m->formula);
    cmd_show_row("beyond", m->gives_meaning
                               ? "gives points past an encoding's last position a meaning; they are drawn hollow"
                               : NULL);
    cmd_show_row("needs", m->needs_given ? "a task that proposes positions" : NULL);
    cmd_show_row("notes", m->notes);
    cmd_show_options(m->options);
    cmd_show_examples(m->name, m->examples);
}

static void cmd_show_task(const task_descriptor *t)
{
    printf("%s - %s\n", t->name, t->title);
    cmd_show_row("kind", t->kind == TASK_ANSWER ? "task; prompt and answer, scored by exact match and token accuracy"
                                                : "task; language modelling, scored by loss at every token");
    cmd_show_row("source", t->source);
    cmd_show_row("format", t->format);
    cmd_show_row("mask", t->causal_only ? "causal only" : "causal and bidirectional");
    cmd_show_row("proposes", t->proposes_positions ? t->positions : NULL);
    cmd_show_row("notes", t->notes);
    cmd_show_options(t->options);
}

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

static int cmd_show_run(const command_host *host, const args *a, error *e)
{
    if (command_load_plugins(host, a, e))
        return -1;
    const char *name = a->word[0];
    error not_found = ERROR_INIT;
    const pe_descriptor *encoding = registry_find_encoding(host->registry, name, &not_found);
    error_clear(&not_found);
    const pe_map *map = encoding ? NULL : registry_find_map(host->registry, name, &not_found);
    const task_descriptor *found = encoding || map ? NULL : cmd_show_find_task(name);
    if (encoding)
        cmd_show_encoding(encoding);
    else if (map)
        cmd_show_map(map);
    else if (found)
        cmd_show_task(found);
    else
        return cmd_show_unknown(host->registry, name, e);
    return 0;
}

static const args_option cmd_show_arguments[] = {COMMAND_PLUGIN_OPTION, {0}};

static const command_example cmd_show_example[] = {
    {"show {6}", "formula, source, options with bounds, claims"},
    {"show clamp", "a position map"},
    {"show --plugin ./mine.so mine", "an encoding of your own"},
    {0},
};

const command command_show = {
    .name = "show",
    .summary = "tell everything about one encoding, position map or task",
    .words = "NAME",
    .least_words = 1,
    .most_words = 1,
    .description =
        "Prints the formula, where it comes from, the stages of the network at which it enters, its options with "
        "defaults and bounds, the claims that 'posbench check' tests in both directions, and examples of its "
        "options.",
    .options = cmd_show_arguments,
    .examples = cmd_show_example,
    .run = cmd_show_run,
};
