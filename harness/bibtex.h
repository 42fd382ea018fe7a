/* bibtex.h - entries of a bibliography as descriptors hold them: read, checked, written one field a line.
 *
 * What is read is BibTeX without its shorthands: "@type{key, name = {value}, name = {value}}", braces balanced, entries
 * one behind the other with white space between them.
 */
#ifndef BIBTEX_H
#define BIBTEX_H

#include "buffer.h"
#include "error.h"

enum { BIBTEX_FIELDS_MAX = 16, BIBTEX_WORD_MAX = 64 };

typedef struct bibtex_field {
    char name[BIBTEX_WORD_MAX];
    const char *value; /* inside the text that was read, without its outer braces; `length` bytes */
    size_t length;
} bibtex_field;

typedef struct bibtex_entry {
    char type[BIBTEX_WORD_MAX], key[BIBTEX_WORD_MAX];
    int count;
    bibtex_field field[BIBTEX_FIELDS_MAX];
} bibtex_entry;

/* Reads the entry at *at and moves behind it. 1: read; 0: only white space was left; -1 with e set to what is wrong.
 * Wrong are also a field given twice, a key with other signs than letters, digits, "-", "_" and ":", and an entry
 * without title, author or year, unless it is a @misc with a note. */
int bibtex_next(const char **at, bibtex_entry *out, error *e);

/* Writes it with one field a line and an empty line behind. */
void bibtex_print(const bibtex_entry *entry, buffer *out);

/* An entry for a source that is known in words only: @misc{KEY, note = {words}}, signs of TeX escaped. */
void bibtex_print_note(const char *key, const char *words, buffer *out);

#endif
