#include "task_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "task_inside.h"
#include "task_room.h"

static task_room pairs_open(const char *text, task_regime regime, int max_len)
{
    error e = ERROR_INIT;
    task_room r = room_open(text, 1, max_len);
    task_free(r.task);
    r.task = task_open(text, regime, 1, max_len, &e);
    cr_assert_not_null(r.task, "%s: %s", text, e.message);
    return r;
}

/* ------------------------------------------------------------------------------------------------ frames */

/* BOS x SEP y; scored: y and EOS. */
static void pairs_decoder(const task_room *r, int symbols, int len, pairs_solver *solve)
{
    const task_sample *s = &r->sample;
    static int answer[PAIRS_ANSWER_MAX];
    int sep = 0;
    while (sep < s->count && s->input[sep] != symbols + 1)
        sep++;
    int n = sep - 1, answered = solve(s->input + 1, n, len, answer);
    cr_assert_eq(s->input[0], symbols, "BOS");
    cr_assert_eq(s->count, n + answered + 2, "length %d: %d tokens, not %d + %d + 2", len, s->count, n, answered);
    cr_assert_eq(s->answer_begin, sep);
    for (int t = 0; t < sep; t++)
        cr_assert_eq(s->target[t], TASK_NOT_SCORED);
    for (int i = 0; i < answered; i++) {
        cr_assert_eq(s->input[sep + 1 + i], answer[i], "length %d, symbol %d of the answer", len, i);
        cr_assert_eq(s->target[sep + i], answer[i]);
        cr_assert(0 <= answer[i] && answer[i] < symbols);
    }
    cr_assert_eq(s->target[s->count - 1], symbols + 2, "EOS");
}

/* x slot slot ..; scored: y, and EOS where lengths of answers differ. */
static void pairs_encoder(const task_room *r, int symbols, int len, pairs_solver *solve)
{
    const task_sample *s = &r->sample;
    static int answer[PAIRS_ANSWER_MAX];
    int n = 0, most, longest;
    while (n < s->count && s->input[n] != symbols + 1)
        n++;
    int answered = solve(s->input, n, len, answer), slots = s->count - n;
    task_of(r->task)->sizes(task_options(r->task), len, &longest, &most);
    cr_assert_leq(n, longest);
    cr_assert_eq(slots, most + (task_of(r->task)->answer_varies ? 1 : 0));
    cr_assert_eq(s->answer_begin, -1);
    for (int t = 0; t < n; t++)
        cr_assert_eq(s->target[t], TASK_NOT_SCORED);
    for (int i = 0; i < slots; i++) {
        int expected = i < answered ? answer[i] : i == answered ? symbols + 2 : TASK_NOT_SCORED;
        cr_assert_eq(s->input[n + i], symbols + 1);
        cr_assert_eq(s->target[n + i], expected, "length %d, slot %d", len, i);
    }
}

static void pairs_check_bounds(const task_room *r, int symbols, int len)
{
    const task_sample *s = &r->sample;
    cr_assert_leq(s->count, task_tokens(r->task, len));
    for (int t = 0; t < s->count; t++) {
        cr_assert(s->input[t] >= 0 && s->input[t] < symbols + 2, "EOS is never fed");
        if (task_of(r->task)->proposes_positions)
            cr_assert(s->position[t] >= 0 && s->position[t] <= task_farthest(r->task, len));
        else
            cr_assert_eq(s->position[t], t);
    }
    for (int t = task_tokens(r->task, len); t < r->size; t++)
        cr_assert(s->input[t] == ROOM_POISON && s->target[t] == ROOM_POISON && s->position[t] == ROOM_POISON);
}

static void pairs_check_length(task_room *r, task_room *again, int symbols, int len, pairs_solver *solve)
{
    for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
        for (uint32_t item = 0; item < 4; item++) {
            room_draw(r, (task_stream)stream, 5, (uint64_t)len, item, len);
            pairs_check_bounds(r, symbols, len);
            if (task_regime_of(r->task) == TASK_DECODER)
                pairs_decoder(r, symbols, len, solve);
            else
                pairs_encoder(r, symbols, len, solve);
            room_draw(again, (task_stream)stream, 5, (uint64_t)len, item, len);
            cr_assert_eq(again->sample.count, r->sample.count);
            cr_assert_arr_eq(again->sample.input, r->sample.input, (size_t)r->sample.count * sizeof(int));
            cr_assert_arr_eq(again->sample.target, r->sample.target, (size_t)r->sample.count * sizeof(int));
        }
}

void pairs_check(const char *text, int symbols, int max_len, pairs_solver *solve)
{
    for (int regime = TASK_DECODER; regime <= TASK_ENCODER; regime++) {
        task_room r = pairs_open(text, (task_regime)regime, max_len);
        task_room again = pairs_open(text, (task_regime)regime, 2 * max_len);
        cr_assert_eq(task_symbols(r.task), symbols, "%s: %d symbols", text, task_symbols(r.task));
        for (int len = 1; len < max_len; len += len < 24 ? 1 : 1 + len / 3)
            pairs_check_length(&r, &again, symbols, len, solve);
        pairs_check_length(&r, &again, symbols, max_len, solve);
        room_close(&r);
        room_close(&again);
    }
}

void pairs_check_positions(const char *text, int len, const double *position, int count, double farthest)
{
    task_room r = pairs_open(text, TASK_DECODER, len);
    cr_expect_eq(task_farthest(r.task, len), farthest, "%s: %g", text, task_farthest(r.task, len));
    for (uint32_t item = 0; item < 8; item++) {
        room_draw(&r, TASK_TRAIN, 1, 1, item, len);
        cr_assert_eq(r.sample.count, count, "%s", text);
        for (int t = 0; t < count; t++)
            cr_assert_eq(r.sample.position[t], position[t], "%s: token %d stands at %g", text, t, r.sample.position[t]);
    }
    room_close(&r);
}

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

static void pairs_walk(const char *text, int symbols, int len, int prompt_len, pairs_weigher *weigh,
                       pairs_solver *solve, pairs_sums *sums)
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

void pairs_check_chance(const char *text, int len, int prompt_len, pairs_weigher *weigh, pairs_solver *solve)
{
    task_room r = pairs_open(text, TASK_ENCODER, len);
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

void pairs_check_estimate(const char *text, int len)
{
    task_room r = pairs_open(text, TASK_DECODER, len);
    double token = task_chance_token(r.task, len), exact = task_chance_exact(r.task, len);
    task_descriptor plain = *task_of(r.task);
    task estimated = *r.task;
    cr_assert(plain.chance_token && plain.chance_exact, "%s has no formula", text);
    plain.chance_token = plain.chance_exact = NULL;
    estimated.descriptor = &plain;
    double sampled_token = task_chance_token(&estimated, len), sampled_exact = task_chance_exact(&estimated, len);
    cr_expect_float_eq(sampled_token, token, 0.04, "%s, length %d: %g, estimate %g", text, len, token, sampled_token);
    cr_expect_float_eq(sampled_exact, exact, 0.04, "%s, length %d: %g, estimate %g", text, len, exact, sampled_exact);
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
    task_room r = pairs_open(text, TASK_ENCODER, len);
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

void pairs_check_weights(const char *text, int len, int prompt_len, pairs_weigher *weigh)
{
    enum { DRAWS = 60000, PROMPTS = 8192 };
    static long count[PROMPTS], seen[PROMPTS];
    static double expected[PROMPTS];
    task_room r = pairs_open(text, TASK_DECODER, len);
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
    task_room r = pairs_open(text, TASK_DECODER, len);
    int shared = 0;
    for (int stream = TASK_VALIDATION; stream <= TASK_TEST; stream++)
        for (uint32_t item = 0; item < 1000; item++) {
            room_draw(&r, (task_stream)stream, 1, (uint64_t)len, item, len);
            shared += r.shared;
        }
    cr_expect_leq(shared, most, "%s, length %d: %d of 2000 are shared", text, len, shared);
    room_close(&r);
}
