/* pe_product.h - a product of small matrices with all sums in registers: what hooks are made of that see a table row, a
 * distance or a unit for every pair. Part of pe.h. */
#ifndef PE_PRODUCT_H
#define PE_PRODUCT_H

#include "pe_vec.h"

/* c[rows][cols] (=, with add +=) sum over k < depth of a(r, k) b[k][cols].
 * a(r, k) at a + r * a_row + k * a_col; rows of b and c are b_row and c_row reals apart; c overlaps neither. Columns that
 * fill no vector cost as much as a whole one for every few: pad where that is free. */
typedef struct pe_product_job {
    int rows, cols, depth;
    const real *a;
    size_t a_row, a_col;
    const real *b;
    size_t b_row;
    real *c;
    size_t c_row;
    int add;
} pe_product_job;

/* Rows that share what is loaded of b: with 2 vectors of columns 16 sums of 32 registers, or 8 of 16. */
#if defined(__AVX512F__)
enum { PE_PRODUCT_ROWS = 8 };
#else
enum { PE_PRODUCT_ROWS = 4 };
#endif

/* Which step of a is known to be 1, which spares additions. */
enum { PE_PRODUCT_A_COL, PE_PRODUCT_A_ROW, PE_PRODUCT_A_NEITHER };

/* The loops over rows and vectors have constant ends where this is inlined, and so vanish. */
#define PE_PRODUCT_BLOCK(name, type)                                                                                   \
    PE_VEC_INLINE void name(const pe_product_job *p, int r0, int j0, const int rows, const int vectors,                \
                            const int one)                                                                             \
    {                                                                                                                  \
        typedef real unaligned __attribute__((vector_size(sizeof(type)), aligned(sizeof(real)), may_alias));           \
        enum { LANES = sizeof(type) / sizeof(real) };                                                                  \
        size_t a_row = one == PE_PRODUCT_A_ROW ? 1 : p->a_row, a_col = one == PE_PRODUCT_A_COL ? 1 : p->a_col;         \
        const real *a = p->a + (size_t)r0 * a_row, *b = p->b + j0;                                                     \
        real *c = p->c + (size_t)r0 * p->c_row + j0;                                                                   \
        type sum[PE_PRODUCT_ROWS][2];                                                                                  \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                         \
            _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++) sum[r][v] = (type){0};                           \
        for (int k = 0; k < p->depth; k++) {                                                                           \
            type row[2];                                                                                               \
            _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++)                                                  \
                row[v] = *(const unaligned *)(b + (size_t)k * p->b_row + v * LANES);                                   \
            _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                     \
                _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++)                                              \
                    sum[r][v] += a[(size_t)r * a_row + (size_t)k * a_col] * row[v];                                    \
        }                                                                                                              \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                         \
            _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++)                                                  \
        {                                                                                                              \
            unaligned *to = (unaligned *)(c + (size_t)r * p->c_row + v * LANES);                                       \
            if (p->add)                                                                                                \
                sum[r][v] += *to;                                                                                      \
            *to = sum[r][v];                                                                                           \
        }                                                                                                              \
    }

PE_PRODUCT_BLOCK(pe_product_block, pe_vec)
PE_PRODUCT_BLOCK(pe_product_block_quarter, pe_vec_quarter)

/* One column: at most three of them, where a head's size is no multiple of 4. */
static inline void pe_product_column(const pe_product_job *p, int r0, int j, int rows)
{
    for (int r = r0; r < r0 + rows; r++) {
        real sum = 0, *to = p->c + (size_t)r * p->c_row + j;
        for (int k = 0; k < p->depth; k++)
            sum += p->a[(size_t)r * p->a_row + (size_t)k * p->a_col] * p->b[(size_t)k * p->b_row + j];
        *to = p->add ? *to + sum : sum;
    }
}

/* Rows from r on, as many as still fit groups of `rows`; returns the next. Columns are `width` from j on, see below. */
PE_VEC_INLINE int pe_product_rows(const pe_product_job *p, int r, int j, int width, const int rows,
                                  const int one)
{
    for (; r + rows <= p->rows; r += rows)
        if (width == 2 * PE_VEC_LANES)
            pe_product_block(p, r, j, rows, 2, one);
        else if (width == PE_VEC_LANES)
            pe_product_block(p, r, j, rows, 1, one);
        else if (width == PE_VEC_QUARTER)
            pe_product_block_quarter(p, r, j, rows, 1, one);
        else
            pe_product_column(p, r, j, rows);
    return r;
}

PE_VEC_INLINE void pe_product_laid_out(const pe_product_job *p, const int one)
{
    for (int j = 0, width; j < p->cols; j += width) {
        int left = p->cols - j, r = 0;
        width = left >= 2 * PE_VEC_LANES ? 2 * PE_VEC_LANES
                : left >= PE_VEC_LANES   ? PE_VEC_LANES
                : left >= PE_VEC_QUARTER ? PE_VEC_QUARTER
                                         : 1;
        r = pe_product_rows(p, r, j, width, PE_PRODUCT_ROWS, one);
        if (PE_PRODUCT_ROWS > 4)
            r = pe_product_rows(p, r, j, width, PE_PRODUCT_ROWS / 2, one);
        pe_product_rows(p, r, j, width, 1, one);
    }
}

/* Columns outside, rows inside: the columns of b that are at work stay in the first-level cache. */
static inline void pe_product(const pe_product_job *p)
{
    if (p->a_col == 1)
        pe_product_laid_out(p, PE_PRODUCT_A_COL);
    else if (p->a_row == 1)
        pe_product_laid_out(p, PE_PRODUCT_A_ROW);
    else
        pe_product_laid_out(p, PE_PRODUCT_A_NEITHER);
}

/* Reals rounded up to whole vectors. */
static inline int pe_whole(int n)
{
    return (n + PE_VEC_LANES - 1) / PE_VEC_LANES * PE_VEC_LANES;
}

#endif
