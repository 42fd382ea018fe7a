/* LEGO (Zhang et al. 2022): a chain of signs. One variable is +1 or -1, each other one is plus or minus the one before
 * it; what is the value of one of them?
 *
 *   length    variables of the chain, one clause each
 *   tokens    0 .. V-1 the variables, V = variables, then '+' = V, '-' = V+1, '1' = V+2, '=' = V+3, ';' = V+4,
 *             '?' = V+5, BOS, SEP, EOS
 *   prompt    length clauses of five tokens, `a = + b ;` or, for the first of the chain, `a = - 1 ;`, then `? a`
 *   answer    + or -, for +1 or -1
 *
 *   three variables:
 *   prompt     c = - a ; a = + b ; b = - 1 ; ? c
 *   answer     +
 *
 * Names are drawn without replacement, signs are uniform and independent. Clauses stand in random order, or with
 * shuffle=false in the chain's. Who is asked for, counted along the chain from 1: query=half any one behind the middle,
 * from ceil(length/2)+1 on (the only one at length 1); any; or the last.
 */
#include <stddef.h>
#include <stdio.h>

#include "task.h"
#include "task_sources.h"

enum { LEGO_PLUS, LEGO_MINUS, LEGO_ONE, LEGO_EQUALS, LEGO_END, LEGO_QUESTION, LEGO_MARKS }; /* behind the variables */
enum { LEGO_CLAUSE = 5, LEGO_VARIABLES_MAX = 4096 };
enum { LEGO_HALF, LEGO_ANY, LEGO_LAST };

typedef struct lego_options {
    int variables;
    int query;
    int shuffle;
} lego_options;

static int lego_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    const lego_options *o = options;
    (void)min_len;
    if (max_len <= o->variables)
        return 0;
    snprintf(message, size, "length %d needs that many different variables, but variables=%d", max_len, o->variables);
    return -1;
}

static int lego_symbols(const void *options, int max_len)
{
    (void)max_len;
    return ((const lego_options *)options)->variables + LEGO_MARKS;
}

static void lego_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = LEGO_CLAUSE * len + 2;
    *answer = 1;
}

/* The value of every variable is uniform. */
static double lego_chance(const void *options, const void *state, int len)
{
    (void)options, (void)state, (void)len;
    return 0.5;
}

/* Which variable of the chain is asked for, from 0. */
static int lego_asked(const lego_options *o, rng *rest, int len)
{
    int candidates = o->query == LEGO_LAST ? 1 : o->query == LEGO_ANY ? len : len < 2 ? 1 : len / 2;
    return len - 1 - (int)rng_below(rest, (uint32_t)candidates);
}

static void lego_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const lego_options *o = options;
    int name[LEGO_VARIABLES_MAX], place[LEGO_VARIABLES_MAX], marks = o->variables, minus = 0;
    int asked = lego_asked(o, rest, len);
    (void)state, (void)kind; /* names, signs and orders are all equally likely */
    task_distinct(rest, o->variables, len, 0, name);
    for (int i = 0; i < len; i++)
        place[i] = i;
    if (o->shuffle)
        task_distinct(rest, len, len, 0, place);
    for (int i = 0; i < len; i++) {
        int negates = (int)rng_below(rest, 2), *clause = out->prompt + LEGO_CLAUSE * place[i];
        minus ^= negates;
        clause[0] = name[i];
        clause[1] = marks + LEGO_EQUALS;
        clause[2] = marks + (negates ? LEGO_MINUS : LEGO_PLUS);
        clause[3] = i == 0 ? marks + LEGO_ONE : name[i - 1];
        clause[4] = marks + LEGO_END;
        if (i == asked)
            out->answer[0] = marks + (minus ? LEGO_MINUS : LEGO_PLUS);
    }
    out->prompt_len = LEGO_CLAUSE * len + 2;
    out->prompt[out->prompt_len - 2] = marks + LEGO_QUESTION;
    out->prompt[out->prompt_len - 1] = name[asked];
    out->answer_len = 1;
}

static const pe_option lego_rows[] = {
    {"variables", PE_OPTION_INT, offsetof(lego_options, variables), "26", 1, LEGO_VARIABLES_MAX, 0, NULL,
     "names that are drawn from; no length can exceed them (Zhang et al., Kazemnejad et al.: the letters)"},
    {"query", PE_OPTION_CHOICE, offsetof(lego_options, query), "half", 0, 0, 0, "half|any|last",
     "who is asked for: one behind the middle of the chain (Kazemnejad et al.), any one, or the last"},
    {"shuffle", PE_OPTION_BOOL, offsetof(lego_options, shuffle), "true", 0, 1, 0, NULL,
     "clauses in random order (Zhang et al.); false: in the chain's"},
    {.name = NULL},
};

const task_descriptor task_descriptor_lego = {
    .name = "lego",
    .title = "LEGO: a chain of signs",
    .source = "Zhang et al., Unveiling Transformers with LEGO: a synthetic reasoning task, 2022; the question as in "
              "Kazemnejad "
              "et al. 2023",
    .format = "BOS c = - a ; a = + b ; b = - 1 ; ? c SEP + EOS",
    .notes =
        "Length is the number of variables. The chance of one half is that of a network that gave up the chain at any "
        "link: the signs after it are independent of those before. Zhang et al. ask for all variables of a chain at "
        "once.",
    .kind = TASK_ANSWER,
    .options = lego_rows,
    .options_size = sizeof(lego_options),
    .check = lego_check,
    .symbols = lego_symbols,
    .sizes = lego_sizes,
    .chance_token = lego_chance,
    .chance_exact = lego_chance,
    .pair = lego_pair,
    .bibtex = TASK_BIB_ZHANG TASK_BIB_KAZEMNEJAD,
};
