/* What a sweep shows: on a terminal, into a file, and before it starts. */
#include <criterion/criterion.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"
#include "sweep_fixture.h"
#include "work.h"

static fixture f;

static void test_progress_close(void)
{
    fixture_close(&f);
}

TestSuite(progress, .fini = test_progress_close, .timeout = 30);

/* Runs the sweep with its progress on a new terminal and returns all that was written to that. */
static char *sweep_on_terminal(const char *term, unsigned short columns, int *result)
{
    int master, slave;
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    cr_assert_eq(openpty(&master, &slave, NULL, NULL, &size), 0);
    setenv("TERM", term, 1);
    f.options.progress = fdopen(slave, "w");
    FILE *copy = tmpfile();
    pid_t reader = fork(); /* a terminal holds little: somebody must read it all the time */
    if (reader == 0) {
        char text[4096];
        ssize_t n;
        close(slave);
        while ((n = read(master, text, sizeof text)) > 0)
            if (write(fileno(copy), text, (size_t)n) != n)
                _exit(1);
        _exit(0);
    }
    *result = fixture_sweep(&f);
    fclose(f.options.progress);
    f.options.progress = NULL;
    fixture_wait(reader);
    close(master);
    char *told = fixture_slurp(copy);
    fclose(copy);
    return told;
}

/* The last of two words in a text comes after all of the other. */
static int ends_with_word(const char *text, const char *last, const char *other)
{
    const char *a = NULL, *b = NULL;
    for (const char *p = text; (p = strstr(p, last)); p++)
        a = p;
    for (const char *p = text; (p = strstr(p, other)); p++)
        b = p;
    return a && b && a > b;
}

/* The widest line, escape sequences aside. */
static int widest(const char *text)
{
    int most = 0, columns = 0;
    for (; *text; text++) {
        if (*text == '\033') {
            text += strcspn(text, "ABCDHJKhlm");
        } else if (*text == '\n' || *text == '\r') {
            columns = 0;
        } else if (++columns > most) {
            most = columns;
        }
    }
    return most;
}

Test(progress, lives_on_a_terminal)
{
    int result;
    fixture_open(&f, 5);
    f.options.jobs = 2;
    unsetenv("NO_COLOR");
    fixture_behave("1:sleep=0.4,2:sleep=0.8,4:crash,*:ok");
    char *told = sweep_on_terminal("xterm", 100, &result);
    cr_expect_eq(result, 0, "%s", f.e.message);
    cr_expect(strstr(told, "nope  sort  seed 1"), "%s", told);
    cr_expect(strstr(told, " train "), "%s", told);
    cr_expect(strstr(told, "failed: killed by SIGSEGV"), "%s", told);
    cr_expect(strstr(told, "left"), "no time left: %s", told);
    cr_expect(strstr(told, "5/5 runs [################], 1 failed"), "%s", told);
    cr_expect(strstr(told, "\033[1m"), "no colour");
    cr_expect(ends_with_word(told, "\033[?25h", "\033[?25l"), "the cursor stays hidden");
    cr_expect_eq(told[strlen(told) - 1], 'h'); /* nothing after it: the cursor stands below the block */
    cr_expect_leq(widest(told), 99);
    int redraws = 0;
    for (const char *p = told; (p = strstr(p, "\033[?25l")); p++)
        redraws++;
    cr_expect_geq(redraws, 4, "%d redraws", redraws);
    cr_expect_leq(redraws, 10 * f.outcome.seconds + 8, "%d redraws in %g seconds", redraws,
                  f.outcome.seconds); /* notes too */
    free(told);
}

/* The most seconds that it ever said were left. */
static int most_left(const char *told)
{
    int most = 0, seconds;
    for (const char *p = told; (p = strstr(p, "about ")); p++)
        if (sscanf(p, "about %ds left", &seconds) == 1 && seconds > most)
            most = seconds;
    return most;
}

/* A second for the last tenth of one run: nine tenths were made before, so the other one will take ten. */
Test(progress, work_of_earlier_sittings_is_not_this_ones_speed)
{
    int result;
    fixture_open(&f, 2);
    f.options.jobs = 1;
    fixture_behave("1:resumed=1,*:ok");
    char *told = sweep_on_terminal("xterm", 100, &result);
    cr_expect_eq(result, 0, "%s", f.e.message);
    cr_expect_geq(most_left(told), 6, "%s", told);
    free(told);
}

Test(progress, restores_the_terminal_when_stopped)
{
    int result;
    fixture_open(&f, 3);
    fixture_behave("*:sleep=60");
    fixture_stop_at_executions(&f, 1);
    char *told = sweep_on_terminal("xterm", 80, &result);
    cr_expect_eq(result, -1);
    cr_expect_eq(f.e.kind, ERROR_INTERRUPTED);
    cr_expect(ends_with_word(told, "\033[?25h", "\033[?25l"), "the cursor stays hidden");
    free(told);
}

Test(progress, fits_a_narrow_terminal)
{
    int result;
    fixture_open(&f, 2);
    strcpy(f.runs[0].encoding, "a_name_that_is_much_too_long_for_any_terminal");
    fixture_behave("*:sleep=0.3");
    char *told = sweep_on_terminal("xterm", 30, &result);
    cr_expect_eq(result, 0, "%s", f.e.message);
    cr_expect_leq(widest(told), 29, "%s", told);
    free(told);
}

Test(progress, obeys_no_color_and_a_dumb_terminal)
{
    int result;
    fixture_open(&f, 2);
    setenv("NO_COLOR", "1", 1);
    fixture_behave("*:sleep=0.2");
    char *told = sweep_on_terminal("xterm", 80, &result);
    cr_expect(strstr(told, "\033[?25l"));
    for (const char *p = told; (p = strchr(p, '\033')); p++)
        cr_expect_neq(p[1 + strcspn(p + 1, "ABCDHJKhlm")], 'm', "a colour: %s", told);
    free(told);

    strcat(f.out, "2");
    told = sweep_on_terminal("dumb", 80, &result);
    cr_expect_null(strchr(told, '\033'));
    cr_expect(strstr(told, "2/2 runs"), "%s", told);
    free(told);
}

/* Case D20. */
Test(progress, is_plain_in_a_file)
{
    fixture_open(&f, 4);
    f.options.jobs = 2;
    setenv("TERM", "xterm", 1);
    f.options.progress = tmpfile();
    fixture_behave("1:sleep=0.3,2:words,3:diverge,*:ok");
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    char *told = fixture_slurp(f.options.progress);
    for (const char *p = told; *p; p++)
        cr_assert(*p == '\n' || *p >= ' ', "byte %d in: %s", *p, told);
    int lines = 0;
    for (const char *p = told; (p = strchr(p, '\n')); p++)
        lines++;
    cr_expect_eq(lines, 5, "%s", told); /* one for each run and the total */
    cr_expect(strstr(told, "  nope  sort  seed 1  ok  ("), "%s", told);
    cr_expect(strstr(told, "  nope  sort  seed 2  failed: exit status 1: caf?"), "%s", told);
    cr_expect(strstr(told, "  nope  sort  seed 3  diverged: the loss is not finite"), "%s", told);
    cr_expect(strstr(told, "4/4 runs, 1 failed, 1 diverged, "), "%s", told);
    free(told);
    fclose(f.options.progress);
}

Test(progress, tells_durations)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0s"}, {59.4, "59s"}, {59.6, "1m00s"}, {192, "3m12s"}, {7500, "2h05m"}, {273600, "3d04h"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[32];
        progress_duration(cases[i].seconds, text, sizeof text);
        cr_expect_str_eq(text, cases[i].text);
    }
}

/* ------------------------------------------------------------------------------------------------ plan */

static char *plan_text(void)
{
    error e = ERROR_INIT;
    FILE *to = tmpfile();
    cr_assert_eq(sweep_plan(&f.spec, &f.options, to, &e), 0, "%s", e.message);
    char *told = fixture_slurp(to);
    fclose(to);
    return told;
}

Test(progress, plan_makes_nothing)
{
    fixture_open(&f, 6);
    for (int i = 3; i < 6; i++) {
        strcpy(f.runs[i].encoding, "rope(base=100)");
        f.runs[i].seed = i - 2;
    }
    f.options.jobs = 2;
    char *told = plan_text();
    cr_expect(!fixture_exists(f.out));
    cr_expect_eq(fixture_executions(&f, 0), 0);
    cr_expect(strstr(told, "fixture: A small spec: 6 runs\n"), "%s", told);
    cr_expect(strstr(told, "  encoding             2: nope, rope(base=100)\n"), "%s", told);
    cr_expect(strstr(told, "  seed                 3: 1, 2, 3\n"), "%s", told);
    cr_expect_null(strstr(told, "model."), "what does not vary is no axis: %s", told);
    cr_expect(strstr(told, "0 ok, 0 failed, 0 diverged; missing: 6\n"), "%s", told);
    cr_expect(strstr(told, "6 by arithmetic at an assumed 50 GFLOP/s a core"), "%s", told);
    cr_expect(strstr(told, "encoding=nope task=sort train.min_len=2\n"), "%s", told);
    free(told);
}

Test(progress, plan_knows_what_is_there)
{
    fixture_open(&f, 6);
    fixture_behave("2:crash,*:ok");
    f.spec.count = 3;
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    f.spec.count = 6;
    f.runs[5].model.width = 128;
    char *told = plan_text();
    cr_expect(strstr(told, "2 ok, 1 failed, 0 diverged; missing: 3\n"), "%s", told);
    cr_expect(strstr(told, "2 by finished runs that differ in the seed alone, 1 by arithmetic at the speed of"), "%s",
              told);
    cr_expect(strstr(told, "to be started: 3\n"), "%s", told);
    free(told);

    f.options.retry_failed = 1;
    f.runs[5].model.width = 64;
    told = plan_text();
    cr_expect(strstr(told, "to be started: 4; the first:\n"), "%s", told);
    cr_expect(strstr(told, "time: about 12s with 1 process at a time: 4 by finished"), "%s",
              told); /* 3 s each, says fake_run */
    free(told);
}

Test(progress, work_follows_the_formulas)
{
    run_config c;
    config_defaults(&c);
    strcpy(c.task, "no_such_task"); /* a length is then as many tokens, and there is no vocabulary */
    c.train.min_len = c.train.len = 32;
    c.eval.ratios = (pe_list){1, {2}};
    fixture_open(&f, 1);
    double matrices = 2 * 12 * 64 * 64.0, pairs = 4 * 2 * 64 * 32 * 0.5;
    work w = work_of(&c);
    cr_expect_float_eq(w.train / ((6 * matrices + 3.5 * pairs) * 32 * 64 * 2000), 1, 1e-12);
    cr_expect_float_eq(w.evaluate / ((2 * matrices + 2 * pairs) * 64 * 256), 1, 1e-12);
    c.model.causal = 0;
    cr_expect_gt(work_of(&c).train, w.train);
    strcpy(c.task, "sort");
    cr_expect_gt(work_of(&c).train, w.train); /* prompt and answer: more tokens than symbols */
}

/* Sorting 32 symbols is BOS, 32, SEP, 32: 66 tokens, of which the last 33 are scored, among 32 symbols and three more. */
Test(progress, work_of_what_is_not_scored_ends_with_the_last_keys_and_values)
{
    run_config c;
    config_defaults(&c);
    strcpy(c.task, "sort(symbols=32)");
    c.train.min_len = c.train.len = 32;
    c.eval.ratios = (pe_list){1, {1}};
    double square = 64 * 64.0, matrices = square * (12 * 66 + 3 * 66 + 9 * 33) + 35 * 64 * 33;
    double pairs = 66 * 66 / 2.0 + (66 * 66 - 33 * 33) / 2.0;
    work w = work_of(&c);
    cr_expect_float_eq(w.train / ((6 * matrices + 3.5 * 4 * 64 * pairs) * 64 * 2000), 1, 1e-12);
    cr_expect_float_eq(w.evaluate / ((2 * matrices + 4 * 64 * pairs) * 256), 1, 1e-12);
}
