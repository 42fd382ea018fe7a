/* pair_fixture.h - tasks of prompt and answer against a slow solver, in both regimes, for tests. */
#ifndef PAIR_FIXTURE_H
#define PAIR_FIXTURE_H

#include "task_room.h"

enum { PAIR_MAX = 16384 };

/* From a prompt of n symbols to the answer; returns its length. `with` is what pair_check was given: sizes that the
 * format depends on. */
typedef int pair_solver(const int *prompt, int n, const int *with, int *answer);

/* What stands in a drawn sequence: pointers into it. */
typedef struct pair_view {
    const int *prompt, *answer;
    int prompt_len, answer_len;
} pair_view;

/* Takes a decoder's sequence apart: BOS prompt SEP answer, scored from SEP on, EOS at the end; fails the test if it is
 * anything else. */
pair_view pair_decoder(const task_room *r);

/* Draws lengths min_len, min_len + step .. max_len of all streams in both regimes. Every sequence must be framed as
 * task_regime says, keep within the task's sizes, leave the rest of the buffers alone, be the same when it is drawn
 * again, and have the answer that the solver finds. */
void pair_check(const char *text, int min_len, int max_len, int step, const int *with, pair_solver *solve);

/* The task's chances against an estimate from draws, which knows no formula: apart by at most `margin`. */
void pair_check_chance(const char *text, int len, double margin);

/* Fails unless the counts are what equally likely cells give. */
void pair_uniform(const char *what, const long *count, int cells);

/* Every part of `expected` (separated by '|') stands in the message with which the task is refused. */
void pair_refused(const char *text, int min_len, int max_len, const char *expected);

#endif
