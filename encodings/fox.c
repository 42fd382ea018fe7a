/* fox.c - forgetting transformer: every token fades all keys before it by a factor of its own, the forget gate.
 *
 * With c_i = ln f_1 + .. + ln f_i the score of a pair grows by c_i - c_j. The sums become large where their differences
 * are small, so each is kept as a pair of reals, high + low. */
#include "pe.h"

#include <stdio.h>

enum { FOX_DEPENDENT, FOX_INDEPENDENT, FOX_FIXED };
enum { FOX_HIGH, FOX_LOW, FOX_SLOPE, FOX_ROWS }; /* what gate saves for each head: FOX_ROWS rows of [len] */

typedef struct fox_options {
    int data;
    double start, deviation, time_min, time_max;
} fox_options;

static const pe_option fox_rows[] = {
    {"data", PE_OPTION_CHOICE, PE_OFFSET(fox_options, data), "dependent", 0, 0, 0, "dependent|independent|fixed",
     "dependent: f = sigmoid(w_h.x + b_h), w and b learned (paper); independent: f = sigmoid(b_h), b learned; fixed: "
     "the "
     "same without learning"},
    {"start", PE_OPTION_REAL, PE_OFFSET(fox_options, start), "0", -100, 100, 0, NULL,
     "start value of b_h with data=dependent; released code: 0, where a new gate halves the past at every token; "
     "x-transformers: 5"},
    {"deviation", PE_OPTION_REAL, PE_OFFSET(fox_options, deviation), "0.02", 0, 100, 0, NULL,
     "standard deviation of the start values of w (released code: 0.02)"},
    {"time_min", PE_OPTION_REAL, PE_OFFSET(fox_options, time_min), "2", 1e-3, 1e9, 0, NULL,
     "with data=independent or fixed: tokens after which the first head's past has faded to 1/e; released code leaves "
     "it "
     "to its user"},
    {"time_max", PE_OPTION_REAL, PE_OFFSET(fox_options, time_max), "auto", 1e-3, 1e9, 1, NULL,
     "the same for the last head, the others in a geometric row between; auto: the training length"},
    {0},
};

/* t_h, tokens: ln f_h starts at -1/t_h. */
static double fox_time(const fox_options *o, const pe_shape *shape, int h)
{
    double last = o->time_max == PE_AUTO_REAL ? fmax(shape->train_len, o->time_min) : o->time_max;
    double share = shape->heads > 1 ? (double)h / (shape->heads - 1) : 0;
    return o->time_min * pow(last / o->time_min, share);
}

static int fox_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    const fox_options *o = options;
    (void)shape;
    if (o->time_max == PE_AUTO_REAL || o->time_max >= o->time_min)
        return 0;
    snprintf(message, size, "time_max=%g is below time_min=%g", o->time_max, o->time_min);
    return -1;
}

static int fox_params(const void *options, const pe_shape *shape, pe_param *out)
{
    const fox_options *o = options;
    if (o->data == FOX_FIXED)
        return 0;
    out[0] = (pe_param){
        .name = "b", .rows = 1, .cols = shape->heads, .mean = o->data == FOX_DEPENDENT ? o->start : 0, .per_layer = 1};
    out[1] =
        (pe_param){.name = "w", .rows = shape->heads, .cols = shape->width, .deviation = o->deviation, .per_layer = 1};
    return o->data == FOX_DEPENDENT ? 2 : 1;
}

/* data=independent: b_h such that -1/ln sigmoid(b_h) = t_h. */
static void fox_init(const pe_context *c, int i, real *values)
{
    const fox_options *o = c->options;
    if (i != 0 || o->data != FOX_INDEPENDENT)
        return;
    for (int h = 0; h < c->shape->heads; h++)
        values[h] = (real)-log(expm1(1 / fox_time(o, c->shape, h)));
}

static unsigned fox_claims_with(const void *options)
{
    const fox_options *o = options;
    return PE_SHIFT_INVARIANT | PE_POSITION_BLIND | PE_ANY_LENGTH | (o->data == FOX_FIXED ? PE_PARAMETER_FREE : 0);
}

static void fox_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)rows;
    (void)keys;
    out->gate_reals = (size_t)c->len * (size_t)c->shape->heads * FOX_ROWS;
}

static const real *fox_saved(const pe_context *c, const real *gate, int h, int row)
{
    return gate + (size_t)(h * FOX_ROWS + row) * (size_t)c->len;
}

/* What f is the sigmoid of. fixed: that of -1/t_h, inverted. */
static double fox_logit(const pe_context *c, const real *x, int h)
{
    const fox_options *o = c->options;
    int width = c->shape->width;
    if (o->data == FOX_FIXED)
        return -log(expm1(1 / fox_time(o, c->shape, h)));
    double b = (double)c->theta[0][h];
    return o->data == FOX_DEPENDENT ? b + (double)pe_dot(x, c->theta[1] + (size_t)h * width, width) : b;
}

/* ln sigmoid(z), without cancellation and without overflow. */
static double fox_log_sigmoid(double z)
{
    return fmin(z, 0) - log1p(exp(-fabs(z)));
}

/* save (=): for each head high[len], low[len] with c_t = high + low, and slope[len] = d ln f_t / d logit = 1 - f_t. The
 * gate of token 0 has nothing to fade: c_0 = 0. */
static void fox_gate(const pe_context *c, const real *x, real *save)
{
    for (int h = 0; h < c->shape->heads; h++) {
        real *high = save + (size_t)h * FOX_ROWS * (size_t)c->len, *low = high + c->len, *slope = low + c->len;
        double sum = 0;
        for (int t = 0; t < c->len; t++) {
            double logit = fox_logit(c, x + (size_t)t * c->shape->width, h), log_f = fox_log_sigmoid(logit);
            sum += t > 0 ? log_f : 0;
            high[t] = (real)sum;
            low[t] = (real)(sum - (double)high[t]);
            slope[t] = (real)exp(log_f - logit); /* 1 - f = f exp(-logit) */
        }
    }
}

/* dsave: only the high rows are used; they hold dc. d ln f_l is the sum of dc over l and all tokens after it. */
static void fox_gate_bwd(const pe_context *c, const real *x, const real *save, const real *dsave, real *dx)
{
    const fox_options *o = c->options;
    int width = c->shape->width;
    for (int h = 0; o->data != FOX_FIXED && h < c->shape->heads; h++) {
        const real *dc = fox_saved(c, dsave, h, FOX_HIGH), *slope = fox_saved(c, save, h, FOX_SLOPE);
        double after = 0, db = 0;
        for (int t = c->len - 1; t > 0; t--) {
            after += (double)dc[t];
            double d = after * (double)slope[t];
            db += d;
            if (o->data == FOX_INDEPENDENT)
                continue;
            pe_axpy(c->dtheta[1] + (size_t)h * width, (real)d, x + (size_t)t * width, width);
            pe_axpy(dx + (size_t)t * width, (real)d, c->theta[1] + (size_t)h * width, width);
        }
        c->dtheta[0][h] += (real)db;
    }
}

/* s_ij += c_i - c_j: high parts of nearby tokens cancel exactly, low parts hold what they miss. */
static void fox_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    (void)save;
    for (int h = 0; h < c->shape->heads; h++) {
        const real *restrict high = fox_saved(c, t->gate, h, FOX_HIGH);
        const real *restrict low = fox_saved(c, t->gate, h, FOX_LOW);
        for (int r = 0; r < t->rows; r++) {
            int i = t->row_begin + r;
            real *restrict row = s + (size_t)h * t->plane + (size_t)r * t->stride;
            real own_high = high[i], own_low = low[i];
            for (int j = 0; j < i; j++)
                row[j] += (own_high - high[j]) + (own_low - low[j]);
        }
    }
}

/* s_ij itself passes through, so ds stays; dc_i += sum_j ds_ij, dc_j -= ds_ij. */
static void fox_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    const fox_options *o = c->options;
    (void)save;
    for (int h = 0; o->data != FOX_FIXED && h < c->shape->heads; h++) {
        real *restrict dc = g->dgate + (size_t)h * FOX_ROWS * (size_t)c->len;
        for (int r = 0; r < t->rows; r++) {
            int i = t->row_begin + r;
            const real *restrict row = ds + (size_t)h * t->plane + (size_t)r * t->stride;
            real sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int j = 0; j < i; j++) {
                dc[j] -= row[j];
                sum += row[j];
            }
            dc[i] += sum;
        }
    }
}

static const char *const fox_examples[] = {
    "start=5,deviation=0.1", "data=independent", "data=independent,time_min=1,time_max=64", "data=fixed", NULL,
};

const pe_descriptor pe_encoding_fox = {
    PE_DESCRIPTOR_HEAD,
    .name = "fox",
    .family = "contextual",
    .title = "Forgetting transformer (FoX)",
    .source =
        "Lin et al. 2025, Forgetting Transformer: Softmax Attention with a Forget Gate, eq. 4-8, and the released "
        "code",
    .formula = "s_ij += sum over l = j+1 .. i of ln f_l, f_l = sigmoid(w_h.x_l + b_h), x_l the layer's normalised "
               "input. Tokens are counted: positions, and so their fractions, do not enter",
    .notes =
        "The key's own gate is not applied, so the diagonal is 0 and the first token's gate does nothing. Constant "
        "gates exp(-m_h) are ALiBi. x-transformers has it as data-dependent ALiBi, with b from 5 and, without a "
        "causal mask, a second set of gates for the future; here a causal mask is needed. CABLE (Veisi et al. "
        "2025) in its released code subtracts softplus(w_h.x_l + b_h) for each token: that is this encoding with w "
        "and b negated. In a stack, members after it see decayed scores: fox+cope counts decayed gates, cope+fox "
        "does not.",
    .claims = PE_SHIFT_INVARIANT | PE_POSITION_BLIND | PE_ANY_LENGTH,
    .claims_with = fox_claims_with,
    .causal_only = 1,
    .options = fox_rows,
    .options_size = sizeof(fox_options),
    .examples = fox_examples,
    .check = fox_check,
    .params = fox_params,
    .init = fox_init,
    .sizes = fox_sizes,
    .gate = fox_gate,
    .gate_bwd = fox_gate_bwd,
    .score = fox_score,
    .score_bwd = fox_score_bwd,
    .bibtex = "@inproceedings{lin2025forgetting, title = {Forgetting Transformer: Softmax Attention with a Forget "
              "Gate}, author = {Lin, Zhixuan and Nikishin, Evgenii and He, Xu Owen and Courville, Aaron}, booktitle = "
              "{International Conference on Learning Representations}, year = {2025}, eprint = {2503.02130}, "
              "archiveprefix = {arXiv}}",
};
