/* eval.decode: answers that are written token by token, beside the same answers under teacher forcing. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evaluate.h"
#include "run.h"
#include "small_run.h"
#include "train.h"

/* The settings in front of which these tests put theirs. */
#define WRITTEN                                                                                                        \
    "model.width=32 train.len=4 train.batch=16 train.lr=0.005 train.steps=300 eval.items=48 eval.ratios=1;1.5 "        \
    "eval.decode=true "

static int written_configure(const registry *r, const char *settings, run_config *c, error *e)
{
    char text[1024];
    snprintf(text, sizeof text, WRITTEN "%s", settings);
    return small_run_configure(r, text, c, e);
}

static run_result written_run(const char *settings)
{
    char text[1024];
    snprintf(text, sizeof text, WRITTEN "%s", settings);
    return small_run(text);
}

/* The value of the same metric and length in the other mode. */
static const run_value *written_twin(const run_result *r, const run_value *v)
{
    for (int i = 0; i < r->values_count; i++)
        if (r->values[i].bin.max_len == v->bin.max_len && strcmp(r->values[i].metric, v->metric) == 0 &&
            strcmp(r->values[i].mode, "teacher_forced") == 0)
            return &r->values[i];
    return NULL;
}

/* Exact match of both modes is the same number; *apart: token accuracies that are not, *between: exact matches that are
 * neither 0 nor 1. */
static void written_agrees(const char *settings, int *apart, int *between)
{
    run_result r = written_run(settings);
    int values = 0;
    for (int i = 0; i < r.values_count; i++) {
        const run_value *v = &r.values[i], *forced = written_twin(&r, v);
        if (strcmp(v->mode, "free_running") != 0)
            continue;
        values++;
        cr_assert_not_null(forced);
        cr_assert(v->n == forced->n && strcmp(v->status, forced->status) == 0 && strcmp(v->flag, forced->flag) == 0);
        if (strcmp(v->metric, "exact_match") == 0) {
            cr_assert(v->value == forced->value || (isnan(v->value) && isnan(forced->value)), "%s: %g, not %g",
                      settings, v->value, forced->value);
            *between += v->value > 0 && v->value < 1;
        } else {
            cr_assert_str_eq(v->metric, "token_accuracy");
            *apart += fabs(v->value - forced->value) > 0.01;
        }
    }
    cr_assert_eq(values, 4, "%s: two metrics at two lengths, not %d values", settings, values);
    run_result_free(&r);
}

/* "Every answer token is the arg-max" is the event "the whole answer is written", whatever reads the positions, the
 * final length or random places; and a wrong token that later ones read makes token accuracy another number. */
Test(decode, exact_match_is_that_of_teacher_forcing)
{
    static const char *const settings[] = {
        "encoding=nope",
        "encoding=learned@clamp",
        "encoding=shaw+alibi",
        "encoding=rope(scaling=dynamic,factor=2)",
        "encoding=nope+logn",
        "encoding=rope@random(span=40)",
        "encoding=learned(rows=40)@shift(test=auto)",
        "encoding=rope eval.map=interpolate",
        "encoding=fox",
        "encoding=learned@task train.steps=60",
    };
    int apart = 0, between = 0;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        written_agrees(settings[i], &apart, &between);
    cr_assert(apart >= 5, "%d token accuracies differ", apart);
    cr_assert(between >= 5, "%d exact matches lie between 0 and 1", between);
}

/* Answers of one length may differ in length, and a range of lengths mixes them: sequences that are decoded side by
 * side must not be mistaken for each other. */
Test(decode, ragged_sequences)
{
    int apart = 0, between = 0;
    static const char *const settings[] = {
        "encoding=rope task=dyck train.len=8",
        "encoding=alibi task=addition train.len=2 eval.ratios=1;2",
        "encoding=nope task=parity",
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        written_agrees(settings[i], &apart, &between);
    run_result r = written_run("encoding=rope eval.bins=1-4;5-9 eval.ratios=1;1.5;2;3;4");
    for (int i = 0; i < r.values_count; i++)
        if (strcmp(r.values[i].mode, "free_running") == 0 && strcmp(r.values[i].metric, "exact_match") == 0)
            cr_assert(r.values[i].value == written_twin(&r, &r.values[i])->value);
    run_result_free(&r);
    cr_assert(between >= 2, "%d exact matches lie between 0 and 1", between);
}

/* Where an encoding has no value, decoding has none either. */
Test(decode, nothing_is_decoded_past_the_definition)
{
    run_result r = written_run("encoding=learned train.steps=2");
    int undefined = 0;
    for (int i = 0; i < r.values_count; i++)
        if (strcmp(r.values[i].mode, "free_running") == 0 && r.values[i].bin.max_len == 6) {
            cr_assert_str_eq(r.values[i].status, "undefined");
            cr_assert(isnan(r.values[i].value) && r.values[i].n == 0);
            undefined++;
        }
    cr_assert_eq(undefined, 2);
    run_result_free(&r);
}

/* ------------------------------------------------------------------------------------------------ single sequences */

typedef struct written_bench {
    registry *r;
    run_config c;
    layered_stack stacks;
    arena memory;
    task *t;
    model m;
    workspace work;
    batch_buffer data;
    decode_room room;
    int start[32];
    batch forced;
} written_bench;

enum { WRITTEN_SEQUENCES = 12 };

static void written_bench_open(written_bench *b, const char *settings)
{
    error e = ERROR_INIT;
    memset(b, 0, sizeof *b);
    b->r = registry_new(&e);
    cr_assert_eq(written_configure(b->r, settings, &b->c, &e), 0, "%s", e.message);
    cr_assert_eq(layered_parse(b->r, b->c.encoding, &b->stacks, &e), 0);
    b->t = task_open(b->c.task, TASK_DECODER, 1, 9, &e);
    int longest = task_tokens(b->t, 9), tokens = WRITTEN_SEQUENCES * longest;
    cr_assert_eq(model_create(&b->m, &b->memory, &b->c, &b->stacks, task_vocab(b->t), longest, 1, &e), 0);
    cr_assert_eq(workspace_create(&b->work, &b->memory, &b->m, NULL, NULL, WRITTEN_SEQUENCES, tokens, longest, 0, &e),
                 0);
    cr_assert_eq(batch_buffer_create(&b->data, &b->memory, WRITTEN_SEQUENCES, tokens), 0);
    cr_assert_eq(decode_room_create(&b->room, &b->memory, WRITTEN_SEQUENCES, tokens, longest, &e), 0);
    for (int n = 0; n < WRITTEN_SEQUENCES; n++)
        batch_buffer_draw(&b->data, b->t, TASK_TEST, 1, 5, (uint32_t)n, 5 + n / 3); /* three of each length */
    b->forced = batch_buffer_part(&b->data, 0, WRITTEN_SEQUENCES, 1, 7, 0, b->start);
}

static void written_bench_close(written_bench *b)
{
    task_free(b->t);
    layered_free(&b->stacks);
    arena_free(&b->memory);
    registry_free(b->r);
}

/* The same tokens as one sequence at a time, until they end. */
Test(decode, side_by_side_as_alone)
{
    written_bench b;
    written_bench_open(&b, "encoding=rope+alibi");
    model_init(&b.m, 3);
    for (size_t i = 0; i < b.m.length; i++)
        b.m.value[i] *= 8; /* start values alone repeat one token */
    model_changed(&b.m);
    evaluate_free_run(&b.m, &b.work, &b.forced, b.data.answer_begin, &b.room);
    int distinct[64] = {0}, kinds = 0, end = task_symbols(b.t) + 2;
    for (int n = 0; n < WRITTEN_SEQUENCES; n++) {
        int at = b.start[n], count = b.start[n + 1] - at, prompt = b.data.answer_begin[n] + 1, alone[64], ended = 0;
        memcpy(alone, b.forced.input + at, sizeof(int) * (size_t)prompt);
        evaluate_decode(&b.m, &b.work, alone, NULL, prompt, count, 1);
        for (int t = prompt; t < count; t++) {
            cr_assert_eq(b.room.said[at + t - 1], ended ? -1 : alone[t], "sequence %d, token %d", n, t);
            ended |= alone[t] == end;
            kinds += !distinct[alone[t]]++;
        }
    }
    cr_assert_gt(kinds, 1, "one token everywhere compares nothing");
    written_bench_close(&b);
}

/* A network that always says the end: under teacher forcing its last token is right each time, decoded it has written
 * nothing. */
Test(decode, an_early_end_is_the_end)
{
    written_bench b;
    written_bench_open(&b, "encoding=nope");
    int end = task_symbols(b.t) + 2, guess[512], right = 0;
    b.m.value[b.m.head_b + (size_t)end] = 1;
    model_forward(&b.m, &b.work, &b.forced);
    model_loss(&b.m, &b.work, &b.forced, 0, NULL, guess);
    for (int t = 0; t < b.start[WRITTEN_SEQUENCES]; t++)
        right += b.forced.target[t] != TASK_NOT_SCORED && guess[t] == b.forced.target[t];
    cr_assert_eq(right, WRITTEN_SEQUENCES);
    evaluate_free_run(&b.m, &b.work, &b.forced, b.data.answer_begin, &b.room);
    cr_assert_eq(b.room.sums.sequences, WRITTEN_SEQUENCES);
    cr_assert_eq(b.room.sums.exact, 0);
    cr_assert_eq(b.room.sums.right, 0);
    cr_assert_eq(b.room.sums.tokens, 3 * (6 + 7 + 8 + 9)); /* answers of 5 to 8 symbols and their ends */
    written_bench_close(&b);
}

/* ------------------------------------------------------------------------------------------------ refusals */

Test(decode, refused_where_there_is_nothing_to_decode)
{
    static const struct {
        const char *settings, *says;
    } cases[] = {
        {"encoding=rope task=mqar train.len=16", "eval.decode: the answers of mqar stand among given tokens"},
        {"encoding=rope task=text(file=LICENSE)", "eval.decode: a language task such as text has no answer to decode"},
        {"encoding=rope model.causal=false", "eval.decode: without a causal mask"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        error e = ERROR_INIT;
        registry *r = registry_new(&e);
        run_config c;
        cr_assert_lt(written_configure(r, cases[i].settings, &c, &e), 0, "%s", cases[i].settings);
        cr_assert(e.kind == ERROR_USAGE && strstr(e.message, cases[i].says), "%s", e.message);
        registry_free(r);
    }
}

/* A default that is not written: records of runs that do not decode keep their keys. */
Test(decode, is_off_unless_asked_for)
{
    run_config c;
    char text[CONFIG_TEXT_MAX];
    config_defaults(&c);
    config_print(&c, text, sizeof text);
    cr_assert_null(strstr(text, "decode"));
    run_result r = written_run("encoding=nope train.steps=2 eval.decode=false");
    for (int i = 0; i < r.values_count; i++)
        cr_assert_str_neq(r.values[i].mode, "free_running");
    run_result_free(&r);
}
