#include "pairs.h"

#include <criterion/criterion.h>

#include "dice.h"

static void pairs_start(pairs *p, const pe_descriptor *first, const char *text, int heads, int dim, int len, int causal,
                        const double *pos)
{
    error e = ERROR_INIT;
    memset(p, 0, sizeof *p);
    p->heads = heads;
    p->dim = dim;
    p->width = heads * dim;
    p->len = len;
    p->scale = 1 / sqrt(dim);
    p->settings = (refhost_settings){.shape = {p->width, heads, dim, 2, 32, causal},
                                     .len = len,
                                     .pos = pos,
                                     .garbage = 1e4,
                                     .tile_rows = 37,
                                     .pad = 3};
    p->r = registry_new(&e);
    cr_assert(p->r && stack_parse(p->r, text, &p->stack, &e) == 0, "%s", e.message);
    if (first) {
        memmove(p->stack.member + 1, p->stack.member, (size_t)p->stack.count++ * sizeof p->stack.member[0]);
        p->stack.member[0] = (stack_member){first, NULL};
    }
    cr_assert_eq(stack_check(&p->stack, &p->settings.shape, len, &e), 0, "%s", e.message);
    cr_assert_eq(trial_open(&p->t, &p->stack, &p->settings, 17, &e), 0, "%s", e.message);
    p->t.in.weights = NULL;
}

void pairs_open(pairs *p, const char *text, int heads, int dim, int len, int causal, const double *pos)
{
    pairs_start(p, NULL, text, heads, dim, len, causal, pos);
}

void pairs_open_behind(pairs *p, const pe_descriptor *first, const char *text, int heads, int dim, int len, int causal)
{
    pairs_start(p, first, text, heads, dim, len, causal, NULL);
}

void pairs_close(pairs *p)
{
    trial_close(&p->t);
    stack_free(&p->stack);
    registry_free(p->r);
}

real *pairs_param(const pairs *p, const char *name)
{
    for (int i = 0; i < refhost_param_count(p->t.host); i++)
        if (strcmp(refhost_param_at(p->t.host, i)->about.name, name) == 0)
            return refhost_param_at(p->t.host, i)->theta;
    cr_assert_fail("there is no parameter %s", name);
    return NULL;
}

double pairs_dot(const real *a, const real *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

const real *pairs_q(const pairs *p, int h, int i)
{
    return p->t.q + (size_t)i * p->width + (size_t)h * p->dim;
}

const real *pairs_k(const pairs *p, int h, int j)
{
    return p->t.k + (size_t)j * p->width + (size_t)h * p->dim;
}

double pairs_score(const pairs *p, int h, int i, int j)
{
    return p->scale * pairs_dot(pairs_q(p, h, i), pairs_k(p, h, j), p->dim);
}

void pairs_expect(pairs *p, pairs_slow *slow, double margin, double margin_float, const char *what)
{
    refhost_output out = refhost_forward(p->t.host, &p->t.in);
    p->bias = out.bias;
    double allowed = sizeof(real) == sizeof(double) ? margin : margin_float;
    for (int h = 0; h < p->heads; h++)
        for (int i = 0; i < p->len; i++)
            for (int j = 0; j < p->len; j++) {
                if (!refhost_visible(p->t.host, i, j))
                    continue;
                double want = slow(p, h, i, j), got = (double)out.logits[(h * p->len + i) * p->len + j];
                cr_assert(got == want || fabs(got - want) <= allowed * fmax(1, fabs(want)),
                          "%s: head %d, query %d, key %d: %.12g, not %.12g", what, h, i, j, got, want);
            }
    cr_assert_null(refhost_fault(p->t.host));
}

#ifdef PE_REAL_DOUBLE
/* Two central differences, so that the error falls with the fourth power of the step. */
static double pairs_difference(pairs *p, real *value, double step)
{
    real start = *value;
    double slope[2];
    for (int i = 0; i < 2; i++) {
        double h = i == 0 ? step : step / 2;
        *value = start + h;
        double above = trial_loss(&p->t, NULL);
        *value = start - h;
        slope[i] = (above - trial_loss(&p->t, NULL)) / (2 * h);
    }
    *value = start;
    return (4 * slope[1] - slope[0]) / 3;
}

/* A step over a kink is taken again, smaller; a wrong hook is wrong at every step. */
static void pairs_compare(pairs *p, real *values, const real *gradient, size_t count, const char *name,
                          const char *what)
{
    static const double steps[] = {1e-5, 1e-6, 1e-7};
    dice d = {count + 5};
    for (int n = 0; n < 8; n++) {
        size_t at = dice_below(&d, count);
        double got = gradient[at], want = 0;
        int right = 0;
        for (int i = 0; i < 3 && !right; i++) {
            want = pairs_difference(p, values + at, steps[i]);
            right = fabs(got - want) <= 1e-6 * fmax(1, fabs(want)); /* the loss sums 30000 terms */
        }
        cr_assert(right, "%s: gradient of %s[%zu]: %.12g, not %.12g", what, name, at, got, want);
    }
}

void pairs_expect_gradient(pairs *p, const char *what)
{
    error e = ERROR_INIT;
    trial_result r;
    cr_assert_eq(trial_run(&p->t, &r, &e), 0, "%s", e.message);
    pairs_compare(p, p->t.q, r.values + r.section[TRIAL_DQ].begin, p->t.plain, "q", what);
    pairs_compare(p, p->t.k, r.values + r.section[TRIAL_DK].begin, p->t.plain, "k", what);
    pairs_compare(p, p->t.x, r.values + r.section[TRIAL_DX].begin, p->t.plain, "x", what);
    for (int i = 0; i < refhost_param_count(p->t.host); i++) {
        const refhost_param *param = refhost_param_at(p->t.host, i);
        pairs_compare(p, param->theta, r.values + r.section[TRIAL_PARAMS + i].begin, param->count, param->about.name,
                      what);
    }
    trial_result_free(&r);
}
#else
void pairs_expect_gradient(pairs *p, const char *what)
{
    (void)p;
    (void)what;
}
#endif
