/* buffer.h - text that grows: what pages, tables and data files are put together in before they are written whole. */
#ifndef BUFFER_H
#define BUFFER_H

#include <stddef.h>

#include "error.h"

/* Starts as BUFFER_INIT. When memory runs short `failed` is set, later additions do nothing and buffer_save reports it, so
 * that callers need no check after each addition. */
typedef struct buffer {
    char *data; /* NUL-ended; NULL while empty */
    size_t length, room;
    int failed;
} buffer;

#define BUFFER_INIT { NULL, 0, 0, 0 }

void buffer_bytes(buffer *b, const char *data, size_t length);
void buffer_add(buffer *b, const char *text);

/* For words and whole numbers: %f and its kin would print the comma of the user's locale. */
void buffer_format(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The shortest decimal that reads back as the same double; nothing for NAN. '.' in every locale. */
void buffer_number(buffer *b, double value);

/* `decimals` digits after the point, '.' in every locale; nothing for NAN. */
void buffer_fixed(buffer *b, double value, int decimals);

/* Text of the buffer, never NULL; it lives until the next change. */
const char *buffer_text(const buffer *b);

/* Takes the text out (the caller frees it) and leaves the buffer empty. NULL when memory was short. */
char *buffer_take(buffer *b);

/* Writes the whole to `path`, whole or not at all. -1 with ERROR_ENVIRONMENT. */
int buffer_save(const buffer *b, const char *path, error *e);

void buffer_free(buffer *b);

#endif
