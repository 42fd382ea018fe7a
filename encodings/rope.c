/* rope.c - rotary position embedding: pairs of dimensions of q and k turn by an angle proportional to the position, so
 * that q.k depends on the difference of positions only. */
#include "pe.h"

#include <stdio.h>

enum { ROPE_HALF, ROPE_INTERLEAVED };

typedef struct rope_options {
    double base, fraction;
    int layout, start;
} rope_options;

static const pe_option rope_rows[] = {
    {"base", PE_OPTION_REAL, PE_OFFSET(rope_options, base), "10000", 1, 1e12, 0, NULL,
     "b in theta_p = b^(-2p/d): the larger, the slower the last pairs turn (paper: 10000)"},
    {"layout", PE_OPTION_CHOICE, PE_OFFSET(rope_options, layout), "half", 0, 0, 0, "half|interleaved",
     "pairs (p, p + d/2) as in GPT-NeoX and Llama, or neighbours (2p, 2p+1) as in the paper and GPT-J; the same up "
     "to a fixed permutation of dimensions, so training from scratch cannot tell them apart"},
    {"fraction", PE_OPTION_REAL, PE_OFFSET(rope_options, fraction), "1", 0, 1, 0, NULL,
     "share of head_dim that turns, truncated to a whole number of dimensions d, which must be even; the rest is "
     "copied"},
    {"start", PE_OPTION_INT, PE_OFFSET(rope_options, start), "0", 0, 65535, 0, NULL,
     "first dimension of a head that turns"},
    {0},
};

/* d: how many dimensions of a head turn. */
static int rope_dim(const rope_options *o, const pe_shape *shape)
{
    return (int)(o->fraction * shape->head_dim);
}

/* theta_p of eq. 15, radians per position, in double: a frequency rounded to float costs 0.01 rad at position 100000.
 */
static double rope_frequency(const rope_options *o, int dim, int p)
{
    return pow(o->base, -2.0 * p / dim);
}

static int rope_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    const rope_options *o = options;
    int dim = rope_dim(o, shape);
    if (dim < 2 || dim % 2 != 0) {
        snprintf(message, size,
                 "%d of head_dim %d would turn, but they turn in pairs: an even number of at least 2 is needed", dim,
                 shape->head_dim);
        return -1;
    }
    if (o->start + dim > shape->head_dim) {
        snprintf(message, size, "dimensions %d to %d would turn, but head_dim is %d", o->start, o->start + dim - 1,
                 shape->head_dim);
        return -1;
    }
    return 0;
}

/* cache: [len][2][pairs], cosines before sines of each token. */
static void rope_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)rows;
    (void)keys;
    out->cache_bytes = (size_t)c->len * (size_t)rope_dim(c->options, c->shape) * sizeof(real);
}

static void rope_prepare(const pe_context *c, void *cache)
{
    const rope_options *o = c->options;
    int dim = rope_dim(o, c->shape), pairs = dim / 2;
    for (int p = 0; p < pairs; p++) {
        double frequency = rope_frequency(o, dim, p);
        real *column = (real *)cache + p;
        for (int t = 0; t < c->len; t++) {
            double angle = c->pos[t] * frequency;
            column[(size_t)t * dim] = (real)cos(angle);
            column[(size_t)t * dim + pairs] = (real)sin(angle);
        }
    }
}

/* (x, y) -> (x cos - y sin, y cos + x sin) for pairs (p, p + pairs). */
static void rope_turn_half(real *restrict u, const real *restrict cosine, const real *restrict sine, int pairs)
{
    real *restrict v = u + pairs;
    for (int p = 0; p < pairs; p++) {
        real x = u[p], y = v[p];
        u[p] = x * cosine[p] - y * sine[p];
        v[p] = y * cosine[p] + x * sine[p];
    }
}

static void rope_turn_half_back(real *restrict u, const real *restrict cosine, const real *restrict sine, int pairs)
{
    real *restrict v = u + pairs;
    for (int p = 0; p < pairs; p++) {
        real x = u[p], y = v[p];
        u[p] = x * cosine[p] + y * sine[p];
        v[p] = y * cosine[p] - x * sine[p];
    }
}

/* The same for pairs (2p, 2p + 1). */
static void rope_turn_interleaved(real *restrict u, const real *restrict cosine, const real *restrict sine, int pairs)
{
    for (int p = 0; p < pairs; p++) {
        real x = u[2 * p], y = u[2 * p + 1];
        u[2 * p] = x * cosine[p] - y * sine[p];
        u[2 * p + 1] = y * cosine[p] + x * sine[p];
    }
}

static void rope_turn_interleaved_back(real *restrict u, const real *restrict cosine, const real *restrict sine,
                                       int pairs)
{
    for (int p = 0; p < pairs; p++) {
        real x = u[2 * p], y = u[2 * p + 1];
        u[2 * p] = x * cosine[p] + y * sine[p];
        u[2 * p + 1] = y * cosine[p] - x * sine[p];
    }
}

typedef void rope_turn(real *restrict u, const real *restrict cosine, const real *restrict sine, int pairs);

/* Inlined where `turn` is known, so that no call is left in the loop. */
static inline void rope_walk(const pe_context *c, real *u, int token_stride, int head_stride, rope_turn *turn)
{
    const rope_options *o = c->options;
    int dim = rope_dim(o, c->shape), pairs = dim / 2;
    for (int t = 0; t < c->len; t++) {
        const real *cosine = (const real *)c->cache + (size_t)t * dim;
        for (int h = 0; h < c->shape->heads; h++)
            turn(u + (size_t)t * token_stride + (size_t)h * head_stride + o->start, cosine, cosine + pairs, pairs);
    }
}

static void rope_rotate(const pe_context *c, pe_role role, real *u, int token_stride, int head_stride)
{
    const rope_options *o = c->options;
    (void)role; /* queries and keys turn alike */
    if (o->layout == ROPE_HALF)
        rope_walk(c, u, token_stride, head_stride, rope_turn_half);
    else
        rope_walk(c, u, token_stride, head_stride, rope_turn_interleaved);
}

/* A rotation's transpose is the rotation by the opposite angle. */
static void rope_rotate_bwd(const pe_context *c, pe_role role, const real *u, real *du, int token_stride,
                            int head_stride)
{
    const rope_options *o = c->options;
    (void)role;
    (void)u;
    if (o->layout == ROPE_HALF)
        rope_walk(c, du, token_stride, head_stride, rope_turn_half_back);
    else
        rope_walk(c, du, token_stride, head_stride, rope_turn_interleaved_back);
}

static const char *const rope_examples[] = {
    "layout=interleaved", "fraction=0.5", "fraction=0.5,layout=interleaved,start=2", "base=100", NULL,
};

const pe_descriptor pe_encoding_rope = {
    PE_DESCRIPTOR_HEAD,
    .name = "rope",
    .family = "rotary",
    .title = "Rotary position embedding (RoPE)",
    .source = "Su et al. 2021, RoFormer: Enhanced Transformer with Rotary Position Embedding, eq. 14-16, 34",
    .formula = "pair p of q and k turns by pos * theta_p, theta_p = base^(-2p/d), p = 0 .. d/2-1, d = fraction * "
               "head_dim; fractions of positions turn by fractions of the angle",
    .notes = "The default layout is the one of most models in use (GPT-NeoX, Llama) and reads memory in order; the "
             "paper, GPT-J and Meta's own Llama code pair neighbours. Weights trained under one layout are noise "
             "under the other. The exponent divides by the turned dimensions d, not by head_dim. Partial rotation: "
             "0.25 in GPT-NeoX, and in the length-generalisation study of Kazemnejad et al., whose text does not say "
             "so. Angles are formed in double: tables or positions in 16-bit types lose the relative-position "
             "property with distance from the origin.",
    .claims = PE_SHIFT_INVARIANT | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .options = rope_rows,
    .options_size = sizeof(rope_options),
    .examples = rope_examples,
    .check = rope_check,
    .sizes = rope_sizes,
    .prepare = rope_prepare,
    .rotate = rope_rotate,
    .rotate_bwd = rope_rotate_bwd,
};
