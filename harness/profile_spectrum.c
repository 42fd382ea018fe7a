/* profile_spectrum.c - the directions in which a table varies, and how they swing over the positions. */
#include "profile.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg.h"

const double profile_shares[PROFILE_SHARES] = {0.90, 0.95, 0.99};

/* The table less the mean of its rows. malloc'ed; NULL: no memory. */
static double *spectrum_centred(const table *t)
{
    size_t rows = (size_t)t->rows, cols = (size_t)t->cols;
    double *out = malloc(rows * cols * sizeof *out);
    for (size_t j = 0; out && j < cols; j++) {
        double mean = 0;
        for (size_t i = 0; i < rows; i++)
            mean += t->value[i * cols + j] / (double)rows;
        for (size_t i = 0; i < rows; i++)
            out[i * cols + j] = t->value[i * cols + j] - mean;
    }
    return out;
}

/* Rows behind each other are, to a library that thinks in columns, the transposed table: A^T = V S U^T. */
static int spectrum_decompose(const table *t, double *centred, double *singular, double *u, double *v, error *e)
{
    linalg l;
    lapack_int rows = t->rows, cols = t->cols, rank = rows < cols ? rows : cols;
    if (linalg_open(&l, e) < 0)
        return -1;
    lapack_int info = l.dgesdd(LAPACK_COL_MAJOR, 'S', cols, rows, centred, cols, singular, v, cols, u, rank);
    linalg_close(&l);
    return info == 0 ? 0 : linalg_failed("the singular values", info, e);
}

/* What is below the rounding of single precision, in which tables are kept, is no variance. */
static double spectrum_noise(const table *t)
{
    double size = 0;
    for (size_t i = 0; i < (size_t)t->rows * (size_t)t->cols; i++)
        size += t->value[i] * t->value[i];
    return size * FLT_EPSILON * FLT_EPSILON;
}

/* How many singular values hold each share. */
static void spectrum_count(double noise, profile_table *out)
{
    double all = 0;
    for (int i = 0; i < out->rank; i++)
        all += out->singular[i] * out->singular[i];
    for (int s = 0; s < PROFILE_SHARES; s++) {
        double sum = 0;
        out->needed[s] = 0;
        while (all > noise && out->needed[s] < out->rank && sum < profile_shares[s] * all) {
            sum += out->singular[out->needed[s]] * out->singular[out->needed[s]];
            out->needed[s]++;
        }
    }
}

/* u[row][rank]: component i of row r at u[r * rank + i]. A component has no sign of its own; one that holds nothing has
 * no direction either and stays 0. */
static void spectrum_keep(const double *u, double noise, profile_table *out)
{
    for (int i = 0; i < out->leading && out->singular[i] * out->singular[i] > noise; i++) {
        double sign = u[i] < 0 ? -1 : 1;
        for (int r = 0; r < out->rows; r++)
            out->component[(size_t)i * (size_t)out->rows + (size_t)r] =
                sign * u[(size_t)r * (size_t)out->rank + (size_t)i];
    }
}

/* Power at 1 .. frequencies cycles over the rows, as shares of their sum; turn[n]: cos and sin of n/rows of a turn. */
static void spectrum_fourier(const double *component, const double (*turn)[2], profile_table *out, double *power)
{
    double all = 0;
    size_t rows = (size_t)out->rows;
    for (int f = 0; f < out->frequencies; f++) {
        double re = 0, im = 0;
        for (size_t r = 0, at = 0; r < rows; r++, at = (at + (size_t)f + 1) % rows) {
            re += component[r] * turn[at][0];
            im += component[r] * turn[at][1];
        }
        power[f] = re * re + im * im;
        all += power[f];
    }
    for (int f = 0; f < out->frequencies && all > 0; f++)
        power[f] /= all;
}

static int spectrum_powers(profile_table *out, error *e)
{
    size_t rows = (size_t)out->rows;
    double(*turn)[2] = malloc(rows * sizeof *turn);
    if (!turn)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for the frequencies of %d rows", out->rows);
    for (size_t n = 0; n < rows; n++) {
        turn[n][0] = cos(2 * M_PI * (double)n / (double)rows);
        turn[n][1] = sin(2 * M_PI * (double)n / (double)rows);
    }
    for (int i = 0; i < out->leading; i++)
        spectrum_fourier(out->component + (size_t)i * rows, (const double(*)[2])turn, out,
                         out->power + (size_t)i * (size_t)out->frequencies);
    free(turn);
    return 0;
}

int profile_spectrum(const table *t, profile_table *out, error *e)
{
    size_t rows = (size_t)t->rows, cols = (size_t)t->cols, rank = rows < cols ? rows : cols;
    out->rank = (int)rank;
    out->leading = out->rank < PROFILE_LEADING ? out->rank : PROFILE_LEADING;
    out->frequencies = t->rows / 2;
    out->singular = calloc(rank, sizeof(double));
    out->component = calloc((size_t)out->leading * rows, sizeof(double));
    out->power = calloc((size_t)out->leading * (size_t)out->frequencies + 1, sizeof(double));
    double *centred = spectrum_centred(t), *u = malloc(rows * rank * sizeof *u), *v = malloc(cols * rank * sizeof *v);
    int status = -1;
    if (!out->singular || !out->component || !out->power || !centred || !u || !v)
        error_set(e, ERROR_ENVIRONMENT, "no memory for the components of a table of %d x %d", t->rows, t->cols);
    else
        status = spectrum_decompose(t, centred, out->singular, u, v, e);
    if (status == 0) {
        spectrum_count(spectrum_noise(t), out);
        spectrum_keep(u, spectrum_noise(t), out);
        status = spectrum_powers(out, e);
    }
    free(centred);
    free(u);
    free(v);
    return status;
}

int profile_peak(const profile_table *p, int i, double *share)
{
    int best = 0;
    const double *power = p->power + (size_t)i * (size_t)p->frequencies;
    *share = 0;
    for (int f = 0; f < p->frequencies; f++)
        if (power[f] > *share) {
            best = f + 1;
            *share = power[f];
        }
    return best;
}
