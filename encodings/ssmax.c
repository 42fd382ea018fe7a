/* ssmax.c - Scalable-Softmax: scores times the logarithm of the number of keys, with a factor learned for each head. */
#include "pe.h"

typedef struct ssmax_options {
    double start;
} ssmax_options;

static const pe_option ssmax_rows[] = {
    {"start", PE_OPTION_REAL, PE_OFFSET(ssmax_options, start), "0.43", -100, 100, 0, NULL,
     "what s of every head starts from (0.43: figure 1 of the paper and the default of the scalable-softmax package)"},
    {0},
};

static int ssmax_params(const void *options, const pe_shape *shape, pe_param *out)
{
    const ssmax_options *o = options;
    out[0] = (pe_param){.name = "s", .rows = 1, .cols = shape->heads, .mean = o->start, .per_layer = 1};
    return 1;
}

/* ln n of query row r, which sees n keys. */
static double ssmax_log_keys(const pe_context *c, const pe_tile *t, int r)
{
    return log(c->shape->causal ? t->row_begin + r + 1 : c->total_len);
}

/* save[heads][rows][keys]: the scores as they came. */
static void ssmax_sizes(const pe_context *c, int rows, int keys, pe_sizes *out)
{
    out->save_reals = (size_t)c->shape->heads * (size_t)rows * (size_t)keys;
}

static size_t ssmax_saved(const pe_tile *t, int h, int r)
{
    return ((size_t)h * t->rows + (size_t)r) * t->keys;
}

static void ssmax_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    for (int r = 0; r < t->rows; r++) {
        double log_keys = ssmax_log_keys(c, t, r);
        int visible = pe_visible(c, t, r);
        for (int h = 0; h < c->shape->heads; h++) {
            real factor = (real)((double)c->theta[0][h] * log_keys);
            real *restrict row = s + (size_t)h * t->plane + (size_t)r * t->stride;
            real *restrict before = save + ssmax_saved(t, h, r);
            for (int j = 0; j < visible; j++) {
                before[j] = row[j];
                row[j] *= factor;
            }
        }
    }
}

/* ds *= s_h ln n; d s_h += ln n (ds . s as it came) */
static void ssmax_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    (void)g;
    for (int r = 0; r < t->rows; r++) {
        double log_keys = ssmax_log_keys(c, t, r);
        int visible = pe_visible(c, t, r);
        for (int h = 0; h < c->shape->heads; h++) {
            real factor = (real)((double)c->theta[0][h] * log_keys);
            real *row = ds + (size_t)h * t->plane + (size_t)r * t->stride;
            c->dtheta[0][h] += (real)log_keys * pe_dot(row, save + ssmax_saved(t, h, r), visible);
            for (int j = 0; j < visible; j++)
                row[j] *= factor;
        }
    }
}

static const char *const ssmax_examples[] = {"start=1", "start=0", NULL};

const pe_descriptor pe_encoding_ssmax = {
    PE_DESCRIPTOR_HEAD,
    .name = "ssmax",
    .family = "temperature",
    .title = "Scalable-Softmax (SSMax)",
    .source = "Nakanishi 2025, Scalable-Softmax Is Superior for Attention",
    .formula =
        "s_ij *= s_h ln n_i, s_h learned for each head of each layer, n_i the keys that query i sees: i+1 under a "
        "causal mask, total_len without one; positions are not looked at",
    .notes =
        "A query that sees one key has score 0 for it, which the softmax of one number does not notice. It multiplies "
        "what earlier members of a stack made of s, as if q were longer, and no bias: in rope+ssmax the rotated "
        "product, in alibi+ssmax the product without the slopes, where the softmax of the paper would multiply "
        "both. Keys that a window or a bias of -infinity hides still count. The scalable-softmax package has one s "
        "for a whole module, and its comment has it the wrong way round: a larger s is sharper.",
    .claims = PE_SHIFT_INVARIANT | PE_POSITION_BLIND | PE_ANY_LENGTH,
    .options = ssmax_rows,
    .options_size = sizeof(ssmax_options),
    .examples = ssmax_examples,
    .params = ssmax_params,
    .sizes = ssmax_sizes,
    .score = ssmax_score,
    .score_bwd = ssmax_score_bwd,
    .bibtex = "@misc{nakanishi2025scalable, title = {Scalable-Softmax Is Superior for Attention}, author = "
              "{Nakanishi, Ken M.}, year = {2025}, eprint = {2501.19399}, archiveprefix = {arXiv}}",
};
