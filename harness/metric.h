/* metric.h - what the measured values mean: one row for each metric, so that tables, ranks and figures need not know them. */
#ifndef METRIC_H
#define METRIC_H

typedef enum metric_role {
    METRIC_SCORE,        /* ranked, drawn, given an interval */
    METRIC_REFERENCE     /* a fact about the task or the data at that length: chance level, overlap */
} metric_role;

typedef struct metric {
    const char *name;    /* as in records and CSV files */
    const char *title;   /* in headings: "exact match" */
    const char *unit;    /* "share of sequences"; of axes and table notes */
    metric_role role;
    int higher_is_better;
    double low, high;    /* values cannot lie outside */
    const char *chance;  /* the metric that holds its chance level; NULL: none */
} metric;

/* The row of that name; an unknown name (of a newer program) is a reference without bounds. Never NULL. */
const metric *metric_find(const char *name);

/* Scores in the order in which a task's headline is looked for: the first one that it has. NULL behind the last. */
const metric *metric_score(int i);

#endif
