/* nearness.c - a complete plug-in: near keys get a bonus that fades with the inverse of the distance.
 *
 * Unlike a linear bias it has a floor: far keys all score alike, so content decides among them at any length. */
#include "pe.h"

typedef struct nearness_options {
    double bonus, reach;
} nearness_options;

static const pe_option nearness_rows[] = {
    {"bonus", PE_OPTION_REAL, PE_OFFSET(nearness_options, bonus), "4", -100, 100, 0, NULL,
     "what a query's own key gains; negative: near keys lose"},
    {"reach", PE_OPTION_REAL, PE_OFFSET(nearness_options, reach), "1", 1e-3, 1e6, 0, NULL,
     "distance, in tokens, at which the first head's bonus has halved; each further head reaches twice as far"},
    {0},
};

static void nearness_bias(const pe_context *c, const pe_tile *t, real *s)
{
    const nearness_options *o = c->options;
    for (int h = 0; h < c->shape->heads; h++) {
        double reach = ldexp(o->reach, h);
        for (int r = 0; r < t->rows; r++) {
            int i = t->row_begin + r;
            int visible = c->shape->causal ? i + 1 : t->keys;
            real *row = s + (size_t)h * t->plane + (size_t)r * t->stride;
            for (int j = 0; j < visible; j++)
                row[j] += (real)(o->bonus * reach / (reach + fabs(c->pos[i] - c->pos[j])));
        }
    }
}

static const char *const nearness_examples[] = {"bonus=-2", "reach=8", NULL};

static const pe_descriptor nearness = {
    PE_DESCRIPTOR_HEAD,
    .name = "nearness",
    .family = "bias",
    .title = "Inverse-distance bonus",
    .source = "the plug-in example of posbench",
    .formula = "s_ij += bonus / (1 + |pos_i - pos_j| / (2^h reach)), h = 0 .. H-1; real-valued distances as they are",
    .claims = PE_SHIFT_INVARIANT | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .options = nearness_rows,
    .options_size = sizeof(nearness_options),
    .examples = nearness_examples,
    .bias = nearness_bias,
};

static const pe_descriptor *const encodings[] = {&nearness, NULL};

PE_PLUGIN(encodings, NULL);
