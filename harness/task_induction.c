/* Induction: the prompt's last symbol stood in it once before; what followed it there? (Elhage et al. 2021, Olsson et
 * al. 2022.)
 *
 *   length    symbols of the prompt, at least 3
 *   tokens    0 .. symbols-1 the symbols, then BOS = symbols, SEP = symbols+1, EOS = symbols+2
 *   prompt    x_1 .. x_length, where x_length = x_p for one p <= length - 2 only
 *   answer    x_(p+1)
 *
 *   symbols=8, length 6, p = 2:
 *   input      8  3  5  0  3  7  5  9  0
 *   target     .  .  .  .  .  .  .  0 10
 *
 * The last symbol is uniform; the others, but for x_p, are independent and uniform over all that differ from it. p is
 * uniform over 1 .. length - 2; distance=d fixes it at length - d, d symbols before the last one at every length,
 * depth=s at that share of the way: depth=0 is the first symbol, depth=1 the last but two.
 */
#include <stddef.h>
#include <stdio.h>

#include "task.h"
#include "task_sources.h"

typedef struct induction_options {
    int symbols;
    int distance; /* PE_AUTO_INT: not fixed */
    double depth; /* PE_AUTO_REAL: not fixed */
} induction_options;

static int induction_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    const induction_options *o = options;
    int least = o->distance == PE_AUTO_INT ? 3 : o->distance + 1;
    (void)max_len;
    if (o->distance != PE_AUTO_INT && o->depth != PE_AUTO_REAL) {
        snprintf(message, size, "distance and depth both say where the symbol stood; only one of them can");
        return -1;
    }
    if (min_len >= least)
        return 0;
    snprintf(message, size, "length %d is too short: the last symbol, the one before it that is equal%s take %d",
             min_len, o->distance == PE_AUTO_INT ? " and what followed" : " and the distance between them", least);
    return -1;
}

static int induction_symbols(const void *options, int max_len)
{
    (void)max_len;
    return ((const induction_options *)options)->symbols;
}

static void induction_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = len;
    *answer = 1;
}

/* By symmetry between the symbols, wherever p lies. */
static double induction_chance(const void *options, const void *state, int len)
{
    (void)state, (void)len;
    return 1.0 / ((const induction_options *)options)->symbols;
}

/* Index of x_p, from 0. */
static int induction_place(const induction_options *o, rng *rest, int len)
{
    if (o->distance != PE_AUTO_INT)
        return len - 1 - o->distance;
    if (o->depth != PE_AUTO_REAL)
        return (int)(o->depth * (len - 3) + 0.5);
    return (int)rng_below(rest, (uint32_t)len - 2);
}

static void induction_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const induction_options *o = options;
    int place = induction_place(o, rest, len), asked = (int)rng_below(rest, (uint32_t)o->symbols);
    (void)state, (void)kind; /* all places and strings are equally likely */
    for (int i = 0; i < len; i++) {
        int other = (int)rng_below(rest, (uint32_t)o->symbols - 1);
        out->prompt[i] = other < asked ? other : other + 1;
    }
    out->prompt[place] = out->prompt[len - 1] = asked;
    out->answer[0] = out->prompt[place + 1];
    out->prompt_len = len;
    out->answer_len = 1;
}

static const pe_option induction_rows[] = {
    {"symbols", PE_OPTION_INT, offsetof(induction_options, symbols), "64", 2, TASK_SYMBOLS_MAX, 0, NULL,
     "size of the alphabet (the suite's own choice)"},
    {"distance", PE_OPTION_INT, offsetof(induction_options, distance), "auto", 2, 1 << 24, 1, NULL,
     "symbols from the earlier occurrence to the last one, the same at every length; auto: drawn, or as depth says"},
    {"depth", PE_OPTION_REAL, offsetof(induction_options, depth), "auto", 0, 1, 1, NULL,
     "where the earlier occurrence stands, from 0, the first symbol, to 1, the last but two; auto: uniform, or as "
     "distance "
     "says"},
    {.name = NULL},
};

const task_descriptor task_descriptor_induction = {
    .name = "induction",
    .title = "Induction",
    .source = "Olsson et al., In-context Learning and Induction Heads, Transformer Circuits Thread, 2022",
    .format = "BOS d f a d h f SEP a EOS",
    .notes =
        "The smallest recall: one lookup of what followed the last symbol before. Two layers suffice where a head can "
        "attend to the token before; what that head becomes at unseen lengths is what is measured. The source scores "
        "repeated random sequences at every token; here one lookup is asked for, at a known distance.",
    .kind = TASK_ANSWER,
    .options = induction_rows,
    .options_size = sizeof(induction_options),
    .check = induction_check,
    .symbols = induction_symbols,
    .sizes = induction_sizes,
    .chance_token = induction_chance,
    .chance_exact = induction_chance,
    .pair = induction_pair,
    .bibtex = TASK_BIB_OLSSON,
};
