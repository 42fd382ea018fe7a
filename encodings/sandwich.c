/* sandwich.c - the inner product of two sinusoidal position vectors as a bias, weaker from head to head. */
#include "pe.h"

#include <stdio.h>

enum { SANDWICH_CHUNK = 256 };

typedef struct sandwich_options {
    int width, first_index, centered;
    double base;
} sandwich_options;

static const pe_option sandwich_rows[] = {
    {"width", PE_OPTION_INT, PE_OFFSET(sandwich_options, width), "auto", 2, 65536, 1, NULL,
     "bar d, the width of the sinusoidal vectors, even: the bias lies between -width/2 and width/2 times H/(8h) "
     "(paper: 128, whatever the head's width); auto: head_dim, as in NeMo, less 1 "
     "if it is odd"},
    {"first_index", PE_OPTION_INT, PE_OFFSET(sandwich_options, first_index), "0", 0, 1, 0, NULL,
     "of the frequencies base^(-2i/width): 0, so that the fastest turns by 1 (the sinusoids of the paper's listing), "
     "or 1 (NeMo), which makes all of them slower by the factor base^(2/width)"},
    {"centered", PE_OPTION_BOOL, PE_OFFSET(sandwich_options, centered), "false", 0, 0, 0, NULL,
     "true: width/2 is subtracted, so that distance 0 has bias 0 (NeMo); a constant in each row, which no softmax "
     "sees"},
    {"base", PE_OPTION_REAL, PE_OFFSET(sandwich_options, base), "10000", 1.001, 1e12, 0, NULL,
     "of the frequencies (paper: 10000)"},
    {0},
};

/* bar d: each token has so many numbers, half of them cosines. */
static int sandwich_width(const sandwich_options *o, const pe_shape *shape)
{
    if (o->width != PE_AUTO_INT)
        return o->width;
    return shape->head_dim < 2 ? 2 : shape->head_dim - shape->head_dim % 2;
}

static int sandwich_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    const sandwich_options *o = options;
    (void)shape;
    if (o->width == PE_AUTO_INT || o->width % 2 == 0)
        return 0;
    snprintf(message, size, "width=%d must be even: sines and cosines come in pairs", o->width);
    return -1;
}

/* cache: [len][width], cosines before sines of each token. In double: then cos(w(x - y)) = cos wx cos wy + sin wx sin
 * wy holds to 1e-10 at position 1e6, and no pair needs a cosine of its own. */
static void sandwich_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)rows;
    (void)keys;
    out->cache_bytes = (size_t)c->len * (size_t)sandwich_width(c->options, c->shape) * sizeof(double);
}

static void sandwich_prepare(const pe_context *c, void *cache)
{
    const sandwich_options *o = c->options;
    int width = sandwich_width(o, c->shape), pairs = width / 2;
    for (int p = 0; p < pairs; p++) {
        double frequency = pow(o->base, -2.0 * (p + o->first_index) / width);
        double *column = (double *)cache + p;
        for (int t = 0; t < c->len; t++) {
            column[(size_t)t * (size_t)width] = cos(c->pos[t] * frequency);
            column[(size_t)t * (size_t)width + (size_t)pairs] = sin(c->pos[t] * frequency);
        }
    }
}

static double sandwich_dot(const double *restrict a, const double *restrict b, int n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* s_ij += (f_i.f_j - shift) H / (8 h): one product for all heads, a chunk of keys at a time. */
static void sandwich_bias(const pe_context *c, const pe_tile *t, real *s)
{
    const sandwich_options *o = c->options;
    const double *features = c->cache;
    int width = sandwich_width(o, c->shape), heads = c->shape->heads;
    double shift = o->centered ? 0.5 * width : 0, sum[SANDWICH_CHUNK];
    for (int r = 0; r < t->rows; r++) {
        int i = t->row_begin + r, visible = pe_visible(c, t, r);
        for (int begin = 0; begin < visible; begin += SANDWICH_CHUNK) {
            int count = visible - begin < SANDWICH_CHUNK ? visible - begin : SANDWICH_CHUNK;
            for (int j = 0; j < count; j++)
                sum[j] = sandwich_dot(features + (size_t)i * (size_t)width,
                                      features + (size_t)(begin + j) * (size_t)width, width) -
                         shift;
            for (int h = 0; h < heads; h++) {
                double factor = heads / (8.0 * (h + 1));
                real *row = s + (size_t)h * t->plane + (size_t)r * t->stride + begin;
                for (int j = 0; j < count; j++)
                    row[j] += (real)(factor * sum[j]);
            }
        }
    }
}

static const char *const sandwich_examples[] = {
    "width=128", "first_index=1,centered=true", "centered=true", "width=6,base=100", NULL,
};

const pe_descriptor pe_encoding_sandwich = {
    PE_DESCRIPTOR_HEAD,
    .name = "sandwich",
    .family = "bias",
    .title = "Sandwich",
    .source = "Chi et al. 2023, Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis; "
              "NeMo's implementation for first_index and centered",
    .formula = "s_ij += H/(8h) sum_k cos(w_k (pos_i - pos_j)), h = 1..H, w_k = base^(-2k/width), k = first_index .. "
               "first_index + width/2 - 1; centered: cos(...) - 1. Fractions of distances turn by fractions of the "
               "angle",
    .notes = "Not monotone in the distance, and symmetric, so that without a causal mask it does not tell past from "
             "future. The first head feels it most: H/(8h) is 1/8 for the last. With the default width of head_dim the "
             "bias is as much weaker than the paper's as head_dim is below 128. NeMo starts at index 1 and "
             "subtracts width/2 (first_index=1,centered=true). One copy of NeMo's file in circulation has lost the "
             "cosine and is a straight line of the distance.",
    .claims = PE_SHIFT_INVARIANT | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .options = sandwich_rows,
    .options_size = sizeof(sandwich_options),
    .examples = sandwich_examples,
    .check = sandwich_check,
    .sizes = sandwich_sizes,
    .prepare = sandwich_prepare,
    .bias = sandwich_bias,
    .bibtex = "@inproceedings{chi2023dissecting, title = {Dissecting Transformer Length Extrapolation via the Lens of "
              "Receptive Field Analysis}, author = {Chi, Ta-Chung and Fan, Ting-Han and Rudnicky, Alexander I. and "
              "Ramadge, Peter J.}, booktitle = {Proceedings of the 61st Annual Meeting of the Association for "
              "Computational Linguistics (Volume 1: Long Papers)}, pages = {13522--13537}, year = {2023}, eprint = "
              "{2212.10356}, archiveprefix = {arXiv}}",
};
