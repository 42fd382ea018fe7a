/* task_numbers.h - numbers as tests see them: read from symbols by weight, compared by value and by remainders. */
#ifndef TASK_NUMBERS_H
#define TASK_NUMBERS_H

enum { NUMBER_DIGITS = 1100 };

/* digit[i] has the weight base^i. */
typedef struct number {
    int base, count;
    int digit[NUMBER_DIGITS];
} number;

/* From `count` symbols that stand `step` apart, in the order in which people read numbers, or turned round. */
number number_read(const int *symbol, int count, int step, int base, int reversed);

/* Fits in 128 bits, with room to add and to multiply two of half the size? */
int number_is_small(const number *n);
unsigned __int128 number_value(const number *n);

/* Modulo m < 2^31, by Horner's rule. */
long number_modulo(const number *n, long m);

/* Asserts that n has at least one digit, each below its base, and that no leading one is 0 (a single digit may be). */
void number_check(const number *n);

#endif
