/* report_data_table.c - at which amount of data one encoding overtakes another. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_data.h"
#include "rng.h"

/* What the others of a group are compared with: the baseline where it was run, else the first by name. -1: nothing. */
static int scale_reference(const report_scale *s, double *value, int *seed)
{
    int first = -1;
    for (int i = 0; i < s->groups->encodings; i++) {
        int present = 0;
        for (int k = 0; k < s->amounts; k++)
            present |= report_scale_values(s, i, k, value, seed) > 0;
        if (present && s->groups->is_baseline[i])
            return i;
        first = present && first < 0 ? i : first;
    }
    return first;
}

/* Scores by seed at one amount: those that both have, as differences from the reference. */
typedef struct scale_room {
    double *value, *other; /* [runs] */
    int *seed, *other_seed;
    double *d; /* [runs][amounts] */
} scale_room;

static int scale_seed(const int *seed, int n, int wanted)
{
    for (int i = 0; i < n; i++)
        if (seed[i] == wanted)
            return i;
    return -1;
}

/* d[pairs][amounts] = encoding less reference, of seeds that both have at all amounts; the number of pairs. Seeds are
 * those of the first amount. */
static int scale_differences(const report_scale *s, int encoding, int reference, scale_room *r)
{
    int runs = s->groups->view->runs.count, pairs = 0;
    int n = report_scale_values(s, encoding, 0, r->value, r->seed);
    int *wanted = calloc((size_t)runs + 1, sizeof *wanted);
    if (!wanted)
        return -1;
    memcpy(wanted, r->seed, sizeof *wanted * (size_t)n);
    for (int i = 0; i < n; i++) {
        int k = 0;
        for (; k < s->amounts; k++) {
            int own = report_scale_values(s, encoding, k, r->value, r->seed);
            int others = report_scale_values(s, reference, k, r->other, r->other_seed);
            int a = scale_seed(r->seed, own, wanted[i]), b = scale_seed(r->other_seed, others, wanted[i]);
            if (a < 0 || b < 0)
                break;
            r->d[pairs * s->amounts + k] = stat_difference(r->value[a], r->other[b]);
        }
        pairs += k == s->amounts;
    }
    free(wanted);
    return pairs;
}

static void scale_dash(document *d, const char *why)
{
    doc_add(d, DOC_CELL, "\342\200\224", why)->flags = DOC_DIM;
}

static void scale_difference_cell(const scale_room *r, int pairs, int amounts, int k, document *d)
{
    buffer text = BUFFER_INIT, interval = BUFFER_INIT;
    stat_paired s;
    for (int i = 0; i < pairs; i++)
        r->value[i] = r->d[i * amounts + k];
    stat_pair(r->value, pairs, rng_hash("data scale"), &s);
    buffer_add(&text, s.mean > 0 ? "+" : "");
    report_number(s.mean, &text);
    report_interval(s.low, s.high, &interval);
    doc_add_buffer(d, DOC_CELL, &text, buffer_text(&interval));
    buffer_free(&interval);
}

/* "1.2M", and below it "0.8M to 2.1M in 97 % of resamples"; or that there is no crossing. */
static void scale_crossing_cell(const report_scale *s, const scale_room *r, int pairs, document *d)
{
    buffer text = BUFFER_INIT, more = BUFFER_INIT;
    stat_crossed c;
    stat_crossing(s->amount, r->d, pairs, s->amounts, rng_hash("data scale"), &c);
    if (isnan(c.at))
        buffer_add(&text, "no crossing");
    else
        report_amount_text(c.at, &text);
    if (c.count > 1)
        buffer_format(&text, " (the first of %d)", c.count);
    if (!isnan(c.low)) {
        report_amount_text(c.low, &more);
        buffer_add(&more, " to ");
        report_amount_text(c.high, &more);
        buffer_add(&more, ", in ");
    }
    if (!isnan(c.share)) {
        buffer_fixed(&more, 100 * c.share, 0);
        buffer_add(&more, " % of resamples");
    }
    doc_add_buffer(d, DOC_CELL, &text, buffer_text(&more))->flags = isnan(c.at) ? DOC_DIM : 0;
    buffer_free(&more);
}

static void scale_row(const report_scale *s, int encoding, int reference, scale_room *r, document *d)
{
    buffer name = BUFFER_INIT;
    int pairs = scale_differences(s, encoding, reference, r);
    doc_name(&name, s->groups->encoding[encoding]);
    doc_add(d, DOC_ROW, NULL, NULL);
    doc_block *b = doc_add_buffer(d, DOC_CELL, &name, NULL);
    b->has_style = 1;
    b->style = s->groups->style[encoding];
    d->failed |= pairs < 0;
    for (int k = 0; k < s->amounts; k++) {
        if (pairs > 0)
            scale_difference_cell(r, pairs, s->amounts, k, d);
        else
            scale_dash(d, NULL);
    }
    if (pairs > 0)
        scale_crossing_cell(s, r, pairs, d);
    else
        scale_dash(d, "no seed has all amounts");
}

static void scale_heading(const report_scale *s, int reference, document *d)
{
    const metric *m = s->panel->metric;
    char *title = report_scale_title(s);
    buffer caption = BUFFER_INIT;
    doc_name(&caption, title ? title : s->panel->task);
    buffer_format(&caption, ", %s at the training length (%s, %s is better", m->title, m->unit,
                  m->higher_is_better ? "higher" : "lower");
    if (strcmp(s->panel->mode, "teacher_forced") != 0)
        buffer_format(&caption, ", %s", s->panel->mode);
    buffer_add(&caption, ") of each encoding less that of ");
    doc_name(&caption, s->groups->encoding[reference]);
    buffer_format(
        &caption,
        ", by distinct training %s at equal steps: means over the seeds that both have, with 95 %% intervals. "
        "Crossing: the amount at which the mean difference, drawn with straight lines over the logarithm of the "
        "amount, changes its sign. The seeds are resampled 4000 times, in pairs; the interval holds the middle "
        "95 %% of the crossings of those resamples that cross at all, whose share stands beside it: below 97 %% "
        "it is not certain that there is one.",
        report_scale_unit(s));
    doc_add_buffer(d, DOC_TABLE, &caption, NULL);
    free(title);
    doc_add(d, DOC_COLUMN, "encoding", NULL)->flags = DOC_LEFT;
    for (int k = 0; k < s->amounts; k++) {
        buffer amount = BUFFER_INIT;
        report_amount_text(s->amount[k], &amount);
        doc_add_buffer(d, DOC_COLUMN, &amount, k == 0 ? report_scale_unit(s) : NULL);
    }
    doc_add(d, DOC_COLUMN, "crossing", NULL);
}

static void scale_table(const report_scale *s, scale_room *r, document *d)
{
    int reference = scale_reference(s, r->value, r->seed), others = 0;
    for (int i = 0; i < s->groups->encodings; i++)
        for (int k = 0; i != reference && k < s->amounts; k++)
            others += report_scale_values(s, i, k, r->value, r->seed) > 0;
    if (reference < 0 || others == 0)
        return;
    scale_heading(s, reference, d);
    for (int i = 0; i < s->groups->encodings; i++) {
        int present = 0;
        for (int k = 0; k < s->amounts; k++)
            present |= report_scale_values(s, i, k, r->value, r->seed) > 0;
        if (i != reference && present)
            scale_row(s, i, reference, r, d);
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}

void report_data_tables(const report_view *v, document *d)
{
    report_groups g;
    report_scale s;
    size_t runs = (size_t)v->runs.count + 1;
    scale_room r = {calloc(runs, sizeof(double)), calloc(runs, sizeof(double)), calloc(runs, sizeof(int)),
                    calloc(runs, sizeof(int)), calloc(runs * REPORT_AMOUNTS_MAX, sizeof(double))};
    int status = report_data_groups(v, &g);
    if (status < 0 || !r.value || !r.other || !r.seed || !r.other_seed || !r.d)
        d->failed = 1;
    for (int group = 0; !d->failed && group < g.count; group++)
        for (int i = 0; i < v->panels; i++)
            if (report_scale_find(&g, group, &v->panel[i], &s))
                scale_table(&s, &r, d);
    report_groups_free(&g);
    free(r.value);
    free(r.other);
    free(r.seed);
    free(r.other_seed);
    free(r.d);
}
