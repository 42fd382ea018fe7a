/* task_corpus.c - a text as language tasks read it: the bytes of a file, in three stretches. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "task.h"

enum { CORPUS_SHARES = 20, CORPUS_TRAIN_SHARES = 18 };

#define CORPUS_MAKER "./bench/corpora makes results/corpora/prose.txt and results/corpora/code.txt"

static int corpus_read(const char *name, const char *path, unsigned char **bytes, long *count, error *e)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_set(e, ERROR_ENVIRONMENT, "%s: cannot open '%s': %s (%s)", name, path, strerror(errno),
                         CORPUS_MAKER);
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
    return error_set(e, ERROR_ENVIRONMENT, "%s: cannot read '%s': %s", name, path, strerror(reason ? reason : ENOMEM));
}

static int corpus_hash(const char *name, const unsigned char *bytes, long count, char digest[65], error *e)
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    if (!EVP_Digest(bytes, (size_t)count, hash, &size, EVP_sha256(), NULL))
        return error_set(e, ERROR_ENVIRONMENT, "%s: libcrypto has no SHA-256", name);
    for (unsigned int i = 0; i < size; i++)
        snprintf(digest + 2 * i, 3, "%02x", hash[i]);
    return 0;
}

static double corpus_commonest(const unsigned char *bytes, long count)
{
    long seen[TASK_CORPUS_BYTES] = {0}, most = 0;
    for (long i = 0; i < count; i++)
        if (++seen[bytes[i]] > most)
            most = seen[bytes[i]];
    return (double)most / (double)count;
}

/* The smallest stretch, a twentieth, must hold one window. Starts are drawn as 32-bit numbers. */
static int corpus_check_size(const char *name, const char *path, long count, int len, int window, error *e)
{
    long needed = CORPUS_SHARES * (long)window;
    if (count < needed)
        return error_set(
            e, ERROR_ENVIRONMENT,
            "%s: '%s' holds %ld bytes; length %d needs at least %ld, so that the twentieth for the test holds "
            "one window",
            name, path, count, len, needed);
    if (count > (long)UINT32_MAX)
        return error_set(e, ERROR_ENVIRONMENT, "%s: '%s' holds %ld bytes; at most %ld can be used", name, path, count,
                         (long)UINT32_MAX);
    return 0;
}

int task_corpus_open(const char *name, const char *path, int len, int window, void **state, error *e)
{
    long count = 0;
    task_corpus *c = calloc(1, sizeof *c);
    if (!c)
        return error_set(e, ERROR_ENVIRONMENT, "%s: no memory", name);
    if (corpus_read(name, path, &c->bytes, &count, e) < 0 || corpus_check_size(name, path, count, len, window, e) < 0 ||
        corpus_hash(name, c->bytes, count, c->digest, e) < 0) {
        task_corpus_free(c);
        return -1;
    }
    c->begin[TASK_VALIDATION] = (long)((long long)count * CORPUS_TRAIN_SHARES / CORPUS_SHARES);
    c->begin[TASK_TEST] = (long)((long long)count * (CORPUS_TRAIN_SHARES + 1) / CORPUS_SHARES);
    c->begin[TASK_TEST + 1] = count;
    c->train_begin = 0;
    c->train_count = c->begin[TASK_VALIDATION];
    c->commonest = corpus_commonest(c->bytes + c->begin[TASK_TEST], count - c->begin[TASK_TEST]);
    *state = c;
    return 0;
}

void task_corpus_free(void *state)
{
    task_corpus *c = state;
    free(c->bytes);
    free(c);
}

const unsigned char *task_corpus_stretch(const void *state, task_stream stream, long *count)
{
    const task_corpus *c = state;
    *count = stream == TASK_TRAIN ? c->train_count : c->begin[stream + 1] - c->begin[stream];
    return c->bytes + (stream == TASK_TRAIN ? c->train_begin : c->begin[stream]);
}

long task_corpus_limit(void *state, long count, double share)
{
    task_corpus *c = state;
    long all = c->begin[TASK_VALIDATION];
    if (count > all)
        return -all;
    c->train_count = count ? count : all;
    c->train_begin = (long)(share * (double)(all - c->train_count + 1));
    return c->train_count;
}

const unsigned char *task_corpus_window(const void *state, task_stream stream, rng *r, int window)
{
    long count;
    const unsigned char *stretch = task_corpus_stretch(state, stream, &count);
    return stretch + rng_below(r, (uint32_t)(count - window + 1)); /* the last one ends with the stretch */
}

const char *task_corpus_digest(const void *state)
{
    return ((const task_corpus *)state)->digest;
}

/* The best fixed guess is the most frequent byte. */
double task_corpus_commonest(const void *options, const void *state, int len)
{
    (void)options, (void)len;
    return state ? ((const task_corpus *)state)->commonest : NAN;
}
