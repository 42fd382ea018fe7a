/* stack_check.c - what can be said about a stack before anything runs. */
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>

static int stack_check_member(const stack_member *m, const pe_shape *shape, error *e)
{
    const pe_descriptor *d = m->encoding;
    if (d->causal_only && !shape->causal)
        return error_set(e, ERROR_USAGE, "%s has no meaning without a causal mask", d->name);
    char message[512] = "";
    if (d->check && d->check(m->options, shape, message, sizeof message) != 0)
        return error_set(e, ERROR_USAGE, "%s: %s", d->name, message);
    return 0;
}

static int stack_check_pair(const pe_descriptor *a, const pe_descriptor *b, error *e)
{
    if (a == b)
        return error_set(e, ERROR_USAGE, "%s stands twice in the stack", a->name);
    if (a->rotate && b->rotate)
        return error_set(e, ERROR_USAGE, "%s and %s both rotate q and k; a stack has room for one that does", a->name,
                         b->name);
    return 0;
}

/* A member that takes q and k for vectors of head_dim reals, beside one whose rotation makes them longer. */
static int stack_check_width(const pe_stack *s, const stack_member *m, const pe_shape *shape, error *e)
{
    for (int i = 0; m->encoding->reads_heads && i < s->count; i++) {
        const pe_descriptor *d = s->member[i].encoding;
        int dim = d->rotated_dim ? d->rotated_dim(s->member[i].options, shape) : shape->head_dim;
        if (dim != shape->head_dim)
            return error_set(e, ERROR_USAGE,
                             "%s reads q and k as vectors of head_dim %d, but beside %s they have %d dimensions",
                             m->encoding->name, shape->head_dim, d->name, dim);
    }
    return 0;
}

static int stack_check_order(const pe_stack *s, const stack_member *m, error *e)
{
    if (!s->map->unordered || !m->encoding->needs_order)
        return 0;
    return error_set(e, ERROR_USAGE, "%s needs positions that do not decrease, but under the map %s they may",
                     m->encoding->name, s->map->name);
}

/* Where a token of a training sequence of `len` tokens may stand at most. Random maps are asked with the largest
 * numbers they can be handed. given[len]: what a task proposes, or NULL. Returns 0, or -1 when memory is short. */
static int stack_farthest(const pe_stack *s, const pe_shape *shape, int len, const double *given, double *farthest,
                          error *e)
{
    pe_map_context c = {.options = s->map_options,
                        .len = len,
                        .total_len = len,
                        .train_len = shape->train_len,
                        .training = 1,
                        .last_position = stack_last_position(s, shape),
                        .given = given};
    size_t draws = 0, scratch = 0;
    if (s->map->needs)
        s->map->needs(&c, &draws, &scratch);
    double *memory = calloc((size_t)len + draws + scratch, sizeof *memory);
    if (!memory)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    double *pos = memory, *uniform = memory + len;
    for (size_t i = 0; i < draws; i++)
        uniform[i] = nextafter(1.0, 0.0);
    c.uniform = uniform;
    c.scratch = uniform + draws;
    s->map->place(&c, pos);
    *farthest = pos[len - 1];
    for (int t = 0; s->map->unordered && t < len; t++)
        *farthest = fmax(*farthest, pos[t]);
    free(memory);
    return 0;
}

/* Training past a table would read rows that do not exist. who: "a training sequence of 64 tokens". */
static int stack_check_farthest(const pe_stack *s, const pe_shape *shape, double farthest, const char *who, error *e)
{
    for (int i = 0; i < s->count; i++) {
        const pe_descriptor *d = s->member[i].encoding;
        double last = d->last_position ? d->last_position(s->member[i].options, shape) : INFINITY;
        if (farthest > last)
            return error_set(e, ERROR_USAGE,
                             "%s: %s reaches position %g (map %s), but the last that has a meaning is %g: its usable "
                             "length is %g",
                             d->name, who, farthest, s->map->name, last, floor(last) + 1);
    }
    return 0;
}

/* Maps that take positions from the task are left to stack_check_given. */
int stack_check_reach(const pe_stack *s, const pe_shape *shape, int len, error *e)
{
    if (s->map->needs_given || len < 1)
        return 0;
    double farthest = 0;
    char who[64];
    snprintf(who, sizeof who, "a training sequence of %d tokens", len);
    if (stack_farthest(s, shape, len, NULL, &farthest, e) != 0)
        return -1;
    return stack_check_farthest(s, shape, farthest, who, e);
}

int stack_check_given(const pe_stack *s, const pe_shape *shape, double farthest, error *e)
{
    double reached = 0;
    if (!s->map->needs_given)
        return 0;
    if (stack_farthest(s, shape, 1, &farthest, &reached, e) != 0)
        return -1;
    return stack_check_farthest(s, shape, reached, "training", e);
}

static int stack_check_map(const pe_stack *s, const pe_shape *shape, int max_len, error *e)
{
    char message[512] = "";
    const pe_map *m = s->map;
    if ((m->check && m->check(s->map_options, shape->train_len, max_len, message, sizeof message) != 0) ||
        (m->check_last && m->check_last(s->map_options, stack_last_position(s, shape), message, sizeof message) != 0))
        return error_set(e, ERROR_USAGE, "%s: %s", m->name, message);
    return 0;
}

int stack_check(const pe_stack *s, const pe_shape *shape, int max_len, error *e)
{
    for (int i = 0; i < s->count; i++) {
        const stack_member *m = &s->member[i];
        if (stack_check_member(m, shape, e) != 0 || stack_check_width(s, m, shape, e) != 0 ||
            stack_check_order(s, m, e) != 0)
            return -1;
        for (int j = 0; j < i; j++)
            if (stack_check_pair(s->member[j].encoding, s->member[i].encoding, e) != 0)
                return -1;
    }
    if (stack_check_map(s, shape, max_len, e) != 0)
        return -1;
    return stack_check_reach(s, shape, shape->train_len, e);
}

double stack_last_position(const pe_stack *s, const pe_shape *shape)
{
    double last = INFINITY;
    for (int i = 0; i < s->count; i++) {
        const pe_descriptor *d = s->member[i].encoding;
        if (d->last_position)
            last = fmin(last, d->last_position(s->member[i].options, shape));
    }
    return last;
}

unsigned stack_member_claims(const stack_member *m)
{
    return m->encoding->claims_with ? m->encoding->claims_with(m->options) : m->encoding->claims;
}

unsigned stack_member_idle(const stack_member *m)
{
    return m->encoding->idle_with ? m->encoding->idle_with(m->options) : 0;
}

/* A rotation keeps products of q and k shift-invariant, but not q and k themselves, which another member may read. */
unsigned stack_claims(const pe_stack *s)
{
    unsigned claims = ~0u;
    for (int i = 0; i < s->count; i++) {
        claims &= stack_member_claims(&s->member[i]);
        for (int k = 0; k < s->count; k++)
            if (k != i && s->member[i].encoding->rotate && s->member[k].encoding->reads_heads)
                claims &= ~(unsigned)PE_SHIFT_INVARIANT;
    }
    return claims;
}
