/* What fits together in a run's configuration, and the lengths and maps that follow from it. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "settings.h"

/* ------------------------------------------------------------------------------------------------ what fits */

Test(config_check, what_cannot_run_is_refused_with_the_row_to_blame)
{
    static const struct {
        const char *settings, *row, *message;
    } cases[] = {
        {"task=sort", "encoding", "no encoding is given"},
        {"encoding=nope", "task", "no task is given"},
        {"encoding=ropee|task=sort", "encoding", "unknown encoding 'ropee'; did you mean 'rope'?"},
        {"encoding=rope(bas=2)|task=sort", "encoding", "did you mean 'base'?"},
        {"encoding=nope|task=sorted", "task", "did you mean 'sort'?"},
        {"encoding=nope|task=sort(symbol=3)", "task", "did you mean 'symbols'?"},
        {"encoding=nope|task=sort(symbols=16)", "task", ""},
        {"encoding=nope|task=sort|eval.map=clamb", "eval.map", "did you mean 'clamp'?"},
        {"encoding=nope|task=sort|model.heads=3", "model.heads", "3 heads do not divide model.width, 64"},
        {"encoding=rope|task=sort|model.width=12|model.heads=4", "encoding", "head"},
        {"encoding=[rope,nope,nope]|task=sort", "encoding", "3"},
        {"encoding=rope+rope|task=sort", "encoding", "rope"},
        {"encoding=nope|task=text|model.causal=false", "task", "has no meaning in a bidirectional network"},
        {"encoding=fox|task=sort|model.causal=false", "encoding", "fox has no meaning without a causal mask"},
        {"encoding=nope|task=sort|train.min_len=33", "train.min_len", "33 is longer than train.len, 32"},
        {"encoding=nope|task=sort|train.steps=50|train.warmup=51", "train.warmup",
         "51 steps of warm-up, but train.steps is 50"},
        {"encoding=nope|task=sort|eval.bins=51-100;1-51", "eval.bins", "the ranges 1-51 and 51-100 overlap"},
        {"encoding=nope|task=sort|eval.bins=100-51", "eval.bins", "'100-51' is no range of lengths"},
        {"encoding=nope|task=sort|eval.bins=1-5;", "eval.bins", "'' is no range of lengths"},
        {"encoding=nope|task=sort|eval.bins=0-5", "eval.bins", "'0-5' is no range of lengths"},
        {"encoding=nope|task=sort|eval.bins=1-5|eval.ratios=1;2", "eval.ratios", "eval.bins are given too"},
        {"encoding=nope|task=sort|eval.ratios=1;1.01", "eval.ratios", "two ratios give the same length, 32"},
        {"encoding=nope|task=sort|eval.ratios=0.01", "eval.ratios",
         "ratio 0.01 of train.len 32 is no length from 1 to"},
        {"encoding=nope|task=text|eval.bins=1-50", "eval.bins", "a language task is tested at single lengths"},
        {"encoding=rope|task=sort|eval.encoding_options=rope(bas=2)", "eval.encoding_options", "did you mean 'base'?"},
        {"encoding=rope|task=sort|eval.encoding_options=ropee(base=2)", "eval.encoding_options", "did you mean 'rope'?"},
        {"encoding=rope|task=sort|eval.encoding_options=rope", "eval.encoding_options", "no option is given"},
        {"encoding=rope|task=sort|eval.encoding_options=rope(base=2)@clamp", "eval.encoding_options", "'@clamp' is a position map"},
        {"encoding=rope|task=sort|eval.encoding_options=rope(base=2)+rope(base=3)", "eval.encoding_options",
         "rope is given options twice"},
        {"encoding=[rope,nope]|task=sort|eval.encoding_options=alibi(bias_max=4)", "eval.encoding_options",
         "there is no alibi in [rope,nope] to give other options to"},
        {"encoding=rope|task=sort|eval.encoding_options=rope(fraction=0.1)", "eval.encoding_options", "of head_dim"},
        {"encoding=learned(rows=300)|task=sort|eval.encoding_options=learned(rows=299)", "eval.encoding_options",
         "its table is 300 x 64 in training, but table is 299 x 64 under these options"},
        {"encoding=shaw|task=sort|eval.encoding_options=shaw(value=false)", "eval.encoding_options",
         "shaw has 2 parameters in training and 1 under these options"},
        {"encoding=learned@task|task=sort", "encoding",
         "task sort proposes no positions, but the map task takes them from the task"},
        {"encoding=learned|task=sort|eval.map=task", "eval.map", "task sort proposes no positions"},
        {"encoding=learned@task(start=auto)|task=text", "encoding", "task text proposes no positions"},
        {"encoding=learned(rows=32)@task|task=unique_copy", "encoding",
         "learned: training reaches position 32 (map task), but the last that has a meaning is 31"},
        {"encoding=[nope,learned(rows=40)]@task(start=8)|task=unique_copy", "encoding", "reaches position 40"},
        {"encoding=shaw@task|task=unique_copy", "encoding", "shaw needs positions that do not decrease"},
        {"encoding=rope@shift|task=sort", "encoding", "shift: span=auto shifts as far as positions have a meaning"},
        {"encoding=rope@random(span=200)|task=repeat_copy", "encoding",
         "random: 258 tokens need that many different positions, but span=200"},
        {"encoding=nope|task=text|eval.stride=33", "eval.stride", "windows 33 tokens apart would skip text"},
    };
    registry *r = setting_registry();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_config c;
        error e = ERROR_INIT;
        const char *row = "none";
        cr_assert(setting_apply(&c, cases[i].settings, &e) == 0, "%s: %s", cases[i].settings, e.message);
        run_config again = c;
        cr_assert(config_check_row(&c, r, &row, &e) < 0, "%s was taken", cases[i].settings);
        cr_assert_eq(e.kind, ERROR_USAGE);
        cr_assert_str_eq(row, cases[i].row, "%s: %s: %s", cases[i].settings, row, e.message);
        cr_assert(strstr(e.message, cases[i].message) != NULL, "%s: %s", cases[i].settings, e.message);
        error told = ERROR_INIT;
        char prefix[64];
        snprintf(prefix, sizeof prefix, "%s: ", cases[i].row);
        cr_assert(config_check(&again, r, &told) < 0);
        cr_assert(strncmp(told.message, prefix, strlen(prefix)) == 0, "%s", told.message);
    }
    registry_free(r);
}

/* A table that ends is a fact about the encoding that the run measures and records; it is no reason to refuse the run.
 */
Test(config_check, lengths_past_a_table_are_no_error)
{
    run_config c;
    setting_checked(&c, "encoding=learned|task=repeat_copy|eval.ratios=1;16");
    setting_checked(&c, "encoding=learned(rows=8)|task=repeat_copy|train.len=2|eval.ratios=1;64");
    setting_checked(&c, "encoding=[learned,nope]|task=repeat_copy|eval.map=clamp");
    setting_checked(&c, "encoding=learned(rows=33)@task|task=unique_copy|eval.ratios=1;2");
    setting_checked(&c, "encoding=rope@random(span=258)|task=repeat_copy");
    setting_checked(&c, "encoding=rope@random(span=66,test=identity)|task=repeat_copy");
    setting_checked(&c, "encoding=learned@shift|task=repeat_copy|eval.ratios=1;16");
}

Test(config_check, auto_becomes_a_number)
{
    static const struct {
        const char *settings;
        int min_len, warmup;
    } cases[] = {
        {"encoding=nope|task=unique_copy", 1, 100},
        {"encoding=nope|task=unique_copy|train.steps=999", 1, 99},
        {"encoding=nope|task=unique_copy|train.steps=1000", 1, 100},
        {"encoding=nope|task=unique_copy|train.steps=9", 1, 0},
        {"encoding=nope|task=mqar(pairs=6)|train.steps=50", 24, 5},
        {"encoding=nope|task=mqar(pairs=8)", 32, 100},
        {"encoding=nope|task=text|train.len=48", 48, 100},
        {"encoding=nope|task=text|train.min_len=8", 8, 100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_config c, again;
        setting_checked(&c, cases[i].settings);
        cr_assert_eq(c.train.min_len, cases[i].min_len, "%s: %d", cases[i].settings, c.train.min_len);
        cr_assert_eq(c.train.warmup, cases[i].warmup, "%s: %d", cases[i].settings, c.train.warmup);
        error e = ERROR_INIT;
        registry *r = setting_registry();
        again = c;
        cr_assert(config_check(&again, r, &e) == 0, "%s", e.message);
        registry_free(r);
        char first[CONFIG_TEXT_MAX], second[CONFIG_TEXT_MAX];
        config_print(&c, first, sizeof first);
        config_print(&again, second, sizeof second);
        cr_assert_str_eq(second, first, "a second check changes something");
    }
}

/* ------------------------------------------------------------------------------------------------ test lengths */

Test(config_check, bins_from_ratios)
{
    run_config c;
    length_bin b[CONFIG_BINS_MAX];
    error e = ERROR_INIT;
    cr_assert(setting_apply(&c, "train.len=33|eval.ratios=4;1;1.5", &e) == 0);
    cr_assert_eq(config_bins(&c, b, &e), 3);
    const int expected[] = {33, 50, 132};
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(b[i].min_len, expected[i]);
        cr_assert_eq(b[i].max_len, expected[i]);
        cr_assert_eq(b[i].ratio, expected[i] / 33.0);
    }
}

Test(config_check, bins_from_ranges)
{
    run_config c;
    length_bin b[CONFIG_BINS_MAX];
    error e = ERROR_INIT;
    cr_assert(setting_apply(&c, "train.len=50|eval.bins=101-150;1-50;51 - 100;200", &e) == 0);
    cr_assert_eq(config_bins(&c, b, &e), 4);
    const int low[] = {1, 51, 101, 200}, high[] = {50, 100, 150, 200};
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(b[i].min_len, low[i]);
        cr_assert_eq(b[i].max_len, high[i]);
        cr_assert_eq(b[i].ratio, high[i] / 50.0);
    }
}

Test(config_check, as_many_bins_as_there_is_room_for)
{
    for (int count = CONFIG_BINS_MAX; count <= CONFIG_BINS_MAX + 1; count++) {
        run_config c;
        length_bin b[CONFIG_BINS_MAX];
        error e = ERROR_INIT;
        config_defaults(&c);
        c.eval.ratios.count = count;
        for (int i = 0; i < count; i++)
            c.eval.ratios.value[i] = i + 1;
        char bins[PE_TEXT_MAX] = "";
        for (int i = 0; i < count; i++)
            snprintf(bins + strlen(bins), sizeof bins - strlen(bins), "%s%d", i ? ";" : "", i + 1);
        cr_assert_eq(config_bins(&c, b, &e), count <= CONFIG_BINS_MAX ? count : -1);
        strcpy(c.eval.bins, bins);
        error_clear(&e);
        cr_assert_eq(config_bins(&c, b, &e), count <= CONFIG_BINS_MAX ? count : -1);
    }
}

/* ------------------------------------------------------------------------------------------------ in evaluation */

Test(config_check, encoding_in_evaluation)
{
    static const char *const cases[][4] = {
        {"rope", "", "", "rope"},
        {"rope", "clamp", "", "rope@clamp"},
        {"rope@interpolate", "", "", "rope@interpolate"},
        {"rope@interpolate", "clamp", "", "rope@clamp"},
        {"rope(base=2e4)+alibi@interpolate", "identity", "", "rope(base=20000)+alibi"},
        {"[rope,nope]", "@clamp", "", "[rope,nope]@clamp"},
        {"[rope(base=3,layout=interleaved)@interpolate,nope@interpolate]", "clamp", "",
         "[rope(base=3,layout=interleaved),nope]@clamp"},
        {"[rope@interpolate,nope@interpolate]", "", "", "[rope,nope]@interpolate"},
        /* Options that are not named stay; a default can be named. */
        {"rope(base=3,layout=interleaved)", "", " rope( base = 1e5 ) ", "rope(base=100000,layout=interleaved)"},
        {"rope(base=3)+alibi", "clamp", "alibi(bias_max=4)+rope(base=10000)", "rope+alibi(bias_max=4)@clamp"},
        {"[rope(base=3),alibi+rope]", "", "rope(base=7)", "[rope(base=7),alibi+rope(base=7)]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_config c;
        error e = ERROR_INIT;
        char settings[512], text[STACK_TEXT_MAX];
        snprintf(settings, sizeof settings, "task=repeat_copy|encoding=%s|eval.map=%s|eval.encoding_options=%s",
                 cases[i][0], cases[i][1], cases[i][2]);
        setting_checked(&c, settings);
        registry *r = setting_registry();
        layered_stack stacks;
        cr_assert(config_eval_stacks(&c, r, &stacks, &e) == 0, "%s", e.message);
        layered_print(&stacks, text, sizeof text);
        cr_assert_str_eq(text, cases[i][3]);
        layered_free(&stacks);
        registry_free(r);
    }
}

Test(config_check, options_in_evaluation_have_one_text)
{
    static const char *const same[] = {"alibi(bias_max=4)+rope(base=10000,layout=half)",
                                       " alibi ( bias_max=4.0 ) + rope(layout=half , base=1e4)"};
    char key[2][CONFIG_KEY_SIZE];
    for (int i = 0; i < 2; i++) {
        run_config c;
        char settings[512];
        snprintf(settings, sizeof settings, "task=sort|encoding=rope+alibi|eval.encoding_options=%s", same[i]);
        setting_checked(&c, settings);
        cr_assert_str_eq(c.eval.encoding_options, same[0]);
        config_key(&c, key[i]);
    }
    cr_assert_str_eq(key[0], key[1]);
}
