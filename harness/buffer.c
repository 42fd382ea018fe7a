#include "buffer.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "record.h"

/* Makes room for `more` bytes and the final NUL. Returns 0, or -1 when memory is short. */
static int buffer_grow(buffer *b, size_t more)
{
    if (b->failed)
        return -1;
    if (b->length + more + 1 <= b->room)
        return 0;
    size_t room = b->room ? b->room : 256;
    while (room < b->length + more + 1)
        room *= 2;
    char *data = realloc(b->data, room);
    if (!data) {
        b->failed = 1;
        return -1;
    }
    b->data = data;
    b->room = room;
    return 0;
}

void buffer_bytes(buffer *b, const char *data, size_t length)
{
    if (buffer_grow(b, length))
        return;
    memcpy(b->data + b->length, data, length);
    b->length += length;
    b->data[b->length] = '\0';
}

void buffer_add(buffer *b, const char *text)
{
    buffer_bytes(b, text, strlen(text));
}

void buffer_format(buffer *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length >= 0 && buffer_grow(b, (size_t)length) == 0) {
        vsnprintf(b->data + b->length, (size_t)length + 1, format, again);
        b->length += (size_t)length;
    }
    va_end(again);
}

void buffer_number(buffer *b, double value)
{
    if (isnan(value))
        return;
    char text[64];
    number_print(value, text, sizeof text);
    buffer_add(b, text);
}

void buffer_fixed(buffer *b, double value, int decimals)
{
    if (isnan(value))
        return;
    char text[512];
    snprintf(text, sizeof text, "%.*f", decimals, value);
    const char *point = localeconv()->decimal_point;
    char *found = *point && strcmp(point, ".") ? strstr(text, point) : NULL;
    if (found) { /* some locales' decimal point is longer than a byte */
        *found = '.';
        memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
    }
    int negative_zero = text[0] == '-' && strspn(text + 1, "0.") == strlen(text + 1);
    buffer_add(b, text + negative_zero);
}

const char *buffer_text(const buffer *b)
{
    return b->data ? b->data : "";
}

char *buffer_take(buffer *b)
{
    buffer_bytes(b, "", 0); /* so that an empty buffer, too, gives a text to free */
    char *text = b->failed ? NULL : b->data;
    if (b->failed)
        free(b->data);
    *b = (buffer)BUFFER_INIT;
    return text;
}

int buffer_save(const buffer *b, const char *path, error *e)
{
    if (b->failed)
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    return file_write_atomic(path, buffer_text(b), b->length, e);
}

void buffer_free(buffer *b)
{
    free(b->data);
    *b = (buffer)BUFFER_INIT;
}
