/* error.h - one line that says what went wrong.
 *
 * Functions that can fail return 0 or a negative number and take `error *e` last. The first message wins: a
 * function higher up never overwrites what a lower one, nearer to the cause, has said. Only bench/main.c prints.
 */
#ifndef ERROR_H
#define ERROR_H

typedef enum error_kind {
    ERROR_NONE = 0,
    ERROR_RUN = 1,         /* something was tried and did not hold: a check, a run */
    ERROR_USAGE = 2,       /* the command line, a spec or an option string is wrong */
    ERROR_ENVIRONMENT = 3, /* a file, the disk, memory, a missing program */
    ERROR_INTERRUPTED = 130
} error_kind;                /* the values are the exit statuses of the program */

typedef struct error {
    error_kind kind;
    char message[4096];
} error;

#define ERROR_INIT { ERROR_NONE, "" }

/* Records the message unless one is there already. Always returns -1, so that `return error_set(...)` reads well. */
int error_set(error *e, error_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Puts "context: " before the message that is there; no effect when there is none. Returns -1. */
int error_prefix(error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

void error_clear(error *e);

#endif
