/* report_document.h - a view and its figures as a document. */
#ifndef REPORT_DOCUMENT_H
#define REPORT_DOCUMENT_H

#include "document.h"
#include "report_figures.h"
#include "report_methods.h"
#include "report_view.h"

void report_document(const report_view *v, const report_figures *f, const report_sources *s, document *out);

/* Tables (report_tables.c). */
void report_overview_table(const report_view *v, document *d);
void report_panel_table(const report_view *v, const view_panel *p, document *d);
void report_seed_table(const report_view *v, const view_panel *p, document *d);
void report_cost_table(const report_view *v, document *d);

/* Sentences (report_words.c, report_notes.c). */
void report_lead(const report_view *v, document *d);
void report_facts(const report_view *v, document *d);
void report_findings(const report_view *v, document *d);
void report_warnings(const report_view *v, document *d);
void report_notes(const report_view *v, const report_figures *f, document *d);
void report_how_to_read(const report_view *v, document *d);
void report_provenance(const report_view *v, document *d);

/* The distinct values of a configuration row over all runs, in the order of the runs: "64", "64 or 128", or from a fourth
 * on "16, 32 ... 512". Appends to `out`; returns how many there are. */
int report_setting(const report_view *v, const char *row, buffer *out);

/* A column's heading: "2x", and the length itself, "64" or "51-100". */
void report_length_text(const view_length *length, char ratio[VIEW_RATIO_MAX], char tokens[32]);

#endif
