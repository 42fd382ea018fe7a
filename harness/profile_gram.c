/* profile_gram.c - products of rows: norms, cosines, and what of them distance explains. */
#include "profile.h"

#include <math.h>
#include <stdlib.h>

static double gram_dot(const double *restrict a, const double *restrict b, int n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* gram[rows][rows] (=) */
static void gram_fill(const table *t, double *gram)
{
    size_t rows = (size_t)t->rows, cols = (size_t)t->cols;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j <= i; j++)
            gram[i * rows + j] = gram[j * rows + i] = gram_dot(t->value + i * cols, t->value + j * cols, t->cols);
}

/* Mean and deviation along each diagonal; deviations from the diagonal's mean, so that a table of large products loses
 * no digits. Returns the sum over the whole matrix of what is left. */
static double gram_diagonals(const double *gram, size_t rows, profile_table *out)
{
    double left = 0;
    for (size_t d = 0; d < rows; d++) {
        double sum = 0, squares = 0, pairs = (double)(rows - d);
        for (size_t i = d; i < rows; i++)
            sum += gram[i * rows + i - d];
        out->dot_mean[d] = sum / pairs;
        for (size_t i = d; i < rows; i++) {
            double away = gram[i * rows + i - d] - out->dot_mean[d];
            squares += away * away;
        }
        out->dot_spread[d] = sqrt(squares / pairs);
        left += (d ? 2 : 1) * squares;
    }
    return left;
}

static double gram_variation(const double *gram, size_t rows)
{
    double away = 0, squares = 0,
           count = (double)rows * (double)rows; /* from the first: equal products have no rounding */
    for (size_t i = 0; i < rows * rows; i++)
        away += gram[i] - gram[0];
    double mean = gram[0] + away / count;
    for (size_t i = 0; i < rows * rows; i++)
        squares += (gram[i] - mean) * (gram[i] - mean);
    return squares;
}

/* gram becomes cosines in place. */
static void gram_cosines(double *gram, size_t rows, profile_table *out)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < rows; j++) {
            double size = out->norm[i] * out->norm[j];
            gram[i * rows + j] = size > 0 ? gram[i * rows + j] / size : NAN;
        }
    for (size_t d = 0; d < rows; d++) {
        double sum = 0;
        size_t pairs = 0;
        for (size_t i = d; i < rows; i++)
            if (!isnan(gram[i * rows + i - d])) {
                sum += gram[i * rows + i - d];
                pairs++;
            }
        out->cosine_mean[d] = pairs ? sum / (double)pairs : NAN;
    }
}

/* Where the mean cosine turns for the first and for the second time. */
static void gram_turns(profile_table *out)
{
    const double *c = out->cosine_mean;
    for (int d = 1; d + 1 < out->rows; d++) {
        if (!out->dip && c[d] < c[d - 1] && c[d] < c[d + 1])
            out->dip = d;
        if (out->dip && c[d] > c[d - 1] && c[d] > c[d + 1]) {
            out->rise = d;
            return;
        }
    }
}

/* Products of doubles are exact to this share of the largest one: variation below it is rounding. */
static double gram_noise(const double *gram, size_t rows, int cols)
{
    double most = 0;
    for (size_t i = 0; i < rows; i++)
        most = fmax(most, gram[i * rows + i]);
    double rounding = most * 1e-16 * (double)cols;
    return rounding * rounding * (double)rows * (double)rows;
}

int profile_gram(const table *t, profile_table *out, error *e)
{
    size_t rows = (size_t)t->rows;
    out->cosine = malloc(rows * rows * sizeof(double));
    out->dot_mean = malloc(rows * sizeof(double));
    out->dot_spread = malloc(rows * sizeof(double));
    out->cosine_mean = malloc(rows * sizeof(double));
    out->norm = malloc(rows * sizeof(double));
    if (!out->cosine || !out->dot_mean || !out->dot_spread || !out->cosine_mean || !out->norm)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for the products of %d rows", t->rows);
    gram_fill(t, out->cosine);
    for (size_t i = 0; i < rows; i++)
        out->norm[i] = sqrt(out->cosine[i * rows + i]);
    double left = gram_diagonals(out->cosine, rows, out), all = gram_variation(out->cosine, rows);
    out->unexplained = all > gram_noise(out->cosine, rows, t->cols) ? fmin(left / all, 1) : 0;
    gram_cosines(out->cosine, rows, out);
    gram_turns(out);
    return 0;
}
