/* pair_frame.h - instances of tasks of prompt and answer, taken out of their frames in both regimes, for tests. */
#ifndef PAIR_FRAME_H
#define PAIR_FRAME_H

#include "task_room.h"

enum { PAIR_ANSWER_MAX = 16384 };

/* One instance: symbols only, with proposed positions where the task proposes any, else NULL. Pointers into what was
 * drawn. */
typedef struct pair_seen {
    const task *task;
    int len, prompt_len, answer_len;
    const int *prompt, *answer;
    const double *prompt_position, *answer_position;
    double separator_position; /* a decoder's */
} pair_seen;

/* What was drawn last, out of its frame, which must be as task_regime says: BOS prompt SEP answer with the answer and
 * EOS as targets, or prompt slot slot .. with the answer as targets, and EOS where answers differ in length. It keeps
 * within the task's sizes, and the rest of the buffers is left alone. */
pair_seen pair_take_apart(const task_room *r);

typedef void pair_visitor(const pair_seen *p);

/* Draws `items` instances of each stream, of each length min_len, min_len + step .. max_len, in both regimes; takes
 * each apart, checks its positions and that the same draw gives the same again, also where positions are not asked for;
 * visits each. */
void pairs_visit(const char *text, int min_len, int max_len, int step, uint32_t items, pair_visitor *visit);

/* `items` instances of one length straight from the sampler, in the decoder's regime. */
void pairs_sample(const char *text, int len, uint32_t items, pair_visitor *visit);

/* From the symbols x[n] of a prompt to the answer; returns its length. Fails the test if x is no prompt of length len.
 */
typedef int pair_solver(const int *x, int n, int len, int *answer);

/* As pairs_visit, three or four instances of each: the answer is what the solver finds. pairs_check: a task of so many
 * symbols, at lengths 1 .. 24 (or max_len) and some up to max_len; what it draws is the same in an opening for longer
 * ones. */
void pairs_solve(const char *text, int min_len, int max_len, int step, pair_solver *solve);
void pairs_check(const char *text, int symbols, int max_len, pair_solver *solve);

/* Positions: what stands in BOS x SEP y at length len (in all draws), as many as there are tokens, and the farthest
 * one. */
void pairs_check_positions(const char *text, int len, const double *position, int count, double farthest);

/* Refused for these lengths in both regimes, with a message that has every part of `parts` (separated by '|') in it. */
void pairs_refused(const char *text, int min_len, int max_len, const char *parts);

#endif
