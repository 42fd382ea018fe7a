/* Variable tracking (Hsieh et al. 2024, RULER): chains of assignments scattered in filler; which variables hold a
 * value, or what does the last variable of a chain hold?
 *
 *   length    tokens of the prompt
 *   tokens    V = variables, W = values: 0 .. V-1 variables, V .. V+W-1 values, then '=' = V+W, '?' = V+W+1, sixteen
 *             kinds of filler, BOS, SEP, EOS
 *   prompt    chains * (hops+1) statements of three tokens and filler between them, then '?' and what is asked
 *   answer    ask=variables: after `? value`, the hops+1 variables of the value's chain, in the chain's order
 *             ask=value: after `? variable`, the last one of a chain, the chain's value
 *
 *   variables=8, values=4, hops=2, two tokens of filler, ask=variables (= is 12, ? is 13, filler from 14 on):
 *   prompt     3 12  9 | 14 |  5 12  3 | 15 |  0 12  5 | 13  9         3 = 9, 5 = 3, 0 = 5: which are 9?
 *   answer     3  5  0
 *
 * A chain gives its first variable a value and each of `hops` others the variable before it. The first chain is asked
 * for; the others, `chains` - 1 of them, mislead, with variables and values of their own. Statements keep their order
 * within a chain; apart from that every order of all statements and all tokens of filler is equally likely. Variables
 * and values are drawn without replacement.
 */
#include <stddef.h>
#include <stdio.h>

#include "task.h"
#include "task_sources.h"

enum { TRACKING_STATEMENT = 3, TRACKING_QUESTION = 2, TRACKING_VARIABLES_MAX = 4096 };
enum { TRACKING_ASK_VARIABLES, TRACKING_ASK_VALUE };
enum { TRACKING_SENTENCE, TRACKING_RANDOM };

typedef struct tracking_options {
    int chains, hops;
    int ask;
    int filler;
    int variables, values;
} tracking_options;

static int tracking_filler(const tracking_options *o, int len)
{
    return len - TRACKING_QUESTION - TRACKING_STATEMENT * o->chains * (o->hops + 1);
}

static int tracking_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    const tracking_options *o = options;
    int needed = o->chains * (o->hops + 1);
    (void)max_len;
    if (needed > o->variables)
        snprintf(message, size, "chains=%d of hops=%d need %d different variables, but variables=%d", o->chains,
                 o->hops, needed, o->variables);
    else if (o->chains > o->values)
        snprintf(message, size, "chains=%d need that many different values, but values=%d", o->chains, o->values);
    else if (tracking_filler(o, min_len) < 0)
        snprintf(message, size, "length %d is too short: %d statements and the question take %d tokens", min_len,
                 needed, TRACKING_STATEMENT * needed + TRACKING_QUESTION);
    else
        return 0;
    return -1;
}

static int tracking_symbols(const void *options, int max_len)
{
    const tracking_options *o = options;
    (void)max_len;
    return o->variables + o->values + 2 + TASK_FILLERS;
}

static void tracking_sizes(const void *options, int len, int *prompt, int *answer)
{
    const tracking_options *o = options;
    *prompt = len;
    *answer = o->ask == TRACKING_ASK_VALUE ? 1 : o->hops + 1;
}

/* Each variable of the answer is any of them, and so is the value. */
static double tracking_chance_token(const void *options, const void *state, int len)
{
    const tracking_options *o = options;
    (void)state, (void)len;
    return 1.0 / (o->ask == TRACKING_ASK_VALUE ? o->values : o->variables);
}

static double tracking_chance_exact(const void *options, const void *state, int len)
{
    const tracking_options *o = options;
    (void)state, (void)len;
    return o->ask == TRACKING_ASK_VALUE ? 1.0 / o->values : task_chance_arrangement(o->variables, o->hops + 1);
}

/* What is still to be written: statements of each chain and tokens of filler. */
typedef struct tracking_rest {
    int *done;  /* [chains] statements written */
    int units;  /* statements and tokens of filler left */
    int filler; /* tokens of filler left */
} tracking_rest;

/* The next unit of a uniformly random order: the chain whose statement comes, or -1 for a token of filler. */
static int tracking_next(const tracking_options *o, rng *rest, tracking_rest *left)
{
    int aim = (int)rng_below(rest, (uint32_t)left->units--) - left->filler, chain = 0;
    if (aim < 0) {
        left->filler--;
        return -1;
    }
    while (aim >= o->hops + 1 - left->done[chain])
        aim -= o->hops + 1 - left->done[chain++];
    return chain;
}

/* names[chain][hops+1], values[chain]. Returns the tokens written. */
static int tracking_write(const tracking_options *o, rng *rest, int len, const int *names, const int *values, int *out)
{
    int done[TRACKING_VARIABLES_MAX] = {0}, filler = tracking_filler(o, len), t = 0;
    tracking_rest left = {.done = done, .units = filler + o->chains * (o->hops + 1), .filler = filler};
    int equals = o->variables + o->values, first_filler = equals + 2;
    for (int fillers = 0; left.units > 0;) {
        int chain = tracking_next(o, rest, &left);
        if (chain < 0) {
            int random = o->filler == TRACKING_RANDOM;
            out[t++] = first_filler + (random ? (int)rng_below(rest, TASK_FILLERS) : task_filler(fillers++));
            continue;
        }
        const int *name = names + chain * (o->hops + 1) + done[chain];
        out[t++] = *name;
        out[t++] = equals;
        out[t++] = done[chain]++ == 0 ? values[chain] : name[-1];
    }
    return t;
}

static void tracking_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const tracking_options *o = options;
    int names[TRACKING_VARIABLES_MAX], values[TRACKING_VARIABLES_MAX];
    (void)state, (void)kind; /* all orders and names are equally likely */
    task_distinct(rest, o->variables, o->chains * (o->hops + 1), 0, names);
    task_distinct(rest, o->values, o->chains, o->variables, values);
    int t = tracking_write(o, rest, len, names, values, out->prompt);
    out->prompt[t++] = o->variables + o->values + 1;
    out->prompt[t++] = o->ask == TRACKING_ASK_VALUE ? names[o->hops] : values[0];
    out->prompt_len = t;
    out->answer_len = o->ask == TRACKING_ASK_VALUE ? 1 : o->hops + 1;
    for (int i = 0; i < out->answer_len; i++)
        out->answer[i] = o->ask == TRACKING_ASK_VALUE ? values[0] : names[i];
}

static const pe_option tracking_rows[] = {
    {"chains", PE_OPTION_INT, offsetof(tracking_options, chains), "1", 1, TRACKING_VARIABLES_MAX, 0, NULL,
     "chains of assignments, of which one is asked for (RULER: 1)"},
    {"hops", PE_OPTION_INT, offsetof(tracking_options, hops), "4", 0, TRACKING_VARIABLES_MAX - 1, 0, NULL,
     "assignments of a variable to another one in each chain, behind that of the value (RULER: 4)"},
    {"ask", PE_OPTION_CHOICE, offsetof(tracking_options, ask), "variables", 0, 0, 0, "variables|value",
     "the variables that hold a value (RULER), or the value of a chain's last variable"},
    {"filler", PE_OPTION_CHOICE, offsetof(tracking_options, filler), "sentence", 0, 0, 0, "sentence|random",
     "RULER's noise, that of the passkey task, going on from one gap to the next; or tokens drawn from the same "
     "sixteen kinds"},
    {"variables", PE_OPTION_INT, offsetof(tracking_options, variables), "64", 1, TRACKING_VARIABLES_MAX, 0, NULL,
     "names that variables are drawn from (the suite's own choice; RULER: five random letters)"},
    {"values", PE_OPTION_INT, offsetof(tracking_options, values), "32", 1, TRACKING_VARIABLES_MAX, 0, NULL,
     "values that are drawn from, a token each (the suite's own choice; RULER: numbers of five digits)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_variable_tracking = {
    .name = "variable_tracking",
    .title = "Variable tracking",
    .source = "Hsieh et al., RULER: What's the Real Context Size of Your Long-Context Language Models?, COLM 2024",
    .format = "BOS a = 7 the b = a grass is c = b ? 7 SEP a b c EOS",
    .notes =
        "Length is the number of tokens of the prompt; chains and hops stay the same, so what grows is the filler. The "
        "order of the answer is the chain's and counts, where RULER's score is the share of variables found in a free "
        "answer. RULER scatters whole sentences of noise, and statements between them.",
    .kind = TASK_ANSWER,
    .options = tracking_rows,
    .options_size = sizeof(tracking_options),
    .check = tracking_check,
    .symbols = tracking_symbols,
    .sizes = tracking_sizes,
    .chance_token = tracking_chance_token,
    .chance_exact = tracking_chance_exact,
    .pair = tracking_pair,
    .bibtex = TASK_BIB_HSIEH,
};
