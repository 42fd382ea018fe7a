/* options.c - reads options. options_print.c writes them. */
#include "options.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"

enum { OPTIONS_SHOWN_MAX = 80, OPTIONS_BOUNDS_MAX = 96 };

/* One value on its way into the struct: what messages need, kept together. */
typedef struct options_value {
    const pe_option *row;
    const char *owner;
    const char *text;
} options_value;

static int options_refuse(const options_value *v, error *e, const char *reason)
{
    return error_set(e, ERROR_USAGE, "%s: %s=%.*s: %s", v->owner, v->row->name, OPTIONS_SHOWN_MAX, v->text, reason);
}

static void options_bounds(const pe_option *row, char text[OPTIONS_BOUNDS_MAX])
{
    char least[40], most[40];
    number_print(row->least, least, sizeof least);
    number_print(row->most, most, sizeof most);
    if (isinf(row->least) && isinf(row->most))
        snprintf(text, OPTIONS_BOUNDS_MAX, "finite");
    else if (isinf(row->most))
        snprintf(text, OPTIONS_BOUNDS_MAX, "at least %s", least);
    else if (isinf(row->least))
        snprintf(text, OPTIONS_BOUNDS_MAX, "at most %s", most);
    else
        snprintf(text, OPTIONS_BOUNDS_MAX, "%s to %s", least, most);
}

static int options_read_number(const options_value *v, const char *text, int whole, double *number, error *e)
{
    char reason[256], bounds[OPTIONS_BOUNDS_MAX];
    options_bounds(v->row, bounds);
    const char *or_auto = v->row->may_be_auto ? ", or auto" : "";
    if (number_parse(text, number) != 0) {
        snprintf(reason, sizeof reason, "not a number (wanted: %s%s)", bounds, or_auto);
        return options_refuse(v, e, reason);
    }
    if (whole && *number != floor(*number)) {
        snprintf(reason, sizeof reason, "not a whole number (wanted: %s%s)", bounds, or_auto);
        return options_refuse(v, e, reason);
    }
    if (*number < v->row->least || *number > v->row->most || (whole && fabs(*number) > INT_MAX)) {
        snprintf(reason, sizeof reason, "out of bounds (%s%s)", bounds, or_auto);
        return options_refuse(v, e, reason);
    }
    *number += 0.0; /* -0 and 0 are one value, and have one text */
    return 0;
}

static int options_read_list(const options_value *v, pe_list *out, error *e)
{
    out->count = 0;
    scan_span rest = {v->text, strlen(v->text)};
    do {
        const char *fault;
        size_t length;
        if (scan_until(rest, ";", &length, &fault) != 0)
            return options_refuse(v, e, fault);
        int last = length == rest.length;
        scan_span item = scan_take(&rest, length);
        char number[512];
        if (item.length == 0 || item.length >= sizeof number)
            return options_refuse(v, e, "not a list of numbers between semicolons: 1;1.5;2");
        if (out->count == PE_LIST_MAX)
            return options_refuse(v, e, "more than 256 numbers");
        snprintf(number, sizeof number, "%.*s", (int)item.length, item.at);
        if (options_read_number(v, number, 0, &out->value[out->count], e) != 0)
            return -1;
        out->count++;
        if (last)
            return 0;
    } while (1);
}

static int options_read_bool(const options_value *v, int *out, error *e)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(v->text, words[i]) == 0) {
            *out = (int)(i % 2);
            return 0;
        }
    }
    return options_refuse(v, e, "neither true nor false");
}

static int options_read_choice(const options_value *v, int *out, error *e)
{
    char words[PE_TEXT_MAX], reason[PE_TEXT_MAX + 128];
    const char *candidates[64];
    size_t count = 0;
    snprintf(words, sizeof words, "%s", v->row->choices);
    char *rest = words;
    for (char *word; (word = strsep(&rest, "|")) != NULL && count < sizeof candidates / sizeof *candidates; count++) {
        candidates[count] = word;
        if (strcmp(word, v->text) == 0) {
            *out = (int)count;
            return 0;
        }
    }
    const char *near = nearest_word(v->text, candidates, count);
    snprintf(reason, sizeof reason, "not one of %s%s%s%s", v->row->choices, near ? "; did you mean '" : "",
             near ? near : "", near ? "'?" : "");
    return options_refuse(v, e, reason);
}

/* Reads what stands between the quotes. */
static int options_unquote(const options_value *v, char out[PE_TEXT_MAX], error *e)
{
    size_t used = 0;
    const char *at = v->text + 1;
    while (*at != '"') {
        char c = *at++;
        if (c == '\\') {
            static const char escapes[] = "\"\\nrt", meanings[] = "\"\\\n\r\t";
            const char *found = *at ? strchr(escapes, *at) : NULL;
            if (!found)
                return options_refuse(v, e, "a backslash that is not followed by one of \" \\ n r t");
            c = meanings[found - escapes];
            at++;
        } else if (c == '\0') {
            return options_refuse(v, e, "a quote that does not end");
        } else if ((unsigned char)c < ' ') {
            return options_refuse(v, e, "a control character");
        }
        if (used == PE_TEXT_MAX - 1)
            return options_refuse(v, e, "longer than 511 characters");
        out[used++] = c;
    }
    out[used] = '\0';
    return at[1] == '\0' ? 0 : options_refuse(v, e, "something follows the closing quote");
}

static int options_read_text(const options_value *v, char *out, error *e)
{
    if (v->text[0] == '"')
        return options_unquote(v, out, e);
    if (strlen(v->text) >= PE_TEXT_MAX)
        return options_refuse(v, e, "longer than 511 characters");
    for (const char *c = v->text; *c; c++)
        if ((unsigned char)*c < ' ')
            return options_refuse(v, e, "a control character");
    memcpy(out, v->text, strlen(v->text) + 1);
    return 0;
}

static int options_assign_list(const options_value *v, pe_list *field, error *e)
{
    pe_list list;
    if (options_read_list(v, &list, e) != 0)
        return -1;
    field->count = list.count;
    memcpy(field->value, list.value, (size_t)list.count * sizeof *list.value);
    return 0;
}

/* v->text is trimmed. The field is written only when the value is good. */
static int options_assign(const options_value *v, void *field, error *e)
{
    const pe_option *row = v->row;
    int is_auto = row->may_be_auto && strcmp(v->text, "auto") == 0;
    double number;
    switch (row->kind) {
    case PE_OPTION_INT:
        if (!is_auto && options_read_number(v, v->text, 1, &number, e) != 0)
            return -1;
        *(int *)field = is_auto ? PE_AUTO_INT : (int)number;
        return 0;
    case PE_OPTION_REAL:
        if (!is_auto && options_read_number(v, v->text, 0, &number, e) != 0)
            return -1;
        *(double *)field = is_auto ? PE_AUTO_REAL : number;
        return 0;
    case PE_OPTION_BOOL:
        return options_read_bool(v, field, e);
    case PE_OPTION_CHOICE:
        return options_read_choice(v, field, e);
    case PE_OPTION_LIST:
        return options_assign_list(v, field, e);
    case PE_OPTION_TEXT: {
        char text[PE_TEXT_MAX];
        if (options_read_text(v, text, e) != 0)
            return -1;
        memcpy(field, text, sizeof text);
        return 0;
    }
    }
    return options_refuse(v, e, "an option of unknown kind");
}

static size_t options_count(const pe_option *rows)
{
    size_t count = 0;
    while (rows && rows[count].name)
        count++;
    return count;
}

static const pe_option *options_find(const pe_option *rows, const char *owner, const char *name, error *e)
{
    const char *names[OPTIONS_ROWS_MAX] = {NULL};
    size_t count = options_count(rows);
    for (size_t i = 0; i < count && i < OPTIONS_ROWS_MAX; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
        names[i] = rows[i].name;
    }
    const char *near = nearest_word(name, names, count < OPTIONS_ROWS_MAX ? count : OPTIONS_ROWS_MAX);
    if (near) {
        error_set(e, ERROR_USAGE, "%s: unknown option '%s'; did you mean '%s'?", owner, name, near);
        return NULL;
    }
    char list[512] = "none";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", rows[i].name);
    error_set(e, ERROR_USAGE, "%s: unknown option '%s'; its options: %s", owner, name, list);
    return NULL;
}

int options_set(const pe_option *rows, const char *owner, const char *name, const char *value, void *out, error *e)
{
    const pe_option *row = options_find(rows, owner, name, e);
    if (!row)
        return -1;
    scan_span trimmed = scan_trim((scan_span){value, strlen(value)});
    char *text = strndup(trimmed.at, trimmed.length);
    if (!text)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    options_value v = {row, owner, text};
    int status = trimmed.length == 0 && row->kind != PE_OPTION_TEXT ? options_refuse(&v, e, "an empty value")
                                                                    : options_assign(&v, (char *)out + row->offset, e);
    free(text);
    return status;
}

void options_defaults(const pe_option *rows, void *out)
{
    for (size_t i = 0; i < options_count(rows); i++) {
        error e = ERROR_INIT;
        int status = options_set(rows, "default", rows[i].name, rows[i].initial, out, &e);
        assert(status == 0 && "the table passes options_check_table");
        (void)status;
    }
}

/* "name = value": sets the option and marks it as given. */
static int options_parse_item(const pe_option *rows, const char *owner, scan_span item, unsigned char *given, void *out,
                              error *e)
{
    const char *equals = memchr(item.at, '=', item.length);
    if (!equals)
        return error_set(e, ERROR_USAGE, "%s: '%.*s' is not name=value", owner, (int)item.length, item.at);
    scan_span name = scan_trim((scan_span){item.at, (size_t)(equals - item.at)});
    scan_span value = scan_trim((scan_span){equals + 1, item.length - (size_t)(equals + 1 - item.at)});
    char word[64];
    if (name.length == 0 || name.length >= sizeof word)
        return error_set(e, ERROR_USAGE, "%s: '%.*s' does not begin with the name of an option", owner,
                         (int)item.length, item.at);
    snprintf(word, sizeof word, "%.*s", (int)name.length, name.at);
    const pe_option *row = options_find(rows, owner, word, e);
    if (!row)
        return -1;
    if (given[row - rows]++ > 0)
        return error_set(e, ERROR_USAGE, "%s: option '%s' is given twice", owner, word);
    if (value.length == 0)
        return error_set(e, ERROR_USAGE, "%s: option '%s' has no value", owner, word);
    char *text = strndup(value.at, value.length);
    if (!text)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    int status = options_assign(&(options_value){row, owner, text}, (char *)out + row->offset, e);
    free(text);
    return status;
}

int options_change(const pe_option *rows, const char *owner, const char *text, size_t length,
                   unsigned char given[OPTIONS_ROWS_MAX], void *out, error *e)
{
    memset(given, 0, OPTIONS_ROWS_MAX);
    scan_span rest = scan_trim((scan_span){text, length});
    int more = rest.length > 0;
    while (more) {
        const char *fault;
        size_t end;
        if (scan_until(rest, ",", &end, &fault) != 0)
            return error_set(e, ERROR_USAGE, "%s: %s in '%.*s'", owner, fault, (int)rest.length, rest.at);
        more = end < rest.length;
        scan_span item = scan_take(&rest, end);
        if (item.length == 0)
            return error_set(e, ERROR_USAGE, "%s: an empty option beside a comma", owner);
        if (options_parse_item(rows, owner, item, given, out, e) != 0)
            return -1;
    }
    return 0;
}

int options_parse(const pe_option *rows, const char *owner, const char *text, size_t length, void *out, error *e)
{
    unsigned char given[OPTIONS_ROWS_MAX];
    options_defaults(rows, out);
    return options_change(rows, owner, text, length, given, out, e);
}

static size_t options_field_size(pe_option_kind kind)
{
    return kind == PE_OPTION_REAL   ? sizeof(double)
           : kind == PE_OPTION_LIST ? sizeof(pe_list)
           : kind == PE_OPTION_TEXT ? PE_TEXT_MAX
                                    : sizeof(int);
}

static int options_check_row(const pe_option *rows, size_t i, const char *owner, size_t struct_size, error *e)
{
    const pe_option *row = &rows[i];
    for (size_t j = 0; j < i; j++)
        if (strcmp(rows[j].name, row->name) == 0)
            return error_set(e, ERROR_USAGE, "%s: two options are named '%s'", owner, row->name);
    if (!row->initial || !row->help || (row->kind == PE_OPTION_CHOICE && !row->choices))
        return error_set(e, ERROR_USAGE, "%s: option '%s' lacks its default, help or choices", owner, row->name);
    if (row->kind > PE_OPTION_TEXT || row->offset + options_field_size(row->kind) > struct_size)
        return error_set(e, ERROR_USAGE, "%s: option '%s' does not lie in its struct", owner, row->name);
    if (!(row->least <= row->most))
        return error_set(e, ERROR_USAGE, "%s: the bounds of option '%s' are in the wrong order", owner, row->name);
    if (row->may_be_auto && row->kind != PE_OPTION_INT && row->kind != PE_OPTION_REAL)
        return error_set(e, ERROR_USAGE, "%s: option '%s' is not a number and cannot be auto", owner, row->name);
    union {
        int whole;
        double number;
        pe_list list;
        char text[PE_TEXT_MAX];
    } field;
    pe_option alone[2] = {*row, {0}};
    alone[0].offset = 0;
    return options_set(alone, owner, row->name, row->initial, &field, e);
}

int options_check_table(const pe_option *rows, const char *owner, size_t struct_size, error *e)
{
    size_t count = options_count(rows);
    if (count > OPTIONS_ROWS_MAX)
        return error_set(e, ERROR_USAGE, "%s: more than %d options", owner, OPTIONS_ROWS_MAX);
    for (size_t i = 0; i < count; i++)
        if (options_check_row(rows, i, owner, struct_size, e) != 0)
            return -1;
    return 0;
}
