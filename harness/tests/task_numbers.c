#include "task_numbers.h"

#include <math.h>

#include <criterion/criterion.h>

number number_read(const int *symbol, int count, int step, int base, int reversed)
{
    number n = {.base = base, .count = count};
    cr_assert(count >= 1 && count <= NUMBER_DIGITS);
    for (int i = 0; i < count; i++)
        n.digit[i] = symbol[step * (reversed ? i : count - 1 - i)];
    for (int i = 0; i < count; i++)
        cr_assert(n.digit[i] >= 0 && n.digit[i] < base, "digit %d", n.digit[i]);
    return n;
}

int number_is_small(const number *n)
{
    return n->count * log2(n->base) < 62;
}

unsigned __int128 number_value(const number *n)
{
    unsigned __int128 value = 0;
    for (int i = n->count - 1; i >= 0; i--)
        value = value * (unsigned)n->base + (unsigned)n->digit[i];
    return value;
}

long number_modulo(const number *n, long m)
{
    long value = 0;
    for (int i = n->count - 1; i >= 0; i--)
        value = (value * n->base + n->digit[i]) % m;
    return value;
}

void number_check(const number *n)
{
    cr_assert_geq(n->count, 1);
    cr_assert(n->count == 1 || n->digit[n->count - 1] != 0, "a leading zero");
}
