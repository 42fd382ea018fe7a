/* Sweeps of a setting besides the encoding: into which parts figures and tables of a report are divided. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_fixture.h"
#include "report_view.h"
#include "scratch.h"

static scratch parts_room;

static void parts_open(void)
{
    scratch_open(&parts_room);
}

static void parts_close(void)
{
    scratch_close(&parts_room);
}

TestSuite(parts, .init = parts_open, .fini = parts_close);

/* A record of each encoding, by the letters of the alphabet, under each setting. */
static void parts_write(int encodings, const char *const *settings, int count, const char *task)
{
    for (int i = 0; i < encodings; i++)
        for (int s = 0; s < count; s++) {
            char name[] = {(char)('a' + i), '\0'};
            double y = 1 - 0.05 * i - 0.1 * s;
            made_write(parts_room.dir,
                       &(made_run){.encoding = name, .task = task, .settings = settings[s], .score = {1, y, y / 2}},
                       NULL);
        }
}

static void parts_load(report_view *v)
{
    error e = ERROR_INIT;
    cr_assert_eq(view_load(parts_room.dir, v, &e), 0, "%s", e.message);
}

static const char *const parts_widths[] = {"model.width=8", "model.width=16", "model.width=128"};

/* Few encodings: a panel for each setting, in the order of numbers, with one style for each encoding. */
Test(parts, few_encodings_are_lines)
{
    report_view v;
    parts_write(4, parts_widths, 3, NULL);
    parts_load(&v);
    cr_assert(v.encodings == 4 && v.settings == 3 && v.parts == 3 && v.by_setting);
    cr_expect_str_eq(v.part[0], "width=8");
    cr_expect_str_eq(v.part[1], "width=16");
    cr_expect_str_eq(v.part[2], "width=128");
    for (int m = 0; m < v.methods; m++) {
        const view_method *first = &v.method[m % 4], *own = &v.method[m];
        cr_expect_eq(own->part, m / 4);
        cr_expect_eq(strlen(own->line), 1);
        for (int k = 0; k < 4; k++)
            if (strcmp(v.method[k].line, own->line) == 0)
                first = &v.method[k];
        cr_expect(first->style.colour == own->style.colour && first->style.shape == own->style.shape);
    }
    for (int m = 1; m < v.methods; m++) /* ranks know no parts */
        cr_expect(v.method[v.by_rank[m - 1]].rank <= v.method[v.by_rank[m]].rank);
    view_free(&v);
}

/* Many: a panel for each of them, with settings as lines in their order. */
Test(parts, many_encodings_are_panels)
{
    report_view v;
    parts_write(8, parts_widths, 3, NULL);
    parts_load(&v);
    cr_assert(v.parts == 8 && !v.by_setting && v.methods == 24);
    cr_expect_str_eq(v.part[0], "a");
    cr_expect_str_eq(v.part[7], "h");
    for (int m = 0; m < v.methods; m++) {
        static const char *const lines[] = {"width=8", "width=16", "width=128"};
        cr_expect_str_eq(v.method[m].line, lines[m % 3]);
        cr_expect_eq(v.method[m].part, m / 3);
    }
    view_free(&v);
}

/* What fits into one panel, and grids of holes, are left as they are. */
Test(parts, six_lines_are_not_divided)
{
    report_view v;
    parts_write(3, parts_widths, 2, NULL);
    parts_load(&v);
    cr_assert(v.methods == 6 && v.parts == 1 && v.settings == 2);
    cr_expect_str_eq(v.part[0], "");
    for (int m = 0; m < v.methods; m++)
        cr_expect_str_eq(v.method[m].line, v.method[m].label);
    view_free(&v);
}

Test(parts, a_grid_of_holes_is_not_divided)
{
    static const char *const many[] = {"model.width=8",  "model.width=16", "model.width=24",
                                       "model.width=32", "model.width=40", "model.width=48"};
    report_view v;
    parts_write(1, many, 6, NULL);
    for (char name[] = "b"; *name < 'e'; ++*name)
        made_write(parts_room.dir, &(made_run){.encoding = name, .score = {1, 1, 1}}, NULL);
    parts_load(&v);
    cr_assert(v.methods == 9 && v.parts == 1);
    view_free(&v);
}

/* How lengths were drawn says more than the row does, and those with the longest sequences come first. */
Test(parts, lengths_in_words)
{
    static const char *const ratios[] = {"train.lengths=geometric|train.length_ratio=0.5",
                                         "train.lengths=geometric|train.length_ratio=1",
                                         "train.lengths=geometric|train.length_ratio=0.9"};
    report_view v;
    parts_write(3, ratios, 3, NULL);
    parts_load(&v);
    cr_assert_eq(v.parts, 3);
    cr_expect(strstr(v.part[0], "uniform, mean "), "%s", v.part[0]);
    cr_expect(strstr(v.part[1], "geometric 0.9, mean "), "%s", v.part[1]);
    cr_expect(strstr(v.part[2], "geometric 0.5, mean "), "%s", v.part[2]);
    view_free(&v);
}

/* The least data first, and 0, which stands for all that there is, last and in words. */
Test(parts, all_data_is_most)
{
    static const char *const amounts[] = {"train.data=0", "train.data=1024", "train.data=256"};
    report_view v;
    parts_write(3, amounts, 3, NULL);
    parts_load(&v);
    cr_assert_eq(v.parts, 3);
    cr_expect_str_eq(v.part[0], "data=256");
    cr_expect_str_eq(v.part[1], "data=1024");
    cr_expect_str_eq(v.part[2], "all data");
    view_free(&v);
}

static void parts_report(void)
{
    error e = ERROR_INIT;
    gnuplot_or_skip();
    registry *r = registry_new(&e);
    cr_assert_eq(
        report_write(parts_room.dir, r, "plots", REPORT_HTML | REPORT_MD | REPORT_TEX, PLOT_SVG, &e), 0, "%s",
        e.message);
    registry_free(r);
}

static int parts_count(const char *text, const char *what)
{
    int count = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        count++;
    return count;
}

/* Nothing is said of longer sequences where none was tested. */
Test(parts, the_question_is_the_one_that_was_asked)
{
    static const char *const asked[] = {"as long as those it was trained on? ", "longer than any it was trained on? "};
    static const char *const tested[] = {"tested at no more than the training length.", "tested at up to 2× the training length."};
    for (int longer = 0; longer < 2; longer++) {
        made_write(parts_room.dir, &(made_run){.encoding = "a", .score = {1, 0.5, 0.5}, .lengths = 1 + longer}, NULL);
        parts_report();
        char *text = scratch_text(&parts_room, "report.md");
        cr_assert(strstr(text, asked[longer]), "%.300s", text);
        cr_assert(strstr(text, tested[longer]), "%.300s", text);
        free(text);
    }
}

/* The value behind a name at the beginning of a line of a layout: column `at` of its `line`th row of that kind. */
static double parts_layout(const char *layout, const char *kind, int line, int at)
{
    const char *p = layout;
    size_t length = strlen(kind);
    for (; *p; p += strcspn(p, "\n") + 1)
        if (strncmp(p, kind, length) == 0 && p[length] == '\t' && line-- == 0)
            break;
    for (int i = 1; i < at; i++)
        p = strchr(p, '\t') + 1;
    return strtod(p, NULL);
}

/* Panels have one pair of axes, tables one heading for each part, and the words count what was varied. */
Test(parts, figures_and_tables_follow)
{
    parts_write(4, parts_widths, 3, NULL);
    parts_report();
    char *md = scratch_text(&parts_room, "report.md");
    cr_expect(strstr(md, "Here four ways of encoding position, under three settings of what else was varied, met one"));
    cr_expect(strstr(md, "- 4 encodings\n- 3 settings\n"));
    cr_expect(strstr(md, "A panel for each setting, on common axes."));
    cr_expect(strstr(md, "| *width=8* |"), "%s", md);
    cr_expect_eq(parts_count(md, "| *width=16* |"), parts_count(md, "| *width=8* |"));
    cr_expect_geq(parts_count(md, "| *width=16* |"), 3);
    free(md);
    char *html = scratch_text(&parts_room, "report.html");
    cr_expect(strstr(html, "<th scope=\"rowgroup\" class=\"group\" colspan=\""));
    free(html);
    char *tex = scratch_text(&parts_room, "report.tex");
    cr_expect(strstr(tex, "}{l}{\\textit{width=16}} \\\\\n"), "%s", tex);
    free(tex);
    static const char *const names[] = {"plots/extrapolation.layout.tsv", "plots/training.layout.tsv",
                                        "plots/cost.layout.tsv"};
    for (int i = 0; i < 3; i++) {
        char *layout = scratch_text(&parts_room, names[i]);
        for (int k = 6; k <= 9; k++) /* x_low, x_high, y_low, y_high */
            for (int panel = 1; panel < 3; panel++)
                cr_expect_eq(parts_layout(layout, "panel", panel, k), parts_layout(layout, "panel", 0, k), "%s %d",
                             names[i], k);
        cr_expect_eq(parts_count(layout, "\npanel\t"), 3, "%s", names[i]);
        free(layout);
    }
    char *reach = scratch_text(&parts_room, "plots/reach.tsv");
    cr_expect(strstr(reach, "\n\n\nwidth=8\t\\040\tNaN\t15\t"), "%s", reach);
    cr_expect(strstr(reach, "\nwidth=16\t\\040\tNaN\t10\t"));
    cr_expect(strstr(reach, "\nwidth=128\t\\040\tNaN\t5\t"));
    free(reach);
}

/* The heat table is drawn with its headings. */
Test(parts, the_heat_table_is_drawn)
{
    parts_write(4, parts_widths, 3, NULL);
    parts_report();
    char *svg = scratch_text(&parts_room, "plots/reach.svg");
    cr_expect_eq(parts_count(svg, "width=16"), 1);
    cr_expect_eq(parts_count(svg, "repeat_copy"), 1);
    free(svg);
}
