/* The summary that `posbench check` prints. */
#include <criterion/criterion.h>

#include <stdio.h>

#include "check.h"

enum { LINES_MAX = 64 };

typedef struct lines {
    int count;
    char text[LINES_MAX][512];
} lines;

static lines seen;

static void lines_keep(void *user, const check_line *line)
{
    lines *l = user;
    if (l->count < LINES_MAX)
        check_line_print(line, l->text[l->count], sizeof l->text[0]);
    l->count++;
}

/* Returns what check_stack did; *failed as there. */
static int lines_check(const char *text, int *failed, error *e)
{
    registry *r = registry_new(e);
    cr_assert_not_null(r, "%s", e->message);
    seen = (lines){0};
    int status = check_stack(r, text, lines_keep, &seen, failed, e);
    registry_free(r);
    return status;
}

static void expect_lines(const char *text, int count, const char *words)
{
    error e = ERROR_INIT;
    int failed = -1;
    cr_assert_eq(lines_check(text, &failed, &e), 0, "%s", e.message);
    cr_expect_eq(failed, 0, "%s", seen.text[0]);
    cr_expect_eq(seen.count, count);
    cr_expect_eq(strncmp(seen.text[0], words, strlen(words)), 0, "%s", seen.text[0]);
    cr_expect_not_null(strstr(seen.text[0], "claims ok  protocol ok"), "%s", seen.text[0]);
    cr_expect_not_null(strstr(seen.text[0], sizeof(real) == sizeof(double) ? "gradient ok " : "double precision only"),
                       "%s", seen.text[0]);
}

Test(check_stack, one_encoding)
{
    expect_lines("alibi(bias_max=8)", 1, "alibi  ");
}

Test(check_stack, rope_and_alibi)
{
    expect_lines("rope(base=100)+alibi", 1, "rope(base=100)+alibi  ");
}

Test(check_stack, everything_that_can_stand_together)
{
    expect_lines("learned+sinusoidal+shaw+t5+alibi+rope", 1, "learned+sinusoidal+shaw+t5+alibi+rope  ");
}

Test(check_stack, temperatures)
{
    expect_lines("rope+ssmax", 1, "rope+ssmax  ");
    expect_lines("shaw+ssmax+logn(length=3)+alibi", 1, "shaw+ssmax+logn(length=3)+alibi  ");
    expect_lines("ssmax+t5+temper+shaw", 1, "ssmax+t5+temper+shaw  ");
}

Test(check_stack, layers_that_differ_are_checked_once_each)
{
    expect_lines("[alibi,nope,alibi,nope,alibi,alibi]", 2, "alibi  ");
}

Test(check_stack, a_position_map_makes_no_difference)
{
    expect_lines("alibi@clamp(limit=7)", 1, "alibi  ");
}

Test(check_stack, what_does_not_parse_is_an_error)
{
    error e = ERROR_INIT;
    int failed = 0;
    cr_expect_lt(lines_check("alibbi", &failed, &e), 0);
    cr_expect_not_null(strstr(e.message, "'alibi'"), "%s", e.message);
    cr_expect_eq(seen.count, 0);
}

Test(check_stack, what_no_shape_accepts_fails_with_the_reason)
{
    error e = ERROR_INIT;
    int failed = 0;
    cr_assert_eq(lines_check("rope(start=1000)", &failed, &e), 0, "%s", e.message);
    cr_expect_eq(failed, 1);
    cr_expect_not_null(strstr(seen.text[0], "refused\n    no trial shape is accepted: rope: "), "%s", seen.text[0]);
}

Test(check_stack, a_failure_says_what_was_expected)
{
    check_line line = {.stack = "mine", .with_gradient = 1, .failed = 1};
    char text[512];
    line.gradient =
        (gradient_report){.worst = 0.25, .failures = 3, .message = "gradient of w[0][1]: expected 4, got 3"};
    check_line_print(&line, text, sizeof text);
    cr_expect_not_null(strstr(text, "gradient FAILED 2.5e-01  claims ok  protocol ok"), "%s", text);
    cr_expect_not_null(strstr(text, "\n    gradient of w[0][1]: expected 4, got 3 (and 2 more)"), "%s", text);
    char small[16];
    check_line_print(&line, small, sizeof small);
    cr_expect_eq(strlen(small), sizeof small - 1, "cut, not overrun");
}
