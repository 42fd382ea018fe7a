/* golden_contextual.c - operations of contextual.json: terms of scores that depend on what the tokens hold. */
#include "golden_case.h"

#include <stdio.h>

/* ------------------------------------------------------------------------------------------------ cope */

/* An array of the file [heads][queries][keys], in full rows of tokens [heads][len][len], 0 elsewhere. */
static real *contextual_scatter_pairs(golden_case *c, const golden_array *from, const golden_tokens *t)
{
    int heads = from->shape[0];
    real *to = golden_memory(c, (size_t)heads * (size_t)t->len * (size_t)t->len, sizeof *to);
    for (int h = 0; to && h < heads; h++)
        for (int i = 0; i < t->queries; i++)
            for (int j = 0; j < t->keys; j++)
                to[(h * t->len + t->query[i]) * t->len + t->key[j]] =
                    (real)from->data[(h * t->queries + i) * t->keys + j];
    return to;
}

/* What cope's score hook adds to these scores, [heads][len][len]. table NULL: its row n is (n, 0 ..), so that with a q
 * of (1, 0 ..) the term is the position itself. */
static real *contextual_cope_term(golden_case *c, int positions, int heads, int dim, int len, const real *q,
                                  const real *scores, const golden_array *table)
{
    char text[64];
    pe_stack stack;
    pe_shape shape = golden_shape(heads, dim, 1);
    pe_sizes sizes = {0, 0, 0};
    size_t plane = (size_t)len * (size_t)len, count = (size_t)heads * plane;
    snprintf(text, sizeof text, "cope(positions=%d)", positions);
    if (golden_stack(c, text, &shape, &stack) < 0)
        return NULL;
    refhost_settings settings = {.shape = shape, .len = len};
    refhost *h = refhost_new(&stack, &settings, c->e);
    real *term = NULL;
    if (h) {
        const pe_descriptor *d = stack.member[0].encoding;
        const refhost_param *rows = refhost_param_at(h, 0);
        for (size_t i = 0; i < rows->count; i++)
            rows->theta[i] = table ? (real)table->data[i] : i % (size_t)dim == 0 ? (real)(i / (size_t)dim) : 0;
        const pe_context *context = refhost_context(h, 0, 0, 0);
        d->sizes(context, len, len, &sizes);
        real *save = golden_memory(c, sizes.save_reals, sizeof *save);
        term = save ? golden_memory(c, count, sizeof *term) : NULL;
        pe_tile tile = {.rows = len,
                        .keys = len,
                        .stride = len,
                        .plane = (int)plane,
                        .q = q,
                        .token_stride = heads * dim,
                        .head_stride = dim,
                        .rotated_dim = dim,
                        .scale = 1};
        if (term) {
            memcpy(term, scores, count * sizeof *term);
            d->score(context, &tile, term, save);
        }
    }
    for (size_t i = 0; term && i < count; i++)
        term[i] -= scores[i];
    refhost_free(h);
    stack_free(&stack);
    return term;
}

/* Compares [heads][queries][keys] where keys are not behind their query: the file has 0 there. */
static void contextual_compare_pairs(golden_case *c, const char *name, const real *got, int heads,
                                     const golden_tokens *t)
{
    size_t count = (size_t)(heads * t->queries) * (size_t)t->keys;
    unsigned char *hidden = got ? golden_memory(c, count, 1) : NULL;
    for (size_t i = 0; hidden && i < count; i++)
        hidden[i] = t->key[i % (size_t)t->keys] > t->query[i / (size_t)t->keys % (size_t)t->queries];
    if (hidden)
        golden_compare(c, name, golden_gather_pairs(c, got, heads, t), count, hidden);
}

/* position and bias of these scores. q: [len][heads][dim]. */
static void contextual_cope_compare(golden_case *c, int heads, int dim, const golden_tokens *t, const real *q,
                                    const real *scores)
{
    const golden_array *table = golden_in(c, "e", 2);
    int positions = table ? golden_whole_or(c, "n_pos", table->shape[0]) : 0;
    real *unit = golden_memory(c, (size_t)t->len * (size_t)(heads * dim), sizeof *unit);
    if (!table || !unit || !q || !scores || c->outcome != GOLDEN_PASSED)
        return;
    if (table->shape[0] != positions || table->shape[1] != dim) {
        golden_skip(c, "in.e is not [n_pos][head_dim]");
        return;
    }
    for (int i = 0; i < t->len * heads; i++)
        unit[i * dim] = 1;
    if (golden_has_out(c, "position"))
        contextual_compare_pairs(c, "position",
                                 contextual_cope_term(c, positions, heads, dim, t->len, unit, scores, NULL), heads, t);
    if (golden_has_out(c, "bias"))
        contextual_compare_pairs(c, "bias", contextual_cope_term(c, positions, heads, dim, t->len, q, scores, table),
                                 heads, t);
}

/* scale q.k, from a host without any encoding; [heads][len][len]. */
static real *contextual_plain_scores(golden_case *c, const pe_shape *shape, const golden_tokens *t, const real *q,
                                     const real *k, double scale)
{
    const pe_stack none = {.count = 0};
    refhost_settings settings = {.shape = *shape, .len = t->len, .scale = scale};
    settings.shape.causal = 0;
    size_t count = (size_t)shape->heads * (size_t)t->len * (size_t)t->len;
    refhost *h = refhost_new(&none, &settings, c->e);
    real *scores = h ? golden_memory(c, count, sizeof *scores) : NULL;
    const refhost_input in = {.q = q, .k = k};
    if (scores)
        memcpy(scores, refhost_forward(h, &in).logits, count * sizeof *scores);
    refhost_free(h);
    return scores;
}

static void contextual_cope_start(golden_case *c, refhost *h)
{
    const golden_array *table = golden_in(c, "e", 2);
    if (table)
        golden_set_param(c, h, "table", table);
}

static void contextual_run_cope(golden_case *c, const pe_stack *stack, const pe_shape *shape, const golden_tokens *t,
                                const golden_array *q, const golden_array *k)
{
    double scale = golden_number(c, "scale", 0);
    const golden_attention a = {stack, t, 1, scale, contextual_cope_start};
    refhost *h = golden_attend(c, &a);
    if (h && golden_has_out(c, "grad_e"))
        golden_compare_param_gradient(c, "grad_e", h, "table", NULL, 0);
    refhost_free(h);
    const real *queries = golden_scatter(c, q, t->query, t->len), *keys = golden_scatter(c, k, t->key, t->len);
    if (h && queries && keys)
        contextual_cope_compare(c, shape->heads, shape->head_dim, t, queries,
                                contextual_plain_scores(c, shape, t, queries, keys, scale));
}

static void contextual_cope_attention(golden_case *c)
{
    const golden_array *q = golden_in(c, "q", 3), *k = golden_in(c, "k", 3), *table = golden_in(c, "e", 2);
    int heads = golden_whole(c, "heads"), dim = golden_whole(c, "head_dim");
    int before = strcmp(c->variant, "added_before_scaling") == 0;
    char text[96];
    golden_tokens t;
    pe_stack stack;
    if (!before && c->variant[0] && strcmp(c->variant, "added_after_scaling") != 0)
        golden_skip(c, "cope has no variant '%s'", c->variant);
    if (!q || !k || !table || c->outcome != GOLDEN_PASSED)
        return;
    if (q->shape[0] != heads || q->shape[2] != dim) {
        golden_skip(c, "the shape of q does not fit the parameters");
        return;
    }
    if (golden_place_last(c, q->shape[1], k->shape[1], &t) < 0)
        return;
    pe_shape shape = golden_shape(heads, dim, golden_number(c, "causal", 1) != 0);
    snprintf(text, sizeof text, "cope(positions=%d,scaled=%s)", golden_whole_or(c, "n_pos", table->shape[0]),
             before ? "true" : "false");
    if (golden_stack(c, text, &shape, &stack) < 0)
        return;
    contextual_run_cope(c, &stack, &shape, &t, q, k);
    stack_free(&stack);
}

/* Scores whose sigmoid is the given gate; at 0 and 1 far enough out that both precisions round to it. */
static void contextual_cope_bias_from_gates(golden_case *c)
{
    const golden_array *q = golden_in(c, "q", 3), *gate = golden_in(c, "gate", 3);
    golden_tokens t;
    if (!q || !gate)
        return;
    if (gate->shape[0] != q->shape[0] || gate->shape[1] != q->shape[1]) {
        golden_skip(c, "in.gate does not fit in.q");
        return;
    }
    if (golden_place_last(c, q->shape[1], gate->shape[2], &t) < 0)
        return;
    real *scores = contextual_scatter_pairs(c, gate, &t);
    size_t count = (size_t)gate->shape[0] * (size_t)t.len * (size_t)t.len;
    for (size_t i = 0; scores && i < count; i++) {
        double g = (double)scores[i];
        scores[i] = (real)(g <= 0 ? -120 : g >= 1 ? 40 : log(g / (1 - g)));
    }
    contextual_cope_compare(c, q->shape[0], q->shape[2], &t, golden_scatter(c, q, t.query, t.len), scores);
}

/* ------------------------------------------------------------------------------------------------ fox */

static int contextual_expect_causal(golden_case *c)
{
    if (c->variant[0] && strcmp(c->variant, "causal") != 0)
        golden_skip(c, "fox has no variant '%s'", c->variant);
    return c->outcome == GOLDEN_PASSED;
}

/* The layer's input: gate logits of the heads in its first columns, `front` tokens of 0 before them. Tokens before
 * seq_start are padding, whose gates are to stay open. */
static real *contextual_fox_input(golden_case *c, const golden_array *logit, int width, int front)
{
    int heads = logit->shape[0], len = logit->shape[1], seq_start = golden_whole_or(c, "seq_start", 0);
    real *x = golden_memory(c, (size_t)(len + front) * (size_t)width, sizeof *x);
    for (int t = 0; x && t < len; t++)
        for (int h = 0; h < heads; h++)
            x[(t + front) * width + h] = t < seq_start ? 1000 : (real)logit->data[h * len + t];
    return x;
}

/* Head h's gate sees column h of the input. */
static void contextual_fox_start(golden_case *c, refhost *h)
{
    (void)c;
    for (int i = 0; i < refhost_param_count(h); i++) {
        const refhost_param *p = refhost_param_at(h, i);
        memset(p->theta, 0, p->count * sizeof *p->theta);
        for (int head = 0; strcmp(p->about.name, "w") == 0 && head < p->about.rows; head++)
            p->theta[head * p->about.cols + head] = 1;
    }
}

/* Logits of q = k = 0 with one token in front of all others, [heads][1+len][1+len]: the scores are the decays, and a
 * token's own gate is its decay from the token before. */
static void contextual_fox_compare(golden_case *c, const pe_stack *stack, const golden_array *logit, int queries)
{
    int heads = logit->shape[0], len = logit->shape[1], whole = len + 1, dim = 1;
    int seq_start = golden_whole_or(c, "seq_start", 0);
    pe_shape shape = golden_shape(heads, dim, 1);
    refhost_settings settings = {.shape = shape, .len = whole, .tile_rows = 2, .pad = 1};
    real *x = contextual_fox_input(c, logit, heads * dim, 1);
    double *decay = golden_memory(c, (size_t)(heads * queries) * (size_t)len, sizeof *decay);
    double *log_f = golden_memory(c, logit->count, sizeof *log_f);
    unsigned char *hidden = golden_memory(c, (size_t)(heads * queries) * (size_t)len, 1);
    refhost *h = x && decay && log_f && hidden ? refhost_new(stack, &settings, c->e) : NULL;
    if (!h)
        return;
    contextual_fox_start(c, h);
    const refhost_input in = {.x = x};
    const real *logits = refhost_forward(h, &in).logits;
    for (int row = 0; row < heads * queries; row++)
        for (int j = 0; j < len; j++) {
            int i = len - queries + row % queries;
            decay[row * len + j] = (double)logits[(row / queries * whole + i + 1) * whole + j + 1];
            hidden[row * len + j] = j > i || j < seq_start;
        }
    for (int i = 0; i < heads * len; i++)
        log_f[i] = (double)logits[(i / len * whole + i % len + 1) * whole + i % len];
    if (golden_has_out(c, "decay"))
        golden_compare(c, "decay", decay, (size_t)(heads * queries) * (size_t)len, hidden);
    if (golden_has_out(c, "log_f"))
        golden_compare(c, "log_f", log_f, logit->count, NULL);
    refhost_free(h);
}

static void contextual_run_fox(golden_case *c, const pe_stack *stack, const golden_tokens *t, const golden_array *logit,
                               int dim)
{
    int heads = logit->shape[0], width = heads * dim;
    real *x = contextual_fox_input(c, logit, width, 0);
    real *dx = golden_memory(c, (size_t)t->len * (size_t)width, sizeof *dx);
    double *gradient = golden_memory(c, logit->count, sizeof *gradient);
    const golden_attention a = {stack, t, 1, golden_number(c, "scale", 0), contextual_fox_start};
    refhost *h = x && dx && gradient ? golden_attend_gated(c, &a, x, dx) : NULL;
    for (int i = 0; h && i < heads * t->len; i++)
        gradient[i] = (double)dx[i % t->len * width + i / t->len];
    if (h && golden_has_out(c, "grad_gate_logit"))
        golden_compare(c, "grad_gate_logit", gradient, logit->count, NULL);
    refhost_free(h);
}

static void contextual_fox_attention(golden_case *c)
{
    const golden_array *q = golden_in(c, "q", 3), *logit = golden_in(c, "gate_logit", 2);
    int heads = golden_whole(c, "heads"), dim = golden_whole(c, "head_dim");
    golden_tokens t;
    pe_stack stack;
    if (!q || !logit || !contextual_expect_causal(c))
        return;
    if (q->shape[0] != heads || q->shape[2] != dim || logit->shape[0] != heads || q->shape[1] > logit->shape[1]) {
        golden_skip(c, "the shapes of q and gate_logit do not fit the parameters");
        return;
    }
    if (golden_place_last(c, q->shape[1], logit->shape[1], &t) < 0)
        return;
    pe_shape shape = golden_shape(heads, dim, golden_number(c, "causal", 1) != 0);
    if (golden_stack(c, "fox", &shape, &stack) < 0)
        return;
    contextual_run_fox(c, &stack, &t, logit, dim);
    contextual_fox_compare(c, &stack, logit, q->shape[1]);
    stack_free(&stack);
}

static void contextual_fox_decay(golden_case *c)
{
    const golden_array *logit = golden_in(c, "gate_logit", 2), *decay = golden_out(c, "decay", 3);
    int heads = golden_whole(c, "heads");
    pe_stack stack;
    if (!logit || !decay || !contextual_expect_causal(c))
        return;
    if (logit->shape[0] != heads || decay->shape[1] > logit->shape[1]) {
        golden_skip(c, "the shapes of gate_logit and decay do not fit each other");
        return;
    }
    pe_shape shape = golden_shape(heads, 1, 1);
    if (golden_stack(c, "fox", &shape, &stack) < 0)
        return;
    contextual_fox_compare(c, &stack, logit, decay->shape[1]);
    stack_free(&stack);
}

/* ------------------------------------------------------------------------------------------------ dpb */

/* p0, p1 ...: weights and constants of the layers, in the order of the encoding's parameters. */
static void contextual_dpb_run(golden_case *c, const pe_stack *stack, const pe_shape *shape, int len)
{
    static const char *const names[] = {"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"};
    refhost_settings settings = {.shape = *shape, .len = len, .tile_rows = 3, .pad = 2};
    size_t count = (size_t)shape->heads * (size_t)len * (size_t)len;
    double *bias = golden_memory(c, count, sizeof *bias);
    refhost *h = bias ? refhost_new(stack, &settings, c->e) : NULL;
    if (!h)
        return;
    for (int i = 0; i < refhost_param_count(h); i++) {
        const refhost_param *p = refhost_param_at(h, i);
        const golden_array *values = golden_in(c, names[i], 0);
        if (values)
            golden_set_param(c, h, p->about.name, values);
    }
    const refhost_input nothing = {.x = NULL};
    const real *got = refhost_forward(h, &nothing).bias;
    for (size_t i = 0; i < count; i++)
        bias[i] = (double)got[i];
    golden_compare(c, "bias", bias, count, NULL);
    refhost_free(h);
}

static void contextual_dynamic_position_bias(golden_case *c)
{
    int heads = golden_whole(c, "heads"), units = golden_whole(c, "width"), depth = golden_whole(c, "depth");
    int len = golden_whole(c, "n");
    char text[96];
    pe_stack stack;
    if (c->variant[0])
        golden_skip(c, "dpb has no variant '%s'", c->variant);
    if (len < 1 || len > GOLDEN_WIDTH_MAX)
        golden_skip(c, "%d tokens", len);
    if (c->outcome != GOLDEN_PASSED)
        return;
    pe_shape shape = golden_shape(heads, 1, 0);
    snprintf(text, sizeof text, "dpb(units=%d,depth=%d,log_distance=%s)", units, depth,
             golden_number(c, "log_distance", 0) != 0 ? "true" : "false");
    if (golden_stack(c, text, &shape, &stack) < 0)
        return;
    contextual_dpb_run(c, &stack, &shape, len);
    stack_free(&stack);
}

const golden_op golden_contextual_ops[] = {
    {"cope_attention", contextual_cope_attention},
    {"cope_bias_from_gates", contextual_cope_bias_from_gates},
    {"fox_attention", contextual_fox_attention},
    {"fox_decay", contextual_fox_decay},
    {"dynamic_position_bias", contextual_dynamic_position_bias},
    {NULL, NULL},
};
