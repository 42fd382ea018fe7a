/* works.h - the works that claims cite by key: entries of a BibTeX file beside the claims, then those of the program's
 * own encodings, position maps and tasks. Where two entries have one key, the first is meant.
 */
#ifndef WORKS_H
#define WORKS_H

#include "bibtex.h"
#include "buffer.h"
#include "error.h"
#include "registry.h"

typedef struct works {
    int count;
    bibtex_entry *entry; /* [count]; their values lie in `text`, in descriptors of the registry and in tasks */
    char *text;          /* the file's; NULL: there is none */
} works;

/* path: the BibTeX file; one that is not there is no error. What it holds is as in bibtex.h, a key once in it:
 * otherwise -1 with e set to file, line and fault. Entries of a plug-in that cannot be read are left out. r must live
 * as long as what is read. Free with works_free in either case. */
int works_load(const char *path, const registry *r, works *out, error *e);
void works_free(works *w);

/* NULL: no such key. */
const bibtex_entry *works_find(const works *w, const char *key);

/* The key that was meant; NULL: none is near. */
const char *works_near(const works *w, const char *key);

/* Writes the entries of keys, "a,b", that stand in w and not in out yet. */
void works_print(const works *w, const char *keys, buffer *out);

#endif
