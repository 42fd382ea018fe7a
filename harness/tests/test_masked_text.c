/* The task `masked_text`: what is hidden and how, and how it is measured. Each test makes its own file. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "settings.h"
#include "task.h"

enum { MASKED_COUNT = 20000, MASKED_LEN_MAX = 200 };

static char masked_path[64];
static unsigned char masked_file[MASKED_COUNT];

/* Triples that count: their number modulo 256, their number over 256, a fixed byte. */
static void masked_make(void)
{
    snprintf(masked_path, sizeof masked_path, "/tmp/posbench-masked-XXXXXX");
    int handle = mkstemp(masked_path);
    cr_assert_geq(handle, 0);
    for (int i = 0; i < MASKED_COUNT; i++)
        masked_file[i] = (unsigned char)(i % 3 == 0 ? i / 3 % 256 : i % 3 == 1 ? i / 3 / 256 : 200);
    cr_assert_eq(write(handle, masked_file, MASKED_COUNT), MASKED_COUNT);
    close(handle);
}

static void masked_remove(void)
{
    unlink(masked_path);
}

TestSuite(masked, .init = masked_make, .fini = masked_remove);

/* Where in `text` the window stands; -1: nowhere. */
static int masked_place(const unsigned char *text, int count, const unsigned char *window, int len)
{
    for (int i = 0; i + len <= count; i++)
        if (memcmp(text + i, window, (size_t)len) == 0)
            return i;
    return -1;
}

typedef struct masked_draw {
    task *task;
    int input[MASKED_LEN_MAX], target[MASKED_LEN_MAX];
    double position[MASKED_LEN_MAX];
    task_sample sample;
} masked_draw;

static void masked_open(masked_draw *d, const char *options)
{
    char text[160];
    error e = ERROR_INIT;
    snprintf(text, sizeof text, "masked_text(file=%s%s)", masked_path, options);
    d->task = task_open(text, TASK_ENCODER, 1, MASKED_LEN_MAX, &e);
    cr_assert_not_null(d->task, "%s", e.message);
    d->sample = (task_sample){.input = d->input, .target = d->target, .position = d->position};
}

static int masked_hidden(masked_draw *d, task_stream stream, uint32_t item, int len)
{
    int hidden = 0;
    task_draw(d->task, stream, 1, 2, item, len, &d->sample, NULL);
    cr_assert_eq(d->sample.count, len);
    cr_assert_eq(d->sample.answer_begin, -1);
    for (int t = 0; t < len; t++) {
        cr_assert_eq(d->position[t], t);
        cr_assert(d->input[t] >= 0 && d->input[t] <= 256 && d->target[t] < 256);
        hidden += d->target[t] != TASK_NOT_SCORED;
        if (d->target[t] == TASK_NOT_SCORED)
            cr_assert_neq(d->input[t], 256, "what shows the mask is asked for");
    }
    return hidden;
}

/* As many bytes as the rate says, at least one, at every length. */
Test(masked, hides_the_share_that_it_says)
{
    static const double rates[] = {0.15, 0, 0.5, 1};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        masked_draw d;
        char options[32];
        snprintf(options, sizeof options, ",rate=%g", rates[i]);
        masked_open(&d, options);
        cr_assert_eq(task_vocab(d.task), 257);
        for (int len = 1; len <= MASKED_LEN_MAX; len++) {
            int expected = (int)fmax(1, floor(rates[i] * len + 0.5));
            cr_assert_eq(masked_hidden(&d, TASK_TRAIN, (uint32_t)len, len), expected, "length %d", len);
            cr_assert_eq(task_scored(d.task, len), expected);
        }
        task_free(d.task);
    }
}

/* What is shown and what is asked for together are the file, at one place, within the stream's stretch. */
Test(masked, windows_are_the_file)
{
    enum { LEN = 24 };
    static const int border[] = {0, MASKED_COUNT * 18 / 20, MASKED_COUNT * 19 / 20, MASKED_COUNT};
    masked_draw d;
    masked_open(&d, "");
    for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
        for (uint32_t item = 0; item < 300; item++) {
            unsigned char window[LEN];
            masked_hidden(&d, (task_stream)stream, item, LEN);
            for (int t = 0; t < LEN; t++)
                window[t] = (unsigned char)(d.target[t] == TASK_NOT_SCORED ? d.input[t] : d.target[t]);
            int at = masked_place(masked_file, MASKED_COUNT, window, LEN);
            cr_assert(at >= border[stream] && at + LEN <= border[stream + 1], "at %d", at);
        }
    task_free(d.task);
}

/* The last window of a stretch ends with it: every start occurs. */
Test(masked, every_window_occurs)
{
    enum { LEN = MASKED_LEN_MAX, STRETCH = MASKED_COUNT / 20 };
    masked_draw d;
    masked_open(&d, ",rate=1,replace=always");
    char met[STRETCH] = {0};
    int starts = 0;
    for (uint32_t item = 0; item < 12000; item++) {
        unsigned char window[LEN];
        masked_hidden(&d, TASK_TEST, item, LEN);
        for (int t = 0; t < LEN; t++) {
            cr_assert_eq(d.input[t], 256);
            window[t] = (unsigned char)d.target[t];
        }
        int at = masked_place(masked_file + MASKED_COUNT - STRETCH, STRETCH, window, LEN);
        cr_assert_geq(at, 0);
        starts += !met[at];
        met[at] = 1;
    }
    cr_expect_eq(starts, STRETCH - LEN + 1);
    task_free(d.task);
}

/* Of hidden bytes 80 % show the mask, 10 % a random byte, 10 % themselves, one in 256 of the random ones too. Places
 * are equally likely. */
Test(masked, shows_what_bert_shows)
{
    enum { LEN = 20, DRAWS = 20000 };
    masked_draw d, always;
    long mask = 0, same = 0, other = 0, place[LEN] = {0};
    masked_open(&d, "");
    masked_open(&always, ",replace=always");
    for (uint32_t item = 0; item < DRAWS; item++) {
        cr_assert_eq(masked_hidden(&d, TASK_TRAIN, item, LEN), 3);
        for (int t = 0; t < LEN; t++) {
            if (d.target[t] == TASK_NOT_SCORED)
                continue;
            place[t]++;
            mask += d.input[t] == 256;
            same += d.input[t] == d.target[t];
            other += d.input[t] != 256 && d.input[t] != d.target[t];
        }
        masked_hidden(&always, TASK_TRAIN, item, LEN);
        for (int t = 0; t < LEN; t++)
            cr_assert_eq(always.input[t] == 256, always.target[t] != TASK_NOT_SCORED);
    }
    double all = 3.0 * DRAWS, spread = 6 * sqrt(all) / 2;
    cr_expect_lt(fabs((double)mask - 0.8 * all), spread);
    cr_expect_lt(fabs((double)same - 0.1 * all * (1 + 1.0 / 256)), spread);
    cr_expect_lt(fabs((double)other - 0.1 * all * (1 - 1.0 / 256)), spread);
    for (int t = 0; t < LEN; t++)
        cr_expect_lt(fabs((double)place[t] - all / LEN), 6 * sqrt(all / LEN), "place %d: %ld", t, place[t]);
    task_free(d.task);
    task_free(always.task);
}

Test(masked, needs_a_network_that_looks_both_ways)
{
    error e = ERROR_INIT;
    cr_assert_null(task_parse("masked_text", TASK_DECODER, 1, 8, &e));
    cr_expect_not_null(strstr(e.message, "no meaning in a causal network"), "%s", e.message);
}

/* ------------------------------------------------------------------------------------------------ measurement */

static run_config masked_configure(const registry *r, const char *encoding)
{
    error e = ERROR_INIT;
    run_config c;
    char settings[512];
    config_defaults(&c);
    snprintf(settings, sizeof settings,
             "encoding=%s|task=masked_text(file=%s)|model.width=16|model.heads=2|model.layers=1|model.causal=false|"
             "train.len=20|train.batch=8|train.steps=20|eval.tokens=100|eval.ratios=0.05;1;2;10",
             encoding, masked_path);
    cr_assert_eq(setting_apply(&c, settings, &e), 0, "%s", e.message);
    cr_assert_eq(config_check(&c, r, &e), 0, "%s", e.message);
    return c;
}

/* At each length as many windows as score eval.tokens bytes: 100 of 1, 33 of 3, 16 of 6, 3 of 30. The value is the mean
 * over all of them, and the loss by position says the same. */
Test(masked, loss_is_over_hidden_bytes)
{
    static const int expected[] = {100, 99, 96, 90}, lengths[] = {1, 20, 40, 200};
    registry *r = setting_registry();
    run_config c = masked_configure(r, "alibi");
    cr_assert_eq(c.train.min_len, 20);
    error e = ERROR_INIT;
    run_result out;
    cr_assert_eq(run_execute(&c, r, NULL, &out, &e), 0, "%s", e.message);
    cr_assert_eq(out.values_count, 4);
    cr_assert_eq(out.positions_count, 4);
    for (int i = 0; i < 4; i++) {
        const run_value *v = &out.values[i];
        const run_positions *p = &out.positions[i];
        cr_expect_eq(v->bin.max_len, lengths[i]);
        cr_expect_str_eq(v->metric, "loss");
        cr_expect_str_eq(v->mode, "masked");
        cr_expect_str_eq(v->status, "ok");
        cr_expect_eq(v->n, expected[i], "length %d: %ld bytes", lengths[i], v->n);
        double sum = 0;
        long scored = 0;
        cr_assert_eq(p->count, lengths[i]);
        for (int t = 0; t < p->count; t++) {
            sum += p->n[t] ? p->loss[t] * (double)p->n[t] : 0;
            scored += p->n[t];
        }
        cr_expect_eq(scored, v->n);
        cr_expect_float_eq(sum / (double)scored, v->value, 1e-6);
        cr_expect(v->value > 0 && v->value < 2 * log(257), "%g", v->value);
    }
    run_result_free(&out);
    registry_free(r);
}

/* Past the end of a table of positions there is no value, and nothing is made up. */
Test(masked, undefined_past_the_table)
{
    registry *r = setting_registry();
    run_config c = masked_configure(r, "learned");
    error e = ERROR_INIT;
    run_result out;
    cr_assert_eq(run_execute(&c, r, NULL, &out, &e), 0, "%s", e.message);
    cr_assert_eq(out.values_count, 4);
    cr_expect_str_eq(out.values[1].status, "ok");
    cr_expect_str_eq(out.values[2].status, "undefined");
    cr_expect_eq(out.values[2].n, 0);
    cr_expect(isnan(out.values[2].value));
    cr_expect_eq(out.positions_count, 2);
    run_result_free(&out);
    registry_free(r);
}

Test(masked, windows_do_not_slide)
{
    registry *r = setting_registry();
    run_config c = masked_configure(r, "nope");
    error e = ERROR_INIT;
    c.eval.stride = 1;
    cr_assert_eq(config_check(&c, r, &e), -1);
    cr_expect_not_null(strstr(e.message, "eval.stride: windows cannot slide over masked_text"), "%s", e.message);
    registry_free(r);
}
