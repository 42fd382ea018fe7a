/* pair_chance.h - chances and distributions of tasks of prompt and answer, against walks and counts, for tests. */
#ifndef PAIR_CHANCE_H
#define PAIR_CHANCE_H

#include "pair_frame.h"

/* The formulas for chance against a walk over all prompts of prompt_len symbols; weigh gives each its probability, up
 * to a factor, 0: no prompt of length len. */
typedef double pair_weigher(const int *x, int n, int len);
void pairs_check_chance(const char *text, int len, int prompt_len, pair_weigher *weigh, pair_solver *solve);

/* The formulas for chance against the estimate that a task without formulas gets: apart by `margin` at the most. */
void pairs_check_estimate(const char *text, int len, double margin);

/* All prompts that occur are equally likely, and there are this many of them. */
void pairs_check_uniform(const char *text, int len, int prompts);

/* Prompts of prompt_len symbols are as likely as weigh says, up to a factor; those of weight 0 do not occur. */
void pairs_check_weights(const char *text, int len, int prompt_len, pair_weigher *weigh);

/* Of 2000 held-out draws at this length not more than this many are marked as shared. */
void pairs_check_shared(const char *text, int len, int most);

#endif
