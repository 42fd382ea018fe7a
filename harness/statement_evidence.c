/* statement_evidence.c - records of several folders, found by their runs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer.h"
#include "statement.h"

int statement_evidence_load(const char *const *dirs, int count, statement_evidence *out, error *e)
{
    *out = (statement_evidence){.folder = calloc((size_t)count + 1, sizeof *out->folder)};
    if (!out->folder)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    buffer faults = BUFFER_INIT;
    for (int i = 0; i < count; i++) {
        char runs[8192];
        error fault = ERROR_INIT;
        snprintf(runs, sizeof runs, "%s/runs", dirs[i]);
        if (access(runs, F_OK) < 0 && errno == ENOENT)
            continue;
        if (results_load(dirs[i], &out->folder[out->count], &fault) < 0 && out->folder[out->count].count)
            buffer_format(&faults, "%s%s", faults.length ? "\n" : "", fault.message);
        if (out->folder[out->count].count)
            out->count++;
        else /* an empty runs/ is what a sweep that has just begun leaves */
            results_free(&out->folder[out->count]);
    }
    int status = faults.length ? error_set(e, ERROR_ENVIRONMENT, "%s", buffer_text(&faults)) : 0;
    buffer_free(&faults);
    return status;
}

void statement_evidence_free(statement_evidence *v)
{
    for (int i = 0; i < v->count; i++)
        results_free(&v->folder[i]);
    free(v->folder);
    *v = (statement_evidence){0};
}

const run_record *statement_record(const statement_evidence *v, const run_config *c)
{
    char key[CONFIG_KEY_SIZE];
    config_key(c, key);
    for (int f = 0; f < v->count; f++)
        for (int i = 0; i < v->folder[f].count; i++)
            if (strcmp(v->folder[f].run[i].key, key) == 0 && strcmp(v->folder[f].run[i].status, "interrupted") != 0)
                return &v->folder[f].run[i];
    return NULL;
}
