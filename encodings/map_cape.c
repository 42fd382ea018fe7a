/* map_cape.c - positions are shifted, jittered and stretched at random in training. */
#include "pe.h"

#include <stdio.h>

typedef struct cape_options {
    double max_global, max_local, max_scale;
} cape_options;

static const pe_option cape_rows[] = {
    {"max_global", PE_OPTION_REAL, PE_OFFSET(cape_options, max_global), "5", 0, 1e9, 0, NULL,
     "all positions of a sequence are shifted by up to +-this (text example of the gcambara/cape package: 5)"},
    {"max_local", PE_OPTION_REAL, PE_OFFSET(cape_options, max_local), "0.5", 0, 1e9, 0, NULL,
     "each position is shifted by up to +-this besides; more than 0.5 would change the order of tokens and is refused"},
    {"max_scale", PE_OPTION_REAL, PE_OFFSET(cape_options, max_scale), "1.03", 1, 1e6, 0, NULL,
     "positions are stretched by a factor of 1/this .. this (text example of the gcambara/cape package: 1.03); 1: "
     "none"},
    {0},
};

static int cape_check(const void *options, int train_len, int max_len, char *message, size_t size)
{
    const cape_options *o = options;
    (void)train_len, (void)max_len;
    if (o->max_local <= 0.5)
        return 0;
    snprintf(message, size,
             "max_local=%g could put a token before the one that it follows; 0.5 is the most that keeps "
             "their order",
             o->max_local);
    return -1;
}

static pe_map_scope cape_scope(const void *options)
{
    (void)options;
    return PE_MAP_PER_SEQUENCE;
}

/* Two for the sequence, then one for each token. */
static void cape_needs(const pe_map_context *c, size_t *draws, size_t *scratch)
{
    *draws = 2 + (size_t)c->len;
    *scratch = 0;
}

/* What all positions are moved by so that none can be negative. */
static double cape_constant(const cape_options *o)
{
    return o->max_scale * (o->max_global + o->max_local);
}

static double cape_symmetric(double uniform, double most)
{
    return (2 * uniform - 1) * most;
}

static void cape_place(const pe_map_context *c, double *pos)
{
    const cape_options *o = c->options;
    double constant = cape_constant(o);
    if (!c->training) {
        for (int t = 0; t < c->len; t++)
            pos[t] = constant + t;
        return;
    }
    double global = cape_symmetric(c->uniform[0], o->max_global);
    double stretch = exp(cape_symmetric(c->uniform[1], log(o->max_scale)));
    for (int t = 0; t < c->len; t++) {
        double local = cape_symmetric(c->uniform[2 + t], o->max_local);
        pos[t] = fmax(0, constant + stretch * ((t + local) + global)); /* t + local first: rounding keeps its order */
    }
}

static const char *const cape_examples[] = {"max_global=10,max_local=0.25,max_scale=1.2", "max_local=0", "max_scale=1",
                                            "max_global=0,max_local=0,max_scale=1", NULL};

const pe_map pe_map_cape = {
    PE_MAP_HEAD,
    .name = "cape",
    .title = "Continuous augmented positions (CAPE)",
    .source = "Likhomanenko et al. 2021, CAPE: Encoding Relative Positions with Continuous Augmented Positional "
              "Embeddings; defaults of the text example of the gcambara/cape package",
    .formula = "training: pos(t) = C + lambda (t + Delta + eps_t), Delta ~ U(+-max_global), eps_t ~ U(+-max_local), ln "
               "lambda ~ U(+-ln max_scale), all for each sequence; evaluation: pos(t) = C + t; C = max_scale "
               "(max_global + max_local)",
    .notes = "C is not in the paper: positions here are never negative, so all are moved alike, in training and in "
             "evaluation, by the least constant that guarantees it. What sees differences of positions only does not "
             "notice C; a table needs rows for it; for sinusoids it turns each pair of columns by a fixed angle. The "
             "subtraction of the mean position, which the package offers for audio, is not done.",
    .options = cape_rows,
    .options_size = sizeof(cape_options),
    .examples = cape_examples,
    .check = cape_check,
    .scope = cape_scope,
    .needs = cape_needs,
    .place = cape_place,
    .bibtex = "@inproceedings{likhomanenko2021cape, title = {{CAPE}: Encoding Relative Positions with Continuous "
              "Augmented Positional Embeddings}, author = {Likhomanenko, Tatiana and Xu, Qiantong and Synnaeve, "
              "Gabriel and Collobert, Ronan and Rogozhnikov, Alex}, booktitle = {Advances in Neural Information "
              "Processing Systems}, volume = {34}, year = {2021}, eprint = {2106.03143}, archiveprefix = {arXiv}}",
};
