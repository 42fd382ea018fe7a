/* Specs: words that stand for every encoding there is. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "spec_grid.h"
#include "spec_trial.h"

/* The runs' keys, which are all that a record knows a run by. */
static void expect_same_runs(const spec_trial *a, const spec_trial *b)
{
    cr_assert_eq(a->spec.count, b->spec.count, "%d and %d runs", a->spec.count, b->spec.count);
    for (int i = 0; i < a->spec.count; i++) {
        char one[CONFIG_KEY_SIZE], other[CONFIG_KEY_SIZE];
        config_key(&a->spec.runs[i], one);
        config_key(&b->spec.runs[i], other);
        cr_assert_str_eq(one, other, "run %d", i);
    }
}

Test(spec, all_is_every_encoding_written_out)
{
    spec_trial word, list;
    trial_open(&word);
    trial_open(&list);
    char text[8192] = "task: repeat_copy\nseeds: 2\nencoding: [";
    int count = registry_encoding_count(word.registry);
    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? ", " : "",
                 registry_encoding(word.registry, i)->name);
    snprintf(text + strlen(text), sizeof text - strlen(text), ", rope+alibi]\n");
    trial_good(&list, text, 2 * (count + 1));
    trial_good(&word, "task: repeat_copy\nseeds: 2\nencoding: [all, rope+alibi]\n", 2 * (count + 1));
    expect_same_runs(&word, &list);
    cr_assert_eq(word.spec.left_out_count, 0);
    trial_good(&word, "task: repeat_copy\nseeds: 2\nencoding: all\n", 2 * count);
    trial_good(&word, "task: repeat_copy\nseeds: 2\nencoding:\n  - all\n", 2 * count);
    trial_close(&word);
    trial_close(&list);
}

Test(spec, examples_are_every_encoding_with_each_of_its_examples)
{
    spec_trial t;
    trial_open(&t);
    int defaults = registry_encoding_count(t.registry), examples = 0, at = 0;
    for (int i = 0; i < defaults; i++)
        for (int x = 0; registry_encoding(t.registry, i)->examples && registry_encoding(t.registry, i)->examples[x];
             x++)
            examples++;
    cr_assert_geq(examples, 5);
    trial_good(&t, "task: sort\nencoding: examples\nmodel: {width: 64, heads: 4}\n", examples);
    for (int i = 0; i < defaults; i++)
        for (int x = 0; registry_encoding(t.registry, i)->examples && registry_encoding(t.registry, i)->examples[x];
             x++) {
            char text[PE_TEXT_MAX], canonical[SPEC_VALUE_MAX];
            snprintf(text, sizeof text, "%s(%s)", registry_encoding(t.registry, i)->name,
                     registry_encoding(t.registry, i)->examples[x]);
            cr_assert_eq(spec_canonical(t.registry, spec_row_at(offsetof(run_config, encoding)), text, canonical,
                                        sizeof canonical, &t.e),
                         0);
            cr_assert_str_eq(t.spec.runs[at++].encoding, canonical);
        }
    trial_good(&t, "task: sort\nencoding: [all, examples]\nmodel: {width: 64, heads: 4}\n", defaults + examples);
    trial_close(&t);
}

/* What is written beside the word is not there twice, and keeps its place. */
Test(spec, names_beside_all)
{
    spec_trial t;
    trial_open(&t);
    int count = registry_encoding_count(t.registry);
    trial_good(&t, "task: sort\nencoding: [rope, all, alibi]\n", count);
    cr_assert_str_eq(t.spec.runs[0].encoding, "rope");
    cr_assert_str_eq(t.spec.runs[1].encoding, registry_encoding(t.registry, 0)->name);
    trial_good(&t, "task: sort\nencoding: [all, \"rope ( base = 1e4 )\"]\n", count); /* the default, written out */
    trial_good(&t, "task: sort\nencoding: [all, rope(base=99)]\n", count + 1);
    cr_assert(strstr(trial_fault(&t, "task: sort\nencoding: [all, rope, rope]\n"), "'rope' is in the list already"));
    cr_assert(strstr(trial_fault(&t, "task: sort\nencoding: [all, all]\n"), "'all' is in the list already"));
    trial_close(&t);
}

/* Heads of 3 columns: rotations turn pairs of columns. */
#define ODD "task: sort\nmodel: {width: 12, heads: 4}\n"

Test(spec, all_leaves_out_what_has_no_meaning_and_says_so)
{
    spec_trial t;
    trial_open(&t);
    cr_assert_eq(trial_load(&t, ODD "seeds: 3\nencoding: all\n", NULL), 0, "%s", t.e.message);
    cr_assert_geq(t.spec.left_out_count, 1);
    int left_out = 0, told = 0;
    for (int i = 0; i < t.spec.left_out_count; i++) {
        left_out += t.spec.left_out[i].runs;
        cr_assert_eq(t.spec.left_out[i].runs, 3);
        told |= strcmp(t.spec.left_out[i].encoding, "rope") == 0 && strstr(t.spec.left_out[i].reason, "head_dim");
    }
    cr_assert(told, "rope and why it is left out");
    cr_assert_eq(t.spec.count + left_out, 3 * registry_encoding_count(t.registry));
    for (int i = 0; i < t.spec.count; i++)
        cr_assert_str_neq(t.spec.runs[i].encoding, "rope");
    trial_close(&t);
}

/* A grid of networks: an encoding is left out of those in which it has no meaning, and of no others. */
Test(spec, all_leaves_out_runs_rather_than_encodings)
{
    spec_trial t;
    trial_open(&t);
    cr_assert_eq(trial_load(&t, "task: sort\nmodel: {width: 12, heads: [4, 2]}\nencoding: all\n", NULL), 0);
    int runs = 0;
    for (int i = 0; i < t.spec.count; i++)
        if (strcmp(t.spec.runs[i].encoding, "rope") == 0) {
            runs++;
            cr_assert_eq(t.spec.runs[i].model.heads, 2);
        }
    cr_assert_eq(runs, 1);
    trial_close(&t);
}

Test(spec, a_name_refuses_where_all_leaves_out)
{
    spec_trial t;
    trial_open(&t);
    cr_assert(strstr(trial_fault(&t, ODD "encoding: [nope, rope]\n"), "trial.yaml:3:18: error: encoding: rope: "));
    cr_assert(strstr(trial_fault(&t, ODD "encoding: [all, rope]\n"), "trial.yaml:3:17: error: encoding: rope: "));
    cr_assert(strstr(trial_fault(&t, ODD "encoding: [rope, all]\n"), "trial.yaml:3:12: error: encoding: rope: "));
    cr_assert(strstr(trial_fault(&t, ODD "baseline: rope\nencoding: all\n"), "error: encoding: rope: "));
    cr_assert_eq(t.spec.left_out_count, 0);
    trial_close(&t);
}

/* What is wrong with the network itself is not put down to the encodings. */
Test(spec, all_hides_no_other_fault)
{
    spec_trial t;
    trial_open(&t);
    cr_assert(strstr(trial_fault(&t, "task: sort\nencoding: all\nmodel: {width: 13, heads: 4}\n"), "model.heads: "));
    cr_assert(strstr(trial_fault(&t, "task: sort\nencoding: all\ntrain: {len: 8, min_len: 9}\n"), "train.min_len: "));
    trial_close(&t);
}

Test(spec, all_stands_by_itself)
{
    spec_trial t;
    trial_open(&t);
    static const char *const wrong[] = {"task: sort\nencoding: [[all, nope]]\n", "task: sort\nencoding: all+nope\n",
                                        "task: sort\nencoding: all@clamp\n",
                                        "task: sort\nencoding: nope\nbaseline: all\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *shown = trial_fault(&t, wrong[i]);
        cr_assert(strstr(shown, "unknown encoding 'all'") && strstr(shown, "by themselves"), "%s", shown);
    }
    cr_assert(strstr(trial_fault(&t, "task: all\nencoding: nope\n"), "all"), "it is a word among encodings only");
    trial_close(&t);
}

Test(spec, overrides_look_at_what_all_stands_for)
{
    spec_trial t;
    trial_open(&t);
    cr_assert_eq(trial_load(&t,
                            "task: sort\nencoding: [all, rope+alibi]\noverrides:\n"
                            "- {when: {encoding: all}, set: {train: {steps: 7}}}\n"
                            "- {when: {encoding: rope}, set: {train: {steps: 9}}}\n",
                            NULL),
                 0, "%s", t.e.message);
    for (int i = 0; i < t.spec.count; i++) {
        const run_config *c = &t.spec.runs[i];
        run_config defaults;
        config_defaults(&defaults);
        int steps = strcmp(c->encoding, "rope") == 0         ? 9
                    : strcmp(c->encoding, "rope+alibi") == 0 ? defaults.train.steps
                                                             : 7;
        cr_assert_eq(c->train.steps, steps, "%s", c->encoding);
    }
    trial_close(&t);
}
