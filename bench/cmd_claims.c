/* cmd_claims.c - published statements: verdicts from records, and the runs that are missing. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "places.h"
#include "record.h"
#include "statement.h"
#include "summary.h"
#include "sweep.h"
#include "text.h"

enum { CLAIMS_DIRS_MAX = 64, CLAIMS_PLUGINS_MAX = 64, CLAIMS_JOBS_MAX = 4096 };
enum { CLAIMS_TEXT, CLAIMS_JSON, CLAIMS_MARKDOWN };

/* chosen[g][i]: 1 for statement i of group g. */
typedef struct claims_choice {
    int count; /* chosen ones */
    char *chosen[STATEMENT_GROUPS_MAX];
} claims_choice;

static int cmd_claims_load(const command_host *host, const args *a, statements *out, error *e)
{
    char folder[PLACES_PATH_MAX], specs[PLACES_PATH_MAX];
    const char *given = args_value(a, "from");
    *out = (statements){0};
    if (places_specs(host->program, specs, e) || (!given && places_claims(host->program, folder, e)))
        return -1;
    return statements_load(given ? given : folder, specs, host->registry, out, e);
}

/* ------------------------------------------------------------------------------------------------ which ones */

static void cmd_claims_forget(claims_choice *c)
{
    for (int g = 0; g < STATEMENT_GROUPS_MAX; g++)
        free(c->chosen[g]);
    *c = (claims_choice){0};
}

/* Words are ids, or the names of files for all in them; none: all. */
static int cmd_claims_choose(const statements *s, const args *a, claims_choice *out, error *e)
{
    *out = (claims_choice){0};
    for (int g = 0; g < s->count; g++) {
        out->chosen[g] = calloc((size_t)s->group[g].count + 1, 1);
        if (!out->chosen[g])
            return error_set(e, ERROR_ENVIRONMENT, "out of memory");
        memset(out->chosen[g], a->word_count == 0, (size_t)s->group[g].count);
    }
    for (int w = 0; w < a->word_count; w++) {
        const statement_group *group;
        const statement *found;
        int named = 0;
        for (int g = 0; g < s->count; g++)
            if (strcmp(s->group[g].name, a->word[w]) == 0) {
                memset(out->chosen[g], 1, (size_t)s->group[g].count);
                named = 1;
            }
        if (named)
            continue;
        if (statement_find(s, a->word[w], &group, &found, e))
            return error_prefix(e, "claims");
        out->chosen[group - s->group][found - group->statement] = 1;
    }
    for (int g = 0; g < s->count; g++)
        for (int i = 0; i < s->group[g].count; i++)
            out->count += out->chosen[g][i];
    return 0;
}

static int cmd_claims_wants(const statements *s, const claims_choice *c, int group)
{
    return memchr(c->chosen[group], 1, (size_t)s->group[group].count) != NULL;
}

/* ------------------------------------------------------------------------------------------------ runs */

/* The runs of a group's chosen statements that have no record, into the group's folder. Returns 1 when a run failed. */
static int cmd_claims_run_group(statement_group *g, const char *chosen, const sweep_options *options, error *e)
{
    sweep_options o = *options;
    sweep_outcome out = {0};
    int count = statement_keep_runs(g, chosen, e);
    if (count <= 0)
        return count;
    o.out_dir = g->results;
    fprintf(stderr, "%s: %d runs, into %s\n", g->name, count, g->results);
    int status = sweep_run(&g->spec, &o, &out, e);
    if (status)
        return -1;
    return summary_collect(g->results, NULL, e) ? -1 : out.failed || out.diverged || out.found_failed;
}

static int cmd_claims_do(const command_host *host, const args *a, error *e)
{
    const char *plugins[CLAIMS_PLUGINS_MAX + 1] = {NULL};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    sweep_options o = {.program = host->program,
                       .plugins = plugins,
                       .jobs = cores < 1 ? 1 : (int)cores,
                       .worker_count = 1,
                       .progress = stderr,
                       .stop = host->stop};
    statements s;
    claims_choice choice = {0};
    for (int i = 0; i < CLAIMS_PLUGINS_MAX && args_nth(a, "plugin", i); i++)
        plugins[i] = args_nth(a, "plugin", i);
    int status = args_integer(a, "jobs", 1, CLAIMS_JOBS_MAX, &o.jobs, e), failed = 0;
    if (!status && a->word_count == 0)
        status = error_set(e, ERROR_USAGE, "claims: --run needs the claims whose runs are to be done");
    if (status)
        return -1;
    status = cmd_claims_load(host, a, &s, e) ? -1 : cmd_claims_choose(&s, a, &choice, e);
    for (int g = 0; g < s.count && status >= 0; g++)
        if (cmd_claims_wants(&s, &choice, g)) {
            status = cmd_claims_run_group(&s.group[g], choice.chosen[g], &o, e);
            failed |= status > 0;
        }
    cmd_claims_forget(&choice);
    statements_free(&s);
    return status < 0 ? -1 : failed;
}

/* ------------------------------------------------------------------------------------------------ verdicts */

/* The records of a group: of the folders that were named, or of its own. */
static int cmd_claims_evidence(const statement_group *g, const args *a, statement_evidence *out, error *e)
{
    const char *dirs[CLAIMS_DIRS_MAX] = {g->results};
    int count = 0;
    while (count < CLAIMS_DIRS_MAX && args_nth(a, "results", count)) {
        dirs[count] = args_nth(a, "results", count);
        count++;
    }
    return statement_evidence_load(dirs, count ? count : 1, out, e);
}

/* Verdicts of all chosen ones, in the order of the files. Records that cannot be read are told in `unread`. */
static int cmd_claims_judge(const command_host *host, const args *a, const statements *s, const claims_choice *c,
                            statement_told *told, int *count, error *unread, error *e)
{
    int status = 0;
    for (int g = 0; g < s->count && status == 0; g++) {
        statement_evidence evidence;
        if (!cmd_claims_wants(s, c, g))
            continue;
        cmd_claims_evidence(&s->group[g], a, &evidence, unread);
        for (int i = 0; i < s->group[g].count && status == 0; i++) {
            statement_told *t = &told[*count];
            if (!c->chosen[g][i])
                continue;
            *t = (statement_told){.group = &s->group[g], .statement = &s->group[g].statement[i]};
            status = statement_judge(t->group, t->statement, &evidence, host->registry, &t->verdict, e);
            ++*count;
        }
        statement_evidence_free(&evidence);
    }
    return status;
}

/* Lines that are longer than the terminal go on below their own beginning. */
static void cmd_claims_wrap(char *text)
{
    for (char *line; (line = strsep(&text, "\n")) && (text || *line);) {
        int indent = (int)strspn(line, " ");
        const char *word = line + indent;
        if (indent == 0) {
            puts(line);
            continue;
        }
        int state = strncmp(word, "holds ", 6) == 0 || strncmp(word, "fails ", 6) == 0 ||
                    strncmp(word, "open ", 5) == 0 || strncmp(word, "not run ", 8) == 0;
        int at = state ? printf("  %.8s", word) : 0;
        text_wrap(stdout, state ? at : indent, at, state ? word + 8 : word);
    }
}

static int cmd_claims_show(const statement_told *t, int count, int format, int details, error *e)
{
    buffer b = BUFFER_INIT;
    document page;
    if (format == CLAIMS_JSON)
        return command_print_json(statement_json(t, count), e);
    if (format == CLAIMS_TEXT) {
        statement_text(t, count, details, &b);
    } else {
        statement_document(t, count, &page);
        doc_md(&page, &b);
        doc_free(&page);
    }
    char *text = buffer_take(&b);
    if (!text)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    if (format == CLAIMS_TEXT && details)
        cmd_claims_wrap(text);
    else
        fputs(text, stdout);
    free(text);
    return 0;
}

/* DIR/sources.bib, where there is a source to write. */
static int cmd_claims_write_sources(const char *dir, const works *w, const statement_told *t, int count, error *e)
{
    char path[PLACES_PATH_MAX];
    buffer bib = BUFFER_INIT;
    int status = 0;
    snprintf(path, sizeof path, "%.4000s/sources.bib", dir);
    statement_bibtex(t, count, w, &bib);
    if (bib.length || bib.failed)
        status = buffer_save(&bib, path, e);
    else if (unlink(path) < 0 && errno != ENOENT) /* of other claims */
        status = error_set(e, ERROR_ENVIRONMENT, "%s: %s", path, strerror(errno));
    if (!status && bib.length)
        puts(path);
    buffer_free(&bib);
    return status;
}

/* DIR/report.html, report.md, claims.json and sources.bib. */
static int cmd_claims_write(const char *dir, const char *plots, const works *w, const statement_told *t, int count,
                            error *e)
{
    char path[PLACES_PATH_MAX];
    document page;
    if (mkdir(dir, 0777) < 0 && errno != EEXIST)
        return error_set(e, ERROR_ENVIRONMENT, "%s: %s", dir, strerror(errno));
    snprintf(path, sizeof path, "%.4000s/claims.json", dir);
    json_t *data = statement_json(t, count);
    int status = data ? record_write(path, data, e) : error_set(e, ERROR_ENVIRONMENT, "out of memory");
    json_decref(data);
    statement_document(t, count, &page);
    if (!status)
        status = doc_write_html(&page, dir, plots, e) < 0 || doc_write_md(&page, dir, e) < 0 ? -1 : 0;
    doc_free(&page);
    if (!status)
        printf("\n%s/report.html\n%s/report.md\n%s\n", dir, dir, path);
    return status ? -1 : cmd_claims_write_sources(dir, w, t, count, e);
}

static int cmd_claims_tell(const command_host *host, const args *a, int format, const char *plots, error *e)
{
    statements s;
    claims_choice choice = {0};
    statement_told *told = NULL;
    error unread = ERROR_INIT;
    int count = 0;
    int status = cmd_claims_load(host, a, &s, e) ? -1 : cmd_claims_choose(&s, a, &choice, e);
    if (!status && !(told = calloc((size_t)choice.count + 1, sizeof *told)))
        status = error_set(e, ERROR_ENVIRONMENT, "out of memory");
    if (!status)
        status = cmd_claims_judge(host, a, &s, &choice, told, &count, &unread, e);
    if (!status)
        status = cmd_claims_show(told, count, format, a->word_count > 0, e);
    if (!status && args_value(a, "out"))
        status = cmd_claims_write(args_value(a, "out"), plots, &s.works, told, count, e);
    if (!status && unread.kind != ERROR_NONE)
        status = error_set(e, unread.kind, "%s", unread.message);
    for (int i = 0; i < count; i++)
        statement_verdict_free(&told[i].verdict);
    free(told);
    cmd_claims_forget(&choice);
    statements_free(&s);
    return status;
}

/* ------------------------------------------------------------------------------------------------ the command */

static int cmd_claims_measurements(void)
{
    for (int i = 0; analytic_row(i); i++) {
        const analytic *m = analytic_row(i);
        text_wrap(stdout, 22, printf("%-20s  ", m->name), m->help);
        if (m->at)
            printf("%22sat: %s, from %g to %g\n", "", m->at, m->least, m->most);
        if (m->takes_beside)
            printf("%22sbeside: {encoding: ...}\n", "");
    }
    return 0;
}

static int cmd_claims_run(const command_host *host, const args *a, error *e)
{
    char plots[PLACES_PATH_MAX];
    int format = CLAIMS_TEXT, failed = 0;
    if (args_choice(a, "format", "text|json|markdown", &format, e) || command_load_plugins(host, a, e) ||
        places_plots(host->program, plots, e))
        return -1;
    if (args_flag(a, "measurements"))
        return cmd_claims_measurements();
    if (args_value(a, "jobs") && !args_flag(a, "run"))
        return error_set(e, ERROR_USAGE, "claims: --jobs is for --run");
    if (args_flag(a, "run") && args_value(a, "results"))
        return error_set(e, ERROR_USAGE, "claims: --run writes to the claims' own folders; --results only reads");
    if (args_flag(a, "run") && (failed = cmd_claims_do(host, a, e)) < 0)
        return -1;
    return cmd_claims_tell(host, a, format, plots, e) ? -1 : failed ? ERROR_RUN : 0;
}

static const args_option cmd_claims_arguments[] = {
    {.name = "run", .help = "first do the runs of these claims that have no record, as 'posbench sweep' would"},
    {.name = "jobs", .value = "N", .help = "with --run: runs at a time (default: the number of cores)"},
    {.name = "results",
     .value = "DIR",
     .repeats = 1,
     .help = "look for records there and not where the claims say; the runs of a claim are known by their keys, so any "
             "folder with their records will do"},
    {.name = "format", .value = "text|json|markdown", .help = "what is printed (default text)"},
    {.name = "out", .value = "DIR", .help = "write report.html, report.md, claims.json and sources.bib there"},
    {.name = "from", .value = "DIR", .help = "other files of claims, all *.yaml of this folder"},
    {.name = "measurements", .hidden = 1, .help = "what claims about formulas can measure, and stop"},
    COMMAND_PLUGIN_OPTION,
    {0},
};

static const command_example cmd_claims_example[] = {
    {"claims", "all claims, a line for each"},
    {"claims C18 X9", "two of them, with rule, numbers and interval"},
    {"claims --run C38 --jobs 2", "do what is missing, then tell"},
    {"claims --out results/claims", "as a page"},
    {"claims C18 --results copy/of/huang --format json", "the same verdict from copied records"},
    {0},
};

const command command_claims = {
    .name = "claims",
    .summary = "test what was published: reproduced, not reproduced, undecided",
    .words = "[ID ...]",
    .most_words = 1000,
    .description =
        "A claim is a published statement with its source and number, the runs that test it, and a rule, to be "
        "written before them: a score, one after fine-tuning at a longer length, or what positions met in training, "
        "of one encoding, or the difference or ratio of two on the same seeds, against a threshold. "
        "The verdict follows from records alone. ID is a claim or the name of a file of claims; without any, all are "
        "told "
        "in one line each.\n\n"
        "reproduced: every condition of the rule holds, that is, the whole 95 % interval over seeds is on the side "
        "that is "
        "asked for. not reproduced: one fails, its interval is on the other side. undecided: an interval holds the "
        "threshold, or values are missing; the number of seeds that would decide is given. not run: runs have no "
        "record yet. "
        "not testable: not at this scale, or not by this program, with the reason.\n\n"
        "Claims about formulas need no runs: they are measured on the encodings as they are, through their hooks "
        "(--measurements lists how).\n\n"
        "Runs go to the folder that the file of claims names, else results/claims/NAME below the current folder, and a "
        "run "
        "that has a record is not done again. A verdict is no failure: the exit status is 0 whatever it is, and 1 when "
        "--run "
        "had runs that failed or diverged. CONTRIBUTING.md shows how "
        "a claim is written; faults of a file are told all at once.",
    .options = cmd_claims_arguments,
    .examples = cmd_claims_example,
    .stops_cleanly = 1,
    .run = cmd_claims_run,
};
