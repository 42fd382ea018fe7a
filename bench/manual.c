#include "manual.h"

#include <string.h>

#include "command.h"
#include "config.h"
#include "help.h"
#include "record.h"
#include "text.h"

/* Text for roff: hyphens that are to stay hyphens, backslashes, and no line that looks like a request. */
static void manual_text(FILE *to, const char *text)
{
    int line_begins = 1;
    for (const char *c = text; *c; c++) {
        if (line_begins && (*c == '.' || *c == '\''))
            fputs("\\&", to);
        if (*c == '\\')
            fputs("\\e", to);
        else if (*c == '-')
            fputs("\\-", to);
        else
            fputc(*c, to);
        line_begins = *c == '\n';
    }
}

static void manual_paragraphs(FILE *to, const char *text)
{
    for (;;) {
        const char *end = strstr(text, "\n\n");
        char paragraph[4096];
        snprintf(paragraph, sizeof paragraph, "%.*s", end ? (int)(end - text) : (int)strlen(text), text);
        manual_text(to, paragraph);
        fputc('\n', to);
        if (!end)
            return;
        fputs(".PP\n", to);
        text = end + 2;
    }
}

/* A tagged paragraph: the term in bold, its argument in italics, and what it means. */
static void manual_item(FILE *to, const char *term, const char *argument, const char *meaning)
{
    fputs(".TP\n\\fB", to);
    manual_text(to, term);
    fputs("\\fR", to);
    if (argument) {
        fputs(" \\fI", to);
        manual_text(to, argument);
        fputs("\\fR", to);
    }
    fputc('\n', to);
    manual_paragraphs(to, meaning);
}

static void manual_command(FILE *to, const registry *r, const command *c)
{
    char text[TEXT_LINE_MAX];
    help_synopsis(c, text);
    fputs(".SS posbench ", to);
    manual_text(to, text);
    fputc('\n', to);
    manual_paragraphs(to, c->description);
    for (const args_option *o = c->options; o && o->name; o++) {
        char term[TEXT_LINE_MAX];
        snprintf(term, sizeof term, "--%s", o->name);
        manual_item(to, term, o->value, o->help);
    }
    fputs(".PP\nExamples:\n.PP\n.nf\n", to);
    for (const command_example *x = c->examples; x && x->line; x++) {
        text_fill(r, x->line, text);
        fputs(".RS\nposbench ", to);
        manual_text(to, text);
        fputs("\n.RE\n", to);
    }
    fputs(".fi\n", to);
}

static void manual_config(FILE *to)
{
    fputs(".SH SETTINGS\nA spec writes them nested, \\fB\\-\\-set\\fR and \\fB\\-\\-only\\fR with dots.\n", to);
    for (const pe_option *row = config_rows; row->name; row++) {
        char bounds[TEXT_LINE_MAX], meaning[2 * TEXT_LINE_MAX], term[TEXT_LINE_MAX];
        text_bounds(row, bounds);
        snprintf(term, sizeof term, "%s=%s", row->name, text_initial(row));
        snprintf(meaning, sizeof meaning, "%s (%s)", row->help, bounds);
        manual_item(to, term, NULL, meaning);
    }
}

void manual_print(FILE *to, const registry *r)
{
    host_facts facts;
    host_facts_read(&facts);
    fprintf(to, ".TH POSBENCH 1 \"\" \"posbench %s\" \"User Commands\"\n", facts.version);
    fputs(".SH NAME\nposbench \\- compare position encodings of transformers past the training length\n"
          ".SH SYNOPSIS\n.B posbench\n.I COMMAND\n.RI [ ARGUMENTS ]\n.br\n.B posbench\n.B help\n.RI [ COMMAND ]\n"
          ".br\n.B posbench\n.B \\-\\-version\n.SH DESCRIPTION\n",
          to);
    manual_paragraphs(to, help_about);
    fputs(".SH COMMANDS\n", to);
    for (int i = 0; i < command_count(); i++)
        manual_command(to, r, command_at(i));
    manual_config(to);
    fputs(".SH EXIT STATUS\n", to);
    for (const help_status *s = help_statuses; s->code; s++)
        manual_item(to, s->code, NULL, s->meaning);
    fputs(".SH ENVIRONMENT\n", to);
    manual_item(to, "TERM", NULL,
                "With the value dumb, or when the output is no terminal, progress is plain lines now and then.");
    fputs(".SH FILES\n", to);
    manual_item(
        to, "results/SWEEP/runs/KEY.json", NULL,
        "The record of one run. Its presence is what makes a sweep go on where it stopped; merging two machines is "
        "copying these files.");
    manual_item(to,
                "results/SWEEP/runs.csv, summary.csv, curves.csv, comparisons.csv, positions.csv, extension.csv", NULL,
                "Tables made from the records; they can be thrown away.");
}
