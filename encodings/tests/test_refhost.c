/* The reference host against attention worked out by hand. */
#include <criterion/criterion.h>

#include <math.h>

#include "refhost.h"
#include "specimens.h"

static const pe_stack no_encoding = {.count = 0};
static const pe_stack sloped = {.count = 1, .member = {{&specimen_slope, NULL}}};

static double tolerance(void)
{
    return sizeof(real) == sizeof(double) ? 1e-14 : 1e-6;
}

static refhost *host_of(const pe_stack *stack, refhost_settings settings)
{
    error e = ERROR_INIT;
    refhost *h = refhost_new(stack, &settings, &e);
    cr_assert_not_null(h, "%s", e.message);
    return h;
}

static refhost_settings two_tokens(int causal)
{
    return (refhost_settings){.shape = {1, 1, 1, 1, 2, causal}, .len = 2};
}

/* One head of one dimension: everything fits on a line. q = 1, 2; k = 0, 1; v = 10, 20; scale 1. */
static const real q[] = {1, 2}, k[] = {0, 1}, v[] = {10, 20};
static const refhost_input given = {.q = q, .k = k, .v = v};

Test(refhost, causal_attention_by_hand)
{
    refhost *h = host_of(&no_encoding, two_tokens(1));
    refhost_output out = refhost_forward(h, &given);
    double p = exp(2) / (1 + exp(2)); /* scores of row 1: 0, 2 */
    cr_expect_eq(out.o[0], 10);
    cr_expect_float_eq(out.o[1], 10 * (1 - p) + 20 * p, 20 * tolerance());
    cr_expect_float_eq(out.p[3], p, tolerance());
    cr_expect_eq(out.p[1], 0);
    cr_expect(isinf(out.logits[1]) && out.logits[1] < 0);
    cr_expect_float_eq(out.logits[3], 2, tolerance());
    refhost_free(h);
}

Test(refhost, bidirectional_attention_by_hand)
{
    refhost *h = host_of(&no_encoding, two_tokens(0));
    refhost_output out = refhost_forward(h, &given);
    double p = exp(1) / (1 + exp(1)); /* scores of row 0: 0, 1 */
    cr_expect_float_eq(out.o[0], 10 * (1 - p) + 20 * p, 20 * tolerance());
    refhost_free(h);
}

Test(refhost, backward_by_hand)
{
    refhost *h = host_of(&no_encoding, two_tokens(1));
    const real d_o[] = {0, 1};
    refhost_forward(h, &given);
    refhost_gradient g = refhost_backward(h, &given, d_o, NULL);
    double p = exp(2) / (1 + exp(2)), slope = 10 * p * (1 - p); /* do/ds of the second score */
    cr_expect_float_eq(g.v[0], 1 - p, tolerance());
    cr_expect_float_eq(g.v[1], p, tolerance());
    cr_expect_float_eq(g.q[1], slope * 1, 20 * tolerance());
    cr_expect_float_eq(g.k[1], slope * 2, 20 * tolerance());
    cr_expect_float_eq(g.k[0], -slope * 2, 20 * tolerance());
    cr_expect_eq(g.q[0], 0);
    refhost_free(h);
}

Test(refhost, projection_and_its_transpose)
{
    refhost *h = host_of(&no_encoding, two_tokens(1));
    const real x[] = {3, 5}, weights[] = {0, 0, 2}, d_o[] = {1, 0};
    const refhost_input in = {.x = x, .weights = weights};
    refhost_output out = refhost_forward(h, &in);
    refhost_gradient g = refhost_backward(h, &in, d_o, NULL);
    cr_expect_eq(out.o[0], 6, "v = 2 x");
    cr_expect_eq(g.x[0], 2);
    cr_expect_eq(g.x[1], 0);
    refhost_free(h);
}

/* s_10 = 0 - slope * distance. */
Test(refhost, bias_and_its_gradient)
{
    refhost_settings settings = two_tokens(1);
    const double pos[] = {1, 3.5};
    settings.pos = pos;
    refhost *h = host_of(&sloped, settings);
    const refhost_param *slope = refhost_param_at(h, 0);
    const real d_logits[] = {0, 7, 1, 0}; /* entry [0][1] is hidden: its 7 must not count */
    slope->theta[0] = (real)0.25;
    refhost_output out = refhost_forward(h, &given);
    refhost_backward(h, &given, NULL, d_logits);
    cr_expect_eq(refhost_param_count(h), 1);
    cr_expect_float_eq(out.bias[2], -0.625, tolerance());
    cr_expect_float_eq(out.logits[2], -0.625, tolerance());
    cr_expect_float_eq(slope->dtheta[0], -2.5, tolerance());
    refhost_free(h);
}

Test(refhost, a_row_that_sees_nothing_gives_nothing)
{
    refhost_settings settings = two_tokens(1);
    const unsigned char mask[] = {0, 1, 1, 1};
    const real d_o[] = {1, 1};
    settings.mask = mask;
    refhost *h = host_of(&sloped, settings);
    refhost_output out = refhost_forward(h, &given);
    refhost_gradient g = refhost_backward(h, &given, d_o, NULL);
    cr_expect_eq(out.o[0], 0);
    cr_expect_eq(out.p[0], 0);
    cr_expect_eq(g.q[0], 0);
    cr_expect(isfinite(out.o[1]) && isfinite(g.k[0]) && isfinite(g.v[0]));
    refhost_free(h);
}

static int told_dim;

static void remember_dim(const pe_context *c, const pe_tile *t, real *s, real *save)
{
    (void)c, (void)s, (void)save;
    told_dim = t->rotated_dim;
}

Test(refhost, score_hooks_are_told_how_wide_q_and_k_are)
{
    pe_descriptor listener = specimen_keyed;
    listener.params = NULL;
    listener.score = remember_dim;
    const pe_stack alone = {.count = 1, .member = {{&listener, NULL}}};
    const pe_stack widened = {.count = 2, .member = {{&listener, NULL}, {&specimen_turning, NULL}}};
    refhost *h = host_of(&alone, two_tokens(1));
    refhost_forward(h, &given);
    cr_expect_eq(told_dim, 1);
    refhost_free(h);
    h = host_of(&widened, two_tokens(1));
    refhost_forward(h, &given);
    cr_expect_eq(told_dim, 2);
    refhost_free(h);
}

Test(refhost, start_values_follow_the_seed)
{
    refhost *h = host_of(&sloped, two_tokens(1));
    const refhost_param *slope = refhost_param_at(h, 0);
    refhost_init(h, 1);
    real first = slope->theta[0];
    refhost_init(h, 2);
    cr_expect_neq(slope->theta[0], first);
    refhost_init(h, 1);
    cr_expect_eq(slope->theta[0], first);
    refhost_disturb(h, 1);
    cr_expect_neq(slope->theta[0], first);
    refhost_free(h);
}
