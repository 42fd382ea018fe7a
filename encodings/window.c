/* window.c - local attention: keys farther away than a window are hidden, whatever the scores say. */
#include "pe.h"

enum { WINDOW_CHUNK = 256 };

typedef struct window_options {
    double size, sinks;
} window_options;

static const pe_option window_rows[] = {
    {"size", PE_OPTION_REAL, PE_OFFSET(window_options, size), "auto", 1, 1e9, 1, NULL,
     "distance from which on keys are hidden, so that a query sees itself and the size - 1 tokens before it, without a "
     "causal mask also as many after it; auto: the training length, so that no query ever sees farther than in "
     "training"},
    {"sinks", PE_OPTION_REAL, PE_OFFSET(window_options, sinks), "0", 0, 1e9, 0, NULL,
     "keys at positions below this one are seen from everywhere: the first tokens, which attention leans on"},
    {0},
};

static unsigned window_claims(const void *options)
{
    const window_options *o = options;
    return PE_PARAMETER_FREE | PE_ANY_LENGTH | (o->sinks > 0 ? 0 : PE_SHIFT_INVARIANT);
}

/* A shift of all positions may move a distance in its last bits; a key at exactly `size` stays hidden nevertheless. */
static double window_limit(const window_options *o, const pe_shape *shape)
{
    return (o->size == PE_AUTO_REAL ? shape->train_len : o->size) - 1e-6;
}

/* s_ij += 0 or -INFINITY, the same for all heads. A query's own key is at distance 0 and below every limit. */
static void window_bias(const pe_context *c, const pe_tile *t, real *s)
{
    const window_options *o = c->options;
    double limit = window_limit(o, c->shape);
    real wall[WINDOW_CHUNK];
    for (int r = 0; r < t->rows; r++) {
        int i = t->row_begin + r, visible = pe_visible(c, t, r);
        double origin = c->pos[i];
        for (int begin = 0; begin < visible; begin += WINDOW_CHUNK) {
            int count = visible - begin < WINDOW_CHUNK ? visible - begin : WINDOW_CHUNK;
            const double *pos = c->pos + begin;
            for (int j = 0; j < count; j++)
                wall[j] = fabs(origin - pos[j]) < limit || pos[j] < o->sinks ? 0 : -(real)INFINITY;
            for (int h = 0; h < c->shape->heads; h++) {
                real *row = s + (size_t)h * t->plane + (size_t)r * t->stride + begin;
                for (int j = 0; j < count; j++)
                    row[j] += wall[j];
            }
        }
    }
}

static const char *const window_examples[] = {"size=3", "size=2,sinks=1", "size=4.5,sinks=2.5", NULL};

const pe_descriptor pe_encoding_window = {
    PE_DESCRIPTOR_HEAD,
    .name = "window",
    .family = "window",
    .title = "Local attention window",
    .source = "Beltagy et al. 2020, Longformer, section 3.1 (sliding window); Xiao et al. 2024, Efficient Streaming "
              "Language Models with Attention Sinks (sinks)",
    .formula = "s_ij = -infinity where |pos_i - pos_j| >= size and pos_j >= sinks; real-valued distances as they are, "
               "with a slack of 1e-6",
    .notes = "A mask, not an encoding of its own: within the window it says nothing, so it is meant to be stacked, as "
             "in rope+window(size=32). Longformer's window of w tokens is w/2 to each side; here, as in causal models "
             "with windows, size counts one side and the token itself. Layers widen the field: L layers reach "
             "L (size - 1) tokens back. With StreamingLLM's sinks the kept keys are given new positions inside the "
             "cache; here they keep their own. Every key is still computed: this changes what is seen, not the cost.",
    .claims = PE_SHIFT_INVARIANT | PE_PARAMETER_FREE | PE_ANY_LENGTH,
    .options = window_rows,
    .options_size = sizeof(window_options),
    .examples = window_examples,
    .claims_with = window_claims,
    .bias = window_bias,
    .bibtex = "@misc{beltagy2020longformer, title = {{Longformer}: The Long-Document Transformer}, author = {Beltagy, "
              "Iz and Peters, Matthew E. and Cohan, Arman}, year = {2020}, eprint = {2004.05150}, archiveprefix = "
              "{arXiv}} "
              "@inproceedings{xiao2024efficient, title = {Efficient Streaming Language Models with Attention Sinks}, "
              "author = {Xiao, Guangxuan and Tian, Yuandong and Chen, Beidi and Han, Song and Lewis, Mike}, booktitle "
              "= {International Conference on Learning Representations}, year = {2024}, eprint = {2309.17453}, "
              "archiveprefix = {arXiv}}",
};
