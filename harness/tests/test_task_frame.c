/* Prompt and answer as a sequence, in both regimes; and the chance of tasks without a formula. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "task_inside.h"

/* A task with known pairs: the answer repeats the first symbol of the prompt once, or twice when the second symbol is 1. */
static int echo_symbols(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return 2;
}

static void echo_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = len;
    *answer = 2;
}

static void echo_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    (void)options, (void)state;
    for (int i = 0; i < len; i++)
        out->prompt[i] = (int)rng_below(i == 0 ? kind : rest, 2);
    out->prompt_len = len;
    out->answer_len = 1 + out->prompt[1];
    out->answer[0] = out->answer[out->answer_len - 1] = out->prompt[0];
    for (int i = 0; out->prompt_position && i < len; i++)
        out->prompt_position[i] = 10 + i;
    for (int i = 0; out->answer_position && i < out->answer_len; i++)
        out->answer_position[i] = 20 + i;
    out->separator_position = 5;
}

static const task_descriptor echo = {
    .name = "echo", .kind = TASK_ANSWER, .symbols = echo_symbols, .sizes = echo_sizes, .answer_varies = 1,
    .proposes_positions = 1, .pair = echo_pair};

static void frame_expect(task_regime regime, uint32_t item, const int *input, const int *target, const double *position,
                         int count)
{
    task t = {.descriptor = &echo, .regime = regime, .min_len = 3, .max_len = 3};
    int in[16], out[16];
    double pos[16];
    task_sample s = {.input = in, .target = out, .position = pos};
    rng rest = rng_stream(7, RNG_TEST, 0, item), kind = rng_second(&rest);
    task_sample_any(&t, &kind, &rest, 3, &s);
    cr_assert_eq(s.count, count);
    cr_assert_leq(s.count, task_tokens(&t, 3));
    cr_expect_arr_eq(in, input, (size_t)count * sizeof *in);
    cr_expect_arr_eq(out, target, (size_t)count * sizeof *out);
    cr_expect_arr_eq(pos, position, (size_t)count * sizeof *pos);
    cr_expect_eq(s.answer_begin, regime == TASK_DECODER ? 4 : -1);
}

/* The first draws whose answers have one symbol and two. */
static uint32_t frame_item(int symbols, int prompt[3])
{
    for (uint32_t item = 0;; item++) {
        int answer[2];
        task_pair pair = {.prompt = prompt, .answer = answer};
        rng rest = rng_stream(7, RNG_TEST, 0, item), kind = rng_second(&rest);
        echo_pair(NULL, NULL, &kind, &rest, 3, &pair);
        if (pair.answer_len == symbols)
            return item;
    }
}

/* A prompt of 3 and an answer of 1 or 2 symbols; BOS = 2, SEP and slot = 3, EOS = 4. The first answer token is predicted
 * from SEP, and exactly answer + 1 targets are scored. */
Test(task_frame, decoder)
{
    int p[3];
    uint32_t item = frame_item(1, p);
    frame_expect(TASK_DECODER, item, (int[]){2, p[0], p[1], p[2], 3, p[0]}, (int[]){-1, -1, -1, -1, p[0], 4},
                 (double[]){0, 10, 11, 12, 5, 20}, 6);
    item = frame_item(2, p);
    frame_expect(TASK_DECODER, item, (int[]){2, p[0], p[1], p[2], 3, p[0], p[0]},
                 (int[]){-1, -1, -1, -1, p[0], p[0], 4}, (double[]){0, 10, 11, 12, 5, 20, 21}, 7);
}

/* Three slots for answers of up to two symbols: EOS behind the answer, nothing is scored behind that. */
Test(task_frame, encoder)
{
    int p[3];
    uint32_t item = frame_item(1, p);
    frame_expect(TASK_ENCODER, item, (int[]){p[0], p[1], p[2], 3, 3, 3}, (int[]){-1, -1, -1, p[0], 4, -1},
                 (double[]){10, 11, 12, 20, 20, 20}, 6);
    item = frame_item(2, p);
    frame_expect(TASK_ENCODER, item, (int[]){p[0], p[1], p[2], 3, 3, 3}, (int[]){-1, -1, -1, p[0], p[0], 4},
                 (double[]){10, 11, 12, 20, 21, 21}, 6);
}

/* Where the answer's length is fixed there is no EOS to fill in. */
Test(task_frame, encoder_of_fixed_length)
{
    error e = ERROR_INIT;
    task *t = task_open("repeat_copy", TASK_ENCODER, 1, 8, &e);
    cr_assert_not_null(t, "%s", e.message);
    int input[16], target[16];
    task_sample s = {.input = input, .target = target};
    task_draw(t, TASK_TEST, 1, 0, 0, 8, &s, NULL);
    cr_assert_eq(s.count, 16);
    for (int i = 0; i < 8; i++) {
        cr_expect_eq(target[i], TASK_NOT_SCORED);
        cr_expect_eq(input[8 + i], 3);
        cr_expect_eq(target[8 + i], input[i]);
    }
    cr_expect_eq(task_chance_token(t, 8), 0.5, "no EOS is counted");
    cr_expect_eq(task_chance_exact(t, 8), pow(2, -8));
    task_free(t);
    t = task_open("repeat_copy", TASK_DECODER, 1, 8, &e);
    cr_expect_float_eq(task_chance_token(t, 8), (0.5 * 8 + 1) / 9, 1e-15);
    task_free(t);
}

/* Of the four equally likely answers 0, 1, 00, 11 (with EOS) the best guess of a whole answer is right with 1/4. By
 * places: the first symbol with 1/2; the second place holds EOS with 1/2, 0 or 1 with 1/4 each; the third, where there
 * is one, EOS always. Expected: (1/2 + 1/2 + 1/2) right of 2.5 scored. */
Test(task_frame, chance_is_estimated_where_there_is_no_formula)
{
    task t = {.descriptor = &echo, .regime = TASK_DECODER, .min_len = 3, .max_len = 3};
    cr_expect_float_eq(task_chance_exact(&t, 3), 0.25, 0.02);
    cr_expect_float_eq(task_chance_token(&t, 3), 0.6, 0.01);
    double token = task_chance_token(&t, 3);
    cr_expect_eq(token, task_chance_token(&t, 3), "asked twice: the same");
    task_chance_forget(t.chances);
    t.chances = NULL;
    t.regime = TASK_ENCODER;
    cr_expect_eq(token, task_chance_token(&t, 3), "the same draws in the other regime");
    task_chance_forget(t.chances);
}
