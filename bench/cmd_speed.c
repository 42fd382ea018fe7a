/* cmd_speed.c - how fast the network is, what each encoding costs in time and memory, and where the time goes. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "speed.h"
#include "speed_child.h"
#include "speed_report.h"

/* About how long one side of a pair takes, and the steps of one round otherwise. */
static const double cmd_speed_pair_seconds = 0.06, cmd_speed_round_seconds = 0.4;

enum {
    CMD_SPEED_ROUNDS = 11,       /* unless --rounds says otherwise */
    CMD_SPEED_SWEEP_ROUNDS = 3,
    CMD_SPEED_SWEEP_STEPS = 200, /* a second or more: starting the process is then a small part of a run, as usual */
    CMD_SPEED_JOBS_MAX = 4096,
    CMD_SPEED_LEN_MAX = 1 << 24
};

enum { CMD_SPEED_A = 1, CMD_SPEED_B = 2, CMD_SPEED_C = 4, CMD_SPEED_D = 8, CMD_SPEED_ALL = 15 };

/* What the command line asks for. */
typedef struct cmd_speed_plan {
    const command_host *host;
    const args *a;
    int configs;      /* bits: where stacks are measured */
    int networks;     /* bits: the reference networks */
    int rounds;
    int len;          /* 0: not given */
    int jobs, steps;
    int as_json;
    const char *baseline;
    speed_report report;
} cmd_speed_plan;

static int cmd_speed_stopped(const cmd_speed_plan *p, error *e)
{
    return *p->host->stop ? error_set(e, ERROR_INTERRUPTED, "interrupted") : 0;
}

/* ------------------------------------------------------------------------------------------------ which stacks */

/* Calls `each` with the stacks of the command line; without any, with every encoding except the baseline and, where
 * --examples is given, each of their examples. */
static int cmd_speed_stacks(cmd_speed_plan *p, int (*each)(cmd_speed_plan *p, const char *stack, void *to, error *e),
                            void *to, error *e)
{
    const registry *r = p->host->registry;
    int status = 0;
    for (int i = 0; i < p->a->word_count && !status; i++)
        status = each(p, p->a->word[i], to, e);
    for (int i = 0; i < registry_encoding_count(r) && !p->a->word_count && !status; i++) {
        const pe_descriptor *d = registry_encoding(r, i);
        if (strcmp(d->name, p->baseline))
            status = each(p, d->name, to, e);
        for (int x = 0; d->examples && d->examples[x] && args_flag(p->a, "examples") && !status; x++) {
            char stack[STACK_TEXT_MAX];
            snprintf(stack, sizeof stack, "%s(%s)", d->name, d->examples[x]);
            status = each(p, stack, to, e);
        }
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ reference */

/* All configurations in turn, round by round, a process for each. */
static int cmd_speed_reference(cmd_speed_plan *p, int configs, error *e)
{
    speed_round round[SPEED_SETTINGS][SPEED_ROUNDS_MAX];
    double start[SPEED_SETTINGS][SPEED_ROUNDS_MAX];
    for (int i = 0; i < p->rounds; i++)
        for (int c = 0; c < SPEED_SETTINGS; c++)
            if (configs & 1 << c &&
                speed_child_run(p->host, p->a, &speed_settings[c], 0, p->baseline, &round[c][i], &start[c][i], e))
                return -1;
    for (int c = 0; c < SPEED_SETTINGS; c++)
        if (configs & 1 << c)
            speed_report_reference(&p->report, &speed_settings[c], round[c], start[c], p->rounds);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ encodings */

typedef struct cmd_speed_config {
    const speed_setting *setting;
    speed_cost baseline;
} cmd_speed_config;

static int cmd_speed_cost(cmd_speed_plan *p, const char *stack, void *to, error *e)
{
    cmd_speed_config *c = to;
    speed_cost cost;
    if (cmd_speed_stopped(p, e) || speed_measure(p->host->registry, stack, c->setting, p->rounds,
                                                 cmd_speed_pair_seconds, &cost, e))
        return -1;
    speed_report_cost(&p->report, c->setting, &cost, &c->baseline);
    return 0;
}

static int cmd_speed_costs(cmd_speed_plan *p, int configs, error *e)
{
    int status = 0;
    for (int k = 0; k < SPEED_SETTINGS && !status; k++) {
        cmd_speed_config c = {.setting = &speed_settings[k]};
        if (!(configs & 1 << k))
            continue;
        status = speed_measure(p->host->registry, p->baseline, c.setting, p->rounds, cmd_speed_pair_seconds,
                               &c.baseline, e);
        if (!status)
            speed_report_cost(&p->report, c.setting, &c.baseline, &c.baseline);
        if (!status)
            status = cmd_speed_stacks(p, cmd_speed_cost, &c, e);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ lengths */

static int cmd_speed_length(cmd_speed_plan *p, const char *stack, void *to, error *e)
{
    const speed_setting *s = to;
    speed_round round;
    double start;
    if (speed_check(p->host->registry, stack, s, e) ||
        speed_child_run(p->host, p->a, s, s->len, stack, &round, &start, e))
        return -1;
    speed_report_length(&p->report, s, stack, &round);
    return 0;
}

/* The network of a configuration with one sequence of --len tokens. */
static speed_setting cmd_speed_long(const cmd_speed_plan *p, int config)
{
    speed_setting s = speed_settings[config];
    s.len = p->len;
    s.batch = 1;
    s.training = 0;
    return s;
}

static int cmd_speed_lengths(cmd_speed_plan *p, int configs, error *e)
{
    int status = 0;
    for (int k = 0; k < SPEED_SETTINGS && !status; k++) {
        speed_setting s = cmd_speed_long(p, k);
        if (!(configs & 1 << k))
            continue;
        status = p->a->word_count ? 0 : cmd_speed_length(p, p->baseline, &s, e);
        if (!status)
            status = cmd_speed_stacks(p, cmd_speed_length, &s, e);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ breakdown */

static int cmd_speed_part(cmd_speed_plan *p, const char *stack, void *to, error *e)
{
    const speed_setting *s = to;
    speed_parts parts;
    if (cmd_speed_stopped(p, e) ||
        speed_break_down(p->host->registry, stack, s, p->rounds, cmd_speed_round_seconds / 2, &parts, e))
        return -1;
    speed_report_parts(&p->report, s, &parts);
    return 0;
}

static int cmd_speed_breakdown(cmd_speed_plan *p, int configs, error *e)
{
    int status = 0;
    for (int k = 0; k < SPEED_SETTINGS && !status; k++) {
        speed_setting s = speed_settings[k];
        if (!(configs & 1 << k))
            continue;
        if (p->a->word_count || args_flag(p->a, "examples"))
            status = cmd_speed_stacks(p, cmd_speed_part, &s, e);
        else
            status = cmd_speed_part(p, p->baseline, &s, e);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ sweep */

static int cmd_speed_sweep(cmd_speed_plan *p, error *e)
{
    speed_sweep s = {.program = p->host->program, .jobs = p->jobs, .rounds = p->rounds, .steps = p->steps,
                     .stop = p->host->stop};
    speed_sweep_result result;
    if (speed_sweep_measure(p->host->registry, &s, &result, e))
        return -1;
    speed_report_sweep(&p->report, &s, &result);
    return 0;
}

/* ------------------------------------------------------------------------------------------------ the command */

/* What a parent asks of its child: one round of one configuration. */
static int cmd_speed_once(const cmd_speed_plan *p, error *e)
{
    speed_round round;
    int config = 0;
    while (config < SPEED_SETTINGS - 1 && !(p->configs & 1 << config))
        config++;
    speed_setting s = p->len ? cmd_speed_long(p, config) : speed_settings[config];
    if (speed_once(p->host->registry, p->a->word_count ? p->a->word[0] : p->baseline, &s,
                   p->len ? 0 : cmd_speed_round_seconds, &round, e))
        return -1;
    speed_child_print(&round);
    return 0;
}

/* Measurements that exclude each other, and options without meaning in them. */
static int cmd_speed_refuse(const args *a, error *e)
{
    static const char *const kinds[] = {"reference", "breakdown", "len", "sweep"};
    const char *kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!args_flag(a, kinds[i]))
            continue;
        if (kind)
            return error_set(e, ERROR_USAGE, "speed: --%s and --%s are measurements of their own; give one of them", kind,
                             kinds[i]);
        kind = kinds[i];
    }
    int sweep = kind && !strcmp(kind, "sweep"), reference = kind && !strcmp(kind, "reference");
    if ((sweep || reference) && a->word_count)
        return error_set(e, ERROR_USAGE, "speed: '%s': --%s takes no STACK", a->word[0], kind);
    if ((sweep || reference) && args_flag(a, "examples"))
        return error_set(e, ERROR_USAGE, "speed: --%s takes no --examples", kind);
    if (sweep && args_flag(a, "config"))
        return error_set(e, ERROR_USAGE, "speed: --sweep has a network of its own and takes no --config");
    if (args_flag(a, "examples") && a->word_count)
        return error_set(e, ERROR_USAGE, "speed: '%s': --examples stands for all encodings; give one of the two",
                         a->word[0]);
    if (kind && !strcmp(kind, "len") && args_flag(a, "rounds"))
        return error_set(e, ERROR_USAGE, "speed: --len is one pass and takes no --rounds");
    for (int i = 0; !sweep && i < 2; i++)
        if (args_flag(a, i ? "steps" : "jobs"))
            return error_set(e, ERROR_USAGE, "speed: --%s has a meaning with --sweep only", i ? "steps" : "jobs");
    return 0;
}

static int cmd_speed_read(cmd_speed_plan *p, error *e)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int json = 0;
    p->jobs = cores < 1 ? 1 : cores > CMD_SPEED_JOBS_MAX ? CMD_SPEED_JOBS_MAX : (int)cores;
    p->rounds = args_flag(p->a, "sweep") ? CMD_SPEED_SWEEP_ROUNDS : CMD_SPEED_ROUNDS;
    p->steps = CMD_SPEED_SWEEP_STEPS;
    if (args_choices(p->a, "config", "A|B|C|D", &p->networks, e) ||
        args_integer(p->a, "rounds", 1, SPEED_ROUNDS_MAX, &p->rounds, e) ||
        args_integer(p->a, "len", 1, CMD_SPEED_LEN_MAX, &p->len, e) ||
        args_integer(p->a, "jobs", 1, CMD_SPEED_JOBS_MAX, &p->jobs, e) ||
        args_integer(p->a, "steps", 1, INT_MAX, &p->steps, e) || args_choice(p->a, "format", "text|json", &json, e) ||
        command_load_plugins(p->host, p->a, e))
        return -1;
    p->configs = p->networks ? p->networks
                 : p->len        ? CMD_SPEED_D
                 : args_flag(p->a, "breakdown") ? CMD_SPEED_ALL : CMD_SPEED_A | CMD_SPEED_B;
    p->networks = p->networks ? p->networks : CMD_SPEED_ALL;
    p->as_json = json;
    p->baseline = speed_baseline(p->host->registry, e);
    return p->baseline ? 0 : -1;
}

/* Wrong names are found before anything is measured. */
static int cmd_speed_check(const cmd_speed_plan *p, error *e)
{
    for (int i = 0; i < p->a->word_count; i++)
        for (int k = 0; k < SPEED_SETTINGS; k++) {
            speed_setting s = p->len ? cmd_speed_long(p, k) : speed_settings[k];
            if (p->configs & 1 << k && speed_check(p->host->registry, p->a->word[i], &s, e))
                return error_prefix(e, "speed");
        }
    return 0;
}

static int cmd_speed_do(cmd_speed_plan *p, error *e)
{
    const args *a = p->a;
    if (args_flag(a, "sweep"))
        return cmd_speed_sweep(p, e);
    if (args_flag(a, "breakdown"))
        return cmd_speed_breakdown(p, p->configs, e);
    if (p->len)
        return cmd_speed_lengths(p, p->configs, e);
    if (!a->word_count && cmd_speed_reference(p, p->networks, e))
        return -1;
    return args_flag(a, "reference") ? 0 : cmd_speed_costs(p, p->configs, e);
}

static int cmd_speed_run(const command_host *host, const args *a, error *e)
{
    cmd_speed_plan p = {.host = host, .a = a};
    if (cmd_speed_refuse(a, e) || cmd_speed_read(&p, e) || cmd_speed_check(&p, e))
        return -1;
    if (args_flag(a, "once"))
        return cmd_speed_once(&p, e);
    if (speed_report_begin(&p.report, p.as_json, p.rounds, p.baseline, e))
        return -1;
    int status = cmd_speed_do(&p, e);
    if (status)
        p.report.as_json = 0; /* half a document would pass for a whole one */
    return speed_report_end(&p.report, e) ? -1 : status;
}

static const args_option cmd_speed_arguments[] = {
    {.name = "config",
     .value = "A,...",
     .help = "which of the reference networks A, B, C, D (default: all for the network, A and B for encodings, D with --len)"},
    {.name = "reference", .help = "only the network itself, no encodings"},
    {.name = "examples", .help = "every encoding with each of its examples too"},
    {.name = "breakdown", .help = "where the time of a step goes: matrix products, attention, encoding and so on"},
    {.name = "len", .value = "N", .help = "evaluate one sequence of N tokens: time and memory"},
    {.name = "sweep", .help = "what a sweep makes of several cores, and evaluation's share of a run"},
    {.name = "jobs", .value = "N", .help = "with --sweep: processes at once (default: the number of cores)"},
    {.name = "steps", .value = "N", .help = "with --sweep: training steps of each run (default 200)"},
    {.name = "rounds", .value = "N", .help = "how often everything is timed (default 11; 3 with --sweep)"},
    {.name = "format", .value = "text|json", .help = "text for people (the default) or one JSON document"},
    COMMAND_PLUGIN_OPTION,
    {.name = "once", .hidden = 1, .help = "one round, told on one line; what the command starts for each of its rounds"},
    {0},
};

static const command_example cmd_speed_example[] = {
    {"speed", "the reference networks, and every encoding in A and B"},
    {"speed --reference --config A,D --format json", "two of the networks alone, for a program"},
    {"speed {6} \"{4}+{5}\"", "what an encoding and a stack cost"},
    {"speed --breakdown --config B {3}", "where a step with it goes"},
    {"speed --len 16384", "every encoding on one long sequence"},
    {"speed --sweep", "one process against as many as there are cores"},
    {"speed --plugin ./mine.so mine", "an encoding of your own"},
    {0},
};

const command command_speed = {
    .name = "speed",
    .summary = "measure how fast the network is and what encodings cost in time and memory",
    .words = "[STACK ...]",
    .most_words = INT_MAX,
    .description =
        "Without a STACK it first runs the reference networks with the encoding that does nothing: A (width 64, 2 "
        "layers), B (128, 4) and C (256, 6) in training, and D, which is B's network on one sequence of 4,096 tokens, in "
        "evaluation. For each it tells tokens a second, the share of the processor's peak that useful operations reach "
        "(MFU), memory, and the time from the start of the process to the end of the first step. The peak is that of "
        "multiply-adds on one core and is measured around each round; useful are the operations of the linear maps and "
        "of the half of attention that a causal mask leaves.\n\n"
        "Then it times training steps and evaluation with each encoding, or with each STACK, in turn with the encoding "
        "that does nothing, so that a machine whose speed drifts slows both. Memory counts the buffers of a training "
        "step (parameters, gradients and moments included) and of an evaluation.\n\n"
        "Seconds are of the processor, so that what other programs take of the core does not count; those of "
        "--breakdown and --sweep and up to the first step are of the clock.",
    .options = cmd_speed_arguments,
    .examples = cmd_speed_example,
    .stops_cleanly = 1,
    .run = cmd_speed_run,
};
