/* The sweep as a user meets it: what runs and what is found on disk. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "sweep_fixture.h"

static fixture f; /* of one test: each runs in a process of its own */

static void test_sweep_close(void)
{
    fixture_close(&f);
}

TestSuite(sweep, .fini = test_sweep_close, .timeout = 60);

static json_t *record_of(int seed)
{
    char path[PATH_MAX];
    error e = ERROR_INIT;
    fixture_record_path(&f, seed, path);
    json_t *record = record_read(path, &e);
    cr_assert_not_null(record, "%s", e.message);
    return record;
}

/* ------------------------------------------------------------------------------------------------ what runs */

Test(sweep, does_every_run_once)
{
    char path[PATH_MAX];
    error e = ERROR_INIT;
    fixture_open(&f, 6);
    f.options.jobs = 2;
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.planned, 6);
    cr_expect_eq(f.outcome.done, 6);
    for (int seed = 1; seed <= 6; seed++) {
        cr_expect_eq(fixture_executions(&f, seed), 1);
        fixture_expect(&f, seed, FOLDER_OK, "");
    }
    fixture_expect_no_claims(&f);

    json_error_t fault;
    snprintf(path, sizeof path, "%.3000s/spec.json", f.out);
    json_t *told = json_load_file(path, 0, &fault);
    cr_assert_not_null(told, "%s", fault.text);
    cr_expect_str_eq(json_string_value(json_object_get(told, "schema")), "posbench-sweep/1");
    cr_expect_str_eq(json_string_value(json_object_get(told, "title")), "A small spec");
    cr_assert_eq(json_array_size(json_object_get(told, "runs")), 6);
    char key[CONFIG_KEY_SIZE];
    const json_t *third = json_array_get(json_object_get(told, "runs"), 2);
    cr_expect_str_eq(json_string_value(json_object_get(third, "key")), fixture_key(&f, 3, key));
    json_decref(told);

    cr_assert_eq(fixture_sweep(&f), 0, "%s", e.message); /* a second call finds nothing to do */
    cr_expect_eq(f.outcome.found, 6);
    cr_expect_eq(f.outcome.done, 0);
    cr_expect_eq(fixture_executions(&f, 0), 6);
}

/* What a part of the grid is run of stays a part: reports read what was asked for in all. */
Test(sweep, the_whole_grid_is_told_whatever_only_says)
{
    char path[PATH_MAX], key[CONFIG_KEY_SIZE];
    int place[6] = {4, 5, 0, 1, 2, 3};
    json_error_t fault;
    fixture_open(&f, 6);
    f.spec.count = 2;
    f.spec.rest = 4;
    f.spec.place = place;
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.planned, 2);
    cr_expect_eq(fixture_executions(&f, 0), 2);
    snprintf(path, sizeof path, "%.3000s/spec.json", f.out);
    json_t *told = json_load_file(path, 0, &fault), *runs = json_object_get(told, "runs");
    cr_assert_not_null(told, "%s", fault.text);
    cr_assert_eq(json_array_size(runs), 6);
    for (int i = 0; i < 6; i++) {
        const json_t *at = json_array_get(runs, (size_t)place[i]);
        cr_expect_eq(json_integer_value(json_object_get(at, "seed")), 1 + i);
        cr_expect_str_eq(json_string_value(json_object_get(at, "key")), fixture_key(&f, 1 + i, key));
    }
    json_decref(told);
}

/* Case D01: 12 runs, of which 7 done, 1 failed, 1 killed, 3 not begun. */
Test(sweep, resume_runs_exactly_what_is_missing)
{
    char path[PATH_MAX], *before[8];
    fixture_open(&f, 12);
    f.spec.count = 8;
    fixture_behave("8:crash,*:ok");
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    f.spec.count = 9;
    fixture_behave("9:sleep=60");
    pid_t pid = fixture_fork_sweep(&f);
    fixture_await_executions(&f, 9);
    kill(pid, SIGKILL);
    cr_assert_eq(fixture_wait(pid), 128 + SIGKILL);
    for (int seed = 1; seed <= 7; seed++) {
        fixture_record_path(&f, seed, path);
        before[seed] = fixture_read(path, NULL);
    }

    f.spec.count = 12;
    f.options.retry_failed = 1;
    f.options.jobs = 2;
    fixture_behave("*:ok");
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.found, 7);
    cr_expect_eq(f.outcome.done, 5);
    cr_expect_eq(fixture_executions(&f, 0), 9 + 5);
    for (int seed = 1; seed <= 12; seed++) {
        cr_expect_eq(fixture_executions(&f, seed), seed == 8 || seed == 9 ? 2 : 1);
        fixture_expect(&f, seed, FOLDER_OK, "");
    }
    for (int seed = 1; seed <= 7; seed++) {
        fixture_record_path(&f, seed, path);
        char *after = fixture_read(path, NULL);
        cr_expect_str_eq(after, before[seed]);
        free(after);
        free(before[seed]);
    }
}

Test(sweep, one_and_two_jobs_leave_the_same_records)
{
    char path[PATH_MAX], *one[9], first[PATH_MAX];
    fixture_open(&f, 8);
    fixture_behave("3:diverge,5:sleep=0.1,*:ok");
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    for (int seed = 1; seed <= 8; seed++) {
        fixture_record_path(&f, seed, path);
        one[seed] = fixture_read(path, NULL);
    }
    strcpy(first, f.out);
    strcat(f.out, "2");
    f.options.jobs = 2;
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.diverged, 1);
    for (int seed = 1; seed <= 8; seed++) {
        fixture_record_path(&f, seed, path);
        char *two = fixture_read(path, NULL);
        cr_expect_str_eq(one[seed], two);
        free(one[seed]);
        free(two);
    }
}

/* Case C10 and the design's "a run that fails is a recorded outcome and the sweep goes on". */
Test(sweep, goes_on_after_every_kind_of_failure)
{
    fixture_open(&f, 10);
    f.options.jobs = 3;
    fixture_behave("1:crash,2:silent,3:words,4:spam,5:environment,6:garbage,7:stranger,8:diverge,9:quit,*:ok");
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.failed, 7);
    cr_expect_eq(f.outcome.diverged, 1);
    cr_expect_eq(f.outcome.interrupted, 1);
    cr_expect_eq(f.outcome.done, 1);
    cr_expect_eq(f.outcome.moved_aside, 2);
    fixture_expect(&f, 1, FOLDER_FAILED, "killed by SIGSEGV: last words");
    fixture_expect(&f, 2, FOLDER_FAILED, "exit status 0: no record and no message");
    fixture_expect(&f, 3, FOLDER_FAILED, "exit status 1: caf? ?[31mred");
    fixture_expect(&f, 4, FOLDER_FAILED, "exit status 1: warning 029999");
    fixture_expect(&f, 5, FOLDER_FAILED, "exit status 3: corpus.txt: No such file");
    fixture_expect(&f, 6, FOLDER_FAILED, "exit status 0: ");
    fixture_expect(&f, 7, FOLDER_FAILED, "exit status 0: ");
    fixture_expect(&f, 8, FOLDER_DIVERGED, "the loss is not finite");
    fixture_expect(&f, 9, FOLDER_MISSING, "");
    fixture_expect(&f, 10, FOLDER_OK, "");

    json_t *spam = record_of(4), *crash = record_of(1);
    cr_expect_geq(json_string_length(json_object_get(spam, "last_words")), 1900);
    cr_expect_leq(json_string_length(json_object_get(spam, "last_words")), 2048);
    cr_expect_str_eq(json_string_value(json_object_get(crash, "last_words")), "about to fall\nlast words\n");
    cr_expect_gt(json_integer_value(json_object_get(json_object_get(crash, "cost"), "peak_bytes")), 0);
    json_decref(spam);
    json_decref(crash);

    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message); /* failures are outcomes; a run that was stopped is not */
    cr_expect_eq(f.outcome.found, 9);
    cr_expect_eq(f.outcome.found_failed, 8);
    cr_expect_eq(fixture_executions(&f, 0), 11);
    cr_expect_eq(fixture_executions(&f, 9), 2);
}

Test(sweep, redoes_a_run_that_was_recorded_as_interrupted)
{
    char path[PATH_MAX];
    fixture_open(&f, 1);
    fixture_sweep(&f);
    fixture_record_path(&f, 1, path);
    char *text = fixture_read(path, NULL), *status = strstr(text, "\"status\": \"ok\"");
    cr_assert_not_null(status);
    FILE *file = fopen(path, "w");
    fprintf(file, "%.*s\"status\": \"interrupted\"%s", (int)(status - text), text,
            status + strlen("\"status\": \"ok\""));
    fclose(file);
    free(text);
    fixture_expect(&f, 1, FOLDER_INTERRUPTED, "");
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.done, 1);
    fixture_expect(&f, 1, FOLDER_OK, "");
}

/* ------------------------------------------------------------------------------------------------ what is found on
 * disk */

Test(sweep, moves_unreadable_records_aside_and_says_so)
{
    char path[PATH_MAX], bad[PATH_MAX + 8];
    fixture_open(&f, 2);
    fixture_sweep(&f);
    fixture_record_path(&f, 2, path);
    size_t size;
    char *good = fixture_read(path, &size);
    f.options.progress = tmpfile();
    for (int i = 1; i <= 2; i++) {
        fixture_write(path, good, size / 2); /* cut off */
        cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
        cr_expect_eq(f.outcome.moved_aside, 1);
        cr_expect_eq(f.outcome.done, 1);
        char *again = fixture_read(path, NULL);
        cr_expect_str_eq(again, good);
        free(again);
    }
    snprintf(bad, sizeof bad, "%s.bad", path);
    char *aside = fixture_read(bad, &size);
    cr_expect_eq(size, strlen(good) / 2);
    cr_expect(strncmp(aside, good, size) == 0);
    snprintf(bad, sizeof bad, "%s.bad.2", path);
    cr_expect(fixture_exists(bad), "the second one was lost");
    char *told = fixture_slurp(f.options.progress);
    cr_expect(strstr(told, ".json.bad.2; its run is done again"), "%s", told);
    cr_expect(strstr(told, "cut off"), "%s", told);
    fclose(f.options.progress);
    free(told);
    free(aside);
    free(good);
}

Test(sweep, keeps_records_of_other_specs)
{
    fixture_open(&f, 5);
    fixture_sweep(&f);
    f.spec.count = 3;
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.foreign, 2);
    cr_expect_eq(f.outcome.found, 3);
    fixture_expect(&f, 5, FOLDER_OK, "");
}

Test(sweep, removes_temporary_files_of_dead_writers_only)
{
    char path[PATH_MAX], dead[PATH_MAX + 32], living[PATH_MAX + 32], claimed[PATH_MAX + 32], young[PATH_MAX + 32];
    char key[CONFIG_KEY_SIZE], folder_of_claims[PATH_MAX];
    pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    fixture_wait(gone);
    fixture_open(&f, 3);
    fixture_sweep(&f);
    fixture_record_path(&f, 1, path);
    snprintf(dead, sizeof dead, "%s.tmp.%d", path, (int)gone);
    snprintf(living, sizeof living, "%s.tmp.%d", path, (int)getppid());
    fixture_record_path(&f, 2, path);
    snprintf(claimed, sizeof claimed, "%s.tmp.%d", path, (int)gone); /* as if written from another machine */
    snprintf(young, sizeof young, "%.3000s/runs.csv.tmp.%d", f.out, (int)gone);
    fixture_write(dead, "x", 1);
    fixture_write(living, "x", 1);
    fixture_write(claimed, "x", 1);
    fixture_write(young, "x", 1);

    claims c;
    error e = ERROR_INIT;
    snprintf(folder_of_claims, sizeof folder_of_claims, "%.3000s/runs/.claims", f.out);
    cr_assert_eq(claims_open(&c, folder_of_claims, &e), 0);
    cr_assert_eq(claim_take(&c, fixture_key(&f, 2, key), &e), 1);
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.left_over, 1);
    cr_expect(!fixture_exists(dead));
    cr_expect(fixture_exists(living));
    cr_expect(fixture_exists(claimed));
    cr_expect(fixture_exists(young)); /* no claim says whose it is: only age does */

    struct timespec past[2] = {{time(NULL) - 1000, 0}, {time(NULL) - 1000, 0}};
    utimensat(AT_FDCWD, young, past, 0);
    claim_release(&c, key);
    cr_assert_eq(fixture_sweep(&f), 0, "%s", f.e.message);
    cr_expect_eq(f.outcome.left_over, 2);
    cr_expect(!fixture_exists(claimed));
    cr_expect(!fixture_exists(young));
}

/* Case D18. */
Test(sweep, takes_any_folder_name)
{
    static const char *const names[] = {"a b'c\"d $(touch pwned) \xc3\xa9 ;", "-x", "`touch pwned`\n*",
                                        "deep/er/and deeper"};
    fixture_open(&f, 2);
    cr_assert_eq(chdir(f.base), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        strcpy(f.out, names[i]);
        cr_assert_eq(fixture_sweep(&f), 0, "%s: %s", names[i], f.e.message);
        cr_expect_eq(f.outcome.done, 2, "%s", names[i]);
    }
    cr_expect(!fixture_exists("pwned"));
    cr_expect(fixture_exists("-x/runs"));
    cr_assert_eq(chdir("/"), 0);
}
