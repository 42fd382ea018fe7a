/* rig.h - one stack under one shape at given positions, so that tests can call hooks directly. */
#ifndef RIG_H
#define RIG_H

#include <stdint.h>

#include "registry.h"

typedef struct rig {
    registry *r;
    pe_stack stack;
    const pe_descriptor *d; /* the stack's first member; the other members are not looked at */
    pe_shape shape;
    pe_context c; /* filled for d: options, positions, cache, parameters */
    pe_param param[PE_PARAMS_MAX];
    real *theta[PE_PARAMS_MAX], *dtheta[PE_PARAMS_MAX]; /* [rows][cols], all 0 */
    int params;
    void *cache;
    double *pos;
} rig;

/* Two layers, width = heads * head_dim. */
pe_shape rig_shape(int heads, int head_dim, int train_len, int causal);

/* Fails the test if the stack is refused. pos == NULL: 0, 1, 2 ... */
void rig_open(rig *g, const char *text, pe_shape shape, const double *pos, int len);
void rig_close(rig *g);

/* The whole len x len tile, filled for a bias: plane = len*len, stride = len. */
pe_tile rig_tile(const rig *g);

/* bias[heads][len][len] (=) for all keys that are visible; the rest 0. */
void rig_bias(const rig *g, real *bias);

/* How far a result of a few operations on numbers around 1 may be off: 1e-6 in float, 1e-12 in double. */
double rig_tolerance(void);

/* Fails the test unless |got - want| <= margin. */
void rig_near(double got, double want, double margin, const char *what);

/* Reproducible numbers in -0.5 .. 0.5. */
double rig_noise(uint32_t *state);

#endif
