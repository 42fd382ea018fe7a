/* Value of a polynomial modulo 10 (Kazemnejad et al. 2023, "polynomial evaluation").
 *
 *   length    terms
 *   tokens    0 .. 9 numbers and the answer, -1 = 10, -2 = 11, -3 = 12, x = 13, + = 14, BOS = 15, SEP = 16, EOS = 17
 *   input     BOS v, then c x d for each term with + between two, SEP y
 *                                                               4 length + 3 tokens, y = sum of c v^d modulo 10
 *   target    nothing up to the last symbol of the prompt, then y EOS: SEP predicts y
 *
 *   length 2: -3 x^2 + 1 x^0 at x = -2
 *   input    15 11 12 13  2 14  1 13  0 16  9
 *   target    .  .  .  .  .  .  .  .  .  9 17
 *
 * v is uniform in -2 .. 2, each coefficient c in -3 .. 3, each degree d in 0 .. 3; 0^0 is 1. Degrees recur and stand in
 * any order. -11 modulo 10 is 9.
 */
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

enum { POLYNOMIAL_X = 13, POLYNOMIAL_PLUS, POLYNOMIAL_SYMBOLS };
enum { POLYNOMIAL_MODULUS = 10, POLYNOMIAL_ARGUMENT = 2, POLYNOMIAL_COEFFICIENT = 3, POLYNOMIAL_DEGREES = 4 };

static int polynomial_symbols(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return POLYNOMIAL_SYMBOLS;
}

static void polynomial_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = 4 * len;
    *answer = 1;
}

static int polynomial_token(int number)
{
    return number < 0 ? 9 - number : number;
}

/* Uniform in -most .. most. */
static int polynomial_signed(rng *rest, int most)
{
    return (int)rng_below(rest, 2 * (uint32_t)most + 1) - most;
}

static void polynomial_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    int argument = polynomial_signed(rest, POLYNOMIAL_ARGUMENT), at = 0, value = 0;
    (void)options, (void)state, (void)kind; /* all instances of a length are equally likely */
    out->prompt[at++] = polynomial_token(argument);
    for (int i = 0; i < len; i++) {
        int coefficient = polynomial_signed(rest, POLYNOMIAL_COEFFICIENT), term = coefficient;
        int degree = (int)rng_below(rest, POLYNOMIAL_DEGREES);
        for (int k = 0; k < degree; k++)
            term *= argument;
        value = (value + term) % POLYNOMIAL_MODULUS;
        if (i > 0)
            out->prompt[at++] = POLYNOMIAL_PLUS;
        out->prompt[at++] = polynomial_token(coefficient);
        out->prompt[at++] = POLYNOMIAL_X;
        out->prompt[at++] = degree;
    }
    out->answer[0] = (value + POLYNOMIAL_MODULUS) % POLYNOMIAL_MODULUS;
    out->prompt_len = at;
    out->answer_len = 1;
}

const task_descriptor task_descriptor_polynomial = {
    .name = "polynomial",
    .title = "Value of a polynomial",
    .source = "Kazemnejad et al., The Impact of Positional Encoding on Length Generalization in Transformers, NeurIPS "
              "2023",
    .format = "BOS -2 -3 x 2 + 1 x 0 SEP 9 EOS",
    .notes = "Their numbers with one symbol each, where theirs are text (\"Evaluate at x = - 2 in ...\"). With "
             "few terms small values are likelier than others, so chance lies above 10 % there: it is estimated.",
    .kind = TASK_ANSWER,
    .symbols = polynomial_symbols,
    .sizes = polynomial_sizes,
    .pair = polynomial_pair,
    .bibtex = TASK_BIB_KAZEMNEJAD,
};
