/* text.h - how the commands and the man page put their tables into words. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "pe_option.h"
#include "registry.h"

enum { TEXT_WIDTH = 80, TEXT_LINE_MAX = 1024 };

/* Columns of a terminal; 0: it is none, or does not know. */
int text_terminal(FILE *to);

/* Prints paragraphs (separated by an empty line) broken at spaces to the width of the terminal, TEXT_WIDTH elsewhere,
 * each line behind `indent` spaces. The first line continues at column `at` of a line that is already begun; 0: it gets
 * its indent too. Ends with a newline. */
void text_wrap(FILE *to, int indent, int at, const char *text);

/* Prints whole lines; on a terminal, sentences that are longer than it is wide go on in lines of their own, below their
 * beginning. What is indented by more than four spaces is a row of a table, and left as it is. */
void text_wrap_lines(FILE *to, const char *text);

/* "integer, 1 to 64, or auto" */
void text_bounds(const pe_option *row, char text[TEXT_LINE_MAX]);

/* The default as it is written, or "(empty)". */
const char *text_initial(const pe_option *row);

/* A table of options: name, default, bounds, help. Nothing for an empty one. */
void text_options(FILE *to, int indent, const pe_option *rows);

/* The i-th claim's name, NULL past the last; its bit is 1 << i. */
const char *text_claim(int i);

/* The stages at which a descriptor's hooks enter, "rotate" or "score, value"; "none". */
void text_stages(const pe_descriptor *d, char text[TEXT_LINE_MAX]);

/* Copies `line` with {0}, {1} ... {11} ... replaced by the names of the registry's encodings of that number. */
void text_fill(const registry *r, const char *line, char text[TEXT_LINE_MAX]);

#endif
