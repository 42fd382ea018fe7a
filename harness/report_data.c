#include "report_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "task.h"

static int data_takes(const run_record *run)
{
    return run->ok && !isnan(results_number(run, "data.distinct"));
}

int report_data_groups(const report_view *v, report_groups *out)
{
    return report_groups_find(v, data_takes, "train.data", out);
}

/* A run's score at the panel's training length; NAN: none. */
static double data_score(const run_record *run, const view_panel *p)
{
    const view_length *home = &p->length[p->home];
    const json_t *row;
    size_t at;
    json_array_foreach(json_object_get(run->record, "evaluation"), at, row)
    {
        const char *name = json_string_value(json_object_get(row, "metric"));
        const char *mode = json_string_value(json_object_get(row, "mode"));
        const json_t *value = json_object_get(row, "value");
        if (name && mode && strcmp(name, p->metric->name) == 0 && strcmp(mode, p->mode) == 0 &&
            json_integer_value(json_object_get(row, "max_len")) == home->eval_len &&
            json_integer_value(json_object_get(row, "min_len")) == home->min_len)
            return json_is_number(value) ? json_number_value(value) : NAN;
    }
    return NAN;
}

static int data_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int report_scale_find(const report_groups *g, int group, const view_panel *p, report_scale *out)
{
    int limited = 0;
    *out = (report_scale){.groups = g, .group = group, .panel = p};
    if (!p->primary || p->home < 0 || strcmp(p->task, g->item[group].task) != 0 ||
        p->train_len != g->item[group].train_len)
        return 0;
    for (int i = 0; i < g->view->runs.count; i++) {
        const run_record *run = &g->view->runs.run[i];
        double amount = g->of[i] == group ? results_number(run, "data.distinct") : NAN;
        limited |= g->of[i] == group && run->config.train.data > 0;
        int known = isnan(amount) || isnan(data_score(run, p)) || out->amounts == REPORT_AMOUNTS_MAX;
        for (int k = 0; !known && k < out->amounts; k++)
            known = out->amount[k] == amount;
        if (!known)
            out->amount[out->amounts++] = amount;
    }
    qsort(out->amount, (size_t)out->amounts, sizeof *out->amount, data_compare);
    return limited && out->amounts >= 2;
}

int report_scale_values(const report_scale *s, int encoding, int k, double *value, int *seed)
{
    const report_groups *g = s->groups;
    int count = 0;
    for (int i = 0; i < g->view->runs.count; i++) {
        const run_record *run = &g->view->runs.run[i];
        if (g->of[i] != s->group || g->encoding_of[i] != encoding ||
            results_number(run, "data.distinct") != s->amount[k] || isnan(data_score(run, s->panel)))
            continue;
        value[count] = data_score(run, s->panel);
        seed[count++] = run->config.seed;
    }
    return count;
}

const char *report_scale_unit(const report_scale *s)
{
    for (int i = 0; i < task_count(); i++) {
        const task_descriptor *t = task_at(i);
        size_t length = strlen(t->name);
        if (strncmp(s->panel->task, t->name, length) == 0 && (s->panel->task[length] == '(' || !s->panel->task[length]))
            return t->kind == TASK_LANGUAGE ? "tokens of text" : "sequences";
    }
    return "sequences";
}

char *report_scale_title(const report_scale *s)
{
    const char *setting = s->groups->item[s->group].setting;
    char *name = report_panel_title(s->groups->view, s->panel);
    buffer b = BUFFER_INIT;
    buffer_add(&b, name ? name : s->panel->task);
    if (*setting)
        buffer_format(&b, ", %s", setting);
    free(name);
    return buffer_take(&b);
}

void report_amount_text(double amount, buffer *out)
{
    static const char *const unit[] = {"", "k", "M", "G"};
    int thousands = 0;
    while (thousands < 3 && amount >= 999.5) {
        amount /= 1000;
        thousands++;
    }
    buffer_fixed(out, amount, thousands == 0 || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2);
    buffer_add(out, unit[thousands]);
}

/* ------------------------------------------------------------------------------------------------ the figure */

static int data_add_method(const report_scale *s, int encoding, double *value, int *seed, figure_panel *out)
{
    const report_groups *g = s->groups;
    const metric *m = s->panel->metric;
    figure_curve *c = NULL;
    for (int k = 0; k < s->amounts; k++) {
        int n = report_scale_values(s, encoding, k, value, seed);
        if (n == 0)
            continue;
        if (!c && !(c = figure_add_curve(out, g->encoding[encoding], g->style[encoding], s->amounts)))
            return -1;
        figure_point *point = &c->point[k];
        point->y = stat_mean(value, n);
        stat_bootstrap(value, n, rng_hash("data"), &point->low, &point->high);
        point->low = fmax(point->low, m->low); /* fmax and fmin pass NAN over: no interval stays none below */
        point->high = fmin(point->high, m->high);
        if (n < 2)
            point->low = point->high = NAN;
    }
    for (int k = 0; c && k < s->amounts; k++)
        c->point[k].x = s->amount[k];
    return 0;
}

static int data_panel(const report_scale *s, double *value, int *seed, figure_panel *p)
{
    const metric *m = s->panel->metric;
    buffer subtitle = BUFFER_INIT;
    buffer_format(&subtitle, "%s at the training length", m->title);
    if (isinf(m->high))
        buffer_format(&subtitle, ", %s", m->unit);
    if (strcmp(s->panel->mode, "teacher_forced") != 0)
        buffer_format(&subtitle, ", %s", s->panel->mode);
    double wide = pow(s->amount[s->amounts - 1] / s->amount[0], 0.04);
    *p = (figure_panel){.title = report_scale_title(s),
                        .subtitle = buffer_take(&subtitle),
                        .x_title = strcmp(report_scale_unit(s), "sequences") == 0 ? "distinct training sequences"
                                                                                  : "distinct training tokens of text",
                        .x_log = 2,
                        .x_low = s->amount[0] / wide,
                        .x_high = s->amount[s->amounts - 1] * wide,
                        .train_x = NAN};
    for (int k = 0; k < s->amounts && p->x_tics < FIGURE_TICS_MAX; k++) {
        figure_tic *tic = &p->x_tic[p->x_tics++];
        buffer text = BUFFER_INIT;
        report_amount_text(s->amount[k], &text);
        tic->at = s->amount[k];
        snprintf(tic->text, sizeof tic->text, "%s", buffer_text(&text));
        buffer_free(&text);
    }
    for (int i = 0; i < s->groups->encodings; i++)
        if (!p->title || !p->subtitle || data_add_method(s, i, value, seed, p) < 0)
            return -1;
    figure_fit(p, NAN, NAN);
    return 0;
}

static int data_panels(const report_groups *g, double *value, int *seed, figure *f)
{
    const report_view *v = g->view;
    for (int group = 0; group < g->count; group++)
        for (int i = 0; i < v->panels; i++) {
            report_scale s;
            if (report_scale_find(g, group, &v->panel[i], &s) &&
                data_panel(&s, value, seed, &f->panel[f->panels++]) < 0)
                return -1;
        }
    return 0;
}

int report_data_write(const report_view *v, const char *dir, report_figures *out, error *e)
{
    report_groups g;
    size_t runs = (size_t)v->runs.count + 1;
    figure f = {.name = "data", .title = "Score over the amount of training data"};
    int status = report_data_groups(v, &g), *seed = calloc(runs, sizeof *seed);
    double *value = calloc(runs, sizeof *value);
    f.panel = calloc((size_t)(g.count + 1) * (size_t)(v->panels + 1), sizeof *f.panel);
    if (status == 0)
        status = f.panel && value && seed ? data_panels(&g, value, seed, &f) : -1;
    report_groups_free(&g);
    free(value);
    free(seed);
    if (status == 0 && f.panels > 0)
        return report_panels_write(&f, REPORT_DATA, "curves.gp", dir, out, e);
    figure_free(&f);
    return status < 0 ? error_set(e, ERROR_ENVIRONMENT, "out of memory") : 0;
}
