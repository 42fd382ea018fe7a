/* analytic_rotation.c - what a rotation makes of products of queries and keys. */
#include "analytic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "rng.h"

enum { ROTATION_LEN = 128, ROTATION_DRAWS = 16 };

static int rotation_missing(const analytic_input *in, error *e)
{
    return error_set(e, ERROR_USAGE, "%.200s: it does not rotate queries and keys", in->config.encoding);
}

/* The same normal vector for each head at every token: u[len][heads][wide]. */
static void rotation_draw(const analytic_network *n, rng *r, int wide, real *u)
{
    int heads = n->m.shape.heads, dim = n->m.shape.head_dim;
    memset(u, 0, (size_t)n->k.len * (size_t)(heads * wide) * sizeof *u);
    for (int h = 0; h < heads; h++)
        for (int c = 0; c < dim; c++)
            u[h * wide + c] = (real)rng_normal(r);
    for (int t = 1; t < n->k.len; t++)
        memcpy(u + (size_t)t * (size_t)(heads * wide), u, (size_t)(heads * wide) * sizeof *u);
}

static double rotation_dot(const real *a, const real *b, int wide)
{
    double sum = 0;
    for (int c = 0; c < wide; c++)
        sum += (double)a[c] * (double)b[c];
    return sum;
}

/* The largest difference at one distance of head `at`'s products, over |q| |k|. */
static double rotation_spread_of(const real *q, const real *k, int len, int row, int wide, double size)
{
    double most = 0;
    for (int d = 0; d < len; d++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = d; i < len; i++) {
            double dot = rotation_dot(q + (size_t)i * (size_t)row, k + (size_t)(i - d) * (size_t)row, wide);
            low = fmin(low, dot);
            high = fmax(high, dot);
        }
        most = fmax(most, (high - low) / size);
    }
    return most;
}

/* The largest relative change of a norm among the rotated u, all of which had the norm `size` before. */
static double rotation_norm_of(const real *u, int len, int row, int wide, double size)
{
    double most = 0;
    for (int t = 0; t < len; t++) {
        const real *at = u + (size_t)t * (size_t)row;
        most = fmax(most, fabs(sqrt(rotation_dot(at, at, wide)) / size - 1));
    }
    return most;
}

/* Draws queries and keys and rotates them: the largest of either number over all. */
static int rotation_look(const analytic_input *in, const registry *r, int norms, double *out, error *e)
{
    analytic_network n;
    if (analytic_open(&n, &in->config, r, ROTATION_LEN, e) < 0)
        return -1;
    int wide = look_rotated_dim(&n.k, 0), dim = n.m.shape.head_dim, heads = n.m.shape.heads, row = heads * wide,
        status = 0;
    real *q = malloc((size_t)ROTATION_LEN * (size_t)row * sizeof *q),
         *k = malloc((size_t)ROTATION_LEN * (size_t)row * sizeof *k);
    rng draws = rng_stream(0, RNG_BOOTSTRAP, rng_hash("analytic rotation"), 0);
    *out = 0;
    if (n.m.attention[0].rotating < 0)
        status = rotation_missing(in, e);
    else if (!q || !k)
        status = error_set(e, ERROR_ENVIRONMENT, "out of memory");
    for (int i = 0; i < ROTATION_DRAWS && status == 0; i++) {
        double size[2 * heads];
        rotation_draw(&n, &draws, wide, q);
        rotation_draw(&n, &draws, wide, k);
        for (int h = 0; h < heads; h++) {
            size[2 * h] = sqrt(rotation_dot(q + h * wide, q + h * wide, dim));
            size[2 * h + 1] = sqrt(rotation_dot(k + h * wide, k + h * wide, dim));
        }
        look_rotate(&n.k, 0, PE_QUERY, q);
        look_rotate(&n.k, 0, PE_KEY, k);
        for (int h = 0; h < heads; h++) {
            const real *a = q + h * wide, *b = k + h * wide;
            double found = norms ? fmax(rotation_norm_of(a, ROTATION_LEN, row, wide, size[2 * h]),
                                        rotation_norm_of(b, ROTATION_LEN, row, wide, size[2 * h + 1]))
                                 : rotation_spread_of(a, b, ROTATION_LEN, row, wide, size[2 * h] * size[2 * h + 1]);
            *out = fmax(*out, found);
        }
    }
    free(q);
    free(k);
    analytic_close(&n);
    return status;
}

int analytic_rotation_spread(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    *count = 1;
    return rotation_look(in, r, 0, out, e);
}

int analytic_rotation_norm(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    *count = 1;
    return rotation_look(in, r, 1, out, e);
}

/* The first rotation of the profile over `len` distances; rotation and count to be freed in every case. */
static int rotation_profile(const analytic_input *in, const registry *r, int len, profile_rotary **out, int *count,
                            error *e)
{
    analytic_network n;
    *out = NULL;
    *count = 0;
    if (analytic_open(&n, &in->config, r, len, e) < 0)
        return -1;
    int status = profile_rotary_make(&n.k, out, count, e);
    analytic_close(&n);
    return status == 0 && *count == 0 ? rotation_missing(in, e) : status;
}

int analytic_rotation_bound(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    profile_rotary *found;
    int rotations, most = 1;
    for (int i = 0; i < in->count; i++)
        most = (int)in->at[i] > most ? (int)in->at[i] : most;
    int status = rotation_profile(in, r, most + 1, &found, &rotations, e);
    if (status == 0 && found->pairs == 0)
        status = error_set(e, ERROR_USAGE, "%.200s: it does not turn planes", in->config.encoding);
    for (int i = 0; i < in->count && status == 0; i++)
        out[i] = found->bound[(int)in->at[i]];
    *count = in->count;
    profile_rotary_free(found, rotations);
    return status;
}

int analytic_rotation_mean(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    profile_rotary *found;
    int rotations, status = rotation_profile(in, r, in->config.train.len, &found, &rotations, e);
    out[0] = 0;
    for (int i = 0; status == 0 && i < found->heads * found->count; i++)
        out[0] = fmax(out[0], fabs(found->other[i]) / found->other_error[i]);
    *count = 1;
    profile_rotary_free(found, rotations);
    return status;
}

int analytic_rotation_elsewhere(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    profile_rotary *found;
    int rotations, status = rotation_profile(in, r, in->config.train.len, &found, &rotations, e);
    if (status == 0)
        out[0] = found->peak_elsewhere;
    *count = 1;
    profile_rotary_free(found, rotations);
    return status;
}
