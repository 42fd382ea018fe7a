/* A run from its configuration to its numbers, on tasks small enough for a second. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "evaluate.h"
#include "run.h"
#include "train.h"

static run_config run_configure(const registry *r, const char *settings)
{
    error e = ERROR_INIT;
    run_config c;
    config_defaults(&c);
    char copy[2048];
    snprintf(copy, sizeof copy, "encoding=nope task=repeat_copy model.width=16 model.heads=2 model.layers=1 train.len=6 "
                                "train.batch=8 eval.items=16 %s", settings);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value = '\0';
        cr_assert_eq(config_set(&c, word, value + 1, &e), 0, "%s", e.message);
    }
    cr_assert_eq(config_check(&c, r, &e), 0, "%s", e.message);
    return c;
}

static run_result run_finish(const char *settings)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    run_config c = run_configure(r, settings);
    run_result out;
    cr_assert_eq(run_execute(&c, r, NULL, &out, &e), 0, "%s", e.message);
    registry_free(r);
    return out;
}

static const run_value *run_find(const run_result *r, int max_len, const char *metric, const char *mode)
{
    for (int i = 0; i < r->values_count; i++)
        if (r->values[i].bin.max_len == max_len && strcmp(r->values[i].metric, metric) == 0 &&
            strcmp(r->values[i].mode, mode) == 0)
            return &r->values[i];
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ learning rate */

Test(rate, cosine_without_warmup)
{
    run_config c;
    config_defaults(&c);
    c.train.steps = 100;
    c.train.warmup = 0;
    c.train.lr = 1e-3;
    c.train.min_lr = 0;
    c.train.schedule = CONFIG_SCHEDULE_COSINE;
    cr_assert(fabs(train_rate(&c, 45) - 5.78217233e-4) < 1e-12);
    cr_assert(train_rate(&c, 0) == 1e-3);
}

Test(rate, warmup_then_schedule_then_floor)
{
    run_config c;
    config_defaults(&c);
    c.train.steps = 1000;
    c.train.warmup = 10;
    c.train.lr = 1;
    c.train.min_lr = 0.1;
    for (int schedule = CONFIG_SCHEDULE_CONSTANT; schedule <= CONFIG_SCHEDULE_LINEAR; schedule++) {
        c.train.schedule = schedule;
        cr_assert(fabs(train_rate(&c, 0) - 0.1) < 1e-12);
        cr_assert(fabs(train_rate(&c, 9) - 1) < 1e-12);
        for (int step = 10; step < 1000; step++)
            cr_assert(train_rate(&c, step) <= train_rate(&c, step - 1) + 1e-15);
        double end = train_rate(&c, 999);
        cr_assert(schedule == CONFIG_SCHEDULE_CONSTANT ? end == 1 : end >= 0.1 && end < 0.102);
    }
}

/* ------------------------------------------------------------------------------------------------ training */

Test(run, one_batch_can_be_learned_by_heart)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    run_config c = run_configure(r, "encoding=learned model.width=32 train.lr=0.003 train.min_len=6 train.warmup=0");
    layered_stack stacks;
    cr_assert_eq(layered_parse(r, c.encoding, &stacks, &e), 0);
    arena memory = { NULL, 0 };
    task *t = task_open(c.task, TASK_DECODER, 6, 6, &e);
    model m;
    trainer tr;
    cr_assert_eq(model_create(&m, &memory, &c, &stacks, task_vocab(t), task_tokens(t, 6), 1, &e), 0);
    model_init(&m, 1);
    cr_assert_eq(trainer_create(&tr, &memory, &c, t, &m, &e), 0);
    double norm, loss = 0, begin = trainer_step(&tr, 0, &norm);
    for (int step = 0; step < 400; step++)
        loss = trainer_step(&tr, 0, &norm); /* always batch 0 */
    cr_assert(begin > 1 && loss < 0.01, "from %g to %g", begin, loss);
    task_free(t);
    layered_free(&stacks);
    arena_free(&memory);
    registry_free(r);
}

static void run_same(const run_result *a, const run_result *b)
{
    cr_assert_eq(a->curve_count, b->curve_count);
    for (int i = 0; i < a->curve_count; i++)
        cr_assert(a->curve[i].loss == b->curve[i].loss && a->curve[i].grad_norm == b->curve[i].grad_norm);
    cr_assert_eq(a->values_count, b->values_count);
    for (int i = 0; i < a->values_count; i++)
        cr_assert(a->values[i].value == b->values[i].value || isnan(a->values[i].value));
}

Test(run, the_same_command_gives_the_same_bits)
{
    run_result a = run_finish("encoding=t5 train.steps=40"), b = run_finish("encoding=t5 train.steps=40");
    run_same(&a, &b);
    run_result c = run_finish("encoding=t5 train.steps=40 seed=2");
    cr_assert(c.curve[0].loss != a.curve[0].loss, "another seed, the same first loss");
    run_result_free(&a);
    run_result_free(&b);
    run_result_free(&c);
}

/* Paired: with one seed all encodings that start at zero see the same first batch with the same weights. */
Test(run, encodings_are_paired)
{
    run_result a = run_finish("encoding=nope train.steps=1"), b = run_finish("encoding=t5(deviation=0) train.steps=1");
    cr_assert(fabs(a.curve[0].loss - b.curve[0].loss) < 1e-6);
    run_result_free(&a);
    run_result_free(&b);
}

/* Training does not see the options of evaluation; testing does. */
Test(run, options_in_evaluation_alone)
{
#define ROPE_AND_ALIBI "encoding=[rope,alibi+rope] model.layers=2 task=sort(symbols=40) train.steps=30 train.check_every=10 "
    run_result plain = run_finish(ROPE_AND_ALIBI), same = run_finish(ROPE_AND_ALIBI "eval.encoding_options=rope(base=10000)");
    run_result other = run_finish(ROPE_AND_ALIBI "eval.encoding_options=rope(base=3)+alibi(bias_max=2)");
    run_same(&plain, &same);
    cr_assert_eq(plain.curve_count, other.curve_count);
    for (int i = 0; i < plain.curve_count; i++)
        cr_assert_eq(plain.curve[i].loss, other.curve[i].loss);
    int differ = 0;
    for (int i = 0; i < plain.values_count; i++)
        differ += plain.values[i].value != other.values[i].value;
    cr_assert_gt(differ, 4);

    /* Weights that hardly left their start, which both have in common. */
#define HARDLY_TRAINED "task=sort(symbols=40) train.steps=1 train.warmup=0 train.lr=1e-12 "
    run_result late = run_finish(HARDLY_TRAINED "encoding=rope eval.encoding_options=rope(base=3)");
    run_result early = run_finish(HARDLY_TRAINED "encoding=rope(base=3)");
    for (int i = 0; i < late.values_count; i++) {
        cr_assert_float_eq(late.values[i].value, early.values[i].value, 1e-5);
    }
    run_result_free(&plain);
    run_result_free(&same);
    run_result_free(&other);
    run_result_free(&late);
    run_result_free(&early);
}

Test(run, divergence_stops_at_once_and_is_recorded)
{
    run_result r = run_finish("train.lr=1e6 train.steps=1000 train.warmup=0 train.clip=0");
    cr_assert_eq(r.status, RUN_DIVERGED);
    cr_assert(r.status_step < 100 && r.status_step >= 1, "step %d", r.status_step);
    cr_assert_eq(r.values_count, 0);
    cr_assert_gt(strlen(r.message), 0);
    run_result_free(&r);
}

static void run_stop_soon(void *self, const char *phase, int done, int total, double loss)
{
    (void)phase, (void)done, (void)total, (void)loss;
    *(volatile sig_atomic_t *)self = 1;
}

/* Maps that draw in evaluation draw from the run's seed: the same run twice has the same values, bit for bit. */
Test(run, random_positions_are_part_of_the_seed)
{
    static const char *const settings = "encoding=rope@random(span=200) train.steps=20 eval.ratios=1;2";
    run_result a = run_finish(settings), b = run_finish(settings);
    cr_assert_eq(a.values_count, b.values_count);
    for (int i = 0; i < a.values_count; i++)
        cr_assert(memcmp(&a.values[i].value, &b.values[i].value, sizeof(double)) == 0, "%s", a.values[i].metric);
    run_result_free(&a);
    run_result_free(&b);
}

/* Position coupling at work: one layer with one learned id for a symbol and its copy, shifted at random in training, copies
 * strings of two letters twice as long as it was trained on; without the ids it does not even learn to. */
Test(run, coupled_positions_copy_past_the_training_length)
{
    static const char *const settings = "task=repeat_copy train.len=10 train.steps=600 train.batch=32 train.lr=0.003 "
                                        "model.width=32 eval.ratios=1;2 eval.items=64 encoding=";
    char text[256];
    snprintf(text, sizeof text, "%slearned(rows=22)@task(start=auto)", settings);
    run_result r = run_finish(text);
    cr_assert_gt(run_find(&r, 10, "exact_match", "teacher_forced")->value, 0.9);
    cr_assert_gt(run_find(&r, 20, "token_accuracy", "teacher_forced")->value, 0.9); /* 20 of 21: the end is harder */
    run_result_free(&r);
    snprintf(text, sizeof text, "%slearned(rows=42)@shift", settings);
    r = run_finish(text);
    cr_assert_lt(run_find(&r, 20, "token_accuracy", "teacher_forced")->value, 0.7);
    run_result_free(&r);
}

Test(run, an_interrupt_ends_it)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    run_config c = run_configure(r, "train.steps=1000000");
    volatile sig_atomic_t stop = 0;
    run_watch watch = { .tell = run_stop_soon, .self = (void *)&stop, .stop = &stop };
    run_result out;
    cr_assert_eq(run_execute(&c, r, &watch, &out, &e), 0);
    cr_assert_eq(out.status, RUN_INTERRUPTED);
    run_result_free(&out);
    registry_free(r);
}

Test(run, stops_early_when_validation_is_solved)
{
    run_result r = run_finish("task=binary_majority encoding=nope train.len=3 train.steps=3000 train.check_every=50 "
                              "train.stop_at=0.9 train.lr=0.003");
    cr_assert(r.status_step < 3000 && r.fit_score >= 0.9, "step %d, %g", r.status_step, r.fit_score);
    cr_assert_eq(r.selected_step, r.status_step);
    run_result_free(&r);
}

/* The best weights are chosen in distribution, and the step is told. */
Test(run, selection_is_in_distribution)
{
    run_result r = run_finish("train.select=best train.steps=60 train.check_every=10 train.lr=0.01");
    double best = INFINITY;
    int step = 0;
    for (int i = 0; i < r.curve_count; i++)
        if (r.curve[i].validation_loss < best) {
            best = r.curve[i].validation_loss;
            step = r.curve[i].step;
        }
    cr_assert_eq(r.selected_step, step);
    run_result_free(&r);
    run_result last = run_finish("train.select=last train.steps=60 train.check_every=10 train.lr=0.01");
    cr_assert_eq(last.selected_step, 60);
    run_result_free(&last);
}

/* ------------------------------------------------------------------------------------------------ standing of points */

static void run_point_is(const char *settings, int max_len, const char *status, const char *flag)
{
    run_result r = run_finish(settings);
    const run_value *v = run_find(&r, max_len, "exact_match", "teacher_forced");
    cr_assert_not_null(v, "%s: no value at %d", settings, max_len);
    cr_assert_str_eq(v->status, status, "%s at %d: %s", settings, max_len, v->status);
    cr_assert_str_eq(v->flag, flag, "%s at %d: '%s'", settings, max_len, v->flag);
    cr_assert_eq(isnan(v->value), strcmp(status, "ok") != 0);
    cr_assert_eq(v->n, strcmp(status, "ok") == 0 ? 16 : 0);
    run_result_free(&r);
}

Test(standing, a_table_ends_where_it_ends)
{
    run_point_is("encoding=learned train.steps=2", 6, "ok", "");
    run_point_is("encoding=learned train.steps=2", 12, "undefined", "");
}

Test(standing, rows_that_training_never_met)
{
    run_point_is("encoding=learned(rows=200) train.steps=2", 6, "ok", "");
    run_point_is("encoding=learned(rows=200) train.steps=2", 12, "ok", "untrained");
}

Test(standing, a_map_gives_a_meaning_under_its_name)
{
    run_point_is("encoding=learned train.steps=2 eval.map=clamp", 12, "ok", "clamp");
    run_point_is("encoding=learned train.steps=2 eval.map=interpolate", 12, "ok", "interpolate");
    run_point_is("encoding=learned train.steps=2 eval.map=clamp", 6, "ok", "");
}

/* A learned table of 64 rows evaluated on 65 and on 128 tokens (A29): recorded as undefined, nothing is read past the end,
 * and the same evaluation under an encoding without a table has all its points. */
Test(standing, a_table_of_64_rows)
{
    static const char *const settings = "task=binary_majority train.min_len=61 train.len=61 train.steps=1 eval.bins=61;62;125 encoding=";
    char text[256];
    snprintf(text, sizeof text, "%slearned", settings);
    run_point_is(text, 61, "ok", "");
    run_point_is(text, 62, "undefined", "");
    run_point_is(text, 125, "undefined", "");
    snprintf(text, sizeof text, "%srope", settings);
    run_point_is(text, 62, "ok", "");
    run_point_is(text, 125, "ok", "");
}

/* Random offsets train all rows of a table: nothing within it is untrained, and only what is longer than it is undefined. */
Test(standing, shifts_train_the_whole_table)
{
    run_point_is("encoding=learned(rows=26)@shift train.steps=20", 12, "ok", "");
    run_point_is("encoding=learned(rows=25)@shift train.steps=20", 12, "undefined", "");
    run_point_is("encoding=learned(rows=26)@shift(span=2) train.steps=20", 12, "ok", "untrained");
}

/* What counts is the farthest token, which need not be the last: a copy's ids end before those of its prompt. Training up to
 * length 6 proposes ids up to 6; without a start nothing past them is trained. */
Test(standing, proposed_positions_by_the_farthest_token)
{
    run_point_is("encoding=learned@task train.steps=2", 12, "ok", "untrained");
    run_point_is("encoding=learned(rows=13)@task(start=auto) train.steps=20", 12, "ok", "");
    run_point_is("encoding=learned(rows=12)@task(start=auto) train.steps=20", 12, "undefined", "");
}

Test(standing, any_length_encodings_are_always_defined)
{
    run_point_is("encoding=rope train.steps=2 eval.ratios=1;16", 96, "ok", "");
    run_point_is("encoding=[nope,alibi] model.layers=2 train.steps=2 eval.ratios=1;16", 96, "ok", "");
}

/* ------------------------------------------------------------------------------------------------ decoding */

/* Teacher-forced "every answer token is the arg-max" is the event "greedy decoding gives the whole answer". */
static void decode_agrees(const char *settings)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    run_config c = run_configure(r, settings);
    layered_stack stacks;
    cr_assert_eq(layered_parse(r, c.encoding, &stacks, &e), 0);
    arena memory = { NULL, 0 };
    task *t = task_open(c.task, TASK_DECODER, 1, 12, &e);
    model m;
    trainer tr;
    workspace w;
    int longest = task_tokens(t, 6), agreed[2] = { 0, 0 };
    cr_assert_eq(model_create(&m, &memory, &c, &stacks, task_vocab(t), longest, 1, &e), 0);
    model_init(&m, 1);
    cr_assert_eq(trainer_create(&tr, &memory, &c, t, &m, &e), 0);
    double norm;
    for (int step = 0; step < c.train.steps; step++)
        trainer_step(&tr, step, &norm);
    cr_assert_eq(workspace_create(&w, &memory, &m, NULL, NULL, 1, longest, longest, 0, &e), 0);
    for (uint32_t item = 0; item < 60; item++) {
        int len = 1 + (int)(item % 6);
        int input[64], target[64], guess[64], decoded[64], start[2] = { 0 };
        double position[64];
        task_sample s = { .input = input, .target = target, .position = position };
        task_draw(t, TASK_TEST, 1, 5, item, len, &s, NULL);
        const double *given = task_of(t)->proposes_positions ? position : NULL;
        start[1] = s.count;
        batch b = { .sequences = 1, .start = start, .input = input, .target = target, .given = given, .seed = 1 };
        model_forward(&m, &w, &b);
        model_loss(&m, &w, &b, 0, NULL, guess);
        int forced = 1, free_run = 1;
        for (int i = 0; i < s.count; i++)
            forced &= target[i] == TASK_NOT_SCORED || guess[i] == target[i];
        memcpy(decoded, input, sizeof(int) * (size_t)(s.answer_begin + 1));
        evaluate_decode(&m, &w, decoded, given, s.answer_begin + 1, s.count, 1);
        for (int i = s.answer_begin + 1; i < s.count; i++)
            free_run &= decoded[i] == input[i];
        /* the last token is predicted from the whole sequence */
        batch end = { .sequences = 1, .start = start, .input = decoded, .target = target, .given = given, .seed = 1 };
        model_forward(&m, &w, &end);
        model_loss(&m, &w, &end, 0, NULL, guess);
        free_run &= guess[s.count - 1] == target[s.count - 1];
        cr_assert_eq(forced, free_run, "%s: item %u", settings, item);
        agreed[forced]++;
    }
    cr_assert(agreed[0] > 0 && agreed[1] > 0, "%s: %d wrong, %d right; the test needs both", settings, agreed[0], agreed[1]);
    task_free(t);
    layered_free(&stacks);
    arena_free(&memory);
    registry_free(r);
}

Test(decoding, equals_teacher_forcing)
{
    decode_agrees("encoding=learned train.steps=350 train.lr=0.003 train.len=6 model.width=32");
    decode_agrees("encoding=shaw+alibi train.steps=350 train.lr=0.003 train.len=6 model.width=32");
    decode_agrees("encoding=rope train.steps=350 train.lr=0.003 train.len=6 model.width=32");
    decode_agrees("encoding=rope@random(span=20) eval.ratios=1 train.steps=350 train.lr=0.003 "
                  "model.width=32");
    decode_agrees("encoding=learned(rows=24)@shift(test=auto) eval.ratios=1 train.steps=350 train.lr=0.003 "
                  "model.width=32");
    decode_agrees("encoding=learned@task train.steps=100 train.lr=0.003 train.len=6 model.width=32");
}

/* Whether a string of bits belongs to a stream, and each stream has strings of that length: by looking at all of them. */
static void overlap_sides(int len, int exists[3])
{
    for (int code = 0; code < 1 << len; code++) {
        int input[32] = { 2 };
        for (int i = 0; i < len; i++)
            input[1 + i] = input[2 + len + i] = code >> i & 1;
        input[1 + len] = 3;
        exists[task_side(input, 2 * len + 2)] = 1;
    }
}

/* Case B01: copies of 1 to 8 bits, 1000 test sequences each. There are 2^L strings, so some lengths have none to hold out: the
 * record says for each length which share of its test sequences training can meet too - all or none here, as the sides of
 * all strings tell - and none at lengths with strings enough. */
Test(run, overlap_is_told_for_each_length)
{
    run_result r = run_finish("train.steps=1 train.len=8 eval.items=1000 eval.bins=1;2;3;4;5;6;7;8;20;40");
    int shared = 0;
    for (int len = 1; len <= 8; len++) {
        int exists[3] = { 0, 0, 0 };
        overlap_sides(len, exists);
        const run_value *v = run_find(&r, len, "overlap", "teacher_forced");
        cr_assert_not_null(v);
        cr_assert_eq(v->n, 1000);
        cr_assert_eq(v->value, exists[TASK_TEST] && exists[TASK_TRAIN] ? 0 : 1, "length %d: %g", len, v->value);
        shared += v->value > 0;
    }
    cr_assert_gt(shared, 0, "so few strings cannot have three sides");
    for (int len = 20; len <= 40; len += 20)
        cr_assert_eq(run_find(&r, len, "overlap", "teacher_forced")->value, 0);
    run_result_free(&r);
}

/* ------------------------------------------------------------------------------------------------ the end */

/* Case B15: there is no pad token that the end could be taken for. The end is a target like the others, whatever symbol the
 * answer ends with: its loss enters the mean with weight 1, and a network that has learned the task writes it. */
Test(decoding, the_end_is_scored_and_written)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    run_config c = run_configure(r, "encoding=learned(rows=32) train.lr=0.003 train.len=6 model.width=32 train.steps=350");
    layered_stack stacks;
    cr_assert_eq(layered_parse(r, c.encoding, &stacks, &e), 0);
    arena memory = { NULL, 0 };
    task *t = task_open(c.task, TASK_DECODER, 1, 6, &e);
    model m;
    trainer tr;
    workspace w;
    int longest = task_tokens(t, 6) + 1, end = task_symbols(t) + 2, ended = 0, last_symbols[2] = { 0, 0 };
    double norm;
    cr_assert_eq(model_create(&m, &memory, &c, &stacks, task_vocab(t), task_tokens(t, 6), 1, &e), 0);
    model_init(&m, 1);
    cr_assert_eq(trainer_create(&tr, &memory, &c, t, &m, &e), 0);
    for (int step = 0; step < c.train.steps; step++)
        trainer_step(&tr, step, &norm);
    cr_assert_eq(workspace_create(&w, &memory, &m, NULL, NULL, 1, longest, longest, 0, &e), 0);
    for (uint32_t item = 0; item < 40; item++) {
        int input[64], target[64], written[64], start[2] = { 0 };
        double loss[64], sum = 0;
        task_sample s = { .input = input, .target = target };
        task_draw(t, TASK_TEST, 1, 5, item, 6, &s, NULL);
        start[1] = s.count;
        cr_assert_eq(target[s.count - 1], end); /* behind answers that end with 0 and with 1 */
        last_symbols[input[s.count - 1]]++;
        batch b = { .sequences = 1, .start = start, .input = input, .target = target, .seed = 1 };
        model_forward(&m, &w, &b);
        double whole = model_loss(&m, &w, &b, 0, loss, NULL);
        for (int i = 0; i < s.count; i++)
            sum += target[i] == TASK_NOT_SCORED ? 0 : loss[i];
        cr_assert(fabs(whole - sum) < 1e-6 * fmax(1, sum));
        double its_own = loss[s.count - 1];
        target[s.count - 1] = TASK_NOT_SCORED;
        cr_assert(fabs(whole - model_loss(&m, &w, &b, 0, loss, NULL) - its_own) < 1e-6 * fmax(1, whole));
        memcpy(written, input, sizeof(int) * (size_t)(s.answer_begin + 1));
        evaluate_decode(&m, &w, written, NULL, s.answer_begin + 1, s.count + 1, 1);
        ended += written[s.count] == end;
        for (int i = s.answer_begin + 1; i < s.count; i++)
            ended -= written[i] == end; /* and not before */
    }
    cr_assert(last_symbols[0] > 0 && last_symbols[1] > 0);
    cr_assert_eq(ended, 40, "%d of 40 answers end where they should", ended);
    task_free(t);
    layered_free(&stacks);
    arena_free(&memory);
    registry_free(r);
}

/* ------------------------------------------------------------------------------------------------ text */

/* A text of letters, long enough for the three stretches. */
static void text_write(char *path, size_t size)
{
    snprintf(path, size, "/tmp/posbench-text-%d", (int)getpid());
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    for (int i = 0; i < 20000; i++)
        fputc("the quick brown fox. "[i % 21], f);
    fclose(f);
}

Test(text, both_modes_score_the_same_tokens)
{
    char path[128], settings[512];
    text_write(path, sizeof path);
    snprintf(settings, sizeof settings, "encoding=alibi task=text(file=%s) train.len=16 train.steps=30 eval.tokens=500 "
                                        "eval.stride=4 eval.ratios=1;2;4", path);
    run_result r = run_finish(settings);
    for (int len = 16; len <= 64; len *= 2) {
        const run_value *windows = run_find(&r, len, "loss", "windows"), *sliding = run_find(&r, len, "loss", "sliding");
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
    cr_assert_eq(r.positions[5].n[0], 1);   /* the text's first window alone */
    cr_assert_eq(r.positions[5].n[63], 110); /* it, and each later one: (500 - 64) / 4 */
    cr_assert_eq(strlen(r.corpus_digest), 64);
    run_result_free(&r);
    unlink(path);
}

/* A long length is never measured on a short text in silence. */
Test(text, a_window_longer_than_the_text_is_refused)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    char path[128], settings[512];
    text_write(path, sizeof path);
    snprintf(settings, sizeof settings, "encoding=nope task=text(file=%s) train.len=16 train.steps=2 eval.ratios=1;100", path);
    run_config c = run_configure(r, settings);
    run_result out;
    cr_assert_lt(run_execute(&c, r, NULL, &out, &e), 0);
    cr_assert_not_null(strstr(e.message, path), "%s", e.message);
    cr_assert_not_null(strstr(e.message, "1600"), "%s", e.message);
    run_result_free(&out);
    registry_free(r);
    unlink(path);
}

/* Every prediction is scored exactly once, whatever window and stride; a window as long as the text makes all modes one. */
Test(text, windows_cover_each_prediction_once)
{
    for (long count = 2; count <= 40; count++)
        for (int window = 1; window <= 45; window++)
            for (int stride = 1; stride <= window; stride++) {
                int times[64] = { 0 };
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
                    cr_assert_eq(times[t], 1, "count %ld window %d stride %d: token %ld %d times", count, window, stride, t,
                                 times[t]);
            }
    text_window none;
    cr_assert_eq(evaluate_window(1, 4, 4, 0, &none), 0); /* one token predicts nothing */
    text_window five;
    cr_assert(evaluate_window(5, 8, 8, 0, &five) && five.scored == 4); /* five tokens: four predictions */
}

/* Perplexity weighs tokens, not batches: 100 tokens at 1 nat and 10 at 3 are exp(130/110). */
Test(text, a_mean_loss_weighs_tokens)
{
    cr_assert(fabs(exp(evaluate_mean_loss(100 * 1.0 + 10 * 3.0, 110)) - 3.260297) < 1e-6);
    cr_assert(fabs(exp(evaluate_mean_loss(.1 + .2 + .1 + .3 + .5 + .1 + .4 + .2, 8)) - 1.268075) < 1e-6);
    cr_assert(isnan(evaluate_mean_loss(0, 0)));
}
