/* task_digits.c - school arithmetic on rows of digits. */
#include "task_digits.h"

#include <stdio.h>

enum { DIGITS_SPLIT_LEAST = 3 }; /* a digit, the operator, a digit */

digits_view digits_at(int *first, int count, int step, int msb)
{
    if (!msb)
        return (digits_view){first, count, step};
    return (digits_view){first + (long)(count - 1) * step, count, -step};
}

int digits_check(const digits_options *o, int min_len, char *message, size_t size)
{
    if (o->digits != DIGITS_SPLIT || min_len >= DIGITS_SPLIT_LEAST)
        return 0;
    snprintf(message, size, "digits=split divides the symbols of the prompt, so lengths begin at %d, not at %d",
             DIGITS_SPLIT_LEAST, min_len);
    return -1;
}

int digits_longest(const digits_options *o, int len)
{
    return o->digits == DIGITS_SPLIT ? len - 2 : len;
}

int digits_together(const digits_options *o, int len)
{
    return o->digits == DIGITS_SPLIT ? len - 1 : 2 * len;
}

void digits_counts(const digits_options *o, rng *kind, int len, int count[2])
{
    count[0] = count[1] = len;
    if (o->digits ==
        DIGITS_LONGEST) { /* 0 .. len-1: the second has 1 .. len digits; len .. 2 len-2: the first, fewer */
        int pair = (int)rng_below(kind, 2 * (uint32_t)len - 1);
        count[pair < len] = pair < len ? pair + 1 : pair - len + 1;
    } else if (o->digits == DIGITS_UNIFORM) {
        count[0] = 1 + (int)rng_below(kind, (uint32_t)len);
        count[1] = 1 + (int)rng_below(kind, (uint32_t)len);
    } else if (o->digits == DIGITS_SPLIT) {
        count[0] = 1 + (int)rng_below(kind, (uint32_t)len - 2);
        count[1] = len - 1 - count[0];
    }
}

void digits_draw(const digits_options *o, rng *rest, const digits_view *n)
{
    uint32_t base = (uint32_t)o->base;
    int is_zero;
    do {
        is_zero = 1;
        for (int i = n->count - 1; i >= 0; i--) {
            int least = o->leading == DIGITS_NO_LEADING_ZERO && i > 0 && i == n->count - 1;
            int digit = least + (int)rng_below(rest, base - (uint32_t)least);
            digits_set(n, i, digit);
            is_zero &= digit == 0;
        }
    } while (is_zero && o->leading == DIGITS_ANY);
}

int digits_sum_count(int base, const digits_view *a, const digits_view *b)
{
    int longest = a->count > b->count ? a->count : b->count, count = 1, carry = 0;
    for (int i = 0; i < longest; i++) {
        int sum = digits_get(a, i) + digits_get(b, i) + carry;
        carry = sum >= base;
        if (sum != 0) /* where it is the base itself, its carry makes a higher digit */
            count = i + 1;
    }
    return carry ? longest + 1 : count;
}

void digits_add(int base, const digits_view *a, const digits_view *b, const digits_view *out)
{
    int carry = 0;
    for (int i = 0; i < out->count; i++) {
        int sum = digits_get(a, i) + digits_get(b, i) + carry;
        carry = sum >= base;
        digits_set(out, i, carry ? sum - base : sum);
    }
}

/* Column by column: place i of the product gathers a_j b_(i-j) and what the places below carry. */
void digits_multiply(int base, const digits_view *a, const digits_view *b, const digits_view *out)
{
    long column = 0;
    for (int i = 0; i < out->count; i++) {
        int first = i < b->count ? 0 : i - b->count + 1;
        for (int j = first; j <= i && j < a->count; j++)
            column += digits_get(a, j) * digits_get(b, i - j);
        digits_set(out, i, (int)(column % base));
        column /= base;
    }
}

int digits_significant(const digits_view *n)
{
    int count = n->count;
    while (count > 1 && digits_get(n, count - 1) == 0)
        count--;
    return count;
}
