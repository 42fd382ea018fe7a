/* report_extended_figure.c - score at longer lengths over steps of fine-tuning, a panel for each encoding. */
#include "report_extended.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Methods keep their style in all panels of a report: colours in order, so that the few that there are differ. */
static int extended_styles(const report_view *v, const char *name[EXTENDED_MAX], palette_style style[EXTENDED_MAX])
{
    extended_group all = {0};
    for (int i = 0; i < v->summary.extensions; i++)
        extended_note(&all, &v->summary.extension[i]);
    qsort(all.name, (size_t)all.names, sizeof all.name[0], extended_name_order);
    memcpy(name, all.name, sizeof all.name);
    for (int i = 0; i < all.names; i++)
        style[i] =
            (palette_style){.colour = i % PALETTE_COLOURS, .shape = i % PALETTE_SHAPES, .dash = i / PALETTE_COLOURS};
    return all.names;
}

/* The scores of a text that slides say the same as those of windows, but for the early tokens of each: one is drawn. */
static int extended_is_drawn(const report_view *v, const view_panel *p)
{
    for (int i = 0; i < v->panels && strcmp(p->mode, "sliding") != 0; i++)
        if (v->panel[i].primary && v->panel[i].metric == p->metric && v->panel[i].train_len == p->train_len &&
            strcmp(v->panel[i].task, p->task) == 0 && strcmp(v->panel[i].mode, "sliding") == 0)
            return 0;
    return 1;
}

/* The encoding as trained, at the training length. */
static int extended_add_level(const extended_group *g, int method, figure_panel *out)
{
    const view_panel *p = g->panel;
    const summary_row *home = p->home >= 0 && p->length[p->home].ratio == 1 ? view_row(p, method, p->home) : NULL;
    if (!home || isnan(home->mean))
        return 0;
    figure_curve *c = figure_add_curve(out, "1\303\227", (palette_style){0}, g->steps);
    if (!c)
        return -1;
    c->reference = 1;
    for (int s = 0; s < g->steps; s++)
        c->point[s] = (figure_point){.x = s, .y = home->mean, .low = NAN, .high = NAN};
    return 0;
}

static int extended_add_curve(const report_view *v, const extended_group *g, int factor, int method, const char *name,
                              palette_style style, figure_panel *out)
{
    int values = 0;
    for (int s = 0; s < g->steps; s++) {
        const summary_extension *x = extended_find(v, g, factor, method, name, "", s, 0);
        values += x && x->seeds > 0;
    }
    if (values == 0)
        return 0;
    figure_curve *c = figure_add_curve(out, name, style, g->steps);
    if (!c)
        return -1;
    for (int s = 0; s < g->steps; s++) {
        const summary_extension *x = extended_find(v, g, factor, method, name, "", s, 0);
        c->point[s].x = s;
        if (x && x->seeds > 0)
            c->point[s] = (figure_point){
                .x = s, .y = x->mean, .low = x->ci_low, .high = x->ci_high, .hollow = *x->flag && x->steps == 0};
    }
    return 1;
}

static void extended_set_x(const extended_group *g, figure_panel *out)
{
    out->x_title = "steps of fine-tuning";
    out->train_x = NAN;
    out->x_low = -0.3;
    out->x_high = g->steps > 1 ? g->steps - 1 : 1;
    for (int s = 0; s < g->steps && out->x_tics < FIGURE_TICS_MAX; s++) {
        figure_tic *tic = &out->x_tic[out->x_tics++];
        tic->at = s;
        snprintf(tic->text, sizeof tic->text, "%d", g->step[s]);
    }
}

/* The panel of one encoding at one longer length. Returns whether there is one; -1: no memory. */
static int extended_panel(const report_view *v, const extended_group *g, int factor, int method, figure_panel *out)
{
    const char *name[EXTENDED_MAX];
    palette_style style[EXTENDED_MAX];
    int names = extended_styles(v, name, style), curves = 0;
    const metric *m = g->panel->metric;
    char ratio[VIEW_RATIO_MAX];
    buffer subtitle = BUFFER_INIT;
    view_ratio_text(g->factor[factor], ratio);
    buffer_format(&subtitle, "%s at %s: %s", v->method[method].label, ratio, m->title);
    if (isinf(m->high))
        buffer_format(&subtitle, ", %s", m->unit);
    *out = (figure_panel){
        .title = report_panel_title(v, g->panel), .subtitle = buffer_take(&subtitle), .shares = g->panel->task};
    if (!out->title || !out->subtitle || extended_add_level(g, method, out) < 0)
        return -1;
    for (int i = 0; i < names; i++) {
        int added = extended_add_curve(v, g, factor, method, name[i], style[i], out);
        if (added < 0)
            return -1;
        curves += added;
    }
    extended_set_x(g, out);
    int bounded = isfinite(m->high);
    figure_fit(out, bounded ? m->low : NAN, bounded ? m->high : NAN);
    return curves > 0;
}

static int extended_panels(const report_view *v, figure *f)
{
    extended_group *g = calloc(1, sizeof *g);
    int status = g ? 0 : -1;
    for (int i = 0; status >= 0 && i < v->panels; i++) {
        if (!extended_is_drawn(v, &v->panel[i]) || !extended_gather(v, &v->panel[i], g))
            continue;
        for (int k = 0; status >= 0 && k < g->factors; k++)
            for (int m = 0; status >= 0 && m < v->methods; m++) {
                figure_panel *grown = realloc(f->panel, (size_t)(f->panels + 1) * sizeof *grown);
                if (!grown) {
                    status = -1;
                    break;
                }
                f->panel = grown;
                status = extended_panel(v, g, k, m, &f->panel[f->panels++]);
                if (status == 0)
                    figure_drop(f); /* without a method's curve */
            }
    }
    free(g);
    return status < 0 ? -1 : 0;
}

int report_extended_write(const report_view *v, const char *dir, report_figures *out, error *e)
{
    figure f = {.name = "extended", .title = "Score at longer lengths over steps of fine-tuning"};
    int status = report_is_extended(v) ? extended_panels(v, &f) : 0;
    if (status == 0)
        figure_share(&f);
    if (status == 0 && f.panels > 0)
        return report_panels_write(&f, REPORT_EXTENDED, "curves.gp", dir, out, e);
    figure_free(&f);
    return status < 0 ? error_set(e, ERROR_ENVIRONMENT, "out of memory") : 0;
}
