/* Expressions, equations, sums and polynomials: each answer is worked out again from the symbols of the prompt. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "pair_frame.h"

enum { PLUS, MINUS, TIMES, OPEN, CLOSE, EQUALS, X = TIMES }; /* behind the digits */

static int modulus; /* one test is one process; visitors take no more than an instance */

/* ------------------------------------------------------------------------------------------------ expressions */

/* Shunting-yard: operators wait on a stack until one of lower rank, a closing bracket or the end comes. A - where a
 * value is due is a sign: it stands for 0 - and binds most. */
typedef struct yard {
    long value[512];
    int operation[512], values, operators;
} yard;

enum { SIGN = 100, BOTTOM };

static int yard_rank(int operation)
{
    return operation == SIGN ? 3 : operation == TIMES ? 2 : operation == PLUS || operation == MINUS ? 1 : 0;
}

static void yard_apply(yard *y)
{
    int operation = y->operation[--y->operators];
    if (operation == SIGN) {
        cr_assert_geq(y->values, 1);
        y->value[y->values - 1] = (modulus - y->value[y->values - 1]) % modulus;
        return;
    }
    cr_assert_geq(y->values, 2);
    long b = y->value[--y->values], a = y->value[y->values - 1];
    y->value[y->values - 1] = ((operation == PLUS ? a + b : operation == MINUS ? a - b + modulus : a * b)) % modulus;
}

static int yard_value(const int *symbol, int count)
{
    yard y = {.values = 0, .operators = 0};
    int due = 1; /* a value */
    for (int i = 0; i < count; i++) {
        int operation = symbol[i] - modulus;
        if (operation < 0) {
            cr_assert(due);
            y.value[y.values++] = symbol[i];
            due = 0;
        } else if (operation == OPEN) {
            cr_assert(due);
            y.operation[y.operators++] = BOTTOM;
        } else if (operation == CLOSE) {
            cr_assert(!due);
            while (y.operators > 0 && y.operation[y.operators - 1] != BOTTOM)
                yard_apply(&y);
            cr_assert_gt(y.operators, 0, "nothing to close");
            y.operators--;
        } else {
            if (due) {
                cr_assert_eq(operation, MINUS);
                operation = SIGN;
            }
            while (!due && y.operators > 0 && yard_rank(y.operation[y.operators - 1]) >= yard_rank(operation))
                yard_apply(&y);
            y.operation[y.operators++] = operation;
            due = 1;
        }
    }
    while (y.operators > 0) {
        cr_assert_neq(y.operation[y.operators - 1], BOTTOM, "a bracket stays open");
        yard_apply(&y);
    }
    cr_assert_eq(y.values, 1);
    return (int)y.value[0];
}

/* The solver against values worked out by hand. */
static void expect_value(const char *text, int value)
{
    static const char names[] = "+-*()";
    int symbol[64], count = (int)strlen(text);
    for (int i = 0; i < count; i++)
        symbol[i] = strchr(names, text[i]) ? modulus + (int)(strchr(names, text[i]) - names) : text[i] - '0';
    cr_expect_eq(yard_value(symbol, count), value, "%s", text);
}

/* The first three are examples of the source, and so is their order of evaluation. */
Test(arithmetic, the_solver_itself)
{
    modulus = 5;
    expect_value("1+2*3", 2);
    expect_value("1-1-1", 4);
    expect_value("0*1+4*3-2", 0);
    expect_value("(-4*(1))", 1);
    expect_value("((1+2)*(-3))", 1);
    expect_value("((-3)-(4--2))", 1);
}

static void check_plain(const pair_seen *p)
{
    cr_assert_eq(p->prompt_len, p->len - (p->len % 2 == 0), "even lengths are cut by one");
    for (int i = 0; i < p->prompt_len; i++)
        cr_assert_eq(p->prompt[i] < modulus, i % 2 == 0, "digits and operators in turn");
    cr_assert_eq(p->answer_len, 1);
    cr_assert_eq(p->answer[0], yard_value(p->prompt, p->prompt_len));
}

Test(arithmetic, plain)
{
    modulus = 5;
    pairs_visit("modular_arithmetic", 2, 40, 1, 8, check_plain);
    pairs_visit("modular_arithmetic", 497, 500, 1, 4, check_plain);
    pairs_visit("modular_arithmetic", 1, 1, 1, 8, check_plain);
    pairs_visit("modular_arithmetic(multiply=false)", 1, 40, 1, 8, check_plain);
    modulus = 7;
    pairs_visit("modular_arithmetic(modulus=7)", 1, 41, 2, 8, check_plain);
    modulus = 1000;
    pairs_visit("modular_arithmetic(modulus=1000)", 1, 41, 2, 8, check_plain);
}

/* n < 5 symbols: d, -d, (d), (-d); else (a o b), both of this form. */
static void check_shape(const int *symbol, int count)
{
    int first = count > 2, last = count > 2 ? count - 2 : count - 1;
    if (count > 2)
        cr_assert(symbol[0] == modulus + OPEN && symbol[count - 1] == modulus + CLOSE);
    if (count < 5) {
        cr_assert_lt(symbol[last], modulus);
        if (count % 2 == 0)
            cr_assert_eq(symbol[first], modulus + MINUS);
        return;
    }
    int depth = 0, at = 1;
    for (int due = 1; at < count - 1; at++) { /* the operator outside of all brackets that follows a value */
        if (depth == 0 && !due && symbol[at] >= modulus && symbol[at] <= modulus + TIMES)
            break;
        depth += (symbol[at] == modulus + OPEN) - (symbol[at] == modulus + CLOSE);
        due = symbol[at] >= modulus && symbol[at] != modulus + CLOSE;
    }
    check_shape(symbol + 1, at - 1);
    check_shape(symbol + at + 1, count - at - 2);
}

static void check_brackets(const pair_seen *p)
{
    cr_assert_eq(p->prompt_len, p->len);
    check_shape(p->prompt, p->len);
    cr_assert_eq(p->answer_len, 1);
    cr_assert_eq(p->answer[0], yard_value(p->prompt, p->prompt_len));
}

Test(arithmetic, brackets)
{
    modulus = 5;
    pairs_visit("modular_arithmetic(brackets=true)", 1, 60, 1, 8, check_brackets);
    pairs_visit("modular_arithmetic(brackets=true)", 499, 500, 1, 8, check_brackets);
    pairs_visit("modular_arithmetic(brackets=true,multiply=false)", 1, 40, 1, 8, check_brackets);
    modulus = 2;
    pairs_visit("modular_arithmetic(brackets=true,modulus=2)", 1, 40, 1, 8, check_brackets);
    pairs_refused("modular_arithmetic(brackets=true)", 1, 16385, "16384");
}

/* Counted by the visitor: how often each symbol stands, and the length of the left part. */
static long arithmetic_counted[64];

static void count_symbols(const pair_seen *p)
{
    for (int i = 0; i < p->prompt_len; i++)
        arithmetic_counted[p->prompt[i]]++;
}

static void count_left(const pair_seen *p)
{
    int depth = 0, due = 1;
    for (int at = 1; at < p->len - 1; at++) {
        if (depth == 0 && !due && p->prompt[at] >= modulus && p->prompt[at] <= modulus + TIMES) {
            arithmetic_counted[at - 1]++;
            return;
        }
        depth += (p->prompt[at] == modulus + OPEN) - (p->prompt[at] == modulus + CLOSE);
        due = p->prompt[at] >= modulus && p->prompt[at] != modulus + CLOSE;
    }
    cr_assert_fail("no operator");
}

Test(arithmetic, expressions_are_drawn_as_in_the_source)
{
    modulus = 5;
    pairs_sample("modular_arithmetic", 21, 4000, count_symbols);
    chi_expect_uniform("digits", arithmetic_counted, 5);
    chi_expect_uniform("operators", arithmetic_counted + 5, 3);
    memset(arithmetic_counted, 0, sizeof arithmetic_counted);
    pairs_sample("modular_arithmetic(brackets=true)", 17, 8000, count_left);
    chi_expect_uniform("symbols of the left part", arithmetic_counted + 1, 13);
    cr_expect_eq(arithmetic_counted[0] + arithmetic_counted[14], 0);
}

/* ------------------------------------------------------------------------------------------------ equations */

/* Each digit is tried in place of x: one alone makes it true. */
static void check_equation(const pair_seen *p)
{
    int symbol[512], at = -1, symbols = p->len - 2, solutions = 0;
    cr_assert_eq(p->prompt_len, p->len);
    cr_assert_eq(p->prompt[symbols], modulus + EQUALS);
    cr_assert_lt(p->prompt[symbols + 1], modulus);
    for (int i = 0; i < symbols; i++) {
        symbol[i] = p->prompt[i];
        if (symbol[i] == modulus + X) {
            cr_assert_eq(at, -1, "one unknown");
            at = i;
        }
    }
    cr_assert_neq(at, -1);
    for (int digit = 0; digit < modulus; digit++) {
        symbol[at] = digit;
        if (yard_value(symbol, symbols) == p->prompt[symbols + 1]) {
            cr_assert_eq(p->answer[0], digit);
            solutions++;
        }
    }
    cr_assert_eq(solutions, 1);
    cr_assert_eq(p->answer_len, 1);
    check_shape(symbol, symbols);
}

Test(arithmetic, equations)
{
    modulus = 5;
    pairs_visit("solve_equation", 3, 60, 1, 8, check_equation);
    pairs_visit("solve_equation", 499, 500, 1, 8, check_equation);
    modulus = 11;
    pairs_visit("solve_equation(modulus=11)", 3, 40, 1, 4, check_equation);
    pairs_refused("solve_equation", 2, 40, "at least 3 symbols");
    pairs_refused("solve_equation", 3, 16385, "16384");
}

static void count_answer(const pair_seen *p)
{
    arithmetic_counted[p->answer[0]]++;
}

/* In (d+d)=v the bracket, the digit and, going round, the closing bracket lead to the first digit, the operator and the
 * digit to the second. */
static void count_unknown(const pair_seen *p)
{
    for (int i = 0; i < p->len; i++)
        arithmetic_counted[i] += p->prompt[i] == modulus + X;
}

Test(arithmetic, unknowns_are_drawn_as_in_the_source)
{
    static const double share[] = {3.0 / 5, 2.0 / 5};
    modulus = 5;
    pairs_sample("solve_equation", 20, 8000, count_answer);
    chi_expect_uniform("solutions", arithmetic_counted, 5);
    memset(arithmetic_counted, 0, sizeof arithmetic_counted);
    pairs_sample("solve_equation", 7, 8000, count_unknown);
    const long place[] = {arithmetic_counted[1], arithmetic_counted[3]};
    chi_expect_shares("places", place, share, 2);
    cr_expect_eq(place[0] + place[1], 8000);
    error e = ERROR_INIT;
    task *t = task_open("solve_equation(modulus=8)", TASK_ENCODER, 3, 20, &e);
    cr_expect_float_eq(task_chance_token(t, 20), 1.0 / 8, 1e-15);
    cr_expect_float_eq(task_chance_exact(t, 3), 1.0 / 8, 1e-15);
    task_free(t);
}

/* ------------------------------------------------------------------------------------------------ sum */

static void check_sum(const pair_seen *p)
{
    int clock = 0; /* arithmetic_counted up one by one */
    cr_assert_eq(p->prompt_len, p->len);
    for (int i = 0; i < p->len; i++) {
        cr_assert_geq(p->prompt[i], 1);
        for (int k = 0; k < p->prompt[i]; k++)
            clock = clock + 1 == modulus ? 0 : clock + 1;
    }
    cr_assert_eq(p->answer_len, 1);
    cr_assert_eq(p->answer[0], clock);
}

Test(arithmetic, sum)
{
    modulus = 10;
    pairs_visit("sum", 1, 50, 1, 8, check_sum);
    pairs_visit("sum", 500, 500, 1, 8, check_sum);
    modulus = 3;
    pairs_visit("sum(modulus=3)", 1, 40, 1, 8, check_sum);
    pairs_sample("sum", 10, 4000, count_symbols);
    cr_expect_eq(arithmetic_counted[0], 0);
    chi_expect_uniform("digits", arithmetic_counted + 1, 9);
}

/* The best guess over all strings of digits, by counting them. */
static void expect_sum_chance(int m, int len)
{
    long count[16] = {0}, strings = lround(pow(m - 1, len)), best = 0;
    char text[32];
    error e = ERROR_INIT;
    for (long code = 0; code < strings; code++) {
        int sum = 0;
        long rest = code;
        for (int i = 0; i < len; i++, rest /= m - 1)
            sum += 1 + (int)(rest % (m - 1));
        count[sum % m]++;
    }
    for (int v = 0; v < m; v++)
        best = count[v] > best ? count[v] : best;
    snprintf(text, sizeof text, "sum(modulus=%d)", m);
    task *t = task_open(text, TASK_ENCODER, len, len, &e);
    cr_expect_float_eq(task_chance_token(t, len), (double)best / (double)strings, 1e-12, "%s, length %d", text, len);
    cr_expect_float_eq(task_chance_exact(t, len), (double)best / (double)strings, 1e-12);
    task_free(t);
}

Test(arithmetic, chance_of_sums_by_counting)
{
    for (int len = 1; len <= 5; len++) {
        expect_sum_chance(10, len);
        expect_sum_chance(3, len);
        expect_sum_chance(7, len);
    }
}

/* ------------------------------------------------------------------------------------------------ polynomial */

static int number_of(int token)
{
    return token <= 9 ? token : 9 - token;
}

/* Coefficients gathered by degree, then Horner's rule. */
static void check_polynomial(const pair_seen *p)
{
    long gathered[4] = {0}, value = 0;
    int argument = number_of(p->prompt[0]);
    cr_assert_eq(p->prompt_len, 4 * p->len);
    cr_assert(abs(argument) <= 2);
    for (int i = 0; i < p->len; i++) {
        const int *term = p->prompt + 1 + 4 * i;
        cr_assert(abs(number_of(term[0])) <= 3 && term[1] == 13 && term[2] >= 0 && term[2] <= 3);
        gathered[term[2]] += number_of(term[0]);
        if (i + 1 < p->len)
            cr_assert_eq(term[3], 14);
    }
    for (int degree = 3; degree >= 0; degree--)
        value = value * argument + gathered[degree];
    cr_assert_eq(p->answer_len, 1);
    cr_assert_eq(p->answer[0], (value % 10 + 10) % 10);
}

static void count_polynomial(const pair_seen *p)
{
    arithmetic_counted[number_of(p->prompt[0]) + 2]++;
    for (int i = 0; i < p->len; i++) {
        arithmetic_counted[10 + number_of(p->prompt[1 + 4 * i]) + 3]++;
        arithmetic_counted[20 + p->prompt[3 + 4 * i]]++;
    }
}

Test(arithmetic, polynomial)
{
    pairs_visit("polynomial", 1, 40, 1, 8, check_polynomial);
    pairs_visit("polynomial", 500, 500, 1, 8, check_polynomial);
    pairs_sample("polynomial", 5, 4000, count_polynomial);
    chi_expect_uniform("arguments", arithmetic_counted, 5);
    chi_expect_uniform("coefficients", arithmetic_counted + 10, 7);
    chi_expect_uniform("degrees", arithmetic_counted + 20, 4);
}
