/* temper.c - attention with a temperature of its own: fixed, by the length, or by the query's position. */
#include "pe.h"

#include <stdio.h>

enum { TEMPER_LENGTH, TEMPER_FIXED, TEMPER_LLAMA4 };

typedef struct temper_options {
    int form;
    double coefficient, factor, scale, interval;
} temper_options;

static const pe_option temper_rows[] = {
    {"form", PE_OPTION_CHOICE, PE_OFFSET(temper_options, form), "length", 0, 0, 0, "length|fixed|llama4",
     "length: grows with the logarithm of the length (DroPE); fixed: one factor; llama4: grows with the query's "
     "position "
     "(Llama 4)"},
    {"coefficient", PE_OPTION_REAL, PE_OFFSET(temper_options, coefficient), "0.412", -10, 10, 0, NULL,
     "form=length: c in 1 + c ln s (DroPE: 0.412 for its model trained from scratch, 0.103 for SmolLM)"},
    {"factor", PE_OPTION_REAL, PE_OFFSET(temper_options, factor), "1.2", 0, 1000, 0, NULL,
     "form=fixed: the factor (Wang et al. 2024: 1.2 for a model without positions at twice its training length)"},
    {"scale", PE_OPTION_REAL, PE_OFFSET(temper_options, scale), "0.1", -10, 10, 0, NULL,
     "form=llama4: a in 1 + a ln(...) (Llama 4: 0.1)"},
    {"interval", PE_OPTION_REAL, PE_OFFSET(temper_options, interval), "8192", 1e-3, 1e9, 0, NULL,
     "form=llama4: positions from one step to the next (Llama 4: 8192)"},
    {0},
};

/* An option of another form would silently do nothing. */
static int temper_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    const temper_options *o = options;
    const char *idle = o->form != TEMPER_LENGTH && o->coefficient != 0.412 ? "coefficient"
                       : o->form != TEMPER_FIXED && o->factor != 1.2       ? "factor"
                       : o->form != TEMPER_LLAMA4 && o->scale != 0.1       ? "scale"
                       : o->form != TEMPER_LLAMA4 && o->interval != 8192   ? "interval"
                                                                           : NULL;
    (void)shape;
    if (!idle)
        return 0;
    snprintf(message, size, "%s has a meaning in form=%s only", idle,
             idle[0] == 'c'   ? "length"
             : idle[0] == 'f' ? "fixed"
                              : "llama4");
    return -1;
}

/* 1: under these options nothing is ever multiplied. */
static int temper_is_idle(const temper_options *o)
{
    return o->form == TEMPER_LENGTH ? o->coefficient == 0 : o->form == TEMPER_FIXED ? o->factor == 1 : o->scale == 0;
}

static unsigned temper_claims(const void *options)
{
    const temper_options *o = options;
    unsigned claims = PE_PARAMETER_FREE | PE_ANY_LENGTH;
    if (o->form != TEMPER_LLAMA4 || temper_is_idle(o))
        claims |= PE_SHIFT_INVARIANT | PE_POSITION_BLIND;
    if (temper_is_idle(o))
        claims |= PE_ZERO_AT_INIT;
    return claims;
}

static real temper_factor(const pe_context *c, int query)
{
    const temper_options *o = c->options;
    switch (o->form) {
    case TEMPER_FIXED:
        return (real)o->factor;
    case TEMPER_LLAMA4:
        return (real)(1 + o->scale * log1p(floor((c->pos[query] + 1) / o->interval)));
    default:
        return (real)(1 + o->coefficient * log(fmax(1, (double)c->total_len / c->shape->train_len)));
    }
}

/* s[h][r][j] *= factor of row r; the backward pass does the same to ds. */
static void temper_multiply(const pe_context *c, const pe_tile *t, real *s)
{
    for (int r = 0; r < t->rows; r++) {
        real factor = temper_factor(c, t->row_begin + r);
        int visible = pe_visible(c, t, r);
        for (int h = 0; factor != 1 && h < c->shape->heads; h++) {
            real *row = s + (size_t)h * t->plane + (size_t)r * t->stride;
            for (int j = 0; j < visible; j++)
                row[j] *= factor;
        }
    }
}

static void temper_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    (void)save;
    temper_multiply(c, t, s);
}

static void temper_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    (void)save, (void)g;
    temper_multiply(c, t, ds);
}

static const char *const temper_examples[] = {
    "coefficient=0.103", "form=fixed", "form=fixed,factor=1", "form=llama4,interval=4", "form=llama4,scale=0", NULL,
};

const pe_descriptor pe_encoding_temper = {
    PE_DESCRIPTOR_HEAD,
    .name = "temper",
    .family = "temperature",
    .title = "Attention temperature",
    .source =
        "length: Gelberg et al. 2025, Extending the Context of Pretrained LLMs by Dropping Their Positional Embeddings "
        "(DroPE), appendix C.2; fixed: Wang et al. 2024, Length Generalization of Causal Transformers without "
        "Position Encoding; llama4: released code of Llama 4",
    .formula =
        "s_ij *= beta; length: beta = 1 + c ln(max(1, total_len / training length)); fixed: beta = factor; llama4: "
        "beta_i = 1 + a ln(1 + floor((pos_i + 1) / interval)), fractions of positions as they are before the floor",
    .notes =
        "beta multiplies scores: it is the inverse of a temperature. The length counts tokens, and while decoding "
        "those of the complete sequence. By length nothing changes up to the training length, so training is not "
        "touched. Llama 4 does this in its layers without rotation only, which is written "
        "[rope,rope,rope,temper(form=llama4)]. It multiplies what earlier members of a stack made of s, as if q were "
        "longer, and no bias: in rope+temper the rotated product, in alibi+temper the product without the slopes.",
    .claims = PE_SHIFT_INVARIANT | PE_POSITION_BLIND | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .options = temper_rows,
    .options_size = sizeof(temper_options),
    .examples = temper_examples,
    .claims_with = temper_claims,
    .check = temper_check,
    .score = temper_score,
    .score_bwd = temper_score_bwd,
    .bibtex = "@misc{gelberg2025drope, title = {Extending the Context of Pretrained {LLMs} by Dropping Their "
              "Positional Embeddings}, author = {Gelberg, Yoav and Eguchi, Koshi and Akiba, Takuya and Cetin, "
              "Edoardo}, year = {2025}, eprint = {2512.12167}, archiveprefix = {arXiv}} "
              "@inproceedings{wang2024length, title = {Length Generalization of Causal Transformers without Position "
              "Encoding}, author = {Wang, Jie and Ji, Tao and Wu, Yuanbin and Yan, Hang and Gui, Tao and Zhang, Qi "
              "and Huang, Xuanjing and Wang, Xiaoling}, booktitle = {Findings of the Association for Computational "
              "Linguistics: ACL 2024}, year = {2024}, eprint = {2404.12224}, archiveprefix = {arXiv}}",
};
