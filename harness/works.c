#include "works.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "task.h"

/* 0, or -1 without memory. */
static int works_add(works *w, const bibtex_entry *entry)
{
    bibtex_entry *grown = realloc(w->entry, ((size_t)w->count + 1) * sizeof *grown);
    if (!grown)
        return -1;
    w->entry = grown;
    w->entry[w->count++] = *entry;
    return 0;
}

/* Of descriptors: several may cite one work. */
static int works_add_known(works *w, const char *bibtex)
{
    bibtex_entry entry;
    error unreadable = ERROR_INIT;
    const char *at = bibtex ? bibtex : "";
    while (bibtex_next(&at, &entry, &unreadable) > 0)
        if (!works_find(w, entry.key) && works_add(w, &entry) < 0)
            return -1;
    return 0;
}

/* The line of a place in the file's text. */
static int works_line(const works *w, const char *at)
{
    int line = 1;
    for (const char *p = w->text; p < at; p++)
        line += *p == '\n';
    return line;
}

static int works_read_entries(const char *path, works *w, error *e)
{
    const char *at = w->text;
    for (;;) {
        bibtex_entry entry;
        error fault = ERROR_INIT;
        const char *begin = at + strspn(at, " \t\r\n");
        int more = bibtex_next(&at, &entry, &fault);
        if (more == 0)
            return 0;
        if (more > 0 && works_find(w, entry.key))
            more = error_set(&fault, ERROR_USAGE, "BibTeX entry %s stands there twice", entry.key);
        if (more < 0)
            return error_set(e, ERROR_USAGE, "%s:%d: %s", path, works_line(w, begin), fault.message);
        if (works_add(w, &entry) < 0)
            return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    }
}

static int works_read(const char *path, works *w, error *e)
{
    buffer b = BUFFER_INIT;
    char piece[8192];
    FILE *f = fopen(path, "rb");
    if (!f && errno == ENOENT)
        return 0;
    if (!f)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        buffer_bytes(&b, piece, n);
    int failed = ferror(f);
    fclose(f);
    w->text = buffer_take(&b);
    if (failed || !w->text)
        return error_set(e, ERROR_ENVIRONMENT, failed ? "%s: cannot be read" : "%s: out of memory", path);
    return works_read_entries(path, w, e);
}

int works_load(const char *path, const registry *r, works *out, error *e)
{
    *out = (works){0};
    if (works_read(path, out, e) < 0)
        return -1;
    int status = 0;
    for (int i = 0; i < registry_encoding_count(r) && status == 0; i++)
        status = works_add_known(out, registry_encoding(r, i)->bibtex);
    for (int i = 0; i < registry_map_count(r) && status == 0; i++)
        status = works_add_known(out, registry_map(r, i)->bibtex);
    for (int i = 0; i < task_count() && status == 0; i++)
        status = works_add_known(out, task_at(i)->bibtex);
    return status ? error_set(e, ERROR_ENVIRONMENT, "out of memory") : 0;
}

void works_free(works *w)
{
    free(w->entry);
    free(w->text);
    *w = (works){0};
}

const bibtex_entry *works_find(const works *w, const char *key)
{
    for (int i = 0; i < w->count; i++)
        if (strcmp(w->entry[i].key, key) == 0)
            return &w->entry[i];
    return NULL;
}

const char *works_near(const works *w, const char *key)
{
    const char **keys = calloc((size_t)w->count + 1, sizeof *keys);
    for (int i = 0; keys && i < w->count; i++)
        keys[i] = w->entry[i].key;
    const char *near = keys ? nearest_word(key, keys, (size_t)w->count) : NULL;
    free(keys);
    return near;
}

void works_print(const works *w, const char *keys, buffer *out)
{
    for (size_t length; *keys; keys += length + (keys[length] == ',')) {
        char key[BIBTEX_WORD_MAX], head[BIBTEX_WORD_MAX + 4];
        length = strcspn(keys, ",");
        snprintf(key, sizeof key, "%.*s", (int)(length < sizeof key ? length : sizeof key - 1), keys);
        snprintf(head, sizeof head, "{%s,\n", key); /* as bibtex_print writes it */
        const bibtex_entry *entry = works_find(w, key);
        if (entry && !strstr(buffer_text(out), head))
            bibtex_print(entry, out);
    }
}
