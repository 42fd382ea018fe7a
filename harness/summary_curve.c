/* summary_curve.c - what a whole curve says: the area under it, and how far it holds. */
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "metric.h"
#include "rng.h"

/* ------------------------------------------------------------------------------------------------ area */

static double curve_value(const summary_row *row, int seed)
{
    for (int i = 0; row && i < row->seeds; i++)
        if (row->seed[i] == seed)
            return row->value[i];
    return NAN;
}

/* Trapezoids over log(ratio) from point `first` on, over their whole width. NAN where one value is missing. */
static double curve_area(const summary_curve *c, int first, int seed)
{
    double sum = 0, width = log(c->point[c->lengths - 1]->ratio / c->point[first]->ratio);
    for (int l = first; l + 1 < c->lengths; l++) {
        double step = log(c->point[l + 1]->ratio / c->point[l]->ratio);
        sum += step * (curve_value(c->point[l], seed) + curve_value(c->point[l + 1], seed)) / 2;
    }
    return sum / width;
}

/* Why no seed can have an area; NULL when one can. */
static const char *curve_no_area(const summary_curve *c, int first)
{
    for (int l = first; l < c->lengths; l++) {
        if (!c->point[l])
            return "not run at every length";
        if (c->point[l]->seeds == 0)
            return strcmp(c->point[l]->status, "undefined") == 0 ? "undefined at some length"
                                                                 : "no value at some length";
    }
    return c->lengths - first < 2 || c->point[c->lengths - 1]->ratio <= c->point[first]->ratio ? "one length only"
                                                                                               : NULL;
}

static uint64_t curve_stream(const summary_curve *c)
{
    buffer name = BUFFER_INIT;
    buffer_format(&name, "area|%s|%s|%s|%s|%d", c->task, c->encoding, c->metric, c->mode, c->train_len);
    uint64_t stream = rng_hash(buffer_text(&name));
    buffer_free(&name);
    return stream;
}

static void curve_statistics(summary_curve *c, double fitted)
{
    const metric *m = metric_find(c->metric);
    if (c->seeds == 0)
        return;
    c->mean = stat_mean(c->area, c->seeds);
    c->sd = stat_sd(c->area, c->seeds);
    c->mean_fitted = c->fitted > 0 ? fitted / c->fitted : NAN;
    if (c->seeds < 2)
        return;
    stat_bootstrap(c->area, c->seeds, curve_stream(c), &c->ci_low, &c->ci_high);
    c->ci_low = fmax(c->ci_low, m->low);
    c->ci_high = fmin(c->ci_high, m->high);
}

/* Areas of the seeds that have one; the seeds are those of the first length. */
static int curve_set_areas(summary_curve *c)
{
    int first = c->home < 0 ? 0 : c->home;
    double fitted = 0;
    c->mean = c->sd = c->ci_low = c->ci_high = c->mean_fitted = NAN;
    c->reason = curve_no_area(c, first);
    if (c->reason)
        return 0;
    const summary_row *begin = c->point[first];
    c->area = calloc((size_t)begin->seeds, sizeof *c->area);
    c->seed = calloc((size_t)begin->seeds, sizeof *c->seed);
    if (!c->area || !c->seed)
        return -1;
    for (int i = 0; i < begin->seeds; i++) {
        double area = curve_area(c, first, begin->seed[i]);
        if (isnan(area))
            continue;
        fitted += begin->fit[i] ? area : 0;
        c->fitted += begin->fit[i];
        c->seed[c->seeds] = begin->seed[i];
        c->area[c->seeds++] = area;
    }
    c->reason = c->seeds > 0 ? "" : "no seed has a value at every length";
    curve_statistics(c, fitted);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ reach */

/* Whether a mean is no better than guessing, or than nothing where the level of chance is not known. */
static int curve_is_chance(const metric *m, const summary_row *row)
{
    return m->higher_is_better && row->mean <= (isnan(row->chance) ? m->low : row->chance);
}

static void curve_set_reach(summary_curve *c)
{
    const metric *m = metric_find(c->metric);
    const summary_row *home = c->home < 0 ? NULL : c->point[c->home];
    c->reach = NAN;
    c->learned = isinf(m->high);
    if (!home || isnan(home->mean) || curve_is_chance(m, home))
        return;
    c->learned |= home->fitted > 0;
    int l = c->home;
    for (; l < c->lengths; l++) {
        const summary_row *row = c->point[l];
        if (!row || isnan(row->mean))
            break;
        if (m->higher_is_better ? row->mean < 0.9 * home->mean : row->mean > home->mean / 0.9)
            break;
        c->reach = row->ratio;
    }
    c->reach_is_last = l == c->lengths;
}

/* ------------------------------------------------------------------------------------------------ gathering */

static int curve_same_panel(const summary_row *a, const summary_row *b)
{
    return a->train_len == b->train_len && strcmp(a->task, b->task) == 0 && strcmp(a->metric, b->metric) == 0 &&
           strcmp(a->mode, b->mode) == 0;
}

static int curve_same_length(const summary_row *a, const summary_row *b)
{
    return a->eval_len == b->eval_len && a->min_len == b->min_len;
}

static int curve_compare(const void *a, const void *b)
{
    return strcmp(((const summary_curve *)a)->encoding, ((const summary_curve *)b)->encoding);
}

/* `of`: any row of the curve, among the panel's count rows, which stand in order of length. */
static int curve_build(const summary_row *rows, int count, const summary_row *of, summary_curve *c)
{
    *c = (summary_curve){.encoding = of->encoding,
                         .task = of->task,
                         .metric = of->metric,
                         .mode = of->mode,
                         .train_len = of->train_len,
                         .is_baseline = of->is_baseline,
                         .home = -1,
                         .point = calloc((size_t)count, sizeof *c->point),
                         .reason = ""};
    if (!c->point)
        return -1;
    for (int i = 0; i < count; i++) {
        c->lengths += i == 0 || !curve_same_length(&rows[i - 1], &rows[i]);
        if (strcmp(rows[i].encoding, of->encoding) == 0)
            c->point[c->lengths - 1] = &rows[i];
        if (rows[i].ratio <= 1)
            c->home = c->lengths - 1;
    }
    curve_set_reach(c);
    return curve_set_areas(c);
}

static int curve_is_first(const summary_row *rows, int i)
{
    for (int k = 0; k < i; k++)
        if (strcmp(rows[k].encoding, rows[i].encoding) == 0)
            return 0;
    return 1;
}

int summary_curves(summary *s)
{
    s->curve = calloc((size_t)s->count + 1, sizeof *s->curve);
    if (!s->curve)
        return -1;
    int end;
    for (int first = 0; first < s->count; first = end) {
        const summary_row *rows = s->rows + first;
        int panel = s->curves;
        for (end = first + 1; end < s->count && curve_same_panel(rows, &s->rows[end]);)
            end++;
        if (metric_find(rows->metric)->role != METRIC_SCORE)
            continue;
        for (int i = 0; i < end - first; i++)
            if (curve_is_first(rows, i) && curve_build(rows, end - first, &rows[i], &s->curve[s->curves++]) < 0)
                return -1;
        qsort(s->curve + panel, (size_t)(s->curves - panel), sizeof *s->curve, curve_compare);
    }
    return 0;
}
