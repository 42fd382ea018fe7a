#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec_yaml.h"

enum { SHOWN_WIDTH = 96, SHOWN_BEFORE = 60, BLOCK_MAX = 2048, CLOSING_MAX = 64 };

void yaml_fault_add(yaml_faults *f, int line, int column, int width, const char *format, ...)
{
    yaml_fault fault = {.line = line, .column = column, .width = width};
    va_list args;
    va_start(args, format);
    vsnprintf(fault.text, sizeof fault.text, format, args);
    va_end(args);
    for (char *p = fault.text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) /* a file must not move the reader's cursor */
            *p = '?';
    for (int i = 0; i < f->count; i++)
        if (f->list[i].line == line && f->list[i].column == column && strcmp(f->list[i].text, fault.text) == 0)
            return;
    if (f->count < YAML_FAULTS_MAX)
        f->list[f->count++] = fault;
    else
        f->lost++;
}

static const char *fault_line(const char *source, int line)
{
    while (--line > 0) {
        source = strchr(source, '\n');
        if (!source)
            return NULL;
        source++;
    }
    return source;
}

static int fault_is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The source line, or that part of a long one that holds the column, and a caret below. Appends to text. */
static int fault_show(const yaml_fault *f, const char *source, char *text, size_t size)
{
    const char *line = source ? fault_line(source, f->line) : NULL;
    if (!line)
        return 0;
    char shown[4 * SHOWN_WIDTH + 8], caret[2 * SHOWN_WIDTH + 8];
    size_t end = strcspn(line, "\r\n"), length = 0;
    int first = f->column - 1 > SHOWN_BEFORE ? f->column - 1 - SHOWN_BEFORE : 0, character = -1;
    for (size_t i = 0; i < end && length < sizeof shown - 1; i++) {
        if (!fault_is_continuation(line[i]) && ++character >= first + SHOWN_WIDTH)
            break;
        if (character >= first)
            shown[length++] = (unsigned char)line[i] < ' ' || line[i] == 0x7f ? (line[i] == '\t' ? ' ' : '?') : line[i];
    }
    shown[length] = '\0';
    int indent = f->column - 1 - first, under = f->width > 1 ? f->width : 1;
    if (indent + under > SHOWN_WIDTH)
        under = SHOWN_WIDTH - indent > 1 ? SHOWN_WIDTH - indent : 1;
    memset(caret, ' ', (size_t)indent);
    memset(caret + indent, '~', (size_t)under);
    caret[indent] = '^';
    caret[indent + under] = '\0';
    return snprintf(text, size, "%5d | %s\n      | %s\n", f->line, shown, caret);
}

static int fault_order(const void *a, const void *b)
{
    const yaml_fault *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

int yaml_faults_report(yaml_faults *f, error *e)
{
    char text[sizeof e->message];
    size_t length = 0;
    int told = 0;
    qsort(f->list, (size_t)f->count, sizeof f->list[0], fault_order);
    for (; told < f->count; told++) {
        char block[BLOCK_MAX];
        const yaml_fault *fault = &f->list[told];
        int n = snprintf(block, sizeof block, "%.256s:%d:%d: error: %s\n", f->path, fault->line, fault->column,
                         fault->text);
        n += fault_show(fault, f->source, block + n, sizeof block - (size_t)n);
        if (length + (size_t)n + CLOSING_MAX > sizeof text)
            break;
        memcpy(text + length, block, (size_t)n);
        length += (size_t)n;
    }
    int left = f->count - told + f->lost;
    if (left)
        length += (size_t)snprintf(text + length, sizeof text - length, "and %d more\n", left);
    text[length - 1] = '\0'; /* whoever prints the message ends the line */
    return error_set(e, ERROR_USAGE, "%s", text);
}
