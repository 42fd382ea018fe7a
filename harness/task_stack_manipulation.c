/* Stack manipulation (Deletang et al. 2023, Ruoss et al. 2023): what a stack holds after a series of instructions.
 *
 *   length    bits of the first stack and instructions together
 *   tokens    0 and 1 the bits, POP = 2, PUSH 0 = 3, PUSH 1 = 4, BOS = 5, SEP = 6, EOS = 7
 *   input     BOS the stack from the bottom up, instructions, SEP the last stack from the top down
 *   target    nothing up to the last instruction, then the last stack and EOS: SEP predicts the top; EOS at once where
 *             the stack is empty
 *
 *   length 7: 0 1 1 0, PUSH 1, POP, POP
 *   input     5 0 1 1 0 4 2 2 6 1 1 0
 *   target    . . . . . . . . 1 1 0 7
 *
 * The first stack has 1 .. length-1 bits, each number equally likely (1 at length 1); bits and instructions are
 * uniform. POP leaves an empty stack as it is.
 */
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

enum { STACK_POP = 2, STACK_PUSH, STACK_SYMBOLS = 5 }; /* PUSH 0 and PUSH 1 behind each other */

static int stack_manipulation_symbols(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return STACK_SYMBOLS;
}

static void stack_manipulation_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = *answer = len;
}

/* answer[] is the stack while it changes, bottom first, then it is turned round. */
static void stack_manipulation_pair(const void *options, const void *state, rng *kind, rng *rest, int len,
                                    task_pair *out)
{
    int bits = len == 1 ? 1 : 1 + (int)rng_below(kind, (uint32_t)len - 1), height = 0, *stack = out->answer;
    (void)options, (void)state;
    for (int i = 0; i < len; i++) {
        int symbol = i < bits ? (int)rng_below(rest, 2) : STACK_POP + (int)rng_below(rest, STACK_SYMBOLS - STACK_POP);
        out->prompt[i] = symbol;
        if (i < bits)
            stack[height++] = symbol;
        else if (symbol >= STACK_PUSH)
            stack[height++] = symbol - STACK_PUSH;
        else if (height > 0)
            height--;
    }
    for (int i = 0, j = height - 1; i < j; i++, j--) {
        int bit = stack[i];
        stack[i] = stack[j];
        stack[j] = bit;
    }
    out->prompt_len = len;
    out->answer_len = height;
}

const task_descriptor task_descriptor_stack_manipulation = {
    .name = "stack_manipulation",
    .title = "Stack manipulation",
    .source = "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023; Ruoss et al., Randomized "
              "Positional Encodings Boost Length Generalization of Transformers, ACL 2023",
    .format = "BOS 0 1 1 0 PUSH1 POP POP SEP 1 1 0 EOS",
    .notes =
        "In a bidirectional network it is their task, with EOS for their third symbol of the output. An empty stack "
        "is answered with EOS alone. They call 50 % chance; EOS is scored too, and its place can be guessed, so "
        "chance is estimated.",
    .kind = TASK_ANSWER,
    .symbols = stack_manipulation_symbols,
    .sizes = stack_manipulation_sizes,
    .answer_varies = 1,
    .pair = stack_manipulation_pair,
    .bibtex = TASK_BIB_DELETANG TASK_BIB_RUOSS,
};
