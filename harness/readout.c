/* readout.c - can position be read off vectors? The probes of Wang & Chen 2020 ("What Do Position Embeddings
 * Learn?"), as their released code has them: 512 rows, 5 folds, rounded predictions; 512 pairs of rows side by side. */
#include "readout.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg.h"
#include "rng.h"

enum { READOUT_LEAST = 2 * READOUT_FOLDS }; /* rows below which a fold would hold one */

/* ------------------------------------------------------------------------------------------------ reading off */

typedef struct readout_fit {
    int rows, cols;
    double *x, *y; /* columns behind each other; y has room for the larger of rows and cols and ends as weights */
    double *mean, *singular;
    double y_mean;
} readout_fit;

static int readout_fit_create(readout_fit *f, int rows, int cols)
{
    size_t larger = (size_t)(rows > cols ? rows : cols);
    *f = (readout_fit){.cols = cols};
    f->x = malloc((size_t)rows * (size_t)cols * sizeof(double));
    f->y = malloc(larger * sizeof(double));
    f->mean = malloc((size_t)cols * sizeof(double));
    f->singular = malloc(larger * sizeof(double));
    return f->x && f->y && f->mean && f->singular ? 0 : -1;
}

static void readout_fit_free(readout_fit *f)
{
    free(f->x);
    free(f->y);
    free(f->mean);
    free(f->singular);
}

/* The rows that are not of this fold, less their means. */
static void readout_fit_load(readout_fit *f, const double *x, int rows, const double *y, const int *fold, int left_out)
{
    size_t cols = (size_t)f->cols, used = 0;
    for (int i = 0; i < rows; i++)
        used += fold[i] != left_out;
    f->rows = (int)used;
    memset(f->mean, 0, cols * sizeof(double));
    f->y_mean = 0;
    for (size_t i = 0; i < (size_t)rows; i++)
        if (fold[i] != left_out) {
            f->y_mean += y[i] / (double)used;
            for (size_t j = 0; j < cols; j++)
                f->mean[j] += x[i * cols + j] / (double)used;
        }
    for (size_t i = 0, at = 0; i < (size_t)rows; i++)
        if (fold[i] != left_out) {
            for (size_t j = 0; j < cols; j++)
                f->x[j * used + at] = x[i * cols + j] - f->mean[j];
            f->y[at++] = y[i] - f->y_mean;
        }
    for (int i = f->rows; i < f->cols; i++)
        f->y[i] = 0; /* room for weights, which LAPACKE looks through for NAN before it is written */
}

/* Singular values below single precision's rounding of the largest are none: tables are kept in that. */
static int readout_fit_solve(readout_fit *f, error *e)
{
    linalg l;
    lapack_int rank, larger = f->rows > f->cols ? f->rows : f->cols;
    if (linalg_open(&l, e) < 0)
        return -1;
    lapack_int info =
        l.dgelsd(LAPACK_COL_MAJOR, f->rows, f->cols, 1, f->x, f->rows, f->y, larger, f->singular, FLT_EPSILON, &rank);
    linalg_close(&l);
    return info == 0 ? 0 : linalg_failed("a position", info, e);
}

static double readout_fit_predict(const readout_fit *f, const double *row)
{
    double sum = f->y_mean;
    for (int j = 0; j < f->cols; j++)
        sum += (row[j] - f->mean[j]) * f->y[j];
    return sum;
}

int readout_regression(const double *x, int rows, int cols, const double *y, const int *fold, int folds,
                       double *mean_error, double *guess, error *e)
{
    readout_fit f;
    double wrong = 0, guessed = 0;
    int status = readout_fit_create(&f, rows, cols) < 0 ? error_set(e, ERROR_ENVIRONMENT, "no memory for a probe") : 0;
    for (int out = 0; out < folds && status == 0; out++) {
        readout_fit_load(&f, x, rows, y, fold, out);
        status = readout_fit_solve(&f, e);
        for (int i = 0; i < rows && status == 0; i++)
            if (fold[i] == out) {
                wrong += fabs(round(readout_fit_predict(&f, x + (size_t)i * (size_t)cols)) - y[i]);
                guessed += fabs(round(f.y_mean) - y[i]);
            }
    }
    readout_fit_free(&f);
    *mean_error = wrong / rows;
    *guess = guessed / rows;
    return status;
}

/* ------------------------------------------------------------------------------------------------ wider vectors */

/* Mean and deviation of each column; of one that is constant, 1. mean[cols], deviation[cols] (=). */
static void readout_moments(const double *x, int rows, int cols, double *mean, double *deviation)
{
    for (int j = 0; j < cols; j++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < rows; i++)
            sum += x[(size_t)i * (size_t)cols + (size_t)j] / rows;
        for (int i = 0; i < rows; i++) {
            double d = x[(size_t)i * (size_t)cols + (size_t)j] - sum;
            squares += d * d / rows;
        }
        mean[j] = sum;
        deviation[j] = squares > 0 ? sqrt(squares) : 1;
    }
}

/* wide[cols + READOUT_WIDER] (=) of row[cols]; weight[READOUT_WIDER][cols + 1]. */
static void readout_widen_row(const double *row, int cols, const double *mean, const double *deviation,
                              const double *weight, double *wide)
{
    for (int j = 0; j < cols; j++)
        wide[j] = row[j];
    for (int k = 0; k < READOUT_WIDER; k++) {
        const double *w = weight + (size_t)k * ((size_t)cols + 1);
        double sum = w[cols];
        for (int j = 0; j < cols; j++)
            sum += w[j] * (row[j] - mean[j]) / deviation[j];
        wide[cols + k] = sum > 0 ? sum : 0;
    }
}

double *readout_widen(const double *x, int rows, int cols)
{
    size_t width = (size_t)cols + READOUT_WIDER, weights = READOUT_WIDER * ((size_t)cols + 1);
    double *wide = malloc((size_t)rows * width * sizeof *wide), *weight = malloc(weights * sizeof *weight);
    double *moments = malloc(2 * (size_t)cols * sizeof *moments);
    rng r = rng_stream(0, RNG_BOOTSTRAP, rng_hash("wider"), 0);
    if (wide && weight && moments) {
        for (size_t i = 0; i < weights; i++)
            weight[i] = rng_normal(&r) / ((i + 1) % ((size_t)cols + 1) ? sqrt(cols) : 1);
        readout_moments(x, rows, cols, moments, moments + cols);
        for (int i = 0; i < rows; i++)
            readout_widen_row(x + (size_t)i * (size_t)cols, cols, moments, moments + cols, weight,
                              wide + (size_t)i * width);
    } else {
        free(wide);
        wide = NULL;
    }
    free(weight);
    free(moments);
    return wide;
}

/* ------------------------------------------------------------------------------------------------ of a table */

/* order[n] (=): 0 .. n-1 shuffled, the same in every program. */
static void readout_mix(const char *what, int *order, int n)
{
    rng r = rng_stream(0, RNG_BOOTSTRAP, rng_hash(what), 0);
    for (int i = 0; i < n; i++) {
        int k = (int)rng_below(&r, (uint32_t)i + 1);
        order[i] = order[k];
        order[k] = i;
    }
}

static int readout_position(const double *x, int rows, int cols, readout_rows *out, error *e)
{
    int *order = malloc((size_t)rows * sizeof *order), *fold = malloc((size_t)rows * sizeof *fold);
    double *y = malloc((size_t)rows * sizeof *y);
    int status = order && fold && y ? 0 : error_set(e, ERROR_ENVIRONMENT, "no memory for a probe");
    if (status == 0) {
        readout_mix("rows", order, rows);
        for (int i = 0; i < rows; i++) {
            fold[order[i]] = i % READOUT_FOLDS;
            y[i] = i;
        }
        out->rows = rows;
        status = readout_regression(x, rows, cols, y, fold, READOUT_FOLDS, &out->read_error, &out->read_guess, e);
    }
    free(order);
    free(fold);
    free(y);
    return status;
}

/* The first of all pairs of different rows, shuffled. */
static int readout_pairs(const double *x, int rows, int cols, readout_rows *out, error *e)
{
    int all = rows * (rows - 1), status;
    out->pairs = all < READOUT_ROWS ? all : READOUT_ROWS;
    int *order = malloc((size_t)all * sizeof *order), (*pair)[2] = malloc((size_t)out->pairs * sizeof *pair);
    if (order && pair) {
        readout_mix("pairs", order, all);
        for (int i = 0; i < out->pairs; i++) {
            int first = order[i] / (rows - 1), second = order[i] % (rows - 1);
            pair[i][0] = first;
            pair[i][1] = second + (second >= first);
        }
        status = readout_order(x, cols, (const int(*)[2])pair, out->pairs, READOUT_FOLDS, &out->order_error, e);
    } else {
        status = error_set(e, ERROR_ENVIRONMENT, "no memory for a probe");
    }
    free(order);
    free(pair);
    return status;
}

int readout_table(const double *x, int rows, int cols, readout_rows *out, error *e)
{
    *out = (readout_rows){0, 0, NAN, NAN, NAN};
    rows = rows < READOUT_ROWS ? rows : READOUT_ROWS;
    if (rows < READOUT_LEAST)
        return 0;
    return readout_position(x, rows, cols, out, e) < 0 ? -1 : readout_pairs(x, rows, cols, out, e);
}
