/* Copying in the variants of Kazemnejad et al. 2023 (section 3.2), and the duplication of Deletang et al. 2023.
 *
 * copy
 *   length    symbols of the string
 *   tokens    0 .. symbols-1 the symbols, | = symbols where the options have a use for it, then BOS, SEP, EOS
 *   prompt    x; with string=replace: a b | x, where x is a repeated and the answer b repeated
 *   answer    y, `times` times, with | between two of them unless apart=false
 *   position  proposed: a symbol and its copies share an id; BOS, SEP, | and what stands in front of x have 0
 *
 *   symbols=100, times=2, length 2:
 *   input     101   7  93 102   7  93 100   7  93
 *   target      .   .   .   7  93 100   7  93 103
 *   position    0   1   2   0   1   2   0   1   2
 *
 *   symbols=100, string=replace, length 2: 7 7 becomes 93 93
 *   input     101   7  93 100   7   7 102  93  93
 *   target      .   .   .   .   .   .  93  93 103
 *   position    0   0   0   0   1   2   0   1   2
 *
 * string=random draws each symbol for itself: there is a next symbol to look up. string=one and string=replace repeat
 * one symbol: all that is left is to count.
 *
 * duplicate_string
 *   length    symbols to duplicate
 *   tokens    0 .. symbols-1 the symbols, then BOS = symbols, SEP = symbols+1, EOS = symbols+2
 *   input     BOS x SEP x x: copy(symbols=2,times=2,apart=false)
 */
#include <math.h>
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

enum { COPY_RANDOM, COPY_ONE, COPY_REPLACE };
enum { COPY_HEAD = 3 }; /* "a b |" */

typedef struct copy_options {
    int symbols;
    int string;
    int times;
    int apart;
} copy_options;

static int copy_head(const copy_options *o)
{
    return o->string == COPY_REPLACE ? COPY_HEAD : 0;
}

static int copy_bars(const copy_options *o)
{
    return o->apart ? o->times - 1 : 0;
}

static int copy_symbols(const void *options, int max_len)
{
    const copy_options *o = options;
    (void)max_len;
    return o->symbols + (copy_head(o) > 0 || copy_bars(o) > 0);
}

static void copy_sizes(const void *options, int len, int *prompt, int *answer)
{
    const copy_options *o = options;
    *prompt = copy_head(o) + len;
    *answer = o->times * len + copy_bars(o);
}

static double copy_farthest(const void *options, int len)
{
    (void)options;
    return len;
}

/* Every symbol of the string is uniform; the bars stand where they must. */
static double copy_chance_token(const void *options, const void *state, int len)
{
    const copy_options *o = options;
    double strings = (double)o->times * len;
    (void)state;
    return (strings / o->symbols + copy_bars(o)) / (strings + copy_bars(o));
}

static double copy_chance_exact(const void *options, const void *state, int len)
{
    const copy_options *o = options;
    (void)state;
    return o->string == COPY_RANDOM ? pow(o->symbols, -len) : 1.0 / o->symbols;
}

/* prompt = the head, if any, and the string; returns the symbol that replaces it, or -1. */
static int copy_draw(const copy_options *o, rng *rest, int len, int *prompt)
{
    int head = copy_head(o), symbol = (int)rng_below(rest, (uint32_t)o->symbols), other = -1;
    if (head) {
        other = (int)rng_below(rest, (uint32_t)o->symbols - 1);
        other += other >= symbol; /* any but that one */
        prompt[0] = symbol;
        prompt[1] = other;
        prompt[2] = o->symbols;
    }
    for (int i = 0; i < len; i++) {
        prompt[head + i] = symbol;
        if (o->string == COPY_RANDOM)
            symbol = (int)rng_below(rest, (uint32_t)o->symbols);
    }
    return other;
}

static void copy_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const copy_options *o = options;
    int head = copy_head(o), replaced = copy_draw(o, rest, len, out->prompt);
    (void)state, (void)kind; /* all prompts of a length are equally likely */
    out->prompt_len = head + len;
    out->answer_len = 0;
    task_place_prompt(out, head);
    for (int k = 0; k < o->times; k++) {
        if (k > 0 && o->apart)
            task_answer(out, o->symbols, 0);
        for (int i = 0; i < len; i++)
            task_answer(out, replaced < 0 ? out->prompt[head + i] : replaced, i + 1);
    }
}

static const pe_option copy_rows[] = {
    {"symbols", PE_OPTION_INT, offsetof(copy_options, symbols), "100", 2, TASK_SYMBOLS_MAX, 0, NULL,
     "size of the alphabet (Kazemnejad et al.: 100)"},
    {"string", PE_OPTION_CHOICE, offsetof(copy_options, string), "random", 0, 0, 0, "random|one|replace",
     "random: symbols independent and uniform; one: one symbol repeated; replace: one symbol repeated, to be replaced "
     "by another that the prompt names first"},
    {"times", PE_OPTION_INT, offsetof(copy_options, times), "1", 1, 16, 0, NULL,
     "how often the answer says it (Kazemnejad et al.: 1 and 2)"},
    {"apart", PE_OPTION_BOOL, offsetof(copy_options, apart), "true", 0, 1, 0, NULL,
     "a symbol | between two answers (true in the released cmc2x, false in rsc2x)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_copy = {
    .name = "copy",
    .title = "Copy",
    .source = "Kazemnejad et al., The Impact of Positional Encoding on Length Generalization in Transformers, NeurIPS "
              "2023",
    .format = "BOS c a c SEP c a c EOS   string=replace: BOS a b | a a SEP b b EOS   times=2: BOS c a SEP c a | c a "
              "EOS",
    .notes = "The source's variants: cmc is the default, cmc2x times=2, rsc string=one, rsc2x "
             "string=one,times=2,apart=false, rdc string=replace. It trains on lengths 4-20 and tests on 21-40. With "
             "one symbol repeated there are only `symbols` prompts of a length (symbols * (symbols-1) with replace), "
             "a sixteenth of them to test on, and what is measured is counting.",
    .kind = TASK_ANSWER,
    .proposes_positions = 1,
    .positions = "the i-th symbol of the string and its copies share the id i; BOS, SEP, | and the two symbols in "
                 "front of | have 0 (Cho et al. 2024, position coupling, applied to this task)",
    .options = copy_rows,
    .options_size = sizeof(copy_options),
    .symbols = copy_symbols,
    .sizes = copy_sizes,
    .farthest = copy_farthest,
    .chance_token = copy_chance_token,
    .chance_exact = copy_chance_exact,
    .pair = copy_pair,
    .bibtex = TASK_BIB_KAZEMNEJAD,
};

/* ------------------------------------------------------------------------------------------------ duplicate_string */

typedef struct duplicate_options {
    int symbols;
} duplicate_options;

static int duplicate_symbols(const void *options, int max_len)
{
    const duplicate_options *o = options;
    (void)max_len;
    return o->symbols;
}

static void duplicate_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = len;
    *answer = 2 * len;
}

static double duplicate_chance_token(const void *options, const void *state, int len)
{
    const duplicate_options *o = options;
    (void)state, (void)len;
    return 1.0 / o->symbols;
}

static double duplicate_chance_exact(const void *options, const void *state, int len)
{
    const duplicate_options *o = options;
    (void)state;
    return pow(o->symbols, -len);
}

static void duplicate_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const duplicate_options *o = options;
    copy_pair(&(copy_options){.symbols = o->symbols, .string = COPY_RANDOM, .times = 2}, state, kind, rest, len, out);
}

static const pe_option duplicate_rows[] = {
    {"symbols", PE_OPTION_INT, offsetof(duplicate_options, symbols), "2", 2, TASK_SYMBOLS_MAX, 0, NULL,
     "size of the alphabet (Deletang et al.: 2)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_duplicate_string = {
    .name = "duplicate_string",
    .title = "Duplicate string",
    .source = "Deletang et al., Neural Networks and the Chomsky Hierarchy, ICLR 2023",
    .format = "BOS a b b SEP a b b a b b EOS",
    .notes = "Uniform and independent symbols, two copies without anything between them. The source trains on lengths "
             "1-40 and tests up to 500, in the encoder regime. Short lengths have so few strings that streams share "
             "some.",
    .kind = TASK_ANSWER,
    .proposes_positions = 1,
    .positions = "a symbol and both copies share an id: BOS and SEP 0, the i-th symbol i (Cho et al. 2024, position "
                 "coupling, applied to this task)",
    .options = duplicate_rows,
    .options_size = sizeof(duplicate_options),
    .symbols = duplicate_symbols,
    .sizes = duplicate_sizes,
    .farthest = copy_farthest,
    .chance_token = duplicate_chance_token,
    .chance_exact = duplicate_chance_exact,
    .pair = duplicate_pair,
    .bibtex = TASK_BIB_DELETANG,
};
