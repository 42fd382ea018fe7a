/* report_curves.c - figures of many values: loss by position in texts, and training loss by step. Neighbouring
 * values are averaged until a curve has at most CURVE_BINS, and runs that differ in the seed alone are averaged into
 * one curve. */
#include "report_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CURVE_BINS = 100, CURVE_GAP = 6 };

/* Sums of one curve: value of bin b is sum[b] / n[b]. */
typedef struct curve_sum {
    double sum[CURVE_BINS];
    int n[CURVE_BINS];
} curve_sum;

static void curve_add(curve_sum *c, double x, double x_most, double value)
{
    if (!isfinite(value) || x_most <= 0)
        return;
    int bin = (int)(x / x_most * CURVE_BINS);
    bin = bin < 0 ? 0 : bin >= CURVE_BINS ? CURVE_BINS - 1 : bin;
    c->sum[bin] += value;
    c->n[bin]++;
}

/* How many empty bins in a row belong to a curve with fewer values than bins; more are a part that was not measured.
 * step[0 .. count-1]: from each filled bin to the next. */
static int curve_usual_step(const int *step, int count)
{
    int most = 0, usual = 1;
    for (int i = 0; i < count; i++) {
        int same = 0;
        for (int k = 0; k < count; k++)
            same += step[k] == step[i];
        if (same > most) {
            most = same;
            usual = step[i];
        }
    }
    return usual;
}

/* A run that is shorter than there are bins leaves some empty: these are left out rather than drawn as gaps. Where much
 * more is empty the line has one. */
static int curve_finish(const curve_sum *c, double x_most, const view_method *m, figure_panel *out)
{
    int bin[CURVE_BINS], step[CURVE_BINS], filled = 0, gaps = 0;
    for (int b = 0; b < CURVE_BINS; b++)
        if (c->n[b] > 0)
            bin[filled++] = b;
    if (filled == 0)
        return 0;
    for (int i = 0; i + 1 < filled; i++)
        step[i] = bin[i + 1] - bin[i];
    int widest = CURVE_GAP * curve_usual_step(step, filled - 1);
    for (int i = 0; i + 1 < filled; i++)
        gaps += step[i] > widest;
    figure_curve *curve = figure_add_curve(out, m->line, m->style, filled + gaps);
    if (!curve)
        return -1;
    curve->bare = 1;
    for (int i = 0, at = 0; i < filled; i++) {
        double x = x_most * (bin[i] + 0.5) / CURVE_BINS;
        curve->point[at++] = (figure_point){.x = x, .y = c->sum[bin[i]] / c->n[bin[i]], .low = NAN, .high = NAN};
        if (i + 1 < filled && step[i] > widest)
            curve->point[at++].x = x; /* without a value: the line ends here and begins anew */
    }
    return 0;
}

static int curve_same_task(const run_record *a, const run_record *b)
{
    return strcmp(a->config.task, b->config.task) == 0 && a->config.train.len == b->config.train.len;
}

static int curve_is_of(const report_view *v, const run_record *run, int method)
{
    return strcmp(run->label, v->method[method].label) == 0;
}

/* The first run of each task and training length, in the records' order; the array ends with -1. The caller frees it.
 */
static int *curve_tasks(const report_view *v)
{
    int *task = calloc((size_t)v->runs.count + 1, sizeof *task), tasks = 0;
    for (int i = 0; task && i < v->runs.count; i++) {
        int known = 0;
        for (int t = 0; t < tasks; t++)
            known |= curve_same_task(&v->runs.run[task[t]], &v->runs.run[i]);
        if (!known)
            task[tasks++] = i;
    }
    if (task)
        task[tasks] = -1;
    return task;
}

/* Sets the axes of the last panel; one without curves, of a part that was not run on this task, is dropped. */
static void curve_end_panel(figure *f)
{
    if (f->panel[f->panels - 1].curves == 0)
        figure_drop(f);
    else
        figure_fit(&f->panel[f->panels - 1], NAN, NAN);
}

/* ------------------------------------------------------------------------------------------------ loss by position */

static double curve_number(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* The rows of one mode in a record's "per_position". */
static const char *positions_mode(const json_t *row)
{
    const char *mode = json_string_value(json_object_get(row, "mode"));
    return mode ? mode : "";
}

/* A position is shown where at least an eighth as many tokens were scored as at the best one of its row: of a sliding
 * window that is where nearly all tokens are scored, not the single tokens of the text's first window. */
static json_int_t positions_least(const json_t *n)
{
    json_int_t most = 0;
    for (size_t t = 0; t < json_array_size(n); t++)
        most = json_integer_value(json_array_get(n, t)) > most ? json_integer_value(json_array_get(n, t)) : most;
    return (most + 7) / 8;
}

/* One past the last position of this mode that has a loss; 0: none. */
static double positions_end(const run_record *run, const char *mode)
{
    const json_t *row;
    size_t at, end = 0;
    json_array_foreach(json_object_get(run->record, "per_position"), at, row)
    {
        const json_t *loss = json_object_get(row, "loss");
        for (size_t t = end; strcmp(positions_mode(row), mode) == 0 && t < json_array_size(loss); t++)
            end = json_is_number(json_array_get(loss, t)) ? t + 1 : end;
    }
    return (double)end;
}

/* Rows that add to one curve: where windows slide, those of all lengths, each with its last positions; else the
 * longest. */
static int positions_is_shown(const json_t *row, const char *mode, double end)
{
    return strcmp(positions_mode(row), mode) == 0 &&
           (strcmp(mode, "sliding") == 0 || (double)json_array_size(json_object_get(row, "loss")) >= end);
}

static int positions_add_method(const report_view *v, const run_record *first, const char *mode, double most,
                                int method, figure_panel *out)
{
    curve_sum c = {0};
    for (int i = 0; i < v->runs.count; i++) {
        const run_record *run = &v->runs.run[i];
        const json_t *row;
        size_t at;
        if (!run->ok || !curve_same_task(first, run) || !curve_is_of(v, run, method))
            continue;
        double end = positions_end(run, mode);
        json_array_foreach(json_object_get(run->record, "per_position"), at, row)
        {
            const json_t *loss = json_object_get(row, "loss"), *n = json_object_get(row, "n");
            json_int_t least = positions_least(n);
            for (size_t t = 0; positions_is_shown(row, mode, end) && t < json_array_size(loss); t++)
                if (json_integer_value(json_array_get(n, t)) >= least)
                    curve_add(&c, (double)t, most, curve_number(json_array_get(loss, t)));
        }
    }
    return curve_finish(&c, most, &v->method[method], out);
}

static int positions_panel(const report_view *v, const run_record *first, const char *mode, int part, figure *f)
{
    double most = 0;
    for (int i = 0; i < v->runs.count; i++)
        if (v->runs.run[i].ok && curve_same_task(first, &v->runs.run[i]))
            most = fmax(most, positions_end(&v->runs.run[i], mode));
    if (most == 0)
        return 0;
    figure_panel *p = &f->panel[f->panels++];
    buffer subtitle = BUFFER_INIT;
    buffer_format(&subtitle, "loss by position, nats per token, %s", mode);
    *p = (figure_panel){.x_title = "position, tokens", .train_x = results_number(first, "data.train_tokens_max")};
    if (report_part_words(v, part, first->config.task, first->config.task, &subtitle, p) < 0)
        return -1;
    for (int m = 0; m < v->methods; m++)
        if (v->method[m].part == part && positions_add_method(v, first, mode, most, m, p) < 0)
            return -1;
    curve_end_panel(f);
    return 0;
}

/* Modes of language tasks; positions of an answer are no text. */
static const char *const positions_modes[] = {"windows", "sliding", "masked"};
enum { POSITIONS_MODES = 3 };

int report_positions_write(const report_view *v, const char *dir, report_figures *out, error *e)
{
    figure f = {.name = "positions", .title = "Loss by position"};
    int *task = curve_tasks(v), status = task ? 0 : -1;
    f.panel = calloc((size_t)(v->runs.count + 1) * POSITIONS_MODES * (size_t)v->parts, sizeof *f.panel);
    status = f.panel ? status : -1;
    for (int t = 0; status == 0 && task[t] >= 0; t++)
        for (int mode = 0; status == 0 && mode < POSITIONS_MODES; mode++)
            for (int part = 0; status == 0 && part < v->parts; part++)
                status = positions_panel(v, &v->runs.run[task[t]], positions_modes[mode], part, &f);
    free(task);
    if (status == 0)
        figure_share(&f);
    if (status == 0 && f.panels > 0)
        return report_panels_write(&f, REPORT_POSITIONS, "curves.gp", dir, out, e);
    figure_free(&f);
    return status < 0 ? error_set(e, ERROR_ENVIRONMENT, "out of memory") : 0;
}

/* ------------------------------------------------------------------------------------------------ training */

static double training_last_step(const run_record *run)
{
    const json_t *curve = json_object_get(run->record, "training");
    const json_t *last = json_array_get(curve, json_array_size(curve) - 1);
    return json_number_value(json_object_get(last, "step"));
}

static int training_add_method(const report_view *v, const run_record *first, double most, int method,
                               figure_panel *out)
{
    curve_sum c = {0};
    for (int i = 0; i < v->runs.count; i++) {
        const run_record *run = &v->runs.run[i];
        const json_t *point;
        size_t at;
        if (!curve_same_task(first, run) || !curve_is_of(v, run, method))
            continue;
        json_array_foreach(json_object_get(run->record, "training"), at, point) curve_add(
            &c, json_number_value(json_object_get(point, "step")), most, curve_number(json_object_get(point, "loss")));
    }
    return curve_finish(&c, most, &v->method[method], out);
}

static int training_panel(const report_view *v, const run_record *first, int part, figure *f)
{
    double most = 0;
    for (int i = 0; i < v->runs.count; i++)
        if (curve_same_task(first, &v->runs.run[i]))
            most = fmax(most, training_last_step(&v->runs.run[i]));
    if (most == 0)
        return 0;
    figure_panel *p = &f->panel[f->panels++];
    buffer subtitle = BUFFER_INIT;
    buffer_add(&subtitle, "training loss, nats per token, log scale");
    *p = (figure_panel){.x_title = "step", .y_log = 10, .train_x = NAN};
    if (report_part_words(v, part, first->config.task, first->config.task, &subtitle, p) < 0)
        return -1;
    for (int m = 0; m < v->methods; m++)
        if (v->method[m].part == part && training_add_method(v, first, most, m, p) < 0)
            return -1;
    curve_end_panel(f);
    return 0;
}

int report_training_write(const report_view *v, const char *dir, report_figures *out, error *e)
{
    figure f = {.name = "training", .title = "Training loss"};
    int *task = curve_tasks(v), status = task ? 0 : -1;
    f.panel = calloc((size_t)(v->runs.count + 1) * (size_t)v->parts, sizeof *f.panel);
    status = f.panel ? status : -1;
    for (int t = 0; status == 0 && task[t] >= 0; t++)
        for (int part = 0; status == 0 && part < v->parts; part++)
            status = training_panel(v, &v->runs.run[task[t]], part, &f);
    free(task);
    if (status == 0)
        figure_share(&f);
    if (status == 0 && f.panels > 0)
        return report_panels_write(&f, REPORT_TRAINING, "curves.gp", dir, out, e);
    figure_free(&f);
    return status < 0 ? error_set(e, ERROR_ENVIRONMENT, "out of memory") : 0;
}
