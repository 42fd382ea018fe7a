/* one_curve.h - a panel's only curve, for tests of figures. */
#ifndef ONE_CURVE_H
#define ONE_CURVE_H

#include "figure.h"

/* "a" through (1, y[0]), (2, y[1]) ...; the panel owns it. */
static inline figure_curve *one_curve(figure_panel *p, const double *y, int n)
{
    figure_curve *c = figure_add_curve(p, "a", (palette_style){0}, n);
    for (int i = 0; i < n; i++) {
        c->point[i].x = i + 1;
        c->point[i].y = y[i];
    }
    return c;
}

#endif
