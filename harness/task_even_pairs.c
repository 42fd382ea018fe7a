/* Even pairs: is the number of places where a bit differs from the next one even (Deletang et al. 2023).
 *
 *   length    bits
 *   tokens    0 and 1 the bits, BOS = 2, SEP = 3, EOS = 4
 *   input     BOS x SEP y       length + 3 tokens; y = 0 when 01 and 10 together occur an even number of times, else 1
 *
 *   length 6:
 *   input     2 0 0 1 1 1 0 3 0
 *   target    . . . . . . . 0 4
 *
 * Bits are independent and uniform. The number is even exactly when the first bit is the last one, so whoever finds
 * both ends has solved it.
 */
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

static int even_pairs_symbols(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return 2;
}

static void even_pairs_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = len;
    *answer = 1;
}

/* One bit has no pair. */
static double even_pairs_chance(const void *options, const void *state, int len)
{
    (void)options, (void)state;
    return len == 1 ? 1.0 : 0.5;
}

static void even_pairs_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    (void)options, (void)state, (void)kind; /* all strings of a length are equally likely */
    for (int i = 0; i < len; i++)
        out->prompt[i] = (int)rng_below(rest, 2);
    out->answer[0] = out->prompt[0] != out->prompt[len - 1];
    out->prompt_len = len;
    out->answer_len = 1;
}

const task_descriptor task_descriptor_even_pairs = {
    .name = "even_pairs",
    .title = "Even pairs",
    .source = "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023",
    .format = "BOS 0 0 1 1 1 0 SEP 0 EOS",
    .notes = "0: even, which is when the first bit equals the last. The source trains on lengths 1-40 and tests up to "
             "500, in the encoder regime. At length 1 the answer is always 0; short lengths have so few strings that "
             "streams share some.",
    .kind = TASK_ANSWER,
    .symbols = even_pairs_symbols,
    .sizes = even_pairs_sizes,
    .chance_token = even_pairs_chance,
    .chance_exact = even_pairs_chance,
    .pair = even_pairs_pair,
    .bibtex = TASK_BIB_DELETANG,
};
