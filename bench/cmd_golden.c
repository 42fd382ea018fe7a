/* cmd_golden.c - files of reference vectors against what this program computes, one line for each case. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/golden.h"
#include "command.h"
#include "golden_model.h"

enum { CMD_GOLDEN_TEXT_MAX = 2048 };

/* What was skipped, for the end: cases of one operation and one reason. */
typedef struct cmd_golden_skip {
    char *op, *reason;
    int count;
} cmd_golden_skip;

typedef struct cmd_golden_tally {
    int count;
    cmd_golden_skip *skips; /* [count] */
    int short_of_memory;
} cmd_golden_tally;

static void cmd_golden_note_skip(cmd_golden_tally *t, const golden_line *line)
{
    for (int i = 0; i < t->count; i++)
        if (!strcmp(t->skips[i].op, line->op) && !strcmp(t->skips[i].reason, line->remark)) {
            t->skips[i].count++;
            return;
        }
    cmd_golden_skip *grown = realloc(t->skips, ((size_t)t->count + 1) * sizeof *grown);
    cmd_golden_skip added = {strdup(line->op), strdup(line->remark), 1};
    if (grown)
        t->skips = grown;
    if (grown && added.op && added.reason) {
        t->skips[t->count++] = added;
        return;
    }
    free(added.op);
    free(added.reason);
    t->short_of_memory = 1;
}

static void cmd_golden_tell(void *user, const golden_line *line)
{
    char text[CMD_GOLDEN_TEXT_MAX];
    golden_line_print(line, text, sizeof text);
    printf("  %s\n", text);
    fflush(stdout); /* a line now and then is the progress of a long file */
    if (line->outcome == GOLDEN_SKIPPED)
        cmd_golden_note_skip(user, line);
}

static void cmd_golden_counts(const golden_report *report)
{
    printf("%d passed, %d failed, %d skipped\n", report->passed, report->failed, report->skipped);
}

/* several: the file gets counts of its own. */
static int cmd_golden_file(const registry *r, const char *path, const json_t *root, int several,
                           cmd_golden_tally *tally, golden_report *all, error *e)
{
    golden_report here = {0, 0, 0};
    printf("%s\n", path);
    int status = golden_model_is(root) ? golden_model_run(r, path, root, cmd_golden_tell, tally, &here, e)
                                       : golden_run(r, path, root, cmd_golden_tell, tally, &here, e);
    if (status)
        return -1;
    if (several) {
        printf("  ");
        cmd_golden_counts(&here);
    }
    all->passed += here.passed;
    all->failed += here.failed;
    all->skipped += here.skipped;
    return 0;
}

static void cmd_golden_end(const cmd_golden_tally *t, const golden_report *all)
{
    if (t->count)
        puts("\nskipped");
    for (int i = 0; i < t->count; i++)
        printf("  %4d  %-22s  %s\n", t->skips[i].count, t->skips[i].op, t->skips[i].reason);
    putchar('\n');
    cmd_golden_counts(all);
}

/* All files are read before the first is held against anything: a slip in a name is told at once. */
static int cmd_golden_files(const command_host *host, const args *a, json_t **roots, error *e)
{
    golden_report all = {0, 0, 0};
    cmd_golden_tally tally = {0};
    int status = 0;
    for (int i = 0; i < a->word_count && !status; i++)
        status = (roots[i] = golden_read(a->word[i], e)) ? 0 : -1;
    if (!status)
        printf("In %s precision, by the files' tolerances for it.\n\n",
               sizeof(real) == sizeof(double) ? "double" : "single");
    for (int i = 0; i < a->word_count && !status; i++)
        status = cmd_golden_file(host->registry, a->word[i], roots[i], a->word_count > 1, &tally, &all, e);
    if (!status && tally.short_of_memory)
        status = error_set(e, ERROR_ENVIRONMENT, "golden: out of memory");
    if (!status)
        cmd_golden_end(&tally, &all);
    for (int i = 0; i < tally.count; i++) {
        free(tally.skips[i].op);
        free(tally.skips[i].reason);
    }
    free(tally.skips);
    if (status)
        return -1;
    return all.failed ? ERROR_RUN : 0;
}

static int cmd_golden_run(const command_host *host, const args *a, error *e)
{
    if (command_load_plugins(host, a, e))
        return -1;
    if (args_flag(a, "double") && sizeof(real) != sizeof(double))
        return command_run_in_double(host, e);
    json_t **roots = calloc((size_t)a->word_count, sizeof *roots);
    if (!roots)
        return error_set(e, ERROR_ENVIRONMENT, "golden: out of memory");
    int status = cmd_golden_files(host, a, roots, e);
    for (int i = 0; i < a->word_count; i++)
        json_decref(roots[i]);
    free(roots);
    return status;
}

static const args_option cmd_golden_arguments[] = {
    {.name = "double",
     .help = "compute in double precision, in the twin of this program, by the files' f64 tolerances; without it in "
             "single precision, by those for f32"},
    COMMAND_PLUGIN_OPTION,
    {0},
};

static const command_example cmd_golden_example[] = {
    {"golden mine.json", "cases or a whole network, in single precision"},
    {"golden --double mine*.json", "several files, in double precision"},
    {0},
};

const command command_golden = {
    .name = "golden",
    .summary = "hold files of reference vectors against what is computed here",
    .words = "FILE ...",
    .least_words = 1,
    .most_words = INT_MAX,
    .description =
        "A FILE is JSON of the schema pe-golden/1, which encodings/tests/golden/README.md describes: a list of cases, "
        "each an operation with its parameters, inputs and expected outputs, or a whole network with its logits, "
        "gradients and steps of the optimiser. A case is computed by the encoding's own hooks, and every number must "
        "be within the file's tolerance.\n\n"
        "Prints one line for each case: its outcome, its name, the operation, how many numbers were compared and the "
        "worst difference as a share of what is allowed, or the reason why it was skipped: nothing here computes the "
        "operation, or the case has a parameter that is not understood. What was skipped is listed once more at the "
        "end. A number outside its tolerance makes the exit status 1.",
    .options = cmd_golden_arguments,
    .examples = cmd_golden_example,
    .run = cmd_golden_run,
};
