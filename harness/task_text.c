/* Text: predict each next byte of a file.
 *
 *   length    bytes that are predicted
 *   tokens    the 256 bytes, whatever the file holds
 *   input     byte s .. s+length-1 of a window that starts at s       length tokens
 *   target    byte s+1 .. s+length: all are scored
 *
 *   length 3, window "then":
 *   input     't' 'h' 'e'
 *   target    'h' 'e' 'n'
 *
 * With all 256 bytes as vocabulary its size is known before a file is read, and losses in nats a byte compare across
 * files; a byte that the file lacks costs one row of the head, which soon is never predicted.
 *
 * The first 90 % of the bytes are for training, the next 5 % for validation, the last 5 % for the test; no window
 * crosses a border. A stretch of n bytes has n-1 predictions: its first byte follows nothing.
 */
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

typedef struct text_options {
    char file[PE_TEXT_MAX];
} text_options;

static int text_vocab(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return TASK_CORPUS_BYTES;
}

static int text_tokens(const void *options, int len)
{
    (void)options;
    return len;
}

static int text_state_new(const void *options, int max_len, void **state, error *e)
{
    return task_corpus_open("text", ((const text_options *)options)->file, max_len, max_len + 1, state, e);
}

static void text_stretch(const void *options, const void *state, task_stream stream, rng *r, int len, task_sample *out)
{
    const unsigned char *window = task_corpus_window(state, stream, r, len + 1);
    (void)options;
    for (int t = 0; t < len; t++) {
        out->input[t] = window[t];
        out->target[t] = window[t + 1];
    }
    out->count = len;
    out->answer_begin = -1;
}

static const pe_option text_rows[] = {
    {"file", PE_OPTION_TEXT, offsetof(text_options, file), TASK_CORPUS_FILE, 0, 0, 0, NULL, TASK_CORPUS_HELP},
    {.name = NULL},
};

const task_descriptor task_descriptor_text = {
    .name = "text",
    .title = "Byte-level language modelling",
    .source = "Shannon, Prediction and Entropy of Printed English, 1951; windows as in Press et al. 2022 (ALiBi)",
    .format = "t h e -> h e _",
    .notes = "Vocabulary: the 256 bytes. Train, validation and test are the first 90 %, the next 5 % and the last 5 % "
             "of the file. "
             "bench/corpora makes two files: English prose and Python code. Chance of a token is the share of the "
             "commonest byte "
             "in the test stretch.",
    .kind = TASK_LANGUAGE,
    .causal_only = 1,
    .options = text_rows,
    .options_size = sizeof(text_options),
    .vocab = text_vocab,
    .tokens = text_tokens,
    .chance_token = task_corpus_commonest,
    .state_new = text_state_new,
    .state_free = task_corpus_free,
    .window = text_stretch,
    .text = task_corpus_stretch,
    .digest = task_corpus_digest,
    .limit = task_corpus_limit,
    .bibtex = "@article{shannon1951prediction, title = {Prediction and Entropy of Printed {English}}, author = "
              "{Shannon, Claude E.}, journal = {Bell System Technical Journal}, volume = {30}, number = {1}, pages = "
              "{50--64}, year = {1951}} " TASK_BIB_PRESS,
};
