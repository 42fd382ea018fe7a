/* shaw.c - relative position representations: a trained vector for each clipped distance is added to keys and values.
 *
 * All heads share the tables, and keys at the same clipped distance share a row. So no hook computes a product per
 * pair: keys fall into runs, one for each table row, and work is done per run. */
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

static real *shaw_row(const pe_tile *t, real *s, int h, int r)
{
    return s + (size_t)h * t->plane + (size_t)r * t->stride;
}

/* eq. 4: s_ij += scale q_i . key[a_ij]. Everything visible is within one of the runs. */
static void shaw_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    (void)save;
    int dim = c->shape->head_dim;
    shaw_runs runs;
    for (int r = 0; r < t->rows; r++) {
        shaw_find_runs(c, t, r, &runs);
        for (int h = 0; h < c->shape->heads; h++) {
            const real *q = t->q + (size_t)r * t->token_stride + (size_t)h * t->head_stride;
            real *row = shaw_row(t, s, h, r);
            for (int a = runs.begin; a < runs.end; a++) {
                real term = t->scale * pe_dot(q, c->theta[SHAW_KEY] + (size_t)a * dim, dim);
                for (int j = runs.first[a]; j < runs.first[a + 1]; j++)
                    row[j] += term;
            }
        }
    }
}

/* s_ij itself passes through, so ds stays; dq_i += scale sum_a ds_a key[a], dkey[a] += scale ds_a q_i, where ds_a is
 * the sum of the run. */
static void shaw_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    (void)save;
    int dim = c->shape->head_dim;
    shaw_runs runs;
    for (int r = 0; r < t->rows; r++) {
        shaw_find_runs(c, t, r, &runs);
        for (int h = 0; h < c->shape->heads; h++) {
            size_t token = (size_t)r * t->token_stride + (size_t)h * t->head_stride;
            const real *row = shaw_row(t, ds, h, r);
            for (int a = runs.begin; a < runs.end; a++) {
                real sum = t->scale * pe_sum(row + runs.first[a], runs.first[a + 1] - runs.first[a]);
                pe_axpy(g->dq + token, sum, c->theta[SHAW_KEY] + (size_t)a * dim, dim);
                pe_axpy(c->dtheta[SHAW_KEY] + (size_t)a * dim, sum, t->q + token, dim);
            }
        }
    }
}

/* eq. 3: o_i += sum_j p_ij value[a_ij], as one sum of weights for each table row. */
static void shaw_value(const pe_context *c, const pe_tile *t, const real *p, real *o, int o_stride)
{
    const shaw_options *options = c->options;
    int dim = c->shape->head_dim;
    shaw_runs runs;
    for (int r = 0; options->value && r < t->rows; r++) {
        shaw_find_runs(c, t, r, &runs);
        for (int h = 0; h < c->shape->heads; h++) {
            const real *row = p + (size_t)h * t->plane + (size_t)r * t->stride;
            real *out = o + (size_t)r * o_stride + (size_t)h * dim;
            for (int a = runs.begin; a < runs.end; a++) {
                real weight = pe_sum(row + runs.first[a], runs.first[a + 1] - runs.first[a]);
                pe_axpy(out, weight, c->theta[SHAW_VALUE] + (size_t)a * dim, dim);
            }
        }
    }
}

/* dp_ij += do_i . value[a_ij]; dvalue[a] += p_a do_i, where p_a is the sum of the run's weights. */
static void shaw_value_bwd(const pe_context *c, const pe_tile *t, const real *p, const real *d_o, int o_stride,
                           real *dp)
{
    const shaw_options *options = c->options;
    int dim = c->shape->head_dim;
    shaw_runs runs;
    for (int r = 0; options->value && r < t->rows; r++) {
        shaw_find_runs(c, t, r, &runs);
        for (int h = 0; h < c->shape->heads; h++) {
            const real *row = p + (size_t)h * t->plane + (size_t)r * t->stride;
            const real *out = d_o + (size_t)r * o_stride + (size_t)h * dim;
            real *drow = shaw_row(t, dp, h, r);
            for (int a = runs.begin; a < runs.end; a++) {
                real term = pe_dot(out, c->theta[SHAW_VALUE] + (size_t)a * dim, dim);
                for (int j = runs.first[a]; j < runs.first[a + 1]; j++)
                    drow[j] += term;
                real weight = pe_sum(row + runs.first[a], runs.first[a + 1] - runs.first[a]);
                pe_axpy(c->dtheta[SHAW_VALUE] + (size_t)a * dim, weight, out, dim);
            }
        }
    }
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
};
