/* options.h - reads "base=100,layout=half" into a struct by a table of rows, and writes it back in one canonical form. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stddef.h>

#include "error.h"
#include "pe_option.h"

/* Fills every field of `out` with its default. The defaults of a table must parse; a test walks them all. */
void options_defaults(const pe_option *rows, void *out);

/* Parses "name=value,name=value" (length bytes; may be empty; spaces around tokens allowed) over the defaults. `owner` is
 * named in messages: "rope: unknown option 'bas'; did you mean 'base'?". A name given twice, a value out of bounds or with
 * trailing characters ("12a8") is an error of kind ERROR_USAGE. */
int options_parse(const pe_option *rows, const char *owner, const char *text, size_t length, void *out, error *e);

/* Sets one option from text. */
int options_set(const pe_option *rows, const char *owner, const char *name, const char *value, void *out, error *e);

/* Writes the options that differ from their defaults, in table order, numbers in their shortest exact form, into
 * text[size]; an empty string when none differ. Two option structs are equal exactly when these texts are. Returns the
 * length; it asserts that size suffices (4096 always does for our tables). */
int options_print(const pe_option *rows, const void *values, char *text, size_t size);

/* Writes one value in its canonical form. */
int options_print_value(const pe_option *row, const void *values, char *text, size_t size);

/* The shortest decimal that reads back as the same double, with '.' whatever the locale: 0.001, 1e-05, 10000. */
void number_print(double value, char *text, size_t size);

/* Reads a whole number text with '.' whatever the locale. Returns 0, or -1 if anything but a finite number is there. */
int number_parse(const char *text, double *value);

/* The candidate nearest to `word` by edit distance, or NULL if none is near enough to be meant. */
const char *nearest_word(const char *word, const char *const *candidates, size_t count);

#endif
