/* Every backward hook of every encoding and example against finite differences; double precision only. */
#include <criterion/criterion.h>

#include "examples.h"
#include "gradient.h"

static void gradient_expect_ok(const pe_stack *stack, const char *text)
{
    error e = ERROR_INIT;
    gradient_report report;
    cr_assert_eq(gradient_check(stack, &report, &e), 0, "%s: %s", text, e.message);
    cr_expect_eq(report.failures, 0, "%s: %s (and %d more)", text, report.message, report.failures - 1);
    cr_expect_gt(report.derivatives, 300, "%s: only %d derivatives were compared", text, report.derivatives);
}

#define PE_ENCODING(name)                                                                                              \
    Test(gradient, name)                                                                                               \
    {                                                                                                                  \
        examples_walk(#name, gradient_expect_ok);                                                                      \
    }
#include "list.h"
