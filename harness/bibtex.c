#include "bibtex.h"

#include <ctype.h>
#include <string.h>

static void bibtex_skip(const char **at)
{
    *at += strspn(*at, " \t\r\n");
}

/* Letters and the like into out. -1: none, or too many. */
static int bibtex_word(const char **at, char out[BIBTEX_WORD_MAX])
{
    size_t length = 0;
    bibtex_skip(at);
    while (isalnum((unsigned char)(*at)[length]) || ((*at)[length] && strchr("-_:", (*at)[length])))
        length++;
    if (length == 0 || length >= BIBTEX_WORD_MAX)
        return -1;
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += length;
    return 0;
}

static int bibtex_sign(const char **at, char sign)
{
    bibtex_skip(at);
    if (**at != sign)
        return -1;
    (*at)++;
    return 0;
}

/* {value} with balanced braces inside. */
static int bibtex_value(const char **at, bibtex_field *field)
{
    int depth = 1;
    if (bibtex_sign(at, '{') < 0)
        return -1;
    field->value = *at;
    for (; **at && depth > 0; (*at)++)
        depth += (**at == '{') - (**at == '}');
    field->length = (size_t)(*at - field->value) - (depth == 0);
    return depth == 0 && field->length > 0 ? 0 : -1;
}

static const bibtex_field *bibtex_find(const bibtex_entry *entry, const char *name)
{
    for (int i = 0; i < entry->count; i++)
        if (strcmp(entry->field[i].name, name) == 0)
            return &entry->field[i];
    return NULL;
}

static int bibtex_field_read(const char **at, bibtex_entry *out, error *e)
{
    bibtex_field field;
    if (out->count == BIBTEX_FIELDS_MAX)
        return error_set(e, ERROR_USAGE, "BibTeX entry %s has more than %d fields", out->key, BIBTEX_FIELDS_MAX);
    if (bibtex_word(at, field.name) < 0 || bibtex_sign(at, '=') < 0 || bibtex_value(at, &field) < 0)
        return error_set(e, ERROR_USAGE, "BibTeX entry %s: a field is not name = {value} with balanced braces",
                         out->key);
    if (bibtex_find(out, field.name))
        return error_set(e, ERROR_USAGE, "BibTeX entry %s has %s twice", out->key, field.name);
    out->field[out->count++] = field;
    return 0;
}

static int bibtex_check(const bibtex_entry *entry, error *e)
{
    int note = strcmp(entry->type, "misc") == 0 && bibtex_find(entry, "note");
    for (int i = 0; i < 3; i++) {
        static const char *const needed[] = {"title", "author", "year"};
        if (!note && !bibtex_find(entry, needed[i]))
            return error_set(e, ERROR_USAGE, "BibTeX entry %s lacks %s", entry->key, needed[i]);
    }
    return 1;
}

int bibtex_next(const char **at, bibtex_entry *out, error *e)
{
    *out = (bibtex_entry){.count = 0};
    bibtex_skip(at);
    if (!**at)
        return 0;
    if (bibtex_sign(at, '@') < 0 || bibtex_word(at, out->type) < 0 || bibtex_sign(at, '{') < 0 ||
        bibtex_word(at, out->key) < 0)
        return error_set(e, ERROR_USAGE, "BibTeX: an entry begins with @type{key, not with '%.24s'", *at);
    while (bibtex_sign(at, ',') == 0) {
        bibtex_skip(at);
        if (**at == '}') /* a comma may stand behind the last field */
            break;
        if (bibtex_field_read(at, out, e) < 0)
            return -1;
    }
    if (bibtex_sign(at, '}') < 0)
        return error_set(e, ERROR_USAGE, "BibTeX entry %s does not end with }", out->key);
    return bibtex_check(out, e);
}

void bibtex_print(const bibtex_entry *entry, buffer *out)
{
    buffer_format(out, "@%s{%s", entry->type, entry->key);
    for (int i = 0; i < entry->count; i++) {
        buffer_format(out, ",\n  %s = {", entry->field[i].name);
        buffer_bytes(out, entry->field[i].value, entry->field[i].length);
        buffer_add(out, "}");
    }
    buffer_add(out, "\n}\n\n");
}

void bibtex_print_note(const char *key, const char *words, buffer *out)
{
    buffer_format(out, "@misc{%s,\n  note = {", key);
    for (; *words; words++) {
        if (strchr("\\{}~^", *words))
            buffer_add(out, " "); /* unbalanced braces would end the entry */
        else if (strchr("$&#_%", *words))
            buffer_format(out, "\\%c", *words);
        else
            buffer_bytes(out, (unsigned char)*words < 0x20 ? " " : words, 1);
    }
    buffer_add(out, "}\n}\n\n");
}
