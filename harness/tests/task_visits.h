/* task_visits.h - instances of tasks of prompt and answer, taken out of their frames in both regimes, for tests. */
#ifndef TASK_VISITS_H
#define TASK_VISITS_H

#include "task.h"

/* One instance: symbols only, with proposed positions where the task proposes any, else NULL. */
typedef struct pair_seen {
    const task *task;
    int len, prompt_len, answer_len;
    const int *prompt, *answer;
    const double *prompt_position, *answer_position;
    double separator_position;
} pair_seen;

typedef void pair_visitor(const pair_seen *p);

/* Draws `items` instances of each stream, of each length min_len, min_len + step .. max_len, in both regimes; checks
 * the frames, and that the same draw gives the same again; visits each. */
void visits_each(const char *text, int min_len, int max_len, int step, uint32_t items, pair_visitor *visit);

/* `items` instances of one length straight from the sampler, in the decoder's regime. */
void visits_sample(const char *text, int len, uint32_t items, pair_visitor *visit);

/* The options are refused for these lengths, with a message that has `part` in it. */
void visits_refused(const char *text, int min_len, int max_len, const char *part);

/* Counts are as expected: Pearson's statistic stays below a limit six standard deviations above its mean. */
void visits_expect_shares(const char *what, const long *count, const double *share, int cells);
void visits_expect_uniform(const char *what, const long *count, int cells);

#endif
