/* fire.c - functional interpolation: a small network reads how far a key is, measured against how far the query has
 * come.
 */
#include "pe.h"

enum { FIRE_CHUNK = 64 };
enum { FIRE_C, FIRE_W1, FIRE_B1, FIRE_W2, FIRE_B2, FIRE_MULTIPLIER };

typedef struct fire_options {
    int hidden, learned_threshold, shared;
    double threshold, eps, c;
} fire_options;

static const pe_option fire_rows[] = {
    {"hidden", PE_OPTION_INT, PE_OFFSET(fire_options, hidden), "32", 1, 1024, 0, NULL,
     "ReLU units of the network from a distance to a bias for each head (paper's listing: 32)"},
    {"threshold", PE_OPTION_REAL, PE_OFFSET(fire_options, threshold), "auto", 1e-3, 1e9, 1, NULL,
     "L: queries before this position are measured against it instead of their own (paper's listing: 512); auto: the "
     "training length"},
    {"learned_threshold", PE_OPTION_BOOL, PE_OFFSET(fire_options, learned_threshold), "true", 0, 0, 0, NULL,
     "true: L is multiplied by a trained number that starts at 1, as in the paper's listing; false: L is fixed"},
    {"c", PE_OPTION_REAL, PE_OFFSET(fire_options, c), "0.1", 1e-6, 1e6, 0, NULL,
     "where c in psi(x) = ln(|c x| + 1) starts (paper's listing: 0.1)"},
    {"eps", PE_OPTION_REAL, PE_OFFSET(fire_options, eps), "1e-6", 0, 1, 0, NULL,
     "added to what is divided by (paper's listing: 1e-6; 0: the paper's formula)"},
    {"shared", PE_OPTION_BOOL, PE_OFFSET(fire_options, shared), "false", 0, 0, 0, NULL,
     "true: one network for all layers; false: one for each"},
    {0},
};

/* The network starts as PyTorch's linear layers do: +-1/sqrt(inputs), uniform, biases too. */
static int fire_params(const void *options, const pe_shape *shape, pe_param *out)
{
    const fire_options *o = options;
    int hidden = o->hidden, heads = shape->heads;
    double second = 1 / sqrt(hidden);
    const pe_param all[] = {
        [FIRE_C] = {.name = "c", .rows = 1, .cols = 1, .mean = o->c},
        [FIRE_W1] = {.name = "w1", .rows = 1, .cols = hidden, .deviation = 1, .init = PE_INIT_UNIFORM},
        [FIRE_B1] = {.name = "b1", .rows = 1, .cols = hidden, .deviation = 1, .init = PE_INIT_UNIFORM},
        [FIRE_W2] = {.name = "w2", .rows = heads, .cols = hidden, .deviation = second, .init = PE_INIT_UNIFORM},
        [FIRE_B2] = {.name = "b2", .rows = 1, .cols = heads, .deviation = second, .init = PE_INIT_UNIFORM},
        [FIRE_MULTIPLIER] = {.name = "L_multiplier", .rows = 1, .cols = 1, .mean = 1},
    };
    int count = o->learned_threshold ? FIRE_MULTIPLIER + 1 : FIRE_MULTIPLIER;
    for (int i = 0; i < count; i++) {
        out[i] = all[i];
        out[i].per_layer = !o->shared;
    }
    return count;
}

/* ------------------------------------------------------------------------------------------------ distances */

/* |L_multiplier L| */
static double fire_threshold(const pe_context *c)
{
    const fire_options *o = c->options;
    double threshold = o->threshold == PE_AUTO_REAL ? c->shape->train_len : o->threshold;
    return o->learned_threshold ? fabs((double)c->theta[FIRE_MULTIPLIER][0] * threshold) : threshold;
}

/* What the keys of one query are measured against: N = max(pos_i, threshold). */
typedef struct fire_measure {
    double origin, c; /* pos_i and |c| */
    double inverse;   /* 1 / (psi(N) + eps); 0 if c, or N, and eps are 0: everything is at 0 then */
    double by_c;      /* d ln(psi(N) + eps) / d|c| */
    double by_n;      /* the same by the threshold: 0 where pos_i wins, half of it where they tie */
} fire_measure;

static fire_measure fire_measure_of(const pe_context *c, int i)
{
    const fire_options *o = c->options;
    double threshold = fire_threshold(c), origin = c->pos[i], n = fmax(origin, threshold);
    fire_measure m = {.origin = origin, .c = fabs((double)c->theta[FIRE_C][0])};
    double whole = log1p(m.c * n) + o->eps, slope = 1 / (1 + m.c * n);
    m.inverse = whole > 0 ? 1 / whole : 0;
    m.by_c = m.inverse * n * slope;
    m.by_n = origin > threshold ? 0 : m.inverse * m.c * slope * (origin == threshold ? 0.5 : 1);
    return m;
}

/* x[j] = psi(D) / (psi(N) + eps) for the keys from begin on. */
static void fire_normalise(const pe_context *c, const fire_measure *m, int begin, int count, real x[FIRE_CHUNK])
{
    const double *pos = c->pos + begin;
    for (int j = 0; j < count; j++)
        x[j] = (real)(log1p(m->c * fabs(m->origin - pos[j])) * m->inverse);
}

/* ------------------------------------------------------------------------------------------------ bias */

/* The rows of a chunk of keys, one for each head: row h begins at first + h * plane. */
static size_t fire_first(const pe_tile *t, int r, int begin)
{
    return (size_t)r * t->stride + (size_t)begin;
}

/* act[j] = relu(w x[j] + b) */
static void fire_activate(real w, real b, const real *restrict x, int count, real *restrict act)
{
    for (int j = 0; j < count; j++) {
        real sum = w * x[j] + b;
        act[j] = sum > 0 ? sum : 0;
    }
}

/* s[h][j] += sum_k w2[h][k] relu(w1[k] x[j] + b1[k]) + b2[h] */
static void fire_add(const pe_context *c, const real *restrict x, int count, size_t plane, real *s)
{
    int hidden = ((const fire_options *)c->options)->hidden, heads = c->shape->heads;
    real act[FIRE_CHUNK];
    for (int h = 0; h < heads; h++)
        for (int j = 0; j < count; j++)
            s[(size_t)h * plane + (size_t)j] += c->theta[FIRE_B2][h];
    for (int k = 0; k < hidden; k++) {
        fire_activate(c->theta[FIRE_W1][k], c->theta[FIRE_B1][k], x, count, act);
        for (int h = 0; h < heads; h++)
            pe_axpy(s + (size_t)h * plane, c->theta[FIRE_W2][(size_t)h * hidden + k], act, count);
    }
}

static void fire_bias(const pe_context *c, const pe_tile *t, real *s)
{
    real x[FIRE_CHUNK];
    for (int r = 0; r < t->rows; r++) {
        fire_measure m = fire_measure_of(c, t->row_begin + r);
        for (int begin = 0, visible = pe_visible(c, t, r); begin < visible; begin += FIRE_CHUNK) {
            int count = visible - begin < FIRE_CHUNK ? visible - begin : FIRE_CHUNK;
            fire_normalise(c, &m, begin, count, x);
            fire_add(c, x, count, (size_t)t->plane, s + fire_first(t, r, begin));
        }
    }
}

/* Gradients of the network; dx[count] (=). A unit at exactly 0 passes nothing. */
static void fire_add_bwd(const pe_context *c, const real *x, int count, size_t plane, const real *ds, real *restrict dx)
{
    int hidden = ((const fire_options *)c->options)->hidden, heads = c->shape->heads;
    real act[FIRE_CHUNK], dact[FIRE_CHUNK];
    memset(dx, 0, (size_t)count * sizeof *dx);
    for (int h = 0; h < heads; h++)
        c->dtheta[FIRE_B2][h] += pe_sum(ds + (size_t)h * plane, count);
    for (int k = 0; k < hidden; k++) {
        real w1 = c->theta[FIRE_W1][k];
        fire_activate(w1, c->theta[FIRE_B1][k], x, count, act);
        memset(dact, 0, sizeof dact);
        for (int h = 0; h < heads; h++) {
            const real *row = ds + (size_t)h * plane;
            c->dtheta[FIRE_W2][(size_t)h * hidden + k] += pe_dot(row, act, count);
            pe_axpy(dact, c->theta[FIRE_W2][(size_t)h * hidden + k], row, count);
        }
        for (int j = 0; j < count; j++) {
            dact[j] = act[j] > 0 ? dact[j] : 0;
            dx[j] += w1 * dact[j];
        }
        c->dtheta[FIRE_W1][k] += pe_dot(dact, x, count);
        c->dtheta[FIRE_B1][k] += pe_sum(dact, count);
    }
}

/* x = psi(D) / (psi(N) + eps):  dx/d|c| = D / (1 + |c|D) / (psi(N) + eps) - x by_c,  dx/dN = -x by_n. */
static void fire_normalise_bwd(const pe_context *c, const fire_measure *m, int begin, int count, const real *x,
                               const real *dx, double *dc, double *dn)
{
    const double *pos = c->pos + begin;
    for (int j = 0; j < count; j++) {
        double d = fabs(m->origin - pos[j]);
        *dc += (double)dx[j] * (d / (1 + m->c * d) * m->inverse - (double)x[j] * m->by_c);
        *dn -= (double)dx[j] * (double)x[j] * m->by_n;
    }
}

static double fire_sign(double x)
{
    return (x > 0) - (x < 0);
}

static void fire_bias_bwd(const pe_context *c, const pe_tile *t, const real *ds)
{
    const fire_options *o = c->options;
    real x[FIRE_CHUNK], dx[FIRE_CHUNK];
    double dc = 0, dn = 0;
    for (int r = 0; r < t->rows; r++) {
        fire_measure m = fire_measure_of(c, t->row_begin + r);
        for (int begin = 0, visible = pe_visible(c, t, r); begin < visible; begin += FIRE_CHUNK) {
            int count = visible - begin < FIRE_CHUNK ? visible - begin : FIRE_CHUNK;
            fire_normalise(c, &m, begin, count, x);
            fire_add_bwd(c, x, count, (size_t)t->plane, ds + fire_first(t, r, begin), dx);
            fire_normalise_bwd(c, &m, begin, count, x, dx, &dc, &dn);
        }
    }
    c->dtheta[FIRE_C][0] += (real)(dc * fire_sign((double)c->theta[FIRE_C][0]));
    if (!o->learned_threshold)
        return;
    double threshold = o->threshold == PE_AUTO_REAL ? c->shape->train_len : o->threshold;
    c->dtheta[FIRE_MULTIPLIER][0] += (real)(dn * threshold * fire_sign((double)c->theta[FIRE_MULTIPLIER][0]));
}

static const char *const fire_examples[] = {
    "hidden=4,threshold=3",
    "hidden=5,learned_threshold=false",
    "hidden=4,shared=true,eps=0,c=1",
    NULL,
};

const pe_descriptor pe_encoding_fire = {
    PE_DESCRIPTOR_HEAD,
    .name = "fire",
    .family = "bias",
    .title = "Functional interpolation for relative positions (FIRE)",
    .source = "Li et al. 2024, Functional Interpolation for Relative Positions Improves Long Context Transformers, "
              "eq. 3 and the listing in the appendix",
    .formula = "s_ij += f(psi(D) / (psi(max(pos_i, |m L|)) + eps)), D = |pos_i - pos_j|, psi(x) = ln(|c x| + 1), f a "
               "network 1 -> hidden -> heads with ReLU; c, m and f are trained. Real-valued positions as they are",
    .notes = "Not shift-invariant: the distance is measured against the query's own position, counted from 0 as in the "
             "listing. Under a causal mask f is never asked about more than 1, at any length. Without a mask distances "
             "enter by their absolute value, as in the listing, and keys far ahead of an early query give more than "
             "1. Where position and threshold are equal, half of the gradient goes to the threshold, as in PyTorch. "
             "DAPE's code takes the longest distance of the row for the query's position, the same at positions 0, 1, "
             "2 ...; one implementation for position coupling bounds the normaliser from above, under a comment that "
             "says maximum. b2 is the same for all keys of a query, so softmax gives it no gradient.",
    .claims = PE_ANY_LENGTH,
    .options = fire_rows,
    .options_size = sizeof(fire_options),
    .examples = fire_examples,
    .params = fire_params,
    .bias = fire_bias,
    .bias_bwd = fire_bias_bwd,
    .bibtex = "@inproceedings{li2024fire, title = {Functional Interpolation for Relative Positions Improves Long "
              "Context Transformers}, author = {Li, Shanda and You, Chong and Guruganesh, Guru and Ainslie, Joshua "
              "and Ontanon, Santiago and Zaheer, Manzil and Sanghai, Sumit and Yang, Yiming and Kumar, Sanjiv and "
              "Bhojanapalli, Srinadh}, booktitle = {International Conference on Learning Representations}, year = "
              "{2024}, eprint = {2310.04418}, archiveprefix = {arXiv}}",
};
