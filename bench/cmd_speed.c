/* cmd_speed.c - what each encoding costs in time and memory, against the one that does nothing. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "speed.h"

enum { CMD_SPEED_COLUMN = 48 };

static void cmd_speed_head(const speed_setting *s, const char *baseline)
{
    printf("width %d, %d layers, %d heads, %d sequences of %d tokens; one thread\n"
           "time and memory against %s: x times as much; the median of %d pairs, in brackets their quartiles.\n"
           "Its own line is it against itself: what differs from 1 there is the noise of this machine.\n\n",
           s->width, s->layers, s->heads, s->batch, s->len, baseline, s->rounds);
    printf("%-*s  %-20s  %8s  %14s  %8s  %8s  %10s\n", CMD_SPEED_COLUMN, "", "train", "eval", "train tokens/s", "train",
           "eval", "parameters");
    printf("%-*s  %-20s  %8s  %14s  %8s  %8s  %10s\n", CMD_SPEED_COLUMN, "encoding", "time", "time", "", "memory",
           "memory", "of its own");
}

static void cmd_speed_row(const speed_cost *c, const speed_cost *baseline)
{
    printf("%-*s  %5.2f (%5.2f-%5.2f)   %8.2f  %14.0f  %8.2f  %8.2f  %10ld\n", CMD_SPEED_COLUMN, c->encoding,
           c->train_ratio, c->train_low, c->train_high, c->eval_ratio, c->train_tokens,
           c->train_bytes / baseline->train_bytes, c->eval_bytes / baseline->eval_bytes, c->parameters);
    fflush(stdout); /* a line now and then is the progress */
}

static int cmd_speed_stack(const registry *r, const char *stack, const speed_cost *baseline, error *e)
{
    speed_cost cost;
    if (speed_measure(r, stack, &speed_default, &cost, e))
        return error_prefix(e, "speed");
    cmd_speed_row(&cost, baseline);
    return 0;
}

/* Every encoding with its default options and each of its examples. */
static int cmd_speed_all(const registry *r, const speed_cost *baseline, error *e)
{
    for (int i = 0; i < registry_encoding_count(r); i++) {
        const pe_descriptor *d = registry_encoding(r, i);
        if (strcmp(d->name, baseline->encoding) && cmd_speed_stack(r, d->name, baseline, e))
            return -1;
        for (int x = 0; d->examples && d->examples[x]; x++) {
            char stack[STACK_TEXT_MAX];
            snprintf(stack, sizeof stack, "%s(%s)", d->name, d->examples[x]);
            if (cmd_speed_stack(r, stack, baseline, e))
                return -1;
        }
    }
    return 0;
}

static int cmd_speed_run(const command_host *host, const args *a, error *e)
{
    speed_cost baseline;
    if (command_load_plugins(host, a, e))
        return -1;
    const char *name = speed_baseline(host->registry, e);
    if (!name || speed_measure(host->registry, name, &speed_default, &baseline, e))
        return -1;
    cmd_speed_head(&speed_default, name);
    cmd_speed_row(&baseline, &baseline);
    int status = a->word_count ? 0 : cmd_speed_all(host->registry, &baseline, e);
    for (int i = 0; i < a->word_count && !status; i++)
        status = cmd_speed_stack(host->registry, a->word[i], &baseline, e);
    return status;
}

static const args_option cmd_speed_arguments[] = {COMMAND_PLUGIN_OPTION, {0}};

static const command_example cmd_speed_example[] = {
    {"speed", "every encoding, with its default options and each of its examples"},
    {"speed {6} \"{4}+{5}\"", "one of them, and a stack"},
    {"speed --plugin ./mine.so mine", "an encoding of your own"},
    {0},
};

const command command_speed = {
    .name = "speed",
    .summary = "measure what encodings cost in time and memory",
    .words = "[STACK ...]",
    .most_words = INT_MAX,
    .description = "Times training steps and evaluation of the same small network with each encoding, in turn with the "
                   "one that does "
                   "nothing, so that a machine whose speed drifts slows both. Memory counts the buffers of a training "
                   "step (parameters, "
                   "gradients and moments included) and of an evaluation. Without a STACK, every encoding is measured.",
    .options = cmd_speed_arguments,
    .examples = cmd_speed_example,
    .run = cmd_speed_run,
};
