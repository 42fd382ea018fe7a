/* report_sources.h - where the things that were run come from: encodings, position maps and tasks of a view's records.
 */
#ifndef REPORT_SOURCES_H
#define REPORT_SOURCES_H

#include "buffer.h"
#include "registry.h"
#include "report_view.h"

enum { REPORT_SOURCES_MAX = 256, REPORT_KEYS_MAX = 256 };

typedef struct report_source {
    char name[64];
    const char *kind;           /* "encoding", "position map", "task" */
    const char *words;          /* its source in words; NULL: this program does not know the thing */
    char keys[REPORT_KEYS_MAX]; /* of its entries in sources.bib, "a,b"; empty without words */
} report_source;

typedef struct report_sources {
    int count;
    report_source item[REPORT_SOURCES_MAX];
    buffer bib; /* the text of sources.bib: every entry once */
} report_sources;

/* Encodings and maps in the order of the methods, then tasks. What a plug-in brought is known only if it was loaded
 * into r. Free bib with buffer_free. */
void report_sources_find(const report_view *v, const registry *r, report_sources *out);

/* Writes dir/sources.bib, whole or not at all. */
int report_sources_save(const report_sources *s, const char *dir, error *e);

/* The keys of one thing; "" when there are none. */
const char *report_sources_keys(const report_sources *s, const char *kind, const char *name);

#endif
