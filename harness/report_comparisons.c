/* report_comparisons.c - differences with what is needed to believe them: from the baseline on each task, and over all
 * tasks. */
#include "report_document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPARISON_WHERE = 2 }; /* at the headline's length, and over the whole curve */

/* "0.0313", "< 0.0001"; nothing for NAN. */
static void comparison_p(double p, buffer *out)
{
    if (p < 0.0001)
        buffer_add(out, "< 0.0001");
    else
        buffer_fixed(out, p, 4);
}

static const summary_contrast *comparison_of(const report_view *v, const view_panel *p, int m, int where)
{
    return view_contrast(v, p, "baseline", m, where == 0 ? p->headline : VIEW_AREA);
}

static int comparison_any(const report_view *v, const view_panel *p, int m)
{
    return comparison_of(v, p, m, 0) || comparison_of(v, p, m, 1);
}

/* ------------------------------------------------------------------------------------------------ one task */

static void comparison_columns(const view_panel *p, document *d)
{
    char ratio[VIEW_RATIO_MAX], tokens[32];
    buffer at = BUFFER_INIT;
    report_length_text(&p->length[p->headline], ratio, tokens);
    buffer_format(&at, "at %s", ratio);
    doc_add(d, DOC_COLUMN, "encoding", NULL)->flags = DOC_LEFT;
    doc_add(d, DOC_COLUMN, "difference", buffer_text(&at));
    doc_add(d, DOC_COLUMN, "p", "Holm's p");
    doc_add(d, DOC_COLUMN, "d_z", "rank-biserial");
    doc_add(d, DOC_COLUMN, "pairs", "needed");
    if (view_is_past(p)) {
        doc_add(d, DOC_COLUMN, "difference", "of the areas");
        doc_add(d, DOC_COLUMN, "p", "Holm's p");
    }
    buffer_free(&at);
}

static void comparison_difference(const summary_contrast *c, document *d)
{
    buffer text = BUFFER_INIT, interval = BUFFER_INIT;
    if (c && c->d.n > 0) {
        buffer_add(&text, c->d.mean > 0 ? "+" : "");
        report_number(c->d.mean, &text);
        report_interval(c->d.low, c->d.high, &interval);
    } else if (c) {
        buffer_add(&text, "\342\200\224");
    }
    doc_add_buffer(d, DOC_CELL, &text, buffer_text(&interval))->flags = c && c->d.n > 0 ? 0 : DOC_DIM;
    buffer_free(&interval);
}

static void comparison_p_cell(const summary_contrast *c, document *d)
{
    buffer text = BUFFER_INIT, corrected = BUFFER_INIT;
    if (c) {
        comparison_p(c->d.p, &text);
        comparison_p(c->p_holm, &corrected);
    }
    doc_add_buffer(d, DOC_CELL, &text, buffer_text(&corrected));
    buffer_free(&corrected);
}

static void comparison_effect(const summary_contrast *c, document *d)
{
    buffer effect = BUFFER_INIT, biserial = BUFFER_INIT;
    if (c) {
        buffer_fixed(&effect, c->d.effect, 2);
        buffer_fixed(&biserial, c->d.biserial, 2);
    }
    doc_add_buffer(d, DOC_CELL, &effect, buffer_text(&biserial));
    buffer_free(&biserial);
}

static void comparison_pairs(const summary_contrast *c, document *d)
{
    buffer pairs = BUFFER_INIT, needed = BUFFER_INIT;
    if (c)
        buffer_format(&pairs, "%d", c->d.n);
    if (c && c->d.needed > 0)
        buffer_format(&needed, c->d.needed < STAT_PAIRS_MAX ? "%d" : "\342\211\245 %d", c->d.needed);
    doc_add_buffer(d, DOC_CELL, &pairs, buffer_text(&needed));
    buffer_free(&needed);
}

static int comparison_same_reason(const summary_contrast *c, const char *reason)
{
    return c && strcmp(c->reason, reason) == 0;
}

/* The methods with this reason, or "all". */
static void comparison_named(const report_view *v, const view_panel *p, const char *reason, buffer *note)
{
    int named = 0, others = 0;
    for (int m = 0; m < v->methods; m++) {
        const summary_contrast *c = comparison_of(v, p, m, 0);
        named += comparison_same_reason(c, reason);
        others += c && !comparison_same_reason(c, reason);
    }
    if (named > 2 && others == 0) {
        buffer_add(note, "All");
        return;
    }
    for (int m = 0, before = 0; m < v->methods; m++)
        if (comparison_same_reason(comparison_of(v, p, m, 0), reason)) {
            buffer_add(note, before++ ? ", " : "");
            doc_name(note, v->method[m].label);
        }
}

/* "`a`, `b`: no value: undefined" for each reason once. */
static void comparison_reasons(const report_view *v, const view_panel *p, document *d)
{
    buffer note = BUFFER_INIT;
    for (int m = 0; m < v->methods; m++) {
        const summary_contrast *c = comparison_of(v, p, m, 0);
        int known = !c || !*c->reason;
        for (int k = 0; k < m && !known; k++)
            known = comparison_same_reason(comparison_of(v, p, k, 0), c->reason);
        if (known)
            continue;
        buffer_add(&note, note.length > 0 ? " " : "");
        comparison_named(v, p, c->reason, &note);
        buffer_add(&note, ": ");
        doc_plain(&note, c->reason);
        buffer_add(&note, ".");
    }
    if (note.length > 0)
        doc_add_buffer(d, DOC_NOTE, &note, NULL);
}

void report_comparison_table(const report_view *v, const view_panel *p, document *d)
{
    int rows = 0;
    for (int m = 0; m < v->methods; m++)
        rows += comparison_any(v, p, m);
    if (rows == 0)
        return;
    buffer caption = BUFFER_INIT;
    char *title = report_panel_title(v, p);
    doc_name(&caption, title ? title : p->task);
    free(title);
    buffer_format(&caption, ", %s: each encoding less the baseline ", p->metric->title);
    doc_name(&caption, v->runs.baseline);
    buffer_format(
        &caption,
        " on the same seeds (%s is better). Mean difference and 95 %% interval (studentised bootstrap); p of the exact "
        "Wilcoxon signed-rank test and after Holm's correction over this column; Cohen's d_z and rank-biserial "
        "correlation; pairs of runs, and pairs needed to find a difference of this size with power 0.8.",
        p->metric->higher_is_better ? "higher" : "lower");
    doc_add_buffer(d, DOC_TABLE, &caption, NULL);
    comparison_columns(p, d);
    for (int m = 0; m < v->methods; m++) {
        if (!comparison_any(v, p, m))
            continue;
        const summary_contrast *at = comparison_of(v, p, m, 0), *area = comparison_of(v, p, m, 1);
        report_method_cell(v, m, d);
        comparison_difference(at, d);
        comparison_p_cell(at, d);
        comparison_effect(at, d);
        comparison_pairs(at, d);
        if (view_is_past(p)) {
            comparison_difference(area, d);
            comparison_p_cell(area, d);
        }
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
    comparison_reasons(v, p, d);
}

/* ------------------------------------------------------------------------------------------------ all tasks */

/* "p = 0.0313", "p < 0.0001" */
static void comparison_p_words(double p, buffer *out)
{
    buffer_add(out, p < 0.0001 ? "p " : "p = ");
    comparison_p(p, out);
}

static void comparison_friedman(const stat_friedman_result *f, buffer *b)
{
    buffer_format(b, "Over %d tasks Friedman's test of equal ranks gives \317\207\302\262(%d) = ", f->blocks,
                  f->treatments - 1);
    buffer_fixed(b, f->chi2, 2);
    buffer_add(b, ", ");
    comparison_p_words(f->p_chi2, b);
    buffer_format(b, "; Iman and Davenport's form, which is closer to its level, F(%d, %d) = ", f->treatments - 1,
                  (f->treatments - 1) * (f->blocks - 1));
    if (isinf(f->f))
        buffer_add(b, "infinite (all tasks agree)");
    else
        buffer_fixed(b, f->f, 2);
    buffer_add(b, ", ");
    comparison_p_words(f->p_f, b);
    buffer_add(b, ". ");
}

static void comparison_critical(const report_view *v, buffer *b)
{
    const view_method *best = &v->method[v->by_rank[0]];
    int tied = 0, ranked = 0;
    buffer_add(b, "Mean ranks are separable at the 5 % level (Nemenyi) where they are at least ");
    buffer_fixed(b, v->critical, 2);
    buffer_add(b, " apart. ");
    for (int i = 1; i < v->methods && !isnan(v->method[v->by_rank[i]].rank); i++) {
        const view_method *m = &v->method[v->by_rank[i]];
        ranked++;
        if (m->rank - best->rank >= v->critical)
            continue;
        if (tied++ == 0) {
            buffer_add(b, "By these tasks alone, the following cannot be told apart from the best, ");
            doc_name(b, best->label);
        }
        buffer_add(b, tied > 1 ? ", " : ": ");
        doc_name(b, m->label);
    }
    if (tied == 0) {
        buffer_add(b, "The best, ");
        doc_name(b, best->label);
        buffer_add(b, ", is separable from every other.");
    } else {
        buffer_add(b, tied == ranked ? " \342\200\223 that is, all." : ".");
    }
}

void report_over_tasks(const report_view *v, document *d)
{
    if (v->ranked_tasks == 0 || v->ranked_seeds == 0)
        return;
    if (v->ranked_tasks < 2) {
        doc_add(d, DOC_PARAGRAPH,
                "One task was ranked, so these ranks say nothing about other tasks: Friedman's test and a critical "
                "difference need "
                "several.",
                NULL);
        return;
    }
    buffer b = BUFFER_INIT;
    if (isnan(v->friedman.chi2))
        buffer_add(&b, "All encodings have the same rank on every task, so there is nothing to test. ");
    else
        comparison_friedman(&v->friedman, &b);
    comparison_critical(v, &b);
    if (v->ranked_tasks < 10)
        buffer_add(&b, " With so few tasks both are coarse.");
    doc_add_buffer(d, DOC_PARAGRAPH, &b, NULL);
}
