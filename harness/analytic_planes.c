/* analytic_planes.c - keys chosen for a rotation, positions between whole ones, and how fast planes turn. */
#include "analytic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

enum { PLANES_LEN = 256, PLANES_DRAWS = 32, PLANES_DIM_MAX = 256, PLANES_STEPS = 8, PLANES_WHOLE = 64 };

/* A network whose first layer rotates without widening, and a buffer u[len][heads][dim]. */
typedef struct planes {
    analytic_network n;
    int dim, row, len;
    real *u, *v; /* [len][row] */
} planes;

static int planes_open(planes *p, const run_config *c, const registry *r, int len, error *e)
{
    *p = (planes){.len = len};
    if (analytic_open(&p->n, c, r, len, e) < 0)
        return -1;
    p->dim = p->n.m.shape.head_dim;
    p->row = p->n.m.shape.width;
    if (p->n.m.attention[0].rotating < 0 || look_rotated_dim(&p->n.k, 0) != p->dim || p->dim > PLANES_DIM_MAX)
        return error_set(e, ERROR_USAGE, "%.200s: it is no rotation of vectors of at most %d numbers", c->encoding,
                         PLANES_DIM_MAX);
    p->u = calloc((size_t)len * (size_t)p->row, sizeof(real));
    p->v = calloc((size_t)len * (size_t)p->row, sizeof(real));
    return p->u && p->v ? 0 : error_set(e, ERROR_ENVIRONMENT, "out of memory");
}

static void planes_close(planes *p)
{
    free(p->u);
    free(p->v);
    analytic_close(&p->n);
}

/* vector[dim] as the first head's query or key at every token, rotated, in to. */
static void planes_rotate(planes *p, pe_role role, const real *vector, real *to)
{
    memset(to, 0, (size_t)p->len * (size_t)p->row * sizeof(real));
    for (int t = 0; t < p->len; t++)
        memcpy(to + (size_t)t * (size_t)p->row, vector, (size_t)p->dim * sizeof(real));
    look_rotate(&p->n.k, 0, role, to);
}

static double planes_dot(const planes *p, const real *a, const real *b)
{
    double sum = 0;
    for (int c = 0; c < p->dim; c++)
        sum += (double)a[c] * (double)b[c];
    return sum;
}

/* The distance of the largest product of the last token's query in u with the keys in v. */
static int planes_peak(const planes *p)
{
    const real *q = p->u + (size_t)(p->len - 1) * (size_t)p->row;
    int peak = 0;
    double most = -INFINITY;
    for (int d = 0; d < p->len; d++) {
        double dot = planes_dot(p, q, p->v + (size_t)(p->len - 1 - d) * (size_t)p->row);
        if (dot > most) {
            most = dot;
            peak = d;
        }
    }
    return peak;
}

/* The key that a rotation by the position at distance d turns onto the rotated query: k = R_n' (R_m q), R_n' the
 * transpose, row by row, since R_n e_a is its row a. */
static void planes_choose(planes *p, const real *query, int d, real *key)
{
    real turned[PLANES_DIM_MAX], unit[PLANES_DIM_MAX];
    planes_rotate(p, PE_QUERY, query, p->u);
    memcpy(turned, p->u + (size_t)(p->len - 1) * (size_t)p->row, (size_t)p->dim * sizeof(real));
    for (int a = 0; a < p->dim; a++) {
        memset(unit, 0, sizeof unit);
        unit[a] = 1;
        planes_rotate(p, PE_KEY, unit, p->v);
        key[a] = (real)planes_dot(p, turned, p->v + (size_t)(p->len - 1 - d) * (size_t)p->row);
    }
    planes_rotate(p, PE_KEY, key, p->v);
}

int analytic_rotation_choice(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    planes p;
    int status = planes_open(&p, &in->config, r, PLANES_LEN, e);
    rng draws = rng_stream(0, RNG_BOOTSTRAP, rng_hash("analytic choice"), 0);
    memset(out, 0, (size_t)in->count * sizeof *out);
    for (int n = 0; n < PLANES_DRAWS && status == 0; n++) {
        real query[PLANES_DIM_MAX], key[PLANES_DIM_MAX];
        for (int c = 0; c < p.dim; c++)
            query[c] = (real)rng_normal(&draws);
        for (int i = 0; i < in->count; i++) {
            planes_choose(&p, query, (int)in->at[i], key);
            out[i] += (planes_peak(&p) == (int)in->at[i]) / (double)PLANES_DRAWS;
        }
    }
    *count = in->count;
    planes_close(&p);
    return status;
}

/* ------------------------------------------------------------------------------------------------ between positions */

/* The largest deviation of the products at distances 0 .. PLANES_WHOLE from straight lines between whole distances;
 * tokens stand 1/PLANES_STEPS apart. */
static double planes_deviation(const planes *p)
{
    const real *q = p->u + (size_t)(p->len - 1) * (size_t)p->row;
    double most = 0;
    for (int whole = 0; whole < PLANES_WHOLE; whole++) {
        double value[PLANES_STEPS + 1];
        for (int i = 0; i <= PLANES_STEPS; i++)
            value[i] = planes_dot(p, q, p->v + (size_t)(p->len - 1 - whole * PLANES_STEPS - i) * (size_t)p->row);
        for (int i = 1; i < PLANES_STEPS; i++)
            most = fmax(most, fabs(value[i] - value[0] - (value[PLANES_STEPS] - value[0]) * i / PLANES_STEPS));
    }
    return most;
}

static int planes_stand_apart(const planes *p)
{
    for (int t = 0; t < p->len; t++)
        if (fabs(p->n.k.places.trial[t] - (double)t / PLANES_STEPS) > 1e-9)
            return 0;
    return 1;
}

/* Numbers of q and k are 1 or -1, so that |h_j| = 2 in whatever way they are paired into planes. same: k is q, so that
 * all h_j are 2 and their terms are in phase at distance 0. */
static int planes_gap(const analytic_input *in, const registry *r, int same, double *out, int *count, error *e)
{
    planes p;
    int status = planes_open(&p, &in->config, r, PLANES_WHOLE * PLANES_STEPS + 1, e);
    rng draws = rng_stream(0, RNG_BOOTSTRAP, rng_hash("analytic gap"), 0);
    if (status == 0 && !planes_stand_apart(&p))
        status = error_set(e, ERROR_USAGE, "%.200s: tokens do not stand 1/%d apart; interpolate by %d",
                           in->config.encoding, PLANES_STEPS, PLANES_STEPS);
    out[0] = 0;
    for (int n = 0; n < PLANES_DRAWS && status == 0; n++) {
        real query[PLANES_DIM_MAX], key[PLANES_DIM_MAX];
        for (int c = 0; c < p.dim; c++) {
            query[c] = rng_below(&draws, 2) ? 1 : -1;
            key[c] = same ? query[c] : rng_below(&draws, 2) ? 1 : -1;
        }
        planes_rotate(&p, PE_QUERY, query, p.u);
        planes_rotate(&p, PE_KEY, key, p.v);
        out[0] = fmax(out[0], planes_deviation(&p) / (2 * p.dim));
    }
    *count = 1;
    planes_close(&p);
    return status;
}

int analytic_rotation_gap(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    return planes_gap(in, r, 0, out, count, e);
}

int analytic_rotation_gap_same(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    return planes_gap(in, r, 1, out, count, e);
}

/* ------------------------------------------------------------------------------------------------ frequencies */

/* turn[dim]: the angle in radians by which one position turns the plane of each number. */
static int planes_turns(const run_config *c, const registry *r, double turn[PLANES_DIM_MAX], int *dim, error *e)
{
    planes p;
    int status = planes_open(&p, c, r, 2, e);
    *dim = p.dim;
    for (int a = 0; a < p.dim && status == 0; a++) {
        real unit[PLANES_DIM_MAX] = {0};
        double own = 0, other = 0;
        unit[a] = 1;
        planes_rotate(&p, PE_QUERY, unit, p.u);
        for (int b = 0; b < p.dim; b++) {
            real second[PLANES_DIM_MAX] = {0};
            second[b] = 1;
            planes_rotate(&p, PE_KEY, second, p.v);
            double dot = planes_dot(&p, p.u + p.row, p.v); /* the second token's query with the first one's key */
            own = b == a ? dot : own;
            other = b == a ? other : fmax(other, fabs(dot));
        }
        turn[a] = atan2(other, own);
    }
    planes_close(&p);
    return status;
}

int analytic_rotation_kept(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    double changed[PLANES_DIM_MAX], plain[PLANES_DIM_MAX], least = INFINITY, fastest = 0, kept = NAN;
    int dim, other;
    if (planes_turns(&in->config, r, changed, &dim, e) < 0 || planes_turns(&in->beside, r, plain, &other, e) < 0)
        return -1;
    if (dim != other)
        return error_set(e, ERROR_USAGE, "heads of %d and of %d numbers cannot be compared", dim, other);
    for (int a = 0; a < dim; a++) {
        double ratio = changed[a] / plain[a];
        least = fmin(least, ratio);
        if (plain[a] > fastest) {
            fastest = plain[a];
            kept = ratio;
        }
    }
    out[0] = (kept - least) / (1 - least);
    *count = 1;
    return 0;
}
