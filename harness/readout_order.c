/* readout_order.c - can the order of two rows be told from both, side by side?
 *
 * Logistic regression by Newton's method in the space of pairs, of which there are fewer than columns. With weights
 * w = sum of alpha_i x_i and K the products of the x_i, a step solves (K + 1/W) alpha + b = z with sum of alpha = 0,
 * where f = K alpha + b, p = 1 / (1 + exp(-f)), W = p (1 - p) and z = f + (target - p) / W.
 */
#include "readout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg.h"

typedef struct order_fit {
    int count;  /* pairs fitted to */
    int *index; /* [count] which of all pairs */
    double *alpha, *target, *system, *right, *best;
    double b;
} order_fit;

enum { ORDER_STEPS = 50, ORDER_HALVINGS = 40 };

static double order_value(const order_fit *o, const double *kernel, int pairs, const double *alpha, double b, int i)
{
    double sum = b;
    for (int j = 0; j < o->count; j++)
        sum += alpha[j] * kernel[(size_t)i * (size_t)pairs + (size_t)o->index[j]];
    return sum;
}

static double order_softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* |w|^2 / 2 + sum of -log p(target) */
static double order_objective(const order_fit *o, const double *kernel, int pairs, const double *alpha, double b)
{
    double sum = 0;
    for (int i = 0; i < o->count; i++) {
        double f = order_value(o, kernel, pairs, alpha, b, o->index[i]);
        sum += order_softplus(o->target[i] > 0.5 ? -f : f) + 0.5 * alpha[i] * (f - b);
    }
    return sum;
}

/* right[0 .. count-1]: the new alpha, *b: the new b. */
static int order_newton(order_fit *o, const double *kernel, int pairs, double *b, error *e)
{
    size_t n = (size_t)o->count;
    for (size_t i = 0; i < n; i++) {
        double f = order_value(o, kernel, pairs, o->alpha, o->b, o->index[i]), p = 1 / (1 + exp(-f));
        double weight = fmax(p * (1 - p), 1e-12);
        for (size_t j = 0; j < n; j++)
            o->system[j * n + i] = kernel[(size_t)o->index[i] * (size_t)pairs + (size_t)o->index[j]];
        o->system[i * n + i] += 1 / weight;
        o->right[i] = f + (o->target[i] - p) / weight;
        o->right[n + i] = 1;
    }
    linalg l;
    if (linalg_open(&l, e) < 0)
        return -1;
    lapack_int info = l.dposv(LAPACK_COL_MAJOR, 'L', o->count, 2, o->system, o->count, o->right, o->count);
    linalg_close(&l);
    if (info != 0)
        return linalg_failed("the order of pairs", info, e);
    double values = 0, ones = 0;
    for (size_t i = 0; i < n; i++) {
        values += o->right[i];
        ones += o->right[n + i];
    }
    *b = values / ones;
    for (size_t i = 0; i < n; i++)
        o->right[i] -= *b * o->right[n + i];
    return 0;
}

/* Steps until the objective no longer falls; a step that overshoots is halved. */
static int order_train(order_fit *o, const double *kernel, int pairs, error *e)
{
    double now = order_objective(o, kernel, pairs, o->alpha, o->b);
    for (int step = 0; step < ORDER_STEPS; step++) {
        double b = 0, next = INFINITY, share = 1;
        if (order_newton(o, kernel, pairs, &b, e) < 0)
            return -1;
        for (int halving = 0; halving < ORDER_HALVINGS; halving++, share /= 2) {
            for (int i = 0; i < o->count; i++)
                o->best[i] = o->alpha[i] + share * (o->right[i] - o->alpha[i]);
            next = order_objective(o, kernel, pairs, o->best, o->b + share * (b - o->b));
            if (next < now)
                break;
        }
        if (!(next < now - 1e-9 * fabs(now)))
            return 0;
        now = next;
        o->b += share * (b - o->b);
        memcpy(o->alpha, o->best, (size_t)o->count * sizeof(double));
    }
    return 0;
}

static int order_fit_create(order_fit *o, int pairs)
{
    size_t n = (size_t)pairs;
    *o = (order_fit){0};
    o->index = malloc(n * sizeof(int));
    o->alpha = malloc(n * sizeof(double));
    o->target = malloc(n * sizeof(double));
    o->system = malloc(n * n * sizeof(double));
    o->right = malloc(2 * n * sizeof(double));
    o->best = malloc(n * sizeof(double));
    return o->index && o->alpha && o->target && o->system && o->right && o->best ? 0 : -1;
}

static void order_fit_free(order_fit *o)
{
    free(o->index);
    free(o->alpha);
    free(o->target);
    free(o->system);
    free(o->right);
    free(o->best);
}

/* Pairs whose order is told wrong among those of one fold. */
static int order_fit_fold(order_fit *o, const double *kernel, const int (*pair)[2], int pairs, int folds, int out,
                          int *wrong, error *e)
{
    o->count = 0;
    o->b = 0;
    for (int i = 0; i < pairs; i++)
        if (i % folds != out) {
            o->index[o->count] = i;
            o->alpha[o->count] = 0;
            o->target[o->count++] = pair[i][1] > pair[i][0];
        }
    if (order_train(o, kernel, pairs, e) < 0)
        return -1;
    for (int i = out; i < pairs; i += folds)
        *wrong += (order_value(o, kernel, pairs, o->alpha, o->b, i) > 0) != (pair[i][1] > pair[i][0]);
    return 0;
}

/* kernel[pairs][pairs] (=): products of the pairs' rows, side by side. */
static void order_kernel(const double *x, int cols, const int (*pair)[2], int pairs, double *kernel)
{
    for (int i = 0; i < pairs; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int side = 0; side < 2; side++) {
                const double *a = x + (size_t)pair[i][side] * (size_t)cols,
                             *b = x + (size_t)pair[j][side] * (size_t)cols;
                for (int c = 0; c < cols; c++)
                    sum += a[c] * b[c];
            }
            kernel[(size_t)i * (size_t)pairs + (size_t)j] = kernel[(size_t)j * (size_t)pairs + (size_t)i] = sum;
        }
}

int readout_order(const double *x, int cols, const int (*pair)[2], int pairs, int folds, double *wrong, error *e)
{
    order_fit o;
    int status = order_fit_create(&o, pairs), count = 0;
    double *kernel = malloc((size_t)pairs * (size_t)pairs * sizeof *kernel);
    if (status < 0 || !kernel)
        status = error_set(e, ERROR_ENVIRONMENT, "no memory for a probe");
    else
        order_kernel(x, cols, pair, pairs, kernel);
    for (int out = 0; out < folds && status == 0; out++)
        status = order_fit_fold(&o, kernel, pair, pairs, folds, out, &count, e);
    order_fit_free(&o);
    free(kernel);
    *wrong = (double)count / pairs;
    return status;
}
