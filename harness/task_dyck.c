/* Dyck words: close the brackets that a prefix leaves open.
 *
 *   length    brackets of the prefix
 *   tokens    0 .. k-1 opening brackets for k = kinds, k .. 2k-1 the closing ones in the same order, then BOS = 2k,
 *             SEP = 2k+1, EOS = 2k+2
 *   input     BOS prefix SEP closing brackets
 *   target    nothing up to the last bracket of the prefix, then the closing brackets, innermost first, and EOS: SEP
 *             predicts the first
 *
 *   kinds=2, length 5: ( [ ] ( [ is closed by ] ) )
 *   input     4 0 1 3 0 1 5 3 2 2
 *   target    . . . . . . 3 2 2 6
 *
 * A prefix is drawn bracket by bracket. With none open, the next one opens; with max_depth open, it closes; else either
 * is equally likely. The last bracket never closes the only open one, so there is always something to close. Opened
 * brackets are of each kind equally often, closing ones fit. Prefixes of Dyck-(k, m), k kinds and at most m open, as
 * Hewitt et al. 2020 call it.
 */
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

typedef struct dyck_options {
    int kinds, max_depth; /* PE_AUTO_INT: no bound */
} dyck_options;

static int dyck_symbols(const void *options, int max_len)
{
    (void)max_len;
    return 2 * ((const dyck_options *)options)->kinds;
}

static int dyck_deepest(const dyck_options *o, int len)
{
    return o->max_depth == PE_AUTO_INT || o->max_depth > len ? len : o->max_depth;
}

static void dyck_sizes(const void *options, int len, int *prompt, int *answer)
{
    *prompt = len;
    *answer = dyck_deepest(options, len);
}

/* Does the next bracket open, with `open` brackets open and `left` brackets to draw, this one among them? */
static int dyck_opens(rng *r, int open, int deepest, int left)
{
    if (open == 0 || (open == 1 && left == 1))
        return 1;
    return open < deepest && rng_below(r, 2) == 0;
}

/* answer[] is the stack of open brackets, outermost first, then it is turned round. Which places open comes from
 * `kind`, unless that is all there is to draw. */
static void dyck_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const dyck_options *o = options;
    int deepest = dyck_deepest(o, len), open = 0, *stack = out->answer;
    rng *shape = o->kinds > 1 ? kind : rest;
    (void)state;
    for (int i = 0; i < len; i++) {
        if (dyck_opens(shape, open, deepest, len - i)) {
            out->prompt[i] = (int)rng_below(rest, (uint32_t)o->kinds);
            stack[open++] = out->prompt[i] + o->kinds;
        } else {
            out->prompt[i] = stack[--open];
        }
    }
    for (int i = 0, j = open - 1; i < j; i++, j--) {
        int bracket = stack[i];
        stack[i] = stack[j];
        stack[j] = bracket;
    }
    out->prompt_len = len;
    out->answer_len = open;
}

static const pe_option dyck_rows[] = {
    {"kinds", PE_OPTION_INT, offsetof(dyck_options, kinds), "2", 1, TASK_SYMBOLS_MAX / 2, 0, NULL,
     "k: kinds of brackets; with 1 it is enough to count"},
    {"max_depth", PE_OPTION_INT, offsetof(dyck_options, max_depth), "auto", 2, 1000000, 1, NULL,
     "m: brackets that may be open at a time; auto: any number"},
    {.name = NULL},
};

const task_descriptor task_descriptor_dyck = {
    .name = "dyck",
    .title = "Closing brackets of Dyck words",
    .source = "Hewitt et al., RNNs Can Generate Bounded Hierarchical Languages with Optimal Memory, EMNLP 2020; Yao et "
              "al., Self-Attention Networks Can Process Bounded Hierarchical Languages, ACL 2021",
    .format = "BOS ( [ ] ( [ SEP ] ) ) EOS",
    .notes =
        "The sources train language models on whole words and score the closing brackets in them; here the prefix is "
        "given and the completion, the only shortest one, is the answer. Without a bound the number of open brackets "
        "grows like the square root of the length. Answers differ in length: chance is estimated.",
    .kind = TASK_ANSWER,
    .options = dyck_rows,
    .options_size = sizeof(dyck_options),
    .symbols = dyck_symbols,
    .sizes = dyck_sizes,
    .answer_varies = 1,
    .pair = dyck_pair,
    .bibtex = TASK_BIB_HEWITT TASK_BIB_YAO,
};
