/* learned.c - one trained vector for each position, added to the token vectors; it ends where its table ends. */
#include "pe.h"

#include <assert.h>
#include <stdio.h>

typedef struct learned_options {
    int rows, offset, normalized;
    double deviation, scale;
} learned_options;

static const pe_option learned_rows[] = {
    {"rows", PE_OPTION_INT, PE_OFFSET(learned_options, rows), "auto", 1, 16777216, 1, NULL,
     "rows of the table; auto: the training length plus offset"},
    {"deviation", PE_OPTION_REAL, PE_OFFSET(learned_options, deviation), "0.02", 0, 100, 0, NULL,
     "standard deviation of the start values (GPT-2: 0.02)"},
    {"scale", PE_OPTION_REAL, PE_OFFSET(learned_options, scale), "1", 0, 1000, 1, NULL,
     "what a row is multiplied by; auto: 1/sqrt(width), as in x-transformers"},
    {"normalized", PE_OPTION_BOOL, PE_OFFSET(learned_options, normalized), "false", 0, 0, 0, NULL,
     "true: rows are brought to length 1 before they are used"},
    {"offset", PE_OPTION_INT, PE_OFFSET(learned_options, offset), "0", 0, 65535, 0, NULL,
     "row of position 0; rows before it are never read (OPT: 2)"},
    {0},
};

static int learned_row_count(const learned_options *o, const pe_shape *shape)
{
    return o->rows == PE_AUTO_INT ? shape->train_len + o->offset : o->rows;
}

static int learned_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    const learned_options *o = options;
    int rows = learned_row_count(o, shape);
    if (rows > o->offset)
        return 0;
    snprintf(message, size, "a table of %d rows has none left after offset=%d", rows, o->offset);
    return -1;
}

static int learned_params(const void *options, const pe_shape *shape, pe_param *out)
{
    const learned_options *o = options;
    out[0] = (pe_param){.name = "table",
                        .rows = learned_row_count(o, shape),
                        .cols = shape->width,
                        .deviation = o->deviation,
                        .init = PE_INIT_NORMAL,
                        .per_position = 1};
    return 1;
}

static double learned_last_position(const void *options, const pe_shape *shape)
{
    const learned_options *o = options;
    return learned_row_count(o, shape) - 1 - o->offset;
}

/* A position between two whole ones reads `row` with weight 1-share and the next with weight share. */
typedef struct learned_place {
    int row;
    real share;
} learned_place;

static learned_place learned_at(const pe_context *c, int t)
{
    const learned_options *o = c->options;
    double place = c->pos[t] + o->offset, whole = floor(place);
    assert(place >= 0 && place <= learned_row_count(o, c->shape) - 1);
    return (learned_place){(int)whole, (real)(place - whole)};
}

static real learned_scale(const pe_context *c)
{
    const learned_options *o = c->options;
    return (real)(o->scale == PE_AUTO_REAL ? 1.0 / sqrt(c->shape->width) : o->scale);
}

/* 1/|row|; rows shorter than 1e-12 stay short, as in the common definition of a safe norm. */
static real learned_inverse_length(const real *row, int width)
{
    double square = 0;
    for (int i = 0; i < width; i++)
        square += (double)row[i] * row[i];
    return (real)(1.0 / fmax(sqrt(square), 1e-12));
}

/* x[width] += weight * row, brought to length 1 if asked for. */
static void learned_add(const pe_context *c, int row, real weight, real *x)
{
    const learned_options *o = c->options;
    int width = c->shape->width;
    const real *values = c->theta[0] + (size_t)row * width;
    if (o->normalized)
        weight *= learned_inverse_length(values, width);
    for (int i = 0; i < width; i++)
        x[i] += weight * values[i];
}

/* dtable[row] += weight * dx, through the normalisation n = row/|row|: (dx - n (n.dx)) / |row|. */
static void learned_add_bwd(const pe_context *c, int row, real weight, const real *dx)
{
    const learned_options *o = c->options;
    int width = c->shape->width;
    const real *values = c->theta[0] + (size_t)row * width;
    real *grad = c->dtheta[0] + (size_t)row * width;
    real along = 0;
    if (o->normalized) {
        real inverse = learned_inverse_length(values, width);
        for (int i = 0; i < width; i++)
            along += values[i] * dx[i];
        along *= inverse * inverse;
        weight *= inverse;
    }
    for (int i = 0; i < width; i++)
        grad[i] += weight * (dx[i] - along * values[i]);
}

static void learned_embed(const pe_context *c, real *x)
{
    real scale = learned_scale(c);
    for (int t = 0; t < c->len; t++) {
        learned_place at = learned_at(c, t);
        real *token = x + (size_t)t * c->shape->width;
        learned_add(c, at.row, scale * (1 - at.share), token);
        if (at.share > 0)
            learned_add(c, at.row + 1, scale * at.share, token);
    }
}

static void learned_embed_bwd(const pe_context *c, const real *dx)
{
    real scale = learned_scale(c);
    for (int t = 0; t < c->len; t++) {
        learned_place at = learned_at(c, t);
        const real *token = dx + (size_t)t * c->shape->width;
        learned_add_bwd(c, at.row, scale * (1 - at.share), token);
        if (at.share > 0)
            learned_add_bwd(c, at.row + 1, scale * at.share, token);
    }
}

static const char *const learned_examples[] = {"normalized=true,scale=2", "scale=auto", "offset=2", NULL};

const pe_descriptor pe_encoding_learned = {
    PE_DESCRIPTOR_HEAD,
    .name = "learned",
    .family = "absolute",
    .title = "Learned absolute position embedding",
    .source =
        "Gehring et al. 2017, Convolutional Sequence to Sequence Learning, section 3.1; Radford et al. 2019, GPT-2",
    .formula = "x_t += scale * P[pos_t + offset], P trained; a fraction of a position interpolates linearly between "
               "its two rows",
    .notes = "Has no value past its last row: such lengths are undefined, unless a position map (clamp, interpolate) "
             "gives them one, and rows that training never met keep their random start values. Peers differ in where "
             "row 0 stands: fairseq and OPT begin at row pad+1, so 514 rows hold 512 tokens; here that is offset=2. "
             "Kazemnejad et al. start with deviation 1, or with a frozen table when a file of it happens to be "
             "present.",
    .options = learned_rows,
    .options_size = sizeof(learned_options),
    .examples = learned_examples,
    .check = learned_check,
    .params = learned_params,
    .last_position = learned_last_position,
    .embed = learned_embed,
    .embed_bwd = learned_embed_bwd,
    .bibtex = "@inproceedings{gehring2017convolutional, title = {Convolutional Sequence to Sequence Learning}, author "
              "= {Gehring, Jonas and Auli, Michael and Grangier, David and Yarats, Denis and Dauphin, Yann N.}, "
              "booktitle = {Proceedings of the 34th International Conference on Machine Learning}, year = {2017}, "
              "eprint = {1705.03122}, archiveprefix = {arXiv}} "
              "@techreport{radford2019language, title = {Language Models are Unsupervised Multitask Learners}, author "
              "= {Radford, Alec and Wu, Jeffrey and Child, Rewon and Luan, David and Amodei, Dario and Sutskever, "
              "Ilya}, institution = {OpenAI}, year = {2019}}",
};
