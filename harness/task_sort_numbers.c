/* Sort numbers: put numbers of several digits into ascending order (Kazemnejad et al. 2023, "sort", multi-digit).
 *
 *   length    numbers
 *   tokens    0 .. 9 the digits, "," = 10, then BOS = 11, SEP = 12, EOS = 13
 *   prompt    the numbers, a comma between two of them; most significant digit first, no leading zeros
 *   answer    the same numbers, the smallest first
 *
 *   length 3: 907, 12, 4410
 *   input     11  9  0  7 10  1  2 10  4  4  1  0 12  1  2 10  9  0  7 10  4  4  1  0
 *   target     .  .  .  .  .  .  .  .  .  .  .  .  1  2 10  9  0  7 10  4  4  1  0 13
 *
 * Numbers are independent and uniform over least .. most, so most of them have as many digits as `most`, and a number
 * may occur twice.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task.h"
#include "task_sources.h"

enum { SORT_NUMBERS_COMMA = 10 };

typedef struct sort_numbers_options {
    int least, most;
} sort_numbers_options;

static int sort_numbers_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    const sort_numbers_options *o = options;
    (void)min_len, (void)max_len;
    if (o->least <= o->most)
        return 0;
    snprintf(message, size, "there is no number from least=%d to most=%d", o->least, o->most);
    return -1;
}

static int sort_numbers_symbols(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return SORT_NUMBERS_COMMA + 1;
}

static int sort_numbers_digits(int number)
{
    int digits = 1;
    while (number /= 10)
        digits++;
    return digits;
}

static void sort_numbers_sizes(const void *options, int len, int *prompt, int *answer)
{
    const sort_numbers_options *o = options;
    *prompt = *answer = len * (sort_numbers_digits(o->most) + 1) - 1;
}

static int sort_numbers_order(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* tokens = the digits of number[0 .. count-1] with commas; returns how many. Goes from the end, and a number takes a
 * token or more beside its comma, so number and tokens may be the same array: what is written lies at or behind what is
 * still to be read. */
static int sort_numbers_write(const int *number, int count, int *tokens)
{
    int total = count - 1;
    for (int i = 0; i < count; i++)
        total += sort_numbers_digits(number[i]);
    for (int i = count - 1, end = total; i >= 0; i--) {
        int value = number[i];
        do
            tokens[--end] = value % 10;
        while (value /= 10);
        if (i > 0)
            tokens[--end] = SORT_NUMBERS_COMMA;
    }
    return total;
}

static void sort_numbers_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const sort_numbers_options *o = options;
    uint32_t range = (uint32_t)(o->most - o->least) + 1;
    (void)state, (void)kind; /* all lists of a length are equally likely */
    for (int i = 0; i < len; i++)
        out->answer[i] = o->least + (int)rng_below(rest, range);
    out->prompt_len = sort_numbers_write(out->answer, len, out->prompt);
    qsort(out->answer, (size_t)len, sizeof *out->answer, sort_numbers_order);
    out->answer_len = sort_numbers_write(out->answer, len, out->answer);
}

static const pe_option sort_numbers_rows[] = {
    {"least", PE_OPTION_INT, offsetof(sort_numbers_options, least), "10", 0, 999999999, 0, NULL,
     "the smallest number (10 in the released code of Kazemnejad et al.; 0 in their paper)"},
    {"most", PE_OPTION_INT, offsetof(sort_numbers_options, most), "9999", 0, 999999999, 0, NULL,
     "the largest number (Kazemnejad et al.: 9999)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_sort_numbers = {
    .name = "sort_numbers",
    .title = "Sort numbers",
    .source = "Kazemnejad et al., The Impact of Positional Encoding on Length Generalization in Transformers, NeurIPS "
              "2023",
    .format = "BOS 9 0 7 , 1 2 , 4 4 1 0 SEP 1 2 , 9 0 7 , 4 4 1 0 EOS",
    .notes = "Length counts numbers; prompt and answer have up to five tokens for each of them. Kazemnejad et al. "
             "train on up to 8 numbers and test on 9-16, with and without a scratchpad; there is none here. Their "
             "other sort, of single tokens, is bucket_sort(symbols=50).",
    .kind = TASK_ANSWER,
    .options = sort_numbers_rows,
    .options_size = sizeof(sort_numbers_options),
    .check = sort_numbers_check,
    .symbols = sort_numbers_symbols,
    .sizes = sort_numbers_sizes,
    .answer_varies = 1,
    .pair = sort_numbers_pair,
    .bibtex = TASK_BIB_KAZEMNEJAD,
};
