/* spec_extend.c - methods of extension: one that means nothing for an encoding gives rows that say so, so that a grid
 * may hold several encodings; one that means nothing for all of them is a mistake. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "extend.h"
#include "spec_grid.h"

/* The encodings of the runs, parsed; neighbours have one in common. The caller frees each and the array; NULL: memory
 * is short. */
static layered_stack *spec_extend_stacks(const spec_draft *d, int *count)
{
    const spec *s = d->out;
    layered_stack *stacks = calloc((size_t)s->count + 1, sizeof *stacks);
    *count = 0;
    for (int i = 0; stacks && i < s->count; i++) {
        error ignored = ERROR_INIT; /* the grid has parsed them */
        int known = i > 0 && strcmp(s->runs[i - 1].encoding, s->runs[i].encoding) == 0;
        if (!known && layered_parse(d->registry, s->runs[i].encoding, &stacks[*count], &ignored) == 0)
            (*count)++;
    }
    return stacks;
}

/* Where the methods stand: at the top level, or in an override. */
static const yaml_node *spec_extend_node(const spec_draft *d, const char *methods)
{
    int row = spec_row_at(offsetof(run_config, extend.methods));
    const yaml_node *at = d->root;
    for (int i = -1; i < d->rules_count; i++) {
        const spec_axis *axis = i < 0 ? &d->axes.row[row] : &d->rules[i].set.row[row];
        for (int k = 0; k < axis->count; k++)
            if (strcmp(axis->choices[k].text, methods) == 0)
                at = axis->choices[k].at;
    }
    return at;
}

int spec_extend_check(spec_draft *d, error *e)
{
    const char *last = "";
    int count = 0, wanted = 0;
    for (int i = 0; i < d->out->count; i++)
        wanted |= extend_is_on(&d->out->runs[i]);
    if (d->faults->count || !wanted)
        return 0;
    layered_stack *stacks = spec_extend_stacks(d, &count);
    if (!stacks)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    for (int i = 0; i < d->out->count; i++) {
        const run_config *c = &d->out->runs[i];
        extend_words m;
        if (strcmp(last, c->extend.methods) == 0)
            continue;
        last = c->extend.methods;
        extend_read(c, &m);
        for (int k = 0; k < m.count && d->faults->count == 0; k++) {
            error fault = ERROR_INIT;
            if (layered_check_method(d->registry, stacks, count, m.name[k], &fault) < 0)
                yaml_fault_at(d->faults, spec_extend_node(d, c->extend.methods), "extend.methods: %s", fault.message);
        }
    }
    for (int i = 0; i < count; i++)
        layered_free(&stacks[i]);
    free(stacks);
    return 0;
}
