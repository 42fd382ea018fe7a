/* Masked text: say the bytes of a file that were hidden (Devlin et al. 2019, BERT's masked language modelling).
 *
 *   length    bytes of a window
 *   tokens    the 256 bytes, whatever the file holds, and the mask, 256
 *   input     a window, in which some bytes are hidden                length tokens
 *   target    at hidden bytes what stood there, nothing elsewhere
 *
 *   length 8, rate=0.25, window "the word":
 *   input     't' 256 'e' ' ' 'w' 'o' 256 'd'
 *   target     .  'h'  .   .   .   .  'r'  .
 *
 * round(rate * length) bytes are hidden, at least one; all choices of that many places are equally likely. replace=bert
 * shows the mask at a hidden place with probability 0.8, a uniformly random byte with 0.1 and the byte itself with 0.1,
 * so that the network cannot trust what it reads; replace=always shows the mask.
 *
 * It needs a network that looks both ways. Stretches for training, validation and test are those of the task `text`.
 */
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

enum { MASKED_MASK = TASK_CORPUS_BYTES, MASKED_VOCAB };
enum { MASKED_BERT, MASKED_ALWAYS };

typedef struct masked_options {
    char file[PE_TEXT_MAX];
    double rate;
    int replace;
} masked_options;

static int masked_vocab(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return MASKED_VOCAB;
}

static int masked_tokens(const void *options, int len)
{
    (void)options;
    return len;
}

static int masked_state_new(const void *options, int max_len, void **state, error *e)
{
    return task_corpus_open("masked_text", ((const masked_options *)options)->file, max_len, max_len, state, e);
}

static int masked_scored(const void *options, int len)
{
    int hidden = (int)(((const masked_options *)options)->rate * len + 0.5);
    return hidden < 1 ? 1 : hidden;
}

/* What stands where `byte` is hidden. */
static int masked_shown(const masked_options *o, rng *r, int byte)
{
    uint32_t tenth = o->replace == MASKED_ALWAYS ? 0 : rng_below(r, 10);
    return tenth < 8 ? MASKED_MASK : tenth == 8 ? (int)rng_below(r, TASK_CORPUS_BYTES) : byte;
}

static void masked_window(const void *options, const void *state, task_stream stream, rng *r, int len, task_sample *out)
{
    const masked_options *o = options;
    const unsigned char *window = task_corpus_window(state, stream, r, len);
    for (int t = 0, left = masked_scored(o, len); t < len; t++) { /* each choice of places is equally likely */
        int hidden = rng_below(r, (uint32_t)(len - t)) < (uint32_t)left;
        left -= hidden;
        out->input[t] = hidden ? masked_shown(o, r, window[t]) : window[t];
        out->target[t] = hidden ? window[t] : TASK_NOT_SCORED;
    }
    out->count = len;
    out->answer_begin = -1;
}

static const pe_option masked_rows[] = {
    {"file", PE_OPTION_TEXT, offsetof(masked_options, file), TASK_CORPUS_FILE, 0, 0, 0, NULL, TASK_CORPUS_HELP},
    {"rate", PE_OPTION_REAL, offsetof(masked_options, rate), "0.15", 0, 1, 0, NULL,
     "share of the bytes that are hidden, rounded to whole ones, at least one (Devlin et al.: 0.15)"},
    {"replace", PE_OPTION_CHOICE, offsetof(masked_options, replace), "bert", 0, 0, 0, "bert|always",
     "what hidden bytes show: the mask for 80 %, a random byte for 10 %, themselves for 10 % (Devlin et al.); or "
     "always the "
     "mask"},
    {.name = NULL},
};

const task_descriptor task_descriptor_masked_text = {
    .name = "masked_text",
    .title = "Byte-level masked language modelling",
    .source =
        "Devlin et al., BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding, NAACL 2019",
    .format = "t MASK e _ w o MASK d -> . h . . . . r .",
    .notes =
        "For bidirectional networks (model.causal: false). Vocabulary: the 256 bytes and the mask. The file's "
        "stretches are "
        "those of the task text. The loss at hidden bytes is over windows drawn from the test stretch, eval.tokens "
        "hidden "
        "bytes for each length, the same ones for all encodings; perplexity is exp of it. With replace=bert a tenth of "
        "the hidden bytes can be read off. Haviv et al. 2022 is the comparison of encodings on it. Chance of a token "
        "is "
        "the share of the commonest byte in the test stretch.",
    .kind = TASK_LANGUAGE,
    .bidirectional_only = 1,
    .options = masked_rows,
    .options_size = sizeof(masked_options),
    .vocab = masked_vocab,
    .tokens = masked_tokens,
    .chance_token = task_corpus_commonest,
    .state_new = masked_state_new,
    .state_free = task_corpus_free,
    .window = masked_window,
    .scored = masked_scored,
    .digest = task_corpus_digest,
    .limit = task_corpus_limit,
    .bibtex = TASK_BIB_DEVLIN,
};
