/* Tasks of numbers in whole runs: with the positions that they propose, and in a bidirectional network. Runs are too
 * short to learn; what counts is that they are taken, end, and have scores where they should. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "run.h"

static run_result finish(const char *encoding, const char *task, int causal)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    run_config c;
    run_result out;
    config_defaults(&c);
    const char *const rows[][2] = {
        {"encoding", encoding}, {"task", task},         {"model.width", "16"},
        {"model.heads", "2"},   {"model.layers", "1"},  {"train.min_len", "4"},
        {"train.len", "8"},     {"train.steps", "3"},   {"train.batch", "8"},
        {"eval.items", "8"},    {"eval.ratios", "1;2"}, {"model.causal", causal ? "true" : "false"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_eq(config_set(&c, rows[i][0], rows[i][1], &e), 0, "%s", e.message);
    cr_assert_eq(config_check(&c, r, &e), 0, "%s on %s: %s", encoding, task, e.message);
    cr_assert_eq(run_execute(&c, r, NULL, &out, &e), 0, "%s on %s: %s", encoding, task, e.message);
    registry_free(r);
    return out;
}

static void check_run(const char *encoding, const char *task, int causal)
{
    run_result r = finish(encoding, task, causal);
    int scores = 0;
    for (int i = 0; i < r.values_count; i++)
        if (strcmp(r.values[i].metric, "token_accuracy") == 0) {
            cr_expect_str_eq(r.values[i].status, "ok", "%s on %s at %d", encoding, task, r.values[i].bin.max_len);
            cr_expect(r.values[i].value >= 0.0 && r.values[i].value <= 1.0);
            scores++;
        }
    cr_expect_eq(scores, 2);
    run_result_free(&r);
}

/* The ids of a sum of 16 digits reach 17: within the 28 rows that the tokens of 8 digits give the table, where plain
 * positions of longer sums would leave it. */
Test(task_runs, coupled_positions)
{
    static const char *const tasks[] = {
        "addition(padding=zeros)",
        "addition(padding=zeros,order=lsb)",
        "addition(padding=zeros,order=lsb_answer)",
        "addition(base=2,digits=equal)",
        "addition(hints=random)",
        "addition(scratchpad=columns)",
        "addition(scratchpad=full,order=lsb)",
        "multiplication(order=lsb,padding=zeros)",
    };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        check_run("learned@task(start=auto)", tasks[i], 1);
        check_run("learned@task(start=auto)", tasks[i], 0);
    }
}

Test(task_runs, bidirectional)
{
    static const char *const tasks[] = {
        "modular_arithmetic",
        "modular_arithmetic(brackets=true)",
        "solve_equation",
        "stack_manipulation",
        "addition(base=2,digits=split,leading=any,order=lsb)",
        "multiplication(base=2,digits=split,leading=any,order=lsb)",
        "square_root",
        "dyck",
    };
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        check_run("nope", tasks[i], 0);
}

/* A task that proposes nothing is refused. */
Test(task_runs, others_propose_nothing)
{
    static const char *const tasks[] = {"sum", "polynomial", "square_root", "dyck", "stack_manipulation"};
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        error refusal = ERROR_INIT;
        run_config c;
        config_defaults(&c);
        cr_assert_eq(config_set(&c, "encoding", "learned@task(start=auto)", &e), 0);
        cr_assert_eq(config_set(&c, "task", tasks[i], &e), 0);
        cr_expect_eq(config_check(&c, r, &refusal), -1);
        cr_expect_not_null(strstr(refusal.message, "proposes no positions"), "%s", refusal.message);
    }
    registry_free(r);
}
