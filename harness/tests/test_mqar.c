/* mqar with reassigned keys and with decoys. The reader knows the format only. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pair_chance.h"

/* What an option text means for the list: tokens of a key, pairs, statements behind them. */
typedef struct mqar_shape {
    int vocab, size, pairs, updates;
} mqar_shape;

/* The list as a dictionary that later statements overwrite; every statement's value is new. */
static void mqar_read(const task_sample *s, const mqar_shape *m, int *latest)
{
    int width = m->size + 1;
    for (int j = 0; j < m->pairs + m->updates; j++) {
        const int *statement = s->input + width * j;
        int owner = j, value = statement[m->size];
        for (int k = 0; k < m->size; k++)
            cr_assert(statement[k] >= 1 && statement[k] < m->vocab / 2);
        cr_assert(value >= m->vocab / 2 && value < m->vocab);
        for (int i = 0; i < j; i++) {
            cr_assert_neq(s->input[width * i + m->size], value, "values are new");
            if (memcmp(s->input + width * i, statement, (size_t)m->size * sizeof(int)) == 0) {
                cr_assert(j >= m->pairs && i < m->pairs,
                          "only the statements behind the list repeat a key, each another");
                owner = i;
            }
        }
        cr_assert_eq(owner < m->pairs, 1, "what is stated again was stated before");
        latest[owner] = value;
    }
}

static void mqar_check_one(const task_room *r, const mqar_shape *m, int len)
{
    const task_sample *s = &r->sample;
    int width = m->size + 1, list = width * (m->pairs + m->updates), latest[512], asked[512] = {0}, scored = 0;
    cr_assert_eq(s->count, len);
    mqar_read(s, m, latest);
    for (int t = 0; t < len; t++) {
        if (s->target[t] == TASK_NOT_SCORED)
            continue;
        const int *key = s->input + t - m->size + 1;
        int j = 0;
        cr_assert(t >= list && (t - list) % width == m->size - 1, "a query ends at %d", t);
        while (j < m->pairs && memcmp(s->input + width * j, key, (size_t)m->size * sizeof(int)) != 0)
            j++;
        cr_assert_lt(j, m->pairs);
        cr_assert_eq(asked[j]++, 0);
        cr_assert_eq(s->target[t], latest[j]);
        scored++;
    }
    cr_assert_eq(scored, m->pairs);
}

/* With two-token keys: they are cells of the smallest nearly square grid. */
static void mqar_check_grid(const task_room *r, const mqar_shape *m)
{
    int side = (int)ceil(sqrt(m->pairs)), other = (m->pairs + side - 1) / side;
    int firsts = 0, seconds = 0;
    char *first = calloc((size_t)m->vocab, 1), *second = calloc((size_t)m->vocab, 1);
    for (int j = 0; j < m->pairs; j++) {
        int a = r->sample.input[3 * j], b = r->sample.input[3 * j + 1], alike = 0;
        firsts += !first[a];
        seconds += !second[b];
        first[a] = second[b] = 1;
        for (int i = 0; i < m->pairs; i++)
            alike += i != j && (r->sample.input[3 * i] == a || r->sample.input[3 * i + 1] == b);
        cr_assert(m->pairs == 1 || alike > 0, "a key of which neither token occurs in another one");
    }
    cr_assert_eq(firsts, side);
    cr_assert_eq(seconds, other);
    for (int token = 0; token < m->vocab; token++)
        cr_assert_not(first[token] && second[token]);
    free(first);
    free(second);
}

static void mqar_check_options(const char *options, int vocab, int size, int pairs, double reassign, int min_len,
                               int max_len)
{
    char text[128];
    snprintf(text, sizeof text, "mqar(vocab=%d,%s)", vocab, options);
    task_room r = room_open(text, min_len, max_len);
    for (int len = min_len; len <= max_len; len++)
        for (int stream = TASK_TRAIN; stream <= TASK_TEST; stream++)
            for (uint32_t item = 0; item < 3; item++) {
                mqar_shape m = {vocab, size, pairs > 0 ? pairs : len < 16 ? 1 : len / 16, 0};
                m.updates = (int)floor(reassign * m.pairs + 0.5);
                room_draw(&r, (task_stream)stream, 5, (uint64_t)len, item, len);
                mqar_check_one(&r, &m, len);
                if (size == 2)
                    mqar_check_grid(&r, &m);
            }
    room_close(&r);
}

Test(mqar, reassigned_keys_have_their_latest_value)
{
    mqar_check_options("reassign=0.5", 128, 1, 0, 0.5, 6, 150);
    mqar_check_options("reassign=1,random_non_queries=false", 128, 1, 0, 1, 6, 150);
    mqar_check_options("pairs=8,reassign=0.5,power=1", 64, 1, 8, 0.5, 40, 90); /* zoology's 4 of 8 */
    mqar_check_options("pairs=15,reassign=1,power=1", 64, 1, 15, 1, 90, 93);
}

Test(mqar, decoys_share_a_token)
{
    mqar_check_options("decoys=true", 64, 2, 0, 0, 6, 500);
    mqar_check_options("decoys=true,reassign=0.5", 128, 2, 0, 0.5, 9, 300);
    mqar_check_options("decoys=true,reassign=1,pairs=4,power=1", 16, 2, 4, 1, 36, 60);
    mqar_check_options("decoys=true,pairs=7,random_non_queries=false", 64, 2, 7, 0, 42, 70);
}

/* Of four keys, two are stated again: each ordered choice is equally likely. */
Test(mqar, every_key_may_be_reassigned)
{
    enum { DRAWS = 12000, PAIRS = 4 };
    task_room r = room_open("mqar(vocab=64,pairs=4,reassign=0.5)", 24, 24);
    long count[PAIRS * PAIRS] = {0}, cell[PAIRS * PAIRS];
    int cells = 0;
    for (uint32_t item = 0; item < DRAWS; item++) {
        int again[2] = {0};
        room_draw(&r, TASK_TRAIN, 1, 0, item, 24);
        for (int i = 0; i < 2; i++)
            while (r.sample.input[2 * again[i]] != r.sample.input[2 * (PAIRS + i)])
                again[i]++;
        count[PAIRS * again[0] + again[1]]++;
    }
    for (int i = 0; i < PAIRS * PAIRS; i++)
        if (i % (PAIRS + 1) != 0)
            cell[cells++] = count[i];
        else
            cr_expect_eq(count[i], 0);
    chi_expect_uniform("reassigned keys", cell, cells);
    room_close(&r);
}

/* Three of the four cells of a 2 x 2 grid: one pair of the three keys lies on a diagonal and shares nothing; which one
 * it is says the order. */
Test(mqar, grids_are_in_random_order)
{
    task_room r = room_open("mqar(vocab=64,pairs=3,decoys=true)", 30, 30);
    long count[3] = {0};
    for (uint32_t item = 0; item < 6000; item++) {
        room_draw(&r, TASK_TRAIN, 1, 0, item, 30);
        const int *x = r.sample.input;
        for (int j = 0, i = 1; j < 3; j++, i = (j + 1) % 3)
            count[j] += x[3 * j] != x[3 * i] && x[3 * j + 1] != x[3 * i + 1];
    }
    cr_expect_eq(count[0] + count[1] + count[2], 6000);
    chi_expect_uniform("keys that share nothing", count, 3);
    room_close(&r);
}

/* Places are as likely as without decoys, three tokens wide. */
Test(mqar, gaps_with_decoys)
{
    enum { DRAWS = 20000, SLOTS = 6, LEN = 3 + 3 * SLOTS };
    task_room r = room_open("mqar(vocab=64,pairs=1,decoys=true,power=0.5)", LEN, LEN);
    long count[SLOTS] = {0};
    double expected[SLOTS], sum = 0;
    for (int g = 0; g < SLOTS; g++)
        sum += pow(g + 1.0, -0.5);
    for (int g = 0; g < SLOTS; g++)
        expected[g] = DRAWS * pow(g + 1.0, -0.5) / sum;
    for (uint32_t item = 0; item < DRAWS; item++) {
        room_sample(&r, item, LEN);
        for (int t = 0; t < LEN; t++)
            if (r.sample.target[t] != TASK_NOT_SCORED)
                count[(t - 4) / 3]++;
    }
    cr_expect_leq(chi_square(count, expected, SLOTS), chi_limit(SLOTS - 1));
    room_close(&r);
}

Test(mqar, refusals)
{
    pairs_refused("mqar(pairs=8,reassign=0.5)", 39, 64, "length 39|pairs=8|24 tokens|16");
    pairs_refused("mqar(pairs=4,decoys=true)", 23, 64, "length 23|pairs=4|12 tokens|12");
    pairs_refused("mqar(vocab=16,pairs=5,reassign=1)", 30, 64, "pairs=5|10 different values|vocab=16 has 8");
    pairs_refused("mqar(vocab=8,pairs=3,decoys=true)", 30, 64, "4 different key tokens|vocab=8 has 3");
    pairs_refused("mqar(vocab=65536,pairs=32768,decoys=true)", 200000, 200000, "32942");
    pairs_refused("mqar(reassign=1.5)", 64, 64, "reassign=1.5");
}

/* Values are a uniformly random arrangement even when some are replaced. */
Test(mqar, chance_with_new_values)
{
    task_room r = room_open("mqar(vocab=12,pairs=2,reassign=0.5)", 10, 10);
    cr_expect_float_eq(task_chance_token(r.task, 10), 1.0 / 6, 1e-15);
    cr_expect_float_eq(task_chance_exact(r.task, 10), 1.0 / 30, 1e-15);
    room_close(&r);
    pairs_check_estimate("mqar(vocab=12,pairs=2,reassign=0.5)", 10, 0.02);
    pairs_check_estimate("mqar(vocab=12,pairs=2,decoys=true)", 12, 0.02);
}
