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
    const char *level;      /* of instructions, with which encodings and kernels run: level_name */
    char cpu[128];
    char host[128];
    int cores;
} host_facts;
void host_facts_read(host_facts *h);

/* Builds the JSON. The keys, in this order; those above the line "and" are always there, NaN and absent values are null:
 *
 *   "schema": "posbench-record/1"
 *   "key": SHA-256 of "canonical" (hex)          "canonical": what config_print writes
 *   "config": {"encoding", "task", "seed", "model": {...}, "train": {...}, "eval": {...}, "extend": {...}}   as in a
 *             spec, all rows
 *   "status": "ok" | "diverged" | "failed" | "interrupted"      "status_step": int      "message": string or null
 *   "parameters": {"total": int, "encoding": int}
 *   "data": {"train_tokens_max": int, "tokens_seen": int, "map_reach": number, "task_version": int,
 *            "corpus_sha256": string or null}
 *   "selection": {"rule": "last" | "best", "step": int, "fitted": bool, "fit_score": number}
 *   "training": [{"step", "loss", "lr", "grad_norm", "validation_exact", "validation_loss"}, ...]
 *   "evaluation": [{"min_len", "max_len", "ratio", "metric", "mode", "value", "n", "status",
 *                   "flag": string or null}, ...]
 *   "per_position": [{"min_len", "max_len", "ratio", "mode", "loss": [number, ...], "n": [int, ...]}, ...]
 *   "cost": {"train_seconds", "evaluate_seconds", "cpu_seconds", "peak_bytes": int}
 *   "host": {"version", "compiler", "flags", "level", "kernel", "cpu", "host", "cores": int}
 *
 * and, where they were measured (older records have none of them):
 *
 *   "data": {..., "distinct": int}      sequences that training draws, or tokens of text that it reads
 *   "exposure": record_exposure.h       with train.positions
 *   "extension": [{"factor", "method", "task_options": string or null, "steps", "tokens": int, "min_len", "max_len",
 *                  "ratio", "metric", "mode", "value", "n", "status", "flag": string or null,
 *                  "reason": string or null}, ...]      with extend.methods
 *   "probes": record_probes.h           with eval.probe or eval.shuffle
 *
 * "cost" and "host" alone differ between two runs of the same command on one machine. The caller owns the value. */
json_t *record_json(const run_config *c, const run_result *r, const host_facts *h);

/* The bytes of a JSON value as records are written: the order of keys as built, numbers in their shortest exact form
 * with '.' whatever the locale, one line for each row of a table. malloc'ed, NUL-ended; NULL when memory is short. */
char *record_text(const json_t *value, size_t *size);

/* Writes to a temporary file beside `path`, fsyncs it, renames it, fsyncs the folder. On failure (disk full) the old
 * file is intact, the temporary one is gone, and e names the path and the system's reason. */
int record_write(const char *path, const json_t *record, error *e);

/* A name beside `target` that no other writer has: "<target>.tmp.<host>.<number>.<pid>". Machines that share a folder
 * number their processes alike, so the host stands there too, and hosts of one name (containers) are told apart by a
 * number from the clock. The pid stands last: by it folder_clean knows what a dead writer has left. size: PATH_MAX +
 * FILE_TEMPORARY_ROOM. */
enum { FILE_TEMPORARY_ROOM = 80 };
void file_temporary_name(const char *target, char *out, size_t size);

/* What record_write uses; for CSV files and reports too, by a file of file_temporary_name. A symbolic link is written
 * through, not replaced; what is no regular file (a terminal, a pipe, /dev/full) is written to directly. */
int file_write_atomic(const char *path, const void *data, size_t size, error *e);

/* Reads and validates one record: complete JSON, this schema, every section with its type, key = hash of canonical.
 * NULL with e set, which names the path. The caller owns it. */
json_t *record_read(const char *path, error *e);

#endif
