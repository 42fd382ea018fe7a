/* profile_figures_hooks.c - figures of biases, rotations, attention and hidden states. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile_draft.h"

enum { HOOKS_PANELS_MAX = 12 };
#define HOOKS_LEAST_WEIGHT 1e-6

static void hooks_head_name(char name[24], int head, int heads)
{
    if (heads == 1)
        snprintf(name, 24, "all heads");
    else
        snprintf(name, 24, "head %d", head + 1);
}

int profile_figures_bias(const profile *p, const char *dir, profile_figures *out, error *e)
{
    int panels = p->biases < HOOKS_PANELS_MAX ? p->biases : HOOKS_PANELS_MAX;
    figure_draft d = draft_begin("bias", "Bias by distance, for each head", panels);
    for (int i = 0; i < panels; i++) {
        const profile_bias *b = &p->bias[i];
        char title[48], name[24];
        snprintf(title, sizeof title, p->biases > 1 ? "Bias, layer %d" : "Bias", b->layer + 1);
        figure_panel *panel = draft_panel(&d, title, "added to scores, for each head", "distance from query to key");
        if (panel)
            panel->shares = "bias";
        for (int h = 0; h < b->heads; h++) {
            snprintf(name, sizeof name, "head %d", h + 1);
            draft_curve(&d, panel, name, h, b->value + h * b->count, b->count, b->least);
        }
    }
    return draft_end(
        &d, dir,
        "What is added to the scores of each head, over the distance from query to key. Layers with equal curves "
        "are shown once; hidden keys are gaps.",
        out, e);
}

int profile_figures_rotary(const profile *p, const char *dir, profile_figures *out, error *e)
{
    int shown = p->rotaries < HOOKS_PANELS_MAX / 2 ? p->rotaries : HOOKS_PANELS_MAX / 2;
    figure_draft d = draft_begin("rotation", "Bound and measured decay of a rotation", 2 * shown);
    for (int i = 0; i < shown; i++) {
        const profile_rotary *r = &p->rotary[i];
        char layer[24] = "", title[64], name[24];
        if (p->rotaries > 1)
            snprintf(layer, sizeof layer, ", layer %d", r->layer + 1);
        if (r->pairs) {
            snprintf(title, sizeof title, "Bound of RoFormer 3.4.3%s", layer);
            figure_panel *bound = draft_panel(&d, title, "mean of |A(s)|", "distance");
            for (int h = 0; h < r->heads; h++) {
                hooks_head_name(name, h, r->heads);
                draft_curve(&d, bound, name, h, r->bound + h * r->count, r->count, 0);
            }
        }
        snprintf(title, sizeof title, "Measured product%s", layer);
        figure_panel *measured = draft_panel(&d, title, "q.k / head width, first head; normal q", "distance");
        draft_curve(&d, measured, "k = q", 0, r->same, r->count, 0);
        figure_curve *c = draft_curve(&d, measured, "independent", 1, r->other, r->count, 0);
        for (int s = 0; c && s < r->count; s++) {
            c->point[s].low = r->other[s] - 3 * r->other_error[s];
            c->point[s].high = r->other[s] + 3 * r->other_error[s];
        }
    }
    return draft_end(
        &d, dir,
        "The decay that is proven is that of a bound. The product itself falls, not monotonely, for a key equal to "
        "its query, and does not for independent ones (band: three standard errors).",
        out, e);
}

/* Weights that are as good as none would stretch a logarithmic axis out of use. */
static void hooks_cut(figure_curve *c)
{
    for (int i = 0; c && i < c->count; i++)
        if (c->point[i].y < HOOKS_LEAST_WEIGHT)
            c->point[i].y = NAN;
}

int profile_figures_attention(const profile_attention *a, const char *dir, profile_figures *out, error *e)
{
    int panels = a->layers < HOOKS_PANELS_MAX ? a->layers : HOOKS_PANELS_MAX;
    figure_draft d = draft_begin("attention", "Mean attention weight by distance, for each head", panels);
    for (int l = 0; l < panels; l++) {
        char title[48], name[24];
        snprintf(title, sizeof title, "Attention, layer %d", l + 1);
        figure_panel *p = draft_panel(&d, title, "mean weight, for each head", "distance from query to key");
        if (p)
            p->y_log = 10, p->shares = "attention";
        draft_reference(&d, p, "even", a->uniform, a->len, 0);
        for (int h = 0; h < a->heads; h++) {
            snprintf(name, sizeof name, "head %d", h + 1);
            hooks_cut(draft_curve(&d, p, name, h, a->weight + (size_t)(l * a->heads + h) * (size_t)a->len, a->len, 0));
        }
    }
    return draft_end(
        &d, dir,
        a->random_content
            ? "Mean attention weight over the distance from query to key, for normal queries, keys and inputs: what "
              "positions do by themselves. Dotted: even attention over all that is visible. Below 1e-6 nothing is "
              "drawn."
            : "Mean attention weight over the distance from query to key, on the task's test stream at the training "
              "length. Dotted: even attention over all that is visible. Below 1e-6 nothing is drawn.",
        out, e);
}

int profile_figures_hidden(const readout_states *h, const char *dir, profile_figures *out, error *e)
{
    figure_draft d = draft_begin("hidden", "Position read off hidden states, by layer", 1);
    figure_panel *p =
        draft_panel(&d, "Position in hidden states", "mean error of a linear read-out, tokens", "layers passed");
    double *guess = malloc((size_t)h->count * sizeof *guess);
    d.failed |= !guess;
    for (int i = 0; i < h->count && guess; i++)
        guess[i] = h->guess;
    if (guess)
        draft_reference(&d, p, "guess", guess, h->count, 0);
    draft_curve(&d, p, "read-out", 0, h->read_error, h->count, 0);
    free(guess);
    for (int i = 0; p && i < h->count && i < FIGURE_TICS_MAX; i++, p->x_tics++) {
        p->x_tic[i].at = p->x_high = i;
        snprintf(p->x_tic[i].text, sizeof p->x_tic[i].text, "%d", i);
    }
    if (!d.failed)
        figure_fit(p, 0, NAN);
    return draft_end(
        &d, dir,
        "Mean error of a linear read-out of a token's position from the residual stream, cross-validated over "
        "sequences, before the first layer and after each. Dotted: a guess.",
        out, e);
}
