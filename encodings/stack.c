/* stack.c - "rope(base=1e4)+fox@shift(max=64)" to members, options and a map, and back. */
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "stack_text.h"

/* Allocates and fills an options struct; *out stays NULL when there is none to fill. */
static int stack_parse_options(const pe_option *rows, size_t size, const char *owner, scan_span text, void **out,
                               error *e)
{
    *out = NULL;
    void *options = size > 0 ? calloc(1, size) : NULL;
    if (size > 0 && !options)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    if (options_parse(rows, owner, text.at, text.length, options, e) != 0) {
        free(options);
        return -1;
    }
    *out = options;
    return 0;
}

static int stack_parse_member(const registry *r, scan_span item, stack_member *out, error *e)
{
    char name[STACK_NAME_MAX];
    scan_span options = {NULL, 0};
    if (stack_split_item(item, "an encoding", name, &options, e) != 0)
        return -1;
    const pe_descriptor *d = registry_find_encoding(r, name, e);
    if (!d)
        return -1;
    out->encoding = d;
    return stack_parse_options(d->options, d->options_size, d->name, options, &out->options, e);
}

static int stack_parse_map(const registry *r, scan_span item, const pe_map **map, void **map_options, error *e)
{
    char name[STACK_NAME_MAX];
    scan_span options = {NULL, 0};
    const char *fault;
    size_t end;
    if (scan_until(item, "@", &end, &fault) == 0 && end < item.length)
        return error_set(e, ERROR_USAGE, "more than one position map; maps do not stack");
    if (stack_split_item(item, "a position map", name, &options, e) != 0)
        return -1;
    const pe_map *m = registry_find_map(r, name, e);
    if (!m)
        return -1;
    *map = m;
    return stack_parse_options(m->options, m->options_size, m->name, options, map_options, e);
}

static int stack_parse_members(const registry *r, scan_span members, pe_stack *out, error *e)
{
    int more = 1;
    while (more) {
        const char *fault;
        size_t end;
        if (scan_until(members, "+", &end, &fault) != 0)
            return error_set(e, ERROR_USAGE, "%s in '%.*s'", fault, (int)members.length, members.at);
        more = end < members.length;
        scan_span item = scan_take(&members, end);
        if (out->count == STACK_MEMBERS_MAX)
            return error_set(e, ERROR_USAGE, "a stack has at most %d members", STACK_MEMBERS_MAX);
        if (stack_parse_member(r, item, &out->member[out->count], e) != 0)
            return -1;
        out->count++;
    }
    return 0;
}

static int stack_parse_span(const registry *r, scan_span text, pe_stack *out, error *e)
{
    const char *fault;
    size_t end;
    if (scan_until(text, "@", &end, &fault) != 0)
        return error_set(e, ERROR_USAGE, "%s in '%.*s'", fault, (int)text.length, text.at);
    int has_map = end < text.length;
    scan_span members = scan_take(&text, end);
    if (stack_parse_members(r, members, out, e) != 0)
        return -1;
    scan_span map = has_map ? scan_trim(text) : (scan_span){"identity", strlen("identity")};
    if (stack_parse_map(r, map, &out->map, &out->map_options, e) != 0)
        return -1;
    if (stack_print(out, NULL, 0) >= STACK_TEXT_MAX)
        return error_set(e, ERROR_USAGE, "its canonical text is longer than %d characters", STACK_TEXT_MAX - 1);
    return 0;
}

int stack_parse(const registry *r, const char *text, pe_stack *out, error *e)
{
    memset(out, 0, sizeof *out);
    if (stack_parse_span(r, (scan_span){text, strlen(text)}, out, e) == 0)
        return 0;
    stack_free(out);
    /* A member's message names the member: the whole text adds something only when there is more to it. */
    return strpbrk(text, "+@") ? error_prefix(e, "'%.200s'", text) : -1;
}

int stack_set_map(const registry *r, pe_stack *s, const char *text, error *e)
{
    const pe_map *map;
    void *options;
    if (stack_parse_map(r, scan_trim((scan_span){text, strlen(text)}), &map, &options, e) != 0)
        return -1;
    free(s->map_options);
    s->map = map;
    s->map_options = options;
    return 0;
}

void stack_free(pe_stack *s)
{
    for (int i = 0; i < s->count; i++)
        free(s->member[i].options);
    free(s->map_options);
    memset(s, 0, sizeof *s);
}

/* Appends name or name(options) at text[used]. Returns the new length, counting what was cut. */
static size_t stack_put(char *text, size_t size, size_t used, const char *separator, const char *name,
                        const pe_option *rows, const void *options)
{
    char list[STACK_TEXT_MAX];
    int length = options ? options_print(rows, options, list, sizeof list) : 0;
    size_t room = used < size ? size - used : 0;
    char *at = room > 0 ? text + used : NULL;
    if (length == 0)
        return used + (size_t)snprintf(at, room, "%s%s", separator, name);
    int whole = snprintf(at, room, "%s%s(%s)", separator, name, list);
    return used + (size_t)whole + (length < (int)sizeof list ? 0 : (size_t)length - (sizeof list - 1));
}

int stack_print_members(const pe_stack *s, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < s->count; i++) {
        const pe_descriptor *d = s->member[i].encoding;
        used = stack_put(text, size, used, i ? "+" : "", d->name, d->options, s->member[i].options);
    }
    return (int)used;
}

int stack_print_map(const pe_stack *s, char *text, size_t size)
{
    if (size > 0)
        text[0] = '\0';
    if (strcmp(s->map->name, "identity") == 0)
        return 0;
    return (int)stack_put(text, size, 0, "@", s->map->name, s->map->options, s->map_options);
}

int stack_print(const pe_stack *s, char *text, size_t size)
{
    int used = stack_print_members(s, text, size);
    size_t room = (size_t)used < size ? size - (size_t)used : 0;
    return used + stack_print_map(s, room > 0 ? text + used : NULL, room);
}
