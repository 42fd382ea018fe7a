/* test_product.c - products inside attention against a triple loop over doubles, at every shape, layout and part. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "product.h"
#include "rng.h"

enum { MOST = 150 };

static void product_fill(rng *r, real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (real)(2 * rng_uniform(r) - 1);
}

/* Whether c(r, j) must be right, and which k it sums over. */
static int product_wants(const product_job *p, int row, int col, int *begin, int *end)
{
    *begin = p->part == PRODUCT_DEPTH_FROM_DIAGONAL && row > p->diagonal ? row - p->diagonal : 0;
    *end = p->part == PRODUCT_DEPTH_TO_DIAGONAL && p->diagonal + row + 1 < p->depth ? p->diagonal + row + 1 : p->depth;
    return p->part != PRODUCT_COLUMNS_TO_DIAGONAL || col <= p->diagonal + row;
}

/* One random product. a: zero where a triangular part leaves it out, as its users promise. */
static void product_trial(rng *r, int round)
{
    static real a[MOST * MOST], b[MOST * MOST], packed[2 * MOST * MOST], c[MOST * 200], before[MOST * 200];
    product_job p = { .rows = 1 + (int)rng_below(r, 70), .depth = 1 + (int)rng_below(r, MOST - 10),
                      .cols = 1 + (int)rng_below(r, 70), .a = a, .b = b, .c = c, .add = (int)rng_below(r, 2),
                      .part = (product_part)(round % 4), .alpha = (real)(0.5 + rng_uniform(r)),
                      .diagonal = (int)rng_below(r, 20) };
    int turned = (int)rng_below(r, 2), by_panels = (int)rng_below(r, 2);
    product_fill(r, a, MOST * MOST);
    product_fill(r, b, MOST * MOST);
    product_fill(r, c, MOST * 200);
    p.a_row = turned ? 1 : p.depth + (int)rng_below(r, 9);
    p.a_col = turned ? p.rows + (int)rng_below(r, 9) : 1;
    p.b_row = p.cols + (int)rng_below(r, 9);
    p.c_row = (p.cols + PRODUCT_PANEL - 1) / PRODUCT_PANEL * PRODUCT_PANEL + (int)rng_below(r, 9);
    for (int row = 0; row < p.rows; row++)
        for (int k = 0; k < p.depth; k++) {
            int begin, end;
            product_wants(&p, row, 0, &begin, &end);
            if (k < begin || k >= end)
                a[row * p.a_row + k * p.a_col] = 0;
        }
    if (by_panels) { /* b is the transpose of what is packed */
        static real x[MOST * MOST];
        int x_row = p.depth + (int)rng_below(r, 5);
        for (int j = 0; j < p.cols; j++)
            for (int k = 0; k < p.depth; k++)
                x[j * x_row + k] = b[k * p.b_row + j];
        cr_assert(product_packed_reals(p.cols, p.depth) <= sizeof packed / sizeof *packed);
        product_pack(x, x_row, p.cols, p.depth, packed);
        p.b = packed;
        p.b_panel = (size_t)p.depth * PRODUCT_PANEL;
    }
    memcpy(before, c, sizeof c);
    int b_row = p.b_row;
    p.b_row = by_panels ? PRODUCT_PANEL : p.b_row;
    product(&p);
    for (int row = 0; row < p.rows; row++)
        for (int j = 0; j < p.c_row; j++) {
            size_t at = (size_t)(row * p.c_row + j);
            int begin, end, room = by_panels ? (p.cols + PRODUCT_PANEL - 1) / PRODUCT_PANEL * PRODUCT_PANEL : p.cols;
            if (j >= room) { /* what lies between the rows is somebody else's */
                cr_assert_eq(c[at], before[at]);
            }
            if (j >= p.cols || !product_wants(&p, row, j, &begin, &end))
                continue;
            double want = p.add ? (double)before[at] : 0;
            for (int k = begin; k < end; k++)
                want += (double)p.alpha * (double)a[row * p.a_row + k * p.a_col] * (double)b[k * b_row + j];
            cr_assert(fabs((double)c[at] - want) < (sizeof(real) == 4 ? 1e-4 : 1e-12),
                      "part %d, %d x %d x %d, turned %d, panels %d, add %d: (%d, %d) is %g, not %g", p.part, p.rows, p.cols,
                      p.depth, turned, by_panels, p.add, row, j, (double)c[at], want);
        }
}

Test(product, agrees_with_a_triple_loop_at_every_shape)
{
    rng r = rng_stream(31, RNG_TEST, 0, 0);
    for (int round = 0; round < 800; round++)
        product_trial(&r, round);
}

Test(product, packing_and_transposing_move_every_element)
{
    rng r = rng_stream(32, RNG_TEST, 0, 0);
    static real x[MOST * MOST], y[2 * MOST * MOST];
    for (int round = 0; round < 200; round++) {
        int rows = 1 + (int)rng_below(&r, 90), cols = 1 + (int)rng_below(&r, 40), x_row = cols + (int)rng_below(&r, 4);
        product_fill(&r, x, MOST * MOST);
        product_pack(x, x_row, rows, cols, y);
        for (int i = 0; i < (int)product_packed_reals(rows, 1); i++)
            for (int c = 0; c < cols; c++) {
                real got = y[(i / PRODUCT_PANEL * cols + c) * PRODUCT_PANEL + i % PRODUCT_PANEL];
                cr_assert_eq(got, i < rows ? x[i * x_row + c] : 0);
            }
        product_transpose(x, rows, cols, y);
        for (int i = 0; i < rows; i++)
            for (int c = 0; c < cols; c++) {
                cr_assert_eq(y[c * rows + i], x[i * cols + c]);
            }
    }
}
