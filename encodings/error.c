#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(error *e, error_kind kind, const char *format, ...)
{
    if (e->kind != ERROR_NONE)
        return -1;
    e->kind = kind;
    va_list args;
    va_start(args, format);
    vsnprintf(e->message, sizeof e->message, format, args);
    va_end(args);
    return -1;
}

int error_prefix(error *e, const char *format, ...)
{
    if (e->kind == ERROR_NONE)
        return -1;
    char context[512], below[sizeof e->message];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    memcpy(below, e->message, sizeof below);
    size_t used = (size_t)snprintf(e->message, sizeof e->message, "%s: ", context);
    if (used > sizeof context + 2)
        used = sizeof context + 2;
    size_t room = sizeof e->message - used - 1;
    size_t length = strnlen(below, sizeof below - 1);
    if (length > room)
        length = room;
    memcpy(e->message + used, below, length);
    e->message[used + length] = '\0';
    return -1;
}

void error_clear(error *e)
{
    e->kind = ERROR_NONE;
    e->message[0] = '\0';
}
