#include "exposure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ memory */

static int exposure_new_table(run_exposure_table *t, const model_param *p)
{
    size_t rows = (size_t)p->rows;
    *t = (run_exposure_table){.offset = p->offset, .rows = p->rows, .cols = p->cols};
    memcpy(t->name, p->name, sizeof t->name);
    t->first_norm = calloc(rows, sizeof *t->first_norm);
    t->norm = calloc(rows, sizeof *t->norm);
    t->met = calloc(rows * RUN_PHASES, sizeof *t->met);
    return t->first_norm && t->norm && t->met ? 0 : -1;
}

void exposure_free(run_exposure *x)
{
    if (!x)
        return;
    for (int i = 0; i < x->tables; i++) {
        free(x->table[i].first_norm);
        free(x->table[i].norm);
        free(x->table[i].met);
    }
    free(x->table);
    free(x->met);
    free(x->loss);
    free(x->accuracy);
    free(x->n);
    free(x);
}

static int exposure_new_tables(run_exposure *x, const model *m)
{
    int count = 0;
    for (int i = 0; i < m->params_count; i++)
        count += m->params[i].per_position;
    x->table = calloc((size_t)count + 1, sizeof *x->table);
    for (int i = 0; x->table && i < m->params_count; i++)
        if (m->params[i].per_position && exposure_new_table(&x->table[x->tables++], &m->params[i]) < 0)
            return -1;
    return x->table ? 0 : -1;
}

run_exposure *exposure_new(const model *m, error *e)
{
    run_exposure *x = calloc(1, sizeof *x);
    if (!x || exposure_new_tables(x, m) < 0) {
        exposure_free(x);
        error_set(e, ERROR_ENVIRONMENT, "no memory to record what positions meet");
        return NULL;
    }
    exposure_norms(x, m);
    for (int i = 0; i < x->tables; i++)
        memcpy(x->table[i].first_norm, x->table[i].norm, sizeof(double) * (size_t)x->table[i].rows);
    return x;
}

/* Room for positions 0 .. count-1; what is new is 0. */
static int exposure_grow(run_exposure *x, int count)
{
    if (count > x->room) {
        int room = 2 * x->room > count ? 2 * x->room : count;
        run_met *grown = realloc(x->met, sizeof *grown * RUN_PHASES * (size_t)room);
        if (!grown) {
            x->failed = 1;
            return -1;
        }
        memset(grown + (size_t)x->room * RUN_PHASES, 0, sizeof *grown * RUN_PHASES * (size_t)(room - x->room));
        x->met = grown;
        x->room = room;
    }
    x->positions = count > x->positions ? count : x->positions;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ training */

int exposure_phase(int step, int steps)
{
    return (int)((int64_t)step * RUN_PHASES / steps);
}

int exposure_phase_end(int phase, int steps)
{
    return (int)(((int64_t)(phase + 1) * steps + RUN_PHASES - 1) / RUN_PHASES);
}

static double exposure_square(const real *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sum;
}

/* The position as a whole number; -1: too far. */
static int exposure_place(double pos)
{
    return pos < EXPOSURE_POSITIONS_MAX - 0.5 ? (int)lround(pos) : -1;
}

void exposure_add_tokens(run_exposure *x, int phase, const model *m, const workspace *w, const batch *b)
{
    int width = m->shape.width;
    for (int n = 0; n < b->sequences; n++)
        for (int t = b->start[n]; t < b->start[n + 1]; t++) {
            int at = exposure_place(w->place[n]->pos[t - b->start[n]]);
            if (at < 0)
                x->beyond++;
            if (at < 0 || exposure_grow(x, at + 1) < 0)
                continue;
            run_met *met = &x->met[(size_t)at * RUN_PHASES + (size_t)phase];
            met->updates++;
            met->gradient += exposure_square(w->dh + (size_t)t * (size_t)width, width);
        }
}

void exposure_add_rows(run_exposure *x, int phase, const model *m)
{
    for (int i = 0; i < x->tables; i++) {
        run_exposure_table *t = &x->table[i];
        for (int r = 0; r < t->rows; r++) {
            double square = exposure_square(m->grad + t->offset + (size_t)r * (size_t)t->cols, t->cols);
            run_met *met = &t->met[(size_t)r * RUN_PHASES + (size_t)phase];
            met->updates += square > 0;
            met->gradient += square;
        }
    }
}

void exposure_norms(run_exposure *x, const model *m)
{
    for (int i = 0; i < x->tables; i++) {
        run_exposure_table *t = &x->table[i];
        for (int r = 0; r < t->rows; r++)
            t->norm[r] = sqrt(exposure_square(m->value + t->offset + (size_t)r * (size_t)t->cols, t->cols));
    }
}

/* ------------------------------------------------------------------------------------------------ checkpoints */

size_t exposure_size(const run_exposure *x, int positions)
{
    size_t met = (size_t)positions;
    for (int i = 0; x && i < x->tables; i++)
        met += (size_t)x->table[i].rows;
    return x ? sizeof(x->beyond) + met * RUN_PHASES * sizeof(run_met) : 0;
}

void exposure_save(const run_exposure *x, buffer *b)
{
    if (!x)
        return;
    buffer_bytes(b, (const char *)&x->beyond, sizeof x->beyond);
    buffer_bytes(b, (const char *)x->met, (size_t)x->positions * RUN_PHASES * sizeof *x->met);
    for (int i = 0; i < x->tables; i++)
        buffer_bytes(b, (const char *)x->table[i].met, (size_t)x->table[i].rows * RUN_PHASES * sizeof(run_met));
}

int exposure_load(run_exposure *x, int positions, const char *from)
{
    if (!x)
        return 0;
    if (positions > 0 && exposure_grow(x, positions) < 0)
        return -1;
    memcpy(&x->beyond, from, sizeof x->beyond);
    from += sizeof x->beyond;
    size_t bytes = (size_t)positions * RUN_PHASES * sizeof *x->met;
    if (bytes > 0)
        memcpy(x->met, from, bytes);
    from += bytes;
    for (int i = 0; i < x->tables; i++) {
        bytes = (size_t)x->table[i].rows * RUN_PHASES * sizeof(run_met);
        memcpy(x->table[i].met, from, bytes);
        from += bytes;
    }
    return 0;
}
