/* Repeat copy: repeat a string over a small alphabet, in which symbols recur (Huang et al. 2025, "repeat copy").
 *
 *   length    symbols to copy
 *   tokens    0 .. symbols-1 the symbols, then BOS = symbols, SEP = symbols+1, EOS = symbols+2
 *   input     BOS x SEP x                                       length + 2 + length tokens
 *   target    nothing up to the last symbol of the prompt, then x EOS: SEP predicts the first symbol
 *   position  proposed: a symbol and its copy share an id, BOS and SEP too (position coupling)
 *
 *   symbols=2, length 3:
 *   input     2 0 1 1 3 0 1 1
 *   target    . . . . 0 1 1 4
 *   position  0 1 2 3 0 1 2 3
 *
 * Symbols are independent and uniform. With two of them the last symbols tell nothing about where the copy stands, so
 * the place itself must be tracked: the hard counterpart of unique_copy.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "task.h"
#include "task_sources.h"

typedef struct repeat_copy_options {
    int symbols;
} repeat_copy_options;

static int repeat_copy_symbols(const void *options, int max_len)
{
    const repeat_copy_options *o = options;
    (void)max_len;
    return o->symbols;
}

static void repeat_copy_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = *answer = len;
}

static double repeat_copy_farthest(const void *options, int len)
{
    (void)options;
    return len;
}

static double repeat_copy_chance_token(const void *options, const void *state, int len)
{
    const repeat_copy_options *o = options;
    (void)state, (void)len;
    return 1.0 / o->symbols;
}

static double repeat_copy_chance_exact(const void *options, const void *state, int len)
{
    const repeat_copy_options *o = options;
    (void)state;
    return pow(o->symbols, -len);
}

static void repeat_copy_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const repeat_copy_options *o = options;
    (void)state, (void)kind; /* all strings of a length are equally likely */
    for (int i = 0; i < len; i++)
        out->prompt[i] = (int)rng_below(rest, (uint32_t)o->symbols);
    memcpy(out->answer, out->prompt, (size_t)len * sizeof *out->answer);
    out->prompt_len = out->answer_len = len;
    task_couple_copy(out);
}

/* With many symbols short strings hardly repeat any, and copying them is unique_copy. */
static int repeat_copy_is_sentinel(const void *options)
{
    const repeat_copy_options *o = options;
    return o->symbols == 2;
}

static const pe_option repeat_copy_rows[] = {
    {"symbols", PE_OPTION_INT, offsetof(repeat_copy_options, symbols), "2", 2, TASK_SYMBOLS_MAX, 0, NULL,
     "size of the alphabet (Huang et al.: 2)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_repeat_copy = {
    .name = "repeat_copy",
    .title = "Repeat copy",
    .source = "Huang et al., A Formal Framework for Understanding Length Generalization in Transformers, ICLR 2025",
    .format = "BOS a b b SEP a b b EOS",
    .notes = "Two letters, uniform and independent. No encoding of the source generalises here. Lengths up to about 10 "
             "have so few "
             "strings that streams share some: see the overlap in the record.",
    .kind = TASK_ANSWER,
    .proposes_positions = 1,
    .positions = "a symbol and its copy share an id: BOS and SEP 0, the i-th symbol i (Cho et al. 2024, position "
                 "coupling, whose code too lets the separator stand one before the first symbol)",
    .sentinel =
        "the place in a string of two letters must be tracked, and both encodings of the source score 0.000 at two to "
        "three times the training length",
    .is_sentinel = repeat_copy_is_sentinel,
    .options = repeat_copy_rows,
    .options_size = sizeof(repeat_copy_options),
    .symbols = repeat_copy_symbols,
    .sizes = repeat_copy_sizes,
    .farthest = repeat_copy_farthest,
    .chance_token = repeat_copy_chance_token,
    .chance_exact = repeat_copy_chance_exact,
    .pair = repeat_copy_pair,
    .bibtex = TASK_BIB_HUANG,
};
