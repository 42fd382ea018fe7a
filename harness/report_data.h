/* report_data.h - value in distribution against the amount of training data: for the section "Data scale". */
#ifndef REPORT_DATA_H
#define REPORT_DATA_H

#include "report_document.h"
#include "report_group.h"

enum { REPORT_AMOUNTS_MAX = 64 };

/* One primary panel's score at its training length, by the amount of data, of the runs of one group. */
typedef struct report_scale {
    const report_groups *groups;
    int group;
    const view_panel *panel;
    int amounts;
    double amount[REPORT_AMOUNTS_MAX]; /* tokens of text or sequences, ascending */
} report_scale;

/* Groups of all runs that ended well and say how much they met. -1: no memory; free as report_groups_find says. */
int report_data_groups(const report_view *v, report_groups *out);

/* The amounts of a group's runs that have a score in this panel; returns 1 when there are at least two and some run had
 * train.data. */
int report_scale_find(const report_groups *g, int group, const view_panel *p, report_scale *out);

/* The scores of one encoding at amount k, by seed: value[runs], seed[runs] (=). Returns how many. */
int report_scale_values(const report_scale *s, int encoding, int k, double *value, int *seed);

/* "tokens of text" or "sequences". */
const char *report_scale_unit(const report_scale *s);

/* "text", or "text, trained at 64", and the setting where there are several. malloc'ed. */
char *report_scale_title(const report_scale *s);

/* "233k", "3.73M": three digits, whole numbers below 1000. Appends to `out`. */
void report_amount_text(double amount, buffer *out);

int report_data_write(const report_view *v, const char *dir, report_figures *out, error *e);

/* Where encodings cross the baseline (or, without one, the first by name), a table for each panel
 * (report_data_table.c). */
void report_data_tables(const report_view *v, document *d);

#endif
