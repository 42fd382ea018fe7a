/* The rows of a run's configuration: defaults, bounds, canonical text and identity. */
#include <criterion/criterion.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "rng.h"
#include "scratch.h"
#include "settings.h"
#include "utf8.h"

static char *key_of(const char *settings, char key[CONFIG_KEY_SIZE])
{
    run_config c;
    setting_checked(&c, settings);
    config_key(&c, key);
    return key;
}

/* ------------------------------------------------------------------------------------------------ the table */

Test(config, the_table_is_sound)
{
    error e = ERROR_INIT;
    cr_assert(options_check_table(config_rows, "config", sizeof(run_config), &e) == 0, "%s", e.message);
    for (const pe_option *row = config_rows; row->name; row++) {
        const char *dot = strchr(row->name, '.');
        cr_assert(!dot || !strchr(dot + 1, '.'), "%s", row->name);
        cr_assert(strlen(row->help) > 10 && strlen(row->help) < 120 && !strchr(row->help, '\n'), "%s", row->name);
    }
}

/* A record's canonical text leaves defaults out, so a default that changes silently would give old records a new
 * meaning. If this test must change, the format number must too. */
Test(config, defaults_of_format_1)
{
    static const char *const expected[] = {
        "encoding=",
        "task=",
        "seed=1",
        "model.width=64",
        "model.layers=2",
        "model.heads=4",
        "model.mlp=4",
        "model.norm=layer",
        "model.gelu=tanh",
        "model.causal=true",
        "model.tied_head=false",
        "model.share_layers=false",
        "model.scale_embedding=false",
        "model.init_deviation=0.02",
        "train.min_len=auto",
        "train.len=32",
        "train.lengths=uniform",
        "train.length_ratio=0.9",
        "train.length_weights=1",
        "train.steps=2000",
        "train.batch=64",
        "train.lr=0.001",
        "train.min_lr=0.1",
        "train.warmup=auto",
        "train.schedule=cosine",
        "train.weight_decay=0.01",
        "train.decay=matrices",
        "train.clip=1",
        "train.beta1=0.9",
        "train.beta2=0.98",
        "train.epsilon=1e-08",
        "train.check_every=200",
        "train.stop_at=0",
        "train.select=last",
        "train.positions=false",
        "train.data=0",
        "eval.ratios=1;1.5;2;3;4",
        "eval.bins=",
        "eval.items=256",
        "eval.decode=false",
        "eval.tokens=65536",
        "eval.stride=0",
        "eval.map=",
        "eval.encoding_options=",
        "eval.fit=0.99",
        "eval.probe=false",
        "eval.shuffle=false",
        "extend.methods=",
        "extend.factors=2",
        "extend.steps=0;50;200;1000",
        "extend.lr=auto",
        "extend.task_options=",
    };
    run_config c;
    size_t i = 0;
    config_defaults(&c);
    for (const pe_option *row = config_rows; row->name; row++, i++) {
        char value[1024], text[2048];
        options_print_value(row, &c, value, sizeof value);
        snprintf(text, sizeof text, "%s=%s", row->name, strcmp(value, "\"\"") == 0 ? "" : value);
        cr_assert(i < sizeof expected / sizeof *expected, "one more: %s", text);
        cr_assert_str_eq(text, expected[i]);
    }
    cr_assert_eq(i, sizeof expected / sizeof *expected);
    cr_assert_eq(c.model.width, 64);
    cr_assert_eq(c.train.schedule, CONFIG_SCHEDULE_COSINE);
    cr_assert_eq(c.train.decay, CONFIG_DECAY_MATRICES);
    cr_assert_eq(c.eval.ratios.count, 5);
    cr_assert_eq(c.eval.ratios.value[1], 1.5);
}

Test(config, choices_are_the_enums)
{
    static const struct {
        const char *setting;
        int value;
        size_t offset;
    } cases[] = {
        {"model.norm=rms", CONFIG_NORM_RMS, offsetof(run_config, model.norm)},
        {"model.gelu=exact", CONFIG_GELU_EXACT, offsetof(run_config, model.gelu)},
        {"train.lengths=fixed", CONFIG_LENGTHS_FIXED, offsetof(run_config, train.lengths)},
        {"train.lengths=geometric", CONFIG_LENGTHS_GEOMETRIC, offsetof(run_config, train.lengths)},
        {"train.lengths=weights", CONFIG_LENGTHS_WEIGHTS, offsetof(run_config, train.lengths)},
        {"train.decay=two_dim", CONFIG_DECAY_TWO_DIM, offsetof(run_config, train.decay)},
        {"train.decay=all", CONFIG_DECAY_ALL, offsetof(run_config, train.decay)},
        {"train.schedule=constant", CONFIG_SCHEDULE_CONSTANT, offsetof(run_config, train.schedule)},
        {"train.schedule=linear", CONFIG_SCHEDULE_LINEAR, offsetof(run_config, train.schedule)},
        {"train.select=best", CONFIG_SELECT_BEST, offsetof(run_config, train.select)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_config c;
        error e = ERROR_INIT;
        cr_assert(setting_apply(&c, cases[i].setting, &e) == 0, "%s", e.message);
        cr_assert_eq(*(int *)((char *)&c + cases[i].offset), cases[i].value, "%s", cases[i].setting);
    }
}

/* ------------------------------------------------------------------------------------------------ setting */

Test(config, values_that_are_refused)
{
    static const char *const cases[] = {
        "train.steps=12a8",  "train.steps=",       "train.steps=1.5",  "train.steps=0",        "train.steps=1e12",
        "train.steps=0x10",  "train.lr=1e-3x",     "train.lr=nan",     "train.lr=inf",         "train.lr=-1",
        "train.lr=0,001",    "train.min_lr=1.01",  "train.beta1=1",    "train.stop_at=1.5",    "model.width=0",
        "model.width=64 32", "model.causal=maybe", "model.norm=batch", "train.schedule=cosin", "seed=-1",
        "seed=2147483648",   "eval.ratios=",       "eval.ratios=1;;2", "eval.ratios=1;x",      "eval.ratios=0",
        "eval.fit=2",        "train.steps=auto",   "train.warmup=-1",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_config c;
        error e = ERROR_INIT;
        char left[CONFIG_TEXT_MAX];
        cr_assert(setting_apply(&c, cases[i], &e) < 0, "%s was taken", cases[i]);
        cr_assert_eq(e.kind, ERROR_USAGE, "%s", cases[i]);
        cr_assert(strncmp(e.message, cases[i], strcspn(cases[i], "=")) == 0, "%s: %s", cases[i], e.message);
        config_print(&c, left, sizeof left);
        cr_assert_str_eq(left, "format=1\n", "%s changed something", cases[i]);
    }
}

Test(config, unknown_names_and_what_was_meant)
{
    static const char *const cases[][2] = {
        {"learing_rate", "train.lr"},
        {"learning_rate", "train.lr"},
        {"lr", "train.lr"},
        {"model.lr", "train.lr"},
        {"train.stepz", "train.steps"},
        {"batch_size", "train.batch"},
        {"n_layers", "model.layers"},
        {"modle.width", "model.width"},
        {"encodings", "encoding"},
        {"tasks", "task"},
        {"seeds", "seed"},
        {"model.widht", "model.width"},
        {"d_model", "model.width"},
        {"eval.length", "train.len"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_config c;
        error e = ERROR_INIT;
        char expected[256];
        config_defaults(&c);
        snprintf(expected, sizeof expected, "unknown key '%s'; did you mean '%s'?", cases[i][0], cases[i][1]);
        cr_assert(config_set(&c, cases[i][0], "1", &e) < 0);
        cr_assert_eq(e.kind, ERROR_USAGE);
        cr_assert_str_eq(e.message, expected);
    }
    error e = ERROR_INIT;
    cr_assert(config_row("quux_and_more", &e) == NULL);
    cr_assert_str_eq(e.message, "unknown key 'quux_and_more'; 'posbench help config' lists them");
}

Test(config, texts_hold_one_line_of_utf8)
{
    static const char *const bad[] = {"a\nb",     "a\tb",         "\x7f",     "a\xff",
                                      "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82", "\xf4\x90\x80\x80"};
    static const char *const good[] = {"text(file=stra\xc3\x9f"
                                       "e.txt)",
                                       "\xe2\x82\xac", "\xf0\x9f\x98\x80", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        run_config c;
        error e = ERROR_INIT;
        config_defaults(&c);
        cr_assert(config_set(&c, "task", bad[i], &e) < 0, "case %zu", i);
        cr_assert(strncmp(e.message, "task: the value", 15) == 0, "%s", e.message);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        run_config c;
        error e = ERROR_INIT;
        config_defaults(&c);
        cr_assert(config_set(&c, "task", good[i], &e) == 0, "%s", e.message);
        cr_assert_eq(utf8_prefix(good[i]), strlen(good[i]));
    }
    cr_assert_eq(utf8_prefix("ab\xc3\xbc\xff"), 4);
}

/* ------------------------------------------------------------------------------------------------ identity (D04) */

Test(config, one_identity_however_it_is_written)
{
    static const char *const same[] = {
        "encoding=rope(base=500,layout=interleaved)|task=sort(symbols=64)|train.lr=0.001|seed=3",
        "seed=3|task=sort(symbols=64)|encoding=rope(layout=interleaved,base=500)",
        "encoding= rope ( layout = interleaved , base = 5e2 ) |task= sort( symbols = 64 ) |seed=3|train.lr=1e-3",
        "seed=03|encoding=[rope(base=500.0,layout=interleaved)]|task=sort(symbols=64)|train.steps=2000|train.warmup="
        "100",
        "seed=3|encoding=rope(base=500,layout=interleaved)@identity|task=sort(symbols=64)|train.min_len=1|train.warmup="
        "auto",
        "seed=3|encoding=rope(base=500,layout=interleaved)|task=sort(symbols=64)|eval.ratios=4; 3;2 "
        ";1.50;1|model.causal=yes",
        "seed=3|encoding=rope(base=500,layout=interleaved)|task=sort(symbols=64)|eval.map=|eval.bins=  "
        "|train.min_len=auto",
    };
    static const char *const others[] = {
        "encoding=rope(base=500,layout=interleaved)|task=sort(symbols=64)|seed=4",
        "encoding=rope(base=501,layout=interleaved)|task=sort(symbols=64)|seed=3",
        "encoding=rope(base=500,layout=interleaved)|task=sort(symbols=65)|seed=3|train.len=16",
        "encoding=rope(base=500,layout=interleaved)|task=sort(symbols=64)|seed=3|train.lr=0.0010000000000000002",
        "encoding=rope(base=500,layout=interleaved)|task=sort(symbols=64)|seed=3|eval.map=identity",
        "encoding=rope(base=500,layout=interleaved)@interpolate|task=sort(symbols=64)|seed=3",
        "encoding=rope(base=500,layout=interleaved)|task=sort(symbols=64)|seed=3|train.min_len=2",
    };
    char first[CONFIG_KEY_SIZE], key[CONFIG_KEY_SIZE], seen[8][CONFIG_KEY_SIZE];
    /* 4 * 16 <= 64 symbols, so the lengths fit the task */
    char settings[512];
#define SIZED(text) (snprintf(settings, sizeof settings, "train.len=16|%s", text), settings)
    key_of(SIZED(same[0]), first);
    for (size_t i = 1; i < sizeof same / sizeof *same; i++)
        cr_assert_str_eq(key_of(SIZED(same[i]), key), first, "%s", same[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        key_of(SIZED(others[i]), seen[i]);
        cr_assert_str_neq(seen[i], first, "%s", others[i]);
        for (size_t j = 0; j < i; j++)
            cr_assert_str_neq(seen[i], seen[j]);
    }
#undef SIZED
}

Test(config, range_order_is_no_part_of_the_identity)
{
    char a[CONFIG_KEY_SIZE], b[CONFIG_KEY_SIZE];
    cr_assert_str_eq(key_of("encoding=nope|task=repeat_copy|eval.bins=1-10;11-20;64", a),
                     key_of("encoding=nope|task=repeat_copy|eval.bins= 64 - 64; 11-20 ;1 -10", b));
}

/* SHA-256 of the bytes, by sha256sum. */
Test(config, key_is_the_hash_of_the_text)
{
    run_config c;
    char text[CONFIG_TEXT_MAX], key[CONFIG_KEY_SIZE];
    setting_checked(&c, "encoding=rope|task=sort|seed=2");
    int length = config_print(&c, text, sizeof text);
    cr_assert_str_eq(text, "format=1\nencoding=rope\ntask=sort\nseed=2\ntrain.min_len=1\ntrain.warmup=100\n");
    cr_assert_eq(length, (int)strlen(text));
    config_key(&c, key);
    cr_assert_str_eq(key, "64bd863d5769816f78ede7f1d13d3bf5ea6cdba9a9999fb747a0381921f439c5");
}

/* ------------------------------------------------------------------------------------------------ canonical text */

/* A value that the row takes, as text. */
static void random_value(const pe_option *row, rng *r, char *text, size_t size)
{
    double share = rng_uniform(r), low = row->least, high = row->most;
    char number[64];
    text[0] = '\0';
    switch (row->kind) {
    case PE_OPTION_INT:
        snprintf(text, size, "%.0f", floor(low + share * share * share * (high - low)));
        return;
    case PE_OPTION_REAL:
        number_print(low + share * share * (high - low), text, size);
        return;
    case PE_OPTION_BOOL:
        snprintf(text, size, "%s", share < 0.5 ? "false" : "true");
        return;
    case PE_OPTION_CHOICE: {
        size_t length = strcspn(row->choices, "|"); /* the first or the last */
        snprintf(text, size, "%.*s", (int)length, row->choices);
        if (share < 0.5)
            snprintf(text, size, "%s", strrchr(row->choices, '|') + 1);
        return;
    }
    case PE_OPTION_LIST:
        for (int i = 1 + (int)rng_below(r, 200); i > 0; i--) {
            number_print(low + rng_uniform(r) * (high - low), number, sizeof number);
            size_t length = strlen(text);
            snprintf(text + length, size - length, "%s%s", length ? ";" : "", number);
        }
        return;
    case PE_OPTION_TEXT:
        for (size_t i = 0, n = rng_below(r, 60); i < n; i++)
            text[i] = (char)(' ' + rng_below(r, 95)), text[i + 1] = '\0';
        text[0] = text[0] ? 'x' : '\0'; /* a quote would begin quoted text */
        return;
    }
}

static void round_trips(int count)
{
    for (int i = 0; i < count; i++) {
        rng r = rng_stream(7, RNG_TEST, (uint64_t)i, 0);
        run_config c, back;
        error e = ERROR_INIT;
        char value[8192], text[CONFIG_TEXT_MAX], again[CONFIG_TEXT_MAX];
        config_defaults(&c);
        for (const pe_option *row = config_rows; row->name; row++) {
            if (rng_below(&r, 2))
                continue;
            random_value(row, &r, value, sizeof value);
            cr_assert(config_set(&c, row->name, value, &e) == 0, "%s", e.message);
        }
        config_print(&c, text, sizeof text);
        cr_assert(config_read(&back, text, &e) == 0, "%s\n%s", e.message, text);
        config_print(&back, again, sizeof again);
        cr_assert_str_eq(again, text);
    }
}

Test(config, round_trip)
{
    round_trips(200);
}

Test(config, round_trip_and_key_in_a_locale_with_commas)
{
    static const char settings[] = "encoding=alibi|task=repeat_copy|train.lr=0.00025|eval.ratios=1;1.25";
    scratch s;
    char plain[CONFIG_KEY_SIZE], comma[CONFIG_KEY_SIZE];
    key_of(settings, plain);
    scratch_open(&s);
    if (!scratch_comma_locale(&s)) {
        scratch_close(&s);
        cr_skip_test("no locale with a decimal comma here");
    }
    round_trips(50);
    cr_assert_str_eq(key_of(settings, comma), plain);
    scratch_close(&s);
}

Test(config, texts_that_are_not_read)
{
    static const char *const cases[][2] = {
        {"", "it begins with ''"},
        {"format=2\n", "it begins with 'format=2', but this program reads format=1"},
        {"encoding=rope\n", "it begins with 'encoding=rope'"},
        {"format=1\nquux=1\n", "unknown key 'quux'"},
        {"format=1\nseed\n", "'seed' is not name=value"},
        {"format=1\nseed=1\nseed=1\n", "'seed' is given twice"},
        {"format=1\nseed=x\n", "seed=x: not a number"},
        {"format=1\n\nseed=1\n", "'' is not name=value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_config c;
        error e = ERROR_INIT;
        cr_assert(config_read(&c, cases[i][0], &e) < 0, "%s", cases[i][0]);
        cr_assert_eq(e.kind, ERROR_USAGE);
        cr_assert(strstr(e.message, cases[i][1]) != NULL, "%s", e.message);
    }
}
