/* alibi.c - attention with linear biases: every head pays a fixed price for each token of distance. */
#include "pe.h"

#include <stdio.h>

enum { ALIBI_INTERLEAVED, ALIBI_GEOMETRIC, ALIBI_BFLOAT16 };
enum { ALIBI_AUTO, ALIBI_CAUSAL, ALIBI_SYMMETRIC, ALIBI_ASYMMETRIC };

typedef struct alibi_options {
    int slopes, form, scaled;
    double bias_max;
} alibi_options;

static const pe_option alibi_rows[] = {
    {"slopes", PE_OPTION_CHOICE, PE_OFFSET(alibi_options, slopes), "interleaved", 0, 0, 0,
     "interleaved|geometric|bfloat16",
     "rule for the heads: interleaved (the released code), geometric (the paper's closed form, other numbers unless "
     "heads is a power of two), bfloat16 (interleaved, rounded to 8 bits as Falcon does)"},
    {"bias_max", PE_OPTION_REAL, PE_OFFSET(alibi_options, bias_max), "8", 0.001, 1000, 0, NULL,
     "M in m_h = 2^(-M h/H): the last head's slope is 2^-M (paper: 8)"},
    {"form", PE_OPTION_CHOICE, PE_OFFSET(alibi_options, form), "auto", 0, 0, 0, "auto|causal|symmetric|asymmetric",
     "auto: causal under a causal mask, symmetric without one; asymmetric lets left and right differ by half a slope"},
    {"scaled", PE_OPTION_BOOL, PE_OFFSET(alibi_options, scaled), "false", 0, 0, 0, NULL,
     "true: the bias too is divided by sqrt(head_dim), as in Falcon without fused attention"},
    {0},
};

static int alibi_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    const alibi_options *o = options;
    if (o->form != ALIBI_CAUSAL || shape->causal)
        return 0;
    snprintf(message, size, "form=causal has no meaning without a causal mask; use form=symmetric, asymmetric or auto");
    return -1;
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

static void alibi_bias(const pe_context *c, const pe_tile *t, real *s)
{
    const alibi_options *o = c->options;
    const double *pos = c->pos;
    for (int h = 0; h < c->shape->heads; h++) {
        double slope = alibi_slope(o, c->shape->heads, h) * (o->scaled ? (double)t->scale : 1.0);
        double past = o->form == ALIBI_ASYMMETRIC ? 0.5 * slope : 0.0;
        for (int r = 0; r < t->rows; r++) {
            int i = t->row_begin + r;
            int visible = c->shape->causal ? i + 1 : t->keys;
            real *row = s + (size_t)h * t->plane + (size_t)r * t->stride;
            for (int j = 0; j < visible; j++)
                row[j] += (real)((pos[j] < pos[i] ? past : 0.0) - slope * fabs(pos[i] - pos[j]));
        }
    }
}

static const char *const alibi_examples[] = {
    "slopes=geometric", "slopes=bfloat16", "bias_max=4", "form=symmetric", "form=asymmetric", "scaled=true", NULL,
};

const pe_descriptor pe_encoding_alibi = {
    PE_DESCRIPTOR_HEAD,
    .name = "alibi",
    .family = "bias",
    .title = "Attention with linear biases (ALiBi)",
    .source = "Press et al. 2022, Train Short, Test Long, section 3",
    .formula = "s_ij += -m_h |pos_i - pos_j|, m_h = 2^(-8h/H), h = 1..H; real-valued distances as they are. "
               "asymmetric: -m_h (|pos_i - pos_j| - 1/2 [pos_j < pos_i])",
    .notes = "Heads that are no power of two: the paper's text and its released code differ; interleaved is the "
             "code's rule and that of BLOOM, MPT, GPT-NeoX and ggml (6 heads: 1/4 1/16 1/64 1/256 1/2 1/8; the order "
             "is meant). The bias is added after q.k is scaled by 1/sqrt(head_dim); Falcon adds it before "
             "(scaled=true). Released code adds +m_h j, which differs by a constant in each row: the same attention "
             "weights to 1e-6 in float at 4096 tokens. The asymmetric form is that of Ruoss et al. 2023; their "
             "randomised ALiBi samples distances, whereas a random position map here samples positions.",
    .claims = PE_SHIFT_INVARIANT | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .options = alibi_rows,
    .options_size = sizeof(alibi_options),
    .examples = alibi_examples,
    .check = alibi_check,
    .bias = alibi_bias,
};
