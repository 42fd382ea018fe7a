/* child.h - one process for one run: started without a shell, read through two pipes, and never left behind.
 *
 * The child gets its standard input from memory, what it prints on standard output is dropped, standard error is kept
 * for its last words, and on descriptor 3 it tells lines "phase done total loss\n". Threads of OpenMP and BLAS are set
 * to one in its environment. It dies with the parent, even when that is killed with SIGKILL. Nothing here ever waits.
 */
#ifndef CHILD_H
#define CHILD_H

#include <poll.h>
#include <sys/types.h>

#include "error.h"

enum { CHILD_WORDS_MAX = 2048, CHILD_PROGRESS_FD = 3 };

/* The newest of what it told. */
typedef struct child_news {
    char phase[16];  /* "train"; empty: nothing was told yet */
    int done, total; /* steps */
    double loss;     /* the newest that was finite: evaluation tells none; NAN before the first */
} child_news;

typedef struct child {
    pid_t pid;          /* 0: none */
    int told, words;    /* the parent's ends of the pipes; -1: closed */
    int status;         /* as waitpid gives it, once child_ended has said 1 */
    double cpu_seconds; /* that it used, and the most memory that it held; once it has ended */
    long peak_bytes;
    child_news news, first; /* first: where it began, which a run that goes on from a saved state does late */
    char line[128]; /* of descriptor 3, not yet complete */
    size_t line_used;
    char kept[2 * CHILD_WORDS_MAX]; /* of standard error; the last CHILD_WORDS_MAX bytes count */
    size_t kept_used;
} child;

/* argv[0] is the path of the program (PATH is not searched) and argv ends with NULL. `input` is what the child reads on
 * its standard input. ERROR_ENVIRONMENT if it cannot be started, the reason why exec failed included. */
int child_start(child *c, const char *const argv[], const char *input, error *e);

/* What poll should watch: two entries, with fd -1 where there is nothing. */
void child_watch(const child *c, struct pollfd out[2]);

/* Takes what has arrived. Never blocks, and returns after a bounded amount, so that a child that prints without end
 * cannot hold up the others. */
void child_read(child *c);

/* 1 when the process has ended: its last words are then read, its pipes closed and pid is 0. */
int child_ended(child *c);

/* Both pipes are closed but the process is still there: its end is a matter of moments. */
int child_is_leaving(const child *c);

/* SIGTERM, SIGKILL. */
void child_signal(const child *c, int signal_number);

/* How it ended: "exit status 3", "killed by SIGSEGV". */
void child_print_status(int status, char *text, size_t size);

/* 1: it was told to stop, by a signal or by its own account (exit status ERROR_INTERRUPTED), whoever sent that. */
int child_was_interrupted(int status);

/* Its last words as clean UTF-8: other bytes and control characters become '?', except newline and tab. */
void child_last_words(const child *c, char text[CHILD_WORDS_MAX + 1]);

#endif
