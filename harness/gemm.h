/* gemm.h - matrix products, by a library: oneDNN or OpenBLAS in float; plain loops in the double twin, whose speed does
 * not matter and which so checks the library as well. Always on one thread: parallelism is processes.
 */
#ifndef GEMM_H
#define GEMM_H

#include "pe.h"

typedef enum gemm_op { GEMM_PLAIN, GEMM_TRANSPOSED } gemm_op;

/* c[m][n] = alpha * op(a) op(b) + beta * c, row-major, op(a): [m][k], op(b): [k][n]; lda, ldb, ldc: reals between rows as
 * stored. beta = 0 does not read c. m, n or k may be 0. */
void gemm(gemm_op op_a, gemm_op op_b, int m, int n, int k, real alpha, const real *a, int lda, const real *b, int ldb,
          real beta, real *c, int ldc);

/* Pins the library to one thread; call once before the first product. */
void gemm_use_one_thread(void);

/* "oneDNN 2.6.3", "OpenBLAS 0.3.21 SkylakeX", "plain loops": for --version and for records. Static. */
const char *gemm_kernel(void);

#endif
