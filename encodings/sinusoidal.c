/* sinusoidal.c - the fixed table of sines and cosines of the first transformer, added to the token vectors. */
#include "pe.h"

#include <stdio.h>

enum { SINUSOIDAL_INTERLEAVED, SINUSOIDAL_CONCAT, SINUSOIDAL_CONCAT_T2T };

typedef struct sinusoidal_options {
    double base, scale, min_timescale;
    int layout;
} sinusoidal_options;

static const pe_option sinusoidal_rows[] = {
    {"base", PE_OPTION_REAL, PE_OFFSET(sinusoidal_options, base), "10000", 1, 1e12, 0, NULL,
     "b in theta_p = b^(-2p/width): wavelengths run from 2 pi to nearly 2 pi b (paper: 10000)"},
    {"layout", PE_OPTION_CHOICE, PE_OFFSET(sinusoidal_options, layout), "interleaved", 0, 0, 0,
     "interleaved|concat|concat_t2t",
     "interleaved: sin, cos, sin, cos .. (paper); concat: all sines, then all cosines (Transformer-XL); concat_t2t: "
     "that with the stretched frequencies of tensor2tensor and fairseq"},
    {"scale", PE_OPTION_REAL, PE_OFFSET(sinusoidal_options, scale), "1", 0, 1000, 1, NULL,
     "what the table is multiplied by; auto: 1/sqrt(width), the start value of x-transformers"},
    {"min_timescale", PE_OPTION_REAL, PE_OFFSET(sinusoidal_options, min_timescale), "1", 1e-6, 1e6, 0, NULL,
     "concat_t2t only: multiplies all frequencies (tensor2tensor: 1)"},
    {0},
};

static int sinusoidal_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    const sinusoidal_options *o = options;
    (void)shape;
    if (o->min_timescale == 1.0 || o->layout == SINUSOIDAL_CONCAT_T2T)
        return 0;
    snprintf(message, size, "min_timescale has a meaning in layout=concat_t2t only");
    return -1;
}

/* How many columns are sines; cosines fill up, and concat_t2t leaves the last column of an odd width zero. */
static int sinusoidal_sines(const sinusoidal_options *o, int width)
{
    return o->layout == SINUSOIDAL_CONCAT_T2T ? width / 2 : (width + 1) / 2;
}

/* Radians per position of the pair p: section 3.5 of the paper, or tensor2tensor's geometric series that ends exactly
 * at min_timescale^2 / base. */
static double sinusoidal_frequency(const sinusoidal_options *o, int width, int p)
{
    if (o->layout != SINUSOIDAL_CONCAT_T2T)
        return pow(o->base, -2.0 * p / width);
    int steps = width / 2 - 1 > 1 ? width / 2 - 1 : 1;
    return o->min_timescale * exp(-p * log(o->base / o->min_timescale) / steps);
}

/* cache: the table [len][width], since every sequence of a batch reads the same one. */
static void sinusoidal_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)rows;
    (void)keys;
    out->cache_bytes = (size_t)c->len * (size_t)c->shape->width * sizeof(real);
}

static void sinusoidal_prepare(const pe_context *c, void *cache)
{
    const sinusoidal_options *o = c->options;
    int width = c->shape->width, sines = sinusoidal_sines(o, width);
    int step = o->layout == SINUSOIDAL_INTERLEAVED ? 2 : 1;
    int first_cosine = o->layout == SINUSOIDAL_INTERLEAVED ? 1 : sines;
    double scale = o->scale == PE_AUTO_REAL ? 1.0 / sqrt(width) : o->scale;
    real *table = cache;
    memset(table, 0, (size_t)c->len * (size_t)width * sizeof *table);
    for (int p = 0; p < sines; p++) {
        double frequency = sinusoidal_frequency(o, width, p);
        int cosine = first_cosine + step * p;
        int has_cosine = cosine < width && p < width / 2; /* an odd width has one sine more */
        for (int t = 0; t < c->len; t++) {
            double angle = c->pos[t] * frequency;
            real *row = table + (size_t)t * width;
            row[step * p] = (real)(scale * sin(angle));
            if (has_cosine)
                row[cosine] = (real)(scale * cos(angle));
        }
    }
}

static void sinusoidal_embed(const pe_context *c, real *x)
{
    const real *table = c->cache;
    size_t count = (size_t)c->len * (size_t)c->shape->width;
    for (size_t i = 0; i < count; i++)
        x[i] += table[i];
}

static const char *const sinusoidal_examples[] = {
    "layout=concat", "layout=concat_t2t", "layout=concat_t2t,min_timescale=0.5", "scale=auto", "base=500", NULL,
};

const pe_descriptor pe_encoding_sinusoidal = {
    PE_DESCRIPTOR_HEAD,
    .name = "sinusoidal",
    .family = "absolute",
    .title = "Sinusoidal position encoding",
    .source = "Vaswani et al. 2017, Attention Is All You Need, section 3.5",
    .formula = "x_t += scale * PE(pos_t), PE(pos)[2p] = sin(pos theta_p), PE(pos)[2p+1] = cos(pos theta_p), theta_p "
               "= base^(-2p/width); fractions of positions are angles like any other",
    .notes = "The paper multiplies token vectors by sqrt(width) first: without that (model.scale_embedding), small "
             "token vectors drown in the table. Odd width: the last column is a sine (interleaved, concat) or zero "
             "(concat_t2t); Transformer-XL code would emit a column too many there. concat is interleaved up to a "
             "permutation of columns; concat_t2t is not, since its last frequency is exactly 1/base, and it "
             "multiplies by min_timescale where one would expect a division.",
    .claims = PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .options = sinusoidal_rows,
    .options_size = sizeof(sinusoidal_options),
    .examples = sinusoidal_examples,
    .check = sinusoidal_check,
    .sizes = sinusoidal_sizes,
    .prepare = sinusoidal_prepare,
    .embed = sinusoidal_embed,
    .bibtex = "@inproceedings{vaswani2017attention, title = {Attention Is All You Need}, author = {Vaswani, Ashish "
              "and Shazeer, Noam and Parmar, Niki and Uszkoreit, Jakob and Jones, Llion and Gomez, Aidan N. and "
              "Kaiser, {\\L}ukasz and Polosukhin, Illia}, booktitle = {Advances in Neural Information Processing "
              "Systems}, volume = {30}, year = {2017}, eprint = {1706.03762}, archiveprefix = {arXiv}}",
};
