/* Where the network's sequences stand under maps that draw: by layer, batch and sequence, the same for the same seed. */
#include "network_fixture.h"

static void placed(fixture *f, uint64_t seed, uint64_t index, int training, int n, int layer, double *pos)
{
    f->batch.seed = seed;
    f->batch.map_index = index;
    f->batch.training = training;
    model_positions(&f->model, &f->work, &f->batch, n, layer, pos);
}

static int alike(const double *a, const double *b, int len)
{
    return memcmp(a, b, sizeof *a * (size_t)len) == 0;
}

static int len_of(const fixture *f, int n)
{
    return f->start[n + 1] - f->start[n];
}

/* Randomised positions that might leave their range when there are as many tokens as positions (A47): through the host
 * too, in training and in evaluation, they are whole numbers, each larger than the one before, below the span. */
Test(placement, random_positions_stay_sorted_distinct_and_in_range)
{
    fixture f;
    double pos[16];
    fixture_open(&f, "learned(rows=12)+rope@random(span=12)", "model.causal=false", 12, 1);
    fixture_draw(&f, 1, 8, 0);
    for (int training = 0; training <= 1; training++)
        for (uint64_t index = 0; index < 200; index++)
            for (int n = 0; n < 8; n++) {
                placed(&f, 3, index, training, n, (int)index % 2, pos);
                for (int t = 0; t < len_of(&f, n); t++)
                    cr_assert(pos[t] == floor(pos[t]) && pos[t] > (t ? pos[t - 1] : -1) && pos[t] < 12,
                              "token %d stands at %g", t, pos[t]);
            }
    fixture_close(&f);
}

/* One draw for each layer: layers differ, sequences of one length do not; another step or another seed draws anew, the
 * same seed draws the same, and evaluation does not repeat training. */
Test(placement, layers_draw_for_themselves)
{
    fixture f, again;
    double a[16], b[16];
    fixture_open(&f, "rope@random(span=4096)", "", 12, 1);
    fixture_open(&again, "rope@random(span=4096)", "", 12, 1);
    fixture_draw(&f, 1, 4, 1);
    fixture_draw(&again, 1, 4, 1);
    placed(&f, 3, 7, 1, 0, 0, a);
    placed(&again, 3, 7, 1, 0, 0, b);
    cr_assert(alike(a, b, 12), "the same seed and step");
    placed(&f, 3, 7, 1, 3, 0, b);
    cr_assert(alike(a, b, 12), "another sequence of that length");
    placed(&f, 3, 7, 1, 0, 1, b);
    cr_assert(!alike(a, b, 12), "another layer");
    placed(&again, 3, 7, 1, 0, 1, a);
    cr_assert(alike(a, b, 12), "that layer in another run");
    placed(&f, 3, 7, 1, 0, 0, a);
    placed(&f, 3, 8, 1, 0, 0, b);
    cr_assert(!alike(a, b, 12), "another step");
    placed(&f, 4, 7, 1, 0, 0, b);
    cr_assert(!alike(a, b, 12), "another seed");
    placed(&f, 3, 7, 0, 0, 0, b);
    cr_assert(!alike(a, b, 12), "evaluation");
    fixture_close(&f);
    fixture_close(&again);
}

Test(placement, batch_and_sequence_scopes)
{
    static const struct {
        const char *encoding;
        int same_layers, same_sequences;
    } cases[] = { { "rope@random(span=4096,scope=batch)", 1, 1 },
                  { "rope@random(span=4096,scope=sequence)", 1, 0 },
                  { "rope@random_float(scope=batch)", 1, 1 },
                  { "rope@random_float", 0, 1 },
                  { "rope@random_float(scope=sequence)", 1, 0 },
                  { "rope@shift(span=100000)", 1, 0 },
                  { "rope@shift(span=100000,scope=batch)", 1, 1 },
                  { "rope@cape", 1, 0 },
                  { "rope@task(start=100000)", 1, 0 },
                  { "rope@task(start=100000,scope=batch)", 1, 1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        double a[16], b[16];
        fixture_open(&f, cases[i].encoding, "", 12, 1);
        fixture_draw(&f, 1, 4, 1);
        placed(&f, 3, 7, 1, 0, 0, a);
        placed(&f, 3, 7, 1, 0, 1, b);
        cr_assert_eq(alike(a, b, 12), cases[i].same_layers, "%s: two layers", cases[i].encoding);
        placed(&f, 3, 7, 1, 2, 0, b);
        cr_assert_eq(alike(a, b, 12), cases[i].same_sequences, "%s: two sequences", cases[i].encoding);
        fixture_close(&f);
    }
}

/* A sequence stands where it stands, whatever part of the batch it is computed in. */
Test(placement, parts_of_a_batch_stand_as_the_whole)
{
    static const char *const encodings[] = { "rope@random(span=64,scope=sequence)", "rope@random(span=64)",
                                             "rope@shift(span=500)", "rope@cape" };
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        fixture f;
        double whole[16], part[16];
        fixture_open(&f, encodings[i], "", 12, 1);
        fixture_draw(&f, 1, 6, 0);
        f.batch.seed = 9;
        f.batch.training = 1;
        model_positions(&f.model, &f.work, &f.batch, 4, 1, whole);
        int start[2] = { 0, len_of(&f, 4) };
        batch alone = { .sequences = 1, .start = start, .first_sequence = 4, .seed = 9, .training = 1 };
        model_positions(&f.model, &f.work, &alone, 0, 1, part);
        cr_assert(alike(whole, part, len_of(&f, 4)), "%s", encodings[i]);
        fixture_close(&f);
    }
}

/* The same evaluation twice gives the same bits, though other passes ran in between (A47). */
Test(placement, evaluation_repeats_to_the_bit)
{
    fixture f;
    double first[FIXTURE_TOKENS], second[FIXTURE_TOKENS];
    fixture_open(&f, "shaw(clip=3)+rope@random(span=64)", "", 12, 0);
    fixture_draw(&f, 1, 6, 0);
    for (int t = 0; t < f.start[6]; t++)
        f.target[t] = 1;
    f.batch.training = 0;
    for (int round = 0; round < 2; round++) {
        f.batch.map_index = 5;
        model_forward(&f.model, &f.work, &f.batch);
        model_loss(&f.model, &f.work, &f.batch, 0, round ? second : first, NULL);
        f.batch.map_index = 6;
        model_forward(&f.model, &f.work, &f.batch);
    }
    cr_assert_arr_eq(first, second, sizeof(double) * (size_t)f.start[6]);
    model_loss(&f.model, &f.work, &f.batch, 0, second, NULL);
    cr_assert_arr_neq(first, second, sizeof(double) * (size_t)f.start[6], "another batch has other positions");
    fixture_close(&f);
}

/* Positions that all tokens share tell nothing apart; those of the task reach the table. */
Test(placement, proposals_reach_the_encoding)
{
    fixture f;
    double a[FIXTURE_TOKENS], b[FIXTURE_TOKENS];
    fixture_open(&f, "learned@task", "model.causal=false", 9, 0);
    fixture_draw(&f, 1, 1, 1);
    for (int t = 0; t < 9; t++) {
        f.input[t] = 2;
        f.target[t] = 1;
    }
    model_forward(&f.model, &f.work, &f.batch);
    model_loss(&f.model, &f.work, &f.batch, 0, a, NULL);
    for (int t = 3; t < 9; t++)
        cr_assert(fabs(a[t] - a[t - 3]) < 1e-6, "tokens %d and %d have one position", t, t - 3);
    cr_assert(fabs(a[0] - a[1]) > 1e-6, "tokens 0 and 1 have two");
    f.given[4] = 5;
    model_forward(&f.model, &f.work, &f.batch);
    model_loss(&f.model, &f.work, &f.batch, 0, b, NULL);
    cr_assert(fabs(a[4] - b[4]) > 1e-6);
    fixture_close(&f);
}
