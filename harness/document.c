#include "document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

doc_block *doc_add(document *d, doc_kind kind, const char *text, const char *extra)
{
    if (d->count == d->room) {
        int room = d->room ? 2 * d->room : 64;
        doc_block *grown = realloc(d->block, (size_t)room * sizeof *grown);
        if (!grown) {
            d->failed = 1;
            d->spare = (doc_block){.kind = kind};
            return &d->spare;
        }
        d->block = grown;
        d->room = room;
    }
    doc_block *b = &d->block[d->count++];
    *b = (doc_block){.kind = kind, .text = strdup(text ? text : ""), .extra = strdup(extra ? extra : ""), .share = NAN};
    d->failed |= !b->text || !b->extra;
    return b;
}

doc_block *doc_add_buffer(document *d, doc_kind kind, buffer *text, const char *extra)
{
    d->failed |= text->failed;
    doc_block *b = doc_add(d, kind, buffer_text(text), extra);
    buffer_free(text);
    return b;
}

void doc_plain(buffer *text, const char *words)
{
    for (; *words; words++)
        buffer_bytes(text, (unsigned char)*words < 0x20 || *words == 0x7f ? " " : words, 1);
}

void doc_name(buffer *text, const char *name)
{
    buffer_add(text, DOC_CODE);
    doc_plain(text, name);
    buffer_add(text, DOC_END);
}

void doc_cite(buffer *text, const char *keys)
{
    if (!*keys)
        return;
    buffer_add(text, DOC_CITE);
    doc_plain(text, keys);
    buffer_add(text, DOC_END);
}

static void doc_flat_cite(buffer *out, const char *keys, size_t length, const doc_dialect *dialect)
{
    static const char bibliography[] = "sources.bib";
    if (dialect->cite) {
        dialect->cite(out, keys, length);
        return;
    }
    dialect->plain(out, " [", 2);
    dialect->link(out, bibliography, sizeof bibliography - 1, keys, length);
    dialect->plain(out, "]", 1);
}

/* Writes a mark's flat contents (code, link, citation) and returns what stands behind its end. */
static const char *doc_flat(buffer *out, const char *text, const doc_dialect *dialect)
{
    const char *body = text + 1;
    size_t length = strcspn(body, DOC_END);
    if (*text == DOC_CODE[0]) {
        dialect->code(out, body, length);
    } else if (*text == DOC_CITE[0]) {
        doc_flat_cite(out, body, length, dialect);
    } else {
        size_t address = strcspn(body, DOC_TO DOC_END);
        size_t begin = address < length ? address + 1 : length;
        dialect->link(out, body, address, body + begin, length - begin);
    }
    return body + length + (body[length] != '\0');
}

void doc_inline(buffer *out, const char *text, const doc_dialect *dialect)
{
    const char *const *open = NULL; /* strong and muted do not nest in each other */
    while (*text) {
        size_t length = strcspn(text, DOC_CODE DOC_STRONG DOC_MUTED DOC_LINK DOC_TO DOC_END DOC_CITE);
        dialect->plain(out, text, length);
        text += length;
        if (*text == DOC_CODE[0] || *text == DOC_LINK[0] || *text == DOC_CITE[0]) {
            text = doc_flat(out, text, dialect);
            continue;
        }
        if (open && (*text == DOC_END[0] || *text == '\0')) {
            buffer_add(out, open[1]);
            open = NULL;
        } else if (*text == DOC_STRONG[0] || *text == DOC_MUTED[0]) {
            open = *text == DOC_STRONG[0] ? dialect->strong : dialect->muted;
            buffer_add(out, open[0]);
        }
        text += *text != '\0';
    }
}

void doc_free(document *d)
{
    for (int i = 0; i < d->count; i++) {
        free(d->block[i].text);
        free(d->block[i].extra);
        free(d->block[i].more);
    }
    free(d->block);
    *d = (document){0};
}
