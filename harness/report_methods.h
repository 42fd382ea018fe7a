/* report_methods.h - what a paper says of how its numbers came about: method, tuning, sources. All of it follows from
 * the records. */
#ifndef REPORT_METHODS_H
#define REPORT_METHODS_H

#include "document.h"
#include "report_figures.h"
#include "report_sources.h"
#include "report_view.h"

/* A section of paragraphs that can stand in a paper: encodings, network, data, lengths, optimiser, the choice of rate
 * and weights, seeds, intervals. Works in `s` are cited. */
void report_methods(const report_view *v, const report_sources *s, document *d);

/* The trials of a tuned sweep: one row for each cell, one column for each rate, the chosen one marked. Nothing where
 * nothing was tuned (report_tune.c). */
void report_tune_table(const report_view *v, document *d);

/* Where each encoding, map and task comes from, with its keys in sources.bib, and the place of the bibliography. */
void report_sources_list(const report_sources *s, document *d);

/* Score against training time: a panel for each task (report_quality.c). */
int report_quality_write(const report_view *v, const char *dir, report_figures *out, error *e);

#endif
