/* run.h - one run: build, train, evaluate. What it needs is a run_config, what it gives is a run_result. */
#ifndef RUN_H
#define RUN_H

#include <signal.h>

#include "config.h"
#include "error.h"
#include "extend.h"
#include "readout.h"
#include "registry.h"

typedef enum run_status { RUN_OK, RUN_DIVERGED, RUN_FAILED, RUN_INTERRUPTED } run_status;
const char *run_status_name(run_status s);

/* One measured value: a row of runs.csv. */
typedef struct run_value {
    length_bin bin;
    const char *metric;     /* exact_match | token_accuracy | loss (nats a token) | chance_exact | chance_token | overlap */
    const char *mode;       /* teacher_forced | free_running | windows | sliding | masked */
    double value;           /* NAN: no value */
    long n;                 /* what was averaged: sequences, or tokens for loss and token_accuracy */
    const char *status;     /* ok | undefined | not_run */
    char flag[64];          /* empty; untrained; the name of the map that gives the point its meaning */
} run_value;

/* Loss at each position of the windows of a bin (language tasks; sliding windows after the first score their last
 * `stride` positions only), or of the answer (answer tasks). */
typedef struct run_positions {
    length_bin bin;
    const char *mode;
    int count;
    double *loss;           /* [count] mean, nats */
    long *n;                /* [count] */
} run_positions;

/* One value measured after fine-tuning at a longer length (extension.h). */
typedef struct run_extension {
    double factor;
    char method[EXTEND_METHOD_MAX];
    char task_options[EXTEND_METHOD_MAX]; /* of the task, in this test; empty: as in training */
    int steps;              /* of fine-tuning before it */
    long tokens;            /* that these steps read */
    length_bin bin;         /* ratio: to train.len, as everywhere */
    char metric[24], mode[24]; /* as in run_value, scores alone */
    double value;
    long n;
    char status[16];        /* ok | undefined | not_run | diverged: fine-tuning did */
    char flag[64];          /* as in run_value */
    char reason[256];       /* why there is no value; empty when there is one */
} run_extension;

typedef struct run_point {  /* of the training curve */
    int step;
    double loss, lr, grad_norm;
    double validation_exact, validation_loss; /* NAN where not measured */
} run_point;

/* What one position, or one row, met in one quarter of the steps of training. */
enum { RUN_PHASES = 4 };
typedef struct run_met {
    long updates;           /* a position: tokens that stood there; a row: steps in which its gradient was not 0 */
    double gradient;        /* squared, summed over these */
} run_met;

/* A parameter whose rows belong to one position each. */
typedef struct run_exposure_table {
    char name[96];
    size_t offset;          /* in the model's flat block */
    int rows, cols;
    double *first_norm;     /* [rows] Euclidean, before training */
    double *norm;           /* [rows] of the weights that were tested */
    run_met *met;           /* [rows][RUN_PHASES] */
} run_exposure_table;

/* exposure.h */
typedef struct run_exposure {
    int positions, room;    /* 0 .. the largest that was met, rounded */
    run_met *met;           /* [positions][RUN_PHASES] */
    long beyond;            /* tokens past the last position that is recorded */
    int tables;
    run_exposure_table *table;
    int tested;             /* positions of the test at the training length; 0: there was none */
    double *loss;           /* [tested] mean, nats; NAN where nothing was scored */
    double *accuracy;       /* [tested] share of right guesses */
    long *n;                /* [tested] scored tokens */
    int failed;             /* memory was short in training */
} run_exposure;

/* Of a parameter whose rows belong to one position each. */
typedef struct run_probe_table {
    char name[96];
    readout_rows found;
} run_probe_table;

/* probe.h */
typedef struct run_probes {
    readout_states hidden;  /* count 0: nothing was read */
    int tables;             /* with eval.probe */
    run_probe_table *table; /* [tables] */
    long windows;           /* whose prefix was shuffled; 0: none */
    double in_order_loss, shuffled_loss; /* mean of the byte behind a window, nats */
} run_probes;

typedef struct run_result {
    run_status status;
    int status_step;        /* the step at which it diverged or was interrupted; else the last */
    char message[256];
    int selected_step;      /* whose weights were evaluated */
    int fitted;             /* 1: reached eval.fit in distribution */
    double fit_score;
    long parameters, encoding_parameters;
    long tokens_seen;       /* in training */
    int train_tokens_max;   /* tokens of the longest training sequence = pe_shape.train_len */
    double map_reach;       /* the largest position met in training */
    int task_version;       /* of the task's descriptor */
    char corpus_digest[65]; /* empty: no file was read */
    int values_count, positions_count, curve_count, extensions_count;
    run_value *values;
    run_positions *positions;
    run_point *curve;
    run_extension *extensions; /* by factor, method, steps; empty unless extend.methods asks for them */
    /* Of training over all sittings of an interrupted run; evaluate_seconds: of all that follows it, where what follows
     * evaluation counts over all sittings, too; cpu_seconds: of both. */
    double train_seconds, evaluate_seconds, cpu_seconds;
    long peak_bytes;        /* resident */
    int weights_saved;      /* 1: run_execute_with has written them */
    run_exposure *exposure; /* owned; NULL: train.positions is off */
    run_probes *probes;     /* owned; NULL: eval.probe and eval.shuffle are off */
    long distinct;          /* sequences that training draws, no two with the same numbers (answer tasks), or tokens of
                             * text that it reads; 0: not known */
} run_result;

/* Called now and then with the phase ("train", "evaluate", "extend"), steps done and in all, and the newest loss. */
typedef struct run_watch {
    void (*tell)(void *self, const char *phase, int done, int total, double loss);
    void *self;
    const volatile sig_atomic_t *stop; /* non-zero: end soon, status RUN_INTERRUPTED; may be NULL */
} run_watch;

/* A run that diverges, is interrupted or fails inside returns 0 and says so in out->status. -1 with e set: it could not
 * start (spec, environment). The caller frees out with run_result_free in either case. c must have passed config_check. */
int run_execute(const run_config *c, const registry *r, const run_watch *watch, run_result *out, error *e);

/* Files of a run besides its record; NULL: none. */
typedef struct run_files {
    const char *weights;  /* written (weights.h) when training has ended well, before evaluation: that one interrupted loses
                             nothing. A run that diverged has none */
    const char *state;    /* of an unfinished run, from which it goes on (checkpoint.h): of its training here, of what follows
                             it in a second file beside it; the caller removes both (run_state_remove) when the record is
                             written */
} run_files;

/* Removes the state of a run that has its record. */
void run_state_remove(const char *state);

/* The same with files. */
int run_execute_with(const run_config *c, const registry *r, const run_watch *watch, const run_files *files,
                     run_result *out, error *e);
void run_result_free(run_result *out);

/* The shortest and the longest task length of all trainings and of all tests: what the task is opened for. -1: see
 * config_bins. */
int run_lengths(const run_config *c, int *shortest, int *longest, error *e);

#endif
