/* analytic.h - numbers that follow from an encoding's hooks alone: what published statements without training are
 * about.
 *
 * Each measurement asks the hooks through their vtable, in a network that is not trained (start values from the seed),
 * and never knows a formula. Files of claims name measurements and the encodings they are taken of.
 */
#ifndef ANALYTIC_H
#define ANALYTIC_H

#include "arena.h"
#include "config.h"
#include "error.h"
#include "model_look.h"
#include "registry.h"

enum { ANALYTIC_VALUES_MAX = 64, ANALYTIC_LEN_MAX = 2048 };

/* What is measured. Of the configuration count encoding, seed, model.* and train.len, which stands for the training
 * length in tokens where an encoding's options follow it. */
typedef struct analytic_input {
    run_config config;
    run_config beside; /* of measurements that compare with another encoding */
    int has_beside;
    int count;
    double at[ANALYTIC_VALUES_MAX]; /* [count] */
} analytic_input;

typedef struct analytic {
    const char *name;
    const char *help;   /* what it is, with its unit, for people */
    const char *at;     /* what the numbers in `at` are; NULL: it takes none. One result for each of them */
    double least, most; /* bounds of these numbers, which are whole */
    int takes_beside;
    /* out[*count]; *count at most ANALYTIC_VALUES_MAX. ERROR_USAGE where the encoding has not what is measured. */
    int (*measure)(const analytic_input *in, const registry *r, double *out, int *count, error *e);
} analytic;

/* NULL past the last. */
const analytic *analytic_row(int i);

/* NULL with e set to the nearest name. */
const analytic *analytic_find(const char *name, error *e);

/* ------------------------------------------------------------------------------------------------ inside analytic*.c
 */

/* A network that is not trained, with `len` tokens placed. */
typedef struct analytic_network {
    arena memory;
    layered_stack stacks;
    model m;
    look k;
    int opened; /* 1: there is a look to close */
} analytic_network;

/* -1 with e set, which names the encoding; nothing is left to close then. */
int analytic_open(analytic_network *n, const run_config *c, const registry *r, int len, error *e);
/* The same with room for gradients. */
int analytic_open_training(analytic_network *n, const run_config *c, const registry *r, int len, error *e);
void analytic_close(analytic_network *n);

typedef int analytic_fn(const analytic_input *in, const registry *r, double *out, int *count, error *e);
analytic_fn analytic_dot_by_distance, analytic_dot_spread, analytic_dot_minimum, analytic_position_error,
    analytic_order_error; /* analytic_added.c */
analytic_fn analytic_rotation_spread, analytic_rotation_norm, analytic_rotation_bound, analytic_rotation_mean,
    analytic_rotation_elsewhere; /* analytic_rotation.c */
analytic_fn analytic_rotation_choice, analytic_rotation_gap, analytic_rotation_gap_same,
    analytic_rotation_kept;                                                /* analytic_planes.c */
analytic_fn analytic_bias_slope, analytic_bias_edges, analytic_bias_unmet; /* analytic_bias.c */
analytic_fn analytic_constant_attention, analytic_constant_output, analytic_constant_gradient,
    analytic_previous_token; /* analytic_constant.c */

#endif
