/* profile_figures.c - the figures of a profile: their data for gnuplot, and the same as CSV. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "csv.h"
#include "profile_draft.h"

enum { FIGURES_LEADING = 4, FIGURES_SPECTRUM = 32 /* components that are drawn */ };
enum {
    HEATMAP_CELLS = 512, /* at most on a side */
    HEATMAP_SIDE = 460,  /* px, as what follows */
    HEATMAP_LEFT = 56,
    HEATMAP_RIGHT = 92,
    HEATMAP_BOTTOM = 52,
    HEATMAP_TOP = 58
};

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
    snprintf(subtitle, sizeof subtitle,
             step > 1 ? "of any two positions; a cell is %d x %d of them" : "of any two positions", step, step);
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
    int status = figure_chart_write(&c, &tsv, dir, "cosine", e) < 0 || draft_save(&csv, dir, "cosine", e) < 0 ? -1 : 0;
    if (status == 0)
        draft_register(out, "cosine", "heatmap.gp", "Cosine similarity of positions", caption);
    buffer_free(&tsv);
    buffer_free(&csv);
    return status;
}

/* ------------------------------------------------------------------------------------------------ of a table */

static int figures_distance(const profile_table *t, const char *dir, profile_figures *out, error *e)
{
    figure_draft d = draft_begin("distance", "Dot product and cosine by distance", 2);
    figure_panel *p = draft_panel(&d, "Dot product", "mean over pairs, and one standard deviation", "distance");
    figure_curve *c = draft_curve(&d, p, "mean", 0, t->dot_mean, t->rows, 0);
    for (int i = 0; c && i < t->rows; i++) {
        c->point[i].low = t->dot_mean[i] - t->dot_spread[i];
        c->point[i].high = t->dot_mean[i] + t->dot_spread[i];
    }
    p = draft_panel(&d, "Cosine", "mean over pairs", "distance");
    draft_curve(&d, p, "mean", 1, t->cosine_mean, t->rows, 0);
    return draft_end(
        &d, dir,
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
    figure_draft d = draft_begin("spectrum", "Variance held by the first components", 1);
    figure_panel *p = draft_panel(&d, "Share of the variance", "held by the first components", "components");
    for (int s = 0; s < PROFILE_SHARES; s++)
        draft_reference(&d, p, labels[s], level[s], count, 1);
    draft_curve(&d, p, "held", 0, held, count, 1);
    if (!d.failed)
        figure_fit(p, 0, 1);
    return draft_end(
        &d, dir,
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
    figure_draft d = draft_begin("components", "Leading components over position, and their Fourier power", 2);
    figure_panel *p = draft_panel(&d, "Leading components", "left singular vectors, of norm 1", "position");
    for (int i = 0; i < t->leading && i < FIGURES_LEADING; i++) {
        figures_component_name(name, i);
        draft_curve(&d, p, name, i, t->component + (size_t)i * (size_t)t->rows, t->rows, 0);
    }
    p = draft_panel(&d, "Fourier power", "share of each component's power", "cycles over all positions");
    for (int i = 0; i < t->leading && i < FIGURES_LEADING; i++) {
        figures_component_name(name, i);
        draft_curve(&d, p, name, i, t->power + (size_t)i * (size_t)t->frequencies, t->frequencies, 1);
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
    return draft_end(
        &d, dir,
        "How the leading components swing over the positions, and at which frequencies. A table of sinusoids has "
        "pairs of components with one sharp peak each.",
        out, e);
}

static int figures_norms(const profile_table *t, const char *dir, profile_figures *out, error *e)
{
    figure_draft d = draft_begin("norms", "Norm of each position's vector", 1);
    figure_panel *p = draft_panel(&d, "Norm", "of each position's vector", "position");
    draft_curve(&d, p, "norm", 0, t->norm, t->rows, 0);
    if (!d.failed)
        figure_fit(p, 0, NAN);
    return draft_end(
        &d, dir, "Norm of each position's vector. Rows that training met seldom stay near where they started.", out, e);
}

static int figures_table(const profile_table *t, const char *dir, profile_figures *out, error *e)
{
    return figures_cosine(t, dir, out, e) < 0 || figures_distance(t, dir, out, e) < 0 ||
                   figures_spectrum(t, dir, out, e) < 0 || figures_components(t, dir, out, e) < 0 ||
                   figures_norms(t, dir, out, e) < 0
               ? -1
               : 0;
}

int profile_figures_write(const profile *p, const char *dir, profile_figures *out, error *e)
{
    *out = (profile_figures){0};
    if ((p->has_table && figures_table(&p->table, dir, out, e) < 0) ||
        (p->biases && profile_figures_bias(p, dir, out, e) < 0) ||
        (p->rotaries && profile_figures_rotary(p, dir, out, e) < 0) ||
        (p->has_attention && profile_figures_attention(&p->attention, dir, out, e) < 0) ||
        (p->has_hidden && profile_figures_hidden(&p->hidden, dir, out, e) < 0))
        return -1;
    return 0;
}
