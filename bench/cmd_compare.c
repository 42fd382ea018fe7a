/* cmd_compare.c - two results folders side by side. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "compare.h"
#include "csv.h"

enum { CMD_COMPARE_ROWS_MAX = 64 };

/* ------------------------------------------------------------------------------------------------ text */

static void cmd_compare_heading(const comparison *c, const args *a)
{
    for (int side = 0; side < 2; side++) {
        const results *r = &c->side[side];
        int ok = 0;
        for (int i = 0; i < r->count; i++)
            ok += r->run[i].ok;
        printf("%c  %s: sweep %s, %d runs, %d of them with a result\n", 'A' + side, a->word[side], r->name, r->count,
               ok);
    }
    printf("\nRuns are matched by encoding, task, seed and all other settings%s\n",
           c->setting_count ? ", these left out (A | B):" : ".");
    for (int i = 0; i < c->setting_count; i++)
        printf("  %-22s %s | %s  (%s)\n", c->setting[i].row, c->setting[i].a, c->setting[i].b, c->setting[i].reason);
    int only[2] = {0, 0};
    for (int i = 0; i < c->single_count; i++)
        only[c->single[i].side]++;
    printf("%d pairs; without a partner: %d in A, %d in B\n", c->pair_count, only[0], only[1]);
}

static void cmd_compare_number(double value, const char *format, int width)
{
    if (isnan(value))
        printf("  %*s", width, "-");
    else
        printf(format, width, value);
}

static void cmd_compare_cell(const compare_cell *cell, int width)
{
    char length[32];
    snprintf(length, sizeof length, cell->min_len == cell->eval_len ? "%d" : "%d-%d", cell->min_len, cell->eval_len);
    printf("  %-*s  %9s  %5d", width, cell->encoding, length, cell->pairs);
    cmd_compare_number(cell->mean_a, "  %*.4f", 8);
    cmd_compare_number(cell->mean_b, "  %*.4f", 8);
    cmd_compare_number(cell->difference, "  %+*.4f", 8);
    if (!isnan(cell->low))
        printf("  [%+.4f, %+.4f]", cell->low, cell->high);
    if (cell->why[0])
        printf("  %s", cell->why);
    putchar('\n');
}

static int cmd_compare_same_table(const compare_cell *a, const compare_cell *b)
{
    return strcmp(a->task, b->task) == 0 && strcmp(a->metric, b->metric) == 0 && strcmp(a->mode, b->mode) == 0;
}

static void cmd_compare_tables(const comparison *c)
{
    int width = (int)strlen("encoding");
    for (int i = 0; i < c->cell_count; i++)
        width = (int)strlen(c->cell[i].encoding) > width ? (int)strlen(c->cell[i].encoding) : width;
    if (c->cell_count)
        puts(
            "\nMeans are over pairs with a value on both sides; B - A is the mean of the differences between runs of a "
            "pair, with its\n95 % interval (studentised bootstrap over pairs).");
    for (int i = 0; i < c->cell_count; i++) {
        const compare_cell *cell = &c->cell[i];
        if (i == 0 || !cmd_compare_same_table(&c->cell[i - 1], cell)) {
            printf("\n%s, %s, %s\n", cell->task, cell->metric, cell->mode);
            printf("  %-*s  %9s  %5s  %8s  %8s  %8s\n", width, "encoding", "length", "pairs", "A", "B", "B - A");
        }
        cmd_compare_cell(cell, width);
    }
}

static void cmd_compare_singles(const comparison *c)
{
    for (int i = 0; i < c->single_count; i++) {
        const compare_single *s = &c->single[i];
        if (i == 0 || c->single[i - 1].side != s->side)
            printf("\nOnly in %c:\n", 'A' + s->side);
        printf("  %.12s  %s on %s, seed %d, %s", s->run->key, s->run->label, s->run->config.task, s->run->config.seed,
               s->run->status);
        if (s->alike > 1)
            printf("; %d runs of %c look alike without what is left out", s->alike, 'A' + s->side);
        putchar('\n');
    }
}

/* ------------------------------------------------------------------------------------------------ CSV */

static void cmd_compare_csv_cell(const compare_cell *cell, buffer *b)
{
    csv_text(b, cell->encoding);
    csv_text(b, cell->task);
    csv_text(b, NULL);
    csv_integer(b, cell->min_len);
    csv_integer(b, cell->eval_len);
    csv_text(b, cell->metric);
    csv_text(b, cell->mode);
    csv_integer(b, cell->pairs);
    const double numbers[] = {cell->mean_a, cell->mean_b, cell->difference, cell->low, cell->high};
    for (int i = 0; i < 5; i++)
        csv_number(b, numbers[i]);
    csv_text(b, cell->why);
    csv_end(b);
}

static void cmd_compare_csv_single(const compare_single *s, buffer *b)
{
    char why[64];
    csv_text(b, s->run->label);
    csv_text(b, s->run->config.task);
    csv_integer(b, s->run->config.seed);
    for (int i = 0; i < 10; i++)
        csv_text(b, NULL);
    snprintf(why, sizeof why, "only in %c", 'A' + s->side);
    if (s->alike > 1)
        snprintf(why, sizeof why, "%d runs of %c look alike", s->alike, 'A' + s->side);
    csv_text(b, why);
    csv_end(b);
}

static void cmd_compare_csv(const comparison *c)
{
    buffer b = BUFFER_INIT;
    buffer_add(&b,
               "encoding,task,seed,min_len,eval_len,metric,mode,pairs,mean_a,mean_b,difference,ci_low,ci_high,why\n");
    for (int i = 0; i < c->cell_count; i++)
        cmd_compare_csv_cell(&c->cell[i], &b);
    for (int i = 0; i < c->single_count; i++)
        cmd_compare_csv_single(&c->single[i], &b);
    fputs(buffer_text(&b), stdout);
    buffer_free(&b);
}

/* ------------------------------------------------------------------------------------------------ the command */

static int cmd_compare_tell(const comparison *c, const args *a)
{
    if (args_flag(a, "csv")) {
        cmd_compare_csv(c);
    } else {
        cmd_compare_heading(c, a);
        cmd_compare_tables(c);
        cmd_compare_singles(c);
        if (c->pair_count == 0)
            puts("\nNo run of A has a partner in B, so there is nothing to compare.");
    }
    return c->pair_count ? 0 : ERROR_RUN;
}

static int cmd_compare_run(const command_host *host, const args *a, error *e)
{
    (void)host;
    const char *ignore[CMD_COMPARE_ROWS_MAX];
    int count = 0;
    comparison c;
    while (count < CMD_COMPARE_ROWS_MAX && args_nth(a, "ignore", count)) {
        ignore[count] = args_nth(a, "ignore", count);
        count++;
    }
    int failed = compare_load(a->word[0], a->word[1], ignore, count, &c, e);
    int status = c.single || c.cell_count ? cmd_compare_tell(&c, a) : 0;
    compare_free(&c);
    return failed ? -1 : status;
}

static const args_option cmd_compare_arguments[] = {
    {.name = "csv", .help = "print the cells, and the runs without a partner, as comma-separated values"},
    {.name = "ignore",
     .value = "ROW",
     .repeats = 1,
     .help = "a setting that runs are not matched by, train.lr; all are in 'posbench help config'"},
    {0},
};

static const command_example cmd_compare_example[] = {
    {"compare results/main results/again", "is it the same as last time?"},
    {"compare results/short results/long --ignore train.lr --csv", "as a table, whatever the learning rates were"},
    {0},
};

const command command_compare = {
    .name = "compare",
    .summary = "set the results of two sweeps side by side",
    .words = "DIR_A DIR_B",
    .least_words = 2,
    .most_words = 2,
    .description =
        "Matches the runs of two results folders and prints, for each encoding, task and test length, the mean score "
        "of both and the mean difference between matched runs with its 95 % interval.\n\n"
        "Two runs match when encoding, task, seed and all other settings are the same. Left out are settings in which "
        "the folders differ by design: all runs of a task have one value in A and another one in B (train.steps=2000 "
        "against 4000), and train.lr where a sweep chose it by tuning. What was left out is listed, as is every run "
        "without a partner.\n\n"
        "Where there is no interval, the reason stands beside the means: too few pairs, lengths that one side alone "
        "was tested at, another version of the task or another corpus. The exit status is 1 when no run has a "
        "partner.",
    .options = cmd_compare_arguments,
    .examples = cmd_compare_example,
    .run = cmd_compare_run,
};
