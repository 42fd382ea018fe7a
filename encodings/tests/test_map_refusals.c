/* test_map_refusals.c - which stacks and lengths a map refuses, and in which words. */
#include <criterion/criterion.h>

#include <string.h>

#include "registry.h"

/* words: NULL: taken. */
static void checked_map(const char *text, int train_len, int max_len, const char *words)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    pe_stack s;
    const pe_shape shape = {.width = 8, .heads = 2, .head_dim = 4, .layers = 2, .train_len = train_len, .causal = 1};
    cr_assert(r && stack_parse(r, text, &s, &e) == 0, "%s", e.message);
    int status = stack_check(&s, &shape, max_len, &e);
    cr_assert_eq(status, words ? -1 : 0, "%s: %s", text, e.message);
    if (words) {
        cr_assert_eq(e.kind, ERROR_USAGE);
        cr_assert_not_null(strstr(e.message, words), "%s: %s", text, e.message);
    }
    stack_free(&s);
    registry_free(r);
}

Test(map_refusals, random_needs_room)
{
    checked_map("rope@random(span=64)", 32, 64, NULL);
    checked_map("rope@random(span=64)", 32, 65, "random: 65 tokens need that many different positions, but span=64");
    checked_map("rope@random(span=64,test=identity)", 64, 65, NULL);
    checked_map("rope@random(span=63,test=identity)", 64, 65, "64 tokens need");
    checked_map(
        "learned@random(span=64)", 32, 64,
        "a training sequence of 32 tokens reaches position 63 (map random), but the last that has a meaning is 31");
    checked_map("learned(rows=64)@random(span=64)", 32, 64, NULL);
    checked_map("learned(rows=64)@random_float(span=64)", 32, 64, "reaches position 64");
    checked_map("learned(rows=65)@random_float(span=64)", 32, 64, NULL);
}

Test(map_refusals, shift_needs_an_end)
{
    checked_map("rope@shift", 32, 64,
                "shift: span=auto shifts as far as positions have a meaning, but in this stack they "
                "have no end; give a number");
    checked_map("rope@shift(span=500)", 32, 64, NULL);
    checked_map("learned@shift", 32, 64, NULL);
    checked_map("learned(rows=64)@shift", 32, 64, NULL);
    checked_map("learned(rows=64)@shift(span=32)", 32, 64, NULL);
    checked_map("learned(rows=64)@shift(span=33)", 32, 64, "reaches position 64 (map shift)");
}

Test(map_refusals, cape_keeps_the_order)
{
    checked_map("rope@cape(max_local=0.51)", 32, 64, "cape: max_local=0.51 could put a token before the one");
    checked_map("rope@cape", 32, 64, NULL);
    checked_map("learned(rows=50)@cape(max_global=5,max_local=0.5,max_scale=1)", 32, 64, NULL);
    checked_map("learned(rows=42)@cape(max_global=5,max_local=0.5,max_scale=1)", 32, 64, "reaches position 42");
}

Test(map_refusals, proposals_need_encodings_that_bear_them)
{
    checked_map("learned@task", 32, 64, NULL);
    checked_map("rope@task", 32, 64, NULL);
    checked_map("shaw@task", 32, 64, "shaw needs positions that do not decrease, but under the map task they may");
    checked_map("rope@task(start=auto)", 32, 64, "task: start=auto shifts as far as positions have a meaning");
}

/* Training with proposed positions is held against the table once the task is known. */
Test(map_refusals, proposals_past_a_table)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    pe_stack s;
    const pe_shape shape = {.width = 8, .heads = 2, .head_dim = 4, .layers = 2, .train_len = 32, .causal = 1};
    cr_assert_eq(stack_parse(r, "learned(rows=20)@task(start=4)", &s, &e), 0);
    cr_assert_eq(stack_check(&s, &shape, 64, &e), 0, "%s", e.message);
    cr_assert_eq(stack_check_given(&s, &shape, 15, &e), 0, "%s", e.message);
    cr_assert_eq(stack_check_given(&s, &shape, 16, &e), -1);
    cr_assert_str_eq(e.message,
                     "learned: training reaches position 20 (map task), but the last that has a meaning is 19: "
                     "its usable length is 20");
    stack_free(&s);
    error_clear(&e);
    cr_assert_eq(stack_parse(r, "learned(rows=20)", &s, &e), 0);
    cr_assert_eq(stack_check_given(&s, &shape, 1000, &e), 0, "other maps do not look at proposals");
    stack_free(&s);
    registry_free(r);
}
