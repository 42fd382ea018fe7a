/* Reverse: say a string backwards (Deletang et al. 2023, "reverse string"; Kazemnejad et al. 2023, mc, mc2x and mcrv).
 *
 *   length    symbols to reverse
 *   tokens    0 .. symbols-1 the symbols, with `then` | = symbols, then BOS, SEP, EOS
 *   prompt    x
 *   answer    x backwards; with then=reverse: that, |, the same again; with then=copy: that, |, x
 *   position  proposed: a symbol and its copies share an id (position coupling). What stands in front of a reversed
 *             string (SEP, |) has the id one above its first symbol, what stands in front of x (BOS, |) the id 0: so
 *             ids go down by one in a reversed string, and up by one in x, from the token in front of it on
 *
 *   symbols=100, then=copy, length 2:
 *   input     101   7  93 102  93   7 100   7  93
 *   target      .   .   .  93   7 100   7  93 103
 *   position    0   1   2   3   2   1   0   1   2
 *
 * Symbols are independent and uniform.
 */
#include <math.h>
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

enum { REVERSE_ALONE, REVERSE_AGAIN, REVERSE_COPY };

typedef struct reverse_options {
    int symbols;
    int then;
} reverse_options;

static int reverse_symbols(const void *options, int max_len)
{
    const reverse_options *o = options;
    (void)max_len;
    return o->symbols + (o->then != REVERSE_ALONE);
}

static void reverse_sizes(const void *options, int len, int *prompt, int *answer)
{
    const reverse_options *o = options;
    *prompt = len;
    *answer = o->then == REVERSE_ALONE ? len : 2 * len + 1;
}

static double reverse_farthest(const void *options, int len)
{
    (void)options;
    return len + 1.0;
}

/* Every symbol is uniform; | stands where it must. */
static double reverse_chance_token(const void *options, const void *state, int len)
{
    const reverse_options *o = options;
    double uniform = 1.0 / o->symbols;
    (void)state;
    return o->then == REVERSE_ALONE ? uniform : (2 * len * uniform + 1) / (2 * len + 1);
}

static double reverse_chance_exact(const void *options, const void *state, int len)
{
    const reverse_options *o = options;
    (void)state;
    return pow(o->symbols, -len);
}

static void reverse_say(task_pair *out, int backwards)
{
    for (int i = 0; i < out->prompt_len; i++) {
        int from = backwards ? out->prompt_len - 1 - i : i;
        task_answer(out, out->prompt[from], from + 1);
    }
}

static void reverse_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const reverse_options *o = options;
    (void)state, (void)kind; /* all strings of a length are equally likely */
    for (int i = 0; i < len; i++)
        out->prompt[i] = (int)rng_below(rest, (uint32_t)o->symbols);
    out->prompt_len = len;
    out->answer_len = 0;
    out->separator_position = len + 1;
    task_place_prompt(out, 0);
    reverse_say(out, 1);
    if (o->then == REVERSE_ALONE)
        return;
    task_answer(out, o->symbols, o->then == REVERSE_AGAIN ? len + 1 : 0);
    reverse_say(out, o->then == REVERSE_AGAIN);
}

static const pe_option reverse_rows[] = {
    {"symbols", PE_OPTION_INT, offsetof(reverse_options, symbols), "100", 2, TASK_SYMBOLS_MAX, 0, NULL,
     "size of the alphabet (Kazemnejad et al.: 100; Deletang et al.: 2)"},
    {"then", PE_OPTION_CHOICE, offsetof(reverse_options, then), "nothing", 0, 0, 0, "nothing|reverse|copy",
     "what the answer says behind a symbol |: nothing (mc), the reversed string again (mc2x), the string itself "
     "(mcrv)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_reverse = {
    .name = "reverse",
    .title = "Reverse",
    .source = "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023; Kazemnejad et al., The Impact "
              "of Positional Encoding on Length Generalization in Transformers, NeurIPS 2023",
    .format = "BOS c a d SEP d a c EOS   then=copy: BOS c a SEP a c | c a EOS",
    .notes = "Deletang et al.: symbols=2, trained on lengths 1-40, tested up to 500, in the encoder regime. "
             "Kazemnejad et al.: the default is mc, then=reverse mc2x, then=copy mcrv; trained on lengths 4-20, "
             "tested on 21-40.",
    .kind = TASK_ANSWER,
    .proposes_positions = 1,
    .positions = "a symbol and its copies share an id: the i-th symbol i, BOS 0; SEP, and | in front of a reversed "
                 "string, length+1; | in front of the string itself 0 (Cho et al. 2024, position coupling, applied to "
                 "this task)",
    .options = reverse_rows,
    .options_size = sizeof(reverse_options),
    .symbols = reverse_symbols,
    .sizes = reverse_sizes,
    .farthest = reverse_farthest,
    .chance_token = reverse_chance_token,
    .chance_exact = reverse_chance_exact,
    .pair = reverse_pair,
    .bibtex = TASK_BIB_DELETANG TASK_BIB_KAZEMNEJAD,
};
