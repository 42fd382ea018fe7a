/* kerple.c - kernelised relative biases: a penalty that grows with the logarithm or with a power of the distance, its
 * size and its shape trained for each head. */
#include "pe.h"

enum { KERPLE_LOG, KERPLE_POWER, KERPLE_COMPOSITE };
enum { KERPLE_UNIFORM, KERPLE_ONES };
enum { KERPLE_P, KERPLE_A, KERPLE_WEIGHT_P, KERPLE_WEIGHT_A };
enum { KERPLE_CHUNK = 128 };

/* A bias is never lower than -KERPLE_LOWEST: what a softmax sees is the same, and sums of biases stay finite in float.
 */
#define KERPLE_LOWEST 1e30

typedef struct kerple_options {
    int kind, start, shared, scaled;
    double eps;
} kerple_options;

static const pe_option kerple_rows[] = {
    {"kind", PE_OPTION_CHOICE, PE_OFFSET(kerple_options, kind), "log", 0, 0, 0, "log|power|composite",
     "log: -p ln(1 + a D), which the paper's abstract singles out; power: -a D^p; composite: power, and scores are "
     "multiplied by "
     "exp(-weight_a D^weight_p) first, as the released code can"},
    {"start", PE_OPTION_CHOICE, PE_OFFSET(kerple_options, start), "uniform", 0, 0, 0, "uniform|ones",
     "start values: uniform (released code: p from 0 to 2, a from 0 to 1) or ones (1 for all; asked for in the review "
     "of NeMo's port, which found random ones unstable)"},
    {"shared", PE_OPTION_BOOL, PE_OFFSET(kerple_options, shared), "true", 0, 0, 0, NULL,
     "true: one set of parameters for all layers, as in the released code; false: one for each"},
    {"eps", PE_OPTION_REAL, PE_OFFSET(kerple_options, eps), "0.01", 1e-6, 1, 0, NULL,
     "least value of every parameter when it is read (released code: 0.01; the paper asks for more than 0)"},
    {"scaled", PE_OPTION_BOOL, PE_OFFSET(kerple_options, scaled), "false", 0, 0, 0, NULL,
     "true: the bias too is divided by sqrt(head_dim), as the paper has it; false: not, as in the released code"},
    {0},
};

static int kerple_is_exponent(const kerple_options *o, int param)
{
    return o->kind != KERPLE_LOG && (param == KERPLE_P || param == KERPLE_WEIGHT_P);
}

static int kerple_params(const void *options, const pe_shape *shape, pe_param *out)
{
    static const char *const names[] = {"p", "a", "weight_p", "weight_a"};
    const kerple_options *o = options;
    int count = o->kind == KERPLE_COMPOSITE ? 4 : 2;
    for (int i = 0; i < count; i++) {
        double middle = i == KERPLE_P || i == KERPLE_WEIGHT_P ? 1 : 0.5; /* of U(0,2) and U(0,1) */
        int ones = o->start == KERPLE_ONES, exponent = kerple_is_exponent(o, i);
        out[i] = (pe_param){.name = names[i],
                            .rows = 1,
                            .cols = shape->heads,
                            .mean = ones ? 1 : middle,
                            .deviation = ones ? 0 : middle,
                            .init = PE_INIT_UNIFORM,
                            .per_layer = !o->shared,
                            .least = o->eps,
                            .most = exponent ? 2 : INFINITY};
    }
    return count;
}

/* Parameters may have any value; the formula sees them between eps and, for exponents, 2. */
static double kerple_read(const pe_context *c, int param, int h)
{
    const kerple_options *o = c->options;
    double value = fmax((double)c->theta[param][h], o->eps);
    return kerple_is_exponent(o, param) ? fmin(value, 2) : value;
}

static double kerple_factor(const pe_context *c, const pe_tile *t)
{
    const kerple_options *o = c->options;
    return o->scaled ? (double)t->scale : 1;
}

/* out[j] = D of query i and key begin + j; its logarithm (-INFINITY for 0) for the kinds that need a power of it. */
static void kerple_distances(const pe_context *c, int i, int begin, int count, double out[KERPLE_CHUNK])
{
    const kerple_options *o = c->options;
    const double *pos = c->pos + begin;
    double origin = c->pos[i];
    for (int j = 0; j < count; j++)
        out[j] = fabs(origin - pos[j]);
    for (int j = 0; o->kind != KERPLE_LOG && j < count; j++)
        out[j] = log(out[j]);
}

/* ------------------------------------------------------------------------------------------------ bias */

static void kerple_add_log(double p, double a, double factor, const double *distance, int count, real *s)
{
    for (int j = 0; j < count; j++)
        s[j] -= (real)(factor * fmin(p * log(1 + a * distance[j]), KERPLE_LOWEST));
}

static void kerple_add_power(double p, double a, double factor, const double *log_distance, int count, real *s)
{
    for (int j = 0; j < count; j++)
        s[j] -= (real)(factor * fmin(a * exp(p * log_distance[j]), KERPLE_LOWEST));
}

static void kerple_bias(const pe_context *c, const pe_tile *t, real *s)
{
    const kerple_options *o = c->options;
    double factor = kerple_factor(c, t), distance[KERPLE_CHUNK];
    for (int r = 0; r < t->rows; r++) {
        for (int begin = 0, visible = pe_visible(c, t, r); begin < visible; begin += KERPLE_CHUNK) {
            int count = visible - begin < KERPLE_CHUNK ? visible - begin : KERPLE_CHUNK;
            kerple_distances(c, t->row_begin + r, begin, count, distance);
            for (int h = 0; h < c->shape->heads; h++) {
                double p = kerple_read(c, KERPLE_P, h), a = kerple_read(c, KERPLE_A, h);
                real *row = s + (size_t)h * t->plane + (size_t)r * t->stride + begin;
                if (o->kind == KERPLE_LOG)
                    kerple_add_log(p, a, factor, distance, count, row);
                else
                    kerple_add_power(p, a, factor, distance, count, row);
            }
        }
    }
}

/* Sums of ds times the derivatives of -p ln(1 + aD): by p -ln(1 + aD), by a -pD / (1 + aD). */
static void kerple_sum_log(double p, double a, const double *distance, int count, const real *ds, double *by_p,
                           double *by_a)
{
    for (int j = 0; j < count; j++) {
        double inner = 1 + a * distance[j], logarithm = log(inner);
        if (p * logarithm > KERPLE_LOWEST)
            continue;
        *by_p -= (double)ds[j] * logarithm;
        *by_a -= (double)ds[j] * p * distance[j] / inner;
    }
}

/* The same of -a D^p: by p -a D^p ln D, 0 at D = 0; by a -D^p. */
static void kerple_sum_power(double p, double a, const double *log_distance, int count, const real *ds, double *by_p,
                             double *by_a)
{
    for (int j = 0; j < count; j++) {
        double power = exp(p * log_distance[j]);
        if (power == 0 || a * power > KERPLE_LOWEST)
            continue;
        *by_p -= (double)ds[j] * a * power * log_distance[j];
        *by_a -= (double)ds[j] * power;
    }
}

/* Straight through the clamps: the derivative at the value that is read goes to the parameter as it is. */
static void kerple_bias_bwd(const pe_context *c, const pe_tile *t, const real *ds)
{
    const kerple_options *o = c->options;
    double factor = kerple_factor(c, t), distance[KERPLE_CHUNK];
    for (int r = 0; r < t->rows; r++) {
        for (int begin = 0, visible = pe_visible(c, t, r); begin < visible; begin += KERPLE_CHUNK) {
            int count = visible - begin < KERPLE_CHUNK ? visible - begin : KERPLE_CHUNK;
            kerple_distances(c, t->row_begin + r, begin, count, distance);
            for (int h = 0; h < c->shape->heads; h++) {
                double p = kerple_read(c, KERPLE_P, h), a = kerple_read(c, KERPLE_A, h), by_p = 0, by_a = 0;
                const real *row = ds + (size_t)h * t->plane + (size_t)r * t->stride + begin;
                if (o->kind == KERPLE_LOG)
                    kerple_sum_log(p, a, distance, count, row, &by_p, &by_a);
                else
                    kerple_sum_power(p, a, distance, count, row, &by_p, &by_a);
                c->dtheta[KERPLE_P][h] += (real)(factor * by_p);
                c->dtheta[KERPLE_A][h] += (real)(factor * by_a);
            }
        }
    }
}

/* ------------------------------------------------------------------------------------------------ composite */

/* The weights exp(-a D^p) of some pairs, or of the distances 0, 1, 2 ..., with their derivatives. */
typedef struct kerple_weights {
    real weight[KERPLE_CHUNK], by_p[KERPLE_CHUNK], by_a[KERPLE_CHUNK];
} kerple_weights;

static void kerple_weigh(double p, double a, const double *log_distance, int count, kerple_weights *out)
{
    for (int j = 0; j < count; j++) {
        double power = fmin(exp(p * log_distance[j]), KERPLE_LOWEST), weight = exp(-a * power);
        out->weight[j] = (real)weight;
        out->by_a[j] = (real)(-power * weight);
        out->by_p[j] = power > 0 ? (real)(-a * power * weight * log_distance[j]) : 0;
    }
}

/* cache: one int, 1 if the tokens stand one apart. Then pairs at equal distance share a weight, and a tile of many rows
 * needs no more exponentials than it has keys.
 * save: s[heads][rows][keys] as it came, then weight, by_p, by_a of the distances 0 .. keys-1, [heads][3][keys]. */
static void kerple_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    const kerple_options *o = c->options;
    if (o->kind != KERPLE_COMPOSITE)
        return;
    out->cache_bytes = sizeof(int);
    out->save_reals = (size_t)c->shape->heads * (size_t)(rows + 3) * (size_t)keys;
}

static void kerple_prepare(const pe_context *c, void *cache)
{
    const kerple_options *o = c->options;
    if (o->kind != KERPLE_COMPOSITE)
        return;
    int one_apart = 1;
    for (int i = 1; i < c->len; i++)
        one_apart &= c->pos[i] == c->pos[0] + i;
    *(int *)cache = one_apart;
}

static unsigned kerple_idle_with(const void *options)
{
    return ((const kerple_options *)options)->kind == KERPLE_COMPOSITE ? 0 : PE_IDLE_SCORE;
}

static size_t kerple_table(const pe_context *c, const pe_tile *t, int h)
{
    return ((size_t)c->shape->heads * (size_t)t->rows + 3 * (size_t)h) * (size_t)t->keys;
}

static void kerple_fill_table(const pe_context *c, const pe_tile *t, int h, real *save)
{
    double p = kerple_read(c, KERPLE_WEIGHT_P, h), a = kerple_read(c, KERPLE_WEIGHT_A, h), distance[KERPLE_CHUNK];
    real *table = save + kerple_table(c, t, h);
    kerple_weights w;
    for (int begin = 0; begin < t->keys; begin += KERPLE_CHUNK) {
        int count = t->keys - begin < KERPLE_CHUNK ? t->keys - begin : KERPLE_CHUNK;
        for (int d = 0; d < count; d++)
            distance[d] = log(begin + d);
        kerple_weigh(p, a, distance, count, &w);
        memcpy(table + begin, w.weight, (size_t)count * sizeof(real));
        memcpy(table + t->keys + begin, w.by_p, (size_t)count * sizeof(real));
        memcpy(table + 2 * (size_t)t->keys + begin, w.by_a, (size_t)count * sizeof(real));
    }
}

/* out[j] = table[|i - begin - j|] */
static void kerple_look_up(const real *restrict table, int i, int begin, int count, real *restrict out)
{
    int past = i - begin + 1 < count ? i - begin + 1 : count;
    for (int j = 0; j < past; j++)
        out[j] = table[i - begin - j];
    for (int j = past > 0 ? past : 0; j < count; j++)
        out[j] = table[begin + j - i];
}

/* Weights and derivatives of query row r and the keys begin .. begin+count-1. */
static void kerple_weigh_keys(const pe_context *c, const pe_tile *t, const real *save, int h, int r, int begin,
                              int count, kerple_weights *out)
{
    int i = t->row_begin + r;
    if (*(const int *)c->cache) {
        const real *table = save + kerple_table(c, t, h);
        kerple_look_up(table, i, begin, count, out->weight);
        kerple_look_up(table + t->keys, i, begin, count, out->by_p);
        kerple_look_up(table + 2 * (size_t)t->keys, i, begin, count, out->by_a);
        return;
    }
    double distance[KERPLE_CHUNK];
    kerple_distances(c, i, begin, count, distance);
    kerple_weigh(kerple_read(c, KERPLE_WEIGHT_P, h), kerple_read(c, KERPLE_WEIGHT_A, h), distance, count, out);
}

/* s *= exp(-weight_a D^weight_p); the other kinds leave scores alone and save nothing. */
static void kerple_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    const kerple_options *o = c->options;
    kerple_weights w;
    for (int h = 0; o->kind == KERPLE_COMPOSITE && h < c->shape->heads; h++) {
        if (*(const int *)c->cache)
            kerple_fill_table(c, t, h, save);
        for (int r = 0; r < t->rows; r++) {
            real *row = s + (size_t)h * t->plane + (size_t)r * t->stride;
            real *before = save + ((size_t)h * (size_t)t->rows + (size_t)r) * (size_t)t->keys;
            for (int begin = 0, visible = pe_visible(c, t, r); begin < visible; begin += KERPLE_CHUNK) {
                int count = visible - begin < KERPLE_CHUNK ? visible - begin : KERPLE_CHUNK;
                kerple_weigh_keys(c, t, save, h, r, begin, count, &w);
                memcpy(before + begin, row + begin, (size_t)count * sizeof(real));
                for (int j = 0; j < count; j++)
                    row[begin + j] *= w.weight[j];
            }
        }
    }
}

/* ds *= weight; dweight_p += sum ds s d weight / d weight_p, likewise weight_a, with ds and s from before. */
static void kerple_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    const kerple_options *o = c->options;
    kerple_weights w;
    (void)g;
    for (int h = 0; o->kind == KERPLE_COMPOSITE && h < c->shape->heads; h++) {
        for (int r = 0; r < t->rows; r++) {
            real *row = ds + (size_t)h * t->plane + (size_t)r * t->stride, by_p = 0, by_a = 0;
            const real *before = save + ((size_t)h * (size_t)t->rows + (size_t)r) * (size_t)t->keys;
            for (int begin = 0, visible = pe_visible(c, t, r); begin < visible; begin += KERPLE_CHUNK) {
                int count = visible - begin < KERPLE_CHUNK ? visible - begin : KERPLE_CHUNK;
                kerple_weigh_keys(c, t, save, h, r, begin, count, &w);
#pragma omp simd reduction(+ : by_p, by_a)
                for (int j = 0; j < count; j++) {
                    real d = row[begin + j] * before[begin + j];
                    by_p += d * w.by_p[j];
                    by_a += d * w.by_a[j];
                    row[begin + j] *= w.weight[j];
                }
            }
            c->dtheta[KERPLE_WEIGHT_P][h] += by_p;
            c->dtheta[KERPLE_WEIGHT_A][h] += by_a;
        }
    }
}

static const char *const kerple_examples[] = {
    "kind=power",
    "kind=composite",
    "start=ones",
    "kind=power,start=ones,shared=false",
    "kind=composite,scaled=true",
    "eps=0.1,shared=false",
    NULL,
};

const pe_descriptor pe_encoding_kerple = {
    PE_DESCRIPTOR_HEAD,
    .name = "kerple",
    .family = "bias",
    .title = "Kernelised relative position bias (KERPLE)",
    .source = "Chi et al. 2022, KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation, section 4 "
              "and table 1, and the released code",
    .formula = "log: s_ij -= p ln(1 + a D); power: s_ij -= a D^p; composite: s_ij = s_ij exp(-weight_a D^weight_p) - "
               "a D^p; D = |pos_i - pos_j|, real-valued distances as they are. Every parameter is read as at least "
               "eps, exponents as at most 2, and a bias is at least -1e30",
    .notes =
        "The paper's r1, r2 are p, a of log and a, p of power. The released code overwrites its parameters by "
        "their clamped values whenever it runs, so that evaluation changes a checkpoint; here they are clamped "
        "when they are read and keep their bytes. The gradient is the same as there: that at the clamped value, "
        "passed straight through, so that a parameter outside can come back, if later than there, where every "
        "step starts at the bound. 0^p is 0 and so is its derivative. "
        "The paper adds the bias before the division by sqrt(head_dim), the code after it (option scaled). Copies "
        "that use signed distances take the logarithm of a negative number without a causal mask. NeMo's port has "
        "another form, -b ln(1 + a D^p) with b from ALiBi's slopes; its first version held a at 0, where the bias "
        "vanishes. The composite form is what the code does when the name of its encoding ends in ap_ap; the released "
        "configurations end in ap_, which is power. Its product is taken where the stack names this encoding, "
        "the difference together with all biases.",
    .claims = PE_SHIFT_INVARIANT | PE_ANY_LENGTH,
    .options = kerple_rows,
    .options_size = sizeof(kerple_options),
    .examples = kerple_examples,
    .params = kerple_params,
    .sizes = kerple_sizes,
    .prepare = kerple_prepare,
    .score = kerple_score,
    .score_bwd = kerple_score_bwd,
    .bias = kerple_bias,
    .bias_bwd = kerple_bias_bwd,
    .bibtex = "@inproceedings{chi2022kerple, title = {{KERPLE}: Kernelized Relative Positional Embedding for Length "
              "Extrapolation}, author = {Chi, Ta-Chung and Fan, Ting-Han and Ramadge, Peter J. and Rudnicky, "
              "Alexander I.}, booktitle = {Advances in Neural Information Processing Systems}, volume = {35}, pages = "
              "{8386--8399}, year = {2022}, eprint = {2205.09921}, archiveprefix = {arXiv}}",
    .idle_with = kerple_idle_with,
};
