/* Multiplication of two numbers (Deletang et al. 2023 in binary; Cho et al. 2024).
 *
 *   length    digits of the longer operand; other meanings: `digits`
 *   tokens    0 .. base-1 the digits, * = base, then BOS, SEP, EOS
 *   input     BOS a * b SEP product
 *   target    nothing up to the last digit of b, then the product and EOS: SEP predicts its first digit
 *   position  proposed: digits of equal significance share an id, 1 for the units, 2 for the next; BOS, * and SEP 0
 *
 *   base=10, order=msb, length 2: 58 * 7
 *   input     11  5  8 10  7 12  4  0  6
 *   target     .  .  .  .  .  4  0  6 13
 *   position   0  2  1  0  1  0  3  2  1
 *
 *   padding=zeros   the product has as many digits as both operands together; above it fits exactly
 */
#include <stddef.h>

#include "task.h"
#include "task_sources.h"
#include "task_digits.h"

typedef struct multiplication_options {
    digits_options number;
    int padding;
} multiplication_options;

static int multiplication_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    (void)max_len;
    return digits_check(&((const multiplication_options *)options)->number, min_len, message, size);
}

static int multiplication_symbols(const void *options, int max_len)
{
    (void)max_len;
    return ((const multiplication_options *)options)->number.base + 1;
}

static void multiplication_sizes(const void *options, int len, int *prompt, int *answer)
{
    const multiplication_options *o = options;
    *answer = digits_together(&o->number, len);
    *prompt = *answer + 1;
}

static double multiplication_farthest(const void *options, int len)
{
    return digits_together(&((const multiplication_options *)options)->number, len);
}

/* Ids of a number that is written from first on. */
static void multiplication_place(double *first, int count, int msb)
{
    for (int k = 0; k < count; k++)
        first[k] = msb ? count - k : k + 1;
}

/* The product is written with its units first; where the most significant digit goes first, it is turned round. Returns
 * its digits. */
static int multiplication_answer(const multiplication_options *o, const digits_view *a, const digits_view *b,
                                 int *answer)
{
    digits_view product = digits_at(answer, a->count + b->count, 1, 0);
    digits_multiply(o->number.base, a, b, &product);
    int count = o->padding ? product.count : digits_significant(&product);
    for (int i = 0, j = count - 1; digits_answer_msb(&o->number) && i < j; i++, j--) {
        int digit = answer[i];
        answer[i] = answer[j];
        answer[j] = digit;
    }
    return count;
}

static void multiplication_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const multiplication_options *o = options;
    int count[2], msb = digits_operand_msb(&o->number);
    (void)state;
    digits_counts(&o->number, kind, len, count);
    int second = count[0] + 1;
    digits_view a = digits_at(out->prompt, count[0], 1, msb), b = digits_at(out->prompt + second, count[1], 1, msb);
    digits_draw(&o->number, rest, &a);
    digits_draw(&o->number, rest, &b);
    out->prompt[count[0]] = o->number.base;
    out->prompt_len = second + count[1];
    out->answer_len = multiplication_answer(o, &a, &b, out->answer);
    if (!out->prompt_position)
        return;
    multiplication_place(out->prompt_position, count[0], msb);
    out->prompt_position[count[0]] = 0;
    multiplication_place(out->prompt_position + second, count[1], msb);
    multiplication_place(out->answer_position, out->answer_len, digits_answer_msb(&o->number));
}

static const pe_option multiplication_rows[] = {
    DIGITS_ROWS(multiplication_options, number),
    {"padding", PE_OPTION_CHOICE, offsetof(multiplication_options, padding), "none", 0, 0, 0, "none|zeros",
     "zeros: the product is filled with zeros to as many digits as both operands have together (Cho et al.)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_multiplication = {
    .name = "multiplication",
    .title = "Multiplication",
    .source = "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023; Cho et al., Position Coupling, "
              "NeurIPS 2024",
    .format = "BOS 5 8 * 7 SEP 4 0 6 EOS",
    .notes = "Deletang et al.: base=2,digits=split,leading=any,order=lsb, in a bidirectional network; their EOS is a "
             "third symbol of the output. In Ruoss et al. (ACL 2023) every encoding stays near chance there. Cho et "
             "al. fix the number of "
             "digits of one operand, which no option here does; with their ids use padding=zeros, as they do: else the "
             "ids of a "
             "product tell how many digits it has. Answers differ in length: chance is estimated.",
    .kind = TASK_ANSWER,
    .proposes_positions = 1,
    .positions = "digits of equal significance share an id, in the operands and the product: the units 1, the next 2; "
                 "BOS, * and SEP 0 (Cho et al. 2024, position coupling, whose ids are the mirror image)",
    .options = multiplication_rows,
    .options_size = sizeof(multiplication_options),
    .check = multiplication_check,
    .symbols = multiplication_symbols,
    .sizes = multiplication_sizes,
    .farthest = multiplication_farthest,
    .answer_varies = 1,
    .pair = multiplication_pair,
    .bibtex = TASK_BIB_DELETANG TASK_BIB_CHO,
};
