/* Answers that the network writes itself: the same event as teacher forcing, and ended by themselves. */
#include <criterion/criterion.h>

#include <math.h>
#include <string.h>

#include "evaluate.h"
#include "small_run.h"
#include "train.h"

/* Teacher-forced "every answer token is the arg-max" is the event "greedy decoding gives the whole answer". */
static void decoding_agrees(const char *settings)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    run_config c = small_run_config(r, settings);
    layered_stack stacks;
    cr_assert_eq(layered_parse(r, c.encoding, &stacks, &e), 0);
    arena memory = {NULL, 0};
    task *t = task_open(c.task, TASK_DECODER, 1, 12, &e);
    model m;
    trainer tr;
    workspace w;
    int longest = task_tokens(t, 6), agreed[2] = {0, 0};
    cr_assert_eq(model_create(&m, &memory, &c, &stacks, task_vocab(t), longest, 1, &e), 0);
    model_init(&m, 1);
    cr_assert_eq(trainer_create(&tr, &memory, &c, t, &m, &e), 0);
    double norm;
    for (int step = 0; step < c.train.steps; step++)
        trainer_step(&tr, step, &norm);
    cr_assert_eq(workspace_create(&w, &memory, &m, NULL, NULL, 1, longest, longest, 0, &e), 0);
    for (uint32_t item = 0; item < 60; item++) {
        int len = 1 + (int)(item % 6);
        int input[64], target[64], guess[64], decoded[64], start[2] = {0};
        double position[64];
        task_sample s = {.input = input, .target = target, .position = position};
        task_draw(t, TASK_TEST, 1, 5, item, len, &s, NULL);
        const double *given = task_of(t)->proposes_positions ? position : NULL;
        start[1] = s.count;
        batch b = {.sequences = 1, .start = start, .input = input, .target = target, .given = given, .seed = 1};
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
        batch end = {.sequences = 1, .start = start, .input = decoded, .target = target, .given = given, .seed = 1};
        model_forward(&m, &w, &end);
        model_loss(&m, &w, &end, 0, NULL, guess);
        free_run &= guess[s.count - 1] == target[s.count - 1];
        cr_assert_eq(forced, free_run, "%s: item %u", settings, item);
        agreed[forced]++;
    }
    cr_assert(agreed[0] > 0 && agreed[1] > 0, "%s: %d wrong, %d right; the test needs both", settings, agreed[0],
              agreed[1]);
    task_free(t);
    layered_free(&stacks);
    arena_free(&memory);
    registry_free(r);
}

Test(decoding, equals_teacher_forcing)
{
    decoding_agrees("encoding=learned train.steps=350 train.lr=0.003 train.len=6 model.width=32");
    decoding_agrees("encoding=shaw+alibi train.steps=350 train.lr=0.003 train.len=6 model.width=32");
    decoding_agrees("encoding=rope train.steps=350 train.lr=0.003 train.len=6 model.width=32");
    decoding_agrees("encoding=rope@random(span=20) eval.ratios=1 train.steps=350 train.lr=0.003 "
                    "model.width=32");
    decoding_agrees("encoding=learned(rows=24)@shift(test=auto) eval.ratios=1 train.steps=350 train.lr=0.003 "
                    "model.width=32");
    decoding_agrees("encoding=learned@task train.steps=100 train.lr=0.003 train.len=6 model.width=32");
}

/* Case B15: there is no pad token that the end could be taken for. The end is a target like the others, whatever symbol
 * the answer ends with: its loss enters the mean with weight 1, and a network that has learned the task writes it. */
Test(decoding, the_end_is_scored_and_written)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    run_config c =
        small_run_config(r, "encoding=learned(rows=32) train.lr=0.003 train.len=6 model.width=32 train.steps=350");
    layered_stack stacks;
    cr_assert_eq(layered_parse(r, c.encoding, &stacks, &e), 0);
    arena memory = {NULL, 0};
    task *t = task_open(c.task, TASK_DECODER, 1, 6, &e);
    model m;
    trainer tr;
    workspace w;
    int longest = task_tokens(t, 6) + 1, end = task_symbols(t) + 2, ended = 0, last_symbols[2] = {0, 0};
    double norm;
    cr_assert_eq(model_create(&m, &memory, &c, &stacks, task_vocab(t), task_tokens(t, 6), 1, &e), 0);
    model_init(&m, 1);
    cr_assert_eq(trainer_create(&tr, &memory, &c, t, &m, &e), 0);
    for (int step = 0; step < c.train.steps; step++)
        trainer_step(&tr, step, &norm);
    cr_assert_eq(workspace_create(&w, &memory, &m, NULL, NULL, 1, longest, longest, 0, &e), 0);
    for (uint32_t item = 0; item < 40; item++) {
        int input[64], target[64], written[64], start[2] = {0};
        double loss[64], sum = 0;
        task_sample s = {.input = input, .target = target};
        task_draw(t, TASK_TEST, 1, 5, item, 6, &s, NULL);
        start[1] = s.count;
        cr_assert_eq(target[s.count - 1], end); /* behind answers that end with 0 and with 1 */
        last_symbols[input[s.count - 1]]++;
        batch b = {.sequences = 1, .start = start, .input = input, .target = target, .seed = 1};
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
