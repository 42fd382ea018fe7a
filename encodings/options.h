/* options.h - reads "base=100,layout=half" into a struct by a table of rows, and writes it back in one canonical form.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stddef.h>

#include "error.h"
#include "pe_option.h"

enum { OPTIONS_ROWS_MAX = 256 };

/* Refuses a table that the functions below could not work with: a row without name or help, a name twice, a field
 * outside the struct of `struct_size` bytes, bounds in the wrong order, a default that does not parse. Run over every
 * table by a test and over a plug-in's tables when it is loaded. ERROR_USAGE. */
int options_check_table(const pe_option *rows, const char *owner, size_t struct_size, error *e);

/* Fills every field of `out` with its default. The table must pass options_check_table; NULL has no rows. */
void options_defaults(const pe_option *rows, void *out);

/* Parses "name=value,name=value" (length bytes; may be empty; spaces around tokens allowed) over the defaults. `owner`
 * is named in messages: "rope: unknown option 'bas'; did you mean 'base'?". A name given twice, a value out of bounds
 * or with trailing characters ("12a8") is an error of kind ERROR_USAGE.
 *
 * A TEXT value stands as it is, brackets and quotes inside it in pairs, or between quotes: path="a, b.txt". Between
 * quotes
 * \" \\ \n \r \t stand for their characters. */
int options_parse(const pe_option *rows, const char *owner, const char *text, size_t length, void *out, error *e);

/* The same over the values that `out` holds already; given[i] (=) is 1 for each row that the text names. */
int options_change(const pe_option *rows, const char *owner, const char *text, size_t length,
                   unsigned char given[OPTIONS_ROWS_MAX], void *out, error *e);

/* Sets one option from text. Only here may a TEXT value be empty without quotes. */
int options_set(const pe_option *rows, const char *owner, const char *name, const char *value, void *out, error *e);

/* Writes the options that differ from their defaults, in table order, numbers in their shortest exact form, into
 * text[size]; an empty string when none differ. Two option structs are equal exactly when these texts are. Returns the
 * length of the whole text, as snprintf does: when it is not below `size`, the text was cut. */
int options_print(const pe_option *rows, const void *values, char *text, size_t size);

/* The same for the rows that are given, whatever their values. */
int options_print_given(const pe_option *rows, const unsigned char given[OPTIONS_ROWS_MAX], const void *values,
                        char *text, size_t size);

/* Writes one value in its canonical form. Returns as options_print does. */
int options_print_value(const pe_option *row, const void *values, char *text, size_t size);

/* The shortest decimal that reads back as the same double, with '.' whatever the locale: 0.001, 1e-05, 10000. */
void number_print(double value, char *text, size_t size);

/* Reads a whole number text with '.' whatever the locale. Returns 0, or -1 if anything but a finite number is there. */
int number_parse(const char *text, double *value);

/* The candidate that was meant by `word`: the nearest by edit distance, or else one that `word` begins or whose letters
 * are its initials (learning_rate: lr). NULL if none is near enough. */
const char *nearest_word(const char *word, const char *const *candidates, size_t count);

#endif
