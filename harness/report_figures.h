/* report_figures.h - the figures of a report: which there are, and their data. */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "figure.h"
#include "report_view.h"

enum { REPORT_STEM_MAX = 64, REPORT_FIGURES_MAX = 256 };

/* One picture that was put into data files and waits for gnuplot. */
typedef struct report_figure {
    char stem[REPORT_STEM_MAX];
    const char *script;      /* of plots/ */
    char title[256];
    int part_of;             /* -1: a figure; else the index of the figure that this is one panel of */
    int left_out;            /* points that its logarithmic axis could not show */
} report_figure;

typedef enum report_figure_kind {
    REPORT_EXTRAPOLATION,    /* score over length: all methods, a panel for each task */
    REPORT_REACH,            /* how far each method holds on each task */
    REPORT_RANKS,            /* mean ranks with intervals */
    REPORT_POSITIONS,        /* loss by position of long texts */
    REPORT_TRAINING,         /* training loss by step */
    REPORT_COST,             /* score over training time */
    REPORT_STARVED_GRADIENT, /* what positions met in training: squared gradients */
    REPORT_STARVED_LOSS,     /* and how well they are predicted in the end */
    REPORT_STARVED_ACCURACY,
    REPORT_DATA,             /* score over the amount of training data */
    REPORT_EXTENDED,         /* score at longer lengths over steps of fine-tuning there: a panel for each encoding */
    REPORT_FIGURE_KINDS
} report_figure_kind;

typedef struct report_figures {
    int count;
    report_figure item[REPORT_FIGURES_MAX];
    const char *divided;            /* what has panels of its own in figures of all methods, "setting"; NULL: nothing */
    int first[REPORT_FIGURE_KINDS]; /* index of the figure of a kind; -1: the records hold nothing for it */
} report_figures;

/* Writes the data files of every figure into dir (which exists). */
int report_figures_write(const report_view *v, const char *dir, report_figures *out, error *e);

/* The same for each kind, one file each. They append to `out`; nothing when there is nothing to show. */
int report_extrapolation_write(const report_view *v, const char *dir, report_figures *out, error *e);
int report_reach_write(const report_view *v, const char *dir, report_figures *out, error *e);
int report_ranks_write(const report_view *v, const char *dir, report_figures *out, error *e);
int report_positions_write(const report_view *v, const char *dir, report_figures *out, error *e);
int report_training_write(const report_view *v, const char *dir, report_figures *out, error *e);
int report_extended_write(const report_view *v, const char *dir, report_figures *out, error *e);

/* Words and colour of one cell of the heat table: ">= 4x", a star where no run fitted in distribution, nothing where nothing
 * was run (NULL); share 0 .. 1. */
void report_reach_text(const summary_curve *c, buffer *out);
double report_reach_share(const report_view *v, const summary_curve *c);

/* Registers a picture; NULL with e set when there are too many. */
report_figure *report_figure_add(report_figures *f, const char *stem, const char *script, const char *title, error *e);

/* The words above a panel of one part of a task. undivided: what stands there where nothing is divided. title and
 * subtitle are malloc'ed; subtitle is emptied. -1: no memory. */
int report_part_words(const report_view *v, int part, const char *task, const char *undivided, buffer *subtitle,
                      figure_panel *out);

/* Writes a figure: with all panels, and where there are several once each, as parts. f->panel is freed. */
int report_panels_write(figure *f, report_figure_kind kind, const char *script, const char *dir, report_figures *out, error *e);

/* "unique_copy", or "unique_copy, trained at 32" where a task was trained at several lengths. malloc'ed. */
char *report_panel_title(const report_view *v, const view_panel *p);

#endif
