/* network_gradient.h - gradients of a whole network against differences of its loss. In double only: in float the limits
 * would have to be so loose that real faults pass. */
#ifndef NETWORK_GRADIENT_H
#define NETWORK_GRADIENT_H

#include "network_fixture.h"

/* Central differences with one Richardson step, for every parameter (a sample of the large ones). */
static inline double network_slope(fixture *f, real *where)
{
    real keep = *where;
    double slope[2];
    for (int half = 0; half < 2; half++) {
        double h = half ? 5e-5 : 1e-4;
        *where = keep + (real)h;
        double up = fixture_loss(f, 1);
        *where = keep - (real)h;
        slope[half] = (up - fixture_loss(f, 1)) / (2 * h);
    }
    *where = keep;
    return (4 * slope[1] - slope[0]) / 3;
}

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
            double got = (double)f.model.grad[i], want = network_slope(&f, &f.model.value[i]);
            cr_assert(fabs(got - want) <= 1e-6 * (fabs(want) + 0.01 * norm + 1e-4), "%s [%s]: d/d%s[%zu] is %.12g, not %.12g",
                      encoding, settings, param->name, i - param->offset, got, want);
        }
    }
    fixture_close(&f);
}

#endif
