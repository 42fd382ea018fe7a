/* command.h - one verb of the command line: what it says of itself and what it does.
 *
 * A command is one file cmd_<verb>.c that ends in one `const command`, plus one line in command_list.h. Help, the man
 * page, the parser and "did you mean" read the same tables.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <jansson.h>
#include <signal.h>

#include "args.h"
#include "error.h"
#include "registry.h"

/* What a command is handed besides its arguments. */
typedef struct command_host {
    registry *registry;                /* built-in encodings and maps; a command adds its plug-ins */
    const char *program;               /* absolute path of this executable */
    char *const *argv;                 /* as main got it, NULL-ended: for the twin */
    const volatile sig_atomic_t *stop; /* non-zero after SIGINT or SIGTERM, in commands that stop_cleanly */
} command_host;

/* An example is a line without its "posbench" and what it is for. In it {0}, {1} ... stand for the names of encodings:
 * they are filled in from the registry, so that no command knows one by name. */
typedef struct command_example {
    const char *line; /* NULL ends the table */
    const char *meaning;
} command_example;

typedef struct command {
    const char *name;
    const char *summary; /* one line, without a full stop */
    const char *words;   /* positional words for the synopsis: "SPEC", "[STACK ...]"; "" when there are none */
    int least_words, most_words;
    const char *description;    /* paragraphs, separated by an empty line */
    const args_option *options; /* ends with a NULL name */
    const command_example *examples;
    int stops_cleanly; /* 1: watches host->stop; else a signal ends the program as usual */

    /* Prints its result on standard output. Returns the exit status: 0, ERROR_RUN when what was tried did not hold,
     * ERROR_INTERRUPTED; or -1 with e set. */
    int (*run)(const command_host *host, const args *a, error *e);
} command;

int command_count(void);
const command *command_at(int i);

/* NULL with e set to "unknown command 'swep'; did you mean 'sweep'?". */
const command *command_find(const char *name, error *e);

/* The row that commands which take plug-ins share, and what they do with it. */
#define COMMAND_PLUGIN_OPTION                                                                                          \
    {                                                                                                                  \
        .name = "plugin", .value = "FILE", .repeats = 1, .help = "load the encodings and maps of a plug-in (.so)"      \
    }
int command_load_plugins(const command_host *host, const args *a, error *e);

/* Prints `data` as records are written and frees it; NULL, or no memory for its text: -1 with e set. */
int command_print_json(json_t *data, error *e);

/* Becomes the twin, the same command with real = double, with the same arguments. Returns only if that fails. */
int command_run_in_double(const command_host *host, error *e);

#endif
