/* task_pairs.h - checks that hold for any task with prompt and answer, in both regimes, for tests. */
#ifndef TASK_PAIRS_H
#define TASK_PAIRS_H

#include "task.h"

enum { PAIRS_ANSWER_MAX = 4096 };

/* From the symbols x[n] of a prompt to the answer; returns its length. Fails the test when x is no prompt of length
 * len. */
typedef int pairs_solver(const int *x, int n, int len, int *answer);

/* Draws of all streams at lengths 1 .. 24 (or max_len) and some up to max_len, in both regimes: the frame is as
 * task_regime says, the answer is what the solver finds, nothing is written past the end, proposals lie in their
 * bounds, and the same draw gives the same sequence in an opening for other lengths. symbols: how many the task should
 * have. */
void pairs_check(const char *text, int symbols, int max_len, pairs_solver *solve);

/* Positions: what stands in BOS x SEP y at length len (in all draws), as many as there are tokens, and the farthest
 * one. */
void pairs_check_positions(const char *text, int len, const double *position, int count, double farthest);

/* The formulas for chance against a walk over all prompts of prompt_len symbols; weigh gives each its probability, up
 * to a factor, 0: no prompt of length len. */
typedef double pairs_weigher(const int *x, int n, int len);
void pairs_check_chance(const char *text, int len, int prompt_len, pairs_weigher *weigh, pairs_solver *solve);

/* The formulas for chance against the estimate that a task without formulas gets. */
void pairs_check_estimate(const char *text, int len);

/* All prompts that occur are equally likely, and there are this many of them. */
void pairs_check_uniform(const char *text, int len, int prompts);

/* Prompts of prompt_len symbols are as likely as weigh says, up to a factor; those of weight 0 do not occur. */
void pairs_check_weights(const char *text, int len, int prompt_len, pairs_weigher *weigh);

/* Of 2000 held-out draws at this length not more than this many are marked as shared. */
void pairs_check_shared(const char *text, int len, int most);

#endif
