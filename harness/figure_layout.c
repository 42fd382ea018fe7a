/* figure_layout.c - a figure as the two data files that the scripts of plots/ read.
 *
 * NAME.layout.tsv, by its first column (fractions are of the whole picture, g.. of the panel's plotting area):
 *
 * - figure: width height, px
 * - panel: left right bottom top x_low x_high y_low y_high x_log y_log train_x first last title subtitle x_title
 * - curve: colour dash point hollow_point kind; kind 0: a method, 1: without points, 2: a reference level
 * - tic: panel axis at text; axis 1: x, 2: y
 * - label: panel gx gy from_gx from_gy colour text; from: the curve's end, NaN when it lies elsewhere
 *
 * Curves are numbered over the whole figure in the order of the blocks of NAME.tsv, from 1 (block 0 is the heading).
 */
#include "figure.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"

#define LAYOUT_EARLY 0.9 /* of the x axis: a curve of many values that ends before ends early */

enum {
    LAYOUT_LEFT = 46,
    LAYOUT_TIC = 14,
    LAYOUT_TOP = 46,
    LAYOUT_BOTTOM = 46,
    LAYOUT_LABEL_GAP = 15,
    LAYOUT_FONT = 12
};

/* Characters, not bytes: UTF-8 continuation bytes do not count. */
static int layout_length(const char *text)
{
    int length = 0;
    for (; *text; text++)
        length += ((unsigned char)*text & 0xc0) != 0x80;
    return length;
}

/* Of a text in DejaVu Sans, in px: 0.62 em is a generous mean. */
static double layout_width(const char *text)
{
    return 0.62 * LAYOUT_FONT * layout_length(text);
}

/* The text, or as much of it as `room` px of bold letters take and an ellipsis. malloc'ed. */
static char *layout_fit(const char *text, double room)
{
    buffer out = BUFFER_INIT;
    int most = (int)(room / (0.7 * LAYOUT_FONT)), length = layout_length(text);
    const char *end = text;
    for (int i = 0; *end && (length <= most || i < most - 1); i++)
        for (end++; ((unsigned char)*end & 0xc0) == 0x80;)
            end++;
    buffer_bytes(&out, text, (size_t)(end - text));
    if (*end)
        buffer_add(&out, "\342\200\246");
    return buffer_take(&out);
}

/* The last point that has a value; -1: none. */
static int layout_end(const figure_curve *c)
{
    int i = c->count - 1;
    while (i >= 0 && isnan(c->point[i].y))
        i--;
    return i;
}

/* From 0 at the lower end of an axis to 1 at its upper end. */
static double layout_share(double value, double low, double high, double log_base)
{
    if (log_base > 0)
        return log(value / low) / log(high / low);
    return (value - low) / (high - low);
}

/* A line from the label to the end of such a curve would look like a part of it. */
static int layout_ends_early(const figure_panel *p, const figure_curve *c)
{
    int end = layout_end(c);
    if (end < 0 || c->count == 1) /* a single point may stand anywhere */
        return 0;
    return c->bare ? layout_share(c->point[end].x, p->x_low, p->x_high, p->x_log) < LAYOUT_EARLY : end < c->count - 1;
}

/* A curve that stops before the last x says so in its label, for the label then stands apart from it. Of many values the
 * x is that of several taken together, so it is rounded. */
static char *layout_label(const figure_panel *p, const figure_curve *c)
{
    buffer text = BUFFER_INIT;
    buffer_add(&text, c->label);
    if (layout_ends_early(p, c)) {
        double x = c->point[layout_end(c)].x;
        buffer_add(&text, c->bare ? " (to \342\211\210 " : " (to ");
        for (int i = 0; !c->bare && i < p->x_tics; i++)
            if (p->x_tic[i].at == x)
                buffer_add(&text, p->x_tic[i].text);
        if (c->bare) {
            double unit = x > 0 ? pow(10, floor(log10(x)) - 1) : 1; /* two digits */
            buffer_fixed(&text, round(x / unit) * unit, unit < 1 ? (int)ceil(-log10(unit)) : 0);
        }
        buffer_add(&text, ")");
    }
    return buffer_take(&text);
}

/* All panels leave the same room, so that their axes line up. */
static double layout_right(const figure *f)
{
    double most = 24;
    for (int i = 0; i < f->panels; i++) {
        for (int c = 0; c < f->panel[i].curves; c++) {
            char *label = layout_label(&f->panel[i], &f->panel[i].curve[c]);
            if (label)
                most = fmax(most, layout_width(label) + 28);
            free(label);
        }
    }
    return fmin(most, 0.5 * f->panel_width);
}

/* Room for the widest text at a y axis, LAYOUT_TIC px off it. All panels leave the same. */
static double layout_left(const figure *f)
{
    double most = LAYOUT_LEFT;
    for (int i = 0; i < f->panels; i++)
        for (int t = 0; t < f->panel[i].y_tics; t++)
            most = fmax(most, layout_width(f->panel[i].y_tic[t].text) + LAYOUT_TIC);
    return fmin(most, 0.35 * f->panel_width);
}

/* ------------------------------------------------------------------------------------------------ numbers */

static void layout_write_curve(buffer *b, const figure_panel *p, const figure_curve *c)
{
    for (int i = 0; i < c->count; i++) {
        const figure_point *point = &c->point[i];
        tsv_text(b, p->title);
        tsv_text(b, c->label);
        tsv_number(b, point->x);
        tsv_number(b, point->y);
        tsv_number(b, point->low);
        tsv_number(b, point->high);
        tsv_integer(b, point->hollow);
        tsv_end(b);
    }
    buffer_add(b, "\n\n"); /* ends a block for gnuplot */
}

static void layout_write_numbers(buffer *b, const figure *f)
{
    buffer_add(b, "panel\tmethod\tx\ty\tlow\thigh\thollow\n\n\n");
    for (int i = 0; i < f->panels; i++)
        for (int c = 0; c < f->panel[i].curves; c++)
            layout_write_curve(b, &f->panel[i], &f->panel[i].curve[c]);
}

/* ------------------------------------------------------------------------------------------------ the rest */

typedef struct layout_frame { /* of a panel's plotting area, px from the lower left corner of the picture */
    double left, right, bottom, top;
} layout_frame;

static int layout_rows(const figure *f)
{
    return (f->panels + f->columns - 1) / f->columns;
}

static layout_frame layout_frame_of(const figure *f, int panel, double left, double right)
{
    int row = panel / f->columns, column = panel % f->columns;
    double below = (double)(layout_rows(f) - 1 - row) * f->panel_height;
    return (layout_frame){.left = column * f->panel_width + left,
                          .right = (column + 1) * f->panel_width - right,
                          .bottom = below + LAYOUT_BOTTOM,
                          .top = below + f->panel_height - LAYOUT_TOP};
}

static void layout_write_figure(buffer *b, int width, int height)
{
    tsv_text(b, "figure");
    tsv_integer(b, width);
    tsv_integer(b, height);
    tsv_end(b);
}

static void layout_write_panel(buffer *b, const double (*numbers)[11], int first, int last, const char *const texts[3])
{
    tsv_text(b, "panel");
    for (int i = 0; i < 11; i++)
        tsv_number(b, (*numbers)[i]);
    tsv_integer(b, first);
    tsv_integer(b, last);
    for (int i = 0; i < 3; i++)
        tsv_text(b, texts[i]);
    tsv_end(b);
}

static void layout_write_style(buffer *b, const figure_curve *c)
{
    tsv_text(b, "curve");
    tsv_integer(b, (long)palette_rgb(c->reference ? PALETTE_MUTED : c->style.colour, 0));
    tsv_integer(b, c->reference ? 3 : 1 + c->style.dash);
    tsv_integer(b, palette_point(&c->style, 0));
    tsv_integer(b, palette_point(&c->style, 1));
    tsv_integer(b, c->reference ? 2 : c->bare);
    tsv_end(b);
}

typedef struct layout_tics { /* of one axis */
    const figure_tic *tic;
    int count;
    double at[FIGURE_TICS_MAX], half[FIGURE_TICS_MAX]; /* px along the axis: middle of the text, and half its room */
    int shown[FIGURE_TICS_MAX];
} layout_tics;

static void layout_measure_tics(const figure_panel *p, int axis, double px, layout_tics *t)
{
    double low = axis == 1 ? p->x_low : p->y_low, high = axis == 1 ? p->x_high : p->y_high;
    *t = (layout_tics){.tic = axis == 1 ? p->x_tic : p->y_tic, .count = axis == 1 ? p->x_tics : p->y_tics};
    for (int i = 0; i < t->count; i++) {
        t->at[i] = px * layout_share(t->tic[i].at, low, high, axis == 1 ? p->x_log : p->y_log);
        t->half[i] = axis == 1 ? layout_width(t->tic[i].text) / 2 + 3 : LAYOUT_FONT * 0.5;
    }
}

static int layout_has_room(const layout_tics *t, int i)
{
    for (int k = 0; k < t->count; k++)
        if (t->shown[k] && fabs(t->at[k] - t->at[i]) < t->half[k] + t->half[i])
            return 0;
    return 1;
}

/* Tics that lie too close for their texts keep the mark and lose the text; whole numbers come first. */
static void layout_write_tics(buffer *b, const figure_panel *p, int panel, int axis, double px)
{
    layout_tics t;
    layout_measure_tics(p, axis, px, &t);
    for (int whole = 1; whole >= 0; whole--)
        for (int i = 0; i < t.count; i++)
            if (!t.shown[i] && (strchr(t.tic[i].text, '.') == NULL) == whole)
                t.shown[i] = layout_has_room(&t, i);
    for (int i = 0; i < t.count; i++) {
        tsv_text(b, "tic");
        tsv_integer(b, panel);
        tsv_integer(b, axis);
        tsv_number(b, t.tic[i].at);
        tsv_text(b, t.shown[i] ? t.tic[i].text : "");
        tsv_end(b);
    }
}

static void layout_write_label(buffer *b, const figure_panel *p, const figure_curve *c, int panel, double gx, double gy,
                               double height)
{
    int end = layout_end(c), at_edge = !layout_ends_early(p, c);
    char *text = layout_label(p, c);
    tsv_text(b, "label");
    tsv_integer(b, panel);
    tsv_number(b, gx);
    tsv_number(b, gy / height);
    tsv_number(b, at_edge ? layout_share(c->point[end].x, p->x_low, p->x_high, p->x_log) : NAN);
    tsv_number(b, at_edge ? layout_share(c->point[end].y, p->y_low, p->y_high, p->y_log) : NAN);
    tsv_integer(b, (long)palette_rgb(c->reference ? PALETTE_MUTED : c->style.colour, 0));
    tsv_text(b, text ? text : c->label);
    tsv_end(b);
    free(text);
}

/* One label beside each curve that has a value. */
static int layout_write_labels(buffer *b, const figure_panel *p, const layout_frame *at, int panel)
{
    double width = at->right - at->left, height = at->top - at->bottom;
    double *y = calloc((size_t)p->curves + 1, sizeof *y);
    int n = 0;
    if (!y)
        return -1;
    for (int c = 0; c < p->curves; c++) {
        int end = layout_end(&p->curve[c]);
        if (end >= 0)
            y[n++] = height * layout_share(p->curve[c].point[end].y, p->y_low, p->y_high, p->y_log);
    }
    figure_spread(y, n, LAYOUT_LABEL_GAP, -4, height + 4);
    n = 0;
    for (int c = 0; c < p->curves; c++)
        if (layout_end(&p->curve[c]) >= 0)
            layout_write_label(b, p, &p->curve[c], panel, 1 + 16 / width, y[n++], height);
    free(y);
    return 0;
}

static int layout_write(buffer *b, const figure *f)
{
    double left = layout_left(f), right = layout_right(f);
    int first = 1, width = f->columns * f->panel_width, height = layout_rows(f) * f->panel_height;
    layout_write_figure(b, width, height);
    for (int i = 0; i < f->panels; i++) {
        const figure_panel *p = &f->panel[i];
        layout_frame at = layout_frame_of(f, i, left, right);
        const double numbers[11] = {at.left / width, at.right / width, at.bottom / height, at.top / height,
                                    p->x_low,        p->x_high,        p->y_low,           p->y_high,
                                    p->x_log,        p->y_log,         p->train_x};
        char *title = layout_fit(p->title, f->panel_width - left - 8);
        const char *const texts[3] = {title ? title : p->title, p->subtitle, p->x_title};
        layout_write_panel(b, &numbers, first, first + p->curves - 1, texts);
        free(title);
        for (int c = 0; c < p->curves; c++)
            layout_write_style(b, &p->curve[c]);
        layout_write_tics(b, p, i + 1, 1, at.right - at.left);
        layout_write_tics(b, p, i + 1, 2, at.top - at.bottom);
        if (layout_write_labels(b, p, &at, i + 1) < 0)
            return -1;
        first += p->curves;
    }
    return 0;
}

static int layout_save(const buffer *b, const char *dir, const char *name, const char *suffix, error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s%s", dir, name, suffix);
    return buffer_save(b, path, e);
}

int figure_write(const figure *f, const char *dir, error *e)
{
    buffer numbers = BUFFER_INIT, layout = BUFFER_INIT;
    layout_write_numbers(&numbers, f);
    int status = layout_write(&layout, f) < 0 ? error_set(e, ERROR_ENVIRONMENT, "out of memory") : 0;
    if (status == 0)
        status = layout_save(&numbers, dir, f->name, ".tsv", e);
    if (status == 0)
        status = layout_save(&layout, dir, f->name, ".layout.tsv", e);
    buffer_free(&numbers);
    buffer_free(&layout);
    return status;
}

int figure_chart_write(const figure_chart *c, const buffer *numbers, const char *dir, const char *name, error *e)
{
    double width = c->width, height = c->height;
    const double frame[11] = {c->left / width,
                              1 - c->right / width,
                              c->bottom / height,
                              1 - c->top / height,
                              c->x_low,
                              c->x_high,
                              c->y_low,
                              c->y_high,
                              0,
                              0,
                              NAN};
    const char *const texts[3] = {c->title, c->subtitle, c->x_title};
    buffer layout = BUFFER_INIT;
    layout_write_figure(&layout, c->width, c->height);
    layout_write_panel(&layout, &frame, 0, 0, texts);
    int status = layout_save(numbers, dir, name, ".tsv", e);
    if (status == 0)
        status = layout_save(&layout, dir, name, ".layout.tsv", e);
    buffer_free(&layout);
    return status;
}
