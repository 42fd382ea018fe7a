/* cope.c - contextual position encoding: a query counts the keys between itself and a key, each by a gate that depends
 * on both, and looks up that count.
 *
 * A row is walked from the query's own key leftwards. Counts only grow, so once one has reached the last position all
 * keys further left are there too: no gate of theirs is needed. A group of rows walks through a window of positions at
 * a time: what the table says to them there is one product, and so is what flows back. */
#include "pe.h"

enum { COPE_POSITIONS_MAX = 1 << 20 };
/* Keys whose gates are found together; rows that walk together; positions of a window; numbers of a head at a time. */
enum { COPE_CHUNK = 64, COPE_GROUP = 16, COPE_WINDOW = 128, COPE_DIMS = 64 };

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

/* save, for each head and row: gate[keys], slope[keys] = d term / d count, both of unclamped keys only. */
static void cope_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    out->save_reals = 2 * (size_t)c->shape->heads * (size_t)rows * (size_t)keys;
}

static real cope_factor(const pe_context *c, const pe_tile *t)
{
    const cope_options *o = c->options;
    return o->scaled ? t->scale : 1;
}

/* gate (=) sigmoid(s), from exp of what is never positive; whole vectors as long as they end before `room`: there gates
 * past n hold whatever. */
static void cope_sigmoid(const real *s, real *gate, int n, int room)
{
    const pe_vec one = pe_vec_fill(1), most = pe_vec_fill(80);
    for (int j = 0; j < n; j += PE_VEC_LANES) {
        int part = j + PE_VEC_LANES <= room ? 0 : n - j;
        pe_vec x = part ? pe_vec_load_first(s + j, part, 0) : pe_vec_load(s + j);
        pe_vec e = pe_vec_exp(-pe_vec_min(pe_vec_max(x, -x), most));
        pe_vec y = pe_vec_select(x < 0, e, one) / (1 + e);
        if (part)
            pe_vec_store_first(gate + j, y, part);
        else
            pe_vec_store(gate + j, y);
    }
}

/* ------------------------------------------------------------------------------------------------ walks */

/* A row on its way: keys above j are done, gates from `begin` on are known. */
typedef struct cope_walk {
    int j, begin;
    double count;
    const real *q;
    real *row, *gate, *slope, *dq; /* row: scores, or their gradients */
} cope_walk;

/* Rows of one head, and positions low .. high that they pass next; the last of these is the next window's first. */
typedef struct cope_group {
    int rows, low, high, reach; /* reach: at most so many positions of the window are met */
    int keys;                   /* of the tile */
    cope_walk walk[COPE_GROUP];
} cope_group;

/* Row `row` of head h and those after it. Of save, which score_bwd only reads, pointers to real are made for both. */
static void cope_open(const pe_tile *t, int h, int row, real *s, const real *save, real *dq, cope_group *g)
{
    g->rows = t->rows - row < COPE_GROUP ? t->rows - row : COPE_GROUP;
    g->keys = t->keys;
    for (int n = 0; n < g->rows; n++) {
        size_t token = (size_t)(row + n) * t->token_stride + (size_t)h * t->head_stride;
        int i = t->row_begin + row + n;
        real *gate = (real *)save + 2 * (size_t)(h * t->rows + row + n) * (size_t)t->keys;
        g->walk[n] = (cope_walk){.j = i, .begin = i + 1, .q = t->q + token, .gate = gate, .slope = gate + t->keys,
                                 .row = s + (size_t)h * t->plane + (size_t)(row + n) * t->stride,
                                 .dq = dq ? dq + token : NULL};
    }
}

/* The window from position `low` on. Returns 0 when no row gets there. */
static int cope_window(const pe_context *c, int low, cope_group *g)
{
    int last = cope_positions(c) - 1, on_the_way = 0;
    double far = low;
    for (int n = 0; n < g->rows; n++) {
        const cope_walk *w = &g->walk[n];
        on_the_way |= w->j >= 0;
        far = w->j >= 0 ? fmax(far, w->count + w->j + 1) : far;
    }
    g->low = low;
    g->high = last - low < COPE_WINDOW ? last : low + COPE_WINDOW;
    g->reach = far + 1 < g->high ? (int)far + 2 - low : g->high + 1 - low;
    return on_the_way;
}

/* Keys come in chunks that begin at multiples of COPE_CHUNK. Returns where the one of key j does. */
static int cope_chunk(int j)
{
    return j / COPE_CHUNK * COPE_CHUNK;
}

/* Walks on over known gates, as long as counts are below the window's end; count[n] (=) those of keys j, j-1, ..
 * Returns how many. Four keys at a time wait for the sum before them once. */
static inline int cope_steps(const cope_group *g, cope_walk *w, double count[COPE_CHUNK])
{
    const real *gate = w->gate + w->j;
    int n = 0, known = w->j - w->begin + 1;
    double high = g->high, sum = w->count;
    for (; n + 4 <= known; n += 4) {
        double one = (double)gate[-n], two = one + (double)gate[-n - 1], three = two + (double)gate[-n - 2];
        double four = three + (double)gate[-n - 3];
        if (sum + four >= high)
            break;
        count[n] = sum + one;
        count[n + 1] = sum + two;
        count[n + 2] = sum + three;
        count[n + 3] = sum += four;
    }
    for (; n < known; n++) {
        double next = sum + (double)gate[-n];
        if (next >= high)
            break;
        count[n] = sum = next;
    }
    w->count = sum;
    return n;
}

/* ------------------------------------------------------------------------------------------------ forward */

/* What a query gets from the positions of a window, z[n][row] = q_row . table[low + n]. */
typedef real cope_answers[COPE_WINDOW + 2][COPE_GROUP];

static void cope_ask(const pe_context *c, const cope_group *g, cope_answers z)
{
    int dim = c->shape->head_dim;
    for (int d = 0; d < dim; d += COPE_DIMS) {
        real q[COPE_DIMS][COPE_GROUP];
        int dims = dim - d < COPE_DIMS ? dim - d : COPE_DIMS;
        memset(q, 0, (size_t)dims * sizeof *q);
        for (int n = 0; n < g->rows; n++)
            for (int k = 0; k < dims; k++)
                q[k][n] = g->walk[n].q[d + k];
        pe_product(&(pe_product_job){.rows = g->reach, .cols = COPE_GROUP, .depth = dims,
                                     .a = c->theta[0] + (size_t)g->low * dim + d, .a_row = (size_t)dim, .a_col = 1,
                                     .b = q[0], .b_row = COPE_GROUP, .c = z[0], .c_row = COPE_GROUP, .add = d > 0});
    }
}

/* One row through one window: row[j] += factor * z at the count of key j, and slope. z: this row's, COPE_GROUP apart. */
static void cope_read(const cope_group *g, cope_walk *w, real factor, const real *restrict z)
{
    double count[COPE_CHUNK];
    int n = 1, low = g->low;
    while (w->j >= 0 && n > 0) {
        if (w->j < w->begin) {
            int end = w->begin;
            w->begin = cope_chunk(w->j);
            cope_sigmoid(w->row + w->begin, w->gate + w->begin, end - w->begin, g->keys - w->begin);
        }
        n = cope_steps(g, w, count);
        real *restrict row = w->row + w->j, *restrict slope = w->slope + w->j;
        for (int k = 0; k < n; k++) {
            int below = (int)count[k];
            real part = (real)(count[k] - below), at = z[(below - low) * COPE_GROUP];
            real step = z[(below - low + 1) * COPE_GROUP] - at;
            slope[-k] = part > 0 ? factor * step : 0;
            row[-k] += factor * (at + part * step);
        }
        w->j -= n;
    }
}

/* s_ij += factor * z_i at count_ij, count_ij = min(sum over l = j .. i of sigmoid(s_il), positions - 1). */
static void cope_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    int last = cope_positions(c) - 1;
    real factor = cope_factor(c, t);
    cope_answers z;
    cope_group g;
    for (int h = 0; h < c->shape->heads; h++)
        for (int row = 0; row < t->rows; row += g.rows) {
            cope_open(t, h, row, s, save, NULL, &g);
            for (int low = 0; cope_window(c, low, &g); low = g.high) {
                cope_ask(c, &g, z);
                for (int n = 0; n < g.rows; n++) {
                    cope_walk *w = &g.walk[n];
                    cope_read(&g, w, factor, z[0] + n);
                    for (; g.high == last && w->j >= 0; w->j--) /* all that is left is clamped */
                        w->row[w->j] += factor * z[last - low][n];
                }
            }
        }
}

/* ------------------------------------------------------------------------------------------------ backward */

/* Gradients of answers, by row. Neighbouring keys fall on the same positions, so that each sum would wait for the one
 * before: every other key has sums of its own. */
typedef real cope_shares[2][COPE_GROUP][COPE_WINDOW + PE_VEC_LANES];

static void cope_share(const cope_group *g, cope_walk *w, real factor, real *even, real *odd)
{
    double count[COPE_CHUNK];
    real lower[COPE_CHUNK], upper[COPE_CHUNK];
    int place[COPE_CHUNK], n = 1, low = g->low;
    while (w->j >= 0 && n > 0) {
        w->begin = cope_chunk(w->j); /* all gates that are used are known */
        n = cope_steps(g, w, count);
        const real *restrict row = w->row + w->j;
        for (int k = 0; k < n; k++) {
            place[k] = (int)count[k] - low;
            upper[k] = factor * row[-k] * (real)(count[k] - (int)count[k]);
            lower[k] = factor * row[-k] - upper[k];
        }
        for (int k = 0; k < n; k++) {
            real *to = (k % 2 ? odd : even) + place[k];
            to[0] += lower[k];
            to[1] += upper[k];
        }
        w->j -= n;
    }
}

/* dq += dz table, dtable += dz^T q. */
static void cope_answers_bwd(const pe_context *c, const pe_tile *t, const cope_group *g, cope_shares dz)
{
    size_t dim = (size_t)c->shape->head_dim, first = (size_t)g->low * dim, stride = COPE_WINDOW + PE_VEC_LANES;
    for (int n = 0; n < g->rows; n++)
        for (int k = 0; k < g->reach; k += PE_VEC_LANES)
            pe_vec_store(dz[0][n] + k, pe_vec_load(dz[0][n] + k) + pe_vec_load(dz[1][n] + k));
    pe_product(&(pe_product_job){.rows = g->rows, .cols = (int)dim, .depth = g->reach, .a = dz[0][0], .a_row = stride,
                                 .a_col = 1, .b = c->theta[0] + first, .b_row = dim, .c = g->walk[0].dq,
                                 .c_row = (size_t)t->token_stride, .add = 1});
    pe_product(&(pe_product_job){.rows = g->reach, .cols = (int)dim, .depth = g->rows, .a = dz[0][0], .a_row = 1,
                                 .a_col = stride, .b = g->walk[0].q, .b_row = (size_t)t->token_stride,
                                 .c = c->dtheta[0] + first, .c_row = dim, .add = 1});
}

/* A gate counts for its own key and for all keys to its left; clamped counts do not move. first: the leftmost key that
 * is not clamped. */
static void cope_gates_bwd(const cope_walk *w, int first, int i)
{
    real sum = 0;
    for (int j = first; j <= i; j++) {
        sum += w->row[j] * w->slope[j];
        w->row[j] += sum * w->gate[j] * (1 - w->gate[j]);
    }
}

static void cope_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *out)
{
    int last = cope_positions(c) - 1;
    real factor = cope_factor(c, t);
    cope_shares dz;
    cope_group g;
    for (int h = 0; h < c->shape->heads; h++)
        for (int row = 0; row < t->rows; row += g.rows) {
            int first[COPE_GROUP] = {0};
            cope_open(t, h, row, ds, save, out->dq, &g);
            for (int low = 0; cope_window(c, low, &g); low = g.high) {
                memset(dz, 0, sizeof dz);
                for (int n = 0; n < g.rows; n++) {
                    cope_walk *w = &g.walk[n];
                    cope_share(&g, w, factor, dz[0][n], dz[1][n]);
                    if (g.high < last || w->j < 0)
                        continue;
                    first[n] = w->j + 1;
                    dz[0][n][last - low] += factor * pe_sum(w->row, first[n]);
                    w->j = -1;
                }
                cope_answers_bwd(c, t, &g, dz);
            }
            for (int n = 0; n < g.rows; n++)
                cope_gates_bwd(&g.walk[n], first[n], t->row_begin + row + n);
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
