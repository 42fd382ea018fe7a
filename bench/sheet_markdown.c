/* sheet_markdown.c - sheets in GitHub's Markdown: encodings/README.md. */
#include <ctype.h>
#include <string.h>

#include "sheet.h"
#include "text.h"

/* Running text. Characters that would mean something to Markdown, HTML or GitHub's mathematics are escaped; an underscore
 * between letters means nothing and stays. It must not stand at the beginning of a line. */
static void markdown_text(FILE *to, const char *text)
{
    for (const char *c = text; *c; c++) {
        int inside = c > text && isalnum((unsigned char)c[-1]) && isalnum((unsigned char)c[1]);
        if (strchr("\\`*[]<>|~$&#", *c) || (*c == '_' && !inside))
            fputc('\\', to);
        fputc(*c == '\n' ? ' ' : *c, to);
    }
}

/* A code span: a fence of more backticks than the text has in a row. Inside a table a bar needs its escape even here. */
static void markdown_code(FILE *to, const char *text, int in_table)
{
    int fence = 1, run = 0;
    for (const char *c = text; *c; c++) {
        run = *c == '`' ? run + 1 : 0;
        fence = run >= fence ? run + 1 : fence;
    }
    int padded = text[0] == '`' || (*text && text[strlen(text) - 1] == '`');
    for (int i = 0; i < fence; i++)
        fputc('`', to);
    fputs(padded ? " " : "", to);
    for (const char *c = text; *c; c++) {
        if (*c == '|' && in_table)
            fputc('\\', to);
        fputc(*c == '\n' ? ' ' : *c, to);
    }
    fputs(padded ? " " : "", to);
    for (int i = 0; i < fence; i++)
        fputc('`', to);
}

static void markdown_label(FILE *to, const char *label)
{
    fprintf(to, "- **%s:** ", label);
}

/* Headings of maps say so: an encoding may have the same name, and a heading is an anchor. */
static void markdown_head(FILE *to, const char *name, const char *title, const char *kind, const char *kind_words)
{
    fputs("### ", to);
    if (strcmp(kind, "encoding"))
        fprintf(to, "%c%s ", toupper((unsigned char)kind[0]), kind + 1);
    markdown_code(to, name, 0);
    fputs("\n\n**", to);
    markdown_text(to, title);
    fputs("**\n\n", to);
    if (kind_words) {
        markdown_label(to, "kind");
        markdown_text(to, kind_words);
        fputc('\n', to);
    }
}

static void markdown_prose(FILE *to, const char *label, const char *text)
{
    if (!text || !*text)
        return;
    markdown_label(to, label);
    markdown_text(to, text);
    fputc('\n', to);
}

static void markdown_code_row(FILE *to, const char *label, const char *text)
{
    if (!text || !*text)
        return;
    markdown_label(to, label);
    markdown_code(to, text, 0);
    fputc('\n', to);
}

static void markdown_under(FILE *to, const char *options, const char *text)
{
    fputs("  - with ", to);
    markdown_code(to, options, 0);
    fputs(": ", to);
    markdown_text(to, text);
    fputc('\n', to);
}

static void markdown_options(FILE *to, const pe_option *rows)
{
    if (!rows) {
        markdown_prose(to, "options", "none");
        return;
    }
    fputs("\n| option | default | values | meaning |\n| --- | --- | --- | --- |\n", to);
    for (const pe_option *row = rows; row->name; row++) {
        char bounds[TEXT_LINE_MAX];
        text_bounds(row, bounds);
        fputs("| ", to);
        markdown_code(to, row->name, 1);
        fputs(" | ", to);
        if (*row->initial)
            markdown_code(to, row->initial, 1);
        else
            fputs(text_initial(row), to);
        fputs(" | ", to);
        markdown_text(to, bounds);
        fputs(" | ", to);
        markdown_text(to, row->help);
        fputs(" |\n", to);
    }
}

static void markdown_examples(FILE *to, const char *name, const char *const *examples)
{
    if (!examples || !examples[0])
        return;
    fputs("\nExamples: ", to);
    for (int i = 0; examples[i]; i++) {
        char text[STACK_TEXT_MAX];
        snprintf(text, sizeof text, "%s(%s)", name, examples[i]);
        fputs(i ? ", " : "", to);
        markdown_code(to, text, 0);
    }
    fputc('\n', to);
}

const sheet_writer sheet_markdown = {.head = markdown_head,
                                     .prose = markdown_prose,
                                     .code = markdown_code_row,
                                     .under = markdown_under,
                                     .options = markdown_options,
                                     .examples = markdown_examples};

/* ------------------------------------------------------------------------------------------------ all of them */

/* 1 if no encoding before number i is of its family. */
static int markdown_opens_family(const registry *r, int i)
{
    for (int before = 0; before < i; before++)
        if (!strcmp(registry_encoding(r, before)->family, registry_encoding(r, i)->family))
            return 0;
    return 1;
}

/* A line of the table of contents. group: "family" of an encoding that is not its first: "". */
static void markdown_contents_row(FILE *to, const char *group, const char *anchor, const char *name, const char *title)
{
    fputs("| ", to);
    markdown_text(to, group);
    fputs(" | [", to);
    markdown_code(to, name, 1);
    fprintf(to, "](#%s%s) | ", anchor, name);
    markdown_text(to, title);
    fputs(" |\n", to);
}

static void markdown_contents(FILE *to, const registry *r)
{
    fputs("| family | name | in words |\n| --- | --- | --- |\n", to);
    for (int first = 0; first < registry_encoding_count(r); first++) {
        const pe_descriptor *opens = registry_encoding(r, first);
        for (int i = first; markdown_opens_family(r, first) && i < registry_encoding_count(r); i++) {
            const pe_descriptor *d = registry_encoding(r, i);
            if (!strcmp(d->family, opens->family))
                markdown_contents_row(to, i == first ? d->family : "", "", d->name, d->title);
        }
    }
    for (int i = 0; i < registry_map_count(r); i++)
        markdown_contents_row(to, i ? "" : "position maps", "position-map-", registry_map(r, i)->name,
                              registry_map(r, i)->title);
}

void sheet_registry(FILE *to, const registry *r)
{
    markdown_contents(to, r);
    for (int first = 0; first < registry_encoding_count(r); first++) {
        if (!markdown_opens_family(r, first))
            continue;
        const char *family = registry_encoding(r, first)->family;
        fputs("\n## Family: ", to);
        markdown_text(to, family);
        fputc('\n', to);
        for (int i = first; i < registry_encoding_count(r); i++)
            if (!strcmp(registry_encoding(r, i)->family, family)) {
                fputc('\n', to);
                sheet_encoding(&sheet_markdown, to, r, registry_encoding(r, i));
            }
    }
    if (registry_map_count(r))
        fputs("\n## Position maps\n", to);
    for (int i = 0; i < registry_map_count(r); i++) {
        fputc('\n', to);
        sheet_map(&sheet_markdown, to, r, registry_map(r, i));
    }
}
