/* statement_show.c - verdicts for a terminal and for programs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "statement.h"

enum { SHOWN_OUTCOMES = STATEMENT_NOT_RUN + 1 };

/* ------------------------------------------------------------------------------------------------ a terminal */

static void shown_condition(const statement_rule *r, const statement_finding *f, buffer *out)
{
    buffer_format(out, "  %-8s", finding_state_name(f->state));
    statement_rule_words(r, out);
    buffer_add(out, "\n          asked: ");
    statement_asked(r, out);
    buffer_add(out, "; ours: ");
    statement_ours(r, f, out);
    if (!r->measure)
        buffer_format(out, ", %d seed%s", f->values, f->values == 1 ? "" : "s");
    if (*r->theirs)
        buffer_format(out, "; theirs: %s", r->theirs);
    if (*f->why)
        buffer_format(out, " (%s)", f->why);
    buffer_add(out, "\n");
}

static void shown_details(const statement_told *t, buffer *out)
{
    const statement *s = t->statement;
    buffer_format(out, "  %s\n  Source: %s\n  Published: %s\n", s->words, s->source, s->published);
    for (int i = 0; i < s->rules; i++)
        shown_condition(&s->rule[i], &t->verdict.finding[i], out);
    if (*s->refuted)
        buffer_format(out, "  Refuted by: %s\n", s->refuted);
    if (t->verdict.wanted > 0)
        buffer_format(out, "  Runs: %s, in %s (posbench claims --run %s)\n", t->group->grid, t->group->results, s->id);
    buffer_add(out, "\n");
}

void statement_text(const statement_told *t, int count, int details, buffer *out)
{
    int counts[SHOWN_OUTCOMES] = {0};
    for (int i = 0; i < count; i++) {
        const statement *s = t[i].statement;
        counts[t[i].verdict.outcome]++;
        buffer_format(out, "%-14s %-15s %s", s->id, statement_outcome_name(t[i].verdict.outcome), s->title);
        if (details || t[i].verdict.outcome == STATEMENT_UNDECIDED) {
            buffer_add(out, details ? "\n  Verdict: " : " (");
            statement_remark(&t[i], out);
            buffer_add(out, details ? "" : ")");
        } else if (t[i].verdict.outcome == STATEMENT_NOT_RUN && t[i].verdict.there) {
            buffer_add(out, " (");
            statement_remark(&t[i], out);
            buffer_add(out, ")");
        }
        buffer_add(out, "\n");
        if (details)
            shown_details(&t[i], out);
    }
    buffer_format(out, "%s%d claim%s:", details ? "" : "\n", count, count == 1 ? "" : "s");
    for (int o = 0, shown = 0; o < SHOWN_OUTCOMES; o++)
        if (counts[o])
            buffer_format(out, "%s %d %s", shown++ ? "," : "", counts[o], statement_outcome_name((statement_outcome)o));
    buffer_add(out, "\n");
}

/* ------------------------------------------------------------------------------------------------ JSON */

static json_t *shown_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *shown_numbers(const double *x, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, shown_number(x[i]));
    return list;
}

static json_t *shown_text(const buffer *b)
{
    return b->length ? json_string(buffer_text(b)) : json_null();
}

static json_t *shown_string(const char *text)
{
    return *text ? json_string(text) : json_null();
}

static json_t *shown_after(const statement_after *a)
{
    if (!a->given)
        return json_null();
    return json_pack("{s:f, s:s, s:i, s:o}", "factor", a->factor, "method", a->method, "steps", a->steps,
                     "task_options", shown_string(a->task_options));
}

/* What is compared, of a condition on runs. */
static void shown_quantity(const statement_rule *r, json_t *o)
{
    const char *name = r->quantity ? "" : r->metric ? r->metric->name : "has_value";
    json_object_set_new(o, "metric", shown_string(name));
    for (int i = 0; i < QUANTITY_KINDS; i++) {
        const quantity_kind *kind = quantity_kind_at(i);
        json_object_set_new(o, kind->word, shown_string(r->kind == kind && r->quantity ? r->quantity->name : ""));
    }
    json_object_set_new(o, "after", json_pack("[o]", shown_after(&r->side[0].after)));
    if (r->operation != STATEMENT_VALUE)
        json_array_append_new(json_object_get(o, "after"), shown_after(&r->side[1].after));
}

static json_t *shown_rule(const statement_rule *r, const statement_finding *f)
{
    buffer words = BUFFER_INIT;
    statement_rule_words(r, &words);
    json_t *o = json_pack("{s:o, s:s, s:o, s:o, s:o, s:o}", "condition", shown_text(&words), "state",
                          finding_state_name(f->state), "theirs", shown_string(r->theirs), "least",
                          shown_number(r->least), "most", shown_number(r->most), "within", shown_number(r->within));
    buffer_free(&words);
    if (o && r->measure) {
        json_object_set_new(o, "measure", json_string(r->measure->name));
        json_object_set_new(o, "ours", shown_numbers(f->number, f->count));
    } else if (o) {
        shown_quantity(r, o);
        json_object_set_new(o, "ours", shown_number(f->mean));
        json_object_set_new(o, "interval", f->values > 1 ? shown_numbers((double[]){f->low, f->high}, 2) : json_null());
        json_object_set_new(o, "sides", shown_numbers(f->side, r->operation == STATEMENT_VALUE ? 1 : 2));
        json_object_set_new(o, "seeds", json_integer(f->values));
        json_object_set_new(o, "seeds_needed", f->needed ? json_integer(f->needed) : json_null());
        json_object_set_new(o, "runs", json_integer(f->wanted));
        json_object_set_new(o, "runs_there", json_integer(f->there));
        json_object_set_new(o, "runs_diverged_or_failed", json_integer(f->ended_badly));
        json_object_set_new(o, "runs_undefined", json_integer(f->undefined));
        json_object_set_new(o, "runs_lacking", json_integer(f->lacking));
        json_object_set_new(o, "hollow", json_boolean(f->hollow));
    }
    if (o)
        json_object_set_new(o, "premise", json_boolean(r->premise));
    if (o)
        json_object_set_new(o, "why", shown_string(f->why));
    return o;
}

/* ["a", "b"] from "a,b" */
static json_t *shown_cites(const char *keys)
{
    json_t *list = json_array();
    for (size_t length; *keys; keys += length + (keys[length] == ',')) {
        length = strcspn(keys, ",");
        json_array_append_new(list, json_stringn(keys, length));
    }
    return list;
}

static json_t *shown_claim(const statement_told *t)
{
    const statement *s = t->statement;
    buffer remark = BUFFER_INIT;
    json_t *rules = json_array();
    for (int i = 0; i < s->rules; i++)
        json_array_append_new(rules, shown_rule(&s->rule[i], &t->verdict.finding[i]));
    statement_remark(t, &remark);
    json_t *o = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:i, s:i, s:o, s:o}", "id", s->id, "title", s->title,
        "verdict", statement_outcome_name(t->verdict.outcome), "statement", s->words, "source", s->source, "cites",
        shown_cites(s->cites), "published", s->published, "refuted_by", shown_string(s->refuted), "remark",
        shown_text(&remark), "results", shown_string(t->group->results), "runs", t->verdict.wanted, "runs_there", t->verdict.there, "seeds_needed",
        t->verdict.outcome == STATEMENT_UNDECIDED && t->verdict.needed ? json_integer(t->verdict.needed) : json_null(),
        "rule", rules);
    buffer_free(&remark);
    return o;
}

json_t *statement_json(const statement_told *t, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        if (json_array_append_new(list, shown_claim(&t[i])) < 0) {
            json_decref(list);
            return NULL;
        }
    return json_pack("{s:s, s:o}", "schema", "posbench-claims/1", "claims", list);
}
