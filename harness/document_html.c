/* document_html.c - a report as one page without anything outside it: figures, style and script stand in the file. */
#include "document.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "html.h"
#include "svg.h"

enum { PAGE_WORDS = 32 }; /* longer texts in cells are broken into lines */

typedef struct page {
    buffer *out;
    const document *doc;
    const char *dir;
    int figures, tables, sections; /* numbers given so far */
    int folds;                     /* open; tables inside have no number, for most readers never see them */
    int captions;
    int has_body, cell; /* of the table that is open */
    int column_flags[64];
    int columns;
} page;

static int page_next_is(const page *p, int i, doc_kind kind)
{
    return i + 1 < p->doc->count && p->doc->block[i + 1].kind == kind;
}

static int page_last_is(const page *p, int i, doc_kind kind)
{
    return i > 0 && p->doc->block[i - 1].kind == kind;
}

static void page_element(page *p, const char *open, const char *text, const char *close)
{
    buffer_add(p->out, open);
    html_inline(p->out, text);
    buffer_add(p->out, close);
}

/* ------------------------------------------------------------------------------------------------ figures */

/* Ids of two figures on one page must differ. */
static int page_add_svg(page *p, const char *stem)
{
    char path[PATH_MAX + 128], prefix[128];
    buffer svg = BUFFER_INIT;
    error absent = ERROR_INIT;
    snprintf(path, sizeof path, "%s/plots/%s.svg", p->dir, stem);
    snprintf(prefix, sizeof prefix, "%s-", stem);
    int status = svg_read(path, &svg, &absent);
    if (status == 0)
        status = svg_inline(buffer_text(&svg), prefix, p->out);
    buffer_free(&svg);
    return status;
}

static void page_add_files(page *p, const char *stem)
{
    buffer_add(p->out, " <span class=\"files\"><a href=\"plots/");
    html_escape(p->out, stem);
    buffer_add(p->out, ".tsv\">data</a> &middot; <a href=\"plots/");
    html_escape(p->out, stem);
    buffer_add(p->out, ".svg\">svg</a></span>");
}

/* One panel beside the other, as many as the window has room for; a figure of one panel is shown whole. */
static void page_figure(page *p, int i)
{
    const doc_block *b = &p->doc->block[i];
    int parts = 0, drawn = 0;
    while (i + parts + 1 < p->doc->count && p->doc->block[i + parts + 1].kind == DOC_FIGURE_PART)
        parts++;
    buffer_add(p->out, "<figure id=\"figure-");
    html_escape(p->out, b->extra);
    buffer_add(p->out, parts > 1 ? "\">\n<div class=\"panels\">\n" : "\">\n<div class=\"panel\">\n");
    for (int part = 1; part <= parts && parts > 1; part++)
        drawn += page_add_svg(p, p->doc->block[i + part].extra) == 0;
    if (parts <= 1)
        drawn += page_add_svg(p, b->extra) == 0;
    if (drawn == 0)
        buffer_add(p->out,
                   "<p class=\"absent\">Not drawn: gnuplot did not make this figure. Its numbers are in the data file "
                   "below.</p>\n");
    buffer_format(p->out, "</div>\n<figcaption><strong>Figure %d.</strong> ", ++p->figures);
    html_inline(p->out, b->text);
    page_add_files(p, b->extra);
    buffer_add(p->out, "</figcaption>\n</figure>\n");
}

/* ------------------------------------------------------------------------------------------------ tables */

/* The caption stands outside of what scrolls sideways in narrow windows. */
static void page_table(page *p, const doc_block *b)
{
    p->columns = p->has_body = p->cell = 0;
    buffer_format(p->out, "<div class=\"table\"><p class=\"caption\" id=\"table-%d\">", ++p->captions);
    if (p->folds == 0)
        buffer_format(p->out, "<strong>Table %d.</strong> ", ++p->tables);
    html_inline(p->out, b->text);
    buffer_format(p->out, "</p>\n<div class=\"scroll\"><table aria-labelledby=\"table-%d\">\n<thead><tr>", p->captions);
}

/* Names are long and columns narrow: a heading may break behind the signs that join its parts. */
static void page_heading(page *p, const char *text)
{
    for (size_t length; *text; text += length) {
        length = strcspn(text, "_(=/,");
        length += text[length] != '\0';
        char part[256];
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        html_escape(p->out, part);
        if (text[length])
            buffer_add(p->out, "<wbr>");
    }
}

static void page_column(page *p, const doc_block *b)
{
    if (p->columns < 64)
        p->column_flags[p->columns++] = b->flags;
    buffer_add(p->out, b->flags & DOC_LEFT ? "<th scope=\"col\" class=\"left\">" : "<th scope=\"col\">");
    page_heading(p, b->text);
    if (*b->extra)
        page_element(p, "<small>", b->extra, "</small>");
    buffer_add(p->out, "</th>");
}

static void page_row(page *p)
{
    buffer_add(p->out, p->has_body ? "</tr>\n<tr>" : "</tr></thead>\n<tbody>\n<tr>");
    p->has_body = 1;
    p->cell = 0;
}

static void page_group(page *p, const doc_block *b)
{
    page_row(p);
    buffer_format(p->out, "<th scope=\"rowgroup\" class=\"group\" colspan=\"%d\">", p->columns);
    page_element(p, "<span>", b->text, "</span></th>");
}

static void page_cell_class(page *p, const doc_block *b, int left)
{
    static const struct {
        int flag;
        const char *name;
    } classes[] = {{DOC_BEST, "best"}, {DOC_TIED, "tied"}, {DOC_DIM, "dim"}, {DOC_HOLLOW, "hollow"}};
    buffer_add(p->out, left ? " class=\"left" : " class=\"number");
    buffer_add(p->out, left && strlen(b->text) > PAGE_WORDS ? " words" : "");
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (b->flags & classes[i].flag)
            buffer_format(p->out, " %s", classes[i].name);
    buffer_add(p->out, "\"");
    if (!isnan(b->share))
        buffer_format(p->out, " style=\"background:#%06x;color:#%06x\"", palette_ramp(b->share),
                      palette_ramp_text(b->share));
}

static void page_cell(page *p, const doc_block *b)
{
    int left = p->cell < p->columns && p->column_flags[p->cell] & DOC_LEFT;
    const char *element = p->cell == 0 ? "th" : "td";
    p->cell++;
    buffer_format(p->out, "<%s%s", element, *element == 't' && element[1] == 'h' ? " scope=\"row\"" : "");
    page_cell_class(p, b, left);
    buffer_add(p->out, ">");
    if (b->has_style)
        palette_marker_svg(&b->style, p->out);
    html_inline(p->out, b->text);
    if (b->flags & DOC_TIED)
        buffer_add(p->out, "&nbsp;\342\211\210");
    if (*b->extra)
        page_element(p, "<small>", b->extra, "</small>");
    buffer_format(p->out, "</%s>", element);
}

/* ------------------------------------------------------------------------------------------------ blocks */

static void page_title(page *p, const doc_block *b)
{
    page_element(p, "<header>\n<p class=\"eyebrow\">", b->extra, "</p>\n");
    page_element(p, "<h1>", b->text, "</h1>\n");
    buffer_add(p->out, "<button id=\"theme\" type=\"button\" hidden>theme</button>\n</header>\n");
}

static void page_fact(page *p, int i)
{
    const doc_block *b = &p->doc->block[i];
    if (!page_last_is(p, i, DOC_FACT))
        buffer_add(p->out, "<dl class=\"facts\">\n");
    page_element(p, "<div><dd>", b->text, "</dd>");
    page_element(p, "<dt>", b->extra, "</dt></div>\n");
    if (!page_next_is(p, i, DOC_FACT))
        buffer_add(p->out, "</dl>\n");
}

static void page_item(page *p, int i)
{
    if (!page_last_is(p, i, DOC_ITEM))
        buffer_add(p->out, "<ul>\n");
    page_element(p, "<li>", p->doc->block[i].text, "</li>\n");
    if (!page_next_is(p, i, DOC_ITEM))
        buffer_add(p->out, "</ul>\n");
}

static void page_subsection(page *p, const doc_block *b)
{
    page_element(p, "<h3>", b->text, "");
    if (*b->extra)
        page_element(p, " <small>", b->extra, "</small>");
    buffer_add(p->out, "</h3>\n");
}

static void page_block(page *p, int i)
{
    const doc_block *b = &p->doc->block[i];
    switch (b->kind) {
    case DOC_TITLE:
        page_title(p, b);
        break;
    case DOC_LEAD:
        page_element(p, "<p class=\"lead\">", b->text, "</p>\n");
        break;
    case DOC_FACT:
        page_fact(p, i);
        break;
    case DOC_SECTION:
        buffer_format(p->out, "<h2 id=\"section-%d\">", ++p->sections);
        page_element(p, "", b->text, "</h2>\n");
        break;
    case DOC_SUBSECTION:
        page_subsection(p, b);
        break;
    case DOC_PARAGRAPH:
        page_element(p, "<p>", b->text, "</p>\n");
        break;
    case DOC_WARNING:
        page_element(p, "<p class=\"warning\" role=\"note\">", b->text, "</p>\n");
        break;
    case DOC_NOTE:
        page_element(p, "<p class=\"note\">", b->text, "</p>\n");
        break;
    case DOC_ITEM:
        page_item(p, i);
        break;
    case DOC_FIGURE:
        page_figure(p, i);
        break;
    case DOC_FIGURE_PART: /* shown by its figure */
    case DOC_BIBLIOGRAPHY:
        break;
    case DOC_TABLE:
        page_table(p, b);
        break;
    case DOC_COLUMN:
        page_column(p, b);
        break;
    case DOC_GROUP:
        page_group(p, b);
        break;
    case DOC_ROW:
        page_row(p);
        break;
    case DOC_CELL:
        page_cell(p, b);
        break;
    case DOC_TABLE_END:
        buffer_add(p->out,
                   p->has_body ? "</tr>\n</tbody></table></div></div>\n" : "</tr></thead></table></div></div>\n");
        break;
    case DOC_FOLD:
        p->folds++;
        page_element(p, "<details><summary>", b->text, "</summary>\n");
        break;
    case DOC_FOLD_END:
        p->folds--;
        buffer_add(p->out, "</details>\n");
        break;
    }
}

/* ------------------------------------------------------------------------------------------------ the page */

static const char *const page_role_names[] = {"ink", "muted", "grid", "shade", "page"};

static void page_add_variables(buffer *out, const char *selector, int dark)
{
    buffer_format(out, "%s{color-scheme:%s;", selector, dark ? "dark" : "light");
    for (int i = 0; i < PALETTE_COLOURS; i++)
        buffer_format(out, "--m%d:#%06x;", i, palette_rgb(i, dark));
    for (int i = PALETTE_COLOURS; i < PALETTE_ALL; i++)
        buffer_format(out, "--%s:#%06x;", page_role_names[i - PALETTE_COLOURS], palette_rgb(i, dark));
    buffer_add(out, "}\n");
}

/* The viewer's system decides, unless the page's button has set data-theme. */
static int page_add_style(buffer *out, const char *plots_dir, error *e)
{
    char path[PATH_MAX];
    page_add_variables(out, ":root", 0);
    buffer_add(out, "@media (prefers-color-scheme:dark){\n");
    page_add_variables(out, ":root:not([data-theme=light])", 1);
    palette_dark_css(":root:not([data-theme=light]) ", out);
    buffer_add(out, "}\n");
    page_add_variables(out, ":root[data-theme=dark]", 1);
    palette_dark_css(":root[data-theme=dark] ", out);
    snprintf(path, sizeof path, "%s/report.css", plots_dir);
    return svg_read(path, out, e);
}

static int page_add_script(buffer *out, const char *plots_dir, error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/report.js", plots_dir);
    buffer_add(out, "<script>\n");
    int status = svg_read(path, out, e);
    buffer_add(out, "</script>\n");
    return status;
}

static void page_add_head_title(buffer *out, const document *d)
{
    for (int i = 0; i < d->count; i++) {
        if (d->block[i].kind != DOC_TITLE)
            continue;
        buffer_add(out, "<title>");
        html_escape(out, d->block[i].text);
        buffer_add(out, "</title>\n");
        return;
    }
}

int doc_write_html(const document *d, const char *dir, const char *plots_dir, error *e)
{
    buffer out = BUFFER_INIT;
    page p = {.out = &out, .doc = d, .dir = dir};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/report.html", dir);
    if (d->failed)
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    buffer_add(&out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page_add_head_title(&out, d);
    buffer_add(&out, "<style>\n");
    int status = page_add_style(&out, plots_dir, e);
    buffer_add(&out, "</style>\n</head>\n<body>\n<main>\n");
    for (int i = 0; i < d->count; i++)
        page_block(&p, i);
    buffer_add(&out, "</main>\n");
    if (status == 0)
        status = page_add_script(&out, plots_dir, e);
    buffer_add(&out, "</body>\n</html>\n");
    if (status == 0)
        status = buffer_save(&out, path, e);
    buffer_free(&out);
    return status;
}
