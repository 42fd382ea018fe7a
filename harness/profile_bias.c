/* profile_bias.c - what is added to scores, by distance. */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include "model_look.h"

void profile_bias_free(profile_bias *b, int count)
{
    for (int i = 0; i < count; i++)
        free(b[i].value);
    free(b);
}

/* The last query sees every distance from 0 on, the first one every distance below. row: room for [heads][len]. */
static void bias_fill(look *k, int layer, real *row, profile_bias *b)
{
    look_bias(k, layer, k->len - 1, row);
    for (int h = 0; h < b->heads; h++)
        for (int d = 0; d < k->len; d++)
            b->value[h * b->count + d - b->least] = (double)row[h * k->len + k->len - 1 - d];
    if (b->least == 0)
        return;
    look_bias(k, layer, 0, row);
    for (int h = 0; h < b->heads; h++)
        for (int d = 1; d < k->len; d++)
            b->value[h * b->count - d - b->least] = (double)row[h * k->len + d];
}

static int bias_is_new(const profile_bias *b, int count)
{
    size_t bytes = (size_t)b[count].heads * (size_t)b[count].count * sizeof(double);
    for (int i = 0; i < count; i++)
        if (memcmp(b[i].value, b[count].value, bytes) == 0)
            return 0;
    return 1;
}

static int bias_is_there(const look *k, int layer)
{
    for (int i = 0; i < k->m->attention[layer].count; i++)
        if (k->m->attention[layer].member[i].encoding->bias)
            return 1;
    return 0;
}

int profile_bias_make(look *k, profile_bias **out, int *count, error *e)
{
    const pe_shape *shape = &k->m->shape;
    int least = shape->causal ? 0 : 1 - k->len, distances = k->len - least;
    real *row = malloc((size_t)shape->heads * (size_t)k->len * sizeof *row);
    profile_bias *b = calloc((size_t)shape->layers, sizeof *b);
    *out = b;
    *count = 0;
    int status = row && b ? 0 : -1;
    for (int l = 0; l < shape->layers && status == 0; l++) {
        if (!bias_is_there(k, l))
            continue;
        b[*count] = (profile_bias){.layer = l,
                                   .heads = shape->heads,
                                   .least = least,
                                   .count = distances,
                                   .value = calloc((size_t)shape->heads * (size_t)distances, sizeof(double))};
        if (!b[*count].value) {
            status = -1;
            break;
        }
        bias_fill(k, l, row, &b[*count]);
        if (bias_is_new(b, *count))
            ++*count;
        else
            free(b[*count].value);
    }
    free(row);
    return status < 0 ? error_set(e, ERROR_ENVIRONMENT, "no memory for the biases of %d distances", distances) : 0;
}
