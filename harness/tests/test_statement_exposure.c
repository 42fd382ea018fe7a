/* Rules on what positions met in training, on made-up records. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "starved.h"
#include "statement_fixture.h"

#define MET_GRID                                                                                                       \
    "grid:\n  encoding: [nope, learned]\n  task: repeat_copy\n  seeds: 5\n"                                            \
    "  train: {len: 16, min_len: 4, warmup: 3, steps: 30, positions: true}\n  eval: {ratios: [1, 2, 4]}\n"
#define MET_ONE(condition) MET_GRID CLAIM_HEAD "  - {" condition "}\n"

/* Sixteen positions: a squared gradient of 1 in each quarter of training, `late` for the last four; norms 1 and 3; a
 * loss of 1, and 1 + cost for the last four. */
enum { MET_POSITIONS = 16 };
static void met_write(claim_trial *t, const char *encoding, int seed, double late, double cost, int tables, char *path)
{
    run_met met[MET_POSITIONS][RUN_PHASES];
    double norm[MET_POSITIONS], loss[MET_POSITIONS];
    long n[MET_POSITIONS];
    for (int i = 0; i < MET_POSITIONS; i++) {
        for (int p = 0; p < RUN_PHASES; p++)
            met[i][p] = (run_met){4, i < 12 ? 1 : late};
        norm[i] = i < 12 ? 1 : 3;
        loss[i] = i < 12 ? 1 : 1 + cost;
        n[i] = 5;
    }
    run_exposure_table table = {
        .name = "made", .rows = MET_POSITIONS, .cols = 4, .first_norm = norm, .norm = norm, .met = &met[0][0]};
    run_exposure x = {.positions = MET_POSITIONS,
                      .met = &met[0][0],
                      .tables = tables,
                      .table = &table,
                      .tested = MET_POSITIONS,
                      .loss = loss,
                      .accuracy = loss,
                      .n = n};
    made_write(t->records,
               &(made_run){.encoding = encoding,
                           .seed = seed,
                           .score = {1, 0.5, 0.5},
                           .settings = "train.positions=true",
                           .exposure = &x},
               path);
}

/* late[seed - 1] with a table, 1 without; the table costs 0.25 nats. */
static void met_records(claim_trial *t, const double *late)
{
    for (int seed = 1; seed <= 5; seed++) {
        met_write(t, "learned", seed, late[seed - 1], 0.25, 1, NULL);
        met_write(t, "nope", seed, 1, 0, 0, NULL);
    }
}

Test(statement_exposure, every_number)
{
    static const double late[] = {0.5, 0.5, 0.5, 0.5, 0.5};
    static const struct {
        const char *name;
        double value;
    } cases[] = {{"rows", 1.0 / 7},  {"rows_ratio", 0.5}, {"norm", 3},           {"loss", 0.25},
                 {"accuracy", 0.25}, {"tokens", 0.25},    {"gradient", 1.0 / 7}, {"gradient_ratio", 0.5}};
    claim_trial t;
    char text[1024];
    int count = 0;
    claim_open(&t);
    met_records(&t, late);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, MET_GRID CLAIM_HEAD "  - {of: {encoding: learned}, exposure: %s, least: -1}\n",
                 cases[i].name);
        claim_good(&t, text);
        const statement_verdict *v = claim_judge(&t, t.records);
        cr_assert(v->outcome == STATEMENT_REPRODUCED && v->finding[0].values == 5, "%s", cases[i].name);
        cr_assert_float_eq(v->finding[0].mean, cases[i].value, 1e-12, "%s: %g", cases[i].name, v->finding[0].mean);
    }
    while (starved_quantities.rows[count].name)
        count++;
    cr_assert_eq(count, (int)(sizeof cases / sizeof *cases));
    claim_close(&t);
}

Test(statement_exposure, each_outcome)
{
    static const double starved[] = {0.5, 0.45, 0.55, 0.5, 0.52}, spread[] = {0.5, 1.5, 0.7, 1.6, 1.2};
    static const char ratio[] = MET_ONE("of: {encoding: learned}, exposure: rows_ratio, most: 1");
    claim_trial t;
    claim_open(&t);
    claim_good(&t, ratio);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_NOT_RUN);
    met_records(&t, starved);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_REPRODUCED);
    claim_good(&t, MET_ONE("of: {encoding: learned}, exposure: rows_ratio, least: 1"));
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_NOT_REPRODUCED);
    claim_good(&t, MET_ONE("of: {encoding: learned}, less: {encoding: nope}, exposure: loss, least: 0.2"));
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_REPRODUCED && v->finding[0].wanted == 10);
    cr_assert_float_eq(v->finding[0].mean, 0.25, 1e-12);
    met_records(&t, spread);
    claim_good(&t, ratio);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_UNDECIDED);
    claim_close(&t);
}

/* No rows belong to positions: no value. No section: not even an outcome. */
Test(statement_exposure, what_a_record_does_not_hold)
{
    static const double late[] = {1, 1, 1, 1, 1};
    claim_trial t;
    char path[PATH_MAX];
    claim_open(&t);
    met_records(&t, late);
    claim_good(&t, MET_ONE("of: {encoding: nope}, exposure: rows, most: 1"));
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_UNDECIDED && v->finding[0].undefined == 5);
    cr_assert_str_eq(v->finding[0].why,
                     "0 values, the rule wants 5; 5 of 5 have no value there: no parameters belong to "
                     "one position each");
    met_write(&t, "learned", 3, 1, 0, 1, path);
    claim_remove(path, "exposure");
    claim_good(&t, MET_ONE("of: {encoding: learned}, exposure: rows, most: 1"));
    v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_NOT_RUN && v->finding[0].lacking == 1 && v->finding[0].there == 4);
    cr_assert_str_eq(v->finding[0].why, "1 of 5 records have no \"exposure\"; runs without it must be done anew");
    claim_close(&t);
}

Test(statement_exposure, in_words_and_json)
{
    claim_trial t;
    buffer b = BUFFER_INIT;
    claim_open(&t);
    claim_good(&t, MET_ONE("of: {encoding: learned}, less: {encoding: nope}, exposure: loss, least: 0"));
    claim_judge(&t, t.records);
    statement_rule_words(&t.group.statement[0].rule[0], &b);
    cr_assert_str_eq(buffer_text(&b), "learned on repeat_copy less nope on repeat_copy: late less early loss");
    buffer_free(&b);
    statement_told told = {&t.group, &t.group.statement[0], t.verdict};
    json_t *json = statement_json(&told, 1), *claim = json_array_get(json_object_get(json, "claims"), 0);
    json_t *rule = json_array_get(json_object_get(claim, "rule"), 0);
    cr_assert_str_eq(json_string_value(json_object_get(rule, "exposure")), "loss");
    cr_assert(json_is_null(json_object_get(rule, "metric")));
    json_decref(json);
    claim_close(&t);
}

Test(statement_exposure, faults_at_their_place)
{
    static const char *const cases[][2] = {
        {MET_ONE("of: {encoding: nope}, exposure: gradeint, least: 0"),
         "exposure: unknown number 'gradeint'; did you mean 'gradient'?"},
        {MET_ONE("of: {encoding: nope}, exposure: loss, metric: loss, least: 0"),
         "metric is for scores; exposure is one number of a run"},
        {MET_ONE("of: {encoding: nope}, exposure: loss, at: 1x, least: 0"),
         "at is for scores; exposure is one number of a run"},
        {CLAIM_GRID CLAIM_HEAD "  - {of: {encoding: nope}, exposure: loss, least: 0}\n",
         "exposure: nope records none: train.positions is false"},
    };
    claim_trial t;
    claim_open(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *message = claim_fault(&t, cases[i][0]);
        cr_assert(strstr(message, cases[i][1]), "%s\n'%s' is not in: %s", cases[i][0], cases[i][1], message);
    }
    claim_close(&t);
}
