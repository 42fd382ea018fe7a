/* Memory: what was written last and how often it was counted up. Each answer is worked out again from the prompt by a
 * slow solver, and distributions are those of the sources, instance by instance where there are few. */
#include <string.h>

#include <criterion/criterion.h>

#include "pair_chance.h"
#include "task_room.h"

/* ------------------------------------------------------------------------------------------------ flip_flop */

/* Looks back from the end for the last w; every r in between must say what was written before it. */
static int solve_flip_flop(const int *x, int n, int len, int *answer)
{
    cr_assert_eq(n, 2 * len + 1);
    cr_assert(x[0] == 2 && x[n - 1] == 3, "w first, r last");
    for (int t = n - 1; t >= 0; t -= 2) {
        int back = t;
        if (t < n - 1)
            cr_assert(x[t] >= 2 && x[t] <= 4 && (x[t + 1] == 0 || x[t + 1] == 1));
        if (x[t] != 3)
            continue;
        while (x[back] != 2)
            back -= 2;
        if (t < n - 1)
            cr_assert_eq(x[t + 1], x[back + 1], "a read says what was written last");
        else
            answer[0] = x[back + 1];
    }
    return 1;
}

/* With write=0.2, read=0.3: independent instructions, uniform bits behind w and i. */
static double weigh_flip_flop(const int *x, int n, int len)
{
    double weight = 1.0;
    int memory = -1;
    for (int t = 0; t < len; t++) {
        int instruction = x[2 * t], bit = x[2 * t + 1];
        if (instruction < 2 || bit > 1 || (t == 0 && instruction != 2) || (instruction == 3 && bit != memory))
            return 0.0;
        if (instruction == 2)
            memory = bit;
        weight *= t == 0 ? 0.5 : instruction == 2 ? 0.1 : instruction == 3 ? 0.3 : 0.25;
    }
    return x[n - 1] == 3 ? weight : 0.0;
}

Test(memory, flip_flop)
{
    pairs_check("flip_flop", 5, 500, solve_flip_flop);
    pairs_check("flip_flop(write=0.45,read=0.45)", 5, 60, solve_flip_flop);
    pairs_check("flip_flop(write=0,read=0)", 5, 60, solve_flip_flop);
    pairs_check("flip_flop(write=1,read=0)", 5, 20, solve_flip_flop);
    pairs_check_weights("flip_flop(write=0.2,read=0.3)", 2, 5, weigh_flip_flop);
    pairs_check_chance("flip_flop(write=0.2,read=0.3)", 3, 7, weigh_flip_flop, solve_flip_flop);
    pairs_check_estimate("flip_flop", 30, 0.04);
    pairs_check_shared("flip_flop", 40, 0);
}

/* How often each instruction occurs, in the stream that is tested. */
Test(memory, flip_flop_instructions)
{
    enum { DRAWS = 2000, LEN = 31 };
    task_room r = room_open("flip_flop(write=0.05,read=0.15)", LEN, LEN);
    long count[3] = {0};
    const double all = DRAWS * (LEN - 1.0), expected[3] = {0.05 * all, 0.15 * all, 0.8 * all};
    for (uint32_t item = 0; item < DRAWS; item++) {
        room_draw(&r, TASK_TEST, 1, LEN, item, LEN);
        for (int t = 1; t < LEN; t++)
            count[r.sample.input[1 + 2 * t] - 2]++;
    }
    cr_expect_leq(chi_square(count, expected, 3), chi_limit(2), "%ld %ld %ld", count[0], count[1], count[2]);
    room_close(&r);
}

Test(memory, flip_flop_refuses)
{
    error e = ERROR_INIT;
    cr_expect_eq(task_check("flip_flop(write=0.6,read=0.5)", TASK_DECODER, 1, 5, &e), -1);
    cr_expect_not_null(strstr(e.message, "write=0.6"));
}

/* ------------------------------------------------------------------------------------------------ counting */

/* From the end backwards: increments of the variable that is asked for, up to its last assignment. Before that,
 * statement by statement: the grammar, and that only variables are incremented that have been set, to `most` at most.
 */
static int solve_counting(const int *x, int n, int len, int *answer, int variables, int most)
{
    const int zero = variables, equals = zero + most + 1, end = equals + 1, plus = equals + 2, pass = equals + 3;
    int statements = 0, asked = x[n - 1], value = 0, at = 0;
    int held[26];
    for (int v = 0; v < 26; v++)
        held[v] = -1;
    for (; x[at] != equals + 4; statements++) {
        if (x[at] == pass) {
            at++;
        } else if (x[at + 1] == plus) {
            cr_assert(x[at] < variables && held[x[at]] >= 0 && held[x[at]] < most, "an increment");
            held[x[at]]++;
            at += 2;
        } else {
            cr_assert(x[at] < variables && x[at + 1] == equals && x[at + 2] == zero && x[at + 3] == end,
                      "an assignment");
            held[x[at]] = 0;
            at += 4;
        }
    }
    cr_assert_eq(statements, len);
    cr_assert_eq(at, n - 2, "print and a variable");
    cr_assert(asked < variables && held[asked] >= 0);
    for (int t = n - 3; t > 0; t--) {
        if (x[t] == equals && x[t - 1] == asked)
            break;
        value += x[t] == plus && x[t - 1] == asked;
    }
    answer[0] = zero + value;
    return 1;
}

static int solve_counting3(const int *x, int n, int len, int *answer)
{
    return solve_counting(x, n, len, answer, 3, 10);
}

static int solve_counting5(const int *x, int n, int len, int *answer)
{
    return solve_counting(x, n, len, answer, 5, 2);
}

static int solve_counting1(const int *x, int n, int len, int *answer)
{
    return solve_counting(x, n, len, answer, 1, 1);
}

Test(memory, counting)
{
    pairs_check("counting", 3 + 11 + 5, 500, solve_counting3);
    pairs_check("counting(variables=5,most=2,set=2,increment=30,pass=5)", 5 + 3 + 5, 80, solve_counting5);
    pairs_check("counting(variables=1,most=1,pass=0,increment=40)", 1 + 2 + 5, 40, solve_counting1);
    pairs_check("counting(variables=1,most=1,increment=0)", 1 + 2 + 5, 40, solve_counting1);
    pairs_check_shared("counting", 120, 40);
}

enum { PROGRAM_LEN = 5, PROGRAM_VARIABLES = 2, PROGRAM_MOST = 1, PROGRAM_CODES = 2 * 5 * 5 * 5 * 5 * 5 };

/* The definition, word by word: probabilities of all programs of five statements with two variables that hold 0 or 1
 * and weights 1, 2, 3. Statements that cannot be are drawn anew, so the others share what they would have had. code
 * counts in fives: a=0, b=0, a++, b++, pass. */
static void program_walk(const int value[PROGRAM_VARIABLES], int len, int code, double weight, double *expected)
{
    int known = (value[0] >= 0) + (value[1] >= 0);
    double p[5] = {0, 0, 0, 0, 3.0}, sum = 0.0;
    if (len == PROGRAM_LEN) {
        for (int v = 0; v < PROGRAM_VARIABLES; v++)
            if (value[v] >= 0)
                expected[2 * code + v] += weight / known;
        return;
    }
    for (int v = 0; v < PROGRAM_VARIABLES; v++) {
        p[v] = 1.0 / PROGRAM_VARIABLES;
        p[2 + v] = value[v] >= 0 && value[v] < PROGRAM_MOST ? 2.0 / known : 0.0;
    }
    for (int s = 0; s < 5; s++)
        sum += p[s];
    for (int s = 0; s < 5; s++) {
        int next[PROGRAM_VARIABLES] = {value[0], value[1]};
        if (s < 4)
            next[s % 2] = s < 2 ? 0 : next[s % 2] + 1;
        if (p[s] > 0.0)
            program_walk(next, len + 1, 5 * code + s, weight * p[s] / sum, expected);
    }
}

/* a b 0 1 = ; ++; pass; print are 0 .. 8. */
static int program_code(const int *x)
{
    int code = 0, at = 0;
    for (int t = 0; t < PROGRAM_LEN; t++) {
        int statement = x[at] == 7 ? 4 : x[at + 1] == 6 ? 2 + x[at] : x[at];
        at += statement == 4 ? 1 : statement >= 2 ? 2 : 4;
        code = 5 * code + statement;
    }
    return 2 * code + x[at + 1];
}

Test(memory, counting_programs_are_as_likely_as_defined)
{
    enum { DRAWS = 400000 };
    static double expected[PROGRAM_CODES], cell[PROGRAM_CODES];
    static long seen[PROGRAM_CODES], count[PROGRAM_CODES];
    task_room r = room_open("counting(variables=2,most=1,set=1,increment=2,pass=3)", PROGRAM_LEN, PROGRAM_LEN);
    double total = 0.0;
    int cells = 0;
    program_walk((int[]){-1, -1}, 0, 0, 1.0, expected);
    for (uint32_t item = 0; item < DRAWS; item++) {
        room_sample(&r, item, PROGRAM_LEN);
        seen[program_code(r.sample.input + 1)]++;
    }
    for (int code = 0; code < PROGRAM_CODES; code++)
        total += expected[code]; /* without those in which nothing has been set */
    for (int code = 0; code < PROGRAM_CODES; code++) {
        cr_assert(expected[code] > 0.0 || seen[code] == 0, "program %d cannot be", code);
        if (expected[code] == 0.0)
            continue;
        cell[cells] = DRAWS * expected[code] / total;
        count[cells++] = seen[code];
    }
    double statistic = chi_square(count, cell, cells);
    cr_assert_gt(cells, 500);
    cr_expect_leq(statistic, chi_limit(cells - 1), "chi-square %g over %d programs", statistic, cells);
    room_close(&r);
}

/* The number of assignments and increments is what it should be in the stream that is tested. */
Test(memory, counting_kinds_in_the_test_stream)
{
    enum { DRAWS = 4000, LEN = 40 };
    task_room r = room_open("counting", LEN, LEN);
    long count[2][LEN + 1] = {{0}};
    for (int sampled = 0; sampled < 2; sampled++)
        for (uint32_t item = 0; item < DRAWS; item++) {
            int active = 0;
            if (sampled)
                room_sample(&r, item, LEN);
            else
                room_draw(&r, TASK_TEST, 1, LEN, item, LEN);
            for (int t = 0; t < r.sample.count; t++)
                active += r.sample.input[t] == 3 + 11 || r.sample.input[t] == 3 + 11 + 2;
            count[sampled][active]++;
        }
    double statistic = 0.0;
    int cells = 0;
    for (int i = 0; i <= LEN; i++) {
        double sum = (double)(count[0][i] + count[1][i]), gap = (double)(count[0][i] - count[1][i]);
        if (sum == 0.0)
            continue;
        statistic += gap * gap / sum;
        cells++;
    }
    cr_assert_gt(cells, 8);
    cr_expect_leq(statistic, chi_limit(cells - 1), "chi-square %g over %d", statistic, cells);
    room_close(&r);
}
