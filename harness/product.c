#include "product.h"

/* ------------------------------------------------------------------------------------------------ vectors */

#if defined(__AVX512F__)
enum { PRODUCT_VECTOR_BYTES = 64, PRODUCT_ROWS = 8 };
#elif defined(__AVX__)
enum { PRODUCT_VECTOR_BYTES = 32, PRODUCT_ROWS = 4 }; /* 16 registers: 4 rows of 2 vectors, 2 of b, 1 of a */
#else
enum { PRODUCT_VECTOR_BYTES = 16, PRODUCT_ROWS = 4 };
#endif
#define PRODUCT_INLINE static inline __attribute__((always_inline))

typedef real product_vector __attribute__((vector_size(PRODUCT_VECTOR_BYTES), aligned(sizeof(real)), may_alias));
/* For columns that do not fill a vector; 4 reals. */
typedef real product_short __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));

/* Which of eight reals goes where. */
typedef pe_integer product_places __attribute__((vector_size(4 * sizeof(real))));

enum { PRODUCT_LANES = PRODUCT_VECTOR_BYTES / sizeof(real), PRODUCT_DEPTH = 128 };

/* ------------------------------------------------------------------------------------------------ one block in registers */

/* c[rows][vectors] over depth k = begin .. end-1. The same body for whole vectors, short ones and single reals; rows, vectors
 * and which step of a is 1 are constants where it is inlined, so that its loops vanish. */
#define PRODUCT_BLOCK(name, type)                                                                                      \
    PRODUCT_INLINE void name(const product_job *p, const real *a, const real *b, real *c, int begin, int end, int add, \
                             const int rows, const int vectors, const int a_is_transposed)                             \
    {                                                                                                                  \
        enum { LANES = sizeof(type) / sizeof(real) };                                                                  \
        size_t a_row = a_is_transposed ? 1 : (size_t)p->a_row, a_col = a_is_transposed ? (size_t)p->a_col : 1;         \
        size_t b_row = (size_t)p->b_row;                                                                               \
        type sum[8][2];                                                                                                \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                         \
            _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++) sum[r][v] = (type){0};                           \
        for (int k = begin; k < end; k++) {                                                                            \
            type row[2];                                                                                               \
            _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++)                                                  \
                row[v] = *(const type *)(b + (size_t)k * b_row + v * LANES);                                           \
            _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                     \
                _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++)                                              \
                    sum[r][v] += a[(size_t)r * a_row + (size_t)k * a_col] * row[v];                                    \
        }                                                                                                              \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++)                                                         \
            _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++)                                                  \
        {                                                                                                              \
            type *to = (type *)(c + (size_t)r * (size_t)p->c_row + v * LANES);                                         \
            *to = add ? *to + p->alpha * sum[r][v] : p->alpha * sum[r][v];                                             \
        }                                                                                                              \
    }

PRODUCT_BLOCK(product_block, product_vector)
PRODUCT_BLOCK(product_block_short, product_short)

/* Single columns: at most three of them, where a head's size is no multiple of 4. */
PRODUCT_INLINE void product_block_single(const product_job *p, const real *a, const real *b, real *c, int begin, int end,
                                         int add, int rows, int cols)
{
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < cols; j++) {
            real sum = 0, *to = c + (size_t)r * (size_t)p->c_row + j;
            for (int k = begin; k < end; k++)
                sum += a[(size_t)r * (size_t)p->a_row + (size_t)k * (size_t)p->a_col] *
                       b[(size_t)k * (size_t)p->b_row + j];
            *to = add ? *to + p->alpha * sum : p->alpha * sum;
        }
}

/* ------------------------------------------------------------------------------------------------ a group of rows */

/* `rows` rows of c from row r on, columns from `begin_column` to before `end_column`. */
PRODUCT_INLINE void product_columns(const product_job *p, int r, int from, int to, int begin, int end, int add,
                                    const int rows, const int a_is_transposed)
{
    const real *a = p->a + (size_t)r * (size_t)p->a_row, *b = p->b;
    real *c = p->c + (size_t)r * (size_t)p->c_row;
    int j = from;
    for (; j + 2 * PRODUCT_LANES <= to; j += 2 * PRODUCT_LANES)
        product_block(p, a, b + j, c + j, begin, end, add, rows, 2, a_is_transposed);
    for (; j + PRODUCT_LANES <= to; j += PRODUCT_LANES)
        product_block(p, a, b + j, c + j, begin, end, add, rows, 1, a_is_transposed);
    for (; PRODUCT_LANES > 8 && j + 8 <= to; j += 8)
        product_block_short(p, a, b + j, c + j, begin, end, add, rows, 2, a_is_transposed);
    for (; PRODUCT_LANES > 4 && j + 4 <= to; j += 4)
        product_block_short(p, a, b + j, c + j, begin, end, add, rows, 1, a_is_transposed);
    if (j < to)
        product_block_single(p, a, b + j, c + j, begin, end, add, rows, to - j);
}

/* One panel of a packed b. */
PRODUCT_INLINE void product_panel(const product_job *p, int r, int panel, int begin, int end, int add, const int rows,
                                  const int a_is_transposed)
{
    const real *a = p->a + (size_t)r * (size_t)p->a_row, *b = p->b + (size_t)panel * p->b_panel;
    real *c = p->c + (size_t)r * (size_t)p->c_row + (size_t)panel * PRODUCT_PANEL;
    for (int j = 0; j < PRODUCT_PANEL; j += 2 * PRODUCT_LANES)
        product_block(p, a, b + j, c + j, begin, end, add, rows, 2, a_is_transposed);
}

PRODUCT_INLINE void product_group_of(const product_job *p, int r, int from, int to, int begin, int end, int add,
                                     const int rows, const int a_is_transposed)
{
    if (p->b_panel)
        product_panel(p, r, from, begin, end, add, rows, a_is_transposed);
    else
        product_columns(p, r, from, to, begin, end, add, rows, a_is_transposed);
}

typedef void product_group(const product_job *p, int r, int from, int to, int begin, int end, int add);

/* A function for each number of rows and each layout of a. */
#define PRODUCT_GROUP(rows, layout)                                                                                    \
    static void product_group_##rows##_##layout(const product_job *p, int r, int from, int to, int begin, int end,     \
                                                int add)                                                               \
    {                                                                                                                  \
        product_group_of(p, r, from, to, begin, end, add, rows, layout);                                               \
    }
PRODUCT_GROUP(1, 0)
PRODUCT_GROUP(2, 0)
PRODUCT_GROUP(4, 0)
PRODUCT_GROUP(1, 1)
PRODUCT_GROUP(2, 1)
PRODUCT_GROUP(4, 1)
#if defined(__AVX512F__)
PRODUCT_GROUP(8, 0)
PRODUCT_GROUP(8, 1)
#else
#define product_group_8_0 product_group_4_0
#define product_group_8_1 product_group_4_1
#endif

static product_group *const product_groups[2][4] = {
    { product_group_1_0, product_group_2_0, product_group_4_0, product_group_8_0 },
    { product_group_1_1, product_group_2_1, product_group_4_1, product_group_8_1 },
};

/* ------------------------------------------------------------------------------------------------ all of it */

static int product_least(int a, int b)
{
    return a < b ? a : b;
}

/* All groups of rows, for one stretch of columns and of depth. */
static void product_stretch(const product_job *p, int from, int to, int first, int last)
{
    int transposed = p->a_col != 1, first_column = p->b_panel ? from * PRODUCT_PANEL : from;
    for (int r = 0; r < p->rows;) {
        int kind = PRODUCT_ROWS == 8 ? 3 : 2, rows = PRODUCT_ROWS;
        for (; r + rows > p->rows; rows /= 2)
            kind--;
        int begin = first, end = last, seen = p->diagonal + r + rows;
        if (p->part == PRODUCT_DEPTH_TO_DIAGONAL)
            end = product_least(last, seen);
        else if (p->part == PRODUCT_DEPTH_FROM_DIAGONAL && r - p->diagonal > begin)
            begin = r - p->diagonal;
        int hidden = p->part == PRODUCT_COLUMNS_TO_DIAGONAL && first_column >= seen;
        if (!hidden && (begin < end || (first == 0 && !p->add)))
            product_groups[transposed][kind](p, r, from, to, begin, begin < end ? end : begin, p->add || first > 0);
        r += rows;
    }
}

/* Depth in stretches, so that the rows of b that all groups of rows read stay in the first-level cache. */
void product(const product_job *p)
{
    int panels = p->b_panel ? (p->cols + PRODUCT_PANEL - 1) / PRODUCT_PANEL : 1;
    for (int panel = 0; panel < panels; panel++)
        for (int k = 0; k < p->depth; k += PRODUCT_DEPTH)
            product_stretch(p, panel, p->b_panel ? panel + 1 : p->cols, k, product_least(k + PRODUCT_DEPTH, p->depth));
}

/* ------------------------------------------------------------------------------------------------ packing */

/* y[c][r] = x[r][c] of a square of 4 by interleaving twice: rows r and r+2, then what that gives. */
PRODUCT_INLINE void product_square(const real *x, int x_row, real *y, int y_row)
{
    const product_places low = { 0, 4, 1, 5 }, high = { 2, 6, 3, 7 };
    product_short row[4], mixed[4];
    for (int r = 0; r < 4; r++)
        row[r] = *(const product_short *)(x + (size_t)r * (size_t)x_row);
    mixed[0] = __builtin_shuffle(row[0], row[2], low);
    mixed[1] = __builtin_shuffle(row[0], row[2], high);
    mixed[2] = __builtin_shuffle(row[1], row[3], low);
    mixed[3] = __builtin_shuffle(row[1], row[3], high);
    *(product_short *)y = __builtin_shuffle(mixed[0], mixed[2], low);
    *(product_short *)(y + (size_t)y_row) = __builtin_shuffle(mixed[0], mixed[2], high);
    *(product_short *)(y + 2 * (size_t)y_row) = __builtin_shuffle(mixed[1], mixed[3], low);
    *(product_short *)(y + 3 * (size_t)y_row) = __builtin_shuffle(mixed[1], mixed[3], high);
}

/* y[c][r] = x[r][c]. */
PRODUCT_INLINE void product_turn(const real *x, int x_row, int rows, int cols, real *y, int y_row)
{
    int square_rows = rows / 4 * 4, square_cols = cols / 4 * 4;
    for (int r = 0; r < square_rows; r += 4)
        for (int c = 0; c < square_cols; c += 4)
            product_square(x + (size_t)r * (size_t)x_row + c, x_row, y + (size_t)c * (size_t)y_row + r, y_row);
    for (int c = 0; c < cols; c++)
        for (int r = c < square_cols ? square_rows : 0; r < rows; r++)
            y[(size_t)c * (size_t)y_row + r] = x[(size_t)r * (size_t)x_row + c];
}

void product_pack(const real *x, int x_row, int rows, int cols, real *y)
{
    for (int first = 0; first < rows; first += PRODUCT_PANEL, y += (size_t)cols * PRODUCT_PANEL) {
        int there = product_least(PRODUCT_PANEL, rows - first);
        product_turn(x + (size_t)first * (size_t)x_row, x_row, there, cols, y, PRODUCT_PANEL);
        for (int c = 0; c < cols && there < PRODUCT_PANEL; c++)
            memset(y + (size_t)c * PRODUCT_PANEL + there, 0, sizeof(real) * (size_t)(PRODUCT_PANEL - there));
    }
}

void product_transpose(const real *x, int rows, int cols, real *y)
{
    product_turn(x, cols, rows, cols, y, rows);
}
