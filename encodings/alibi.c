/* alibi.c - attention with linear biases: every head pays a fixed price for each token of distance. */
#include "pe.h"

#include <stdio.h>

enum { ALIBI_INTERLEAVED, ALIBI_GEOMETRIC, ALIBI_BFLOAT16, ALIBI_LEARNED };
enum { ALIBI_AUTO, ALIBI_CAUSAL, ALIBI_SYMMETRIC, ALIBI_ASYMMETRIC };

typedef struct alibi_options {
    int slopes, form, scaled, shared, biased_heads;
    double bias_max;
} alibi_options;

static const pe_option alibi_rows[] = {
    {"slopes", PE_OPTION_CHOICE, PE_OFFSET(alibi_options, slopes), "interleaved", 0, 0, 0,
     "interleaved|geometric|bfloat16|learned",
     "rule for the heads: interleaved (the released code), geometric (the paper's closed form, other numbers unless "
     "heads is a power of two), bfloat16 (interleaved, rounded to 8 bits as Falcon does), learned (exp of a trained "
     "number for each head, from interleaved on)"},
    {"bias_max", PE_OPTION_REAL, PE_OFFSET(alibi_options, bias_max), "8", 0.001, 1000, 0, NULL,
     "M in m_h = 2^(-M h/H): the last head's slope is 2^-M (paper: 8)"},
    {"form", PE_OPTION_CHOICE, PE_OFFSET(alibi_options, form), "auto", 0, 0, 0, "auto|causal|symmetric|asymmetric",
     "auto: causal under a causal mask, symmetric without one; asymmetric lets left and right differ by half a slope"},
    {"scaled", PE_OPTION_BOOL, PE_OFFSET(alibi_options, scaled), "false", 0, 0, 0, NULL,
     "true: the bias too is divided by sqrt(head_dim), as in Falcon without fused attention"},
    {"shared", PE_OPTION_BOOL, PE_OFFSET(alibi_options, shared), "true", 0, 0, 0, NULL,
     "slopes=learned, true: one set for all layers, as in Kazemnejad et al.'s code; false: one for each"},
    {"biased_heads", PE_OPTION_INT, PE_OFFSET(alibi_options, biased_heads), "auto", 1, 65536, 1, NULL,
     "heads that have a bias, the first ones; slopes are as if there were no others (auto: all)"},
    {0},
};

/* Heads with a slope: 0 .. result-1. */
static int alibi_heads(const alibi_options *o, const pe_shape *shape)
{
    return o->biased_heads == PE_AUTO_INT ? shape->heads : o->biased_heads;
}

static unsigned alibi_claims(const void *options)
{
    const alibi_options *o = options;
    return PE_SHIFT_INVARIANT | PE_ANY_LENGTH | (o->slopes == ALIBI_LEARNED ? 0 : PE_PARAMETER_FREE);
}

static int alibi_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    const alibi_options *o = options;
    if (o->form == ALIBI_CAUSAL && !shape->causal) {
        snprintf(message, size,
                 "form=causal has no meaning without a causal mask; use form=symmetric, asymmetric or auto");
        return -1;
    }
    if (alibi_heads(o, shape) > shape->heads) {
        snprintf(message, size, "biased_heads=%d, but there are only %d heads", o->biased_heads, shape->heads);
        return -1;
    }
    return 0;
}

/* Round to nearest, ties to even, keeping the upper 16 of a float's 32 bits. */
static double alibi_round_bfloat16(double value)
{
    float single = (float)value;
    unsigned bits;
    memcpy(&bits, &single, sizeof bits);
    bits += 0x7fff + ((bits >> 16) & 1);
    bits &= 0xffff0000u;
    memcpy(&single, &bits, sizeof single);
    return single;
}

/* m_h of section 3. With H no power of two the released code takes the slopes of the largest power of two below, then
 * every other slope of the next one: not monotone in h, which is no fault. */
static double alibi_slope(const alibi_options *o, int heads, int h)
{
    if (o->slopes == ALIBI_GEOMETRIC)
        return exp2(-o->bias_max * (h + 1) / heads);
    int power = 1;
    while (2 * power <= heads)
        power *= 2;
    double exponent = h < power ? (double)(h + 1) / power : (2 * (h - power) + 1) / (2.0 * power);
    double slope = exp2(-o->bias_max * exponent);
    return o->slopes == ALIBI_BFLOAT16 ? alibi_round_bfloat16(slope) : slope;
}

static int alibi_params(const void *options, const pe_shape *shape, pe_param *out)
{
    const alibi_options *o = options;
    if (o->slopes != ALIBI_LEARNED)
        return 0;
    out[0] = (pe_param){.name = "log_slope", .rows = 1, .cols = alibi_heads(o, shape), .per_layer = !o->shared};
    return 1;
}

static void alibi_init(const pe_context *c, int i, real *values)
{
    const alibi_options *o = c->options;
    int heads = alibi_heads(o, c->shape);
    (void)i;
    for (int h = 0; h < heads; h++)
        values[h] = (real)log(alibi_slope(o, heads, h));
}

/* What a unit of distance costs head h. */
static double alibi_price(const pe_context *c, const pe_tile *t, int h)
{
    const alibi_options *o = c->options;
    double slope =
        o->slopes == ALIBI_LEARNED ? exp((double)c->theta[0][h]) : alibi_slope(o, alibi_heads(o, c->shape), h);
    return slope * (o->scaled ? (double)t->scale : 1.0);
}

/* Half a unit less for keys of the past, if the form says so. */
static double alibi_discount(const pe_context *c)
{
    const alibi_options *o = c->options;
    return o->form == ALIBI_ASYMMETRIC ? 0.5 : 0.0;
}

static void alibi_bias(const pe_context *c, const pe_tile *t, real *s)
{
    const alibi_options *o = c->options;
    const double *pos = c->pos;
    for (int h = 0; h < alibi_heads(o, c->shape); h++) {
        double price = alibi_price(c, t, h), past = price * alibi_discount(c);
        for (int r = 0; r < t->rows; r++) {
            double origin = pos[t->row_begin + r];
            int visible = pe_visible(c, t, r);
            real *row = s + (size_t)h * t->plane + (size_t)r * t->stride;
            for (int j = 0; j < visible; j++)
                row[j] += (real)((pos[j] < origin ? past : 0.0) - price * fabs(origin - pos[j]));
        }
    }
}

/* The bias is -exp(l_h) times something that knows no l, so its derivative by l_h is the bias itself. */
static void alibi_bias_bwd(const pe_context *c, const pe_tile *t, const real *ds)
{
    const alibi_options *o = c->options;
    const double *pos = c->pos;
    double discount = alibi_discount(c);
    for (int h = 0; o->slopes == ALIBI_LEARNED && h < alibi_heads(o, c->shape); h++) {
        double sum = 0;
        for (int r = 0; r < t->rows; r++) {
            double origin = pos[t->row_begin + r];
            int visible = pe_visible(c, t, r);
            const real *row = ds + (size_t)h * t->plane + (size_t)r * t->stride;
#pragma omp simd reduction(+ : sum)
            for (int j = 0; j < visible; j++)
                sum += (double)row[j] * ((pos[j] < origin ? discount : 0.0) - fabs(origin - pos[j]));
        }
        c->dtheta[0][h] += (real)(alibi_price(c, t, h) * sum);
    }
}

static const char *const alibi_examples[] = {
    "slopes=geometric",
    "slopes=bfloat16",
    "slopes=learned",
    "slopes=learned,form=asymmetric,shared=false",
    "slopes=learned,scaled=true,biased_heads=1",
    "bias_max=4",
    "form=symmetric",
    "form=asymmetric",
    "scaled=true",
    "biased_heads=1",
    NULL,
};

const pe_descriptor pe_encoding_alibi = {
    PE_DESCRIPTOR_HEAD,
    .name = "alibi",
    .family = "bias",
    .title = "Attention with linear biases (ALiBi)",
    .source = "Press et al. 2022, Train Short, Test Long, section 3",
    .formula = "s_ij += -m_h |pos_i - pos_j|, m_h = 2^(-8h/H), h = 1..H; real-valued distances as they are. "
               "asymmetric: -m_h (|pos_i - pos_j| - 1/2 [pos_j < pos_i]). learned: m_h = exp(l_h)",
    .notes = "Heads that are no power of two: the paper's text and its released code differ; interleaved is the "
             "code's rule and that of BLOOM, MPT, GPT-NeoX and ggml (6 heads: 1/4 1/16 1/64 1/256 1/2 1/8; the order "
             "is meant). The bias is added after q.k is scaled by 1/sqrt(head_dim); Falcon adds it before "
             "(scaled=true). Released code adds +m_h j, which differs by a constant in each row: the same attention "
             "weights to 1e-6 in float at 4096 tokens. The asymmetric form is that of Ruoss et al. 2023; their "
             "randomised ALiBi samples distances, whereas a random position map here samples positions. "
             "slopes=learned is alibi_learned of Kazemnejad et al. 2023's code, where the slopes belong to the whole "
             "stack of layers; Press et al., section 3, saw no strong extrapolation with trained slopes. "
             "x-transformers' learned class has a second vector of slopes for the future, which no option here has. "
             "biased_heads is x-transformers' and NeMo's number of ALiBi heads: the rest attend without bias.",
    .claims = PE_SHIFT_INVARIANT | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .options = alibi_rows,
    .options_size = sizeof(alibi_options),
    .examples = alibi_examples,
    .claims_with = alibi_claims,
    .check = alibi_check,
    .params = alibi_params,
    .init = alibi_init,
    .bias = alibi_bias,
    .bias_bwd = alibi_bias_bwd,
    .bibtex = "@inproceedings{press2022train, title = {Train Short, Test Long: Attention with Linear Biases Enables "
              "Input Length Extrapolation}, author = {Press, Ofir and Smith, Noah A. and Lewis, Mike}, booktitle = "
              "{International Conference on Learning Representations}, year = {2022}, eprint = {2108.12409}, "
              "archiveprefix = {arXiv}}",
};
