/* report_extended.c - the rows that the section "Extended" is about, and how they came about. */
#include "report_extended.h"

#include <stdlib.h>
#include <string.h>

static int extended_is_of(const summary_extension *x, const view_panel *p)
{
    return x->train_len == p->train_len && strcmp(x->task, p->task) == 0 && strcmp(x->metric, p->metric->name) == 0 &&
           strcmp(x->mode, p->mode) == 0;
}

static int extended_whole_order(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int extended_name_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void extended_note(extended_group *g, const summary_extension *x)
{
    int steps = 0, names = 0, options = !*x->task_options;
    if (g->factors < EXTENDED_MAX && (g->factors == 0 || g->factor[g->factors - 1] != x->factor))
        g->factor[g->factors++] = x->factor;
    for (int i = 0; i < g->steps; i++)
        steps |= g->step[i] == x->steps;
    for (int i = 0; i < g->names; i++)
        names |= strcmp(g->name[i], x->method) == 0;
    for (int i = 0; i < g->options; i++)
        options |= strcmp(g->option[i], x->task_options) == 0;
    if (!options && g->options < EXTENDED_MAX)
        g->option[g->options++] = x->task_options;
    if (!steps && g->steps < EXTENDED_MAX)
        g->step[g->steps++] = x->steps;
    if (!names && g->names < EXTENDED_MAX)
        g->name[g->names++] = x->method;
}

int extended_gather(const report_view *v, const view_panel *p, extended_group *g)
{
    *g = (extended_group){.panel = p};
    for (int i = 0; p->primary && i < v->summary.extensions; i++)
        if (extended_is_of(&v->summary.extension[i], p))
            extended_note(g, &v->summary.extension[i]);
    qsort(g->step, (size_t)g->steps, sizeof g->step[0], extended_whole_order);
    qsort(g->name, (size_t)g->names, sizeof g->name[0], extended_name_order);
    return g->names > 0;
}

const summary_extension *extended_find(const report_view *v, const extended_group *g, int factor, int method,
                                       const char *name, const char *options, int step, int home)
{
    for (int i = 0; i < v->summary.extensions; i++) {
        const summary_extension *x = &v->summary.extension[i];
        if (x->factor == g->factor[factor] && x->steps == g->step[step] && home == (x->eval_len == x->train_len) &&
            strcmp(x->encoding, v->method[method].label) == 0 && strcmp(x->method, name) == 0 &&
            strcmp(x->task_options, options) == 0 && extended_is_of(x, g->panel))
            return x;
    }
    return NULL;
}

int report_is_extended(const report_view *v)
{
    return v->summary.extensions > 0;
}

/* ------------------------------------------------------------------------------------------------ words */

/* The values of a row, with ", " where it holds a list. */
static void extended_setting(const report_view *v, const char *row, buffer *out)
{
    buffer values = BUFFER_INIT;
    report_setting(v, row, &values);
    for (const char *p = buffer_text(&values); *p; p++)
        buffer_bytes(out, *p == ';' && p[1] != ' ' ? ", " : p, *p == ';' && p[1] != ' ' ? 2 : 1);
    buffer_free(&values);
}

void report_extended_method(const report_view *v, document *d)
{
    buffer b = BUFFER_INIT;
    buffer_add(&b,
               "From the trained weights, training went on at longer lengths, anew for each length (multiples of the "
               "training length: ");
    extended_setting(v, "extend.factors", &b);
    buffer_add(&b, ") and each method of stretching positions (");
    extended_setting(v, "extend.methods", &b);
    buffer_add(&b,
               "; none is plain fine-tuning). A step read as many tokens as one of training, on average: the batch was "
               "smaller by as much as sequences were longer. All methods read the same batches, those that would have "
               "followed in training. AdamW began anew, at a constant learning rate (");
    extended_setting(v, "extend.lr", &b);
    buffer_add(&b, "; auto is a tenth of that of training) after a short warm-up; tests came after ");
    extended_setting(v, "extend.steps", &b);
    buffer_add(&b,
               " steps. A map's factor takes the last position of the longer sequences to the last one of training; "
               "an encoding's own scaling gets the ratio of the lengths. extension.csv holds every number, at both "
               "lengths.");
    doc_add_buffer(d, DOC_PARAGRAPH, &b, NULL);
}
