/* bell.c - a bias that falls with the square of the distance. */
#include "pe.h"

typedef struct bell_options {
    double width;
    int learned;
} bell_options;

static const pe_option bell_rows[] = {
    {"width", PE_OPTION_REAL, PE_OFFSET(bell_options, width), "8", 0.01, 1e6, 0, NULL,
     "standard deviation of the first head's bell, in tokens; each further head's is twice as wide"},
    {"learned", PE_OPTION_BOOL, PE_OFFSET(bell_options, learned), "false", 0, 1, 0, NULL,
     "true: how fast a head's bell falls, 1/deviation^2, is trained, each layer its own"},
    {0},
};

/* 1/deviation^2 of head h before training */
static double bell_start(const pe_context *c, int h)
{
    const bell_options *o = c->options;
    return ldexp(1 / (o->width * o->width), -2 * h);
}

static int bell_params(const void *options, const pe_shape *shape, pe_param *out)
{
    const bell_options *o = options;
    if (!o->learned)
        return 0;
    out[0] = (pe_param){.name = "fall", .rows = 1, .cols = shape->heads, .per_layer = 1};
    return 1;
}

static void bell_init(const pe_context *c, int i, real *values)
{
    (void)i;
    for (int h = 0; h < c->shape->heads; h++)
        values[h] = (real)bell_start(c, h);
}

static unsigned bell_claims(const void *options)
{
    const bell_options *o = options;
    return PE_SHIFT_INVARIANT | PE_ANY_LENGTH | (o->learned ? 0 : PE_PARAMETER_FREE);
}

/* d^2 / 2 */
static double bell_half_square(const pe_context *c, int i, int j)
{
    double distance = c->pos[i] - c->pos[j];
    return distance * distance / 2;
}

/* s[h][r][j] -= fall_h d^2 / 2 */
static void bell_bias(const pe_context *c, const pe_tile *t, real *s)
{
    for (int h = 0; h < c->shape->heads; h++) {
        double fall = c->theta ? (double)c->theta[0][h] : bell_start(c, h);
        for (int r = 0; r < t->rows; r++)
            for (int j = 0; j < t->keys; j++)
                s[(size_t)h * t->plane + (size_t)r * t->stride + j] -=
                    (real)(fall * bell_half_square(c, t->row_begin + r, j));
    }
}

/* d fall_h -= sum over r, j of ds[h][r][j] d^2 / 2 */
static void bell_bias_bwd(const pe_context *c, const pe_tile *t, const real *ds)
{
    for (int h = 0; c->dtheta && h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++) {
            int visible = c->shape->causal ? t->row_begin + r + 1 : t->keys;
            for (int j = 0; j < visible; j++)
                c->dtheta[0][h] -= ds[(size_t)h * t->plane + (size_t)r * t->stride + j] *
                                   (real)bell_half_square(c, t->row_begin + r, j);
        }
}

static const char *const bell_examples[] = {"width=2", "learned=true", NULL};

const pe_descriptor pe_encoding_bell = {
    PE_DESCRIPTOR_HEAD,
    .name = "bell",
    .family = "bias",
    .title = "Gaussian bias",
    .source = "Yang et al. 2018, Modeling Localness for Self-Attention Networks, eq. 4, with the query as the centre",
    .formula = "s_ij -= (pos_i - pos_j)^2 / (2 (2^h width)^2), h = 0 .. H-1; real-valued distances as they are",
    .notes = "The paper predicts centre and width from the query; here the centre is the query's own position.",
    .claims = PE_SHIFT_INVARIANT | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .options = bell_rows,
    .options_size = sizeof(bell_options),
    .examples = bell_examples,
    .claims_with = bell_claims,
    .params = bell_params,
    .init = bell_init,
    .bias = bell_bias,
    .bias_bwd = bell_bias_bwd,
};
