/* profile.c - which parts a profile has, and where they come from: a file, or the hooks of a network. */
#include "profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "gemm.h"
#include "probe.h"
#include "profile_network.h"
#include "subnormals.h"

enum { PROFILE_ROWS_OF_A_STACK = 128 };

void profile_free(profile *p)
{
    profile_table_free(&p->table);
    profile_bias_free(p->bias, p->biases);
    profile_rotary_free(p->rotary, p->rotaries);
    profile_attention_free(&p->attention);
    probe_read_free(&p->hidden);
    *p = (profile){0};
}

int profile_file(const char *target, int rows, profile *out, error *e)
{
    table t;
    *out = (profile){.kind = PROFILE_FILE};
    snprintf(out->target, sizeof out->target, "%s", target);
    if (table_read(target, &t, e) < 0)
        return -1;
    int status = 0, most = rows ? rows : PROFILE_ROWS_MAX;
    if (rows > t.rows)
        status = error_set(e, ERROR_USAGE, "%s has %d rows, not %d", target, t.rows, rows);
    out->cut = t.rows > most ? t.rows - most : 0;
    out->rows = t.rows -= out->cut;
    if (status == 0 && profile_table_make(&t, &out->table, e) < 0)
        status = error_prefix(e, "%s", target);
    out->has_table = status == 0;
    table_free(&t);
    return status;
}

/* ------------------------------------------------------------------------------------------------ hooks */

/* What encodings add to token vectors of zeros. */
static int network_table(look *k, profile *out, error *e)
{
    size_t count = (size_t)k->len * (size_t)k->m->shape.width;
    real *x = calloc(count, sizeof *x);
    table t;
    if (!x)
        return error_set(e, ERROR_ENVIRONMENT, "no memory for a table of %d rows", k->len);
    look_embed(k, x);
    int status = table_create(&t, k->len, k->m->shape.width, out->target, e);
    for (size_t i = 0; i < count && status == 0; i++)
        t.value[i] = (double)x[i];
    free(x);
    if (status == 0)
        status = profile_table_make(&t, &out->table, e);
    out->has_table = status == 0;
    table_free(&t);
    return status;
}

int profile_network_positions(look *k, profile *out, error *e)
{
    if (k->m->embed.count && network_table(k, out, e) < 0)
        return -1;
    return profile_bias_make(k, &out->bias, &out->biases, e) < 0 ||
                   profile_rotary_make(k, &out->rotary, &out->rotaries, e) < 0
               ? -1
               : 0;
}

int profile_network_place(look *k, int rows, error *e)
{
    double farthest = look_place(k, rows, 0, 0, NULL);
    if (farthest <= k->m->last_position)
        return 0;
    return error_set(e, ERROR_USAGE, "%d rows reach position %g; the last that has a meaning is %g", rows, farthest,
                     k->m->last_position);
}

void profile_network_begin(void)
{
    gemm_use_one_thread();
    subnormals_flush();
}

/* ------------------------------------------------------------------------------------------------ a stack */

static int stack_enters_attention(const model *m)
{
    for (int l = 0; l < m->shape.layers; l++) {
        const attention_layer *a = &m->attention[l];
        if (a->rotating >= 0 || a->has_bias || a->has_score || a->has_value || a->has_gate)
            return 1;
    }
    return 0;
}

static double stack_end(const layered_stack *stacks, const pe_shape *shape)
{
    double end = INFINITY;
    for (int i = 0; i < stacks->count; i++)
        end = fmin(end, stack_last_position(&stacks->pattern[i], shape));
    return end;
}

/* How many positions to look at: what was asked for, or as many as have a meaning. */
static int stack_rows(const layered_stack *stacks, const pe_shape *shape, int rows)
{
    double end = stack_end(stacks, shape);
    return rows ? rows : end + 1 < PROFILE_ROWS_OF_A_STACK ? (int)floor(end) + 1 : PROFILE_ROWS_OF_A_STACK;
}

static int stack_check_shape(const run_config *c, const layered_stack *stacks, pe_shape *shape, int *rows, error *e)
{
    if (c->model.width % c->model.heads)
        return error_set(e, ERROR_USAGE, "model.heads=%d does not divide model.width=%d", c->model.heads,
                         c->model.width);
    if (stacks->pattern[0].map->needs_given)
        return error_set(e, ERROR_USAGE, "@%s takes positions from a task; profile a trained run instead",
                         stacks->pattern[0].map->name);
    *shape = (pe_shape){.width = c->model.width,
                        .heads = c->model.heads,
                        .head_dim = c->model.width / c->model.heads,
                        .layers = c->model.layers,
                        .causal = c->model.causal,
                        .train_len = *rows ? *rows : PROFILE_ROWS_OF_A_STACK};
    *rows = stack_rows(stacks, shape, *rows);
    shape->train_len = *rows;
    return layered_check(stacks, shape, *rows, e);
}

static int stack_look(const model *m, profile *out, error *e)
{
    look k;
    int status = look_open(&k, m, NULL, NULL, out->rows, e);
    if (status == 0)
        status = profile_network_place(&k, out->rows, e);
    if (status == 0)
        status = profile_network_positions(&k, out, e);
    if (status == 0 && stack_enters_attention(m)) {
        status = profile_attention_random(&k, &out->attention, e);
        out->has_attention = status == 0;
    }
    look_close(&k);
    return status;
}

int profile_stack(const run_config *c, const registry *r, int rows, profile *out, error *e)
{
    arena memory = {NULL, 0};
    layered_stack stacks;
    model m;
    pe_shape shape;
    *out = (profile){.kind = PROFILE_STACK, .config = *c};
    if (layered_parse(r, c->encoding, &stacks, e) < 0)
        return -1;
    layered_print(&stacks, out->target, sizeof out->target);
    profile_network_begin();
    int status = stack_check_shape(c, &stacks, &shape, &rows, e);
    out->rows = rows;
    if (status == 0)
        status = model_create(&m, &memory, c, &stacks, 1, rows, 0, e);
    if (status == 0) {
        model_init(&m, (uint64_t)c->seed);
        status = stack_look(&m, out, e);
    }
    layered_free(&stacks);
    arena_free(&memory);
    return status;
}
