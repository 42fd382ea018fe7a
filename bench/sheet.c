/* sheet.c - what there is to tell of a descriptor, and the text writer. */
#include "sheet.h"

#include <string.h>

#include "options.h"
#include "text.h"

/* ------------------------------------------------------------------------------------------------ what there is */

static void sheet_claim_words(unsigned claims, char text[TEXT_LINE_MAX])
{
    size_t used = 0;
    snprintf(text, TEXT_LINE_MAX, "none");
    for (int i = 0; text_claim(i); i++)
        if (claims & 1u << i)
            used += (size_t)snprintf(text + used, TEXT_LINE_MAX - used, "%s%s", used ? ", " : "", text_claim(i));
}

/* What an option changes: "not parameter-free", "also position-blind". */
static void sheet_claim_changes(unsigned usual, unsigned here, char text[TEXT_LINE_MAX])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; text_claim(i); i++)
        if ((usual ^ here) & 1u << i)
            used += (size_t)snprintf(text + used, TEXT_LINE_MAX - used, "%s%s%s", used ? ", " : "",
                                     here & 1u << i ? "also " : "not ", text_claim(i));
}

/* The default's claims, and those of each example that has others. */
static void sheet_claims(const sheet_writer *w, FILE *to, const registry *r, const pe_descriptor *d)
{
    char text[TEXT_LINE_MAX];
    sheet_claim_words(d->claims, text);
    w->prose(to, "claims", text);
    for (int i = 0; d->claims_with && d->examples && d->examples[i]; i++) {
        char stack_text[STACK_TEXT_MAX];
        pe_stack s;
        error ignored = ERROR_INIT;
        snprintf(stack_text, sizeof stack_text, "%s(%s)", d->name, d->examples[i]);
        if (stack_parse(r, stack_text, &s, &ignored)) /* the registry has parsed every example before */
            continue;
        unsigned claims = stack_member_claims(&s.member[0]);
        stack_free(&s);
        sheet_claim_changes(d->claims, claims, text);
        if (text[0])
            w->under(to, d->examples[i], text);
    }
}

/* "linear: scaling=linear,factor={factor}; ..." */
static void sheet_extensions(const sheet_writer *w, FILE *to, const pe_descriptor *d)
{
    char text[TEXT_LINE_MAX];
    size_t used = 0;
    for (const pe_extension *x = d->extensions; x && x->name && used < sizeof text; x++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s: %s", used ? "; " : "", x->name, x->options);
    w->prose(to, "extends", used ? text : NULL);
}

void sheet_encoding(const sheet_writer *w, FILE *to, const registry *r, const pe_descriptor *d)
{
    char stages[TEXT_LINE_MAX];
    w->head(to, d->name, d->title, "encoding", NULL);
    w->prose(to, "family", d->family);
    w->prose(to, "source", d->source);
    w->code(to, "formula", d->formula);
    text_stages(d, stages);
    w->prose(to, "enters at", stages);
    sheet_claims(w, to, r, d);
    w->prose(to, "mask", d->causal_only ? "causal only" : "causal and bidirectional");
    w->prose(to, "order", d->needs_order ? "needs positions that do not decrease: refused with a map that gives others"
                                         : "takes positions in any order");
    w->prose(to, "reads",
             d->reads_bias && d->reads_heads ? "the sum of the stack's biases; queries or keys of head_dim columns, so it "
                                               "is refused beside a rotation that widens them"
             : d->reads_bias  ? "the sum of the stack's biases"
             : d->reads_heads ? "queries or keys of head_dim columns: refused beside a rotation that widens them"
                              : NULL);
    w->prose(to, "widens", d->rotated_dim ? "queries and keys: they may have more columns than head_dim afterwards" : NULL);
    w->prose(to, "ends", d->claims & PE_ANY_LENGTH
                             ? NULL
                             : "at a last position: points past it are recorded as undefined, unless a map gives them a "
                               "meaning");
    sheet_extensions(w, to, d);
    w->prose(to, "notes", d->notes);
    w->options(to, d->options && d->options->name ? d->options : NULL);
    w->examples(to, d->name, d->examples);
}

/* What a map that draws draws anew, with its default options; NULL when there is nothing to say. */
static const char *sheet_map_scope(const registry *r, const pe_map *m)
{
    static const char *const words[] = {[PE_MAP_PER_BATCH] = "one drawing for each batch",
                                        [PE_MAP_PER_LAYER] = "one drawing for each layer",
                                        [PE_MAP_PER_SEQUENCE] = "one drawing for each sequence"};
    char text[STACK_TEXT_MAX];
    pe_stack s;
    error ignored = ERROR_INIT;
    snprintf(text, sizeof text, "%s@%s", registry_encoding(r, 0)->name, m->name);
    if (!m->scope || stack_parse(r, text, &s, &ignored))
        return NULL;
    const char *scope = words[m->scope(s.map_options)];
    stack_free(&s);
    return scope;
}

void sheet_map(const sheet_writer *w, FILE *to, const registry *r, const pe_map *m)
{
    w->head(to, m->name, m->title, "position map", "attach it to a stack with @");
    w->prose(to, "source", m->source);
    w->code(to, "formula", m->formula);
    w->prose(to, "beyond",
             m->gives_meaning ? "gives points past an encoding's last position a meaning; they are drawn hollow" : NULL);
    w->prose(to, "extends", m->extension);
    w->prose(to, "draws", sheet_map_scope(r, m));
    w->prose(to, "needs", m->needs_given ? "a task that proposes positions" : NULL);
    w->prose(to, "order", m->unordered ? "positions may decrease along a sequence: refused for encodings that need order"
                                       : "positions do not decrease along a sequence");
    w->prose(to, "notes", m->notes);
    w->options(to, m->options && m->options->name ? m->options : NULL);
    w->examples(to, m->name, m->examples);
}

/* With the task's default options. */
static void sheet_sentinel(const sheet_writer *w, FILE *to, const task_descriptor *t)
{
    char text[TEXT_LINE_MAX], number[32];
    const char *why;
    double ratio = task_sentinel(t->name, &why);
    if (!(ratio > 0))
        return;
    number_print(ratio, number, sizeof number);
    snprintf(text, sizeof text, "nothing may succeed from %s times the training length on: %s", number, why);
    w->prose(to, "sentinel", text);
}

void sheet_task(const sheet_writer *w, FILE *to, const task_descriptor *t)
{
    w->head(to, t->name, t->title, "task",
            t->kind == TASK_ANSWER ? "prompt and answer, scored by exact match and token accuracy"
            : t->text              ? "language modelling, scored by loss at every token"
                                   : "language modelling, scored by loss at hidden tokens");
    w->prose(to, "source", t->source);
    w->code(to, "format", t->format);
    w->prose(to, "mask",
             t->causal_only          ? "causal only"
             : t->bidirectional_only ? "bidirectional only"
                                     : "causal and bidirectional");
    w->prose(to, "proposes", t->proposes_positions ? t->positions : NULL);
    sheet_sentinel(w, to, t);
    w->prose(to, "notes", t->notes);
    w->options(to, t->options && t->options->name ? t->options : NULL);
}

/* ------------------------------------------------------------------------------------------------ text */

enum { SHEET_COLUMN = 12 };

static void sheet_text_row(FILE *to, const char *label, const char *text)
{
    if (!text || !*text)
        return;
    int at = fprintf(to, "  %-*s", SHEET_COLUMN - 2, label);
    text_wrap(to, SHEET_COLUMN, at, text);
}

static void sheet_text_head(FILE *to, const char *name, const char *title, const char *kind, const char *kind_words)
{
    char text[TEXT_LINE_MAX];
    fprintf(to, "%s - %s\n", name, title);
    snprintf(text, sizeof text, "%s%s%s", kind, kind_words ? "; " : "", kind_words ? kind_words : "");
    sheet_text_row(to, "kind", text);
}

static void sheet_text_under(FILE *to, const char *options, const char *text)
{
    char row[TEXT_LINE_MAX];
    snprintf(row, sizeof row, "with %s: %s", options, text);
    sheet_text_row(to, "", row);
}

static void sheet_text_options(FILE *to, const pe_option *rows)
{
    sheet_text_row(to, "options", rows ? NULL : "none");
    if (rows)
        fputs("  options\n", to);
    text_options(to, 4, rows);
}

static void sheet_text_examples(FILE *to, const char *name, const char *const *examples)
{
    for (int i = 0; examples && examples[i]; i++) {
        char text[STACK_TEXT_MAX];
        snprintf(text, sizeof text, "%s(%s)", name, examples[i]);
        sheet_text_row(to, i ? "" : "examples", text);
    }
}

const sheet_writer sheet_text = {.head = sheet_text_head,
                                 .prose = sheet_text_row,
                                 .code = sheet_text_row,
                                 .under = sheet_text_under,
                                 .options = sheet_text_options,
                                 .examples = sheet_text_examples};
