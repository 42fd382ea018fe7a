/* args.h - the words of a command line against a table of options.
 *
 * An option is `--name VALUE` or `--name=VALUE`, anywhere after the command; `--` ends the options; what is left are
 * the positional words. Help, man page and parser read the same table.
 */
#ifndef ARGS_H
#define ARGS_H

#include "error.h"

typedef struct args_option {
    const char *name;  /* without its dashes; NULL ends the table */
    const char *value; /* what stands for the value in help, "FILE"; NULL: the option takes none */
    int repeats;       /* 1: may be given more than once */
    int needed;        /* 1: stands without brackets in the synopsis; the command itself checks that it is there */
    int hidden;        /* 1: left out of the synopsis; help lists it all the same */
    const char *help;
} args_option;

/* Points into argv and the option table, which must outlive it. Released by args_free. */
typedef struct args {
    const char *owner; /* the command, for messages */
    const args_option *options;
    int word_count, given_count;
    const char **word; /* [word_count] positional words in their order */
    struct args_given {
        const args_option *option;
        const char *value; /* NULL for a flag */
    } * given;             /* [given_count] options in their order */
} args;

/* Sorts argv[0 .. argc-1] (the command's own name already taken off). ERROR_USAGE with the nearest name for an unknown
 * option; a missing value, a value for a flag and a second use of an option that does not repeat are refused as well.
 * Nothing is left to free on failure. */
int args_parse(const args_option *options, const char *owner, int argc, char **argv, args *out, error *e);
void args_free(args *a);

int args_flag(const args *a, const char *name);               /* how often it was given */
const char *args_value(const args *a, const char *name);      /* NULL: not given */
const char *args_nth(const args *a, const char *name, int n); /* of an option that repeats; NULL past the last */

/* Reads a whole number within bounds into *value, which keeps its default when the option was not given. */
int args_integer(const args *a, const char *name, int least, int most, int *value, error *e);

/* Reads one word of `choices` ("text|json") as its index into *value, which keeps its default when not given. */
int args_choice(const args *a, const char *name, const char *choices, int *value, error *e);

/* The same for a positional word. */
int args_word_choice(const args *a, int word, const char *choices, int *value, error *e);

/* Reads "html,md" against `choices` ("html|md|tex") into *bits: bit i for choice i. Default as above. */
int args_choices(const args *a, const char *name, const char *choices, int *bits, error *e);

#endif
