/* txl.c - Transformer-XL relative positions: content and position each have a key of their own and a query bias of
 * their own.
 *
 * The position key of a pair is W s(D), s a sinusoid of the distance. No sinusoid is computed per pair: the query is
 * brought before the sinusoid, a = W_h^T (q + v), and a.s(pos_i - pos_j) is taken apart by the addition theorem into
 * b(i).(cos pos_j theta, sin pos_j theta). So a row of scores is one product with a table of the keys. */
#include "pe.h"

#include <stdio.h>

enum { TXL_FEATURES_MAX = 8192, TXL_CHUNK = 128, TXL_DIMS = 64, TXL_GAP = 16 };
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

/* The table, cos(pos_j theta_p) and sin(pos_j theta_p), lies there twice: by feature, [2*pairs][len], cosines first,
 * each row followed by a gap that keeps the rows off each other's cache lines; and by key, [len][2*pairs]. Then
 * [2*pairs] of clamp. */
typedef struct txl_table {
    int pairs, features, dim;
    double clamp; /* INFINITY: none */
    size_t row_reals;
    const real *by_feature, *by_key, *at_clamp;
} txl_table;

static txl_table txl_open(const pe_context *c, const void *cache)
{
    const txl_options *o = c->options;
    txl_table x = {.pairs = txl_pairs(o, c->shape),
                   .features = txl_features(o, c->shape),
                   .dim = c->shape->head_dim,
                   .clamp = o->clamp > 0 ? o->clamp : INFINITY,
                   .row_reals = (size_t)c->len + TXL_GAP,
                   .by_feature = cache};
    x.by_key = x.by_feature + 2 * (size_t)x.pairs * x.row_reals;
    x.at_clamp = x.by_key + 2 * (size_t)x.pairs * (size_t)c->len;
    return x;
}

static void txl_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)rows;
    (void)keys;
    out->cache_bytes = 2 * (size_t)txl_pairs(c->options, c->shape) * (2 * (size_t)c->len + TXL_GAP + 1) * sizeof(real);
}

/* Angles are formed in double: at position 10000 a float's last bit is a thousandth of a radian. */
static void txl_prepare(const pe_context *c, void *cache)
{
    const txl_options *o = c->options;
    const txl_table x = txl_open(c, cache);
    real *rows = cache, *keys = rows + (x.by_key - x.by_feature), *at_clamp = rows + (x.at_clamp - x.by_feature);
    memset(cache, 0, 2 * (size_t)x.pairs * x.row_reals * sizeof(real));
    for (int p = 0; p < x.pairs; p++) {
        double theta = pow(o->base, -2.0 * p / x.features);
        real *cosine = rows + (size_t)p * x.row_reals, *sine = cosine + (size_t)x.pairs * x.row_reals;
        for (int t = 0; t < c->len; t++) {
            real *key = keys + 2 * (size_t)t * x.pairs + p;
            key[0] = cosine[t] = (real)cos(c->pos[t] * theta);
            key[x.pairs] = sine[t] = (real)sin(c->pos[t] * theta);
        }
        at_clamp[p] = (real)cos(o->clamp * theta);
        at_clamp[x.pairs + p] = (real)sin(o->clamp * theta);
    }
}

/* ------------------------------------------------------------------------------------------------ one query */

/* A vector over features: sines, then cosines; with an odd number of them one more, 0, in place of a cosine. */
typedef real txl_vector[TXL_FEATURES_MAX + 1];

/* y[n] += sum over k of factor[k] x[k*stride ..], four k in one pass over y. */
static void txl_add_rows(real *restrict y, int n, const real *factor, const real *x, size_t stride, int count)
{
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const real *restrict x0 = x + (size_t)k * stride, *restrict x1 = x0 + stride;
        const real *restrict x2 = x1 + stride, *restrict x3 = x2 + stride;
        real f0 = factor[k], f1 = factor[k + 1], f2 = factor[k + 2], f3 = factor[k + 3];
        for (int i = 0; i < n; i++)
            y[i] += (f0 * x0[i] + f1 * x1[i]) + (f2 * x2[i] + f3 * x3[i]);
    }
    for (; k < count; k++)
        pe_axpy(y, factor[k], x + (size_t)k * stride, n);
}

/* a (=) scale W_h^T (q + v_h). */
static void txl_aim(const pe_context *c, const txl_table *x, int h, const real *q, real scale, txl_vector a)
{
    const real *v = c->theta[TXL_V] + (size_t)h * x->dim;
    const real *w = c->theta[TXL_R] + (size_t)h * x->dim * x->features;
    memset(a, 0, 2 * (size_t)x->pairs * sizeof *a);
    for (int d = 0; d < x->dim; d += TXL_DIMS) {
        real factor[TXL_DIMS];
        int n = x->dim - d < TXL_DIMS ? x->dim - d : TXL_DIMS;
        for (int i = 0; i < n; i++)
            factor[i] = scale * (q[d + i] + v[d + i]);
        txl_add_rows(a, x->features, factor, w + (size_t)d * x->features, (size_t)x->features, n);
    }
}

/* From da, the gradient of a: dq, dv_h and dW_h, all +=. */
static void txl_aim_bwd(const pe_context *c, const txl_table *x, int h, const real *q, real scale,
                        const real *restrict da, real *dq)
{
    size_t head = (size_t)h * x->dim;
    const real *v = c->theta[TXL_V] + head;
    for (int d = 0; d < x->dim; d++) {
        const real *restrict w = c->theta[TXL_R] + (head + (size_t)d) * x->features;
        real *restrict dw = c->dtheta[TXL_R] + (head + (size_t)d) * x->features;
        real factor = scale * (q[d] + v[d]), along = 0;
#pragma omp simd reduction(+ : along)
        for (int f = 0; f < x->features; f++) {
            along += w[f] * da[f];
            dw[f] += factor * da[f];
        }
        dq[d] += scale * along;
        c->dtheta[TXL_V][head + (size_t)d] += scale * along;
    }
}

/* b (=) a turned by the position of token i: a.s(x - y) = sum over p of b[p] cos(y theta_p) + b[pairs + p] sin(y
 * theta_p). */
static void txl_turn(const txl_table *x, int i, const real *restrict a, real *restrict b)
{
    const real *restrict cosine = x->by_key + 2 * (size_t)i * x->pairs, *restrict sine = cosine + x->pairs;
    for (int p = 0; p < x->pairs; p++) {
        b[p] = a[p] * sine[p] + a[x->pairs + p] * cosine[p];
        b[x->pairs + p] = a[x->pairs + p] * sine[p] - a[p] * cosine[p];
    }
}

/* da (=) db turned back. */
static void txl_turn_bwd(const txl_table *x, int i, const real *restrict db, real *restrict da)
{
    const real *restrict cosine = x->by_key + 2 * (size_t)i * x->pairs, *restrict sine = cosine + x->pairs;
    for (int p = 0; p < x->pairs; p++) {
        da[p] = db[p] * sine[p] - db[x->pairs + p] * cosine[p];
        da[x->pairs + p] = db[p] * cosine[p] + db[x->pairs + p] * sine[p];
    }
}

/* a.s(clamp) for sign 1, a.s(-clamp) for sign -1: what all keys beyond get. */
static real txl_at_clamp(const txl_table *x, real sign, const real *a)
{
    real sines = pe_dot(a, x->at_clamp + x->pairs, x->pairs);
    return sign * sines + pe_dot(a + x->pairs, x->at_clamp, x->pairs);
}

static void txl_at_clamp_bwd(const txl_table *x, real sign, real d, real *da)
{
    pe_axpy(da, sign * d, x->at_clamp + x->pairs, x->pairs);
    pe_axpy(da + x->pairs, d, x->at_clamp, x->pairs);
}

/* 1 or -1: key j is further than the clamp in the past or in the future of token i; 0: it is not. */
static inline int txl_beyond(const pe_context *c, const txl_table *x, int i, int j)
{
    double distance = c->pos[i] - c->pos[j];
    return (distance > x->clamp) - (distance < -x->clamp);
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
            term[j] = t->scale * pe_dot(c->theta[TXL_U] + (size_t)h * dim, k + (size_t)j * t->token_stride, dim);
        for (int r = 0; r < t->rows; r++)
            if (pe_visible(c, t, r) > begin)
                pe_axpy(s + (size_t)h * t->plane + (size_t)r * t->stride + begin, 1, term,
                        txl_chunk(begin, pe_visible(c, t, r)));
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

/* row[j] += scale (q + v_h).W_h s(pos_i - pos_j), distances held within the clamp. */
static void txl_position(const pe_context *c, const txl_table *x, int h, const real *q, int i, real scale, int visible,
                         real *row)
{
    txl_vector a, b;
    txl_aim(c, x, h, q, scale, a);
    txl_turn(x, i, a, b);
    real past = isinf(x->clamp) ? 0 : txl_at_clamp(x, 1, a), future = isinf(x->clamp) ? 0 : txl_at_clamp(x, -1, a);
    for (int begin = 0; begin < visible; begin += TXL_CHUNK) {
        real term[TXL_CHUNK] = {0};
        int width = txl_chunk(begin, visible), beyond = 0;
        for (int j = 0; j < width && !isinf(x->clamp); j++)
            beyond += txl_beyond(c, x, i, begin + j) != 0;
        if (beyond < width)
            txl_add_rows(term, width, b, x->by_feature + begin, x->row_reals, 2 * x->pairs);
        for (int j = 0; j < width && beyond > 0; j++) {
            int side = txl_beyond(c, x, i, begin + j);
            term[j] = side > 0 ? past : side < 0 ? future : term[j];
        }
        pe_axpy(row + begin, 1, term, width);
    }
}

static void txl_position_bwd(const pe_context *c, const txl_table *x, int h, const real *q, int i, real scale,
                             int visible, const real *ds, real *dq)
{
    txl_vector da, db;
    real past = 0, future = 0;
    memset(db, 0, 2 * (size_t)x->pairs * sizeof *db);
    for (int begin = 0; begin < visible; begin += TXL_CHUNK) {
        real within[TXL_CHUNK];
        int width = txl_chunk(begin, visible), beyond = 0;
        memcpy(within, ds + begin, (size_t)width * sizeof *ds);
        for (int j = 0; j < width && !isinf(x->clamp); j++) {
            int side = txl_beyond(c, x, i, begin + j);
            past += side > 0 ? within[j] : 0;
            future += side < 0 ? within[j] : 0;
            within[j] = side != 0 ? 0 : within[j];
            beyond += side != 0;
        }
        if (beyond < width)
            txl_add_rows(db, 2 * x->pairs, within, x->by_key + 2 * (size_t)begin * x->pairs, 2 * (size_t)x->pairs,
                         width);
    }
    txl_turn_bwd(x, i, db, da);
    if (!isinf(x->clamp)) {
        txl_at_clamp_bwd(x, 1, past, da);
        txl_at_clamp_bwd(x, -1, future, da);
    }
    txl_aim_bwd(c, x, h, q, scale, da, dq);
}

/* The host has scale q.k already. */
static void txl_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    const txl_table x = txl_open(c, c->cache);
    (void)save;
    for (int h = 0; h < c->shape->heads; h++) {
        txl_content(c, t, h, s);
        for (int r = 0; r < t->rows; r++)
            txl_position(c, &x, h, t->q + (size_t)r * t->token_stride + (size_t)h * t->head_stride, t->row_begin + r,
                         t->scale, pe_visible(c, t, r), s + (size_t)h * t->plane + (size_t)r * t->stride);
    }
}

/* s_ij itself passes through, so ds stays. */
static void txl_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    const txl_table x = txl_open(c, c->cache);
    (void)save;
    for (int h = 0; h < c->shape->heads; h++) {
        txl_content_bwd(c, t, h, ds, g->dk);
        for (int r = 0; r < t->rows; r++) {
            size_t token = (size_t)r * t->token_stride + (size_t)h * t->head_stride;
            txl_position_bwd(c, &x, h, t->q + token, t->row_begin + r, t->scale, pe_visible(c, t, r),
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
