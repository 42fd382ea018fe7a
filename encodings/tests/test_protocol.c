/* Every hook of every encoding and example keeps to the rules of pe.h. */
#include <criterion/criterion.h>

#include "examples.h"
#include "protocol.h"

static void protocol_expect_ok(const pe_stack *stack, const char *text)
{
    error e = ERROR_INIT;
    protocol_report report;
    cr_assert_eq(protocol_check(stack, &report, &e), 0, "%s: %s", text, e.message);
    cr_expect_eq(report.failures, 0, "%s: %s (and %d more)", text, report.message, report.failures - 1);
    cr_expect_gt(report.checks, 20, "%s: only %d checks were made", text, report.checks);
}

#define PE_ENCODING(name)                                                                                              \
    Test(protocol, name)                                                                                               \
    {                                                                                                                  \
        examples_walk(#name, protocol_expect_ok);                                                                      \
    }
#include "list.h"
