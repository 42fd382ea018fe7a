/* The network against vectors of an independent implementation: logits, loss, activations, every gradient, ten steps of
 * AdamW. The data carry their own weights (a closed form), tokens and targets; see encodings/tests/golden/README.md. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "golden_model.h"

#define GOLDEN_FOLDER "encodings/tests/golden/"

/* The last line, and the last remark. */
typedef struct golden_seen {
    char id[160], remark[512];
    int compared;
} golden_seen;

static void golden_expect_passed(void *user, const golden_line *line)
{
    char text[1024];
    (void)user;
    golden_line_print(line, text, sizeof text);
    cr_expect_eq(line->outcome, GOLDEN_PASSED, "%s: %s", line->path, text);
}

static json_t *golden_root(const char *file)
{
    char path[256];
    error e = ERROR_INIT;
    snprintf(path, sizeof path, GOLDEN_FOLDER "%s", file);
    json_t *root = golden_read(path, &e);
    cr_assert_not_null(root, "%s", e.message);
    cr_assert(golden_model_is(root), "%s is no file of a whole network", path);
    return root;
}

static golden_report golden_run_root(const json_t *root, golden_line_fn *f, void *user)
{
    error e = ERROR_INIT;
    golden_report report = {0, 0, 0};
    registry *r = registry_new(&e);
    cr_assert_not_null(r, "%s", e.message);
    cr_assert_eq(golden_model_run(r, "it", root, f, user, &report, &e), 0, "%s", e.message);
    registry_free(r);
    return report;
}

/* Every key of f64 is a check, and each of them passes: one that is no longer understood must not pass by being
 * skipped. */
static void golden_network(const char *file)
{
    json_t *root = golden_root(file);
    golden_report report = golden_run_root(root, golden_expect_passed, NULL);
    cr_expect_eq((size_t)report.passed, json_object_size(json_object_get(root, "f64")), "%d passed", report.passed);
    cr_expect(report.failed == 0 && report.skipped == 0, "%d failed, %d skipped", report.failed, report.skipped);
    json_decref(root);
}

#define GOLDEN_MODEL(name)                                                                                             \
    Test(model_golden, name)                                                                                           \
    {                                                                                                                  \
        golden_network("model_" #name ".json");                                                                        \
    }

GOLDEN_MODEL(nope)
GOLDEN_MODEL(nope_exact_gelu)
GOLDEN_MODEL(learned)
GOLDEN_MODEL(learned_decay2d)
GOLDEN_MODEL(sinusoidal)
GOLDEN_MODEL(rope)
GOLDEN_MODEL(alibi)
GOLDEN_MODEL(t5)
GOLDEN_MODEL(shaw)
GOLDEN_MODEL(kerple_log)
GOLDEN_MODEL(fire)

/* ------------------------------------------------------------------------------------------------ can it fail? */

static void golden_keep_unless_passed(void *user, const golden_line *line)
{
    golden_seen *seen = user;
    if (line->outcome == GOLDEN_PASSED)
        return;
    snprintf(seen->id, sizeof seen->id, "%s", line->id);
    snprintf(seen->remark, sizeof seen->remark, "%s", line->remark);
    seen->compared = line->compared;
}

/* Moves number i of an array by a millionth of itself and 1e-4. */
static void golden_tamper(json_t *array, size_t i)
{
    json_t *data = json_is_object(array) ? json_object_get(array, "data") : array;
    double value = json_number_value(json_array_get(data, i));
    cr_assert_eq(json_array_set_new(data, i, json_real(value * (1 + 1e-6) + 1e-3)), 0);
}

/* One number of each check is changed; that check fails, no other does, and the line says where. */
Test(model_golden, a_wrong_number_fails)
{
    static const struct {
        const char *key, *inner;
        size_t at;
        const char *words;
    } wrong[] = {
        {"logits", NULL, 17, "logits[17]: expected "},   {"trace", "embed", 3, "embed[3]"},
        {"trace", "probs_layer0", 9, "probs_layer0[9]"}, {"trace", "after_attn0", 5, "after_attn0[5]"},
        {"trace", "after_mlp1", 127, "after_mlp1[127]"}, {"losses", NULL, 10, "losses[10]"},
        {"grad_norms", NULL, 10, "grad_norms[10]"},      {"grads", "layer1.qkv.w", 40, "layer1.qkv.w[40]"},
        {"grad_digest", "tok_emb", 1, "tok_emb[1]"},     {"weight_digest_2", "layer0.ln1.w", 3, "layer0.ln1.w[3]"},
        {"weights_after_10", "head.w", 0, "head.w[0]"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        json_t *root = golden_root("model_rope.json");
        json_t *block = json_object_get(json_object_get(root, "f64"), wrong[i].key);
        golden_tamper(wrong[i].inner ? json_object_get(block, wrong[i].inner) : block, wrong[i].at);
        golden_seen seen = {.compared = 0};
        golden_report report = golden_run_root(root, golden_keep_unless_passed, &seen);
        cr_expect_eq(report.failed, 1, "%s: %d failed", wrong[i].key, report.failed);
        cr_expect_not_null(strstr(seen.id, wrong[i].key), "%s", seen.id);
        cr_expect_not_null(strstr(seen.remark, wrong[i].words), "'%s' in '%s'", wrong[i].words, seen.remark);
        json_decref(root);
    }
}

/* Ten steps come only right when each is: another learning rate shows. */
Test(model_golden, another_optimiser_fails)
{
    json_t *root = golden_root("model_nope.json");
    json_object_set_new(json_object_get(root, "optimizer"), "lr", json_real(0.002));
    cr_expect_gt(golden_run_root(root, NULL, NULL).failed, 3);
    json_decref(root);
}

static void golden_expect_skipped(json_t *root, const char *words)
{
    golden_seen seen = {.compared = 0};
    golden_report report = golden_run_root(root, golden_keep_unless_passed, &seen);
    cr_expect_eq((size_t)report.skipped, json_object_size(json_object_get(root, "f64")));
    cr_expect_not_null(strstr(seen.remark, words), "'%s' in '%s'", words, seen.remark);
    json_decref(root);
}

Test(model_golden, what_is_not_understood_skips_every_check)
{
    json_t *root = golden_root("model_t5.json");
    json_object_set_new(json_object_get(root, "config"), "twist", json_integer(1));
    golden_expect_skipped(root, "config.twist is not understood");

    root = golden_root("model_nope.json");
    json_object_set_new(json_object_get(root, "config"), "pe", json_string("telepathy"));
    golden_expect_skipped(root, "refused: unknown encoding 'telepathy'");

    root = golden_root("model_rope.json");
    json_object_set_new(json_object_get(root, "config"), "rotary_dim", json_integer(3));
    golden_expect_skipped(root, "refused: rope");

    root = golden_root("model_nope.json");
    json_object_set_new(json_object_get(root, "config"), "pe", json_string("shaw"));
    golden_expect_skipped(root, "the file has 29 parameters, the network here 33");

    root = golden_root("model_nope.json");
    json_object_set_new(json_object_get(root, "config"), "ln_eps", json_real(1e-6));
    golden_expect_skipped(root, "ln_eps");

    root = golden_root("model_nope.json");
    json_object_set_new(json_object_get(root, "optimizer"), "name", json_string("SGD"));
    golden_expect_skipped(root, "not AdamW");
}

Test(model_golden, an_unknown_key_skips_one_check)
{
    json_t *root = golden_root("model_nope.json");
    json_object_set_new(json_object_get(root, "f64"), "hessian", json_array());
    golden_seen seen = {.compared = 0};
    golden_report report = golden_run_root(root, golden_keep_unless_passed, &seen);
    cr_expect(report.skipped == 1 && report.failed == 0, "%d skipped, %d failed", report.skipped, report.failed);
    cr_expect_str_eq(seen.id, "nope.hessian");
    json_decref(root);
}

Test(model_golden, a_file_that_does_not_hold_together_is_an_error)
{
    static const struct {
        const char *section, *key, *words;
        int value;
    } faults[] = {
        {"config", "n_heads", "no multiple of n_heads", 5},
        {"config", "T", "are not rows of 7", 7},
        {"config", "vocab", "outside the vocabulary of 2", 2},
        {"config", "d_model", "config.d_model is no whole number", -1},
        {"optimizer", "eps", "train.epsilon", 7},
    };
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        json_t *root = golden_root("model_nope.json");
        golden_report report = {0, 0, 0};
        json_object_set_new(json_object_get(root, faults[i].section), faults[i].key, json_integer(faults[i].value));
        cr_expect_eq(golden_model_run(r, "it.json", root, NULL, NULL, &report, &e), -1, "%s", faults[i].key);
        cr_expect_not_null(strstr(e.message, faults[i].words), "'%s' in '%s'", faults[i].words, e.message);
        cr_expect_not_null(strstr(e.message, "it.json"), "%s", e.message);
        error_clear(&e);
        json_decref(root);
    }
    registry_free(r);
}
