/* What every encoding and example claims holds, and what holds is claimed. */
#include <criterion/criterion.h>

#include "claims.h"
#include "examples.h"

static void claims_expect_ok(const pe_stack *stack, const char *text)
{
    error e = ERROR_INIT;
    claims_report report;
    cr_assert_eq(claims_check(stack, &report, &e), 0, "%s: %s", text, e.message);
    cr_expect_eq(report.failures, 0, "%s: %s", text, report.message);
    cr_expect_eq(report.made, report.held, "%s: claims %#x, found %#x", text, report.made, report.held);
}

#define PE_ENCODING(name)                                                                                              \
    Test(claims, name)                                                                                                 \
    {                                                                                                                  \
        examples_walk(#name, claims_expect_ok);                                                                        \
    }
#include "list.h"
