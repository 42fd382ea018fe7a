/* Modular arithmetic, and equations in it (Deletang et al. 2023, Ruoss et al. 2023): the value of an expression, or the
 * digit that an equation lacks, modulo m = modulus.
 *
 *   modular_arithmetic
 *     length  symbols of the expression; without brackets an even length is cut by one
 *     tokens  0 .. m-1 the digits, + = m, - = m+1, * = m+2; with brackets ( = m+3 and ) = m+4; then BOS, SEP, EOS
 *     input   BOS expression SEP value
 *   solve_equation
 *     length  symbols of the equation, from 3
 *     tokens  0 .. m-1 the digits, + = m, - = m+1, x = m+2, ( = m+3, ) = m+4, the sign = m+5; then BOS, SEP, EOS
 *     input   BOS expression = value SEP the digit that x stands for
 *   target    nothing up to the last symbol of the prompt, then the answer and EOS: SEP predicts the answer
 *
 *   modular_arithmetic, length 5: 1 + 2 * 3              brackets=true, length 8: (-4*(1))
 *   input     8 1 5 2 7 3 9 2                            input     10 8 6 4 7 8 1 9 9 11 1
 *   target    . . . . . . 2 10                           target     . . . . . . . . .  1 12
 *
 *   solve_equation, length 7: (x-3)=4
 *   input    11 8 7 6 3 9 10 4 12 2
 *   target    . . . . . .  . .  2 13
 *
 * Without brackets digits and operators are uniform, * binds more than + and -, which are read from the left. With them
 * an expression of n < 5 symbols is d, -d, (d) or (-d) for a digit d; a longer one is (a o b), with a of 1 .. n-4
 * symbols, each number equally likely, an operator o and b of the rest; digits and operators are uniform. An equation
 * hides one digit: the first at or behind a uniform place, going round.
 */
#include <stddef.h>
#include <stdio.h>

#include "task.h"
#include "task_sources.h"

/* Symbols, counted from the first behind the digits. */
enum { ARITHMETIC_PLUS, ARITHMETIC_MINUS, ARITHMETIC_TIMES, ARITHMETIC_OPEN, ARITHMETIC_CLOSE, ARITHMETIC_EQUALS };
enum { ARITHMETIC_X = ARITHMETIC_TIMES, ARITHMETIC_SYMBOLS = ARITHMETIC_EQUALS + 1 }; /* an equation has no * */

enum { ARITHMETIC_BRACKETS_MOST = 16384 }; /* symbols with brackets: they are nested to a quarter of it */

typedef struct modular_arithmetic_options {
    int modulus, brackets, multiply;
} modular_arithmetic_options;

typedef struct solve_equation_options {
    int modulus;
} solve_equation_options;

/* ------------------------------------------------------------------------------------------------ expressions */

/* An expression while it is drawn. The shape comes from `kind`: shapes are not equally likely. */
typedef struct arithmetic_draw {
    int modulus, operators; /* 2: no * */
    rng *kind, *rest;
} arithmetic_draw;

static int arithmetic_combine(int modulus, int operation, int a, int b)
{
    long value = operation == ARITHMETIC_PLUS ? a + b : operation == ARITHMETIC_MINUS ? a - b : (long)a * b;
    return (int)((value % modulus + modulus) % modulus);
}

/* d, -d, (d) or (-d). Returns its value. */
static int arithmetic_leaf(const arithmetic_draw *d, int len, int *out)
{
    int digit = (int)rng_below(d->rest, (uint32_t)d->modulus), negative = len % 2 == 0, at = 0;
    if (len > 2)
        out[at++] = d->modulus + ARITHMETIC_OPEN;
    if (negative)
        out[at++] = d->modulus + ARITHMETIC_MINUS;
    out[at++] = digit;
    if (len > 2)
        out[at] = d->modulus + ARITHMETIC_CLOSE;
    return negative ? (d->modulus - digit) % d->modulus : digit;
}

/* len symbols from out on (=). Returns the value. */
static int arithmetic_brackets(const arithmetic_draw *d, int len, int *out)
{
    if (len < 5)
        return arithmetic_leaf(d, len, out);
    int left = 1 + (int)rng_below(d->kind, (uint32_t)len - 4), right = len - 3 - left;
    int operation = (int)rng_below(d->rest, (uint32_t)d->operators);
    out[0] = d->modulus + ARITHMETIC_OPEN;
    int a = arithmetic_brackets(d, left, out + 1);
    out[1 + left] = d->modulus + operation;
    int b = arithmetic_brackets(d, right, out + 2 + left);
    out[len - 1] = d->modulus + ARITHMETIC_CLOSE;
    return arithmetic_combine(d->modulus, operation, a, b);
}

/* len symbols, an odd number, from out on (=). Returns the value: `sum` of the terms that are complete, and a sign and
 * a product for the term that is not. */
static int arithmetic_plain(const arithmetic_draw *d, int len, int *out)
{
    int sum = 0, sign = ARITHMETIC_PLUS, product = 1, operation = ARITHMETIC_TIMES;
    for (int i = 0; i < len; i += 2) {
        if (i > 0) {
            operation = (int)rng_below(d->rest, (uint32_t)d->operators);
            out[i - 1] = d->modulus + operation;
        }
        out[i] = (int)rng_below(d->rest, (uint32_t)d->modulus);
        if (operation != ARITHMETIC_TIMES) {
            sum = arithmetic_combine(d->modulus, sign, sum, product);
            sign = operation;
            product = 1;
        }
        product = arithmetic_combine(d->modulus, ARITHMETIC_TIMES, product, out[i]);
    }
    return arithmetic_combine(d->modulus, sign, sum, product);
}

static int arithmetic_check_nesting(int max_len, char *message, size_t size)
{
    if (max_len <= ARITHMETIC_BRACKETS_MOST)
        return 0;
    snprintf(message, size, "expressions with brackets have at most %d symbols, not %d", ARITHMETIC_BRACKETS_MOST,
             max_len);
    return -1;
}

/* ------------------------------------------------------------------------------------------------ their values */

static int modular_arithmetic_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    (void)min_len;
    return ((const modular_arithmetic_options *)options)->brackets ? arithmetic_check_nesting(max_len, message, size)
                                                                   : 0;
}

static int modular_arithmetic_symbols(const void *options, int max_len)
{
    const modular_arithmetic_options *o = options;
    (void)max_len;
    return o->modulus + (o->brackets ? ARITHMETIC_CLOSE : ARITHMETIC_TIMES) + 1;
}

static int modular_arithmetic_length(const modular_arithmetic_options *o, int len)
{
    return o->brackets || len % 2 == 1 ? len : len - 1;
}

static void modular_arithmetic_sizes(const void *options, int len, int *prompt, int *answer)
{
    *prompt = modular_arithmetic_length(options, len);
    *answer = 1;
}

static void modular_arithmetic_pair(const void *options, const void *state, rng *kind, rng *rest, int len,
                                    task_pair *out)
{
    const modular_arithmetic_options *o = options;
    arithmetic_draw d = {o->modulus, o->multiply ? 3 : 2, kind, rest};
    (void)state;
    out->prompt_len = modular_arithmetic_length(o, len);
    out->answer_len = 1;
    out->answer[0] = o->brackets ? arithmetic_brackets(&d, out->prompt_len, out->prompt)
                                 : arithmetic_plain(&d, out->prompt_len, out->prompt);
}

static const pe_option modular_arithmetic_rows[] = {
    {"modulus", PE_OPTION_INT, offsetof(modular_arithmetic_options, modulus), "5", 2, 1000, 0, NULL,
     "m: digits and values are 0 .. m-1 (Deletang et al.: 5)"},
    {"brackets", PE_OPTION_BOOL, offsetof(modular_arithmetic_options, brackets), "false", 0, 0, 0, NULL,
     "false: operators with precedence, a regular language; true: fully bracketed, a context-free one"},
    {"multiply", PE_OPTION_BOOL, offsetof(modular_arithmetic_options, multiply), "true", 0, 0, 0, NULL,
     "false: + and - only (the experiments of Deletang et al. have * in both tasks)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_modular_arithmetic = {
    .name = "modular_arithmetic",
    .title = "Modular arithmetic",
    .source = "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023; Ruoss et al., Randomized "
              "Positional Encodings Boost Length Generalization of Transformers, ACL 2023",
    .format = "BOS 1 + 2 * 3 SEP 2 EOS",
    .notes = "In a bidirectional network the default is their \"modular arithmetic (simple)\" and brackets=true their "
             "\"modular arithmetic (brackets)\". They call 20 % chance; products make 0 likelier than that, so chance "
             "is estimated.",
    .kind = TASK_ANSWER,
    .options = modular_arithmetic_rows,
    .options_size = sizeof(modular_arithmetic_options),
    .check = modular_arithmetic_check,
    .symbols = modular_arithmetic_symbols,
    .sizes = modular_arithmetic_sizes,
    .pair = modular_arithmetic_pair,
    .bibtex = TASK_BIB_DELETANG TASK_BIB_RUOSS,
};

/* ------------------------------------------------------------------------------------------------ equations */

static int solve_equation_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    (void)options;
    if (min_len >= 3)
        return arithmetic_check_nesting(max_len, message, size);
    snprintf(message, size, "an equation has at least 3 symbols, as x=1 has, not %d", min_len);
    return -1;
}

static int solve_equation_symbols(const void *options, int max_len)
{
    (void)max_len;
    return ((const solve_equation_options *)options)->modulus + ARITHMETIC_SYMBOLS;
}

static void solve_equation_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = len;
    *answer = 1;
}

/* x stands for a uniform digit, whatever the shape is. */
static double solve_equation_chance(const void *options, const void *state, int len)
{
    (void)state, (void)len;
    return 1.0 / ((const solve_equation_options *)options)->modulus;
}

static void solve_equation_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    int modulus = ((const solve_equation_options *)options)->modulus, symbols = len - 2;
    arithmetic_draw d = {modulus, 2, kind, rest};
    (void)state;
    int value = arithmetic_brackets(&d, symbols, out->prompt), at = (int)rng_below(kind, (uint32_t)symbols);
    while (out->prompt[at] >= modulus)
        at = (at + 1) % symbols;
    out->answer[0] = out->prompt[at];
    out->prompt[at] = modulus + ARITHMETIC_X;
    out->prompt[symbols] = modulus + ARITHMETIC_EQUALS;
    out->prompt[symbols + 1] = value;
    out->prompt_len = len;
    out->answer_len = 1;
}

static const pe_option solve_equation_rows[] = {
    {"modulus", PE_OPTION_INT, offsetof(solve_equation_options, modulus), "5", 2, 1000, 0, NULL,
     "m: digits and values are 0 .. m-1 (Deletang et al.: 5)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_solve_equation = {
    .name = "solve_equation",
    .title = "Solve an equation",
    .source = "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023; Ruoss et al., Randomized "
              "Positional Encodings Boost Length Generalization of Transformers, ACL 2023",
    .format = "BOS ( x - 3 ) = 4 SEP 2 EOS",
    .notes =
        "Their task in a bidirectional network. With + and - alone every equation has exactly one solution. Lengths "
        "begin at 3; theirs from 1, where they feed zeros.",
    .kind = TASK_ANSWER,
    .options = solve_equation_rows,
    .options_size = sizeof(solve_equation_options),
    .check = solve_equation_check,
    .symbols = solve_equation_symbols,
    .sizes = solve_equation_sizes,
    .chance_token = solve_equation_chance,
    .chance_exact = solve_equation_chance,
    .pair = solve_equation_pair,
    .bibtex = TASK_BIB_DELETANG TASK_BIB_RUOSS,
};
