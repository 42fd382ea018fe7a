/* cmd_check.c - is an encoding what it says it is? Gradients, claims and protocol, one line for each stack.
 *
 * In single precision gradients can be checked so loosely only that real mistakes pass. So the product hands the whole
 * command on to its twin, in which real = double. */
#include <limits.h>
#include <stdio.h>

#include "check/check.h"
#include "command.h"

enum { CMD_CHECK_TEXT_MAX = 8192 }; /* a line and its failures; check_line_print cuts what is longer */

static void cmd_check_tell(void *user, const check_line *line)
{
    (void)user;
    char text[CMD_CHECK_TEXT_MAX];
    check_line_print(line, text, sizeof text);
    puts(text);
    fflush(stdout); /* a line now and then is the progress of a long check */
}

static int cmd_check_run(const command_host *host, const args *a, error *e)
{
    if (command_load_plugins(host, a, e))
        return -1;
    if (sizeof(real) != sizeof(double))
        return command_run_in_double(host, e);
    int failed = 0, status = 0;
    if (!a->word_count)
        status = check_stack(host->registry, NULL, cmd_check_tell, NULL, &failed, e);
    for (int i = 0; i < a->word_count && !status; i++) {
        int here = 0;
        status = check_stack(host->registry, a->word[i], cmd_check_tell, NULL, &here, e);
        failed += here;
    }
    if (status)
        return -1;
    return failed ? ERROR_RUN : 0;
}

static const args_option cmd_check_arguments[] = {COMMAND_PLUGIN_OPTION, {0}};

static const command_example cmd_check_example[] = {
    {"check", "every encoding, with its default options and each of its examples"},
    {"check {6}", "one of them"},
    {"check \"{4}+{5}\"", "a stack"},
    {"check --plugin ./mine.so mine", "an encoding of your own"},
    {0},
};

const command command_check = {
    .name = "check",
    .summary = "verify gradients, claims and protocol of encodings",
    .words = "[STACK ...]",
    .most_words = INT_MAX,
    .description =
        "Without a STACK, checks every encoding (those of plug-ins too) with its default options and each of its "
        "examples. Prints one line for each; a failure is explained below its line, and the exit status is then 1.\n\n"
        "Gradients are compared with finite differences in double precision, for every parameter and for sampled "
        "inputs. "
        "Claims are tested in both directions: a claim must hold, and a claim that holds must be made. The protocol: "
        "hooks "
        "write only what they may, read nothing that they must not, and add where they must add.",
    .options = cmd_check_arguments,
    .examples = cmd_check_example,
    .run = cmd_check_run,
};
