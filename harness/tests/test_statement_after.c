/* Rules on what records hold besides their evaluation, on made-up ones: tests after training at longer lengths, and
 * what positions met in training. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "statement_fixture.h"
#include "stats.h"

#define LONGER_GRID                                                                                                    \
    "grid:\n  encoding: rope\n  task: passkey(digits=3)\n  seeds: 5\n"                                                 \
    "  train: {len: 16, min_len: 4, warmup: 3, steps: 30}\n  eval: {ratios: [1, 2, 4]}\n"                              \
    "  extend: {methods: [none, interpolate], factors: [2, 4], steps: [0, 50], task_options: [depth=0, depth=1]}\n"
#define LONGER_SETTINGS                                                                                                \
    "extend.methods=interpolate;none|extend.factors=2;4|extend.steps=0;50|extend.task_options=depth=0;depth=1"
#define LONGER_ONE(condition) LONGER_GRID CLAIM_HEAD "  - {" condition "}\n"

/* Interpolated less plain, both after 50 steps; plain has one value more for itself. */
#define LONGER_BOTH                                                                                                    \
    "of: {encoding: rope, after: {method: interpolate}}, less: {encoding: rope, after: {method: none}}, "              \
    "after: {factor: 2, steps: 50}, metric: exact_match, at: 2x, "

enum { LONGER_SEEDS = 5, LONGER_ROWS_MAX = 48 };
static const double longer_ahead[LONGER_SEEDS] = {0.8, 0.82, 0.79, 0.81, 0.8},
                    longer_spread[LONGER_SEEDS] = {0.3, 0.7, 0.55, 0.35, 0.65};

typedef struct longer_rows {
    int count;
    run_extension row[LONGER_ROWS_MAX];
} longer_rows;

/* status: "ok", or why there is no value. */
static void longer_add(longer_rows *r, double factor, const char *method, const char *options, int steps, int len,
                       double value, const char *status)
{
    run_extension *x = &r->row[r->count++];
    int is_ok = strcmp(status, "ok") == 0;
    *x = (run_extension){.factor = factor,
                         .steps = steps,
                         .tokens = 100 * steps,
                         .bin = {len, len, len / 16.0},
                         .value = is_ok ? value : NAN,
                         .n = is_ok ? 256 : 0};
    snprintf(x->method, sizeof x->method, "%s", method);
    snprintf(x->task_options, sizeof x->task_options, "%s", options);
    snprintf(x->metric, sizeof x->metric, "exact_match");
    snprintf(x->mode, sizeof x->mode, "teacher_forced");
    snprintf(x->status, sizeof x->status, "%s", status);
    snprintf(x->reason, sizeof x->reason, "%s", is_ok ? "" : "no member of the stack has it");
}

/* One test of a pair: 1 at the training length, `value` at the longer one, under depth=1 half of it. */
static void longer_test(longer_rows *r, double factor, const char *method, int steps, double value, const char *status)
{
    int is_ok = strcmp(status, "ok") == 0;
    longer_add(r, factor, method, "", steps, 16, 1, status);
    longer_add(r, factor, method, "", steps, (int)(16 * factor), value, status);
    for (int i = 0; is_ok && i < 2; i++) /* what has no value has no rows under options */
        longer_add(r, factor, method, i ? "depth=1" : "depth=0", steps, (int)(16 * factor), i ? value / 2 : value,
                   status);
}

static void longer_write(claim_trial *t, int seed, const longer_rows *rows, char *path)
{
    longer_rows copy = *rows;
    made_write(t->records,
               &(made_run){.encoding = "rope",
                           .task = "passkey(digits=3)",
                           .seed = seed,
                           .score = {1, 0.1, 0.05},
                           .extended = copy.row,
                           .extended_count = copy.count,
                           .settings = LONGER_SETTINGS},
               path);
}

/* Both methods at 2x: plain 0.5 after 50 steps, interpolated score[seed - 1]; before them 0 and 0.25. At 4x and after 0
 * steps there is what must not be mistaken for it. */
static void longer_records(claim_trial *t, const double *score, int count, const char *status)
{
    for (int seed = 1; seed <= count; seed++) {
        longer_rows r = {0};
        longer_test(&r, 2, "interpolate", 0, 0.25, "ok");
        longer_test(&r, 2, "interpolate", 50, score[seed - 1], status);
        longer_test(&r, 2, "none", 0, 0, "ok");
        longer_test(&r, 2, "none", 50, 0.5, "ok");
        longer_test(&r, 4, "interpolate", 50, 0, "ok");
        longer_test(&r, 4, "none", 50, 1, "ok");
        longer_write(t, seed, &r, NULL);
    }
}

Test(statement_after, two_methods_of_the_same_runs)
{
    claim_trial t;
    claim_open(&t);
    claim_good(&t, LONGER_ONE(LONGER_BOTH "least: 0"));
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_NOT_RUN && v->wanted == 5 && v->there == 0); /* each run once */
    longer_records(&t, longer_ahead, 5, "ok");
    v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_REPRODUCED && v->wanted == 5 && v->there == 5);
    cr_assert(v->finding[0].values == 5 && v->finding[0].wanted == 10);
    cr_assert_float_eq(v->finding[0].mean, stat_mean(longer_ahead, 5) - 0.5, 1e-12);
    cr_assert_float_eq(v->finding[0].side[1], 0.5, 1e-12);
    claim_good(&t, LONGER_ONE(LONGER_BOTH "most: 0"));
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_NOT_REPRODUCED);
    longer_records(&t, longer_spread, 5, "ok");
    v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_UNDECIDED && v->needed > 5);
    cr_assert_str_eq(v->finding[0].why, "the interval holds the threshold");
    claim_close(&t);
}

Test(statement_after, each_key_chooses)
{
    static const struct {
        const char *condition;
        double mean;
    } cases[] = {
        {"of: {encoding: rope}, after: {factor: 2, method: interpolate, steps: 0}, metric: exact_match, at: 2x", 0.25},
        {"of: {encoding: rope}, after: {factor: 2, method: none, steps: 50}, metric: exact_match, at: 2x", 0.5},
        {"of: {encoding: rope}, after: {factor: 4, method: none, steps: 50}, metric: exact_match, at: 4x", 1},
        {"of: {encoding: rope}, after: {factor: 4, method: none, steps: 50}, metric: exact_match, at: \"64\"", 1},
        {"of: {encoding: rope}, after: {factor: 2, method: none, steps: 50, task_options: depth=1}, "
         "metric: exact_match, at: 2x",
         0.25},
        {"of: {encoding: rope}, after: {factor: 2, method: none, steps: 50}, metric: exact_match, at: 2x, from: 1x",
         -0.5},
        {"of: {encoding: rope, after: {factor: 2}}, after: {factor: 4, method: none, steps: 50}, "
         "metric: exact_match, at: 2x",
         0.5}, /* the side's own key */
        {"of: {encoding: rope, after: {factor: 2, method: none, steps: 50}}, less: {encoding: rope}, "
         "metric: exact_match, at: 2x",
         0.4}, /* against the evaluation that ends training, 0.1 */
    };
    claim_trial t;
    char text[2048];
    claim_open(&t);
    longer_records(&t, longer_ahead, 5, "ok");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, LONGER_GRID CLAIM_HEAD "  - {%s, least: -1}\n", cases[i].condition);
        claim_good(&t, text);
        const statement_verdict *v = claim_judge(&t, t.records);
        cr_assert_float_eq(v->finding[0].mean, cases[i].mean, 1e-12, "%s: %g", cases[i].condition, v->finding[0].mean);
        cr_assert_eq(v->outcome, STATEMENT_REPRODUCED);
    }
    claim_close(&t);
}

/* A method that means nothing for the encoding: no value, with the record's reason, also under options of the task, for
 * which there are no rows then. Asked for itself, it is a result. */
Test(statement_after, undefined_rows)
{
    static const char *const options[] = {"", ", task_options: depth=1"};
    claim_trial t;
    char text[2048];
    claim_open(&t);
    longer_records(&t, longer_ahead, 5, "undefined");
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 LONGER_GRID CLAIM_HEAD
                 "  - {of: {encoding: rope}, after: {factor: 2, method: interpolate, steps: 50%s}, "
                 "metric: %s, at: 2x, most: 0}\n",
                 options[i], "exact_match");
        claim_good(&t, text);
        const statement_verdict *v = claim_judge(&t, t.records);
        cr_assert(v->outcome == STATEMENT_UNDECIDED && v->finding[0].undefined == 5 && v->finding[0].there == 5);
        cr_assert_str_eq(v->finding[0].why, "0 values, the rule wants 5; 5 of 5 have no value there: no member of the "
                                            "stack has it");
        snprintf(text, sizeof text,
                 LONGER_GRID CLAIM_HEAD
                 "  - {of: {encoding: rope}, after: {factor: 2, method: interpolate, steps: 50%s}, "
                 "metric: %s, at: 2x, most: 0}\n",
                 options[i], "has_value");
        claim_good(&t, text);
        cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_REPRODUCED);
    }
    claim_good(&t, LONGER_ONE("of: {encoding: rope}, after: {factor: 2, method: none, steps: 0}, metric: has_value, "
                              "at: 2x, least: 1"));
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_REPRODUCED);
    claim_close(&t);
}

/* Fine-tuning that diverged is a run that ended badly, not one without a value: nothing follows for has_value. */
Test(statement_after, diverged_fine_tuning)
{
    claim_trial t;
    claim_open(&t);
    longer_records(&t, longer_ahead, 5, "diverged");
    claim_good(&t, LONGER_ONE(LONGER_BOTH "least: 0"));
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_UNDECIDED && v->finding[0].ended_badly == 5 && v->finding[0].undefined == 0);
    cr_assert_str_eq(v->finding[0].why, "0 values, the rule wants 5; 5 of 10 runs diverged or failed");
    claim_good(&t, LONGER_ONE("of: {encoding: rope}, after: {factor: 2, method: interpolate, steps: 50}, "
                              "metric: has_value, at: 2x, most: 0"));
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_UNDECIDED);
    claim_close(&t);
}

/* A record without the section is there, but no outcome: the claim waits, and says what for. */
Test(statement_after, records_without_the_section)
{
    claim_trial t;
    char path[PATH_MAX];
    longer_rows r = {0};
    buffer remark = BUFFER_INIT;
    claim_open(&t);
    longer_records(&t, longer_ahead, 5, "ok");
    longer_test(&r, 2, "interpolate", 50, 0.8, "ok");
    longer_write(&t, 5, &r, path);
    claim_remove(path, "extension");
    claim_good(&t, LONGER_ONE(LONGER_BOTH "least: 0"));
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_NOT_RUN && v->there == 5 && v->wanted == 5);
    cr_assert(v->finding[0].state == FINDING_ABSENT && v->finding[0].lacking == 2 && v->finding[0].there == 8);
    statement_told told = {&t.group, &t.group.statement[0], t.verdict};
    statement_remark(&told, &remark);
    cr_assert_str_eq(buffer_text(&remark), "2 of 10 records have no \"extension\"; runs without it must be done anew");
    buffer_free(&remark);
    claim_close(&t);
}

Test(statement_after, in_words_and_json)
{
    claim_trial t;
    buffer b = BUFFER_INIT;
    claim_open(&t);
    longer_records(&t, longer_ahead, 5, "ok");
    claim_good(&t, LONGER_ONE(LONGER_BOTH "least: 0"));
    claim_judge(&t, t.records);
    statement_rule_words(&t.group.statement[0].rule[0], &b);
    cr_assert_str_eq(buffer_text(&b), "rope on passkey(digits=3), to 2x by interpolate after 50 steps less rope on "
                                      "passkey(digits=3), to 2x by none after 50 steps: exact match at 2x");
    buffer_free(&b);
    statement_told told = {&t.group, &t.group.statement[0], t.verdict};
    json_t *json = statement_json(&told, 1), *claim = json_array_get(json_object_get(json, "claims"), 0);
    json_t *rule = json_array_get(json_object_get(claim, "rule"), 0);
    json_t *after = json_array_get(json_object_get(rule, "after"), 1);
    cr_assert_str_eq(json_string_value(json_object_get(after, "method")), "none");
    cr_assert_eq(json_integer_value(json_object_get(after, "steps")), 50);
    cr_assert(json_is_null(json_object_get(rule, "exposure")));
    json_decref(json);
    claim_close(&t);
}

/* ------------------------------------------------------------------------------------------------ faults */

#define LONGER_FAULT(after) LONGER_ONE("of: {encoding: rope}, after: " after ", metric: exact_match, at: 2x, least: 0")

Test(statement_after, faults_at_their_place)
{
    static const char *const cases[][2] = {
        {LONGER_FAULT("2"), "after takes keys and values, as in after: {factor: 2, method: none, steps: 200}"},
        {LONGER_FAULT("{factor: 2, methd: none, steps: 50}"),
         "trial.yaml:17:47: error: unknown key 'methd' in after; did you mean 'method'?"},
        {LONGER_FAULT("{factor: 2, method: none}"), "after: no 'steps' is given, here or for both sides"},
        {LONGER_FAULT("{factor: 2, method: interpolat, steps: 50}"),
         "trial.yaml:17:55: error: method: rope goes on with no method interpolat: extend.methods is interpolate, "
         "none; "
         "did you mean 'interpolate'?"},
        {LONGER_FAULT("{factor: 2, method: yarn, steps: 50}"),
         "method: rope goes on with no method yarn: extend.methods is interpolate, none\n"},
        {LONGER_FAULT("{factor: 3, method: none, steps: 50}"),
         "trial.yaml:17:44: error: factor: rope goes on with no factor 3: extend.factors is 2, 4\n"},
        {LONGER_FAULT("{factor: 2, method: none, steps: 20}"),
         "steps: rope goes on with no steps 20: extend.steps is 0, 50\n"},
        {LONGER_FAULT("{factor: 2, method: none, steps: some}"), "steps takes a number"},
        {LONGER_FAULT("{factor: 2, method: none, steps: 50, task_options: depht=0}"), "did you mean 'depth=0'?"},
        {LONGER_FAULT("{factor: 4, method: none, steps: 50}"),
         "at: rope is not tested at 2x after that; it is at 1x (16), 4x (64)"},
        {LONGER_ONE("of: {encoding: rope, aftr: {factor: 2}}, metric: exact_match, at: 2x, least: 0"),
         "unknown key 'aftr'; did you mean 'after'?"},
        {CLAIM_GRID CLAIM_HEAD "  - {of: {encoding: rope}, after: {factor: 2, method: none, steps: 50}, "
                               "metric: exact_match, at: 2x, least: 0}\n",
         "after: nothing follows the training of rope: extend.methods is empty"},
        {LONGER_ONE("of: {encoding: rope, after: {factor: 2, method: none, steps: 0}}, exposure: loss, least: 0"),
         "after is for scores; exposure is one number of a run"},
        {"claims:\n- {id: T1, title: A, statement: B, source: C, published: D, refuted: E, rule: [{measure: "
         "dot_spread, of: {encoding: nope}, after: {factor: 2}, most: 1}]}\n",
         "after is for conditions on runs"},
        {"claims:\n- {id: T1, title: A, statement: B, source: C, published: D, refuted: E, rule: [{measure: "
         "dot_spread, of: {encoding: nope, after: {factor: 2}}, most: 1}]}\n",
         "unknown key 'after'"},
    };
    claim_trial t;
    claim_open(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *message = claim_fault(&t, cases[i][0]);
        cr_assert(strstr(message, cases[i][1]), "%s\n'%s' is not in: %s", cases[i][0], cases[i][1], message);
    }
    claim_close(&t);
}

/* What both sides share is told once. */
Test(statement_after, shared_faults_once)
{
    claim_trial t;
    claim_open(&t);
    const char *message = claim_fault(
        &t,
        LONGER_ONE("of: {encoding: rope, after: {method: none}}, less: {encoding: rope, after: {method: interpolate}}, "
                   "after: {factor: 3, steps: 50}, metric: exact_match, at: 2x, least: 0"));
    const char *first = strstr(message, "no factor 3");
    cr_assert(first && !strstr(first + 1, "no factor 3") && !strstr(message, "not tested"), "%s", message);
    claim_close(&t);
}
