/* xpos.c - extrapolatable rotary positions: a rotation whose pairs also grow in queries and shrink in keys, so that
 * scores decay with the distance. */
#include "pe.h"

#include <stdio.h>

enum { XPOS_INTERLEAVED, XPOS_HALF };

/* Largest power of two that a factor may reach: float ends at 2^128, and vectors need some of it. */
enum { XPOS_BITS = 100 };

typedef struct xpos_options {
    double base, gamma, scale_base, fraction;
    int layout;
} xpos_options;

static const pe_option xpos_rows[] = {
    {"base", PE_OPTION_REAL, PE_OFFSET(xpos_options, base), "10000", 1, 1e12, 0, NULL,
     "b in theta_p = b^(-2p/d), as in RoPE"},
    {"gamma", PE_OPTION_REAL, PE_OFFSET(xpos_options, gamma), "0.4", 0.001, 1000, 0, NULL,
     "in zeta_p = (2p/d + gamma) / (1 + gamma): the larger, the weaker the decay (paper: 0.4)"},
    {"scale_base", PE_OPTION_REAL, PE_OFFSET(xpos_options, scale_base), "512", 1, 1e9, 0, NULL,
     "distance at which pair p has decayed to zeta_p (paper: 512)"},
    {"layout", PE_OPTION_CHOICE, PE_OFFSET(xpos_options, layout), "interleaved", 0, 0, 0, "interleaved|half",
     "pairs (2p, 2p+1) as in the paper and its code, or (p, p + d/2); equal but for a permutation of dimensions"},
    {"fraction", PE_OPTION_REAL, PE_OFFSET(xpos_options, fraction), "1", 0, 1, 0, NULL,
     "share of head_dim that turns and decays, truncated to d dimensions, an even number; the rest is copied"},
    {0},
};

static int xpos_dim(const xpos_options *o, const pe_shape *shape)
{
    return (int)(o->fraction * shape->head_dim);
}

static int xpos_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    int dim = xpos_dim(options, shape);
    if (dim > 0 && dim % 2 == 0)
        return 0;
    snprintf(message, size, "%d of head_dim %d would turn, but they turn in pairs: an even number, at least 2", dim,
             shape->head_dim);
    return -1;
}

/* ln zeta_p, negative; of pair 0 the least: it decays fastest. */
static double xpos_log_zeta(const xpos_options *o, int dim, int p)
{
    return log((2.0 * p / dim + o->gamma) / (1 + o->gamma));
}

/* The distance at which the factors of pair 0 are 2^-100 and 2^100. */
static double xpos_last_position(const void *options, const pe_shape *shape)
{
    const xpos_options *o = options;
    return XPOS_BITS * log(2) * o->scale_base / -xpos_log_zeta(o, xpos_dim(o, shape), 0);
}

/* Where both factors are 1. It cancels in q.k, so it only has to keep factors small, and to be the same for a sequence
 * and its beginning. */
static double xpos_center(const pe_context *c)
{
    return c->pos[0] + fmin(floor(c->total_len / 2.0), xpos_last_position(c->options, c->shape));
}

/* cache: [len][4][pairs] of each token: cosines and sines for a query, then for a key. */
static void xpos_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)rows;
    (void)keys;
    out->cache_bytes = (size_t)c->len * 2 * (size_t)xpos_dim(c->options, c->shape) * sizeof(real);
}

static void xpos_prepare(const pe_context *c, void *cache)
{
    const xpos_options *o = c->options;
    int dim = xpos_dim(o, c->shape), pairs = dim / 2;
    double center = xpos_center(c);
    for (int p = 0; p < pairs; p++) {
        double frequency = pow(o->base, -2.0 * p / dim), rate = xpos_log_zeta(o, dim, p) / o->scale_base;
        for (int t = 0; t < c->len; t++) {
            double angle = c->pos[t] * frequency, factor = exp(rate * (c->pos[t] - center));
            real *row = (real *)cache + (size_t)t * 2 * dim + p;
            row[0] = (real)(cos(angle) * factor);
            row[pairs] = (real)(sin(angle) * factor);
            row[2 * pairs] = (real)(cos(angle) / factor);
            row[3 * pairs] = (real)(sin(angle) / factor);
        }
    }
}

/* Pairs (u[p*step], u[p*step + gap]): (x, y) -> (x cos - y sin, y cos + x sin); sign -1: the transpose of that. Inlined
 * where step, gap and sign are known. */
static inline void xpos_turn(real *restrict u, const real *restrict cosine, const real *restrict sine, int pairs,
                             int step, int gap, real sign)
{
#pragma omp simd
    for (int p = 0; p < pairs; p++) {
        real x = u[p * step], y = u[p * step + gap], s = sign * sine[p];
        u[p * step] = x * cosine[p] - y * s;
        u[p * step + gap] = y * cosine[p] + x * s;
    }
}

static inline void xpos_walk(const pe_context *c, pe_role role, real *u, int token_stride, int head_stride, int layout,
                             real sign)
{
    int dim = xpos_dim(c->options, c->shape), pairs = dim / 2;
    for (int t = 0; t < c->len; t++) {
        const real *cosine = (const real *)c->cache + (size_t)t * 2 * dim + (role == PE_KEY ? dim : 0);
        for (int h = 0; h < c->shape->heads; h++)
            xpos_turn(u + (size_t)t * token_stride + (size_t)h * head_stride, cosine, cosine + pairs, pairs,
                      layout == XPOS_HALF ? 1 : 2, layout == XPOS_HALF ? pairs : 1, sign);
    }
}

static void xpos_rotate(const pe_context *c, pe_role role, real *u, int token_stride, int head_stride)
{
    const xpos_options *o = c->options;
    if (o->layout == XPOS_HALF)
        xpos_walk(c, role, u, token_stride, head_stride, XPOS_HALF, 1);
    else
        xpos_walk(c, role, u, token_stride, head_stride, XPOS_INTERLEAVED, 1);
}

static void xpos_rotate_bwd(const pe_context *c, pe_role role, const real *u, real *du, int token_stride,
                            int head_stride)
{
    const xpos_options *o = c->options;
    (void)u;
    if (o->layout == XPOS_HALF)
        xpos_walk(c, role, du, token_stride, head_stride, XPOS_HALF, -1);
    else
        xpos_walk(c, role, du, token_stride, head_stride, XPOS_INTERLEAVED, -1);
}

static const char *const xpos_examples[] = {
    "layout=half", "scale_base=16", "gamma=1,base=100", "fraction=0.5", "fraction=0.5,layout=half", NULL,
};

const pe_descriptor pe_encoding_xpos = {
    PE_DESCRIPTOR_HEAD,
    .name = "xpos",
    .family = "rotary",
    .title = "Extrapolatable rotary position embedding (xPos)",
    .source = "Sun et al. 2023, A Length-Extrapolatable Transformer, and torchscale, xpos_relative_position",
    .formula = "RoPE's rotation, and pair p of q times zeta_p^(pos/scale_base), of k times zeta_p^(-pos/scale_base), "
               "zeta_p = (2p/d + gamma) / (1 + gamma): the pair's part of q.k decays by zeta_p^(distance/scale_base). "
               "Fractions of positions turn and decay by fractions",
    .notes = "Needs a causal mask and positions that do not decrease: towards the future the decay would be growth. "
             "Factors count from a centre, which cancels in q.k: torchscale takes ceil(n/2) of n tokens, "
             "lucidrains's packages floor(n/2); here floor(n/2) after the first position, n being the length that the "
             "sequence will have when it is complete, so that keys need not be scaled again as it grows. Apart from "
             "each other the factors leave the range of float long before their product does: positions count up to "
             "where they reach 2^100, 28328 by default. The paper pairs this with blockwise causal attention at test "
             "time, which is not part of it here.",
    .claims = PE_SHIFT_INVARIANT | PE_PARAMETER_FREE,
    .causal_only = 1,
    .needs_order = 1, /* scores grow where a key's position is ahead of the query's */
    .options = xpos_rows,
    .options_size = sizeof(xpos_options),
    .examples = xpos_examples,
    .check = xpos_check,
    .last_position = xpos_last_position,
    .sizes = xpos_sizes,
    .prepare = xpos_prepare,
    .rotate = xpos_rotate,
    .rotate_bwd = xpos_rotate_bwd,
    .bibtex = "@inproceedings{sun2023length, title = {A Length-Extrapolatable Transformer}, author = {Sun, Yutao and "
              "Dong, Li and Patra, Barun and Ma, Shuming and Huang, Shaohan and Benhaim, Alon and Chaudhary, Vishrav "
              "and Song, Xia and Wei, Furu}, booktitle = {Proceedings of the 61st Annual Meeting of the Association "
              "for Computational Linguistics (Volume 1: Long Papers)}, year = {2023}, eprint = {2212.10554}, "
              "archiveprefix = {arXiv}}",
};
