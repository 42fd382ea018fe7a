/* dpb.c - dynamic position bias: a small network turns the signed distance of a pair into a bias for each head. */
#include "pe.h"

#include <stdio.h>

enum { DPB_CHUNK = 32, DPB_UNITS_MAX = 256, DPB_DEPTH_MAX = 3 };

typedef struct dpb_options {
    int units, depth, log_distance, shared;
} dpb_options;

static const pe_option dpb_rows[] = {
    {"units", PE_OPTION_INT, PE_OFFSET(dpb_options, units), "auto", 1, DPB_UNITS_MAX, 1, NULL,
     "units of a hidden layer; auto: a quarter of the model's width, as in x-transformers, and at least 4"},
    {"depth", PE_OPTION_INT, PE_OFFSET(dpb_options, depth), "2", 1, DPB_DEPTH_MAX, 0, NULL,
     "hidden layers (x-transformers: 2)"},
    {"log_distance", PE_OPTION_BOOL, PE_OFFSET(dpb_options, log_distance), "false", 0, 0, 0, NULL,
     "true: the network sees sign(D) ln(1 + |D|), as in Swin Transformer V2"},
    {"shared", PE_OPTION_BOOL, PE_OFFSET(dpb_options, shared), "true", 0, 0, 0, NULL,
     "true: one network for all layers, as in x-transformers; false: one for each"},
    {0},
};

static int dpb_units(const dpb_options *o, const pe_shape *shape)
{
    return o->units != PE_AUTO_INT ? o->units : shape->width / 4 > 4 ? shape->width / 4 : 4;
}

static int dpb_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    if (dpb_units(options, shape) <= DPB_UNITS_MAX)
        return 0;
    snprintf(message, size, "a width of %d is too large for units=auto; units is at most %d", shape->width,
             (int)DPB_UNITS_MAX);
    return -1;
}

/* Parameters 2l and 2l+1: weights [outputs][inputs] and constants of layer l; the last layer's outputs are the heads.
 * They start as PyTorch starts linear layers. */
static int dpb_params(const void *options, const pe_shape *shape, pe_param *out)
{
    static const char *const names[] = {"w0", "b0", "w1", "b1", "w2", "b2", "w3", "b3"};
    const dpb_options *o = options;
    int units = dpb_units(o, shape);
    for (int l = 0; l <= o->depth; l++) {
        int inputs = l == 0 ? 1 : units, outputs = l == o->depth ? shape->heads : units;
        out[2 * l] = (pe_param){.name = names[2 * l],
                                .rows = outputs,
                                .cols = inputs,
                                .deviation = 1 / sqrt(inputs),
                                .init = PE_INIT_UNIFORM,
                                .per_layer = !o->shared};
        out[2 * l + 1] = out[2 * l];
        out[2 * l + 1].name = names[2 * l + 1];
        out[2 * l + 1].rows = 1;
        out[2 * l + 1].cols = outputs;
    }
    return 2 * (o->depth + 1);
}

/* ------------------------------------------------------------------------------------------------ a chunk of keys */

typedef real dpb_line[DPB_CHUNK];

typedef struct dpb_space {
    int units, depth;
    int begin, count; /* the chunk's keys */
    dpb_line distance;
    dpb_line before[DPB_DEPTH_MAX][DPB_UNITS_MAX]; /* of each hidden layer, before and after SiLU */
    dpb_line after[DPB_DEPTH_MAX][DPB_UNITS_MAX];
    dpb_line grad[DPB_UNITS_MAX], grad_below[DPB_UNITS_MAX];
} dpb_space;

static void dpb_open(const pe_context *c, dpb_space *x)
{
    const dpb_options *o = c->options;
    x->units = dpb_units(o, c->shape);
    x->depth = o->depth;
}

static real dpb_sigmoid(real x)
{
    return (real)(1 / (1 + exp(-(double)x)));
}

/* out (=) constant + sum over inputs of weights * in, for one unit. */
static void dpb_unit(const real *weights, real constant, const dpb_line *in, int inputs, real *restrict out)
{
    for (int j = 0; j < DPB_CHUNK; j++)
        out[j] = constant;
    for (int i = 0; i < inputs; i++)
        for (int j = 0; j < DPB_CHUNK; j++)
            out[j] += weights[i] * in[i][j];
}

/* distance, before and after (=) for query i and the chunk's keys. Lines are filled to their ends: a loop of a fixed
 * length costs less than one that stops early. */
static void dpb_hide(const pe_context *c, int i, dpb_space *x)
{
    const dpb_options *o = c->options;
    for (int j = 0; j < DPB_CHUNK; j++) {
        double d = j < x->count ? c->pos[i] - c->pos[x->begin + j] : 0;
        x->distance[j] = (real)(o->log_distance ? copysign(log1p(fabs(d)), d) : d);
    }
    for (int l = 0; l < x->depth; l++)
        for (int u = 0; u < x->units; u++) {
            int inputs = l == 0 ? 1 : x->units;
            dpb_unit(c->theta[2 * l] + (size_t)u * inputs, c->theta[2 * l + 1][u],
                     l == 0 ? &x->distance : x->after[l - 1], inputs, x->before[l][u]);
            for (int j = 0; j < DPB_CHUNK; j++)
                x->after[l][u][j] = x->before[l][u][j] * dpb_sigmoid(x->before[l][u][j]);
        }
}

/* Of one layer: from grad[outputs] to its weights and constants, and to grad_below[inputs] (=) unless it is NULL. */
static void dpb_layer_bwd(const pe_context *c, int l, const dpb_line *in, int inputs, int outputs, const dpb_line *grad,
                          dpb_line *grad_below)
{
    for (int i = 0; grad_below && i < inputs; i++)
        memset(grad_below[i], 0, sizeof grad_below[i]);
    for (int u = 0; u < outputs; u++) {
        real constant = 0;
        for (int j = 0; j < DPB_CHUNK; j++)
            constant += grad[u][j];
        c->dtheta[2 * l + 1][u] += constant;
        for (int i = 0; i < inputs; i++) {
            real weight = c->theta[2 * l][(size_t)u * inputs + i], sum = 0;
            for (int j = 0; j < DPB_CHUNK; j++)
                sum += grad[u][j] * in[i][j];
            c->dtheta[2 * l][(size_t)u * inputs + i] += sum;
            for (int j = 0; grad_below && j < DPB_CHUNK; j++)
                grad_below[i][j] += weight * grad[u][j];
        }
    }
}

/* Through SiLU: grad *= sigmoid(x) (1 + x (1 - sigmoid(x))). */
static void dpb_silu_bwd(const dpb_line *before, int units, dpb_line *grad)
{
    for (int u = 0; u < units; u++)
        for (int j = 0; j < DPB_CHUNK; j++) {
            real z = before[u][j], share = dpb_sigmoid(z);
            grad[u][j] *= share * (1 + z * (1 - share));
        }
}

/* ------------------------------------------------------------------------------------------------ hooks */

static int dpb_count(int begin, int visible)
{
    return visible - begin < DPB_CHUNK ? visible - begin : DPB_CHUNK;
}

static void dpb_bias(const pe_context *c, const pe_tile *t, real *s)
{
    dpb_space x;
    dpb_line out;
    dpb_open(c, &x);
    for (int r = 0; r < t->rows; r++)
        for (x.begin = 0; x.begin < pe_visible(c, t, r); x.begin += DPB_CHUNK) {
            x.count = dpb_count(x.begin, pe_visible(c, t, r));
            dpb_hide(c, t->row_begin + r, &x);
            for (int h = 0; h < c->shape->heads; h++) {
                real *row = s + (size_t)h * t->plane + (size_t)r * t->stride + x.begin;
                dpb_unit(c->theta[2 * x.depth] + (size_t)h * x.units, c->theta[2 * x.depth + 1][h],
                         x.after[x.depth - 1], x.units, out);
                for (int j = 0; j < x.count; j++)
                    row[j] += out[j];
            }
        }
}

/* From ds of one head: the last layer's parameters of that head, and grad += what goes on to the hidden layers. */
static void dpb_head_bwd(const pe_context *c, const real *ds, int h, dpb_space *x)
{
    const real *weights = c->theta[2 * x->depth] + (size_t)h * x->units;
    real *dweights = c->dtheta[2 * x->depth] + (size_t)h * x->units;
    for (int j = 0; j < x->count; j++)
        c->dtheta[2 * x->depth + 1][h] += ds[j];
    for (int u = 0; u < x->units; u++) {
        const real *after = x->after[x->depth - 1][u];
        for (int j = 0; j < x->count; j++) {
            dweights[u] += ds[j] * after[j];
            x->grad[u][j] += weights[u] * ds[j];
        }
    }
}

static void dpb_bias_bwd(const pe_context *c, const pe_tile *t, const real *ds)
{
    dpb_space x;
    dpb_open(c, &x);
    for (int r = 0; r < t->rows; r++)
        for (x.begin = 0; x.begin < pe_visible(c, t, r); x.begin += DPB_CHUNK) {
            x.count = dpb_count(x.begin, pe_visible(c, t, r));
            dpb_hide(c, t->row_begin + r, &x);
            memset(x.grad, 0, (size_t)x.units * sizeof x.grad[0]);
            for (int h = 0; h < c->shape->heads; h++)
                dpb_head_bwd(c, ds + (size_t)h * t->plane + (size_t)r * t->stride + x.begin, h, &x);
            for (int l = x.depth - 1; l >= 0; l--) {
                dpb_silu_bwd(x.before[l], x.units, x.grad);
                dpb_layer_bwd(c, l, l == 0 ? &x.distance : x.after[l - 1], l == 0 ? 1 : x.units, x.units, x.grad,
                              l == 0 ? NULL : x.grad_below);
                memcpy(x.grad, x.grad_below, l == 0 ? 0 : (size_t)x.units * sizeof x.grad[0]);
            }
        }
}

static const char *const dpb_examples[] = {
    "log_distance=true",
    "depth=1,units=7,shared=false",
    "depth=3,units=5",
    NULL,
};

const pe_descriptor pe_encoding_dpb = {
    PE_DESCRIPTOR_HEAD,
    .name = "dpb",
    .family = "bias",
    .title = "Dynamic position bias",
    .source =
        "Wang et al. 2022, CrossFormer (dynamic position bias); Liu et al. 2022, Swin Transformer V2 (logarithmic "
        "distances); in this form x-transformers, DynamicPositionBias",
    .formula =
        "s_ij += f_h(D), D = pos_i - pos_j as it is, fractions too; f: a linear layer from D to `units`, SiLU, more "
        "such layers up to `depth`, a linear layer to the heads",
    .notes =
        "Signed distances: past and future differ. CrossFormer and Swin see two-dimensional offsets and put ReLU and "
        "layer norms or scaled coordinates between; x-transformers has layer norms as an option, not here. Distances "
        "past training's are read by a network that has not met them.",
    .claims = PE_SHIFT_INVARIANT | PE_ANY_LENGTH,
    .options = dpb_rows,
    .options_size = sizeof(dpb_options),
    .examples = dpb_examples,
    .check = dpb_check,
    .params = dpb_params,
    .bias = dpb_bias,
    .bias_bwd = dpb_bias_bwd,
    .bibtex = "@inproceedings{wang2022crossformer, title = {{CrossFormer}: A Versatile Vision Transformer Hinging on "
              "Cross-scale Attention}, author = {Wang, Wenxiao and Yao, Lu and Chen, Long and Lin, Binbin and Cai, "
              "Deng and He, Xiaofei and Liu, Wei}, booktitle = {International Conference on Learning "
              "Representations}, year = {2022}, eprint = {2108.00154}, archiveprefix = {arXiv}} "
              "@inproceedings{liu2022swinv2, title = {{Swin Transformer V2}: Scaling Up Capacity and Resolution}, "
              "author = {Liu, Ze and Hu, Han and Lin, Yutong and Yao, Zhuliang and Xie, Zhenda and Wei, Yixuan and "
              "Ning, Jia and Cao, Yue and Zhang, Zheng and Dong, Li and Wei, Furu and Guo, Baining}, booktitle = "
              "{Proceedings of the IEEE/CVF Conference on Computer Vision and Pattern Recognition}, pages = "
              "{12009--12019}, year = {2022}, eprint = {2111.09883}, archiveprefix = {arXiv}}",
};
