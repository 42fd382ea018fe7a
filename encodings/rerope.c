/* rerope.c - rectified rotary positions: RoPE whose distances stop growing, or grow more slowly, past a window.
 *
 * The rotation turns q and k as RoPE does, which makes scores right within the window. A score past it is corrected by
 * scale (q~.k~ - q.k), with q~ and k~ turned further by angles of their own: the positions drop out of q~.k~ but for
 * what leaks. Work is done for blocks of rows, keys and pairs, whose vectors stand on the stack. */
#include "pe.h"

#include <stdio.h>

enum { REROPE_HALF, REROPE_INTERLEAVED };
enum { REROPE_ROWS = 64, REROPE_KEYS = 64, REROPE_PAIRS = 16 };

/* Tables of the cache: by what a token turns as q or k; then further as a far key, and as a query of keys far in the
 * past or far in the future. */
enum { REROPE_NEAR, REROPE_KEY, REROPE_PAST, REROPE_FUTURE, REROPE_TABLES };

typedef struct rerope_options {
    double base, fraction, window, leak;
    int layout;
} rerope_options;

static const pe_option rerope_rows[] = {
    {"base", PE_OPTION_REAL, PE_OFFSET(rerope_options, base), "10000", 1, 1e12, 0, NULL,
     "b in theta_p = b^(-2p/d), as in RoPE"},
    {"layout", PE_OPTION_CHOICE, PE_OFFSET(rerope_options, layout), "half", 0, 0, 0, "half|interleaved",
     "pairs (p, p + d/2) or (2p, 2p+1); equal but for a permutation of dimensions"},
    {"fraction", PE_OPTION_REAL, PE_OFFSET(rerope_options, fraction), "1", 0, 1, 0, NULL,
     "share of head_dim that turns, truncated to d dimensions, an even number; the rest is copied"},
    {"window", PE_OPTION_REAL, PE_OFFSET(rerope_options, window), "auto", 1, 1e9, 1, NULL,
     "w, up to which distances count in full; auto: half of the training length, so that the shorter half of its "
     "distances is as in RoPE (released: 1024 in the README and 512 in the code, both for 4096)"},
    {"leak", PE_OPTION_REAL, PE_OFFSET(rerope_options, leak), "0", 0, 1, 0, NULL,
     "1/k: what a distance past the window counts; 0: ReRoPE, k infinite; above: Leaky ReRoPE (released code: 1/16)"},
    {0},
};

static int rerope_dim(const rerope_options *o, const pe_shape *shape)
{
    return (int)(o->fraction * shape->head_dim);
}

static double rerope_window(const rerope_options *o, const pe_shape *shape)
{
    return o->window == PE_AUTO_REAL ? fmax(1, shape->train_len / 2.0) : o->window;
}

static int rerope_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    int dim = rerope_dim(options, shape);
    if (dim > 0 && dim % 2 == 0)
        return 0;
    snprintf(message, size, "%d of head_dim %d would turn, but they turn in pairs: an even number, at least 2", dim,
             shape->head_dim);
    return -1;
}

/* ------------------------------------------------------------------------------------------------ angles */

/* cache: [len][tables][2][pairs], cosines before sines. */
static void rerope_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    (void)rows;
    (void)keys;
    out->cache_bytes = (size_t)c->len * REROPE_TABLES * (size_t)rerope_dim(c->options, c->shape) * sizeof(real);
}

static const real *rerope_table(const pe_context *c, int token, int table)
{
    size_t dim = (size_t)rerope_dim(c->options, c->shape);
    return (const real *)c->cache + ((size_t)token * REROPE_TABLES + (size_t)table) * dim;
}

/* A far query stands at leak * pos + (1 - leak) w, minus w for keys in the future, a far key at leak * pos; the angles
 * here are what is missing to that. */
static void rerope_prepare(const pe_context *c, void *cache)
{
    const rerope_options *o = c->options;
    int dim = rerope_dim(o, c->shape), pairs = dim / 2;
    double reach = (1 - o->leak) * rerope_window(o, c->shape);
    for (int p = 0; p < pairs; p++) {
        double frequency = pow(o->base, -2.0 * p / dim);
        for (int t = 0; t < c->len; t++) {
            double pos = c->pos[t], back = (o->leak - 1) * pos;
            const double stand[REROPE_TABLES] = {pos, back, back + reach, back - reach};
            real *row = (real *)cache + (size_t)t * REROPE_TABLES * (size_t)dim + p;
            for (int table = 0; table < REROPE_TABLES; table++, row += dim) {
                row[0] = (real)cos(stand[table] * frequency);
                row[pairs] = (real)sin(stand[table] * frequency);
            }
        }
    }
}

/* Pairs (u[p*step], u[p*step + gap]): (x, y) -> (x cos - y sin, y cos + x sin); sign -1: the transpose of that. Inlined
 * where step, gap and sign are known. */
static inline void rerope_turn(real *restrict u, const real *restrict cosine, const real *restrict sine, int pairs,
                               int step, int gap, real sign)
{
#pragma omp simd
    for (int p = 0; p < pairs; p++) {
        real x = u[p * step], y = u[p * step + gap], s = sign * sine[p];
        u[p * step] = x * cosine[p] - y * s;
        u[p * step + gap] = y * cosine[p] + x * s;
    }
}

static inline void rerope_walk(const pe_context *c, real *u, int token_stride, int head_stride, real sign)
{
    const rerope_options *o = c->options;
    int pairs = rerope_dim(o, c->shape) / 2;
    for (int t = 0; t < c->len; t++) {
        const real *cosine = rerope_table(c, t, REROPE_NEAR);
        for (int h = 0; h < c->shape->heads; h++) {
            real *head = u + (size_t)t * token_stride + (size_t)h * head_stride;
            if (o->layout == REROPE_HALF)
                rerope_turn(head, cosine, cosine + pairs, pairs, 1, pairs, sign);
            else
                rerope_turn(head, cosine, cosine + pairs, pairs, 2, 1, sign);
        }
    }
}

static void rerope_rotate(const pe_context *c, pe_role role, real *u, int token_stride, int head_stride)
{
    (void)role;
    rerope_walk(c, u, token_stride, head_stride, 1);
}

static void rerope_rotate_bwd(const pe_context *c, pe_role role, const real *u, real *du, int token_stride,
                              int head_stride)
{
    (void)role;
    (void)u;
    rerope_walk(c, du, token_stride, head_stride, -1);
}

/* ------------------------------------------------------------------------------------------------ blocks */

/* Rows of a tile, keys, and pairs of a head. A correction is a sum of 4 * pairs products, a . b: x and y of q~ with
 * those of k~, then minus those of q with those of k. */
typedef struct rerope_block {
    const pe_context *c;
    const pe_tile *t;
    int head, row, rows, key, keys, pair, pairs;
    int step, gap;                              /* element of pair p: p * step, its partner: + gap */
    int past[REROPE_ROWS], future[REROPE_ROWS]; /* keys before past and from future on are beyond the window */
    real b[4 * REROPE_PAIRS][REROPE_KEYS];      /* 0 from `keys` on */
} rerope_block;

/* The first of `keys` keys at or past an edge, or just past it: positions do not decrease. */
static int rerope_search(const double *pos, int keys, double edge, int past_it)
{
    int low = 0, high = keys;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (pos[middle] < edge || (past_it && pos[middle] == edge))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void rerope_take_rows(rerope_block *w, int row)
{
    double window = rerope_window(w->c->options, w->c->shape);
    w->row = row;
    w->rows = w->t->rows - row < REROPE_ROWS ? w->t->rows - row : REROPE_ROWS;
    for (int r = 0; r < w->rows; r++) {
        double pos = w->c->pos[w->t->row_begin + row + r];
        w->past[r] = rerope_search(w->c->pos, w->t->keys, pos - window, 0);
        w->future[r] = w->c->shape->causal ? w->t->keys : rerope_search(w->c->pos, w->t->keys, pos + window, 1);
    }
}

/* 0: no row of the block has a far key among these. */
static int rerope_take_keys(rerope_block *w, int key)
{
    w->key = key;
    w->keys = w->t->keys - key < REROPE_KEYS ? w->t->keys - key : REROPE_KEYS;
    return key < w->past[w->rows - 1] || key + w->keys > w->future[0];
}

static const real *rerope_at(const rerope_block *w, const real *tokens, int token)
{
    return tokens + (size_t)token * w->t->token_stride + (size_t)w->head * w->t->head_stride + w->pair * w->step;
}

static void rerope_take_pairs(rerope_block *w, int pair)
{
    int all = rerope_dim(w->c->options, w->c->shape) / 2, n;
    w->pair = pair;
    w->pairs = n = all - pair < REROPE_PAIRS ? all - pair : REROPE_PAIRS;
    for (int j = 0; j < REROPE_KEYS; j++) {
        int exists = j < w->keys;
        const real *k = rerope_at(w, w->t->k, w->key + (exists ? j : 0));
        const real *cosine = rerope_table(w->c, w->key + (exists ? j : 0), REROPE_KEY) + pair, *sine = cosine + all;
        for (int p = 0; p < n; p++) {
            real x = exists ? k[p * w->step] : 0, y = exists ? k[p * w->step + w->gap] : 0;
            w->b[p][j] = x * cosine[p] - y * sine[p];
            w->b[n + p][j] = y * cosine[p] + x * sine[p];
            w->b[2 * n + p][j] = x;
            w->b[3 * n + p][j] = y;
        }
    }
}

/* a[4 * pairs] of a row's query, for keys of the past or the future. */
static void rerope_query(const rerope_block *w, int r, int table, real a[4 * REROPE_PAIRS])
{
    int all = rerope_dim(w->c->options, w->c->shape) / 2, n = w->pairs;
    const real *q = rerope_at(w, w->t->q, w->row + r);
    const real *cosine = rerope_table(w->c, w->t->row_begin + w->row + r, table) + w->pair, *sine = cosine + all;
    for (int p = 0; p < n; p++) {
        real x = q[p * w->step], y = q[p * w->step + w->gap];
        a[p] = x * cosine[p] - y * sine[p];
        a[n + p] = y * cosine[p] + x * sine[p];
        a[2 * n + p] = -x;
        a[3 * n + p] = -y;
    }
}

/* The block's keys that are beyond the window on one side of a row: begin .. end-1, counted within the block. */
static int rerope_far(const rerope_block *w, int r, int table, int *begin, int *end)
{
    int first = table == REROPE_PAST ? 0 : w->future[r], last = table == REROPE_PAST ? w->past[r] : w->t->keys;
    *begin = first > w->key ? first - w->key : 0;
    *end = last < w->key + w->keys ? last - w->key : w->keys;
    return *begin < *end;
}

/* ------------------------------------------------------------------------------------------------ corrections */

/* s_ij += scale a . b for the far keys of all rows. */
static void rerope_correct(const rerope_block *w, real *s)
{
    real a[4 * REROPE_PAIRS];
    for (int r = 0; r < w->rows; r++) {
        real *row = s + (size_t)w->head * w->t->plane + (size_t)(w->row + r) * w->t->stride + w->key;
        for (int table = REROPE_PAST, begin, end; table <= REROPE_FUTURE; table++) {
            if (!rerope_far(w, r, table, &begin, &end))
                continue;
            real sum[REROPE_KEYS] = {0};
            rerope_query(w, r, table, a);
            for (int i = 0; i < 4 * w->pairs; i += 4)
                for (int j = 0; j < REROPE_KEYS; j++)
                    sum[j] += (a[i] * w->b[i][j] + a[i + 1] * w->b[i + 1][j]) +
                              (a[i + 2] * w->b[i + 2][j] + a[i + 3] * w->b[i + 3][j]);
            for (int j = begin; j < end; j++)
                row[j] += w->t->scale * sum[j];
        }
    }
}

/* dq of one row: da[4 * pairs] through rerope_query. */
static void rerope_query_bwd(const rerope_block *w, int r, int table, const real da[4 * REROPE_PAIRS], real *dq)
{
    int all = rerope_dim(w->c->options, w->c->shape) / 2, n = w->pairs;
    const real *cosine = rerope_table(w->c, w->t->row_begin + w->row + r, table) + w->pair, *sine = cosine + all;
    real *d = dq + (rerope_at(w, w->t->q, w->row + r) - w->t->q);
    for (int p = 0; p < n; p++) {
        d[p * w->step] += da[p] * cosine[p] + da[n + p] * sine[p] - da[2 * n + p];
        d[p * w->step + w->gap] += da[n + p] * cosine[p] - da[p] * sine[p] - da[3 * n + p];
    }
}

/* dk of the block's keys: db[4 * pairs][keys] through rerope_take_pairs. */
static void rerope_keys_bwd(const rerope_block *w, const real db[4 * REROPE_PAIRS][REROPE_KEYS], real *dk)
{
    int all = rerope_dim(w->c->options, w->c->shape) / 2, n = w->pairs;
    for (int j = 0; j < w->keys; j++) {
        const real *cosine = rerope_table(w->c, w->key + j, REROPE_KEY) + w->pair, *sine = cosine + all;
        real *d = dk + (rerope_at(w, w->t->k, w->key + j) - w->t->k);
        for (int p = 0; p < n; p++) {
            d[p * w->step] += db[p][j] * cosine[p] + db[n + p][j] * sine[p] + db[2 * n + p][j];
            d[p * w->step + w->gap] += db[n + p][j] * cosine[p] - db[p][j] * sine[p] + db[3 * n + p][j];
        }
    }
}

static void rerope_correct_bwd(const rerope_block *w, const real *ds, const pe_tile_grad *g)
{
    real a[4 * REROPE_PAIRS], da[4 * REROPE_PAIRS], db[4 * REROPE_PAIRS][REROPE_KEYS];
    memset(db, 0, (size_t)(4 * w->pairs) * sizeof db[0]);
    for (int r = 0; r < w->rows; r++) {
        const real *row = ds + (size_t)w->head * w->t->plane + (size_t)(w->row + r) * w->t->stride + w->key;
        for (int table = REROPE_PAST, begin, end; table <= REROPE_FUTURE; table++) {
            if (!rerope_far(w, r, table, &begin, &end))
                continue;
            real slope[REROPE_KEYS] = {0};
            for (int j = begin; j < end; j++)
                slope[j] = w->t->scale * row[j];
            rerope_query(w, r, table, a);
            for (int i = 0; i < 4 * w->pairs; i++) {
                real sum = 0;
#pragma omp simd reduction(+ : sum)
                for (int j = 0; j < REROPE_KEYS; j++) {
                    sum += slope[j] * w->b[i][j];
                    db[i][j] += slope[j] * a[i];
                }
                da[i] = sum;
            }
            rerope_query_bwd(w, r, table, da, g->dq);
        }
    }
    rerope_keys_bwd(w, db, g->dk);
}

/* ------------------------------------------------------------------------------------------------ hooks */

/* s: scores, corrected in place; with g: gradients of scores, which pass through as they are. */
static void rerope_walk_blocks(const pe_context *c, const pe_tile *t, real *s, const pe_tile_grad *g)
{
    const rerope_options *o = c->options;
    int pairs = rerope_dim(o, c->shape) / 2, half = o->layout == REROPE_HALF;
    rerope_block w = {.c = c, .t = t, .step = half ? 1 : 2, .gap = half ? pairs : 1};
    for (int row = 0; row < t->rows; row += REROPE_ROWS) {
        rerope_take_rows(&w, row);
        for (int key = 0; key < t->keys; key += REROPE_KEYS) {
            if (!rerope_take_keys(&w, key))
                continue;
            for (w.head = 0; w.head < c->shape->heads; w.head++)
                for (int pair = 0; pair < pairs; pair += REROPE_PAIRS) {
                    rerope_take_pairs(&w, pair);
                    if (g)
                        rerope_correct_bwd(&w, s, g);
                    else
                        rerope_correct(&w, s);
                }
        }
    }
}

static void rerope_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    (void)save;
    rerope_walk_blocks(c, t, s, NULL);
}

static void rerope_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    (void)save;
    rerope_walk_blocks(c, t, ds, g);
}

static const char *const rerope_examples[] = {
    "window=3", "window=2.5,leak=0.25", "window=2,layout=interleaved", "window=4,fraction=0.5,leak=0.0625", NULL,
};

const pe_descriptor pe_encoding_rerope = {
    PE_DESCRIPTOR_HEAD,
    .name = "rerope",
    .family = "rotary",
    .title = "Rectified rotary position embedding (ReRoPE)",
    .source = "Su 2023, kexue.fm/archives/9708, and the code bojone/rerope",
    .formula = "RoPE at the distance f(d), d = pos_i - pos_j: f(d) = d within the window w, w + (d - w) leak past it; "
               "for keys in the future the same with the other sign. Real-valued distances as they are",
    .notes = "The author applies it to trained models at test time; here it acts in training too, where distances "
             "reach past w. His code also multiplies q by max(1, ln(position + 1)/ln(training length)), a temperature "
             "that a stack can add. Scores are corrected by a difference, so a member that multiplies scores must "
             "stand after this one. The code turns queries by +w for far keys on both sides, which a causal mask "
             "hides; here it is -w for the future. A score past the window costs two products more. The inverse use "
             "(leak above 1 in training, plain RoPE in tests) is not offered.",
    .claims = PE_SHIFT_INVARIANT | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .reads_heads = 1,
    .needs_order = 1, /* far keys are the first, and the last, of a row */
    .options = rerope_rows,
    .options_size = sizeof(rerope_options),
    .examples = rerope_examples,
    .check = rerope_check,
    .sizes = rerope_sizes,
    .prepare = rerope_prepare,
    .rotate = rerope_rotate,
    .rotate_bwd = rerope_rotate_bwd,
    .score = rerope_score,
    .score_bwd = rerope_score_bwd,
    .bibtex = "@misc{su2023rerope, title = {Rectified Rotary Position Embeddings}, author = {Su, Jianlin}, "
              "howpublished = {https://github.com/bojone/rerope}, year = {2023}}",
};
