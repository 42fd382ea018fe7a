/* The bytes of records. jansson's own printing is not used: it writes 0.1 as 0.10000000000000001, and all on one line
 * or one number a line. Here a table is one row a line, which reads and diffs well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "record.h"

typedef struct json_buffer {
    char *text;
    size_t length, size;
    int failed; /* memory was short: everything after is dropped, and record_text returns NULL */
} json_buffer;

static void json_put(json_buffer *b, const char *text, size_t length)
{
    if (b->failed)
        return;
    if (b->length + length + 1 > b->size) {
        size_t size = 2 * (b->length + length) + 4096;
        char *larger = realloc(b->text, size);
        if (!larger) {
            b->failed = 1;
            return;
        }
        b->text = larger;
        b->size = size;
    }
    memcpy(b->text + b->length, text, length);
    b->length += length;
    b->text[b->length] = '\0';
}

static void json_puts(json_buffer *b, const char *text)
{
    json_put(b, text, strlen(text));
}

static void json_put_string(json_buffer *b, const char *text, size_t length)
{
    json_puts(b, "\"");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        char escape[8] = {'\\', (char)c};
        if (c == '\n')
            escape[1] = 'n';
        else if (c < ' ' || c == 0x7f)
            snprintf(escape, sizeof escape, "\\u%04x", c);
        if (c == '"' || c == '\\' || c < ' ' || c == 0x7f)
            json_puts(b, escape);
        else
            json_put(b, text + i, 1);
    }
    json_puts(b, "\"");
}

static void json_put_scalar(json_buffer *b, const json_t *value)
{
    char number[64];
    switch (json_typeof(value)) {
    case JSON_STRING:
        json_put_string(b, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        json_puts(b, number);
        break;
    case JSON_REAL:
        number_print(json_real_value(value), number, sizeof number);
        json_puts(b, number);
        break;
    case JSON_TRUE:
        json_puts(b, "true");
        break;
    case JSON_FALSE:
        json_puts(b, "false");
        break;
    default:
        json_puts(b, "null");
        break;
    }
}

static int json_is_container(const json_t *value)
{
    return json_is_object(value) || json_is_array(value);
}

/* A container of containers is broken into lines; one that holds scalars only stays on its line. */
static int json_breaks(const json_t *value, int depth)
{
    const char *key;
    json_t *child;
    size_t i;
    if (depth == 0)
        return 1;
    json_object_foreach((json_t *)value, key, child) if (json_is_container(child)) return 1;
    json_array_foreach((json_t *)value, i, child) if (json_is_container(child)) return 1;
    return 0;
}

static void json_separate(json_buffer *b, int breaks, int depth, int first)
{
    if (!first)
        json_puts(b, breaks ? "," : ", ");
    if (!breaks)
        return;
    json_puts(b, "\n");
    for (int i = 0; i < depth; i++)
        json_puts(b, "  ");
}

static void json_put_value(json_buffer *b, const json_t *value, int depth)
{
    if (!json_is_container(value)) {
        json_put_scalar(b, value);
        return;
    }
    int breaks = json_breaks(value, depth), count = 0;
    const char *key;
    json_t *child;
    size_t i;
    json_puts(b, json_is_object(value) ? "{" : "[");
    json_object_foreach((json_t *)value, key, child)
    {
        json_separate(b, breaks, depth + 1, count++ == 0);
        json_put_string(b, key, strlen(key));
        json_puts(b, ": ");
        json_put_value(b, child, depth + 1);
    }
    json_array_foreach((json_t *)value, i, child)
    {
        json_separate(b, breaks, depth + 1, count++ == 0);
        json_put_value(b, child, depth + 1);
    }
    if (count)
        json_separate(b, breaks, depth, 1);
    json_puts(b, json_is_object(value) ? "}" : "]");
}

char *record_text(const json_t *value, size_t *size)
{
    json_buffer b = {0};
    json_put_value(&b, value, 0);
    json_puts(&b, "\n");
    if (b.failed) {
        free(b.text);
        return NULL;
    }
    *size = b.length;
    return b.text;
}
