/* map_random_float.c - real-valued positions drawn from a wide range, in order. */
#include "pe.h"

enum { RANDOM_FLOAT_LAYER, RANDOM_FLOAT_BATCH, RANDOM_FLOAT_SEQUENCE };
enum { RANDOM_FLOAT_TEST_RANDOM, RANDOM_FLOAT_TEST_IDENTITY };

typedef struct random_float_options {
    double span;
    int scope, test;
} random_float_options;

static const pe_option random_float_rows[] = {
    {"span", PE_OPTION_REAL, PE_OFFSET(random_float_options, span), "2048", 1e-6, 1e9, 0, NULL,
     "M: positions are real numbers of 0 .. M (as wide as the default of map random)"},
    {"scope", PE_OPTION_CHOICE, PE_OFFSET(random_float_options, scope), "layer", 0, 0, 0, "layer|batch|sequence",
     "what shares the numbers: layer: the sequences of a batch in one layer; batch: all layers too; sequence: all "
     "layers of one sequence"},
    {"test", PE_OPTION_CHOICE, PE_OFFSET(random_float_options, test), "random", 0, 0, 0, "random|identity",
     "evaluation: random: drawn as in training, from the run's seed; identity: 0, 1, 2 .."},
    {0},
};

static pe_map_scope random_float_scope(const void *options)
{
    static const pe_map_scope scopes[] = {PE_MAP_PER_LAYER, PE_MAP_PER_BATCH, PE_MAP_PER_SEQUENCE};
    return scopes[((const random_float_options *)options)->scope];
}

static void random_float_needs(const pe_map_context *c, size_t *draws, size_t *scratch)
{
    *draws = (size_t)c->total_len;
    *scratch = 0;
}

/* From the last down, without sorting: the largest of n uniform numbers is distributed as u^(1/n), and the others are
 * n-1 uniform numbers below it. */
static void random_float_place(const pe_map_context *c, double *pos)
{
    const random_float_options *o = c->options;
    double at = o->span;
    if (!c->training && o->test == RANDOM_FLOAT_TEST_IDENTITY) {
        for (int t = 0; t < c->len; t++)
            pos[t] = t;
        return;
    }
    for (int t = c->total_len - 1; t >= 0; t--) {
        at *= pow(c->uniform[t], 1.0 / (t + 1));
        if (t < c->len)
            pos[t] = at;
    }
}

static const char *const random_float_examples[] = {"span=512", "scope=batch", "scope=sequence", "test=identity", NULL};

const pe_map pe_map_random_float = {
    PE_MAP_HEAD,
    .name = "random_float",
    .title = "Randomized real-valued positions",
    .source =
        "the continuous counterpart of map random (Ruoss et al. 2023, Randomized Positional Encodings Boost Length "
        "Generalization of Transformers); the idea as in Shimizu et al. 2026, Position Encoding with Random Float "
        "Sampling Enhances Length Generalization of Transformers",
    .formula = "pos = n independent uniform numbers of 0 .. M, sorted, n = total_len; from the last down: pos_n = M "
               "u_n^(1/n), pos_k = pos_(k+1) u_k^(1/k)",
    .notes =
        "Neighbours may stand as near as chance has it, where whole numbers keep a distance of 1. Random Float "
        "Sampling too draws real positions in training and in evaluation; the law written here is our own reading "
        "of the idea, and its details may differ from theirs. Tables interpolate between rows, Shaw's rounds, T5's "
        "floors: their formulas say so.",
    .options = random_float_rows,
    .options_size = sizeof(random_float_options),
    .examples = random_float_examples,
    .scope = random_float_scope,
    .needs = random_float_needs,
    .place = random_float_place,
    .bibtex = "@inproceedings{ruoss2023randomized, title = {Randomized Positional Encodings Boost Length "
              "Generalization of Transformers}, author = {Ruoss, Anian and Del{\\'e}tang, Gr{\\'e}goire and Genewein, "
              "Tim and Grau-Moya, Jordi and Csord{\\'a}s, R{\\'o}bert and Bennani, Mehdi and Legg, Shane and Veness, "
              "Joel}, booktitle = {Proceedings of the 61st Annual Meeting of the Association for Computational "
              "Linguistics (Volume 2: Short Papers)}, pages = {1889--1903}, year = {2023}, eprint = {2305.16843}, "
              "archiveprefix = {arXiv}}",
};
