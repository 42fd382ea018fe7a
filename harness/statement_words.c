/* statement_words.c - conditions and verdicts in words, shared by the terminal and the page. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "statement.h"

const char *statement_outcome_name(statement_outcome o)
{
    static const char *const names[] = {"reproduced", "not reproduced", "undecided", "not testable", "not run"};
    return names[o];
}

const char *finding_state_name(finding_state s)
{
    static const char *const names[] = {"holds", "fails", "open", "not run"};
    return names[s];
}

/* Three or four digits that count: 0.0012, 12.35, 1.2e-7. */
static void words_number(double value, buffer *out)
{
    double size = fabs(value);
    if (isnan(value))
        buffer_add(out, "-");
    else if (value == floor(value) && size < 1e6)
        buffer_fixed(out, value, 0);
    else if (size < 1e-3) {
        char text[32];
        snprintf(text, sizeof text, "%.1e", value);
        for (char *p = text; *p; p++)
            *p = *p == ',' ? '.' : *p; /* the locale's point */
        buffer_add(out, text);
    } else
        buffer_fixed(out, value, size < 10 ? 4 : 2);
}

/* Scores keep their digits, so that 1 stands as 1.0000 beside 0.9990. */
static void words_score(double value, buffer *out)
{
    if (isnan(value))
        buffer_add(out, "-");
    else
        buffer_fixed(out, value, 4);
}

static void words_list(const double *number, int count, buffer *out)
{
    for (int i = 0; i < count; i++) {
        buffer_add(out, i ? ", " : "");
        words_number(number[i], out);
    }
}

static void words_measure(const statement_rule *r, buffer *out)
{
    const analytic_input *in = r->input;
    buffer_format(out, "%s of %s", r->measure->name, in->config.encoding);
    if (in->has_beside)
        buffer_format(out, " beside %s", in->beside.encoding);
    buffer_format(out, ", width %d, %d head%s", in->config.model.width, in->config.model.heads,
                  in->config.model.heads == 1 ? "" : "s");
    if (in->count) {
        buffer_add(out, ", at ");
        words_list(in->at, in->count, out);
    }
}

void statement_rule_words(const statement_rule *r, buffer *out)
{
    if (r->premise)
        buffer_add(out, "premise: ");
    if (*r->says) {
        buffer_add(out, r->says);
        return;
    }
    if (r->measure) {
        words_measure(r, out);
        return;
    }
    buffer_format(out, "%s", r->side[0].words);
    if (r->operation != STATEMENT_VALUE)
        buffer_format(out, r->operation == STATEMENT_DIFFERENCE ? " less %s" : " over %s", r->side[1].words);
    if (r->quantity) {
        buffer_format(out, ": %s", r->quantity->title);
        return;
    }
    buffer_format(out, ": %s at %s", r->metric ? r->metric->title : "has a value", r->at.text);
    if (r->from.kind != PLACE_NONE)
        buffer_format(out, " less that at %s", r->from.text);
    if (*r->mode)
        buffer_format(out, ", %s", r->mode);
}

void statement_asked(const statement_rule *r, buffer *out)
{
    const double bound[] = {r->within, r->least, r->most};
    static const char *const words[] = {"within ", "at least ", "at most "};
    for (int i = 0, shown = 0; i < 3; i++) {
        if (isnan(bound[i]))
            continue;
        buffer_format(out, "%s%s", shown++ ? ", " : "", words[i]);
        buffer_number(out, bound[i]);
    }
}

void statement_ours(const statement_rule *r, const statement_finding *f, buffer *out)
{
    if (r->measure) {
        words_list(f->number, f->count, out);
        return;
    }
    words_score(f->mean, out);
    if (!isnan(f->low)) {
        buffer_add(out, " [");
        words_score(f->low, out);
        buffer_add(out, ", ");
        words_score(f->high, out);
        buffer_add(out, "]");
    }
    if (f->hollow)
        buffer_add(out, " hollow");
}

/* The first condition that decided. */
static const statement_finding *words_first(const statement_verdict *v, finding_state state)
{
    for (int i = 0; i < v->rules; i++)
        if (v->finding[i].state == state)
            return &v->finding[i];
    return NULL;
}

void statement_remark(const statement_told *t, buffer *out)
{
    const statement_verdict *v = &t->verdict;
    const statement_finding *open = words_first(v, FINDING_OPEN), *absent = words_first(v, FINDING_ABSENT);
    switch (v->outcome) {
    case STATEMENT_NOT_TESTABLE:
        buffer_add(out, *t->statement->untestable ? t->statement->untestable : "a premise fails at this scale");
        break;
    case STATEMENT_NOT_RUN:
        if (v->there == v->wanted && absent)
            buffer_add(out, absent->why);
        else
            buffer_format(out, "%d of %d runs are there", v->there, v->wanted);
        break;
    case STATEMENT_UNDECIDED:
        buffer_add(out, open ? open->why : "");
        if (v->needed)
            buffer_format(out, "; about %d seeds would decide", v->needed);
        else
            buffer_add(out, "; how many seeds would decide cannot be told");
        break;
    case STATEMENT_NOT_REPRODUCED:
        buffer_format(out, "%s", t->statement->rules > 1 ? "a condition fails" : "the condition fails");
        break;
    default:
        buffer_format(out, "%s", t->statement->rules > 1 ? "all conditions hold" : "the condition holds");
        break;
    }
}
