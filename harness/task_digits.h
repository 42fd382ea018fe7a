/* task_digits.h - numbers as rows of digits, for the tasks that compute with them. Numbers may be as long as there is
 * room: nothing here goes through a machine word. */
#ifndef TASK_DIGITS_H
#define TASK_DIGITS_H

#include <stddef.h>

#include "pe_option.h"
#include "rng.h"

/* How many digits the two operands of an instance of length n have. */
enum {
    DIGITS_LONGEST, /* at least one of them n: each of the 2n-1 pairs equally likely */
    DIGITS_EQUAL,   /* both n */
    DIGITS_UNIFORM, /* each 1 .. n, independent */
    DIGITS_SPLIT    /* n-1 together: "a + b" has n symbols; each of the n-2 divisions equally likely */
};

enum { DIGITS_NO_LEADING_ZERO, DIGITS_ANY }; /* `leading` */
enum { DIGITS_MSB, DIGITS_LSB, DIGITS_LSB_ANSWER };

/* What all tasks with two operands are asked. */
typedef struct digits_options {
    int base, digits, leading, order;
} digits_options;

/* Their rows: `type` is the task's options, `field` their digits_options. */
/* clang-format off */
#define DIGITS_ROWS(type, field)                                                                                       \
    {"base", PE_OPTION_INT, offsetof(type, field.base), "10", 2, 10, 0, NULL, "of the numbers (2: binary)"},           \
    {"digits", PE_OPTION_CHOICE, offsetof(type, field.digits), "longest", 0, 0, 0, "longest|equal|uniform|split",      \
     "longest: the longer operand has as many digits as the length says, pairs of numbers of digits are equally "      \
     "likely (Kazemnejad et al.); equal: both have; uniform: each has 1 to that many (Cho et al.); split: the "        \
     "length is that of the prompt, the operator in it (Deletang et al., Huang et al.)"},                              \
    {"leading", PE_OPTION_CHOICE, offsetof(type, field.leading), "nonzero", 0, 0, 0, "nonzero|any",                    \
     "nonzero: an operand of several digits does not begin with 0; any: all rows of digits but 00..0 (Deletang et "    \
     "al.)"},                                                                                                          \
    {"order", PE_OPTION_CHOICE, offsetof(type, field.order), "msb", 0, 0, 0, "msb|lsb|lsb_answer",                     \
     "msb: the most significant digit comes first (Kazemnejad et al., Huang et al.); lsb: the least (Deletang et "     \
     "al.); lsb_answer: the least in the result only (the reversed format of Cho et al.)"}
/* clang-format on */

/* A number where it is written: its i-th digit, from the least significant one, is at[i * stride]. */
typedef struct digits_view {
    int *at;
    int count, stride;
} digits_view;

/* `count` digits that begin at `first` and stand `step` apart, the most significant one first or last. */
digits_view digits_at(int *first, int count, int step, int msb);

/* The i-th digit of n from the least significant one; 0 beyond its last. */
static inline int digits_get(const digits_view *n, int i)
{
    return i < n->count ? n->at[(long)i * n->stride] : 0;
}

static inline void digits_set(const digits_view *n, int i, int digit)
{
    n->at[(long)i * n->stride] = digit;
}

/* Is the most significant digit of operands, of results the first? */
static inline int digits_operand_msb(const digits_options *o)
{
    return o->order != DIGITS_LSB;
}

static inline int digits_answer_msb(const digits_options *o)
{
    return o->order == DIGITS_MSB;
}

/* 0, or -1 with one sentence in message: a length below 3 has no division. */
int digits_check(const digits_options *o, int min_len, char *message, size_t size);

/* The most digits of one operand, and of both together, in an instance of this length. */
int digits_longest(const digits_options *o, int len);
int digits_together(const digits_options *o, int len);

/* The numbers of digits of an instance (=), as `digits` says. */
void digits_counts(const digits_options *o, rng *kind, int len, int count[2]);

/* n = a random number (=): all that `leading` allows with n->count digits are equally likely; a single digit may be 0
 * unless leading = any. */
void digits_draw(const digits_options *o, rng *rest, const digits_view *n);

/* The digits of a + b without leading zeros, at least 1. */
int digits_sum_count(int base, const digits_view *a, const digits_view *b);

/* out = the low out->count digits of a + b (=), of a * b (=). out may not overlap a or b. */
void digits_add(int base, const digits_view *a, const digits_view *b, const digits_view *out);
void digits_multiply(int base, const digits_view *a, const digits_view *b, const digits_view *out);

/* The digits of n without leading zeros, at least 1. */
int digits_significant(const digits_view *n);

#endif
