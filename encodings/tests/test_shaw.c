/* test_shaw.c - clipped distances to table rows, and weights to values. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>

#include "rig.h"

/* One head, head_dim 2, q = (1, 0) everywhere: a score is scale times the first number of its table row. */
static void shaw_rows_of(const char *text, int causal, const double *pos, int len, int query, int *table_row)
{
    rig g;
    rig_open(&g, text, rig_shape(1, 2, 32, causal), pos, len);
    for (int a = 0; a < g.param[0].rows; a++)
        g.theta[0][2 * a] = (real)(1 + a);
    real *row = calloc((size_t)len, sizeof *row);
    const real q[2] = {1, 0};
    cr_assert_not_null(row);
    pe_tile t = {.row_begin = query,
                 .rows = 1,
                 .keys = causal ? query + 1 : len,
                 .stride = len,
                 .plane = len,
                 .scale = 1,
                 .q = q,
                 .k = q,
                 .token_stride = 0,
                 .head_stride = 2};
    g.d->score(&g.c, &t, row, NULL);
    for (int j = 0; j < len; j++)
        table_row[j] = (int)lround(row[j]) - 1;
    free(row);
    rig_close(&g);
}

/* A30: clip 4, trained on 32, at 2048: no prebuilt index ends anything. */
Test(shaw, has_no_longest_sequence)
{
    enum { LEN = 2048 };
    static int row[LEN];
    int met[9] = {0};
    shaw_rows_of("shaw(clip=4)", 0, NULL, LEN, 1024, row);
    for (int j = 0; j < LEN; j++) {
        int want = j - 1024 < -4 ? 0 : j - 1024 > 4 ? 8 : j - 1024 + 4;
        cr_assert_eq(row[j], want, "key %d: row %d", j, row[j]);
        met[row[j]]++;
    }
    for (int a = 0; a < 9; a++)
        cr_assert_gt(met[a], 0);
    /* One query at the end of all keys: aligned to the end. */
    shaw_rows_of("shaw(clip=4)", 1, NULL, LEN, LEN - 1, row);
    cr_assert_eq(row[LEN - 1], 4);
    cr_assert_eq(row[LEN - 1 - 4], 0);
    cr_assert_eq(row[LEN - 1 - 5], row[LEN - 1 - 4]);
    cr_assert_eq(row[LEN - 1 - 2000], row[LEN - 1 - 4]);
}

Test(shaw, fractions_round_and_survive_shifts)
{
    static const double pos[] = {0, 1.5, 2.4, 3, 3, 3.5, 4.25, 9};
    static const int want[] = {0, 0, 1, 2, 2, 3, 3, 4}; /* clip 2: row = round(pos - 3) + 2, halves away from zero */
    int row[8];
    for (double shift = 0; shift < 5e5; shift = shift * 2 + 0.1) {
        double moved[8];
        for (int j = 0; j < 8; j++)
            moved[j] = pos[j] + shift;
        shaw_rows_of("shaw(clip=2)", 0, moved, 8, 3, row);
        for (int j = 0; j < 8; j++)
            cr_assert_eq(row[j], want[j], "shift %g, key %d: row %d", shift, j, row[j]);
    }
}

Test(shaw, values_are_added_by_weight)
{
    rig g;
    rig_open(&g, "shaw(clip=1)", rig_shape(1, 2, 32, 1), NULL, 3);
    cr_assert_eq(g.params, 2);
    static const real table[] = {1, 10, 2, 20, 4, 40}, p[] = {(real)0.5, (real)0.25, (real)0.25};
    memcpy(g.theta[1], table, sizeof table);
    real o[2] = {100, 100};
    pe_tile t = {.row_begin = 2, .rows = 1, .keys = 3, .stride = 3, .plane = 3, .scale = 1};
    g.d->value(&g.c, &t, p, o, 2);
    rig_near(o[0], 101.25, 1e-5, "two clipped keys and the own one");
    rig_near(o[1], 112.5, 1e-5, "second dimension");
    rig_close(&g);
    rig_open(&g, "shaw(value=false)", rig_shape(1, 2, 32, 1), NULL, 3);
    cr_assert_eq(g.params, 1);
    g.d->value(&g.c, &t, p, o, 2);
    rig_near(o[0], 101.25, 1e-5, "keys only: values stay");
    rig_close(&g);
}
