/* report_view.h - what a report shows, computed once for all formats and figures. */
#ifndef REPORT_VIEW_H
#define REPORT_VIEW_H

#include "metric.h"
#include "palette.h"
#include "registry.h"
#include "results.h"
#include "summary.h"

typedef struct view_method {
    const char *label;
    char *line;                    /* what it is called within its part: the label, its encoding, or its setting; owned */
    int part, place;               /* of the view's parts; its place there before ranks and names decide */
    palette_style style;           /* of its line: the same in all parts */
    int is_baseline;
    int is_given;                  /* takes its positions from the task */
    int runs, ok, fitted;          /* records; ended well; fitted in distribution */
    double rank, rank_low, rank_high; /* mean rank past the training length, over tasks and seeds; NAN: not ranked */
    double reciprocal;             /* mean of 1/rank over the same tasks, lengths and seeds; NAN: not ranked */
} view_method;

typedef struct view_length {
    int min_len, eval_len;
    double ratio;
    double chance;                 /* NAN: not known */
    double overlap;                /* share of test sequences that training may have met; NAN: not known, or longer than any there */
} view_length;

/* One score of one task over length: a table, and a panel where it is primary. */
typedef struct view_panel {
    const char *task, *mode;
    const metric *metric;
    int train_len;
    int lengths;
    view_length *length;           /* [lengths], ascending */
    const summary_row **row;       /* [methods * lengths]; method m at length l is row[m * lengths + l]; NULL: not run */
    const summary_curve **curve;   /* [methods]; NULL: not run */
    int home;                      /* the longest length within the training lengths; -1: none was tested */
    int headline;                  /* the first length of at least twice the training length, else the last */
    int primary;                   /* the task's first score (metric_score); its other scores are details */
    int decoded;                   /* 1: answers written token by token (eval.decode), a detail beside the same score */
} view_panel;

typedef enum view_mark { VIEW_PLAIN, VIEW_BEST, VIEW_TIED } view_mark;

typedef struct report_view {
    results runs;
    summary summary;
    int methods, panels;
    view_method *method;           /* by part, then by mean rank, then by name */
    int *by_rank;                  /* [methods] indices of methods by mean rank, then by name */
    int encodings, settings;       /* methods are encodings under settings, where runs differ in more than the encoding */
    int parts;                     /* what figures and tables are divided into (report_parts.c); 1: nothing is divided */
    int by_setting;                /* 1: a part is a setting, its lines are encodings; else a part is an encoding */
    char **part;                   /* [parts] their headings, owned; "" where nothing is divided */
    view_panel *panel;             /* by task, primary first */
    int ranked_tasks, ranked_seeds;/* what the ranks are means over */
    int unranked_tasks;            /* left out: not every method ran there */
    stat_friedman_result friedman; /* of the mean ranks of each task */
    double critical;               /* difference of two mean ranks that Nemenyi's test calls one; NAN: fewer than two tasks */
} report_view;

/* Builds the view of dir and writes the CSV files. Returns 0, or -1 with e set; as in summary_collect, records that cannot
 * be read leave a view of all others (methods > 0). The caller frees it in every case. */
int view_load(const char *dir, report_view *out, error *e);
void view_free(report_view *v);

const summary_row *view_row(const view_panel *p, int method, int length);

/* Whether the method was run on this panel's task at all. */
int view_ran(const view_panel *p, int method);

/* Whether anything past the training length was tested. */
int view_is_past(const view_panel *p);

/* An encoding against the best mean or the baseline at a length; length VIEW_AREA: over the whole curve. NULL: there is
 * nothing to compare. */
enum { VIEW_AREA = -1 };
const summary_contrast *view_contrast(const report_view *v, const view_panel *p, const char *against, int method, int length);

/* Marks the methods of one column: the best mean, and all whose paired differences from it (same seeds) have a 95 %
 * bootstrap interval that holds 0, or too few pairs for one. Nothing is marked with fewer than two seeds, with one method, or
 * where nobody is better than chance. Returns 1 when something was marked. */
int view_marks(const report_view *v, const view_panel *p, int length, view_mark *mark);

enum { VIEW_RATIO_MAX = 24 };

/* "1.5x" with the multiplication sign. */
void view_ratio_text(double ratio, char out[VIEW_RATIO_MAX]);

/* Fills in the methods' ranks (report_rank.c). */
int view_rank(report_view *v, error *e);

/* Finds the parts, and gives each method its line and style (report_parts.c). -1: no memory. */
int view_find_parts(report_view *v);

/* Sentinels (report_sentinel.c): tasks at which nothing may succeed far past the training length. */
typedef struct view_sentinel {
    double ratio;                  /* from which multiple of the training length on; NAN: the panel's task is none */
    const char *why;
    int tested;                    /* lengths tested there */
    int method, length;            /* the highest mean there, of all methods that do not take positions from the task; -1: none */
    double mean;
} view_sentinel;

/* A sentinel counts as solved when some method's mean over its runs reaches this there. */
#define VIEW_SENTINEL_SOLVED 0.9
view_sentinel view_sentinel_of(const report_view *v, const view_panel *p);

/* Whether an encoding or a map's text takes positions from the task: "x@y(...)", where y is a built-in map that does. */
int view_is_given(const registry *r, const char *text);

#endif
