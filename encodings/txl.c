/* txl.c - Transformer-XL relative positions: content and position each have a key of their own and a query bias of their
 * own.
 *
 * The position key of a pair is W s(D), s a sinusoid of the distance. No sinusoid is computed per pair: the query is
 * brought before the sinusoid, a = W_h^T (q + v), and a.s(pos_i - pos_j) is taken apart by the addition theorem into
 * b(i).(cos pos_j theta, sin pos_j theta). So a row of scores is one product with a table of the keys. */
#include "pe.h"

#include <stdio.h>

enum { TXL_FEATURES_MAX = 8192, TXL_CHUNK = 256, TXL_GAP = 16 };
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
    out[TXL_R] = (pe_param){.name = "r",
                            .rows = shape->width,
                            .cols = txl_features(o, shape),
                            .deviation = o->deviation,
                            .per_layer = 1};
    out[TXL_U] = (pe_param){.name = "u",
                            .rows = shape->heads,
                            .cols = shape->head_dim,
                            .deviation = o->bias_deviation,
                            .per_layer = o->untied};
    out[TXL_V] = out[TXL_U];
    out[TXL_V].name = "v";
    return 3;
}

/* ------------------------------------------------------------------------------------------------ the cache */

/* [pairs] rows of cos(pos_j theta_p), [pairs] of sin(pos_j theta_p), each of len keys and a gap that keeps rows off each
 * other's cache lines; then cosines and sines of clamp. */
static size_t txl_row_reals(const pe_context *c)
{
    return (size_t)c->len + TXL_GAP;
}

static void txl_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)rows;
    (void)keys;
    out->cache_bytes = 2 * (size_t)txl_pairs(c->options, c->shape) * (txl_row_reals(c) + 1) * sizeof(real);
}

/* Angles are formed in double: at position 10000 a float's last bit is a thousandth of a radian. */
static void txl_prepare(const pe_context *c, void *cache)
{
    const txl_options *o = c->options;
    int pairs = txl_pairs(o, c->shape), features = txl_features(o, c->shape);
    real *at_clamp = (real *)cache + 2 * (size_t)pairs * txl_row_reals(c);
    for (int p = 0; p < pairs; p++) {
        double theta = pow(o->base, -2.0 * p / features);
        real *cosine = (real *)cache + (size_t)p * txl_row_reals(c);
        real *sine = cosine + (size_t)pairs * txl_row_reals(c);
        for (int t = 0; t < c->len; t++) {
            cosine[t] = (real)cos(c->pos[t] * theta);
            sine[t] = (real)sin(c->pos[t] * theta);
        }
        memset(cosine + c->len, 0, TXL_GAP * sizeof(real));
        memset(sine + c->len, 0, TXL_GAP * sizeof(real));
        at_clamp[p] = (real)cos(o->clamp * theta);
        at_clamp[pairs + p] = (real)sin(o->clamp * theta);
    }
}

/* ------------------------------------------------------------------------------------------------ one query */

/* The table as a query of one head uses it: a.s(x - y) = sum over p of b[p] cos(y theta_p) + b[pairs + p] sin(y theta_p).
 */
typedef struct txl_table {
    int pairs, features, dim;
    double clamp;                /* INFINITY: none */
    const real *rows, *at_clamp; /* of the cache */
    size_t row_reals;
} txl_table;

static txl_table txl_open(const pe_context *c)
{
    const txl_options *o = c->options;
    txl_table x = {.pairs = txl_pairs(o, c->shape),
                   .features = txl_features(o, c->shape),
                   .dim = c->shape->head_dim,
                   .clamp = o->clamp > 0 ? o->clamp : INFINITY,
                   .rows = c->cache,
                   .row_reals = txl_row_reals(c)};
    x.at_clamp = x.rows + 2 * (size_t)x.pairs * x.row_reals;
    return x;
}

/* A vector over features: sines, then cosines; with an odd number of them one more, 0, in place of a cosine. */
typedef real txl_vector[TXL_FEATURES_MAX + 1];

/* y += factor x */
static void txl_add(real *restrict y, real factor, const real *restrict x, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += factor * x[i];
}

static real txl_dot(const real *restrict a, const real *restrict b, int n)
{
    real sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* a (=) scale W_h^T (q + v_h). */
static void txl_aim(const pe_context *c, const txl_table *x, int h, const real *q, real scale, txl_vector a)
{
    const real *v = c->theta[TXL_V] + (size_t)h * x->dim;
    const real *w = c->theta[TXL_R] + (size_t)h * x->dim * x->features;
    memset(a, 0, 2 * (size_t)x->pairs * sizeof *a);
    for (int d = 0; d < x->dim; d++)
        txl_add(a, scale * (q[d] + v[d]), w + (size_t)d * x->features, x->features);
}

/* From da, the gradient of a: dq, dv_h and dW_h, all +=. */
static void txl_aim_bwd(const pe_context *c, const txl_table *x, int h, const real *q, real scale, const txl_vector da,
                        real *dq)
{
    const real *v = c->theta[TXL_V] + (size_t)h * x->dim;
    const real *w = c->theta[TXL_R] + (size_t)h * x->dim * x->features;
    real *dv = c->dtheta[TXL_V] + (size_t)h * x->dim;
    real *dw = c->dtheta[TXL_R] + (size_t)h * x->dim * x->features;
    for (int d = 0; d < x->dim; d++) {
        real along = scale * txl_dot(w + (size_t)d * x->features, da, x->features);
        dq[d] += along;
        dv[d] += along;
        txl_add(dw + (size_t)d * x->features, scale * (q[d] + v[d]), da, x->features);
    }
}

/* b (=) a turned by the position of token i. */
static void txl_turn(const txl_table *x, int i, const txl_vector a, txl_vector b)
{
    for (int p = 0; p < x->pairs; p++) {
        real cosine = x->rows[(size_t)p * x->row_reals + i], sine = x->rows[(size_t)(x->pairs + p) * x->row_reals + i];
        b[p] = a[p] * sine + a[x->pairs + p] * cosine;
        b[x->pairs + p] = a[x->pairs + p] * sine - a[p] * cosine;
    }
}

/* da += db turned back. */
static void txl_turn_bwd(const txl_table *x, int i, const txl_vector db, txl_vector da)
{
    for (int p = 0; p < x->pairs; p++) {
        real cosine = x->rows[(size_t)p * x->row_reals + i], sine = x->rows[(size_t)(x->pairs + p) * x->row_reals + i];
        da[p] += db[p] * sine - db[x->pairs + p] * cosine;
        da[x->pairs + p] += db[p] * cosine + db[x->pairs + p] * sine;
    }
}

/* a.s(clamp) for sign 1, a.s(-clamp) for sign -1: what all keys beyond get. */
static real txl_at_clamp(const txl_table *x, real sign, const txl_vector a)
{
    real sines = txl_dot(a, x->at_clamp + x->pairs, x->pairs);
    return sign * sines + txl_dot(a + x->pairs, x->at_clamp, x->pairs);
}

static void txl_at_clamp_bwd(const txl_table *x, real sign, real d, txl_vector da)
{
    txl_add(da, sign * d, x->at_clamp + x->pairs, x->pairs);
    txl_add(da + x->pairs, d, x->at_clamp, x->pairs);
}

/* ------------------------------------------------------------------------------------------------ a chunk of keys */

/* term[n] (=) sum over f of b[f] rows[f][begin ..], four rows of the table at a time. */
static void txl_product(const txl_table *x, const txl_vector b, int begin, int n, real *restrict term)
{
    int f = 0;
    memset(term, 0, (size_t)n * sizeof *term);
    for (; f + 4 <= 2 * x->pairs; f += 4) {
        const real *restrict x0 = x->rows + (size_t)f * x->row_reals + begin, *restrict x1 = x0 + x->row_reals;
        const real *restrict x2 = x1 + x->row_reals, *restrict x3 = x2 + x->row_reals;
        real b0 = b[f], b1 = b[f + 1], b2 = b[f + 2], b3 = b[f + 3];
        for (int j = 0; j < n; j++)
            term[j] += (b0 * x0[j] + b1 * x1[j]) + (b2 * x2[j] + b3 * x3[j]);
    }
    for (; f < 2 * x->pairs; f++)
        txl_add(term, b[f], x->rows + (size_t)f * x->row_reals + begin, n);
}

/* db[f] += rows[f][begin ..] . d[n] */
static void txl_product_bwd(const txl_table *x, const real *restrict d, int begin, int n, txl_vector db)
{
    for (int f = 0; f < 2 * x->pairs; f += 2) {
        const real *restrict x0 = x->rows + (size_t)f * x->row_reals + begin, *restrict x1 = x0 + x->row_reals;
        real sum0 = 0, sum1 = 0;
#pragma omp simd reduction(+ : sum0, sum1)
        for (int j = 0; j < n; j++) {
            sum0 += d[j] * x0[j];
            sum1 += d[j] * x1[j];
        }
        db[f] += sum0;
        db[f + 1] += sum1;
    }
}

/* Whether some of the keys begin .. begin+n-1 are within the clamp of token i. */
static int txl_reaches(const pe_context *c, const txl_table *x, int i, int begin, int n)
{
    int within = isinf(x->clamp);
    for (int j = begin; j < begin + n && !within; j++)
        within = fabs(c->pos[i] - c->pos[j]) <= x->clamp;
    return within;
}

static int txl_visible(const pe_context *c, const pe_tile *t, int r)
{
    return c->shape->causal ? t->row_begin + r + 1 : t->keys;
}

static int txl_chunk(int begin, int visible)
{
    return visible - begin < TXL_CHUNK ? visible - begin : TXL_CHUNK;
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
            term[j] = t->scale * txl_dot(c->theta[TXL_U] + (size_t)h * dim, k + (size_t)j * t->token_stride, dim);
        for (int r = 0; r < t->rows; r++)
            if (txl_visible(c, t, r) > begin)
                txl_add(s + (size_t)h * t->plane + (size_t)r * t->stride + begin, 1, term,
                        txl_chunk(begin, txl_visible(c, t, r)));
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
            if (txl_visible(c, t, r) > begin)
                txl_add(sum, t->scale, ds + (size_t)h * t->plane + (size_t)r * t->stride + begin,
                        txl_chunk(begin, txl_visible(c, t, r)));
        for (int j = 0; j < width; j++) {
            size_t at = (size_t)(begin + j) * t->token_stride + (size_t)h * t->head_stride;
            txl_add(c->dtheta[TXL_U] + (size_t)h * dim, sum[j], t->k + at, dim);
            txl_add(dk + at, sum[j], c->theta[TXL_U] + (size_t)h * dim, dim);
        }
    }
}

/* row[j] += scale (q + v_h).W_h s(pos_i - pos_j), distances held within the clamp. */
static void txl_position(const pe_context *c, const txl_table *x, int h, const real *q, int i, real scale, int visible,
                         real *row)
{
    txl_vector a, b;
    real term[TXL_CHUNK];
    txl_aim(c, x, h, q, scale, a);
    txl_turn(x, i, a, b);
    real past = txl_at_clamp(x, 1, a), future = txl_at_clamp(x, -1, a);
    for (int begin = 0; begin < visible; begin += TXL_CHUNK) {
        int width = txl_chunk(begin, visible);
        if (txl_reaches(c, x, i, begin, width))
            txl_product(x, b, begin, width, term);
        else
            memset(term, 0, sizeof term);
        for (int j = 0; j < width; j++) {
            double distance = c->pos[i] - c->pos[begin + j];
            row[begin + j] += distance > x->clamp ? past : distance < -x->clamp ? future : term[j];
        }
    }
}

static void txl_position_bwd(const pe_context *c, const txl_table *x, int h, const real *q, int i, real scale,
                             int visible, const real *ds, real *dq)
{
    txl_vector da, db;
    real kept[TXL_CHUNK], past = 0, future = 0;
    memset(da, 0, 2 * (size_t)x->pairs * sizeof *da);
    memset(db, 0, 2 * (size_t)x->pairs * sizeof *db);
    for (int begin = 0; begin < visible; begin += TXL_CHUNK) {
        int width = txl_chunk(begin, visible);
        for (int j = 0; j < width; j++) {
            double distance = c->pos[i] - c->pos[begin + j];
            int is_past = distance > x->clamp, is_future = distance < -x->clamp;
            past += is_past ? ds[begin + j] : 0;
            future += is_future ? ds[begin + j] : 0;
            kept[j] = is_past || is_future ? 0 : ds[begin + j];
        }
        if (txl_reaches(c, x, i, begin, width))
            txl_product_bwd(x, kept, begin, width, db);
    }
    txl_turn_bwd(x, i, db, da);
    txl_at_clamp_bwd(x, 1, past, da);
    txl_at_clamp_bwd(x, -1, future, da);
    txl_aim_bwd(c, x, h, q, scale, da, dq);
}

/* The host has scale q.k already. */
static void txl_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    const txl_table x = txl_open(c);
    (void)save;
    for (int h = 0; h < c->shape->heads; h++) {
        txl_content(c, t, h, s);
        for (int r = 0; r < t->rows; r++)
            txl_position(c, &x, h, t->q + (size_t)r * t->token_stride + (size_t)h * t->head_stride, t->row_begin + r,
                         t->scale, txl_visible(c, t, r), s + (size_t)h * t->plane + (size_t)r * t->stride);
    }
}

/* s_ij itself passes through, so ds stays. */
static void txl_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    const txl_table x = txl_open(c);
    (void)save;
    for (int h = 0; h < c->shape->heads; h++) {
        txl_content_bwd(c, t, h, ds, g->dk);
        for (int r = 0; r < t->rows; r++) {
            size_t token = (size_t)r * t->token_stride + (size_t)h * t->head_stride;
            txl_position_bwd(c, &x, h, t->q + token, t->row_begin + r, t->scale, txl_visible(c, t, r),
                             ds + (size_t)h * t->plane + (size_t)r * t->stride, g->dq + token);
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
    .source = "Dai et al. 2019, Transformer-XL: Attentive Language Models Beyond a Fixed-Length Context, section 3.3; XLNet "
              "(Yang et al. 2019) without a causal mask",
    .formula = "s_ij = scale ((q_i + u_h).k_j + (q_i + v_h).W_h s(D)), D = pos_i - pos_j as it is, fractions too; s(D) = "
               "sin(D theta_p), p = 0 .. ceil(F/2)-1, then cos(D theta_p), p = 0 .. floor(F/2)-1, theta_p = base^(-2p/F), "
               "F = width",
    .notes = "Without a causal mask distances of both signs enter, as in XLNet: computed as they are, not by shifting rows "
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
    .score = txl_score,
    .score_bwd = txl_score_bwd,
};
