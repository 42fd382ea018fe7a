/* dape.c - data-adaptive positional encoding: a small network sees, at every pair, the scores and the biases of all
 * heads and corrects the scores.
 *
 * Its two layers are convolutions along the keys, [channels] -> [channels] over `kernel` neighbouring keys; keys that
 * the query cannot see count as 0 in both. The work goes by rows and chunks of keys; a chunk of n keys needs `half` =
 * (kernel-1)/2 more hidden keys and 2*half more inputs on either side. Keys lie along vectors, so that both layers are
 * products of their weights with lines of keys, and gradients of weights stay in lanes until all rows are done. */
#include "pe.h"

#include <stdio.h>

enum { DAPE_CHUNK = 64, DAPE_KERNEL_MAX = 15, DAPE_WIDE = DAPE_CHUNK + 2 * (DAPE_KERNEL_MAX - 1) + 20 };
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

typedef real dape_line[DAPE_WIDE]; /* room for whole vectors past the last key */

/* Lines of keys. input and output begin 2*half keys before the chunk, hidden and grad_hidden half keys. */
typedef struct dape_space {
    int heads, units, kernel, half;
    int begin, count, visible; /* the chunk's keys, and how many the query sees */
    int whole;                 /* count rounded up to whole vectors: past the last visible key all lines are 0 */
    dape_line input[2 * DAPE_HEADS_MAX], hidden[DAPE_HIDDEN_MAX];
    dape_line output[DAPE_HEADS_MAX], grad_hidden[DAPE_HIDDEN_MAX]; /* output: backward, its gradient */
} dape_space;

/* Neighbours reach past what is written of a line: lines that are in use are cleared first. */
static void dape_open(const pe_context *c, dape_space *x)
{
    const dape_options *o = c->options;
    x->heads = c->shape->heads;
    x->units = o->hidden;
    x->kernel = o->kernel;
    x->half = o->kernel / 2;
    if (x->half == 0)
        return;
    memset(x->input, 0, 2 * (size_t)x->heads * sizeof *x->input);
    memset(x->hidden, 0, (size_t)x->units * sizeof *x->hidden);
    memset(x->output, 0, (size_t)x->heads * sizeof *x->output);
    memset(x->grad_hidden, 0, (size_t)x->units * sizeof *x->grad_hidden);
}

static int dape_chunk(dape_space *x, int begin)
{
    int rest = x->visible - begin;
    x->begin = begin;
    x->count = rest < DAPE_CHUNK ? rest : DAPE_CHUNK;
    x->whole = pe_whole(x->count);
    return x->count > 0;
}

static int dape_first_chunk(const pe_context *c, const pe_tile *t, int r, dape_space *x)
{
    x->visible = pe_visible(c, t, r);
    return dape_chunk(x, 0);
}

/* line[w] (=) from[first + w], 0 outside 0 .. visible-1. */
static void dape_copy(const real *from, int first, int width, int visible, real *line)
{
    int begin = first < 0 ? -first : 0, end = visible - first < width ? visible - first : width;
    for (int w = 0; w < begin && w < width; w++)
        line[w] = 0;
    for (int w = begin; w < end; w++)
        line[w] = from[first + w];
    for (int w = end > begin ? end : begin; w < width; w++)
        line[w] = 0;
}

/* A bias that removes a key, -INFINITY, is read as 0. */
static void dape_keep_finite(real *line, int width)
{
    for (int w = 0; w < width; w++)
        line[w] = isfinite(line[w]) ? line[w] : 0;
}

/* out[row][m] (=) sum over channels and taps of weights * in[channel][m + tap], m < n. A weight stands at row * row_step
 * + channel * channel_step + its tap; `mirror` counts taps from the other end, which together with swapped steps makes
 * the transposed layer. */
typedef struct dape_layer {
    const real *weights;
    int rows, row_step, channels, channel_step, kernel, mirror;
} dape_layer;

static dape_layer dape_first(const pe_context *c, const dape_space *x)
{
    return (dape_layer){c->theta[DAPE_W1], x->units, 2 * x->heads * x->kernel, 2 * x->heads, x->kernel, x->kernel, 0};
}

static dape_layer dape_second(const pe_context *c, const dape_space *x)
{
    return (dape_layer){c->theta[DAPE_W2], x->heads, x->units * x->kernel, x->units, x->kernel, x->kernel, 0};
}

/* The layer as gradients go through it. */
static dape_layer dape_transpose(dape_layer l)
{
    return (dape_layer){l.weights, l.channels, l.channel_step, l.rows, l.row_step, l.kernel, 1};
}

/* n: to whole vectors, in lines that have room for them. */
static void dape_mix(const dape_layer *l, const dape_line *in, int n, real *out)
{
    for (int tap = 0; tap < l->kernel; tap++)
        pe_product(&(pe_product_job){.rows = l->rows, .cols = pe_whole(n), .depth = l->channels,
                                     .a = l->weights + (l->mirror ? l->kernel - 1 - tap : tap),
                                     .a_row = (size_t)l->row_step, .a_col = (size_t)l->channel_step, .b = in[0] + tap,
                                     .b_row = DAPE_WIDE, .c = out, .c_row = DAPE_WIDE, .add = tap > 0});
}

/* input (=) from the scores as they came and from the tile's biases. */
static void dape_load(const pe_tile *t, const real *save, int r, dape_space *x)
{
    int first = x->begin - 2 * x->half, width = x->whole + 4 * x->half;
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
    int first = x->begin - x->half, width = pe_whole(x->whole + 2 * x->half);
    for (int m = 0; m < -first; m++)
        line[m] = 0;
    for (int m = x->visible - first; m < width; m++)
        line[m] = 0;
}

/* hidden (=) LeakyReLU of the first layer, 0 for keys that the query cannot see. */
static void dape_hide(const pe_context *c, dape_space *x)
{
    const dape_layer layer = dape_first(c, x);
    int width = x->whole + 2 * x->half;
    dape_mix(&layer, x->input, width, x->hidden[0]);
    for (int u = 0; u < x->units; u++) {
        real *line = x->hidden[u];
        for (int m = 0; m < width; m += PE_VEC_LANES) {
            pe_vec sum = pe_vec_load(line + m) + c->theta[DAPE_B1][u];
            pe_vec_store(line + m, pe_vec_max(sum, dape_leak * sum));
        }
        dape_clear_unseen(x, line);
    }
}

/* ------------------------------------------------------------------------------------------------ forward */

/* s_h += f_h(s, B), less B_h without residual, since the host adds it. */
static void dape_score_chunk(const pe_context *c, const pe_tile *t, int r, dape_space *x, real *s)
{
    const dape_options *o = c->options;
    const dape_layer layer = dape_second(c, x);
    dape_mix(&layer, x->hidden, x->whole, x->output[0]);
    for (int h = 0; h < x->heads; h++) {
        const real *bias = x->input[x->heads + h] + 2 * x->half;
        for (int j = 0; j < x->whole; j++)
            x->output[h][j] += c->theta[DAPE_B2][h] - (o->residual ? 0 : bias[j]);
        pe_add(s + (size_t)h * t->plane + (size_t)r * t->stride + x->begin, x->output[h], x->count,
               t->keys - x->begin);
    }
}

static void dape_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    dape_space x;
    dape_open(c, &x);
    for (int r = 0; r < t->rows; r++) {
        for (int h = 0; h < x.heads; h++)
            memcpy(save + (size_t)(h * t->rows + r) * (size_t)t->keys, s + (size_t)h * t->plane + (size_t)r * t->stride,
                   (size_t)pe_visible(c, t, r) * sizeof *s);
        for (int more = dape_first_chunk(c, t, r, &x); more; more = dape_chunk(&x, x.begin + x.count)) {
            dape_load(t, save, r, &x);
            dape_hide(c, &x);
            dape_score_chunk(c, t, r, &x, s);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ backward */

/* Sums over keys, a vector of partial sums for each parameter. Networks with more of them fold each chunk's at once. */
enum { DAPE_LANES_MAX = 1024, DAPE_SIDE = 4 };
typedef struct dape_lanes {
    pe_vec sum[DAPE_LANES_MAX];
    pe_vec *of[4]; /* by parameter; NULL: too many */
    int count[4];
} dape_lanes;

static void dape_lanes_open(const dape_space *x, dape_lanes *y)
{
    const int count[4] = {2 * x->heads * x->units * x->kernel, x->units, x->heads * x->units * x->kernel, x->heads};
    int all = count[0] + count[1] + count[2] + count[3], at = 0;
    for (int i = 0; i < 4; i++, at += count[i - 1]) {
        y->of[i] = all <= DAPE_LANES_MAX ? y->sum + at : NULL;
        y->count[i] = count[i];
    }
    for (int n = 0; n < all && all <= DAPE_LANES_MAX; n++)
        y->sum[n] = pe_vec_fill(0);
}

static void dape_lanes_fold(const pe_context *c, const dape_lanes *y)
{
    for (int i = 0; i < 4; i++)
        for (int n = 0; n < y->count[i] && y->of[i]; n++)
            c->dtheta[i][n] += pe_vec_sum(y->of[i][n]);
}

static inline void dape_collect(const pe_context *c, dape_lanes *y, int i, size_t n, pe_vec sum)
{
    if (y->of[i])
        y->of[i][n] += sum;
    else
        c->dtheta[i][n] += pe_vec_sum(sum);
}

/* `rows` rows by `channels` channels of one tap, n keys: weight (r, k) is number first + r * row_step + k * channel_step
 * of parameter i. Both are constants where this is inlined, and the sums are in registers. */
PE_VEC_INLINE void dape_weights_block(const pe_context *c, dape_lanes *y, int i, size_t first, const dape_layer *l,
                                      const real *gradient, const real *in, int n, const int rows, const int channels)
{
    pe_vec sum[DAPE_SIDE][DAPE_SIDE];
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < channels; k++)
            sum[r][k] = pe_vec_fill(0);
    for (int m = 0; m < n; m += PE_VEC_LANES) {
        pe_vec line[DAPE_SIDE];
        for (int k = 0; k < channels; k++)
            line[k] = pe_vec_load(in + (size_t)k * DAPE_WIDE + m);
        for (int r = 0; r < rows; r++)
            for (int k = 0; k < channels; k++)
                sum[r][k] += pe_vec_load(gradient + (size_t)r * DAPE_WIDE + m) * line[k];
    }
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < channels; k++)
            dape_collect(c, y, i, first + (size_t)r * l->row_step + (size_t)k * l->channel_step, sum[r][k]);
}

/* Of one layer, whose weights are parameter i and whose constants are i+1: += gradient . what each term saw, over the
 * chunk's own keys. Key m of the chunk is at gradient[row][m] and has seen in[channel][m + tap]. */
static void dape_layer_bwd(const pe_context *c, const dape_space *x, dape_lanes *y, int i, const dape_layer *l,
                           const real *gradient, const real *in)
{
    for (int r = 0, rows; r < l->rows; r += rows, gradient += (size_t)rows * DAPE_WIDE) {
        rows = l->rows - r >= DAPE_SIDE ? DAPE_SIDE : 1;
        for (int n = 0; n < rows; n++) {
            pe_vec sum = pe_vec_fill(0);
            for (int m = 0; m < x->whole; m += PE_VEC_LANES)
                sum += pe_vec_load(gradient + (size_t)n * DAPE_WIDE + m);
            dape_collect(c, y, i + 1, (size_t)(r + n), sum);
        }
        for (int term = 0, channels; term < l->channels; term += channels) {
            channels = rows == DAPE_SIDE && l->channels - term >= DAPE_SIDE ? DAPE_SIDE : 1;
            for (int tap = 0; tap < l->kernel; tap++) {
                size_t first = (size_t)r * l->row_step + (size_t)term * l->channel_step + (size_t)tap;
                const real *seen = in + (size_t)term * DAPE_WIDE + tap;
                if (channels == DAPE_SIDE)
                    dape_weights_block(c, y, i, first, l, gradient, seen, x->whole, DAPE_SIDE, DAPE_SIDE);
                else if (rows == DAPE_SIDE)
                    dape_weights_block(c, y, i, first, l, gradient, seen, x->whole, DAPE_SIDE, 1);
                else
                    dape_weights_block(c, y, i, first, l, gradient, seen, x->whole, 1, 1);
            }
        }
    }
}

/* output (=) ds. The chunk before has overwritten the keys on its left, but its own lines still hold them. */
static void dape_load_gradient(const pe_tile *t, const real *ds, int r, dape_space *x)
{
    int known = x->begin > 0 ? 2 * x->half : 0, first = x->begin - 2 * x->half, width = x->whole + 4 * x->half;
    for (int h = 0; h < x->heads; h++) {
        real *line = x->output[h];
        memmove(line, line + DAPE_CHUNK, (size_t)known * sizeof *line);
        dape_copy(ds + (size_t)h * t->plane + (size_t)r * t->stride, first + known, width - known, x->visible,
                  line + known);
    }
}

/* grad_hidden (=): the second layer transposed, through LeakyReLU (at 0 the slope of its negative side). */
static void dape_hide_bwd(const pe_context *c, dape_space *x)
{
    const dape_layer layer = dape_transpose(dape_second(c, x));
    int width = x->whole + 2 * x->half;
    dape_mix(&layer, x->output, width, x->grad_hidden[0]);
    for (int u = 0; u < x->units; u++) {
        real *line = x->grad_hidden[u];
        for (int m = 0; m < width; m += PE_VEC_LANES) {
            pe_vec gradient = pe_vec_load(line + m);
            pe_vec_store(line + m, pe_vec_select(pe_vec_load(x->hidden[u] + m) > 0, gradient, dape_leak * gradient));
        }
        dape_clear_unseen(x, line);
    }
}

/* ds += and dbias += what comes through the network; a bias that was read as 0 does not move. The hidden lines, which
 * nobody needs any more, take the gradients of the inputs. */
static void dape_inputs_bwd(const pe_context *c, const pe_tile *t, int r, dape_space *x, real *ds, real *dbias)
{
    const dape_options *o = c->options;
    const dape_layer layer = dape_transpose(dape_first(c, x));
    dape_mix(&layer, x->grad_hidden, x->whole, x->hidden[0]);
    for (int h = 0; h < x->heads; h++) {
        size_t at = (size_t)h * t->plane + (size_t)r * t->stride + (size_t)x->begin;
        real *line = x->hidden[x->heads + h];
        for (int j = 0; j < x->count; j++) {
            real direct = o->residual ? 0 : x->output[h][2 * x->half + j];
            line[j] = isfinite(t->bias[at + j]) ? line[j] - direct : 0;
        }
        pe_add(ds + at, x->hidden[h], x->count, t->keys - x->begin);
        pe_add(dbias + at, line, x->count, t->keys - x->begin);
    }
}

static void dape_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    dape_space x;
    dape_lanes y;
    dape_open(c, &x);
    dape_lanes_open(&x, &y);
    const dape_layer first = dape_first(c, &x), second = dape_second(c, &x);
    for (int r = 0; r < t->rows; r++)
        for (int more = dape_first_chunk(c, t, r, &x); more; more = dape_chunk(&x, x.begin + x.count)) {
            dape_load(t, save, r, &x);
            dape_load_gradient(t, ds, r, &x);
            dape_hide(c, &x);
            dape_hide_bwd(c, &x);
            dape_layer_bwd(c, &x, &y, DAPE_W2, &second, x.output[0] + 2 * x.half, x.hidden[0]);
            dape_layer_bwd(c, &x, &y, DAPE_W1, &first, x.grad_hidden[0] + x.half, x.input[0] + x.half);
            dape_inputs_bwd(c, t, r, &x, ds, g->dbias);
        }
    dape_lanes_fold(c, &y);
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
