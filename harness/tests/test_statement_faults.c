/* Files of claims: every way in which one can be wrong, all told at once, at its place and with the nearest right word.
 */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "settings.h"
#include "statement_fixture.h"

Test(statement_faults, all_in_one_go)
{
    static const char text[] = "titel: x\n"
                               "grid: {encoding: [nope, rope], task: repeat_copy, seeds: 3}\n"
                               "claims:\n"
                               "- id: T1\n"
                               "  title: A title\n"
                               "  statment: Words.\n"
                               "  published: 1\n"
                               "  seeds: 5\n"
                               "  rule:\n"
                               "  - {of: {encodign: nope}, metric: exact_match, at: 2x, least: 0.9}\n"
                               "  - {of: {encoding: nope}, metric: exact_macht, at: 5x, least: x}\n"
                               "  - {of: {encoding: nope}, metrik: loss, at: 2x}\n"
                               "  - {of: {encoding: nope}, metric: loss, at: 5x, most: 1}\n";
    static const char *const expected[] = {
        "trial.yaml:1:1: error: unknown key 'titel' in a file of claims; did you mean 'title'?\n    1 | titel: x\n     "
        " | ^~~~~\n",
        "trial.yaml:4:3: error: no 'refuted' is given: what would speak against it\n",
        "trial.yaml:4:3: error: no 'source' is given, here or at the top\n",
        "trial.yaml:4:3: error: no 'statement' is given\n",
        "trial.yaml:6:3: error: unknown key 'statment' in a claim; did you mean 'statement'?\n",
        "trial.yaml:10:11: error: unknown key 'encodign'; did you mean 'encoding'?\n",
        "trial.yaml:13:10: error: of: 3 seeds in the grid; the claim wants 5\n",
        "metric: unknown score 'exact_macht'; did you mean 'exact_match'?\n",
        "at: nope is not tested at 5x; it is at 1x (32), 1.5x (48), 2x (64), 3x (96), 4x (128)\n",
        "least takes a number\n",
        "trial.yaml:12:28: error: unknown key 'metrik' in a condition; did you mean 'metric'?\n",
        "trial.yaml:12:5: error: a condition needs a threshold: least or most\n",
        "trial.yaml:12:5: error: no 'metric' is given\n",
    };
    claim_trial t;
    claim_open(&t);
    const char *message = claim_fault(&t, text);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        cr_assert(strstr(message, expected[i]), "%s\nis not in\n%s", expected[i], message);
    cr_assert_eq(t.e.kind, ERROR_USAGE);
    claim_close(&t);
}

#define ONE(condition) CLAIM_GRID CLAIM_HEAD "  - {" condition "}\n"
#define MEASURED(condition)                                                                                            \
    "claims:\n- {id: T1, title: A, statement: B, source: C, published: D, refuted: E, rule: [{" condition "}]}\n"

Test(statement_faults, each_at_its_place)
{
    static const char *const cases[][2] = {
        {"", "the file is empty"},
        {"- a\n", "trial.yaml:1:1: error: a file of claims begins with keys"},
        {"title: x\n", "trial.yaml:1:1: error: no 'claims' are given"},
        {"claims: []\n", "claims takes a list"},
        {"claims: [a]\n", "trial.yaml:1:10: error: a claim begins with keys"},
        {"spec: nothere\nclaims: []\n", "spec: no spec 'nothere' among the bundled ones"},
        {"spec: nothere.yaml\nclaims: []\n", "spec: nothere.yaml: No such file"},
        {CLAIM_GRID "spec: x\nclaims: []\n", "grid and spec are both given"},
        {"grid: {encoding: ropee, task: sort}\nclaims: []\n", "unknown encoding 'ropee'; did you mean 'rope'?"},
        {"grid: {encoding: rope, task: sort, tune: {lr: [1e-3, 1e-4]}}\nclaims: []\n",
         "grid: runs whose learning rate is tuned are not known beforehand"},
        {"claims:\n- {id: T1, title: A, statement: B, source: C, published: D}\n",
         "neither 'rule' nor 'untestable' is given"},
        {"claims:\n- {id: \"T 1\", title: A, statement: B, source: C, published: D, untestable: E}\n",
         "id: 'T 1': letters"},
        {"claims:\n- &a {id: T1, title: A, statement: B, source: C, published: D, untestable: E}\n- *a\n",
         "id: 'T1' is another claim of this file already"},
        {"claims:\n- {id: T1, title: A, statement: B, source: C, published: D, untestable: E, seeds: 1}\n",
         "seeds: a whole number from 2 to 1000"},
        {ONE("metric: exact_match, at: 2x, least: 0"), "no 'of' is given"},
        {ONE("of: nope, metric: exact_match, at: 2x, least: 0"), "of takes keys and values"},
        {ONE("of: {encoding: alibi}, metric: exact_match, at: 2x, least: 0"),
         "of: no run of the grid has these values"},
        {ONE("of: {task: repeat_copy}, metric: exact_match, at: 2x, least: 0"),
         "of: it leaves several runs of seed 1, which differ in encoding"},
        {ONE("of: {encoding: nope}, metric: exact_match, at: twice, least: 0"), "at: 'twice' is no test length"},
        {ONE("of: {encoding: nope}, metric: exact_match, at: 2x, from: 64-10, least: 0"),
         "from: '64-10' is no test length"},
        {ONE("of: {encoding: nope}, metric: exact_match, at: 2x, least: 1, most: 0"), "most is below least"},
        {ONE("of: {encoding: nope}, metric: exact_match, at: 2x, within: 1, theirs: 1"), "within is for measurements"},
        {ONE("of: {encoding: nope}, metric: exact_match, at: 2x, least: 1, premise: maybe"),
         "premise takes true or false"},
        {ONE("of: {encoding: nope}, metric: loss, mode: slidign, at: 2x, most: 1"),
         "unknown mode 'slidign'; did you mean 'sliding'?"},
        {ONE("of: {encoding: nope}, metric: loss, mode: sliding, at: 2x, most: 1"),
         "mode: nope is not evaluated so: eval.stride is 0"},
        {ONE("of: {encoding: nope}, less: {encoding: rope}, over: {encoding: rope}, metric: loss, at: 2x, most: 1"),
         "less and over are both given"},
        {"claims:\n- {id: T1, title: A, statement: B, source: C, published: D, refuted: E, seeds: 5,\n"
         "   rule: [{of: {encoding: nope}, metric: loss, at: 2x, most: 1}]}\n",
         "of: this file has neither grid nor spec"},
        {MEASURED("measure: dot_spraed, of: {encoding: nope}, most: 1"),
         "unknown measurement 'dot_spraed'; did you mean 'dot_spread'?"},
        {MEASURED("measure: dot_spread, of: {encoding: nope}, at: 1, most: 1"), "dot_spread takes no 'at'"},
        {MEASURED("measure: dot_by_distance, of: {encoding: nope}, most: 1"),
         "dot_by_distance needs 'at': distances in tokens"},
        {MEASURED("measure: dot_by_distance, of: {encoding: nope}, at: 1.5, most: 1"),
         "at most 64 whole numbers from 0 to 1024"},
        {MEASURED("measure: dot_spread, of: {encoding: nope}, beside: {encoding: nope}, most: 1"),
         "dot_spread takes no 'beside'"},
        {MEASURED("measure: rotation_kept, of: {encoding: rope}, most: 1"), "rotation_kept needs 'beside'"},
        {MEASURED("measure: dot_spread, of: {model: {width: 64}}, most: 1"), "of: no encoding is given"},
        {MEASURED("measure: dot_spread, of: {encoding: nope, train: {lr: 1}}, most: 1"),
         "train.lr: a measurement knows encoding, seed, model and train.len"},
        {MEASURED("measure: dot_spread, of: {encoding: [nope, rope]}, most: 1"), "encoding: one value"},
        {MEASURED("measure: dot_spread, of: {encoding: nope}, within: 1"), "within needs theirs"},
        {MEASURED("measure: dot_spread, of: {encoding: nope}, within: 1, theirs: about 2"),
         "theirs: 'about 2' is no number"},
        {MEASURED("measure: dot_spread, of: {encoding: nope}, metric: loss, most: 1"),
         "metric is for conditions on runs"},
    };
    claim_trial t;
    claim_open(&t);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *message = claim_fault(&t, cases[i][0]);
        cr_assert(strstr(message, cases[i][1]), "%s\n'%s' is not in: %s", cases[i][0], cases[i][1], message);
    }
    claim_close(&t);
}

Test(statement_faults, what_a_measurement_cannot_be_taken_of)
{
    claim_trial t;
    statement_evidence none = {0};
    claim_open(&t);
    claim_good(&t, MEASURED("measure: rotation_norm, of: {encoding: nope}, most: 1"));
    cr_assert_lt(statement_judge(&t.group, &t.group.statement[0], &none, t.registry, &t.verdict, &t.e), 0);
    cr_assert(strstr(t.e.message, "trial.yaml:2: claim T1, rotation_norm: nope: it does not rotate queries and keys"),
              "%s", t.e.message);
    claim_close(&t);
}

Test(statement_faults, ids_and_folders)
{
    static const char one[] = "claims:\n- {id: C12, title: A, statement: B, source: C, published: D, untestable: E}\n";
    claim_trial t;
    statements s;
    char path[PATH_MAX];
    const statement_group *group;
    const statement *found;
    claim_open(&t);
    scratch_write(&t.folder, "a.yaml", one, sizeof one - 1, path);
    cr_assert_eq(statements_load(t.folder.dir, t.folder.dir, t.registry, &s, &t.e), 0, "%s", t.e.message);
    cr_assert_eq(statement_find(&s, "C12", &group, &found, &t.e), 0);
    cr_assert(found == &s.group[0].statement[0] && strcmp(group->results, "results/claims/a") == 0);
    cr_assert_lt(statement_find(&s, "C21", &group, &found, &t.e), 0);
    cr_assert(strstr(t.e.message, "no claim 'C21'; did you mean 'C12'?"), "%s", t.e.message);
    statements_free(&s);
    error_clear(&t.e);
    scratch_write(&t.folder, "b.yaml", one, sizeof one - 1, path);
    cr_assert_lt(statements_load(t.folder.dir, t.folder.dir, t.registry, &s, &t.e), 0);
    cr_assert(strstr(t.e.message, "b.yaml: claim C12 stands in ") && strstr(t.e.message, "a.yaml already"), "%s",
              t.e.message);
    statements_free(&s);
    claim_close(&t);
}

/* Every bundled file is good. */
Test(statement_faults, the_bundled_files)
{
    registry *r = setting_registry();
    statements s;
    error e = ERROR_INIT;
    cr_assert_eq(statements_load("bench/claims", "bench/specs", r, &s, &e), 0, "%s", e.message);
    cr_assert_geq(s.count, 7);
    statements_free(&s);
    registry_free(r);
}
