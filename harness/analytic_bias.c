/* analytic_bias.c - what positions add to scores. */
#include "analytic.h"

#include <math.h>
#include <stdlib.h>

enum { BIASES_LEN = 1024 };

/* curve[heads][len]: the first layer's bias of the last query, by distance; to be freed. NULL with e set. */
static double *biases_curve(const analytic_input *in, const registry *r, int len, error *e)
{
    analytic_network n;
    if (analytic_open(&n, &in->config, r, len, e) < 0)
        return NULL;
    size_t size = (size_t)len * (size_t)n.m.shape.heads;
    real *row = calloc(size, sizeof *row);
    double *curve = calloc(size, sizeof *curve);
    int failed = !row || !curve || !n.m.attention[0].has_bias;
    if (!row || !curve)
        error_set(e, ERROR_ENVIRONMENT, "out of memory");
    else if (failed)
        error_set(e, ERROR_USAGE, "%.200s: it adds nothing to scores", in->config.encoding);
    else
        look_bias(&n.k, 0, len - 1, row);
    for (int h = 0; h < n.m.shape.heads && !failed; h++)
        for (int d = 0; d < len; d++)
            curve[h * len + d] = (double)row[h * len + len - 1 - d];
    free(row);
    analytic_close(&n);
    if (failed) {
        free(curve);
        return NULL;
    }
    return curve;
}

int analytic_bias_slope(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    if (in->config.model.heads > ANALYTIC_VALUES_MAX)
        return error_set(e, ERROR_USAGE, "more than %d heads", ANALYTIC_VALUES_MAX);
    double *curve = biases_curve(in, r, 2, e);
    if (!curve)
        return -1;
    for (int h = 0; h < in->config.model.heads; h++)
        out[h] = curve[2 * h] - curve[2 * h + 1];
    *count = in->config.model.heads;
    free(curve);
    return 0;
}

int analytic_bias_edges(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    if (in->count != 2 || in->at[0] > in->at[1])
        return error_set(e, ERROR_USAGE, "bias_edges takes two distances, the least and the most");
    double *curve = biases_curve(in, r, (int)in->at[1] + 1, e);
    if (!curve)
        return -1;
    *count = 0;
    for (int d = (int)fmax(in->at[0], 1); d <= (int)in->at[1] && *count < ANALYTIC_VALUES_MAX; d++)
        if (curve[d] != curve[d - 1])
            out[(*count)++] = d;
    free(curve);
    return 0;
}

/* Is curve[d] among curve[from .. to-1]? */
static int biases_met(const double *curve, int from, int to, double value)
{
    for (int d = from; d < to; d++)
        if (curve[d] == value)
            return 1;
    return 0;
}

int analytic_bias_unmet(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    double *curve = biases_curve(in, r, BIASES_LEN, e);
    if (!curve)
        return -1;
    for (int i = 0; i < in->count; i++) {
        int first = (int)in->at[i];
        out[i] = 0;
        for (int d = first; d < BIASES_LEN; d++)
            out[i] += !biases_met(curve, 0, d, curve[d]);
    }
    *count = in->count;
    free(curve);
    return 0;
}
