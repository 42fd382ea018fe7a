/* cope.c - contextual position encoding: a query counts the keys between itself and a key, each by a gate that depends
 * on both, and looks up that count.
 *
 * A row is walked from the query's own key leftwards. Counts only grow, so once one has reached the last position all
 * keys further left are there too: no gate of theirs is needed. */
#include "pe.h"

enum { COPE_CHUNK = 64, COPE_POSITIONS_MAX = 1 << 20 };

typedef struct cope_options {
    int positions, scaled, shared;
} cope_options;

static const pe_option cope_rows[] = {
    {"positions", PE_OPTION_INT, PE_OFFSET(cope_options, positions), "auto", 1, COPE_POSITIONS_MAX, 1, NULL,
     "rows of the table, positions 0 .. positions-1; counts are clamped to the last. auto: training length + 1, as in "
     "the "
     "authors' code: counts begin near 0 and a key may count fully"},
    {"scaled", PE_OPTION_BOOL, PE_OFFSET(cope_options, scaled), "false", 0, 0, 0, NULL,
     "false: the term is added to scaled scores, as in the paper's listing; true: it too is divided by sqrt(head_dim), "
     "the "
     "default of the authors' training code"},
    {"shared", PE_OPTION_BOOL, PE_OFFSET(cope_options, shared), "false", 0, 0, 0, NULL,
     "true: one table for all layers; false: one for each (authors' code)"},
    {0},
};

static int cope_positions(const pe_context *c)
{
    const cope_options *o = c->options;
    return o->positions == PE_AUTO_INT ? c->shape->train_len + 1 : o->positions;
}

static int cope_params(const void *options, const pe_shape *shape, pe_param *out)
{
    const cope_options *o = options;
    out[0] = (pe_param){.name = "table",
                        .rows = o->positions == PE_AUTO_INT ? shape->train_len + 1 : o->positions,
                        .cols = shape->head_dim,
                        .per_layer = !o->shared};
    return 1;
}

/* save, for each head and row: gate[keys], slope[keys] = d term / d count, both of unclamped keys only, and
 * z[n] = q.table[n], [positions], as far as counts reach. */
static size_t cope_row_reals(const pe_context *c, int keys)
{
    return 2 * (size_t)keys + (size_t)cope_positions(c);
}

static void cope_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    out->save_reals = (size_t)c->shape->heads * (size_t)rows * cope_row_reals(c, keys);
}

static size_t cope_row_at(const pe_context *c, const pe_tile *t, int h, int r)
{
    return (size_t)(h * t->rows + r) * cope_row_reals(c, t->keys);
}

#ifdef PE_REAL_DOUBLE
static inline real cope_exp(real x)
{
    return exp(x);
}
#else
/* exp for the vectoriser, good to 2e-7 of the result for x in -87 .. 0: 2^n e^f with |f| <= ln(2)/2, e^f by its Taylor
 * series. Adding 1.5 * 2^23 rounds x/ln 2 to n and leaves n in the lowest bits. */
static inline real cope_exp(real x)
{
    float shifted = x * 1.44269504f + 12582912.0f, n = shifted - 12582912.0f;
    float f = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float e = 1 + f * (1 + f * (1 / 2.f + f * (1 / 6.f + f * (1 / 24.f + f * (1 / 120.f + f * (1 / 720.f))))));
    unsigned bits, power;
    memcpy(&bits, &e, sizeof bits);
    memcpy(&power, &shifted, sizeof power);
    bits += power << 23;
    memcpy(&e, &bits, sizeof e);
    return e;
}
#endif

/* gate = sigmoid(s), from exp of what is never positive. */
static void cope_sigmoid(const real *restrict s, real *restrict gate, int n)
{
    for (int j = 0; j < n; j++) {
        real size = s[j] < 0 ? -s[j] : s[j];
        real e = cope_exp(size > 80 ? -80 : -size), rest = 1 / (1 + e);
        gate[j] = s[j] < 0 ? e * rest : rest;
    }
}

/* A walk along one row: the count so far and where it falls between two positions. */
typedef struct cope_walk {
    double count, last; /* last: positions - 1 */
    int below;          /* the whole part of count */
    real part;          /* the rest of it: the share of below + 1 */
} cope_walk;

/* Returns 0 when the count has reached the last position. */
static inline int cope_step(cope_walk *w, real gate)
{
    w->count += (double)gate;
    w->below = w->count < w->last ? (int)w->count : (int)w->last;
    w->part = (real)(w->count - w->below);
    return w->count < w->last;
}

static real cope_factor(const pe_context *c, const pe_tile *t)
{
    const cope_options *o = c->options;
    return o->scaled ? t->scale : 1;
}

/* One row of query i: row[j] += factor * z at the count of key j. save (=): see cope_row_reals. */
static void cope_score_row(const pe_context *c, const real *q, int i, int keys, real factor, real *row, real *save)
{
    real *gate = save, *slope = save + keys, *z = slope + keys;
    cope_walk w = {.last = cope_positions(c) - 1};
    int dim = c->shape->head_dim, ready = 0, begin = i + 1, j = i; /* z[0 .. ready-1], gate[begin ..] are written */
    for (; j >= 0; j--) {
        if (j < begin) {
            begin = j + 1 > COPE_CHUNK ? j + 1 - COPE_CHUNK : 0;
            cope_sigmoid(row + begin, gate + begin, j + 1 - begin);
        }
        if (!cope_step(&w, gate[j]))
            break;
        for (; ready <= w.below + 1; ready++)
            z[ready] = pe_dot(q, c->theta[0] + (size_t)ready * dim, dim);
        real step = z[w.below + 1] - z[w.below];
        slope[j] = w.part > 0 ? factor * step : 0;
        row[j] += factor * (z[w.below] + w.part * step);
    }
    if (j < 0)
        return;
    real term = factor * pe_dot(q, c->theta[0] + (size_t)w.last * dim, dim);
    for (; j >= 0; j--)
        row[j] += term;
}

/* s_ij += factor * z_i at count_ij, count_ij = min(sum over l = j .. i of sigmoid(s_il), positions - 1). */
static void cope_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++)
            cope_score_row(c, t->q + (size_t)r * t->token_stride + (size_t)h * t->head_stride, t->row_begin + r,
                           t->keys, cope_factor(c, t), s + (size_t)h * t->plane + (size_t)r * t->stride,
                           save + cope_row_at(c, t, h, r));
}

/* What flows into one z[n]: dq += dz table[n], dtable[n] += dz q. */
static void cope_flush(const pe_context *c, const real *q, real *dq, int n, real dz)
{
    int dim = c->shape->head_dim;
    if (dz == 0)
        return;
    pe_axpy(dq, dz, c->theta[0] + (size_t)n * dim, dim);
    pe_axpy(c->dtheta[0] + (size_t)n * dim, dz, q, dim);
}

/* Gradients of q and of the table from one row. Along the walk counts never fall, so the gradients of z wait in two
 * sums, of `below` and of the position above, until the walk has left them. Returns the leftmost unclamped key. */
static int cope_row_bwd(const pe_context *c, const real *q, int i, real factor, const real *gate, const real *ds,
                        real *dq)
{
    cope_walk w = {.last = cope_positions(c) - 1};
    real lower = 0, upper = 0, clamped = 0;
    int at = 0, j = i;
    for (; j >= 0 && cope_step(&w, gate[j]); j--) {
        for (; at < w.below; at++) {
            cope_flush(c, q, dq, at, lower);
            lower = upper;
            upper = 0;
        }
        lower += factor * ds[j] * (1 - w.part);
        upper += factor * ds[j] * w.part;
    }
    cope_flush(c, q, dq, at, lower);
    cope_flush(c, q, dq, at + 1, upper);
    for (int l = 0; l <= j; l++)
        clamped += factor * ds[l];
    cope_flush(c, q, dq, (int)w.last, clamped);
    return j + 1;
}

/* A gate counts for its own key and for all keys to its left; clamped counts do not move. */
static void cope_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    for (int h = 0; h < c->shape->heads; h++)
        for (int r = 0; r < t->rows; r++) {
            size_t token = (size_t)r * t->token_stride + (size_t)h * t->head_stride;
            int i = t->row_begin + r;
            const real *gate = save + cope_row_at(c, t, h, r), *slope = gate + t->keys;
            real *row = ds + (size_t)h * t->plane + (size_t)r * t->stride, sum = 0;
            for (int j = cope_row_bwd(c, t->q + token, i, cope_factor(c, t), gate, row, g->dq + token); j <= i; j++) {
                sum += row[j] * slope[j];
                row[j] += sum * gate[j] * (1 - gate[j]);
            }
        }
}

static const char *const cope_examples[] = {
    "scaled=true", "positions=4", "positions=3,scaled=true,shared=true", "positions=1", NULL,
};

const pe_descriptor pe_encoding_cope = {
    PE_DESCRIPTOR_HEAD,
    .name = "cope",
    .family = "contextual",
    .title = "Contextual position encoding (CoPE)",
    .source =
        "Golovneva et al. 2024, Contextual Position Encoding: Learning to Count What's Important, eq. 3-6 and the "
        "listing in the appendix",
    .formula = "s_ij += z_i[count_ij] with z_i[n] = q_i.table[n], linear between whole n; count_ij = min(sum over "
               "l = j .. i of sigmoid(s_il), positions - 1). Tokens are counted: positions, and so their fractions, do "
               "not enter",
    .notes = "With all gates open a query's own key has count 1, not 0. The gates are those of the scaled scores, as "
             "earlier members of the stack left them; beside a rotation z too is taken from the rotated q, so that "
             "rope+cope is not shift-invariant. A count that is clamped passes no gradient to its gates; at a whole "
             "count the gradient is 0, as in the listing. The authors' training code divides the term by "
             "sqrt(head_dim) unless told otherwise, the listing does not: see scaled. It can also take the gates from "
             "separate keys or from values; x-transformers fixes 16 positions. The heads of a layer share the table.",
    .claims = PE_SHIFT_INVARIANT | PE_POSITION_BLIND | PE_ANY_LENGTH | PE_ZERO_AT_INIT,
    .causal_only = 1,
    .reads_heads = 1,
    .options = cope_rows,
    .options_size = sizeof(cope_options),
    .examples = cope_examples,
    .params = cope_params,
    .sizes = cope_sizes,
    .score = cope_score,
    .score_bwd = cope_score_bwd,
    .bibtex = "@misc{golovneva2024contextual, title = {Contextual Position Encoding: Learning to Count What's "
              "Important}, author = {Golovneva, Olga and Wang, Tianlu and Weston, Jason and Sukhbaatar, Sainbayar}, "
              "year = {2024}, eprint = {2405.18719}, archiveprefix = {arXiv}}",
};
