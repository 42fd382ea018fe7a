/* fire.c - functional interpolation: a small network reads how far a key is, measured against how far the query has
 * come.
 *
 * Queries before the threshold are all measured against it. Where positions moreover follow each other by one, as in
 * most training, they see the same distances: the network reads each distance once for all of them, and their
 * gradients are summed by distance before they go through it.
 */
#include "pe.h"

enum { FIRE_CHUNK = 64, FIRE_HEADS = 4 }; /* keys and heads that are worked off together */
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

/* ------------------------------------------------------------------------------------------------ lines */

/* Rows first .. first+rows-1 of a tile that are measured against the same and see the same distances: place m is key m of
 * the last of them, key m-1 of the row before it, and so on. Where rows is 1, places are keys at any positions. */
typedef struct fire_line {
    int first, rows, last; /* last: the token of the last row */
    int places;            /* 0 .. places-1 hold all keys that the rows see */
    fire_measure m;
} fire_line;

/* A stretch of places of a line. */
typedef struct fire_chunk {
    int begin, count;
    real distance[FIRE_CHUNK], x[FIRE_CHUNK]; /* D and psi(D) / (psi(N) + eps), 0 from count on */
    real lines[FIRE_HEADS][FIRE_CHUNK];       /* biases, or their gradients */
} fire_chunk;

/* The longest line that begins at row `first`. */
static fire_line fire_line_from(const pe_context *c, const pe_tile *t, int first, int even)
{
    fire_line l = {.first = first, .rows = 1};
    double threshold = fire_threshold(c);
    if (even && c->pos[t->row_begin + first] < threshold)
        while (first + l.rows < t->rows && c->pos[t->row_begin + first + l.rows] < threshold)
            l.rows++;
    l.last = t->row_begin + first + l.rows - 1;
    l.places = pe_visible(c, t, first + l.rows - 1) + (c->shape->causal ? 0 : l.rows - 1);
    l.m = fire_measure_of(c, l.last);
    return l;
}

static void fire_read(const pe_context *c, const fire_line *l, int begin, fire_chunk *k)
{
    k->begin = begin;
    k->count = l->places - begin < FIRE_CHUNK ? l->places - begin : FIRE_CHUNK;
    memset(k->distance, 0, sizeof k->distance);
    for (int m = 0; m < k->count; m++)
        k->distance[m] =
            (real)(l->rows > 1 ? fabs((double)(l->last - begin - m)) : fabs(l->m.origin - c->pos[begin + m]));
    for (int m = 0; m < k->count; m += PE_VEC_LANES)
        pe_vec_store(k->x + m, (real)l->m.inverse * pe_vec_log1p((real)l->m.c * pe_vec_load(k->distance + m)));
}

/* Places *from .. *to-1 of the chunk are keys of row n of the line, place 0 of the chunk would be key *key. */
static void fire_overlap(const pe_context *c, const pe_tile *t, const fire_line *l, const fire_chunk *k, int n,
                         int *from, int *to, int *key)
{
    int visible = pe_visible(c, t, l->first + n);
    *key = k->begin - (l->rows - 1 - n);
    *from = *key < 0 ? -*key : 0;
    *to = visible - *key < k->count ? visible - *key : k->count;
}

/* How far whole vectors may go from there, in the chunk and in the row. */
static int fire_room(const pe_tile *t, int from, int key)
{
    return FIRE_CHUNK < t->keys - key ? FIRE_CHUNK - from : t->keys - key - from;
}

/* ------------------------------------------------------------------------------------------------ the network */

/* Unit u of the hidden layer. */
PE_VEC_INLINE pe_vec fire_unit(const pe_context *c, int u, pe_vec x)
{
    return pe_vec_max(c->theta[FIRE_W1][u] * x + c->theta[FIRE_B1][u], pe_vec_fill(0));
}

/* lines[h][m] (=) sum_u w2[h][u] relu(w1[u] x[m] + b1[u]) + b2[h] for `heads` heads from first on: the sums of a vector
 * of places stay in registers. */
PE_VEC_INLINE void fire_apply(const pe_context *c, int first, const int heads, fire_chunk *k)
{
    int hidden = ((const fire_options *)c->options)->hidden;
    const real *w2 = c->theta[FIRE_W2] + (size_t)first * hidden;
    for (int m = 0; m < k->count; m += PE_VEC_LANES) {
        pe_vec x = pe_vec_load(k->x + m), sum[FIRE_HEADS];
        for (int h = 0; h < heads; h++)
            sum[h] = pe_vec_fill(c->theta[FIRE_B2][first + h]);
        for (int u = 0; u < hidden; u++) {
            pe_vec act = fire_unit(c, u, x);
            for (int h = 0; h < heads; h++)
                sum[h] += w2[(size_t)h * hidden + u] * act;
        }
        for (int h = 0; h < heads; h++)
            pe_vec_store(k->lines[h] + m, sum[h]);
    }
}

/* From the gradients in lines, 0 from count on: those of the network; dx[m] +=. A unit at exactly 0 passes nothing. */
PE_VEC_INLINE void fire_apply_bwd(const pe_context *c, int first, const int heads, const fire_chunk *k, real *dx)
{
    int hidden = ((const fire_options *)c->options)->hidden;
    const real *w2 = c->theta[FIRE_W2] + (size_t)first * hidden;
    real *dw2 = c->dtheta[FIRE_W2] + (size_t)first * hidden;
    for (int h = 0; h < heads; h++)
        c->dtheta[FIRE_B2][first + h] += pe_sum(k->lines[h], k->count);
    for (int u = 0; u < hidden; u++) {
        pe_vec w1_sum = pe_vec_fill(0), b1_sum = w1_sum, w2_sum[FIRE_HEADS];
        for (int h = 0; h < heads; h++)
            w2_sum[h] = pe_vec_fill(0);
        for (int m = 0; m < k->count; m += PE_VEC_LANES) {
            pe_vec x = pe_vec_load(k->x + m), act = fire_unit(c, u, x), dact = pe_vec_fill(0);
            for (int h = 0; h < heads; h++) {
                pe_vec line = pe_vec_load(k->lines[h] + m);
                w2_sum[h] += act * line;
                dact += w2[(size_t)h * hidden + u] * line;
            }
            dact = pe_vec_select(act > 0, dact, pe_vec_fill(0));
            w1_sum += dact * x;
            b1_sum += dact;
            pe_vec_store(dx + m, pe_vec_load(dx + m) + c->theta[FIRE_W1][u] * dact);
        }
        c->dtheta[FIRE_W1][u] += pe_vec_sum(w1_sum);
        c->dtheta[FIRE_B1][u] += pe_vec_sum(b1_sum);
        for (int h = 0; h < heads; h++)
            dw2[(size_t)h * hidden + u] += pe_vec_sum(w2_sum[h]);
    }
}

/* ------------------------------------------------------------------------------------------------ bias */

/* How many heads are worked off together from h on. */
static int fire_heads_from(const pe_context *c, int h)
{
    return c->shape->heads - h >= FIRE_HEADS ? FIRE_HEADS : 1;
}

static void fire_bias(const pe_context *c, const pe_tile *t, real *s)
{
    int even = pe_evenly(c, t->keys, 1e-9), from, to, key;
    fire_line l;
    fire_chunk k;
    for (int r = 0; r < t->rows; r += l.rows) {
        l = fire_line_from(c, t, r, even);
        for (int begin = 0; begin < l.places; begin += FIRE_CHUNK) {
            fire_read(c, &l, begin, &k);
            for (int first = 0, heads; first < c->shape->heads; first += heads) {
                heads = fire_heads_from(c, first);
                if (heads == FIRE_HEADS)
                    fire_apply(c, first, FIRE_HEADS, &k);
                else
                    fire_apply(c, first, 1, &k);
                for (int n = 0; n < heads * l.rows; n++) {
                    int h = n / l.rows, row = n % l.rows;
                    fire_overlap(c, t, &l, &k, row, &from, &to, &key);
                    if (from < to)
                        pe_add(s + (size_t)(first + h) * t->plane + (size_t)(r + row) * t->stride + key + from,
                               k.lines[h] + from, to - from, fire_room(t, from, key));
                }
            }
        }
    }
}

/* x = psi(D) / (psi(N) + eps):  dx/d|c| = D / (1 + |c|D) / (psi(N) + eps) - x by_c,  dx/dN = -x by_n. */
static void fire_read_bwd(const fire_measure *m, const fire_chunk *k, const real *dx, double *dc, double *dn)
{
    double by_c = 0, by_n = 0;
#pragma omp simd reduction(+ : by_c, by_n)
    for (int j = 0; j < k->count; j++) {
        double d = (double)k->distance[j], x = (double)k->x[j], g = (double)dx[j];
        by_c += g * (d / (1 + m->c * d) * m->inverse - x * m->by_c);
        by_n += g * x;
    }
    *dc += by_c;
    *dn -= by_n * m->by_n;
}

static double fire_sign(double x)
{
    return (x > 0) - (x < 0);
}

/* lines (=) the gradients of the line's rows, summed by place. */
static void fire_collect(const pe_context *c, const pe_tile *t, const fire_line *l, int first, int heads, const real *ds,
                         fire_chunk *k)
{
    int from, to, key;
    memset(k->lines, 0, sizeof k->lines);
    for (int n = 0; n < heads * l->rows; n++) {
        int h = n / l->rows, row = n % l->rows;
        fire_overlap(c, t, l, k, row, &from, &to, &key);
        if (from < to)
            pe_add(k->lines[h] + from,
                   ds + (size_t)(first + h) * t->plane + (size_t)(l->first + row) * t->stride + key + from, to - from,
                   fire_room(t, from, key));
    }
}

static void fire_bias_bwd(const pe_context *c, const pe_tile *t, const real *ds)
{
    const fire_options *o = c->options;
    int even = pe_evenly(c, t->keys, 1e-9);
    double dc = 0, dn = 0;
    fire_line l;
    fire_chunk k;
    for (int r = 0; r < t->rows; r += l.rows) {
        l = fire_line_from(c, t, r, even);
        for (int begin = 0; begin < l.places; begin += FIRE_CHUNK) {
            real dx[FIRE_CHUNK] = {0};
            fire_read(c, &l, begin, &k);
            for (int first = 0, heads; first < c->shape->heads; first += heads) {
                heads = fire_heads_from(c, first);
                fire_collect(c, t, &l, first, heads, ds, &k);
                if (heads == FIRE_HEADS)
                    fire_apply_bwd(c, first, FIRE_HEADS, &k, dx);
                else
                    fire_apply_bwd(c, first, 1, &k, dx);
            }
            fire_read_bwd(&l.m, &k, dx, &dc, &dn);
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
