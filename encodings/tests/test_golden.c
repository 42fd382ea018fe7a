/* Reference vectors through the encodings' own hooks; and a look at whether a wrong number would be noticed. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "golden.h"

#define GOLDEN_FOLDER "encodings/tests/golden/"

static registry *golden_registry(void)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    cr_assert_not_null(r, "%s", e.message);
    return r;
}

static void golden_expect_not_failed(void *user, const golden_line *line)
{
    char text[1024];
    (void)user;
    golden_line_print(line, text, sizeof text);
    cr_expect_neq(line->outcome, GOLDEN_FAILED, "%s: %s", line->path, text);
    cr_expect(line->outcome != GOLDEN_SKIPPED || line->remark[0] != '\0', "%s: skipped without a reason", line->id);
}

/* The counts are part of the test: a case that is no longer understood must not pass by being skipped. */
static void golden_expect(const char *path, int passed, int skipped)
{
    error e = ERROR_INIT;
    registry *r = golden_registry();
    golden_report report = {0, 0, 0};
    cr_assert_eq(golden_run_file(r, path, golden_expect_not_failed, NULL, &report, &e), 0, "%s", e.message);
    cr_expect_eq(report.passed, passed, "%d passed", report.passed);
    cr_expect_eq(report.skipped, skipped, "%d skipped", report.skipped);
    registry_free(r);
}

Test(golden, absolute)
{
    golden_expect(GOLDEN_FOLDER "absolute.json", 17, 0);
}

Test(golden, rope)
{
    golden_expect(GOLDEN_FOLDER "rope.json", 25, 0);
}

Test(golden, rope_scaling)
{
    golden_expect(GOLDEN_FOLDER "rope_scaling.json", 42, 0);
}

Test(golden, xpos)
{
    golden_expect(GOLDEN_FOLDER "xpos.json", 7, 0);
}

Test(golden, alibi)
{
    golden_expect(GOLDEN_FOLDER "alibi.json", 25, 0);
}

Test(golden, t5)
{
    golden_expect(GOLDEN_FOLDER "t5.json", 21, 0);
}

Test(golden, kerple_sandwich_fire)
{
    golden_expect(GOLDEN_FOLDER "kerple_sandwich_fire.json", 16, 0);
}

Test(golden, randomized)
{
    golden_expect(GOLDEN_FOLDER "randomized.json", 4, 0);
}

Test(golden, relative_attention)
{
    golden_expect(GOLDEN_FOLDER "relative_attention.json", 14, 0);
}

Test(golden, contextual)
{
    golden_expect(GOLDEN_FOLDER "contextual.json", 14, 0);
}

/* ------------------------------------------------------------------------------------------------ can it fail? */

static golden_line seen;
static char seen_remark[1024];

static void golden_keep(void *user, const golden_line *line)
{
    (void)user;
    seen = *line;
    snprintf(seen_remark, sizeof seen_remark, "%s", line->remark);
}

/* Runs one file made of this text. Returns what golden_run_file did. */
static int golden_try(const char *text, error *e)
{
    char path[] = "/tmp/posbench_golden_XXXXXX";
    registry *r = golden_registry();
    golden_report report = {0, 0, 0};
    int descriptor = mkstemp(path);
    cr_assert_geq(descriptor, 0);
    cr_assert_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
    int status = golden_run_file(r, path, golden_keep, NULL, &report, e);
    unlink(path);
    registry_free(r);
    return status;
}

#define ONE_CASE(body)                                                                                                 \
    "{\"schema\":\"pe-golden/1\",\"cases\":[{\"id\":\"it\",\"tol\":{\"f64\":[1e-12,0],\"f32\":[1e-6,0]}," body "}]}"
#define SLOPES(params, first)                                                                                          \
    ONE_CASE("\"op\":\"alibi_slopes\",\"variant\":\"interleaved\",\"params\":{" params "},\"in\":{},"                  \
             "\"out\":{\"slopes\":{\"shape\":[2],\"data\":[" first ",0.00390625]}}")

static void golden_expect_outcome(const char *text, golden_outcome outcome, const char *words)
{
    error e = ERROR_INIT;
    cr_assert_eq(golden_try(text, &e), 0, "%s", e.message);
    cr_expect_eq(seen.outcome, outcome, "%s", seen_remark);
    cr_expect_not_null(strstr(seen_remark, words), "expected '%s' in '%s'", words, seen_remark);
}

Test(golden, right_numbers_pass)
{
    golden_expect_outcome(SLOPES("\"heads\":2", "0.0625"), GOLDEN_PASSED, "");
    cr_expect_eq(seen.compared, 2);
}

Test(golden, a_wrong_number_fails)
{
    golden_expect_outcome(SLOPES("\"heads\":2", "0.0626"), GOLDEN_FAILED, "slopes[0]: expected 0.0626");
}

Test(golden, an_unknown_parameter_skips)
{
    golden_expect_outcome(SLOPES("\"heads\":2,\"twist\":1", "0.0625"), GOLDEN_SKIPPED,
                          "params.twist is not understood");
}

Test(golden, a_missing_parameter_skips)
{
    golden_expect_outcome(SLOPES("\"depth\":2", "0.0625"), GOLDEN_SKIPPED, "parameter heads is missing");
}

Test(golden, an_unknown_operation_skips)
{
    golden_expect_outcome(ONE_CASE("\"op\":\"telepathy\""), GOLDEN_SKIPPED, "'telepathy'");
}

Test(golden, a_wrong_size_skips)
{
    golden_expect_outcome(SLOPES("\"heads\":3", "0.0625"), GOLDEN_SKIPPED, "out.slopes has 2 elements");
}

Test(golden, what_an_encoding_refuses_is_skipped_in_its_words)
{
    golden_expect_outcome(ONE_CASE("\"op\":\"rope_inv_freq\",\"params\":{\"rotary_dim\":3,\"base\":10},\"in\":{},"
                                   "\"out\":{\"inv_freq\":{\"shape\":[1],\"data\":[1]}}"),
                          GOLDEN_SKIPPED, "refused: rope: ");
}

Test(golden, other_schemas_and_broken_files_are_errors)
{
    error e = ERROR_INIT;
    golden_report report = {0, 0, 0};
    cr_expect_lt(golden_try("{\"schema\":\"pe-golden/2\",\"cases\":[]}", &e), 0);
    cr_expect_not_null(strstr(e.message, "pe-golden/2"), "%s", e.message);
    error_clear(&e);
    cr_expect_lt(golden_try("{\"schema\":", &e), 0);
    cr_expect_not_null(strstr(e.message, ":1:"), "%s", e.message);
    error_clear(&e);
    registry *r = golden_registry();
    cr_expect_lt(golden_run_file(r, "no/such/file.json", NULL, NULL, &report, &e), 0);
    cr_expect_eq(e.kind, ERROR_ENVIRONMENT);
    registry_free(r);
}
