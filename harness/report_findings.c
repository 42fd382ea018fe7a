/* report_findings.c - what came out, in words. Where the data stop short of a statement, that is the statement. */
#include "report_document.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* " 0.540 [0.412, 0.655], n = 5 (chance 0.250)" */
static void findings_score(const view_panel *p, const summary_row *row, buffer *b)
{
    buffer_add(b, " ");
    buffer_fixed(b, row->mean, 3);
    if (!isnan(row->ci_low)) {
        buffer_add(b, " [");
        buffer_fixed(b, row->ci_low, 3);
        buffer_add(b, ", ");
        buffer_fixed(b, row->ci_high, 3);
        buffer_add(b, "]");
    }
    buffer_format(b, ", n = %d", row->seeds);
    if (!isnan(p->length[p->headline].chance)) {
        buffer_add(b, " (chance ");
        buffer_fixed(b, p->length[p->headline].chance, 3);
        buffer_add(b, ")");
    }
}

static void findings_none(const report_view *v, const view_panel *p, buffer *b)
{
    int values = 0, seeds = 0, best = -1;
    for (int m = 0; m < v->methods; m++) {
        const summary_row *row = view_row(p, m, p->headline);
        if (!row || row->seeds == 0)
            continue;
        values++;
        seeds = row->seeds > seeds ? row->seeds : seeds;
        double lead = best < 0 ? 1 : row->mean - view_row(p, best, p->headline)->mean;
        if (best < 0 || (p->metric->higher_is_better ? lead > 0 : lead < 0))
            best = m;
    }
    if (values == 0)
        buffer_add(b, "no encoding has a value there.");
    else if (values == 1)
        buffer_add(b, "only one encoding has a value there.");
    else if (seeds < 2)
        buffer_add(b, "one seed each, so the data cannot say which is best.");
    else if (view_row(p, best, p->headline)->seeds < 2) {
        buffer_add(b, "the best mean, of ");
        doc_name(b, v->method[best].label);
        buffer_add(b, ", is that of one run, so the data cannot say which is best.");
    } else
        buffer_add(b, "no encoding scores above chance.");
}

void report_needed(const summary_contrast *c, buffer *out)
{
    if (!c || c->d.n < 2)
        buffer_add(out, c && c->d.n == 1 ? "one seed in common" : "no seed in common");
    else if (c->d.nonzero == 0)
        buffer_add(out, "equal in every seed");
    else if (c->d.needed >= STAT_PAIRS_MAX)
        buffer_format(out, "%d seeds would not be enough", STAT_PAIRS_MAX);
    else if (c->d.needed > c->d.n)
        buffer_format(out, "about %d seeds would be needed", c->d.needed);
    else
        buffer_add(out, "a few seeds more may be enough");
}

/* Every encoding that cannot be told apart from the best, each with how many seeds it would take. */
static void findings_tied(const report_view *v, const view_panel *p, const view_mark *mark, buffer *b)
{
    int tied = 0, others = 0;
    for (int m = 0; m < v->methods; m++) {
        if (mark[m] != VIEW_TIED)
            continue;
        buffer_add(b, tied++ ? ", " : "; cannot be told apart from it: ");
        doc_name(b, v->method[m].label);
        buffer_add(b, " (");
        report_needed(view_contrast(v, p, "best", m, p->headline), b);
        buffer_add(b, ")");
    }
    for (int m = 0; m < v->methods; m++)
        others += mark[m] == VIEW_PLAIN && view_row(p, m, p->headline);
    buffer_add(b, tied == 0     ? "; it is separable from every other."
                  : others == 0 ? " \342\200\223 that is, all."
                                : ".");
}

static void findings_task(const report_view *v, const view_panel *p, document *d)
{
    view_mark mark[v->methods];
    char ratio[VIEW_RATIO_MAX];
    buffer b = BUFFER_INIT;
    char *title = report_panel_title(v, p);
    view_ratio_text(p->length[p->headline].ratio, ratio);
    doc_name(&b, title ? title : p->task);
    free(title);
    buffer_format(&b, ", %s at %s", p->metric->title, ratio);
    if (strcmp(p->mode, "teacher_forced") != 0)
        buffer_format(&b, " (%s)", p->mode);
    buffer_add(&b, ": ");
    if (view_marks(v, p, p->headline, mark)) {
        int best = 0;
        while (mark[best] != VIEW_BEST)
            best++;
        buffer_add(&b, "best mean ");
        doc_name(&b, v->method[best].label);
        findings_score(p, view_row(p, best, p->headline), &b);
        findings_tied(v, p, mark, &b);
    } else {
        findings_none(v, p, &b);
    }
    doc_add_buffer(d, DOC_ITEM, &b, NULL);
}

static int findings_seeds(const report_view *v)
{
    int several = 0;
    for (int i = 1; i < v->runs.count; i++)
        several |= v->runs.run[i].config.seed != v->runs.run[0].config.seed;
    return several;
}

void report_findings(const report_view *v, document *d)
{
    if (!findings_seeds(v)) {
        doc_add(d, DOC_PARAGRAPH,
                "One seed was run, so the data cannot say which encoding is best: how much another seed would "
                "change is not known. Five seeds or more give intervals and comparisons.",
                NULL);
        return;
    }
    for (int i = 0; i < v->panels; i++)
        if (v->panel[i].primary)
            findings_task(v, &v->panel[i], d);
}
