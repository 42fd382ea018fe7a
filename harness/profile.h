/* profile.h - what positions are made of: of a table, of a stack's hooks, of a trained network.
 *
 * A profile holds numbers only; profile_show.h shows them. Which
 * parts it has follows from the hooks that a stack has, never from its name.
 */
#ifndef PROFILE_H
#define PROFILE_H

#include "config.h"
#include "error.h"
#include "model_look.h"
#include "readout.h"
#include "registry.h"
#include "table.h"

enum {
    PROFILE_SHARES = 3,       /* of the variance: 90, 95, 99 % */
    PROFILE_LEADING = 8,      /* components whose shape and Fourier power are kept */
    PROFILE_ROWS_MAX = 4096, /* of a table */
    PROFILE_LEN_MAX = 1024   /* tokens of a sequence that hooks are looked at with */
};

/* ------------------------------------------------------------------------------------------------ a table */

typedef struct profile_table {
    int rows, cols;
    double *cosine;                /* [rows][rows] of any two rows; NAN beside a row of zeros */
    double *dot_mean, *dot_spread; /* [rows] by distance d: mean and standard deviation of row_i . row_(i+d) */
    double *cosine_mean;           /* [rows] by distance */
    int dip, rise;      /* distances of the first local minimum of cosine_mean and of the first maximum behind it;
                         * 0: there is none */
    double unexplained; /* share of the Gram matrix's variance that distance does not explain, 0 .. 1; 0 when the
                         * matrix has none */
    double *norm;       /* [rows] */
    int rank;           /* singular values, of the table less the mean of its rows: min(rows, cols) */
    double *singular;   /* [rank], descending */
    int needed[PROFILE_SHARES]; /* components that hold that share of the variance; 0 when there is none */
    int leading, frequencies;   /* components kept; rows / 2 */
    double *component;          /* [leading][rows], norm 1, first value not negative; 0 when it holds no variance */
    double *power;              /* [leading][frequencies]: share of the component's power at f+1 cycles over the rows */
    readout_rows probe;         /* can positions be read off its rows? */
} profile_table;

extern const double profile_shares[PROFILE_SHARES];

/* ERROR_USAGE: fewer than 2 rows or more than PROFILE_ROWS_MAX. Free with profile_table_free in either case. */
int profile_table_make(const table *t, profile_table *out, error *e);
void profile_table_free(profile_table *p);

/* The parts of it (profile_gram.c, profile_spectrum.c). */
int profile_gram(const table *t, profile_table *out, error *e);
int profile_spectrum(const table *t, profile_table *out, error *e);

/* The frequency with the most power of component i, in cycles over the rows; *share: its share. 0: there is none. */
int profile_peak(const profile_table *p, int i, double *share);

/* ------------------------------------------------------------------------------------------------ hooks */

/* Added to scores by distance. A value may be -INFINITY: that key is hidden. */
typedef struct profile_bias {
    int layer;               /* the first that has it */
    int heads, least, count; /* distance d = query - key: least + 0 .. count-1; least < 0 without a causal mask */
    double *value;           /* [heads][count] for the last query (d >= 0) and the first (d < 0) */
} profile_bias;

/* What a rotation makes of scores, by distance 0 .. count-1 from the last token. */
typedef struct profile_rotary {
    int layer, heads, count; /* heads: 1 when all heads rotate alike */
    int pairs;               /* planes in which it turns; 0: it is not linear or mixes more than pairs of numbers */
    double *bound;           /* [heads][count] RoFormer 3.4.3: mean of |A_k| over k = 1 .. pairs; NAN without planes */
    double *same;            /* [heads][count] mean of q.k / head_dim for k = q, q normal */
    double *other, *other_error; /* [heads][count] the same for independent normal q and k, and its standard error */
    int draws;
    double peak_elsewhere; /* share of independent pairs whose largest score is not at distance 0 */
} profile_rotary;

/* Where attention goes. */
typedef struct profile_attention {
    int layers, heads, len;
    long sequences;
    int random_content;         /* 1: of normal q, k and x; 0: of a trained network on test data */
    double *distance, *entropy; /* [layers][heads] mean |query - key| in tokens, mean entropy in nats */
    double *weight;             /* [layers][heads][len] mean weight at |query - key| = d */
    double uniform_distance, uniform_entropy;
    double *uniform;      /* [len] the same for even attention over what is visible */
    long queries, *pairs; /* how many were averaged: queries, and pairs at each distance [len] */
} profile_attention;

/* Of the sequence that k has placed: one entry for each different set of curves among the layers. *out and *count are
 * to be freed in either case. -1: no memory. */
int profile_bias_make(look *k, profile_bias **out, int *count, error *e);
int profile_rotary_make(look *k, profile_rotary **out, int *count, error *e);
void profile_bias_free(profile_bias *b, int count);
void profile_rotary_free(profile_rotary *r, int count);

/* Of sequences of up to len tokens: what the watch sees of a sequence's layers is added up, _count counts the sequence,
 * and _finish turns sums into means. */
int profile_attention_open(profile_attention *a, const pe_shape *shape, int len, error *e);
attention_watch profile_attention_watch(profile_attention *a);
void profile_attention_count(profile_attention *a, int causal, int len);
void profile_attention_finish(profile_attention *a);
void profile_attention_free(profile_attention *a);

/* Of sequences with normal x, q and k where k has placed its tokens: what positions alone do to attention. */
int profile_attention_random(look *k, profile_attention *out, error *e);

/* ------------------------------------------------------------------------------------------------ the whole */

typedef enum profile_kind { PROFILE_FILE, PROFILE_STACK, PROFILE_TRAINED } profile_kind;

typedef struct profile {
    profile_kind kind;
    char target[PE_TEXT_MAX]; /* as the user named it, or the canonical stack */
    run_config config;        /* of a stack or a trained run */
    int step;                 /* of a trained run */
    int rows;                 /* positions looked at */
    int cut;                  /* rows that a file has besides */
    int has_table, has_attention, has_hidden;
    profile_table table;
    int biases, rotaries;
    profile_bias *bias;     /* [biases] one for each different set of curves */
    profile_rotary *rotary; /* [rotaries] */
    profile_attention attention;
    readout_states hidden;
} profile;

/* Each fills out; rows: positions to look at, 0: all of a file's (PROFILE_ROWS_MAX at most), train.len's tokens of a
 * run, as many as a stack has up to 128. Free with profile_free in either case. */
int profile_file(const char *target, int rows, profile *out, error *e);
/* c->encoding in a network of c's shape that is not trained: parameters as they start from c->seed. */
int profile_stack(const run_config *c, const registry *r, int rows, profile *out, error *e);
/* Weights of `run --save`; attention and hidden states on the task's test stream at the training length. */
int profile_trained(const char *path, const registry *r, int rows, profile *out, error *e);
void profile_free(profile *p);

#endif
