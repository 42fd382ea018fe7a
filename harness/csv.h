/* csv.h - rows of comma-separated values as RFC 4180 quotes them, and of tab-separated values as gnuplot reads them.
 *
 * A row is a series of fields ended by *_end. Numbers print in the C locale; NAN is an empty field in CSV (a missing
 * value) and the word NaN in TSV, which gnuplot draws as a gap instead of bridging it.
 */
#ifndef CSV_H
#define CSV_H

#include "buffer.h"

/* Quoted when it holds a comma, a quote or a line break; quotes inside are doubled. NULL is an empty field. */
void csv_text(buffer *b, const char *text);
void csv_number(buffer *b, double value);
void csv_integer(buffer *b, long value);
void csv_end(buffer *b);

/* Quotes and backslashes become \042 and \134, because gnuplot would take them for its own, so that a script that says
 * `noenhanced` shows every text literally. A line break becomes \n, which gnuplot draws as one; other control characters
 * become spaces. An empty text is written as one space, \040. */
void tsv_text(buffer *b, const char *text);
void tsv_number(buffer *b, double value);
void tsv_integer(buffer *b, long value);
void tsv_end(buffer *b);

#endif
