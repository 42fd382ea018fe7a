/* folder.h - a sweep's folder on disk: results/<sweep>/spec.json and results/<sweep>/runs/<key>.json.
 *
 * What is there is the whole state of a sweep. Nothing here is ever lost in silence: a record that cannot be read is
 * moved aside as <key>.json.bad (.bad.2, .bad.3 ...), and records of other specs stay where they are.
 */
#ifndef FOLDER_H
#define FOLDER_H

#include <limits.h>
#include <sys/stat.h>

#include "claim.h"
#include "record.h"
#include "spec.h"

typedef struct folder {
    char out[PATH_MAX]; /* never begins with a dash, so that no program takes it for an option */
    char runs[PATH_MAX];
} folder;

typedef enum folder_state {
    FOLDER_MISSING,
    FOLDER_OK,
    FOLDER_DIVERGED,
    FOLDER_FAILED,
    FOLDER_INTERRUPTED, /* its run was stopped; not an outcome: such a run is done again */
    FOLDER_BAD          /* cut off, no record, or another run's */
} folder_state;

/* What is known of one record. */
typedef struct folder_entry {
    folder_state state;
    char message[512];       /* the record's own; for FOLDER_BAD what is wrong with which file; else empty */
    double seconds;          /* training and evaluation; NAN when it does not say */
    struct timespec written; /* stamp of the file: a rewritten record differs in one of these */
    ino_t file;
} folder_entry;

/* Paths only. With `make`, the folder, its parents and runs/ are made when missing. ERROR_ENVIRONMENT. */
int folder_open(folder *f, const char *out_dir, int make, error *e);

void folder_record_path(const folder *f, const char *key, char path[PATH_MAX]);

/* Reads one record. */
void folder_look(const folder *f, const char *key, folder_entry *out);

/* 1: the record is not the one that `seen` describes: written, rewritten or removed since. Reads no file. */
int folder_changed(const folder *f, const char *key, const folder_entry *seen);

/* Moves a record that cannot be read out of the way, to the path that it leaves in `where`. Only for who holds the
 * claim. */
int folder_move_aside(const folder *f, const char *key, char where[PATH_MAX], error *e);

void folder_remove_record(const folder *f, const char *key);

/* Removes the temporary files that dead writers left behind and returns their number. A record's temporary file is left
 * over when no live worker claims its key and its writer's process is gone; any other when its writer is gone and it is
 * older than a claim may get. */
int folder_clean(const folder *f, const claims *c);

/* The number of records in runs/ whose key is none of keys[count]. */
int folder_foreign(const folder *f, const char (*keys)[CONFIG_KEY_SIZE], int count);

/* Writes spec.json (sweep.h) unless it says the same already. */
int folder_store_spec(const folder *f, const claims *c, const spec *s, const char (*keys)[CONFIG_KEY_SIZE], error *e);

/* The budget of tuning, {"lr": [number, ...], "seeds": [int, ...]}. */
json_t *folder_budget_json(const spec_tune *tune);

/* -1 with e set when a file of 256 kB cannot be written to runs/: the disk is full, a quota is used up. */
int folder_has_room(const folder *f, const char *key, error *e);

#endif
