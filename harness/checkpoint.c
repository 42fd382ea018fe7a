#include "checkpoint.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exposure.h"
#include "record.h"

/* A state is: SHA-256 of what follows; the head; the curve; values, both moments and, when the best weights are selected,
 * the best so far; what positions have met, when that is recorded. All as they stand in memory: it is read by the build
 * that wrote it. */
enum { CHECKPOINT_DIGEST = 32, CHECKPOINT_BUILD = 512 };

typedef struct checkpoint_head {
    char build[CHECKPOINT_BUILD]; /* what wrote it, and for which configuration */
    size_t length;                /* reals of the model's block */
    int steps, ended, optimiser_steps, curve_count, best_step, positions;
    long tokens_seen;
    double best_loss, best_exact, reach;
    checkpoint_cost cost;
} checkpoint_head;

static void checkpoint_build(const run_config *c, char out[CHECKPOINT_BUILD])
{
    host_facts h;
    char key[CONFIG_KEY_SIZE];
    host_facts_read(&h);
    config_key(c, key);
    memset(out, 0, CHECKPOINT_BUILD);
    snprintf(out, CHECKPOINT_BUILD, "posbench-state/1 %s %zu|%s|%s|%s|%s|%s", key, sizeof(real), h.version, h.compiler,
             h.flags, h.kernel, h.level);
}

static void checkpoint_digest(const char *data, size_t size, unsigned char out[CHECKPOINT_DIGEST])
{
    unsigned length = 0;
    if (!EVP_Digest(data, size, out, &length, EVP_sha256(), NULL))
        memset(out, 0, CHECKPOINT_DIGEST); /* a library without SHA-256: configurations would have no keys either */
}

/* ------------------------------------------------------------------------------------------------ writing */

static void checkpoint_reals(buffer *b, const real *x, size_t n)
{
    buffer_bytes(b, (const char *)x, n * sizeof *x);
}

int checkpoint_save(const char *path, const trainer *t, const run_result *out, int steps, int ended, checkpoint_cost cost,
                    error *e)
{
    buffer b = BUFFER_INIT;
    unsigned char digest[CHECKPOINT_DIGEST] = {0};
    checkpoint_head head;
    memset(&head, 0, sizeof head); /* with what lies between the members */
    checkpoint_build(t->config, head.build);
    head.length = t->model->length;
    head.steps = steps;
    head.ended = ended;
    head.optimiser_steps = t->optimiser.step;
    head.curve_count = out->curve_count;
    head.best_step = t->best_step;
    head.positions = t->exposure ? t->exposure->positions : 0;
    head.tokens_seen = out->tokens_seen;
    head.best_loss = t->best_loss;
    head.best_exact = t->best_exact;
    head.reach = t->reach;
    head.cost = cost;
    buffer_bytes(&b, (const char *)digest, sizeof digest);
    buffer_bytes(&b, (const char *)&head, sizeof head);
    buffer_bytes(&b, (const char *)out->curve, (size_t)out->curve_count * sizeof *out->curve);
    checkpoint_reals(&b, t->model->value, head.length);
    checkpoint_reals(&b, t->optimiser.first, head.length);
    checkpoint_reals(&b, t->optimiser.second, head.length);
    if (t->config->train.select == CONFIG_SELECT_BEST)
        checkpoint_reals(&b, t->best, head.length);
    exposure_save(t->exposure, &b);
    if (!b.failed)
        checkpoint_digest(b.data + sizeof digest, b.length - sizeof digest, (unsigned char *)b.data);
    int status = buffer_save(&b, path, e);
    buffer_free(&b);
    return status;
}

/* ------------------------------------------------------------------------------------------------ reading */

/* The whole file in memory; NULL when there is none or it cannot be read. The caller frees it. */
static char *checkpoint_read(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    if (!f)
        return NULL;
    long end = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (end > 0 && fseek(f, 0, SEEK_SET) == 0)
        data = malloc((size_t)end);
    *size = data ? fread(data, 1, (size_t)end, f) : 0;
    if (data && *size != (size_t)end) {
        free(data);
        data = NULL;
    }
    fclose(f);
    return data;
}

static int checkpoint_fits(const char *data, size_t size, const trainer *t, checkpoint_head *head)
{
    unsigned char digest[CHECKPOINT_DIGEST];
    char build[CHECKPOINT_BUILD];
    if (size < sizeof digest + sizeof *head)
        return 0;
    checkpoint_digest(data + sizeof digest, size - sizeof digest, digest);
    memcpy(head, data + sizeof digest, sizeof *head);
    checkpoint_build(t->config, build);
    if (memcmp(data, digest, sizeof digest) != 0 || memcmp(head->build, build, sizeof build) != 0)
        return 0;
    size_t blocks = t->config->train.select == CONFIG_SELECT_BEST ? 4 : 3;
    return head->length == t->model->length && size == sizeof digest + sizeof *head +
           (size_t)head->curve_count * sizeof(run_point) + blocks * head->length * sizeof(real) +
           exposure_size(t->exposure, head->positions);
}

static const char *checkpoint_take(const char *from, void *to, size_t size)
{
    memcpy(to, from, size);
    return from + size;
}

static int checkpoint_restore(const char *from, const checkpoint_head *head, trainer *t, run_result *out)
{
    size_t block = head->length * sizeof(real);
    from = checkpoint_take(from, out->curve, (size_t)head->curve_count * sizeof *out->curve);
    from = checkpoint_take(from, t->model->value, block);
    from = checkpoint_take(from, t->optimiser.first, block);
    from = checkpoint_take(from, t->optimiser.second, block);
    if (t->config->train.select == CONFIG_SELECT_BEST)
        from = checkpoint_take(from, t->best, block);
    model_changed(t->model);
    t->optimiser.step = head->optimiser_steps;
    t->best_step = head->best_step;
    t->best_loss = head->best_loss;
    t->best_exact = head->best_exact;
    t->reach = head->reach;
    out->curve_count = head->curve_count;
    out->tokens_seen = head->tokens_seen;
    return exposure_load(t->exposure, head->positions, from);
}

int checkpoint_load(const char *path, trainer *t, run_result *out, int *ended, checkpoint_cost *cost, error *e)
{
    checkpoint_head head;
    size_t size = 0;
    char *data = checkpoint_read(path, &size);
    if (!data || !checkpoint_fits(data, size, t, &head)) {
        free(data);
        return 0;
    }
    out->curve = malloc((size_t)head.curve_count * sizeof *out->curve + 1);
    int failed = !out->curve || checkpoint_restore(data + CHECKPOINT_DIGEST + sizeof head, &head, t, out) < 0;
    free(data);
    if (failed)
        return error_set(e, ERROR_ENVIRONMENT, "%s: no memory for the training so far", path);
    *ended = head.ended;
    *cost = head.cost;
    return head.steps;
}

/* ------------------------------------------------------------------------------------------------ what follows */

int checkpoint_keep(const char *path, const run_config *c, const buffer *body, error *e)
{
    buffer b = BUFFER_INIT;
    unsigned char digest[CHECKPOINT_DIGEST] = {0};
    char build[CHECKPOINT_BUILD];
    checkpoint_build(c, build);
    buffer_bytes(&b, (const char *)digest, sizeof digest);
    buffer_bytes(&b, build, sizeof build);
    buffer_bytes(&b, body->data, body->length);
    b.failed |= body->failed;
    if (!b.failed)
        checkpoint_digest(b.data + sizeof digest, b.length - sizeof digest, (unsigned char *)b.data);
    int status = buffer_save(&b, path, e);
    buffer_free(&b);
    return status;
}

char *checkpoint_recall(const char *path, const run_config *c, size_t *size)
{
    unsigned char digest[CHECKPOINT_DIGEST];
    char build[CHECKPOINT_BUILD];
    size_t whole = 0, head = sizeof digest + sizeof build;
    char *data = checkpoint_read(path, &whole);
    checkpoint_build(c, build);
    if (data && whole >= head)
        checkpoint_digest(data + sizeof digest, whole - sizeof digest, digest);
    if (!data || whole < head || memcmp(data, digest, sizeof digest) != 0 ||
        memcmp(data + sizeof digest, build, sizeof build) != 0) {
        free(data);
        return NULL;
    }
    *size = whole - head;
    memmove(data, data + head, *size);
    return data;
}
