/* test_plugin_example.c - loads the plug-in named by PLUGIN_EXAMPLE and uses it as the program would. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "registry.h"

enum { TEST_HEADS = 2, TEST_LEN = 3 };

static const pe_shape shape = {
    .width = 8, .heads = TEST_HEADS, .head_dim = 4, .layers = 1, .train_len = 8, .causal = 0};

Test(plugin_example, loads_and_computes_its_formula)
{
    const char *path = getenv("PLUGIN_EXAMPLE");
    cr_assert_not_null(path, "PLUGIN_EXAMPLE names no file");
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_eq(registry_load_plugin(r, path, &e), 0, "%s", e.message);
    pe_stack s;
    cr_assert_eq(stack_parse(r, "nearness(bonus=3,reach=2)+rope", &s, &e), 0, "%s", e.message);
    cr_assert_eq(stack_check(&s, &shape, 64, &e), 0, "%s", e.message);

    static const double pos[TEST_LEN] = {0, 2, 6};
    /* 3 * reach / (reach + distance): reach 2 in the first head, 4 in the second. */
    static const double expected[TEST_HEADS][TEST_LEN][TEST_LEN] = {
        {{3, 1.5, 0.75}, {1.5, 3, 1}, {0.75, 1, 3}},
        {{3, 2, 1.2}, {2, 3, 1.5}, {1.2, 1.5, 3}},
    };
    real scores[TEST_HEADS][TEST_LEN][TEST_LEN] = {0};
    pe_context c = {
        .shape = &shape, .options = s.member[0].options, .len = TEST_LEN, .total_len = TEST_LEN, .pos = pos};
    pe_tile t = {.rows = TEST_LEN, .keys = TEST_LEN, .stride = TEST_LEN, .plane = TEST_LEN * TEST_LEN, .scale = 0.5};
    s.member[0].encoding->bias(&c, &t, &scores[0][0][0]);
    for (int h = 0; h < TEST_HEADS; h++)
        for (int i = 0; i < TEST_LEN; i++)
            for (int j = 0; j < TEST_LEN; j++)
                cr_assert_float_eq(scores[h][i][j], expected[h][i][j], 1e-6, "head %d, query %d, key %d: %g", h, i, j,
                                   (double)scores[h][i][j]);
    stack_free(&s);
    registry_free(r);
}
