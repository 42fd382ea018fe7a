/* What holds for a network with any encoding, tried for every encoding of the list and each of its examples. */
#include <stdlib.h>
#include <string.h>

#include "network_fixture.h"
#include "network_gradient.h"

enum { EVERY_LEN = 12, EVERY_LONG = 40 };

typedef void every_check(const char *encoding);

/* Whether the network of the fixture takes it: some examples need another shape. */
static int every_fits(const registry *r, const char *encoding)
{
    error e = ERROR_INIT;
    layered_stack stacks;
    const pe_shape shape = { .width = 12, .heads = 3, .head_dim = 4, .layers = 2, .train_len = EVERY_LEN, .causal = 1 };
    cr_assert_eq(layered_parse(r, encoding, &stacks, &e), 0, "%s", e.message);
    int fits = layered_check(&stacks, &shape, EVERY_LEN, &e) == 0;
    layered_free(&stacks);
    return fits;
}

static void every_example(const char *name, every_check *check)
{
    error e = ERROR_INIT;
    registry *r = registry_new(&e);
    const pe_descriptor *d = registry_find_encoding(r, name, &e);
    int tried = 0;
    for (const char *const *example = d->examples;; example++) {
        char text[PE_TEXT_MAX];
        snprintf(text, sizeof text, example && *example ? "%s(%s)" : "%s", name, example ? *example : "");
        if (every_fits(r, text)) {
            check(text);
            tried++;
        }
        if (!example || !*example)
            break;
    }
    cr_assert_gt(tried, 0, "%s: neither the default nor any example fits", name);
    registry_free(r);
}

/* Losses of the fixture's one sequence, `len` tokens of it, that will have `total_len` tokens in the end. */
static void every_losses(fixture *f, int len, int total_len, double *loss)
{
    int start[2] = { 0, len };
    batch b = { .sequences = 1, .start = start, .input = f->input, .target = f->target, .total_len = total_len };
    for (int t = 0; t < len; t++)
        f->target[t] = (3 * t + 1) % FIXTURE_VOCAB;
    model_forward(&f->model, &f->work, &b);
    model_loss(&f->model, &f->work, &b, 0, loss, NULL);
}

/* ------------------------------------------------------------------------------------------------ the checks */

/* A later token must not reach back: the loss at every earlier token keeps its bits. */
static void every_causal(const char *encoding)
{
    fixture f;
    fixture_open(&f, encoding, "", EVERY_LEN, 0);
    fixture_draw(&f, 2, 1, 1);
    double before[FIXTURE_TOKENS], after[FIXTURE_TOKENS];
    every_losses(&f, EVERY_LEN, 0, before);
    f.input[7] = (f.input[7] + 1) % FIXTURE_VOCAB;
    every_losses(&f, EVERY_LEN, 0, after);
    cr_assert_arr_eq(before, after, 7 * sizeof(double), "%s", encoding);
    cr_assert(before[7] != after[7], "%s: the changed token has no effect", encoding);
    fixture_close(&f);
}

/* Logits of the second of two sequences after a pass over `b`, in which it begins at token `at`. */
static void every_logits(fixture *f, batch b, int at, real out[EVERY_LEN * FIXTURE_VOCAB])
{
    b.every_token = 1;
    model_forward(&f->model, &f->work, &b);
    for (int t = 0; t < EVERY_LEN; t++)
        model_logits(&f->model, &f->work, at + t, out + t * FIXTURE_VOCAB);
}

/* Case B18: sequences stand behind each other in one block, yet none sees another. A token of the first changes no bit of
 * the second's logits, and the second alone gives the same to rounding. */
static void every_apart(const char *encoding)
{
    fixture f;
    fixture_open(&f, encoding, "", EVERY_LEN, 0);
    fixture_draw(&f, 5, 2, 1);
    real before[EVERY_LEN * FIXTURE_VOCAB], after[EVERY_LEN * FIXTURE_VOCAB], alone[EVERY_LEN * FIXTURE_VOCAB];
    real first[FIXTURE_VOCAB], changed[FIXTURE_VOCAB];
    every_logits(&f, f.batch, EVERY_LEN, before);
    model_logits(&f.model, &f.work, 4, first);
    f.input[4] = (f.input[4] + 1) % FIXTURE_VOCAB;
    every_logits(&f, f.batch, EVERY_LEN, after);
    model_logits(&f.model, &f.work, 4, changed);
    cr_assert_arr_neq(first, changed, sizeof first, "%s: the changed token has no effect", encoding);
    cr_assert_arr_eq(before, after, sizeof before, "%s", encoding);
    int start[2] = { 0, EVERY_LEN };
    batch second = { .sequences = 1, .start = start, .input = f.input + EVERY_LEN, .target = f.target + EVERY_LEN };
    every_logits(&f, second, 0, alone);
    for (int i = 0; i < EVERY_LEN * FIXTURE_VOCAB; i++)
        cr_assert(fabs((double)(alone[i] - before[i])) < 1e-5 * fmax(1, fabs((double)before[i])), "%s: token %d",
                  encoding, i / FIXTURE_VOCAB);
    fixture_close(&f);
}

/* The gradient of one pass over `b`. */
static void every_gradient_of(fixture *f, const batch *b, real *out)
{
    memset(f->model.grad, 0, sizeof(real) * f->model.length);
    model_forward(&f->model, &f->work, b);
    model_loss(&f->model, &f->work, b, 1, NULL, NULL);
    model_backward(&f->model, &f->work, b);
    memcpy(out, f->model.grad, sizeof(real) * f->model.length);
}

/* The same of the gradient of the second's loss: not a bit of it depends on the first, and alone it is the same to rounding.
 */
static void every_gradient_apart(const char *encoding)
{
    fixture f;
    fixture_open(&f, encoding, "", EVERY_LEN, 1);
    fixture_draw(&f, 5, 2, 1);
    size_t bytes = sizeof(real) * f.model.length;
    real *before = malloc(bytes), *after = malloc(bytes), *alone = malloc(bytes);
    double largest = 0;
    for (int t = 0; t < EVERY_LEN; t++)
        f.target[t] = -1;
    every_gradient_of(&f, &f.batch, before);
    f.input[4] = (f.input[4] + 1) % FIXTURE_VOCAB;
    every_gradient_of(&f, &f.batch, after);
    int start[2] = { 0, EVERY_LEN };
    batch second = { .sequences = 1, .start = start, .input = f.input + EVERY_LEN, .target = f.target + EVERY_LEN,
                     .given = f.given, .training = 1 };
    every_gradient_of(&f, &second, alone);
    for (size_t i = 0; i < f.model.length; i++)
        largest = fmax(largest, fabs((double)before[i]));
    cr_assert_gt(largest, 0);
    for (size_t i = 0; i < f.model.length; i++) {
        cr_assert(before[i] == after[i], "%s: parameter %zu: %g, then %g", encoding, i, (double)before[i],
                  (double)after[i]);
        cr_assert(fabs((double)(alone[i] - before[i])) <= 1e-5 * fmax(1, largest), "%s: parameter %zu: %g, not %g",
                  encoding, i, (double)alone[i], (double)before[i]);
    }
    free(before), free(after), free(alone);
    fixture_close(&f);
}

/* That the last layer is finished for the scored tokens alone changes neither their losses nor the gradient: tokens not
 * scored before, between and behind them, a sequence that is scored whole and one that is not at all. */
static void every_outputs(const char *encoding)
{
    const double limit = sizeof(real) == sizeof(double) ? 1e-12 : 1e-4;
    fixture f;
    fixture_open(&f, encoding, "", EVERY_LEN, 1);
    fixture_draw(&f, 9, 4, 1);
    size_t bytes = sizeof(real) * f.model.length;
    real *few = malloc(bytes), *all = malloc(bytes);
    double loss[2][4 * EVERY_LEN], largest = 0;
    for (int t = 0; t < EVERY_LEN; t++) {
        f.target[t] = t < 5 || t == 8 || t == EVERY_LEN - 1 ? -1 : t % FIXTURE_VOCAB;
        f.target[EVERY_LEN + t] = t % FIXTURE_VOCAB;
        f.target[2 * EVERY_LEN + t] = -1;
    }
    for (int every = 0; every < 2; every++) {
        f.batch.every_token = every;
        memset(f.model.grad, 0, bytes);
        model_forward(&f.model, &f.work, &f.batch);
        model_loss(&f.model, &f.work, &f.batch, 1, loss[every], NULL);
        model_backward(&f.model, &f.work, &f.batch);
        memcpy(every ? all : few, f.model.grad, bytes);
    }
    for (int t = 0; t < 4 * EVERY_LEN; t++)
        if (f.target[t] >= 0) {
            cr_assert(fabs(loss[0][t] - loss[1][t]) <= limit * fmax(1, loss[1][t]), "%s: token %d: %.12g, not %.12g",
                      encoding, t, loss[0][t], loss[1][t]);
        }
    for (size_t i = 0; i < f.model.length; i++)
        largest = fmax(largest, fabs((double)all[i]));
    cr_assert_gt(largest, 0);
    for (size_t i = 0; i < f.model.length; i++)
        cr_assert(fabs((double)(few[i] - all[i])) <= limit * fmax(1, largest), "%s: parameter %zu: %g, not %g", encoding, i,
                  (double)few[i], (double)all[i]);
    free(few), free(all);
    fixture_close(&f);
}

/* Decoding step t by step t, with the final length known, gives what one pass over the whole sequence gives: past the
 * training length too, where some encodings change with the length. */
static void every_decoding(const char *encoding)
{
    const double limit = sizeof(real) == sizeof(double) ? 1e-11 : 1e-4;
    fixture f;
    fixture_open(&f, encoding, "", EVERY_LEN, 0);
    int longest = f.model.last_position < EVERY_LONG ? EVERY_LEN : EVERY_LONG;
    double whole[EVERY_LONG], prefix[EVERY_LONG];
    error e = ERROR_INIT;
    cr_assert_eq(workspace_create(&f.work, &f.memory, &f.model, NULL, NULL, 1, EVERY_LONG, EVERY_LONG, 0, &e), 0);
    for (int t = 0; t < longest; t++)
        f.input[t] = (7 * t * t + 3) % FIXTURE_VOCAB;
    every_losses(&f, longest, 0, whole);
    for (int len = 1; len <= longest; len++) {
        every_losses(&f, len, longest, prefix);
        for (int t = 0; t < len; t++)
            cr_assert(fabs(prefix[t] - whole[t]) <= limit * fmax(1, whole[t]), "%s: token %d of %d: %.12g, not %.12g",
                      encoding, t, len, prefix[t], whole[t]);
    }
    fixture_close(&f);
}

/* Nothing is kept from one sequence to the next: a short one gives the same bits before and after longer ones, and in
 * another order of lengths. */
static void every_memory(const char *encoding)
{
    fixture f;
    fixture_open(&f, encoding, "", EVERY_LEN, 0);
    int longest = f.model.last_position < EVERY_LONG ? EVERY_LEN : EVERY_LONG;
    const int lens[] = { 8, longest, longest / 2, 8, longest / 2, longest };
    double loss[6][EVERY_LONG];
    error e = ERROR_INIT;
    cr_assert_eq(workspace_create(&f.work, &f.memory, &f.model, NULL, NULL, 1, EVERY_LONG, EVERY_LONG, 0, &e), 0);
    for (int t = 0; t < longest; t++)
        f.input[t] = (5 * t * t + 1) % FIXTURE_VOCAB;
    for (int i = 0; i < 6; i++)
        every_losses(&f, lens[i], 0, loss[i]);
    cr_assert_arr_eq(loss[0], loss[3], 8 * sizeof(double), "%s", encoding);
    cr_assert_arr_eq(loss[2], loss[4], (size_t)(longest / 2) * sizeof(double), "%s", encoding);
    cr_assert_arr_eq(loss[1], loss[5], (size_t)longest * sizeof(double), "%s", encoding);
    fixture_close(&f);
}

static void every_gradient(const char *encoding)
{
    if (sizeof(real) == sizeof(double))
        network_gradient(encoding, "");
}

/* One test for each encoding: a process costs more than most of these checks. */
#define PE_ENCODING(name)                                                                                              \
    Test(network_every, name)                                                                                          \
    {                                                                                                                  \
        every_example(#name, every_causal);                                                                            \
        every_example(#name, every_apart);                                                                             \
        every_example(#name, every_gradient_apart);                                                                    \
        every_example(#name, every_outputs);                                                                           \
        every_example(#name, every_decoding);                                                                          \
        every_example(#name, every_memory);                                                                            \
        every_example(#name, every_gradient);                                                                          \
    }
#include "list.h"
