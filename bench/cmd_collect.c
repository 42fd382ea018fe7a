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
    printf("%s/runs.csv         one row for each measured value\n", dir);
    printf("%s/summary.csv      one row for each point of a curve, over the seeds (%d points)\n", dir, s.count);
    printf("%s/curves.csv       one row for each curve: its area and its reach (%d curves)\n", dir, s.curves);
    printf("%s/comparisons.csv  one row for each encoding against the baseline and the best (%d rows)\n", dir,
           s.contrasts);
    if (s.extensions)
        printf("%s/extension.csv    one row for each test after fine-tuning at longer lengths (%d rows)\n", dir,
               s.extensions);
    if (s.exposed > 0)
        printf("%s/positions.csv    one row for each position and quarter of training (%d runs)\n", dir, s.exposed);
    summary_free(&s);
    return 0;
}

static const args_option cmd_collect_arguments[] = {{0}};

static const command_example cmd_collect_example[] = {
    {"collect results/quick", "write results/quick/runs.csv, summary.csv, curves.csv and comparisons.csv"},
    {0},
};

const command command_collect = {
    .name = "collect",
    .summary = "gather the records of a sweep into tables",
    .words = "DIR",
    .least_words = 1,
    .most_words = 1,
    .description =
        "Reads every record below DIR/runs and writes four tables or more, made anew each time. DIR/runs.csv, one row for each "
        "measured "
        "value: key, encoding, task, seed, train_len, eval_len, ratio, metric, mode, value, n, status, flag. "
        "DIR/summary.csv, one "
        "for each point of a curve: encoding, task, train_len, eval_len, ratio, metric, mode, seeds (all runs with a "
        "value), "
        "fitted (of these, how many fitted in distribution), mean, sd, median, ci_low, ci_high (95 %), rank, "
        "mean_fitted, chance. "
        "DIR/curves.csv, one for each curve: encoding, task, train_len, metric, mode, lengths, seeds, fitted, area "
        "(mean score over "
        "the logarithm of the length, from the training length on), sd, ci_low, ci_high, area_fitted, reach (longest "
        "multiple of the "
        "training length up to which 90 % of the score is kept), reach_is_last (1: nothing longer was tested), reason. "
        "DIR/comparisons.csv, one for each encoding against the baseline and against the best, at each length and by "
        "areas, on "
        "the seeds that both have: task, train_len, eval_len, ratio, metric, mode, what (score or area), against "
        "(baseline or best), "
        "reference, encoding, pairs, difference (encoding less reference), sd, ci_low, ci_high (95 %, studentised "
        "bootstrap), p "
        "(exact Wilcoxon signed-rank test, two-sided), p_holm (Holm, over the tests of one task, length and metric), "
        "tests "
        "(how many these are), effect (Cohen's d_z), rank_biserial, seeds_needed (paired t-test at 5 %, power 0.8, for "
        "this effect), "
        "reason. DIR/extension.csv, where runs went on at longer lengths (extend.methods), one for each test over the "
        "seeds: encoding, task, train_len, factor (longer length over train_len), method, task_options (of this test; "
        "empty: as in training), steps (of fine-tuning), tokens (that they read), eval_len, ratio, metric, mode, seeds, "
        "mean, sd, median, ci_low, ci_high (95 %), status, flag, reason."
        " Where runs had train.positions, DIR/positions.csv, one for each position, quarter of the steps and run: "
        "key, encoding, task, seed, train_len, table (empty: the network's input; else the parameter whose row it is), "
        "step (at the end of the quarter), position (by the map, rounded; of a table, the row), updates (tokens; of a "
        "table, steps in which the row's gradient was not 0), gradient (squared, summed over the quarter), share (of all "
        "positions), and in the last quarter first_norm, norm (of the row, before training and of the tested weights), "
        "loss, accuracy, n (of test sequences of the training length). A cell without a value is empty, and reason says why. To merge sweeps of several machines, copy their "
        "records "
        "into one DIR/runs first.",
    .options = cmd_collect_arguments,
    .examples = cmd_collect_example,
    .run = cmd_collect_run,
};
