/* report_parts.c - into which parts figures and tables are divided, so that a panel keeps few enough lines to be read:
 * where a setting was swept besides the encoding, a line for each encoding and setting would be too many. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lengths.h"
#include "report_group.h"

enum { PARTS_LINES = 6, PARTS_PANELS = 40 };

/* What the labels of all methods are made of: word[of[m]] is that of method m. */
typedef struct parts_words {
    int count;
    char **word; /* [count] */
    int *of;     /* [methods] */
} parts_words;

static int parts_words_new(parts_words *w, int methods)
{
    *w = (parts_words){.word = calloc((size_t)methods + 1, sizeof *w->word),
                       .of = calloc((size_t)methods + 1, sizeof *w->of)};
    return w->word && w->of ? 0 : -1;
}

static void parts_words_free(parts_words *w)
{
    for (int i = 0; i < w->count; i++)
        free(w->word[i]);
    free(w->word);
    free(w->of);
}

/* Takes the word of method m; NULL: no memory. */
static int parts_words_add(parts_words *w, int m, char *word)
{
    if (!word)
        return -1;
    for (w->of[m] = 0; w->of[m] < w->count; w->of[m]++)
        if (strcmp(w->word[w->of[m]], word) == 0) {
            free(word);
            return 0;
        }
    w->word[w->count++] = word;
    return 0;
}

/* Any run of a method with this word. */
static const run_config *parts_config(const report_view *v, const parts_words *w, int word)
{
    for (int m = 0; m < v->methods; m++)
        for (int i = 0; w->of[m] == word && i < v->runs.count; i++)
            if (strcmp(v->runs.run[i].label, v->method[m].label) == 0)
                return &v->runs.run[i].config;
    return &v->runs.run[0].config;
}

/* Of train.data: 0 stands for all that there is. */
static double parts_data(const run_config *c)
{
    return c->train.data > 0 ? (double)c->train.data : INFINITY;
}

/* Settings with the longest training sequences come first, as in report_group.h; then those with the least data; then by
 * their words, in which numbers count as numbers. */
static int parts_is_later(const report_view *v, const parts_words *w, int a, int b)
{
    const run_config *one = parts_config(v, w, a), *other = parts_config(v, w, b);
    if (lengths_mean(one) != lengths_mean(other))
        return lengths_mean(one) < lengths_mean(other);
    if (parts_data(one) != parts_data(other))
        return parts_data(one) > parts_data(other);
    return strverscmp(w->word[a], w->word[b]) > 0;
}

static void parts_order(const report_view *v, parts_words *w)
{
    for (int round = 1; round < w->count; round++)
        for (int i = 0; i + 1 < w->count; i++) {
            if (!parts_is_later(v, w, i, i + 1))
                continue;
            char *moved = w->word[i];
            w->word[i] = w->word[i + 1];
            w->word[i + 1] = moved;
            for (int m = 0; m < v->methods; m++)
                w->of[m] = w->of[m] == i ? i + 1 : w->of[m] == i + 1 ? i : w->of[m];
        }
}

/* ------------------------------------------------------------------------------------------------ headings */

/* "train.length_ratio=0.9, train.data=0" as "length_ratio=0.9, all data". malloc'ed. */
static char *parts_short(const char *setting)
{
    buffer b = BUFFER_INIT;
    if (!*setting)
        buffer_add(&b, "not varied");
    while (*setting) {
        const char *end = strstr(setting, ", ");
        size_t length = end ? (size_t)(end - setting) + 2 : strlen(setting);
        size_t name = strcspn(setting, "=");
        for (size_t i = 0; i < name && i < length; i++)
            if (setting[i] == '.') {
                setting += i + 1;
                length -= i + 1;
                break;
            }
        size_t value = strcspn(setting, ",");
        if (value == strlen("data=0") && strncmp(setting, "data=0", value) == 0)
            buffer_format(&b, "all data%.*s", (int)(length - value), setting + value);
        else
            buffer_bytes(&b, setting, length);
        setting += length;
    }
    return buffer_take(&b);
}

/* The words for how lengths were drawn of all runs of a part. NULL: they differ. malloc'ed. */
static char *parts_lengths(const report_view *v, int part)
{
    char *all = NULL;
    for (int m = 0; m < v->methods; m++)
        for (int i = 0; v->method[m].part == part && i < v->runs.count; i++) {
            buffer own = BUFFER_INIT;
            if (strcmp(v->runs.run[i].label, v->method[m].label) != 0)
                continue;
            report_lengths_words(&v->runs.run[i].config, &own);
            int same = !all || strcmp(all, buffer_text(&own)) == 0;
            free(all);
            all = buffer_take(&own);
            if (!same) {
                free(all);
                return NULL;
            }
        }
    return all;
}

/* Where the parts differ in their training lengths and nothing else, these say more than the row's name. */
static void parts_name_lengths(report_view *v)
{
    char **words = calloc((size_t)v->parts + 1, sizeof *words);
    int distinct = words != NULL;
    for (int i = 0; distinct && i < v->parts; i++) {
        words[i] = parts_lengths(v, i);
        distinct = words[i] != NULL;
        for (int k = 0; distinct && k < i; k++)
            distinct = strcmp(words[k], words[i]) != 0;
    }
    for (int i = 0; words && i < v->parts; i++) {
        char *other = words[i];
        if (distinct) {
            other = v->part[i];
            v->part[i] = words[i];
        }
        free(other);
    }
    free(words);
}

/* ------------------------------------------------------------------------------------------------ the division */

static int parts_tasks(const report_view *v)
{
    int tasks = 0;
    for (int i = 0; i < v->runs.count; i++) /* sorted by task */
        tasks += i == 0 || strcmp(v->runs.run[i].config.task, v->runs.run[i - 1].config.task) != 0;
    return tasks;
}

/* What stands above panels and tables; NULL: nothing is divided. A grid with more holes than runs is no sweep of a
 * setting, and what fits into one panel needs no more. */
static const parts_words *parts_choose(const report_view *v, const parts_words *encodings, const parts_words *settings)
{
    int cells = encodings->count * settings->count;
    if (v->methods <= PARTS_LINES || settings->count < 2 || encodings->count < 2 || 2 * v->methods < cells)
        return NULL;
    int by_setting = encodings->count <= PARTS_LINES || encodings->count <= settings->count;
    const parts_words *parts = by_setting ? settings : encodings;
    return parts->count * parts_tasks(v) <= PARTS_PANELS ? parts : NULL;
}

/* One colour and shape for each line, the same in all parts. */
static int parts_styles(report_view *v, const parts_words *lines)
{
    palette_style *style = calloc((size_t)v->methods + 1, sizeof *style);
    const char **name = calloc((size_t)v->methods + 1, sizeof *name);
    int failed = !style || !name;
    for (int m = 0; !failed && !lines && m < v->methods; m++)
        name[m] = v->method[m].label;
    if (!failed)
        palette_assign(lines ? (const char *const *)lines->word : name, lines ? lines->count : v->methods, style);
    for (int m = 0; !failed && m < v->methods; m++)
        v->method[m].style = style[lines ? lines->of[m] : m];
    free(style);
    free(name);
    return failed ? -1 : 0;
}

static int parts_divide(report_view *v, const parts_words *parts, const parts_words *lines, int by_setting)
{
    v->parts = parts ? parts->count : 1;
    v->part = calloc((size_t)v->parts, sizeof *v->part);
    if (!v->part)
        return -1;
    for (int i = 0; i < v->parts; i++) {
        v->part[i] = !parts ? strdup("") : by_setting ? parts_short(parts->word[i]) : strdup(parts->word[i]);
        if (!v->part[i])
            return -1;
    }
    for (int m = 0; m < v->methods; m++) {
        view_method *method = &v->method[m];
        method->part = parts ? parts->of[m] : 0;
        method->place = parts && !by_setting ? lines->of[m] : 0;
        method->line = !parts       ? strdup(method->label)
                       : by_setting ? strdup(lines->word[lines->of[m]])
                                    : parts_short(lines->word[lines->of[m]]);
        if (!method->line)
            return -1;
    }
    if (parts && by_setting)
        parts_name_lengths(v);
    v->by_setting = by_setting;
    return parts_styles(v, lines);
}

int view_find_parts(report_view *v)
{
    parts_words encodings, settings;
    int failed = parts_words_new(&encodings, v->methods) < 0;
    failed |= parts_words_new(&settings, v->methods) < 0;
    for (int m = 0; !failed && m < v->methods; m++) {
        failed = parts_words_add(&encodings, m, report_label_name(v->method[m].label)) < 0;
        failed |= parts_words_add(&settings, m, report_label_setting(v->method[m].label, NULL)) < 0;
    }
    if (!failed) {
        parts_order(v, &settings);
        v->encodings = encodings.count;
        v->settings = settings.count;
        const parts_words *parts = parts_choose(v, &encodings, &settings);
        const parts_words *lines = !parts ? NULL : parts == &settings ? &encodings : &settings;
        failed = parts_divide(v, parts, lines, parts == &settings) < 0;
    }
    parts_words_free(&encodings);
    parts_words_free(&settings);
    return failed ? -1 : 0;
}
