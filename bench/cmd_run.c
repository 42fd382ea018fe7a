/* cmd_run.c - one run: from the command line for a person, from canonical text for a sweep. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "record.h"
#include "run.h"
#include "scores.h"
#include "watch.h"
#include "weights.h"

enum { CMD_RUN_NAME_MAX = 128 };

/* --set KEY=VALUE. The same key twice would leave one of them without effect: refused. */
static int cmd_run_set(run_config *c, const args *a, int n, error *e)
{
    const char *text = args_nth(a, "set", n), *equals = strchr(text, '=');
    char name[CMD_RUN_NAME_MAX];
    if (!equals || equals == text)
        return error_set(e, ERROR_USAGE, "run: --set: '%s' is not KEY=VALUE", text);
    size_t length = (size_t)(equals - text);
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    for (int i = 0; i < n; i++)
        if (!strncmp(args_nth(a, "set", i), text, length + 1))
            return error_set(e, ERROR_USAGE, "run: --set: '%s' is given twice", name);
    if (args_value(a, name) && strcmp(name, "set"))
        return error_set(e, ERROR_USAGE, "run: '%s' is given by --%s and by --set", name, name);
    return config_set(c, name, equals + 1, e) ? error_prefix(e, "run: --set") : 0;
}

static int cmd_run_config_from_arguments(run_config *c, const args *a, error *e)
{
    config_defaults(c);
    const char *encoding = args_value(a, "encoding"), *task = args_value(a, "task"), *seed = args_value(a, "seed");
    if (!encoding || !task)
        return error_set(e, ERROR_USAGE, "run: --%s is missing; see 'posbench help run'",
                         encoding ? "task" : "encoding");
    if (config_set(c, "encoding", encoding, e) || config_set(c, "task", task, e) ||
        (seed && config_set(c, "seed", seed, e)))
        return error_prefix(e, "run");
    for (int i = 0; args_nth(a, "set", i); i++)
        if (cmd_run_set(c, a, i, e))
            return -1;
    return 0;
}

static int cmd_run_read_all(FILE *from, const char *path, char text[CONFIG_TEXT_MAX], error *e)
{
    size_t length = fread(text, 1, CONFIG_TEXT_MAX, from);
    if (ferror(from))
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    if (length == CONFIG_TEXT_MAX)
        return error_set(e, ERROR_USAGE, "%s: longer than a canonical configuration can be", path);
    text[length] = '\0';
    return 0;
}

static int cmd_run_config_from_canonical(run_config *c, const args *a, error *e)
{
    const char *path = args_value(a, "canonical");
    static const char *const others[] = {"encoding", "task", "seed", "set"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (args_flag(a, others[i]))
            return error_set(e, ERROR_USAGE, "run: --canonical says everything; --%s cannot stand beside it",
                             others[i]);
    char text[CONFIG_TEXT_MAX];
    int from_input = !strcmp(path, "-");
    FILE *from = from_input ? stdin : fopen(path, "rb");
    if (!from)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    int status = cmd_run_read_all(from, from_input ? "standard input" : path, text, e);
    if (!from_input)
        fclose(from);
    return status ? -1 : config_read(c, text, e);
}

/* A run can take hours: whether its record can be written is found out before. */
static int cmd_run_check_out(const char *out, error *e)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(out, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - out) + 1 : 1, slash ? out : ".");
    if (access(folder, W_OK))
        return error_set(e, ERROR_ENVIRONMENT, "%s: cannot write there: %s", out, strerror(errno));
    return 0;
}

/* A name that `profile` would not take as a whole network is refused before hours are spent on it. */
static int cmd_run_check_save(const char *save, error *e)
{
    if (!weights_is_target(save))
        return error_set(e, ERROR_USAGE, "run: --save: '%s' does not end in .safetensors", save);
    return cmd_run_check_out(save, e);
}

static int cmd_run_record(const run_config *c, const run_result *r, const char *out, error *e)
{
    host_facts facts;
    host_facts_read(&facts);
    json_t *record = record_json(c, r, &facts);
    if (!record)
        return error_set(e, ERROR_ENVIRONMENT, "%s: out of memory", out);
    int status = record_write(out, record, e);
    json_decref(record);
    return status;
}

static void cmd_run_tell_files(const char *out, const char *save)
{
    if (out)
        printf("\nThe record is %s\n", out);
    if (save)
        printf("%sThe weights are %s\n", out ? "" : "\n", save);
    if (!out && !save)
        puts("\nNothing was written; --out FILE.json keeps the record, --save FILE.safetensors the weights.");
}

static void cmd_run_tell_result(const run_config *c, const run_result *r)
{
    printf("%s on %s, seed %d: %s", c->encoding, c->task, c->seed, run_status_name(r->status));
    if (r->status == RUN_OK)
        printf(" after %d steps, %s in distribution (%.4f)", r->status_step, r->fitted ? "fitted" : "not fitted",
               r->fit_score);
    else
        printf(" at step %d%s%s", r->status_step, r->message[0] ? ": " : "", r->message);
    printf("\n%ld parameters, %ld of them the encoding's; %.1f s training, %.1f s evaluation\n\n", r->parameters,
           r->encoding_parameters, r->train_seconds, r->evaluate_seconds);
    scores_print(stdout, r);
    scores_print_extensions(stdout, r);
}

/* Beside the record stands the state of a training that is not done: RECORD.state. None beside a device or a pipe. */
static const char *cmd_run_state(const char *out, char path[PATH_MAX])
{
    struct stat found;
    if (!out || (stat(out, &found) == 0 && !S_ISREG(found.st_mode)) ||
        snprintf(path, PATH_MAX, "%s.state", out) >= PATH_MAX)
        return NULL;
    return path;
}

/* Runs, records, tells. What an interrupted run had measured is no result: it leaves no record but the state of its
 * training, from which the same command goes on. */
static int cmd_run_do(const command_host *host, const args *a, const run_config *c, watch *w, error *e)
{
    char state[PATH_MAX];
    const char *out = args_value(a, "out"), *save = args_value(a, "save");
    run_watch hooks = {watch_tell, w, host->stop};
    run_files files = {.weights = save, .state = cmd_run_state(out, state)};
    run_result result = {0};
    int status = run_execute_with(c, host->registry, &hooks, &files, &result, e);
    watch_close(w);
    if (!status && out && result.status != RUN_INTERRUPTED)
        status = cmd_run_record(c, &result, out, e);
    if (!status && files.state && result.status != RUN_INTERRUPTED)
        run_state_remove(files.state);
    if (!status && w->style != WATCH_TOLD) {
        cmd_run_tell_result(c, &result);
        cmd_run_tell_files(result.status == RUN_INTERRUPTED ? NULL : out, result.weights_saved ? save : NULL);
    }
    if (!status && result.status != RUN_OK)
        status = result.status == RUN_INTERRUPTED ? ERROR_INTERRUPTED : ERROR_RUN;
    run_result_free(&result);
    return status;
}

static int cmd_run_run(const command_host *host, const args *a, error *e)
{
    run_config c;
    int from_sweep = args_value(a, "canonical") != NULL, progress_fd = -1;
    const char *out = args_value(a, "out"), *save = args_value(a, "save");
    if (args_integer(a, "progress-fd", 0, INT_MAX, &progress_fd, e) || command_load_plugins(host, a, e))
        return -1;
    if ((from_sweep ? cmd_run_config_from_canonical(&c, a, e) : cmd_run_config_from_arguments(&c, a, e)) ||
        config_check(&c, host->registry, e) || (out && cmd_run_check_out(out, e)) ||
        (save && cmd_run_check_save(save, e)))
        return -1;
    FILE *told = progress_fd >= 0 ? fdopen(progress_fd, "w") : NULL;
    if (progress_fd >= 0 && !told)
        return error_set(e, ERROR_ENVIRONMENT, "run: --progress-fd %d: %s", progress_fd, strerror(errno));
    watch w = told ? watch_parent(told) : watch_person(stderr);
    int status = cmd_run_do(host, a, &c, &w, e);
    if (told)
        fclose(told);
    return status;
}

static const args_option cmd_run_arguments[] = {
    {.name = "encoding",
     .value = "STACK",
     .needed = 1,
     .help = "what is compared: an encoding, with options in brackets, + between the members of a stack, @ before a "
             "position "
             "map; [A,B] alternates between layers"},
    {.name = "task",
     .value = "TASK",
     .needed = 1,
     .help = "the task, with its options in brackets; see 'posbench list tasks'"},
    {.name = "set", .value = "KEY=VALUE", .repeats = 1, .help = "change a setting; all are in 'posbench help config'"},
    {.name = "seed", .value = "N", .help = "names the data, the initial weights and the random positions"},
    {.name = "out", .value = "FILE.json", .help = "write the record there; without it only the table is printed"},
    {.name = "save",
     .value = "FILE.safetensors",
     .help = "write the trained weights there, for 'posbench profile', PyTorch and others; the names are told above"},
    COMMAND_PLUGIN_OPTION,
    {.name = "canonical",
     .value = "FILE",
     .hidden = 1,
     .help = "read the whole configuration in canonical form, - for standard input; what a sweep uses"},
    {.name = "progress-fd",
     .value = "N",
     .hidden = 1,
     .help = "tell progress as lines 'phase done total loss' on this descriptor, and print nothing; what a sweep uses"},
    {0},
};

static const command_example cmd_run_example[] = {
    {"run --encoding {6} --task unique_copy", "train and test with the default settings"},
    {"run --encoding {5}+{1}@interpolate --task sort --seed 3 --out sort.json",
     "a stack under a position map; keep the record"},
    {"run --encoding \"[{5},{0}]\" --task sort --set model.layers=4", "every second layer another encoding"},
    {"run --encoding {1} --task sort --save sort.safetensors", "keep the trained weights, to look into them"},
    {"run --encoding {5} --task \"mqar(vocab=64)\" --set \"extend.methods=none;interpolate\" --set extend.factors=4",
     "go on at four times the length, with positions as they are and squeezed"},
    {"run --encoding {2} --task binary_majority --set train.steps=200 --set train.len=16", "other settings"},
    {0},
};

const command command_run = {
    .name = "run",
    .summary = "train and evaluate once",
    .words = "",
    .description =
        "Trains one network from scratch and measures it at the training length and past it. One run is one thread; "
        "the same command on the same machine gives the same record, timings aside.\n\n"
        "A run that diverges stops at once and is recorded as such; the exit status is then 1. An interrupted run "
        "leaves no record but, with --out, the state of its training in FILE.json.state, from which the same command of the "
        "same build goes on; written about once a minute, it outlives a crash, too.\n\n"
        "With extend.methods training goes on at longer lengths, once for each method of stretching positions and each of "
        "extend.factors, from the same trained weights: see 'posbench help config', section extend.\n\n"
        "With eval.probe positions are read off hidden states and trained tables when training has ended; with "
        "eval.shuffle the order of a text's prefix is tried. Both go into the record's section \"probes\".\n\n"
        "--save writes one F32 tensor for each parameter: tok_emb, layerN.ln1.w and .b, layerN.qkv.w (rows of q, then of "
        "k, then of v) and .b, layerN.proj.*, layerN.ln2.*, layerN.fc1.*, layerN.fc2.*, lnf.*, head.* (a tied head is "
        "tok_emb), and those of the encoding, such as ENCODING.table or layerN.ENCODING.table. The metadata hold the "
        "whole configuration.",
    .options = cmd_run_arguments,
    .examples = cmd_run_example,
    .stops_cleanly = 1,
    .run = cmd_run_run,
};
