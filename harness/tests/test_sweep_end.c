/* How a sweep ends before its time, and how several share a folder. */
#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sweep_fixture.h"

static fixture f; /* of one test: each runs in a process of its own */

static void test_sweep_end_close(void)
{
    fixture_close(&f);
}

TestSuite(sweep_end, .fini = test_sweep_end_close, .timeout = 60);

/* ------------------------------------------------------------------------------------------------ what cannot go on */

Test(sweep_end, says_what_the_environment_lacks)
{
    fixture_open(&f, 3);
    f.options.program = "/nonexistent/posbench";
    cr_assert_eq(fixture_sweep(&f), -1);
    cr_expect_eq(f.e.kind, ERROR_ENVIRONMENT);
    cr_expect_str_eq(f.e.message, "cannot start /nonexistent/posbench: No such file or directory");
    cr_expect_eq(f.outcome.left, 3);
    fixture_expect_no_claims(&f);

    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.3000s/file", f.base);
    fixture_write(path, "x", 1);
    snprintf(f.out, sizeof f.out, "%.3000s/file/out", f.base);
    cr_assert_eq(fixture_sweep(&f), -1);
    cr_expect_eq(f.e.kind, ERROR_ENVIRONMENT);
    cr_expect(strstr(f.e.message, "/file/out: Not a directory"), "%s", f.e.message);

    f.options.jobs = 0;
    cr_assert_eq(fixture_sweep(&f), -1);
    cr_expect_eq(f.e.kind, ERROR_USAGE);
}

/* A 1 MiB file system that only this process sees. 0 if the machine does not allow that. */
static int mount_small(const char *path)
{
    if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return 0;
    return mkdir(path, 0777) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("small", path, "tmpfs", 0, "size=1m") == 0;
}

/* Case D09. */
Test(sweep_end, stops_when_the_disk_is_full_and_goes_on_later)
{
    char path[PATH_MAX];
    fixture_open(&f, 5);
    if (!mount_small(f.out))
        cr_skip_test("this machine lets tests mount nothing: %s", strerror(errno));
    fixture_behave("3:fill,*:ok");
    cr_assert_eq(fixture_sweep(&f), -1);
    cr_expect_eq(f.e.kind, ERROR_ENVIRONMENT);
    cr_expect(strstr(f.e.message, f.out) && strstr(f.e.message, "No space left on device"), "%s", f.e.message);
    cr_expect_eq(f.outcome.done, 2);
    cr_expect_eq(f.outcome.failed, 0);
    cr_expect_eq(f.outcome.left, 3);
    fixture_expect(&f, 2, FOLDER_OK, "");
    fixture_expect(&f, 3, FOLDER_MISSING, "");

    fixture_record_path(&f, 3, path);
    strcat(path, ".tmp.1"); /* what had filled it */
    unlink(path);
    fixture_behave("*:ok");
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.found, 2);
    cr_expect_eq(f.outcome.done, 3);
    umount(f.out);
}

/* ------------------------------------------------------------------------------------------------ being stopped */

/* Case D11. */
Test(sweep_end, stops_cleanly)
{
    fixture_open(&f, 8);
    f.options.jobs = 3;
    fixture_behave("1:ok,2:ok,3:sleep=60,4:polite,5:sleep=60,*:ok");
    fixture_stop_at_executions(&f, 5);
    cr_assert_eq(fixture_sweep(&f), -1);
    cr_expect_eq(f.e.kind, ERROR_INTERRUPTED);
    cr_expect_str_eq(f.e.message, "interrupted: 2 of 8 runs have a record; the same command goes on from there");
    cr_expect_eq(f.outcome.done, 2);
    cr_expect_eq(f.outcome.interrupted, 3);
    cr_expect_eq(f.outcome.left, 3);
    cr_expect_lt(f.outcome.seconds, 20);
    cr_expect_eq(fixture_living(&f), 0);
    fixture_expect(&f, 1, FOLDER_OK, "");
    fixture_expect(&f, 3, FOLDER_MISSING, "");
    fixture_expect(&f, 4, FOLDER_MISSING, ""); /* its own record, "interrupted", is no outcome */
    fixture_expect_no_claims(&f);

    f.options.stop = NULL;
    fixture_behave("*:ok");
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.done, 6);
}

Test(sweep_end, kills_what_ignores_sigterm)
{
    fixture_open(&f, 2);
    fixture_behave("1:stubborn,*:ok");
    f.options.grace = 0.3;
    fixture_stop_at_executions(&f, 1);
    cr_assert_eq(fixture_sweep(&f), -1);
    cr_expect_eq(f.outcome.interrupted, 1);
    cr_expect_geq(f.outcome.seconds, 0.3);
    cr_expect_lt(f.outcome.seconds, 20);
    cr_expect_eq(fixture_living(&f), 0);
    fixture_expect(&f, 1, FOLDER_MISSING, "");
}

/* Case D02: the sweep dies with the node; its children go with it, and its claims hold nobody up. */
Test(sweep_end, survives_sigkill)
{
    fixture_open(&f, 6);
    f.options.jobs = 2;
    fixture_behave("1:ok,2:ok,*:sleep=60");
    pid_t pid = fixture_fork_sweep(&f);
    fixture_await_executions(&f, 4);
    kill(pid, SIGKILL);
    cr_assert_eq(fixture_wait(pid), 128 + SIGKILL);

    fixture_behave("*:ok");
    f.options.jobs = 1;
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(fixture_living(&f), 0, "children outlived the sweep");
    cr_expect_eq(f.outcome.found, 2);
    cr_expect_eq(f.outcome.done, 4);
    cr_expect_eq(f.outcome.elsewhere, 0);
    cr_expect_eq(fixture_executions(&f, 0), 4 + 4);
    for (int seed = 1; seed <= 6; seed++)
        cr_expect_eq(fixture_executions(&f, seed), seed == 3 || seed == 4 ? 2 : 1);
    fixture_expect_no_claims(&f);
}

/* ------------------------------------------------------------------------------------------------ several workers */

Test(sweep_end, workers_on_one_folder_share_the_runs)
{
    fixture_open(&f, 24);
    fixture_behave("7:sleep=0.2,17:crash,23:sleep=0.2,*:ok");
    f.options.jobs = 2;
    f.options.worker_count = 3;
    pid_t pids[3];
    for (int i = 0; i < 3; i++) {
        f.options.worker_index = i;
        pids[i] = fixture_fork_sweep(&f);
    }
    for (int i = 0; i < 3; i++)
        cr_expect_eq(fixture_wait(pids[i]), 0);
    cr_expect_eq(fixture_executions(&f, 0), 24);
    for (int seed = 1; seed <= 24; seed++)
        cr_expect_eq(fixture_executions(&f, seed), 1, "seed %d: %d times", seed, fixture_executions(&f, seed));
    fixture_expect(&f, 17, FOLDER_FAILED, "SIGSEGV");
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.found, 24);
    fixture_expect_no_claims(&f);
}

Test(sweep_end, leaves_to_others_what_they_have)
{
    fixture_open(&f, 3);
    fixture_behave("1:sleep=60,*:ok");
    f.spec.count = 1;
    pid_t pid = fixture_fork_sweep(&f);
    fixture_await_executions(&f, 1);
    f.spec.count = 3;
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.done, 2);
    cr_expect_eq(f.outcome.elsewhere, 1);
    cr_expect_lt(f.outcome.seconds, 20, "it waited for the other worker");
    kill(pid, SIGKILL);
    fixture_wait(pid);
}
