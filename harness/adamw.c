#include "adamw.h"

#include "adamw_step.h"
#include "vmath.h"

int adamw_create(adamw *o, arena *a, const model *m, const run_config *c, error *e)
{
    *o = (adamw){ .beta1 = c->train.beta1, .beta2 = c->train.beta2, .epsilon = c->train.epsilon,
                  .weight_decay = c->train.weight_decay, .clip = c->train.clip, .decay = c->train.decay };
    o->first = ARENA_NEW(a, real, m->length);
    o->second = ARENA_NEW(a, real, m->length);
    if (!o->first || !o->second)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for the optimiser's moments");
    return 0;
}

int adamw_decays(const adamw *o, const model_param *p)
{
    switch (o->decay) {
    case CONFIG_DECAY_MATRICES:
        return p->matrix;
    case CONFIG_DECAY_TWO_DIM:
        return p->rows > 1;
    default:
        return 1;
    }
}

double adamw_update(adamw *o, model *m, double lr)
{
    double norm = sqrt(vmath_sum_squares(m->grad, m->length));
    if (isfinite(norm)) {
        double scale = o->clip > 0 && norm + 1e-6 > o->clip ? o->clip / (norm + 1e-6) : 1;
        o->step++;
        adamw_rates rates = { .scale = (real)scale, .beta1 = (real)o->beta1, .beta2 = (real)o->beta2,
                              .rate = (real)(lr / (1 - pow(o->beta1, o->step))),
                              .inverse_root = (real)(1 / sqrt(1 - pow(o->beta2, o->step))),
                              .epsilon = (real)o->epsilon };
        for (int i = 0; i < m->params_count; i++) {
            const model_param *p = &m->params[i];
            rates.keep = (real)(adamw_decays(o, p) ? 1 - lr * o->weight_decay : 1);
            adamw_step(&rates, m->value + p->offset, m->grad + p->offset, o->first + p->offset, o->second + p->offset,
                       model_param_length(p));
        }
        model_changed(m);
    } else {
        memset(m->grad, 0, sizeof(real) * m->length);
    }
    return norm;
}
