/* refhost_private.h - the inside of the reference host, shared by its three files. */
#ifndef REFHOST_PRIVATE_H
#define REFHOST_PRIVATE_H

#include "refhost.h"
#include "zone.h"

typedef struct refhost_tile {
    pe_tile about; /* what hooks get, except gate and bias, which differ by member */
    real *s, *bias, *p, *ds, *dp, *dbias;
    real *save[STACK_MEMBERS_MAX]; /* NULL without a score hook */
} refhost_tile;

struct refhost {
    const pe_stack *stack;
    refhost_settings settings;
    int dim;                       /* reals per head after rotate */
    int token_stride, head_stride; /* of q, k, v and their gradients */
    int o_stride;
    double scale;
    zone_set zones;

    pe_shape *shape; /* in a zone, as are pos and mask */
    double *pos;
    unsigned char *mask;
    void *cache[STACK_MEMBERS_MAX];
    real *gate[STACK_MEMBERS_MAX], *dgate[STACK_MEMBERS_MAX];
    pe_context context[STACK_MEMBERS_MAX];
    const real **theta[STACK_MEMBERS_MAX];
    real **dtheta[STACK_MEMBERS_MAX];
    refhost_param *param;
    int param_count;

    real *x, *dx;                   /* [len][width] */
    real *q, *k, *v, *dq, *dk, *dv; /* [len][heads][...] with strides */
    real *o, *d_o;                  /* [len] rows of o_stride */
    refhost_tile *tile;
    int tile_count;

    real *out_logits, *out_bias, *out_p, *out_o; /* without gaps, for the caller */
    real *grad_q, *grad_k, *grad_v;
    char fault[256];
};

/* Around every hook call of a watching host. writable: NULL-ended. */
void refhost_hook_begin(refhost *h);
void refhost_hook_end(refhost *h, int member, const char *hook, const void *const *writable);

/* The tile as this member may see it. */
pe_tile refhost_view(const refhost *h, const refhost_tile *t, int member, int for_bias);

/* A watching host starts what hooks add to from a pattern, and takes the pattern away afterwards: a hook that assigns
 * instead of adding destroys it. Multiples of 1/8 up to 15/8, so that this costs no more than a rounding. */
static inline real refhost_pattern(int a, int b, int c)
{
    return (real)((a * 5 + b * 3 + c * 7) % 16) / 8;
}

/* Whether entry (i, j) lies beyond the causal limit: garbage, never looked at. */
static inline int refhost_beyond(const refhost *h, int i, int j)
{
    return h->shape->causal && j > i;
}

#endif
