/* Pictures that gnuplot makes, or cannot make. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "figure.h"
#include "one_curve.h"
#include "report.h"
#include "report_fixture.h"
#include "scratch.h"
#include "svg.h"

static scratch room;

static void drawing_setup(void)
{
    scratch_open(&room);
}

static void drawing_teardown(void)
{
    scratch_close(&room);
}

TestSuite(drawing, .init = drawing_setup, .fini = drawing_teardown);

static void small_figure(const char *name, const char *title, const char *label)
{
    error e = ERROR_INIT;
    figure f = {.name = name,
                .title = title,
                .columns = 1,
                .panel_width = 400,
                .panel_height = 300,
                .panels = 1,
                .panel = calloc(1, sizeof *f.panel)};
    f.panel->title = strdup(title);
    f.panel->subtitle = strdup("below");
    f.panel->x_title = "x";
    f.panel->train_x = NAN;
    figure_curve *c = one_curve(f.panel, (double[]){0.2, NAN, 0.7}, 3);
    free(c->label);
    c->label = strdup(label);
    c->point[2].hollow = 1;
    figure_fit(f.panel, 0, 1);
    cr_assert_eq(figure_write(&f, room.dir, &e), 0, "%s", e.message);
    figure_free(&f);
}

static int draw(const char *name, int formats, error *e)
{
    return figure_draw("plots", "curves.gp", room.dir, name, "Title <&>", formats, e);
}

static char *drawn(const char *name, size_t *size)
{
    char path[PATH_MAX];
    return scratch_read(scratch_path(&room, name, path), size);
}

/* Each is a mark in gnuplot's enhanced text, in its strings, or in XML. */
Test(drawing, names_are_shown_literally)
{
    gnuplot_or_skip();
    error e = ERROR_INIT;
    size_t size;
    small_figure("names", "a_b^2{c}@d 100% # ~", "x\\n'y' \"z\" <&> `ls`");
    cr_assert_eq(draw("names", PLOT_SVG, &e), 0, "%s", e.message);
    char *svg = drawn("names.svg", &size);
    cr_assert(strstr(svg, ">a_b^2{c}@d 100% # ~<"), "%s", svg);
    cr_assert(strstr(svg, ">x\\n'y' \"z\" &lt;&amp;> `ls`<"), "%s", svg);
    cr_assert(strstr(svg, "<title>Title &lt;&amp;&gt;</title>"));
    free(svg);
}

/* Of a layout in TSV: column `at` of the first row of that kind that holds `word`. */
static double layout_number(const char *layout, const char *kind, const char *word, int at)
{
    char line[1024];
    for (const char *p = layout; *p; p += strcspn(p, "\n") + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(p, "\n"), p);
        if (strncmp(line, kind, strlen(kind)) != 0 || !strstr(line, word))
            continue;
        char *field = line;
        for (int i = 1; i < at && field; i++)
            field = strchr(field, '\t') ? strchr(field, '\t') + 1 : NULL;
        cr_assert(field, "%s", line);
        return strtod(field, NULL);
    }
    cr_assert(0, "no %s with %s in\n%s", kind, word, layout);
    return NAN;
}

/* The plotting area begins behind the widest text of the y axis, in all panels alike. */
Test(drawing, wide_tics_have_room)
{
    error e = ERROR_INIT;
    figure f = {.name = "wide", .title = "t", .columns = 2, .panel_width = 400, .panel_height = 300, .panels = 2};
    f.panel = calloc(2, sizeof *f.panel);
    for (int i = 0; i < 2; i++) {
        f.panel[i] = (figure_panel){
            .title = strdup(i ? "second" : "first"), .subtitle = strdup(""), .x_title = "", .train_x = NAN};
        one_curve(&f.panel[i], i ? (double[]){0.1, 0.2} : (double[]){-12000.5, -12000.4}, 2);
        figure_fit(&f.panel[i], NAN, NAN);
    }
    size_t widest = 0;
    for (int t = 0; t < f.panel[0].y_tics; t++)
        widest = strlen(f.panel[0].y_tic[t].text) > widest ? strlen(f.panel[0].y_tic[t].text) : widest;
    cr_assert_geq(widest, 8);
    cr_assert_eq(figure_write(&f, room.dir, &e), 0, "%s", e.message);
    figure_free(&f);
    size_t size;
    char *layout = drawn("wide.layout.tsv", &size);
    double first = 800 * layout_number(layout, "panel", "\tfirst", 2);
    cr_expect_geq(first, 7.0 * (double)widest + 8, "%g px", first);
    cr_expect_float_eq(800 * layout_number(layout, "panel", "\tsecond", 2), 400 + first, 1e-6);
    free(layout);
}

/* The end of a curve far from its label is told in words, not by a line that would look like a part of it. */
Test(drawing, curves_that_end_early_say_so)
{
    error e = ERROR_INIT;
    double all[100], some[50];
    for (int i = 0; i < 100; i++)
        all[i] = i, some[i / 2] = 50;
    figure f = {.name = "early", .title = "t", .columns = 1, .panel_width = 600, .panel_height = 300, .panels = 1};
    f.panel = calloc(1, sizeof *f.panel);
    *f.panel = (figure_panel){.title = strdup(""), .subtitle = strdup(""), .x_title = "", .train_x = NAN};
    one_curve(f.panel, all, 100)->bare = 1;
    figure_curve *c = one_curve(f.panel, some, 50);
    c->bare = 1;
    free(c->label);
    c->label = strdup("short");
    figure_fit(f.panel, NAN, NAN);
    cr_assert_eq(figure_write(&f, room.dir, &e), 0, "%s", e.message);
    figure_free(&f);
    size_t size;
    char *layout = drawn("early.layout.tsv", &size);
    cr_expect(strstr(layout, "\tshort (to \342\211\210 50)\n"), "%s", layout);
    cr_expect(isnan(layout_number(layout, "label", "short", 5)));
    cr_expect_float_eq(layout_number(layout, "label", "\ta", 5), 1, 1e-9);
    free(layout);
}

/* Too close for its text: the tic has none, and no other field's text in its place. */
Test(drawing, crowded_tics_lose_their_text)
{
    gnuplot_or_skip();
    error e = ERROR_INIT;
    size_t size;
    figure f = {.name = "crowd",
                .title = "t",
                .columns = 1,
                .panel_width = 300,
                .panel_height = 300,
                .panels = 1,
                .panel = calloc(1, sizeof *f.panel)};
    *f.panel = (figure_panel){.title = strdup(""),
                              .subtitle = strdup(""),
                              .x_title = "",
                              .train_x = NAN,
                              .x_log = 2,
                              .x_low = 1,
                              .x_high = 64,
                              .x_tics = 3,
                              .x_tic = {{2, "2\303\227"}, {2.125, "2.125\303\227"}, {32, "32\303\227"}}};
    one_curve(f.panel, (double[]){0.2, 0.4, 0.7}, 3);
    figure_fit(f.panel, 0, 1);
    cr_assert_eq(figure_write(&f, room.dir, &e), 0, "%s", e.message);
    figure_free(&f);
    cr_assert_eq(draw("crowd", PLOT_SVG, &e), 0, "%s", e.message);
    char *svg = drawn("crowd.svg", &size);
    cr_assert(strstr(svg, ">2\303\227<") && strstr(svg, ">32\303\227<"), "%s", svg);
    cr_assert(!strstr(svg, "2.125") && !strstr(svg, ">125<") && !strstr(svg, ">5<"), "%s", svg);
    free(svg);
}

Test(drawing, a_rerun_gives_the_same_bytes)
{
    gnuplot_or_skip();
    error e = ERROR_INIT;
    size_t size, again_size;
    small_figure("twice", "t", "m");
    cr_assert_eq(draw("twice", PLOT_SVG | PLOT_PNG, &e), 0, "%s", e.message);
    char *svg = drawn("twice.svg", &size), *png = drawn("twice.png", &size);
    cr_assert_eq(draw("twice", PLOT_SVG | PLOT_PNG, &e), 0, "%s", e.message);
    char *svg_again = drawn("twice.svg", &again_size), *png_again = drawn("twice.png", &again_size);
    cr_assert_str_eq(svg_again, svg);
    cr_assert(size == again_size && memcmp(png, png_again, size) == 0);
    cr_assert_eq(scratch_count(&room, ".tmp"), 0);
    free(svg), free(png), free(svg_again), free(png_again);
}

Test(drawing, all_formats_are_what_they_say)
{
    gnuplot_or_skip();
    error e = ERROR_INIT;
    size_t size;
    small_figure("formats", "t", "m");
    cr_assert_eq(draw("formats", PLOT_SVG | PLOT_PDF | PLOT_PNG, &e), 0, "%s", e.message);
    char *pdf = drawn("formats.pdf", &size), *png = drawn("formats.png", &size), *svg = drawn("formats.svg", &size);
    cr_assert(strncmp(pdf, "%PDF-", 5) == 0 && memcmp(png, "\x89PNG", 4) == 0);
    cr_assert(strstr(svg, "width=\"400\"") && strstr(svg, "prefers-color-scheme: dark"));
    cr_assert((unsigned char)png[18] == 800 >> 8 && (unsigned char)png[19] == (800 & 255), "twice the size");
    free(pdf), free(png), free(svg);
}

/* Colours of the page's palette only, in the one spelling that its rules for dark pages match. */
Test(drawing, every_colour_has_a_dark_twin)
{
    gnuplot_or_skip();
    error e = ERROR_INIT;
    size_t size;
    small_figure("dark", "t", "m");
    cr_assert_eq(draw("dark", PLOT_SVG, &e), 0, "%s", e.message);
    char *svg = drawn("dark.svg", &size);
    for (const char *at = strstr(svg, "</style>"); (at = strstr(at, "rgb(")); at++) {
        unsigned r, g, b;
        int known = 0;
        cr_assert(sscanf(at, "rgb(%u,%u,%u)", &r, &g, &b) == 3 && !memchr(at, ' ', strcspn(at, ")")), "%.20s", at);
        for (int i = 0; i < PALETTE_ALL; i++)
            known |= palette_rgb(i, 0) == (r << 16 | g << 8 | b);
        cr_assert(known, "rgb(%u,%u,%u)", r, g, b);
    }
    free(svg);
}

Test(drawing, ids_of_two_figures_on_a_page_differ)
{
    gnuplot_or_skip();
    error e = ERROR_INIT;
    size_t size;
    buffer page = BUFFER_INIT;
    small_figure("ids", "t", "m");
    cr_assert_eq(draw("ids", PLOT_SVG, &e), 0, "%s", e.message);
    char *svg = drawn("ids.svg", &size);
    cr_assert_eq(svg_inline(svg, "one-", &page), 0);
    cr_assert(strstr(page.data, "id='one-gpPt") && strstr(page.data, "href='#one-gpPt"));
    cr_assert(!strstr(page.data, "id='gp") && !strstr(page.data, "href='#gp") && !strstr(page.data, "<?xml"));
    free(svg);
    buffer_free(&page);
}

Test(drawing, without_gnuplot_one_message_says_what_is_needed)
{
    error e = ERROR_INIT;
    small_figure("none", "t", "m");
    setenv("PATH", room.dir, 1);
    cr_assert_eq(draw("none", PLOT_SVG | PLOT_PDF, &e), -1);
    cr_assert(e.kind == ERROR_ENVIRONMENT && strstr(e.message, "gnuplot is not installed"), "%s", e.message);
    cr_assert(strstr(e.message, "5.4") && strstr(e.message, "apt-get install"), "%s", e.message);
    cr_assert_eq(scratch_count(&room, "none."), 2, "the data stay");
}

/* A gnuplot that was built without cairo. */
Test(drawing, a_missing_terminal_keeps_the_other_formats)
{
    static const char stub[] =
        "#!/bin/sh\n"
        "case \"$5\" in *.svg.*) printf '<svg viewBox=\"0 0 4 3\"><title>x</title></svg>' > \"$5\"; exit 0;;\n"
        "esac\necho 'set terminal pngcairo' >&2\necho '     ^' >&2\n"
        "echo '\"style.gp\" line 17: unknown or ambiguous terminal name; type just set terminal' >&2\nexit 1\n";
    char path[PATH_MAX];
    error e = ERROR_INIT;
    small_figure("some", "t", "m");
    scratch_write(&room, "gnuplot", stub, sizeof stub - 1, path);
    chmod(path, 0755);
    setenv("PATH", room.dir, 1);
    cr_assert_eq(draw("some", PLOT_SVG | PLOT_PNG, &e), -1);
    cr_assert(strstr(e.message, "lacks the pngcairo terminal"), "%s", e.message);
    cr_assert(access(scratch_path(&room, "some.svg", path), R_OK) == 0);
    cr_assert(access(scratch_path(&room, "some.png", path), R_OK) != 0 && scratch_count(&room, ".tmp") == 0);
}

/* gnuplot leaves an empty file behind a script that fails: the older picture must survive. */
Test(drawing, a_failing_script_keeps_the_older_picture)
{
    static const char stub[] = "#!/bin/sh\n: > \"$5\"\necho 'line 3: x is undefined' >&2\nexit 1\n";
    char path[PATH_MAX];
    error e = ERROR_INIT;
    size_t size;
    small_figure("old", "t", "m");
    scratch_write(&room, "old.png", "old", 3, path);
    scratch_write(&room, "gnuplot", stub, sizeof stub - 1, path);
    chmod(path, 0755);
    setenv("PATH", room.dir, 1);
    cr_assert_eq(draw("old", PLOT_PNG, &e), -1);
    cr_assert(strstr(e.message, "x is undefined") && strstr(e.message, "curves.gp"), "%s", e.message);
    char *old = drawn("old.png", &size);
    cr_assert_str_eq(old, "old");
    cr_assert_eq(scratch_count(&room, ".tmp"), 0);
    free(old);
}
