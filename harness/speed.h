/* speed.h - what an encoding costs: time and memory of training and evaluation against the encoding that does nothing.
 *
 * Machines are shared and their speed drifts, so a cost is a ratio of two things timed in turn: a few steps of the baseline,
 * the same of the encoding, again and again; the median of the ratios is told.
 */
#ifndef SPEED_H
#define SPEED_H

#include "config.h"
#include "error.h"
#include "registry.h"

typedef struct speed_setting {
    int width, layers, heads, len, batch, vocab; /* batch: sequences of `len` tokens in a step */
    int rounds;              /* pairs that are timed, after one that is not */
    double round_seconds;    /* about how long one side of a pair takes */
} speed_setting;

extern const speed_setting speed_default;

typedef struct speed_cost {
    char encoding[PE_TEXT_MAX];  /* canonical */
    long parameters;             /* the encoding's own */
    double train_tokens, eval_tokens;   /* per second, median */
    double train_ratio, eval_ratio;     /* time against the baseline's, median of pairs; 1 for the baseline */
    double train_low, train_high;       /* quartiles of the ratios */
    double train_bytes, eval_bytes;     /* buffers of a training step (parameters, gradients, moments too); of an evaluation */
} speed_cost;

/* The encoding that costs nothing: blind to position and without parameters. Its name; NULL with e set if there is none. */
const char *speed_baseline(const registry *r, error *e);

/* Times `stack` against the baseline. ERROR_USAGE for a stack that does not parse or fit. */
int speed_measure(const registry *r, const char *stack, const speed_setting *s, speed_cost *out, error *e);

#endif
