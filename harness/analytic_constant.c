/* analytic_constant.c - sequences of one token over and over: what positions alone tell apart. */
#include "analytic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"

enum { CONSTANT_LEN = 32, CONSTANT_SEQUENCES = 4, CONSTANT_FIRST = 8 };

/* A key this many times as long as the query: attention is then as sharp as it can be told from even. */
#define CONSTANT_STRENGTH 100

typedef struct constant_seen {
    double uneven;   /* the largest |weight times visible keys - 1| */
    double previous; /* sum of weights of the token before, over queries from CONSTANT_FIRST on */
    long queries;
} constant_seen;

static void constant_see(void *self, int layer, int sequence, int head, int row, const real *weights, int visible)
{
    constant_seen *s = self;
    (void)layer, (void)sequence, (void)head;
    for (int j = 0; j < visible; j++)
        s->uneven = fmax(s->uneven, fabs((double)weights[j] * visible - 1));
    if (row < CONSTANT_FIRST)
        return;
    s->previous += (double)weights[row - 1];
    s->queries++;
}

/* Each head's vector[heads][dim] at every token of u[len][heads][wide]. */
static void constant_fill(const analytic_network *n, int wide, const real *vector, real *u)
{
    int heads = n->m.shape.heads, dim = n->m.shape.head_dim;
    memset(u, 0, (size_t)CONSTANT_LEN * (size_t)(heads * wide) * sizeof *u);
    for (int t = 0; t < CONSTANT_LEN; t++)
        for (int h = 0; h < heads; h++)
            memcpy(u + (size_t)(t * heads + h) * (size_t)wide, vector + h * dim, (size_t)dim * sizeof *u);
}

/* key[heads][dim]: what the first layer's rotation at the last token but one turns onto the query as it is at the last.
 * Without a rotation, or with one that widens, the query itself. */
static void constant_choose(analytic_network *n, const real *query, real *u, real *turned, real *key)
{
    int heads = n->m.shape.heads, dim = n->m.shape.head_dim, width = n->m.shape.width;
    memcpy(key, query, (size_t)width * sizeof *key);
    if (n->m.attention[0].rotating < 0 || look_rotated_dim(&n->k, 0) != dim)
        return;
    constant_fill(n, dim, query, u);
    look_rotate(&n->k, 0, PE_QUERY, u);
    memcpy(turned, u + (size_t)(CONSTANT_LEN - 1) * (size_t)width, (size_t)width * sizeof *turned);
    for (int a = 0; a < dim; a++) {
        real unit[width];
        memset(unit, 0, sizeof unit);
        for (int h = 0; h < heads; h++)
            unit[h * dim + a] = 1;
        constant_fill(n, dim, unit, u);
        look_rotate(&n->k, 0, PE_KEY, u);
        const real *before = u + (size_t)(CONSTANT_LEN - 2) * (size_t)width;
        for (int h = 0; h < heads; h++) {
            double sum = 0;
            for (int c = 0; c < dim; c++)
                sum += (double)turned[h * dim + c] * (double)before[h * dim + c];
            key[h * dim + a] = (real)sum;
        }
    }
}

/* Shows the first layer's attention over one token that stands everywhere. chosen: the key is made for the token
 * before; else a second normal vector. */
static int constant_attend(const analytic_input *in, const registry *r, int chosen, constant_seen *seen, error *e)
{
    analytic_network n;
    if (analytic_open(&n, &in->config, r, CONSTANT_LEN, e) < 0)
        return -1;
    int width = n.m.shape.width, wide = look_rotated_dim(&n.k, 0);
    size_t room = (size_t)CONSTANT_LEN * (size_t)(n.m.shape.heads * wide);
    real *x = calloc((size_t)CONSTANT_LEN * (size_t)width, sizeof *x), *q = calloc(room, sizeof *q),
         *k = calloc(room, sizeof *k);
    real query[width], key[width], turned[width];
    rng draws = rng_stream(0, RNG_BOOTSTRAP, rng_hash("analytic constant"), 0);
    int status = x && q && k ? 0 : error_set(e, ERROR_ENVIRONMENT, "out of memory");
    if (status == 0) {
        for (int c = 0; c < width; c++) {
            query[c] = (real)rng_normal(&draws);
            key[c] = (real)rng_normal(&draws);
            for (int t = 0; t < CONSTANT_LEN; t++)
                x[t * width + c] = query[c];
        }
        if (chosen)
            constant_choose(&n, query, q, turned, key);
        for (int c = 0; c < width && chosen; c++)
            key[c] *= CONSTANT_STRENGTH;
        constant_fill(&n, wide, query, q);
        constant_fill(&n, wide, key, k);
        *seen = (constant_seen){0};
        look_attention(&n.k, 0, x, q, k, &(attention_watch){constant_see, seen});
    }
    free(x);
    free(q);
    free(k);
    analytic_close(&n);
    return status;
}

int analytic_constant_attention(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    constant_seen seen;
    if (constant_attend(in, r, 0, &seen, e) < 0)
        return -1;
    out[0] = seen.uneven;
    *count = 1;
    return 0;
}

int analytic_previous_token(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    constant_seen seen;
    if (constant_attend(in, r, 1, &seen, e) < 0)
        return -1;
    out[0] = seen.previous / (double)seen.queries;
    *count = 1;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ a whole pass */

/* CONSTANT_SEQUENCES sequences, each of one token, with targets that differ: through the network and back. */
static int constant_pass(analytic_network *n, workspace *w, error *e)
{
    enum { TOKENS = CONSTANT_SEQUENCES * CONSTANT_LEN };
    int start[CONSTANT_SEQUENCES + 1], input[TOKENS], target[TOKENS];
    rng draws = rng_stream(0, RNG_BOOTSTRAP, rng_hash("analytic pass"), 0);
    if (workspace_create(w, &n->memory, &n->m, NULL, NULL, CONSTANT_SEQUENCES, TOKENS, CONSTANT_LEN, 1, e) < 0)
        return -1;
    for (int i = 0; i <= CONSTANT_SEQUENCES; i++)
        start[i] = i * CONSTANT_LEN;
    for (int t = 0; t < TOKENS; t++) {
        input[t] = t / CONSTANT_LEN;
        target[t] = (int)rng_below(&draws, (uint32_t)n->m.vocab);
    }
    batch b = {.sequences = CONSTANT_SEQUENCES, .start = start, .input = input, .target = target, .training = 1};
    model_forward(&n->m, w, &b);
    model_loss(&n->m, w, &b, 1.0 / TOKENS, NULL, NULL);
    model_backward(&n->m, w, &b);
    return 0;
}

int analytic_constant_output(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    analytic_network n;
    workspace w;
    if (analytic_open_training(&n, &in->config, r, CONSTANT_LEN, e) < 0)
        return -1;
    int width = n.m.shape.width, status = constant_pass(&n, &w, e);
    double most = 0, apart = 0;
    for (int i = 0; status == 0 && i < CONSTANT_SEQUENCES * CONSTANT_LEN * width; i++) {
        int first = i / width / CONSTANT_LEN * CONSTANT_LEN * width + i % width; /* of the same sequence */
        most = fmax(most, fabs((double)w.h[i]));
        apart = fmax(apart, fabs((double)w.h[i] - (double)w.h[first]));
    }
    out[0] = apart / most;
    *count = 1;
    analytic_close(&n);
    return status;
}

int analytic_constant_gradient(const analytic_input *in, const registry *r, double *out, int *count, error *e)
{
    analytic_network n;
    workspace w;
    if (analytic_open_training(&n, &in->config, r, CONSTANT_LEN, e) < 0)
        return -1;
    int status = constant_pass(&n, &w, e);
    size_t square = (size_t)n.m.shape.width * (size_t)n.m.shape.width;
    double of_scores = 0, of_values = 0;
    for (int l = 0; status == 0 && l < n.m.shape.layers; l++) {
        const real *g = n.m.grad + n.m.layer[l].qkv_w; /* rows of q, k, v */
        for (size_t i = 0; i < 3 * square; i++)
            *(i < 2 * square ? &of_scores : &of_values) += (double)g[i] * (double)g[i];
    }
    out[0] = sqrt(of_scores / of_values);
    *count = 1;
    analytic_close(&n);
    return status;
}
