/* A profile as text, as data, as figures and as a page. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_show.h"
#include "report.h"
#include "scratch.h"
#include "settings.h"

static profile shown_profile(const char *stack, int rows)
{
    error e = ERROR_INIT;
    run_config c;
    profile p;
    registry *r = setting_registry();
    setting_apply(&c, "model.width=16|model.heads=2", &e);
    snprintf(c.encoding, sizeof c.encoding, "%s", stack);
    cr_assert_eq(profile_stack(&c, r, rows, &p, &e), 0, "%s", e.message);
    registry_free(r);
    return p;
}

static void shown_says(const char *text, const char *words)
{
    cr_assert(strstr(text, words), "'%s' is not in:\n%s", words, text);
}

Test(profile_show, text)
{
    buffer b = BUFFER_INIT;
    profile p = shown_profile("sinusoidal+rope+alibi", 32);
    profile_text(&p, 0, &b);
    shown_says(buffer_text(&b), "sinusoidal+rope+alibi: not trained, 32 positions, width 16, 2 heads, 2 layers");
    shown_says(buffer_text(&b), "exactly shift-invariant");
    shown_says(buffer_text(&b),
               "    distance dot product      spread      cosine\n           0      8.0000      0.0000      1.0000\n");
    shown_says(buffer_text(&b), "           4     -0.2500     -0.0156\n");
    shown_says(buffer_text(&b), "It turns 4 planes");
    shown_says(buffer_text(&b), "Even attention would look 7.75 tokens away");
    buffer_free(&b);
    profile_free(&p);
    p = shown_profile("nope", 32);
    profile_text(&p, 0, &b);
    shown_says(buffer_text(&b), "there is nothing to look at");
    buffer_free(&b);
    profile_free(&p);
    p = shown_profile("window(size=4)", 32);
    profile_text(&p, 0, &b);
    shown_says(buffer_text(&b), "           8        -inf        -inf\n");
    buffer_free(&b);
    profile_free(&p);
}

/* Every key has its value, and what is no number is null. */
Test(profile_show, data)
{
    profile p = shown_profile("sinusoidal+pope+window(size=4)", 9);
    json_t *j = profile_json(&p);
    cr_assert(json_is_object(j));
    cr_assert_str_eq(json_string_value(json_object_get(j, "schema")), "posbench-profile/1");
    cr_assert_str_eq(json_string_value(json_object_get(j, "target")), "sinusoidal+pope+window(size=4)");
    cr_assert(json_is_null(json_object_get(j, "hidden_states")) && json_is_null(json_object_get(j, "step")));
    const json_t *t = json_object_get(j, "table"), *bias = json_array_get(json_object_get(j, "biases"), 0);
    cr_assert_eq(json_array_size(json_object_get(t, "dot_mean")), 9);
    cr_assert(json_is_null(json_object_get(json_object_get(t, "probes"), "position_error")));
    cr_assert(json_is_null(json_array_get(json_array_get(json_object_get(bias, "heads"), 0), 8)));
    const json_t *turn = json_array_get(json_object_get(j, "rotations"), 0);
    cr_assert(json_is_null(json_array_get(json_array_get(json_object_get(turn, "bound"), 0), 0)));
    const json_t *layers = json_object_get(json_object_get(j, "attention"), "layers");
    cr_assert_eq(json_array_size(layers), 2);
    cr_assert_eq(json_array_size(json_object_get(json_array_get(layers, 1), "weight_by_distance")), 2);
    json_decref(j);
    profile_free(&p);
}

static int shown_lines(const scratch *s, const char *name)
{
    int lines = 0;
    char *text = scratch_text(s, name);
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    free(text);
    return lines;
}

/* Data of every figure, with gnuplot pictures, and pages that hold them. */
Test(profile_show, a_folder)
{
    scratch room;
    char dir[PATH_MAX];
    error e = ERROR_INIT;
    profile p = shown_profile("sinusoidal+rope+alibi", 600); /* cosines in cells of 2 x 2 */
    scratch_open(&room);
    scratch_path(&room, "out", dir);
    int drawn = profile_write(&p, dir, "plots", PLOT_PNG, &e) == 0;
    if (!drawn) {
        cr_assert(system("gnuplot --version >/dev/null 2>&1") != 0, "%s", e.message);
        shown_says(e.message, "gnuplot is not installed");
    }
    cr_assert_eq(shown_lines(&room, "out/plots/cosine.csv"), 301);
    cr_assert_eq(shown_lines(&room, "out/plots/norms.csv"), 601);
    cr_assert_eq(shown_lines(&room, "out/plots/distance.csv"), 2 * 600 + 1);
    cr_assert_eq(shown_lines(&room, "out/plots/bias.csv"), 2 * 600 + 1);
    static const char *const stems[] = {"cosine", "distance", "spectrum", "components",
                                        "norms",  "bias",     "rotation", "attention"};
    char *page = scratch_text(&room, "out/report.html"), *md = scratch_text(&room, "out/report.md");
    for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "id=\"figure-%s\"", stems[i]);
        shown_says(page, name);
        snprintf(name, sizeof name, "plots/%s.csv", stems[i]);
        shown_says(md, name);
        snprintf(name, sizeof name, "out/plots/%s.svg", stems[i]);
        if (drawn)
            cr_assert_gt(shown_lines(&room, name), 20, "%s", name);
    }
    cr_assert_eq(strstr(page, "Not drawn") == NULL, drawn);
    cr_assert_eq(drawn ? scratch_count(&room, "tmp") : 0, 0);
    free(page);
    free(md);
    json_error_t fault;
    scratch_path(&room, "out/profile.json", dir);
    json_t *data = json_load_file(dir, 0, &fault);
    cr_assert(data != NULL, "%s", fault.text);
    json_decref(data);
    profile_free(&p);
    scratch_close(&room);
}

/* A folder that cannot be made is told by its name. */
Test(profile_show, a_folder_that_cannot_be_made)
{
    error e = ERROR_INIT;
    profile p = shown_profile("alibi", 12);
    cr_assert_lt(profile_write(&p, "/proc/none", "plots", 0, &e), 0);
    cr_assert_eq(e.kind, ERROR_ENVIRONMENT);
    shown_says(e.message, "/proc/none: ");
    profile_free(&p);
}
