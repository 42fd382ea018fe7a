/* The distribution of training lengths: its draws, its probabilities, what is refused. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lengths.h"
#include "rng.h"
#include "settings.h"

enum { LENGTHS_DRAWS = 200000 };

static run_config lengths_config(const char *settings)
{
    run_config c;
    char text[1024];
    snprintf(text, sizeof text, "encoding=nope|task=repeat_copy|%s", settings);
    setting_checked(&c, text);
    return c;
}

/* Of the revision before there was a choice: uniform draws may never change, or old records would name other runs. */
Test(lengths, uniform_draws_are_those_of_format_1)
{
    static const int training[] = {13, 13, 5, 29, 6, 11, 22, 27, 12, 27, 27, 16, 27, 27, 28, 4},
                     validation[] = {39, 49, 17, 44};
    run_config c = lengths_config("train.len=32");
    for (int i = 0; i < 16; i++) {
        c.seed = 1 + i / 8;
        cr_assert_eq(lengths_draw(&c, (uint64_t)(i / 4 % 2), (uint32_t)(i % 4)), training[i], "draw %d", i);
    }
    c = lengths_config("train.min_len=5|train.len=64|seed=7");
    for (int i = 0; i < 4; i++)
        cr_assert_eq(lengths_draw(&c, UINT64_MAX, (uint32_t)i), validation[i], "draw %d", i);
}

Test(lengths, fixed_is_one_length)
{
    run_config c = lengths_config("train.len=20|train.lengths=fixed");
    cr_assert_eq(c.train.min_len, 20);
    for (uint64_t step = 0; step < 100; step++)
        cr_assert_eq(lengths_draw(&c, step, 3), 20);
    cr_assert_eq(lengths_probability(&c, 20), 1);
    cr_assert_eq(lengths_probability(&c, 19), 0);
    cr_assert_eq(lengths_mean(&c), 20);
}

/* Pearson's statistic of many draws against the probabilities; 1e-6 of its upper tail by Wilson and Hilferty. */
static void lengths_fit(const run_config *c, const char *what)
{
    int *seen = calloc((size_t)c->train.len + 1, sizeof *seen), cells = 0;
    double chi = 0, sum = 0, total = 0;
    for (int i = 0; i < LENGTHS_DRAWS; i++) {
        int len = lengths_draw(c, (uint64_t)(i / 64), (uint32_t)(i % 64));
        cr_assert(len >= c->train.min_len && len <= c->train.len, "%s drew %d", what, len);
        seen[len]++;
        sum += len;
    }
    for (int len = c->train.min_len; len <= c->train.len; len++) {
        double p = lengths_probability(c, len), expected = p * LENGTHS_DRAWS;
        total += p;
        if (p == 0) {
            cr_assert_eq(seen[len], 0, "%s drew %d", what, len);
            continue;
        }
        cr_assert_geq(expected, 5, "%s: too few draws for length %d", what, len);
        chi += (seen[len] - expected) * (seen[len] - expected) / expected;
        cells++;
    }
    double f = cells - 1, limit = f * pow(1 - 2 / (9 * f) + 4.75 * sqrt(2 / (9 * f)), 3);
    cr_assert(fabs(total - 1) < 1e-12, "%s: probabilities add up to %.15g", what, total);
    cr_assert_lt(chi, limit, "%s: chi-square %g of %d cells, limit %g", what, chi, cells, limit);
    cr_assert(fabs(sum / LENGTHS_DRAWS - lengths_mean(c)) < 0.02 * c->train.len, "%s: mean %g, not %g", what,
              sum / LENGTHS_DRAWS, lengths_mean(c));
    free(seen);
}

Test(lengths, frequencies_are_the_probabilities)
{
    static const char *const cases[] = {
        "train.len=32",
        "train.len=20|train.min_len=7",
        "train.len=32|train.lengths=geometric",
        "train.len=10|train.lengths=geometric|train.length_ratio=0.5",
        "train.len=16|train.min_len=3|train.lengths=geometric|train.length_ratio=1.3",
        "train.len=16|train.lengths=geometric|train.length_ratio=1",
        "train.len=32|train.lengths=weights|train.length_weights=4;2;1;1",
        "train.len=32|train.min_len=2|train.lengths=weights|train.length_weights=1;0;3;0.5",
        "train.len=9|train.lengths=weights|train.length_weights=9;8;7;6;5;4;3;2;1",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int seed = 1; seed <= 2; seed++) {
            run_config c = lengths_config(cases[i]);
            c.seed = seed;
            lengths_fit(&c, cases[i]);
        }
}

/* By hand: halves of four lengths are 8/15, 4/15, 2/15, 1/15; five lengths in three bands stand 1, 2, 2. */
Test(lengths, probabilities_by_hand)
{
    run_config c = lengths_config("train.len=4|train.lengths=geometric|train.length_ratio=0.5");
    static const double halves[] = {8, 4, 2, 1};
    for (int i = 0; i < 4; i++)
        cr_assert(fabs(lengths_probability(&c, i + 1) - halves[i] / 15) < 1e-15);
    cr_assert(fabs(lengths_mean(&c) - 26.0 / 15) < 1e-15);
    c = lengths_config("train.len=7|train.min_len=3|train.lengths=weights|train.length_weights=6;3;1");
    static const double bands[] = {0.6, 0.15, 0.15, 0.05, 0.05};
    for (int i = 0; i < 5; i++)
        cr_assert(fabs(lengths_probability(&c, i + 3) - bands[i]) < 1e-15, "length %d", i + 3);
    cr_assert_eq(lengths_probability(&c, 2), 0);
    cr_assert_eq(lengths_probability(&c, 8), 0);
}

/* A long range under a steep ratio: what can hardly be drawn must not be drawn wrongly. */
Test(lengths, steep_ratios_stay_in_range)
{
    static const char *const cases[] = {
        "train.len=5000|train.lengths=geometric|train.length_ratio=0.001",
        "train.len=5000|train.lengths=geometric|train.length_ratio=1000",
        "train.len=5000|train.lengths=geometric|train.length_ratio=0.9999999",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_config c = lengths_config(cases[i]);
        for (uint64_t step = 0; step < 20000; step++) {
            int len = lengths_draw(&c, step, 0);
            cr_assert(len >= 1 && len <= 5000, "%s drew %d", cases[i], len);
            cr_assert(i == 2 || (i == 0 ? len < 10 : len > 4990), "%s drew %d", cases[i], len);
        }
    }
}

Test(lengths, what_does_not_fit_is_refused)
{
    static const struct {
        const char *settings, *row, *message;
    } cases[] = {
        {"train.length_ratio=0.5", "train.length_ratio", "it belongs to train.lengths=geometric"},
        {"train.lengths=weights|train.length_ratio=0.5", "train.length_ratio", "belongs to"},
        {"train.length_weights=1;2", "train.length_weights", "they belong to train.lengths=weights"},
        {"train.length_weights=2", "train.length_weights", "they belong"},
        {"train.lengths=fixed|train.min_len=4", "train.min_len", "trains at train.len alone"},
        {"train.lengths=weights|train.length_weights=1;0", "train.length_weights", "the last is 0"},
        {"train.lengths=weights|train.length_weights=0", "train.length_weights", "the last is 0"},
        {"train.lengths=weights|train.len=2|train.length_weights=1;1;1", "train.length_weights",
         "3 bands, but from train.min_len to train.len there are 2 lengths"},
        {"train.lengths=geometric|train.len=8|train.min_len=8", "train.lengths", "there is one length only"},
        {"train.lengths=weights|train.len=8|train.min_len=8", "train.lengths", "there is one length only"},
    };
    registry *r = setting_registry();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        run_config c;
        error e = ERROR_INIT;
        const char *row = "none";
        snprintf(text, sizeof text, "encoding=nope|task=repeat_copy|%s", cases[i].settings);
        cr_assert(setting_apply(&c, text, &e) == 0, "%s: %s", text, e.message);
        cr_assert(config_check_row(&c, r, &row, &e) < 0, "%s was taken", text);
        cr_assert_eq(e.kind, ERROR_USAGE);
        cr_assert_str_eq(row, cases[i].row, "%s: %s", text, e.message);
        cr_assert(strstr(e.message, cases[i].message), "%s: %s", text, e.message);
    }
    registry_free(r);
}

/* Weights are of bands: their order is part of what a run is. */
Test(lengths, the_order_of_weights_is_kept)
{
    char text[CONFIG_TEXT_MAX];
    run_config c = lengths_config("train.lengths=weights|train.length_weights= 4;1 ; 2");
    config_print(&c, text, sizeof text);
    cr_assert(strstr(text, "\ntrain.lengths=weights\ntrain.length_weights=4;1;2\n"), "%s", text);
}
