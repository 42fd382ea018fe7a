/* profile_draft.h - a figure of a profile while it is put together. Private to profile. */
#ifndef PROFILE_DRAFT_H
#define PROFILE_DRAFT_H

#include "figure.h"
#include "profile_show.h"

/* Once memory is short nothing more is added, and draft_end says so. */
typedef struct figure_draft {
    figure f;
    int failed;
} figure_draft;

/* Room for `panels` panels; name and title must last. */
figure_draft draft_begin(const char *name, const char *title, int panels);

/* The next panel, NULL when memory is short; title and subtitle are copied, x_title must last. */
figure_panel *draft_panel(figure_draft *d, const char *title, const char *subtitle, const char *x_title);

/* y over x = first, first + 1 ... in the style of that number; infinite values become gaps. p may be NULL, and so may
 * the result. */
figure_curve *draft_curve(figure_draft *d, figure_panel *p, const char *label, int style, const double *y, int count,
                          int first);
/* The same as a level to compare with. */
void draft_reference(figure_draft *d, figure_panel *p, const char *label, const double *y, int count, int first);

/* Fits the axes that are not yet fitted, writes the data files, registers the figure and frees it. */
int draft_end(figure_draft *d, const char *dir, const char *caption, profile_figures *out, error *e);

/* dir/name.csv */
int draft_save(const buffer *b, const char *dir, const char *name, error *e);
void draft_register(profile_figures *out, const char *stem, const char *script, const char *title, const char *caption);

/* Figures of hooks (profile_figures_hooks.c). */
int profile_figures_bias(const profile *p, const char *dir, profile_figures *out, error *e);
int profile_figures_rotary(const profile *p, const char *dir, profile_figures *out, error *e);
int profile_figures_attention(const profile_attention *a, const char *dir, profile_figures *out, error *e);
int profile_figures_hidden(const readout_states *h, const char *dir, profile_figures *out, error *e);

#endif
