/* profile_probe.c - can position be read off vectors? The probes of Wang & Chen 2020 ("What Do Position Embeddings
 * Learn?"), as their released code has them: 512 rows, 5 folds, rounded predictions; 512 pairs of rows side by side. */
#include "profile.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg.h"
#include "rng.h"

enum { PROBE_LEAST = 2 * PROFILE_FOLDS }; /* rows below which a fold would hold one */

/* ------------------------------------------------------------------------------------------------ reading off */

typedef struct probe_fit {
    int rows, cols;
    double *x, *y; /* columns behind each other; y has room for the larger of rows and cols and ends as weights */
    double *mean, *singular;
    double y_mean;
} probe_fit;

static int probe_fit_create(probe_fit *f, int rows, int cols)
{
    size_t larger = (size_t)(rows > cols ? rows : cols);
    *f = (probe_fit){.cols = cols};
    f->x = malloc((size_t)rows * (size_t)cols * sizeof(double));
    f->y = malloc(larger * sizeof(double));
    f->mean = malloc((size_t)cols * sizeof(double));
    f->singular = malloc(larger * sizeof(double));
    return f->x && f->y && f->mean && f->singular ? 0 : -1;
}

static void probe_fit_free(probe_fit *f)
{
    free(f->x);
    free(f->y);
    free(f->mean);
    free(f->singular);
}

/* The rows that are not of this fold, less their means. */
static void probe_fit_load(probe_fit *f, const double *x, int rows, const double *y, const int *fold, int left_out)
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
}

/* Singular values below single precision's rounding of the largest are none: tables are kept in that. */
static int probe_fit_solve(probe_fit *f, error *e)
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

static double probe_fit_predict(const probe_fit *f, const double *row)
{
    double sum = f->y_mean;
    for (int j = 0; j < f->cols; j++)
        sum += (row[j] - f->mean[j]) * f->y[j];
    return sum;
}

int profile_regression(const double *x, int rows, int cols, const double *y, const int *fold, int folds,
                       double *mean_error, double *guess, error *e)
{
    probe_fit f;
    double wrong = 0, guessed = 0;
    int status = probe_fit_create(&f, rows, cols) < 0 ? error_set(e, ERROR_ENVIRONMENT, "no memory for a probe") : 0;
    for (int out = 0; out < folds && status == 0; out++) {
        probe_fit_load(&f, x, rows, y, fold, out);
        status = probe_fit_solve(&f, e);
        for (int i = 0; i < rows && status == 0; i++)
            if (fold[i] == out) {
                wrong += fabs(round(probe_fit_predict(&f, x + (size_t)i * (size_t)cols)) - y[i]);
                guessed += fabs(round(f.y_mean) - y[i]);
            }
    }
    probe_fit_free(&f);
    *mean_error = wrong / rows;
    *guess = guessed / rows;
    return status;
}

/* ------------------------------------------------------------------------------------------------ of a table */

/* order[n] (=): 0 .. n-1 shuffled, the same in every program. */
static void probe_shuffle(const char *what, int *order, int n)
{
    rng r = rng_stream(0, RNG_BOOTSTRAP, rng_hash(what), 0);
    for (int i = 0; i < n; i++) {
        int k = (int)rng_below(&r, (uint32_t)i + 1);
        order[i] = order[k];
        order[k] = i;
    }
}

static int probe_position(const table *t, int rows, profile_table *out, error *e)
{
    int *order = malloc((size_t)rows * sizeof *order), *fold = malloc((size_t)rows * sizeof *fold);
    double *y = malloc((size_t)rows * sizeof *y);
    int status = order && fold && y ? 0 : error_set(e, ERROR_ENVIRONMENT, "no memory for a probe");
    if (status == 0) {
        probe_shuffle("rows", order, rows);
        for (int i = 0; i < rows; i++) {
            fold[order[i]] = i % PROFILE_FOLDS;
            y[i] = i;
        }
        out->probe_rows = rows;
        status =
            profile_regression(t->value, rows, t->cols, y, fold, PROFILE_FOLDS, &out->read_error, &out->read_guess, e);
    }
    free(order);
    free(fold);
    free(y);
    return status;
}

/* The first of all pairs of different rows, shuffled. */
static int probe_pairs(const table *t, int rows, profile_table *out, error *e)
{
    int all = rows * (rows - 1), status;
    out->pairs = all < PROFILE_PROBE_ROWS ? all : PROFILE_PROBE_ROWS;
    int *order = malloc((size_t)all * sizeof *order), (*pair)[2] = malloc((size_t)out->pairs * sizeof *pair);
    if (order && pair) {
        probe_shuffle("pairs", order, all);
        for (int i = 0; i < out->pairs; i++) {
            int first = order[i] / (rows - 1), second = order[i] % (rows - 1);
            pair[i][0] = first;
            pair[i][1] = second + (second >= first);
        }
        status =
            profile_order(t->value, t->cols, (const int(*)[2])pair, out->pairs, PROFILE_FOLDS, &out->order_error, e);
    } else {
        status = error_set(e, ERROR_ENVIRONMENT, "no memory for a probe");
    }
    free(order);
    free(pair);
    return status;
}

int profile_probes(const table *t, profile_table *out, error *e)
{
    int rows = t->rows < PROFILE_PROBE_ROWS ? t->rows : PROFILE_PROBE_ROWS;
    out->read_error = out->read_guess = out->order_error = NAN;
    if (rows < PROBE_LEAST)
        return 0;
    return probe_position(t, rows, out, e) < 0 ? -1 : probe_pairs(t, rows, out, e);
}
