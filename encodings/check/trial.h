/* trial.h - one stack, one shape, one sequence of random inputs: what all checks experiment with. */
#ifndef TRIAL_H
#define TRIAL_H

#include "refhost.h"

enum { TRIAL_LEN_MAX = 16, TRIAL_TRAIN_LEN = 16, TRIAL_CASES_MAX = 32 };

typedef enum trial_positions {
    TRIAL_INTEGER, /* 0, 1, 2 ... */
    TRIAL_SHIFTED, /* the same, further on; up to the last position that has a meaning, if there is one */
    TRIAL_REAL,    /* multiples of 1/64, two of them equal; sums and differences are exact in both precisions */
    TRIAL_RANDOM,  /* sorted whole numbers up to 2047, no two alike, as randomised positions are in training */
    TRIAL_UNORDERED /* 0 .. n, and from 0 again; for stacks that bear it */
} trial_positions;

typedef struct trial_case {
    pe_shape shape;
    int len;
    trial_positions kind;
    double pos[TRIAL_LEN_MAX];
    char name[96]; /* "heads 3, head_dim 4, len 7, causal, real positions" */
} trial_case;

/* The cases that the stack accepts among several shapes, both masks and the kinds of positions. Returns their number; 0
 * with e set to the reason of the last refusal. */
int trial_cases(const pe_stack *stack, trial_case out[TRIAL_CASES_MAX], error *e);

/* Positions of one kind for len tokens, none past `last`. Returns 0, or -1 if they do not fit. */
int trial_place(trial_positions kind, int len, double last, double *pos);

refhost_settings trial_settings(const trial_case *c);

/* The largest position. */
double trial_reach(const trial_case *c);

typedef struct trial {
    refhost *host;
    refhost_settings settings;
    refhost_input in; /* points into values */
    real *values;
    real *x, *q, *k, *v;  /* [len][width], free to change */
    real *d_o, *d_logits; /* the loss is sum d_o*o + sum d_logits*logits over visible, finite logits */
    size_t plain, square; /* elements of x; of d_logits */
} trial;

/* Makes the host, disturbs its parameters and draws inputs from the seed: x, q, k, v and d_o of a token are the same
 * whatever the len, so that a sequence and its beginning can be compared. */
int trial_open(trial *t, const pe_stack *stack, const refhost_settings *settings, uint64_t seed, error *e);
void trial_close(trial *t);

/* The loss of a forward pass, summed in double. *size (may be NULL) (=): the sum of the terms' absolute values. */
double trial_loss(trial *t, double *size);

/* Everything that a forward and a backward pass computed, as one row of reals with named sections. */
typedef struct trial_section {
    char name[64];
    size_t begin, count;
    size_t cols; /* elements of a line */
} trial_section;

/* Sections in order; from TRIAL_PARAMS on, one gradient for each parameter of the host. */
enum { TRIAL_X, TRIAL_LOGITS, TRIAL_P, TRIAL_O, TRIAL_DQ, TRIAL_DK, TRIAL_DV, TRIAL_DX, TRIAL_PARAMS };

typedef struct trial_result {
    real *values;
    size_t count;
    trial_section section[TRIAL_PARAMS + PE_PARAMS_MAX * STACK_MEMBERS_MAX];
    int sections;
} trial_result;

/* Clears gradients, runs forward and backward and copies the results. Free with trial_result_free. */
int trial_run(trial *t, trial_result *out, error *e);
void trial_result_free(trial_result *r);

/* Writes "o[3][5]" for a flat index. */
void trial_name_element(const trial_result *r, size_t i, char *text, size_t size);

/* The first element where |a - b| > tolerance * max(1, |a|, |b|), or where only one is a NaN; -1: none. tolerance 0
 * compares bits. */
ptrdiff_t trial_first_difference(const trial_result *a, const trial_result *b, double tolerance);

/* The first element that is neither finite nor a hidden logit; -1: none. */
ptrdiff_t trial_first_not_finite(const trial_result *r);

/* What a rounding may cost in this precision when sums run in another order. */
static inline double trial_rounding(void)
{
    return sizeof(real) == sizeof(double) ? 1e-12 : 2e-5;
}

#endif
