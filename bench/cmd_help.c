/* cmd_help.c - help and the man page, both from the tables of the commands. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "config.h"
#include "help.h"
#include "manual.h"
#include "text.h"

enum { CMD_HELP_COLUMN = 12 };

static void cmd_help_examples(const registry *r, const command_example *examples)
{
    for (const command_example *x = examples; x && x->line; x++) {
        char line[TEXT_LINE_MAX];
        text_fill(r, x->line, line);
        int width = printf("  posbench %s", line);
        if (width < 46)
            printf("%*s  # %s\n", 46 - width, "", x->meaning);
        else
            printf("\n%48s# %s\n", "", x->meaning);
    }
}

static void cmd_help_overview(const registry *r)
{
    static const command_example first_steps[] = {
        {"list encodings", "what can be compared"},
        {"show {6}", "formula, source, options, claims"},
        {"sweep quick", "train and evaluate a small comparison"},
        {"report results/quick", "draw it: results/quick/report.html"},
        {0},
    };
    text_wrap(stdout, 0, 0, help_about);
    puts("\nUsage: posbench COMMAND [ARGUMENTS]\n\nCommands");
    for (int i = 0; i < command_count(); i++)
        printf("  %-*s%s\n", CMD_HELP_COLUMN - 2, command_at(i)->name, command_at(i)->summary);
    puts("\n  posbench help COMMAND   options and examples of a command\n"
         "  posbench help config    every setting of a run, for specs and --set\n"
         "  posbench --version      version, precision, matrix kernel, compiler\n\nExamples");
    cmd_help_examples(r, first_steps);
    puts("\nExit status");
    for (const help_status *s = help_statuses; s->code; s++)
        text_wrap(stdout, CMD_HELP_COLUMN, printf("  %-*s", CMD_HELP_COLUMN - 2, s->code), s->meaning);
}

static void cmd_help_command(const registry *r, const command *c)
{
    char synopsis[TEXT_LINE_MAX];
    help_synopsis(c, synopsis);
    printf("posbench %s - %s\n\n", c->name, c->summary);
    text_wrap(stdout, 16, printf("Usage: posbench "), synopsis);
    putchar('\n');
    text_wrap(stdout, 0, 0, c->description);
    if (c->options && c->options->name)
        puts("\nOptions");
    for (const args_option *o = c->options; o && o->name; o++) {
        printf("  --%s%s%s\n", o->name, o->value ? " " : "", o->value ? o->value : "");
        text_wrap(stdout, 8, 0, o->help);
    }
    puts("\nExamples");
    cmd_help_examples(r, c->examples);
}

static void cmd_help_config(void)
{
    text_wrap(stdout, 0, 0,
              "The settings of a run. A spec writes them nested (model: then width:), --set and --only with dots "
              "(model.width=64). In a spec, a list where a single value may stand is an axis of the grid.");
    putchar('\n');
    text_options(stdout, 0, config_rows);
}

static int cmd_help_run(const command_host *host, const args *a, error *e)
{
    if (args_flag(a, "man")) {
        manual_print(stdout, host->registry);
        return 0;
    }
    if (!a->word_count) {
        cmd_help_overview(host->registry);
        return 0;
    }
    if (!strcmp(a->word[0], "config")) {
        cmd_help_config();
        return 0;
    }
    const command *c = command_find(a->word[0], e);
    if (!c)
        return -1;
    cmd_help_command(host->registry, c);
    return 0;
}

static const args_option cmd_help_arguments[] = {
    {.name = "man", .hidden = 1, .help = "print the man page, as the build does"},
    {0},
};

static const command_example cmd_help_example[] = {
    {"help", "the commands"},
    {"help sweep", "one command"},
    {"help config", "every setting of a run, with default and bounds"},
    {0},
};

const command command_help = {
    .name = "help",
    .summary = "explain a command, or the settings of a run",
    .words = "[COMMAND|config]",
    .most_words = 1,
    .description =
        "Prints what a command does, its options and examples. 'posbench help config' lists every setting that a "
        "spec or --set may change.",
    .options = cmd_help_arguments,
    .examples = cmd_help_example,
    .run = cmd_help_run,
};
