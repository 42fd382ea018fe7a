/* speed.h - what a step costs: the reference networks, how fast they run, and what an encoding adds.
 *
 * Machines are shared and their speed drifts, so nothing is told but medians of rounds, and ratios of things that were timed
 * in turn. Seconds are of the processor: one thread computes without waiting, so they equal those of the clock on a machine
 * that does nothing else, and leave out what other programs take of the core.
 */
#ifndef SPEED_H
#define SPEED_H

#include "breakdown.h"
#include "config.h"
#include "error.h"
#include "registry.h"

/* A network and its batch. Decoder, pre-norm, GELU, untied head, causal; AdamW in training. */
typedef struct speed_setting {
    const char *name;
    int width, layers, heads, len, batch, vocab; /* batch: sequences of `len` tokens in a step */
    int training;            /* 0: the network is evaluated only */
} speed_setting;

/* The reference networks A to D, small to large; D is long and evaluated only. */
enum { SPEED_SETTINGS = 4 };
extern const speed_setting speed_settings[SPEED_SETTINGS];

/* Useful operations a token: 6 (12 L d^2 + V d) + 6 L (T + 1) d in training, with L layers of width d, T tokens in a sequence
 * and V in the vocabulary; a third of it in evaluation. Linear maps, and the half of attention that a causal mask leaves;
 * norms, softmax and the like are not counted, nor is what is computed twice. */
double speed_flops(const speed_setting *s, int training);

/* ERROR_USAGE for a stack that does not parse, does not fit the network, or needs positions that only a task proposes. */
int speed_check(const registry *r, const char *stack, const speed_setting *s, error *e);

/* ------------------------------------------------------------------------------------------------ samples */

enum { SPEED_ROUNDS_MAX = 101 };

typedef struct speed_spread {
    double median, low, high; /* low, high: quartiles */
} speed_spread;

/* Of x[n], n >= 1, which is sorted. */
speed_spread speed_spread_of(double *x, int n);

/* ------------------------------------------------------------------------------------------------ one process, one round */

typedef struct speed_round {
    double first_step_at;    /* when the first step was done: stopwatch_wall, which all processes of a machine share */
    double step_seconds;     /* of one step */
    double tokens;           /* a second */
    double peak;             /* speed_peak, mean of before and after */
    double mfu;              /* useful operations a second as a share of peak */
    long resident_bytes;     /* most memory that this process has held; 0 where the system does not tell */
    long arena_bytes;        /* buffers of the network: parameters, gradients, moments, activations */
} speed_round;

/* Builds the network with this stack, does one step, then steps for about `seconds`; with 0, the first step is the one that
 * is timed. Meant for a process of its own: memory and start are the process's. ERROR_USAGE for a stack that does not
 * parse or fit. */
int speed_once(const registry *r, const char *stack, const speed_setting *s, double seconds, speed_round *out, error *e);

/* ------------------------------------------------------------------------------------------------ an encoding's cost */

typedef struct speed_cost {
    char encoding[PE_TEXT_MAX];  /* canonical */
    long parameters;             /* the encoding's own */
    double train_tokens, eval_tokens;  /* a second, median; train_...: 0 in a setting that is evaluated only */
    speed_spread train, eval;          /* time against the baseline's, of pairs timed in turn */
    double train_bytes, eval_bytes;    /* buffers of a training step (parameters, gradients, moments too); of an evaluation */
} speed_cost;

/* The encoding that costs nothing: blind to position and without parameters. Its name; NULL with e set if there is none. */
const char *speed_baseline(const registry *r, error *e);

/* Times `stack` against the baseline: `rounds` pairs, after one that is not counted, each side for about `seconds`.
 * ERROR_USAGE for a stack that does not parse or fit. */
int speed_measure(const registry *r, const char *stack, const speed_setting *s, int rounds, double seconds,
                  speed_cost *out, error *e);

/* ------------------------------------------------------------------------------------------------ where it goes */

typedef struct speed_parts {
    char encoding[PE_TEXT_MAX];
    double step_seconds;                  /* without the breakdown, median; wall clock, as the sections are */
    double seconds[BREAKDOWN_SECTIONS];   /* of one step, medians over rounds */
    double share[BREAKDOWN_SECTIONS];     /* of their sum */
    double gemm_rate, attention_rate;     /* useful operations a second of their own section */
} speed_parts;

extern const char *const speed_section_names[BREAKDOWN_SECTIONS];

/* Splits a step (an evaluation where the setting is evaluated only) into sections: `rounds` rounds of about `seconds`. */
int speed_break_down(const registry *r, const char *stack, const speed_setting *s, int rounds, double seconds,
                     speed_parts *out, error *e);

#endif
