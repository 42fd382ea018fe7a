/* summary_contrast.c - each encoding less the baseline, and less the best, on the same seeds. */
#include "summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "metric.h"
#include "rng.h"

/* What is compared: the values of one encoding, at one length or its areas. */
typedef struct contrast_side {
    const char *encoding;
    int is_baseline, seeds;
    const double *value;
    const int *seed;
    double mean;
    const char *reason; /* why there is no value */
} contrast_side;

/* Where: the texts and numbers that all contrasts of a group share. */
typedef struct contrast_group {
    const char *task, *metric, *mode;
    int train_len, min_len, eval_len;
    double ratio;
    int count;
    contrast_side *side; /* [count] */
} contrast_group;

/* ------------------------------------------------------------------------------------------------ one pair */

/* Differences over the seeds that both have; room for a's. */
static int contrast_differences(const contrast_side *a, const contrast_side *b, double *d)
{
    int n = 0;
    for (int i = 0, j = 0; i < a->seeds && j < b->seeds;) {
        if (a->seed[i] == b->seed[j])
            d[n++] = stat_difference(a->value[i++], b->value[j++]);
        else if (a->seed[i] < b->seed[j])
            i++;
        else
            j++;
    }
    return n;
}

static uint64_t contrast_stream(const summary_contrast *c)
{
    buffer name = BUFFER_INIT;
    buffer_format(&name, "%s-%s|%s|%s|%s|%d|%d-%d", c->encoding, c->reference, c->task, c->metric, c->mode,
                  c->train_len, c->min_len, c->eval_len);
    uint64_t stream = rng_hash(buffer_text(&name));
    buffer_free(&name);
    return stream;
}

static int contrast_measure(const contrast_side *a, const contrast_side *b, summary_contrast *c)
{
    const metric *m = metric_find(c->metric);
    double *d = calloc((size_t)a->seeds + 1, sizeof *d);
    if (!d)
        return -1;
    int n = contrast_differences(a, b, d);
    stat_pair(d, n, contrast_stream(c), &c->d);
    c->d.low = fmax(c->d.low, m->low - m->high); /* fmax would take the bound for a NAN */
    c->d.high = fmin(c->d.high, m->high - m->low);
    if (n < 2)
        c->d.low = c->d.high = NAN;
    free(d);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ references */

/* " [train.lr=0.0003]", or "". */
static const char *contrast_settings(const char *label)
{
    const char *settings = strstr(label, " [");
    return settings ? settings : "";
}

/* The baseline with this encoding's settings; the only one there is, whatever its settings; else NULL. *several: there
 * are some, but none is this one's. */
static const contrast_side *contrast_baseline(const contrast_group *g, const contrast_side *of, int *several)
{
    const contrast_side *only = NULL;
    int count = 0;
    for (int i = 0; i < g->count; i++) {
        const contrast_side *side = &g->side[i];
        if (!side->is_baseline)
            continue;
        if (strcmp(contrast_settings(side->encoding), contrast_settings(of->encoding)) == 0)
            return side;
        only = side;
        count++;
    }
    *several = count > 1;
    return count == 1 ? only : NULL;
}

static const contrast_side *contrast_best(const contrast_group *g)
{
    int higher = metric_find(g->metric)->higher_is_better;
    const contrast_side *best = NULL;
    for (int i = 0; i < g->count; i++) {
        const contrast_side *side = &g->side[i];
        if (!isnan(side->mean) && (!best || (higher ? side->mean > best->mean : side->mean < best->mean)))
            best = side;
    }
    return best;
}

/* ------------------------------------------------------------------------------------------------ reasons */

static void contrast_no_pairs(const contrast_side *a, const contrast_side *b, summary_contrast *c)
{
    if (a->seeds == 0)
        snprintf(c->reason, sizeof c->reason, "no value: %s", a->reason);
    else if (b->seeds == 0)
        snprintf(c->reason, sizeof c->reason, "the %s has no value: %s", c->against, b->reason);
    else
        snprintf(c->reason, sizeof c->reason, "no seed in common");
}

/* What the numbers cannot say, however large the difference. Called when p_holm is known. */
static void contrast_set_reason(summary_contrast *c)
{
    char least[32];
    double smallest = stat_wilcoxon_least(c->d.nonzero);
    if (c->d.n == 1)
        snprintf(c->reason, sizeof c->reason, "one pair: no interval and no test");
    else if (c->d.nonzero == 0 && c->d.n > 0)
        snprintf(c->reason, sizeof c->reason, "all differences are 0");
    else if (c->d.n > 0 && smallest > 0.05) {
        buffer text = BUFFER_INIT;
        buffer_fixed(&text, smallest, 4);
        snprintf(least, sizeof least, "%s", buffer_text(&text));
        buffer_free(&text);
        snprintf(c->reason, sizeof c->reason, "%d difference%s other than 0: p cannot be below %s", c->d.nonzero,
                 c->d.nonzero == 1 ? "" : "s", least);
    } else if (c->d.n > 0 && smallest * c->tests > 0.05)
        snprintf(c->reason, sizeof c->reason,
                 "%d differences other than 0: p_holm over %d tests stays above 0.05 for the smallest p", c->d.nonzero,
                 c->tests);
    if (c->d.n > 1 && c->d.nonzero > 0 && isnan(c->d.effect)) {
        size_t used = strlen(c->reason);
        snprintf(c->reason + used, sizeof c->reason - used, "%sall differences are equal", used ? "; " : "");
    }
}

/* ------------------------------------------------------------------------------------------------ groups */

/* Contrasts with one kind of reference, appended to s; p-values are corrected over all of them. */
static int contrast_add(summary *s, const contrast_group *g, const char *against)
{
    int first = s->contrasts, is_best = strcmp(against, "best") == 0, status = 0;
    const contrast_side *best = contrast_best(g);
    double p[g->count + 1];
    for (int i = 0; i < g->count; i++) {
        const contrast_side *side = &g->side[i];
        int several = 0;
        const contrast_side *reference = is_best ? best : contrast_baseline(g, side, &several);
        if (reference == side || (!reference && !several) || (!is_best && side->is_baseline))
            continue;
        summary_contrast *c = &s->contrast[s->contrasts++];
        *c = (summary_contrast){.against = against,
                                .reference = reference ? reference->encoding : "",
                                .encoding = side->encoding,
                                .task = g->task,
                                .metric = g->metric,
                                .mode = g->mode,
                                .train_len = g->train_len,
                                .min_len = g->min_len,
                                .eval_len = g->eval_len,
                                .ratio = g->ratio};
        stat_pair(NULL, 0, 0, &c->d);
        if (!reference)
            snprintf(c->reason, sizeof c->reason,
                     "the baseline was run with several settings, none of them this one's");
        else if (contrast_measure(side, reference, c) < 0)
            status = -1;
        else if (c->d.n == 0)
            contrast_no_pairs(side, reference, c);
    }
    for (int i = first; i < s->contrasts; i++)
        p[i - first] = s->contrast[i].d.p;
    int tests = stat_holm(p, s->contrasts - first, p);
    for (int i = first; i < s->contrasts; i++) {
        s->contrast[i].p_holm = p[i - first];
        s->contrast[i].tests = tests;
        contrast_set_reason(&s->contrast[i]);
    }
    return status;
}

static int contrast_add_both(summary *s, const contrast_group *g)
{
    return contrast_add(s, g, "baseline") < 0 || contrast_add(s, g, "best") < 0 ? -1 : 0;
}

/* The encodings of one point: rows first .. end-1. */
static int contrast_point(summary *s, int first, int end, contrast_side *side)
{
    const summary_row *at = &s->rows[first];
    contrast_group g = {at->task,     at->metric, at->mode,    at->train_len, at->min_len,
                        at->eval_len, at->ratio,  end - first, side};
    for (int i = first; i < end; i++) {
        const summary_row *row = &s->rows[i];
        side[i - first] =
            (contrast_side){row->encoding, row->is_baseline, row->seeds, row->value, row->seed, row->mean, row->status};
    }
    return contrast_add_both(s, &g);
}

/* The areas of the panel to which this row belongs. */
static int contrast_areas(summary *s, const summary_row *at, contrast_side *side)
{
    contrast_group g = {at->task, at->metric, at->mode, at->train_len, 0, 0, NAN, 0, side};
    for (int i = 0; i < s->curves; i++) {
        const summary_curve *c = &s->curve[i];
        if (c->train_len == at->train_len && strcmp(c->task, at->task) == 0 && strcmp(c->metric, at->metric) == 0 &&
            strcmp(c->mode, at->mode) == 0)
            side[g.count++] =
                (contrast_side){c->encoding, c->is_baseline, c->seeds, c->area, c->seed, c->mean, c->reason};
    }
    return contrast_add_both(s, &g);
}

static int contrast_same_panel(const summary_row *a, const summary_row *b)
{
    return a->train_len == b->train_len && strcmp(a->task, b->task) == 0 && strcmp(a->metric, b->metric) == 0 &&
           strcmp(a->mode, b->mode) == 0;
}

int summary_contrasts(summary *s)
{
    contrast_side *side = calloc((size_t)s->count + 1, sizeof *side);
    s->contrast = calloc(2 * (size_t)(s->count + s->curves) + 1, sizeof *s->contrast);
    int status = side && s->contrast ? 0 : -1, end;
    for (int first = 0; status == 0 && first < s->count; first = end) {
        const summary_row *at = &s->rows[first];
        for (end = first + 1; end < s->count && contrast_same_panel(at, &s->rows[end]) &&
                              at->eval_len == s->rows[end].eval_len && at->min_len == s->rows[end].min_len;)
            end++;
        if (metric_find(at->metric)->role != METRIC_SCORE)
            continue;
        status = contrast_point(s, first, end, side);
        if (status == 0 && (end == s->count || !contrast_same_panel(at, &s->rows[end])))
            status = contrast_areas(s, at, side);
    }
    free(side);
    return status;
}

const summary_contrast *summary_contrast_find(const summary *s, const char *against, const summary_row *at,
                                              const char *encoding, int areas)
{
    for (int i = 0; i < s->contrasts; i++) {
        const summary_contrast *c = &s->contrast[i];
        int here = areas ? c->eval_len == 0 : c->eval_len == at->eval_len && c->min_len == at->min_len;
        if (here && c->train_len == at->train_len && strcmp(c->task, at->task) == 0 &&
            strcmp(c->metric, at->metric) == 0 && strcmp(c->mode, at->mode) == 0 && strcmp(c->against, against) == 0 &&
            strcmp(c->encoding, encoding) == 0)
            return c;
    }
    return NULL;
}
