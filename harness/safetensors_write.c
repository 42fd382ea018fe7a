/* safetensors_write.c - the writing half: F32 tensors behind a header whose length is a multiple of 8. */
#include "safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "record.h"

enum { WRITE_LENGTH = 8, WRITE_ITEM = 4, WRITE_ALIGNMENT = 8 };

static size_t write_count(const safetensors_tensor *t)
{
    size_t count = 1;
    for (int i = 0; i < t->dims; i++)
        count *= (size_t)t->dim[i];
    return count;
}

static json_t *write_header(const safetensors_tensor *tensors, int count, const char *const (*metadata)[2],
                            size_t *bytes)
{
    json_t *header = json_object(), *about = json_object();
    for (; metadata && (*metadata)[0]; metadata++)
        json_object_set_new(about, (*metadata)[0], json_string((*metadata)[1]));
    json_object_set_new(header, "__metadata__", about);
    *bytes = 0;
    for (int i = 0; i < count; i++) {
        const safetensors_tensor *t = &tensors[i];
        size_t end = *bytes + WRITE_ITEM * write_count(t);
        json_t *shape = json_array();
        for (int d = 0; d < t->dims; d++)
            json_array_append_new(shape, json_integer(t->dim[d]));
        json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", "F32", "shape", shape, "data_offsets",
                                  (json_int_t)*bytes, (json_int_t)end);
        if (!entry || json_object_set_new(header, t->name, entry) < 0) {
            json_decref(header);
            return NULL;
        }
        *bytes = end;
    }
    return header;
}

/* Lowest byte first. */
static void write_unsigned(char *to, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        to[i] = (char)(value >> 8 * i & 0xff);
}

static char *write_values(char *to, const safetensors_tensor *t)
{
    size_t count = write_count(t);
    for (size_t i = 0; i < count; i++, to += WRITE_ITEM) {
        float value = (float)t->value[i];
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        write_unsigned(to, bits, WRITE_ITEM);
    }
    return to;
}

int safetensors_write(const char *path, const safetensors_tensor *tensors, int count, const char *const (*metadata)[2],
                      error *e)
{
    size_t bytes = 0;
    json_t *header = write_header(tensors, count, metadata, &bytes);
    char *text = header ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    size_t length = text ? strlen(text) : 0;
    size_t padded = (length + WRITE_ALIGNMENT - 1) / WRITE_ALIGNMENT * WRITE_ALIGNMENT;
    size_t size = WRITE_LENGTH + padded + bytes;
    char *data = text ? malloc(size) : NULL;
    if (!data) {
        free(text);
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    }
    write_unsigned(data, padded, WRITE_LENGTH);
    memcpy(data + WRITE_LENGTH, text, length);
    memset(data + WRITE_LENGTH + length, ' ', padded - length);
    free(text);
    char *to = data + WRITE_LENGTH + padded;
    for (int i = 0; i < count; i++)
        to = write_values(to, &tensors[i]);
    int status = file_write_atomic(path, data, size, e);
    free(data);
    return status;
}
