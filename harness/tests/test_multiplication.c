/* Products and roots: values in machine words where they fit, remainders and inequalities where they do not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "task_numbers.h"
#include "pair_frame.h"

/* The format that is expected; one test is one process. */
static struct {
    int base, operand_lsb, answer_lsb, any_leading, split, padded;
} product_form;

static void check_ids(const double *position, int count, int lsb)
{
    for (int k = 0; k < count; k++)
        cr_assert_eq(position[k], lsb ? k + 1 : count - k);
}

static void check_product(const number *a, const number *b, const number *product)
{
    static const long primes[] = {9973, 1000003, 2147483647};
    for (int i = 0; i < 3; i++)
        cr_assert_eq(number_modulo(a, primes[i]) * number_modulo(b, primes[i]) % primes[i],
                     number_modulo(product, primes[i]));
    if (number_is_small(a) && number_is_small(b))
        cr_assert(number_value(a) * number_value(b) == number_value(product));
}

static void check_multiplication(const pair_seen *p)
{
    int times = 0;
    while (times < p->prompt_len && p->prompt[times] != product_form.base)
        times++;
    number a = number_read(p->prompt, times, 1, product_form.base, product_form.operand_lsb);
    number b =
        number_read(p->prompt + times + 1, p->prompt_len - times - 1, 1, product_form.base, product_form.operand_lsb);
    number product = number_read(p->answer, p->answer_len, 1, product_form.base, product_form.answer_lsb);
    check_product(&a, &b, &product);
    if (product_form.padded)
        cr_assert_eq(product.count, a.count + b.count);
    else
        number_check(&product);
    if (!product_form.any_leading) {
        number_check(&a);
        number_check(&b);
    }
    if (product_form.split)
        cr_assert_eq(p->prompt_len, p->len);
    else
        cr_assert(a.count == p->len || b.count == p->len);
    check_ids(p->prompt_position, a.count, product_form.operand_lsb);
    check_ids(p->prompt_position + times + 1, b.count, product_form.operand_lsb);
    check_ids(p->answer_position, product.count, product_form.answer_lsb);
    cr_assert_eq(p->prompt_position[times], 0);
    cr_assert_eq(p->separator_position, 0);
}

Test(multiplication, numbers)
{
    product_form.base = 10;
    pairs_visit("multiplication", 1, 40, 1, 8, check_multiplication);
    pairs_visit("multiplication", 500, 500, 1, 2, check_multiplication);
    product_form.answer_lsb = 1;
    pairs_visit("multiplication(order=lsb_answer)", 1, 40, 1, 8, check_multiplication);
    product_form.operand_lsb = 1;
    pairs_visit("multiplication(order=lsb)", 1, 40, 1, 8, check_multiplication);
    product_form.base = 7;
    pairs_visit("multiplication(base=7,order=lsb,digits=equal)", 1, 40, 1, 8, check_multiplication);
}

Test(multiplication, padding)
{
    product_form.base = 10;
    product_form.padded = 1;
    pairs_visit("multiplication(padding=zeros)", 1, 40, 1, 8, check_multiplication);
    product_form.answer_lsb = 1;
    pairs_visit("multiplication(padding=zeros,order=lsb_answer)", 1, 40, 1, 8, check_multiplication);
}

/* Deletang et al., and the same with the most significant bit first. */
Test(multiplication, divided_prompts)
{
    product_form.base = 2;
    product_form.split = product_form.any_leading = 1;
    pairs_visit("multiplication(base=2,digits=split,leading=any)", 3, 60, 1, 8, check_multiplication);
    product_form.operand_lsb = product_form.answer_lsb = 1;
    pairs_visit("multiplication(base=2,digits=split,leading=any,order=lsb)", 3, 60, 1, 8, check_multiplication);
    pairs_visit("multiplication(base=2,digits=split,leading=any,order=lsb)", 500, 500, 1, 8, check_multiplication);
    pairs_refused("multiplication(digits=split)", 2, 9, "lengths begin at 3");
}

/* ------------------------------------------------------------------------------------------------ roots */

/* out = n^2 + slope n + offset, slope and offset small and not negative, in bits; as a sum of shifted copies of n. */
static void square(const number *n, int slope, int offset, number *out)
{
    long place[NUMBER_DIGITS] = {0}, carry = 0;
    for (int i = 0; i < n->count; i++)
        for (int j = 0; n->digit[i] && j < n->count; j++)
            place[i + j] += n->digit[j];
    for (int i = 0; i < n->count; i++)
        place[i] += slope * n->digit[i];
    place[0] += offset;
    *out = (number){.base = 2, .count = 2 * n->count + 2};
    for (int i = 0; i < out->count; i++) {
        carry += place[i];
        out->digit[i] = (int)(carry & 1);
        carry >>= 1;
    }
    cr_assert_eq(carry, 0);
}

static int compare(const number *a, const number *b)
{
    for (int i = (a->count > b->count ? a->count : b->count) - 1; i >= 0; i--) {
        int x = i < a->count ? a->digit[i] : 0, y = i < b->count ? b->digit[i] : 0;
        if (x != y)
            return x - y;
    }
    return 0;
}

/* root^2 <= x < (root+1)^2. */
static void check_root(const pair_seen *p)
{
    number x = number_read(p->prompt, p->len, 1, 2, 0), root = number_read(p->answer, p->answer_len, 1, 2, 0), bound;
    cr_assert_eq(p->prompt_len, p->len);
    cr_assert_eq(p->answer_len, (p->len + 1) / 2);
    square(&root, 0, 0, &bound);
    cr_assert_leq(compare(&bound, &x), 0);
    square(&root, 2, 1, &bound);
    cr_assert_gt(compare(&bound, &x), 0);
    if (p->len < 53)
        cr_assert_eq((long)number_value(&root), (long)floor(sqrt((double)number_value(&x))));
}

static long multiplication_counted[64];

static void count_number(const pair_seen *p)
{
    int value = 0;
    for (int i = 0; i < p->len; i++)
        value = 2 * value + p->prompt[i];
    multiplication_counted[value]++;
}

Test(square_root, numbers)
{
    pairs_visit("square_root", 1, 70, 1, 16, check_root);
    pairs_visit("square_root", 497, 500, 1, 8, check_root);
    pairs_refused("square_root", 1, 16385, "16384");
}

/* Every number of up to 12 bits. */
Test(square_root, all_small_numbers)
{
    for (int len = 1; len <= 6; len++) {
        memset(multiplication_counted, 0, sizeof multiplication_counted);
        pairs_sample("square_root", len, 4000, check_root);
        pairs_sample("square_root", len, 4000, count_number);
        cr_expect_eq(multiplication_counted[0], 0);
        chi_expect_uniform("numbers", multiplication_counted + 1, (1 << len) - 1);
    }
    pairs_sample("square_root", 12, 40000, check_root);
}
