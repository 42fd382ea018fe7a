/* pe_option.h - options as a table of data.
 *
 * An encoding, a position map or a task describes its options by rows; parser, documentation, bounds
 * checks and "did you mean" all read the same rows. Values land in a plain struct at `offset`.
 */
#ifndef PE_OPTION_H
#define PE_OPTION_H

#include <stddef.h>

typedef enum pe_option_kind {
    PE_OPTION_INT,    /* field type: int */
    PE_OPTION_REAL,   /* field type: double */
    PE_OPTION_BOOL,   /* field type: int, 0 or 1; written true/false, yes/no, on/off, 1/0 */
    PE_OPTION_CHOICE, /* field type: int, the index into `choices` */
    PE_OPTION_LIST,   /* field type: pe_list; written with semicolons: 1;1.5;2 */
    PE_OPTION_TEXT    /* field type: char[PE_TEXT_MAX]; used for file names */
} pe_option_kind;

enum { PE_LIST_MAX = 256, PE_TEXT_MAX = 512 };

typedef struct pe_list {
    int count;
    double value[PE_LIST_MAX];
} pe_list;

/* What an INT or REAL field holds when the user (or the default) wrote `auto`. Only rows with may_be_auto = 1
 * take the word; the owner replaces the value by one that fits the run, and its help says which. */
#define PE_AUTO_INT (-2147483647 - 1)
#define PE_AUTO_REAL (-1.7976931348623157e308)

typedef struct pe_option {
    const char *name;       /* NULL ends the table */
    pe_option_kind kind;
    size_t offset;          /* of the field in the options struct */
    const char *initial;    /* the default, as a user would write it */
    double least, most;     /* inclusive bounds of INT, REAL and of each LIST element */
    int may_be_auto;
    const char *choices;    /* CHOICE: "half|interleaved" */
    const char *help;       /* one line: meaning, unit, source of the default */
} pe_option;

#endif
