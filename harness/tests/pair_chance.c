#include "pair_chance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "task_inside.h"

/* ------------------------------------------------------------------------------------------------ chance */

enum { PAIRS_PLACES = 32, PAIRS_SYMBOLS = 32 };

typedef struct pairs_answer {
    uint64_t hash;
    double weight;
} pairs_answer;

/* Sums of weights: of each symbol at each place of the answer, and the answers themselves, one for each prompt. */
typedef struct pairs_sums {
    double place[PAIRS_PLACES][PAIRS_SYMBOLS], total;
    pairs_answer *whole;
    int count, answered;
} pairs_sums;

static int pairs_answer_order(const void *a, const void *b)
{
    uint64_t x = ((const pairs_answer *)a)->hash, y = ((const pairs_answer *)b)->hash;
    return (x > y) - (x < y);
}

/* The weight of the most frequent answer. */
static double pairs_most_frequent(pairs_sums *sums)
{
    double best = 0.0, weight = 0.0;
    qsort(sums->whole, (size_t)sums->count, sizeof *sums->whole, pairs_answer_order);
    for (int i = 0; i < sums->count; i++) {
        weight = sums->whole[i].weight + (i > 0 && sums->whole[i].hash == sums->whole[i - 1].hash ? weight : 0.0);
        best = fmax(best, weight);
    }
    return best;
}

static void pairs_walk(const char *text, int symbols, int len, int prompt_len, pair_weigher *weigh, pair_solver *solve,
                       pairs_sums *sums)
{
    int x[PAIRS_PLACES], y[PAIRS_PLACES];
    long prompts = lround(pow(symbols, prompt_len));
    sums->whole = malloc((size_t)prompts * sizeof *sums->whole);
    for (long code = 0; code < prompts; code++) {
        long rest = code;
        uint64_t hash = 0;
        for (int i = 0; i < prompt_len; i++, rest /= symbols)
            x[i] = (int)(rest % symbols);
        double weight = weigh(x, prompt_len, len);
        if (weight == 0.0)
            continue;
        sums->answered = solve(x, prompt_len, len, y);
        cr_assert_leq(sums->answered, PAIRS_PLACES, "%s", text);
        for (int i = 0; i < sums->answered; i++) {
            sums->place[i][y[i]] += weight;
            hash = rng_mix(hash ^ (uint64_t)(y[i] + 1));
        }
        sums->whole[sums->count++] = (pairs_answer){hash, weight};
        sums->total += weight;
    }
}

void pairs_check_chance(const char *text, int len, int prompt_len, pair_weigher *weigh, pair_solver *solve)
{
    task_room r = room_open_in(TASK_ENCODER, text, 1, len);
    pairs_sums sums = {.total = 0.0};
    double token = 0.0;
    cr_assert_leq(task_symbols(r.task), PAIRS_SYMBOLS);
    pairs_walk(text, task_symbols(r.task), len, prompt_len, weigh, solve, &sums);
    cr_assert_gt(sums.total, 0.0, "%s: the walk met no prompt", text);
    for (int i = 0; i < sums.answered; i++) {
        double best = 0.0;
        for (int v = 0; v < PAIRS_SYMBOLS; v++)
            best = fmax(best, sums.place[i][v]);
        token += best / sums.total / sums.answered;
    }
    double exact = pairs_most_frequent(&sums) / sums.total;
    free(sums.whole);
    cr_expect_float_eq(task_chance_token(r.task, len), token, 1e-12, "%s, length %d: %.9g, not %.9g", text, len,
                       task_chance_token(r.task, len), token);
    cr_expect_float_eq(task_chance_exact(r.task, len), exact, 1e-12, "%s, length %d: %.9g, not %.9g", text, len,
                       task_chance_exact(r.task, len), exact);
    room_close(&r);
}

void pairs_check_estimate(const char *text, int len, double margin)
{
    task_room r = room_open(text, len, len);
    double token = task_chance_token(r.task, len), exact = task_chance_exact(r.task, len);
    task_descriptor plain = *task_of(r.task);
    task estimated = *r.task;
    cr_assert(plain.chance_token && plain.chance_exact, "%s has no formula", text);
    plain.chance_token = plain.chance_exact = NULL;
    estimated.descriptor = &plain;
    double sampled_token = task_chance_token(&estimated, len), sampled_exact = task_chance_exact(&estimated, len);
    cr_expect_float_eq(sampled_token, token, margin, "%s, length %d: %g, estimate %g", text, len, token, sampled_token);
    cr_expect_float_eq(sampled_exact, exact, margin, "%s, length %d: %g, estimate %g", text, len, exact, sampled_exact);
    task_chance_forget(estimated.chances);
    room_close(&r);
}

/* ------------------------------------------------------------------------------------------------ distributions */

static int pairs_code_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void pairs_check_uniform(const char *text, int len, int prompts)
{
    enum { DRAWS = 60000 };
    task_room r = room_open_in(TASK_ENCODER, text, 1, len);
    uint64_t *code = malloc(DRAWS * sizeof *code);
    long *count = calloc(DRAWS, sizeof *count);
    double *expected = malloc(DRAWS * sizeof *expected);
    int cells = 0;
    for (uint32_t item = 0; item < DRAWS; item++) {
        room_sample(&r, item, len);
        code[item] = 0;
        for (int t = 0; t < r.sample.count; t++)
            code[item] = rng_mix(code[item] ^ (uint64_t)(r.sample.input[t] + 1));
    }
    qsort(code, DRAWS, sizeof *code, pairs_code_order);
    for (int i = 0; i < DRAWS; i++) {
        if (i == 0 || code[i] != code[i - 1])
            expected[cells++] = (double)DRAWS / prompts;
        count[cells - 1]++;
    }
    cr_assert_eq(cells, prompts, "%s, length %d: %d prompts occur", text, len, cells);
    double statistic = chi_square(count, expected, cells);
    cr_expect_leq(statistic, chi_limit(cells - 1), "%s, length %d: chi-square %g over %d", text, len, statistic, cells);
    free(code);
    free(count);
    free(expected);
    room_close(&r);
}

void pairs_check_weights(const char *text, int len, int prompt_len, pair_weigher *weigh)
{
    enum { DRAWS = 60000, PROMPTS = 8192 };
    static long count[PROMPTS], seen[PROMPTS];
    static double expected[PROMPTS];
    task_room r = room_open(text, 1, len);
    int symbols = task_symbols(r.task), x[PAIRS_PLACES], cells = 0, prompts = (int)lround(pow(symbols, prompt_len));
    double total = 0.0;
    cr_assert_leq(prompts, PROMPTS);
    memset(seen, 0, sizeof seen);
    for (uint32_t item = 0; item < DRAWS; item++) {
        int code = 0;
        room_sample(&r, item, len);
        for (int i = prompt_len; i >= 1; i--)
            code = code * symbols + r.sample.input[i];
        seen[code]++;
    }
    for (int code = 0; code < prompts; code++) {
        for (int i = 0, rest = code; i < prompt_len; i++, rest /= symbols)
            x[i] = rest % symbols;
        double weight = weigh(x, prompt_len, len);
        cr_assert(weight > 0.0 || seen[code] == 0, "%s: prompt %d cannot be", text, code);
        if (weight == 0.0)
            continue;
        total += weight;
        expected[cells] = weight;
        count[cells++] = seen[code];
    }
    for (int i = 0; i < cells; i++)
        expected[i] *= DRAWS / total;
    double statistic = chi_square(count, expected, cells);
    cr_expect_leq(statistic, chi_limit(cells - 1), "%s: chi-square %g over %d", text, statistic, cells);
    room_close(&r);
}

void pairs_check_shared(const char *text, int len, int most)
{
    task_room r = room_open(text, 1, len);
    int shared = 0;
    for (int stream = TASK_VALIDATION; stream <= TASK_TEST; stream++)
        for (uint32_t item = 0; item < 1000; item++) {
            room_draw(&r, (task_stream)stream, 1, (uint64_t)len, item, len);
            shared += r.shared;
        }
    cr_expect_leq(shared, most, "%s, length %d: %d of 2000 are shared", text, len, shared);
    room_close(&r);
}
