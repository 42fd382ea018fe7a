/* logn.c - the more keys a query sees, the sharper it looks: scores times the logarithm of their number. */
#include "pe.h"

#include <stdio.h>

typedef struct logn_options {
    int length;
} logn_options;

static const pe_option logn_rows[] = {
    {"length", PE_OPTION_INT, PE_OFFSET(logn_options, length), "auto", 2, 1 << 24, 1, NULL,
     "L: up to this many keys nothing changes; auto: the training length"},
    {0},
};

static int logn_length(const logn_options *o, const pe_shape *shape)
{
    return o->length == PE_AUTO_INT ? shape->train_len : o->length;
}

static int logn_check(const void *options, const pe_shape *shape, char *message, size_t size)
{
    int length = logn_length(options, shape);
    if (length >= 2)
        return 0;
    snprintf(message, size, "length %d has no logarithm to divide by; it must be at least 2", length);
    return -1;
}

/* max(1, ln n / ln L) for query row r, which sees n keys. */
static real logn_factor(const pe_context *c, const pe_tile *t, int r)
{
    int keys = c->shape->causal ? t->row_begin + r + 1 : c->total_len, length = logn_length(c->options, c->shape);
    return keys > length ? (real)(log(keys) / log(length)) : 1;
}

/* s[h][r][j] *= factor of row r; the backward pass does the same to ds. */
static void logn_multiply(const pe_context *c, const pe_tile *t, real *s)
{
    for (int r = 0; r < t->rows; r++) {
        real factor = logn_factor(c, t, r);
        int visible = pe_visible(c, t, r);
        for (int h = 0; factor != 1 && h < c->shape->heads; h++) {
            real *row = s + (size_t)h * t->plane + (size_t)r * t->stride;
            for (int j = 0; j < visible; j++)
                row[j] *= factor;
        }
    }
}

static void logn_score(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    (void)save;
    logn_multiply(c, t, s);
}

static void logn_score_bwd(const pe_context *c, const pe_tile *t, const real *save, real *ds, const pe_tile_grad *g)
{
    (void)save, (void)g;
    logn_multiply(c, t, ds);
}

static const char *const logn_examples[] = {"length=3", NULL};

const pe_descriptor pe_encoding_logn = {
    PE_DESCRIPTOR_HEAD,
    .name = "logn",
    .family = "temperature",
    .title = "Logarithmic attention scale (log n)",
    .source =
        "Su 2021, kexue.fm/archives/8823, eq. 4-5 (attention scale from an invariant entropy); with the maximum as in "
        "the code of Qwen",
    .formula =
        "s_ij *= max(1, ln n_i / ln L), n_i the keys that query i sees: i+1 under a causal mask, total_len without "
        "one; positions are not looked at",
    .notes = "Up to L keys it changes nothing, so with the default it does not touch training. The first form of the "
             "source has no maximum (and L = 512), so that short contexts are cooled, in training too. It multiplies "
             "what earlier members of a stack made of s, as if q were longer, and no bias: in rope+logn the rotated "
             "product, in alibi+logn the product without the slopes, in logn+shaw only what stands before shaw. Keys "
             "that a window or a bias of -infinity hides still count.",
    .claims = PE_SHIFT_INVARIANT | PE_POSITION_BLIND | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .options = logn_rows,
    .options_size = sizeof(logn_options),
    .examples = logn_examples,
    .check = logn_check,
    .score = logn_score,
    .score_bwd = logn_score_bwd,
};
