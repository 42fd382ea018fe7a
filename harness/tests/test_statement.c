/* Verdicts on made-up records: every outcome, and what must not change it. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "statement_fixture.h"
#include "stats.h"

#define NOPE_LEAST                                                                                                     \
    CLAIM_GRID CLAIM_HEAD "  - {of: {encoding: nope}, metric: exact_match, at: 2x, least: 0.9, theirs: .97}\n"
#define LEARNED_LESS                                                                                                   \
    CLAIM_GRID CLAIM_HEAD "  - {of: {encoding: nope}, less: {encoding: rope}, metric: exact_match, at: 2x, least: "    \
                          "0}\n"

static const double above[] = {0.95, 0.96, 0.97, 0.98, 0.96}, below[] = {0.1, 0.2, 0.1, 0.15, 0.12},
                    around[] = {0.80, 0.99, 0.93, 0.85, 0.96};

static const statement_verdict *verdict_of(claim_trial *t, const char *text, const double *nope)
{
    claim_good(t, text);
    claim_records(t, "nope", nope, 5);
    return claim_judge(t, t->records);
}

Test(statement, reproduced)
{
    claim_trial t;
    claim_open(&t);
    const statement_verdict *v = verdict_of(&t, NOPE_LEAST, above);
    const statement_finding *f = &v->finding[0];
    cr_assert_eq(v->outcome, STATEMENT_REPRODUCED);
    cr_assert(v->rules == 1 && f->state == FINDING_HOLDS && f->values == 5 && f->there == 5 && f->wanted == 5);
    cr_assert_float_eq(f->mean, 0.964, 1e-12);
    cr_assert(f->low > 0.9 && f->low < f->mean && f->high > f->mean && f->high <= 1);
    cr_assert(*f->why == '\0' && !f->hollow);
    claim_close(&t);
}

Test(statement, not_reproduced)
{
    claim_trial t;
    claim_open(&t);
    const statement_verdict *v = verdict_of(&t, NOPE_LEAST, below);
    cr_assert(v->outcome == STATEMENT_NOT_REPRODUCED && v->finding[0].state == FINDING_FAILS);
    cr_assert_lt(v->finding[0].high, 0.9);
    claim_close(&t);
}

/* The number of seeds is that of a t-test against the threshold, for the distance and the spread that were seen. */
Test(statement, undecided_with_the_seeds_that_would_decide)
{
    claim_trial t;
    claim_open(&t);
    const statement_verdict *v = verdict_of(&t, NOPE_LEAST, around);
    const statement_finding *f = &v->finding[0];
    double distance = fabs(stat_mean(around, 5) - 0.9) / stat_sd(around, 5);
    cr_assert(v->outcome == STATEMENT_UNDECIDED && f->state == FINDING_OPEN);
    cr_assert(f->low < 0.9 && f->high > 0.9);
    cr_assert_eq(v->needed, stat_pairs_needed(distance));
    cr_assert_gt(v->needed, 5);
    cr_assert_str_eq(f->why, "the interval holds the threshold");
    claim_close(&t);
}

Test(statement, not_run_and_partly_run)
{
    claim_trial t;
    claim_open(&t);
    claim_good(&t, NOPE_LEAST);
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_NOT_RUN && v->there == 0 && v->wanted == 5);
    cr_assert_str_eq(v->finding[0].why, "no run is there");
    v = claim_judge(&t, "/nowhere/at/all");
    cr_assert_eq(v->outcome, STATEMENT_NOT_RUN);
    claim_records(&t, "nope", above, 4); /* would decide, but one could have stopped here because of it */
    v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_NOT_RUN && v->there == 4 && v->finding[0].state == FINDING_ABSENT);
    cr_assert_str_eq(v->finding[0].why, "4 of 5 runs are there");
    cr_assert_float_eq(v->finding[0].mean, stat_mean(above, 4), 1e-12);
    claim_records(&t, "nope", above, 5);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_REPRODUCED);
    claim_close(&t);
}

/* Runs without a result end the waiting, but give no value: four good ones are fewer than the rule wants. */
Test(statement, diverged_runs_are_no_values)
{
    claim_trial t;
    claim_open(&t);
    claim_good(&t, NOPE_LEAST);
    claim_records(&t, "nope", above, 4);
    made_write(t.records, &(made_run){.encoding = "nope", .seed = 5, .status = RUN_DIVERGED, .message = "loss is nan"},
               NULL);
    const statement_verdict *v = claim_judge(&t, t.records);
    const statement_finding *f = &v->finding[0];
    cr_assert(v->outcome == STATEMENT_UNDECIDED && v->needed == 0);
    cr_assert(f->values == 4 && f->there == 5 && f->ended_badly == 1);
    cr_assert_str_eq(f->why, "4 values, the rule wants 5; 1 of 5 runs diverged or failed");
    claim_close(&t);
}

Test(statement, interrupted_runs_are_no_outcome)
{
    claim_trial t;
    claim_open(&t);
    claim_good(&t, NOPE_LEAST);
    claim_records(&t, "nope", above, 4);
    made_write(t.records, &(made_run){.encoding = "nope", .seed = 5, .status = RUN_INTERRUPTED}, NULL);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_NOT_RUN);
    claim_close(&t);
}

/* A length at which an encoding has no value decides nothing about a score, but can be asked for itself. */
Test(statement, undefined_points)
{
    const double none[] = {NAN, NAN, NAN, NAN, NAN};
    claim_trial t;
    claim_open(&t);
    claim_good(&t, CLAIM_GRID CLAIM_HEAD "  - {of: {encoding: learned}, metric: exact_match, at: 2x, least: 0.5}\n");
    claim_records(&t, "learned", none, 5);
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_UNDECIDED && v->finding[0].undefined == 5 && isnan(v->finding[0].mean));
    cr_assert_str_eq(v->finding[0].why, "0 values, the rule wants 5; 5 of 5 have no value there");
    claim_good(&t, CLAIM_GRID CLAIM_HEAD "  - {of: {encoding: learned}, metric: has_value, at: 2x, most: 0}\n"
                                         "  - {of: {encoding: learned}, metric: has_value, at: 1x, least: 1}\n");
    v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_REPRODUCED && v->wanted == 5 && v->there == 5); /* each run once */
    cr_assert(v->finding[0].mean == 0 && v->finding[1].mean == 1);
    claim_close(&t);
}

Test(statement, hollow_values_count_and_are_told)
{
    claim_trial t;
    claim_open(&t);
    claim_good(&t, NOPE_LEAST);
    for (int seed = 1; seed <= 5; seed++)
        made_write(t.records,
                   &(made_run){.encoding = "nope", .seed = seed, .score = {1, above[seed - 1], 1}, .flag = "clamp"},
                   NULL);
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_REPRODUCED && v->finding[0].hollow);
    claim_close(&t);
}

/* Seeds are paired: the difference is the same for all although the values vary more than it is large. */
Test(statement, differences_and_ratios_are_paired)
{
    const double one[] = {0.30, 0.50, 0.70, 0.90, 0.40}, other[] = {0.25, 0.45, 0.65, 0.85, 0.35};
    claim_trial t;
    claim_open(&t);
    claim_good(&t, LEARNED_LESS);
    claim_records(&t, "nope", one, 5);
    claim_records(&t, "rope", other, 5);
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_REPRODUCED && v->wanted == 10 && v->there == 10);
    cr_assert(v->finding[0].wanted == 10 && v->finding[0].values == 5);
    cr_assert_float_eq(v->finding[0].mean, 0.05, 1e-9);
    cr_assert_float_eq(v->finding[0].side[0], 0.56, 1e-12);
    cr_assert_float_eq(v->finding[0].side[1], 0.51, 1e-12);
    claim_good(&t, CLAIM_GRID CLAIM_HEAD
               "  - {of: {encoding: nope}, over: {encoding: rope}, metric: exact_match, at: 2x, most: 1}\n");
    v = claim_judge(&t, t.records);
    double ratio = 0;
    for (int i = 0; i < 5; i++)
        ratio += one[i] / other[i] / 5;
    cr_assert_eq(v->outcome, STATEMENT_NOT_REPRODUCED);
    cr_assert_float_eq(v->finding[0].mean, ratio, 1e-12);
    claim_close(&t);
}

/* There is no ratio to 0. */
Test(statement, ratios_to_zero_are_no_values)
{
    const double zero[] = {0.5, 0, 0.5, 0.5, 0.5};
    claim_trial t;
    claim_open(&t);
    claim_good(&t, CLAIM_GRID CLAIM_HEAD
               "  - {of: {encoding: nope}, over: {encoding: rope}, metric: exact_match, at: 2x, least: 1}\n");
    claim_records(&t, "nope", above, 5);
    claim_records(&t, "rope", zero, 5);
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_UNDECIDED && v->finding[0].values == 4 && v->finding[0].undefined == 1);
    claim_close(&t);
}

Test(statement, a_change_between_lengths)
{
    claim_trial t;
    claim_open(&t);
    const statement_verdict *v =
        verdict_of(&t,
                   CLAIM_GRID CLAIM_HEAD
                   "  - {of: {encoding: nope}, metric: exact_match, at: 2x, from: 1x, least: -0.1, most: 0}\n",
                   above);
    cr_assert_eq(v->outcome, STATEMENT_REPRODUCED);
    cr_assert_float_eq(v->finding[0].mean, -0.036, 1e-12);
    claim_good(&t, CLAIM_GRID CLAIM_HEAD "  - {of: {encoding: nope}, metric: exact_match, at: \"64\", most: 0.5}\n");
    cr_assert_eq(claim_judge(&t, t.records)->finding[0].mean, 0.5);
    claim_close(&t);
}

/* One that fails decides, whatever the others wait for; else what is not run comes before what is open. */
Test(statement, conditions_together)
{
    claim_trial t;
    claim_open(&t);
    const statement_verdict *v =
        verdict_of(&t, NOPE_LEAST "  - {of: {encoding: rope}, metric: exact_match, at: 2x, least: 0.9}\n", below);
    cr_assert(v->outcome == STATEMENT_NOT_REPRODUCED && v->finding[1].state == FINDING_ABSENT);
    claim_records(&t, "nope", around, 5);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_NOT_RUN);
    claim_records(&t, "rope", above, 5);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_UNDECIDED);
    claim_records(&t, "nope", above, 5);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_REPRODUCED);
    claim_close(&t);
}

/* A statement about what networks do with what they have learned says nothing where they have not. */
Test(statement, premises_come_first)
{
    static const char text[] =
        NOPE_LEAST "  - {of: {encoding: rope}, metric: exact_match, at: 2x, least: 0.9, premise: true}\n";
    claim_trial t;
    claim_open(&t);
    cr_assert_eq(verdict_of(&t, text, below)->outcome, STATEMENT_NOT_RUN);
    claim_records(&t, "rope", around, 5);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_UNDECIDED);
    claim_records(&t, "rope", below, 5);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_NOT_TESTABLE);
    claim_records(&t, "rope", above, 5);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_NOT_REPRODUCED);
    claim_records(&t, "nope", above, 5);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_REPRODUCED);
    claim_close(&t);
}

/* Records of other runs in the folder, or a copy of it under another name, change nothing. */
Test(statement, the_same_verdict_from_a_copied_folder)
{
    claim_trial t;
    char copy[PATH_MAX], command[3 * PATH_MAX];
    claim_open(&t);
    statement_finding first = verdict_of(&t, NOPE_LEAST, around)->finding[0];
    made_write(t.records, &(made_run){.encoding = "nope", .seed = 1, .lr = 0.5, .score = {0, 0, 0}}, NULL);
    made_write(t.records, &(made_run){.encoding = "alibi", .seed = 1, .score = {0, 0, 0}}, NULL);
    scratch_path(&t.folder, "copy", copy);
    snprintf(command, sizeof command, "cp -r %s %s", t.records, copy);
    cr_assert_eq(system(command), 0);
    statement_finding second = claim_judge(&t, copy)->finding[0];
    cr_assert(first.mean == second.mean && first.low == second.low && first.high == second.high);
    cr_assert(first.needed == second.needed && first.state == second.state);
    claim_close(&t);
}

Test(statement, records_of_two_versions_of_the_task_are_not_averaged)
{
    claim_trial t;
    claim_open(&t);
    claim_good(&t, NOPE_LEAST);
    for (int seed = 1; seed <= 5; seed++)
        made_write(t.records,
                   &(made_run){.encoding = "nope", .seed = seed, .score = {1, 1, 1}, .task_version = 1 + seed / 5},
                   NULL);
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert_eq(v->outcome, STATEMENT_UNDECIDED);
    cr_assert_str_eq(v->finding[0].why, "records of versions 1 to 2 of the task");
    claim_close(&t);
}

Test(statement, a_record_that_cannot_be_read_is_told_and_the_others_count)
{
    claim_trial t;
    char path[PATH_MAX];
    claim_open(&t);
    claim_good(&t, NOPE_LEAST);
    claim_records(&t, "nope", above, 5);
    scratch_write(&t.folder, "records/runs/bad.json", "{", 1, path);
    statement_evidence v;
    const char *dir = t.records;
    cr_assert_lt(statement_evidence_load(&dir, 1, &v, &t.e), 0);
    cr_assert(strstr(t.e.message, "bad.json"), "%s", t.e.message);
    cr_assert(v.count == 1 && v.folder[0].count == 5);
    statement_evidence_free(&v);
    claim_close(&t);
}

Test(statement, untestable_says_why)
{
    claim_trial t;
    claim_open(&t);
    claim_good(&t, "claims:\n- {id: T1, title: A, statement: B, source: C, published: D, untestable: too large}\n");
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_NOT_TESTABLE);
    claim_close(&t);
}

/* Only the runs that a claim needs are done: of the grid of 15 the five of one encoding. */
Test(statement, runs_that_a_claim_needs)
{
    claim_trial t;
    claim_open(&t);
    claim_good(&t, NOPE_LEAST);
    cr_assert_eq(statement_keep_runs(&t.group, "\1", &t.e), 5);
    cr_assert(t.group.spec.count == 5 && t.group.spec.rest == 10);
    for (int i = 0; i < 5; i++)
        cr_assert(strcmp(t.group.spec.runs[i].encoding, "nope") == 0 && t.group.spec.runs[i].seed == i + 1);
    claim_close(&t);
}

/* ------------------------------------------------------------------------------------------------ shown */

Test(statement, shown_as_text_json_and_page)
{
    claim_trial t;
    buffer b = BUFFER_INIT;
    document page;
    claim_open(&t);
    verdict_of(&t, NOPE_LEAST, around);
    statement_told told = {&t.group, &t.group.statement[0], t.verdict};
    statement_text(&told, 1, 0, &b);
    cr_assert(
        strstr(buffer_text(&b), "T1             undecided       A title (the interval holds the threshold; about "));
    cr_assert(strstr(buffer_text(&b), "1 claim: 1 undecided"), "%s", buffer_text(&b));
    buffer_free(&b);
    statement_text(&told, 1, 1, &b);
    cr_assert(strstr(buffer_text(&b), "asked: at least 0.9; ours: 0.9060 ["), "%s", buffer_text(&b));
    cr_assert(strstr(buffer_text(&b), ", 5 seeds; theirs: .97 (the interval holds the threshold)"), "%s",
              buffer_text(&b));
    buffer_free(&b);
    json_t *json = statement_json(&told, 1), *claim = json_array_get(json_object_get(json, "claims"), 0);
    json_t *rule = json_array_get(json_object_get(claim, "rule"), 0);
    cr_assert_str_eq(json_string_value(json_object_get(claim, "verdict")), "undecided");
    cr_assert_eq(json_integer_value(json_object_get(claim, "seeds_needed")), t.verdict.needed);
    cr_assert_eq(json_real_value(json_object_get(rule, "ours")), t.verdict.finding[0].mean);
    cr_assert_eq(json_real_value(json_array_get(json_object_get(rule, "interval"), 1)), t.verdict.finding[0].high);
    json_decref(json);
    statement_document(&told, 1, &page);
    doc_md(&page, &b);
    cr_assert(strstr(buffer_text(&b), "| T1 | undecided (about "), "%s", buffer_text(&b));
    cr_assert(strstr(buffer_text(&b), ") | A title |"), "%s", buffer_text(&b));
    cr_assert(strstr(buffer_text(&b), "`posbench claims --run T1`"));
    doc_free(&page);
    buffer_free(&b);
    claim_close(&t);
}
