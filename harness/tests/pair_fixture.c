#include "pair_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "task_inside.h"

enum { PAIR_ITEMS = 3 };

/* room_open in either regime. */
static task_room pair_open(const char *text, task_regime regime, int min_len, int max_len)
{
    task_room r = room_open(text, min_len, max_len);
    if (regime == TASK_DECODER)
        return r;
    error e = ERROR_INIT;
    room_close(&r);
    r.task = task_open(text, regime, min_len, max_len, &e);
    cr_assert_not_null(r.task, "%s: %s", text, e.message);
    r.size = task_tokens(r.task, max_len) + ROOM_GUARD;
    r.sample.input = malloc((size_t)r.size * sizeof(int));
    r.sample.target = malloc((size_t)r.size * sizeof(int));
    r.sample.position = malloc((size_t)r.size * sizeof(double));
    return r;
}

pair_view pair_decoder(const task_room *r)
{
    const task_sample *s = &r->sample;
    int bos = task_symbols(r->task), sep = bos + 1, eos = bos + 2, middle = 1;
    cr_assert_eq(s->input[0], bos);
    while (middle < s->count && s->input[middle] != sep)
        middle++;
    cr_assert_lt(middle, s->count, "a separator");
    cr_assert_eq(s->answer_begin, middle);
    for (int t = 0; t < middle; t++)
        cr_assert_eq(s->target[t], TASK_NOT_SCORED);
    for (int t = middle; t < s->count; t++)
        cr_assert_eq(s->target[t], t + 1 < s->count ? s->input[t + 1] : eos);
    for (int t = 1; t < s->count; t++)
        cr_assert(t == middle || (s->input[t] >= 0 && s->input[t] < bos), "token %d at %d", s->input[t], t);
    return (pair_view){s->input + 1, s->input + middle + 1, middle - 1, s->count - middle - 1};
}

/* prompt slot slot ..; the answer is what the slots must say. */
static pair_view pair_encoder(const task_room *r, int answer_max)
{
    const task_sample *s = &r->sample;
    int symbols = task_symbols(r->task), slot = symbols + 1, eos = symbols + 2, begin = 0, answer = 0;
    int varies = task_of(r->task)->answer_varies, slots = answer_max + (varies ? 1 : 0);
    while (begin < s->count && s->input[begin] != slot)
        cr_assert_eq(s->target[begin++], TASK_NOT_SCORED);
    cr_assert_eq(s->count - begin, slots);
    cr_assert_eq(s->answer_begin, -1);
    for (int t = begin; t < s->count; t++)
        cr_assert_eq(s->input[t], slot);
    while (answer < slots && s->target[begin + answer] != eos)
        answer++;
    cr_assert_eq(answer < slots, varies, "an end exactly where answers differ in length");
    for (int i = answer + 1; i < slots; i++)
        cr_assert_eq(s->target[begin + i], TASK_NOT_SCORED);
    return (pair_view){s->input, s->target + begin, begin, answer};
}

static void pair_check_one(task_room *r, task_regime regime, int len, const int *with, pair_solver *solve)
{
    static int answer[PAIR_MAX];
    const task_descriptor *d = task_of(r->task);
    int prompt_max, answer_max;
    d->sizes(task_options(r->task), len, &prompt_max, &answer_max);
    pair_view v = regime == TASK_DECODER ? pair_decoder(r) : pair_encoder(r, answer_max);
    cr_assert(v.prompt_len >= 1 && v.prompt_len <= prompt_max, "%s %d: %d symbols", d->name, len, v.prompt_len);
    cr_assert(v.answer_len >= 1 && v.answer_len <= answer_max, "%s %d: %d symbols", d->name, len, v.answer_len);
    cr_assert_leq(r->sample.count, task_tokens(r->task, len));
    for (int t = 0; t < r->sample.count; t++)
        cr_assert_eq(r->sample.position[t], t);
    for (int t = r->sample.count; t < r->size; t++)
        cr_assert(t < task_tokens(r->task, len) ||
                  (r->sample.input[t] == ROOM_POISON && r->sample.target[t] == ROOM_POISON));
    int n = solve(v.prompt, v.prompt_len, with, answer);
    cr_assert_eq(n, v.answer_len, "%s %d: %d symbols, solved %d", d->name, len, v.answer_len, n);
    for (int i = 0; i < n; i++)
        cr_assert_eq(v.answer[i], answer[i], "%s %d: symbol %d is %d, solved %d", d->name, len, i, v.answer[i],
                     answer[i]);
}

void pair_check(const char *text, int min_len, int max_len, int step, const int *with, pair_solver *solve)
{
    for (int regime = TASK_DECODER; regime <= TASK_ENCODER; regime++) {
        task_room r = pair_open(text, (task_regime)regime, min_len, max_len);
        task_room again = pair_open(text, (task_regime)regime, min_len, max_len);
        for (int len = min_len; len <= max_len; len += step)
            for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
                for (uint32_t item = 0; item < PAIR_ITEMS; item++) {
                    room_draw(&r, (task_stream)stream, 5, (uint64_t)len, item, len);
                    pair_check_one(&r, (task_regime)regime, len, with, solve);
                    room_draw(&again, (task_stream)stream, 5, (uint64_t)len, item, len);
                    cr_assert_eq(again.sample.count, r.sample.count);
                    size_t size = (size_t)r.sample.count * sizeof(int);
                    cr_assert_arr_eq(again.sample.input, r.sample.input, size);
                    cr_assert_arr_eq(again.sample.target, r.sample.target, size);
                }
        room_close(&r);
        room_close(&again);
    }
}

void pair_check_chance(const char *text, int len, double margin)
{
    task_room r = room_open(text, len, len);
    task_descriptor without = *task_of(r.task);
    double token = task_chance_token(r.task, len), exact = task_chance_exact(r.task, len);
    cr_assert(without.chance_token && without.chance_exact, "%s has formulas", text);
    without.chance_token = without.chance_exact = NULL;
    task estimated = *r.task;
    estimated.descriptor = &without;
    cr_expect_float_eq(task_chance_token(&estimated, len), token, margin, "%s: token", text);
    cr_expect_float_eq(task_chance_exact(&estimated, len), exact, margin, "%s: exact", text);
    task_chance_forget(estimated.chances);
    room_close(&r);
}

void pair_uniform(const char *what, const long *count, int cells)
{
    double *expected = malloc((size_t)cells * sizeof *expected), draws = 0;
    for (int i = 0; i < cells; i++)
        draws += (double)count[i];
    for (int i = 0; i < cells; i++)
        expected[i] = draws / cells;
    double statistic = chi_square(count, expected, cells);
    cr_expect_leq(statistic, chi_limit(cells - 1), "%s: chi-square %g over %d cells", what, statistic, cells);
    free(expected);
}

void pair_refused(const char *text, int min_len, int max_len, const char *expected)
{
    error e = ERROR_INIT;
    char parts[512], *rest = parts, *part;
    cr_assert_eq(task_check(text, TASK_DECODER, min_len, max_len, &e), -1, "%s is taken", text);
    cr_expect_eq(e.kind, ERROR_USAGE);
    snprintf(parts, sizeof parts, "%s", expected);
    while ((part = strsep(&rest, "|")))
        cr_expect_not_null(strstr(e.message, part), "%s: '%s' lacks '%s'", text, e.message, part);
}
