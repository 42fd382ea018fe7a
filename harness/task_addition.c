/* Addition of two numbers (Nye et al. 2021; Kazemnejad et al. 2023; Deletang et al. 2023; Cho et al. 2024; Zhou et al.
 * 2024; Huang et al. 2025), in the formats in which they write it.
 *
 *   length    digits of the longer operand; other meanings: `digits`
 *   tokens    0 .. base-1 the digits, + = base; with hints then hint_symbols index symbols; with a scratchpad C, =
 *             and the comma; then BOS, SEP, EOS
 *   input     BOS a + b SEP sum
 *   target    nothing up to the last digit of b, then the sum and EOS: SEP predicts its first digit
 *   position  proposed: digits of equal significance share an id wherever they stand, 1 for the units, 2 for the next;
 *             BOS, + and SEP 0
 *
 *   base=10, order=msb, length 2: 58 + 7
 *   input     11  5  8 10  7 12  6  5
 *   target     .  .  .  .  .  6  5 13
 *   position   0  2  1  0  1  0  2  1
 *
 *   padding=zeros   5 8 + 0 7 SEP 0 6 5             operands fill the length, the sum one more
 *   order=lsb       8 5 + 7 SEP 5 6
 *   hints=first     b5 a8 + a7 SEP b6 a5            before each digit the symbol of its significance, a for the units
 *   hints=random    e5 d8 + d7 SEP e6 d5            the units have any symbol that leaves room for the sum
 *
 * scratchpad=columns: what is written between SEP and the sum, from the units on, is for each column its two digits, C,
 * the carry into it and the digit of the sum; then C, the last carry and =. Beyond the end of a number stand zeros.
 * scratchpad=full: the state after 0, 1 .. all columns: what is left of a, +, what is left of b, the comma, the digits
 * of the sum so far, C, the carry; then =.
 *
 *   columns         SEP 8 7 C 0 5  5 0 C 1 6  C 0 = 6 5
 *   full            SEP 5 8 + 7 , C 0  5 + , 5 C 1  + , 6 5 C 0 = 6 5
 *
 * In a scratchpad all five tokens of a column, and C with its carry, have the id of the column that they belong to, the
 * comma and = 0.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "task.h"
#include "task_sources.h"
#include "task_digits.h"

enum { ADDITION_NO_HINTS, ADDITION_FIRST, ADDITION_RANDOM };
enum { ADDITION_NO_SCRATCHPAD, ADDITION_COLUMNS, ADDITION_FULL };
enum { ADDITION_C, ADDITION_EQUALS, ADDITION_COMMA, ADDITION_MARKS }; /* behind + */
enum { ADDITION_FULL_MOST = 4096 };                                   /* digits: the states fill their square */

typedef struct addition_options {
    digits_options number;
    int padding, hints, hint_symbols, scratchpad;
} addition_options;

static int addition_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    const addition_options *o = options;
    int longest = digits_longest(&o->number, max_len);
    if (digits_check(&o->number, min_len, message, size) < 0)
        return -1;
    if (o->padding && o->number.digits == DIGITS_SPLIT) {
        snprintf(message, size, "padding=zeros fills numbers up to the length, which digits=split does not have");
        return -1;
    }
    if (o->hints != ADDITION_NO_HINTS && o->scratchpad != ADDITION_NO_SCRATCHPAD) {
        snprintf(message, size, "index hints and a scratchpad do not go together");
        return -1;
    }
    if (o->hints != ADDITION_NO_HINTS && longest + 1 > o->hint_symbols) {
        snprintf(message, size, "a sum of %d digits at length %d needs that many index symbols, but hint_symbols=%d",
                 longest + 1, max_len, o->hint_symbols);
        return -1;
    }
    if (o->scratchpad == ADDITION_FULL && longest > ADDITION_FULL_MOST) {
        snprintf(message, size, "scratchpad=full grows with the square of the digits; at most %d, not %d",
                 ADDITION_FULL_MOST, longest);
        return -1;
    }
    return 0;
}

static int addition_symbols(const void *options, int max_len)
{
    const addition_options *o = options;
    (void)max_len;
    return o->number.base + 1 + (o->hints != ADDITION_NO_HINTS ? o->hint_symbols : 0) +
           (o->scratchpad != ADDITION_NO_SCRATCHPAD ? ADDITION_MARKS : 0);
}

/* Of operands with `longest` and `other` digits. */
static int addition_scratchpad_tokens(const addition_options *o, int longest, int other)
{
    if (o->scratchpad == ADDITION_COLUMNS)
        return 5 * longest + 3;
    if (o->scratchpad == ADDITION_FULL) /* a, b and the sum in part; + , C and a carry in each state; = */
        return longest * (longest + 1) + other * (other + 1) / 2 + 4 * (longest + 1) + 1;
    return 0;
}

static void addition_sizes(const void *options, int len, int *prompt, int *answer)
{
    const addition_options *o = options;
    int step = o->hints != ADDITION_NO_HINTS ? 2 : 1, longest = digits_longest(&o->number, len);
    int together = digits_together(&o->number, len);
    *prompt = step * together + 1;
    *answer = step * (longest + 1) + addition_scratchpad_tokens(o, longest, together - longest);
}

static double addition_farthest(const void *options, int len)
{
    const addition_options *o = options;
    return digits_longest(&o->number, len) + 1; /* the first digit of the longest sum */
}

/* ------------------------------------------------------------------------------------------------ writing */

/* Where tokens go, one after the other. */
typedef struct addition_tape {
    int *token;
    double *position; /* NULL: none are wanted */
    int count;
} addition_tape;

static void addition_put(addition_tape *t, int token, int position)
{
    if (t->position)
        t->position[t->count] = position;
    t->token[t->count++] = token;
}

/* Room for a number, its hints and its positions; the digits are 0. `units` is the index symbol of the units. */
static digits_view addition_room(const addition_options *o, addition_tape *t, int width, int msb, int units)
{
    int has_hints = o->hints != ADDITION_NO_HINTS, first = t->count + has_hints;
    for (int k = 0; k < width; k++) {
        int significance = msb ? width - 1 - k : k;
        if (has_hints)
            addition_put(t, o->number.base + 1 + units + significance, significance + 1);
        addition_put(t, 0, significance + 1);
    }
    return digits_at(t->token + first, width, 1 + has_hints, msb);
}

/* Adds column i. Returns its digit of the sum; *carry moves on. */
static int addition_column(int base, const digits_view *a, const digits_view *b, int i, int *carry)
{
    int sum = digits_get(a, i) + digits_get(b, i) + *carry;
    *carry = sum >= base;
    return *carry ? sum - base : sum;
}

static void addition_columns(const addition_options *o, const digits_view *a, const digits_view *b, int longest,
                             addition_tape *t)
{
    int base = o->number.base, carry = 0;
    for (int i = 0; i < longest; i++) {
        addition_put(t, digits_get(a, i), i + 1);
        addition_put(t, digits_get(b, i), i + 1);
        addition_put(t, base + 1 + ADDITION_C, i + 1);
        addition_put(t, carry, i + 1);
        addition_put(t, addition_column(base, a, b, i, &carry), i + 1);
    }
    addition_put(t, base + 1 + ADDITION_C, longest + 1);
    addition_put(t, carry, longest + 1);
}

/* The digits of n from the given one on, in the order of operands. */
static void addition_left(const addition_options *o, const digits_view *n, int from, addition_tape *t)
{
    int msb = digits_operand_msb(&o->number);
    for (int k = from; k < n->count; k++) {
        int i = msb ? n->count - 1 - (k - from) : k;
        addition_put(t, digits_get(n, i), i + 1);
    }
}

/* The digits of the sum so far are those of the state before, with one more in front of them or behind them. */
static void addition_states(const addition_options *o, const digits_view *a, const digits_view *b, int longest,
                            addition_tape *t)
{
    int base = o->number.base, msb = digits_answer_msb(&o->number), carry = 0, before = 0, digit = 0;
    for (int i = 0; i <= longest; i++) {
        addition_left(o, a, i, t);
        addition_put(t, base, 0);
        addition_left(o, b, i, t);
        addition_put(t, base + 1 + ADDITION_COMMA, 0);
        int sum = t->count;
        if (msb && i > 0)
            addition_put(t, digit, i);
        for (int k = 0; k < i - 1; k++)
            addition_put(t, t->token[before + k], msb ? i - 1 - k : k + 1);
        if (!msb && i > 0)
            addition_put(t, digit, i);
        before = sum;
        addition_put(t, base + 1 + ADDITION_C, i + 1);
        addition_put(t, carry, i + 1);
        digit = addition_column(base, a, b, i, &carry);
    }
}

static void addition_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const addition_options *o = options;
    addition_tape prompt = {.token = out->prompt, .position = out->prompt_position};
    addition_tape answer = {.token = out->answer, .position = out->answer_position};
    digits_view operand[2];
    int count[2], base = o->number.base, most = digits_longest(&o->number, len), units = 0;
    (void)state;
    if (o->hints == ADDITION_RANDOM)
        units = (int)rng_below(rest, (uint32_t)(o->hint_symbols - most));
    digits_counts(&o->number, kind, len, count);
    for (int k = 0; k < 2; k++) {
        if (k == 1)
            addition_put(&prompt, base, 0);
        operand[k] = addition_room(o, &prompt, o->padding ? len : count[k], digits_operand_msb(&o->number), units);
        digits_view low = operand[k]; /* behind the padding */
        low.count = count[k];
        digits_draw(&o->number, rest, &low);
    }
    const digits_view *a = &operand[0], *b = &operand[1];
    int longest = a->count > b->count ? a->count : b->count;
    if (o->scratchpad == ADDITION_COLUMNS)
        addition_columns(o, a, b, longest, &answer);
    else if (o->scratchpad == ADDITION_FULL)
        addition_states(o, a, b, longest, &answer);
    if (o->scratchpad != ADDITION_NO_SCRATCHPAD)
        addition_put(&answer, base + 1 + ADDITION_EQUALS, 0);
    int width = o->padding ? len + 1 : digits_sum_count(base, a, b);
    digits_view sum = addition_room(o, &answer, width, digits_answer_msb(&o->number), units);
    digits_add(base, a, b, &sum);
    out->prompt_len = prompt.count;
    out->answer_len = answer.count;
}

/* ------------------------------------------------------------------------------------------------ description */

/* Most significant digit first, nothing written down, nothing that says which digits belong together. */
static int addition_is_sentinel(const void *options)
{
    const addition_options *o = options;
    return o->number.order == DIGITS_MSB && !o->padding && o->hints == ADDITION_NO_HINTS &&
           o->scratchpad == ADDITION_NO_SCRATCHPAD;
}

static const pe_option addition_rows[] = {
    DIGITS_ROWS(addition_options, number),
    {"padding", PE_OPTION_CHOICE, offsetof(addition_options, padding), "none", 0, 0, 0, "none|zeros",
     "zeros: operands are filled with zeros up to the length, the sum to one digit more (Cho et al. fill to the longer "
     "operand: the same under digits=longest or equal)"},
    {"hints", PE_OPTION_CHOICE, offsetof(addition_options, hints), "none", 0, 0, 0, "none|first|random",
     "an index symbol before each digit, the same for equal significance (Zhou et al.); first: the units have the "
     "first symbol; random: in each sequence any from which the symbols last to the end of the longest sum of its "
     "length, so that all are met in training"},
    {"hint_symbols", PE_OPTION_INT, offsetof(addition_options, hint_symbols), "101", 2, TASK_SYMBOLS_MAX, 0, NULL,
     "number of index symbols, with hints; no sum may have more digits (101: sums of 100 digits, the longest that Zhou "
     "et al. test)"},
    {"scratchpad", PE_OPTION_CHOICE, offsetof(addition_options, scratchpad), "none", 0, 0, 0, "none|columns|full",
     "what the answer writes before the sum; columns: the digits, the carry and the result of each column (the parts "
     "input, variables and output of Kazemnejad et al.); full: the whole state after each column (Nye et al.)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_addition = {
    .name = "addition",
    .title = "Addition",
    .source =
        "Nye et al., Show Your Work, 2021; Kazemnejad et al., The Impact of Positional Encoding on Length "
        "Generalization in Transformers, NeurIPS 2023; Deletang et al., Neural Networks and the Chomsky "
        "Hierarchy, ICLR 2023; Cho et al., Position Coupling, NeurIPS 2024; Zhou et al., Transformers Can Achieve "
        "Length Generalization But Not Robustly, 2024; Huang et al., A Formal Framework for Understanding Length "
        "Generalization in Transformers, ICLR 2025",
    .format = "BOS 5 8 + 9 7 SEP 1 5 5 EOS",
    .notes = "The default is that of Kazemnejad et al. with one symbol for each digit; theirs tests all pairs of which "
             "one operand is longer than in training, digits=longest sorts the same pairs by length. Deletang et al.: "
             "base=2,digits=split,leading=any,order=lsb, in a bidirectional network; their EOS is a third symbol "
             "of the output, and they give one empty slot more. Huang et al.: base=2,digits=split, their length "
             "counts the = too. Cho et al.: padding=zeros,order=lsb_answer under the map `task`; "
             "without padding the ids of a sum tell how many digits it has. "
             "Zhou et al.: order=lsb,hints=random; they let index symbols rise along the number as it is read, here "
             "they rise with the significance in any order, so that those of numbers of different length agree. The "
             "same sum with other index symbols is another instance. Last lines of Nye et al., in which the "
             "carry is put before the sum, are left out. Answers differ in length: chance is estimated.",
    .kind = TASK_ANSWER,
    .proposes_positions = 1,
    .positions =
        "digits of equal significance share an id, in the operands, the sum and a scratchpad: the units 1, the "
        "next 2; an index symbol has that of its digit; BOS, + and SEP 0 (Cho et al. 2024, position coupling; "
        "theirs run from the most significant digit down to + and SEP: the mirror image)",
    .sentinel = "digits of equal significance must be found without help and the carry runs against the order of "
                "writing; Huang et al. report an exact match of 0.000 at two to three times the training length",
    .is_sentinel = addition_is_sentinel,
    .options = addition_rows,
    .options_size = sizeof(addition_options),
    .check = addition_check,
    .symbols = addition_symbols,
    .sizes = addition_sizes,
    .farthest = addition_farthest,
    .answer_varies = 1,
    .pair = addition_pair,
    .bibtex = TASK_BIB_NYE TASK_BIB_KAZEMNEJAD TASK_BIB_DELETANG TASK_BIB_CHO TASK_BIB_ZHOU TASK_BIB_HUANG,
};
