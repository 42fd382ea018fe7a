/* Counting, parity and memory: each answer is worked out again from the prompt by a slow solver, and distributions are
 * those of the sources, instance by instance where there are few. */
#include <criterion/criterion.h>

#include "pair_chance.h"
#include "task_room.h"

static void counting_bits(const int *x, int n, int len)
{
    cr_assert_eq(n, len);
    for (int i = 0; i < n; i++)
        cr_assert(x[i] == 0 || x[i] == 1);
}

/* 1 over the number of strings of n bits with so many zeros. */
static double counting_share(int n, int zeros)
{
    double strings = 1.0;
    for (int i = 0; i < zeros; i++)
        strings *= (double)(n - i) / (i + 1);
    return 1.0 / strings;
}

/* ------------------------------------------------------------------------------------------------ majority */

/* The symbol for which no other occurs as often. */
static int solve_majority26(const int *x, int n, int len, int *answer)
{
    int winners = 0;
    cr_assert_eq(n, len);
    for (int v = 0; v < 26; v++) {
        int beats = 0, mine = 0;
        for (int i = 0; i < n; i++)
            mine += x[i] == v;
        for (int w = 0; w < 26; w++) {
            int theirs = 0;
            for (int i = 0; i < n; i++)
                theirs += x[i] == w;
            beats += mine > theirs;
        }
        if (beats == 25) {
            answer[0] = v;
            winners++;
        }
    }
    cr_assert_eq(winners, 1, "a tie");
    return 1;
}

static double weigh_no_tie(const int *x, int n, int len)
{
    int count[3] = {0}, most = 0, winners = 0;
    (void)len;
    for (int i = 0; i < n; i++)
        count[x[i]]++;
    for (int v = 0; v < 3; v++)
        most = count[v] > most ? count[v] : most;
    for (int v = 0; v < 3; v++)
        winners += count[v] == most;
    return winners == 1;
}

Test(counting, majority)
{
    pairs_check("majority", 26, 500, solve_majority26);
    pairs_check("majority(symbols=2)", 2, 60, solve_majority26);
    pairs_check_uniform("majority(symbols=3)", 4, 63); /* of 81 strings 18 have two symbols twice */
    pairs_check_uniform("majority", 2, 26);
    for (int len = 1; len <= 6; len++)
        pairs_check_chance("majority(symbols=3)", len, len, weigh_no_tie, solve_majority26);
    pairs_check_shared("majority", 12, 0);
}

/* Bits are taken out one string after the other. */
static int solve_interleaved(const int *x, int n, int len, int *answer, int period)
{
    counting_bits(x, n, period * len);
    for (int k = 0; k < period; k++) {
        int balance = 0;
        for (int i = 0; i < n; i++)
            if (i % period == k)
                balance += x[i] ? 1 : -1;
        cr_assert_neq(balance, 0, "a tie");
        answer[k] = balance > 0;
    }
    return period;
}

static int solve_interleaved3(const int *x, int n, int len, int *answer)
{
    return solve_interleaved(x, n, len, answer, 3);
}

static int solve_interleaved5(const int *x, int n, int len, int *answer)
{
    return solve_interleaved(x, n, len, answer, 5);
}

static int solve_interleaved1(const int *x, int n, int len, int *answer)
{
    return solve_interleaved(x, n, len, answer, 1);
}

/* The number of zeros of each string is uniform where it is no tie. */
static double weigh_interleaved3(const int *x, int n, int len)
{
    double weight = 1.0;
    for (int k = 0; k < 3; k++) {
        int zeros = 0;
        for (int i = k; i < n; i += 3)
            zeros += x[i] == 0;
        weight *= 2 * zeros == len ? 0.0 : counting_share(len, zeros);
    }
    return weight;
}

Test(counting, interleaved_majority)
{
    pairs_check("interleaved_majority", 2, 200, solve_interleaved3);
    pairs_check("interleaved_majority(period=5)", 2, 50, solve_interleaved5);
    pairs_check("interleaved_majority(period=1)", 2, 50, solve_interleaved1);
    for (int len = 1; len <= 4; len++)
        pairs_check_chance("interleaved_majority", len, 3 * len, weigh_interleaved3, solve_interleaved3);
    pairs_check_shared("interleaved_majority", 16, 20);
}

Test(counting, interleaved_majority_weights)
{
    pairs_check_weights("interleaved_majority", 3, 9, weigh_interleaved3);
    pairs_check_weights("interleaved_majority", 4, 12, weigh_interleaved3);
}

/* ------------------------------------------------------------------------------------------------ parity and its kin
 */

/* Flips a bit at each one. */
static int solve_parity(const int *x, int n, int len, int *answer)
{
    int odd = 0;
    counting_bits(x, n, len);
    for (int i = 0; i < n; i++)
        if (x[i])
            odd = !odd;
    answer[0] = odd ? 3 : 2;
    return 1;
}

static double weigh_bits(const int *x, int n, int len)
{
    (void)len;
    for (int i = 0; i < n; i++)
        if (x[i] > 1)
            return 0.0;
    return 1.0;
}

static double weigh_counts(const int *x, int n, int len)
{
    int zeros = 0;
    for (int i = 0; i < n; i++)
        zeros += x[i] == 0;
    return weigh_bits(x, n, len) * counting_share(n, zeros);
}

Test(counting, parity)
{
    pairs_check("parity", 4, 500, solve_parity);
    pairs_check("parity(balance=bits)", 4, 200, solve_parity);
    pairs_check_uniform("parity(balance=bits)", 8, 256);
    pairs_check_weights("parity", 6, 6, weigh_counts);
    for (int len = 1; len <= 7; len++) {
        pairs_check_chance("parity", len, len, weigh_counts, solve_parity);
        pairs_check_chance("parity(balance=bits)", len, len, weigh_bits, solve_parity);
    }
    pairs_check_shared("parity(balance=bits)", 40, 0);
}

/* In the streams that are tested, too, every number of ones is as likely as another. */
Test(counting, parity_ones_are_uniform_in_the_test_stream)
{
    enum { DRAWS = 4000, LEN = 20 };
    task_room r = room_open("parity", LEN, LEN);
    long count[LEN + 1] = {0};
    double expected[LEN + 1];
    for (uint32_t item = 0; item < DRAWS; item++) {
        int ones = 0;
        room_draw(&r, TASK_TEST, 1, LEN, item, LEN);
        for (int i = 1; i <= LEN; i++)
            ones += r.sample.input[i];
        count[ones]++;
    }
    for (int i = 0; i <= LEN; i++)
        expected[i] = DRAWS / (LEN + 1.0);
    cr_expect_leq(chi_square(count, expected, LEN + 1), chi_limit(LEN));
    room_close(&r);
}

/* Counts 01 and 10. */
static int solve_even_pairs(const int *x, int n, int len, int *answer)
{
    int pairs = 0;
    counting_bits(x, n, len);
    for (int i = 0; i + 1 < n; i++)
        pairs += x[i] != x[i + 1];
    answer[0] = pairs % 2;
    return 1;
}

Test(counting, even_pairs)
{
    pairs_check("even_pairs", 2, 500, solve_even_pairs);
    pairs_check_uniform("even_pairs", 8, 256);
    for (int len = 1; len <= 8; len++)
        pairs_check_chance("even_pairs", len, len, weigh_bits, solve_even_pairs);
}

/* Walks from place to place and closes the circle by hand. */
static int solve_cycle(const int *x, int n, int len, int *answer, int cycle)
{
    int place = 0;
    cr_assert_eq(n, len);
    for (int i = 0; i < n; i++) {
        cr_assert(x[i] >= 0 && x[i] <= 2);
        if (x[i] == 0)
            place = place == 0 ? cycle - 1 : place - 1;
        else if (x[i] == 2)
            place = place == cycle - 1 ? 0 : place + 1;
    }
    answer[0] = 3 + place;
    return 1;
}

static int solve_cycle2(const int *x, int n, int len, int *answer)
{
    return solve_cycle(x, n, len, answer, 2);
}

static int solve_cycle4(const int *x, int n, int len, int *answer)
{
    return solve_cycle(x, n, len, answer, 4);
}

static int solve_cycle5(const int *x, int n, int len, int *answer)
{
    return solve_cycle(x, n, len, answer, 5);
}

static double weigh_steps(const int *x, int n, int len)
{
    (void)len;
    for (int i = 0; i < n; i++)
        if (x[i] > 2)
            return 0.0;
    return 1.0;
}

/* The two examples of the source: 1 -1 0 -1 -1 ends at place 3, 1 1 1 -1 at place 2. */
Test(counting, cycle_navigation)
{
    int place;
    pairs_check("cycle_navigation", 8, 500, solve_cycle5);
    pairs_check("cycle_navigation(cycle=2)", 5, 50, solve_cycle2);
    pairs_check_uniform("cycle_navigation", 5, 243);
    for (int len = 1; len <= 5; len++) {
        pairs_check_chance("cycle_navigation", len, len, weigh_steps, solve_cycle5);
        pairs_check_chance("cycle_navigation(cycle=4)", len, len, weigh_steps, solve_cycle4);
        pairs_check_chance("cycle_navigation(cycle=2)", len, len, weigh_steps, solve_cycle2);
    }
    pairs_check_estimate("cycle_navigation", 60, 0.04);
    solve_cycle5((int[]){2, 0, 1, 0, 0}, 5, 5, &place);
    cr_expect_eq(place, 3 + 3);
    solve_cycle5((int[]){2, 2, 2, 0}, 4, 4, &place);
    cr_expect_eq(place, 3 + 2);
}
