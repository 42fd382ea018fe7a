/* golden_run.c - running a stack on the inputs of a case. */
#include "golden_case.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------ the stack */

pe_shape golden_shape(int heads, int head_dim, int causal)
{
    int fits = heads >= 1 && head_dim >= 1 && heads <= GOLDEN_WIDTH_MAX / head_dim;
    return (pe_shape){.width = fits ? heads * head_dim : 0,
                      .heads = heads,
                      .head_dim = head_dim,
                      .layers = 1,
                      .train_len = 1,
                      .causal = causal};
}

int golden_stack(golden_case *c, const char *text, const pe_shape *shape, pe_stack *out)
{
    error refusal = ERROR_INIT;
    if (shape->width == 0) {
        golden_skip(c, "%d heads of %d dimensions: not 1 to %d in all", shape->heads, shape->head_dim,
                    GOLDEN_WIDTH_MAX);
        return -1;
    }
    if (stack_parse(c->registry, text, out, &refusal) < 0) {
        golden_skip(c, "refused: %s", refusal.message);
        return -1;
    }
    if (stack_check(out, shape, 1, &refusal) < 0) {
        golden_skip(c, "refused: %s", refusal.message);
        stack_free(out);
        return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ tokens */

/* A token to be: of a key, or of a query that stands on no key. */
typedef struct golden_stand {
    double pos;
    int is_query, index;
} golden_stand;

static int golden_stand_order(const void *a, const void *b)
{
    const golden_stand *x = a, *y = b;
    if (x->pos != y->pos)
        return x->pos < y->pos ? -1 : 1;
    if (x->is_query != y->is_query)
        return x->is_query - y->is_query;
    return x->index - y->index;
}

/* The last token of a key at this position that no query uses yet, or -1. */
static int golden_free_key(const golden_stand *stands, int count, double pos, const unsigned char *taken)
{
    for (int i = count - 1; i >= 0; i--)
        if (stands[i].pos == pos && !stands[i].is_query && !taken[stands[i].index])
            return i;
    return -1;
}

int golden_place(golden_case *c, const double *pos_q, int queries, const double *pos_k, int keys, golden_tokens *out)
{
    golden_stand *stands = golden_memory(c, (size_t)(queries + keys), sizeof *stands);
    unsigned char *taken = golden_memory(c, (size_t)keys, 1);
    int *shared = golden_memory(c, (size_t)queries, sizeof *shared); /* key index + 1 */
    *out = (golden_tokens){.queries = queries, .keys = keys};
    if (queries < 1 || keys < 1) {
        golden_skip(c, "no tokens");
        return -1;
    }
    out->query = golden_memory(c, (size_t)queries, sizeof *out->query);
    out->key = golden_memory(c, (size_t)keys, sizeof *out->key);
    out->pos = golden_memory(c, (size_t)(queries + keys), sizeof *out->pos);
    if (!stands || !taken || !shared || !out->query || !out->key || !out->pos)
        return -1;
    for (int j = 0; j < keys; j++)
        stands[j] = (golden_stand){pos_k[j], 0, j};
    out->len = keys;
    qsort(stands, (size_t)keys, sizeof *stands, golden_stand_order);
    for (int i = 0; i < queries; i++) {
        int at = golden_free_key(stands, keys, pos_q[i], taken);
        if (at >= 0) {
            shared[i] = stands[at].index + 1;
            taken[stands[at].index] = 1;
        }
    }
    for (int i = 0; i < queries; i++)
        if (!shared[i])
            stands[out->len++] = (golden_stand){pos_q[i], 1, i};
    qsort(stands, (size_t)out->len, sizeof *stands, golden_stand_order);
    for (int t = 0; t < out->len; t++) {
        out->pos[t] = stands[t].pos;
        *(stands[t].is_query ? &out->query[stands[t].index] : &out->key[stands[t].index]) = t;
    }
    for (int i = 0; i < queries; i++)
        if (shared[i])
            out->query[i] = out->key[shared[i] - 1];
    return 0;
}

int golden_place_last(golden_case *c, int queries, int keys, golden_tokens *out)
{
    double *pos = golden_memory(c, (size_t)(queries + keys), sizeof *pos);
    if (!pos)
        return -1;
    for (int j = 0; j < keys; j++)
        pos[j] = j;
    for (int i = 0; i < queries; i++)
        pos[keys + i] = keys - queries + i;
    return golden_place(c, pos + keys, queries, pos, keys, out);
}

unsigned char *golden_mask(golden_case *c, const golden_tokens *t, const unsigned char *sees)
{
    unsigned char *mask = golden_memory(c, (size_t)t->len * (size_t)t->len, 1);
    for (int i = 0; mask && i < t->queries; i++)
        for (int j = 0; j < t->keys; j++)
            mask[t->query[i] * t->len + t->key[j]] = sees[i * t->keys + j];
    return mask;
}

/* ------------------------------------------------------------------------------------------------ arrays */

real *golden_scatter(golden_case *c, const golden_array *from, const int *token, int len)
{
    int heads = from->shape[0], rows = from->shape[1], dim = from->shape[2];
    real *to = golden_memory(c, (size_t)len * (size_t)(heads * dim), sizeof *to);
    for (int h = 0; to && h < heads; h++)
        for (int r = 0; r < rows; r++)
            for (int i = 0; i < dim; i++)
                to[(token[r] * heads + h) * dim + i] = (real)from->data[(h * rows + r) * dim + i];
    return to;
}

double *golden_gather(golden_case *c, const real *from, int heads, int rows, int dim, const int *token)
{
    double *to = golden_memory(c, (size_t)(heads * rows) * (size_t)dim, sizeof *to);
    for (int h = 0; to && h < heads; h++)
        for (int r = 0; r < rows; r++)
            for (int i = 0; i < dim; i++)
                to[(h * rows + r) * dim + i] = (double)from[(token[r] * heads + h) * dim + i];
    return to;
}

double *golden_gather_pairs(golden_case *c, const real *from, int heads, const golden_tokens *t)
{
    double *to = golden_memory(c, (size_t)heads * (size_t)t->queries * (size_t)t->keys, sizeof *to);
    for (int h = 0; to && h < heads; h++)
        for (int i = 0; i < t->queries; i++)
            for (int j = 0; j < t->keys; j++)
                to[(h * t->queries + i) * t->keys + j] = (double)from[(h * t->len + t->query[i]) * t->len + t->key[j]];
    return to;
}

static const refhost_param *golden_find_param(const refhost *h, const char *name)
{
    for (int i = 0; i < refhost_param_count(h); i++)
        if (strcmp(refhost_param_at(h, i)->about.name, name) == 0)
            return refhost_param_at(h, i);
    return NULL;
}

int golden_set_param(golden_case *c, refhost *h, const char *param, const golden_array *values)
{
    const refhost_param *p = golden_find_param(h, param);
    if (!p || p->count != values->count) {
        golden_skip(c, "the encoding has no parameter %s of %zu elements", param, values->count);
        return -1;
    }
    for (size_t i = 0; i < p->count; i++)
        p->theta[i] = (real)values->data[i];
    return 0;
}

void golden_compare_param_gradient(golden_case *c, const char *name, const refhost *h, const char *param,
                                   const double *plus, size_t count)
{
    const refhost_param *p = golden_find_param(h, param);
    double *gradient = p ? golden_memory(c, p->count, sizeof *gradient) : NULL;
    for (size_t i = 0; gradient && i < p->count; i++)
        gradient[i] = (double)p->dtheta[i] + (plus && i < count ? plus[i] : 0);
    if (gradient)
        golden_compare(c, name, gradient, p->count, NULL);
}

/* ------------------------------------------------------------------------------------------------ attention */

/* sees[queries][keys]: pairs that have weight in some head. */
static unsigned char *golden_read_sight(golden_case *c, const golden_tokens *t)
{
    const golden_array *probs = golden_out(c, "probs", 3);
    unsigned char *sees = golden_memory(c, (size_t)t->queries * (size_t)t->keys, 1);
    if (!probs || !sees)
        return NULL;
    size_t pairs = (size_t)t->queries * (size_t)t->keys;
    if (probs->count % pairs != 0) {
        golden_skip(c, "out.probs has a shape that is not understood");
        return NULL;
    }
    for (size_t i = 0; i < probs->count; i++)
        sees[i % pairs] |= probs->data[i] != 0;
    return sees;
}

/* A causal host hides later tokens by itself; that is what is wanted unless a query sees a key behind it. */
static int golden_is_ordered(const golden_tokens *t, const unsigned char *sees)
{
    for (int i = 0; i < t->queries; i++)
        for (int j = 0; j < t->keys; j++)
            if (sees[i * t->keys + j] && t->key[j] > t->query[i])
                return 0;
    return 1;
}

static void golden_compare_gradients(golden_case *c, refhost *h, const refhost_input *in, const golden_tokens *t,
                                     const golden_array *q, real *dx)
{
    const golden_array *grad_out = golden_in(c, "grad_out", 3);
    real *d_o = grad_out && grad_out->count == q->count ? golden_scatter(c, grad_out, t->query, t->len) : NULL;
    int heads = q->shape[0], dim = q->shape[2];
    size_t queries = (size_t)(heads * t->queries) * (size_t)dim, keys = (size_t)(heads * t->keys) * (size_t)dim;
    if (!d_o)
        return;
    refhost_gradient g = refhost_backward(h, in, d_o, NULL);
    if (dx)
        memcpy(dx, g.x, (size_t)t->len * (size_t)(heads * dim) * sizeof *dx);
    if (golden_has_out(c, "grad_q"))
        golden_compare(c, "grad_q", golden_gather(c, g.q, heads, t->queries, dim, t->query), queries, NULL);
    if (golden_has_out(c, "grad_k"))
        golden_compare(c, "grad_k", golden_gather(c, g.k, heads, t->keys, dim, t->key), keys, NULL);
    if (golden_has_out(c, "grad_v"))
        golden_compare(c, "grad_v", golden_gather(c, g.v, heads, t->keys, dim, t->key), keys, NULL);
}

static int golden_is_consistent(const golden_array *q, const golden_array *k, const golden_array *v,
                                const golden_tokens *t)
{
    return q->shape[0] == k->shape[0] && k->shape[0] == v->shape[0] && q->shape[1] == t->queries &&
           k->shape[1] == t->keys && v->shape[1] == t->keys && q->shape[2] == k->shape[2] && k->shape[2] == v->shape[2];
}

refhost *golden_attend(golden_case *c, const golden_attention *a)
{
    return golden_attend_gated(c, a, NULL, NULL);
}

refhost *golden_attend_gated(golden_case *c, const golden_attention *a, const real *x, real *dx)
{
    const golden_tokens *t = a->tokens;
    const golden_array *q = golden_in(c, "q", 3), *k = golden_in(c, "k", 3), *v = golden_in(c, "v", 3);
    if (q && k && v && !golden_is_consistent(q, k, v, t)) {
        golden_skip(c, "the shapes of q, k and v do not fit each other");
        return NULL;
    }
    unsigned char *sees = q && k && v ? golden_read_sight(c, t) : NULL;
    unsigned char *mask = sees ? golden_mask(c, t, sees) : NULL;
    if (!mask)
        return NULL;
    if (a->causal && !golden_is_ordered(t, sees)) {
        golden_skip(c, "a query sees a key that stands behind it, under a causal mask");
        return NULL;
    }
    int heads = q->shape[0], dim = q->shape[2];
    size_t pairs = (size_t)t->queries * (size_t)t->keys;
    refhost_settings settings = {.shape = golden_shape(heads, dim, a->causal),
                                 .len = t->len,
                                 .pos = t->pos,
                                 .mask = mask,
                                 .scale = a->scale,
                                 .tile_rows = 2,
                                 .pad = 1};
    refhost *h = refhost_new(a->stack, &settings, c->e);
    if (!h)
        return NULL;
    if (a->start)
        a->start(c, h);
    refhost_input in = {.x = x,
                        .q = golden_scatter(c, q, t->query, t->len),
                        .k = golden_scatter(c, k, t->key, t->len),
                        .v = golden_scatter(c, v, t->key, t->len)};
    if (!in.q || !in.k || !in.v) {
        refhost_free(h);
        return NULL;
    }
    refhost_output out = refhost_forward(h, &in);
    golden_compare(c, "probs", golden_gather_pairs(c, out.p, heads, t), (size_t)heads * pairs, NULL);
    golden_compare(c, "out", golden_gather(c, out.o, heads, t->queries, dim, t->query), q->count, NULL);
    if (golden_has_in(c, "grad_out"))
        golden_compare_gradients(c, h, &in, t, q, dx);
    return h;
}

void golden_compare_scores(golden_case *c, const golden_attention *a, const char *name, const golden_array *q,
                           const golden_array *k, int total_len)
{
    const golden_tokens *t = a->tokens;
    int dim = q->shape[1];
    size_t pairs = (size_t)t->queries * (size_t)t->keys;
    const golden_array q1 = {.rank = 3, .shape = {1, q->shape[0], dim}, .count = q->count, .data = q->data};
    const golden_array k1 = {.rank = 3, .shape = {1, k->shape[0], dim}, .count = k->count, .data = k->data};
    refhost_input in = {.q = golden_scatter(c, &q1, t->query, t->len), .k = golden_scatter(c, &k1, t->key, t->len)};
    unsigned char *hidden = golden_memory(c, pairs, 1);
    if (!in.q || !in.k || !hidden)
        return;
    for (size_t i = 0; a->causal && i < pairs; i++)
        hidden[i] = t->key[i % (size_t)t->keys] > t->query[i / (size_t)t->keys];
    refhost_settings settings = {.shape = golden_shape(1, dim, a->causal),
                                 .len = t->len,
                                 .total_len = total_len,
                                 .pos = t->pos,
                                 .scale = a->scale,
                                 .tile_rows = 3,
                                 .pad = 1};
    refhost *h = refhost_new(a->stack, &settings, c->e);
    if (h)
        golden_compare(c, name, golden_gather_pairs(c, refhost_forward(h, &in).logits, 1, t), pairs, hidden);
    refhost_free(h);
}
