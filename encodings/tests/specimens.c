#include "specimens.h"

/* Keys that query row r of the tile can see. */
static int specimen_visible(const pe_context *c, const pe_tile *t, int r)
{
    return c->shape->causal ? t->row_begin + r + 1 : t->keys;
}

static real specimen_distance(const pe_context *c, const pe_tile *t, int r, int j)
{
    return (real)fabs(c->pos[t->row_begin + r] - c->pos[j]);
}

#define SPECIMEN_HEAD(word, stage)                                                                                     \
    PE_DESCRIPTOR_HEAD, .name = word, .family = stage, .title = "A specimen", .source = "made for tests",              \
                        .formula = "see specimens.h"

/* ------------------------------------------------------------------------------------------------ slope */

static int slope_params(const void *options, const pe_shape *shape, pe_param *out)
{
    (void)options;
    out[0] = (pe_param){.name = "slope", .rows = 1, .cols = shape->heads, .mean = 0.5, .deviation = 0.1};
    return 1;
}

static void slope_bias(const pe_context *c, const pe_tile *t, real *s)
{
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < specimen_visible(c, t, r); j++)
                s[h * t->plane + r * t->stride + j] -= c->theta[0][h] * specimen_distance(c, t, r, j);
}

static void slope_bias_bwd(const pe_context *c, const pe_tile *t, const real *ds)
{
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < specimen_visible(c, t, r); j++)
                c->dtheta[0][h] -= ds[h * t->plane + r * t->stride + j] * specimen_distance(c, t, r, j);
}

const pe_descriptor specimen_slope = {
    SPECIMEN_HEAD("slope", "bias"), .claims = PE_SHIFT_INVARIANT | PE_ANY_LENGTH,
    .params = slope_params,         .bias = slope_bias,
    .bias_bwd = slope_bias_bwd,
};

/* ------------------------------------------------------------------------------------------------ keyed */

static int keyed_params(const void *options, const pe_shape *shape, pe_param *out)
{
    (void)options;
    out[0] = (pe_param){.name = "w", .rows = 1, .cols = shape->head_dim, .deviation = 0.5};
    return 1;
}

/* save: f of each pair, without gaps. */
static void keyed_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)c;
    out->save_reals = (size_t)rows * (size_t)keys;
}

static void keyed_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    int dim = c->shape->head_dim;
    for (int r = 0; r < t->rows; r++)
        for (int j = 0; j < specimen_visible(c, t, r); j++) {
            real f = 1 / (1 + specimen_distance(c, t, r, j));
            save[r * t->keys + j] = f;
            for (int h = 0; h < c->shape->heads; h++) {
                const real *q = t->q + r * t->token_stride + h * t->head_stride;
                const real *k = t->k + j * t->token_stride + h * t->head_stride;
                for (int i = 0; i < dim; i++)
                    s[h * t->plane + r * t->stride + j] += t->scale * f * c->theta[0][i] * q[i] * k[i];
            }
        }
}

static void keyed_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    int dim = c->shape->head_dim;
    for (int r = 0; r < t->rows; r++)
        for (int j = 0; j < specimen_visible(c, t, r); j++)
            for (int h = 0; h < c->shape->heads; h++) {
                int query = r * t->token_stride + h * t->head_stride, key = j * t->token_stride + h * t->head_stride;
                real d = ds[h * t->plane + r * t->stride + j] * t->scale * save[r * t->keys + j];
                for (int i = 0; i < dim; i++) {
                    real w = c->theta[0][i], q = t->q[query + i], k = t->k[key + i];
                    g->dq[query + i] += d * w * k;
                    g->dk[key + i] += d * w * q;
                    c->dtheta[0][i] += d * q * k;
                }
            }
}

const pe_descriptor specimen_keyed = {
    SPECIMEN_HEAD("keyed", "relative"),
    .claims = PE_SHIFT_INVARIANT | PE_ANY_LENGTH,
    .params = keyed_params,
    .sizes = keyed_sizes,
    .score = keyed_score,
    .score_bwd = keyed_score_bwd,
};

/* ------------------------------------------------------------------------------------------------ turning */

static int turning_rotated_dim(const void *options, const pe_shape *shape)
{
    (void)options;
    return 2 * shape->head_dim;
}

static void turning_rotate(const pe_context *c, pe_role role, real *u, int token_stride, int head_stride)
{
    int dim = c->shape->head_dim;
    (void)role;
    for (int t = 0; t < c->len; t++)
        for (int h = 0; h < c->shape->heads; h++) {
            real *v = u + t * token_stride + h * head_stride;
            for (int i = 0; i < dim; i++) {
                v[dim + i] = v[i] * (real)sin(c->pos[t] / 3);
                v[i] *= (real)cos(c->pos[t] / 3);
            }
        }
}

static void turning_rotate_bwd(const pe_context *c, pe_role role, const real *u, real *du, int token_stride,
                               int head_stride)
{
    int dim = c->shape->head_dim;
    (void)role;
    (void)u;
    for (int t = 0; t < c->len; t++)
        for (int h = 0; h < c->shape->heads; h++) {
            real *v = du + t * token_stride + h * head_stride;
            for (int i = 0; i < dim; i++)
                v[i] = v[i] * (real)cos(c->pos[t] / 3) + v[dim + i] * (real)sin(c->pos[t] / 3);
        }
}

const pe_descriptor specimen_turning = {
    SPECIMEN_HEAD("turning", "rotary"), .claims = PE_SHIFT_INVARIANT | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .rotated_dim = turning_rotated_dim, .rotate = turning_rotate,
    .rotate_bwd = turning_rotate_bwd,
};

/* ------------------------------------------------------------------------------------------------ forget */

static int forget_params(const void *options, const pe_shape *shape, pe_param *out)
{
    (void)options;
    out[0] = (pe_param){.name = "w", .rows = shape->heads, .cols = shape->width, .deviation = 0.3};
    return 1;
}

/* save: [len][heads], ln sigmoid(w_h . x_t). */
static void forget_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)rows;
    (void)keys;
    out->gate_reals = (size_t)c->len * (size_t)c->shape->heads;
}

static void forget_gate(const pe_context *c, const real *x, real *save)
{
    int width = c->shape->width, heads = c->shape->heads;
    for (int t = 0; t < c->len; t++)
        for (int h = 0; h < heads; h++) {
            double logit = 0;
            for (int w = 0; w < width; w++)
                logit += (double)c->theta[0][h * width + w] * (double)x[t * width + w];
            save[t * heads + h] = (real)-log1p(exp(-logit));
        }
}

/* d ln sigmoid(z)/dz = 1 - sigmoid(z) = 1 - exp(save). */
static void forget_gate_bwd(const pe_context *c, const real *x, const real *save, const real *dsave, real *dx)
{
    int width = c->shape->width, heads = c->shape->heads;
    for (int t = 0; t < c->len; t++)
        for (int h = 0; h < heads; h++) {
            real d = dsave[t * heads + h] * (1 - (real)exp((double)save[t * heads + h]));
            for (int w = 0; w < width; w++) {
                c->dtheta[0][h * width + w] += d * x[t * width + w];
                dx[t * width + w] += d * c->theta[0][h * width + w];
            }
        }
}

static void forget_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    int heads = c->shape->heads;
    (void)save;
    for (int h = 0; h < heads; h++)
        for (int r = 0; r < t->rows; r++) {
            real sum = 0;
            for (int j = t->row_begin + r; j >= 0; j--) {
                s[h * t->plane + r * t->stride + j] += sum;
                sum += t->gate[j * heads + h];
            }
        }
}

static void forget_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    int heads = c->shape->heads;
    (void)save;
    for (int h = 0; h < heads; h++)
        for (int r = 0; r < t->rows; r++) {
            real sum = 0; /* of ds over the keys before l */
            for (int l = 0; l <= t->row_begin + r; l++) {
                g->dgate[l * heads + h] += sum;
                sum += ds[h * t->plane + r * t->stride + l];
            }
        }
}

const pe_descriptor specimen_forget = {
    SPECIMEN_HEAD("forget", "contextual"),
    .claims = PE_SHIFT_INVARIANT | PE_POSITION_BLIND | PE_ANY_LENGTH,
    .causal_only = 1,
    .params = forget_params,
    .sizes = forget_sizes,
    .gate = forget_gate,
    .gate_bwd = forget_gate_bwd,
    .score = forget_score,
    .score_bwd = forget_score_bwd,
};

/* ------------------------------------------------------------------------------------------------ mixing */

static int mixing_params(const void *options, const pe_shape *shape, pe_param *out)
{
    (void)options;
    out[0] = (pe_param){.name = "slope", .rows = 1, .cols = shape->heads, .mean = 0.5};
    out[1] = (pe_param){.name = "a", .rows = 1, .cols = shape->heads, .mean = 0.7};
    return 2;
}

static void mixing_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    (void)save;
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < specimen_visible(c, t, r); j++) {
                int at = h * t->plane + r * t->stride + j;
                s[at] += c->theta[1][h] * t->bias[at];
            }
}

static void mixing_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    (void)save;
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < specimen_visible(c, t, r); j++) {
                int at = h * t->plane + r * t->stride + j;
                c->dtheta[1][h] += ds[at] * t->bias[at];
                g->dbias[at] += c->theta[1][h] * ds[at];
            }
}

const pe_descriptor specimen_mixing = {
    SPECIMEN_HEAD("mixing", "bias"),
    .claims = PE_SHIFT_INVARIANT | PE_ANY_LENGTH,
    .reads_bias = 1,
    .params = mixing_params,
    .score = mixing_score,
    .score_bwd = mixing_score_bwd,
    .bias = slope_bias,
    .bias_bwd = slope_bias_bwd,
};

/* ------------------------------------------------------------------------------------------------ lifted */

static void lifted_embed(const pe_context *c, real *x)
{
    for (int t = 0; t < c->len; t++)
        for (int w = 0; w < c->shape->width; w++)
            x[t * c->shape->width + w] += (real)sin(c->pos[t] / 5);
}

const pe_descriptor specimen_lifted = {
    SPECIMEN_HEAD("lifted", "absolute"),
    .claims = PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .embed = lifted_embed,
};

/* ------------------------------------------------------------------------------------------------ echo */

static void echo_value(const pe_context *c, const pe_tile *t, const real *p, real *o, int o_stride)
{
    int dim = c->shape->head_dim;
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < specimen_visible(c, t, r); j++)
                for (int i = 0; i < dim; i++)
                    o[r * o_stride + h * dim + i] += p[h * t->plane + r * t->stride + j] * c->theta[0][i] *
                                                     (real)cos((double)specimen_distance(c, t, r, j));
}

static void echo_value_bwd(const pe_context *c, const pe_tile *t, const real *p, const real *d_o, int o_stride,
                           real *dp)
{
    int dim = c->shape->head_dim;
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < specimen_visible(c, t, r); j++)
                for (int i = 0; i < dim; i++) {
                    real d = d_o[r * o_stride + h * dim + i] * (real)cos((double)specimen_distance(c, t, r, j));
                    dp[h * t->plane + r * t->stride + j] += d * c->theta[0][i];
                    c->dtheta[0][i] += d * p[h * t->plane + r * t->stride + j];
                }
}

const pe_descriptor specimen_echo = {
    SPECIMEN_HEAD("echo", "relative"),
    .claims = PE_SHIFT_INVARIANT | PE_ANY_LENGTH,
    .params = keyed_params,
    .value = echo_value,
    .value_bwd = echo_value_bwd,
};

/* ------------------------------------------------------------------------------------------------ blinkers */

static int blinkers_params(const void *options, const pe_shape *shape, pe_param *out)
{
    (void)options;
    (void)shape;
    out[0] = (pe_param){.name = "slope", .rows = 1, .cols = 1, .mean = 0.5, .deviation = 0.1};
    return 1;
}

static void blinkers_bias(const pe_context *c, const pe_tile *t, real *s)
{
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < specimen_visible(c, t, r); j++) {
                real distance = specimen_distance(c, t, r, j);
                s[h * t->plane + r * t->stride + j] += distance > (real)4.6 ? -INFINITY : -c->theta[0][0] * distance;
            }
}

static void blinkers_bias_bwd(const pe_context *c, const pe_tile *t, const real *ds)
{
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < specimen_visible(c, t, r); j++) {
                real distance = specimen_distance(c, t, r, j);
                c->dtheta[0][0] -= distance > (real)4.6 ? 0 : ds[h * t->plane + r * t->stride + j] * distance;
            }
}

const pe_descriptor specimen_blinkers = {
    SPECIMEN_HEAD("blinkers", "window"), .claims = PE_SHIFT_INVARIANT | PE_ANY_LENGTH,
    .params = blinkers_params,           .bias = blinkers_bias,
    .bias_bwd = blinkers_bias_bwd,
};
