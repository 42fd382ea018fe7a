#include "gradient.h"

#include <float.h>
#include <stdio.h>

#include "dice.h"
#include "trial.h"

enum { GRADIENT_PARAM_SAMPLE = 200, GRADIENT_INPUT_SAMPLE = 12 };

/* Two central differences, combined so that the error falls with the fourth power of the step. With values around 1 and
 * a step of 1e-3 truncation and rounding both stay near 1e-12. *noise (=): what the rounding of the loss can do to the
 * difference; it matters where a bias is large. */
static double gradient_difference(trial *t, real *value, double step, double *noise)
{
    real start = *value;
    double slope[2], size;
    for (int half = 0; half < 2; half++) {
        double h = half ? step / 2 : step;
        real up = (real)((double)start + h), down = (real)((double)start - h);
        *value = up;
        double above = trial_loss(t, &size);
        *value = down;
        double below = trial_loss(t, NULL);
        slope[half] = (above - below) / ((double)up - (double)down);
    }
    *value = start;
    *noise = 4 * DBL_EPSILON * size / step;
    return (4 * slope[1] - slope[0]) / 3;
}

/* Relative; where it is too large, what the noise explains is taken off. */
static double gradient_error(double hook, double difference, double noise)
{
    double gap = fabs(hook - difference), size = fmax(fmax(fabs(hook), fabs(difference)), GRADIENT_FLOOR);
    if (isnan(gap))
        return INFINITY;
    return gap / size <= GRADIENT_TOLERANCE ? gap / size : fmax(gap - noise, 0) / size;
}

/* One derivative. A step that straddles a kink (the bend of a ReLU, an interpolation's knot) gives a wrong difference,
 * so a disagreement is looked at again with smaller steps; a wrong hook is wrong at every step. Kinks are dense where a
 * network reads a large bias: there the smallest step is needed. */
static void gradient_compare(trial *t, real *value, double hook, const char *name, size_t at, size_t cols,
                             const trial_case *c, gradient_report *out)
{
    static const double steps[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7};
    double difference = 0, relative = INFINITY;
    for (int i = 0; i < 5 && relative > GRADIENT_TOLERANCE; i++) {
        double noise, d = gradient_difference(t, value, steps[i], &noise), found = gradient_error(hook, d, noise);
        if (i == 0 || found < relative) {
            difference = d;
            relative = found;
        }
    }
    out->derivatives++;
    out->worst = fmax(out->worst, relative);
    if (relative > GRADIENT_TOLERANCE && out->failures++ == 0)
        snprintf(out->message, sizeof out->message, "gradient of %s[%zu][%zu]: expected %.12g, got %.12g (%s)", name,
                 at / cols, at % cols, difference, hook, c->name);
}

/* Whole tensors where they are small; otherwise drawn elements. reached: some derivative was not 0. */
static void gradient_compare_all(trial *t, real *values, const real *gradient, size_t count, size_t cols, size_t sample,
                                 const char *name, const trial_case *c, int *reached, gradient_report *out)
{
    dice d = {count};
    for (size_t i = 0; i < count && i < sample; i++) {
        size_t at = count <= sample ? i : dice_below(&d, count);
        gradient_compare(t, values + at, (double)gradient[at], name, at, cols, c, out);
    }
    for (size_t i = 0; i < count; i++)
        *reached |= gradient[i] != 0;
}

static int gradient_check_case(const pe_stack *stack, const trial_case *c, int *reached, gradient_report *out, error *e)
{
    refhost_settings settings = trial_settings(c);
    trial t;
    trial_result analytic;
    if (trial_open(&t, stack, &settings, 3, e) < 0)
        return -1;
    if (trial_run(&t, &analytic, e) < 0) {
        trial_close(&t);
        return -1;
    }
    struct {
        const char *name;
        real *values;
        int section;
    } inputs[] = {{"q", t.q, TRIAL_DQ}, {"k", t.k, TRIAL_DK}, {"v", t.v, TRIAL_DV}, {"x", t.x, TRIAL_DX}};
    for (int i = 0; i < 4; i++) {
        int ignored = 0;
        gradient_compare_all(&t, inputs[i].values, analytic.values + analytic.section[inputs[i].section].begin, t.plain,
                             (size_t)c->shape.width, GRADIENT_INPUT_SAMPLE, inputs[i].name, c, &ignored, out);
    }
    for (int i = 0; i < refhost_param_count(t.host); i++) {
        const refhost_param *p = refhost_param_at(t.host, i);
        gradient_compare_all(&t, p->theta, analytic.values + analytic.section[TRIAL_PARAMS + i].begin, p->count,
                             (size_t)p->about.cols, GRADIENT_PARAM_SAMPLE, p->about.name, c, &reached[i], out);
    }
    trial_result_free(&analytic);
    trial_close(&t);
    return 0;
}

/* A parameter without any influence would pass all comparisons. */
static void gradient_expect_reached(const pe_stack *stack, const trial_case *c, const int *reached,
                                    gradient_report *out)
{
    int n = 0;
    for (int m = 0; m < stack->count; m++) {
        const stack_member *member = &stack->member[m];
        pe_param about[PE_PARAMS_MAX];
        int count = member->encoding->params ? member->encoding->params(member->options, &c->shape, about) : 0;
        for (int i = 0; i < count; i++, n++)
            if (!reached[n] && out->failures++ == 0)
                snprintf(out->message, sizeof out->message, "gradient of %s.%s is 0 in every case",
                         member->encoding->name, about[i].name);
    }
}

int gradient_check(const pe_stack *stack, gradient_report *out, error *e)
{
    trial_case cases[TRIAL_CASES_MAX];
    int reached[PE_PARAMS_MAX * STACK_MEMBERS_MAX] = {0};
    *out = (gradient_report){.worst = 0};
    out->cases = trial_cases(stack, cases, e);
    if (out->cases == 0)
        return -1;
    for (int i = 0; i < out->cases; i++)
        if (gradient_check_case(stack, &cases[i], reached, out, e) < 0)
            return -1;
    gradient_expect_reached(stack, &cases[0], reached, out);
    return 0;
}
