#include "rotary_fixture.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>

#include "refhost.h"

void rotary_turn(const char *text, pe_shape shape, const double *pos, int len, int total_len, pe_role role, real *u)
{
    rig g;
    rig_open(&g, text, shape, pos, len);
    g.c.total_len = total_len ? total_len : len;
    g.c.cache = NULL;
    if (g.d->prepare)
        g.d->prepare(&g.c, g.cache);
    g.c.cache = g.cache;
    for (int i = 0; g.d->init && i < g.params; i++)
        g.d->init(&g.c, i, g.theta[i]);
    g.d->rotate(&g.c, role, u, shape.width, shape.head_dim);
    rig_close(&g);
}

double rotary_angles(const char *text, int head_dim, int train_len, int total_len, double *angle)
{
    const double one = 1;
    real *u = calloc((size_t)head_dim, sizeof *u);
    cr_assert_not_null(u);
    for (int i = 0; i < head_dim; i += 2)
        u[i] = 1;
    rotary_turn(text, rig_shape(1, head_dim, train_len, 1), &one, 1, total_len, PE_QUERY, u);
    for (int p = 0; p < head_dim / 2; p++)
        angle[p] = atan2(u[2 * p + 1], u[2 * p]);
    double length = hypot(u[0], u[1]);
    free(u);
    return length;
}

void rotary_scores(const char *text, pe_shape shape, const double *pos, int len, int total_len, const real *q,
                   const real *k, double *s)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    pe_stack stack;
    cr_assert(r && stack_parse(r, text, &stack, &e) == 0 && stack_check(&stack, &shape, len, &e) == 0, "%s", e.message);
    refhost_settings settings = {.shape = shape, .len = len, .total_len = total_len, .pos = pos};
    refhost *h = refhost_new(&stack, &settings, &e);
    cr_assert_not_null(h, "%s", e.message);
    refhost_output out = refhost_forward(h, &(refhost_input){.q = q, .k = k});
    for (int i = 0; i < shape.heads * len * len; i++)
        s[i] = out.logits[i];
    refhost_free(h);
    stack_free(&stack);
    registry_free(r);
}

const char *rotary_refusal(const char *text, pe_shape shape, char *message, size_t size)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    pe_stack stack;
    cr_assert_not_null(r, "%s", e.message);
    message[0] = '\0';
    if (stack_parse(r, text, &stack, &e) == 0) {
        stack_check(&stack, &shape, 1, &e);
        stack_free(&stack);
    }
    if (e.kind != ERROR_NONE)
        snprintf(message, size, "%s", e.message);
    registry_free(r);
    return message;
}

void rotary_noise(uint32_t seed, real *u, size_t count)
{
    for (size_t i = 0; i < count; i++)
        u[i] = (real)rig_noise(&seed);
}
