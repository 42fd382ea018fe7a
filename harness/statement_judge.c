/* statement_judge.c - from records, or from measurements, to a verdict. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "statement.h"
#include "stats.h"

/* ------------------------------------------------------------------------------------------------ a mean */

/* What the quantity can be, so that no interval says more. */
static void judge_bounds(const statement_rule *r, double *low, double *high)
{
    double least = r->quantity ? r->quantity->low : r->metric ? r->metric->low : 0;
    double most = r->quantity ? r->quantity->high : r->metric ? r->metric->high : 1;
    int differences = (r->operation == STATEMENT_DIFFERENCE) + (r->from.kind != PLACE_NONE);
    for (int i = 0; i < differences; i++) {
        double width = most - least;
        least = -width;
        most = width;
    }
    if (r->operation == STATEMENT_RATIO) {
        least = least < 0 ? -INFINITY : 0;
        most = INFINITY;
    }
    *low = least;
    *high = most;
}

/* Whether low .. high is on the side of the thresholds that is asked for, or on the other. */
static finding_state judge_side(const statement_rule *r, double low, double high)
{
    if (high < r->least || low > r->most)
        return FINDING_FAILS;
    return !(low < r->least) && !(high > r->most) ? FINDING_HOLDS : FINDING_OPEN;
}

/* Values that a test against the nearer threshold needs to find a difference like the one seen (stat_pairs_needed). */
static int judge_needed(const statement_rule *r, double mean, double sd, int n)
{
    double distance = INFINITY;
    if (!isnan(r->least))
        distance = fabs(mean - r->least);
    if (!isnan(r->most))
        distance = fmin(distance, fabs(mean - r->most));
    int needed = sd > 0 ? stat_pairs_needed(distance / sd) : 0;
    return needed >= STAT_PAIRS_MAX || needed == 0 ? 0 : needed > n ? needed : n + 1;
}

static uint64_t judge_stream(const statement *s, int rule)
{
    char name[64];
    snprintf(name, sizeof name, "claim %s %d", s->id, rule);
    return rng_hash(name);
}

static void judge_mean(const statement *s, int rule, const double *x, int n, statement_finding *f)
{
    const statement_rule *r = &s->rule[rule];
    double least, most;
    f->values = n;
    if (n == 0)
        return;
    f->mean = stat_mean(x, n);
    if (n < 2)
        return;
    judge_bounds(r, &least, &most);
    stat_bootstrap(x, n, judge_stream(s, rule), &f->low, &f->high);
    f->low = fmax(f->low, least);
    f->high = fmin(f->high, most);
    if (n < s->seeds)
        return;
    f->state = judge_side(r, f->low, f->high);
    if (f->state == FINDING_OPEN)
        f->needed = judge_needed(r, f->mean, stat_sd(x, n), n);
}

/* ------------------------------------------------------------------------------------------------ a condition on runs
 */

/* The values of both sides on the seeds that both have, and what became of the runs. */
typedef struct judge_values {
    int n, versions[2]; /* the least and the greatest version of the task */
    double *x, *side[2];
    const char *reason; /* why the first of those without a value has none; "": not known */
} judge_values;

static int judge_open(judge_values *v, int room)
{
    *v = (judge_values){.x = calloc((size_t)room + 1, sizeof *v->x), .reason = ""};
    for (int i = 0; i < 2; i++)
        v->side[i] = calloc((size_t)room + 1, sizeof *v->side[i]);
    return v->x && v->side[0] && v->side[1] ? 0 : -1;
}

static void judge_close(judge_values *v)
{
    free(v->x);
    free(v->side[0]);
    free(v->side[1]);
}

static void judge_count(const statement_value *value, judge_values *v, statement_finding *f)
{
    f->wanted++;
    f->there += value->state != STATEMENT_VALUE_ABSENT && value->state != STATEMENT_VALUE_LACKING;
    f->lacking += value->state == STATEMENT_VALUE_LACKING;
    f->ended_badly += value->state == STATEMENT_VALUE_ENDED;
    f->undefined += value->state == STATEMENT_VALUE_UNDEFINED;
    if (value->state == STATEMENT_VALUE_UNDEFINED && !*v->reason)
        v->reason = value->reason;
    if (value->state != STATEMENT_VALUE_THERE)
        return;
    f->hollow |= value->hollow;
    if (v->versions[0] == 0 || value->version < v->versions[0])
        v->versions[0] = value->version;
    if (value->version > v->versions[1])
        v->versions[1] = value->version;
}

static double judge_combine(statement_operation operation, double one, double other)
{
    switch (operation) {
    case STATEMENT_DIFFERENCE:
        return stat_difference(one, other);
    case STATEMENT_RATIO:
        return one / other;
    default:
        return one;
    }
}

static void judge_collect(const statement_evidence *e, const statement_group *g, const statement_rule *r,
                          judge_values *v, statement_finding *f)
{
    const statement_side *a = &r->side[0], *b = &r->side[1];
    for (int i = 0, j = 0; i < a->count; i++) {
        statement_value one = statement_value_of(statement_record(e, &g->spec.runs[a->run[i]]), r, 0);
        statement_value other = {.state = STATEMENT_VALUE_THERE, .value = NAN};
        int seed = g->spec.runs[a->run[i]].seed;
        judge_count(&one, v, f);
        if (r->operation != STATEMENT_VALUE) {
            while (j < b->count && g->spec.runs[b->run[j]].seed < seed)
                j++;
            if (j == b->count || g->spec.runs[b->run[j]].seed != seed)
                continue; /* a seed of one side alone */
            other = statement_value_of(statement_record(e, &g->spec.runs[b->run[j]]), r, 1);
            judge_count(&other, v, f);
        }
        if (one.state != STATEMENT_VALUE_THERE || other.state != STATEMENT_VALUE_THERE)
            continue;
        double x = judge_combine(r->operation, one.value, other.value);
        if (!isfinite(x)) { /* a ratio to 0 */
            f->undefined++;
            continue;
        }
        v->side[0][v->n] = one.value;
        v->side[1][v->n] = other.value;
        v->x[v->n++] = x;
    }
}

/* Why an open or absent condition is so. */
static void judge_explain(const statement *s, const statement_rule *r, const judge_values *v, statement_finding *f)
{
    if (f->state == FINDING_ABSENT && f->lacking) {
        snprintf(f->why, sizeof f->why, "%d of %d records have no \"%s\"; runs without it must be done anew",
                 f->lacking, f->wanted, r->kind ? r->kind->section : "extension");
        return;
    }
    if (f->state == FINDING_ABSENT) {
        snprintf(f->why, sizeof f->why, f->there ? "%d of %d runs are there" : "no run is there", f->there, f->wanted);
        return;
    }
    if (f->state != FINDING_OPEN)
        return;
    size_t used = 0;
    if (f->values < s->seeds)
        used += (size_t)snprintf(f->why, sizeof f->why, "%d value%s, the rule wants %d", f->values,
                                 f->values == 1 ? "" : "s", s->seeds);
    else if (v->versions[0] != v->versions[1])
        used += (size_t)snprintf(f->why, sizeof f->why, "records of versions %d to %d of the task", v->versions[0],
                                 v->versions[1]);
    else
        used += (size_t)snprintf(f->why, sizeof f->why, "the interval holds the threshold");
    if (f->ended_badly)
        used += (size_t)snprintf(f->why + used, sizeof f->why - used, "; %d of %d runs diverged or failed",
                                 f->ended_badly, f->wanted);
    if (f->undefined)
        used += (size_t)snprintf(f->why + used, sizeof f->why - used, "; %d of %d have no value there", f->undefined,
                                 f->wanted);
    if (f->undefined && *v->reason)
        snprintf(f->why + used, sizeof f->why - used, ": %.120s", v->reason);
}

static int judge_runs(const statement_group *g, const statement *s, int rule, const statement_evidence *e,
                      statement_finding *f)
{
    const statement_rule *r = &s->rule[rule];
    judge_values v;
    int status = judge_open(&v, r->side[0].count);
    if (status == 0) {
        judge_collect(e, g, r, &v, f);
        judge_mean(s, rule, v.x, v.n, f);
        for (int i = 0; i < 2 && v.n; i++)
            f->side[i] = stat_mean(v.side[i], v.n);
        if (f->there < f->wanted)
            f->state = FINDING_ABSENT;
        else if (v.versions[0] != v.versions[1])
            f->state = FINDING_OPEN;
        judge_explain(s, r, &v, f);
    }
    judge_close(&v);
    return status;
}

/* ------------------------------------------------------------------------------------------------ a measurement */

/* How far a number is on the wrong side; 0 or less: it is on the right one. */
static double judge_excess(const statement_rule *r, int i, double value)
{
    double excess = -INFINITY;
    if (!isnan(r->least))
        excess = fmax(excess, r->least - value);
    if (!isnan(r->most))
        excess = fmax(excess, value - r->most);
    if (!isnan(r->within))
        excess = fmax(excess, fabs(value - r->number[i]) - r->within);
    return isnan(value) ? INFINITY : excess;
}

static int judge_measure(const statement_group *g, const statement *s, int rule, const registry *known,
                         statement_finding *f, error *e)
{
    const statement_rule *r = &s->rule[rule];
    double worst = -INFINITY;
    if (r->measure->measure(r->input, known, f->number, &f->count, e) < 0)
        return error_prefix(e, "%s:%d: claim %s, %s", g->path, r->line, s->id, r->measure->name);
    if (!isnan(r->within) && f->count != r->numbers) {
        f->state = FINDING_FAILS;
        snprintf(f->why, sizeof f->why, "%d numbers here, %d there", f->count, r->numbers);
        return 0;
    }
    for (int i = 0; i < f->count; i++) {
        double excess = judge_excess(r, i, f->number[i]);
        if (excess > worst) {
            worst = excess;
            f->worst = i;
        }
    }
    f->state = worst <= 0 ? FINDING_HOLDS : FINDING_FAILS;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ the verdict */

/* The worst of some conditions: fails before not run before open. */
static finding_state judge_together(const statement *s, const statement_verdict *v, int premises)
{
    int count[FINDING_ABSENT + 1] = {0};
    for (int i = 0; i < v->rules; i++)
        count[v->finding[i].state] += s->rule[i].premise == premises;
    return count[FINDING_FAILS]    ? FINDING_FAILS
           : count[FINDING_ABSENT] ? FINDING_ABSENT
           : count[FINDING_OPEN]   ? FINDING_OPEN
                                   : FINDING_HOLDS;
}

/* Values that decide all open ones; 0 as soon as one is open that nobody can tell. */
static int judge_needed_by_all(const statement_verdict *v)
{
    int needed = 0;
    for (int i = 0; i < v->rules; i++) {
        const statement_finding *f = &v->finding[i];
        if (f->state == FINDING_OPEN && f->needed == 0)
            return 0;
        if (f->state == FINDING_OPEN && f->needed > needed)
            needed = f->needed;
    }
    return needed;
}

/* Nothing follows from the other conditions before all premises hold. */
static void judge_outcome(const statement *s, statement_verdict *v)
{
    static const statement_outcome outcomes[] = {[FINDING_HOLDS] = STATEMENT_REPRODUCED,
                                                 [FINDING_FAILS] = STATEMENT_NOT_REPRODUCED,
                                                 [FINDING_OPEN] = STATEMENT_UNDECIDED,
                                                 [FINDING_ABSENT] = STATEMENT_NOT_RUN};
    finding_state premises = judge_together(s, v, 1);
    if (*s->untestable || premises == FINDING_FAILS)
        v->outcome = STATEMENT_NOT_TESTABLE;
    else
        v->outcome = outcomes[premises == FINDING_HOLDS ? judge_together(s, v, 0) : premises];
    v->needed = judge_needed_by_all(v);
}

/* Runs of all conditions, each once. -1: no memory. */
static int judge_count_runs(const statement_group *g, const statement *s, const statement_evidence *e,
                            statement_verdict *v)
{
    char *seen = calloc((size_t)g->spec.count + 1, 1);
    for (int i = 0; seen && i < 2 * s->rules; i++) {
        const statement_side *side = &s->rule[i / 2].side[i % 2];
        for (int n = 0; n < side->count; n++) {
            if (seen[side->run[n]])
                continue;
            seen[side->run[n]] = 1;
            v->wanted++;
            v->there += statement_record(e, &g->spec.runs[side->run[n]]) != NULL;
        }
    }
    int status = seen ? 0 : -1;
    free(seen);
    return status;
}

int statement_judge(const statement_group *g, const statement *s, const statement_evidence *v, const registry *r,
                    statement_verdict *out, error *e)
{
    int status = 0;
    *out = (statement_verdict){.rules = s->rules, .finding = calloc((size_t)s->rules + 1, sizeof *out->finding)};
    if (!out->finding)
        return error_set(e, ERROR_ENVIRONMENT, "out of memory");
    for (int i = 0; i < s->rules && status == 0; i++) {
        statement_finding *f = &out->finding[i];
        f->state = FINDING_OPEN;
        f->mean = f->low = f->high = f->side[0] = f->side[1] = NAN;
        if (s->rule[i].measure)
            status = judge_measure(g, s, i, r, f, e);
        else if (judge_runs(g, s, i, v, f) < 0)
            status = error_set(e, ERROR_ENVIRONMENT, "out of memory");
    }
    if (status == 0 && judge_count_runs(g, s, v, out) < 0)
        status = error_set(e, ERROR_ENVIRONMENT, "out of memory");
    judge_outcome(s, out);
    return status;
}

void statement_verdict_free(statement_verdict *v)
{
    free(v->finding);
    *v = (statement_verdict){0};
}
