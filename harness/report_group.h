/* report_group.h - runs that differ in the encoding and the seed alone, and what one row of the configuration says: for
 * the figures that compare encodings under several settings, where a label for each encoding and setting would be too
 * many. */
#ifndef REPORT_GROUP_H
#define REPORT_GROUP_H

#include "document.h"
#include "palette.h"
#include "report_view.h"

/* Runs of one task, training length and setting. */
typedef struct report_group {
    const char *task; /* of the first run */
    int train_len;
    char *setting; /* what sets them apart from other runs of their task: "train.lengths=uniform"; "": nothing does */
    int first;     /* index of the first run */
} report_group;

typedef struct report_groups {
    const report_view *view;
    int count, encodings;
    report_group *item;   /* [count] by task and training length, then those with the longest sequences first */
    int *of;              /* [runs] group of each run; -1: not taken */
    char **encoding;      /* [encodings], by name */
    int *encoding_of;     /* [runs]; -1: not taken */
    palette_style *style; /* [encodings] */
    int *is_baseline;     /* [encodings] */
} report_groups;

/* Groups the runs for which `takes` is not 0. without: a row that is no part of a setting, since it is what a figure is
 * drawn over; NULL: none. -1: no memory. The caller frees it in every case; v must outlive it. */
int report_groups_find(const report_view *v, int (*takes)(const run_record *run), const char *without,
                       report_groups *out);
void report_groups_free(report_groups *g);

/* How lengths of training were drawn: "lengths 4-64, geometric 0.95, mean 20.1". Appends to `out`. */
void report_lengths_words(const run_config *c, buffer *out);

/* The parts of a run's label (results_label.h): "name" and "row=value, row=value" of "name [row=value, row=value]"; the
 * second without the row that is named, NULL: with all. malloc'ed. */
char *report_label_name(const char *label);
char *report_label_setting(const char *label, const char *without);

/* A heading for a group: the words of its lengths, and its task or setting where other groups share them. malloc'ed. */
char *report_group_title(const report_groups *g, int group);

/* A column of numbers of runs. */
typedef struct report_column {
    const char *name;           /* also of the bootstrap's stream */
    double factor, least, most; /* what is shown is factor times a value, which cannot lie outside */
    int decimals, is_signed;
} report_column;

/* A cell: mean of x[n] with its 95 % interval (stat_bootstrap); a dash where there is none or one has no value (NAN). */
void report_mean_cell(const report_column *c, const double *x, int n, document *d);

#endif
