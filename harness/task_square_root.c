/* Square root of a binary number, rounded down (Deletang et al. 2023, "compute sqrt").
 *
 *   length    bits of the number, leading zeros among them
 *   tokens    0 and 1 the bits, BOS = 2, SEP = 3, EOS = 4
 *   input     BOS x SEP y                                       the most significant bit comes first
 *   target    nothing up to the last bit of x, then y EOS: SEP predicts the first bit; y has half as many bits as x,
 *             rounded up, leading zeros among them
 *
 *   length 6: 37, whose root is 6.08
 *   input     2 1 0 0 1 0 1 3 1 1 0
 *   target    . . . . . . . 1 1 0 4
 *
 * x is uniform over all strings but 00..0.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "task.h"
#include "task_sources.h"

enum { SQUARE_ROOT_BITS = 16384 }; /* of the longest number: what is left of it stands on the stack */

static int square_root_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    (void)options, (void)min_len;
    if (max_len <= SQUARE_ROOT_BITS)
        return 0;
    snprintf(message, size, "numbers have at most %d bits, not %d", SQUARE_ROOT_BITS, max_len);
    return -1;
}

static int square_root_symbols(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return 2;
}

static void square_root_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = len;
    *answer = (len + 1) / 2;
}

/* Bit t of 4 root + 1, when its last bit stands at 2k+1: the k bits of the root, 0 and 1. */
static int square_root_trial(const int *root, int k, int t)
{
    if (t > 2 * k - 1)
        return t == 2 * k + 1;
    return t >= k ? root[t - k] : 0;
}

/* Is what is left, up to bit 2k+1, at least 4 root + 1? It is less than 8 root + 4, so bits before `first` are 0. */
static int square_root_fits(const signed char *left, const int *root, int k, int first)
{
    for (int t = first; t <= 2 * k + 1; t++) {
        int trial = square_root_trial(root, k, t);
        if (left[t] != trial)
            return left[t] > trial;
    }
    return 1;
}

/* Bit by bit, as on paper: with two more bits of x the root r becomes 2r+1 when what is left of x - r^2 takes off
 * (2r+1)^2 - (2r)^2 = 4r+1, else 2r. left[] are the bits of x, first an additional 0 where their number is odd. */
static void square_root_compute(signed char *left, int bits, int *root)
{
    for (int k = 0; k < bits; k++) {
        int first = k > 0 ? k - 1 : 0, borrow = 0;
        root[k] = square_root_fits(left, root, k, first);
        for (int t = 2 * k + 1; root[k] && t >= first; t--) {
            int bit = left[t] - square_root_trial(root, k, t) - borrow;
            borrow = bit < 0;
            left[t] = (signed char)(bit + 2 * borrow);
        }
    }
}

static void square_root_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    signed char left[SQUARE_ROOT_BITS + 1];
    int odd = len % 2, ones = 0;
    (void)options, (void)state, (void)kind; /* all numbers are equally likely */
    while (ones == 0)
        for (int i = 0; i < len; i++)
            ones += out->prompt[i] = (int)rng_below(rest, 2);
    left[0] = 0;
    for (int i = 0; i < len; i++)
        left[odd + i] = (signed char)out->prompt[i];
    out->prompt_len = len;
    out->answer_len = (len + 1) / 2;
    square_root_compute(left, out->answer_len, out->answer);
}

const task_descriptor task_descriptor_square_root = {
    .name = "square_root",
    .title = "Square root",
    .source = "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023; Ruoss et al., Randomized "
              "Positional Encodings Boost Length Generalization of Transformers, ACL 2023",
    .format = "BOS 1 0 0 1 0 1 SEP 1 1 0 EOS",
    .notes = "In a bidirectional network it is their task; in Ruoss et al. every encoding stays near chance. They call "
             "50 % chance; "
             "the best fixed guess gains a little, since the first bit of the root of a number of even length is 1 in "
             "three of four. It is estimated.",
    .kind = TASK_ANSWER,
    .check = square_root_check,
    .symbols = square_root_symbols,
    .sizes = square_root_sizes,
    .pair = square_root_pair,
    .bibtex = TASK_BIB_DELETANG TASK_BIB_RUOSS,
};
