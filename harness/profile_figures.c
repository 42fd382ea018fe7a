/* profile_figures.c - the figures of a profile: their data for gnuplot, and the same as CSV. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "figure.h"
#include "profile_show.h"

enum { FIGURES_WIDTH = 520, FIGURES_HEIGHT = 330, FIGURES_LEADING = 4, FIGURES_SPECTRUM = 32, FIGURES_PANELS_MAX = 12 };
#define FIGURES_LEAST_WEIGHT 1e-6
enum { HEATMAP_CELLS = 512, HEATMAP_SIDE = 460, HEATMAP_LEFT = 56, HEATMAP_RIGHT = 92, HEATMAP_BOTTOM = 52, HEATMAP_TOP = 58 };

/* A figure of curves that is being put together. */
typedef struct figures_draft {
    figure f;
    int failed;
} figures_draft;

static figures_draft figures_begin(const char *name, const char *title, int panels)
{
    figures_draft d = {.f = {.name = name, .title = title, .columns = panels > 1 ? 2 : 1, .panel_width = FIGURES_WIDTH,
                             .panel_height = FIGURES_HEIGHT}};
    d.f.panel = calloc((size_t)panels, sizeof *d.f.panel);
    d.failed = !d.f.panel;
    return d;
}

/* The next panel; the texts are copied, x_title must last. */
static figure_panel *figures_panel(figures_draft *d, const char *title, const char *subtitle, const char *x_title)
{
    if (d->failed)
        return NULL;
    figure_panel *p = &d->f.panel[d->f.panels++];
    *p = (figure_panel){.title = strdup(title), .subtitle = strdup(subtitle), .x_title = x_title, .train_x = NAN};
    d->failed = !p->title || !p->subtitle;
    return p;
}

/* y over x = first, first + 1 ... Infinite values become gaps. */
static figure_curve *figures_curve(figures_draft *d, figure_panel *p, const char *label, int style, const double *y, int count,
                                   int first)
{
    palette_style s = {.colour = style % PALETTE_COLOURS, .shape = style % PALETTE_SHAPES,
                       .dash = style / PALETTE_COLOURS % PALETTE_DASHES};
    figure_curve *c = p ? figure_add_curve(p, label, s, count) : NULL;
    d->failed |= !c;
    for (int i = 0; c && i < count; i++) {
        c->point[i].x = first + i;
        c->point[i].y = isfinite(y[i]) ? y[i] : NAN;
    }
    if (c)
        c->bare = count > 24;
    return c;
}

static void figures_reference(figures_draft *d, figure_panel *p, const char *label, const double *y, int count, int first)
{
    figure_curve *c = figures_curve(d, p, label, 0, y, count, first);
    if (c)
        c->reference = 1;
}

/* ------------------------------------------------------------------------------------------------ writing */

static int figures_save(const buffer *b, const char *dir, const char *name, error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.csv", dir, name);
    return buffer_save(b, path, e);
}

static int figures_csv(const figure *f, const char *dir, error *e)
{
    buffer b = BUFFER_INIT;
    buffer_add(&b, "panel,curve,x,y,low,high\n");
    for (int i = 0; i < f->panels; i++)
        for (int c = 0; c < f->panel[i].curves; c++)
            for (int k = 0; k < f->panel[i].curve[c].count; k++) {
                const figure_point *point = &f->panel[i].curve[c].point[k];
                csv_text(&b, f->panel[i].title);
                csv_text(&b, f->panel[i].curve[c].label);
                csv_number(&b, point->x);
                csv_number(&b, point->y);
                csv_number(&b, point->low);
                csv_number(&b, point->high);
                csv_end(&b);
            }
    int status = figures_save(&b, dir, f->name, e);
    buffer_free(&b);
    return status;
}

static void figures_register(profile_figures *out, const char *stem, const char *script, const char *title,
                             const char *caption)
{
    profile_figure *to = &out->item[out->count++];
    *to = (profile_figure){.script = script};
    snprintf(to->stem, sizeof to->stem, "%s", stem);
    snprintf(to->title, sizeof to->title, "%s", title);
    snprintf(to->caption, sizeof to->caption, "%s", caption);
}

/* Fits the panels' axes that are not yet fitted, writes, frees. */
static int figures_end(figures_draft *d, const char *dir, const char *caption, profile_figures *out, error *e)
{
    int status = d->failed ? error_set(e, ERROR_ENVIRONMENT, "no memory for a figure") : 0;
    for (int i = 0; i < d->f.panels && status == 0; i++)
        if (d->f.panel[i].y_tics == 0)
            figure_fit(&d->f.panel[i], NAN, NAN);
    if (status == 0 && (figure_write(&d->f, dir, e) < 0 || figures_csv(&d->f, dir, e) < 0))
        status = -1;
    if (status == 0)
        figures_register(out, d->f.name, "curves.gp", d->f.title, caption);
    figure_free(&d->f);
    return status;
}

/* ------------------------------------------------------------------------------------------------ cosines */

/* Mean over a block of rows and columns; those beside a row of zeros are left out. */
static double figures_block(const profile_table *t, int step, int row, int col)
{
    double sum = 0;
    int count = 0;
    for (int i = row * step; i < (row + 1) * step && i < t->rows; i++)
        for (int j = col * step; j < (col + 1) * step && j < t->rows; j++) {
            double c = t->cosine[(size_t)i * (size_t)t->rows + (size_t)j];
            sum += isnan(c) ? 0 : c;
            count += !isnan(c);
        }
    return count ? sum / count : NAN;
}

/* The matrix as rows of numbers for gnuplot, and with positions at its edges as CSV. */
static void figures_cells(const profile_table *t, int step, int cells, buffer *tsv, buffer *csv)
{
    csv_text(csv, "position");
    for (int j = 0; j < cells; j++)
        csv_integer(csv, j * step);
    csv_end(csv);
    for (int i = 0; i < cells; i++) {
        csv_integer(csv, i * step);
        for (int j = 0; j < cells; j++) {
            double value = round(figures_block(t, step, i, j) * 1e6) / 1e6;
            tsv_number(tsv, value);
            csv_number(csv, value);
        }
        tsv_end(tsv);
        csv_end(csv);
    }
}

static int figures_cosine(const profile_table *t, const char *dir, profile_figures *out, error *e)
{
    int step = (t->rows + HEATMAP_CELLS - 1) / HEATMAP_CELLS, cells = (t->rows + step - 1) / step;
    buffer tsv = BUFFER_INIT, csv = BUFFER_INIT;
    char subtitle[96], caption[256];
    snprintf(subtitle, sizeof subtitle, step > 1 ? "of any two positions; a cell is %d x %d of them" : "of any two positions",
             step, step);
    snprintf(caption, sizeof caption,
             "Cosine of the vectors of any two positions. Stripes along the diagonal are functions of distance%s.",
             step > 1 ? "; a cell is the mean over several positions" : "");
    figures_cells(t, step, cells, &tsv, &csv);
    figure_chart c = {.width = HEATMAP_SIDE + HEATMAP_LEFT + HEATMAP_RIGHT,
                      .height = HEATMAP_SIDE + HEATMAP_BOTTOM + HEATMAP_TOP,
                      .left = HEATMAP_LEFT,
                      .right = HEATMAP_RIGHT,
                      .bottom = HEATMAP_BOTTOM,
                      .top = HEATMAP_TOP,
                      .x_low = 0,
                      .x_high = cells * step,
                      .y_low = 0,
                      .y_high = cells * step,
                      .title = "Cosine similarity",
                      .subtitle = subtitle,
                      .x_title = "position"};
    int status = figure_chart_write(&c, &tsv, dir, "cosine", e) < 0 || figures_save(&csv, dir, "cosine", e) < 0 ? -1 : 0;
    if (status == 0)
        figures_register(out, "cosine", "heatmap.gp", "Cosine similarity of positions", caption);
    buffer_free(&tsv);
    buffer_free(&csv);
    return status;
}

/* ------------------------------------------------------------------------------------------------ of a table */

static int figures_distance(const profile_table *t, const char *dir, profile_figures *out, error *e)
{
    figures_draft d = figures_begin("distance", "Dot product and cosine by distance", 2);
    figure_panel *p = figures_panel(&d, "Dot product", "mean over pairs, and one standard deviation", "distance");
    figure_curve *c = figures_curve(&d, p, "mean", 0, t->dot_mean, t->rows, 0);
    for (int i = 0; c && i < t->rows; i++) {
        c->point[i].low = t->dot_mean[i] - t->dot_spread[i];
        c->point[i].high = t->dot_mean[i] + t->dot_spread[i];
    }
    p = figures_panel(&d, "Cosine", "mean over pairs", "distance");
    figures_curve(&d, p, "mean", 1, t->cosine_mean, t->rows, 0);
    return figures_end(&d, dir,
                       "Dot product and cosine of two positions' vectors over their distance. A band of no width means that the "
                       "product depends on the distance alone; far distances have few pairs.",
                       out, e);
}

static int figures_spectrum(const profile_table *t, const char *dir, profile_figures *out, error *e)
{
    double held[FIGURES_SPECTRUM], level[PROFILE_SHARES][FIGURES_SPECTRUM], all = 0, sum = 0;
    int count = t->rank < FIGURES_SPECTRUM ? t->rank : FIGURES_SPECTRUM;
    static const char *const labels[] = {"90 %", "95 %", "99 %"};
    for (int i = 0; i < t->rank; i++)
        all += t->singular[i] * t->singular[i];
    for (int i = 0; i < count; i++) {
        sum += t->singular[i] * t->singular[i];
        held[i] = all > 0 ? sum / all : NAN;
        for (int s = 0; s < PROFILE_SHARES; s++)
            level[s][i] = profile_shares[s];
    }
    figures_draft d = figures_begin("spectrum", "Variance held by the first components", 1);
    figure_panel *p = figures_panel(&d, "Share of the variance", "held by the first components", "components");
    for (int s = 0; s < PROFILE_SHARES; s++)
        figures_reference(&d, p, labels[s], level[s], count, 1);
    figures_curve(&d, p, "held", 0, held, count, 1);
    if (!d.failed)
        figure_fit(p, 0, 1);
    return figures_end(&d, dir,
                       "Share of the variance of the table, less the mean of its rows, that its first principal components "
                       "hold, from the singular values.",
                       out, e);
}

static void figures_component_name(char name[24], int i)
{
    snprintf(name, 24, "component %d", i + 1);
}

static int figures_components(const profile_table *t, const char *dir, profile_figures *out, error *e)
{
    char name[24];
    figures_draft d = figures_begin("components", "Leading components over position, and their Fourier power", 2);
    figure_panel *p = figures_panel(&d, "Leading components", "left singular vectors, of norm 1", "position");
    for (int i = 0; i < t->leading && i < FIGURES_LEADING; i++) {
        figures_component_name(name, i);
        figures_curve(&d, p, name, i, t->component + (size_t)i * (size_t)t->rows, t->rows, 0);
    }
    p = figures_panel(&d, "Fourier power", "share of each component's power", "cycles over all positions");
    for (int i = 0; i < t->leading && i < FIGURES_LEADING; i++) {
        figures_component_name(name, i);
        figures_curve(&d, p, name, i, t->power + (size_t)i * (size_t)t->frequencies, t->frequencies, 1);
    }
    for (double at = 1; p && at <= t->frequencies && p->x_tics < FIGURE_TICS_MAX; at *= 2) {
        p->x_tic[p->x_tics].at = at;
        snprintf(p->x_tic[p->x_tics++].text, sizeof p->x_tic[0].text, "%.0f", at);
    }
    if (p) {
        p->x_log = 2;
        p->x_low = 1;
        p->x_high = t->frequencies > 1 ? t->frequencies : 2;
    }
    return figures_end(&d, dir,
                       "How the leading components swing over the positions, and at which frequencies. A table of sinusoids has "
                       "pairs of components with one sharp peak each.",
                       out, e);
}

static int figures_norms(const profile_table *t, const char *dir, profile_figures *out, error *e)
{
    figures_draft d = figures_begin("norms", "Norm of each position's vector", 1);
    figure_panel *p = figures_panel(&d, "Norm", "of each position's vector", "position");
    figures_curve(&d, p, "norm", 0, t->norm, t->rows, 0);
    if (!d.failed)
        figure_fit(p, 0, NAN);
    return figures_end(&d, dir, "Norm of each position's vector. Rows that training met seldom stay near where they started.",
                       out, e);
}

static int figures_table(const profile_table *t, const char *dir, profile_figures *out, error *e)
{
    return figures_cosine(t, dir, out, e) < 0 || figures_distance(t, dir, out, e) < 0 ||
                   figures_spectrum(t, dir, out, e) < 0 || figures_components(t, dir, out, e) < 0 ||
                   figures_norms(t, dir, out, e) < 0
               ? -1
               : 0;
}

/* ------------------------------------------------------------------------------------------------ of hooks */

static void figures_head_name(char name[24], int head, int heads)
{
    if (heads == 1)
        snprintf(name, 24, "all heads");
    else
        snprintf(name, 24, "head %d", head + 1);
}

static int figures_bias(const profile *p, const char *dir, profile_figures *out, error *e)
{
    int panels = p->biases < FIGURES_PANELS_MAX ? p->biases : FIGURES_PANELS_MAX;
    figures_draft d = figures_begin("bias", "Bias by distance, for each head", panels);
    for (int i = 0; i < panels; i++) {
        const profile_bias *b = &p->bias[i];
        char title[48], name[24];
        snprintf(title, sizeof title, p->biases > 1 ? "Bias, layer %d" : "Bias", b->layer + 1);
        figure_panel *panel = figures_panel(&d, title, "added to scores, for each head", "distance from query to key");
        for (int h = 0; h < b->heads; h++) {
            snprintf(name, sizeof name, "head %d", h + 1);
            figures_curve(&d, panel, name, h, b->value + h * b->count, b->count, b->least);
        }
    }
    return figures_end(&d, dir,
                       "What is added to the scores of each head, over the distance from query to key. Layers with equal curves "
                       "are shown once; hidden keys are gaps.",
                       out, e);
}

static int figures_rotary(const profile *p, const char *dir, profile_figures *out, error *e)
{
    int shown = p->rotaries < FIGURES_PANELS_MAX / 2 ? p->rotaries : FIGURES_PANELS_MAX / 2;
    figures_draft d = figures_begin("rotation", "Bound and measured decay of a rotation", 2 * shown);
    for (int i = 0; i < shown; i++) {
        const profile_rotary *r = &p->rotary[i];
        char layer[24] = "", title[64], name[24];
        if (p->rotaries > 1)
            snprintf(layer, sizeof layer, ", layer %d", r->layer + 1);
        if (r->pairs) {
            snprintf(title, sizeof title, "Bound of RoFormer 3.4.3%s", layer);
            figure_panel *bound = figures_panel(&d, title, "mean of |A(s)|", "distance");
            for (int h = 0; h < r->heads; h++) {
                figures_head_name(name, h, r->heads);
                figures_curve(&d, bound, name, h, r->bound + h * r->count, r->count, 0);
            }
        }
        snprintf(title, sizeof title, "Measured product%s", layer);
        figure_panel *measured = figures_panel(&d, title, "q.k / head width, first head; normal q", "distance");
        figures_curve(&d, measured, "k = q", 0, r->same, r->count, 0);
        figure_curve *c = figures_curve(&d, measured, "independent", 1, r->other, r->count, 0);
        for (int s = 0; c && s < r->count; s++) {
            c->point[s].low = r->other[s] - 3 * r->other_error[s];
            c->point[s].high = r->other[s] + 3 * r->other_error[s];
        }
    }
    return figures_end(&d, dir,
                       "The decay that is proven is that of a bound. The product itself falls, not monotonely, for a key equal to "
                       "its query, and does not for independent ones (band: three standard errors).",
                       out, e);
}

/* Weights that are as good as none would stretch a logarithmic axis out of use. */
static void figures_cut(figure_curve *c)
{
    for (int i = 0; c && i < c->count; i++)
        if (c->point[i].y < FIGURES_LEAST_WEIGHT)
            c->point[i].y = NAN;
}

static int figures_attention(const profile_attention *a, const char *dir, profile_figures *out, error *e)
{
    int panels = a->layers < FIGURES_PANELS_MAX ? a->layers : FIGURES_PANELS_MAX;
    figures_draft d = figures_begin("attention", "Mean attention weight by distance, for each head", panels);
    for (int l = 0; l < panels; l++) {
        char title[48], name[24];
        snprintf(title, sizeof title, "Attention, layer %d", l + 1);
        figure_panel *p = figures_panel(&d, title, "mean weight, for each head", "distance from query to key");
        if (p)
            p->y_log = 10;
        figures_reference(&d, p, "even", a->uniform, a->len, 0);
        for (int h = 0; h < a->heads; h++) {
            snprintf(name, sizeof name, "head %d", h + 1);
            figures_cut(figures_curve(&d, p, name, h, a->weight + (size_t)(l * a->heads + h) * (size_t)a->len, a->len, 0));
        }
    }
    return figures_end(&d, dir,
                       a->random_content
                           ? "Mean attention weight over the distance from query to key, for normal queries, keys and inputs: what "
                             "positions do by themselves. Dotted: even attention over all that is visible. Below 1e-6 nothing is drawn."
                           : "Mean attention weight over the distance from query to key, on the task's test stream at the training "
                             "length. Dotted: even attention over all that is visible. Below 1e-6 nothing is drawn.",
                       out, e);
}

static int figures_hidden(const profile_hidden *h, const char *dir, profile_figures *out, error *e)
{
    figures_draft d = figures_begin("hidden", "Position read off hidden states, by layer", 1);
    figure_panel *p = figures_panel(&d, "Position in hidden states", "mean error of a linear read-out, tokens", "layers passed");
    double *guess = malloc((size_t)h->count * sizeof *guess);
    d.failed |= !guess;
    for (int i = 0; i < h->count && guess; i++)
        guess[i] = h->guess;
    if (guess)
        figures_reference(&d, p, "guess", guess, h->count, 0);
    figures_curve(&d, p, "read-out", 0, h->read_error, h->count, 0);
    free(guess);
    for (int i = 0; p && i < h->count && i < FIGURE_TICS_MAX; i++, p->x_tics++) {
        p->x_tic[i].at = p->x_high = i;
        snprintf(p->x_tic[i].text, sizeof p->x_tic[i].text, "%d", i);
    }
    if (!d.failed)
        figure_fit(p, 0, NAN);
    return figures_end(&d, dir,
                       "Mean error of a linear read-out of a token's position from the residual stream, cross-validated over "
                       "sequences, before the first layer and after each. Dotted: a guess.",
                       out, e);
}

int profile_figures_write(const profile *p, const char *dir, profile_figures *out, error *e)
{
    *out = (profile_figures){0};
    if ((p->has_table && figures_table(&p->table, dir, out, e) < 0) || (p->biases && figures_bias(p, dir, out, e) < 0) ||
        (p->rotaries && figures_rotary(p, dir, out, e) < 0) ||
        (p->has_attention && figures_attention(&p->attention, dir, out, e) < 0) ||
        (p->has_hidden && figures_hidden(&p->hidden, dir, out, e) < 0))
        return -1;
    return 0;
}
