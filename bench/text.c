#include "text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "check/claims.h"
#include "options.h"

enum { TEXT_WIDTH_LEAST = 40, TEXT_WIDTH_MOST = 100, TEXT_HELD_MAX = 40, TEXT_INDENT_MOST = 4 };

int text_terminal(FILE *to)
{
    struct winsize size;
    if (!isatty(fileno(to)) || ioctl(fileno(to), TIOCGWINSZ, &size))
        return 0;
    return size.ws_col;
}

/* That of a terminal, as far as lines of that length can be read; else the usual one. */
static int text_width(FILE *to)
{
    int columns = text_terminal(to);
    if (!columns)
        return TEXT_WIDTH;
    return columns < TEXT_WIDTH_LEAST ? TEXT_WIDTH_LEAST : columns > TEXT_WIDTH_MOST ? TEXT_WIDTH_MOST : columns;
}

/* Bytes up to a space, not held together by anything. */
static size_t text_plain_word(const char *text, size_t length)
{
    size_t n = 0;
    while (n < length && text[n] != ' ' && text[n] != '\n')
        n++;
    return n;
}

/* Bytes of the word at text[0 .. length-1]. Short square brackets, as a synopsis has them, hold together; [0, 1) does
 * not. */
static size_t text_word(const char *text, size_t length)
{
    size_t n = 0;
    for (int depth = 0; n < length && ((text[n] != ' ' && text[n] != '\n') || depth > 0); n++)
        depth += (text[n] == '[') - (text[n] == ']');
    return n <= TEXT_HELD_MAX ? n : text_plain_word(text, length);
}

static void text_paragraph(FILE *to, int indent, int at, const char *text, size_t length)
{
    int column = at, width = text_width(to);
    for (size_t i = 0; i < length;) {
        size_t word = text_word(text + i, length - i);
        if (word && column > indent && column + 1 + (int)word > width) {
            fputc('\n', to);
            column = 0;
        }
        if (word && column < indent)
            column += fprintf(to, "%*s", indent - column, "");
        else if (word && column > indent)
            column += fprintf(to, " ");
        if (word)
            column += fprintf(to, "%.*s", (int)word, text + i);
        i += word + 1;
    }
    fputc('\n', to);
}

void text_wrap_lines(FILE *to, const char *text)
{
    int width = text_terminal(to) ? text_width(to) : 0;
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        int indent = (int)strspn(text, " ");
        if (width && (int)length > width && indent <= TEXT_INDENT_MOST)
            text_paragraph(to, indent, 0, text + indent, length - (size_t)indent);
        else
            fprintf(to, "%.*s\n", (int)length, text);
    }
}

void text_wrap(FILE *to, int indent, int at, const char *text)
{
    for (;;) {
        const char *end = strstr(text, "\n\n");
        text_paragraph(to, indent, at, text, end ? (size_t)(end - text) : strlen(text));
        if (!end)
            break;
        fputc('\n', to);
        text = end + 2;
        at = 0;
    }
}

static int text_put(char text[TEXT_LINE_MAX], size_t used, const char *more)
{
    return snprintf(text + used, TEXT_LINE_MAX - used, "%s", more);
}

/* Bounds at the ends of the type mean that there are none. */
static void text_range(const pe_option *row, char text[TEXT_LINE_MAX])
{
    int low = row->kind == PE_OPTION_INT ? row->least > INT_MIN + 1.0 : row->least > -1e300;
    int high = row->kind == PE_OPTION_INT ? row->most < INT_MAX : row->most < 1e300;
    char least[64], most[64];
    number_print(row->least, least, sizeof least);
    number_print(row->most, most, sizeof most);
    if (low && high)
        snprintf(text, TEXT_LINE_MAX, ", %s to %s", least, most);
    else if (low)
        snprintf(text, TEXT_LINE_MAX, ", at least %s", least);
    else if (high)
        snprintf(text, TEXT_LINE_MAX, ", at most %s", most);
    else
        text[0] = '\0';
}

void text_bounds(const pe_option *row, char text[TEXT_LINE_MAX])
{
    static const char *const kinds[] = {[PE_OPTION_INT] = "integer",
                                        [PE_OPTION_REAL] = "number",
                                        [PE_OPTION_BOOL] = "yes or no",
                                        [PE_OPTION_CHOICE] = "one of ",
                                        [PE_OPTION_LIST] = "numbers separated by semicolons",
                                        [PE_OPTION_TEXT] = "text"};
    char range[TEXT_LINE_MAX] = "";
    if (row->kind == PE_OPTION_INT || row->kind == PE_OPTION_REAL || row->kind == PE_OPTION_LIST)
        text_range(row, range);
    size_t used = (size_t)text_put(text, 0, kinds[row->kind]);
    if (row->kind == PE_OPTION_CHOICE)
        for (const char *c = row->choices; *c && used + 3 < TEXT_LINE_MAX; c++)
            used += (size_t)(*c == '|' ? text_put(text, used, ", ")
                                       : snprintf(text + used, TEXT_LINE_MAX - used, "%c", *c));
    if (row->kind == PE_OPTION_LIST && range[0])
        used += (size_t)text_put(text, used, ", each");
    used += (size_t)text_put(text, used, row->kind == PE_OPTION_LIST && range[0] ? range + 1 : range);
    if (row->may_be_auto)
        text_put(text, used, ", or auto");
}

const char *text_initial(const pe_option *row)
{
    return *row->initial ? row->initial : "(empty)";
}

void text_options(FILE *to, int indent, const pe_option *rows)
{
    for (const pe_option *row = rows; row && row->name; row++) {
        char bounds[TEXT_LINE_MAX], words[TEXT_LINE_MAX + 2];
        text_bounds(row, bounds);
        snprintf(words, sizeof words, "(%s)", bounds);
        text_wrap(to, indent + 6, fprintf(to, "%*s%s=%s ", indent, "", row->name, text_initial(row)), words);
        text_wrap(to, indent + 6, 0, row->help);
    }
}

const char *text_claim(int i)
{
    unsigned claim = 1u << i;
    return claim <= PE_ZERO_AT_INIT ? claim_name((pe_claim)claim) : NULL;
}

void text_stages(const pe_descriptor *d, char text[TEXT_LINE_MAX])
{
    struct {
        const char *name;
        int there;
    } stages[] = {{"embed", d->embed != NULL}, {"gate", d->gate != NULL}, {"rotate", d->rotate != NULL},
                  {"score", d->score != NULL}, {"bias", d->bias != NULL}, {"value", d->value != NULL}};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (stages[i].there)
            used += (size_t)snprintf(text + used, TEXT_LINE_MAX - used, "%s%s", used ? ", " : "", stages[i].name);
    if (!used)
        text_put(text, 0, "none");
}

void text_fill(const registry *r, const char *line, char text[TEXT_LINE_MAX])
{
    size_t used = 0;
    for (const char *at = line; *at && used + 1 < TEXT_LINE_MAX; at++) {
        size_t digits = *at == '{' ? strspn(at + 1, "0123456789") : 0;
        if (!digits || at[1 + digits] != '}') {
            text[used++] = *at;
            continue;
        }
        int number = atoi(at + 1);
        const char *name = registry_encoding(r, number % registry_encoding_count(r))->name;
        used += (size_t)snprintf(text + used, TEXT_LINE_MAX - used, "%s", name);
        if (used >= TEXT_LINE_MAX)
            used = TEXT_LINE_MAX - 1;
        at += 1 + digits;
    }
    text[used] = '\0';
}
