/* layers.h - the parts of the network that know no position: linear maps and normalisation, forward beside backward.
 *
 * Rows are tokens. Gradients of weights are accumulated. norm and norm_bwd (norm.c) are compiled for each level.
 */
#ifndef LAYERS_H
#define LAYERS_H

#include "pe.h"

/* y[rows][out] = x[rows][in] turned + b (+ residual[rows][out], unless NULL); turned: [in][out], the transpose of the weights w
 * (the library is a tenth faster on it), b: [out]. Rows of x and y are their strides apart. b NULL: without it and without a
 * residual; else y_stride = out. */
void linear(const real *x, int x_stride, const real *turned, const real *b, const real *residual, real *y, int y_stride,
            int rows, int in, int out);

/* dx[rows][in] = dy w;  dw += dy^T x;  db += column sums of dy, unless NULL; w, dw: [out][in]. Rows of dx are as far apart as
 * those of x; with db dy_stride = out. */
void linear_bwd(const real *x, int x_stride, const real *w, const real *dy, int dy_stride, real *dx, real *dw, real *db,
                int rows, int in, int out);

enum { NORM_LAYER, NORM_RMS };

/* Layer norm y = (x - mean) / sqrt(variance + 1e-5) * w + b, biased variance; or RMS norm y = x / sqrt(mean(x^2) + 1e-5) * w
 * (b is not read). x, y: [rows][width]; keeps stats[rows][2] = {mean, 1/deviation} for the backward pass; y may not be x. */
void norm(int kind, const real *x, const real *w, const real *b, real *y, real *stats, int rows, int width);

/* dx += ; dw +=, db += (db NULL for RMS). */
void norm_bwd(int kind, const real *x, const real *w, const real *stats, const real *dy, real *dx, real *dw, real *db,
              int rows, int width);

#endif
