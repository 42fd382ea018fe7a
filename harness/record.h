/* record.h - the file that remembers a run: results/<sweep>/runs/<key>.json. Its presence is the resume state. */
#ifndef RECORD_H
#define RECORD_H

#include <jansson.h>

#include "config.h"
#include "error.h"
#include "run.h"

/* What produced a record. Strings live as long as the program. */
typedef struct host_facts {
    const char *version;    /* posbench's own */
    const char *compiler, *flags;
    const char *kernel;     /* GEMM back end and its kernel level */
    char cpu[128];
    char host[128];
    int cores;
} host_facts;
void host_facts_read(host_facts *h);

/* Builds the JSON (schema "posbench-record/1"): key, config (full, nested as in a spec), canonical, status, parameters,
 * data, selection, training, evaluation, per_position; then "cost" and "host", which alone differ between two runs of the
 * same command on one machine. NaN becomes null. Numbers print alike in every locale. The caller owns it. */
json_t *record_json(const run_config *c, const run_result *r, const host_facts *h);

/* Writes to a temporary file beside `path`, fsyncs it, renames it, fsyncs the folder. On failure (disk full) the old file
 * is intact, the temporary one is gone, and e names the path and the system's reason. */
int record_write(const char *path, const json_t *record, error *e);
int file_write_atomic(const char *path, const void *data, size_t size, error *e); /* what record_write uses; CSV, reports too */

/* Reads and validates one record (schema, key = hash of canonical). */
json_t *record_read(const char *path, error *e);

#endif
