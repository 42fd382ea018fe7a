/* profile_show.h - a profile for a terminal, for programs, as figures and as a page. */
#ifndef PROFILE_SHOW_H
#define PROFILE_SHOW_H

#include <jansson.h>

#include "buffer.h"
#include "document.h"
#include "error.h"
#include "profile.h"

/* What a person wants to know, for a terminal of `width` columns: tables with a column for each head go on below where
 * they are wider, sentences stand in one line each. 0: nothing is divided. */
void profile_text(const profile *p, int width, buffer *out);

/* Everything but the matrix of cosines, under "schema": "posbench-profile/1"; what has no value is null. NULL: no
 * memory. */
json_t *profile_json(const profile *p);

enum { PROFILE_FIGURES_MAX = 16 };

/* One picture: files plots/STEM.tsv, .layout.tsv and .csv, and what was drawn of it. */
typedef struct profile_figure {
    char stem[32];
    const char *script; /* of plots/ */
    char title[128];    /* for readers who cannot see it */
    char caption[512];
} profile_figure;

typedef struct profile_figures {
    int count;
    profile_figure item[PROFILE_FIGURES_MAX];
} profile_figures;

/* Writes the data of every figure into dir, which exists: for gnuplot, and as CSV. */
int profile_figures_write(const profile *p, const char *dir, profile_figures *out, error *e);

/* The page, in the order of the parts. Free with doc_free. */
void profile_document(const profile *p, const profile_figures *f, document *d);

/* DIR/profile.json, DIR/plots/ with data and pictures (`plots`: PLOT_* of report.h), DIR/report.html and .md. Makes
 * DIR. A gnuplot that is missing leaves everything but the pictures, and is then ERROR_ENVIRONMENT. */
int profile_write(const profile *p, const char *dir, const char *plots_dir, int plots, error *e);

#endif
