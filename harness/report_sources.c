#include "report_sources.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bibtex.h"
#include "task.h"

/* Whether the bibliography has an entry of this key already. */
static int sources_has_entry(const report_sources *s, const char *key)
{
    char head[BIBTEX_WORD_MAX + 4];
    snprintf(head, sizeof head, "{%s,\n", key);
    return strstr(buffer_text(&s->bib), head) != NULL;
}

static void sources_add_key(report_source *item, const char *key)
{
    size_t length = strlen(item->keys);
    if (length + strlen(key) + 2 < sizeof item->keys)
        snprintf(item->keys + length, sizeof item->keys - length, "%s%s", length ? "," : "", key);
}

/* Entries that cannot be read (of a plug-in) are as good as none: the words stand in. */
static int sources_add_entries(report_sources *s, report_source *item, const char *bibtex)
{
    bibtex_entry entry;
    error unused = ERROR_INIT;
    const char *at = bibtex ? bibtex : "";
    int more, entries = 0;
    while ((more = bibtex_next(&at, &entry, &unused)) > 0) {
        sources_add_key(item, entry.key);
        if (!sources_has_entry(s, entry.key))
            bibtex_print(&entry, &s->bib);
        entries++;
    }
    return entries;
}

static void sources_add(report_sources *s, const char *kind, const char *name, const char *words, const char *bibtex)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->item[i].kind, kind) == 0 && strcmp(s->item[i].name, name) == 0)
            return;
    if (s->count == REPORT_SOURCES_MAX)
        return;
    report_source *item = &s->item[s->count++];
    *item = (report_source){.kind = kind, .words = words};
    snprintf(item->name, sizeof item->name, "%.*s", (int)sizeof item->name - 1, name);
    if (!words || sources_add_entries(s, item, bibtex) > 0)
        return;
    char key[sizeof item->name + 32]; /* things of two kinds may share a name */
    snprintf(key, sizeof key, "%.*s-%s", (int)strcspn(kind, " "), kind, item->name);
    sources_add_key(item, key);
    bibtex_print_note(key, words, &s->bib);
}

static void sources_add_stack(report_sources *s, const pe_stack *stack)
{
    char map[STACK_TEXT_MAX];
    for (int i = 0; i < stack->count; i++) {
        const pe_descriptor *d = stack->member[i].encoding;
        sources_add(s, "encoding", d->name, d->source, d->bibtex);
    }
    if (stack_print_map(stack, map, sizeof map) > 0) /* nothing for positions as they are */
        sources_add(s, "position map", stack->map->name, stack->map->source, stack->map->bibtex);
}

static void sources_add_encoding(report_sources *s, const run_config *c, const registry *r)
{
    layered_stack stacks;
    error unknown = ERROR_INIT;
    if (layered_parse(r, c->encoding, &stacks, &unknown) < 0) {
        sources_add(s, "encoding", c->encoding, NULL, NULL);
        return;
    }
    for (int i = 0; i < stacks.count; i++)
        sources_add_stack(s, &stacks.pattern[i]);
    if (c->eval.map[0] && layered_set_map(r, &stacks, c->eval.map, &unknown) == 0)
        sources_add_stack(s, &stacks.pattern[0]);
    layered_free(&stacks);
}

static void sources_add_task(report_sources *s, const char *text)
{
    size_t length = strcspn(text, "(");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
    for (int i = 0; i < task_count(); i++)
        if (strcmp(task_at(i)->name, name) == 0) {
            sources_add(s, "task", name, task_at(i)->source, task_at(i)->bibtex);
            return;
        }
    sources_add(s, "task", name, NULL, NULL);
}

void report_sources_find(const report_view *v, const registry *r, report_sources *out)
{
    *out = (report_sources){.bib = BUFFER_INIT};
    for (int m = 0; m < v->methods; m++)
        for (int i = 0; i < v->runs.count; i++)
            if (strcmp(v->runs.run[i].label, v->method[m].label) == 0)
                sources_add_encoding(out, &v->runs.run[i].config, r);
    for (int i = 0; i < v->runs.count; i++)
        sources_add_task(out, v->runs.run[i].config.task);
}

int report_sources_save(const report_sources *s, const char *dir, error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/sources.bib", dir);
    return buffer_save(&s->bib, path, e);
}

const char *report_sources_keys(const report_sources *s, const char *kind, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->item[i].kind, kind) == 0 && strcmp(s->item[i].name, name) == 0)
            return s->item[i].keys;
    return "";
}
