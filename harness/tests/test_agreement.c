/* The fast attention against the naive double-loop host of encodings/check: random shapes, lengths, block heights and
 * positions, several sequences at a time, forward and backward, every encoding. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "attention.h"
#include "refhost.h"
#include "rng.h"

static const double agreement_limit = sizeof(real) == sizeof(double) ? 1e-11 : 4e-4;

enum { SEQUENCES = 3 };

/* One comparison: shape, stack, positions, and everything that the fast side needs. */
typedef struct bench {
    arena memory;
    pe_shape shape;
    const pe_stack *stack;
    attention_layer layer;
    attention_scratch scratch;
    placement place[2];          /* sequences 0 and 1 share one, 2 stands elsewhere */
    const placement *of[SEQUENCES];
    int start[SEQUENCES + 1];
    attention_io io;
    real *theta_block;
    size_t theta_count;
    real *dtheta_block;
} bench;

static real *bench_reals(bench *b, rng *r, size_t n)
{
    real *x = ARENA_NEW(&b->memory, real, n);
    for (size_t i = 0; i < n && r; i++)
        x[i] = (real)(2 * rng_uniform(r) - 1);
    return x;
}

/* kind 0: 0, 1, 2 ...; 1: the same shifted; 2: real-valued steps; 3: from 0 again in the middle */
static void bench_place(bench *b, placement *p, int len, int kind, rng *r)
{
    p->len = p->total_len = len;
    p->pos = ARENA_NEW(&b->memory, double, len);
    p->cache = ARENA_NEW(&b->memory, void *, STACK_MEMBERS_MAX);
    p->contiguous = kind < 2;
    double at = kind == 0 ? 0 : (double)rng_below(r, 5);
    for (int t = 0; t < len; t++) {
        p->pos[t] = kind == 3 ? t % (len / 2 + 1) : at;
        at += kind < 2 ? 1 : 0.1 + 2 * rng_uniform(r);
    }
    for (int m = 0; m < b->stack->count; m++) {
        const pe_descriptor *d = b->stack->member[m].encoding;
        pe_sizes sizes = { 0, 0, 0 };
        pe_context c = { .shape = &b->shape, .options = b->stack->member[m].options, .len = len, .total_len = len,
                         .pos = p->pos };
        if (d->sizes)
            d->sizes(&c, 1, len, &sizes);
        p->cache[m] = sizes.cache_bytes ? arena_alloc(&b->memory, sizes.cache_bytes) : NULL;
        if (d->prepare)
            d->prepare(&c, p->cache[m]);
    }
}

static void bench_layer(bench *b, rng *r)
{
    attention_layer *l = &b->layer;
    *l = (attention_layer){ .rotating = -1, .rotated_dim = b->shape.head_dim, .bias_by_distance = 1,
                            .count = b->stack->count };
    for (int m = 0; m < l->count; m++) {
        const stack_member *from = &b->stack->member[m];
        const pe_descriptor *d = from->encoding;
        attention_member *to = &l->member[m];
        *to = (attention_member){ .encoding = d, .options = from->options };
        pe_param declared[PE_PARAMS_MAX];
        to->params = d->params ? d->params(from->options, &b->shape, declared) : 0;
        for (int i = 0; i < to->params; i++) {
            size_t n = (size_t)declared[i].rows * (size_t)declared[i].cols;
            to->theta[i] = bench_reals(b, r, n);
            to->dtheta[i] = bench_reals(b, NULL, n);
        }
        if (d->rotate) {
            l->rotating = m;
            l->rotated_dim = d->rotated_dim ? d->rotated_dim(from->options, &b->shape) : b->shape.head_dim;
        }
        l->has_score |= d->score != NULL;
        l->has_value |= d->value != NULL;
        l->together = l->has_score || l->has_value;
        l->has_bias |= d->bias != NULL || d->reads_bias;
        if ((d->bias && !(stack_member_claims(from) & PE_SHIFT_INVARIANT)) || d->reads_bias)
            l->bias_by_distance = 0;
        l->has_gate |= d->gate != NULL;
    }
}

static refhost *bench_host(const bench *b, const placement *p)
{
    error e = ERROR_INIT;
    refhost *h = refhost_new(b->stack, &(refhost_settings){ .shape = b->shape, .len = p->len, .pos = p->pos }, &e);
    cr_assert_not_null(h, "%s", e.message);
    for (int i = 0; i < refhost_param_count(h); i++) {
        const refhost_param *param = refhost_param_at(h, i);
        memcpy(param->theta, b->layer.member[param->member].theta[param->index], sizeof(real) * param->count);
    }
    return h;
}

static void bench_close_to(const real *got, const real *want, size_t n, const char *what, const char *about)
{
    double size = 1;
    for (size_t i = 0; i < n; i++)
        size = fmax(size, fabs((double)want[i]));
    for (size_t i = 0; i < n; i++)
        cr_assert(fabs((double)(got[i] - want[i])) <= agreement_limit * size, "%s: %s[%zu] is %.12g, not %.12g", about, what, i,
                  (double)got[i], (double)want[i]);
}

/* What gate hooks keep of each sequence, and room for the gradients. */
typedef struct bench_gates {
    real *save[STACK_MEMBERS_MAX], *dsave[STACK_MEMBERS_MAX];
    size_t at[STACK_MEMBERS_MAX][SEQUENCES];
    const size_t *at_of[STACK_MEMBERS_MAX];
} bench_gates;

static void bench_gates_forward(bench *b, const real *x, bench_gates *g)
{
    for (int m = 0; m < b->layer.count; m++) {
        const pe_descriptor *d = b->layer.member[m].encoding;
        size_t total = 0;
        g->at_of[m] = g->at[m];
        for (int s = 0; s < SEQUENCES && d->gate; s++) {
            pe_sizes sizes = { 0, 0, 0 };
            pe_context c = attention_context(&b->layer, m, &b->shape, b->of[s], 0);
            d->sizes(&c, 1, c.len, &sizes);
            g->at[m][s] = total;
            total += sizes.gate_reals;
        }
        g->save[m] = bench_reals(b, NULL, total);
        g->dsave[m] = bench_reals(b, NULL, total);
        for (int s = 0; s < SEQUENCES && d->gate; s++) {
            pe_context c = attention_context(&b->layer, m, &b->shape, b->of[s], 0);
            d->gate(&c, x + (size_t)b->start[s] * (size_t)b->shape.width, g->save[m] + g->at[m][s]);
        }
    }
}

static void bench_gates_backward(bench *b, const real *x, const bench_gates *g, real *dx)
{
    for (int m = 0; m < b->layer.count; m++)
        for (int s = 0; s < SEQUENCES && b->layer.member[m].encoding->gate; s++) {
            pe_context c = attention_context(&b->layer, m, &b->shape, b->of[s], 1);
            size_t row = (size_t)b->start[s] * (size_t)b->shape.width, at = g->at[m][s];
            b->layer.member[m].encoding->gate_bwd(&c, x + row, g->save[m] + at, g->dsave[m] + at, dx + row);
        }
}

/* Each head's head_dim reals to where rotated_dim reals have room, or back. */
static void bench_spread(const bench *b, real *narrow, real *wide, int back)
{
    size_t from = (size_t)b->shape.head_dim, to = (size_t)b->layer.rotated_dim;
    for (size_t i = 0; i < (size_t)b->start[SEQUENCES] * (size_t)b->shape.heads; i++)
        memcpy(back ? narrow + i * from : wide + i * to, back ? wide + i * to : narrow + i * from, sizeof(real) * from);
}

static void bench_run(bench *b, rng *r, const char *about)
{
    int width = b->shape.width, tokens = b->start[SEQUENCES];
    size_t n = (size_t)tokens * (size_t)width;
    int row = b->shape.heads * b->layer.rotated_dim;
    size_t wide = (size_t)tokens * (size_t)row;
    real *x = bench_reals(b, r, n), *dx = bench_reals(b, NULL, n);
    real *q = bench_reals(b, r, n), *k = bench_reals(b, r, n), *v = bench_reals(b, r, n), *d_o = bench_reals(b, r, n);
    real *rq = bench_reals(b, NULL, wide), *rk = bench_reals(b, NULL, wide), *o = bench_reals(b, NULL, n);
    real *rdq = bench_reals(b, NULL, wide), *rdk = bench_reals(b, NULL, wide);
    real *dq = bench_reals(b, NULL, n), *dk = bench_reals(b, NULL, n), *dv = bench_reals(b, NULL, n);
    bench_gates gates;
    bench_gates_forward(b, x, &gates);
    bench_spread(b, q, rq, 0);
    bench_spread(b, k, rk, 0);
    b->io = (attention_io){ .sequences = SEQUENCES, .start = b->start, .place = b->of, .q = rq, .k = rk,
                            .token_stride_qk = row, .v = v, .token_stride_v = width, .o = o, .gate = gates.save,
                            .gate_at = gates.at_of, .dq = rdq, .dk = rdk, .dv = dv, .d_o = d_o, .dgate = gates.dsave };
    b->io.rows = ARENA_NEW(&b->memory, softmax_row, (size_t)tokens * (size_t)b->shape.heads);
    attention_rotate(&b->layer, &b->shape, &b->io);
    attention_forward(&b->layer, &b->shape, &b->scratch, &b->io);
    attention_backward(&b->layer, &b->shape, &b->scratch, &b->io);
    attention_rotate_bwd(&b->layer, &b->shape, &b->io);
    bench_spread(b, dq, rdq, 1);
    bench_spread(b, dk, rdk, 1);
    bench_gates_backward(b, x, &gates, dx);

    real *sums[STACK_MEMBERS_MAX][PE_PARAMS_MAX] = { { NULL } };
    for (int s = 0; s < SEQUENCES; s++) {
        refhost *h = bench_host(b, b->of[s]);
        size_t at = (size_t)b->start[s] * (size_t)width, count = (size_t)b->of[s]->len * (size_t)width;
        refhost_input in = { .x = x + at, .q = q + at, .k = k + at, .v = v + at };
        refhost_output out = refhost_forward(h, &in);
        bench_close_to(o + at, out.o, count, "o", about);
        refhost_gradient g = refhost_backward(h, &in, d_o + at, NULL);
        bench_close_to(dq + at, g.q, count, "dq", about);
        bench_close_to(dk + at, g.k, count, "dk", about);
        bench_close_to(dv + at, g.v, count, "dv", about);
        if (b->layer.has_gate)
            bench_close_to(dx + at, g.x, count, "dx", about);
        for (int i = 0; i < refhost_param_count(h); i++) {
            const refhost_param *param = refhost_param_at(h, i);
            real **sum = &sums[param->member][param->index];
            *sum = *sum ? *sum : bench_reals(b, NULL, param->count);
            for (size_t e = 0; e < param->count; e++)
                (*sum)[e] += param->dtheta[e];
            if (s == SEQUENCES - 1)
                bench_close_to(b->layer.member[param->member].dtheta[param->index], *sum, param->count, param->about.name,
                               about);
        }
        refhost_free(h);
    }
}

static void agreement_case(const pe_stack *stack, const char *text, uint64_t round)
{
    rng r = rng_stream(23, RNG_TEST, round, 0);
    bench b = { .memory = { NULL, 0 }, .stack = stack };
    int heads = 1 + (int)rng_below(&r, 4), head_dim = 2 * (1 + (int)rng_below(&r, 5)), kind = (int)(round % 4);
    int lens[2] = { 1 + (int)rng_below(&r, 70), 1 + (int)rng_below(&r, 70) };
    int longest = lens[0] > lens[1] ? lens[0] : lens[1];
    b.shape = (pe_shape){ .width = heads * head_dim, .heads = heads, .head_dim = head_dim, .layers = 1, .train_len = longest,
                          .causal = (int)rng_below(&r, 2) };
    error e = ERROR_INIT;
    if (stack_check(stack, &b.shape, longest, &e) < 0)
        b.shape.causal = 1; /* no meaning without the mask */
    error_clear(&e);
    if (stack_check(stack, &b.shape, longest, &e) < 0)
        return; /* options that do not fit this shape */
    for (int m = 0; m < stack->count; m++)
        if (kind == 3 && stack->member[m].encoding->needs_order)
            kind = 2;
    if (stack_last_position(stack, &b.shape) < 3.0 * longest)
        kind = 0;
    for (int i = 0; i < 2; i++)
        bench_place(&b, &b.place[i], lens[i], kind, &r);
    for (int s = 0; s < SEQUENCES; s++) {
        b.of[s] = &b.place[s == 2];
        b.start[s + 1] = b.start[s] + b.of[s]->len;
    }
    bench_layer(&b, &r);
    cr_assert_eq(attention_scratch_init(&b.scratch, &b.memory, &b.shape, &b.layer, 1, SEQUENCES, b.start[SEQUENCES], longest, 1), 0);
    b.scratch.block_rows = rng_below(&r, 3) ? 1 + (int)rng_below(&r, (uint32_t)b.scratch.rows_max) : 0;
    b.scratch.tile_keys = 32 * (int)rng_below(&r, 3);
    char about[PE_TEXT_MAX + 200];
    snprintf(about, sizeof about, "%s, %d heads of %d, lengths %d and %d, blocks of %d by %d, %s, positions %d", text, heads,
             head_dim, lens[0], lens[1], b.scratch.block_rows, b.scratch.tile_keys, b.shape.causal ? "causal" : "bidirectional", kind);
    bench_run(&b, &r, about);
    arena_free(&b.memory);
}

static void agreement_stack(const registry *r, const char *text, int rounds)
{
    error e = ERROR_INIT;
    pe_stack stack;
    cr_assert_eq(stack_parse(r, text, &stack, &e), 0, "%s", e.message);
    for (int round = 0; round < rounds; round++)
        agreement_case(&stack, text, (uint64_t)round);
    stack_free(&stack);
}

/* The default and all examples of one encoding. */
static void agreement(const char *name)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    const pe_descriptor *d = registry_find_encoding(r, name, &e);
    agreement_stack(r, name, 12);
    for (int i = 0; d->examples && d->examples[i]; i++) {
        char text[PE_TEXT_MAX];
        snprintf(text, sizeof text, "%s(%s)", name, d->examples[i]);
        agreement_stack(r, text, 6);
    }
    registry_free(r);
}

#define PE_ENCODING(name)                                                                                              \
    Test(agreement, name)                                                                                              \
    {                                                                                                                  \
        agreement(#name);                                                                                              \
    }
#include "list.h"

Test(agreement, stacks)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    agreement_stack(r, "rope+shaw(clip=3)+t5(buckets=8,max_distance=20)", 24);
    agreement_stack(r, "alibi(form=symmetric)+t5(buckets=8,max_distance=20)+shaw(clip=2,value=false)", 24);
    registry_free(r);
}
