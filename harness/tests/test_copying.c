/* Copying: each answer is worked out again from the prompt, symbol by symbol, by a slow solver. */
#include <string.h>

#include <criterion/criterion.h>

#include "pair_chance.h"

static void copying_plain(const int *x, int n, int len, int symbols)
{
    cr_assert_eq(n, len, "%d symbols at length %d", n, len);
    for (int i = 0; i < n; i++)
        cr_assert(0 <= x[i] && x[i] < symbols, "symbol %d", x[i]);
}

static double copying_any(const int *x, int n, int len)
{
    (void)x, (void)n, (void)len;
    return 1.0;
}

/* ------------------------------------------------------------------------------------------------ copy */

static int solve_cmc(const int *x, int n, int len, int *answer)
{
    copying_plain(x, n, len, 100);
    memcpy(answer, x, (size_t)n * sizeof *x);
    return n;
}

static int solve_cmc3(const int *x, int n, int len, int *answer)
{
    copying_plain(x, n, len, 3);
    return memcpy(answer, x, (size_t)n * sizeof *x), n;
}

/* y | y | y over three symbols: place j of the answer is a bar each time one more than a multiple of n+1. */
static int solve_thrice_apart(const int *x, int n, int len, int *answer)
{
    copying_plain(x, n, len, 3);
    for (int j = 0; j < 3 * n + 2; j++)
        answer[j] = j % (n + 1) == n ? 3 : x[j % (n + 1)];
    return 3 * n + 2;
}

static int solve_cmc2x(const int *x, int n, int len, int *answer)
{
    copying_plain(x, n, len, 100);
    for (int j = 0; j < 2 * n + 1; j++)
        answer[j] = j < n ? x[j] : j == n ? 100 : x[j - n - 1];
    return 2 * n + 1;
}

static int solve_rsc(const int *x, int n, int len, int *answer)
{
    copying_plain(x, n, len, 100);
    for (int i = 0; i < n; i++) {
        cr_assert_eq(x[i], x[0], "one symbol only");
        answer[i] = x[0];
    }
    return n;
}

static int solve_rsc2x(const int *x, int n, int len, int *answer)
{
    solve_rsc(x, n, len, answer);
    for (int i = n; i < 2 * n; i++)
        answer[i] = x[0];
    return 2 * n;
}

/* a b | a a a -> b b b */
static int solve_replace(const int *x, int n, int len, int *answer, int symbols)
{
    cr_assert_eq(n, len + 3);
    cr_assert(x[0] != x[1] && x[0] < symbols && x[1] < symbols && x[2] == symbols, "a head: two symbols and a bar");
    for (int i = 0; i < len; i++) {
        cr_assert_eq(x[3 + i], x[0]);
        answer[i] = x[1];
    }
    return len;
}

static int solve_rdc(const int *x, int n, int len, int *answer)
{
    return solve_replace(x, n, len, answer, 100);
}

static int solve_rdc3_twice(const int *x, int n, int len, int *answer)
{
    solve_replace(x, n, len, answer, 3);
    answer[len] = 3;
    memcpy(answer + len + 1, answer, (size_t)len * sizeof *answer);
    return 2 * len + 1;
}

Test(copying, copy)
{
    pairs_check("copy", 100, 500, solve_cmc);
    pairs_check("copy(symbols=3)", 3, 60, solve_cmc3);
    pairs_check("copy(times=2)", 101, 300, solve_cmc2x);
    pairs_check("copy(symbols=3,times=3)", 4, 100, solve_thrice_apart);
    pairs_check("copy(string=one)", 100, 500, solve_rsc);
    pairs_check("copy(string=one,times=2,apart=false)", 100, 300, solve_rsc2x);
    pairs_check("copy(string=replace)", 101, 500, solve_rdc);
    pairs_check("copy(symbols=3,string=replace,times=2)", 4, 60, solve_rdc3_twice);
}

static double weigh_one(const int *x, int n, int len)
{
    (void)len;
    for (int i = 1; i < n; i++)
        if (x[i] != x[0])
            return 0.0;
    return 1.0;
}

/* Over three symbols and the bar, which is symbol 3. */
static double weigh_replace(const int *x, int n, int len)
{
    (void)len;
    return x[0] != x[1] && x[0] < 3 && x[1] < 3 && x[2] == 3 && x[3] == x[0] && weigh_one(x + 3, n - 3, len) > 0.0;
}

static double weigh_below_three(const int *x, int n, int len)
{
    (void)len;
    for (int i = 0; i < n; i++)
        if (x[i] >= 3)
            return 0.0;
    return 1.0;
}

static int solve_one(const int *x, int n, int len, int *answer)
{
    (void)len;
    return memcpy(answer, x, (size_t)n * sizeof *x), n;
}

Test(copying, copy_chance)
{
    for (int len = 1; len <= 5; len++) {
        pairs_check_chance("copy(symbols=3)", len, len, copying_any, solve_cmc3);
        pairs_check_chance("copy(symbols=3,times=3)", len, len, weigh_below_three, solve_thrice_apart);
        pairs_check_chance("copy(symbols=4,string=one)", len, len, weigh_one, solve_one);
        pairs_check_chance("copy(symbols=3,string=replace,times=2)", len, len + 3, weigh_replace, solve_rdc3_twice);
    }
}

Test(copying, copy_is_uniform)
{
    pairs_check_uniform("copy(symbols=3)", 5, 243);
    pairs_check_uniform("copy(symbols=50,string=one)", 9, 50);
    pairs_check_uniform("copy(symbols=12,string=replace)", 9, 132);
}

/* BOS x SEP y | y, and BOS a b | x SEP y. */
Test(copying, copy_positions)
{
    pairs_check_positions("copy", 3, (double[]){0, 1, 2, 3, 0, 1, 2, 3}, 8, 3);
    pairs_check_positions("copy(times=2)", 2, (double[]){0, 1, 2, 0, 1, 2, 0, 1, 2}, 9, 2);
    pairs_check_positions("copy(times=2,apart=no)", 2, (double[]){0, 1, 2, 0, 1, 2, 1, 2}, 8, 2);
    pairs_check_positions("copy(string=replace)", 2, (double[]){0, 0, 0, 0, 1, 2, 0, 1, 2}, 9, 2);
}

/* ------------------------------------------------------------------------------------------------ duplicate_string */

static int solve_duplicate(const int *x, int n, int len, int *answer)
{
    copying_plain(x, n, len, 2);
    for (int j = 0; j < 2 * n; j++)
        answer[j] = x[j % n];
    return 2 * n;
}

static int solve_duplicate5(const int *x, int n, int len, int *answer)
{
    copying_plain(x, n, len, 5);
    for (int j = 2 * n - 1; j >= 0; j--)
        answer[j] = x[j < n ? j : j - n];
    return 2 * n;
}

Test(copying, duplicate_string)
{
    pairs_check("duplicate_string", 2, 500, solve_duplicate);
    pairs_check("duplicate_string(symbols=5)", 5, 50, solve_duplicate5);
    pairs_check_uniform("duplicate_string", 8, 256);
    pairs_check_positions("duplicate_string", 3, (double[]){0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3}, 11, 3);
    for (int len = 1; len <= 6; len++)
        pairs_check_chance("duplicate_string", len, len, copying_any, solve_duplicate);
}

/* ------------------------------------------------------------------------------------------------ reverse */

/* The prompt is read forwards, the answer filled from its end. */
static int solve_backwards(const int *x, int n, int *answer)
{
    for (int i = 0; i < n; i++)
        answer[n - 1 - i] = x[i];
    return n;
}

static int solve_mc(const int *x, int n, int len, int *answer)
{
    copying_plain(x, n, len, 100);
    return solve_backwards(x, n, answer);
}

static int solve_reverse_bits(const int *x, int n, int len, int *answer)
{
    copying_plain(x, n, len, 2);
    return solve_backwards(x, n, answer);
}

static int solve_mc2x(const int *x, int n, int len, int *answer)
{
    solve_mc(x, n, len, answer);
    answer[n] = 100;
    return n + 1 + solve_backwards(x, n, answer + n + 1);
}

static int solve_mcrv(const int *x, int n, int len, int *answer)
{
    solve_mc(x, n, len, answer);
    answer[n] = 100;
    memcpy(answer + n + 1, x, (size_t)n * sizeof *x);
    return 2 * n + 1;
}

static int solve_mcrv3(const int *x, int n, int len, int *answer)
{
    copying_plain(x, n, len, 3);
    solve_backwards(x, n, answer);
    answer[n] = 3;
    memcpy(answer + n + 1, x, (size_t)n * sizeof *x);
    return 2 * n + 1;
}

Test(copying, reverse)
{
    pairs_check("reverse", 100, 500, solve_mc);
    pairs_check("reverse(symbols=2)", 2, 200, solve_reverse_bits);
    pairs_check("reverse(then=reverse)", 101, 300, solve_mc2x);
    pairs_check("reverse(then=copy)", 101, 300, solve_mcrv);
    pairs_check_uniform("reverse(symbols=2)", 8, 256);
    for (int len = 1; len <= 5; len++) {
        pairs_check_chance("reverse(symbols=2)", len, len, copying_any, solve_reverse_bits);
        pairs_check_chance("reverse(symbols=3,then=copy)", len, len, weigh_below_three, solve_mcrv3);
    }
}

/* A reversed string is entered from above, a copy from below. */
Test(copying, reverse_positions)
{
    pairs_check_positions("reverse", 3, (double[]){0, 1, 2, 3, 4, 3, 2, 1}, 8, 4);
    pairs_check_positions("reverse(then=reverse)", 2, (double[]){0, 1, 2, 3, 2, 1, 3, 2, 1}, 9, 3);
    pairs_check_positions("reverse(then=copy)", 2, (double[]){0, 1, 2, 3, 2, 1, 0, 1, 2}, 9, 3);
}

/* ------------------------------------------------------------------------------------------------ odds_first */

/* The examples of the source: the code's order, s[1::2] then s[0::2], and the description's, 00110101 -> 01000111. */
static int solve_odds_code(const int *x, int n, int len, int *answer)
{
    copying_plain(x, n, len, 2);
    for (int i = 0; i < n; i++)
        answer[i % 2 ? i / 2 : n / 2 + i / 2] = x[i];
    return n;
}

static int solve_odds_docstring(const int *x, int n, int len, int *answer)
{
    copying_plain(x, n, len, 2);
    for (int i = 0; i < n; i++)
        answer[i % 2 ? (n + 1) / 2 + i / 2 : i / 2] = x[i];
    return n;
}

Test(copying, odds_first)
{
    pairs_check("odds_first", 2, 500, solve_odds_code);
    pairs_check("odds_first(order=docstring)", 2, 101, solve_odds_docstring);
    pairs_check_uniform("odds_first", 8, 256);
    for (int len = 1; len <= 6; len++)
        pairs_check_chance("odds_first", len, len, copying_any, solve_odds_code);
    int y[8];
    solve_odds_docstring((int[]){0, 0, 1, 1, 0, 1, 0, 1}, 8, 8, y);
    cr_expect_arr_eq(y, ((int[]){0, 1, 0, 0, 0, 1, 1, 1}), sizeof y);
}

Test(copying, odds_first_positions)
{
    pairs_check_positions("odds_first", 5, (double[]){0, 1, 2, 3, 4, 5, 0, 2, 4, 1, 3, 5}, 12, 5);
    pairs_check_positions("odds_first(order=docstring)", 4, (double[]){0, 1, 2, 3, 4, 0, 1, 3, 2, 4}, 10, 4);
}

/* ------------------------------------------------------------------------------------------------ missing_duplicate */

/* w w with one ?, which is symbol `symbols`; symbol `symbols`+1 pads. Both halves are compared place by place. */
static int solve_missing(const int *x, int n, int len, int *answer, int symbols)
{
    int half = len / 2, hidden = 0;
    cr_assert_eq(n, len);
    if (len == 1) {
        cr_assert_eq(x[0], 1);
        answer[0] = 1;
        return 1;
    }
    if (len % 2)
        cr_assert_eq(x[len - 1], symbols + 1, "a pad behind");
    for (int i = 0; i < half; i++) {
        int a = x[i], b = x[half + i];
        cr_assert(a <= symbols && b <= symbols);
        if (a == symbols || b == symbols) {
            cr_assert_neq(a, b, "one symbol is hidden");
            answer[0] = a == symbols ? b : a;
            hidden++;
        } else {
            cr_assert_eq(a, b, "the halves are equal");
        }
    }
    cr_assert_eq(hidden, 1);
    return 1;
}

static int solve_missing2(const int *x, int n, int len, int *answer)
{
    return solve_missing(x, n, len, answer, 2);
}

static int solve_missing7(const int *x, int n, int len, int *answer)
{
    return solve_missing(x, n, len, answer, 7);
}

/* 1 when it is such a prompt: the number of places where the halves differ is the one of the ?. */
static double weigh_missing2(const int *x, int n, int len)
{
    int half = len / 2, hidden = 0;
    (void)n;
    if (len == 1)
        return x[0] == 1;
    if (len % 2 && x[len - 1] != 3)
        return 0.0;
    for (int i = 0; i < half; i++) {
        int a = x[i], b = x[half + i];
        if (a > 2 || b > 2 || (a == 2 && b == 2) || (a != b && a != 2 && b != 2))
            return 0.0;
        hidden += a != b;
    }
    return hidden == 1;
}

Test(copying, missing_duplicate)
{
    pairs_check("missing_duplicate", 4, 500, solve_missing2);
    pairs_check("missing_duplicate(symbols=7)", 9, 61, solve_missing7);
    pairs_check_uniform("missing_duplicate", 8, 16 * 8); /* strings of four bits, and eight places */
    pairs_check_uniform("missing_duplicate", 9, 16 * 8);
    pairs_check_uniform("missing_duplicate", 1, 1);
    for (int len = 1; len <= 7; len++)
        pairs_check_chance("missing_duplicate", len, len, weigh_missing2, solve_missing2);
}
