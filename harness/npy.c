#include "npy.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "binary.h"

enum { NPY_PREFIX = 8, NPY_HEADER_MAX = 1 << 16, NPY_DIMS_MAX = 32 };

typedef struct npy_header {
    const char *at; /* what is left to read; the text is NUL-ended */
    int seen_descr, seen_order, seen_shape;
    char descr[16];
    int fortran, dims;
    uint64_t dim[NPY_DIMS_MAX];
} npy_header;

static int npy_broken(const char *path, const char *what, error *e)
{
    return error_set(e, ERROR_USAGE, "%s: not an .npy file that can be read: %s", path, what);
}

/* ------------------------------------------------------------------------------------------------ the header's text */

static void npy_space(npy_header *h)
{
    h->at += strspn(h->at, " \t\n");
}

/* 1 and moves past it when this is what comes next. */
static int npy_take(npy_header *h, const char *word)
{
    size_t length = strlen(word);
    npy_space(h);
    if (strncmp(h->at, word, length) != 0)
        return 0;
    h->at += length;
    return 1;
}

/* 'text' in either kind of quotes, without escapes. */
static int npy_quoted(npy_header *h, char *out, size_t size)
{
    npy_space(h);
    char quote = *h->at;
    const char *end = quote == '\'' || quote == '"' ? strchr(h->at + 1, quote) : NULL;
    if (!end || (size_t)(end - h->at) > size)
        return -1;
    memcpy(out, h->at + 1, (size_t)(end - h->at - 1));
    out[end - h->at - 1] = '\0';
    h->at = end + 1;
    return 0;
}

/* Digits only: strtoull would take a sign, and would wrap it around. */
static int npy_integer(npy_header *h, uint64_t *out)
{
    char *end;
    npy_space(h);
    if (!isdigit((unsigned char)*h->at))
        return -1;
    errno = 0;
    *out = strtoull(h->at, &end, 10);
    h->at = end;
    return errno ? -1 : 0;
}

/* (), (3,), (3, 4) */
static int npy_shape(npy_header *h)
{
    if (!npy_take(h, "("))
        return -1;
    while (!npy_take(h, ")")) {
        if (h->dims == NPY_DIMS_MAX || npy_integer(h, &h->dim[h->dims]) < 0)
            return -1;
        h->dims++;
        if (npy_take(h, ","))
            continue;
        return npy_take(h, ")") && h->dims > 1 ? 0 : -1; /* (3) is a number, not a shape */
    }
    return 0;
}

static int npy_value(npy_header *h, const char *key)
{
    if (!strcmp(key, "descr"))
        return h->seen_descr++ ? -1 : npy_quoted(h, h->descr, sizeof h->descr);
    if (!strcmp(key, "shape"))
        return h->seen_shape++ ? -1 : npy_shape(h);
    if (strcmp(key, "fortran_order") != 0 || h->seen_order++)
        return -1;
    h->fortran = npy_take(h, "True");
    return h->fortran || npy_take(h, "False") ? 0 : -1;
}

static int npy_parse(npy_header *h)
{
    char key[16];
    if (!npy_take(h, "{"))
        return -1;
    while (!npy_take(h, "}")) {
        if (npy_quoted(h, key, sizeof key) < 0 || !npy_take(h, ":") || npy_value(h, key) < 0)
            return -1;
        if (npy_take(h, ","))
            continue;
        if (!npy_take(h, "}"))
            return -1;
        break;
    }
    npy_space(h);
    return *h->at == '\0' && h->seen_descr && h->seen_order && h->seen_shape ? 0 : -1;
}

/* ------------------------------------------------------------------------------------------------ the file */

static int npy_type(const char *path, const char *descr, binary_type *out, error *e)
{
    static const struct {
        const char *descr;
        binary_type type;
    } types[] = {{"<f2", BINARY_F16}, {"<f4", BINARY_F32}, {"<f8", BINARY_F64}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(descr, types[i].descr)) {
            *out = types[i].type;
            return 0;
        }
    return error_set(e, ERROR_USAGE, "%s: its numbers are '%s'; '<f2', '<f4' and '<f8' can be read%s", path, descr,
                     *descr == '>' ? ", big-endian ones cannot" : "");
}

/* Reads prefix and header; *begin: where the data begin. */
static int npy_read_header(FILE *f, const char *path, uint64_t size, npy_header *h, char text[NPY_HEADER_MAX],
                           uint64_t *begin, error *e)
{
    unsigned char prefix[NPY_PREFIX + 4];
    if (fread(prefix, 1, NPY_PREFIX, f) != NPY_PREFIX || memcmp(prefix, "\223NUMPY", 6) != 0)
        return npy_broken(path, "it does not begin with the word NUMPY", e);
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        return error_set(e, ERROR_USAGE, "%s: .npy version %d.%d; 1.0, 2.0 and 3.0 can be read", path, prefix[6],
                         prefix[7]);
    size_t bytes = prefix[6] == 1 ? 2 : 4;
    if (fread(prefix + NPY_PREFIX, 1, bytes, f) != bytes)
        return npy_broken(path, "it ends before its header", e);
    uint64_t length = binary_unsigned(prefix + NPY_PREFIX, bytes);
    *begin = NPY_PREFIX + bytes + length;
    if (length >= NPY_HEADER_MAX || *begin > size)
        return npy_broken(path, "its header is longer than it can be", e);
    if (fread(text, 1, (size_t)length, f) != length)
        return npy_broken(path, "its header cannot be read", e);
    text[length] = '\0';
    *h = (npy_header){.at = text};
    if (strlen(text) != length || length == 0 || text[length - 1] != '\n' || npy_parse(h) < 0)
        return npy_broken(path, "its header is not {'descr': ..., 'fortran_order': ..., 'shape': (...), }", e);
    return 0;
}

/* Are the numbers of this shape what is left of the file? */
static int npy_check_size(const char *path, const npy_header *h, uint64_t left, binary_type type, error *e)
{
    uint64_t count, bytes;
    if (h->dims != 2)
        return error_set(e, ERROR_USAGE, "%s: its array has %d dimension%s; a table has 2", path, h->dims,
                         h->dims == 1 ? "" : "s");
    if (h->dim[0] > INT_MAX || h->dim[1] > INT_MAX || __builtin_mul_overflow(h->dim[0], h->dim[1], &count) ||
        __builtin_mul_overflow(count, (uint64_t)binary_size(type), &bytes))
        return npy_broken(path, "its shape is too large", e);
    if (bytes != left)
        return error_set(e, ERROR_USAGE,
                         "%s: not an .npy file that can be read: %llu bytes of numbers where its shape asks for %llu",
                         path, (unsigned long long)left, (unsigned long long)bytes);
    return 0;
}

/* value[rows][cols] from columns that lie behind each other. */
static int npy_transpose(table *t, const char *path, error *e)
{
    table turned;
    if (table_create(&turned, t->rows, t->cols, path, e) < 0)
        return -1;
    size_t rows = (size_t)t->rows, cols = (size_t)t->cols;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            turned.value[i * cols + j] = t->value[j * rows + i];
    table_free(t);
    *t = turned;
    return 0;
}

static int npy_read_from(FILE *f, const char *path, uint64_t size, table *out, error *e)
{
    char text[NPY_HEADER_MAX];
    npy_header h;
    uint64_t begin = 0;
    binary_type type = BINARY_F32;
    if (npy_read_header(f, path, size, &h, text, &begin, e) < 0 || npy_type(path, h.descr, &type, e) < 0 ||
        npy_check_size(path, &h, size - begin, type, e) < 0 ||
        table_create(out, (int)h.dim[0], (int)h.dim[1], path, e) < 0 ||
        binary_read(f, path, type, out->value, (size_t)(h.dim[0] * h.dim[1]), e) < 0)
        return -1;
    return h.fortran ? npy_transpose(out, path, e) : 0;
}

int npy_read(const char *path, table *out, error *e)
{
    uint64_t size;
    *out = (table){0};
    FILE *f = binary_open(path, &size, e);
    if (!f)
        return -1;
    int status = npy_read_from(f, path, size, out, e);
    fclose(f);
    if (status < 0)
        table_free(out);
    return status;
}
