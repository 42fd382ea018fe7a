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
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "task.h"

enum { TEXT_VOCAB = 256, TEXT_SHARES = 20, TEXT_TRAIN_SHARES = 18, TEXT_STREAMS = 3 };

#define TEXT_MAKER "./bench/corpora makes results/corpora/prose.txt and results/corpora/code.txt"

typedef struct text_options {
    char file[PE_TEXT_MAX];
} text_options;

typedef struct text_state {
    unsigned char *bytes;
    long begin[TEXT_STREAMS + 1]; /* stream s is bytes begin[s] .. begin[s+1]-1 */
    double commonest;             /* share of the test stretch's most frequent byte */
    char digest[65];
} text_state;

static int text_vocab(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return TEXT_VOCAB;
}

static int text_tokens(const void *options, int len)
{
    (void)options;
    return len;
}

/* The best fixed guess is the most frequent byte. */
static double text_chance_token(const void *options, const void *state, int len)
{
    (void)options, (void)len;
    return state ? ((const text_state *)state)->commonest : NAN;
}

static int text_read(const char *path, unsigned char **bytes, long *count, error *e)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_set(e, ERROR_ENVIRONMENT, "text: cannot open '%s': %s (%s)", path, strerror(errno), TEXT_MAKER);
    size_t used = 0, room = 1 << 16, got;
    unsigned char *data = malloc(room);
    while (data && (got = fread(data + used, 1, room - used, file)) > 0) {
        used += got;
        if (used == room) {
            unsigned char *larger = realloc(data, room *= 2);
            if (!larger)
                free(data);
            data = larger;
        }
    }
    int reason = ferror(file) ? errno : 0;
    fclose(file);
    if (data && !reason) {
        *bytes = data;
        *count = (long)used;
        return 0;
    }
    free(data);
    return error_set(e, ERROR_ENVIRONMENT, "text: cannot read '%s': %s", path, strerror(reason ? reason : ENOMEM));
}

static int text_hash(const unsigned char *bytes, long count, char digest[65], error *e)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    if (!EVP_Digest(bytes, (size_t)count, hash, &size, EVP_sha256(), NULL))
        return error_set(e, ERROR_ENVIRONMENT, "text: libcrypto has no SHA-256");
    for (unsigned int i = 0; i < size; i++)
        snprintf(digest + 2 * i, 3, "%02x", hash[i]);
    return 0;
}

static double text_commonest(const unsigned char *bytes, long count)
{
    long seen[TEXT_VOCAB] = {0}, most = 0;
    for (long i = 0; i < count; i++)
        if (++seen[bytes[i]] > most)
            most = seen[bytes[i]];
    return (double)most / (double)count;
}

/* The smallest stretch, a twentieth, must hold one window: max_len + 1 bytes. Starts are drawn as 32-bit numbers. */
static int text_check_size(const char *path, long count, int max_len, error *e)
{
    long needed = TEXT_SHARES * ((long)max_len + 1);
    if (count < needed)
        return error_set(
            e, ERROR_ENVIRONMENT,
            "text: '%s' holds %ld bytes; length %d needs at least %ld, so that the twentieth for the test holds "
            "one window",
            path, count, max_len, needed);
    if (count > (long)UINT32_MAX)
        return error_set(e, ERROR_ENVIRONMENT, "text: '%s' holds %ld bytes; at most %ld can be used", path, count,
                         (long)UINT32_MAX);
    return 0;
}

static int text_state_new(const void *options, int max_len, void **state, error *e)
{
    const char *path = ((const text_options *)options)->file;
    long count = 0;
    text_state *s = calloc(1, sizeof *s);
    if (!s)
        return error_set(e, ERROR_ENVIRONMENT, "text: no memory");
    if (text_read(path, &s->bytes, &count, e) < 0 || text_check_size(path, count, max_len, e) < 0 ||
        text_hash(s->bytes, count, s->digest, e) < 0) {
        free(s->bytes);
        free(s);
        return -1;
    }
    s->begin[TASK_VALIDATION] = (long)((long long)count * TEXT_TRAIN_SHARES / TEXT_SHARES);
    s->begin[TASK_TEST] = (long)((long long)count * (TEXT_TRAIN_SHARES + 1) / TEXT_SHARES);
    s->begin[TEXT_STREAMS] = count;
    s->commonest = text_commonest(s->bytes + s->begin[TASK_TEST], count - s->begin[TASK_TEST]);
    *state = s;
    return 0;
}

static void text_state_free(void *state)
{
    text_state *s = state;
    free(s->bytes);
    free(s);
}

static const unsigned char *text_stretch(const void *state, task_stream stream, long *count)
{
    const text_state *s = state;
    *count = s->begin[stream + 1] - s->begin[stream];
    return s->bytes + s->begin[stream];
}

static void text_window(const void *options, const void *state, task_stream stream, rng *r, int len, task_sample *out)
{
    long count;
    const unsigned char *stretch = text_stretch(state, stream, &count);
    const unsigned char *window =
        stretch + rng_below(r, (uint32_t)(count - len)); /* the last one ends with the stretch */
    (void)options;
    for (int t = 0; t < len; t++) {
        out->input[t] = window[t];
        out->target[t] = window[t + 1];
    }
    out->count = len;
    out->answer_begin = -1;
}

static const char *text_digest(const void *state)
{
    return ((const text_state *)state)->digest;
}

static const pe_option text_rows[] = {
    {"file", PE_OPTION_TEXT, offsetof(text_options, file), "results/corpora/prose.txt", 0, 0, 0, NULL,
     "what to read, of any content; a relative path starts at the folder where posbench runs"},
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
    .chance_token = text_chance_token,
    .state_new = text_state_new,
    .state_free = text_state_free,
    .window = text_window,
    .text = text_stretch,
    .digest = text_digest,
    .bibtex = "@article{shannon1951prediction, title = {Prediction and Entropy of Printed {English}}, author = "
              "{Shannon, Claude E.}, journal = {Bell System Technical Journal}, volume = {30}, number = {1}, pages = "
              "{50--64}, year = {1951}} "
              "@inproceedings{press2022train, title = {Train Short, Test Long: Attention with Linear Biases Enables "
              "Input Length Extrapolation}, author = {Press, Ofir and Smith, Noah A. and Lewis, Mike}, booktitle = "
              "{International Conference on Learning Representations}, year = {2022}, eprint = {2108.12409}, "
              "archiveprefix = {arXiv}}",
};
