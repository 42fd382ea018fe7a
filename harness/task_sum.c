/* Sum of digits modulo m (Kazemnejad et al. 2023, "summation").
 *
 *   length    digits
 *   tokens    0 .. m-1 for m = modulus, then BOS = m, SEP = m+1, EOS = m+2
 *   input     BOS x SEP y                                       length + 3 tokens, y = sum of x modulo m
 *   target    nothing up to the last digit of x, then y EOS: SEP predicts y
 *
 *   modulus=10, length 4:
 *   input     10  7  9  1  4 11  1
 *   target     .  .  .  .  .  1 12
 *
 * Digits are uniform in 1 .. m-1, so each of them moves the sum.
 */
#include <math.h>
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

typedef struct sum_options {
    int modulus;
} sum_options;

static int sum_symbols(const void *options, int max_len)
{
    (void)max_len;
    return ((const sum_options *)options)->modulus;
}

static void sum_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = len;
    *answer = 1;
}

/* The sum of n digits is 0 with probability p_n = (1 - p_(n-1)) / (m-1), p_0 = 1: from any other sum one digit in m-1
 * leads to 0, from 0 none does. So p_n = (1 + (m-1) q^n) / m with q = -1/(m-1), and the others share the rest alike,
 * (1 - q^n) / m each. The likelier of the two alternates. */
static double sum_chance(const void *options, const void *state, int len)
{
    double m = ((const sum_options *)options)->modulus, q = pow(-1.0 / (m - 1.0), len);
    (void)state;
    return fmax(1.0 + (m - 1.0) * q, 1.0 - q) / m;
}

static void sum_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    int modulus = ((const sum_options *)options)->modulus, sum = 0;
    (void)state, (void)kind; /* all strings of a length are equally likely */
    for (int i = 0; i < len; i++) {
        out->prompt[i] = 1 + (int)rng_below(rest, (uint32_t)modulus - 1);
        sum = (sum + out->prompt[i]) % modulus;
    }
    out->answer[0] = sum;
    out->prompt_len = len;
    out->answer_len = 1;
}

static const pe_option sum_rows[] = {
    {"modulus", PE_OPTION_INT, offsetof(sum_options, modulus), "10", 3, 1000, 0, NULL,
     "m: digits are 1 .. m-1 (Kazemnejad et al.: 10)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_sum = {
    .name = "sum",
    .title = "Sum of digits",
    .source = "Kazemnejad et al., The Impact of Positional Encoding on Length Generalization in Transformers, NeurIPS "
              "2023",
    .format = "BOS 7 9 1 4 SEP 1 EOS",
    .notes = "The sum modulo 10 of digits 1 to 9, one symbol each; theirs has a + between them, as text. Every digit "
             "counts and none may be missed, as in parity.",
    .kind = TASK_ANSWER,
    .options = sum_rows,
    .options_size = sizeof(sum_options),
    .symbols = sum_symbols,
    .sizes = sum_sizes,
    .chance_token = sum_chance,
    .chance_exact = sum_chance,
    .pair = sum_pair,
    .bibtex = TASK_BIB_KAZEMNEJAD,
};
