/* report_charts.c - two figures that have one row for each method: how far it holds, and its mean rank. */
#include "report_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"

#define CHART_RANK_MARGIN 0.2 /* of the axis of ranks, at both ends */
enum { CHART_CRITICAL_MAX = 64 };
enum { CHART_CHARACTER = 7, CHART_ROW = 30, CHART_TOP = 60, CHART_HEADING = 52, CHART_LINE = 22, CHART_RULER = 26 };

/* Room for the longest name at the left of a chart, px: labels, or lines of parts. */
static int chart_names_width(const report_view *v, int of_lines)
{
    size_t most = 0;
    for (int m = 0; m < v->methods; m++) {
        size_t length = strlen(of_lines ? v->method[m].line : v->method[m].label);
        most = length > most ? length : most;
    }
    int width = 24 + CHART_CHARACTER * (int)most;
    return width < 420 ? width : 420;
}

/* ------------------------------------------------------------------------------------------------ how far it holds */

/* One line of a column's heading, with an ellipsis where it is longer than CHART_LINE characters. */
static void chart_heading_line(buffer *out, const char *text, size_t length)
{
    if (length == 0)
        return;
    buffer_add(out, out->length > 0 ? "\n" : "");
    size_t kept = length;
    if (kept > CHART_LINE)
        for (kept = CHART_LINE - 1; kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80;)
            kept--; /* not within a character */
    buffer_bytes(out, text, kept);
    if (kept < length)
        buffer_add(out, "\342\200\246");
}

/* Columns in the heat table, one for each primary panel: the task's name, its options, the mode, each in a line. */
static void chart_heading(const report_view *v, const view_panel *p, buffer *out)
{
    char *title = report_panel_title(v, p);
    const char *name = title ? title : p->task;
    size_t length = strcspn(name, "(,");
    const char *rest = name + length + (name[length] == ',' ? 2 : 0);
    chart_heading_line(out, name, length);
    chart_heading_line(out, rest, strlen(rest));
    if (strcmp(p->mode, "teacher_forced") != 0)
        chart_heading_line(out, p->mode, strlen(p->mode));
    free(title);
}

static int chart_widest_line(const char *text)
{
    int widest = 0;
    for (const char *end; *text; text = end + (*end == '\n')) {
        end = text + strcspn(text, "\n");
        widest = (int)(end - text) > widest ? (int)(end - text) : widest;
    }
    return widest;
}

static double chart_most(const report_view *v)
{
    double most = 1;
    for (int i = 0; i < v->panels; i++)
        for (int l = 0; l < v->panel[i].lengths; l++)
            most = fmax(most, v->panel[i].length[l].ratio);
    return most;
}

double report_reach_share(const report_view *v, const summary_curve *c)
{
    double most = chart_most(v);
    if (!c || isnan(c->reach) || !c->learned)
        return 0;
    return most > 1 ? log(fmax(c->reach, 1)) / log(most) : 0;
}

void report_reach_text(const summary_curve *c, buffer *out)
{
    char ratio[VIEW_RATIO_MAX];
    if (!c || isnan(c->reach)) {
        buffer_add(out, c ? "\342\200\223" : ""); /* en dash: nothing to keep in distribution */
        return;
    }
    view_ratio_text(c->reach, ratio);
    buffer_format(out, "%s%s%s", c->reach_is_last ? "\342\211\245 " : "", ratio, c->learned ? "" : " *");
}

/* Rows of the heat table: methods, and a heading above each part where there are several. Row 1 is the lowest. */
static int chart_reach_rows(const report_view *v)
{
    return v->methods + (v->parts > 1 ? v->parts : 0);
}

static int chart_reach_row(const report_view *v, int method)
{
    return v->methods - method + (v->parts > 1 ? v->parts - 1 - v->method[method].part : 0);
}

/* A block of the data file for them, in the columns of the rows. */
static void chart_reach_headings(const report_view *v, buffer *b)
{
    buffer_add(b, v->parts > 1 ? "\n\n" : "");
    for (int m = 0; v->parts > 1 && m < v->methods; m++) {
        if (m > 0 && v->method[m].part == v->method[m - 1].part)
            continue;
        tsv_text(b, v->part[v->method[m].part]);
        tsv_text(b, "");
        tsv_number(b, NAN);
        tsv_integer(b, chart_reach_row(v, m) + 1);
        for (int i = 0; i < 3; i++)
            tsv_number(b, NAN);
        tsv_text(b, "");
        tsv_end(b);
    }
}

static void chart_reach_cell(const report_view *v, const view_panel *p, int method, int column, buffer *b)
{
    const summary_curve *c = p->curve[method];
    double share = report_reach_share(v, c);
    buffer title = BUFFER_INIT, text = BUFFER_INIT;
    chart_heading(v, p, &title);
    report_reach_text(c, &text);
    tsv_text(b, v->method[method].line);
    tsv_text(b, buffer_text(&title));
    tsv_integer(b, column);
    tsv_integer(b, chart_reach_row(v, method));
    tsv_number(b, c ? c->reach : NAN);
    tsv_integer(b, (long)palette_ramp(share));
    tsv_integer(b, (long)palette_ramp_text(share));
    tsv_text(b, buffer_text(&text));
    tsv_end(b);
    buffer_free(&title);
    buffer_free(&text);
}

int report_reach_write(const report_view *v, const char *dir, report_figures *out, error *e)
{
    if (chart_most(v) <= 1)
        return 0; /* nothing was tested past the training length */
    buffer b = BUFFER_INIT;
    int columns = 0, widest = 0;
    buffer_add(&b, "method\ttask\tcolumn\trow\tratio\tcolour\ttext_colour\ttext\n");
    for (int i = 0; i < v->panels; i++) {
        const view_panel *p = &v->panel[i];
        if (!p->primary || p->home < 0)
            continue;
        buffer title = BUFFER_INIT;
        chart_heading(v, p, &title);
        widest = chart_widest_line(buffer_text(&title)) > widest ? chart_widest_line(buffer_text(&title)) : widest;
        buffer_free(&title);
        columns++;
        for (int m = 0; m < v->methods; m++)
            chart_reach_cell(v, p, m, columns, &b);
    }
    chart_reach_headings(v, &b);
    int cell = widest * CHART_CHARACTER + 16 > 104 ? widest * CHART_CHARACTER + 16 : 104, left = chart_names_width(v, 1);
    figure_chart c = {.width = left + columns * cell + 16,
                      .height = CHART_TOP + CHART_HEADING + chart_reach_rows(v) * CHART_ROW + 12,
                      .left = left,
                      .right = 16,
                      .bottom = 12,
                      .top = CHART_TOP + CHART_HEADING,
                      .x_low = 0.5,
                      .x_high = columns + 0.5,
                      .y_low = 0.5,
                      .y_high = chart_reach_rows(v) + 0.5,
                      .title = "How far it holds",
                      .subtitle = "longest multiple of the training length that keeps 90 % of the score",
                      .x_title = ""};
    if (c.width < 560)
        c.right = 16 + 560 - c.width, c.width = 560; /* room for the heading */
    int status = 0;
    if (columns > 0) {
        out->first[REPORT_REACH] = out->count;
        if (!report_figure_add(out, "reach", "reach.gp", c.title, e) || figure_chart_write(&c, &b, dir, "reach", e) < 0)
            status = -1;
    }
    buffer_free(&b);
    return status;
}

/* ------------------------------------------------------------------------------------------------ ranks */

/* "critical difference 1.25"; one method is drawn with it, the best. */
static const char *chart_critical(const report_view *v, char text[CHART_CRITICAL_MAX])
{
    buffer number = BUFFER_INIT;
    buffer_fixed(&number, v->critical, 2);
    snprintf(text, CHART_CRITICAL_MAX, isnan(v->critical) ? "" : "critical difference %.16s", buffer_text(&number));
    buffer_free(&number);
    return text;
}

static void chart_rank_row(const report_view *v, int place, buffer *b)
{
    const view_method *m = &v->method[v->by_rank[place]];
    char label[CHART_CRITICAL_MAX];
    buffer text = BUFFER_INIT;
    buffer_fixed(&text, m->rank, 2);
    tsv_text(b, m->label);
    tsv_integer(b, v->methods - place);
    tsv_number(b, m->rank);
    tsv_number(b, m->rank_low);
    tsv_number(b, m->rank_high);
    tsv_integer(b, (long)palette_rgb(m->style.colour, 0));
    tsv_integer(b, palette_point(&m->style, 0));
    tsv_text(b, buffer_text(&text));
    tsv_number(b, m->reciprocal);
    int has_end = place == 0 && !isnan(v->critical); /* fmin would pass NAN over */
    tsv_number(b, has_end ? fmin(m->rank + v->critical, v->methods + CHART_RANK_MARGIN) : NAN);
    tsv_text(b, place == 0 ? chart_critical(v, label) : "");
    tsv_end(b);
    buffer_free(&text);
}

int report_ranks_write(const report_view *v, const char *dir, report_figures *out, error *e)
{
    if (v->ranked_tasks == 0 || v->ranked_seeds == 0)
        return 0;
    buffer b = BUFFER_INIT, subtitle = BUFFER_INIT;
    buffer_add(&b, "method\trow\trank\tlow\thigh\tcolour\tpoint\ttext\treciprocal\tcritical_end\tcritical\n");
    for (int m = 0; m < v->methods; m++)
        chart_rank_row(v, m, &b);
    buffer_format(&subtitle, "past the training length, over %d task%s and %d seed%s; 1 is best", v->ranked_tasks,
                  v->ranked_tasks == 1 ? "" : "s", v->ranked_seeds, v->ranked_seeds == 1 ? "" : "s");
    int ruler = isnan(v->critical) ? 0 : CHART_RULER;
    figure_chart c = {.width = 680,
                      .height = CHART_TOP + ruler + v->methods * CHART_ROW + 50,
                      .left = chart_names_width(v, 0),
                      .right = 56,
                      .bottom = 50,
                      .top = CHART_TOP + ruler,
                      .x_low = 1 - CHART_RANK_MARGIN,
                      .x_high = v->methods + CHART_RANK_MARGIN,
                      .y_low = 0.4,
                      .y_high = v->methods + 0.6,
                      .title = "Mean rank",
                      .subtitle = buffer_text(&subtitle),
                      .x_title = "mean rank"};
    out->first[REPORT_RANKS] = out->count;
    int status = 0;
    if (!report_figure_add(out, "ranks", "ranks.gp", c.title, e) || figure_chart_write(&c, &b, dir, "ranks", e) < 0)
        status = -1;
    buffer_free(&b);
    buffer_free(&subtitle);
    return status;
}
