/* document_tex.c - a report as LaTeX (booktabs): a document of its own, whose tables and figures can be taken out. What
 * pages fold away (single seeds, all settings) and the row of facts are left out: a paper has no place for them. */
#include "document.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct tex_page {
    buffer *out;
    const document *doc;
    const char *dir;
    int cell;
    int columns; /* of the table that is open */
    int folds;   /* open */
} tex_page;

/* ------------------------------------------------------------------------------------------------ text */

/* Characters of our own texts that pdflatex does not know; bytes of other characters pass as they are (UTF-8). */
static const struct {
    const char *from, *to;
} tex_replacements[] = {
    {"\\", "\\textbackslash{}"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"$", "\\$"},
    {"&", "\\&"},
    {"#", "\\#"},
    {"_", "\\_"},
    {"%", "\\%"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"<", "$<$"},
    {">", "$>$"},
    {"|", "$|$"},
    {"\"", "\\textquotedbl{}"},
    {"'", "\\textquotesingle{}"},
    {"\303\227", "$\\times$"},
    {"\302\261", "$\\pm$"},
    {"\342\211\245", "$\\ge$"},
    {"\342\211\244", "$\\le$"},
    {"\342\211\210", "$\\approx$"},
    {"\342\200\223", "--"},
    {"\342\200\224", "---"},
    {"\302\267", "$\\cdot$"},
    {"\342\200\246", "\\ldots{}"},
    {"\342\200\257", "\\,"},
    {"\342\210\222", "$-$"},
    {"\342\200\234", "``"},
    {"\342\200\235", "''"},
    {"\342\200\231", "'"},
    {"\317\207", "$\\chi$"},
    {"\302\262", "$^2$"},
    {"\305\241", "\\v{s}"},
};
enum { TEX_REPLACEMENTS = sizeof tex_replacements / sizeof tex_replacements[0] };

static void tex_plain(buffer *out, const char *text, size_t length)
{
    for (size_t at = 0, step; at < length; at += step) {
        const char *to = NULL;
        step = 1;
        for (int i = 0; i < TEX_REPLACEMENTS && !to; i++) {
            size_t size = strlen(tex_replacements[i].from);
            if (size <= length - at && memcmp(text + at, tex_replacements[i].from, size) == 0) {
                to = tex_replacements[i].to;
                step = size;
            }
        }
        if (to)
            buffer_add(out, to);
        else
            buffer_bytes(out, (unsigned char)text[at] < 0x20 ? " " : &text[at], 1);
    }
}

static void tex_code(buffer *out, const char *text, size_t length)
{
    buffer_add(out, "\\texttt{");
    tex_plain(out, text, length);
    buffer_add(out, "}");
}

static void tex_link(buffer *out, const char *address, size_t address_length, const char *text, size_t length)
{
    buffer_add(out, "\\href{");
    for (size_t i = 0; i < address_length; i++) {
        if (strchr("%#\\{}", address[i]))
            buffer_add(out, "\\");
        buffer_bytes(out, &address[i], 1);
    }
    buffer_add(out, "}{");
    tex_plain(out, text, length);
    buffer_add(out, "}");
}

/* Keys are letters, digits and hyphens: they pass as they are. */
static void tex_cite(buffer *out, const char *keys, size_t length)
{
    buffer_add(out, "~\\cite{");
    buffer_bytes(out, keys, length);
    buffer_add(out, "}");
}

static const doc_dialect tex_dialect = {.plain = tex_plain,
                                        .code = tex_code,
                                        .link = tex_link,
                                        .strong = {"\\textbf{", "}"},
                                        .muted = {"", ""},
                                        .cite = tex_cite};

static void tex_text(tex_page *p, const char *before, const char *text, const char *behind)
{
    buffer_add(p->out, before);
    doc_inline(p->out, text, &tex_dialect);
    buffer_add(p->out, behind);
}

/* ------------------------------------------------------------------------------------------------ tables */

/* A tabular's columns must be known at its beginning: they are the blocks that follow. */
static void tex_table(tex_page *p, int i)
{
    buffer_add(p->out, "\\begin{table}[!htbp]\n\\centering\\small\n");
    tex_text(p, "\\caption{", p->doc->block[i].text, "}\n");
    buffer_add(p->out, "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n\\begin{tabular}{");
    for (i++; i < p->doc->count && p->doc->block[i].kind == DOC_COLUMN; i++)
        buffer_add(p->out, p->doc->block[i].flags & DOC_LEFT ? "l" : "r");
    buffer_add(p->out, "}\n\\toprule\n");
    p->cell = 0;
}

/* Small print below a text, in a column no wider than the wider of the two. */
static void tex_stack(tex_page *p, const char *before, const char *text, const char *behind, const char *small)
{
    buffer_add(p->out, *small ? "\\begin{tabular}[t]{@{}r@{}}" : "");
    tex_text(p, before, text, behind);
    if (*small)
        tex_text(p, "\\\\[-2pt]{\\scriptsize ", small, "}\\end{tabular}");
}

static void tex_column(tex_page *p, int i)
{
    const doc_block *b = &p->doc->block[i];
    buffer_add(p->out, p->cell++ ? " & " : "");
    tex_stack(p, "", b->text, "", b->extra);
    if (i + 1 >= p->doc->count || p->doc->block[i + 1].kind != DOC_COLUMN) {
        p->columns = p->cell;
        buffer_add(p->out, " \\\\\n\\midrule\n");
    }
}

static void tex_cell(tex_page *p, const doc_block *b)
{
    const char *open = b->flags & (DOC_BEST | DOC_TIED) ? "\\textbf{" : b->flags & DOC_HOLLOW ? "\\textit{" : "{";
    buffer_add(p->out, p->cell++ ? " & " : "");
    tex_stack(p, open, b->text, b->flags & DOC_TIED ? "}\\,$\\approx$" : "}", b->extra);
}

/* Ends the row before this block, if there is one. */
static void tex_row(tex_page *p, int i)
{
    doc_kind before = p->doc->block[i - 1].kind;
    buffer_add(p->out, before == DOC_CELL || before == DOC_GROUP ? " \\\\\n" : "");
    p->cell = 0;
}

static void tex_table_block(tex_page *p, int i)
{
    const doc_block *b = &p->doc->block[i];
    switch (b->kind) {
    case DOC_TABLE:
        tex_table(p, i);
        break;
    case DOC_COLUMN:
        tex_column(p, i);
        break;
    case DOC_GROUP:
        tex_row(p, i);
        buffer_format(p->out, "\\multicolumn{%d}{l}{", p->columns);
        tex_text(p, "\\textit{", b->text, "}}");
        break;
    case DOC_ROW:
        tex_row(p, i);
        break;
    case DOC_CELL:
        tex_cell(p, b);
        break;
    default:
        buffer_add(p->out, " \\\\\n\\bottomrule\n\\end{tabular}}\n\\end{table}\n\n");
    }
}

/* ------------------------------------------------------------------------------------------------ blocks */

/* Including a picture that is not there would stop LaTeX. */
static void tex_figure(tex_page *p, const doc_block *b)
{
    char path[PATH_MAX + 128];
    snprintf(path, sizeof path, "%s/plots/%s.pdf", p->dir, b->extra);
    buffer_add(p->out, "\\begin{figure}[!htbp]\n\\centering\n");
    if (access(path, R_OK) == 0)
        buffer_format(p->out, "\\includegraphics[width=\\linewidth]{plots/%s.pdf}\n", b->extra);
    else
        buffer_format(p->out, "\\fbox{Not drawn: its numbers are in plots/%s.tsv}\n", b->extra);
    tex_text(p, "\\caption{", b->text, "}\n\\end{figure}\n\n");
}

static void tex_item(tex_page *p, int i)
{
    const doc_block *b = &p->doc->block[i];
    if (i == 0 || b[-1].kind != DOC_ITEM)
        buffer_add(p->out, "\\begin{itemize}\n");
    tex_text(p, "\\item ", b->text, "\n");
    if (i + 1 == p->doc->count || b[1].kind != DOC_ITEM)
        buffer_add(p->out, "\\end{itemize}\n\n");
}

static void tex_block(tex_page *p, int i)
{
    const doc_block *b = &p->doc->block[i];
    p->folds += (b->kind == DOC_FOLD) - (b->kind == DOC_FOLD_END);
    if (p->folds > 0)
        return;
    switch (b->kind) {
    case DOC_TITLE:
        tex_text(p, "\\title{", b->text, "}\n\\author{}\n\\date{}\n\\begin{document}\n\\maketitle\n\n");
        break;
    case DOC_SECTION:
        tex_text(p, "\\section{", b->text, "}\n\n");
        break;
    case DOC_SUBSECTION:
        tex_text(p, "\\subsection{", b->text, "}\n\n");
        break;
    case DOC_LEAD:
    case DOC_PARAGRAPH:
        tex_text(p, "", b->text, "\n\n");
        break;
    case DOC_NOTE:
        tex_text(p, "{\\small ", b->text, "\\par}\n\n");
        break;
    case DOC_WARNING:
        tex_text(p, "\\textbf{Note.} ", b->text, "\n\n");
        break;
    case DOC_ITEM:
        tex_item(p, i);
        break;
    case DOC_FIGURE:
        tex_figure(p, b);
        break;
    case DOC_BIBLIOGRAPHY:
        buffer_add(p->out, "\\bibliographystyle{plain}\n\\bibliography{sources}\n\n");
        break;
    case DOC_FACT:
    case DOC_FIGURE_PART:
    case DOC_FOLD:
    case DOC_FOLD_END:
        break;
    default:
        tex_table_block(p, i);
    }
}

int doc_write_tex(const document *d, const char *dir, error *e)
{
    static const char preamble[] =
        "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage[utf8]{inputenc}\n\\usepackage{textcomp}\n"
        "\\IfFileExists{lmodern.sty}{\\usepackage{lmodern}}{}\n" /* outlines where T1 has bitmaps only */
        "\\usepackage[margin=2.5cm]{geometry}\n\\usepackage{booktabs}\n\\usepackage{graphicx}\n\\usepackage{hyperref}"
        "\n\\setlength{\\belowcaptionskip}{4pt} %% captions stand above tables\n\n";
    buffer out = BUFFER_INIT;
    tex_page p = {.out = &out, .doc = d, .dir = dir};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/report.tex", dir);
    if (d->failed)
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", path);
    buffer_add(&out, preamble);
    for (int i = 0; i < d->count; i++)
        tex_block(&p, i);
    buffer_add(&out, "\\end{document}\n");
    int status = buffer_save(&out, path, e);
    buffer_free(&out);
    return status;
}
