/* document.h - a report before it has a format: headings, paragraphs, tables and figures in a row, for three writers.
 *
 * Texts are UTF-8 and may hold the marks below; everything else in them is shown literally, so names of users need no care
 * but doc_name's.
 */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include "buffer.h"
#include "error.h"
#include "palette.h"

/* Marks inside a text: DOC_CODE "name" DOC_END. A link: DOC_LINK "runs.csv" DOC_TO "every value" DOC_END. Code and links hold
 * plain text only; the others may hold them. */
#define DOC_CODE "\001"
#define DOC_STRONG "\002"
#define DOC_MUTED "\003"
#define DOC_LINK "\004"
#define DOC_TO "\005"
#define DOC_END "\006"
#define DOC_CITE "\007" /* DOC_CITE "key,key" DOC_END: works in sources.bib, beside the report */

typedef enum doc_kind {
    DOC_TITLE,         /* text: the report's title, extra: what stands above it */
    DOC_LEAD,          /* text: the opening paragraph */
    DOC_FACT,          /* text: a number, extra: what it counts */
    DOC_SECTION,       /* text */
    DOC_SUBSECTION,    /* text, extra: a plain remark beside it */
    DOC_PARAGRAPH,
    DOC_WARNING,       /* a paragraph that must not be missed */
    DOC_NOTE,          /* small print below a table or figure */
    DOC_ITEM,          /* of a list */
    DOC_FIGURE,        /* text: caption, extra: the files' stem, more: description for readers who cannot see it */
    DOC_FIGURE_PART,   /* extra: stem of one panel of the figure above; a page shows the parts instead of the whole */
    DOC_TABLE,         /* text: caption */
    DOC_COLUMN,        /* text: heading, extra: a second line of it */
    DOC_GROUP,         /* text: heading of the rows that follow, as wide as the table */
    DOC_ROW,
    DOC_CELL,          /* text, extra: small text below or behind it */
    DOC_TABLE_END,
    DOC_BIBLIOGRAPHY,  /* where a format has one: the works that were cited, from sources.bib */
    DOC_FOLD,          /* text: what is inside; closed at first where the format can */
    DOC_FOLD_END
} doc_kind;

enum {                 /* flags */
    DOC_BEST = 1,      /* cell: the best of its column */
    DOC_TIED = 2,      /* cell: not separable from the best */
    DOC_DIM = 4,       /* cell: no value, or a reference */
    DOC_LEFT = 8,      /* column: text, not numbers */
    DOC_HOLLOW = 16    /* cell: a value that a map gave its meaning */
};

typedef struct doc_block {
    doc_kind kind;
    char *text, *extra, *more;
    int flags;
    double share;          /* cell: 0 .. 1 colours it; NAN: not */
    int has_style;
    palette_style style;   /* cell: the method's point before the text */
} doc_block;

typedef struct document {
    int count, room;
    doc_block *block;
    int failed;            /* memory was short; the writers report it */
    doc_block spare;       /* what doc_add returns then */
} document;

/* Appends a block; NULL texts are empty. The block is returned for what only some have (never NULL: a spare one when memory
 * is short). */
doc_block *doc_add(document *d, doc_kind kind, const char *text, const char *extra);

/* The same with a buffer's text, which is emptied. */
doc_block *doc_add_buffer(document *d, doc_kind kind, buffer *text, const char *extra);

/* A name from outside inside a text, as code: its control characters could be taken for marks. */
void doc_name(buffer *text, const char *name);

/* The same without the marks of code, for messages. */
void doc_plain(buffer *text, const char *words);

/* A citation of keys, "a,b", behind what has been written; nothing for none. */
void doc_cite(buffer *text, const char *keys);

void doc_free(document *d);

/* How one format writes a text. */
typedef struct doc_dialect {
    void (*plain)(buffer *out, const char *text, size_t length);  /* escapes */
    void (*code)(buffer *out, const char *text, size_t length);
    void (*link)(buffer *out, const char *address, size_t address_length, const char *text, size_t length);
    const char *strong[2], *muted[2];                             /* before and behind */
    void (*cite)(buffer *out, const char *keys, size_t length);   /* NULL: "[keys]", a link to sources.bib */
} doc_dialect;
void doc_inline(buffer *out, const char *text, const doc_dialect *dialect);

/* ------------------------------------------------------------------------------------------------ writers */

/* One file each, whole or not at all. `dir` is the results folder: figures lie in dir/plots; `plots_dir` holds report.css and
 * report.js. A figure that was not drawn is replaced by a sentence that says where its data are. */
int doc_write_html(const document *d, const char *dir, const char *plots_dir, error *e);
int doc_write_md(const document *d, const char *dir, error *e);
int doc_write_tex(const document *d, const char *dir, error *e);

/* The text of report.md. */
void doc_md(const document *d, buffer *out);

#endif
