/* network_gradient.h - gradients of a whole network against differences of its loss. In double only: in float the limits
 * would have to be so loose that real faults pass. */
#ifndef NETWORK_GRADIENT_H
#define NETWORK_GRADIENT_H

#include "network_fixture.h"

/* Central differences with one Richardson step. */
static inline double network_slope(fixture *f, real *where, double step)
{
    real keep = *where;
    double slope[2];
    for (int half = 0; half < 2; half++) {
        double h = half ? step / 2 : step;
        double side[2];
        for (int down = 0; down < 2; down++) {
            *where = keep + (real)(down ? -h : h);
            model_changed(&f->model);
            side[down] = fixture_loss(f, 1);
        }
        slope[half] = (side[0] - side[1]) / (2 * h);
    }
    *where = keep;
    model_changed(&f->model);
    return (4 * slope[1] - slope[0]) / 3;
}

/* A step across a kink (an encoding's ReLU) gives a wrong difference: the smaller ones may not. Their rounding is allowed
 * for: the loss is a sum of some tens of numbers around 3. Returns whether one agrees; *want (=): the last one. */
static inline int network_agrees(fixture *f, real *where, double got, double floor, double *want)
{
    static const double steps[] = { 1e-4, 1e-5, 1e-6 };
    for (int i = 0; i < 3; i++) {
        double noise = i == 0 ? 0 : 1e-13 / steps[i];
        *want = network_slope(f, where, steps[i]);
        if (fabs(got - *want) <= 1e-6 * (fabs(*want) + floor) + noise)
            return 1;
    }
    return 0;
}

/* For every parameter, a sample of the large ones. */
static inline void network_gradient(const char *encoding, const char *settings)
{
    fixture f;
    fixture_open(&f, encoding, settings, 9, 1);
    fixture_draw(&f, 1, 4, 0);
    fixture_loss(&f, 1);
    model_backward(&f.model, &f.work, &f.batch);
    rng r = rng_stream(17, RNG_TEST, 0, 0);
    for (int p = 0; p < f.model.params_count; p++) {
        const model_param *param = &f.model.params[p];
        size_t n = model_param_length(param), tries = n < 12 ? n : 12;
        double norm = 0;
        for (size_t i = 0; i < n; i++)
            norm = fmax(norm, fabs((double)f.model.grad[param->offset + i]));
        for (size_t k = 0; k < tries; k++) {
            size_t i = param->offset + (n < 12 ? k : rng_below(&r, (uint32_t)n));
            double got = (double)f.model.grad[i], want;
            cr_assert(network_agrees(&f, &f.model.value[i], got, 0.01 * norm + 1e-4, &want),
                      "%s [%s]: d/d%s[%zu] is %.12g, not %.12g", encoding, settings, param->name, i - param->offset, got,
                      want);
        }
    }
    fixture_close(&f);
}

#endif
