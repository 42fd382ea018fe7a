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
/* What longer windows gain in both modes, a table for each text that was scored in both (report_windows.c). */
void report_window_tables(const report_view *v, document *d);
/* What was done after training, and its tables with notes (report_extended.c); whether any run did it. */
int report_is_extended(const report_view *v);
void report_extended_method(const report_view *v, document *d);
void report_extended_tables(const report_view *v, document *d);
/* report_panel_table of a decoded panel, with a sentence on how it differs from teacher forcing (report_decoded.c). */
void report_decoded_table(const report_view *v, const view_panel *p, document *d);
void report_fitted_table(const report_view *v, const view_panel *p, document *d); /* nothing where every run fitted */
void report_seed_table(const report_view *v, const view_panel *p, document *d);
void report_cost_table(const report_view *v, document *d);

/* Differences (report_comparisons.c): from the baseline on one task, with a note below; and over all tasks, in words. */
void report_comparison_table(const report_view *v, const view_panel *p, document *d);
void report_over_tasks(const report_view *v, document *d);

/* Sentinels (report_sentinel.c): a warning for each that was solved, before anything else; and an item for each. */
void report_leaks(const report_view *v, document *d);
void report_sentinels(const report_view *v, document *d);

/* Sentences (report_words.c, report_findings.c, report_notes.c, report_terms.c). */
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

/* A number of a table, NAN as nothing; "low-high", nothing when low is NAN. */
void report_number(double value, buffer *out);
void report_interval(double low, double high, buffer *out);

/* The first cell of a method's row; the row is begun. */
void report_method_cell(const report_view *v, int m, document *d);

/* "about 23 seeds would be needed" for two encodings that could not be told apart; "" where that cannot be said. */
void report_needed(const summary_contrast *c, buffer *out);

/* A column's heading: "2x", and the length itself, "64" or "51-100". */
void report_length_text(const view_length *length, char ratio[VIEW_RATIO_MAX], char tokens[32]);

#endif
