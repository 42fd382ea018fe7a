/* map_shift.c - in training, a whole sequence stands somewhere further on. */
#include "pe.h"

#include <stdio.h>

typedef struct shift_options {
    int span, scope, test;
} shift_options;

static const pe_option shift_rows[] = {
    {"span", PE_OPTION_INT, PE_OFFSET(shift_options, span), "auto", 0, 1000000000, 1, NULL,
     "K: training shifts by a whole number of 0 .. K, each as likely (SHAPE: 500); auto: as far as the last position "
     "that has a meaning leaves room for this sequence, so that all rows of a table are trained (Huang et al.)"},
    {"scope", PE_OPTION_CHOICE, PE_OFFSET(shift_options, scope), "sequence", 0, 0, 0, "sequence|batch",
     "sequence: each sequence has a shift of its own (SHAPE, Huang et al.); batch: one number decides for all"},
    {"test", PE_OPTION_INT, PE_OFFSET(shift_options, test), "0", 0, 1000000000, 1, NULL,
     "where the first token stands in evaluation (Huang et al.: 0); auto: at span, as in the released code of SHAPE"},
    {0},
};

static pe_map_scope shift_scope(const void *options)
{
    const shift_options *o = options;
    return o->scope == 0 ? PE_MAP_PER_SEQUENCE : PE_MAP_PER_BATCH;
}

static int shift_check_last(const void *options, double last_position, char *message, size_t size)
{
    const shift_options *o = options;
    if (o->span != PE_AUTO_INT || isfinite(last_position))
        return 0;
    snprintf(message, size,
             "span=auto shifts as far as positions have a meaning, but in this stack they have no end; "
             "give a number (SHAPE: span=500)");
    return -1;
}

static void shift_needs(const pe_map_context *c, size_t *draws, size_t *scratch)
{
    (void)c;
    *draws = 1;
    *scratch = 0;
}

/* K. total_len, not len: while decoding, the room is that of the complete sequence. */
static double shift_span(const pe_map_context *c)
{
    const shift_options *o = c->options;
    return o->span == PE_AUTO_INT ? fmax(0, floor(c->last_position) - (c->total_len - 1)) : o->span;
}

static void shift_place(const pe_map_context *c, double *pos)
{
    const shift_options *o = c->options;
    double first;
    if (c->training)
        first = floor(c->uniform[0] * (shift_span(c) + 1));
    else
        first = o->test == PE_AUTO_INT ? shift_span(c) : o->test;
    for (int t = 0; t < c->len; t++)
        pos[t] = first + t;
}

static const char *const shift_examples[] = {"span=500,test=auto", "span=64", "span=64,scope=batch,test=8", NULL};

const pe_map pe_map_shift = {
    PE_MAP_HEAD,
    .name = "shift",
    .title = "Randomly shifted positions",
    .source = "Kiyono et al. 2021, SHAPE: Shifted Absolute Position Embedding for Transformers; Huang et al. 2025, A "
              "Formal Framework for Understanding Length Generalization in Transformers (random offsets)",
    .formula = "training: pos(t) = k + t, k uniform over 0 .. K; evaluation: pos(t) = test + t; auto: K = "
               "floor(last position that has a meaning) - (total_len-1)",
    .notes =
        "Encodings that see differences of positions only are untouched by it. Huang et al. draw offsets 0 .. N - n "
        "where n counts symbols and N is the longest test length, and twice that for copying and sorting: that is "
        "span=auto with a table of exactly as many rows as the longest test sequence has tokens. The released code "
        "of SHAPE draws 0 .. K-1, begins evaluation at K, and takes a smaller K where its table of 5000 rows would "
        "end. scope=batch with span=auto: the number is shared, the room is each sequence's own. Random padding (Tao "
        "et "
        "al. 2023) moves padding from behind a sequence to before it, so that late rows of a table are trained as "
        "often as early ones; in a network without padding that is a shift with span=auto.",
    .options = shift_rows,
    .options_size = sizeof(shift_options),
    .examples = shift_examples,
    .scope = shift_scope,
    .needs = shift_needs,
    .place = shift_place,
    .check_last = shift_check_last,
    .bibtex = "@inproceedings{kiyono2021shape, title = {{SHAPE}: Shifted Absolute Position Embedding for "
              "Transformers}, author = {Kiyono, Shun and Kobayashi, Sosuke and Suzuki, Jun and Inui, Kentaro}, "
              "booktitle = {Proceedings of the 2021 Conference on Empirical Methods in Natural Language Processing}, "
              "pages = {3309--3321}, year = {2021}, eprint = {2109.05644}, archiveprefix = {arXiv}} "
              "@inproceedings{huang2025formal, title = {A Formal Framework for Understanding Length Generalization in "
              "Transformers}, author = {Huang, Xinting and Yang, Andy and Bhattamishra, Satwik and Sarrof, Yash and "
              "Krebs, Andreas and Zhou, Hattie and Nakkiran, Preetum and Hahn, Michael}, booktitle = {International "
              "Conference on Learning Representations}, year = {2025}, eprint = {2410.02140}, archiveprefix = {arXiv}}",
};
