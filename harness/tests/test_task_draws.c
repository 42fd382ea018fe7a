/* How instances are drawn: distributions are what the sources say, equal names give equal sequences, and what a
 * held-out stream draws is never met in training. Seeds are fixed, so a limit that holds once holds always. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "task_room.h"

/* ------------------------------------------------------------------------------------------------ distributions */

static void check_uniform(const char *what, const long *count, int cells, long draws)
{
    double expected[1024], statistic;
    cr_assert_leq(cells, 1024);
    for (int i = 0; i < cells; i++)
        expected[i] = (double)draws / cells;
    statistic = chi_square(count, expected, cells);
    cr_expect_leq(statistic, chi_limit(cells - 1), "%s: chi-square %g over %d cells", what, statistic, cells);
}

static int zeros_of(const task_sample *s, int len)
{
    int zeros = 0;
    for (int i = 1; i <= len; i++)
        zeros += s->input[i] == 0;
    return zeros;
}

/* Uniform over all counts that are no tie, in the streams that are tested: the split does not bend the distribution. */
Test(distribution, majority_zeros)
{
    enum { DRAWS = 4000 };
    task_room r = room_open("binary_majority", 1, 60);
    static const int lengths[] = {1, 2, 9, 10, 25, 60};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int stream = TASK_VALIDATION; stream <= TASK_TEST; stream++) {
            long count[64] = {0};
            int len = lengths[i], cells = len + 1;
            for (uint32_t item = 0; item < DRAWS; item++) {
                room_draw(&r, (task_stream)stream, 1, (uint64_t)len, item, len);
                count[zeros_of(&r.sample, len)]++;
            }
            if (len % 2 == 0) { /* close the gap where the tie would be */
                cr_expect_eq(count[len / 2], 0);
                memmove(count + len / 2, count + len / 2 + 1, (size_t)(len / 2) * sizeof *count);
                cells--;
            }
            check_uniform("zeros", count, cells, DRAWS);
        }
    room_close(&r);
}

/* Training loses only counts whose strings are all held out: here, perhaps, the two of one bit alone. */
Test(distribution, majority_zeros_in_training)
{
    enum { DRAWS = 40000, LEN = 25 };
    task_room r = room_open("binary_majority", LEN, LEN);
    long count[LEN + 1] = {0}, inner = 0;
    for (uint32_t item = 0; item < DRAWS; item++) {
        room_draw(&r, TASK_TRAIN, 1, 0, item, LEN);
        cr_assert_eq(r.shared, 0);
        count[zeros_of(&r.sample, LEN)]++;
    }
    for (int zeros = 1; zeros < LEN; zeros++)
        inner += count[zeros];
    check_uniform("zeros in training", count + 1, LEN - 1, inner);
    room_close(&r);
}

/* The number of zeros says nothing about their places: where they are few, every place holds its share of them. */
Test(distribution, majority_places)
{
    enum { DRAWS = 20000, LEN = 20 };
    task_room r = room_open("binary_majority", LEN, LEN);
    long count[LEN] = {0};
    double share = 0.0;
    for (uint32_t item = 0; item < DRAWS; item++) {
        room_draw(&r, TASK_TRAIN, 1, 0, item, LEN);
        if (zeros_of(&r.sample, LEN) > LEN / 2)
            continue;
        share += (double)zeros_of(&r.sample, LEN) / LEN;
        for (int i = 0; i < LEN; i++)
            count[i] += r.sample.input[1 + i] == 0;
    }
    for (int i = 0; i < LEN; i++)
        cr_expect_lt(fabs(count[i] - share), 6.0 * sqrt(DRAWS / 4.0), "place %d: %ld, not %g", i, count[i], share);
    room_close(&r);
}

/* Given the count, each arrangement is equally likely: of 7 bits with 2 zeros there are 21. */
Test(distribution, majority_arrangements)
{
    enum { DRAWS = 40000, LEN = 7 };
    task_room r = room_open("binary_majority", LEN, LEN);
    long count[1 << LEN] = {0}, cell[64] = {0}, draws = 0;
    int cells = 0;
    for (uint32_t item = 0; item < DRAWS; item++) {
        room_sample(&r, item, LEN);
        int code = 0;
        for (int i = 1; i <= LEN; i++)
            code = 2 * code + r.sample.input[i];
        count[code]++;
    }
    for (int code = 0; code < 1 << LEN; code++)
        if (__builtin_popcount((unsigned)code) == LEN - 2) {
            cell[cells++] = count[code];
            draws += count[code];
        }
    cr_assert_eq(cells, 21);
    check_uniform("arrangements", cell, cells, draws);
    room_close(&r);
}

static void check_strings(const char *text, int symbols, int len, int strings)
{
    enum { DRAWS = 40000 };
    task_room r = room_open(text, len, len);
    long count[1024] = {0}, cell[1024] = {0};
    int cells = 0;
    for (uint32_t item = 0; item < DRAWS; item++) {
        room_sample(&r, item, len);
        int code = 0;
        for (int i = 1; i <= len; i++)
            code = symbols * code + r.sample.input[i];
        cr_assert_lt(code, 1024);
        count[code]++;
    }
    for (int code = 0; code < 1024; code++)
        if (count[code] > 0)
            cell[cells++] = count[code];
    cr_expect_eq(cells, strings, "%s: %d of %d strings occur", text, cells, strings);
    check_uniform(text, cell, cells, DRAWS);
    room_close(&r);
}

Test(distribution, every_string_is_equally_likely)
{
    check_strings("unique_copy(symbols=5)", 5, 3, 60);
    check_strings("unique_copy(symbols=4)", 4, 4, 24);
    check_strings("sort(symbols=5)", 5, 4, 120);
    check_strings("repeat_copy", 2, 8, 256);
    check_strings("repeat_copy(symbols=3)", 3, 5, 243);
}

/* Two queries in `slots` places: the first with p ~ (g+1)^(a-1), the second likewise among what is left. */
static void check_gaps(double power)
{
    enum { DRAWS = 40000, PAIRS = 2, SLOTS = 7, LEN = 2 * PAIRS + 2 * SLOTS };
    char text[128];
    snprintf(text, sizeof text, "mqar(vocab=64,pairs=2,random_non_queries=false,power=%g)", power);
    task_room r = room_open(text, LEN, LEN);
    long count[SLOTS * SLOTS] = {0};
    double expected[SLOTS * SLOTS], weight[SLOTS], sum = 0.0;
    for (int g = 0; g < SLOTS; g++)
        sum += weight[g] = pow(g + 1.0, power - 1.0);
    int cells = 0, cell_of[SLOTS * SLOTS];
    for (int first = 0; first < SLOTS; first++)
        for (int second = 0; second < SLOTS; second++)
            if (first != second) {
                expected[cells] = DRAWS * weight[first] / sum * weight[second] / (sum - weight[first]);
                cell_of[first * SLOTS + second] = cells++;
            }
    for (uint32_t item = 0; item < DRAWS; item++) {
        int place[PAIRS] = {-1, -1};
        room_draw(&r, TASK_TRAIN, 1, 0, item, LEN);
        for (int t = 2 * PAIRS; t < LEN; t++)
            for (int j = 0; j < PAIRS; j++)
                if (r.sample.input[t] == r.sample.input[2 * j])
                    place[j] = (t - 2 * PAIRS) / 2;
        count[cell_of[place[0] * SLOTS + place[1]]]++;
    }
    double statistic = chi_square(count, expected, cells);
    cr_expect_leq(statistic, chi_limit(cells - 1), "power %g: chi-square %g", power, statistic);
    room_close(&r);
}

Test(distribution, mqar_gaps)
{
    check_gaps(0.01);
    check_gaps(1.0);
    check_gaps(2.5);
}

/* ------------------------------------------------------------------------------------------------ determinism */

static const char *const answer_tasks[] = {"unique_copy", "repeat_copy", "sort", "binary_majority", "mqar(vocab=256)"};
enum { ANSWER_TASKS = sizeof answer_tasks / sizeof *answer_tasks };

static int same_input(const task_room *a, const task_room *b)
{
    return a->sample.count == b->sample.count &&
           memcmp(a->sample.input, b->sample.input, (size_t)a->sample.count * sizeof(int)) == 0 &&
           memcmp(a->sample.target, b->sample.target, (size_t)a->sample.count * sizeof(int)) == 0;
}

Test(streams, equal_names_give_equal_sequences)
{
    enum { LEN = 48 };
    for (int i = 0; i < ANSWER_TASKS; i++) {
        /* Another range of lengths must not matter: runs of different sizes stay paired. */
        task_room a = room_open(answer_tasks[i], 16, LEN), b = room_open(answer_tasks[i], 16, 150);
        for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++) {
            room_draw(&a, (task_stream)stream, 3, 4, 5, LEN);
            room_draw(&b, (task_stream)stream, 3, 4, 5, LEN);
            cr_expect(same_input(&a, &b), "%s", answer_tasks[i]);
            room_draw(&b, (task_stream)((stream + 1) % 3), 3, 4, 5, LEN);
            cr_expect(!same_input(&a, &b), "%s: stream", answer_tasks[i]);
            room_draw(&b, (task_stream)stream, 4, 4, 5, LEN);
            cr_expect(!same_input(&a, &b), "%s: seed", answer_tasks[i]);
            room_draw(&b, (task_stream)stream, 3, 5, 5, LEN);
            cr_expect(!same_input(&a, &b), "%s: index", answer_tasks[i]);
            room_draw(&b, (task_stream)stream, 3, 4, 6, LEN);
            cr_expect(!same_input(&a, &b), "%s: item", answer_tasks[i]);
        }
        room_close(&a);
        room_close(&b);
    }
}

/* ------------------------------------------------------------------------------------------------ sides */

Test(sides, shares)
{
    enum { INSTANCES = 200000 };
    long count[3] = {0};
    const double expected[3] = {INSTANCES * 14 / 16.0, INSTANCES / 16.0, INSTANCES / 16.0};
    for (int i = 0; i < INSTANCES; i++) {
        const int input[] = {150, i % 150, i / 150 % 150, i / 22500, 151};
        count[task_side(input, 5)]++;
    }
    cr_expect_leq(chi_square(count, expected, 3), chi_limit(2), "%ld %ld %ld", count[0], count[1], count[2]);
}

Test(sides, every_token_counts)
{
    int input[100] = {0}, changes = 0;
    for (int t = 0; t < 100; t++)
        for (int value = 1; value <= 20; value++) {
            input[t] = value;
            changes += task_side(input, 100) != TASK_TRAIN;
            input[t] = 0;
        }
    cr_expect(abs(changes - 2000 / 8) < 90, "%d of 2000", changes);
}

/* Drawn instances, sorted for search: rows of a fixed width, length first. */
typedef struct instances {
    int width, count;
    int *row;
} instances;

static int row_width; /* qsort has no argument for it; one test is one process */

static int row_order(const void *a, const void *b)
{
    return memcmp(a, b, (size_t)row_width * sizeof(int));
}

static instances draw_many(task_room *r, task_stream stream, uint64_t seed, int len, int count)
{
    instances all = {task_tokens(r->task, len), count, NULL};
    all.row = malloc((size_t)count * (size_t)all.width * sizeof(int));
    for (int i = 0; i < count; i++) {
        room_draw(r, stream, seed, stream == TASK_TRAIN ? (uint64_t)i / 32 : (uint64_t)len, (uint32_t)i, len);
        memcpy(all.row + (size_t)i * (size_t)all.width, r->sample.input, (size_t)all.width * sizeof(int));
    }
    row_width = all.width;
    qsort(all.row, (size_t)count, (size_t)all.width * sizeof(int), row_order);
    return all;
}

static int has_instance(const instances *all, const int *input)
{
    row_width = all->width;
    return bsearch(input, all->row, (size_t)all->count, (size_t)all->width * sizeof(int), row_order) != NULL;
}

static int count_distinct(const instances *all)
{
    int distinct = all->count > 0;
    for (int i = 1; i < all->count; i++)
        distinct +=
            row_order(all->row + (size_t)(i - 1) * (size_t)all->width, all->row + (size_t)i * (size_t)all->width) != 0;
    return distinct;
}

/* Held-out draws that are not marked do not occur in training. Returns how many of `count` are marked. */
static int check_apart(const char *text, int len, int train_count, int count, uint64_t train_seed, uint64_t seed)
{
    task_room r = room_open(text, len, len);
    instances train = draw_many(&r, TASK_TRAIN, train_seed, len, train_count);
    int marked = 0;
    for (int stream = TASK_VALIDATION; stream <= TASK_TEST; stream++)
        for (uint32_t item = 0; item < (uint32_t)count; item++) {
            room_draw(&r, (task_stream)stream, seed, (uint64_t)len, item, len);
            if (r.shared)
                marked++;
            else
                cr_assert_not(has_instance(&train, r.sample.input), "%s, length %d: a held-out instance was trained on",
                              text, len);
        }
    free(train.row);
    room_close(&r);
    return marked;
}

/* The space is large: nothing is shared. Seeds are equal: the streams are kept apart by purpose and by side. */
Test(sides, no_common_instance)
{
    cr_expect_eq(check_apart("unique_copy", 2, 20000, 1000, 1, 1), 0);
    cr_expect_eq(check_apart("unique_copy", 20, 20000, 1000, 1, 1), 0);
    cr_expect_eq(check_apart("sort", 2, 20000, 1000, 1, 1), 0);
    cr_expect_eq(check_apart("repeat_copy", 14, 20000, 1000, 1, 1), 0);
    cr_expect_eq(check_apart("repeat_copy", 20, 20000, 1000, 1, 1), 0);
    cr_expect_eq(check_apart("mqar(vocab=16)", 16, 20000, 1000, 1, 1), 0);
}

/* Of binary majority only strings of almost one bit are few enough to be shared, whatever the length. */
Test(sides, majority_shares_its_rare_strings)
{
    int marked = check_apart("binary_majority", 40, 20000, 1000, 1, 1);
    cr_expect(marked > 0 && marked < 2 * 1000 * 8 / 41, "%d of 2000 marked", marked);
}

/* Case B02: the evaluation's seed lies among the training seeds. */
Test(sides, seeds_may_be_equal)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        cr_expect_eq(check_apart("repeat_copy", 13, 5000, 500, seed, 2), 0);
        cr_expect_eq(check_apart("unique_copy", 3, 5000, 500, seed, 2), 0);
    }
}

/* Case B01: strings of one to eight bits: at most 2^L exist, and what is shared is marked. */
Test(sides, short_strings_are_shared_and_marked)
{
    for (int len = 1; len <= 8; len++) {
        task_room r = room_open("repeat_copy", len, len);
        instances test = draw_many(&r, TASK_TEST, 1, len, 1000);
        cr_expect_leq(count_distinct(&test), 1 << len);
        free(test.row);
        room_close(&r);
        int copies = check_apart("repeat_copy", len, 5000, 500, 1, 1);
        int majorities = check_apart("binary_majority", len, 5000, 500, 1, 1);
        cr_expect(copies == 0 || copies <= 1000, "%d", copies);
        if (len <= 2)
            cr_expect_gt(majorities, 0, "so few strings cannot have three sides");
    }
}

/* A marked draw is marked for a reason: no instance of the stream's own side exists, as a look at all strings shows. */
Test(sides, marks_are_true)
{
    for (int len = 1; len <= 8; len++) {
        task_room r = room_open("repeat_copy", len, len);
        int exists[3] = {0};
        for (int code = 0; code < 1 << len; code++) {
            int input[32] = {2};
            for (int i = 0; i < len; i++)
                input[1 + i] = input[2 + len + i] = code >> i & 1;
            input[1 + len] = 3;
            exists[task_side(input, 2 * len + 2)] = 1;
        }
        for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
            for (uint32_t item = 0; item < 100; item++) {
                room_draw(&r, (task_stream)stream, 1, 1, item, len);
                cr_assert_eq(r.shared, !exists[stream] || !exists[TASK_TRAIN], "length %d, stream %d", len, stream);
                if (!r.shared)
                    cr_assert_eq(task_side(r.sample.input, r.sample.count), stream);
            }
        room_close(&r);
    }
}

/* A space of one instance: training takes it whatever its side is, so held-out draws must be marked. */
Test(sides, a_single_instance_is_always_shared)
{
    static const char *const texts[] = {"unique_copy(symbols=1)", "sort(symbols=1)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_expect_eq(check_apart(texts[i], 1, 10, 10, 1, 1), 20, "%s", texts[i]);
}
