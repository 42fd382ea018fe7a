#include "scores.h"

#include <math.h>
#include <string.h>

enum { SCORES_COLUMNS_MAX = 16, SCORES_CELL = 128 };

typedef struct scores_column {
    const char *metric, *mode;
    int width;
} scores_column;

static void scores_head(const scores_column *c, char text[SCORES_CELL])
{
    int plain = !strcmp(c->mode, "teacher_forced");
    snprintf(text, SCORES_CELL, plain ? "%s" : "%s (%s)", c->metric, c->mode);
}

static void scores_cell(const run_value *v, char text[SCORES_CELL])
{
    if (strcmp(v->status, "ok") || !isfinite(v->value))
        snprintf(text, SCORES_CELL, "%s", strcmp(v->status, "ok") ? v->status : "no value");
    else if (v->flag[0])
        snprintf(text, SCORES_CELL, "%.4f (%s)", v->value, v->flag);
    else
        snprintf(text, SCORES_CELL, "%.4f", v->value);
}

static int scores_same_bin(const length_bin *a, const length_bin *b)
{
    return a->min_len == b->min_len && a->max_len == b->max_len;
}

static const run_value *scores_find(const run_result *r, const length_bin *bin, const scores_column *c)
{
    for (int i = 0; i < r->values_count; i++) {
        const run_value *v = &r->values[i];
        if (scores_same_bin(&v->bin, bin) && !strcmp(v->metric, c->metric) && !strcmp(v->mode, c->mode))
            return v;
    }
    return NULL;
}

/* Columns in order of appearance, each as wide as its widest cell. */
static int scores_columns(const run_result *r, scores_column *columns)
{
    int count = 0;
    for (int i = 0; i < r->values_count; i++) {
        const run_value *v = &r->values[i];
        int c = 0;
        while (c < count && (strcmp(columns[c].metric, v->metric) || strcmp(columns[c].mode, v->mode)))
            c++;
        char text[SCORES_CELL];
        if (c == count) {
            if (count == SCORES_COLUMNS_MAX)
                continue;
            columns[count++] = (scores_column){v->metric, v->mode, 0};
            scores_head(&columns[c], text);
            columns[c].width = (int)strlen(text);
        }
        scores_cell(v, text);
        if ((int)strlen(text) > columns[c].width)
            columns[c].width = (int)strlen(text);
    }
    return count;
}

static void scores_row(FILE *to, const run_result *r, const length_bin *bin, const scores_column *columns, int count)
{
    char text[SCORES_CELL];
    if (bin->min_len == bin->max_len)
        snprintf(text, sizeof text, "%d", bin->max_len);
    else
        snprintf(text, sizeof text, "%d-%d", bin->min_len, bin->max_len);
    fprintf(to, "%11s  %6.4gx", text, bin->ratio);
    for (int c = 0; c < count; c++) {
        const run_value *v = scores_find(r, bin, &columns[c]);
        snprintf(text, sizeof text, "-");
        if (v)
            scores_cell(v, text);
        fprintf(to, "  %*s", columns[c].width, text);
    }
    fputc('\n', to);
}

void scores_print(FILE *to, const run_result *r)
{
    scores_column columns[SCORES_COLUMNS_MAX];
    int count = scores_columns(r, columns);
    if (!count)
        return;
    fprintf(to, "%11s  %7s", "length", "ratio");
    for (int c = 0; c < count; c++) {
        char text[SCORES_CELL];
        scores_head(&columns[c], text);
        fprintf(to, "  %*s", columns[c].width, text);
    }
    fputc('\n', to);
    for (int i = 0; i < r->values_count; i++) {
        int seen = 0;
        for (int j = 0; j < i && !seen; j++)
            seen = scores_same_bin(&r->values[j].bin, &r->values[i].bin);
        if (!seen)
            scores_row(to, r, &r->values[i].bin, columns, count);
    }
}

/* ------------------------------------------------------------------------------------------------ at longer lengths */

static int scores_same_row(const run_extension *a, const run_extension *b)
{
    return a->factor == b->factor && scores_same_bin(&a->bin, &b->bin) && !strcmp(a->method, b->method) &&
           !strcmp(a->task_options, b->task_options) && !strcmp(a->metric, b->metric) && !strcmp(a->mode, b->mode);
}

static int scores_is_shown(const run_result *r, int i)
{
    const run_extension *x = &r->extensions[i];
    return !strcmp(x->metric, r->extensions[0].metric) && !strcmp(x->mode, r->extensions[0].mode);
}

static void scores_extension_row(FILE *to, const run_result *r, int first)
{
    const run_extension *x = &r->extensions[first];
    char what[2 * EXTEND_METHOD_MAX + 8];
    snprintf(what, sizeof what, "%s%s%s", x->method, *x->task_options ? ", " : "", x->task_options);
    fprintf(to, "%6.4gx  %-28s  %6.4gx", x->factor, what, x->bin.ratio);
    for (int i = first; i < r->extensions_count; i++) {
        const run_extension *at = &r->extensions[i];
        if (!scores_same_row(at, x))
            continue;
        if (!strcmp(at->status, "ok") && isfinite(at->value))
            fprintf(to, "  %9.4f", at->value);
        else
            fprintf(to, "  %9s", strcmp(at->status, "ok") ? at->status : "no value");
    }
    fputc('\n', to);
}

void scores_print_extensions(FILE *to, const run_result *r)
{
    if (!r->extensions_count)
        return;
    fprintf(to, "\n%s (%s) after steps of fine-tuning\n%7s  %-28s  %7s", r->extensions[0].metric, r->extensions[0].mode,
            "longer", "method", "tested");
    for (int i = 0; i < r->extensions_count; i++)
        if (scores_same_row(&r->extensions[i], &r->extensions[0]))
            fprintf(to, "  %9d", r->extensions[i].steps);
    fputc('\n', to);
    for (int i = 0; i < r->extensions_count; i++) {
        int seen = !scores_is_shown(r, i);
        for (int k = 0; k < i && !seen; k++)
            seen = scores_same_row(&r->extensions[k], &r->extensions[i]);
        if (!seen)
            scores_extension_row(to, r, i);
    }
}
