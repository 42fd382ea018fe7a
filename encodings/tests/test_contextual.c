/* test_contextual.c - encodings that look at what the tokens hold, beside their formulas evaluated pair by pair. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pairs.h"
#include "rig.h"
#include "specimens.h"

/* ------------------------------------------------------------------------------------------------ cope */

/* What the test knows of the options; `sees` are the scores that reach the hook. */
static struct {
    int positions, scaled;
    pairs_slow *sees;
} cope;

static double cope_slow(const pairs *p, int h, int i, int j)
{
    const real *table = pairs_param(p, "table"), *q = pairs_q(p, h, i);
    double count = 0;
    for (int l = j; l <= i; l++)
        count += 1 / (1 + exp(-cope.sees(p, h, i, l)));
    count = fmin(count, cope.positions - 1);
    int low = (int)floor(count), high = (int)ceil(count);
    double below = pairs_dot(q, table + (size_t)low * p->dim, p->dim);
    double above = pairs_dot(q, table + (size_t)high * p->dim, p->dim);
    double term = below + (count - low) * (above - below);
    return cope.sees(p, h, i, j) + term * (cope.scaled ? p->scale : 1);
}

/* 150 keys are more than the hook takes at once; with 20 positions most of a row is clamped, with 200 none of it. */
Test(contextual, cope_is_the_formula)
{
    static const int positions[] = {1, 2, 20, 200};
    for (int n = 0; n < 8; n++) {
        char text[64];
        pairs p;
        cope.positions = positions[n / 2];
        cope.scaled = n % 2;
        cope.sees = pairs_score;
        snprintf(text, sizeof text, "cope(positions=%d,scaled=%s)", cope.positions, n % 2 ? "true" : "false");
        pairs_open(&p, text, 3, 4, 150, 1, NULL);
        pairs_expect(&p, cope_slow, 1e-11, 2e-5, text);
        pairs_expect_gradient(&p, text);
        pairs_close(&p);
    }
}

/* With all gates open a key's position is its distance plus one: the query's own key has 1, not 0. */
Test(contextual, cope_with_open_gates_counts_tokens)
{
    enum { LEN = 12, LAST = 5 };
    pairs p;
    pairs_open(&p, "cope(positions=6)", 1, 4, LEN, 1, NULL);
    real *table = pairs_param(&p, "table");
    for (size_t i = 0; i < p.t.plain; i++)
        p.t.q[i] = p.t.k[i] = 8;
    for (int n = 0; n <= LAST; n++)
        for (int d = 0; d < 4; d++)
            table[n * 4 + d] = (real)(n / 32.0);
    refhost_output out = refhost_forward(p.t.host, &p.t.in);
    for (int i = 0; i < LEN; i++)
        for (int j = 0; j <= i; j++)
            rig_near((double)out.logits[i * LEN + j] - 128, i - j + 1 < LAST ? i - j + 1 : LAST, 1e-4, "position");
    pairs_close(&p);
}

/* ------------------------------------------------------------------------------------------------ fox */

static double fox_logit(const pairs *p, int h, int l)
{
    return (double)pairs_param(p, "b")[h] +
           pairs_dot(pairs_param(p, "w") + (size_t)h * p->width, p->t.x + (size_t)l * p->width, p->width);
}

static double fox_decay(const pairs *p, int h, int i, int j)
{
    double sum = 0;
    for (int l = j + 1; l <= i; l++)
        sum += log(1 / (1 + exp(-fox_logit(p, h, l))));
    return sum;
}

static double fox_slow(const pairs *p, int h, int i, int j)
{
    return pairs_score(p, h, i, j) + fox_decay(p, h, i, j);
}

Test(contextual, fox_is_the_formula)
{
    pairs p;
    pairs_open(&p, "fox(start=2,deviation=0.5)", 3, 4, 150, 1, NULL);
    pairs_expect(&p, fox_slow, 1e-12, 1e-5, "fox");
    pairs_expect_gradient(&p, "fox");
    pairs_close(&p);
}

/* The released code of CABLE: cumulated -softplus(w'.x + b'), with w' = -w and b' = -b. */
static double fox_slow_as_cable(const pairs *p, int h, int i, int j)
{
    double sum = 0;
    for (int l = j + 1; l <= i; l++)
        sum -= log1p(exp(-fox_logit(p, h, l)));
    return pairs_score(p, h, i, j) + sum;
}

Test(contextual, cable_is_fox_with_negated_parameters)
{
    pairs p;
    pairs_open(&p, "fox(deviation=0.5)", 2, 4, 40, 1, NULL);
    pairs_expect(&p, fox_slow_as_cable, 1e-12, 1e-5, "cable");
    pairs_close(&p);
}

/* The sums reach -15000, where a float's last bit is 0.001; the decay between neighbours is right to a millionth. Gates
 * near 0 and near 1: the logarithm of the sigmoid is -15 and -2e-9 there. */
Test(contextual, fox_keeps_neighbours_apart_after_many_tokens)
{
    enum { LEN = 1500 };
    pairs p;
    pairs_open(&p, "fox", 1, 1, LEN, 1, NULL);
    pairs_param(&p, "b")[0] = 0;
    pairs_param(&p, "w")[0] = 1;
    for (int t = 0; t < LEN; t++) {
        p.t.q[t] = 0;
        p.t.x[t] = t % 3 == 0 ? 20 : (real)(-15 + t % 7 * 0.1);
    }
    refhost_output out = refhost_forward(p.t.host, &p.t.in);
    cr_assert_lt(out.logits[(LEN - 1) * LEN], -14000);
    for (int t = 1; t < LEN; t++) {
        double x = (double)p.t.x[t], want = x > 0 ? -log1p(exp(-x)) : x - log1p(exp(x));
        rig_near((double)out.logits[t * LEN + t - 1], want, 1e-6 * fmax(fabs(want), 1), "decay from the token before");
        cr_assert_eq(out.logits[t * LEN + t], 0, "the own gate is not applied");
    }
    pairs_close(&p);
}

/* Heads 2, 8 and 32 tokens apart after training on 32; a fixed gate is a slope, as in ALiBi. */
Test(contextual, fox_without_data_fades_in_a_geometric_row)
{
    static const char *const texts[] = {"fox(data=independent)", "fox(data=fixed)"};
    static const double times[] = {2, 8, 32};
    for (int n = 0; n < 2; n++) {
        pairs p;
        pairs_open(&p, texts[n], 3, 2, 20, 1, NULL);
        refhost_init(p.t.host, 1);
        memset(p.t.q, 0, p.t.plain * sizeof(real));
        refhost_output out = refhost_forward(p.t.host, &p.t.in);
        for (int h = 0; h < 3; h++)
            for (int i = 0; i < 20; i++)
                for (int j = 0; j <= i; j++)
                    rig_near((double)out.logits[(h * 20 + i) * 20 + j], -(i - j) / times[h], 1e-5, texts[n]);
        cr_assert_eq(refhost_param_count(p.t.host), n == 0 ? 1 : 0);
        pairs_close(&p);
    }
}

/* ------------------------------------------------------------------------------------------------ order in a stack */

static double cope_then_fox(const pairs *p, int h, int i, int j)
{
    return cope_slow(p, h, i, j) + fox_decay(p, h, i, j);
}

/* fox first: gates see decayed scores, and far keys hardly count. cope first: they count fully, and decay later. */
Test(contextual, the_order_of_a_stack_is_meaning)
{
    pairs p;
    double last[2];
    for (int n = 0; n < 2; n++) {
        const char *text = n == 0 ? "fox+cope(positions=30)" : "cope(positions=30)+fox";
        cope.positions = 30;
        cope.scaled = 0;
        cope.sees = n == 0 ? fox_slow : pairs_score;
        pairs_open(&p, text, 2, 4, 40, 1, NULL);
        pairs_expect(&p, n == 0 ? cope_slow : cope_then_fox, 1e-11, 2e-5, text);
        pairs_expect_gradient(&p, text);
        double count = 0;
        for (int l = 0; l < 40; l++)
            count += 1 / (1 + exp(-cope.sees(&p, 0, 39, l)));
        last[n] = count;
        pairs_close(&p);
    }
    cr_assert_lt(last[0], 5, "counts of decayed scores end: %g", last[0]);
    cr_assert_gt(last[1], 15, "counts of plain scores go on: %g", last[1]);
}

/* ------------------------------------------------------------------------------------------------ dape */

static struct {
    int units, kernel, residual;
} dape;

static double dape_input(const pairs *p, int channel, int i, int j)
{
    int h = channel % p->heads;
    double bias = (double)p->bias[(h * p->len + i) * p->len + j];
    return channel < p->heads ? pairs_score(p, h, i, j) : isinf(bias) ? 0 : bias;
}

static double dape_hidden(const pairs *p, int u, int i, int m)
{
    const real *w1 = pairs_param(p, "w1") + (size_t)u * 2 * p->heads * dape.kernel;
    double sum = (double)pairs_param(p, "b1")[u];
    if (m < 0 || m >= p->len || !refhost_visible(p->t.host, i, m))
        return 0;
    for (int tap = 0; tap < dape.kernel; tap++) {
        int key = m + tap - dape.kernel / 2;
        for (int c = 0; c < 2 * p->heads && key >= 0 && key < p->len && refhost_visible(p->t.host, i, key); c++)
            sum += (double)w1[c * dape.kernel + tap] * dape_input(p, c, i, key);
    }
    return sum > 0 ? sum : 0.01 * sum;
}

static double dape_slow(const pairs *p, int h, int i, int j)
{
    const real *w2 = pairs_param(p, "w2") + (size_t)h * dape.units * dape.kernel;
    double bias = (double)p->bias[(h * p->len + i) * p->len + j];
    double sum = pairs_score(p, h, i, j) + (double)pairs_param(p, "b2")[h];
    sum += dape.residual || isinf(bias) ? bias : 0;
    for (int u = 0; u < dape.units; u++)
        for (int tap = 0; tap < dape.kernel; tap++)
            sum += (double)w2[u * dape.kernel + tap] * dape_hidden(p, u, i, j + tap - dape.kernel / 2);
    return sum;
}

/* 100 keys: more than a chunk, so that chunks and the neighbours that they borrow meet. */
Test(contextual, dape_is_the_formula)
{
    for (int n = 0; n < 4; n++) {
        char text[96];
        pairs p;
        dape.kernel = n < 2 ? 1 : 5;
        dape.residual = n % 2 == 0;
        dape.units = 6;
        snprintf(text, sizeof text, "alibi+dape(hidden=6,kernel=%d,residual=%s)", dape.kernel,
                 dape.residual ? "true" : "false");
        pairs_open(&p, text, 3, 4, 100, n != 2, NULL);
        pairs_expect(&p, dape_slow, 1e-11, 2e-5, text);
        pairs_expect_gradient(&p, text);
        pairs_close(&p);
    }
}

Test(contextual, dape_reads_a_removed_key_as_without_bias)
{
    for (int n = 0; n < 4; n++) {
        char text[96];
        pairs p;
        dape.kernel = n < 2 ? 1 : 3;
        dape.residual = n % 2;
        dape.units = 4;
        snprintf(text, sizeof text, "dape(hidden=4,kernel=%d,residual=%s)", dape.kernel, n % 2 ? "true" : "false");
        pairs_open_behind(&p, &specimen_blinkers, text, 2, 4, 30, n % 2);
        pairs_expect(&p, dape_slow, 1e-11, 2e-5, text);
        pairs_expect_gradient(&p, text);
        pairs_close(&p);
    }
}

/* ------------------------------------------------------------------------------------------------ dpb */

static int dpb_is_log;

/* Two hidden layers of 5 units on the signed distance. */
static double dpb_slow(const pairs *p, int h, int i, int j)
{
    double distance = p->settings.pos ? p->settings.pos[i] - p->settings.pos[j] : i - j, first[5], second[5];
    double out = (double)pairs_param(p, "b2")[h];
    if (dpb_is_log)
        distance = distance < 0 ? -log(1 - distance) : log(1 + distance);
    for (int u = 0; u < 5; u++) {
        double z = (double)pairs_param(p, "w0")[u] * distance + (double)pairs_param(p, "b0")[u];
        first[u] = z / (1 + exp(-z));
    }
    for (int u = 0; u < 5; u++) {
        double z = (double)pairs_param(p, "b1")[u];
        for (int v = 0; v < 5; v++)
            z += (double)pairs_param(p, "w1")[u * 5 + v] * first[v];
        second[u] = z / (1 + exp(-z));
        out += (double)pairs_param(p, "w2")[h * 5 + u] * second[u];
    }
    return pairs_score(p, h, i, j) + out;
}

/* 80 keys, more than are taken at once; fractions of positions as they are, in both directions. */
Test(contextual, dpb_is_the_formula)
{
    double pos[80];
    for (int t = 0; t < 80; t++)
        pos[t] = t * 0.75;
    for (int n = 0; n < 4; n++) {
        const char *text = n < 2 ? "dpb(units=5)" : "dpb(units=5,log_distance=true)";
        pairs p;
        dpb_is_log = n >= 2;
        pairs_open(&p, text, 3, 4, 80, n % 2, pos);
        pairs_expect(&p, dpb_slow, 1e-11, 2e-5, text);
        pairs_expect_gradient(&p, text);
        pairs_close(&p);
    }
}
