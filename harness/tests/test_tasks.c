/* What tasks produce: every answer is worked out again from the prompt by a slow solver that knows only the format that
 * the task's file documents. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "task_room.h"

enum { ANSWER_MAX = 512 };

/* From the symbols x[n] to the answer; returns its length. */
typedef int solver(const int *x, int n, int *answer);

static int solve_copy(const int *x, int n, int *answer)
{
    for (int i = 0; i < n; i++)
        answer[i] = x[i];
    return n;
}

/* Each time the smallest that is larger than the last one. */
static int solve_sort(const int *x, int n, int *answer)
{
    int last = -1;
    for (int i = 0; i < n; i++) {
        int best = -1;
        for (int j = 0; j < n; j++)
            if (x[j] > last && (best < 0 || x[j] < best))
                best = x[j];
        answer[i] = last = best;
    }
    return n;
}

static int solve_majority(const int *x, int n, int *answer)
{
    int balance = 0;
    for (int i = 0; i < n; i++)
        balance += x[i] ? 1 : -1;
    cr_assert_neq(balance, 0, "a tie");
    answer[0] = balance > 0;
    return 1;
}

/* "BOS x SEP y EOS" with BOS, SEP, EOS after the symbols: x symbols, len of them; y as solved; scored y and EOS only.
 */
static void check_framed(const task_room *r, int symbols, int len, int distinct, solver *solve)
{
    const task_sample *s = &r->sample;
    const int bos = symbols, sep = symbols + 1, eos = symbols + 2;
    int answer[ANSWER_MAX], middle = 1;
    cr_assert_eq(s->input[0], bos);
    while (middle < s->count && s->input[middle] != sep)
        middle++;
    cr_assert_eq(middle, len + 1, "the prompt has %d symbols instead of %d", middle - 1, len);
    const int *x = s->input + 1;
    for (int i = 0; i < len; i++) {
        cr_assert(x[i] >= 0 && x[i] < symbols, "symbol %d", x[i]);
        for (int j = 0; distinct && j < i; j++)
            cr_assert_neq(x[i], x[j]);
    }
    int answered = solve(x, len, answer);
    cr_assert_eq(s->count, len + answered + 2);
    cr_assert_eq(s->answer_begin, middle);
    for (int t = 0; t < middle; t++)
        cr_assert_eq(s->target[t], TASK_NOT_SCORED);
    for (int i = 0; i < answered; i++) {
        cr_assert_eq(s->input[middle + 1 + i], answer[i]);
        cr_assert_eq(s->target[middle + i], answer[i]);
    }
    cr_assert_eq(s->target[s->count - 1], eos);
    for (int t = 0; t < s->count; t++)
        cr_assert_neq(s->input[t], eos, "the end is never fed");
}

/* What holds for every task: tokens, bounds, positions, nothing written past the end. */
static void check_sequence(const task_room *r, int len)
{
    const task_sample *s = &r->sample;
    int vocab = task_vocab(r->task);
    cr_assert_eq(s->count, task_tokens(r->task, len));
    for (int t = 0; t < s->count; t++) {
        cr_assert(s->input[t] >= 0 && s->input[t] < vocab);
        cr_assert(s->target[t] == TASK_NOT_SCORED || (s->target[t] >= 0 && s->target[t] < vocab));
        if (task_of(r->task)->proposes_positions)
            cr_assert(s->position[t] >= 0 && s->position[t] <= task_farthest(r->task, len));
        else
            cr_assert_eq(s->position[t], t);
    }
    for (int t = s->count; t < r->size; t++) {
        cr_assert_eq(s->input[t], ROOM_POISON);
        cr_assert_eq(s->target[t], ROOM_POISON);
        cr_assert_eq(s->position[t], ROOM_POISON);
    }
    cr_assert(s->answer_begin == -1 || s->target[s->answer_begin] != TASK_NOT_SCORED);
    cr_assert(r->shared == 0 || r->shared == 1);
}

static void check_framed_task(const char *text, int symbols, int max_len, int distinct, solver *solve)
{
    task_room r = room_open(text, 1, max_len);
    cr_assert_eq(task_vocab(r.task), symbols + 3, "no token for padding: there is none");
    for (int len = 1; len <= max_len; len++)
        for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
            for (uint32_t item = 0; item < 4; item++) {
                room_draw(&r, (task_stream)stream, 5, (uint64_t)len, item, len);
                check_sequence(&r, len);
                check_framed(&r, symbols, len, distinct, solve);
            }
    room_close(&r);
}

Test(tasks, unique_copy)
{
    check_framed_task("unique_copy", 150, 150, 1, solve_copy);
    check_framed_task("unique_copy(symbols=7)", 7, 7, 1, solve_copy);
    check_framed_task("unique_copy(symbols=1)", 1, 1, 1, solve_copy);
    check_framed_task("unique_copy(symbols=32768)", 32768, 5, 1, solve_copy);
}

Test(tasks, repeat_copy)
{
    check_framed_task("repeat_copy", 2, 120, 0, solve_copy);
    check_framed_task("repeat_copy(symbols=26)", 26, 60, 0, solve_copy);
}

Test(tasks, sort)
{
    check_framed_task("sort", 150, 150, 1, solve_sort);
    check_framed_task("sort(symbols=9)", 9, 9, 1, solve_sort);
    check_framed_task("sort(symbols=1)", 1, 1, 1, solve_sort);
}

Test(tasks, binary_majority)
{
    check_framed_task("binary_majority", 2, 150, 0, solve_majority);
}

/* A prompt, an answer of three symbols and the end: exactly four targets, of which the prompt's last token predicts the
 * first. */
Test(tasks, four_targets_for_three_symbols)
{
    static const char *const names[] = {"unique_copy", "repeat_copy", "sort"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        task_room r = room_open(names[i], 3, 3);
        room_draw(&r, TASK_TRAIN, 1, 2, 3, 3);
        int scored = 0, first = -1, sep = task_vocab(r.task) - 2;
        for (int t = 0; t < r.sample.count; t++) {
            scored += r.sample.target[t] != TASK_NOT_SCORED;
            if (first < 0 && r.sample.target[t] != TASK_NOT_SCORED)
                first = t;
        }
        cr_expect_eq(scored, 4, "%s", names[i]);
        cr_expect_eq(r.sample.input[first], sep, "%s: the prompt ends in SEP", names[i]);
        cr_expect_eq(r.sample.target[first], r.sample.input[first + 1], "%s", names[i]);
        room_close(&r);
    }
}

/* Position coupling: a symbol and its copy have one id, and so have BOS and SEP, which stand before them. The largest is
 * the length. Tokens are those of a draw that asks for no positions. */
static void check_coupled(const char *text, int max_len)
{
    task_room r = room_open(text, 1, max_len), plain = room_open(text, 1, max_len);
    double *position = plain.sample.position;
    plain.sample.position = NULL;
    for (int len = 1; len <= max_len; len++) {
        room_draw(&r, TASK_TRAIN, 3, 1, (uint32_t)len, len);
        task_draw(plain.task, TASK_TRAIN, 3, 1, (uint32_t)len, len, &plain.sample, NULL);
        cr_assert_arr_eq(r.sample.input, plain.sample.input, (size_t)r.sample.count * sizeof(int));
        for (int t = 0; t < r.sample.count; t++)
            cr_assert_eq(r.sample.position[t], t <= len ? t : t - len - 1, "%s: token %d at length %d", text, t, len);
        cr_assert_eq(task_farthest(r.task, len), len);
    }
    plain.sample.position = position;
    room_close(&r);
    room_close(&plain);
}

Test(tasks, copies_share_the_position_of_their_source)
{
    check_coupled("unique_copy(symbols=40)", 40);
    check_coupled("repeat_copy", 40);
}

/* Without a proposal the farthest position is that of the last token. */
Test(tasks, the_others_propose_nothing)
{
    static const char *const names[] = {"sort", "binary_majority", "mqar(pairs=1)"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        task_room r = room_open(names[i], 8, 8);
        cr_assert_eq(task_of(r.task)->proposes_positions, 0);
        cr_assert_eq(task_farthest(r.task, 8), task_tokens(r.task, 8) - 1);
        room_close(&r);
    }
    for (int i = 0; i < task_count(); i++)
        cr_assert_eq(!task_at(i)->positions + !task_at(i)->farthest, task_at(i)->proposes_positions ? 0 : 2, "%s",
                     task_at(i)->name);
}

/* A symbol of the answer that also stands in the prompt is scored in the answer alone: the mask goes by place, not by
 * token. In repeat_copy every symbol of the answer does. */
Test(tasks, prompt_is_never_scored)
{
    task_room r = room_open("repeat_copy", 40, 40);
    for (uint32_t item = 0; item < 50; item++) {
        room_draw(&r, TASK_TRAIN, 1, 0, item, 40);
        for (int t = 0; t < r.sample.count; t++)
            cr_assert_eq(r.sample.target[t] == TASK_NOT_SCORED, t < 41);
    }
    room_close(&r);
}

Test(tasks, caller_may_want_no_positions)
{
    task_room r = room_open("sort", 5, 5);
    double *position = r.sample.position;
    r.sample.position = NULL;
    task_draw(r.task, TASK_TRAIN, 1, 1, 1, 5, &r.sample, NULL);
    cr_expect_eq(r.sample.count, 12);
    r.sample.position = position;
    room_close(&r);
}

/* ------------------------------------------------------------------------------------------------ mqar */

/* Reads pairs from the front; `filled`: everything else is either 0 or a query, so that queries can be found by
 * looking. */
static void check_mqar(const task_room *r, int vocab, int pairs, int len, int filled)
{
    const task_sample *s = &r->sample;
    int asked[ANSWER_MAX] = {0}, scored = 0;
    cr_assert_eq(s->count, len);
    cr_assert_eq(s->answer_begin, -1);
    for (int j = 0; j < pairs; j++) {
        int key = s->input[2 * j], value = s->input[2 * j + 1];
        cr_assert(key >= 1 && key < vocab / 2 && value >= vocab / 2 && value < vocab);
        cr_assert_eq(s->target[2 * j], TASK_NOT_SCORED);
        cr_assert_eq(s->target[2 * j + 1], TASK_NOT_SCORED);
        for (int i = 0; i < j; i++)
            cr_assert(s->input[2 * i] != key && s->input[2 * i + 1] != value);
    }
    for (int t = 2 * pairs; t < len; t++) {
        int is_query = filled ? s->input[t] != 0 : s->target[t] != TASK_NOT_SCORED;
        if (!is_query) {
            cr_assert_eq(s->target[t], TASK_NOT_SCORED);
            continue;
        }
        int j = 0;
        while (j < pairs && s->input[2 * j] != s->input[t])
            j++;
        cr_assert_lt(j, pairs, "what is asked for stands in the list");
        cr_assert_eq(asked[j]++, 0, "each key once");
        cr_assert_eq(s->target[t], s->input[2 * j + 1]);
        cr_assert_eq((t - 2 * pairs) % 2, 0);
        scored++;
    }
    cr_assert_eq(scored, pairs);
}

static void check_mqar_task(const char *text, int vocab, int pairs, int min_len, int max_len, int filled)
{
    task_room r = room_open(text, min_len, max_len);
    cr_assert_eq(task_vocab(r.task), vocab);
    for (int len = min_len; len <= max_len; len++)
        for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
            for (uint32_t item = 0; item < 3; item++) {
                int expected = pairs > 0 ? pairs : len < 16 ? 1 : len / 16;
                room_draw(&r, (task_stream)stream, 5, (uint64_t)len, item, len);
                check_sequence(&r, len);
                check_mqar(&r, vocab, expected, len, filled);
            }
    room_close(&r);
}

Test(tasks, mqar)
{
    check_mqar_task("mqar", 8192, 0, 4, 130, 0);
    check_mqar_task("mqar(vocab=64)", 64, 0, 4, 200, 0);
    check_mqar_task("mqar(random_non_queries=false,vocab=64)", 64, 0, 4, 200, 1);
    check_mqar_task("mqar(pairs=4,vocab=64,random_non_queries=no)", 64, 4, 16, 70, 1);
    check_mqar_task("mqar(pairs=31,vocab=64,random_non_queries=no,power=1)", 64, 31, 124, 127, 1);
    check_mqar_task("mqar(pairs=1,vocab=5,random_non_queries=no)", 5, 1, 4, 20, 1);
}

/* Zoology's own example has this shape: k v k v, then fillers with each key once. */
Test(tasks, mqar_random_tokens_fill_the_rest)
{
    task_room r = room_open("mqar(vocab=32,pairs=1)", 400, 400);
    int seen[32] = {0}, different = 0;
    room_draw(&r, TASK_TRAIN, 1, 1, 1, 400);
    for (int t = 2; t < 400; t++)
        different += !seen[r.sample.input[t]]++;
    cr_expect_eq(different, 32, "the whole vocabulary, 0 included");
    room_close(&r);
}

/* Every key and every value is used, with an odd vocabulary too. */
Test(tasks, mqar_uses_all_keys_and_values)
{
    task_room r = room_open("mqar(vocab=9,pairs=1)", 4, 4);
    int seen[9] = {0};
    for (uint32_t item = 0; item < 500; item++) {
        room_draw(&r, TASK_TRAIN, 1, 1, item, 4);
        seen[r.sample.input[0]] |= 1;
        seen[r.sample.input[1]] |= 2;
    }
    for (int token = 0; token < 9; token++)
        cr_expect_eq(seen[token], token == 0 ? 0 : token < 4 ? 1 : 2, "token %d", token);
    cr_expect_float_eq(task_chance_token(r.task, 4), 1.0 / 5.0, 1e-15);
    room_close(&r);
}

/* ------------------------------------------------------------------------------------------------ chance */

/* Walks all strings of len symbols; `weigh` gives each its weight (0: not an instance). The best fixed guess says at
 * each place what is right most often; for the whole answer, the most frequent answer. Answers are short here. */
typedef double weigher(const int *x, int n, int symbols);

static double weigh_any(const int *x, int n, int symbols)
{
    (void)x, (void)n, (void)symbols;
    return 1.0;
}

static double weigh_distinct(const int *x, int n, int symbols)
{
    (void)symbols;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (x[i] == x[j])
                return 0.0;
    return 1.0;
}

/* Counts of zeros are equally likely, so a string weighs one over the number of strings with as many zeros. */
static double weigh_majority(const int *x, int n, int symbols)
{
    double strings = 1.0;
    int zeros = 0;
    (void)symbols;
    for (int i = 0; i < n; i++)
        zeros += x[i] == 0;
    for (int i = 0; i < zeros; i++)
        strings *= (double)(n - i) / (i + 1);
    return 2 * zeros == n ? 0.0 : 1.0 / strings;
}

static void check_chance(const char *text, int symbols, int len, weigher *weigh, solver *solve)
{
    enum { SYMBOLS = 8, PLACES = 8 };
    double place[PLACES][SYMBOLS] = {{0}}, total = 0.0, token = 1.0, exact = 0.0;
    long strings = lround(pow(symbols, len));
    double *whole = calloc((size_t)strings, sizeof *whole);
    int x[PLACES], y[PLACES], answered = 0;
    for (long code = 0; code < strings; code++) {
        long rest = code, answer = 0;
        for (int i = 0; i < len; i++, rest /= symbols)
            x[i] = (int)(rest % symbols);
        double weight = weigh(x, len, symbols);
        if (weight == 0.0)
            continue;
        answered = solve(x, len, y);
        for (int i = 0; i < answered; i++) {
            place[i][y[i]] += weight;
            answer = answer * symbols + y[i];
        }
        whole[answer] += weight;
        total += weight;
    }
    for (int i = 0; i < answered; i++) {
        double best = 0.0;
        for (int v = 0; v < symbols; v++)
            best = fmax(best, place[i][v]);
        token += best / total;
    }
    for (long answer = 0; answer < strings; answer++)
        exact = fmax(exact, whole[answer] / total);
    free(whole);
    task_room r = room_open(text, 1, len);
    cr_expect_float_eq(task_chance_token(r.task, len), token / (answered + 1), 1e-12, "%s, length %d: %g, not %g", text,
                       len, task_chance_token(r.task, len), token / (answered + 1));
    cr_expect_float_eq(task_chance_exact(r.task, len), exact, 1e-12, "%s, length %d: %g, not %g", text, len,
                       task_chance_exact(r.task, len), exact);
    room_close(&r);
}

Test(chance, by_counting_all_instances)
{
    for (int len = 1; len <= 5; len++) {
        check_chance("unique_copy(symbols=5)", 5, len, weigh_distinct, solve_copy);
        check_chance("unique_copy(symbols=7)", 7, len, weigh_distinct, solve_copy);
        check_chance("sort(symbols=5)", 5, len, weigh_distinct, solve_sort);
        check_chance("sort(symbols=6)", 6, len, weigh_distinct, solve_sort);
        check_chance("sort(symbols=8)", 8, len, weigh_distinct, solve_sort);
        check_chance("repeat_copy", 2, len, weigh_any, solve_copy);
        check_chance("repeat_copy(symbols=3)", 3, len, weigh_any, solve_copy);
    }
    for (int len = 1; len <= 8; len++)
        check_chance("binary_majority", 2, len, weigh_majority, solve_majority);
}

/* Four values, two of them asked for: one in four for each, one in 4*3 for both. */
Test(chance, mqar)
{
    task_room r = room_open("mqar(vocab=8,pairs=2)", 8, 20);
    cr_expect_float_eq(task_chance_token(r.task, 20), 1.0 / 4.0, 1e-15);
    cr_expect_float_eq(task_chance_exact(r.task, 20), 1.0 / 12.0, 1e-15);
    room_close(&r);
}

Test(chance, stays_a_probability_at_great_lengths)
{
    static const char *const texts[] = {"unique_copy(symbols=32768)", "sort(symbols=32768)", "repeat_copy",
                                        "binary_majority", "mqar(vocab=65536)", "copy(times=2)", "reverse(then=copy)",
                                        "missing_duplicate", "interleaved_majority", "majority", "parity", "even_pairs",
                                        "cycle_navigation", "bucket_sort(symbols=2)", "flip_flop"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        task_room r = room_open(texts[i], 4, 30000);
        for (int len = 4; len <= 30000; len = len * 3 + 1) {
            double token = task_chance_token(r.task, len), exact = task_chance_exact(r.task, len);
            cr_expect(token > 0.0 && token <= 1.0, "%s: %g", texts[i], token);
            cr_expect(exact >= 0.0 && exact <= token, "%s: %g", texts[i], exact);
        }
        room_close(&r);
    }
}
