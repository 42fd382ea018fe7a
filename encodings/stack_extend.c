/* stack_extend.c - "interpolate", "yarn(beta_fast=auto)": a trained stack under sequences longer than those that it was
 * trained on. A method is `none`, the name of a position map, or one of the extensions that encodings declare. */
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "stack_text.h"

enum { STACK_EXTEND_WORDS_MAX = 128 };

/* A method taken apart. */
typedef struct stack_method {
    char name[STACK_NAME_MAX];
    scan_span options; /* what the user wrote between brackets */
    const pe_map *map; /* NULL: it is none */
} stack_method;

static const pe_map *stack_extend_map(const registry *r, const char *name)
{
    for (int i = 0; i < registry_map_count(r); i++)
        if (strcmp(registry_map(r, i)->name, name) == 0)
            return registry_map(r, i);
    return NULL;
}

static const pe_extension *stack_extend_find(const pe_descriptor *d, const char *name)
{
    for (const pe_extension *x = d->extensions; x && x->name; x++)
        if (strcmp(x->name, name) == 0)
            return x;
    return NULL;
}

/* Appends the extensions of one encoding that are not there yet. */
static int stack_extend_list(const pe_descriptor *d, const char *words[STACK_EXTEND_WORDS_MAX], int count)
{
    for (const pe_extension *x = d->extensions; x && x->name && count < STACK_EXTEND_WORDS_MAX; x++) {
        int known = 0;
        for (int i = 0; i < count; i++)
            known |= strcmp(words[i], x->name) == 0;
        if (!known)
            words[count++] = x->name;
    }
    return count;
}

static int stack_extend_words(const registry *r, const char *words[STACK_EXTEND_WORDS_MAX])
{
    int count = 0;
    words[count++] = STACK_EXTEND_NONE;
    for (int i = 0; i < registry_map_count(r) && count < STACK_EXTEND_WORDS_MAX; i++)
        words[count++] = registry_map(r, i)->name;
    return count;
}

static int stack_extend_unknown(const char *what, const char *name, const char *const *words, int count, error *e)
{
    const char *near = nearest_word(name, words, (size_t)count);
    return error_set(e, ERROR_USAGE, "%s '%s'%s%s%s", what, name, near ? "; did you mean '" : "", near ? near : "",
                     near ? "'?" : "");
}

static int stack_extend_split(const registry *r, const char *text, stack_method *out, error *e)
{
    if (stack_split_item(scan_trim((scan_span){text, strlen(text)}), "a method", out->name, &out->options, e) != 0)
        return -1;
    out->map = stack_extend_map(r, out->name);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ canonical text */

/* "name(option=value)" with the options that the user gave, whatever their values. */
static int stack_extend_print(const stack_method *m, const pe_option *rows, size_t options_size, char *out, size_t size,
                              error *e)
{
    unsigned char given[OPTIONS_ROWS_MAX];
    char list[STACK_TEXT_MAX];
    void *values = calloc(1, options_size ? options_size : 1);
    if (!values)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    options_defaults(rows, values);
    int length = options_change(rows, m->name, m->options.at, m->options.length, given, values, e) == 0
                     ? options_print_given(rows, given, values, list, sizeof list)
                     : -1;
    free(values);
    if (length < 0)
        return -1;
    int whole = length > 0 ? snprintf(out, size, "%s(%s)", m->name, list) : snprintf(out, size, "%s", m->name);
    return (size_t)length < sizeof list && (size_t)whole < size
               ? 0
               : error_set(e, ERROR_USAGE, "%s: its canonical text is longer than %zu characters", m->name, size - 1);
}

int stack_method_canonical(const registry *r, const char *text, char *out, size_t size, error *e)
{
    stack_method m;
    if (stack_extend_split(r, text, &m, e) != 0)
        return -1;
    if (m.map)
        return stack_extend_print(&m, m.map->options, m.map->options_size, out, size, e);
    const char *words[STACK_EXTEND_WORDS_MAX];
    int count = stack_extend_words(r, words);
    if (strcmp(m.name, STACK_EXTEND_NONE) == 0)
        return stack_extend_print(&m, NULL, 0, out, size, e);
    for (int i = 0; i < registry_encoding_count(r); i++) {
        const pe_descriptor *d = registry_encoding(r, i);
        if (stack_extend_find(d, m.name))
            return stack_extend_print(&m, d->options, d->options_size, out, size, e);
        count = stack_extend_list(d, words, count);
    }
    return stack_extend_unknown("unknown method", m.name, words, count, e);
}

/* ------------------------------------------------------------------------------------------------ who has it */

static int stack_extend_has(const layered_stack *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < s->pattern[i].count; k++)
            if (stack_extend_find(s->pattern[i].member[k].encoding, name))
                return 1;
    return 0;
}

int layered_check_method(const registry *r, const layered_stack *s, int count, const char *text, error *e)
{
    stack_method m;
    const char *words[STACK_EXTEND_WORDS_MAX];
    if (stack_extend_split(r, text, &m, e) != 0)
        return -1;
    if (m.map || strcmp(m.name, STACK_EXTEND_NONE) == 0)
        return 0;
    int known = stack_extend_words(r, words);
    for (int n = 0; n < count; n++) {
        if (stack_extend_has(&s[n], m.name))
            return 0;
        for (int i = 0; i < s[n].count; i++)
            for (int k = 0; k < s[n].pattern[i].count; k++)
                known = stack_extend_list(s[n].pattern[i].member[k].encoding, words, known);
    }
    return stack_extend_unknown("no encoding here has the method", m.name, words, known, e);
}

/* ------------------------------------------------------------------------------------------------ doing it */

/* The text of options with numbers in the place of {factor} and {ends}. -1: another word in braces, or no room. */
int stack_extend_fill(const char *pattern, const stack_stretch *by, char *out, size_t size)
{
    static const char *const words[] = {"{factor}", "{ends}"};
    const double values[] = {by->factor, by->ends};
    size_t used = 0;
    for (const char *p = pattern; *p;) {
        char number[64] = {*p, '\0'};
        size_t taken = *p != '{';
        for (int i = 0; i < 2; i++)
            if (strncmp(p, words[i], strlen(words[i])) == 0) {
                number_print(values[i], number, sizeof number);
                taken = strlen(words[i]);
            }
        if (taken == 0 || used + strlen(number) >= size)
            return -1;
        memcpy(out + used, number, strlen(number));
        used += strlen(number);
        p += taken;
    }
    out[used] = '\0';
    return 0;
}

/* Whether an option stands at another value than its default. */
static int stack_extend_is_set(const stack_member *m, const char *name)
{
    char text[STACK_TEXT_MAX];
    size_t length = strlen(name);
    if (!m->options || options_print(m->encoding->options, m->options, text, sizeof text) >= (int)sizeof text)
        return 0;
    for (const char *p = strstr(text, name); p; p = strstr(p + 1, name))
        if ((p == text || p[-1] == ',') && p[length] == '=')
            return 1;
    return 0;
}

/* Puts the map in the place of the stacks' own. */
static int stack_extend_by_map(const registry *r, layered_stack *s, const stack_method *m, const stack_stretch *by,
                               error *e)
{
    char options[STACK_TEXT_MAX] = "", text[STACK_TEXT_MAX + STACK_NAME_MAX + 4];
    unsigned claims = ~0u;
    for (int i = 0; i < s->count; i++)
        claims &= stack_claims(&s->pattern[i]);
    if (claims & PE_POSITION_BLIND)
        return error_set(e, ERROR_USAGE, "no member of the stack reads positions");
    if (m->options.length > 0)
        snprintf(options, sizeof options, "%.*s", (int)m->options.length, m->options.at);
    else if (m->map->extension)
        stack_extend_fill(m->map->extension, by, options, sizeof options);
    snprintf(text, sizeof text, "%s%s%s%s", m->name, *options ? "(" : "", options, *options ? ")" : "");
    return layered_set_map(r, s, text, e);
}

/* Gives one encoding of the stacks the options of its extension, and then what the user wrote. */
static int stack_extend_member(const registry *r, layered_stack *s, const stack_member *member, const stack_method *m,
                               const stack_stretch *by, error *e)
{
    const pe_descriptor *d = member->encoding;
    const pe_extension *x = stack_extend_find(d, m->name);
    char options[STACK_TEXT_MAX], text[STACK_TEXT_MAX + STACK_NAME_MAX];
    if (x->unless && stack_extend_is_set(member, x->unless))
        return error_set(e, ERROR_USAGE, "%s: %s has no meaning under its option %s", d->name, m->name, x->unless);
    if (stack_extend_fill(x->options, by, options, sizeof options) != 0)
        return error_set(e, ERROR_USAGE, "%s: %s cannot be written as options", d->name, m->name);
    snprintf(text, sizeof text, "%s(%s)", d->name, options);
    if (layered_set_options(r, s, text, e) != 0)
        return -1;
    if (m->options.length == 0)
        return 0;
    snprintf(text, sizeof text, "%s(%.*s)", d->name, (int)m->options.length, m->options.at);
    return layered_set_options(r, s, text, e);
}

int layered_extend(const registry *r, layered_stack *s, const char *method, const stack_stretch *by, error *e)
{
    stack_method m;
    if (stack_extend_split(r, method, &m, e) != 0)
        return -1;
    if (strcmp(m.name, STACK_EXTEND_NONE) == 0)
        return 0;
    if (m.map)
        return stack_extend_by_map(r, s, &m, by, e);
    const pe_descriptor *done[STACK_EXTEND_WORDS_MAX];
    int count = 0;
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < s->pattern[i].count; k++) {
            const stack_member *member = &s->pattern[i].member[k];
            int before = 0;
            for (int n = 0; n < count; n++)
                before |= done[n] == member->encoding;
            if (before || count == STACK_EXTEND_WORDS_MAX || !stack_extend_find(member->encoding, m.name))
                continue;
            done[count++] = member->encoding;
            if (stack_extend_member(r, s, member, &m, by, e) != 0)
                return -1;
        }
    return count > 0 ? 0 : error_set(e, ERROR_USAGE, "no member of the stack has it");
}
