/* cmd_profile.c - what positions are made of: of a table in a file, a stack's hooks, a trained network. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "places.h"
#include "profile_show.h"
#include "record.h"
#include "text.h"
#include "weights.h"

enum { CMD_PROFILE_TEXT, CMD_PROFILE_JSON };

/* A target is a file by its ending, else a stack. */
static int cmd_profile_is_file(const char *target)
{
    return table_is_target(target) || weights_is_target(target);
}

/* What a network needs to be one, --set included; its task and training do not matter. */
static int cmd_profile_config(run_config *c, const args *a, error *e)
{
    config_defaults(c);
    const char *target = a->word[0];
    if (config_set(c, "encoding", target, e))
        return error_prefix(e, "profile");
    for (int i = 0; args_nth(a, "set", i); i++) {
        char name[128];
        const char *text = args_nth(a, "set", i), *equals = strchr(text, '=');
        if (!equals || equals == text || (size_t)(equals - text) >= sizeof name)
            return error_set(e, ERROR_USAGE, "profile: --set: '%s' is not KEY=VALUE", text);
        snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
        if (strncmp(name, "model.", 6) != 0 && strcmp(name, "seed") != 0)
            return error_set(e, ERROR_USAGE,
                             "profile: --set: '%s' is no setting of a network that is not trained; seed and "
                             "model.* are",
                             name);
        if (config_set(c, name, equals + 1, e))
            return error_prefix(e, "profile: --set");
    }
    return 0;
}

static int cmd_profile_make(const command_host *host, const args *a, int rows, profile *p, error *e)
{
    const char *target = a->word[0];
    run_config c;
    if (cmd_profile_is_file(target) && args_flag(a, "set"))
        return error_set(e, ERROR_USAGE, "profile: --set is for a stack; %s says everything itself", target);
    if (weights_is_target(target))
        return profile_trained(target, host->registry, rows, p, e);
    if (table_is_target(target))
        return profile_file(target, rows, p, e);
    if (cmd_profile_config(&c, a, e))
        return -1;
    if (profile_stack(&c, host->registry, rows, p, e) == 0)
        return 0;
    return access(target, F_OK) == 0
               ? error_prefix(e, "'%s' is neither FILE.npy nor FILE.safetensors[:NAME]; as a stack", target)
               : -1;
}

static int cmd_profile_print(const profile *p, int format, error *e)
{
    if (format == CMD_PROFILE_TEXT) {
        buffer b = BUFFER_INIT;
        profile_text(p, text_terminal(stdout), &b);
        text_wrap_lines(stdout, buffer_text(&b));
        buffer_free(&b);
        return 0;
    }
    return command_print_json(profile_json(p), e);
}

static int cmd_profile_run(const command_host *host, const args *a, error *e)
{
    const char *out = args_value(a, "out");
    char scripts[PLACES_PATH_MAX];
    int rows = 0, format = CMD_PROFILE_TEXT, plots = 0;
    if (command_load_plugins(host, a, e) || args_integer(a, "rows", 2, PROFILE_ROWS_MAX, &rows, e) ||
        args_choice(a, "format", "text|json", &format, e) || args_choices(a, "plots", "svg|pdf|png", &plots, e) ||
        (out && places_plots(host->program, scripts, e)))
        return -1;
    profile p = {0};
    int status = cmd_profile_make(host, a, rows, &p, e);
    if (!status && out)
        status = profile_write(&p, out, scripts, plots, e);
    if (p.target[0] && (!status || out) && !(status && !p.rows))
        cmd_profile_print(&p, format, e);
    profile_free(&p);
    if (!status && out && format == CMD_PROFILE_TEXT)
        printf("\n%s/report.html\n%s/report.md\n%s/profile.json\n", out, out, out);
    return status;
}

static const args_option cmd_profile_arguments[] = {
    {.name = "out",
     .value = "DIR",
     .help = "write figures with their data, profile.json, report.html and report.md there"},
    {.name = "rows",
     .value = "N",
     .help = "how many positions: the first N rows of a file; N positions of a stack (default as many as it has, 128 "
             "at most) or "
             "of a trained network (default as many as it was trained on)"},
    {.name = "format", .value = "text|json", .help = "what is printed (default text)"},
    {.name = "plots", .value = "svg,pdf,png", .help = "how figures are drawn besides SVG, which the pages show"},
    {.name = "set",
     .value = "KEY=VALUE",
     .repeats = 1,
     .help = "of a stack: model.width, model.heads and other settings of the network, or seed"},
    COMMAND_PLUGIN_OPTION,
    {0},
};

static const command_example cmd_profile_example[] = {
    {"profile {2}", "a stack that is not trained"},
    {"profile {11} --set model.width=64 --set model.heads=1 --rows 256", "one head of width 64"},
    {"profile sort.safetensors --out sort", "a network that 'posbench run --save' wrote"},
    {"profile gpt2.safetensors:wpe.weight --out gpt2", "one tensor of somebody else's file"},
    {"profile table.npy --rows 512 --format json", "an array of NumPy"},
    {0},
};

const command command_profile = {
    .name = "profile",
    .summary = "look inside a table, a stack or a trained network",
    .words = "TARGET",
    .least_words = 1,
    .most_words = 1,
    .description = "TARGET is a stack, the weights of a run (FILE.safetensors of 'posbench run --save'), or a table "
                   "with a row for each "
                   "position: FILE.npy, or one tensor, FILE.safetensors:NAME. A file that is not whole and consistent "
                   "is refused.\n\n"
                   "What is measured follows from the hooks. Of a table, and of whatever is added to token vectors: "
                   "cosines of any two "
                   "positions, dot products by distance and how far they are from shift-invariant, singular values, "
                   "Fourier power of the "
                   "leading components, norms, and how well position and the order of two positions are read off "
                   "linearly. Of biases: the "
                   "curve of each head. Of rotations: the bound of RoFormer 3.4.3 and the measured product. Of "
                   "everything that enters "
                   "attention: weight by distance, mean distance and entropy of each head, for normal queries and "
                   "keys, or in a trained "
                   "network for its task's test stream at the training length; and then how well position is read off "
                   "hidden states.",
    .options = cmd_profile_arguments,
    .examples = cmd_profile_example,
    .run = cmd_profile_run,
};
