/* pope.c - polar coordinate positions: a projected number is a magnitude only and its phase is the position's, so that
 * what is matched and where it is matched do not mix. */
#include "pe.h"

enum { POPE_ZEROS, POPE_UNIFORM };
enum { POPE_CHUNK = 64 }; /* dimensions whose phases stand on the stack at a time */

typedef struct pope_options {
    double base;
    int bias, start;
} pope_options;

static const pe_option pope_rows[] = {
    {"base", PE_OPTION_REAL, PE_OFFSET(pope_options, base), "10000", 1, 1e12, 0, NULL,
     "b in theta_c = b^(-c/head_dim), a frequency for each dimension"},
    {"bias", PE_OPTION_BOOL, PE_OFFSET(pope_options, bias), "true", 0, 0, 0, NULL,
     "true: each head and dimension of the keys learns a phase, between -2 pi and 0"},
    {"start", PE_OPTION_CHOICE, PE_OFFSET(pope_options, start), "zeros", 0, 0, 0, "zeros|uniform",
     "learned phases start at 0, or anywhere between -2 pi and 0"},
    {0},
};

static unsigned pope_claims_with(const void *options)
{
    const pope_options *o = options;
    return PE_SHIFT_INVARIANT | PE_ANY_LENGTH | (o->bias ? 0 : PE_PARAMETER_FREE);
}

static int pope_rotated_dim(const void *options, const pe_shape *shape)
{
    (void)options;
    return 2 * shape->head_dim;
}

/* bias: [heads][head_dim] */
static int pope_params(const void *options, const pe_shape *shape, pe_param *out)
{
    const pope_options *o = options;
    double middle = o->start == POPE_UNIFORM ? -M_PI : 0;
    out[0] = (pe_param){.name = "bias",
                        .rows = shape->heads,
                        .cols = shape->head_dim,
                        .mean = middle,
                        .deviation = -middle,
                        .init = PE_INIT_UNIFORM,
                        .per_layer = 1};
    return o->bias ? 1 : 0;
}

/* cache: [len][2][head_dim], cosines before sines of each token. */
static void pope_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)rows;
    (void)keys;
    out->cache_bytes = (size_t)c->len * 2 * (size_t)c->shape->head_dim * sizeof(real);
}

static void pope_prepare(const pe_context *c, void *cache)
{
    const pope_options *o = c->options;
    int dim = c->shape->head_dim;
    for (int i = 0; i < dim; i++) {
        double frequency = pow(o->base, -(double)i / dim);
        for (int t = 0; t < c->len; t++) {
            real *row = (real *)cache + (size_t)t * 2 * dim + i;
            row[0] = (real)cos(c->pos[t] * frequency);
            row[dim] = (real)sin(c->pos[t] * frequency);
        }
    }
}

#ifdef PE_REAL_DOUBLE

/* ln(1 + e^x), without overflow. */
static inline real pope_softplus(real x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

/* 1 - e^-m, which is the derivative of softplus where it is m. */
static inline real pope_slope(real m)
{
    return -expm1(-m);
}

#else

/* The same without calls, so that loops over dimensions become vector code. For x <= 0: e^x = power * (1 + rest), power
 * a power of two; x = n ln 2 + r, |r| <= ln(2)/2, ln 2 in two parts, and rest = e^r - 1 by its series. */
static inline void pope_split_exp(float x, float *power, float *rest)
{
    const float rounding = 12582912; /* 1.5 * 2^23: adding it leaves no fraction */
    float bounded = x < -87 ? -87 : x;
    float n = (bounded * 1.44269504f + rounding) - rounding;
    float r = (bounded - n * 0.693359375f) + n * 2.12194440e-4f;
    float tail = 1 / 120.0f + r * (1 / 720.0f + r * (1 / 5040.0f));
    *rest = r + r * r * (0.5f + r * (1 / 6.0f + r * (1 / 24.0f + r * tail)));
    int bits = ((int)n + 127) << 23;
    memcpy(power, &bits, sizeof bits);
}

/* ln(1 + e) = 2 artanh(z), z = e/(2 + e) <= 1/3, by its series. */
static inline real pope_softplus(real x)
{
    float power, rest;
    pope_split_exp(x < 0 ? x : -x, &power, &rest);
    float e = power + power * rest, z = e / (2 + e), w = z * z;
    float tail = 1 / 9.0f + w * (1 / 11.0f + w * (1 / 13.0f + w * (1 / 15.0f)));
    return (x > 0 ? x : 0) + 2 * z * (1 + w * (1 / 3.0f + w * (1 / 5.0f + w * (1 / 7.0f + w * tail))));
}

static inline real pope_slope(real m)
{
    float power, rest;
    pope_split_exp(m > 0 ? -m : 0, &power, &rest);
    return (1 - power) - power * rest;
}

#endif

/* Some dimensions of one head: the phase that keys have besides their position's, as cosine and sine. */
typedef struct pope_phase {
    real cosine[POPE_CHUNK], sine[POPE_CHUNK];
    int learning[POPE_CHUNK]; /* 0: clamped, and no gradient passes; at the bounds themselves it does */
} pope_phase;

static void pope_find_phase(const pe_context *c, pe_role role, int head, int begin, int count, pope_phase *out)
{
    const pope_options *o = c->options;
    const real *bias = o->bias && role == PE_KEY ? c->theta[0] + (size_t)head * c->shape->head_dim + begin : NULL;
    const double least = (double)(real)(-2 * M_PI);
    for (int i = 0; i < count; i++) {
        double clamped = bias ? fmin(fmax((double)bias[i], least), 0) : 0;
        out->cosine[i] = (real)cos(clamped);
        out->sine[i] = (real)sin(clamped);
        out->learning[i] = bias && (double)bias[i] == clamped;
    }
}

/* x[count] -> m cos, and [head_dim] further on m sin; cosine and sine are the position's. */
static void pope_widen(real *restrict x, int dim, const real *restrict cosine, const pope_phase *restrict phase,
                       int count)
{
    const real *sine = cosine + dim;
#pragma omp simd
    for (int i = 0; i < count; i++) {
        real m = pope_softplus(x[i]);
        x[i] = m * (cosine[i] * phase->cosine[i] - sine[i] * phase->sine[i]);
        x[dim + i] = m * (sine[i] * phase->cosine[i] + cosine[i] * phase->sine[i]);
    }
}

/* u: what pope_widen left. Its two numbers are m times a known direction, so m is their projection on it. Moving the
 * phase moves (x, y) along (-y, x): slope[count] += that gradient. */
static void pope_widen_bwd(const real *restrict u, real *restrict du, int dim, const real *restrict cosine,
                           const pope_phase *restrict phase, int count, double *restrict slope)
{
    const real *sine = cosine + dim;
#pragma omp simd
    for (int i = 0; i < count; i++) {
        real c = cosine[i] * phase->cosine[i] - sine[i] * phase->sine[i];
        real s = sine[i] * phase->cosine[i] + cosine[i] * phase->sine[i];
        real x = u[i], y = u[dim + i], dx = du[i], dy = du[dim + i];
        slope[i] += (double)x * dy - (double)y * dx;
        du[i] = (dx * c + dy * s) * pope_slope(x * c + y * s);
    }
}

static void pope_rotate(const pe_context *c, pe_role role, real *u, int token_stride, int head_stride)
{
    int dim = c->shape->head_dim;
    pope_phase phase;
    for (int h = 0; h < c->shape->heads; h++)
        for (int begin = 0; begin < dim; begin += POPE_CHUNK) {
            int count = dim - begin < POPE_CHUNK ? dim - begin : POPE_CHUNK;
            pope_find_phase(c, role, h, begin, count, &phase);
            for (int t = 0; t < c->len; t++)
                pope_widen(u + (size_t)t * token_stride + (size_t)h * head_stride + begin, dim,
                           (const real *)c->cache + (size_t)t * 2 * dim + begin, &phase, count);
        }
}

static void pope_rotate_bwd(const pe_context *c, pe_role role, const real *u, real *du, int token_stride,
                            int head_stride)
{
    const pope_options *o = c->options;
    int dim = c->shape->head_dim;
    pope_phase phase;
    for (int h = 0; h < c->shape->heads; h++)
        for (int begin = 0; begin < dim; begin += POPE_CHUNK) {
            int count = dim - begin < POPE_CHUNK ? dim - begin : POPE_CHUNK;
            double slope[POPE_CHUNK] = {0};
            pope_find_phase(c, role, h, begin, count, &phase);
            for (int t = 0; t < c->len; t++) {
                size_t at = (size_t)t * token_stride + (size_t)h * head_stride + (size_t)begin;
                pope_widen_bwd(u + at, du + at, dim, (const real *)c->cache + (size_t)t * 2 * dim + begin, &phase,
                               count, slope);
            }
            for (int i = 0; o->bias && i < count; i++)
                if (phase.learning[i])
                    c->dtheta[0][(size_t)h * dim + begin + i] += (real)slope[i];
        }
}

static const char *const pope_examples[] = {"start=uniform", "bias=false", "base=100", NULL};

const pe_descriptor pe_encoding_pope = {
    PE_DESCRIPTOR_HEAD,
    .name = "pope",
    .family = "rotary",
    .title = "Polar coordinate position embedding (PoPE)",
    .source = "Gopalakrishnan et al. 2025, Decoupling the \"What\" and \"Where\" With Polar Coordinate Positional "
              "Embeddings (arXiv 2509.10534); lucidrains/x-transformers, PolarEmbedding",
    .formula = "q.k = sum over c of softplus(q_c) softplus(k_c) cos((pos_j - pos_i) theta_c + delta_c), theta_c = "
               "base^(-c/head_dim), c = 0 .. head_dim-1, delta_c = bias clamped to [-2 pi, 0]; fractions of positions "
               "turn by fractions of the angle",
    .notes = "Queries and keys become vectors of 2 head_dim: twice the work of q.k, and members of a stack that read q "
             "or k as head_dim numbers are refused. The scale stays 1/sqrt(head_dim), as in x-transformers. There one "
             "bias serves all layers; here each has its own. The clamp is that of torch: no gradient outside, all of "
             "it at the bounds, so a bias that has left cannot come back by its own gradient. No pairs: head_dim may "
             "be odd.",
    .claims = PE_SHIFT_INVARIANT | PE_ANY_LENGTH,
    .options = pope_rows,
    .options_size = sizeof(pope_options),
    .examples = pope_examples,
    .claims_with = pope_claims_with,
    .params = pope_params,
    .sizes = pope_sizes,
    .prepare = pope_prepare,
    .rotated_dim = pope_rotated_dim,
    .rotate = pope_rotate,
    .rotate_bwd = pope_rotate_bwd,
    .bibtex = "@misc{gopalakrishnan2025decoupling, title = {Decoupling the ``What'' and ``Where'' With Polar "
              "Coordinate Positional Embeddings}, author = {Gopalakrishnan, Anand and Csord{\\'a}s, R{\\'o}bert and "
              "Schmidhuber, J{\\\"u}rgen and Mozer, Michael C.}, year = {2025}, eprint = {2509.10534}, archiveprefix "
              "= {arXiv}}",
};
