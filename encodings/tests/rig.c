#include "rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void *rig_zeros(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    cr_assert_not_null(memory);
    return memory;
}

pe_shape rig_shape(int heads, int head_dim, int train_len, int causal)
{
    return (pe_shape){.width = heads * head_dim,
                      .heads = heads,
                      .head_dim = head_dim,
                      .layers = 2,
                      .train_len = train_len,
                      .causal = causal};
}

void rig_open(rig *g, const char *text, pe_shape shape, const double *pos, int len)
{
    error e = ERROR_INIT;
    memset(g, 0, sizeof *g);
    g->shape = shape;
    g->r = registry_new(&e);
    cr_assert(g->r && stack_parse(g->r, text, &g->stack, &e) == 0, "%s", e.message);
    cr_assert_eq(stack_check(&g->stack, &shape, len, &e), 0, "%s", e.message);
    g->d = g->stack.member[0].encoding;
    g->pos = rig_zeros((size_t)len, sizeof *g->pos);
    for (int t = 0; t < len; t++)
        g->pos[t] = pos ? pos[t] : t;
    g->c = (pe_context){
        .shape = &g->shape, .options = g->stack.member[0].options, .len = len, .total_len = len, .pos = g->pos};

    g->params = g->d->params ? g->d->params(g->c.options, &g->shape, g->param) : 0;
    for (int i = 0; i < g->params; i++) {
        size_t count = (size_t)g->param[i].rows * (size_t)g->param[i].cols;
        g->theta[i] = rig_zeros(count, sizeof(real));
        g->dtheta[i] = rig_zeros(count, sizeof(real));
    }
    pe_sizes sizes = {0};
    if (g->d->sizes)
        g->d->sizes(&g->c, len, len, &sizes);
    g->cache = sizes.cache_bytes ? rig_zeros(sizes.cache_bytes, 1) : NULL;
    if (g->d->prepare)
        g->d->prepare(&g->c, g->cache);
    g->c.cache = g->cache;
    if (g->params > 0) {
        g->c.theta = (const real *const *)g->theta;
        g->c.dtheta = g->dtheta;
    }
}

void rig_close(rig *g)
{
    for (int i = 0; i < g->params; i++) {
        free(g->theta[i]);
        free(g->dtheta[i]);
    }
    free(g->cache);
    free(g->pos);
    stack_free(&g->stack);
    registry_free(g->r);
}

pe_tile rig_tile(const rig *g)
{
    int len = g->c.len;
    return (pe_tile){.rows = len,
                     .keys = len,
                     .stride = len,
                     .plane = len * len,
                     .token_stride = g->shape.width,
                     .head_stride = g->shape.head_dim,
                     .rotated_dim = g->shape.head_dim,
                     .scale = (real)(1 / sqrt(g->shape.head_dim))};
}

void rig_bias(const rig *g, real *bias)
{
    size_t len = (size_t)g->c.len;
    pe_tile t = rig_tile(g);
    memset(bias, 0, (size_t)g->shape.heads * len * len * sizeof *bias);
    g->d->bias(&g->c, &t, bias);
}

double rig_tolerance(void)
{
    return sizeof(real) == sizeof(double) ? 1e-12 : 1e-6;
}

void rig_near(double got, double want, double margin, const char *what)
{
    cr_assert(fabs(got - want) <= margin, "%s: %.12g, not %.12g", what, got, want);
}

double rig_noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24) - 0.5;
}
