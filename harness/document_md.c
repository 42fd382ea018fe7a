/* document_md.c - a report as GitHub Markdown, to stand in a README: pictures are linked, tables are plain. */
#include "document.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef struct md_page {
    buffer *out;
    const document *doc;
    int figures, tables; /* numbers given so far */
    int folds;           /* open; tables inside have no number */
    int columns;
} md_page;

/* ------------------------------------------------------------------------------------------------ text */

/* All that begins markup anywhere, and the bar that would end a table's cell. */
static void md_plain(buffer *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '<')
            buffer_add(out, "&lt;");
        else if (text[i] == '>')
            buffer_add(out, "&gt;");
        else if (text[i] == '&')
            buffer_add(out, "&amp;");
        else if (strchr("\\`*_{}[]#|~", text[i]))
            buffer_format(out, "\\%c", text[i]);
        else
            buffer_bytes(out, (unsigned char)text[i] < 0x20 ? " " : &text[i], 1);
    }
}

/* Between backticks everything is literal, except that a cell ends at a bar and code at a backtick: names with either
 * are written as HTML. */
static void md_code(buffer *out, const char *text, size_t length)
{
    int awkward = memchr(text, '`', length) || memchr(text, '|', length) || memchr(text, '\\', length);
    buffer_add(out, awkward ? "<code>" : "`");
    if (awkward)
        md_plain(out, text, length);
    else
        buffer_bytes(out, text, length);
    buffer_add(out, awkward ? "</code>" : "`");
}

static void md_link(buffer *out, const char *address, size_t address_length, const char *text, size_t length)
{
    buffer_add(out, "[");
    md_plain(out, text, length);
    buffer_add(out, "](<");
    buffer_bytes(out, address, address_length);
    buffer_add(out, ">)");
}

static const doc_dialect md_dialect = {
    .plain = md_plain, .code = md_code, .link = md_link, .strong = {"**", "**"}, .muted = {"", ""}};

static void md_text(md_page *p, const char *before, const char *text, const char *behind)
{
    buffer_add(p->out, before);
    doc_inline(p->out, text, &md_dialect);
    buffer_add(p->out, behind);
}

/* ------------------------------------------------------------------------------------------------ tables */

/* GitHub's tables have one heading line: a column's second line stands behind the first. */
static void md_column(md_page *p, int i)
{
    const doc_block *b = &p->doc->block[i];
    md_text(p, p->columns == 0 ? "| " : " ", *b->text ? b->text : " ", "");
    if (*b->extra)
        md_text(p, " (", b->extra, ")");
    buffer_add(p->out, " |");
    p->columns++;
    if (i + 1 < p->doc->count && p->doc->block[i + 1].kind == DOC_COLUMN)
        return;
    buffer_add(p->out, "\n|");
    for (int c = i - p->columns + 1; c <= i; c++)
        buffer_add(p->out, p->doc->block[c].flags & DOC_LEFT ? " :--- |" : " ---: |");
}

static void md_cell(md_page *p, const doc_block *b)
{
    const char *mark = b->flags & (DOC_BEST | DOC_TIED) ? "**" : b->flags & DOC_HOLLOW ? "*" : "";
    buffer_add(p->out, " ");
    if (*b->text)
        md_text(p, mark, b->text, mark);
    if (b->flags & DOC_TIED)
        buffer_add(p->out, " \342\211\210"); /* almost equal */
    if (*b->extra)
        md_text(p, " (", b->extra, ")");
    buffer_add(p->out, " |");
}

/* ------------------------------------------------------------------------------------------------ blocks */

static void md_figure(md_page *p, const doc_block *b)
{
    md_text(p, "![", b->more ? b->more : b->extra, "](plots/");
    buffer_format(p->out, "%s.svg)\n\n**Figure %d.** ", b->extra, ++p->figures);
    md_text(p, "", b->text, "");
    buffer_format(p->out, " ([data](plots/%s.tsv))\n\n", b->extra);
}

static void md_list(md_page *p, int i, const char *text, const char *extra, doc_kind kind)
{
    md_text(p, "- ", text, "");
    if (*extra)
        md_text(p, " ", extra, "");
    buffer_add(p->out, i + 1 < p->doc->count && p->doc->block[i + 1].kind == kind ? "\n" : "\n\n");
}

static void md_table_block(md_page *p, int i)
{
    const doc_block *b = &p->doc->block[i];
    switch (b->kind) {
    case DOC_TABLE:
        p->columns = 0;
        if (p->folds == 0)
            buffer_format(p->out, "**Table %d.** ", ++p->tables);
        md_text(p, "", b->text, "\n\n");
        break;
    case DOC_COLUMN:
        md_column(p, i);
        break;
    case DOC_GROUP:
        md_text(p, "\n| *", b->text, "* |");
        for (int c = 1; c < p->columns; c++)
            buffer_add(p->out, " |");
        break;
    case DOC_ROW:
        buffer_add(p->out, "\n|");
        break;
    case DOC_CELL:
        md_cell(p, b);
        break;
    default:
        buffer_add(p->out, "\n\n");
    }
}

static void md_block(md_page *p, int i)
{
    const doc_block *b = &p->doc->block[i];
    switch (b->kind) {
    case DOC_TITLE:
        md_text(p, "# ", b->text, "\n\n");
        break;
    case DOC_SECTION:
        md_text(p, "## ", b->text, "\n\n");
        break;
    case DOC_SUBSECTION:
        md_text(p, "### ", b->text, "\n\n");
        break;
    case DOC_LEAD:
    case DOC_PARAGRAPH:
    case DOC_NOTE:
        md_text(p, "", b->text, "\n\n");
        break;
    case DOC_WARNING:
        md_text(p, "> **Note.** ", b->text, "\n\n");
        break;
    case DOC_FACT:
        md_list(p, i, b->text, b->extra, DOC_FACT);
        break;
    case DOC_ITEM:
        md_list(p, i, b->text, "", DOC_ITEM);
        break;
    case DOC_FIGURE:
        md_figure(p, b);
        break;
    case DOC_FIGURE_PART: /* the whole figure shows it */
    case DOC_BIBLIOGRAPHY:
        break;
    case DOC_FOLD:
        p->folds++;
        md_text(p, "<details><summary>", b->text, "</summary>\n\n");
        break;
    case DOC_FOLD_END:
        p->folds--;
        buffer_add(p->out, "</details>\n\n");
        break;
    default:
        md_table_block(p, i);
    }
}

void doc_md(const document *d, buffer *out)
{
    md_page p = {.out = out, .doc = d};
    for (int i = 0; i < d->count; i++)
        md_block(&p, i);
}

int doc_write_md(const document *d, const char *dir, error *e)
{
    buffer out = BUFFER_INIT;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/report.md", dir);
    if (d->failed)
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    doc_md(d, &out);
    int status = buffer_save(&out, path, e);
    buffer_free(&out);
    return status;
}
