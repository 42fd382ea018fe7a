#include "spec_yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libfyaml.h>

#include "options.h"
#include "utf8.h"

enum { FILE_MAX = 1 << 20, DEPTH_MAX = 24, ANCHORS_MAX = 1000 };

/* ------------------------------------------------------------------------------------------------ the file */

static int yaml_read_fd(int fd, const char *path, yaml_document *out, error *e)
{
    struct stat found;
    if (fstat(fd, &found) < 0)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    if (!S_ISREG(found.st_mode))
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", path,
                         S_ISDIR(found.st_mode) ? "a folder, not a spec" : "not a regular file");
    if (found.st_size > FILE_MAX)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %lld bytes; a spec has at most %d", path, (long long)found.st_size,
                         FILE_MAX);
    out->source = malloc(FILE_MAX + 1);
    if (!out->source)
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    size_t size = 0;
    for (;;) {
        ssize_t n = read(fd, out->source + size, FILE_MAX - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
        if (n == 0)
            break;
        size += (size_t)n;
    }
    out->source[size] = '\0';
    if (strlen(out->source) != size)
        return error_set(e, ERROR_USAGE, "%s: no text: it holds a zero byte at offset %zu", path, strlen(out->source));
    if (utf8_prefix(out->source) != size)
        return error_set(e, ERROR_USAGE, "%s: no text: it is not UTF-8 at offset %zu", path, utf8_prefix(out->source));
    return 0;
}

static int yaml_read(const char *path, yaml_document *out, error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is refused, not waited for */
    if (fd < 0)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    int result = yaml_read_fd(fd, path, out, e);
    close(fd);
    return result;
}

/* ------------------------------------------------------------------------------------------------ building the tree */

typedef struct yaml_anchor {
    char *name;
    yaml_node *node;
} yaml_anchor;

typedef struct yaml_builder {
    struct fy_parser *parser;
    yaml_document *document;
    yaml_faults *faults;
    int depth, flow;
    int stopped; /* the text ended, or memory did: what is there is returned up to the top */
    int cut;     /* it was stopped before its end by a fault of structure */
    int anchors_count;
    yaml_anchor anchors[ANCHORS_MAX];
    error *e;
} yaml_builder;

static yaml_node *yaml_build(yaml_builder *b, struct fy_event *event, const yaml_node *near);

static void *yaml_stop(yaml_builder *b)
{
    b->stopped = 1;
    error_set(b->e, ERROR_ENVIRONMENT, "out of memory");
    return NULL;
}

/* A node at the token's place; where the token is not written (an empty value), at the place of `near`. */
static yaml_node *yaml_node_new(yaml_builder *b, yaml_kind kind, struct fy_token *token, const yaml_node *near)
{
    yaml_node *n = calloc(1, sizeof *n);
    if (!n)
        return yaml_stop(b);
    const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
    const struct fy_mark *end = token ? fy_token_end_mark(token) : NULL;
    n->kind = kind;
    n->line = mark ? mark->line + 1 : near ? near->line : 1;
    n->column = mark ? mark->column + 1 : near ? near->column : 1;
    n->width = mark && end && end->line == mark->line ? end->column - mark->column : 1;
    n->flow = b->flow;
    n->next = b->document->all;
    b->document->all = n;
    return n;
}

static yaml_node *yaml_build_scalar(yaml_builder *b, struct fy_token *token, const yaml_node *near)
{
    yaml_node *n = yaml_node_new(b, YAML_SCALAR, token, near);
    if (!n)
        return NULL;
    size_t length = 0;
    const char *text = token ? fy_token_get_text(token, &length) : "";
    n->quoted = token && fy_token_scalar_style(token) != FYSS_PLAIN;
    n->text = strndup(text ? text : "", length);
    if (!n->text)
        return yaml_stop(b);
    if (n->quoted && n->column > 1 && fy_token_scalar_style(token) <= FYSS_DOUBLE_QUOTED) {
        n->column--; /* the library's marks leave the quotes out */
        n->width += 2;
    }
    if (strlen(n->text) != length) {
        yaml_fault_at(b->faults, n, "a zero character in a text");
        n->kind = YAML_BROKEN;
    }
    return n;
}

static yaml_node *yaml_build_alias(yaml_builder *b, struct fy_token *token, const yaml_node *near)
{
    size_t length = 0;
    const char *name = fy_token_get_text(token, &length);
    const char *names[ANCHORS_MAX];
    char word[128];
    for (int i = b->anchors_count - 1; i >= 0; i--) /* the newest of that name holds */
        if (strlen(b->anchors[i].name) == length && strncmp(b->anchors[i].name, name, length) == 0)
            return b->anchors[i].node;
    yaml_node *n = yaml_node_new(b, YAML_BROKEN, token, near);
    if (!n)
        return NULL;
    n->column -= n->column > 1; /* the mark leaves the star out */
    n->width++;
    for (int i = 0; i < b->anchors_count; i++)
        names[i] = b->anchors[i].name;
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    const char *nearest = nearest_word(word, names, (size_t)b->anchors_count);
    yaml_fault_at(b->faults, n, "no anchor '&%s' stands before this%s%s%s", word, nearest ? "; did you mean '*" : "",
                  nearest ? nearest : "", nearest ? "'?" : "");
    return n;
}

/* An anchor is known only when its node is complete, so that a node cannot hold itself. */
static void yaml_remember(yaml_builder *b, struct fy_token *anchor, yaml_node *node)
{
    if (!anchor || !node || b->stopped)
        return;
    size_t length = 0;
    const char *name = fy_token_get_text(anchor, &length);
    if (b->anchors_count == ANCHORS_MAX) {
        yaml_fault_at(b->faults, node, "more than %d anchors", ANCHORS_MAX);
        return;
    }
    char *copy = strndup(name, length);
    if (copy)
        b->anchors[b->anchors_count++] = (yaml_anchor){copy, node};
    else
        yaml_stop(b);
}

static void *yaml_grow(yaml_builder *b, void *list, int count, size_t item)
{
    if (count & (count - 1)) /* room doubles at powers of two */
        return list;
    void *larger = realloc(list, (size_t)(count ? 2 * count : 1) * item);
    return larger ? larger : yaml_stop(b);
}

/* The next event, or NULL at an error of syntax, which the parser's diagnostics hold. */
static struct fy_event *yaml_next(yaml_builder *b)
{
    struct fy_event *event = b->stopped ? NULL : fy_parser_parse(b->parser);
    if (!event)
        b->stopped = 1;
    return event;
}

static void yaml_build_items(yaml_builder *b, yaml_node *list)
{
    struct fy_event *event;
    while ((event = yaml_next(b)) && event->type != FYET_SEQUENCE_END) {
        yaml_node *item = yaml_build(b, event, list);
        void *larger = item ? yaml_grow(b, list->items, list->count, sizeof *list->items) : NULL;
        if (!larger)
            return;
        list->items = larger;
        list->items[list->count++] = item;
    }
    if (event)
        fy_parser_event_free(b->parser, event);
}

static void yaml_build_pairs(yaml_builder *b, yaml_node *map)
{
    struct fy_event *event;
    while ((event = yaml_next(b)) && event->type != FYET_MAPPING_END) {
        yaml_node *key = yaml_build(b, event, map);
        event = key ? yaml_next(b) : NULL;
        yaml_node *value = event ? yaml_build(b, event, key) : NULL;
        if (!value)
            return;
        if (key->kind != YAML_SCALAR) {
            if (key->kind != YAML_BROKEN)
                yaml_fault_at(b->faults, key, "a key is one word, not a list or a mapping");
            continue;
        }
        void *larger = yaml_grow(b, map->pairs, map->count, sizeof *map->pairs);
        if (!larger)
            return;
        map->pairs = larger;
        map->pairs[map->count++] = (yaml_pair){key, value};
    }
    if (event)
        fy_parser_event_free(b->parser, event);
}

/* A list or a map, whose start event has been read. */
static yaml_node *yaml_build_collection(yaml_builder *b, yaml_kind kind, struct fy_token *start, const yaml_node *near)
{
    int flow =
        start && fy_token_get_type(start) == (kind == YAML_LIST ? FYTT_FLOW_SEQUENCE_START : FYTT_FLOW_MAPPING_START);
    yaml_node *n = yaml_node_new(b, kind, start, near);
    if (!n)
        return NULL;
    n->width = 1;
    if (b->depth == DEPTH_MAX) {
        yaml_fault_at(b->faults, n, "nested more than %d deep", DEPTH_MAX);
        b->stopped = b->cut = 1;
        return n;
    }
    b->depth++;
    b->flow += flow;
    if (kind == YAML_LIST)
        yaml_build_items(b, n);
    else
        yaml_build_pairs(b, n);
    b->flow -= flow;
    b->depth--;
    return n;
}

/* Builds the node that begins with `event` and frees the event. NULL only when memory is short or the text stops. */
static yaml_node *yaml_build(yaml_builder *b, struct fy_event *event, const yaml_node *near)
{
    yaml_node *n = NULL;
    struct fy_token *anchor = NULL, *tag = NULL;
    switch (event->type) {
    case FYET_SCALAR:
        anchor = event->scalar.anchor, tag = event->scalar.tag;
        n = yaml_build_scalar(b, event->scalar.value, near);
        break;
    case FYET_ALIAS:
        n = yaml_build_alias(b, event->alias.anchor, near);
        break;
    case FYET_SEQUENCE_START:
        anchor = event->sequence_start.anchor, tag = event->sequence_start.tag;
        n = yaml_build_collection(b, YAML_LIST, event->sequence_start.sequence_start, near);
        break;
    case FYET_MAPPING_START:
        anchor = event->mapping_start.anchor, tag = event->mapping_start.tag;
        n = yaml_build_collection(b, YAML_MAP, event->mapping_start.mapping_start, near);
        break;
    default:
        b->stopped = 1;
        break;
    }
    if (tag && n)
        yaml_fault_at(b->faults, n, "a tag (!...) means nothing here");
    yaml_remember(b, anchor, n);
    fy_parser_event_free(b->parser, event);
    return n;
}

/* One document; a second one would be silently lost, so it is a fault. */
static void yaml_build_stream(yaml_builder *b)
{
    struct fy_event *event;
    int documents = 0;
    while ((event = yaml_next(b))) {
        enum fy_event_type type = event->type;
        if (type == FYET_DOCUMENT_START && documents++ == 1) {
            struct fy_token *token = event->document_start.document_start;
            const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
            yaml_fault_add(b->faults, mark ? mark->line + 1 : 1, mark ? mark->column + 1 : 1, 3,
                           "a second document; a spec is one");
            b->stopped = b->cut = 1;
        }
        if (type != FYET_STREAM_START && type != FYET_STREAM_END && type != FYET_DOCUMENT_START &&
            type != FYET_DOCUMENT_END)
            b->document->root = yaml_build(b, event, NULL);
        else
            fy_parser_event_free(b->parser, event);
    }
}

/* Returns their number. */
static int yaml_collect_syntax(struct fy_diag *diag, yaml_faults *faults)
{
    void *at = NULL;
    int count = 0;
    for (struct fy_diag_error *d; (d = fy_diag_errors_iterate(diag, &at)); count += d->type == FYET_ERROR)
        if (d->type == FYET_ERROR)
            yaml_fault_add(faults, d->line > 0 ? d->line : 1, d->column > 0 ? d->column : 1, 1, "%s", d->msg);
    return count;
}

int yaml_load(const char *path, yaml_document *out, yaml_faults *faults, error *e)
{
    *out = (yaml_document){0};
    faults->path = path;
    if (yaml_read(path, out, e) < 0)
        return -1;
    faults->source = out->source;

    struct fy_diag_cfg quiet;
    fy_diag_cfg_default(&quiet);
    quiet.fp = NULL; /* nothing is printed: errors are collected */
    struct fy_diag *diag = fy_diag_create(&quiet);
    struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET, .diag = diag};
    yaml_builder *b = calloc(1, sizeof *b);
    if (diag)
        fy_diag_set_collect_errors(diag, true);
    struct fy_parser *parser = diag && b ? fy_parser_create(&cfg) : NULL;
    if (parser && fy_parser_set_string(parser, out->source, strlen(out->source)) == 0) {
        *b = (yaml_builder){.parser = parser, .document = out, .faults = faults, .e = e};
        yaml_build_stream(b);
        int faulty = yaml_collect_syntax(diag, faults);
        if (fy_parser_get_stream_error(parser) && !faulty++)
            yaml_fault_add(faults, 1, 1, 1, "no YAML");
        out->complete = !faulty && !b->cut;
    } else {
        error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    }
    for (int i = 0; b && i < b->anchors_count; i++)
        free(b->anchors[i].name);
    free(b);
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);
    return e->kind == ERROR_NONE ? 0 : -1;
}

void yaml_free(yaml_document *d)
{
    for (yaml_node *n = d->all, *next; n; n = next) {
        next = n->next;
        free(n->text);
        free(n->items);
        free(n->pairs);
        free(n);
    }
    free(d->source);
    *d = (yaml_document){0};
}

int yaml_is_null(const yaml_node *n)
{
    return n->kind == YAML_SCALAR && !n->quoted &&
           (!*n->text || strcmp(n->text, "~") == 0 || strcmp(n->text, "null") == 0);
}
