/* sheet.h - everything that is known of one encoding, position map or task, from its descriptor alone.
 *
 * What there is to tell is decided once; how it looks is a writer's: text for a terminal, Markdown for encodings/README.md.
 * So what one of them shows the other has.
 */
#ifndef SHEET_H
#define SHEET_H

#include <stdio.h>

#include "registry.h"
#include "task.h"

typedef struct sheet_writer {
    /* kind: "encoding", "position map" or "task", and what that means here. */
    void (*head)(FILE *to, const char *name, const char *title, const char *kind, const char *kind_words);
    void (*prose)(FILE *to, const char *label, const char *text); /* nothing for NULL or "" */
    void (*code)(FILE *to, const char *label, const char *text);
    void (*under)(FILE *to, const char *options, const char *text); /* of the row before: other under these options */
    void (*options)(FILE *to, const pe_option *rows);               /* NULL: there are none */
    void (*examples)(FILE *to, const char *name, const char *const *examples); /* NULL-ended; NULL: none */
} sheet_writer;

extern const sheet_writer sheet_text, sheet_markdown;

void sheet_encoding(const sheet_writer *w, FILE *to, const registry *r, const pe_descriptor *d);
void sheet_map(const sheet_writer *w, FILE *to, const registry *r, const pe_map *m);
void sheet_task(const sheet_writer *w, FILE *to, const task_descriptor *t);

/* All encodings by family and all maps, as Markdown: a table of contents, then a sheet for each. */
void sheet_registry(FILE *to, const registry *r);

#endif
