/* stack_change.c - "rope(scaling=yarn,factor=4)+ssmax(start=1)": other options for encodings that are there already. */
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "stack_text.h"

/* One encoding's part of a change. */
typedef struct stack_change {
    const pe_descriptor *encoding;
    scan_span options; /* the text between the brackets */
} stack_change;

/* Takes the next part off the text. Returns 1, 0 behind the last one, -1 with e set. */
static int stack_change_next(const registry *r, scan_span *rest, stack_change *out, error *e)
{
    const char *fault;
    size_t end;
    char name[STACK_NAME_MAX];
    if (!rest->at)
        return 0;
    if (scan_until(*rest, "+@", &end, &fault) != 0)
        return error_set(e, ERROR_USAGE, "%s in '%.*s'", fault, (int)rest->length, rest->at);
    if (end < rest->length && rest->at[end] == '@')
        return error_set(e, ERROR_USAGE, "'%.*s' is a position map; here stand encodings' options only",
                         (int)(rest->length - end), rest->at + end);
    int more = end < rest->length;
    scan_span item = scan_take(rest, end);
    if (!more)
        rest->at = NULL;
    if (stack_split_item(item, "an encoding", name, &out->options, e) != 0)
        return -1;
    out->encoding = registry_find_encoding(r, name, e);
    if (!out->encoding)
        return -1;
    if (out->options.length == 0)
        return error_set(e, ERROR_USAGE, "%s: no option is given: write %s(option=value)", name, name);
    return 1;
}

static int stack_change_apply(const stack_change *change, layered_stack *s, error *e)
{
    const pe_descriptor *d = change->encoding;
    unsigned char given[OPTIONS_ROWS_MAX];
    int met = 0;
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < s->pattern[i].count; k++) {
            stack_member *member = &s->pattern[i].member[k];
            if (member->encoding != d)
                continue;
            met = 1;
            if (options_change(d->options, d->name, change->options.at, change->options.length, given, member->options,
                               e) != 0)
                return -1;
        }
    if (met)
        return 0;
    char text[STACK_TEXT_MAX];
    layered_print(s, text, sizeof text);
    return error_set(e, ERROR_USAGE, "there is no %s in %.200s to give other options to", d->name, text);
}

int layered_set_options(const registry *r, layered_stack *s, const char *text, error *e)
{
    scan_span rest = {text, strlen(text)};
    stack_change change;
    int status;
    while ((status = stack_change_next(r, &rest, &change, e)) == 1)
        if (stack_change_apply(&change, s, e) != 0)
            return -1;
    return status;
}

/* Appends "name(option=value,...)" at text[used]; returns the new length, or -1. */
static int stack_change_print(const stack_change *change, char *text, size_t size, size_t used, error *e)
{
    const pe_descriptor *d = change->encoding;
    unsigned char given[OPTIONS_ROWS_MAX];
    char list[STACK_TEXT_MAX];
    void *values = calloc(1, d->options_size ? d->options_size : 1);
    if (!values)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    options_defaults(d->options, values);
    int length = options_change(d->options, d->name, change->options.at, change->options.length, given, values, e) == 0
                     ? options_print_given(d->options, given, values, list, sizeof list)
                     : -1;
    free(values);
    if (length < 0)
        return -1;
    int added = snprintf(text + used, size - used, "%s%s(%s)", used ? "+" : "", d->name, list);
    if (length >= (int)sizeof list || used + (size_t)added >= size)
        return error_set(e, ERROR_USAGE, "its canonical text is longer than %zu characters", size - 1);
    return (int)used + added;
}

int stack_options_canonical(const registry *r, const char *text, char *out, size_t size, error *e)
{
    scan_span rest = {text, strlen(text)};
    const pe_descriptor *seen[STACK_MEMBERS_MAX];
    stack_change change;
    int status, used = 0, count = 0;
    while ((status = stack_change_next(r, &rest, &change, e)) == 1) {
        for (int i = 0; i < count; i++)
            if (seen[i] == change.encoding)
                return error_set(e, ERROR_USAGE, "%s is given options twice", change.encoding->name);
        if (count == STACK_MEMBERS_MAX)
            return error_set(e, ERROR_USAGE, "a stack has at most %d members", STACK_MEMBERS_MAX);
        seen[count++] = change.encoding;
        used = stack_change_print(&change, out, size, (size_t)used, e);
        if (used < 0)
            return -1;
    }
    return status;
}
