#include "safetensors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "binary.h"
#include "options.h"

enum { SAFETENSORS_LENGTH = 8, SAFETENSORS_HEADER_MAX = 100 * 1000 * 1000 };

static const char safetensors_reserved[] = "__metadata__";

/* Types of the format: their bits, and what can be read. */
static const struct {
    const char *name;
    int bits, readable;
    binary_type as;
} safetensors_types[] = {
    {"F64", 64, 1, BINARY_F64},
    {"F32", 32, 1, BINARY_F32},
    {"F16", 16, 1, BINARY_F16},
    {"BF16", 16, 1, BINARY_BF16},
    {"BOOL", 8, 0, 0},
    {"U8", 8, 0, 0},
    {"I8", 8, 0, 0},
    {"U16", 16, 0, 0},
    {"I16", 16, 0, 0},
    {"U32", 32, 0, 0},
    {"I32", 32, 0, 0},
    {"U64", 64, 0, 0},
    {"I64", 64, 0, 0},
    {"F8_E5M2", 8, 0, 0},
    {"F8_E4M3", 8, 0, 0},
    {"F8_E8M0", 8, 0, 0},
    {"C64", 64, 0, 0},
};
enum { SAFETENSORS_TYPES = sizeof safetensors_types / sizeof safetensors_types[0] };

static int safetensors_type(const char *name)
{
    for (int i = 0; i < SAFETENSORS_TYPES; i++)
        if (!strcmp(safetensors_types[i].name, name))
            return i;
    return -1;
}

static int safetensors_broken(const safetensors *s, const char *tensor, const char *what, error *e)
{
    return error_set(e, ERROR_USAGE, "%s: not a safetensors file that can be read: tensor '%s' %s", s->path, tensor,
                     what);
}

/* ------------------------------------------------------------------------------------------------ one entry */

/* A whole number >= 0 of the header. */
static int safetensors_whole(const json_t *value, uint64_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return -1;
    *out = (uint64_t)json_integer_value(value);
    return 0;
}

static int safetensors_shape(const safetensors *s, safetensors_entry *t, const json_t *shape, error *e)
{
    size_t dims = json_array_size(shape);
    if (!json_is_array(shape))
        return safetensors_broken(s, t->name, "has no list as its shape", e);
    if (dims > SAFETENSORS_DIMS_MAX)
        return safetensors_broken(s, t->name, "has more dimensions than can be read", e);
    t->count = 1;
    t->dims = (int)dims;
    for (size_t i = 0; i < dims; i++)
        if (safetensors_whole(json_array_get(shape, i), &t->dim[i]) < 0)
            return safetensors_broken(s, t->name, "has a shape that is not of whole numbers from 0 on", e);
    for (size_t i = 0; i < dims; i++)
        if (__builtin_mul_overflow(t->count, t->dim[i], &t->count))
            return safetensors_broken(s, t->name, "has a shape whose product overflows", e);
    return 0;
}

static int safetensors_offsets(const safetensors *s, safetensors_entry *t, const json_t *offsets, error *e)
{
    uint64_t bits;
    if (json_array_size(offsets) != 2 || safetensors_whole(json_array_get(offsets, 0), &t->begin) < 0 ||
        safetensors_whole(json_array_get(offsets, 1), &t->end) < 0)
        return safetensors_broken(s, t->name, "has data_offsets that are not two whole numbers from 0 on", e);
    if (t->end < t->begin)
        return safetensors_broken(s, t->name, "ends before it begins", e);
    if (__builtin_mul_overflow(t->count, (uint64_t)safetensors_types[safetensors_type(t->type)].bits, &bits))
        return safetensors_broken(s, t->name, "has a shape whose bytes overflow", e);
    if (t->end - t->begin != bits / 8)
        return error_set(e, ERROR_USAGE,
                         "%s: not a safetensors file that can be read: tensor '%s' has %" PRIu64
                         " bytes where its shape and type ask for %" PRIu64,
                         s->path, t->name, t->end - t->begin, bits / 8);
    return 0;
}

static int safetensors_describe(const safetensors *s, safetensors_entry *t, const char *name, json_t *about, error *e)
{
    const json_t *type = json_object_get(about, "dtype");
    *t = (safetensors_entry){.name = name};
    if (json_object_size(about) != 3 || !json_is_string(type) || !json_object_get(about, "shape") ||
        !json_object_get(about, "data_offsets"))
        return safetensors_broken(s, name, "is not described by dtype, shape and data_offsets", e);
    t->type = json_string_value(type);
    if (safetensors_type(t->type) < 0)
        return error_set(e, ERROR_USAGE, "%s: tensor '%s' has the unknown type '%s'", s->path, name, t->type);
    return safetensors_shape(s, t, json_object_get(about, "shape"), e) < 0
               ? -1
               : safetensors_offsets(s, t, json_object_get(about, "data_offsets"), e);
}

/* ------------------------------------------------------------------------------------------------ the whole header */

static int safetensors_check_metadata(const safetensors *s, json_t *metadata, error *e)
{
    const char *key;
    json_t *value;
    int good = json_is_object(metadata);
    json_object_foreach(metadata, key, value) good &= json_is_string(value);
    return good ? 0
                : error_set(e, ERROR_USAGE, "%s: not a safetensors file that can be read: its metadata are no texts",
                            s->path);
}

static int safetensors_compare(const void *a, const void *b)
{
    const safetensors_entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Sorted by their begin, tensors must follow each other exactly and end with the file. */
static int safetensors_check_places(const safetensors *s, uint64_t bytes, error *e)
{
    uint64_t at = 0;
    for (int i = 0; i < s->count; i++) {
        const safetensors_entry *t = &s->entry[i];
        if (t->end > bytes)
            return safetensors_broken(s, t->name, "ends behind the end of the file", e);
        if (t->begin != at)
            return safetensors_broken(s, t->name, t->begin < at ? "overlaps another one" : "has a hole before it", e);
        at = t->end;
    }
    if (at != bytes)
        return error_set(e, ERROR_USAGE,
                         "%s: not a safetensors file that can be read: %" PRIu64 " bytes behind the last tensor",
                         s->path, bytes - at);
    return 0;
}

static int safetensors_entries(safetensors *s, uint64_t bytes, error *e)
{
    const char *name;
    json_t *about;
    s->entry = calloc(json_object_size(s->header) + 1, sizeof *s->entry);
    if (!s->entry)
        return error_set(e, ERROR_ENVIRONMENT, "%s: no memory for its header", s->path);
    json_object_foreach(s->header, name, about)
    {
        if (!strcmp(name, safetensors_reserved)) {
            if (safetensors_check_metadata(s, about, e) < 0)
                return -1;
        } else if (safetensors_describe(s, &s->entry[s->count], name, about, e) < 0) {
            return -1;
        } else {
            s->count++;
        }
    }
    qsort(s->entry, (size_t)s->count, sizeof *s->entry, safetensors_compare);
    return safetensors_check_places(s, bytes, e);
}

/* Reads and parses text[length]; a key that stands twice is one of what the parser refuses. */
static int safetensors_parse(safetensors *s, size_t length, error *e)
{
    json_error_t reason;
    char *text = malloc(length + 1);
    if (!text)
        return error_set(e, ERROR_ENVIRONMENT, "%s: no memory for its header", s->path);
    size_t read = fread(text, 1, length, s->file);
    if (read == length && text[0] == '{')
        s->header = json_loadb(text, length, JSON_REJECT_DUPLICATES, &reason);
    int object = read == length && text[0] == '{';
    free(text);
    if (!object)
        return error_set(e, ERROR_USAGE,
                         "%s: not a safetensors file that can be read: its header does not begin with {", s->path);
    return s->header ? 0
                     : error_set(e, ERROR_USAGE, "%s: not a safetensors file that can be read: its header: %s", s->path,
                                 reason.text);
}

static int safetensors_check(safetensors *s, uint64_t size, error *e)
{
    unsigned char prefix[SAFETENSORS_LENGTH];
    if (fread(prefix, 1, sizeof prefix, s->file) != sizeof prefix)
        return error_set(e, ERROR_USAGE, "%s: not a safetensors file that can be read: it is shorter than %d bytes",
                         s->path, SAFETENSORS_LENGTH);
    uint64_t length = binary_unsigned(prefix, sizeof prefix);
    if (length > size - SAFETENSORS_LENGTH || length > SAFETENSORS_HEADER_MAX || length < 2)
        return error_set(e, ERROR_USAGE,
                         "%s: not a safetensors file that can be read: a header of %" PRIu64
                         " bytes in a file of %" PRIu64,
                         s->path, length, size);
    s->data = SAFETENSORS_LENGTH + length;
    if (safetensors_parse(s, (size_t)length, e) < 0)
        return -1;
    return safetensors_entries(s, size - s->data, e);
}

int safetensors_open(safetensors *s, const char *path, error *e)
{
    uint64_t size;
    *s = (safetensors){.path = strdup(path)};
    if (!s->path)
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    s->file = binary_open(path, &size, e);
    if (s->file && safetensors_check(s, size, e) == 0)
        return 0;
    safetensors_close(s);
    return -1;
}

void safetensors_close(safetensors *s)
{
    if (s->file)
        fclose(s->file);
    json_decref(s->header);
    free(s->entry);
    free(s->path);
    *s = (safetensors){0};
}

/* ------------------------------------------------------------------------------------------------ what is in it */

const safetensors_entry *safetensors_find(const safetensors *s, const char *name, error *e)
{
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->entry[i].name, name))
            return &s->entry[i];
    const char **names = calloc((size_t)s->count + 1, sizeof *names);
    for (int i = 0; names && i < s->count; i++)
        names[i] = s->entry[i].name;
    const char *nearest = names ? nearest_word(name, names, (size_t)s->count) : NULL;
    if (nearest)
        error_set(e, ERROR_USAGE, "%s: no tensor '%s' in it; did you mean '%s'?", s->path, name, nearest);
    else
        error_set(e, ERROR_USAGE, "%s: no tensor '%s' among the %d in it", s->path, name, s->count);
    free(names);
    return NULL;
}

const char *safetensors_metadata(const safetensors *s, const char *key)
{
    return json_string_value(json_object_get(json_object_get(s->header, safetensors_reserved), key));
}

int safetensors_read(const safetensors *s, const safetensors_entry *t, double *out, error *e)
{
    int type = safetensors_type(t->type);
    if (!safetensors_types[type].readable)
        return error_set(e, ERROR_USAGE, "%s: tensor '%s' holds %s; F64, F32, F16 and BF16 can be read", s->path,
                         t->name, t->type);
    if (fseeko(s->file, (off_t)(s->data + t->begin), SEEK_SET) < 0)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", s->path, strerror(errno));
    return binary_read(s->file, s->path, safetensors_types[type].as, out, (size_t)t->count, e);
}
