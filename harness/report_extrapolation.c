/* report_extrapolation.c - score over length: the figure that the suite exists for. */
#include "report_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void extrapolation_set_point(const view_panel *p, const summary_row *row, int length, figure_point *point)
{
    point->x = p->length[length].ratio;
    if (!row)
        return;
    point->y = row->mean;
    point->low = row->ci_low;
    point->high = row->ci_high;
    point->hollow = *row->flag != '\0';
}

static int extrapolation_add_methods(const report_view *v, const view_panel *p, int part, figure_panel *out)
{
    for (int m = 0; m < v->methods; m++) {
        if (v->method[m].part != part || !view_ran(p, m))
            continue;
        figure_curve *c = figure_add_curve(out, v->method[m].line, v->method[m].style, p->lengths);
        if (!c)
            return -1;
        for (int l = 0; l < p->lengths; l++)
            extrapolation_set_point(p, view_row(p, m, l), l, &c->point[l]);
    }
    return 0;
}

/* Where guessing scores visibly more than nothing, its level is drawn. */
static int extrapolation_add_chance(const view_panel *p, figure_panel *out)
{
    double most = 0;
    for (int l = 0; l < p->lengths; l++)
        most = fmax(most, p->length[l].chance); /* fmax passes NAN over */
    if (most < 0.01)
        return 0;
    figure_curve *c = figure_add_curve(out, "chance", (palette_style){0}, p->lengths);
    if (!c)
        return -1;
    c->reference = 1;
    for (int l = 0; l < p->lengths; l++)
        c->point[l] = (figure_point){.x = p->length[l].ratio, .y = p->length[l].chance, .low = NAN, .high = NAN};
    return 0;
}

/* The tested multiples are the tics. Left of the training length stays a strip that says what it is. */
static void extrapolation_set_x(const view_panel *p, figure_panel *out)
{
    double first = p->length[0].ratio, last = p->length[p->lengths - 1].ratio;
    out->x_log = 2;
    out->x_high = fmax(last, 1) * 1.04;
    out->x_low = fmin(first, 1) / pow(out->x_high / fmin(first, 1), 0.17);
    if (out->x_high / out->x_low < 1.5)
        out->x_low = out->x_high / 1.5;
    for (int l = 0; l < p->lengths && out->x_tics < FIGURE_TICS_MAX; l++) {
        figure_tic *tic = &out->x_tic[out->x_tics++];
        tic->at = p->length[l].ratio;
        view_ratio_text(p->length[l].ratio, tic->text);
    }
}

/* Appends the panel of a part, unless none of it was run on this task. */
static int extrapolation_panel(const report_view *v, const view_panel *p, int part, figure *f)
{
    figure_panel *out = &f->panel[f->panels];
    buffer subtitle = BUFFER_INIT;
    buffer_add(&subtitle, p->metric->title);
    if (isinf(p->metric->high)) /* a share needs no unit */
        buffer_format(&subtitle, ", %s", p->metric->unit);
    if (strcmp(p->mode, "teacher_forced") != 0)
        buffer_format(&subtitle, ", %s", p->mode);
    buffer_format(&subtitle, ", trained at %d", p->train_len);
    *out = (figure_panel){.x_title = "test length / training length", .train_x = 1};
    f->panels++;
    if (report_part_words(v, part, p->task, p->task, &subtitle, out) < 0 ||
        extrapolation_add_methods(v, p, part, out) < 0)
        return -1;
    if (out->curves == 0) {
        figure_drop(f);
        return 0;
    }
    if (extrapolation_add_chance(p, out) < 0)
        return -1;
    extrapolation_set_x(p, out);
    int bounded = isfinite(p->metric->high); /* shares keep one scale in all panels, losses need their own */
    figure_fit(out, bounded ? p->metric->low : NAN, bounded ? p->metric->high : NAN);
    return 0;
}

int report_extrapolation_write(const report_view *v, const char *dir, report_figures *out, error *e)
{
    figure f = {.name = "extrapolation", .title = "Score over test length", .panel = NULL};
    f.panel = calloc((size_t)v->panels * (size_t)v->parts + 1, sizeof *f.panel);
    int status = f.panel ? 0 : -1;
    for (int i = 0; status == 0 && i < v->panels; i++)
        for (int part = 0; status == 0 && v->panel[i].primary && part < v->parts; part++)
            status = extrapolation_panel(v, &v->panel[i], part, &f);
    if (status < 0) {
        figure_free(&f);
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    }
    if (f.panels == 0) {
        figure_free(&f);
        return 0;
    }
    figure_share(&f);
    return report_panels_write(&f, REPORT_EXTRAPOLATION, "curves.gp", dir, out, e);
}
