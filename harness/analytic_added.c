/* analytic_added.c - what positions add to token vectors. */
#include "analytic.h"

#include <math.h>
#include <stdlib.h>

#include "profile.h"

enum { ADDED_ROWS = 128, ADDED_MINIMUM_MAX = 256 };

/* The rows x[rows][width] that positions 0 .. rows-1 add; to be freed. NULL with e set. */
static real *added_rows(const run_config *c, const registry *r, int rows, error *e)
{
    analytic_network n;
    if (analytic_open(&n, c, r, rows, e) < 0)
        return NULL;
    real *x = NULL;
    if (n.m.embed.count == 0)
        error_set(e, ERROR_USAGE, "%.200s: it adds nothing to token vectors", c->encoding);
    else if (!(x = calloc((size_t)rows * (size_t)c->model.width, sizeof *x)))
        error_set(e, ERROR_ENVIRONMENT, "out of memory");
    else
        look_embed(&n.k, x);
    analytic_close(&n);
    return x;
}

/* Mean and standard deviation over `pairs` pairs at distance d of their dot product. */
static double added_dot(const real *x, int width, int pairs, int d, double *deviation)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < pairs; i++) {
        const real *a = x + (size_t)i * (size_t)width, *b = a + (size_t)d * (size_t)width;
        double dot = 0;
        for (int c = 0; c < width; c++)
            dot += (double)a[c] * (double)b[c];
        sum += dot;
        squares += dot * dot;
    }
    double mean = sum / pairs;
    if (deviation)
        *deviation = sqrt(fmax(squares / pairs - mean * mean, 0));
    return mean;
}

int analytic_dot_by_distance(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    double most = 0;
    for (int i = 0; i < in->count; i++)
        most = fmax(most, in->at[i]);
    int width = in->config.model.width;
    real *x = added_rows(&in->config, r, ADDED_ROWS + (int)most, e);
    if (!x)
        return -1;
    double whole = added_dot(x, width, ADDED_ROWS, 0, NULL);
    for (int i = 0; i < in->count; i++)
        out[i] = added_dot(x, width, ADDED_ROWS, (int)in->at[i], NULL) / whole;
    *count = in->count;
    free(x);
    return 0;
}

int analytic_dot_spread(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    int width = in->config.model.width;
    real *x = added_rows(&in->config, r, 2 * ADDED_ROWS, e);
    if (!x)
        return -1;
    double whole = added_dot(x, width, ADDED_ROWS, 0, NULL), most = 0, deviation;
    for (int d = 0; d <= ADDED_ROWS; d++) {
        added_dot(x, width, ADDED_ROWS, d, &deviation);
        most = fmax(most, deviation);
    }
    out[0] = most / whole;
    *count = 1;
    free(x);
    return 0;
}

int analytic_dot_minimum(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    int width = in->config.model.width, d = 1;
    real *x = added_rows(&in->config, r, ADDED_ROWS + ADDED_MINIMUM_MAX + 1, e);
    if (!x)
        return -1;
    double dot[ADDED_MINIMUM_MAX + 2];
    for (int i = 0; i <= ADDED_MINIMUM_MAX + 1; i++)
        dot[i] = added_dot(x, width, ADDED_ROWS, i, NULL);
    free(x);
    while (d <= ADDED_MINIMUM_MAX && !(dot[d] < dot[d - 1] && dot[d] <= dot[d + 1]))
        d++;
    out[0] = d;
    *count = 1;
    return d <= ADDED_MINIMUM_MAX ? 0
                                  : error_set(e, ERROR_USAGE, "%.200s: no local minimum up to distance %d",
                                              in->config.encoding, ADDED_MINIMUM_MAX);
}

/* One number of the table's profile. */
static int added_probe(const analytic_input *in, const registry *r, int order, double *out, int *count, error *e)
{
    profile p;
    int status = profile_stack(&in->config, r, READOUT_ROWS, &p, e);
    if (status == 0 && !p.has_table)
        status = error_set(e, ERROR_USAGE, "%.200s: it adds nothing to token vectors", in->config.encoding);
    if (status == 0) {
        out[0] = order ? p.table.probe.order_error : p.table.probe.read_error;
        *count = 1;
    }
    profile_free(&p);
    return status;
}

int analytic_position_error(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    return added_probe(in, r, 0, out, count, e);
}

int analytic_order_error(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    return added_probe(in, r, 1, out, count, e);
}
