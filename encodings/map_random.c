/* map_random.c - positions drawn from a wide range and sorted. */
#include "pe.h"

#include <assert.h>
#include <stdio.h>

enum { RANDOM_LAYER, RANDOM_BATCH, RANDOM_SEQUENCE };
enum { RANDOM_TEST_RANDOM, RANDOM_TEST_IDENTITY };

typedef struct random_options {
    int span, scope, test;
} random_options;

static const pe_option random_rows[] = {
    {"span", PE_OPTION_INT, PE_OFFSET(random_options, span), "2048", 1, 1048576, 0, NULL,
     "M: positions are drawn from 0 .. M-1 (Ruoss et al.: 2048)"},
    {"scope", PE_OPTION_CHOICE, PE_OFFSET(random_options, scope), "layer", 0, 0, 0, "layer|batch|sequence",
     "what shares the numbers: layer: the sequences of a batch in one layer, as in the released code; batch: all "
     "layers too; sequence: all layers of one sequence"},
    {"test", PE_OPTION_CHOICE, PE_OFFSET(random_options, test), "random", 0, 0, 0, "random|identity",
     "evaluation: random: drawn as in training (Ruoss et al.), from the run's seed; identity: 0, 1, 2 .."},
    {0},
};

static int random_check(const void *options, int train_len, int max_len, char *message, size_t size)
{
    const random_options *o = options;
    int len = o->test == RANDOM_TEST_IDENTITY ? train_len : max_len;
    if (o->span >= len)
        return 0;
    snprintf(message, size, "%d tokens need that many different positions, but span=%d", len, o->span);
    return -1;
}

static pe_map_scope random_scope(const void *options)
{
    static const pe_map_scope scopes[] = {PE_MAP_PER_LAYER, PE_MAP_PER_BATCH, PE_MAP_PER_SEQUENCE};
    return scopes[((const random_options *)options)->scope];
}

/* scratch: a mark for each of the span positions. */
static void random_needs(const pe_map_context *c, size_t *draws, size_t *scratch)
{
    *draws = (size_t)c->total_len;
    *scratch = (size_t)((const random_options *)c->options)->span;
}

/* marks[span] (=): 1 at `count` of them, each set of that many as likely (Floyd): the i-th number chooses among the
 * first span - count + i + 1 positions; the last of these, which no number before it could choose, replaces a choice
 * that is taken. */
static void random_mark(const double *uniform, int count, int span, double *marks)
{
    memset(marks, 0, (size_t)span * sizeof *marks);
    for (int i = 0; i < count; i++) {
        int last = span - count + i, chosen = (int)(uniform[i] * (last + 1));
        marks[marks[chosen] != 0 ? last : chosen] = 1;
    }
}

/* Marks are read in order, so nothing is sorted. All of total_len are drawn, also while the sequence is still short. */
static void random_place(const pe_map_context *c, double *pos)
{
    const random_options *o = c->options;
    if (!c->training && o->test == RANDOM_TEST_IDENTITY) {
        for (int t = 0; t < c->len; t++)
            pos[t] = t;
        return;
    }
    assert(c->total_len <= o->span);
    random_mark(c->uniform, c->total_len, o->span, c->scratch);
    for (int place = 0, t = 0; t < c->len; place++)
        if (c->scratch[place] != 0)
            pos[t++] = place;
}

static const char *const random_examples[] = {"span=512", "scope=batch", "scope=sequence", "test=identity", NULL};

const pe_map pe_map_random = {
    PE_MAP_HEAD,
    .name = "random",
    .title = "Randomized positions",
    .source =
        "Ruoss et al. 2023, Randomized Positional Encodings Boost Length Generalization of Transformers, section 3",
    .formula = "pos = n of 0 .. M-1, drawn without replacement and sorted, n = total_len: each of the M!/(n! (M-n)!) "
               "sets is as likely; in training and, unless test=identity, in evaluation",
    .notes =
        "The paper counts positions from 1, its code from 0. Its code draws once for a forward pass where a table "
        "is added, and once for each layer where attention itself knows positions, which scope=layer gives: what "
        "is added sees the first layer's draw. Its relative encodings draw distances, and mirror them or draw both "
        "sides; here positions are drawn and distances are their differences, so they obey other laws. Its code "
        "for such tables indexes up to twice the rows that it has; here no index leaves the range. Evaluation "
        "draws from the run's seed: the same run twice gives the same positions. A batch holds sequences of "
        "several lengths: those of one length share their positions, the others use the same numbers.",
    .options = random_rows,
    .options_size = sizeof(random_options),
    .examples = random_examples,
    .check = random_check,
    .scope = random_scope,
    .needs = random_needs,
    .place = random_place,
    .bibtex = "@inproceedings{ruoss2023randomized, title = {Randomized Positional Encodings Boost Length "
              "Generalization of Transformers}, author = {Ruoss, Anian and Del{\\'e}tang, Gr{\\'e}goire and Genewein, "
              "Tim and Grau-Moya, Jordi and Csord{\\'a}s, R{\\'o}bert and Bennani, Mehdi and Legg, Shane and Veness, "
              "Joel}, booktitle = {Proceedings of the 61st Annual Meeting of the Association for Computational "
              "Linguistics (Volume 2: Short Papers)}, pages = {1889--1903}, year = {2023}, eprint = {2305.16843}, "
              "archiveprefix = {arXiv}}",
};
