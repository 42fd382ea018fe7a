/* Rules on what trained weights know of positions, on made-up records. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probed.h"
#include "statement_fixture.h"

#define PROBED_GRID                                                                                                    \
    "grid:\n  encoding: [nope, learned]\n  task: text\n  seeds: 5\n"                                                   \
    "  train: {len: 16, min_len: 4, warmup: 3, steps: 30}\n"                                                           \
    "  eval: {ratios: [1, 2, 4], probe: true, shuffle: true}\n"
#define PROBED_ONE(condition) PROBED_GRID CLAIM_HEAD "  - {" condition "}\n"

typedef struct probed_made {
    double hidden[3]; /* guess: 8 */
    int tables, windows;
    double positions, order; /* of a table */
    double in_order, shuffled;
} probed_made;

static void probed_write(claim_trial *t, const char *encoding, int seed, const probed_made *m, char *path)
{
    double hidden[3] = {m->hidden[0], m->hidden[1], m->hidden[2]};
    double wide[3] = {m->hidden[0] + 0.05, 1.25, m->hidden[2] / 4};
    run_probe_table table = {.name = "made.table", .found = {16, 240, m->positions, 4, m->order}};
    run_probes probes = {
        .hidden = {.count = 3, .tokens = 1024, .sequences = 64, .read_error = hidden, .wide_error = wide, .guess = 8},
        .tables = m->tables,
        .table = &table,
        .windows = m->windows,
        .in_order_loss = m->in_order,
        .shuffled_loss = m->shuffled};
    made_write(t->records,
               &(made_run){.encoding = encoding,
                           .task = "text",
                           .seed = seed,
                           .score = {1, 0.5, 0.5},
                           .settings = "eval.probe=true|eval.shuffle=true|eval.stride=0",
                           .probes = &probes},
               path);
}

/* nope: read to an error of best[seed - 1] of 8; what shuffling costs: cost[seed - 1]. learned: a table besides. */
static void probed_records(claim_trial *t, const double *best, const double *cost)
{
    for (int seed = 1; seed <= 5; seed++) {
        double b = best[seed - 1], in_order = 2 + 0.01 * seed;
        probed_write(t, "nope", seed,
                     &(probed_made){{7.9, b, b + 1}, 0, 40, NAN, NAN, in_order, in_order + cost[seed - 1]}, NULL);
        probed_write(t, "learned", seed, &(probed_made){{0.8, 1.6, 2.4}, 1, 40, 1.5, 0.05, in_order, in_order + 1},
                     NULL);
    }
}

static const double probed_half[] = {4, 4, 4, 4, 4}, probed_one[] = {1, 1, 1, 1, 1};

Test(statement_probe, every_number)
{
    static const struct {
        const char *encoding, *name;
        double value;
    } cases[] = {{"nope", "hidden_first", 7.9 / 8}, {"nope", "hidden_best", 0.5},    {"nope", "hidden_last", 0.625},
                 {"learned", "hidden_first", 0.1},  {"learned", "table_error", 1.5}, {"nope", "wide_first", 7.95 / 8},
                 {"nope", "wide_best", 0.15625},    {"learned", "wide_last", 0.075}, {"learned", "table_order", 0.05},
                 {"nope", "loss_in_order", 2.03},   {"nope", "loss_shuffled", 3.03}, {"nope", "shuffle_cost", 1}};
    claim_trial t;
    char text[1024];
    int count = 0;
    claim_open(&t);
    probed_records(&t, probed_half, probed_one);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, PROBED_GRID CLAIM_HEAD "  - {of: {encoding: %s}, probe: %s, least: -1}\n",
                 cases[i].encoding, cases[i].name);
        claim_good(&t, text);
        const statement_verdict *v = claim_judge(&t, t.records);
        cr_assert(v->outcome == STATEMENT_REPRODUCED && v->finding[0].values == 5, "%s", cases[i].name);
        cr_assert_float_eq(v->finding[0].mean, cases[i].value, 1e-12, "%s: %g", cases[i].name, v->finding[0].mean);
    }
    while (probed_quantities.rows[count].name)
        count++;
    cr_assert_eq(count, (int)(sizeof cases / sizeof *cases) - 1);
    claim_close(&t);
}

Test(statement_probe, each_outcome)
{
    static const double good[] = {1, 1.2, 0.9, 1.1, 1}, spread[] = {1, 7.5, 1.5, 7, 6.5},
                        cost[] = {1, 1.1, 0.9, 1, 1.05};
    static const char read[] = PROBED_ONE("of: {encoding: nope}, probe: hidden_best, most: 0.5");
    claim_trial t;
    claim_open(&t);
    claim_good(&t, read);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_NOT_RUN);
    probed_records(&t, good, cost);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_REPRODUCED);
    claim_good(&t, PROBED_ONE("of: {encoding: nope}, probe: hidden_best, least: 0.5"));
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_NOT_REPRODUCED);
    claim_good(&t, PROBED_ONE("of: {encoding: nope}, less: {encoding: learned}, probe: hidden_first, least: 0.8"));
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_REPRODUCED && v->finding[0].wanted == 10);
    claim_good(&t, PROBED_ONE("of: {encoding: nope}, probe: hidden_best, least: 0.5, premise: true"));
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_NOT_TESTABLE);
    probed_records(&t, spread, cost);
    claim_good(&t, read);
    cr_assert_eq(claim_judge(&t, t.records)->outcome, STATEMENT_UNDECIDED);
    claim_close(&t);
}

/* No table, no windows: no value. No section: not even an outcome. */
Test(statement_probe, what_a_record_does_not_hold)
{
    claim_trial t;
    char path[PATH_MAX];
    claim_open(&t);
    probed_records(&t, probed_half, probed_one);
    claim_good(&t, PROBED_ONE("of: {encoding: nope}, probe: table_error, most: 1"));
    const statement_verdict *v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_UNDECIDED && v->finding[0].undefined == 5);
    cr_assert_str_eq(v->finding[0].why,
                     "0 values, the rule wants 5; 5 of 5 have no value there: no parameters belong to "
                     "one position each, or they have too few rows");
    probed_write(&t, "nope", 2, &(probed_made){.hidden = {8, 4, 4}, .in_order = NAN, .shuffled = NAN}, NULL);
    claim_good(&t, PROBED_ONE("of: {encoding: nope}, probe: shuffle_cost, least: 0"));
    v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_UNDECIDED && v->finding[0].undefined == 1 && v->finding[0].values == 4);
    probed_write(&t, "nope", 3, &(probed_made){.hidden = {8, 4, 4}}, path);
    claim_remove(path, "probes");
    v = claim_judge(&t, t.records);
    cr_assert(v->outcome == STATEMENT_NOT_RUN && v->finding[0].lacking == 1 && v->finding[0].there == 4);
    cr_assert_str_eq(v->finding[0].why, "1 of 5 records have no \"probes\"; runs without it must be done anew");
    claim_close(&t);
}

Test(statement_probe, in_words_and_json)
{
    claim_trial t;
    buffer b = BUFFER_INIT;
    claim_open(&t);
    claim_good(&t, PROBED_ONE("of: {encoding: nope}, probe: shuffle_cost, least: 0"));
    claim_judge(&t, t.records);
    statement_rule_words(&t.group.statement[0].rule[0], &b);
    cr_assert_str_eq(buffer_text(&b), "nope on text: loss behind windows, prefix shuffled less in order");
    buffer_free(&b);
    statement_told told = {&t.group, &t.group.statement[0], t.verdict};
    json_t *json = statement_json(&told, 1), *claim = json_array_get(json_object_get(json, "claims"), 0);
    json_t *rule = json_array_get(json_object_get(claim, "rule"), 0);
    cr_assert_str_eq(json_string_value(json_object_get(rule, "probe")), "shuffle_cost");
    cr_assert(json_is_null(json_object_get(rule, "metric")) && json_is_null(json_object_get(rule, "exposure")));
    json_decref(json);
    claim_close(&t);
}

Test(statement_probe, faults_at_their_place)
{
    static const char *const cases[][2] = {
        {PROBED_ONE("of: {encoding: nope}, probe: table_eror, least: 0"),
         "probe: unknown number 'table_eror'; did you mean 'table_error'?"},
        {PROBED_ONE("of: {encoding: nope}, probe: hidden_best, metric: loss, least: 0"),
         "metric is for scores; probe is one number of a run"},
        {PROBED_ONE("of: {encoding: nope}, probe: hidden_best, exposure: loss, least: 0"),
         "exposure and probe are both given"},
        {CLAIM_GRID CLAIM_HEAD "  - {of: {encoding: nope}, probe: hidden_best, least: 0}\n",
         "probe: nope records none: eval.probe is false"},
        {CLAIM_GRID CLAIM_HEAD "  - {of: {encoding: nope}, probe: shuffle_cost, least: 0}\n",
         "probe: nope records none: eval.shuffle is false"},
    };
    claim_trial t;
    claim_open(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *message = claim_fault(&t, cases[i][0]);
        cr_assert(strstr(message, cases[i][1]), "%s\n'%s' is not in: %s", cases[i][0], cases[i][1], message);
    }
    claim_close(&t);
}
