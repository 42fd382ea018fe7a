/* What the literature claims of attention with and without positions, as identities that no training is needed for. The
 * host is the naive one. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "refhost.h"
#include "rig.h"

enum { CLAIM_LEN = 24, CLAIM_HEADS = 2, CLAIM_DIM = 16, CLAIM_WIDTH = CLAIM_HEADS * CLAIM_DIM };

typedef struct claim_bench {
    registry *registry;
    pe_stack stack;
    refhost *host;
    real x[CLAIM_LEN * CLAIM_WIDTH], q[CLAIM_LEN * CLAIM_WIDTH], k[CLAIM_LEN * CLAIM_WIDTH], v[CLAIM_LEN * CLAIM_WIDTH];
    real d_o[CLAIM_LEN * CLAIM_WIDTH], weights[3 * CLAIM_WIDTH * CLAIM_WIDTH];
} claim_bench;

static claim_bench *claim_open(const char *text)
{
    error e = ERROR_INIT;
    claim_bench *b = calloc(1, sizeof *b);
    cr_assert_not_null(b);
    b->registry = registry_new(&e);
    cr_assert(b->registry && stack_parse(b->registry, text, &b->stack, &e) == 0, "%s", e.message);
    pe_shape shape = rig_shape(CLAIM_HEADS, CLAIM_DIM, CLAIM_LEN, 1);
    cr_assert_eq(stack_check(&b->stack, &shape, CLAIM_LEN, &e), 0, "%s", e.message);
    b->host = refhost_new(&b->stack, &(refhost_settings){.shape = shape, .len = CLAIM_LEN}, &e);
    cr_assert_not_null(b->host, "%s", e.message);
    return b;
}

static void claim_close(claim_bench *b)
{
    refhost_free(b->host);
    stack_free(&b->stack);
    registry_free(b->registry);
    free(b);
}

/* The same random vector at every token. */
static void claim_repeat(real *to, uint32_t *noise)
{
    for (int i = 0; i < CLAIM_WIDTH; i++)
        to[i] = (real)rig_noise(noise);
    for (int t = 1; t < CLAIM_LEN; t++)
        memcpy(to + t * CLAIM_WIDTH, to, CLAIM_WIDTH * sizeof *to);
}

/* Without positions and with one token repeated, attention is exactly uniform, 1/(i+1), all outputs are equal, and
 * nothing pulls at the maps of q and k (proposition 3.2 of the DroPE paper). */
Test(attention_claims, nope_on_a_constant_input_attends_uniformly)
{
    claim_bench *b = claim_open("nope");
    uint32_t noise = 5;
    claim_repeat(b->x, &noise);
    for (int i = 0; i < 3 * CLAIM_WIDTH * CLAIM_WIDTH; i++)
        b->weights[i] = (real)rig_noise(&noise);
    for (int i = 0; i < CLAIM_LEN * CLAIM_WIDTH; i++)
        b->d_o[i] = (real)rig_noise(&noise);
    const refhost_input in = {.x = b->x, .weights = b->weights};
    refhost_output out = refhost_forward(b->host, &in);
    for (int h = 0; h < CLAIM_HEADS; h++)
        for (int i = 0; i < CLAIM_LEN; i++)
            for (int j = 0; j <= i; j++)
                rig_near((double)out.p[(h * CLAIM_LEN + i) * CLAIM_LEN + j], 1.0 / (i + 1), rig_tolerance(), "weight");
    for (int i = 0; i < CLAIM_LEN * CLAIM_WIDTH; i++)
        rig_near((double)out.o[i], (double)out.o[i % CLAIM_WIDTH], 10 * rig_tolerance(), "output");
    refhost_gradient g = refhost_backward(b->host, &in, b->d_o, NULL);
    double pulled = 0;
    for (int i = 0; i < CLAIM_LEN * CLAIM_WIDTH; i++) {
        rig_near((double)g.q[i], 0, 10 * rig_tolerance(), "gradient of q");
        rig_near((double)g.k[i], 0, 10 * rig_tolerance(), "gradient of k");
        pulled += fabs((double)g.v[i]);
    }
    cr_assert_gt(pulled, 1, "the values do learn");
    claim_close(b);
}

/* With q = psi and k = R(-1) psi at every token, a rotary head attends to the token before, whatever psi is; the same
 * q and k without positions attend uniformly (Barbero et al. 2025, propositions 5.2 and 5.3). */
static void claim_previous_token(const char *text, int expected)
{
    claim_bench *b = claim_open(text);
    uint32_t noise = 9;
    const double gain = 40;
    claim_repeat(b->q, &noise);
    for (int i = 0; i < CLAIM_WIDTH; i++) {
        int p = i % CLAIM_DIM % (CLAIM_DIM / 2), first = i % CLAIM_DIM < CLAIM_DIM / 2;
        int other = first ? i + CLAIM_DIM / 2 : i - CLAIM_DIM / 2;
        double angle = pow(10000, -2.0 * p / CLAIM_DIM), mine = (double)b->q[i], partner = (double)b->q[other];
        /* The token before stands at a smaller position, so k = R(+1) psi in terms of the angle that q turns by. */
        double turned = mine * cos(angle) + (first ? -partner : partner) * sin(angle);
        for (int t = 0; t < CLAIM_LEN; t++)
            b->k[t * CLAIM_WIDTH + i] = (real)(gain * turned);
    }
    for (int i = 0; i < CLAIM_LEN * CLAIM_WIDTH; i++)
        b->q[i] *= (real)gain;
    refhost_output out = refhost_forward(b->host, &(refhost_input){.q = b->q, .k = b->k, .v = b->v});
    for (int h = 0; h < CLAIM_HEADS; h++)
        for (int i = 1; i < CLAIM_LEN; i++) {
            double weight = (double)out.p[(h * CLAIM_LEN + i) * CLAIM_LEN + i - 1];
            if (expected) {
                cr_expect_gt(weight, 0.99, "%s: head %d, token %d gives its predecessor %g", text, h, i, weight);
            } else {
                rig_near(weight, 1.0 / (i + 1), 10 * rig_tolerance(), "weight of the predecessor");
            }
        }
    claim_close(b);
}

Test(attention_claims, a_rotary_head_finds_the_previous_token)
{
    claim_previous_token("rope", 1);
}

Test(attention_claims, a_head_without_positions_does_not)
{
    claim_previous_token("nope", 0);
}
