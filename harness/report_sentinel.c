/* report_sentinel.c - tasks at which nothing may succeed: whether something did. */
#include "report_document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "task.h"

/* A map's name begins here; it ends before its options or whatever follows the stack. */
static int sentinel_map_is_given(const registry *r, const char *at)
{
    char name[64];
    error unknown = ERROR_INIT;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "(,]+ "), at);
    const pe_map *map = *name ? registry_find_map(r, name, &unknown) : NULL; /* plug-ins are not here: no map of ours */
    return map && map->needs_given;
}

int view_is_given(const registry *r, const char *text)
{
    int given = *text && sentinel_map_is_given(r, text); /* the text of a map alone */
    for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@'))
        given |= sentinel_map_is_given(r, at + 1);
    return given;
}

view_sentinel view_sentinel_of(const report_view *v, const view_panel *p)
{
    view_sentinel out = {.ratio = NAN, .why = "", .method = -1, .length = -1, .mean = NAN};
    if (!p->primary || isinf(p->metric->high)) /* a share that can be full */
        return out;
    out.ratio = task_sentinel(p->task, &out.why);
    for (int l = 0; l < p->lengths; l++) {
        if (!(p->length[l].ratio >= out.ratio)) /* or it is no sentinel */
            continue;
        out.tested++;
        for (int m = 0; m < v->methods; m++) {
            const summary_row *row = view_row(p, m, l);
            if (!row || v->method[m].is_given || isnan(row->mean) || row->mean <= out.mean)
                continue;
            out.method = m;
            out.length = l;
            out.mean = row->mean;
        }
    }
    return out;
}

static void sentinel_score(const report_view *v, const view_panel *p, const view_sentinel *s, buffer *b)
{
    char ratio[VIEW_RATIO_MAX];
    const summary_row *row = view_row(p, s->method, s->length);
    view_ratio_text(p->length[s->length].ratio, ratio);
    doc_name(b, v->method[s->method].label);
    buffer_format(b, ", mean %s ", p->metric->title);
    buffer_fixed(b, s->mean, 3);
    buffer_format(b, " at %s (n = %d)", ratio, row->seeds);
}

void report_leaks(const report_view *v, document *d)
{
    for (int i = 0; i < v->panels; i++) {
        const view_panel *p = &v->panel[i];
        view_sentinel s = view_sentinel_of(v, p);
        if (s.method < 0 || s.mean < VIEW_SENTINEL_SOLVED)
            continue;
        buffer b = BUFFER_INIT;
        char ratio[VIEW_RATIO_MAX];
        view_ratio_text(s.ratio, ratio);
        buffer_add(&b, DOC_STRONG "A sentinel was solved: look for a leak before you believe any number here." DOC_END
                                  " On ");
        doc_name(&b, p->task);
        buffer_format(&b, " nothing may succeed at %s the training length or beyond: ", ratio);
        doc_plain(&b, s.why);
        buffer_add(&b, ". Yet one did: ");
        sentinel_score(v, p, &s, &b);
        buffer_add(&b,
                   ". Test sequences may have been met in training, or the answer stands in what the network reads.");
        doc_add_buffer(d, DOC_WARNING, &b, NULL);
    }
}

/* The same when all is well, and when nobody watched. */
void report_sentinels(const report_view *v, document *d)
{
    int watched = 0;
    for (int i = 0; i < v->panels; i++) {
        const view_panel *p = &v->panel[i];
        view_sentinel s = view_sentinel_of(v, p);
        buffer b = BUFFER_INIT;
        char ratio[VIEW_RATIO_MAX];
        if (isnan(s.ratio))
            continue;
        view_ratio_text(s.ratio, ratio);
        buffer_add(&b, "Sentinel ");
        doc_name(&b, p->task);
        if (s.method < 0) {
            buffer_format(&b, ": no value at %s the training length or beyond, so it watched over nothing.", ratio);
        } else {
            buffer_format(
                &b, ", at which nothing may succeed at %s the training length or beyond; the highest there is ", ratio);
            sentinel_score(v, p, &s, &b);
            buffer_add(&b, s.mean < VIEW_SENTINEL_SOLVED ? ". Not solved, as it should be."
                                                         : ". SOLVED: see the warning above.");
            watched++;
        }
        doc_add_buffer(d, DOC_ITEM, &b, NULL);
    }
    if (watched == 0)
        doc_add(d, DOC_ITEM,
                "No sentinel was tested far enough: no task here is one at which success would give a leak away.",
                NULL);
}
