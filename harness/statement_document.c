/* statement_document.c - verdicts as a page: an overview, then each group with its statements and their conditions. */
#include <stdio.h>
#include <string.h>

#include "statement.h"

enum { LEDGER_OUTCOMES = STATEMENT_NOT_RUN + 1 };

static void ledger_plain(buffer *b, const char *text)
{
    doc_plain(b, text);
}

static void ledger_column(document *d, const char *heading)
{
    doc_add(d, DOC_COLUMN, heading, NULL)->flags = DOC_LEFT;
}

/* A text from a file inside a block. */
static void ledger_text(document *d, doc_kind kind, const char *before, const char *text)
{
    buffer b = BUFFER_INIT;
    buffer_add(&b, before);
    ledger_plain(&b, text);
    doc_add_buffer(d, kind, &b, NULL);
}

static int ledger_flags(statement_outcome o)
{
    return o == STATEMENT_REPRODUCED ? DOC_BEST : o == STATEMENT_NOT_RUN || o == STATEMENT_NOT_TESTABLE ? DOC_DIM : 0;
}

/* ------------------------------------------------------------------------------------------------ the top */

static void ledger_opening(const statement_told *t, int count, document *d)
{
    int counts[LEDGER_OUTCOMES] = {0};
    char number[16];
    doc_add(d, DOC_TITLE, "Published statements, tested", "posbench claims");
    doc_add(d, DOC_LEAD,
            "What papers and tutorials say about position encodings, with the rule that decides each statement and the "
            "verdict that follows from records, or from the encodings' hooks, alone.",
            NULL);
    for (int i = 0; i < count; i++)
        counts[t[i].verdict.outcome]++;
    for (int o = 0; o < LEDGER_OUTCOMES; o++)
        if (counts[o]) {
            snprintf(number, sizeof number, "%d", counts[o]);
            doc_add(d, DOC_FACT, number, statement_outcome_name((statement_outcome)o));
        }
}

static void ledger_overview(const statement_told *t, int count, document *d)
{
    doc_add(d, DOC_SECTION, "Verdicts", NULL);
    doc_add(d, DOC_TABLE, "All statements.", NULL);
    ledger_column(d, "id");
    ledger_column(d, "verdict"); /* before the statement, which a narrow window cuts off */
    ledger_column(d, "statement");
    for (int i = 0; i < count; i++) {
        const statement_verdict *v = &t[i].verdict;
        char remark[48] = "";
        if (v->outcome == STATEMENT_NOT_RUN && v->there == v->wanted)
            snprintf(remark, sizeof remark, "records lack a section");
        else if (v->outcome == STATEMENT_NOT_RUN)
            snprintf(remark, sizeof remark, "%d of %d runs", v->there, v->wanted);
        else if (v->outcome == STATEMENT_UNDECIDED && v->needed)
            snprintf(remark, sizeof remark, "about %d seeds", v->needed);
        doc_add(d, DOC_ROW, NULL, NULL);
        doc_add(d, DOC_CELL, t[i].statement->id, NULL);
        doc_add(d, DOC_CELL, statement_outcome_name(v->outcome), remark)->flags = ledger_flags(v->outcome);
        ledger_text(d, DOC_CELL, "", t[i].statement->title);
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}

static void ledger_bibliography(const statement_told *t, int count, document *d)
{
    int cited = 0;
    for (int i = 0; i < count; i++)
        cited |= *t[i].statement->cites != '\0';
    if (!cited)
        return;
    doc_add(d, DOC_SECTION, "Sources", NULL);
    doc_add(d, DOC_PARAGRAPH,
            "Keys in brackets behind a source are those of " DOC_LINK "sources.bib" DOC_TO "sources.bib" DOC_END
            ", which holds a BibTeX entry for each work; sources without a key are known in the words given only.",
            NULL);
}

static void ledger_method(document *d)
{
    doc_add(d, DOC_SECTION, "How a verdict is reached", NULL);
    doc_add(
        d, DOC_PARAGRAPH,
        "Each statement has a rule, to be written before its runs (its file says where anything was known): "
        "conditions on a score at a test length, as training ended or after fine-tuning at a longer length, on what "
        "positions met in training or what trained weights know of them, on the difference or ratio of two of these on the same seeds, or on a "
        "number that follows from an encoding's formula alone and is measured on the encoding as it is shipped. Where "
        "there are seeds, the mean and its 95 % interval (studentised bootstrap) are compared with the threshold: the "
        "condition holds when the whole interval is on the side that is asked for, fails when it is on the other side, "
        "and is open otherwise.",
        NULL);
    doc_add(
        d, DOC_PARAGRAPH,
        "A statement is reproduced when all its conditions hold, and not reproduced as soon as one fails. Where a "
        "premise fails, as that networks learn the task at all, it cannot be tested at this scale. No condition is "
        "judged before all its runs have ended. For an open one the number of seeds is given with which a test would "
        "find a distance like the one seen with probability 0.8. Networks here are small: not reproduced means at this "
        "scale and by this rule. Hollow marks numbers that rest on a map or on rows that were never trained.",
        NULL);
}

/* ------------------------------------------------------------------------------------------------ one statement */

static void ledger_rules(const statement_told *t, document *d)
{
    static const char *const headings[] = {"condition", "result", "asked", "ours", "seeds", "theirs"};
    doc_add(d, DOC_TABLE, "Its conditions.", NULL);
    for (int i = 0; i < 6; i++)
        ledger_column(d, headings[i]);
    for (int i = 0; i < t->statement->rules; i++) {
        const statement_rule *r = &t->statement->rule[i];
        const statement_finding *f = &t->verdict.finding[i];
        buffer words = BUFFER_INIT, plain = BUFFER_INIT, asked = BUFFER_INIT, ours = BUFFER_INIT, seeds = BUFFER_INIT;
        statement_rule_words(r, &words);
        ledger_plain(&plain, buffer_text(&words));
        buffer_free(&words);
        statement_asked(r, &asked);
        statement_ours(r, f, &ours);
        if (!r->measure)
            buffer_format(&seeds, "%d", f->values);
        doc_add(d, DOC_ROW, NULL, NULL);
        doc_add_buffer(d, DOC_CELL, &plain, NULL);
        doc_add(d, DOC_CELL, finding_state_name(f->state), f->why)->flags = f->state == FINDING_HOLDS ? DOC_BEST : 0;
        doc_add_buffer(d, DOC_CELL, &asked, NULL);
        doc_add_buffer(d, DOC_CELL, &ours, NULL)->flags = f->hollow ? DOC_HOLLOW : 0;
        doc_add_buffer(d, DOC_CELL, &seeds, NULL);
        ledger_text(d, DOC_CELL, "", *r->theirs ? r->theirs : "-");
    }
    doc_add(d, DOC_TABLE_END, NULL, NULL);
}

static void ledger_source(const statement *s, document *d)
{
    buffer b = BUFFER_INIT;
    buffer_add(&b, "Source: ");
    ledger_plain(&b, s->source);
    doc_cite(&b, s->cites);
    doc_add_buffer(d, DOC_ITEM, &b, NULL);
}

static void ledger_statement(const statement_told *t, document *d)
{
    const statement *s = t->statement;
    buffer heading = BUFFER_INIT, run = BUFFER_INIT;
    buffer_format(&heading, "%s ", s->id);
    ledger_plain(&heading, s->title);
    doc_add_buffer(d, DOC_SUBSECTION, &heading, statement_outcome_name(t->verdict.outcome));
    ledger_text(d, DOC_PARAGRAPH, "", s->words);
    ledger_text(d, DOC_ITEM, "Published: ", s->published);
    ledger_source(s, d);
    if (*s->refuted)
        ledger_text(d, DOC_ITEM, "What would refute it: ", s->refuted);
    if (t->verdict.wanted > 0) {
        int all = t->verdict.there == t->verdict.wanted;
        if (all)
            buffer_format(&run, "Runs: all %d are there, in ", t->verdict.wanted);
        else
            buffer_format(&run, "Runs: %d of %d are there, in ", t->verdict.there, t->verdict.wanted);
        doc_name(&run, t->group->results);
        buffer_format(&run, "; " DOC_CODE "posbench claims --run %s" DOC_END "%s", s->id,
                      all ? " does them where they are missing" : " does the rest");
        doc_add_buffer(d, DOC_ITEM, &run, NULL);
    }
    if (*s->untestable)
        ledger_text(d, DOC_WARNING, "Not tested: ", s->untestable);
    if (s->rules)
        ledger_rules(t, d);
}

void statement_document(const statement_told *t, int count, document *out)
{
    *out = (document){0};
    ledger_opening(t, count, out);
    ledger_overview(t, count, out);
    ledger_method(out);
    for (int i = 0; i < count; i++) {
        if (i == 0 || t[i].group != t[i - 1].group)
            ledger_text(out, DOC_SECTION, "", t[i].group->title);
        ledger_statement(&t[i], out);
    }
    ledger_bibliography(t, count, out);
}

void statement_bibtex(const statement_told *t, int count, const works *w, buffer *out)
{
    for (int i = 0; i < count; i++)
        works_print(w, t[i].statement->cites, out);
}
