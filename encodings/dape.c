/* dape.c - data-adaptive positional encoding: a small network sees, at every pair, the scores and the biases of all
 * heads and corrects the scores.
 *
 * Its two layers are convolutions along the keys, [channels] -> [channels] over `kernel` neighbouring keys; keys that
 * the query cannot see count as 0 in both. The work goes by rows and chunks of keys; a chunk of n keys needs `half` =
 * (kernel-1)/2 more hidden keys and 2*half more inputs on either side. */
#include "pe.h"

#include <stdio.h>

enum { DAPE_CHUNK = 64, DAPE_KERNEL_MAX = 15, DAPE_WIDE = DAPE_CHUNK + 2 * (DAPE_KERNEL_MAX - 1) };
enum { DAPE_HEADS_MAX = 64, DAPE_HIDDEN_MAX = 128 };
enum { DAPE_W1, DAPE_B1, DAPE_W2, DAPE_B2 };

typedef struct dape_options {
    int hidden, kernel, residual;
} dape_options;

static const pe_option dape_rows[] = {
    {"hidden", PE_OPTION_INT, PE_OFFSET(dape_options, hidden), "32", 1, DAPE_HIDDEN_MAX, 0, NULL,
     "hidden units of the network (released code: 32)"},
    {"kernel", PE_OPTION_INT, PE_OFFSET(dape_options, kernel), "1", 1, DAPE_KERNEL_MAX, 0, NULL,
     "neighbouring keys that both layers see, an odd number: 1 in the first paper, 3 in DAPE V2"},
    {"residual", PE_OPTION_BOOL, PE_OFFSET(dape_options, residual), "true", 0, 0, 0, NULL,
     "true: s + B + f(s, B), as in the released code; false: s + f(s, B), the bias acts through the network only"},
    {0},
};

static const real dape_leak = (real)0.01; /* slope of LeakyReLU below 0, PyTorch's default */

static int dape_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    const dape_options *o = options;
    if (o->kernel % 2 == 0) {
        snprintf(message, size, "kernel=%d is even; it needs as many neighbours on the left as on the right",
                 o->kernel);
        return -1;
    }
    if (shape->heads > DAPE_HEADS_MAX) {
        snprintf(message, size, "%d heads are too many; at most %d", shape->heads, (int)DAPE_HEADS_MAX);
        return -1;
    }
    return 0;
}

/* As PyTorch starts linear and convolutional layers: weights and constants uniform within 1/sqrt(inputs of a unit). */
static void dape_describe(const char *name, int rows, int cols, int inputs, pe_param *out)
{
    *out = (pe_param){.name = name,
                      .rows = rows,
                      .cols = cols,
                      .deviation = 1 / sqrt(inputs),
                      .init = PE_INIT_UNIFORM,
                      .per_layer = 1};
}

/* w1: [hidden][2*heads][kernel], channels: scores of all heads, then biases. w2: [heads][hidden][kernel]. */
static int dape_params(const void *options, const pe_shape *shape, pe_param *out)
{
    const dape_options *o = options;
    int first = 2 * shape->heads * o->kernel, second = o->hidden * o->kernel;
    dape_describe("w1", o->hidden, first, first, &out[DAPE_W1]);
    dape_describe("b1", 1, o->hidden, first, &out[DAPE_B1]);
    dape_describe("w2", shape->heads, second, second, &out[DAPE_W2]);
    dape_describe("b2", 1, shape->heads, second, &out[DAPE_B2]);
    return 4;
}

/* save: the scores as they came, [heads][rows][keys]. */
static void dape_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    out->save_reals = (size_t)c->shape->heads * (size_t)rows * (size_t)keys;
}

/* ------------------------------------------------------------------------------------------------ one chunk */

typedef real dape_line[DAPE_WIDE];

/* Lines of keys. input and grad_output begin 2*half keys before the chunk, hidden and grad_hidden half keys. */
typedef struct dape_space {
    int heads, units, kernel, half;
    int begin, count, visible; /* the chunk's keys, and how many the query sees */
    dape_line input[2 * DAPE_HEADS_MAX], hidden[DAPE_HIDDEN_MAX];
    dape_line grad_output[DAPE_HEADS_MAX], grad_hidden[DAPE_HIDDEN_MAX];
} dape_space;

static void dape_open(const pe_context *c, const pe_tile *t, int r, dape_space *x)
{
    const dape_options *o = c->options;
    x->heads = c->shape->heads;
    x->units = o->hidden;
    x->kernel = o->kernel;
    x->half = o->kernel / 2;
    x->begin = 0;
    x->visible = pe_visible(c, t, r);
    x->count = x->visible < DAPE_CHUNK ? x->visible : DAPE_CHUNK;
}

static int dape_next(dape_space *x)
{
    int rest;
    x->begin += x->count;
    rest = x->visible - x->begin;
    x->count = rest < DAPE_CHUNK ? rest : DAPE_CHUNK;
    return x->count > 0;
}

/* line[w] (=) from[first + w], 0 outside 0 .. visible-1. */
static void dape_copy(const real *from, int first, int width, int visible, real *line)
{
    for (int w = 0; w < width; w++)
        line[w] = first + w >= 0 && first + w < visible ? from[first + w] : 0;
}

/* A bias that removes a key, -INFINITY, is read as 0. */
static void dape_keep_finite(real *line, int width)
{
    for (int w = 0; w < width; w++)
        line[w] = isfinite(line[w]) ? line[w] : 0;
}

/* out[row][m] += sum over channels and taps of weights * in[channel][m + tap], m < n. A weight stands at row * row_step
 * + channel * channel_step + its tap; `mirror` counts taps from the other end, which together with swapped steps makes
 * the transposed layer. */
typedef struct dape_layer {
    const real *weights;
    int row_step, channel_step, channels, kernel, mirror;
} dape_layer;

static dape_layer dape_first(const pe_context *c, const dape_space *x)
{
    return (dape_layer){c->theta[DAPE_W1], 2 * x->heads * x->kernel, x->kernel, 2 * x->heads, x->kernel, 0};
}

static dape_layer dape_second(const pe_context *c, const dape_space *x)
{
    return (dape_layer){c->theta[DAPE_W2], x->units * x->kernel, x->kernel, x->units, x->kernel, 0};
}

/* The layer as gradients go through it, from `rows` channels back to its own. */
static dape_layer dape_transpose(dape_layer l, int rows)
{
    return (dape_layer){l.weights, l.channel_step, l.row_step, rows, l.kernel, 1};
}

static real dape_weight(const dape_layer *l, int row, int k)
{
    int channel = k / l->kernel, tap = k % l->kernel;
    return l->weights[(size_t)row * l->row_step + (size_t)channel * l->channel_step +
                      (l->mirror ? l->kernel - 1 - tap : tap)];
}

/* Four terms in one pass: the line of sums is fetched and stored once for them. */
static void dape_mix(const dape_layer *l, const dape_line *in, int row, int n, real *restrict out)
{
    int terms = l->channels * l->kernel, k = 0;
    for (; k + 4 <= terms; k += 4) {
        real w[4];
        const real *x[4];
        for (int i = 0; i < 4; i++) {
            w[i] = dape_weight(l, row, k + i);
            x[i] = in[(k + i) / l->kernel] + (k + i) % l->kernel;
        }
        const real *restrict x0 = x[0], *restrict x1 = x[1], *restrict x2 = x[2], *restrict x3 = x[3];
        for (int m = 0; m < n; m++)
            out[m] += (w[0] * x0[m] + w[1] * x1[m]) + (w[2] * x2[m] + w[3] * x3[m]);
    }
    for (; k < terms; k++) {
        const real *restrict x = in[k / l->kernel] + k % l->kernel;
        real w = dape_weight(l, row, k);
        for (int m = 0; m < n; m++)
            out[m] += w * x[m];
    }
}

/* input (=) from the scores as they came and from the tile's biases. */
static void dape_load(const pe_tile *t, const real *save, int r, dape_space *x)
{
    int first = x->begin - 2 * x->half, width = x->count + 4 * x->half;
    for (int h = 0; h < x->heads; h++) {
        const real *scores = save + (size_t)(h * t->rows + r) * (size_t)t->keys;
        const real *bias = t->bias + (size_t)h * t->plane + (size_t)r * t->stride;
        dape_copy(scores, first, width, x->visible, x->input[h]);
        dape_copy(bias, first, width, x->visible, x->input[x->heads + h]);
        dape_keep_finite(x->input[x->heads + h], width);
    }
}

/* Of a line of hidden keys: 0 where the query cannot see. */
static void dape_clear_unseen(const dape_space *x, real *line)
{
    int first = x->begin - x->half, width = x->count + 2 * x->half;
    for (int m = 0; m < -first; m++)
        line[m] = 0;
    for (int m = x->visible - first; m < width; m++)
        line[m] = 0;
}

/* hidden (=) LeakyReLU of the first layer, 0 for keys that the query cannot see. */
static void dape_hide(const pe_context *c, dape_space *x)
{
    const dape_layer layer = dape_first(c, x);
    int width = x->count + 2 * x->half;
    for (int u = 0; u < x->units; u++) {
        real *line = x->hidden[u];
        for (int m = 0; m < width; m++)
            line[m] = c->theta[DAPE_B1][u];
        dape_mix(&layer, x->input, u, width, line);
        for (int m = 0; m < width; m++)
            line[m] *= line[m] > 0 ? 1 : dape_leak;
        dape_clear_unseen(x, line);
    }
}

/* ------------------------------------------------------------------------------------------------ hooks */

/* s_h += f_h(s, B), less B_h without residual, since the host adds it. */
static void dape_score_chunk(const pe_context *c, const pe_tile *t, int r, dape_space *x, real *s)
{
    const dape_options *o = c->options;
    const dape_layer layer = dape_second(c, x);
    for (int h = 0; h < x->heads; h++) {
        real *row = s + (size_t)h * t->plane + (size_t)r * t->stride + x->begin;
        const real *bias = x->input[x->heads + h] + 2 * x->half;
        for (int j = 0; j < x->count; j++)
            row[j] += c->theta[DAPE_B2][h] - (o->residual ? 0 : bias[j]);
        dape_mix(&layer, x->hidden, h, x->count, row);
    }
}

static void dape_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    dape_space x;
    for (int r = 0; r < t->rows; r++) {
        dape_open(c, t, r, &x);
        for (int h = 0; h < x.heads; h++)
            memcpy(save + (size_t)(h * t->rows + r) * (size_t)t->keys, s + (size_t)h * t->plane + (size_t)r * t->stride,
                   (size_t)x.visible * sizeof *s);
        do {
            dape_load(t, save, r, &x);
            dape_hide(c, &x);
            dape_score_chunk(c, t, r, &x, s);
        } while (dape_next(&x));
    }
}

/* grad_output (=) from ds. The chunk before has overwritten the keys on its left, but its own lines still hold them. */
static void dape_load_gradient(const pe_tile *t, const real *ds, int r, dape_space *x)
{
    int known = x->begin > 0 ? 2 * x->half : 0, first = x->begin - 2 * x->half, width = x->count + 4 * x->half;
    for (int h = 0; h < x->heads; h++) {
        real *line = x->grad_output[h];
        memmove(line, line + DAPE_CHUNK, (size_t)known * sizeof *line);
        dape_copy(ds + (size_t)h * t->plane + (size_t)r * t->stride, first + known, width - known, x->visible,
                  line + known);
    }
}

/* grad_hidden (=): the second layer transposed, through LeakyReLU (at 0 the slope of its negative side). */
static void dape_hide_bwd(const pe_context *c, dape_space *x)
{
    const dape_layer layer = dape_transpose(dape_second(c, x), x->heads);
    int width = x->count + 2 * x->half;
    for (int u = 0; u < x->units; u++) {
        real *line = x->grad_hidden[u];
        memset(line, 0, (size_t)width * sizeof *line);
        dape_mix(&layer, x->grad_output, u, width, line);
        for (int m = 0; m < width; m++)
            line[m] *= x->hidden[u][m] > 0 ? 1 : dape_leak;
        dape_clear_unseen(x, line);
    }
}

/* Of one unit: dweights[k] += gradient . what term k saw, dconstant += sum of the gradient, over the chunk's own keys.
 * in[channel][at + m + tap] is what key m of the chunk saw. */
static void dape_unit_bwd(const real *restrict gradient, const dape_line *in, int at, const dape_layer *l, int n,
                          real *dweights, real *dconstant)
{
    int terms = l->channels * l->kernel, k = 0;
    for (; k + 2 <= terms; k += 2) {
        const real *restrict x0 = in[k / l->kernel] + k % l->kernel + at;
        const real *restrict x1 = in[(k + 1) / l->kernel] + (k + 1) % l->kernel + at;
        real sum0 = 0, sum1 = 0;
#pragma omp simd reduction(+ : sum0, sum1)
        for (int j = 0; j < n; j++) {
            sum0 += gradient[j] * x0[j];
            sum1 += gradient[j] * x1[j];
        }
        dweights[k] += sum0;
        dweights[k + 1] += sum1;
    }
    if (k < terms)
        dweights[k] += pe_dot(gradient, in[k / l->kernel] + k % l->kernel + at, n);
    for (int j = 0; j < n; j++)
        *dconstant += gradient[j];
}

static void dape_params_bwd(const pe_context *c, const dape_space *x)
{
    const dape_layer first = dape_first(c, x), second = dape_second(c, x);
    for (int h = 0; h < x->heads; h++)
        dape_unit_bwd(x->grad_output[h] + 2 * x->half, x->hidden, 0, &second, x->count,
                      c->dtheta[DAPE_W2] + (size_t)h * second.row_step, c->dtheta[DAPE_B2] + h);
    for (int u = 0; u < x->units; u++)
        dape_unit_bwd(x->grad_hidden[u] + x->half, x->input, x->half, &first, x->count,
                      c->dtheta[DAPE_W1] + (size_t)u * first.row_step, c->dtheta[DAPE_B1] + u);
}

/* ds += and dbias += what comes through the network; a bias that was read as 0 does not move. */
static void dape_inputs_bwd(const pe_context *c, const pe_tile *t, int r, dape_space *x, real *ds, real *dbias)
{
    const dape_options *o = c->options;
    const dape_layer layer = dape_transpose(dape_first(c, x), x->units);
    dape_line line;
    for (int channel = 0; channel < 2 * x->heads; channel++) {
        int is_bias = channel >= x->heads, h = is_bias ? channel - x->heads : channel;
        size_t at = (size_t)h * t->plane + (size_t)r * t->stride + (size_t)x->begin;
        memset(line, 0, (size_t)x->count * sizeof *line);
        dape_mix(&layer, x->grad_hidden, channel, x->count, line);
        for (int j = 0; j < x->count && !is_bias; j++)
            ds[at + j] += line[j];
        for (int j = 0; j < x->count && is_bias; j++) {
            real direct = o->residual ? 0 : x->grad_output[h][2 * x->half + j];
            dbias[at + j] += isfinite(t->bias[at + j]) ? line[j] - direct : 0;
        }
    }
}

static void dape_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    dape_space x;
    for (int r = 0; r < t->rows; r++) {
        dape_open(c, t, r, &x);
        do {
            dape_load(t, save, r, &x);
            dape_load_gradient(t, ds, r, &x);
            dape_hide(c, &x);
            dape_hide_bwd(c, &x);
            dape_params_bwd(c, &x);
            dape_inputs_bwd(c, t, r, &x, ds, g->dbias);
        } while (dape_next(&x));
    }
}

static const char *const dape_examples[] = {
    "kernel=3",
    "residual=false",
    "hidden=5,kernel=5,residual=false",
    NULL,
};

const pe_descriptor pe_encoding_dape = {
    PE_DESCRIPTOR_HEAD,
    .name = "dape",
    .family = "contextual",
    .title = "Data-adaptive positional encoding (DAPE)",
    .source = "Zheng et al. 2024, DAPE: Data-Adaptive Positional Encoding for Length Extrapolation, and 2024, DAPE V2: "
              "Process Attention Score as Feature Map for Length Extrapolation; constants from the released code",
    .formula =
        "s_h += f_h(s_1 .. s_H, B_1 .. B_H) at every pair, f = W2 LeakyReLU(W1 [s, B] + b1) + b2, B the sum of the "
        "stack's biases; kernel > 1: both layers are convolutions along the keys. Positions, and so their "
        "fractions, enter through B only",
    .notes =
        "Stand it beside a bias: alibi+dape, kerple+dape, fire+dape; alone it sees B = 0. The host adds B itself, so "
        "the released code's s + B + f is the default. A bias of -INFINITY, of a window, is read as 0, and such a "
        "key's score still counts. Keys that the query cannot see count as 0 in both layers. The released code of V2 "
        "clears them before the first layer only: there the last seen key has hidden neighbours on its right unless "
        "the sequence ends, so that a row depends on how long the sequence is. The network is per layer; LeakyReLU "
        "has slope 0.01 below 0.",
    .claims = PE_SHIFT_INVARIANT | PE_POSITION_BLIND | PE_ANY_LENGTH,
    .reads_bias = 1,
    .options = dape_rows,
    .options_size = sizeof(dape_options),
    .examples = dape_examples,
    .check = dape_check,
    .params = dape_params,
    .sizes = dape_sizes,
    .score = dape_score,
    .score_bwd = dape_score_bwd,
    .bibtex = "@inproceedings{zheng2024dape, title = {{DAPE}: Data-Adaptive Positional Encoding for Length "
              "Extrapolation}, author = {Zheng, Chuanyang and Gao, Yihang and Shi, Han and Huang, Minbin and Li, "
              "Jingyao and Xiong, Jing and Ren, Xiaozhe and Ng, Michael and Jiang, Xin and Li, Zhenguo and Li, Yu}, "
              "booktitle = {Advances in Neural Information Processing Systems}, volume = {37}, year = {2024}, eprint "
              "= {2405.14722}, archiveprefix = {arXiv}} "
              "@misc{zheng2024dapev2, title = {{DAPE V2}: Process Attention Score as Feature Map for Length "
              "Extrapolation}, author = {Zheng, Chuanyang and Gao, Yihang and Shi, Han and Xiong, Jing and Sun, "
              "Jiankai and Li, Jingyao and Huang, Minbin and Ren, Xiaozhe and Ng, Michael and Jiang, Xin and Li, "
              "Zhenguo and Li, Yu}, year = {2024}, eprint = {2410.04798}, archiveprefix = {arXiv}}",
};
