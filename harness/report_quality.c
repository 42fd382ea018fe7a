/* report_quality.c - what a score costs: one point for each encoding, its score past the training length over the
 * processor time of a run. Seconds on the clock would also measure what else the machine did. */
#include "report_methods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Mean processor time of the runs behind a row, training and tests, s; NAN without any. */
static double quality_seconds(const report_view *v, const view_panel *p, int method)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < v->runs.count; i++) {
        const run_record *run = &v->runs.run[i];
        double seconds = results_number(run, "cost.cpu_seconds");
        if (!run->ok || isnan(seconds) || strcmp(run->config.task, p->task) != 0 ||
            run->config.train.len != p->train_len || strcmp(run->label, v->method[method].label) != 0)
            continue;
        sum += seconds;
        n++;
    }
    return n ? sum / n : NAN;
}

static int quality_add_method(const report_view *v, const view_panel *p, int method, figure_panel *out)
{
    const summary_row *row = view_row(p, method, p->headline);
    double seconds = quality_seconds(v, p, method);
    if (!row || isnan(row->mean) || isnan(seconds))
        return 0;
    figure_curve *c = figure_add_curve(out, v->method[method].line, v->method[method].style, 1);
    if (!c)
        return -1;
    c->point[0] = (figure_point){
        .x = seconds, .y = row->mean, .low = row->ci_low, .high = row->ci_high, .hollow = *row->flag != '\0'};
    return 0;
}

/* Appends a panel, unless it would be an empty frame. */
static int quality_panel(const report_view *v, const view_panel *p, int part, figure *f)
{
    figure_panel *out = &f->panel[f->panels];
    char *title = report_panel_title(v, p);
    char ratio[VIEW_RATIO_MAX];
    buffer subtitle = BUFFER_INIT;
    view_ratio_text(p->length[p->headline].ratio, ratio);
    buffer_format(&subtitle, "%s at %s", p->metric->title, ratio);
    if (strcmp(p->mode, "teacher_forced") != 0)
        buffer_format(&subtitle, ", %s", p->mode);
    *out = (figure_panel){.x_title = "processor time of a run, s", .x_from_zero = 1, .train_x = NAN};
    f->panels++;
    int status = report_part_words(v, part, p->task, title ? title : p->task, &subtitle, out);
    free(title);
    for (int m = 0; status == 0 && m < v->methods; m++)
        if (v->method[m].part == part)
            status = quality_add_method(v, p, m, out);
    int bounded = isfinite(p->metric->high);
    if (out->curves > 0)
        figure_fit(out, bounded ? p->metric->low : NAN, bounded ? p->metric->high : NAN);
    else
        figure_drop(f);
    return status;
}

int report_quality_write(const report_view *v, const char *dir, report_figures *out, error *e)
{
    figure f = {.name = "cost", .title = "Score against cost"};
    f.panel = calloc((size_t)v->panels * (size_t)v->parts + 1, sizeof *f.panel);
    int status = f.panel ? 0 : -1;
    for (int i = 0; status == 0 && i < v->panels; i++)
        for (int part = 0; status == 0 && v->panel[i].primary && part < v->parts; part++)
            status = quality_panel(v, &v->panel[i], part, &f);
    if (status == 0)
        figure_share(&f);
    if (status == 0 && f.panels > 0)
        return report_panels_write(&f, REPORT_COST, "curves.gp", dir, out, e);
    figure_free(&f);
    return status < 0 ? error_set(e, ERROR_ENVIRONMENT, "out of memory") : 0;
}
