/* report_decoded.c - answers that were written token by token (eval.decode), beside the same score under teacher
 * forcing. */
#include "report_document.h"

#include <math.h>
#include <string.h>

/* The same score under teacher forcing. */
static const view_panel *decoded_forced(const report_view *v, const view_panel *decoded)
{
    for (int i = 0; i < v->panels; i++) {
        const view_panel *p = &v->panel[i];
        if (!p->decoded && p->metric == decoded->metric && p->train_len == decoded->train_len &&
            strcmp(p->task, decoded->task) == 0)
            return p;
    }
    return NULL;
}

/* Points at which both modes have a value, and those of them whose means differ; the largest difference. */
static int decoded_compare(const report_view *v, const view_panel *p, int *apart, double *most)
{
    const view_panel *forced = decoded_forced(v, p);
    int points = 0;
    *apart = 0;
    *most = 0;
    for (int m = 0; m < v->methods; m++)
        for (int l = 0; l < p->lengths; l++) {
            const summary_row *a = view_row(p, m, l), *b = NULL;
            for (int k = 0; forced && k < forced->lengths; k++)
                if (forced->length[k].eval_len == p->length[l].eval_len &&
                    forced->length[k].min_len == p->length[l].min_len)
                    b = view_row(forced, m, k);
            if (!a || !b || isnan(a->mean) || a->seeds != b->seeds)
                continue; /* some runs did not decode: means over other runs say nothing */
            double difference = fabs(stat_difference(a->mean, b->mean));
            points++;
            *apart += difference > 0;
            *most = fmax(*most, difference);
        }
    return points;
}

void report_decoded_table(const report_view *v, const view_panel *p, document *d)
{
    buffer b = BUFFER_INIT;
    int apart;
    double most;
    int points = decoded_compare(v, p, &apart, &most);
    report_panel_table(v, p, d);
    if (points == 0)
        return;
    buffer_format(&b, "Against teacher forcing, mean %s ", p->metric->title);
    if (apart == 0)
        buffer_format(&b, "is the same at all %d points of encoding and length", points);
    else {
        buffer_format(&b, "differs at %d of %d points of encoding and length, by up to ", apart, points);
        report_number(most, &b);
    }
    buffer_add(&b, p->metric == metric_score(0)
                       ? ". The two are one event, up to rounding: every token is right where those before it are."
                       : ": a wrong token is read by all that follow.");
    doc_add_buffer(d, DOC_NOTE, &b, NULL);
}
