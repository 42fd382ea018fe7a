/* t5.c - a trained number for each head and bucket of distances; buckets widen with the logarithm of the distance. */
#include "pe.h"

#include <stdio.h>

enum { T5_CHUNK = 256, T5_DISTANCE_MAX = 65536 };

typedef struct t5_options {
    int buckets, max_distance, shared;
    double scale, deviation;
} t5_options;

static const pe_option t5_rows[] = {
    {"buckets", PE_OPTION_INT, PE_OFFSET(t5_options, buckets), "32", 2, 1024, 0, NULL,
     "rows of the table; the first half holds single distances. Without a causal mask past and future take half each"},
    {"max_distance", PE_OPTION_INT, PE_OFFSET(t5_options, max_distance), "128", 2, T5_DISTANCE_MAX, 1, NULL,
     "distance at which the logarithmic buckets end (T5: 128, trained on 512 tokens); auto: such that the last "
     "bucket begins at the geometric mean of the last single distance and the longest in training, so that training "
     "meets every bucket"},
    {"shared", PE_OPTION_BOOL, PE_OFFSET(t5_options, shared), "true", 0, 0, 0, NULL,
     "true: one table for all layers, as in T5; false: one for each"},
    {"scale", PE_OPTION_REAL, PE_OFFSET(t5_options, scale), "1", -1000, 1000, 1, NULL,
     "what the table is multiplied by; auto: sqrt(head_dim), as in GPT-NeoX and x-transformers"},
    {"deviation", PE_OPTION_REAL, PE_OFFSET(t5_options, deviation), "auto", 0, 100, 1, NULL,
     "standard deviation of the start values; auto: 1/sqrt(width), as in the PyTorch port of T5"},
    {0},
};

/* The buckets of one sign of the distance, and those of them that hold a single distance: 0 .. exact-1. */
typedef struct t5_layout {
    int count, exact;
    double longest; /* effective max_distance; past it everything is in the last bucket */
} t5_layout;

/* The last bucket begins at exact * (M/exact)^((n-1)/n), with n logarithmic buckets and M = max_distance. Solved for
 * the M that puts its beginning halfway, in the logarithm, between the single distances and the longest distance of
 * training. */
static double t5_auto_distance(int count, int exact, int train_len)
{
    int n = count - exact;
    double last_begins = sqrt(exact * (train_len - 1.0));
    return n > 1 ? exact * pow(last_begins / exact, n / (n - 1.0)) : last_begins;
}

static t5_layout t5_describe(const t5_options *o, const pe_shape *shape)
{
    t5_layout b = {.count = shape->causal ? o->buckets : o->buckets / 2};
    b.exact = b.count / 2;
    b.longest = o->max_distance == PE_AUTO_INT ? t5_auto_distance(b.count, b.exact, shape->train_len) : o->max_distance;
    return b;
}

static int t5_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    const t5_options *o = options;
    t5_layout b = t5_describe(o, shape);
    if (b.exact < 1) {
        snprintf(message, size,
                 "buckets=%d leaves no bucket for distance 0 on each side; without a causal mask at least 4 are "
                 "needed",
                 o->buckets);
        return -1;
    }
    if (o->max_distance == PE_AUTO_INT && shape->train_len - 1 <= b.exact) {
        snprintf(message, size,
                 "max_distance=auto with %d single distances needs a training length above %d, not %d; use fewer "
                 "buckets",
                 b.exact, b.exact + 1, shape->train_len);
        return -1;
    }
    if (b.longest <= b.exact || b.longest > T5_DISTANCE_MAX) {
        snprintf(message, size,
                 "max_distance=%g must be above the %d distances that have a bucket of their own, and at most %d",
                 b.longest, b.exact, (int)T5_DISTANCE_MAX);
        return -1;
    }
    return 0;
}

static int t5_params(const void *options, const pe_shape *shape, pe_param *out)
{
    const t5_options *o = options;
    out[0] = (pe_param){.name = "table",
                        .rows = o->buckets,
                        .cols = shape->heads,
                        .init = PE_INIT_NORMAL,
                        .deviation = o->deviation == PE_AUTO_REAL ? 1.0 / sqrt(shape->width) : o->deviation,
                        .per_layer = !o->shared};
    return 1;
}

/* The logarithm is taken in float, since peers do: at a bucket's edge double can give the bucket beside it. */
static int t5_bucket(const t5_layout *b, int distance)
{
    if (distance < b->exact)
        return distance;
    float ratio = logf((float)distance / (float)b->exact) / (float)log(b->longest / b->exact);
    int bucket = b->exact + (int)(ratio * (float)(b->count - b->exact));
    return bucket < b->count ? bucket : b->count - 1;
}

/* Distances from here on share the last bucket; so the cache, one bucket for each whole distance, can end here. */
static int t5_last_distance(const t5_layout *b)
{
    return (int)ceil(b->longest);
}

static void t5_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)rows;
    (void)keys;
    t5_layout b = t5_describe(c->options, c->shape);
    out->cache_bytes = ((size_t)t5_last_distance(&b) + 1) * sizeof(int);
}

static void t5_prepare(const pe_context *c, void *cache)
{
    t5_layout b = t5_describe(c->options, c->shape);
    int *bucket = cache;
    for (int distance = 0; distance <= t5_last_distance(&b); distance++)
        bucket[distance] = t5_bucket(&b, distance);
}

/* Table rows of the keys begin .. begin+count-1 as query i sees them. Distances are floored; the slack keeps a whole
 * distance whole when a shift of all positions has moved it in its last bits. */
static void t5_find_rows(const pe_context *c, const t5_layout *b, int i, int begin, int count, int row[T5_CHUNK])
{
    const int *bucket = c->cache;
    const double *pos = c->pos + begin;
    double origin = c->pos[i], last = t5_last_distance(b);
    for (int j = 0; j < count; j++) {
        double ahead = origin - pos[j]; /* negative under a causal mask only with an unordered map: bucket 0 then */
        double distance = (c->shape->causal ? fmax(ahead, 0) : fabs(ahead)) + 1e-6;
        int whole = (int)(distance < last ? distance : last);
        int future = !c->shape->causal && pos[j] > origin && whole > 0;
        row[j] = bucket[whole] + (future ? b->count : 0);
    }
}

static real t5_scale(const pe_context *c)
{
    const t5_options *o = c->options;
    return (real)(o->scale == PE_AUTO_REAL ? sqrt(c->shape->head_dim) : o->scale);
}

/* s_ij += scale * table[bucket(pos_i - pos_j)][h]; rows are looked up once for all heads, a chunk of keys at a time. */
static void t5_bias(const pe_context *c, const pe_tile *t, real *s)
{
    t5_layout b = t5_describe(c->options, c->shape);
    int heads = c->shape->heads, row[T5_CHUNK];
    real scale = t5_scale(c);
    for (int r = 0; r < t->rows; r++) {
        for (int begin = 0, visible = pe_visible(c, t, r); begin < visible; begin += T5_CHUNK) {
            int count = visible - begin < T5_CHUNK ? visible - begin : T5_CHUNK;
            t5_find_rows(c, &b, t->row_begin + r, begin, count, row);
            for (int h = 0; h < heads; h++) {
                real *scores = s + (size_t)h * t->plane + (size_t)r * t->stride + begin;
                for (int j = 0; j < count; j++)
                    scores[j] += scale * c->theta[0][(size_t)row[j] * heads + h];
            }
        }
    }
}

static void t5_bias_bwd(const pe_context *c, const pe_tile *t, const real *ds)
{
    t5_layout b = t5_describe(c->options, c->shape);
    int heads = c->shape->heads, row[T5_CHUNK];
    real scale = t5_scale(c);
    for (int r = 0; r < t->rows; r++) {
        for (int begin = 0, visible = pe_visible(c, t, r); begin < visible; begin += T5_CHUNK) {
            int count = visible - begin < T5_CHUNK ? visible - begin : T5_CHUNK;
            t5_find_rows(c, &b, t->row_begin + r, begin, count, row);
            for (int h = 0; h < heads; h++) {
                const real *scores = ds + (size_t)h * t->plane + (size_t)r * t->stride + begin;
                for (int j = 0; j < count; j++)
                    c->dtheta[0][(size_t)row[j] * heads + h] += scale * scores[j];
            }
        }
    }
}

static const char *const t5_examples[] = {
    "max_distance=auto,buckets=8", "buckets=8,max_distance=20", "shared=false", "scale=auto", NULL,
};

const pe_descriptor pe_encoding_t5 = {
    PE_DESCRIPTOR_HEAD,
    .name = "t5",
    .family = "bias",
    .title = "T5 relative position bias",
    .source = "Raffel et al. 2020, Exploring the Limits of Transfer Learning, section 2.1, and the released code",
    .formula = "s_ij += scale * table[bucket(d)][h], d = |pos_i - pos_j| rounded down; bucket(d) = d below e = "
               "buckets/2, else e + floor(ln(d/e) / ln(max_distance/e) * (buckets - e)), at most buckets-1. Without "
               "a causal mask each sign of the distance has half of the buckets",
    .notes = "The last bucket begins before max_distance: at 113 with 32 buckets and 128 (91 without a causal mask). "
             "Trained on shorter sequences, T5's defaults leave buckets that training never met and longer tests do "
             "meet: below 114 tokens some of 27-31; max_distance=auto avoids that. T5 itself does not divide q.k by "
             "sqrt(head_dim); here, as in other decoders, it is divided, and scale=auto multiplies the bias to "
             "match. The logarithm is taken in float like the peers do.",
    .claims = PE_SHIFT_INVARIANT | PE_ANY_LENGTH,
    .options = t5_rows,
    .options_size = sizeof(t5_options),
    .examples = t5_examples,
    .check = t5_check,
    .params = t5_params,
    .sizes = t5_sizes,
    .prepare = t5_prepare,
    .bias = t5_bias,
    .bias_bwd = t5_bias_bwd,
    .bibtex = "@article{raffel2020exploring, title = {Exploring the Limits of Transfer Learning with a Unified "
              "Text-to-Text Transformer}, author = {Raffel, Colin and Shazeer, Noam and Roberts, Adam and Lee, "
              "Katherine and Narang, Sharan and Matena, Michael and Zhou, Yanqi and Li, Wei and Liu, Peter J.}, "
              "journal = {Journal of Machine Learning Research}, volume = {21}, number = {140}, pages = {1--67}, year "
              "= {2020}, eprint = {1910.10683}, archiveprefix = {arXiv}}",
};
