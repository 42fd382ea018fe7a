#include "examples.h"

#include <criterion/criterion.h>

#include <stdio.h>

static void examples_visit(const registry *r, const char *text, example_fn *f)
{
    error e = ERROR_INIT;
    pe_stack stack;
    cr_assert_eq(stack_parse(r, text, &stack, &e), 0, "%s: %s", text, e.message);
    f(&stack, text);
    stack_free(&stack);
}

void examples_walk(const char *encoding, example_fn *f)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_not_null(r, "%s", e.message);
    const pe_descriptor *d = registry_find_encoding(r, encoding, &e);
    cr_assert_not_null(d, "%s", e.message);
    examples_visit(r, encoding, f);
    for (const char *const *example = d->examples; example && *example; example++) {
        char text[STACK_TEXT_MAX];
        snprintf(text, sizeof text, "%s(%s)", encoding, *example);
        examples_visit(r, text, f);
    }
    registry_free(r);
}
