/* Additions in all their formats: numbers are read back from the symbols and added in machine words where they fit, by
 * remainders where they do not; carries are worked out from the digits of the sum. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "task_numbers.h"
#include "pair_frame.h"

/* The format that is expected; one test is one process. */
typedef struct format {
    int base, operand_lsb, answer_lsb, padded, any_leading, split, longest, hints, hint_symbols, scratchpad;
} format;

static format sum_form;

/* ------------------------------------------------------------------------------------------------ reading */

/* `count` tokens from `first` on are a number, each digit with its id and, with hints, its index symbol before it.
 * *units is the index symbol of the units, -1 until one is met. */
static number read_number(const int *first, const double *position, int count, int lsb, int *units)
{
    int step = sum_form.hints ? 2 : 1, digits = count / step;
    cr_assert_eq(count % step, 0);
    for (int k = 0; k < digits; k++) {
        int significance = lsb ? k : digits - 1 - k;
        for (int i = 0; i < step; i++)
            cr_assert_eq(position[step * k + i], significance + 1);
        if (!sum_form.hints)
            continue;
        int hint = first[step * k] - sum_form.base - 1;
        cr_assert(hint >= 0 && hint < sum_form.hint_symbols);
        if (*units < 0)
            *units = hint - significance;
        cr_assert_eq(hint, *units + significance, "equal significance, equal symbol");
    }
    return number_read(first + step - 1, digits, step, sum_form.base, lsb);
}

static int find(const int *symbol, int count, int wanted)
{
    int at = 0;
    while (at < count && symbol[at] != wanted)
        at++;
    return at;
}

/* The padding goes; what is left begins with 0 only where it may. */
static void check_operand(number *n, int len)
{
    if (sum_form.padded) {
        cr_assert_eq(n->count, len);
        while (n->count > 1 && n->digit[n->count - 1] == 0)
            n->count--;
    }
    if (!sum_form.any_leading)
        number_check(n);
    int ones = 0;
    for (int i = 0; i < n->count; i++)
        ones += n->digit[i] != 0;
    if (sum_form.any_leading)
        cr_assert_gt(ones, 0, "zero is left out");
}

static void addition_check_sum(const number *a, const number *b, const number *sum)
{
    static const long primes[] = {9973, 1000003, 2147483647};
    for (int i = 0; i < 3; i++)
        cr_assert_eq((number_modulo(a, primes[i]) + number_modulo(b, primes[i])) % primes[i],
                     number_modulo(sum, primes[i]));
    if (number_is_small(a) && number_is_small(b))
        cr_assert(number_value(a) + number_value(b) == number_value(sum));
}

static int digit_of(const number *n, int i)
{
    return i < n->count ? n->digit[i] : 0;
}

/* Into column i: what the sum's digit has beyond those of a and b. */
static int carry_of(const number *a, const number *b, const number *sum, int i)
{
    return (digit_of(sum, i) + 2 * sum_form.base - digit_of(a, i) - digit_of(b, i)) % sum_form.base;
}

/* What is expected next is put down here, symbol by symbol with its id. */
typedef struct script {
    const pair_seen *p;
    int at;
} script;

static void expect(script *s, int symbol, int id)
{
    cr_assert_lt(s->at, s->p->answer_len);
    cr_assert_eq(s->p->answer[s->at], symbol, "%d at %d instead of %d", s->p->answer[s->at], s->at, symbol);
    cr_assert_eq(s->p->answer_position[s->at], id, "id %g at %d", s->p->answer_position[s->at], s->at);
    s->at++;
}

static void expect_digits(script *s, const number *n, int from, int to, int lsb)
{
    for (int k = from; k < to; k++) {
        int i = lsb ? k : to - 1 - (k - from);
        expect(s, digit_of(n, i), i + 1);
    }
}

/* a and b with the digits that they show, padding too. Returns the tokens of the scratchpad. */
static int check_scratchpad(const pair_seen *p, const number *a, const number *b, const number *sum)
{
    const int plus = sum_form.base, c = sum_form.base + 1, equals = sum_form.base + 2, comma = sum_form.base + 3;
    int longest = a->count > b->count ? a->count : b->count;
    script s = {p, 0};
    for (int i = 0; i <= longest; i++) {
        if (sum_form.scratchpad == 1 && i < longest) {
            expect(&s, digit_of(a, i), i + 1);
            expect(&s, digit_of(b, i), i + 1);
        } else if (sum_form.scratchpad == 2) {
            expect_digits(&s, a, i < a->count ? i : a->count, a->count, sum_form.operand_lsb);
            expect(&s, plus, 0);
            expect_digits(&s, b, i < b->count ? i : b->count, b->count, sum_form.operand_lsb);
            expect(&s, comma, 0);
            expect_digits(&s, sum, 0, i, sum_form.answer_lsb);
        }
        expect(&s, c, i + 1);
        expect(&s, carry_of(a, b, sum, i), i + 1);
        if (sum_form.scratchpad == 1 && i < longest)
            expect(&s, digit_of(sum, i), i + 1);
    }
    expect(&s, equals, 0);
    return s.at;
}

static void check_addition(const pair_seen *p)
{
    int plus = find(p->prompt, p->prompt_len, sum_form.base), units = -1;
    cr_assert_eq(p->prompt_position[plus], 0);
    cr_assert_eq(p->separator_position, 0);
    number a = read_number(p->prompt, p->prompt_position, plus, sum_form.operand_lsb, &units);
    number b = read_number(p->prompt + plus + 1, p->prompt_position + plus + 1, p->prompt_len - plus - 1,
                           sum_form.operand_lsb, &units);
    int begin = 0;
    if (sum_form.scratchpad)
        begin = find(p->answer, p->answer_len, sum_form.base + 2) + 1;
    number sum =
        read_number(p->answer + begin, p->answer_position + begin, p->answer_len - begin, sum_form.answer_lsb, &units);
    if (sum_form.scratchpad)
        cr_assert_eq(check_scratchpad(p, &a, &b, &sum), begin);
    if (sum_form.split)
        cr_assert_eq(p->prompt_len, sum_form.hints ? 2 * p->len - 1 : p->len);
    if (sum_form.longest)
        cr_assert(a.count == p->len || b.count == p->len);
    check_operand(&a, p->len);
    check_operand(&b, p->len);
    if (sum_form.padded)
        cr_assert_eq(sum.count, p->len + 1);
    else
        number_check(&sum);
    addition_check_sum(&a, &b, &sum);
    if (sum_form.hints == 1)
        cr_assert_eq(units, 0);
}

/* ------------------------------------------------------------------------------------------------ formats */

Test(addition, numbers)
{
    sum_form = (format){.base = 10, .longest = 1};
    pairs_visit("addition", 1, 45, 1, 8, check_addition);
    pairs_visit("addition", 499, 500, 1, 4, check_addition);
    pairs_visit("addition(digits=equal)", 1, 30, 1, 8, check_addition);
    sum_form = (format){.base = 10};
    pairs_visit("addition(digits=uniform)", 1, 45, 1, 8, check_addition);
    sum_form = (format){.base = 3, .operand_lsb = 1, .answer_lsb = 1, .longest = 1};
    pairs_visit("addition(base=3,order=lsb)", 1, 45, 1, 8, check_addition);
    sum_form = (format){.base = 10, .answer_lsb = 1, .longest = 1};
    pairs_visit("addition(order=lsb_answer)", 1, 45, 1, 8, check_addition);
}

/* Huang et al., and Deletang et al. in either regime. */
Test(addition, divided_prompts)
{
    sum_form = (format){.base = 2, .split = 1};
    pairs_visit("addition(base=2,digits=split)", 3, 60, 1, 8, check_addition);
    pairs_visit("addition(base=2,digits=split)", 499, 500, 1, 8, check_addition);
    sum_form = (format){.base = 2, .split = 1, .any_leading = 1, .operand_lsb = 1, .answer_lsb = 1};
    pairs_visit("addition(base=2,digits=split,leading=any,order=lsb)", 3, 60, 1, 8, check_addition);
    sum_form = (format){.base = 10, .split = 1, .scratchpad = 2};
    pairs_visit("addition(digits=split,scratchpad=full)", 3, 25, 1, 8, check_addition);
}

Test(addition, padding)
{
    sum_form = (format){.base = 10, .padded = 1, .longest = 1};
    pairs_visit("addition(padding=zeros)", 1, 45, 1, 8, check_addition);
    sum_form = (format){.base = 10, .padded = 1, .answer_lsb = 1};
    pairs_visit("addition(padding=zeros,order=lsb_answer,digits=uniform)", 1, 30, 1, 8, check_addition);
    sum_form = (format){.base = 2, .padded = 1, .operand_lsb = 1, .answer_lsb = 1, .any_leading = 1};
    pairs_visit("addition(base=2,padding=zeros,order=lsb,leading=any)", 1, 45, 1, 8, check_addition);
}

Test(addition, hints)
{
    sum_form = (format){.base = 10, .longest = 1, .hints = 1, .hint_symbols = 101};
    pairs_visit("addition(hints=first)", 1, 45, 1, 8, check_addition);
    sum_form = (format){.base = 10, .operand_lsb = 1, .answer_lsb = 1, .longest = 1, .hints = 2, .hint_symbols = 31};
    pairs_visit("addition(hints=random,hint_symbols=31,order=lsb)", 1, 30, 1, 8, check_addition);
    sum_form = (format){.base = 10, .answer_lsb = 1, .padded = 1, .hints = 2, .hint_symbols = 600};
    pairs_visit("addition(hints=random,hint_symbols=600,padding=zeros,order=lsb_answer)", 500, 500, 1, 4,
               check_addition);
    sum_form = (format){.base = 2, .split = 1, .hints = 2, .hint_symbols = 39};
    pairs_visit("addition(base=2,digits=split,hints=random,hint_symbols=39)", 3, 40, 1, 8, check_addition);
}

Test(addition, scratchpads)
{
    for (int order = 0; order < 3; order++) {
        static const char *const names[] = {"msb", "lsb", "lsb_answer"};
        char text[128];
        sum_form = (format){.base = 10, .operand_lsb = order == 1, .answer_lsb = order > 0, .scratchpad = 1};
        snprintf(text, sizeof text, "addition(scratchpad=columns,digits=uniform,order=%s)", names[order]);
        pairs_visit(text, 1, 30, 1, 8, check_addition);
        sum_form.scratchpad = 2;
        snprintf(text, sizeof text, "addition(scratchpad=full,digits=uniform,order=%s)", names[order]);
        pairs_visit(text, 1, 30, 1, 8, check_addition);
        pairs_visit(text, 200, 200, 1, 2, check_addition);
        sum_form.padded = 1;
        snprintf(text, sizeof text, "addition(scratchpad=full,padding=zeros,order=%s)", names[order]);
        pairs_visit(text, 1, 20, 1, 8, check_addition);
    }
}

/* ------------------------------------------------------------------------------------------------ by hand */

/* Looks for 29 + 57 = 86, the example of Nye et al., among many draws, and compares the whole answer. */
static const int *hand_answer;
static int hand_count, hand_found;

static void check_by_hand(const pair_seen *p)
{
    static const int prompt[] = {2, 9, 10, 5, 7};
    if (p->prompt_len != 5 || memcmp(p->prompt, prompt, sizeof prompt) != 0)
        return;
    hand_found++;
    cr_assert_eq(p->answer_len, hand_count);
    cr_assert_arr_eq(p->answer, hand_answer, (size_t)hand_count * sizeof(int));
}

Test(addition, scratchpads_by_hand)
{
    enum { P = 10, C, E, K };
    static const int columns[] = {9, 7, C, 0, 6, 2, 5, C, 1, 8, C, 0, E, 8, 6};
    static const int full[] = {2, 9, P, 5, 7, K, C, 0, 2, P, 5, K, 6, C, 1, P, K, 8, 6, C, 0, E, 8, 6};
    hand_answer = columns;
    hand_count = sizeof columns / sizeof *columns;
    pairs_sample("addition(scratchpad=columns,digits=equal)", 2, 40000, check_by_hand);
    cr_assert_gt(hand_found, 0);
    hand_answer = full;
    hand_count = sizeof full / sizeof *full;
    hand_found = 0;
    pairs_sample("addition(scratchpad=full,digits=equal)", 2, 40000, check_by_hand);
    cr_assert_gt(hand_found, 0);
}

/* ------------------------------------------------------------------------------------------------ distributions */

static long addition_counted[4096];

static void count_lengths(const pair_seen *p)
{
    int plus = find(p->prompt, p->prompt_len, sum_form.base);
    addition_counted[plus * 32 + p->prompt_len - plus - 1]++;
}

static void count_numbers(const pair_seen *p)
{
    int plus = find(p->prompt, p->prompt_len, sum_form.base), value = 0;
    for (int i = 0; i < p->prompt_len; i++)
        value = i == plus ? value : value * sum_form.base + p->prompt[i];
    addition_counted[value]++;
}

static void count_first_hint(const pair_seen *p)
{
    addition_counted[p->answer[p->answer_len - 2] - sum_form.base - 1]++; /* of the units: order=msb */
}

/* The cells that may be hit, behind each other. */
static void expect_cells(const char *what, int cells)
{
    int used = 0;
    for (int i = 0; i < 4096; i++)
        if (addition_counted[i] > 0)
            addition_counted[used++] = addition_counted[i];
    cr_assert_eq(used, cells, "%s: %d cells instead of %d", what, used, cells);
    chi_expect_uniform(what, addition_counted, cells);
    memset(addition_counted, 0, sizeof addition_counted);
}

Test(addition, is_drawn_as_documented)
{
    sum_form.base = 10;
    pairs_sample("addition", 7, 8000, count_lengths);
    expect_cells("longest", 13);
    pairs_sample("addition(digits=uniform)", 5, 8000, count_lengths);
    expect_cells("uniform", 25);
    pairs_sample("addition(digits=split)", 12, 8000, count_lengths);
    expect_cells("split", 10);
    pairs_sample("addition(digits=equal)", 1, 20000, count_numbers);
    expect_cells("single digits", 100);
    sum_form.base = 2;
    pairs_sample("addition(base=2,digits=equal)", 4, 20000, count_numbers);
    expect_cells("numbers without leading zeros", 64);
    pairs_sample("addition(base=2,digits=equal,leading=any)", 3, 20000, count_numbers);
    expect_cells("numbers but 0", 49);
    sum_form.base = 10;
    pairs_sample("addition(hints=random,hint_symbols=12)", 5, 8000, count_first_hint);
    expect_cells("first index symbols", 7);
}

Test(addition, refusals)
{
    pairs_refused("addition(digits=split)", 2, 9, "lengths begin at 3");
    pairs_refused("addition(digits=split,padding=zeros)", 3, 9, "padding=zeros");
    pairs_refused("addition(hints=first,scratchpad=full)", 3, 9, "do not go together");
    pairs_refused("addition(hints=random)", 3, 101, "hint_symbols=101");
    pairs_refused("addition(scratchpad=full)", 3, 4097, "4096");
    error e = ERROR_INIT;
    cr_expect_eq(task_check("addition(hints=random)", TASK_DECODER, 3, 100, &e), 0, "%s", e.message);
}

/* The estimate: with one binary digit each, sums are 0, 1, 10 with 1/4, 1/2, 1/4: "1" and EOS is the best guess, which
 * is right with 1/2; of 2.25 scored symbols the guess "1 EOS" finds 3/4 and 3/4, and a third one the EOS. */
Test(addition, chance)
{
    error e = ERROR_INIT;
    task *t = task_open("addition(base=2)", TASK_ENCODER, 1, 1, &e);
    cr_expect_float_eq(task_chance_exact(t, 1), 0.5, 0.03);
    cr_expect_float_eq(task_chance_token(t, 1), (0.75 + 0.75 + 0.25) / 2.25, 0.02);
    task_free(t);
}
