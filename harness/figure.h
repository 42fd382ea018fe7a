/* figure.h - curves in panels: laid out here, written as data beside the picture, drawn by gnuplot.
 *
 * What the scripts of plots/ cannot do is done here: colours by name, the heights of the labels at the curves' ends, tics,
 * ranges. A figure NAME becomes
 *
 *     NAME.tsv         the numbers: panel, method, x, y, low, high, hollow
 *     NAME.layout.tsv  everything else a script must know; the first column says what a row describes
 *     NAME.svg .pdf .png
 */
#ifndef FIGURE_H
#define FIGURE_H

#include "buffer.h"
#include "error.h"
#include "palette.h"

typedef struct figure_point {
    double x, y;             /* y NAN: the line has a gap here */
    double low, high;        /* of the band; NAN: none */
    int hollow;              /* stands for a value whose meaning a map gave it */
} figure_point;

typedef struct figure_curve {
    char *label;
    palette_style style;
    int reference;           /* a level to compare with (chance), not a method: thin, dotted, muted, without points */
    int bare;                /* no points, only the line: curves with many values */
    int count;
    figure_point *point;     /* [count], x ascending */
} figure_curve;

typedef struct figure_tic {
    double at;
    char text[24];
} figure_tic;

enum { FIGURE_TICS_MAX = 24 };

typedef struct figure_panel {
    char *title, *subtitle;
    const char *x_title;
    const char *shares;      /* neighbouring panels with the same word here share their axes (figure_share); NULL: none */
    double x_low, x_high, y_low, y_high;
    int x_from_zero;         /* figure_fit begins the x axis at 0 */
    int x_fitted;            /* set by figure_fit where it found the x axis */
    double x_log, y_log;     /* base of a logarithmic axis; 0: linear */
    double train_x;          /* lengths up to here were met in training; NAN: not on this axis */
    int x_tics, y_tics;
    figure_tic x_tic[FIGURE_TICS_MAX], y_tic[FIGURE_TICS_MAX];
    int curves;
    figure_curve *curve;     /* [curves], owned */
    int left_out;            /* points that a logarithmic axis cannot show (figure_fit counts them) */
} figure_panel;

typedef struct figure {
    const char *name;        /* of its files, without suffix */
    const char *title;       /* for readers who cannot see it */
    int columns;
    int panel_width, panel_height; /* px, margins included */
    int panels;
    figure_panel *panel;     /* [panels], owned */
} figure;

/* Appends a curve with room for `points` points, all NAN; NULL when memory is short. The panel owns it. */
figure_curve *figure_add_curve(figure_panel *p, const char *label, palette_style style, int points);

/* Sets ranges and tics of y (and of x where x_tics is 0): y from `low` to `high`, or, where these are NAN, so that all points
 * fit. On a logarithmic y axis points at or below 0 become gaps and are counted in left_out. */
void figure_fit(figure_panel *p, double low, double high);

/* Gives neighbouring panels that figure_fit has set, and whose `shares` is the same, one range of x and of y with the same
 * tics: the same curve must not look like two. An x axis that figure_fit did not find is left as it is. */
void figure_share(figure *f);

/* Spreads label heights: y[n] in px become the heights nearest to them (least squares) that keep their order, lie at least
 * `gap` apart and within low .. high; gap shrinks when they do not fit. */
void figure_spread(double *y, int n, double gap, double low, double high);

/* Writes NAME.tsv and NAME.layout.tsv into dir. */
int figure_write(const figure *f, const char *dir, error *e);

/* Removes the last panel. */
void figure_drop(figure *f);

void figure_free(figure *f);

/* A figure of another kind than curves: one plotting area with the given margins (px). Its script reads what else it needs
 * from NAME.tsv, which is `numbers`. */
typedef struct figure_chart {
    int width, height;
    int left, right, bottom, top;
    double x_low, x_high, y_low, y_high;
    const char *title, *subtitle, *x_title;
} figure_chart;
int figure_chart_write(const figure_chart *c, const buffer *numbers, const char *dir, const char *name, error *e);

/* ------------------------------------------------------------------------------------------------ drawing */

/* Runs plots_dir/script on dir/NAME.tsv and dir/NAME.layout.tsv, once for each of `formats` (PLOT_*). Each picture replaces
 * an older one only when it is complete. Without gnuplot, or with one that lacks the terminal: -1 with ERROR_ENVIRONMENT
 * and what is needed; pictures of the other formats are drawn all the same. */
int figure_draw(const char *plots_dir, const char *script, const char *dir, const char *name, const char *title, int formats,
                error *e);

#endif
