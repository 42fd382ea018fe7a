/* cmd_collect.c - records to tables. */
#include <stdio.h>

#include "command.h"
#include "summary.h"

static int cmd_collect_run(const command_host *host, const args *a, error *e)
{
    (void)host;
    const char *dir = a->word[0];
    summary s;
    if (summary_collect(dir, &s, e)) { /* what could be read is there all the same */
        summary_free(&s);
        return -1;
    }
    printf("%d records: %d failed, %d diverged, %d interrupted\n", s.records, s.failed, s.diverged, s.interrupted);
    printf("%s/runs.csv     one row for each measured value\n", dir);
    printf("%s/summary.csv  one row for each point of a curve, over the seeds (%d points)\n", dir, s.count);
    summary_free(&s);
    return 0;
}

static const args_option cmd_collect_arguments[] = {{0}};

static const command_example cmd_collect_example[] = {
    {"collect results/quick", "write results/quick/runs.csv and summary.csv"},
    {0},
};

const command command_collect = {
    .name = "collect",
    .summary = "gather the records of a sweep into runs.csv and summary.csv",
    .words = "DIR",
    .least_words = 1,
    .most_words = 1,
    .description =
        "Reads every record below DIR/runs and writes DIR/runs.csv (key, encoding, task, seed, train_len, eval_len, "
        "ratio, metric, mode, value, n, status, flag) and DIR/summary.csv (encoding, task, train_len, eval_len, "
        "ratio, metric, mode, seeds, fitted, mean, sd, median, ci_low, ci_high, rank). Both are made anew each time. "
        "To merge sweeps of several machines, copy their records into one DIR/runs first.",
    .options = cmd_collect_arguments,
    .examples = cmd_collect_example,
    .run = cmd_collect_run,
};
