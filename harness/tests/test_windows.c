/* Texts in windows: which prediction is scored where, and what a mean of them is. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "evaluate.h"
#include "run.h"
#include "small_run.h"

/* A text of letters, long enough for the three stretches. */
static void windows_write_text(char *path, size_t size)
{
    snprintf(path, size, "/tmp/posbench-text-%d", (int)getpid());
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    for (int i = 0; i < 20000; i++)
        fputc("the quick brown fox. "[i % 21], f);
    fclose(f);
}

Test(windows, both_modes_score_the_same_tokens)
{
    char path[128], settings[512];
    windows_write_text(path, sizeof path);
    snprintf(settings, sizeof settings,
             "encoding=alibi task=text(file=%s) train.len=16 train.steps=30 eval.tokens=500 "
             "eval.stride=4 eval.ratios=1;2;4",
             path);
    run_result r = small_run(settings);
    for (int len = 16; len <= 64; len *= 2) {
        const run_value *windows = small_run_find(&r, len, "loss", "windows"),
                        *sliding = small_run_find(&r, len, "loss", "sliding");
        cr_assert(windows && sliding);
        cr_assert_eq(windows->n, 500);
        cr_assert_eq(sliding->n, 500);
        cr_assert(isfinite(windows->value) && isfinite(sliding->value));
    }
    cr_assert_eq(r.positions_count, 6);
    for (int mode = 4; mode < 6; mode++) { /* windows and sliding at the longest length */
        long scored = 0;
        cr_assert_eq(r.positions[mode].count, 64);
        for (int i = 0; i < 64; i++)
            scored += r.positions[mode].n[i];
        cr_assert_eq(scored, 500);
    }
    cr_assert_eq(r.positions[5].n[0], 1);    /* the text's first window alone */
    cr_assert_eq(r.positions[5].n[63], 110); /* it, and each later one: (500 - 64) / 4 */
    cr_assert_eq(strlen(r.corpus_digest), 64);
    run_result_free(&r);
    unlink(path);
}

/* A long length is never measured on a short text in silence. */
Test(windows, a_window_longer_than_the_text_is_refused)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    char path[128], settings[512];
    windows_write_text(path, sizeof path);
    snprintf(settings, sizeof settings, "encoding=nope task=text(file=%s) train.len=16 train.steps=2 eval.ratios=1;100",
             path);
    run_config c = small_run_config(r, settings);
    run_result out;
    cr_assert_lt(run_execute(&c, r, NULL, &out, &e), 0);
    cr_assert_not_null(strstr(e.message, path), "%s", e.message);
    cr_assert_not_null(strstr(e.message, "1600"), "%s", e.message);
    run_result_free(&out);
    registry_free(r);
    unlink(path);
}

/* Every prediction is scored exactly once, whatever window and stride; a window as long as the text makes all modes
 * one. */
Test(windows, windows_cover_each_prediction_once)
{
    for (long count = 2; count <= 40; count++)
        for (int window = 1; window <= 45; window++)
            for (int stride = 1; stride <= window; stride++) {
                int times[64] = {0};
                text_window w;
                for (long i = 0; evaluate_window(count, window, stride, i, &w); i++) {
                    cr_assert(w.begin >= 0 && w.len <= window && w.begin + w.len <= count - 1 && w.scored <= w.len);
                    cr_assert(i == 0 || w.scored <= stride);
                    for (int k = w.len - w.scored; k < w.len; k++)
                        times[w.begin + k]++;
                    if (window >= count - 1) {
                        cr_assert(i == 0 && w.len == count - 1 && w.scored == count - 1);
                    }
                }
                for (long t = 0; t < count - 1; t++)
                    cr_assert_eq(times[t], 1, "count %ld window %d stride %d: token %ld %d times", count, window,
                                 stride, t, times[t]);
            }
    text_window none;
    cr_assert_eq(evaluate_window(1, 4, 4, 0, &none), 0); /* one token predicts nothing */
    text_window five;
    cr_assert(evaluate_window(5, 8, 8, 0, &five) && five.scored == 4); /* five tokens: four predictions */
}

/* Perplexity weighs tokens, not batches: 100 tokens at 1 nat and 10 at 3 are exp(130/110). */
Test(windows, a_mean_loss_weighs_tokens)
{
    cr_assert(fabs(exp(evaluate_mean_loss(100 * 1.0 + 10 * 3.0, 110)) - 3.260297) < 1e-6);
    cr_assert(fabs(exp(evaluate_mean_loss(.1 + .2 + .1 + .3 + .5 + .1 + .4 + .2, 8)) - 1.268075) < 1e-6);
    cr_assert(isnan(evaluate_mean_loss(0, 0)));
}
