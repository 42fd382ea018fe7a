/* scratch.h - a folder of its own for a test, and a foreign locale. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <limits.h>
#include <stddef.h>

typedef struct scratch {
    char dir[PATH_MAX];
} scratch;

/* Each asserts that it works. scratch_close removes the folder and what is in it. */
void scratch_open(scratch *s);
void scratch_close(scratch *s);

/* dir/name into path. */
char *scratch_path(const scratch *s, const char *name, char path[PATH_MAX]);
/* Writes a whole file; returns its path in `path`. */
char *scratch_write(const scratch *s, const char *name, const void *data, size_t size, char path[PATH_MAX]);
/* Reads a whole file, NUL-ended. The caller frees it. */
char *scratch_read(const char *path, size_t *size);
/* The same, of dir/name. */
char *scratch_text(const scratch *s, const char *name);
/* Names in the folder that hold `part`. */
int scratch_count(const scratch *s, const char *part);

/* Switches to a locale whose decimal point is a comma, compiling it below the scratch folder where the system has none.
 * Returns 0 when that cannot be done here: the test should then be skipped, in sight. */
int scratch_comma_locale(const scratch *s);

#endif
