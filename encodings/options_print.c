/* options_print.c - writes options in the one canonical form that options.c reads back. */
#include "options.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "scan.h"

/* Counts what does not fit, as snprintf does. */
typedef struct options_sink {
    char *text;
    size_t size, used;
} options_sink;

static void options_put(options_sink *s, const char *piece)
{
    size_t length = strlen(piece);
    if (s->used < s->size) {
        size_t room = s->size - s->used - 1;
        size_t kept = length < room ? length : room;
        memcpy(s->text + s->used, piece, kept);
        s->text[s->used + kept] = '\0';
    }
    s->used += length;
}

static void options_put_number(options_sink *s, double value)
{
    char number[40];
    number_print(value, number, sizeof number);
    options_put(s, number);
}

static void options_put_choice(options_sink *s, const char *choices, int index)
{
    char words[PE_TEXT_MAX];
    snprintf(words, sizeof words, "%s", choices);
    char *rest = words, *word = strsep(&rest, "|");
    while (index-- > 0)
        word = strsep(&rest, "|");
    assert(word && "the index is one of the choices");
    options_put(s, word);
}

/* Would the parser give the text back as it is? */
static int options_text_is_plain(const char *text)
{
    scan_span whole = {text, strlen(text)};
    const char *fault;
    size_t end;
    if (whole.length == 0 || text[0] == '"' || scan_trim(whole).length != whole.length)
        return 0;
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            return 0;
    return scan_until(whole, ",", &end, &fault) == 0 && end == whole.length;
}

static void options_put_text(options_sink *s, const char *text)
{
    if (options_text_is_plain(text)) {
        options_put(s, text);
        return;
    }
    options_put(s, "\"");
    for (const char *c = text; *c; c++) {
        static const char meant[] = "\"\\\n\r\t", escapes[] = "\"\\nrt";
        const char *found = strchr(meant, *c);
        if (found)
            options_put(s, "\\");
        options_put(s, (char[]){found ? escapes[found - meant] : *c, '\0'});
    }
    options_put(s, "\"");
}

static void options_put_value(options_sink *s, const pe_option *row, const void *field)
{
    const pe_list *list = field;
    switch (row->kind) {
    case PE_OPTION_INT:
        if (*(const int *)field == PE_AUTO_INT)
            options_put(s, "auto");
        else
            options_put_number(s, *(const int *)field);
        return;
    case PE_OPTION_REAL:
        if (*(const double *)field == PE_AUTO_REAL)
            options_put(s, "auto");
        else
            options_put_number(s, *(const double *)field);
        return;
    case PE_OPTION_BOOL:
        options_put(s, *(const int *)field ? "true" : "false");
        return;
    case PE_OPTION_CHOICE:
        options_put_choice(s, row->choices, *(const int *)field);
        return;
    case PE_OPTION_LIST:
        for (int i = 0; i < list->count; i++) {
            options_put(s, i ? ";" : "");
            options_put_number(s, list->value[i]);
        }
        return;
    case PE_OPTION_TEXT:
        options_put_text(s, field);
        return;
    }
}

int options_print_value(const pe_option *row, const void *values, char *text, size_t size)
{
    options_sink s = {text, size, 0};
    if (size > 0)
        text[0] = '\0';
    options_put_value(&s, row, (const char *)values + row->offset);
    return (int)s.used;
}

/* Values, not texts, decide here: a list of many numbers would need a long buffer. */
static int options_is_default(const pe_option *row, const void *values)
{
    union {
        int whole;
        double number;
        pe_list list;
        char text[PE_TEXT_MAX];
    } initial;
    pe_option alone[2] = {*row, {0}};
    alone[0].offset = 0;
    options_defaults(alone, &initial);
    const void *field = (const char *)values + row->offset;
    switch (row->kind) {
    case PE_OPTION_REAL:
        return *(const double *)field == initial.number;
    case PE_OPTION_LIST: {
        const pe_list *list = field;
        int same = list->count == initial.list.count;
        for (int i = 0; same && i < list->count; i++)
            same = list->value[i] == initial.list.value[i];
        return same;
    }
    case PE_OPTION_TEXT:
        return strcmp(field, initial.text) == 0;
    default:
        return *(const int *)field == initial.whole;
    }
}

static void options_put_row(options_sink *s, const pe_option *row, const void *values)
{
    if (s->used > 0)
        options_put(s, ",");
    options_put(s, row->name);
    options_put(s, "=");
    options_put_value(s, row, (const char *)values + row->offset);
}

int options_print(const pe_option *rows, const void *values, char *text, size_t size)
{
    options_sink s = {text, size, 0};
    if (size > 0)
        text[0] = '\0';
    for (const pe_option *row = rows; row && row->name; row++)
        if (!options_is_default(row, values))
            options_put_row(&s, row, values);
    return (int)s.used;
}

int options_print_given(const pe_option *rows, const unsigned char given[OPTIONS_ROWS_MAX], const void *values,
                        char *text, size_t size)
{
    options_sink s = {text, size, 0};
    if (size > 0)
        text[0] = '\0';
    for (const pe_option *row = rows; row && row->name; row++)
        if (given[row - rows])
            options_put_row(&s, row, values);
    return (int)s.used;
}
