/* The page model's writers: every name survives every format. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "html.h"
#include "scratch.h"

static scratch room;

static void document_setup(void)
{
    scratch_open(&room);
}

static void document_teardown(void)
{
    scratch_close(&room);
}

TestSuite(document, .init = document_setup, .fini = document_teardown);

/* A document of one paragraph and one cell that hold everything that means something somewhere. */
static void awkward_document(document *d)
{
    buffer text = BUFFER_INIT;
    doc_name(&text, "t5_rel|x`\001y");
    buffer_add(&text, " & <b> 100% #1 $x$ a_b^2{c} ~ \\ ");
    buffer_add(&text, DOC_STRONG "strong" DOC_END " " DOC_LINK "a%20b.csv" DOC_TO "a_b.csv" DOC_END);
    *d = (document){0};
    doc_add(d, DOC_TITLE, "T", "above");
    doc_add(d, DOC_PARAGRAPH, buffer_text(&text), NULL);
    doc_add(d, DOC_TABLE, "caption", NULL);
    doc_add(d, DOC_COLUMN, "a|b", "1_2")->flags = DOC_LEFT;
    doc_add(d, DOC_COLUMN, "c", NULL);
    doc_add(d, DOC_ROW, NULL, NULL);
    doc_add(d, DOC_CELL, "x_y", NULL);
    doc_add(d, DOC_CELL, "0.5", "0.4")->flags = DOC_BEST;
    doc_add(d, DOC_TABLE_END, NULL, NULL);
    buffer_free(&text);
}

Test(document, html_escapes)
{
    document d;
    error e = ERROR_INIT;
    awkward_document(&d);
    cr_assert_eq(doc_write_html(&d, room.dir, "plots", &e), 0, "%s", e.message);
    char *page = scratch_text(&room, "report.html");
    cr_assert(strstr(page, "<code>t5_rel|x` y</code> &amp; &lt;b&gt; 100% #1 $x$ a_b^2{c} ~ \\ <strong>strong</strong> "
                           "<a href=\"a%20b.csv\">a_b.csv</a>"));
    cr_assert(strstr(page, "class=\"number best\">0.5<small>0.4</small>"));
    doc_free(&d);
    free(page);
}

Test(document, markdown_escapes)
{
    document d;
    error e = ERROR_INIT;
    awkward_document(&d);
    cr_assert_eq(doc_write_md(&d, room.dir, &e), 0, "%s", e.message);
    char *page = scratch_text(&room, "report.md");
    cr_assert(strstr(page,
                     "<code>t5\\_rel\\|x\\` y</code> &amp; &lt;b&gt; 100% \\#1 $x$ a\\_b^2\\{c\\} \\~ \\\\ **strong** "
                     "[a\\_b.csv](<a%20b.csv>)"),
              "%s", page);
    cr_assert(strstr(page, "| a\\|b (1\\_2) | c |\n| :--- | ---: |\n| x\\_y | **0.5** (0.4) |"), "%s", page);
    doc_free(&d);
    free(page);
}

Test(document, latex_escapes)
{
    document d;
    error e = ERROR_INIT;
    awkward_document(&d);
    cr_assert_eq(doc_write_tex(&d, room.dir, &e), 0, "%s", e.message);
    char *page = scratch_text(&room, "report.tex");
    cr_assert(strstr(page, "\\texttt{t5\\_rel$|$x` y} \\& $<$b$>$ 100\\% \\#1 \\$x\\$ a\\_b\\textasciicircum{}2\\{c\\} "
                           "\\textasciitilde{} \\textbackslash{} \\textbf{strong} \\href{a\\%20b.csv}{a\\_b.csv}"),
              "%s", page);
    cr_assert(strstr(page, "\\toprule") && strstr(page, "\\textbf{0.5}") && strstr(page, "\\end{document}"));
    doc_free(&d);
    free(page);
}
