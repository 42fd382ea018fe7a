/* table.h - a table of numbers from a file: one row for each position, as a learned position embedding is. */
#ifndef TABLE_H
#define TABLE_H

#include "error.h"

typedef struct table {
    int rows, cols;
    double *value; /* [rows][cols], malloc'ed */
} table;

/* Room for rows x cols zeros. -1 with ERROR_ENVIRONMENT; `what` is named in the message. */
int table_create(table *t, int rows, int cols, const char *what, error *e);
void table_free(table *t);

/* Is this what table_read takes, "FILE.npy" or "FILE.safetensors:NAME"? */
int table_is_target(const char *target);

/* Reads such a file whole. Besides what the readers refuse, a table without rows or columns and a value that is no
 * finite number are errors; messages begin with the target. */
int table_read(const char *target, table *out, error *e);

#endif
