#include "gemm.h"

#if defined(PE_REAL_DOUBLE)

static void gemm_scale(int m, int n, real beta, real *c, int ldc)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            c[(size_t)i * ldc + j] = beta == 0 ? 0 : beta * c[(size_t)i * ldc + j];
}

void gemm(gemm_op op_a, gemm_op op_b, int m, int n, int k, real alpha, const real *a, int lda, const real *b, int ldb,
          real beta, real *c, int ldc)
{
    size_t a_row = op_a == GEMM_PLAIN ? (size_t)lda : 1, a_col = op_a == GEMM_PLAIN ? 1 : (size_t)lda;
    size_t b_row = op_b == GEMM_PLAIN ? (size_t)ldb : 1, b_col = op_b == GEMM_PLAIN ? 1 : (size_t)ldb;
    gemm_scale(m, n, beta, c, ldc);
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++) {
            real factor = alpha * a[i * a_row + l * a_col];
            for (int j = 0; j < n; j++)
                c[(size_t)i * ldc + j] += factor * b[l * b_row + j * b_col];
        }
}

void gemm_use_one_thread(void)
{
}

const char *gemm_kernel(void)
{
    return "plain loops";
}

#elif defined(GEMM_ONEDNN)

#include <oneapi/dnnl/dnnl.h>

void gemm(gemm_op op_a, gemm_op op_b, int m, int n, int k, real alpha, const real *a, int lda, const real *b, int ldb,
          real beta, real *c, int ldc)
{
    if (m == 0 || n == 0)
        return;
    dnnl_sgemm(op_a == GEMM_PLAIN ? 'N' : 'T', op_b == GEMM_PLAIN ? 'N' : 'T', m, n, k, alpha, a, lda, b, ldb, beta, c,
               ldc);
}

/* Debian's oneDNN runs on OpenMP, whose run-time is loaded with it. Weak, so that other builds of oneDNN link as well. */
extern void omp_set_num_threads(int threads) __attribute__((weak));

void gemm_use_one_thread(void)
{
    if (omp_set_num_threads)
        omp_set_num_threads(1);
}

#define GEMM_TEXT(x) GEMM_TEXT_OF(x)
#define GEMM_TEXT_OF(x) #x
#define GEMM_VERSION                                                                                                   \
    "oneDNN " GEMM_TEXT(DNNL_VERSION_MAJOR) "." GEMM_TEXT(DNNL_VERSION_MINOR) "." GEMM_TEXT(DNNL_VERSION_PATCH) " "

const char *gemm_kernel(void)
{
    unsigned isa = (unsigned)dnnl_get_effective_cpu_isa(); /* a set of bits: a level includes those below it */
    if ((isa & dnnl_cpu_isa_avx512_core) == dnnl_cpu_isa_avx512_core)
        return GEMM_VERSION "AVX-512";
    if ((isa & dnnl_cpu_isa_avx2) == dnnl_cpu_isa_avx2)
        return GEMM_VERSION "AVX2";
    return GEMM_VERSION "SSE4.1 or AVX";
}

#else

#include <cblas.h>

void gemm(gemm_op op_a, gemm_op op_b, int m, int n, int k, real alpha, const real *a, int lda, const real *b, int ldb,
          real beta, real *c, int ldc)
{
    if (m == 0 || n == 0)
        return;
    cblas_sgemm(CblasRowMajor, op_a == GEMM_PLAIN ? CblasNoTrans : CblasTrans,
                op_b == GEMM_PLAIN ? CblasNoTrans : CblasTrans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemm_use_one_thread(void)
{
    openblas_set_num_threads(1);
}

const char *gemm_kernel(void)
{
    return openblas_get_config(); /* names version and kernel */
}

#endif
