#include "table.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npy.h"
#include "safetensors.h"

static const char table_npy[] = ".npy", table_tensor[] = ".safetensors:";

int table_create(table *t, int rows, int cols, const char *what, error *e)
{
    *t = (table){.rows = rows, .cols = cols};
    t->value = calloc((size_t)rows * (size_t)cols + 1, sizeof *t->value);
    if (t->value)
        return 0;
    return error_set(e, ERROR_ENVIRONMENT, "%s: no memory for %d rows of %d numbers", what, rows, cols);
}

void table_free(table *t)
{
    free(t->value);
    *t = (table){0};
}

static int table_is_npy(const char *target)
{
    size_t length = strlen(target), suffix = sizeof table_npy - 1;
    return length > suffix && !strcmp(target + length - suffix, table_npy);
}

int table_is_target(const char *target)
{
    const char *tensor = strstr(target, table_tensor);
    return table_is_npy(target) || (tensor && tensor[sizeof table_tensor - 1]);
}

/* Leading dimensions of 1, as vision models have them, are no more than brackets. */
static int table_tensor_shape(const safetensors *file, const safetensors_entry *t, table *out, error *e)
{
    int skip = 0;
    while (t->dims - skip > 2 && t->dim[skip] == 1)
        skip++;
    if (t->dims - skip != 2)
        return error_set(e, ERROR_USAGE, "%s: tensor '%s' has %d dimensions; a table has 2", file->path, t->name,
                         t->dims - skip);
    if (t->dim[skip] > INT_MAX || t->dim[skip + 1] > INT_MAX)
        return error_set(e, ERROR_USAGE, "%s: tensor '%s' is too large for a table", file->path, t->name);
    return table_create(out, (int)t->dim[skip], (int)t->dim[skip + 1], file->path, e);
}

static int table_read_tensor(const char *target, table *out, error *e)
{
    char path[PATH_MAX];
    const char *name = strstr(target, table_tensor) + sizeof table_tensor - 1;
    safetensors file;
    if ((size_t)(name - target) > sizeof path)
        return error_set(e, ERROR_USAGE, "%s: the path is too long", target);
    snprintf(path, sizeof path, "%.*s", (int)(name - target) - 1, target);
    if (safetensors_open(&file, path, e) < 0)
        return -1;
    const safetensors_entry *t = safetensors_find(&file, name, e);
    int status = t && table_tensor_shape(&file, t, out, e) == 0 ? safetensors_read(&file, t, out->value, e) : -1;
    safetensors_close(&file);
    return status;
}

static int table_check(const char *target, const table *t, error *e)
{
    if (t->rows == 0 || t->cols == 0)
        return error_set(e, ERROR_USAGE, "%s: a table of %d rows and %d columns is empty", target, t->rows, t->cols);
    for (int i = 0; i < t->rows; i++)
        for (int j = 0; j < t->cols; j++)
            if (!isfinite(t->value[(size_t)i * (size_t)t->cols + (size_t)j]))
                return error_set(e, ERROR_USAGE, "%s: row %d, column %d is no finite number", target, i, j);
    return 0;
}

int table_read(const char *target, table *out, error *e)
{
    *out = (table){0};
    if (!table_is_target(target))
        return error_set(e, ERROR_USAGE, "%s: a table is FILE.npy or FILE.safetensors:NAME", target);
    int status = table_is_npy(target) ? npy_read(target, out, e) : table_read_tensor(target, out, e);
    if (status == 0)
        status = table_check(target, out, e);
    if (status < 0)
        table_free(out);
    return status;
}
