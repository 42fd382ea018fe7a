/* report_extended.h - what becomes of a trained network at longer lengths, by method and steps of fine-tuning: the section
 * "Extended" of a report, whose figure and tables look at the same rows. */
#ifndef REPORT_EXTENDED_H
#define REPORT_EXTENDED_H

#include "report_document.h"

enum {
    EXTENDED_MAX = 64
}; /* methods, factors or step counts that one task can have here; more are left to the CSV file */

/* The rows of one score of one task, and what they range over. */
typedef struct extended_group {
    const view_panel *panel;
    int factors, steps, names, options;
    double factor[EXTENDED_MAX];
    int step[EXTENDED_MAX];
    const char *name[EXTENDED_MAX];   /* of methods, in the order of the alphabet */
    const char *option[EXTENDED_MAX]; /* of the task, under which it was tested besides */
} extended_group;

/* What the rows of this panel's score range over. 1 when it was measured after training and is the task's first. */
int extended_gather(const report_view *v, const view_panel *p, extended_group *g);

/* Adds what one row has and no row before it had. Rows come by ascending factor. */
void extended_note(extended_group *g, const summary_extension *x);

/* Of qsort, for arrays of texts. */
int extended_name_order(const void *a, const void *b);

/* The row of a method at the longer length, or with `home` at the training length; factor and step are indices. NULL: not
 * run. */
const summary_extension *extended_find(const report_view *v, const extended_group *g, int factor, int method,
                                       const char *name, const char *options, int step, int home);

#endif
