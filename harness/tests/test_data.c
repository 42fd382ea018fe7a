/* The amount of training data: which sequences come, which part of a text is read, what is refused. */
#include <criterion/criterion.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lengths.h"
#include "scratch.h"
#include "settings.h"
#include "train.h"

#define DATA_SMALL                                                                                                     \
    "encoding=nope|task=sort(symbols=30)|train.len=8|train.batch=4|train.steps=12|model.width=16|model.heads=2|"       \
    "eval.ratios=1|eval.items=8|"

static run_config data_configure(const char *more)
{
    char text[8192];
    run_config c;
    snprintf(text, sizeof text, DATA_SMALL "%s", more);
    setting_checked(&c, text);
    return c;
}

/* ------------------------------------------------------------------------------------------------ answer tasks */

enum { DATA_TOKENS = 32 };
typedef struct data_sequence {
    int count, input[DATA_TOKENS];
} data_sequence;

static data_sequence data_draw(const run_config *c, const task *t, uint64_t index, uint32_t item)
{
    data_sequence s = {0};
    int target[DATA_TOKENS];
    task_sample sample = {.input = s.input, .target = target};
    task_draw(t, TASK_TRAIN, (uint64_t)c->seed, index, item, lengths_draw(c, index, item), &sample, NULL);
    s.count = sample.count;
    return s;
}

/* What the trainer puts into its batches, against the first train.data draws of an unlimited run, in turn. */
static void data_follow(int data)
{
    error e = ERROR_INIT;
    char more[64];
    snprintf(more, sizeof more, "train.data=%d", data);
    run_config c = data_configure(more);
    registry *r = setting_registry();
    layered_stack stacks;
    arena memory = {NULL, 0};
    model m;
    trainer tr;
    task *t = task_open(c.task, TASK_DECODER, 1, c.train.len, &e);
    cr_assert(t && layered_parse(r, c.encoding, &stacks, &e) == 0);
    cr_assert_eq(model_create(&m, &memory, &c, &stacks, task_vocab(t), task_tokens(t, c.train.len), 1, &e), 0);
    model_init(&m, 1);
    cr_assert_eq(trainer_create(&tr, &memory, &c, t, &m, &e), 0);
    for (int step = 0, number = 0; step < c.train.steps; step++) {
        double norm;
        trainer_step(&tr, step, &norm);
        for (int n = 0; n < c.train.batch; n++, number++) {
            int first = data ? number % data : number;
            data_sequence want = data_draw(&c, t, (uint64_t)(first / 4), (uint32_t)(first % 4));
            const int *got = tr.data.input + tr.data.start[n];
            cr_assert_eq(tr.data.start[n + 1] - tr.data.start[n], want.count, "step %d, sequence %d", step, n);
            cr_assert_eq(memcmp(got, want.input, sizeof *got * (size_t)want.count), 0, "step %d, sequence %d", step, n);
        }
    }
    task_free(t);
    layered_free(&stacks);
    arena_free(&memory);
    registry_free(r);
}

Test(data, the_first_sequences_come_again)
{
    data_follow(10); /* not a multiple of the batch */
    data_follow(3);  /* less than one batch */
    data_follow(1000);
    data_follow(0);
}

static run_result data_run(const run_config *c)
{
    error e = ERROR_INIT;
    registry *r = setting_registry();
    run_result out;
    cr_assert_eq(run_execute(c, r, NULL, &out, &e), 0, "%s", e.message);
    registry_free(r);
    return out;
}

static double data_last_loss(const run_result *r)
{
    return r->curve[r->curve_count - 1].loss;
}

/* As much as is drawn at all is no limit; less is another run. */
Test(data, enough_is_no_limit)
{
    static const char *const amount[] = {"train.data=0", "train.data=48", "train.data=47", "train.data=100"};
    static const long distinct[] = {48, 48, 47, 48};
    double loss[4];
    for (int i = 0; i < 4; i++) {
        run_config c = data_configure(amount[i]);
        run_result out = data_run(&c);
        cr_assert_eq(out.distinct, distinct[i], "%s", amount[i]);
        loss[i] = data_last_loss(&out);
        run_result_free(&out);
    }
    cr_assert(loss[0] == loss[1] && loss[0] == loss[3] && loss[0] != loss[2]);
}

/* ------------------------------------------------------------------------------------------------ texts */

enum { DATA_BYTES = 4000, DATA_TRAIN = 3600 };

/* A text of random bytes, in which eight in a row are found at one place only. */
static char *data_text(const scratch *room, unsigned char bytes[DATA_BYTES])
{
    static char path[PATH_MAX];
    static char task_text[PATH_MAX + 32];
    rng r = rng_stream(7, RNG_TRAIN, 0, 0);
    for (int i = 0; i < DATA_BYTES; i++)
        bytes[i] = (unsigned char)rng_below(&r, 256);
    scratch_write(room, "corpus.txt", bytes, DATA_BYTES, path);
    snprintf(task_text, sizeof task_text, "text(file=%s)", path);
    return task_text;
}

/* Where the windows of a limited text begin: between first and first + count - window. */
static void data_windows(const char *text, const unsigned char *bytes, long limit, uint64_t seed, long *least,
                         long *most)
{
    error e = ERROR_INIT;
    task *t = task_open(text, TASK_DECODER, 16, 16, &e);
    cr_assert_not_null(t, "%s", e.message);
    cr_assert_eq(task_limit(t, limit, seed, &e), limit ? limit : DATA_TRAIN);
    *least = LONG_MAX;
    *most = -1;
    for (int i = 0; i < 3000; i++) {
        int input[16], target[16];
        unsigned char window[16];
        task_sample s = {.input = input, .target = target};
        task_draw(t, TASK_TRAIN, seed, (uint64_t)i, 0, 16, &s, NULL);
        for (int k = 0; k < 16; k++)
            window[k] = (unsigned char)input[k];
        const unsigned char *at = memmem(bytes, DATA_BYTES, window, sizeof window);
        cr_assert_not_null(at);
        cr_assert_eq(target[15], at[16]);
        *least = at - bytes < *least ? at - bytes : *least;
        *most = at - bytes > *most ? at - bytes : *most;
    }
    task_free(t);
}

/* Each seed reads a stretch of its own; less is a part of more; 0 is all, as without a limit. */
Test(data, a_text_is_read_in_part)
{
    scratch room;
    unsigned char bytes[DATA_BYTES];
    long least, most, begin[5], places[5];
    int differ = 0;
    scratch_open(&room);
    const char *text = data_text(&room, bytes);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        static const long limits[] = {3600, 0, 900, 225, 17};
        long inner = 0, outer = DATA_TRAIN;
        for (int i = 0; i < 5; i++) {
            data_windows(text, bytes, limits[i], seed, &least, &most);
            long count = limits[i] ? limits[i] : DATA_TRAIN;
            cr_assert(most - least <= count - 17, "%ld tokens, windows from %ld to %ld", count, least, most);
            cr_assert(i < 2 || most - least >= (count - 17) * 9 / 10, "%ld tokens, windows from %ld to %ld", count,
                      least, most);
            cr_assert(least >= inner && most + 17 <= outer, "less is no part of more");
            if (i >= 2) { /* all of a small stretch is met, so its border is known */
                inner = least;
                outer = i == 2 ? DATA_TRAIN : most + 17;
            }
            begin[i] = least;
            places[i] = most;
        }
        cr_assert_eq(begin[4], places[4]);
        differ += begin[4] != begin[0];
    }
    cr_assert_geq(differ, 3);
    scratch_close(&room);
}

/* The other stretches stay whole, and evaluation does not see the limit. */
Test(data, tests_are_of_the_whole_stretch)
{
    error e = ERROR_INIT;
    scratch room;
    unsigned char bytes[DATA_BYTES];
    scratch_open(&room);
    task *t = task_open(data_text(&room, bytes), TASK_DECODER, 16, 16, &e);
    cr_assert_eq(task_limit(t, 100, 1, &e), 100);
    for (int s = TASK_VALIDATION; s <= TASK_TEST; s++) {
        long count;
        const unsigned char *at = task_text(t, (task_stream)s, &count);
        cr_assert_eq(count, 200);
        cr_assert_eq(memcmp(at, bytes + DATA_TRAIN + 200 * (s - TASK_VALIDATION), 200), 0);
    }
    task_free(t);
    scratch_close(&room);
}

Test(data, a_run_on_a_part_of_a_text)
{
    error e = ERROR_INIT;
    scratch room;
    unsigned char bytes[DATA_BYTES];
    char more[PATH_MAX + 128];
    scratch_open(&room);
    const char *text = data_text(&room, bytes);
    double loss[3];
    static const int amount[] = {0, 3600, 200};
    for (int i = 0; i < 3; i++) {
        snprintf(more, sizeof more, "task=%s|train.data=%d|train.steps=60", text, amount[i]);
        run_config c = data_configure(more);
        run_result out = data_run(&c);
        cr_assert_eq(out.distinct, amount[i] ? amount[i] : DATA_TRAIN);
        loss[i] = data_last_loss(&out);
        run_result_free(&out);
    }
    cr_assert(loss[0] == loss[1] && loss[2] != loss[0]);
    snprintf(more, sizeof more, "task=%s|train.data=3601", text);
    run_config c = data_configure(more);
    registry *r = setting_registry();
    run_result out;
    cr_assert_eq(run_execute(&c, r, NULL, &out, &e), -1);
    cr_assert_str_eq(e.message, "train.data: 3601 tokens, but only 3600 of the text are for training");
    cr_assert_eq(e.kind, ERROR_ENVIRONMENT);
    run_result_free(&out);
    registry_free(r);
    scratch_close(&room);
}

/* ------------------------------------------------------------------------------------------------ errors */

static void data_refused(const char *settings, const char *message)
{
    error e = ERROR_INIT;
    run_config c;
    registry *r = setting_registry();
    int failed = setting_apply(&c, settings, &e) < 0 || config_check(&c, r, &e) < 0;
    cr_assert(failed, "%s was taken", settings);
    cr_assert_eq(e.kind, ERROR_USAGE);
    cr_assert(strstr(e.message, message), "'%s' lacks '%s'", e.message, message);
    registry_free(r);
}

Test(data, bad_values_are_refused)
{
    data_refused("train.data=-1", "train.data");
    data_refused("train.data=many", "train.data");
    data_refused("train.dat=5", "did you mean 'train.data'");
    data_refused("train.positoins=true", "did you mean 'train.positions'");
    data_refused("train.positions=maybe", "train.positions");
    data_refused(
        "encoding=nope|task=text|train.len=32|train.data=32",
        "train.data: 32 tokens of text are too few: a window of train.len, 32, and the token behind it need 33");
    run_config c;
    setting_checked(&c, "encoding=nope|task=text|train.len=32|train.data=33");
    setting_checked(&c, "encoding=nope|task=sort(symbols=200)|train.len=32|train.data=1");
    setting_checked(&c, "encoding=nope|task=masked_text|model.causal=false|train.len=32|train.data=33");
}
