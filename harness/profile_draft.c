#include "profile_draft.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"

enum { DRAFT_WIDTH = 520, DRAFT_HEIGHT = 330, DRAFT_BARE = 24 /* values from which on a curve has no points */ };

figure_draft draft_begin(const char *name, const char *title, int panels)
{
    figure_draft d = {.f = {.name = name,
                            .title = title,
                            .columns = panels > 1 ? 2 : 1,
                            .panel_width = DRAFT_WIDTH,
                            .panel_height = DRAFT_HEIGHT}};
    d.f.panel = calloc((size_t)panels, sizeof *d.f.panel);
    d.failed = !d.f.panel;
    return d;
}

figure_panel *draft_panel(figure_draft *d, const char *title, const char *subtitle, const char *x_title)
{
    if (d->failed)
        return NULL;
    figure_panel *p = &d->f.panel[d->f.panels++];
    *p = (figure_panel){.title = strdup(title), .subtitle = strdup(subtitle), .x_title = x_title, .train_x = NAN};
    d->failed = !p->title || !p->subtitle;
    return p;
}

figure_curve *draft_curve(figure_draft *d, figure_panel *p, const char *label, int style, const double *y, int count,
                          int first)
{
    palette_style s = {.colour = style % PALETTE_COLOURS,
                       .shape = style % PALETTE_SHAPES,
                       .dash = style / PALETTE_COLOURS % PALETTE_DASHES};
    figure_curve *c = p ? figure_add_curve(p, label, s, count) : NULL;
    d->failed |= !c;
    for (int i = 0; c && i < count; i++) {
        c->point[i].x = first + i;
        c->point[i].y = isfinite(y[i]) ? y[i] : NAN;
    }
    if (c)
        c->bare = count > DRAFT_BARE;
    return c;
}

void draft_reference(figure_draft *d, figure_panel *p, const char *label, const double *y, int count, int first)
{
    figure_curve *c = draft_curve(d, p, label, 0, y, count, first);
    if (c)
        c->reference = 1;
}

int draft_save(const buffer *b, const char *dir, const char *name, error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.csv", dir, name);
    return buffer_save(b, path, e);
}

static int draft_csv(const figure *f, const char *dir, error *e)
{
    buffer b = BUFFER_INIT;
    buffer_add(&b, "panel,curve,x,y,low,high\n");
    for (int i = 0; i < f->panels; i++)
        for (int c = 0; c < f->panel[i].curves; c++)
            for (int k = 0; k < f->panel[i].curve[c].count; k++) {
                const figure_point *point = &f->panel[i].curve[c].point[k];
                csv_text(&b, f->panel[i].title);
                csv_text(&b, f->panel[i].curve[c].label);
                csv_number(&b, point->x);
                csv_number(&b, point->y);
                csv_number(&b, point->low);
                csv_number(&b, point->high);
                csv_end(&b);
            }
    int status = draft_save(&b, dir, f->name, e);
    buffer_free(&b);
    return status;
}

void draft_register(profile_figures *out, const char *stem, const char *script, const char *title, const char *caption)
{
    profile_figure *to = &out->item[out->count++];
    *to = (profile_figure){.script = script};
    snprintf(to->stem, sizeof to->stem, "%s", stem);
    snprintf(to->title, sizeof to->title, "%s", title);
    snprintf(to->caption, sizeof to->caption, "%s", caption);
}

int draft_end(figure_draft *d, const char *dir, const char *caption, profile_figures *out, error *e)
{
    int status = d->failed ? error_set(e, ERROR_ENVIRONMENT, "no memory for a figure") : 0;
    for (int i = 0; i < d->f.panels && status == 0; i++)
        if (d->f.panel[i].y_tics == 0)
            figure_fit(&d->f.panel[i], NAN, NAN);
    if (status == 0)
        figure_share(&d->f);
    if (status == 0 && (figure_write(&d->f, dir, e) < 0 || draft_csv(&d->f, dir, e) < 0))
        status = -1;
    if (status == 0)
        draft_register(out, d->f.name, "curves.gp", d->f.title, caption);
    figure_free(&d->f);
    return status;
}
