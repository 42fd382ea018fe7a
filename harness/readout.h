/* readout.h - can positions be read off vectors? Off the rows of a table linearly, as in Wang & Chen 2020 ("What Do
 * Position Embeddings Learn?"), off hidden states as in Haviv et al. 2022: there by a trained network of two layers,
 * here linearly, and by one whose first layer is random.
 *
 * All of it needs LAPACK, which is loaded when it is asked for (linalg.h): ERROR_ENVIRONMENT where it is not installed,
 * or when memory is short; ERROR_RUN when LAPACK finds no solution.
 */
#ifndef READOUT_H
#define READOUT_H

#include "error.h"

enum {
    READOUT_ROWS = 512, /* rows and pairs of rows that are looked at, as in Wang & Chen 2020 */
    READOUT_FOLDS = 5,
    READOUT_TOKENS_MAX = 1024, /* of a sequence whose hidden states are read */
    READOUT_WIDER = 128        /* columns that readout_widen adds */
};

/* Of a table. */
typedef struct readout_rows {
    int rows, pairs;               /* how many were looked at; 0: too few for it */
    double read_error, read_guess; /* rows: mean absolute error of the position, and that of a guess (the mean); NAN: none */
    double order_error;            /* share of pairs whose order is told wrong; NAN: none */
} readout_rows;

/* Of the residual stream on test sequences. */
typedef struct readout_states {
    int count; /* layers + 1: before each layer, and after the last */
    int tokens, sequences;
    double *read_error, guess; /* [count] mean absolute error in tokens, read linearly, and that of a guess */
    double *wide_error;        /* [count] read off wider vectors (readout_widen); NULL: not asked for */
} readout_states;

/* Can y[rows] be read off x[rows][cols] linearly? Least squares with an intercept, of least norm where that is not
 * unique; each row is predicted from the rows of the other folds, fold[rows] in 0 .. folds-1, and the prediction is
 * rounded. *mean_error: mean absolute error; *guess: that of the mean of the other folds, rounded as well. */
int readout_regression(const double *x, int rows, int cols, const double *y, const int *fold, int folds,
                       double *mean_error, double *guess, error *e);

/* x[rows][cols] with READOUT_WIDER columns more behind its own: max(0, a + b) with a normal combination a of the columns,
 * less their means and over their deviations, and a normal number b, both of deviation 1, the same in every program. A
 * regression on them is a network of two layers of which the second alone is trained. malloc'ed; NULL: no memory. */
double *readout_widen(const double *x, int rows, int cols);

/* Can the order of two rows be told from both, side by side? Logistic regression with an intercept and the penalty
 * |w|^2 / 2, pair i predicted from the pairs of the other folds (i % folds). *wrong: share of pairs told wrong. */
int readout_order(const double *x, int cols, const int (*pair)[2], int pairs, int folds, double *wrong, error *e);

/* Both of the first READOUT_ROWS rows of a table x[rows][cols]: row i is position i. */
int readout_table(const double *x, int rows, int cols, readout_rows *out, error *e);

#endif
