/* report_starved_figures.c - gradient and quality by position, a panel for each distribution of training lengths. */
#include "report_starved.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

enum { STARVED_BINS = 16 };

/* One run's curve: values of at most STARVED_BINS bins of equally many positions. */
typedef struct starved_curve {
    int count; /* positions */
    double y[STARVED_BINS];
} starved_curve;

static int starved_bins(int count)
{
    return count < STARVED_BINS ? count : STARVED_BINS;
}

/* The first position of a bin; bin `bins` begins behind the last. */
static int starved_begin(int bin, int count)
{
    return (int)((int64_t)bin * count / starved_bins(count));
}

/* Squared gradient of a bin in per cent of what an even share would give it. */
static int starved_gradient(const run_record *run, starved_curve *out)
{
    starved_input x;
    int status = starved_input_read(run, &x);
    double all = 0;
    for (int i = 0; status == 0 && i < x.count; i++)
        all += x.gradient[i];
    out->count = status == 0 && all > 0 ? x.count : 0;
    for (int b = 0; out->count && b < starved_bins(x.count); b++) {
        int begin = starved_begin(b, x.count), end = starved_begin(b + 1, x.count);
        double sum = 0;
        for (int i = begin; i < end; i++)
            sum += x.gradient[i];
        out->y[b] = 100 * sum / all * x.count / (end - begin);
    }
    starved_input_free(&x);
    return status;
}

/* Mean of what the test measured in a bin, over its scored tokens. */
static int starved_quality(const run_record *run, const char *key, starved_curve *out)
{
    const json_t *quality = json_object_get(json_object_get(run->record, "exposure"), "quality");
    const json_t *values = json_object_get(quality, key), *n = json_object_get(quality, "n");
    out->count = (int)json_array_size(n);
    for (int b = 0; out->count && b < starved_bins(out->count); b++) {
        double sum = 0, weight = 0;
        for (int i = starved_begin(b, out->count); i < starved_begin(b + 1, out->count); i++) {
            double own = json_number_value(json_array_get(n, (size_t)i));
            sum += own > 0 ? own * json_number_value(json_array_get(values, (size_t)i)) : 0;
            weight += own;
        }
        out->y[b] = weight > 0 ? sum / weight : NAN;
    }
    return 0;
}

static int starved_loss(const run_record *run, starved_curve *out)
{
    return starved_quality(run, "loss", out);
}

static int starved_accuracy(const run_record *run, starved_curve *out)
{
    return starved_quality(run, "accuracy", out);
}

/* One kind of figure. */
typedef struct starved_kind {
    report_figure_kind kind;
    const char *name, *title, *subtitle;
    int (*read)(const run_record *run, starved_curve *out);
    double y_log, least, most; /* values cannot lie outside */
} starved_kind;

/* Mean and interval of value[n], which is overwritten. On a logarithmic axis those of the logarithms, unless one value
 * is 0: then the mean alone. */
static void starved_mean_point(const starved_kind *kind, double *value, int n, figure_point *point)
{
    int is_log = kind->y_log > 0;
    point->y = n > 0 ? stat_mean(value, n) : NAN;
    for (int i = 0; i < n; i++)
        is_log &= value[i] > 0;
    if (n < 2 || (kind->y_log > 0 && !is_log))
        return;
    for (int i = 0; is_log && i < n; i++)
        value[i] = log(value[i]);
    stat_bootstrap(value, n, rng_hash(kind->name), &point->low, &point->high);
    point->low = is_log ? exp(point->low) : fmax(point->low, kind->least);
    point->high = is_log ? exp(point->high) : fmin(point->high, kind->most);
    point->y = is_log ? exp(stat_mean(value, n)) : point->y;
}

/* The curves of one cell must agree on their positions: what a run does not have as many of is left out. */
static int starved_add_method(const report_groups *g, const starved_kind *kind, int group, int encoding,
                              figure_panel *p)
{
    int runs = g->view->runs.count, n = 0, most = 0, status = 0;
    starved_curve *all = calloc((size_t)runs + 1, sizeof *all);
    double *value = calloc((size_t)runs + 1, sizeof *value);
    for (int i = 0; all && value && status == 0 && i < runs; i++)
        if (g->of[i] == group && g->encoding_of[i] == encoding) {
            status = kind->read(&g->view->runs.run[i], &all[n]);
            most = all[n].count > most ? all[n].count : most;
            n += all[n].count > 0;
        }
    int bins = starved_bins(most), last = -1;
    figure_curve *c = all && value && status == 0 && bins > 0
                          ? figure_add_curve(p, g->encoding[encoding], g->style[encoding], bins)
                          : NULL;
    for (int b = 0; c && b < bins; b++) {
        int m = 0;
        for (int i = 0; i < n; i++)
            if (all[i].count == most && !isnan(all[i].y[b]))
                value[m++] = all[i].y[b];
        figure_point *point = &c->point[b];
        point->x = (starved_begin(b, most) + starved_begin(b + 1, most) - 1) / 2.0;
        starved_mean_point(kind, value, m, point);
        if (kind->y_log > 0 && point->y == 0) {
            point->y = NAN;
            p->left_out++;
        }
        last = isnan(point->y) ? last : b;
    }
    if (c)
        c->count = last + 1; /* so that the label stands at the end of what there is */
    status = !all || !value || (bins > 0 && !c) ? -1 : status;
    free(all);
    free(value);
    return status;
}

static int starved_panel(const report_groups *g, const starved_kind *kind, int group, figure *f)
{
    figure_panel *p = &f->panel[f->panels++];
    *p = (figure_panel){.title = report_group_title(g, group),
                        .subtitle = strdup(kind->subtitle),
                        .x_title = "position",
                        .x_from_zero = 1,
                        .y_log = kind->y_log,
                        .train_x = NAN};
    for (int i = 0; i < g->encodings; i++)
        if (!p->title || !p->subtitle || starved_add_method(g, kind, group, i, p) < 0)
            return -1;
    figure_fit(p, NAN, NAN);
    return 0;
}

/* From the lowest to the highest point of a panel. The bands of few seeds reach over many powers of ten, and would
 * leave the points a thin line: they are cut at the edges. */
static void starved_point_range(const figure_panel *p, double *low, double *high)
{
    for (int c = 0; c < p->curves; c++)
        for (int i = 0; i < p->curve[c].count; i++) {
            *low = fmin(*low, p->curve[c].point[i].y); /* fmin and fmax pass NAN over */
            *high = fmax(*high, p->curve[c].point[i].y);
        }
}

/* One scale of y for all panels: they are there to be compared. A panel without a point says nothing about it, and is
 * dropped. */
static void starved_share_scale(figure *f)
{
    double low = INFINITY, high = -INFINITY;
    int kept = 0;
    for (int i = 0; i < f->panels; i++) {
        figure_panel *p = &f->panel[i];
        if (p->curves == 0) {
            free(p->title);
            free(p->subtitle);
            continue;
        }
        if (p->y_log > 0) {
            starved_point_range(p, &low, &high);
        } else {
            low = fmin(low, p->y_low);
            high = fmax(high, p->y_high);
        }
        f->panel[kept++] = *p;
    }
    f->panels = kept;
    for (int i = 0; i < kept && low < high; i++) {
        int left_out = f->panel[i].left_out; /* these points are gaps by now */
        figure_fit(&f->panel[i], low, high);
        f->panel[i].left_out = left_out;
    }
}

static int starved_figure(const report_groups *g, const starved_kind *kind, const char *dir, report_figures *out,
                          error *e)
{
    figure f = {.name = kind->name, .title = kind->title};
    f.panel = calloc((size_t)g->count + 1, sizeof *f.panel);
    int status = f.panel ? 0 : -1;
    for (int group = 0; status == 0 && group < g->count; group++)
        status = starved_panel(g, kind, group, &f);
    if (status == 0)
        starved_share_scale(&f);
    if (status == 0 && f.panels > 0)
        return report_panels_write(&f, kind->kind, "curves.gp", dir, out, e);
    figure_free(&f);
    return status < 0 ? error_set(e, ERROR_ENVIRONMENT, "out of memory") : 0;
}

int report_starved_write(const report_view *v, const char *dir, report_figures *out, error *e)
{
    static const starved_kind kinds[] = {
        {REPORT_STARVED_GRADIENT, "starved-gradient", "Gradient by position",
         "squared gradient at the input, % of an even share", starved_gradient, 10, 0, INFINITY},
        {REPORT_STARVED_LOSS, "starved-loss", "Loss by position at the end",
         "loss at the end of training, nats per token", starved_loss, 0, 0, INFINITY},
        {REPORT_STARVED_ACCURACY, "starved-accuracy", "Accuracy by position at the end",
         "share of right tokens at the end of training", starved_accuracy, 0, 0, 1}};
    report_groups g;
    int status = report_groups_find(v, starved_takes, NULL, &g);
    if (status < 0)
        error_set(e, ERROR_ENVIRONMENT, "out of memory");
    for (size_t i = 0; status == 0 && i < sizeof kinds / sizeof kinds[0]; i++)
        status = starved_figure(&g, &kinds[i], dir, out, e);
    report_groups_free(&g);
    return status;
}
