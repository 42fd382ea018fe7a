/* rope.c - rotary position embedding: pairs of dimensions of q and k turn by an angle proportional to the position, so
 * that q.k depends on the difference of positions only. A scaling changes the pairs' frequencies for sequences that are
 * longer than those of training: one small function each. */
#include "pe.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROPE_HALF, ROPE_INTERLEAVED };
enum { ROPE_FIXED, ROPE_LEARNED, ROPE_PER_HEAD };
enum { ROPE_BY_INDEX, ROPE_BY_WAVELENGTH, ROPE_BY_INDEX_GGML };
enum { ROPE_NONE, ROPE_LINEAR, ROPE_NTK, ROPE_DYNAMIC, ROPE_YARN, ROPE_LLAMA3, ROPE_LONGROPE, ROPE_LONGROPE_DYNAMIC };
enum { ROPE_CHUNK = 64 }; /* pairs whose angles stand on the stack at a time */

typedef struct rope_options {
    double base, fraction, keep;
    int layout, start, frequencies, scaling;
    int original, ramp, truncate, unscaled; /* this and all that follows: of scalings, see rope_scalings */
    double factor, alpha, beta_fast, beta_slow, extrapolation_factor, attention_factor, mscale, mscale_all_dim;
    double low_freq_factor, high_freq_factor;
    pe_list short_factor, long_factor;
} rope_options;

static const pe_option rope_rows[] = {
    {"base", PE_OPTION_REAL, PE_OFFSET(rope_options, base), "10000", 1, 1e12, 0, NULL,
     "b in theta_p = b^(-2p/d): the larger, the slower the last pairs turn (paper: 10000)"},
    {"layout", PE_OPTION_CHOICE, PE_OFFSET(rope_options, layout), "half", 0, 0, 0, "half|interleaved",
     "pairs (p, p + d/2) as in GPT-NeoX and Llama, or (2p, 2p+1) as in the paper and GPT-J: equal but for a fixed "
     "permutation of dimensions, so training from scratch cannot tell them apart"},
    {"fraction", PE_OPTION_REAL, PE_OFFSET(rope_options, fraction), "1", 0, 1, 0, NULL,
     "share of head_dim that turns, truncated to d dimensions, an even number; the rest is copied"},
    {"start", PE_OPTION_INT, PE_OFFSET(rope_options, start), "0", 0, 65535, 0, NULL, "first dimension that turns"},
    {"keep", PE_OPTION_REAL, PE_OFFSET(rope_options, keep), "1", 0, 1, 0, NULL,
     "p of p-RoPE: share of pairs, rounded down, that have an angle, the fastest ones; 0 for the rest (paper: 0.75)"},
    {"frequencies", PE_OPTION_CHOICE, PE_OFFSET(rope_options, frequencies), "fixed", 0, 0, 0, "fixed|learned|per_head",
     "learned: each layer trains one for each pair; per_head: for each pair and head. They start as the fixed ones"},
    {"scaling", PE_OPTION_CHOICE, PE_OFFSET(rope_options, scaling), "none", 0, 0, 0,
     "none|linear|ntk|dynamic|yarn|llama3|longrope|longrope_dynamic",
     "how frequencies change for longer sequences; options that the chosen one does not use must be left as they are"},
    {"factor", PE_OPTION_REAL, PE_OFFSET(rope_options, factor), "4", 0.001, 1e6, 0, NULL,
     "s, how many times longer sequences become (position interpolation: 4, from 2048 to 8192 tokens)"},
    {"original", PE_OPTION_INT, PE_OFFSET(rope_options, original), "auto", 1, 1e9, 1, NULL,
     "L, the length that the frequencies were made for; auto: that of the longest training sequence"},
    {"alpha", PE_OPTION_REAL, PE_OFFSET(rope_options, alpha), "8", 0.001, 1e6, 0, NULL,
     "ntk: base becomes base * alpha^(d/(d-2)); to be set above the real ratio of lengths, hence 8 beside factor's 4"},
    {"ramp", PE_OPTION_CHOICE, PE_OFFSET(rope_options, ramp), "by_index", 0, 0, 0,
     "by_index|by_wavelength|by_index_ggml",
     "yarn: in the pair's index (released code), in its turns within L (paper), or as ggml does where limits cross"},
    {"beta_fast", PE_OPTION_REAL, PE_OFFSET(rope_options, beta_fast), "32", 0.001, 1e6, 1, NULL,
     "yarn: pairs with more turns within L stay as they are (paper: 32, at L = 4096; below L = 201 no pair has so "
     "many). auto: (L/2pi)^0.535 up to 32, as far between one turn and the most turns possible as 32 is at 4096"},
    {"beta_slow", PE_OPTION_REAL, PE_OFFSET(rope_options, beta_slow), "1", 0.001, 1e6, 0, NULL,
     "yarn: pairs with fewer turns within L are interpolated in full (paper: 1, which suits every L)"},
    {"truncate", PE_OPTION_BOOL, PE_OFFSET(rope_options, truncate), "true", 0, 0, 0, NULL,
     "yarn by index: the ramp's limits are rounded outwards to whole indices, as in the released code"},
    {"extrapolation_factor", PE_OPTION_REAL, PE_OFFSET(rope_options, extrapolation_factor), "1", 0, 1, 0, NULL,
     "yarn: weight of the unscaled part; 0: all pairs are interpolated"},
    {"attention_factor", PE_OPTION_REAL, PE_OFFSET(rope_options, attention_factor), "auto", 0.001, 1000, 1, NULL,
     "m, multiplies q and k: scores grow by m^2; auto: 0.1 ln(s) + 1 (yarn), sqrt(1 + ln(s)/ln(L)) (longrope), else 1"},
    {"mscale", PE_OPTION_REAL, PE_OFFSET(rope_options, mscale), "0", 0, 1000, 0, NULL,
     "yarn: if this and mscale_all_dim are not 0, m = (0.1 mscale ln(s) + 1) / (0.1 mscale_all_dim ln(s) + 1)"},
    {"mscale_all_dim", PE_OPTION_REAL, PE_OFFSET(rope_options, mscale_all_dim), "0", 0, 1000, 0, NULL, "see mscale"},
    {"low_freq_factor", PE_OPTION_REAL, PE_OFFSET(rope_options, low_freq_factor), "1", 0.001, 1e6, 0, NULL,
     "llama3: pairs with fewer turns within L are interpolated in full (Llama 3.1: 1)"},
    {"high_freq_factor", PE_OPTION_REAL, PE_OFFSET(rope_options, high_freq_factor), "4", 0.001, 1e6, 0, NULL,
     "llama3: pairs with more turns within L stay as they are (Llama 3.1: 4)"},
    {"short_factor", PE_OPTION_LIST, PE_OFFSET(rope_options, short_factor), "1", 0.001, 1e6, 0, NULL,
     "longrope: what divides the frequencies in sequences of at most L tokens; one number for each pair, or for all"},
    {"long_factor", PE_OPTION_LIST, PE_OFFSET(rope_options, long_factor), "1", 0.001, 1e6, 0, NULL,
     "longrope: the same in longer ones; the paper finds them by search, so they must be given"},
    {"unscaled", PE_OPTION_INT, PE_OFFSET(rope_options, unscaled), "0", 0, 1e9, 0, NULL,
     "longrope: positions below this one keep the plain frequencies (n^ of the paper, 0 to 256 there)"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ frequencies */

/* How the pairs turn in sequences that will have `length` tokens. */
typedef struct rope_plan {
    const rope_options *o;
    int dim, pairs, kept; /* dimensions that turn, their pairs, those of them with an angle */
    double original, length;
} rope_plan;

static rope_plan rope_describe(const pe_shape *shape, const void *options, int total_len)
{
    const rope_options *o = options;
    rope_plan r = {.o = o, .dim = (int)(o->fraction * shape->head_dim), .length = total_len};
    r.pairs = r.dim / 2;
    r.kept = (int)(o->keep * r.pairs + 1e-9); /* 0.29 of 100 is 29 */
    r.original = o->original == PE_AUTO_INT ? shape->train_len : o->original;
    return r;
}

/* theta_p of eq. 15, radians per position, in double: rounded to float it would cost 0.01 rad at position 100000. */
static double rope_none(const rope_plan *r, int p)
{
    return pow(r->o->base, -2.0 * p / r->dim);
}

static double rope_linear(const rope_plan *r, int p)
{
    return rope_none(r, p) / r->o->factor;
}

/* With another base, which slows the last pair down by `slower` and the first not at all. */
static double rope_slower(const rope_plan *r, int p, double slower)
{
    return pow(r->o->base * pow(slower, r->dim / (r->dim - 2.0)), -2.0 * p / r->dim);
}

static double rope_ntk(const rope_plan *r, int p)
{
    return rope_slower(r, p, r->o->alpha);
}

/* s n/L - (s - 1), written so that it is exactly 1 up to the original length. */
static double rope_dynamic(const rope_plan *r, int p)
{
    return rope_slower(r, p, 1 + r->o->factor * (fmax(r->length / r->original, 1) - 1));
}

/* theta/s where share is 0, theta where it is 1. */
static double rope_blend(const rope_plan *r, int p, double share)
{
    return rope_none(r, p) / r->o->factor * (1 - share) + rope_none(r, p) * share;
}

/* 0 for pairs that turn less than `slow` times within L, 1 for those that turn more than `fast` times. */
static double rope_share_of(const rope_plan *r, int p, double slow, double fast)
{
    return fmin(fmax((r->original * rope_none(r, p) / (2 * M_PI) - slow) / (fast - slow), 0), 1);
}

static double rope_llama3(const rope_plan *r, int p)
{
    return rope_blend(r, p, rope_share_of(r, p, r->o->low_freq_factor, r->o->high_freq_factor));
}

/* The index, as a fraction, of the pair that turns this often within L. */
static double rope_index_of(const rope_plan *r, double turns)
{
    return r->dim * log(r->original / (2 * M_PI * turns)) / (2 * log(r->o->base));
}

static double rope_beta_fast(const rope_plan *r)
{
    double scaled = pow(r->original / (2 * M_PI), log(32) / log(4096 / (2 * M_PI)));
    return r->o->beta_fast == PE_AUTO_REAL ? fmin(32, scaled) : r->o->beta_fast;
}

static double rope_yarn(const rope_plan *r, int p)
{
    const rope_options *o = r->o;
    double fast = rope_beta_fast(r), low = rope_index_of(r, fast), high = rope_index_of(r, o->beta_slow);
    if (o->ramp == ROPE_BY_WAVELENGTH)
        return rope_blend(r, p, rope_share_of(r, p, o->beta_slow, fast) * o->extrapolation_factor);
    low = fmax(o->truncate ? floor(low) : low, 0);
    high = fmin(o->truncate ? ceil(high) : high, r->dim - 1);
    double width = high - low; /* negative when the limits cross: then all pairs stay as they are */
    if (o->ramp == ROPE_BY_INDEX_GGML ? width < 0.001 : width == 0)
        width = 0.001;
    return rope_blend(r, p, (1 - fmin(fmax((p - low) / width, 0), 1)) * o->extrapolation_factor);
}

static double rope_longrope(const rope_plan *r, int p)
{
    const pe_list *list = r->length > r->original ? &r->o->long_factor : &r->o->short_factor;
    return rope_none(r, p) / list->value[list->count == 1 ? 0 : p];
}

static double rope_longrope_dynamic(const rope_plan *r, int p)
{
    const pe_list *list = &r->o->long_factor;
    double progress = (fmax(r->length / r->original, 1) - 1) / (r->o->factor - 1);
    return rope_none(r, p) / (1 + (list->value[list->count == 1 ? 0 : p] - 1) * progress);
}

static const struct {
    const char *name, *uses; /* options, with spaces around each */
    double (*frequency)(const rope_plan *r, int p);
} rope_scalings[] = {
    {"none", " ", rope_none},
    {"linear", " factor attention_factor ", rope_linear},
    {"ntk", " alpha attention_factor ", rope_ntk},
    {"dynamic", " factor original attention_factor ", rope_dynamic},
    {"yarn",
     " factor original ramp beta_fast beta_slow truncate extrapolation_factor attention_factor mscale mscale_all_dim ",
     rope_yarn},
    {"llama3", " factor original low_freq_factor high_freq_factor attention_factor ", rope_llama3},
    {"longrope", " factor original short_factor long_factor unscaled attention_factor ", rope_longrope},
    {"longrope_dynamic", " factor original long_factor unscaled attention_factor ", rope_longrope_dynamic},
};

static double rope_frequency(const rope_plan *r, int p)
{
    return p < r->kept ? rope_scalings[r->o->scaling].frequency(r, p) : 0;
}

/* m: what cosines and sines are multiplied by. */
static double rope_attention_factor(const rope_plan *r)
{
    const rope_options *o = r->o;
    double growth = o->factor > 1 ? log(o->factor) : 0;
    if (o->attention_factor != PE_AUTO_REAL)
        return o->attention_factor;
    if (o->scaling == ROPE_YARN && o->mscale != 0 && o->mscale_all_dim != 0)
        return (0.1 * o->mscale * growth + 1) / (0.1 * o->mscale_all_dim * growth + 1);
    if (o->scaling == ROPE_YARN)
        return 0.1 * growth + 1;
    return o->scaling >= ROPE_LONGROPE && growth > 0 ? sqrt(1 + growth / log(r->original)) : 1;
}

/* ------------------------------------------------------------------------------------------------ refusing */

/* Whether an option is as its row says: a number, a list of one number, a flag, or the first of its choices. */
static int rope_is_initial(const rope_options *o, const pe_option *row)
{
    const void *field = (const char *)o + row->offset;
    int is_auto = strcmp(row->initial, "auto") == 0;
    if (row->kind == PE_OPTION_REAL)
        return *(const double *)field == (is_auto ? PE_AUTO_REAL : strtod(row->initial, NULL));
    if (row->kind == PE_OPTION_LIST)
        return ((const pe_list *)field)->count == 1 && ((const pe_list *)field)->value[0] == strtod(row->initial, NULL);
    return *(const int *)field == (is_auto ? PE_AUTO_INT : strcmp(row->initial, "true") == 0);
}

static int rope_check_width(const rope_plan *r, const pe_shape *shape, char *message, size_t size)
{
    int dim = r->dim, last = r->o->start + dim - 1, head_dim = shape->head_dim;
    int bent = r->o->scaling == ROPE_NTK || r->o->scaling == ROPE_DYNAMIC;
    if (dim < 2 || dim % 2 != 0)
        snprintf(message, size,
                 "%d of head_dim %d would turn, but they turn in pairs: an even number of at least 2 is needed", dim,
                 head_dim);
    else if (last >= head_dim)
        snprintf(message, size, "dimensions %d to %d would turn, but head_dim is %d", r->o->start, last, head_dim);
    else if (r->kept == 0)
        snprintf(message, size, "keep=%g of %d pairs (head_dim %d) leaves none that turns", r->o->keep, r->pairs,
                 head_dim);
    else if (bent && dim == 2)
        snprintf(message, size, "scaling=%s has the exponent d/(d-2) and needs d > 2, but 2 of head_dim %d turn",
                 rope_scalings[r->o->scaling].name, head_dim);
    else
        return 0;
    return -1;
}

/* Nothing that was asked for is left out in silence. */
static int rope_check_unused(const rope_options *o, char *message, size_t size)
{
    for (const pe_option *row = rope_rows; row->name; row++) {
        char word[64];
        snprintf(word, sizeof word, " %s ", row->name);
        int used = row->offset < offsetof(rope_options, original) || strstr(rope_scalings[o->scaling].uses, word);
        if (used || rope_is_initial(o, row))
            continue;
        snprintf(message, size, "%s has no meaning with scaling=%s", row->name, rope_scalings[o->scaling].name);
        return -1;
    }
    return 0;
}

static int rope_check_scaling(const rope_plan *r, char *message, size_t size)
{
    const rope_options *o = r->o;
    const char *scaling = rope_scalings[o->scaling].name;
    int by_wavelength = o->ramp == ROPE_BY_WAVELENGTH, in_length = o->scaling >= ROPE_LONGROPE;
    int pairs = r->pairs, shorter = o->short_factor.count, longer = o->long_factor.count;
    if (o->frequencies != ROPE_FIXED && (o->scaling == ROPE_DYNAMIC || in_length))
        snprintf(message, size, "frequencies=learned start from one set, but scaling=%s has one for each length",
                 scaling);
    else if (by_wavelength && !o->truncate)
        snprintf(message, size, "truncate=false has no meaning with ramp=by_wavelength");
    else if (by_wavelength && rope_beta_fast(r) <= o->beta_slow)
        snprintf(message, size, "ramp=by_wavelength needs beta_fast above beta_slow, not %g and %g (original %g)",
                 rope_beta_fast(r), o->beta_slow, r->original);
    else if (o->scaling == ROPE_YARN && !by_wavelength && o->base <= 1)
        snprintf(message, size, "a ramp by index needs base > 1: with base=1 all pairs turn alike");
    else if (o->high_freq_factor <= o->low_freq_factor)
        snprintf(message, size, "high_freq_factor must be above low_freq_factor, not %g and %g", o->high_freq_factor,
                 o->low_freq_factor);
    else if (in_length && longer == 1 && o->long_factor.value[0] == 1)
        snprintf(message, size, "scaling=%s needs long_factor: a number for all pairs, or one for each", scaling);
    else if (in_length && ((shorter != 1 && shorter != pairs) || (longer != 1 && longer != pairs)))
        snprintf(message, size, "short_factor has %d numbers, long_factor %d, but %d pairs turn: one for each, or one",
                 shorter, longer, pairs);
    else if (in_length && o->attention_factor == PE_AUTO_REAL && o->factor > 1 && r->original < 2)
        snprintf(message, size, "the automatic attention_factor divides by ln(original): original must be above 1");
    else if (o->scaling == ROPE_LONGROPE_DYNAMIC && o->factor <= 1)
        snprintf(message, size, "scaling=%s needs a factor above 1, not %g", scaling, o->factor);
    else
        return 0;
    return -1;
}

static int rope_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    rope_plan r = rope_describe(shape, options, 1);
    if (rope_check_width(&r, shape, message, size) < 0 || rope_check_unused(options, message, size) < 0)
        return -1;
    return rope_check_scaling(&r, message, size);
}

static unsigned rope_claims_with(const void *options)
{
    const rope_options *o = options;
    return PE_ANY_LENGTH | (o->frequencies == ROPE_FIXED ? PE_PARAMETER_FREE : 0) |
           (o->unscaled == 0 ? PE_SHIFT_INVARIANT : 0);
}

/* ------------------------------------------------------------------------------------------------ turning */

/* Pairs (u[p*step], u[p*step + gap]): (x, y) -> (x cos - y sin, y cos + x sin); sign -1: the transpose of that. Inlined
 * where step, gap and sign are known. */
static inline void rope_turn(real *restrict u, const real *restrict cosine, const real *restrict sine, int pairs,
                             int step, int gap, real sign)
{
#pragma omp simd
    for (int p = 0; p < pairs; p++) {
        real x = u[p * step], y = u[p * step + gap], s = sign * sine[p];
        u[p * step] = x * cosine[p] - y * s;
        u[p * step + gap] = y * cosine[p] + x * s;
    }
}

/* cache: [len][2][pairs], cosines before sines of each token. Learned frequencies are not known in time for one. */
static void rope_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)rows;
    (void)keys;
    rope_plan r = rope_describe(c->shape, c->options, c->total_len);
    out->cache_bytes = r.o->frequencies == ROPE_FIXED ? (size_t)c->len * (size_t)r.dim * sizeof(real) : 0;
}

static void rope_prepare(const pe_context *c, void *cache)
{
    rope_plan r = rope_describe(c->shape, c->options, c->total_len);
    double m = rope_attention_factor(&r);
    for (int p = 0; r.o->frequencies == ROPE_FIXED && p < r.pairs; p++) {
        double scaled = rope_frequency(&r, p), plain = p < r.kept ? rope_none(&r, p) : 0;
        real *column = (real *)cache + p;
        for (int t = 0; t < c->len; t++) {
            double angle = c->pos[t] * (c->pos[t] < r.o->unscaled ? plain : scaled);
            column[(size_t)t * r.dim] = (real)(m * cos(angle));
            column[(size_t)t * r.dim + r.pairs] = (real)(m * sin(angle));
        }
    }
}

static inline void rope_walk(const pe_context *c, real *u, int token_stride, int head_stride, int layout, real sign)
{
    rope_plan r = rope_describe(c->shape, c->options, c->total_len);
    for (int t = 0; t < c->len; t++) {
        const real *cosine = (const real *)c->cache + (size_t)t * r.dim;
        real *token = u + (size_t)t * token_stride + r.o->start;
        for (int h = 0; h < c->shape->heads; h++)
            rope_turn(token + (size_t)h * head_stride, cosine, cosine + r.pairs, r.pairs, layout == ROPE_HALF ? 1 : 2,
                      layout == ROPE_HALF ? r.pairs : 1, sign);
    }
}

/* parameter frequencies: [1 or heads][kept]; the fixed ones of this layer's scaling to begin with. */
static int rope_params(const void *options, const pe_shape *shape, pe_param *out)
{
    rope_plan r = rope_describe(shape, options, 1);
    int rows = r.o->frequencies == ROPE_PER_HEAD ? shape->heads : 1;
    out[0] = (pe_param){.name = "frequencies", .rows = rows, .cols = r.kept, .per_layer = 1};
    return r.o->frequencies == ROPE_FIXED ? 0 : 1;
}

static void rope_init(const pe_context *c, int i, real *values)
{
    (void)i;
    rope_plan r = rope_describe(c->shape, c->options, 1);
    int rows = r.o->frequencies == ROPE_PER_HEAD ? c->shape->heads : 1;
    for (int n = 0; n < rows * r.kept; n++)
        values[n] = (real)rope_frequency(&r, n % r.kept);
}

/* Turns v in place. Backwards, u holds what the rotation left: an angle moves (x, y) along (-y, x), and a frequency
 * moves an angle by the position. Angles are formed in double, once for all heads that share them. */
static void rope_walk_learned(const pe_context *c, const real *u, real *v, int token_stride, int head_stride, real sign)
{
    rope_plan r = rope_describe(c->shape, c->options, c->total_len);
    int share = r.o->frequencies == ROPE_PER_HEAD ? 1 : c->shape->heads; /* heads with the same frequencies */
    int step = r.o->layout == ROPE_HALF ? 1 : 2, gap = r.o->layout == ROPE_HALF ? r.pairs : 1;
    double m = rope_attention_factor(&r);
    real cosine[ROPE_CHUNK], sine[ROPE_CHUNK];
    for (int head = 0; head < c->shape->heads; head += share) {
        for (int begin = 0; begin < r.pairs; begin += ROPE_CHUNK) {
            int count = r.pairs - begin < ROPE_CHUNK ? r.pairs - begin : ROPE_CHUNK;
            size_t row = (size_t)(head / share * r.kept + begin);
            double slope[ROPE_CHUNK] = {0};
            for (int t = 0; t < c->len; t++) {
                for (int p = 0; p < count; p++) {
                    double angle = begin + p < r.kept ? c->pos[t] * (double)c->theta[0][row + p] : 0;
                    cosine[p] = (real)(m * cos(angle));
                    sine[p] = (real)(m * sin(angle));
                }
                for (int h = head; h < head + share; h++) {
                    size_t at = (size_t)t * token_stride + (size_t)h * head_stride + r.o->start + (size_t)begin * step;
                    for (int p = 0; sign < 0 && p < count; p++) {
                        const real *x = u + at + p * step, *dx = v + at + p * step;
                        slope[p] += c->pos[t] * ((double)x[0] * dx[gap] - (double)x[gap] * dx[0]);
                    }
                    rope_turn(v + at, cosine, sine, count, step, gap, sign);
                }
            }
            for (int p = 0; sign < 0 && p < count && begin + p < r.kept; p++)
                c->dtheta[0][row + p] += (real)slope[p];
        }
    }
}

/* Queries and keys turn alike. Every call of rope_walk is inlined, so that no choice is left in its loops. */
static void rope_rotate(const pe_context *c, pe_role role, real *u, int token_stride, int head_stride)
{
    const rope_options *o = c->options;
    (void)role;
    if (o->frequencies != ROPE_FIXED)
        rope_walk_learned(c, NULL, u, token_stride, head_stride, 1);
    else if (o->layout == ROPE_HALF)
        rope_walk(c, u, token_stride, head_stride, ROPE_HALF, 1);
    else
        rope_walk(c, u, token_stride, head_stride, ROPE_INTERLEAVED, 1);
}

static void rope_rotate_bwd(const pe_context *c, pe_role r, const real *u, real *v, int token_stride, int head_stride)
{
    const rope_options *o = c->options;
    (void)r;
    if (o->frequencies != ROPE_FIXED)
        rope_walk_learned(c, u, v, token_stride, head_stride, -1);
    else if (o->layout == ROPE_HALF)
        rope_walk(c, v, token_stride, head_stride, ROPE_HALF, -1);
    else
        rope_walk(c, v, token_stride, head_stride, ROPE_INTERLEAVED, -1);
}

static const char *const rope_examples[] = {
    "layout=interleaved", "fraction=0.5", "fraction=0.5,layout=interleaved,start=2", "keep=0.75",
    "frequencies=per_head,layout=interleaved,keep=0.75", "frequencies=learned,scaling=yarn", "scaling=ntk",
    "scaling=linear,attention_factor=0.5", "scaling=dynamic,original=8", "scaling=llama3,original=64",
    "scaling=yarn,ramp=by_wavelength,beta_fast=auto", "scaling=longrope,original=8,long_factor=3,unscaled=2",
    "scaling=yarn,ramp=by_index_ggml,original=4,truncate=false,extrapolation_factor=0.5,mscale=1,mscale_all_dim=0.5",
    "scaling=longrope,original=8,short_factor=0.5,long_factor=3", "scaling=longrope_dynamic,original=8,long_factor=3",
    NULL,
};

static const pe_extension rope_extensions[] = {
    {"linear", "scaling=linear,factor={factor}", "frequencies"}, {"ntk", "scaling=ntk,alpha={factor}", "frequencies"},
    {"dynamic", "scaling=dynamic,factor=1", "frequencies"}, {"yarn", "scaling=yarn,factor={factor}", "frequencies"},
    {"llama3", "scaling=llama3,factor={factor}", "frequencies"}, {0}, /* learned ones are not made anew */
};

const pe_descriptor pe_encoding_rope = {
    PE_DESCRIPTOR_HEAD,
    .name = "rope",
    .family = "rotary",
    .title = "Rotary position embedding (RoPE)",
    .source = "Su et al. 2021, RoFormer: Enhanced Transformer with Rotary Position Embedding, eq. 14-16, 34. keep: "
              "Barbero et al. 2025, Round and Round We Go!, appendix D. linear: Chen et al. 2023, Position "
              "Interpolation, section 2.3. ntk, dynamic, yarn: Peng et al. 2023, YaRN, definition 1, section 3.3, eq. "
              "17-22. llama3: code of Llama 3.1. longrope: Ding et al. 2024, LongRoPE, sections 2-3",
    .formula = "pair p of q and k turns by pos * theta_p, theta_p = base^(-2p/d), p = 0 .. d/2-1, d = fraction * "
               "head_dim; fractions of positions turn by fractions of the angle. Scaled: linear theta/s; ntk base * "
               "alpha^(d/(d-2)); dynamic base * (s n/L - (s-1))^(d/(d-2)) with n > L tokens; yarn, llama3 theta/s "
               "(1-g) + theta g, g = 0..1 by turns L theta/2pi; longrope theta/e_p; yarn, longrope: q and k times m",
    .notes =
        "The default layout is the one of most models in use (GPT-NeoX, Llama) and reads memory in order; the paper, "
        "GPT-J and Meta's own Llama code pair neighbours. Weights trained under one layout are noise under the other. "
        "The exponent divides by the turned dimensions d, not by head_dim. Partial rotation: 0.25 in GPT-NeoX, and in "
        "the length-generalisation study of Kazemnejad et al., whose text does not say so. Angles are formed in "
        "double: tables or positions in 16-bit types lose the relative-position property with distance from the "
        "origin; learned frequencies have the network's precision. dynamic, longrope: one set of frequencies for a "
        "sequence, by the length that it will have when complete; released code that keeps the longest length seen, "
        "or switches while keys are cached, mixes sets. yarn: eq. 17 prints b' for b. longrope_dynamic: s L is "
        "max_pos of the released class, whose factors fall below 1, even below 0, in sequences shorter than L; here "
        "they are 1 there. unscaled: ignored by most ports. dynamic extends with s = max(1, n/L)",
    .claims = PE_SHIFT_INVARIANT | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .options = rope_rows,
    .options_size = sizeof(rope_options),
    .examples = rope_examples,
    .claims_with = rope_claims_with,
    .check = rope_check,
    .params = rope_params,
    .init = rope_init,
    .sizes = rope_sizes,
    .prepare = rope_prepare,
    .rotate = rope_rotate,
    .rotate_bwd = rope_rotate_bwd,
    .bibtex = "@misc{su2021roformer, title = {{RoFormer}: Enhanced Transformer with Rotary Position Embedding}, "
              "author = {Su, Jianlin and Lu, Yu and Pan, Shengfeng and Murtadha, Ahmed and Wen, Bo and Liu, Yunfeng}, "
              "year = {2021}, eprint = {2104.09864}, archiveprefix = {arXiv}} "
              "@misc{peng2023yarn, title = {{YaRN}: Efficient Context Window Extension of Large Language Models}, "
              "author = {Peng, Bowen and Quesnelle, Jeffrey and Fan, Honglu and Shippole, Enrico}, year = {2023}, "
              "eprint = {2309.00071}, archiveprefix = {arXiv}}",
    .extensions = rope_extensions,
};
