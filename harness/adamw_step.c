#include "adamw_step.h"

/* Plain arrays and factors only, so that the loop vectorises. */
static void adamw_step_loop(adamw_rates k, real *restrict w, real *restrict gradient, real *restrict first,
                            real *restrict second, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        real g = gradient[i] * k.scale;
        first[i] = k.beta1 * first[i] + (1 - k.beta1) * g;
        second[i] = k.beta2 * second[i] + (1 - k.beta2) * g * g;
#if defined(PE_REAL_DOUBLE)
        real root = sqrt(second[i]);
#else
        real root = sqrtf(second[i]);
#endif
        w[i] = w[i] * k.keep - k.rate * first[i] / (root * k.inverse_root + k.epsilon);
        gradient[i] = 0;
    }
}

void adamw_step(const adamw_rates *rates, real *w, real *gradient, real *first, real *second, size_t n)
{
    adamw_step_loop(*rates, w, gradient, first, second, n);
}
