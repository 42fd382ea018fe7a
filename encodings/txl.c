/* txl.c - Transformer-XL relative positions: content and position each have a key of their own and a query bias of
 * their own.
 *
 * The position key of a pair is W s(D), s a sinusoid of the distance. Where positions follow each other by one there
 * are few distances: `gate` makes the position keys of all of them once for a sequence, and the terms of a query are a
 * stretch of what it gives for all distances. Elsewhere the query is brought before the sinusoid, a = W_h^T (q + v),
 * and a.s(pos_i - pos_j) is taken apart by the addition theorem into b(i).(cos pos_j theta, sin pos_j theta), a product
 * with a table of the keys. No sinusoid is computed per pair, and groups of queries are worked off together. */
#include "pe.h"

#include <stdio.h>

enum { TXL_FEATURES_MAX = 8192, TXL_CHUNK = 128, TXL_DIMS = 64, TXL_GAP = 16, TXL_GROUP = 16 };
enum { TXL_LINE = TXL_CHUNK + TXL_GAP };
enum { TXL_R, TXL_U, TXL_V };

typedef struct txl_options {
    double base, clamp, deviation, bias_deviation;
    int features, untied;
} txl_options;

static const pe_option txl_rows[] = {
    {"clamp", PE_OPTION_REAL, PE_OFFSET(txl_options, clamp), "0", 0, 1e9, 0, NULL,
     "distances are held between -clamp and clamp; 0: they are not (paper). Kazemnejad et al. 2023: 1000"},
    {"base", PE_OPTION_REAL, PE_OFFSET(txl_options, base), "10000", 1, 1e12, 0, NULL,
     "b in theta_p = b^(-2p/features) (paper: 10000)"},
    {"features", PE_OPTION_INT, PE_OFFSET(txl_options, features), "auto", 1, TXL_FEATURES_MAX, 1, NULL,
     "length of the sinusoid s; auto: the model's width (paper)"},
    {"deviation", PE_OPTION_REAL, PE_OFFSET(txl_options, deviation), "0.02", 0, 100, 0, NULL,
     "standard deviation of the start values of W (released code, Ruoss et al. 2023: 0.02)"},
    {"bias_deviation", PE_OPTION_REAL, PE_OFFSET(txl_options, bias_deviation), "0.02", 0, 100, 0, NULL,
     "standard deviation of the start values of u and v (released code, Ruoss et al.: 0.02; Kazemnejad et al.: 0.2)"},
    {"untied", PE_OPTION_BOOL, PE_OFFSET(txl_options, untied), "false", 0, 0, 0, NULL,
     "true: u and v for each layer; false: shared by all layers, as the released code has it without untie_r"},
    {0},
};

/* F, the length of s: sines first, ceil(F/2) of them, then cosines. */
static int txl_features(const txl_options *o, const pe_shape *shape)
{
    return o->features == PE_AUTO_INT ? shape->width : o->features;
}

static int txl_pairs(const txl_options *o, const pe_shape *shape)
{
    return (txl_features(o, shape) + 1) / 2;
}

static int txl_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    if (txl_features(options, shape) <= TXL_FEATURES_MAX)
        return 0;
    snprintf(message, size, "a width of %d is too large for features=auto; features is at most %d", shape->width,
             (int)TXL_FEATURES_MAX);
    return -1;
}

/* W: [heads][head_dim][features]; u, v: [heads][head_dim]. */
static int txl_params(const void *options, const pe_shape *shape, pe_param *out)
{
    const txl_options *o = options;
    out[TXL_R] = (pe_param){
        .name = "r", .rows = shape->width, .cols = txl_features(o, shape), .deviation = o->deviation, .per_layer = 1};
    out[TXL_U] = (pe_param){.name = "u", .rows = shape->heads, .cols = shape->head_dim,
                            .deviation = o->bias_deviation, .per_layer = o->untied};
    out[TXL_V] = out[TXL_U];
    out[TXL_V].name = "v";
    return 3;
}

/* ------------------------------------------------------------------------------------------------ the cache */

/* Places of the cache and of gate's save. Even positions: place m is distance len-1-m, so that keys lie from left to
 * right; a causal mask needs len of them, else there are 2 len-1. Other positions: place m is key m.
 * The cache holds [2*pairs] sinusoids of each place, sines first, twice: by feature, [2*pairs][row_reals], each row
 * followed by zeros that fill its last vector and keep the rows off each other's cache lines; and by place,
 * [places][2*pairs]. Even: of the distance, held within the clamp. Others: of the position. Then [2*pairs] of clamp. */
typedef struct txl_table {
    int pairs, features, dim, even, places;
    double clamp; /* INFINITY: none */
    size_t row_reals, width;
    const real *by_feature, *by_place, *at_clamp;
} txl_table;

static txl_table txl_open(const pe_context *c, const void *cache)
{
    const txl_options *o = c->options;
    txl_table x = {.pairs = txl_pairs(o, c->shape),
                   .features = txl_features(o, c->shape),
                   .dim = c->shape->head_dim,
                   .even = c->pos && pe_evenly(c, c->len, 1e-9),
                   .places = c->shape->causal ? c->len : 2 * c->len - 1,
                   .clamp = o->clamp > 0 ? o->clamp : INFINITY,
                   .width = (size_t)c->shape->width,
                   .by_feature = cache};
    x.row_reals = (size_t)pe_whole(x.places) + TXL_GAP;
    x.by_place = cache ? x.by_feature + 2 * (size_t)x.pairs * x.row_reals : NULL;
    x.at_clamp = cache ? x.by_place + 2 * (size_t)x.pairs * (size_t)x.places : NULL;
    return x;
}

/* gate's save, if positions are even: the position keys by number, [width][row_reals], and by place [places][width]. */
static void txl_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    const pe_context without = {.shape = c->shape, .options = c->options, .len = c->len};
    const txl_table x = txl_open(&without, NULL);
    (void)rows, (void)keys;
    out->cache_bytes = 2 * (size_t)x.pairs * (x.row_reals + (size_t)x.places + 1) * sizeof(real);
    out->gate_reals = x.width * (x.row_reals + (size_t)x.places);
}

/* Angles are formed in double: at position 10000 a float's last bit is a thousandth of a radian. */
static void txl_prepare(const pe_context *c, void *cache)
{
    const txl_options *o = c->options;
    const txl_table x = txl_open(c, cache);
    real *rows = cache, *places = rows + (x.by_place - x.by_feature), *at_clamp = rows + (x.at_clamp - x.by_feature);
    memset(cache, 0, 2 * (size_t)x.pairs * x.row_reals * sizeof(real));
    for (int p = 0; p < x.pairs; p++) {
        double theta = pow(o->base, -2.0 * p / x.features);
        real *sine = rows + (size_t)p * x.row_reals, *cosine = sine + (size_t)x.pairs * x.row_reals;
        for (int m = 0; m < (x.even ? x.places : c->len); m++) {
            real *place = places + 2 * (size_t)m * x.pairs + p;
            double at = x.even ? fmax(fmin(c->len - 1 - m, x.clamp), -x.clamp) : c->pos[m];
            place[0] = sine[m] = (real)sin(at * theta);
            place[x.pairs] = cosine[m] = (real)cos(at * theta);
        }
        at_clamp[p] = (real)sin(o->clamp * theta);
        at_clamp[x.pairs + p] = (real)cos(o->clamp * theta);
    }
}

/* ------------------------------------------------------------------------------------------------ queries */

/* A group of rows of one head, and a stretch of places that holds keys for some of them. */
typedef struct txl_group {
    int row, rows, begin, count;
    real query[TXL_GROUP][TXL_DIMS]; /* scale (q + v_h), some of the head's numbers */
    real line[TXL_GROUP][TXL_LINE];  /* terms, or their gradients; 0 past the last place */
} txl_group;

static int txl_chunk(int begin, int end)
{
    return end - begin < TXL_CHUNK ? end - begin : TXL_CHUNK;
}

/* Numbers d .. of the head; returns how many. */
static int txl_queries(const pe_context *c, const pe_tile *t, int h, int d, txl_group *g)
{
    const real *v = c->theta[TXL_V] + (size_t)h * c->shape->head_dim + d;
    int dims = c->shape->head_dim - d < TXL_DIMS ? c->shape->head_dim - d : TXL_DIMS;
    for (int n = 0; n < g->rows; n++) {
        const real *q = t->q + (size_t)(g->row + n) * t->token_stride + (size_t)h * t->head_stride + d;
        for (int k = 0; k < dims; k++)
            g->query[n][k] = t->scale * (q[k] + v[k]);
    }
    return dims;
}

/* The rows from `row` on, and the places where their keys begin, at the start of a vector. Returns where they end. */
static int txl_group_open(const pe_context *c, const pe_tile *t, const txl_table *x, int row, txl_group *g)
{
    int first = t->row_begin + row;
    g->row = row;
    g->rows = t->rows - row < TXL_GROUP ? t->rows - row : TXL_GROUP;
    g->begin = x->even ? (c->len - first - g->rows) / PE_VEC_LANES * PE_VEC_LANES : 0;
    return (x->even ? c->len - 1 - first : 0) + pe_visible(c, t, x->even ? row : row + g->rows - 1);
}

/* Key `*key` of row n of the group stands at line[n][*at]; returns how many follow from there. */
static int txl_keys(const pe_context *c, const pe_tile *t, const txl_table *x, const txl_group *g, int n, int *at,
                    int *key)
{
    int first = (x->even ? c->len - 1 - t->row_begin - g->row - n : 0) - g->begin;
    int end = first + pe_visible(c, t, g->row + n);
    *at = first > 0 ? first : 0;
    *key = *at - first;
    return (end < g->count ? end : g->count) - *at;
}

/* ------------------------------------------------------------------------------------------------ even positions */

/* keys (=) W s(D) for all distances. */
static void txl_gate(const pe_context *c, const real *unused, real *save)
{
    const txl_table x = txl_open(c, c->cache);
    real *by_place = save + x.width * x.row_reals;
    (void)unused;
    if (!x.even)
        return;
    pe_product(&(pe_product_job){.rows = (int)x.width, .cols = pe_whole(x.places), .depth = x.features,
                                 .a = c->theta[TXL_R], .a_row = (size_t)x.features, .a_col = 1, .b = x.by_feature,
                                 .b_row = x.row_reals, .c = save, .c_row = x.row_reals});
    for (int m = 0; m < x.places; m++)
        for (size_t n = 0; n < x.width; n++)
            by_place[(size_t)m * x.width + n] = save[n * x.row_reals + (size_t)m];
}

/* dW += dkeys s(D)^T; dkeys are laid out by number alone. */
static void txl_gate_bwd(const pe_context *c, const real *unused, const real *save, const real *dsave, real *dx)
{
    const txl_table x = txl_open(c, c->cache);
    (void)unused, (void)save, (void)dx;
    for (int m = 0; x.even && m < x.places; m += TXL_CHUNK)
        pe_product(&(pe_product_job){.rows = (int)x.width, .cols = x.features,
                                     .depth = x.places - m < TXL_CHUNK ? x.places - m : TXL_CHUNK, .a = dsave + m,
                                     .a_row = x.row_reals, .a_col = 1,
                                     .b = x.by_place + 2 * (size_t)m * (size_t)x.pairs, .b_row = 2 * (size_t)x.pairs,
                                     .c = c->dtheta[TXL_R], .c_row = (size_t)x.features, .add = 1});
}

/* line (=) what the queries give for the distances of the stretch. */
static void txl_even(const pe_context *c, const pe_tile *t, const txl_table *x, int h, txl_group *g)
{
    for (int d = 0, dims; d < x->dim; d += dims) {
        dims = txl_queries(c, t, h, d, g);
        pe_product(&(pe_product_job){.rows = g->rows, .cols = pe_whole(g->count), .depth = dims, .a = g->query[0],
                                     .a_row = TXL_DIMS, .a_col = 1,
                                     .b = t->gate + (size_t)(h * x->dim + d) * x->row_reals + g->begin,
                                     .b_row = x->row_reals, .c = g->line[0], .c_row = TXL_LINE, .add = d > 0});
    }
}

/* dq and dv_h += dquery, the gradient of numbers d .. d+dims-1 of the group's queries. */
static void txl_queries_bwd(const pe_context *c, const pe_tile *t, const txl_table *x, int h, int d, int dims,
                            const txl_group *g, real dquery[TXL_GROUP][TXL_DIMS], real *dq)
{
    for (int n = 0; n < g->rows; n++) {
        size_t token = (size_t)(g->row + n) * t->token_stride + (size_t)h * t->head_stride;
        pe_axpy(dq + token + d, t->scale, dquery[n], dims);
        pe_axpy(c->dtheta[TXL_V] + (size_t)h * x->dim + d, t->scale, dquery[n], dims);
    }
}

/* From the lines: dq, dv_h and, by number, the gradients of the position keys, all +=. */
static void txl_even_bwd(const pe_context *c, const pe_tile *t, const txl_table *x, int h, txl_group *g,
                         const pe_tile_grad *out)
{
    real dquery[TXL_GROUP][TXL_DIMS];
    const real *keys = t->gate + x->width * x->row_reals + (size_t)g->begin * x->width + (size_t)h * x->dim;
    for (int d = 0, dims; d < x->dim; d += dims) {
        dims = txl_queries(c, t, h, d, g);
        pe_product(&(pe_product_job){.rows = dims, .cols = pe_whole(g->count), .depth = g->rows, .a = g->query[0],
                                     .a_row = 1, .a_col = TXL_DIMS, .b = g->line[0], .b_row = TXL_LINE,
                                     .c = out->dgate + (size_t)(h * x->dim + d) * x->row_reals + g->begin,
                                     .c_row = x->row_reals, .add = 1});
        pe_product(&(pe_product_job){.rows = g->rows, .cols = dims, .depth = g->count, .a = g->line[0],
                                     .a_row = TXL_LINE, .a_col = 1, .b = keys + d, .b_row = x->width,
                                     .c = dquery[0], .c_row = TXL_DIMS});
        txl_queries_bwd(c, t, x, h, d, dims, g, dquery, out->dq);
    }
}

/* ------------------------------------------------------------------------------------------------ other positions */

/* Of some pairs of features, from p on, for each row of a group: coefficients of sines ([0]) and cosines ([1]); and of
 * the whole what lies at the clamp, in the past and in the future. */
typedef struct txl_waves {
    int p, count, cosines; /* cosines: count, or one less where the last has none */
    real wave[2][TXL_GROUP][TXL_DIMS];
    real past[TXL_GROUP], future[TXL_GROUP];
} txl_waves;

static void txl_waves_open(const txl_table *x, int p, txl_waves *a)
{
    a->p = p;
    a->count = x->pairs - p < TXL_DIMS ? x->pairs - p : TXL_DIMS;
    a->cosines = x->features - x->pairs - p < a->count ? x->features - x->pairs - p : a->count;
}

/* Turns the coefficients of row n by the position of token i: a.s(x - y) = b.s(y). It is a reflection, so the same
 * turns them, and their gradients, back. */
static void txl_turn(const txl_table *x, txl_waves *a, int n, int i)
{
    const real *restrict sine = x->by_place + 2 * (size_t)i * x->pairs + a->p, *restrict cosine = sine + x->pairs;
    real *restrict sines = a->wave[0][n], *restrict cosines = a->wave[1][n];
    for (int p = 0; p < a->count; p++) {
        real s = sines[p], k = cosines[p];
        sines[p] = k * sine[p] - s * cosine[p];
        cosines[p] = s * sine[p] + k * cosine[p];
    }
}

/* 1 or -1: key j is further than the clamp in the past or in the future of token i; 0: it is not. */
static inline int txl_beyond(const pe_context *c, const txl_table *x, int i, int j)
{
    double distance = c->pos[i] - c->pos[j];
    return (distance > x->clamp) - (distance < -x->clamp);
}

/* line (=) b.s(pos_j) for the stretch; a row's keys beyond the clamp get what lies there. */
static void txl_other(const pe_context *c, const pe_tile *t, const txl_table *x, int h, txl_group *g)
{
    txl_waves a = {0};
    memset(g->line, 0, sizeof g->line);
    for (int p = 0; p < x->pairs; p += a.count) {
        txl_waves_open(x, p, &a);
        for (int d = 0, dims; d < x->dim; d += dims) {
            dims = txl_queries(c, t, h, d, g);
            for (int side = 0; side < 2; side++)
                pe_product(&(pe_product_job){
                    .rows = g->rows, .cols = side ? a.cosines : a.count, .depth = dims, .a = g->query[0],
                    .a_row = TXL_DIMS, .a_col = 1,
                    .b = c->theta[TXL_R] + (size_t)(h * x->dim + d) * x->features + side * x->pairs + p,
                    .b_row = (size_t)x->features, .c = a.wave[side][0], .c_row = TXL_DIMS, .add = d > 0});
        }
        for (int n = 0; n < g->rows; n++) {
            a.wave[1][n][a.count - 1] = a.cosines < a.count ? 0 : a.wave[1][n][a.count - 1];
            real sines = pe_dot(a.wave[0][n], x->at_clamp + p, a.count);
            real cosines = pe_dot(a.wave[1][n], x->at_clamp + x->pairs + p, a.count);
            a.past[n] += cosines + sines;
            a.future[n] += cosines - sines;
            txl_turn(x, &a, n, t->row_begin + g->row + n);
        }
        for (int side = 0; side < 2; side++)
            pe_product(&(pe_product_job){.rows = g->rows, .cols = pe_whole(g->count), .depth = a.count,
                                         .a = a.wave[side][0], .a_row = TXL_DIMS, .a_col = 1,
                                         .b = x->by_feature + (size_t)(side * x->pairs + p) * x->row_reals + g->begin,
                                         .b_row = x->row_reals, .c = g->line[0], .c_row = TXL_LINE, .add = 1});
    }
    for (int n = 0; n < g->rows && !isinf(x->clamp); n++)
        for (int m = 0; m < g->count; m++) {
            int side = txl_beyond(c, x, t->row_begin + g->row + n, g->begin + m);
            g->line[n][m] = side > 0 ? a.past[n] : side < 0 ? a.future[n] : g->line[n][m];
        }
}

static void txl_other_bwd(const pe_context *c, const pe_tile *t, const txl_table *x, int h, txl_group *g,
                          const pe_tile_grad *out)
{
    txl_waves a = {0};
    for (int n = 0; n < g->rows && !isinf(x->clamp); n++)
        for (int m = 0; m < g->count; m++) {
            int side = txl_beyond(c, x, t->row_begin + g->row + n, g->begin + m);
            a.past[n] += side > 0 ? g->line[n][m] : 0;
            a.future[n] += side < 0 ? g->line[n][m] : 0;
            g->line[n][m] = side != 0 ? 0 : g->line[n][m];
        }
    for (int p = 0; p < x->pairs; p += a.count) {
        txl_waves_open(x, p, &a);
        for (int side = 0; side < 2; side++)
            pe_product(&(pe_product_job){
                .rows = g->rows, .cols = a.count, .depth = g->count, .a = g->line[0], .a_row = TXL_LINE, .a_col = 1,
                .b = x->by_place + (2 * (size_t)g->begin + (size_t)side) * (size_t)x->pairs + p,
                .b_row = 2 * (size_t)x->pairs, .c = a.wave[side][0], .c_row = TXL_DIMS});
        for (int n = 0; n < g->rows; n++) {
            txl_turn(x, &a, n, t->row_begin + g->row + n);
            pe_axpy(a.wave[0][n], a.past[n] - a.future[n], x->at_clamp + p, a.count);
            pe_axpy(a.wave[1][n], a.past[n] + a.future[n], x->at_clamp + x->pairs + p, a.count);
        }
        for (int d = 0, dims; d < x->dim; d += dims) {
            real dquery[TXL_GROUP][TXL_DIMS];
            size_t first = (size_t)(h * x->dim + d) * x->features + p;
            dims = txl_queries(c, t, h, d, g);
            for (int n = 0; n < g->rows; n++)
                for (int k = 0; k < dims; k++) {
                    const real *w = c->theta[TXL_R] + first + (size_t)k * x->features;
                    dquery[n][k] = pe_dot(a.wave[0][n], w, a.count) + pe_dot(a.wave[1][n], w + x->pairs, a.cosines);
                }
            for (int side = 0; side < 2; side++)
                pe_product(&(pe_product_job){.rows = dims, .cols = side ? a.cosines : a.count, .depth = g->rows,
                                             .a = g->query[0], .a_row = 1, .a_col = TXL_DIMS, .b = a.wave[side][0],
                                             .b_row = TXL_DIMS, .c = c->dtheta[TXL_R] + first + side * x->pairs,
                                             .c_row = (size_t)x->features, .add = 1});
            txl_queries_bwd(c, t, x, h, d, dims, g, dquery, out->dq);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ scores */

/* row[j] += scale u_h.k_j for all rows of the tile. */
static void txl_content(const pe_context *c, const pe_tile *t, int h, real *s)
{
    int dim = c->shape->head_dim;
    real term[TXL_CHUNK];
    for (int begin = 0; begin < t->keys; begin += TXL_CHUNK) {
        int width = txl_chunk(begin, t->keys);
        const real *k = t->k + (size_t)begin * t->token_stride + (size_t)h * t->head_stride;
        for (int j = 0; j < width; j++)
            term[j] = t->scale * pe_dot(c->theta[TXL_U] + (size_t)h * dim, k + (size_t)j * t->token_stride, dim);
        for (int r = 0; r < t->rows; r++)
            if (pe_visible(c, t, r) > begin)
                pe_add(s + (size_t)h * t->plane + (size_t)r * t->stride + begin, term,
                       txl_chunk(begin, pe_visible(c, t, r)), width);
    }
}

/* du_h += scale sum_j ds_j k_j, dk_j += scale ds_j u_h, ds_j the sum over the tile's rows. */
static void txl_content_bwd(const pe_context *c, const pe_tile *t, int h, const real *ds, real *dk)
{
    int dim = c->shape->head_dim;
    real sum[TXL_CHUNK];
    for (int begin = 0; begin < t->keys; begin += TXL_CHUNK) {
        int width = txl_chunk(begin, t->keys);
        memset(sum, 0, sizeof sum);
        for (int r = 0; r < t->rows; r++)
            if (pe_visible(c, t, r) > begin)
                pe_axpy(sum, t->scale, ds + (size_t)h * t->plane + (size_t)r * t->stride + begin,
                        txl_chunk(begin, pe_visible(c, t, r)));
        for (int j = 0; j < width; j++) {
            size_t at = (size_t)(begin + j) * t->token_stride + (size_t)h * t->head_stride;
            pe_axpy(c->dtheta[TXL_U] + (size_t)h * dim, sum[j], t->k + at, dim);
            pe_axpy(dk + at, sum[j], c->theta[TXL_U] + (size_t)h * dim, dim);
        }
    }
}

/* The host has scale q.k already. */
static void txl_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    (void)save;
    const txl_table x = txl_open(c, c->cache);
    txl_group g;
    for (int h = 0, at, key; h < c->shape->heads; h++) {
        txl_content(c, t, h, s);
        for (int row = 0; row < t->rows; row += g.rows)
            for (int end = txl_group_open(c, t, &x, row, &g); g.begin < end; g.begin += TXL_CHUNK) {
                g.count = txl_chunk(g.begin, end);
                (x.even ? txl_even : txl_other)(c, t, &x, h, &g);
                for (int n = 0; n < g.rows; n++) {
                    int count = txl_keys(c, t, &x, &g, n, &at, &key);
                    if (count > 0)
                        pe_add(s + (size_t)h * t->plane + (size_t)(row + n) * t->stride + key, g.line[n] + at, count,
                               t->keys - key);
                }
            }
    }
}

/* s_ij itself passes through, so ds stays. */
static void txl_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *out)
{
    (void)save;
    const txl_table x = txl_open(c, c->cache);
    txl_group g;
    for (int h = 0, at, key; h < c->shape->heads; h++) {
        txl_content_bwd(c, t, h, ds, out->dk);
        for (int row = 0; row < t->rows; row += g.rows)
            for (int end = txl_group_open(c, t, &x, row, &g); g.begin < end; g.begin += TXL_CHUNK) {
                g.count = txl_chunk(g.begin, end);
                memset(g.line, 0, sizeof g.line);
                for (int n = 0; n < g.rows; n++) {
                    int count = txl_keys(c, t, &x, &g, n, &at, &key);
                    if (count > 0)
                        pe_add(g.line[n] + at, ds + (size_t)h * t->plane + (size_t)(row + n) * t->stride + key, count,
                               t->keys - key);
                }
                (x.even ? txl_even_bwd : txl_other_bwd)(c, t, &x, h, &g, out);
            }
    }
}

static const char *const txl_examples[] = {
    "clamp=3", "untied=true,bias_deviation=0.2", "features=7,base=100", "features=5,clamp=1.5", NULL,
};

const pe_descriptor pe_encoding_txl = {
    PE_DESCRIPTOR_HEAD,
    .name = "txl",
    .family = "relative",
    .title = "Transformer-XL relative positions",
    .source =
        "Dai et al. 2019, Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context, section 3.3; XLNet "
        "(Yang et al. 2019) without a causal mask",
    .formula =
        "s_ij = scale ((q_i + u_h).k_j + (q_i + v_h).W_h s(D)), D = pos_i - pos_j as it is, fractions too; s(D) = "
        "sin(D theta_p), p = 0 .. ceil(F/2)-1, then cos(D theta_p), p = 0 .. floor(F/2)-1, theta_p = base^(-2p/F), "
        "F = width",
    .notes =
        "Without a causal mask distances of both signs enter, as in XLNet: computed as they are, not by shifting rows "
        "of a matrix, which under no mask reads other rows' values. W is per layer. clamp holds |D|: released code of "
        "Transformer-XL clamps the past, its only side, XLNet both. An odd number of features has one sine more than "
        "cosines; released code then builds one column too many, or refuses. Training code that draws distances at "
        "random instead of positions (Ruoss et al.) has no counterpart here: a position map draws positions.",
    .claims = PE_SHIFT_INVARIANT | PE_ANY_LENGTH,
    .reads_heads = 1,
    .options = txl_rows,
    .options_size = sizeof(txl_options),
    .examples = txl_examples,
    .check = txl_check,
    .params = txl_params,
    .sizes = txl_sizes,
    .prepare = txl_prepare,
    .gate = txl_gate,
    .gate_bwd = txl_gate_bwd,
    .score = txl_score,
    .score_bwd = txl_score_bwd,
    .bibtex = "@inproceedings{dai2019transformerxl, title = {{Transformer-XL}: Attentive Language Models Beyond a "
              "Fixed-Length Context}, author = {Dai, Zihang and Yang, Zhilin and Yang, Yiming and Carbonell, Jaime "
              "and Le, Quoc V. and Salakhutdinov, Ruslan}, booktitle = {Proceedings of the 57th Annual Meeting of the "
              "Association for Computational Linguistics}, year = {2019}, eprint = {1901.02860}, archiveprefix = "
              "{arXiv}} "
              "@inproceedings{yang2019xlnet, title = {{XLNet}: Generalized Autoregressive Pretraining for Language "
              "Understanding}, author = {Yang, Zhilin and Dai, Zihang and Yang, Yiming and Carbonell, Jaime and "
              "Salakhutdinov, Ruslan and Le, Quoc V.}, booktitle = {Advances in Neural Information Processing "
              "Systems}, volume = {32}, year = {2019}, eprint = {1906.08237}, archiveprefix = {arXiv}}",
};
