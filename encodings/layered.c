/* layered.c - "[rope,rope,rope,nope]@clamp": a stack for each layer, one position map for all. */
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "scan.h"

/* Parses one entry and puts it at the end of the pattern. */
static int layered_append(const registry *r, scan_span item, layered_stack *out, error *e)
{
    if (item.length > 0 && item.at[0] == '[')
        return error_set(e, ERROR_USAGE, "lists of layers do not nest: '%.*s'", (int)item.length, item.at);
    pe_stack *grown = realloc(out->pattern, ((size_t)out->count + 1) * sizeof *grown);
    char *text = strndup(item.at, item.length);
    if (grown)
        out->pattern = grown;
    int status = grown && text ? stack_parse(r, text, &out->pattern[out->count], e)
                               : error_set(e, ERROR_ENVIRONMENT, "out of memory");
    free(text);
    if (status == 0)
        out->count++;
    return status;
}

static int layered_parse_entries(const registry *r, scan_span entries, layered_stack *out, error *e)
{
    int more = 1;
    while (more) {
        const char *fault;
        size_t end;
        if (scan_until(entries, ",", &end, &fault) != 0)
            return error_set(e, ERROR_USAGE, "%s", fault);
        more = end < entries.length;
        scan_span item = scan_take(&entries, end);
        if (item.length == 0)
            return error_set(e, ERROR_USAGE, "a layer without an encoding; 'nope' is the encoding that does nothing");
        if (layered_append(r, item, out, e) != 0)
            return -1;
    }
    return 0;
}

/* A map behind the list belongs to every entry, and then no entry may have its own. */
static int layered_spread_map(const registry *r, scan_span map, layered_stack *out, error *e)
{
    for (int i = 0; i < out->count; i++)
        if (stack_print_map(&out->pattern[i], NULL, 0) > 0)
            return error_set(e, ERROR_USAGE, "a position map inside the list and one behind it");
    char *text = strndup(map.at, map.length);
    if (!text)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    int status = layered_set_map(r, out, text, e);
    free(text);
    return status;
}

static int layered_same_map(const layered_stack *s, error *e)
{
    char first[STACK_TEXT_MAX], other[STACK_TEXT_MAX];
    stack_print_map(&s->pattern[0], first, sizeof first);
    for (int i = 1; i < s->count; i++) {
        stack_print_map(&s->pattern[i], other, sizeof other);
        if (strcmp(first, other) != 0)
            return error_set(e, ERROR_USAGE,
                             "the layers differ in their position map ('%s' and '%s'); positions are one per token, "
                             "so write the map once, behind the list",
                             first[0] ? first : "@identity", other[0] ? other : "@identity");
    }
    return 0;
}

static int layered_parse_list(const registry *r, scan_span text, layered_stack *out, error *e)
{
    const char *fault;
    size_t end;
    if (scan_until(text, "@", &end, &fault) != 0)
        return error_set(e, ERROR_USAGE, "%s", fault);
    int has_map = end < text.length;
    scan_span list = scan_take(&text, end);
    if (list.at[list.length - 1] != ']')
        return error_set(e, ERROR_USAGE, "something stands behind the list of layers; only @map may");
    scan_span entries = {list.at + 1, list.length - 2};
    if (scan_until(entries, "", &end, &fault) != 0)
        return error_set(e, ERROR_USAGE, "two lists of layers; one is wanted");
    if (layered_parse_entries(r, entries, out, e) != 0)
        return -1;
    if (has_map && layered_spread_map(r, scan_trim(text), out, e) != 0)
        return -1;
    return layered_same_map(out, e);
}

int layered_parse(const registry *r, const char *text, layered_stack *out, error *e)
{
    memset(out, 0, sizeof *out);
    scan_span whole = scan_trim((scan_span){text, strlen(text)});
    int is_list = whole.length > 0 && whole.at[0] == '[';
    int status = is_list ? layered_parse_list(r, whole, out, e) : layered_append(r, whole, out, e);
    if (status == 0 && layered_print(out, NULL, 0) >= STACK_TEXT_MAX)
        status = error_set(e, ERROR_USAGE, "its canonical text is longer than %d characters", STACK_TEXT_MAX - 1);
    if (status == 0)
        return 0;
    layered_free(out);
    return is_list ? error_prefix(e, "'%.200s'", text) : -1;
}

void layered_free(layered_stack *s)
{
    for (int i = 0; i < s->count; i++)
        stack_free(&s->pattern[i]);
    free(s->pattern);
    memset(s, 0, sizeof *s);
}

int layered_set_map(const registry *r, layered_stack *s, const char *text, error *e)
{
    for (int i = 0; i < s->count; i++)
        if (stack_set_map(r, &s->pattern[i], text, e) != 0)
            return -1;
    return 0;
}

/* The shortest prefix that, repeated, is the whole pattern. */
static int layered_period(const layered_stack *s)
{
    char a[STACK_TEXT_MAX], b[STACK_TEXT_MAX];
    for (int period = 1; period < s->count; period++) {
        int repeats = s->count % period == 0;
        for (int i = period; repeats && i < s->count; i++) {
            stack_print_members(&s->pattern[i - period], a, sizeof a);
            stack_print_members(&s->pattern[i], b, sizeof b);
            repeats = strcmp(a, b) == 0;
        }
        if (repeats)
            return period;
    }
    return s->count;
}

int layered_print(const layered_stack *s, char *text, size_t size)
{
    int period = layered_period(s);
    if (period == 1)
        return stack_print(&s->pattern[0], text, size);
    char piece[STACK_TEXT_MAX];
    size_t used = 0;
    for (int i = 0; i <= period; i++) {
        int length = i < period ? stack_print_members(&s->pattern[i], piece, sizeof piece)
                                : stack_print_map(&s->pattern[0], piece, sizeof piece);
        size_t room = used < size ? size - used : 0;
        const char *before = i == 0 ? "[" : i < period ? "," : "]";
        snprintf(room > 0 ? text + used : NULL, room, "%s%s", before, piece);
        used += strlen(before) + (size_t)length;
    }
    return (int)used;
}

int layered_check(const layered_stack *s, const pe_shape *shape, int max_len, error *e)
{
    if (shape->layers % s->count != 0)
        return error_set(e, ERROR_USAGE, "a list of %d encodings does not divide %d layers", s->count, shape->layers);
    for (int i = 0; i < s->count; i++) {
        if (stack_check(&s->pattern[i], shape, max_len, e) != 0)
            return s->count > 1 ? error_prefix(e, "layer %d", i) : -1;
    }
    return 0;
}

int layered_check_reach(const layered_stack *s, const pe_shape *shape, int len, error *e)
{
    for (int i = 0; i < s->count; i++) {
        if (stack_check_reach(&s->pattern[i], shape, len, e) != 0)
            return s->count > 1 ? error_prefix(e, "layer %d", i) : -1;
    }
    return 0;
}

int layered_check_given(const layered_stack *s, const pe_shape *shape, double farthest, error *e)
{
    for (int i = 0; i < s->count; i++) {
        if (stack_check_given(&s->pattern[i], shape, farthest, e) != 0)
            return s->count > 1 ? error_prefix(e, "layer %d", i) : -1;
    }
    return 0;
}
