/* profile_attention.c - where attention goes: how far back, how evenly, how much at each distance. */
#include "profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model_look.h"
#include "rng.h"

enum { ATTENTION_DRAWS = 8 };

/* Until _finish the fields hold sums: over `pairs` by distance, over `queries`. */
int profile_attention_open(profile_attention *a, const pe_shape *shape, int len, error *e)
{
    size_t heads = (size_t)shape->layers * (size_t)shape->heads, room = (size_t)len;
    *a = (profile_attention){.layers = shape->layers, .heads = shape->heads, .len = len};
    a->distance = calloc(heads, sizeof(double));
    a->entropy = calloc(heads, sizeof(double));
    a->weight = calloc(heads * room, sizeof(double));
    a->uniform = calloc(room, sizeof(double));
    a->pairs = calloc(room, sizeof(long));
    if (a->distance && a->entropy && a->weight && a->uniform && a->pairs)
        return 0;
    return error_set(e, ERROR_ENVIRONMENT, "no memory for attention over %d tokens", len);
}

void profile_attention_free(profile_attention *a)
{
    free(a->distance);
    free(a->entropy);
    free(a->weight);
    free(a->uniform);
    free(a->pairs);
    *a = (profile_attention){0};
}

/* attention_watch's */
static void attention_see(void *self, int layer, int sequence, int head, int row, const real *weights, int visible)
{
    profile_attention *a = self;
    int at = layer * a->heads + head;
    double *weight = a->weight + (size_t)at * (size_t)a->len;
    (void)sequence;
    for (int j = 0; j < visible; j++) {
        double share = (double)weights[j];
        int d = abs(row - j);
        weight[d] += share;
        a->distance[at] += share * d;
        a->entropy[at] -= share > 0 ? share * log(share) : 0;
    }
}

attention_watch profile_attention_watch(profile_attention *a)
{
    return (attention_watch){.see = attention_see, .self = a};
}

void profile_attention_count(profile_attention *a, int causal, int len)
{
    for (int i = 0; i < len; i++) {
        int visible = causal ? i + 1 : len;
        for (int j = 0; j < visible; j++) {
            int d = abs(i - j);
            a->uniform[d] += 1.0 / visible;
            a->uniform_distance += (double)d / visible;
            a->pairs[d]++;
        }
        a->uniform_entropy += log(visible);
        a->queries++;
    }
    a->sequences++;
}

void profile_attention_finish(profile_attention *a)
{
    for (int head = 0; head < a->layers * a->heads; head++) {
        a->distance[head] /= (double)a->queries;
        a->entropy[head] /= (double)a->queries;
        for (int d = 0; d < a->len; d++)
            a->weight[(size_t)head * (size_t)a->len + (size_t)d] /= (double)a->pairs[d];
    }
    for (int d = 0; d < a->len; d++)
        a->uniform[d] /= (double)a->pairs[d];
    a->uniform_distance /= (double)a->queries;
    a->uniform_entropy /= (double)a->queries;
}

/* ------------------------------------------------------------------------------------------------ random content */

static void attention_draw(rng *r, real *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (real)rng_normal(r);
}

/* q and k lie in the first head_dim reals of each head. */
static void attention_draw_heads(rng *r, const look *k, int layer, real *to)
{
    size_t wide = (size_t)look_rotated_dim(k, layer);
    memset(to, 0, (size_t)k->len * (size_t)k->m->shape.heads * wide * sizeof(real));
    for (size_t i = 0; i < (size_t)k->len * (size_t)k->m->shape.heads; i++)
        attention_draw(r, to + i * wide, (size_t)k->m->shape.head_dim);
}

int profile_attention_random(look *k, profile_attention *out, error *e)
{
    const pe_shape *shape = &k->m->shape;
    size_t len = (size_t)k->len, wide = 0;
    for (int l = 0; l < shape->layers; l++)
        wide = (size_t)look_rotated_dim(k, l) > wide ? (size_t)look_rotated_dim(k, l) : wide;
    arena memory = {NULL, 0};
    real *x = ARENA_NEW(&memory, real, len * (size_t)shape->width);
    real *q = ARENA_NEW(&memory, real, len * (size_t)shape->heads * wide);
    real *key = ARENA_NEW(&memory, real, len * (size_t)shape->heads * wide);
    int status = profile_attention_open(out, shape, k->len, e);
    if (status == 0 && (!x || !q || !key))
        status = error_set(e, ERROR_ENVIRONMENT, "no memory for attention over %d tokens", k->len);
    out->random_content = 1;
    attention_watch w = profile_attention_watch(out);
    for (int n = 0; n < ATTENTION_DRAWS && status == 0; n++) {
        for (int l = 0; l < shape->layers; l++) {
            rng r = rng_stream(0, RNG_BOOTSTRAP, rng_hash("attention"), (uint32_t)(n * shape->layers + l));
            attention_draw(&r, x, len * (size_t)shape->width);
            attention_draw_heads(&r, k, l, q);
            attention_draw_heads(&r, k, l, key);
            look_attention(k, l, x, q, key, &w);
        }
        profile_attention_count(out, shape->causal, k->len);
    }
    if (status == 0)
        profile_attention_finish(out);
    arena_free(&memory);
    return status;
}
