/* Ordering where symbols recur: each answer is worked out again from the prompt by a slow solver. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "pair_chance.h"
#include "task_room.h"

static double ordering_any(const int *x, int n, int len)
{
    (void)x, (void)n, (void)len;
    return 1.0;
}

/* Parses digits between commas, then takes the smallest that is left, again and again. */
static int solve_numbers(const int *x, int n, int len, int *answer)
{
    static long number[4096];
    int count = 0, digits = 0, written = 0;
    for (int i = 0; i <= n; i++) {
        if (i == n || x[i] == 10) {
            cr_assert_gt(digits, 0, "an empty number");
            count++;
            digits = 0;
            continue;
        }
        cr_assert(x[i] >= 0 && x[i] <= 9);
        cr_assert(digits != 1 || number[count] > 0, "a leading zero");
        number[count] = (digits++ ? number[count] * 10 : 0) + x[i];
    }
    cr_assert_eq(count, len);
    for (int k = 0; k < len; k++) {
        int best = -1;
        char text[16];
        for (int i = 0; i < len; i++)
            if (number[i] >= 0 && (best < 0 || number[i] < number[best]))
                best = i;
        snprintf(text, sizeof text, "%ld", number[best]);
        if (k > 0)
            answer[written++] = 10;
        for (const char *c = text; *c; c++)
            answer[written++] = *c - '0';
        number[best] = -1;
    }
    return written;
}

Test(ordering, sort_numbers)
{
    pairs_check("sort_numbers", 11, 500, solve_numbers);
    pairs_check("sort_numbers(least=0,most=12)", 11, 40, solve_numbers);
    pairs_check("sort_numbers(least=0,most=9)", 11, 40, solve_numbers);
    pairs_check("sort_numbers(least=0,most=0)", 11, 5, solve_numbers);
    pairs_check("sort_numbers(least=123456789,most=999999999)", 11, 12, solve_numbers);
}

/* Numbers are uniform and independent: all pairs of 5 .. 14, and all of 95 .. 1094. */
Test(ordering, sort_numbers_are_uniform)
{
    pairs_check_uniform("sort_numbers(least=5,most=14)", 2, 100);
    pairs_check_uniform("sort_numbers(least=95,most=1094)", 1, 1000);
}

Test(ordering, sort_numbers_refuses)
{
    error e = ERROR_INIT;
    cr_expect_eq(task_check("sort_numbers(least=7,most=6)", TASK_DECODER, 1, 5, &e), -1);
    cr_expect_not_null(strstr(e.message, "least=7"));
    cr_expect_eq(e.kind, ERROR_USAGE);
}

static void ordering_plain(const int *x, int n, int len, int symbols)
{
    cr_assert_eq(n, len, "%d symbols at length %d", n, len);
    for (int i = 0; i < n; i++)
        cr_assert(0 <= x[i] && x[i] < symbols, "symbol %d", x[i]);
}

/* Counts how many are smaller or stand before and are equal: that is a symbol's place. */
static int solve_bucket(const int *x, int n, int *answer)
{
    for (int i = 0; i < n; i++) {
        int place = 0;
        for (int j = 0; j < n; j++)
            place += x[j] < x[i] || (x[j] == x[i] && j < i);
        answer[place] = x[i];
    }
    return n;
}

static int solve_bucket5(const int *x, int n, int len, int *answer)
{
    ordering_plain(x, n, len, 5);
    return solve_bucket(x, n, answer);
}

static int solve_bucket3(const int *x, int n, int len, int *answer)
{
    ordering_plain(x, n, len, 3);
    return solve_bucket(x, n, answer);
}

static int solve_bucket50(const int *x, int n, int len, int *answer)
{
    ordering_plain(x, n, len, 50);
    return solve_bucket(x, n, answer);
}

Test(ordering, bucket_sort)
{
    pairs_check("bucket_sort", 5, 500, solve_bucket5);
    pairs_check("bucket_sort(symbols=50)", 50, 120, solve_bucket50);
    pairs_check_uniform("bucket_sort(symbols=3)", 5, 243);
    for (int len = 1; len <= 6; len++) {
        pairs_check_chance("bucket_sort", len, len, ordering_any, solve_bucket5);
        pairs_check_chance("bucket_sort(symbols=3)", len, len, ordering_any, solve_bucket3);
    }
    pairs_check_estimate("bucket_sort", 40, 0.04);
    pairs_check_estimate("bucket_sort(symbols=50)", 12, 0.04);
}

/* What a fixed guess is worth does not break down where numbers become small. */
Test(ordering, bucket_sort_chance_at_great_lengths)
{
    task_room r = room_open("bucket_sort", 1, 20000);
    for (int len = 100; len <= 20000; len *= 3) {
        double token = task_chance_token(r.task, len), exact = task_chance_exact(r.task, len);
        cr_expect(token > 0.7 && token <= 1.0, "length %d: %g", len, token);
        cr_expect(exact >= 0.0 && exact < 0.01, "length %d: %g", len, exact);
    }
    room_close(&r);
}
