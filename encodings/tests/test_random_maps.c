/* test_random_maps.c - maps that draw: what they may give, how often they give it, and what they refuse. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "registry.h"

enum { DRAWN_MAX = 4096 };

static const double largest_number = 1 - 0x1p-53;

/* A map's text under a host's memory: as many numbers and as much scratch as it asks for, and no more. */
typedef struct drawn {
    registry *r;
    pe_stack stack;
    pe_map_context c;
    uint64_t state; /* of the numbers */
    size_t draws;
    double *uniform, *scratch;
    double pos[DRAWN_MAX];
} drawn;

static double drawn_number(drawn *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* training length 64 */
static void drawn_open(drawn *d, const char *map, int len, int total, int training, double last_position)
{
    error e = ERROR_INIT;
    memset(d, 0, sizeof *d);
    d->r = registry_new(&e);
    cr_assert(d->r && stack_parse(d->r, "nope", &d->stack, &e) == 0 && stack_set_map(d->r, &d->stack, map, &e) == 0,
              "%s", e.message);
    size_t scratch = 0;
    d->c = (pe_map_context){.options = d->stack.map_options,
                            .len = len,
                            .total_len = total,
                            .train_len = 64,
                            .training = training,
                            .last_position = last_position};
    if (d->stack.map->needs)
        d->stack.map->needs(&d->c, &d->draws, &scratch);
    d->uniform = malloc((d->draws ? d->draws : 1) * sizeof *d->uniform);
    d->scratch = malloc((scratch ? scratch : 1) * sizeof *d->scratch);
    cr_assert(d->uniform && d->scratch && len <= DRAWN_MAX);
    d->c.uniform = d->uniform;
    d->c.scratch = d->scratch;
}

static void drawn_close(drawn *d)
{
    free(d->uniform);
    free(d->scratch);
    stack_free(&d->stack);
    registry_free(d->r);
}

/* Places with the next numbers; with `number` in every place when it is not negative. */
static const double *drawn_place(drawn *d, double number)
{
    for (size_t i = 0; i < d->draws; i++)
        d->uniform[i] = number >= 0 ? number : drawn_number(d);
    d->stack.map->place(&d->c, d->pos);
    double before = 0;
    for (int t = 0; t < d->c.len; t++) {
        cr_assert(isfinite(d->pos[t]) && d->pos[t] >= 0, "token %d stands at %g", t, d->pos[t]);
        cr_assert(d->stack.map->unordered || d->pos[t] >= before, "token %d stands at %.17g, the one before at %.17g",
                  t, d->pos[t], before);
        before = d->pos[t];
    }
    return d->pos;
}

/* Pearson's statistic lies this far above its mean with probability 1e-9 at most. */
static double chi_most(int freedom)
{
    return freedom + 9 * sqrt(2.0 * freedom);
}

/* ------------------------------------------------------------------------------------------------ random */

/* Randomised positions of which it was unclear whether they stay in range, with as many tokens as positions: whole
 * numbers, each larger than the one before, none past the span (A47). */
Test(map_random, positions_are_sorted_distinct_and_in_range)
{
    static const int lens[] = {1, 2, 17, 63, 64};
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        drawn d;
        drawn_open(&d, "random(span=64)", lens[i], lens[i], 1, INFINITY);
        for (int round = 0; round < 500; round++) {
            const double *pos = drawn_place(&d, -1);
            for (int t = 0; t < lens[i]; t++) {
                cr_assert(pos[t] == floor(pos[t]) && pos[t] <= 63);
                cr_assert(t == 0 || pos[t] > pos[t - 1], "two tokens stand at %g", pos[t]);
                cr_assert(lens[i] < 64 || pos[t] == t);
            }
        }
        drawn_close(&d);
    }
}

/* The extreme numbers: the last positions, as the check of tables relies on, and the first ones that can be reached. */
Test(map_random, largest_numbers_reach_the_last_position)
{
    drawn d;
    drawn_open(&d, "random(span=100)", 10, 10, 1, INFINITY);
    const double *pos = drawn_place(&d, largest_number);
    for (int t = 0; t < 10; t++)
        cr_assert_eq(pos[t], 90 + t);
    pos = drawn_place(&d, 0);
    cr_assert_eq(pos[0], 0, "every number chooses position 0: the first one gets it");
    cr_assert_eq(pos[1], 91, "and the others their own last one");
    drawn_close(&d);
}

/* Each of the C(6,3) sets is as likely. */
Test(map_random, all_sets_are_equally_likely)
{
    enum { ROUNDS = 40000 };
    long count[64] = {0};
    double chi = 0;
    int sets = 0;
    drawn d;
    drawn_open(&d, "random(span=6)", 3, 3, 1, INFINITY);
    for (int round = 0; round < ROUNDS; round++) {
        const double *pos = drawn_place(&d, -1);
        count[1 << (int)pos[0] | 1 << (int)pos[1] | 1 << (int)pos[2]]++;
    }
    for (int set = 0; set < 64; set++) {
        sets += count[set] > 0;
        if (count[set] > 0)
            chi += pow(count[set] - ROUNDS / 20.0, 2) / (ROUNDS / 20.0);
    }
    cr_assert_eq(sets, 20);
    cr_assert(chi < chi_most(19), "chi-square %g with 19 degrees of freedom", chi);
    drawn_close(&d);
}

/* Each position is among n of M with probability n/M: a position's count is binomial, and counts of one round sum to n,
 * which leaves M - 1 degrees of freedom of variance ROUNDS p (1-p) M/(M-1). */
Test(map_random, every_position_is_included_as_often)
{
    enum { ROUNDS = 20000, SPAN = 97, LEN = 40 };
    long count[SPAN] = {0};
    double share = (double)LEN / SPAN, variance = ROUNDS * share * (1 - share) * SPAN / (SPAN - 1), chi = 0;
    drawn d;
    drawn_open(&d, "random(span=97)", LEN, LEN, 1, INFINITY);
    for (int round = 0; round < ROUNDS; round++) {
        const double *pos = drawn_place(&d, -1);
        for (int t = 0; t < LEN; t++)
            count[(int)pos[t]]++;
    }
    for (int p = 0; p < SPAN; p++)
        chi += pow(count[p] - ROUNDS * share, 2) / variance;
    cr_assert(chi < chi_most(SPAN - 1), "chi-square %g with %d degrees of freedom", chi, SPAN - 1);
    cr_assert(chi > SPAN - 1 - 9 * sqrt(2.0 * (SPAN - 1)), "chi-square %g: too even to be random", chi);
    drawn_close(&d);
}

/* While a sequence is decoded, its tokens stand where they stand in the whole. */
static void decodes_where_the_whole_stands(const char *map)
{
    enum { TOTAL = 200 };
    for (int len = 1; len < TOTAL; len += 33) {
        drawn whole, part;
        drawn_open(&whole, map, TOTAL, TOTAL, 0, INFINITY);
        drawn_open(&part, map, len, TOTAL, 0, INFINITY);
        whole.state = part.state = 5;
        drawn_place(&whole, -1);
        drawn_place(&part, -1);
        cr_assert_arr_eq(part.pos, whole.pos, (size_t)len * sizeof(double), "%s, %d of %d tokens", map, len, TOTAL);
        drawn_close(&whole);
        drawn_close(&part);
    }
}

Test(map_random, decodes_where_the_whole_sequence_stands)
{
    decodes_where_the_whole_stands("random(span=512)");
    decodes_where_the_whole_stands("random_float(span=512)");
    decodes_where_the_whole_stands("shift(span=9,test=auto)");
    decodes_where_the_whole_stands("cape");
}

/* The rule for evaluation is an option: the same law as in training, or 0, 1, 2 .. */
Test(map_random, evaluation_may_be_plain)
{
    static const char *const maps[] = {"random(span=300,test=identity)", "random_float(span=300,test=identity)"};
    for (int i = 0; i < 2; i++) {
        drawn d;
        drawn_open(&d, maps[i], 64, 64, 0, INFINITY);
        const double *pos = drawn_place(&d, -1);
        for (int t = 0; t < 64; t++)
            cr_assert_eq(pos[t], t);
        drawn_close(&d);
        drawn_open(&d, maps[i], 64, 64, 1, INFINITY);
        cr_assert_gt(drawn_place(&d, -1)[63], 64);
        drawn_close(&d);
    }
}

/* ------------------------------------------------------------------------------------------------ random_float */

/* The k-th of n sorted uniform numbers has mean k/(n+1) and variance k (n+1-k) / ((n+1)^2 (n+2)). */
Test(map_random_float, positions_are_order_statistics)
{
    enum { ROUNDS = 40000, LEN = 7 };
    double sum[LEN] = {0}, square[LEN] = {0};
    drawn d;
    drawn_open(&d, "random_float(span=32)", LEN, LEN, 1, INFINITY);
    for (int round = 0; round < ROUNDS; round++) {
        const double *pos = drawn_place(&d, -1);
        for (int t = 0; t < LEN; t++) {
            sum[t] += pos[t] / 32;
            square[t] += pos[t] / 32 * pos[t] / 32;
        }
    }
    for (int k = 1; k <= LEN; k++) {
        double mean = sum[k - 1] / ROUNDS, variance = square[k - 1] / ROUNDS - mean * mean;
        double want = k / (LEN + 1.0), spread = want * (1 - want) / (LEN + 2);
        cr_assert(fabs(mean - want) < 6 * sqrt(spread / ROUNDS), "token %d: mean %g, not %g", k, mean, want);
        cr_assert(fabs(variance / spread - 1) < 0.05, "token %d: variance %g, not %g", k, variance, spread);
    }
    drawn_close(&d);
}

/* All tokens together are uniform: 32 cells. */
Test(map_random_float, every_place_is_as_likely)
{
    enum { ROUNDS = 4000, LEN = 50, CELLS = 32 };
    double chi = 0;
    long count[CELLS] = {0};
    drawn d;
    drawn_open(&d, "random_float(span=32)", LEN, LEN, 1, INFINITY);
    for (int round = 0; round < ROUNDS; round++) {
        const double *pos = drawn_place(&d, -1);
        for (int t = 0; t < LEN; t++)
            count[(int)fmin(pos[t], 31)]++;
    }
    for (int i = 0; i < CELLS; i++)
        chi += pow(count[i] - (double)ROUNDS * LEN / CELLS, 2) / ((double)ROUNDS * LEN / CELLS);
    cr_assert(chi < chi_most(CELLS - 1), "chi-square %g", chi);
    cr_assert_float_eq(drawn_place(&d, largest_number)[LEN - 1], 32, 1e-12, "the farthest is the span");
    drawn_close(&d);
}

/* ------------------------------------------------------------------------------------------------ shift */

/* Both ends of 0 .. K are reached, and every shift as often. */
Test(map_shift, every_shift_is_as_likely)
{
    enum { ROUNDS = 20000, SPAN = 9 };
    double chi = 0;
    long count[SPAN + 1] = {0};
    drawn d;
    drawn_open(&d, "shift(span=9)", 5, 5, 1, INFINITY);
    for (int round = 0; round < ROUNDS; round++) {
        const double *pos = drawn_place(&d, -1);
        cr_assert(pos[0] == floor(pos[0]) && pos[0] <= SPAN);
        for (int t = 0; t < 5; t++)
            cr_assert_eq(pos[t], pos[0] + t);
        count[(int)pos[0]]++;
    }
    for (int i = 0; i <= SPAN; i++)
        chi += pow(count[i] - ROUNDS / (SPAN + 1.0), 2) / (ROUNDS / (SPAN + 1.0));
    cr_assert(chi < chi_most(SPAN), "chi-square %g", chi);
    cr_assert_eq(drawn_place(&d, 0)[0], 0);
    cr_assert_eq(drawn_place(&d, largest_number)[0], SPAN);
    drawn_close(&d);
}

/* Copying in Huang et al.: 2 len + 2 tokens in a table for lengths up to 150, shifts up to 2 (150 - len). */
Test(map_shift, auto_fills_the_table)
{
    for (int len = 1; len <= 150; len += 7) {
        drawn d;
        drawn_open(&d, "shift", 2 * len + 2, 2 * len + 2, 1, 301);
        cr_assert_eq(drawn_place(&d, largest_number)[0], 2 * (150 - len));
        cr_assert_eq(d.pos[2 * len + 1], 301, "the last row is reached, and none after it");
        cr_assert_eq(drawn_place(&d, 0)[0], 0);
        drawn_close(&d);
    }
    drawn d;
    drawn_open(&d, "shift", 64, 64, 1, 62.5);
    cr_assert_eq(drawn_place(&d, largest_number)[0], 0, "no room, no shift");
    drawn_close(&d);
}

Test(map_shift, evaluation_begins_where_it_is_told)
{
    static const struct {
        const char *map;
        double first;
    } cases[] = {{"shift(span=500)", 0},
                 {"shift(span=500,test=auto)", 500},
                 {"shift(span=500,test=3)", 3},
                 {"shift", 0},
                 {"shift(test=auto)", 700 - 9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        drawn d;
        drawn_open(&d, cases[i].map, 10, 10, 0, 700);
        for (int round = 0; round < 3; round++) {
            const double *pos = drawn_place(&d, -1);
            for (int t = 0; t < 10; t++)
                cr_assert_eq(pos[t], cases[i].first + t, "%s", cases[i].map);
        }
        drawn_close(&d);
    }
}

/* ------------------------------------------------------------------------------------------------ cape */

/* Jitter of half a position leaves the order alone (drawn_place looks), and nothing is negative. */
Test(map_cape, keeps_order_within_its_range)
{
    enum { LEN = 40 };
    double least = INFINITY, most = 0;
    const double constant = 1.2 * 3.5;
    drawn d;
    drawn_open(&d, "cape(max_global=3,max_local=0.5,max_scale=1.2)", LEN, LEN, 1, INFINITY);
    for (int round = 0; round < 20000; round++) {
        const double *pos = drawn_place(&d, -1);
        least = fmin(least, pos[0]);
        most = fmax(most, pos[LEN - 1]);
    }
    cr_assert(least >= 0 && least < 0.5, "the first token comes near 0: %g", least);
    cr_assert(most <= constant + 1.2 * (LEN - 1 + 3.5) && most > constant + 1.19 * (LEN - 1 + 3), "%g", most);
    cr_assert_float_eq(drawn_place(&d, largest_number)[LEN - 1], constant + 1.2 * (LEN - 1 + 3.5), 1e-12);
    cr_assert_float_eq(drawn_place(&d, 0)[0], constant - 3.5 / 1.2, 1e-12);
    drawn_close(&d);
}

/* p' = C + lambda (p + Delta + eps), written out for chosen numbers. */
Test(map_cape, is_its_formula)
{
    static const double numbers[] = {0.75, 0.25, 0.5, 0, 1 - 0x1p-53};
    drawn d;
    drawn_open(&d, "cape(max_global=2,max_local=0.25,max_scale=4)", 3, 3, 1, INFINITY);
    cr_assert_eq(d.draws, 5);
    memcpy(d.uniform, numbers, sizeof numbers);
    d.stack.map->place(&d.c, d.pos);
    /* C = 4 * 2.25 = 9; Delta = 1; lambda = 4^-0.5 = 1/2; eps = 0, -1/4, 1/4 */
    cr_assert_float_eq(d.pos[0], 9.5, 1e-12);
    cr_assert_float_eq(d.pos[1], 9 + 0.875, 1e-12);
    cr_assert_float_eq(d.pos[2], 9 + 1.625, 1e-12);
    drawn_close(&d);
}

Test(map_cape, is_off_in_evaluation)
{
    drawn d;
    drawn_open(&d, "cape", 20, 20, 0, INFINITY);
    const double *pos = drawn_place(&d, -1);
    for (int t = 0; t < 20; t++)
        cr_assert_eq(pos[t], 1.03 * 5.5 + t, "distances are whole numbers");
    drawn_close(&d);
    drawn_open(&d, "cape(max_global=0,max_local=0,max_scale=1)", 20, 20, 1, INFINITY);
    pos = drawn_place(&d, -1);
    for (int t = 0; t < 20; t++)
        cr_assert_eq(pos[t], t, "nothing to augment by");
    drawn_close(&d);
}

/* ------------------------------------------------------------------------------------------------ task */

Test(map_task, tokens_stand_where_the_task_says)
{
    static const double given[] = {0, 1, 2, 3, 0, 1, 2, 3};
    drawn d;
    drawn_open(&d, "task", 8, 8, 1, INFINITY);
    d.c.given = given;
    cr_assert_arr_eq(drawn_place(&d, -1), given, sizeof given);
    drawn_close(&d);
    drawn_open(&d, "task(start=10)", 8, 8, 0, INFINITY);
    d.c.given = given;
    cr_assert_arr_eq(drawn_place(&d, -1), given, sizeof given, "evaluation is not shifted");
    drawn_close(&d);
}

/* All ids of a sequence move together, as far as the table goes. */
Test(map_task, a_random_start_moves_all_alike)
{
    static const double given[] = {0, 1, 2, 3, 0, 1, 2, 3};
    static const struct {
        const char *map;
        double most;
    } cases[] = {{"task(start=10)", 10}, {"task(start=auto)", 20 - 3}};
    for (int i = 0; i < 2; i++) {
        long count[32] = {0};
        drawn d;
        drawn_open(&d, cases[i].map, 8, 8, 1, 20);
        d.c.given = given;
        for (int round = 0; round < 4000; round++) {
            const double *pos = drawn_place(&d, -1);
            cr_assert(pos[0] == floor(pos[0]) && pos[0] <= cases[i].most);
            for (int t = 0; t < 8; t++)
                cr_assert_eq(pos[t], pos[0] + given[t]);
            count[(int)pos[0]]++;
        }
        for (int k = 0; k <= (int)cases[i].most; k++)
            cr_assert_gt(count[k], 0, "%s never shifts by %d", cases[i].map, k);
        drawn_close(&d);
    }
}
