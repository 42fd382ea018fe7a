/* profile_rotary.c - what a rotation of queries and keys makes of their product, by distance.
 *
 * The hook is asked, never its formula: every unit vector is rotated at every position. M(s) with M_ab = (R_m e_a).(R_n
 * e_b), m the last token and n the one s before it, says all of q.k at distance s when the hook is linear. A rotation
 * turns planes: number a and its partner b; the plane's turn at s is z(s) = (M_aa + M_bb)/2 + i (M_ba - M_ab)/2.
 * RoFormer 3.4.3 (and eq. 8 of Position Interpolation) bound q.k by max |h_(k+1) - h_k| times the sum of |A_k(s)|, A_k
 * = z_1 + ... + z_k, with planes in the order of their numbers.
 */
#include "profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_look.h"
#include "rng.h"

enum { ROTARY_DRAWS = 512, ROTARY_LOOKS = 16, ROTARY_DIM_MAX = 512 /* of a head */ };
#define ROTARY_TINY 1e-4

typedef struct rotary_work {
    look *k;
    int layer, dim, wide, heads, len;
    real *u, *v;   /* [len][heads][wide] queries and keys */
    real *qs, *ks; /* [dim][len][heads][wide] every unit vector, rotated */
    int partner[ROTARY_DIM_MAX], planes;
} rotary_work;

static size_t rotary_row(const rotary_work *w)
{
    return (size_t)w->heads * (size_t)w->wide;
}

static void rotary_close(rotary_work *w)
{
    free(w->u);
    free(w->v);
    free(w->qs);
    free(w->ks);
}

static int rotary_open(rotary_work *w, look *k, int layer)
{
    *w = (rotary_work){.k = k,
                       .layer = layer,
                       .dim = k->m->shape.head_dim,
                       .wide = look_rotated_dim(k, layer),
                       .heads = k->m->shape.heads,
                       .len = k->len};
    size_t all = (size_t)w->len * rotary_row(w);
    w->u = malloc(all * sizeof(real));
    w->v = malloc(all * sizeof(real));
    w->qs = malloc(all * (size_t)w->dim * sizeof(real));
    w->ks = malloc(all * (size_t)w->dim * sizeof(real));
    return w->u && w->v && w->qs && w->ks && w->dim <= ROTARY_DIM_MAX ? 0 : -1;
}

/* The same vector[heads][dim] at every token, rotated. */
static void rotary_spread(const rotary_work *w, pe_role role, const real *vector, real *to)
{
    size_t row = rotary_row(w);
    memset(to, 0, (size_t)w->len * row * sizeof(real));
    for (int t = 0; t < w->len; t++)
        for (int h = 0; h < w->heads; h++)
            memcpy(to + (size_t)t * row + (size_t)h * (size_t)w->wide, vector + (size_t)h * (size_t)w->dim,
                   (size_t)w->dim * sizeof(real));
    look_rotate(w->k, w->layer, role, to);
}

/* q.k of head h at distance s from the last token. */
static double rotary_product(const rotary_work *w, const real *q, const real *k, int h, int s)
{
    size_t row = rotary_row(w), at = (size_t)h * (size_t)w->wide, last = (size_t)w->len - 1;
    const real *a = q + last * row + at, *b = k + (last - (size_t)s) * row + at;
    double sum = 0;
    for (int c = 0; c < w->wide; c++)
        sum += (double)a[c] * (double)b[c];
    return sum;
}

static double rotary_matrix(const rotary_work *w, int a, int b, int h, int s)
{
    size_t all = (size_t)w->len * rotary_row(w);
    return rotary_product(w, w->qs + (size_t)a * all, w->ks + (size_t)b * all, h, s);
}

static void rotary_units(rotary_work *w)
{
    size_t all = (size_t)w->len * rotary_row(w);
    for (int a = 0; a < w->dim; a++) {
        memset(w->v, 0, (size_t)w->heads * (size_t)w->dim * sizeof(real));
        for (int h = 0; h < w->heads; h++)
            w->v[h * w->dim + a] = 1;
        rotary_spread(w, PE_QUERY, w->v, w->qs + (size_t)a * all);
        rotary_spread(w, PE_KEY, w->v, w->ks + (size_t)a * all);
    }
}

static void rotary_draw(const rotary_work *w, rng *r, real *vector)
{
    for (int i = 0; i < w->heads * w->dim; i++)
        vector[i] = (real)rng_normal(r);
}

/* Is a rotated vector the sum of its rotated parts? */
static int rotary_is_linear(rotary_work *w)
{
    size_t all = (size_t)w->len * rotary_row(w);
    real vector[ROTARY_DIM_MAX];
    rng r = rng_stream(0, RNG_BOOTSTRAP, rng_hash("rotary linear"), 0);
    for (int a = 0; a < w->dim; a++)
        vector[a] = (real)rng_normal(&r);
    for (int h = 0; h < w->heads; h++)
        memcpy(w->v + (size_t)h * (size_t)w->dim, vector, (size_t)w->dim * sizeof(real));
    rotary_spread(w, PE_QUERY, w->v, w->u);
    for (size_t i = 0; i < all; i++) {
        double sum = 0;
        for (int a = 0; a < w->dim; a++)
            sum += (double)vector[a] * (double)w->qs[(size_t)a * all + i];
        if (!(fabs(sum - (double)w->u[i]) < ROTARY_TINY * w->dim))
            return 0;
    }
    return 1;
}

/* The largest share of a that becomes b, over distances that are spread over all. */
static double rotary_mixing(const rotary_work *w, int a, int b)
{
    double most = 0;
    int step = 1 + (w->len - 1) / ROTARY_LOOKS;
    for (int s = w->len - 1; s >= 0; s -= step)
        most = fmax(most, fabs(rotary_matrix(w, a, b, 0, s)));
    return most;
}

/* Finds each number's partner, the one that it is turned into; numbers that are not turned pair up in their order.
 * Returns 0 when anything is turned into more than its partner. */
static int rotary_pair_up(rotary_work *w)
{
    double mixed[ROTARY_DIM_MAX];
    for (int a = 0; a < w->dim; a++) {
        double most = ROTARY_TINY;
        w->partner[a] = -1;
        for (int b = 0; b < w->dim; b++) {
            mixed[b] = b == a ? 0 : rotary_mixing(w, a, b);
            if (mixed[b] > most) {
                most = mixed[b];
                w->partner[a] = b;
            }
        }
        for (int b = 0; b < w->dim; b++)
            if (b != w->partner[a] && mixed[b] > ROTARY_TINY)
                return 0;
    }
    for (int a = 0, waiting = -1; a < w->dim; a++) {
        if (w->partner[a] >= 0) {
            if (w->partner[w->partner[a]] != a)
                return 0;
            continue;
        }
        if (waiting < 0) {
            waiting = a;
            continue;
        }
        w->partner[a] = waiting;
        w->partner[waiting] = a;
        waiting = -1;
    }
    w->planes = 0;
    for (int a = 0; a < w->dim; a++)
        w->planes += w->partner[a] > a;
    return 1;
}

static double rotary_bound(const rotary_work *w, int h, int s)
{
    double re = 0, im = 0, sum = 0;
    for (int a = 0; a < w->dim; a++) {
        int b = w->partner[a];
        if (b < a)
            continue;
        re += (rotary_matrix(w, a, a, h, s) + rotary_matrix(w, b, b, h, s)) / 2;
        im += (rotary_matrix(w, b, a, h, s) - rotary_matrix(w, a, b, h, s)) / 2;
        sum += hypot(re, im);
    }
    return sum / w->planes;
}

/* One product at every distance is added to sum (and its square to squares, when that is asked for). Returns whether
 * the largest is not at distance 0. */
static int rotary_add(const rotary_work *w, int h, double *sum, double *squares)
{
    double first = 0, most = -INFINITY;
    for (int s = 0; s < w->len; s++) {
        double value = rotary_product(w, w->u, w->v, h, s) / w->dim;
        sum[s] += value;
        if (squares)
            squares[s] += value * value;
        first = s == 0 ? value : first;
        most = fmax(most, value);
    }
    return most > first;
}

/* Means over normal queries and keys, by distance; heads that rotate alike are counted together. */
static void rotary_measure(rotary_work *w, profile_rotary *out)
{
    rng r = rng_stream(0, RNG_BOOTSTRAP, rng_hash("rotary pairs"), 0);
    real *q = w->qs, *k = w->ks; /* the unit vectors have served */
    long elsewhere = 0;
    for (int n = 0; n < ROTARY_DRAWS; n++) {
        rotary_draw(w, &r, q);
        rotary_draw(w, &r, k);
        rotary_spread(w, PE_QUERY, q, w->u);
        rotary_spread(w, PE_KEY, q, w->v);
        for (int h = 0; h < w->heads; h++)
            rotary_add(w, h, out->same + (h % out->heads) * out->count, NULL);
        rotary_spread(w, PE_KEY, k, w->v);
        for (int h = 0; h < w->heads; h++)
            elsewhere += rotary_add(w, h, out->other + (h % out->heads) * out->count,
                                    out->other_error + (h % out->heads) * out->count);
    }
    double draws = (double)ROTARY_DRAWS * w->heads / out->heads;
    for (int i = 0; i < out->heads * out->count; i++) {
        out->same[i] /= draws;
        out->other[i] /= draws;
        out->other_error[i] = sqrt(fmax(out->other_error[i] / draws - out->other[i] * out->other[i], 0) / (draws - 1));
    }
    out->draws = (int)draws;
    out->peak_elsewhere = (double)elsewhere / ((double)ROTARY_DRAWS * w->heads);
}

/* Do all heads rotate as the first does? */
static int rotary_heads_agree(const rotary_work *w)
{
    size_t all = (size_t)w->len * rotary_row(w), wide = (size_t)w->wide;
    for (size_t i = 0; i < all * (size_t)w->dim; i += rotary_row(w))
        for (int h = 1; h < w->heads; h++)
            if (memcmp(w->qs + i, w->qs + i + (size_t)h * wide, wide * sizeof(real)) != 0 ||
                memcmp(w->ks + i, w->ks + i + (size_t)h * wide, wide * sizeof(real)) != 0)
                return 0;
    return 1;
}

static int rotary_result(rotary_work *w, profile_rotary *out)
{
    size_t room = (size_t)w->heads * (size_t)w->len;
    rotary_units(w);
    *out = (profile_rotary){.layer = w->layer, .heads = rotary_heads_agree(w) ? 1 : w->heads, .count = w->len};
    out->bound = calloc(room, sizeof(double));
    out->same = calloc(room, sizeof(double));
    out->other = calloc(room, sizeof(double));
    out->other_error = calloc(room, sizeof(double));
    if (!out->bound || !out->same || !out->other || !out->other_error)
        return -1;
    out->pairs = w->dim > 1 && rotary_is_linear(w) && rotary_pair_up(w) ? w->planes : 0;
    for (int h = 0; h < out->heads; h++)
        for (int s = 0; s < w->len; s++)
            out->bound[h * w->len + s] = out->pairs ? rotary_bound(w, h, s) : NAN;
    rotary_measure(w, out);
    return 0;
}

static void rotary_clear(profile_rotary *r)
{
    free(r->bound);
    free(r->same);
    free(r->other);
    free(r->other_error);
    *r = (profile_rotary){0};
}

void profile_rotary_free(profile_rotary *r, int count)
{
    for (int i = 0; i < count; i++)
        rotary_clear(&r[i]);
    free(r);
}

static int rotary_is_new(const profile_rotary *r, int count)
{
    for (int i = 0; i < count; i++)
        if (r[i].heads == r[count].heads &&
            memcmp(r[i].same, r[count].same, (size_t)r[i].heads * (size_t)r[i].count * sizeof(double)) == 0)
            return 0;
    return 1;
}

int profile_rotary_make(look *k, profile_rotary **out, int *count, error *e)
{
    int layers = k->m->shape.layers, status = 0;
    profile_rotary *r = calloc((size_t)layers, sizeof *r);
    *out = r;
    *count = 0;
    for (int l = 0; l < layers && r && status == 0; l++) {
        rotary_work w;
        if (k->m->attention[l].rotating < 0)
            continue;
        status = rotary_open(&w, k, l) < 0 ? -1 : rotary_result(&w, &r[*count]);
        rotary_close(&w);
        if (status == 0 && rotary_is_new(r, *count))
            ++*count;
        else
            rotary_clear(&r[*count]);
    }
    return r && status == 0 ? 0 : error_set(e, ERROR_ENVIRONMENT, "no memory for a rotation at %d positions", k->len);
}
