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

enum { FOX_CHUNK = 64, FOX_HEADS = 8 }; /* tokens and heads that are worked off together */

/* Of a stretch of tokens: ln f and 1 - f, f the sigmoid of the logit z. Without cancellation and without overflow: with
 * e = exp(-|z|), ln f = min(z, 0) - ln(1 + e) and 1 - f is e or 1 over 1 + e. */
static void fox_fade(const real *logit, real *log_f, real *slope)
{
    const pe_vec none = pe_vec_fill(0), most = pe_vec_fill(87);
    for (int t = 0; t < FOX_CHUNK; t += PE_VEC_LANES) {
        pe_vec z = pe_vec_load(logit + t), e = pe_vec_exp(-pe_vec_min(pe_vec_max(z, -z), most));
        pe_vec_store(log_f + t, pe_vec_min(z, none) - pe_vec_log1p(e));
        pe_vec_store(slope + t, pe_vec_select(z < 0, 1 + none, e) / (1 + e));
    }
}

/* The same where all tokens have the logit b_h; fixed: that of -1/t_h, inverted. */
static void fox_fade_alike(const pe_context *c, int h, real *log_f, real *slope)
{
    const fox_options *o = c->options;
    double z = o->data == FOX_FIXED ? -log(expm1(1 / fox_time(o, c->shape, h))) : (double)c->theta[0][h];
    double one = fmin(z, 0) - log1p(exp(-fabs(z)));
    for (int t = 0; t < FOX_CHUNK; t++) {
        log_f[t] = (real)one;
        slope[t] = (real)exp(one - z); /* 1 - f = f exp(-z) */
    }
}

/* save (=): for each head high[len], low[len] with c_t = high + low, and slope[len] = d ln f_t / d logit = 1 - f_t. The
 * gate of token 0 has nothing to fade: c_0 = 0. */
static void fox_gate(const pe_context *c, const real *x, real *save)
{
    const fox_options *o = c->options;
    int width = c->shape->width;
    real logit[FOX_CHUNK] = {0}, log_f[FOX_CHUNK], slope[FOX_CHUNK];
    for (int h = 0; h < c->shape->heads; h++) {
        real *high = save + (size_t)h * FOX_ROWS * (size_t)c->len, *low = high + c->len;
        double sum = 0;
        if (o->data != FOX_DEPENDENT)
            fox_fade_alike(c, h, log_f, slope);
        for (int begin = 0, count; begin < c->len; begin += count) {
            count = c->len - begin < FOX_CHUNK ? c->len - begin : FOX_CHUNK;
            for (int t = 0; t < count && o->data == FOX_DEPENDENT; t++)
                logit[t] = c->theta[0][h] +
                           pe_dot(x + (size_t)(begin + t) * width, c->theta[1] + (size_t)h * width, width);
            if (o->data == FOX_DEPENDENT)
                fox_fade(logit, log_f, slope);
            for (int t = 0; t < count; t++) {
                sum += begin + t > 0 ? (double)log_f[t] : 0;
                high[begin + t] = (real)sum;
                low[begin + t] = (real)(sum - (double)high[begin + t]);
            }
            memcpy(low + c->len + begin, slope, (size_t)count * sizeof *slope);
        }
    }
}

/* dsave: only the high rows are used; they hold dc. d ln f_l is the sum of dc over l and all tokens after it: d (=) its
 * gradient to the logits of the stretch, returns their sum. after: of all tokens behind it, brought up to date. */
static double fox_logits_bwd(const real *dc, const real *slope, double *after, int begin, int count, real d[FOX_CHUNK])
{
    double db = 0;
    for (int t = count - 1; t >= 0; t--) {
        *after += (double)dc[begin + t];
        d[t] = begin + t > 0 ? (real)(*after * (double)slope[begin + t]) : 0;
        db += (double)d[t];
    }
    return db;
}

static void fox_gate_bwd(const pe_context *c, const real *x, const real *save, const real *dsave, real *dx)
{
    const fox_options *o = c->options;
    size_t width = (size_t)c->shape->width;
    real d[FOX_HEADS][FOX_CHUNK];
    for (int first = 0, heads; o->data != FOX_FIXED && first < c->shape->heads; first += heads) {
        double after[FOX_HEADS] = {0}, db[FOX_HEADS] = {0};
        heads = c->shape->heads - first < FOX_HEADS ? c->shape->heads - first : FOX_HEADS;
        for (int begin = (c->len - 1) / FOX_CHUNK * FOX_CHUNK; begin >= 0; begin -= FOX_CHUNK) {
            int count = c->len - begin < FOX_CHUNK ? c->len - begin : FOX_CHUNK;
            for (int h = 0; h < heads; h++)
                db[h] += fox_logits_bwd(fox_saved(c, dsave, first + h, FOX_HIGH),
                                        fox_saved(c, save, first + h, FOX_SLOPE), &after[h], begin, count, d[h]);
            if (o->data == FOX_INDEPENDENT)
                continue;
            pe_product(&(pe_product_job){.rows = heads, .cols = (int)width, .depth = count, .a = d[0],
                                         .a_row = FOX_CHUNK, .a_col = 1, .b = x + (size_t)begin * width,
                                         .b_row = width, .c = c->dtheta[1] + (size_t)first * width, .c_row = width,
                                         .add = 1});
            pe_product(&(pe_product_job){.rows = count, .cols = (int)width, .depth = heads, .a = d[0], .a_row = 1,
                                         .a_col = FOX_CHUNK, .b = c->theta[1] + (size_t)first * width,
                                         .b_row = width, .c = dx + (size_t)begin * width, .c_row = width, .add = 1});
        }
        for (int h = 0; h < heads; h++)
            c->dtheta[0][first + h] += (real)db[h];
    }
}

/* s_ij += c_i - c_j: high parts of nearby tokens cancel exactly, low parts hold what they miss. */
static void fox_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    (void)save;
    for (int h = 0; h < c->shape->heads; h++) {
        const real *high = fox_saved(c, t->gate, h, FOX_HIGH), *low = fox_saved(c, t->gate, h, FOX_LOW);
        for (int r = 0; r < t->rows; r++) {
            int i = t->row_begin + r, j = 0;
            real *row = s + (size_t)h * t->plane + (size_t)r * t->stride;
            for (; j < i && j + PE_VEC_LANES <= t->keys; j += PE_VEC_LANES) {
                pe_vec more = (high[i] - pe_vec_load(high + j)) + (low[i] - pe_vec_load(low + j));
                more = pe_vec_select(pe_vec_below(j, i), more, pe_vec_fill(0));
                pe_vec_store(row + j, pe_vec_load(row + j) + more);
            }
            for (; j < i; j++)
                row[j] += (high[i] - high[j]) + (low[i] - low[j]);
        }
    }
}

/* s_ij itself passes through, so ds stays; dc_i += sum_j ds_ij, dc_j -= ds_ij. */
static void fox_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    const fox_options *o = c->options;
    (void)save;
    for (int h = 0; o->data != FOX_FIXED && h < c->shape->heads; h++) {
        real *dc = g->dgate + (size_t)h * FOX_ROWS * (size_t)c->len;
        for (int r = 0; r < t->rows; r++) {
            int i = t->row_begin + r, j = 0;
            const real *row = ds + (size_t)h * t->plane + (size_t)r * t->stride;
            pe_vec whole = pe_vec_fill(0);
            real sum = 0;
            for (; j < i && j + PE_VEC_LANES <= t->keys; j += PE_VEC_LANES) {
                pe_vec d = pe_vec_select(pe_vec_below(j, i), pe_vec_load(row + j), pe_vec_fill(0));
                pe_vec_store(dc + j, pe_vec_load(dc + j) - d);
                whole += d;
            }
            for (; j < i; j++) {
                dc[j] -= row[j];
                sum += row[j];
            }
            dc[i] += sum + pe_vec_sum(whole);
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
