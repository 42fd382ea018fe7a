#include "csv.h"

#include <math.h>
#include <string.h>

static void csv_separate(buffer *b, char separator)
{
    if (b->length > 0 && b->data[b->length - 1] != '\n')
        buffer_bytes(b, &separator, 1);
}

/* A row may not begin with an empty field unseen: the separator is what tells "begun" from "not begun". All our tables
 * start with a name or a number, so that this holds. */
void csv_text(buffer *b, const char *text)
{
    csv_separate(b, ',');
    if (!text)
        return;
    if (!strpbrk(text, ",\"\r\n")) {
        buffer_add(b, text);
        return;
    }
    buffer_add(b, "\"");
    for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
        buffer_bytes(b, text, (size_t)(quote - text));
        buffer_add(b, "\"\"");
    }
    buffer_add(b, text);
    buffer_add(b, "\"");
}

void csv_number(buffer *b, double value)
{
    csv_separate(b, ',');
    buffer_number(b, value);
}

void csv_integer(buffer *b, long value)
{
    csv_separate(b, ',');
    buffer_format(b, "%ld", value);
}

void csv_end(buffer *b)
{
    buffer_add(b, "\n");
}

void tsv_text(buffer *b, const char *text)
{
    csv_separate(b, '\t');
    if (*text == '\0' ||
        *text == ' ') /* gnuplot skips blanks and would take the next field's text, or the last one's */
        buffer_add(b, "\\040");
    for (text += *text == ' '; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            buffer_format(b, "\\%03o", c);
        else if (c == '\n')
            buffer_add(b, "\\n");
        else if (c < 0x20)
            buffer_add(b, " ");
        else
            buffer_bytes(b, text, 1);
    }
}

void tsv_number(buffer *b, double value)
{
    csv_separate(b, '\t');
    if (isnan(value))
        buffer_add(b, "NaN");
    else
        buffer_number(b, value);
}

void tsv_integer(buffer *b, long value)
{
    csv_separate(b, '\t');
    buffer_format(b, "%ld", value);
}

void tsv_end(buffer *b)
{
    buffer_add(b, "\n");
}
