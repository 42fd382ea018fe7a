/* What holds for a network with any encoding, tried for every encoding of the list and each of its examples. */
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

/* Sequences stand behind each other in one block, yet none sees another: a token of the first changes no bit of the second's
 * losses, and the second alone gives the same to rounding. */
static void every_apart(const char *encoding)
{
    fixture f;
    fixture_open(&f, encoding, "", EVERY_LEN, 0);
    fixture_draw(&f, 5, 2, 1);
    double before[FIXTURE_TOKENS], after[FIXTURE_TOKENS], alone[FIXTURE_TOKENS];
    for (int t = 0; t < 2 * EVERY_LEN; t++)
        f.target[t] = 2;
    model_forward(&f.model, &f.work, &f.batch);
    model_loss(&f.model, &f.work, &f.batch, 0, before, NULL);
    f.input[4] = (f.input[4] + 1) % FIXTURE_VOCAB;
    model_forward(&f.model, &f.work, &f.batch);
    model_loss(&f.model, &f.work, &f.batch, 0, after, NULL);
    cr_assert(before[4] != after[4], "%s: the changed token has no effect", encoding);
    cr_assert_arr_eq(before + EVERY_LEN, after + EVERY_LEN, EVERY_LEN * sizeof(double), "%s", encoding);
    int start[2] = { 0, EVERY_LEN };
    batch second = { .sequences = 1, .start = start, .input = f.input + EVERY_LEN, .target = f.target + EVERY_LEN };
    model_forward(&f.model, &f.work, &second);
    model_loss(&f.model, &f.work, &second, 0, alone, NULL);
    for (int t = 0; t < EVERY_LEN; t++)
        cr_assert(fabs(alone[t] - before[EVERY_LEN + t]) < 1e-5, "%s: token %d", encoding, t);
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

#define PE_ENCODING(name)                                                                                              \
    Test(network_causal, name)                                                                                         \
    {                                                                                                                  \
        every_example(#name, every_causal);                                                                            \
    }                                                                                                                  \
    Test(network_apart, name)                                                                                          \
    {                                                                                                                  \
        every_example(#name, every_apart);                                                                             \
    }                                                                                                                  \
    Test(network_decoding, name)                                                                                       \
    {                                                                                                                  \
        every_example(#name, every_decoding);                                                                          \
    }                                                                                                                  \
    Test(network_memory, name)                                                                                         \
    {                                                                                                                  \
        every_example(#name, every_memory);                                                                            \
    }                                                                                                                  \
    Test(network_every_gradient, name)                                                                                 \
    {                                                                                                                  \
        every_example(#name, every_gradient);                                                                          \
    }
#include "list.h"
