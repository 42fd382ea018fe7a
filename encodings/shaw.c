/* shaw.c - relative position representations: a trained vector for each clipped distance is added to keys and values.
 *
 * All heads share the tables, and keys at the same clipped distance share a row. So no hook computes a product per
 * pair: keys fall into runs, one for each table row, and all arithmetic is products of a group of queries with the
 * table. Where positions follow each other by one, the runs are single keys but for the two ends: terms and sums go to
 * keys and back as whole vectors. */
#include "pe.h"

enum { SHAW_CLIP_MAX = 512, SHAW_ROWS_MAX = 2 * SHAW_CLIP_MAX + 1 };
enum { SHAW_KEY, SHAW_VALUE };

typedef struct shaw_options {
    int clip, value;
    double deviation;
} shaw_options;

static const pe_option shaw_rows[] = {
    {"clip", PE_OPTION_INT, PE_OFFSET(shaw_options, clip), "16", 1, SHAW_CLIP_MAX, 0, NULL,
     "distance from which on all keys are alike; the tables have 2*clip+1 rows (paper: 16)"},
    {"value", PE_OPTION_BOOL, PE_OFFSET(shaw_options, value), "true", 0, 0, 0, NULL,
     "true: values get a vector too; the paper found keys alone (false) nearly as good"},
    {"deviation", PE_OPTION_REAL, PE_OFFSET(shaw_options, deviation), "0.02", 0, 100, 0, NULL,
     "standard deviation of the start values; the paper names none, 0.02 is that of the network's other tables"},
    {0},
};

static int shaw_params(const void *options, const pe_shape *shape, pe_param *out)
{
    const shaw_options *o = options;
    out[SHAW_KEY] = (pe_param){.name = "key",
                               .rows = 2 * o->clip + 1,
                               .cols = shape->head_dim,
                               .deviation = o->deviation,
                               .init = PE_INIT_NORMAL,
                               .per_layer = 1};
    out[SHAW_VALUE] = out[SHAW_KEY];
    out[SHAW_VALUE].name = "value";
    return o->value ? 2 : 1;
}

/* pos_j - pos_i is rounded to the nearest whole number, halves away from zero: differences below this edge round to
 * `whole` or less. A shift of all positions moves a difference in its last bits; the slack keeps halves on their side
 * then. */
static double shaw_edge(int whole)
{
    return whole + 0.5 + (whole < 0 ? 1e-6 : -1e-6);
}

/* The visible keys of one query, cut where the table row changes: row a holds keys first[a] .. first[a+1]-1.
 * Positions do not decrease, so the runs are in order. */
typedef struct shaw_runs {
    int begin, end; /* rows outside begin .. end-1 hold no key */
    int first[SHAW_ROWS_MAX + 1];
} shaw_runs;

/* The first key of low .. high-1 at or past the edge: the clipped past can be long. */
static int shaw_search(const double *pos, double edge, int low, int high)
{
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (pos[middle] < edge)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void shaw_find_runs(const pe_context *c, const pe_tile *t, int r, shaw_runs *out)
{
    const shaw_options *o = c->options;
    int query = t->row_begin + r, visible = pe_visible(c, t, r), rows = 2 * o->clip + 1;
    double origin = c->pos[query];
    int j = shaw_search(c->pos, origin + shaw_edge(-o->clip), 0, visible);
    out->first[0] = 0;
    for (int a = 1; a < rows; a++) {
        out->first[a] = j;
        double edge = origin + shaw_edge(a - o->clip);
        while (j < visible && c->pos[j] < edge)
            j++;
    }
    out->first[rows] = visible;
    out->begin = 0;
    while (out->first[out->begin + 1] == 0)
        out->begin++;
    out->end = rows;
    while (out->first[out->end - 1] == visible)
        out->end--;
}

/* ------------------------------------------------------------------------------------------------ rows and keys */

/* Queries that are worked off together; rows and columns of a table at a time: a transposed copy of so much is on the
 * stack. */
enum { SHAW_GROUP = 16, SHAW_BLOCK = 64, SHAW_WIDE = SHAW_BLOCK + PE_VEC_LANES };

/* One number for each row of a block of the table; then, to the end of its vector, it may hold anything finite. */
typedef real shaw_line[SHAW_WIDE];

/* Table rows row .. row+rows-1 of `met`, and how keys meet them. */
typedef struct shaw_block {
    int row, rows;
    int clip, met; /* causal: no position before the query's own is larger, so rows past `clip` are not met */
    int even;      /* positions follow each other by one: table row a is key i + a - clip alone, but for both ends */
} shaw_block;

/* Positions less than 0.2 off whole steps are less than 0.4 off whole distances, and so round to them. */
static void shaw_open(const pe_context *c, const pe_tile *t, shaw_block *b)
{
    const shaw_options *o = c->options;
    int sides = c->shape->causal ? 1 : 2;
    *b = (shaw_block){.clip = o->clip, .met = sides * o->clip + 1, .even = pe_evenly(c, t->keys, 0.2)};
    b->rows = b->met < SHAW_BLOCK ? b->met : SHAW_BLOCK;
}

static int shaw_next(shaw_block *b)
{
    b->row += b->rows;
    b->rows = b->met - b->row < SHAW_BLOCK ? b->met - b->row : SHAW_BLOCK;
    return b->rows > 0;
}

/* A query and how its keys are cut. */
typedef struct shaw_query {
    int i, visible, keys;  /* keys: how far a row of the tile may be touched */
    int begin, end, step;  /* table rows that may hold several keys: begin, begin + step .. < end */
    int alone, key, count; /* table rows alone .. alone+count-1 hold one key each, from `key` on */
    const shaw_runs *runs; /* of positions that are not even */
} shaw_query;

/* runs (=) of this query, if they are needed. */
static void shaw_cut(const pe_context *c, const pe_tile *t, const shaw_block *b, int r, shaw_query *q, shaw_runs *runs)
{
    int last = b->row + b->rows, i = t->row_begin + r;
    q->i = i;
    q->visible = pe_visible(c, t, r);
    q->keys = t->keys;
    q->count = 0;
    if (!b->even) {
        shaw_find_runs(c, t, r, runs);
        q->runs = runs;
        q->begin = runs->begin > b->row ? runs->begin : b->row;
        q->end = runs->end < last ? runs->end : last;
        q->step = 1;
        return;
    }
    q->begin = b->row > 0 ? 2 * b->clip : 0;
    q->end = last;
    q->step = 2 * b->clip;
    q->alone = b->row > 1 ? b->row : 1;
    q->alone = q->alone > b->clip - i ? q->alone : b->clip - i;
    last = last < 2 * b->clip ? last : 2 * b->clip;
    last = last < q->visible + b->clip - i ? last : q->visible + b->clip - i;
    q->key = i + q->alone - b->clip;
    q->count = last - q->alone;
}

/* The first key of table row a, and how many there are. */
static inline int shaw_run(const shaw_block *b, const shaw_query *q, int a, int *count)
{
    int begin = b->even ? q->i + a - b->clip : q->runs->first[a];
    int end = b->even ? begin + 1 : q->runs->first[a + 1];
    begin = begin < 0 || (b->even && a == 0) ? 0 : begin;
    end = end > q->visible || (b->even && a == 2 * b->clip) ? q->visible : end;
    *count = end - begin;
    return begin;
}

/* row[j] += term, j < n, as pe_add does. */
PE_VEC_INLINE void shaw_add(real *row, real term, int n, int room)
{
    int j = 0;
    for (; j < n && j + PE_VEC_LANES <= room; j += PE_VEC_LANES) {
        pe_vec more = pe_vec_select(pe_vec_below(j, n), pe_vec_fill(term), pe_vec_fill(0));
        pe_vec_store(row + j, pe_vec_load(row + j) + more);
    }
    for (; j < n; j++)
        row[j] += term;
}

/* The sum of row[0 .. n-1]; reads to the end of its last vector if that is before `room`. */
PE_VEC_INLINE real shaw_sum(const real *row, int n, int room)
{
    pe_vec whole = pe_vec_fill(0);
    real rest = 0;
    int j = 0;
    for (; j < n && j + PE_VEC_LANES <= room; j += PE_VEC_LANES)
        whole += pe_vec_select(pe_vec_below(j, n), pe_vec_load(row + j), pe_vec_fill(0));
    for (; j < n; j++)
        rest += row[j];
    return rest + pe_vec_sum(whole);
}

/* row[j] += the term of key j's table row. */
static void shaw_spread(const shaw_block *b, const shaw_query *q, const real *terms, real *row)
{
    if (q->count > 0)
        pe_add(row + q->key, terms + q->alone - b->row, q->count, q->keys - q->key);
    for (int a = q->begin; a < q->end; a += q->step) {
        int count, key = shaw_run(b, q, a, &count);
        shaw_add(row + key, terms[a - b->row], count, q->keys - key);
    }
}

/* sums (=) factor times what the keys of each table row have in `row`. */
static void shaw_gather(const shaw_block *b, const shaw_query *q, const real *row, real factor, real *sums)
{
    for (int a = 0; a < b->rows; a += PE_VEC_LANES)
        pe_vec_store(sums + a, pe_vec_fill(0));
    if (q->count > 0)
        pe_add(sums + q->alone - b->row, row + q->key, q->count, q->keys - q->key);
    for (int a = q->begin; a < q->end; a += q->step) {
        int count, key = shaw_run(b, q, a, &count);
        sums[a - b->row] = shaw_sum(row + key, count, q->keys - key);
    }
    for (int a = 0; a < b->rows; a += PE_VEC_LANES)
        pe_vec_store(sums + a, factor * pe_vec_load(sums + a));
}

/* ------------------------------------------------------------------------------------------------ products */

/* Vectors of the tile's queries, [head_dim] each: (r, h) at x + r * token + h * head. */
typedef struct shaw_side {
    const real *x;
    int token, head;
} shaw_side;

static real *shaw_row(const pe_tile *t, real *s, int h, int r)
{
    return s + (size_t)h * t->plane + (size_t)r * t->stride;
}

static int shaw_cut_group(const pe_context *c, const pe_tile *t, const shaw_block *b, int r, shaw_query *query,
                          shaw_runs *runs)
{
    int rows = t->rows - r < SHAW_GROUP ? t->rows - r : SHAW_GROUP;
    for (int n = 0; n < rows; n++)
        shaw_cut(c, t, b, r + n, query + n, runs + n);
    return rows;
}

/* turned (=) factor times the transpose of the block's rows, columns d .. d+dims-1, padded with 0. */
static void shaw_turn(const shaw_block *b, const real *table, int dim, int d, int dims, real factor, shaw_line *turned)
{
    memset(turned, 0, (size_t)dims * sizeof *turned);
    for (int a = 0; a < b->rows; a++)
        for (int k = 0; k < dims; k++)
            turned[k][a] = factor * table[(size_t)(b->row + a) * dim + d + k];
}

/* s_ij += factor x_i . table[a_ij]: the terms of all table rows for a group of queries, then spread over their keys. */
static void shaw_meet(const pe_context *c, const pe_tile *t, int param, const shaw_side *side, real factor, real *s)
{
    shaw_query query[SHAW_GROUP];
    shaw_runs runs[SHAW_GROUP];
    shaw_line turned[SHAW_BLOCK], terms[SHAW_GROUP];
    shaw_block b;
    shaw_open(c, t, &b);
    do {
        for (int d = 0, dim = c->shape->head_dim; d < dim; d += SHAW_BLOCK) {
            int dims = dim - d < SHAW_BLOCK ? dim - d : SHAW_BLOCK;
            shaw_turn(&b, c->theta[param], dim, d, dims, factor, turned);
            for (int r = 0, rows; r < t->rows; r += rows) {
                rows = shaw_cut_group(c, t, &b, r, query, runs);
                for (int h = 0; h < c->shape->heads; h++) {
                    const real *x = side->x + (size_t)r * side->token + (size_t)h * side->head + d;
                    pe_product(&(pe_product_job){.rows = rows, .cols = pe_whole(b.rows), .depth = dims, .a = x,
                                                 .a_row = (size_t)side->token, .a_col = 1, .b = turned[0],
                                                 .b_row = SHAW_WIDE, .c = terms[0], .c_row = SHAW_WIDE});
                    for (int n = 0; n < rows; n++)
                        shaw_spread(&b, query + n, terms[n], shaw_row(t, s, h, r + n));
                }
            }
        }
    } while (shaw_next(&b));
}

/* With w_a the sum of factor s_ij over the keys of table row a: y_i += sum_a w_a table[a] (y laid out like x, or NULL),
 * dtable[a] += w_a x_i (dtable or NULL). */
static void shaw_part(const pe_context *c, const pe_tile *t, int param, real *dtable, const shaw_side *side,
                      real factor, const real *s, real *y)
{
    shaw_query query[SHAW_GROUP];
    shaw_runs runs[SHAW_GROUP];
    shaw_line sums[SHAW_GROUP];
    shaw_block b;
    shaw_open(c, t, &b);
    do {
        size_t dim = (size_t)c->shape->head_dim, first = (size_t)b.row * dim;
        for (int r = 0, rows; r < t->rows; r += rows) {
            rows = shaw_cut_group(c, t, &b, r, query, runs);
            for (int h = 0; h < c->shape->heads; h++) {
                size_t at = (size_t)r * side->token + (size_t)h * side->head;
                for (int n = 0; n < rows; n++)
                    shaw_gather(&b, query + n, s + (size_t)h * t->plane + (size_t)(r + n) * t->stride, factor, sums[n]);
                if (y)
                    pe_product(&(pe_product_job){.rows = rows, .cols = (int)dim, .depth = b.rows, .a = sums[0],
                                                 .a_row = SHAW_WIDE, .a_col = 1, .b = c->theta[param] + first,
                                                 .b_row = dim, .c = y + at, .c_row = (size_t)side->token, .add = 1});
                if (dtable)
                    pe_product(&(pe_product_job){.rows = b.rows, .cols = (int)dim, .depth = rows, .a = sums[0],
                                                 .a_row = 1, .a_col = SHAW_WIDE, .b = side->x + at,
                                                 .b_row = (size_t)side->token, .c = dtable + first, .c_row = dim,
                                                 .add = 1});
            }
        }
    } while (shaw_next(&b));
}

/* ------------------------------------------------------------------------------------------------ hooks */

static shaw_side shaw_queries(const pe_tile *t)
{
    return (shaw_side){t->q, t->token_stride, t->head_stride};
}

/* eq. 4: s_ij += scale q_i . key[a_ij]. */
static void shaw_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    (void)save;
    const shaw_side side = shaw_queries(t);
    shaw_meet(c, t, SHAW_KEY, &side, t->scale, s);
}

/* s_ij itself passes through, so ds stays; dq_i += scale sum_a ds_a key[a], dkey[a] += scale ds_a q_i, where ds_a is
 * the sum of the run. */
static void shaw_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    (void)save;
    const shaw_side side = shaw_queries(t);
    shaw_part(c, t, SHAW_KEY, c->dtheta[SHAW_KEY], &side, t->scale, ds, g->dq);
}

/* eq. 3: o_i += sum_j p_ij value[a_ij], as one sum of weights for each table row. */
static void shaw_value(const pe_context *c, const pe_tile *t, const real *p, real *o, int o_stride)
{
    const shaw_options *options = c->options;
    const shaw_side side = {o, o_stride, c->shape->head_dim};
    if (options->value)
        shaw_part(c, t, SHAW_VALUE, NULL, &side, 1, p, o);
}

/* dp_ij += do_i . value[a_ij]; dvalue[a] += p_a do_i, where p_a is the sum of the run's weights. */
static void shaw_value_bwd(const pe_context *c, const pe_tile *t, const real *p, const real *d_o, int o_stride,
                           real *dp)
{
    const shaw_options *options = c->options;
    const shaw_side side = {d_o, o_stride, c->shape->head_dim};
    if (!options->value)
        return;
    shaw_meet(c, t, SHAW_VALUE, &side, 1, dp);
    shaw_part(c, t, SHAW_VALUE, c->dtheta[SHAW_VALUE], &side, 1, p, NULL);
}

static unsigned shaw_idle_with(const void *options)
{
    return ((const shaw_options *)options)->value ? 0 : PE_IDLE_VALUE;
}

static const char *const shaw_examples[] = {"clip=4", "value=false", "clip=1,value=false", NULL};

const pe_descriptor pe_encoding_shaw = {
    PE_DESCRIPTOR_HEAD,
    .name = "shaw",
    .family = "relative",
    .title = "Relative position representations (Shaw)",
    .source = "Shaw et al. 2018, Self-Attention with Relative Position Representations, eq. 3-5",
    .formula = "s_ij = scale q_i.(k_j + K[a_ij]), o_i = sum_j p_ij (v_j + V[a_ij]), a_ij = clip(d, -clip, clip) + "
               "clip, d = pos_j - pos_i rounded to the nearest whole number, halves away from zero",
    .notes = "Row clip is distance 0 and row 0 the far past. The heads share the tables, the layers do not. Under a "
             "causal mask the clip rows of the future are never read: they keep their start values and their "
             "gradient is 0. Beyond clip all distances are alike, so there is no longest sequence.",
    .claims = PE_SHIFT_INVARIANT | PE_ANY_LENGTH,
    .reads_heads = 1,
    .needs_order = 1, /* runs of keys */
    .options = shaw_rows,
    .options_size = sizeof(shaw_options),
    .examples = shaw_examples,
    .params = shaw_params,
    .score = shaw_score,
    .score_bwd = shaw_score_bwd,
    .value = shaw_value,
    .value_bwd = shaw_value_bwd,
    .bibtex = "@inproceedings{shaw2018relative, title = {Self-Attention with Relative Position Representations}, "
              "author = {Shaw, Peter and Uszkoreit, Jakob and Vaswani, Ashish}, booktitle = {Proceedings of the 2018 "
              "Conference of the North {A}merican Chapter of the Association for Computational Linguistics: Human "
              "Language Technologies, Volume 2 (Short Papers)}, pages = {464--468}, year = {2018}, eprint = "
              "{1803.02155}, archiveprefix = {arXiv}}",
    .idle_with = shaw_idle_with,
};
