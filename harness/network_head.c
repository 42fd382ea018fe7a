/* network_head.c - from the residual stream after the last layer to logits and loss, and back. */
#include "network_head.h"

#include <assert.h>

#include "layers.h"
#include "outputs.h"
#include "task.h"
#include "vmath.h"

/* Elements first .. first+rows-1 of w->scored: gathered, normalised, projected to logits. */
static void network_head(const model *m, workspace *w, int first, int rows)
{
    int width = m->shape.width;
    const real *v = m->value;
    for (int i = 0; i < rows; i++)
        memcpy(w->head_in + (size_t)i * width, w->h + (size_t)w->scored[first + i] * width,
               sizeof(real) * (size_t)width);
    norm(m->norm_kind, w->head_in, v + m->norm_f_w, v + m->norm_f_b, w->head_norm, w->head_stats, rows, width);
    breakdown_at(w->breakdown, BREAKDOWN_GEMM);
    linear(w->head_norm, width, m->turned + m->head_w, v + m->head_b, NULL, w->logits, m->vocab, rows, width, m->vocab);
    breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
}

double model_loss(const model *m, workspace *w, const batch *b, double factor, double *loss, int *guess)
{
    breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
    w->scored_count = 0;
    for (int i = 0; i < w->kept_count; i++)
        if (b->target[w->kept[i]] != TASK_NOT_SCORED)
            w->scored[w->scored_count++] = i;
    double sum = 0;
    for (int first = 0; first < w->scored_count; first += w->head_rows) {
        int rows = w->scored_count - first < w->head_rows ? w->scored_count - first : w->head_rows;
        network_head(m, w, first, rows);
        for (int i = 0; i < rows; i++) {
            int t = w->kept[w->scored[first + i]];
            real *logits = w->logits + (size_t)i * m->vocab;
            if (guess)
                guess[t] = vmath_argmax(logits, m->vocab);
            double own = vmath_cross_entropy(logits, m->vocab, b->target[t], (real)factor, w->training ? logits : NULL);
            if (loss)
                loss[t] = own;
            sum += own;
        }
    }
    return sum;
}

void network_head_bwd(const model *m, workspace *w)
{
    int width = m->shape.width, rows = w->scored_count;
    const real *v = m->value;
    real *g = m->grad;
    memset(w->dh, 0, sizeof(real) * (size_t)w->kept_count * width);
    real *dnorm = w->dwork, *din = w->dhidden; /* rows <= tokens and hidden >= width: both fit */
    breakdown_at(w->breakdown, BREAKDOWN_GEMM);
    linear_bwd(w->head_norm, width, v + m->head_w, w->logits, m->vocab, dnorm, g + m->head_w, g + m->head_b, rows, width,
               m->vocab);
    breakdown_at(w->breakdown, BREAKDOWN_ELEMENTWISE);
    memset(din, 0, sizeof(real) * (size_t)rows * width);
    norm_bwd(m->norm_kind, w->head_in, v + m->norm_f_w, w->head_stats, dnorm, din, g + m->norm_f_w,
             network_norm_b_grad(m, m->norm_f_b), rows, width);
    for (int i = 0; i < rows; i++)
        memcpy(w->dh + (size_t)w->scored[i] * width, din + (size_t)i * width, sizeof(real) * (size_t)width);
}

void model_logits(const model *m, workspace *w, int t, real *out)
{
    w->scored[0] = outputs_row(w, t);
    assert(w->scored[0] >= 0);
    network_head(m, w, 0, 1);
    memcpy(out, w->logits, sizeof(real) * (size_t)m->vocab);
}
