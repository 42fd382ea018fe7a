#include "task_room.h"

#include <math.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "task_inside.h"

task_room room_open(const char *text, int min_len, int max_len)
{
    return room_open_in(TASK_DECODER, text, min_len, max_len);
}

task_room room_open_in(task_regime regime, const char *text, int min_len, int max_len)
{
    error e = ERROR_INIT;
    task_room r = {.task = task_open(text, regime, min_len, max_len, &e)};
    cr_assert_not_null(r.task, "%s: %s", text, e.message);
    r.size = task_tokens(r.task, max_len) + ROOM_GUARD;
    r.sample.input = malloc((size_t)r.size * sizeof(int));
    r.sample.target = malloc((size_t)r.size * sizeof(int));
    r.sample.position = malloc((size_t)r.size * sizeof(double));
    return r;
}

void room_close(task_room *r)
{
    free(r->sample.input);
    free(r->sample.target);
    free(r->sample.position);
    task_free(r->task);
}

static void room_poison(task_room *r)
{
    for (int t = 0; t < r->size; t++) {
        r->sample.input[t] = r->sample.target[t] = ROOM_POISON;
        r->sample.position[t] = ROOM_POISON;
    }
    r->sample.count = r->sample.answer_begin = r->shared = ROOM_POISON;
}

void room_draw(task_room *r, task_stream stream, uint64_t seed, uint64_t index, uint32_t item, int len)
{
    room_poison(r);
    r->len = len;
    task_draw(r->task, stream, seed, index, item, len, &r->sample, &r->shared);
}

void room_sample(task_room *r, uint32_t item, int len)
{
    rng rest = rng_stream(99, RNG_TEST, (uint64_t)len, item), kind = rng_second(&rest);
    room_poison(r);
    r->len = len;
    task_sample_any(r->task, &kind, &rest, len, &r->sample);
}

double chi_square(const long *count, const double *expected, int cells)
{
    double sum = 0.0;
    for (int i = 0; i < cells; i++)
        sum += (count[i] - expected[i]) * (count[i] - expected[i]) / expected[i];
    return sum;
}

double chi_limit(int freedom)
{
    return freedom + 6.0 * sqrt(2.0 * freedom) + 6.0;
}

void chi_expect_shares(const char *what, const long *count, const double *share, int cells)
{
    double *expected = malloc((size_t)cells * sizeof *expected), all = 0.0;
    for (int i = 0; i < cells; i++)
        all += (double)count[i];
    for (int i = 0; i < cells; i++)
        expected[i] = all * share[i];
    double statistic = chi_square(count, expected, cells);
    cr_expect_leq(statistic, chi_limit(cells - 1), "%s: chi-square %g over %d cells", what, statistic, cells);
    free(expected);
}

void chi_expect_uniform(const char *what, const long *count, int cells)
{
    double *share = malloc((size_t)cells * sizeof *share);
    for (int i = 0; i < cells; i++)
        share[i] = 1.0 / cells;
    chi_expect_shares(what, count, share, cells);
    free(share);
}
