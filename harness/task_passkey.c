/* Passkey retrieval: a key of a few digits is hidden in filler and asked for at the end (Mohtashami & Jaggi 2023), here
 * as tokens.
 *
 *   length    tokens of the prompt: filler, a mark and the key
 *   tokens    0 .. 9 the digits, 10 the mark, 11 .. 26 sixteen kinds of filler, then BOS = 27, SEP = 28, EOS = 29
 *   prompt    `before` tokens of filler, the mark, the key, the rest of the filler; SEP is the question
 *   answer    the key
 *
 *   digits=2, filler=sentence, length 10, four tokens before the key:
 *   input     27  11 12 13 14  10  4  7  11 12 13  28  4  7
 *   target     .   .  .  .  .   .  .  .   .  .  .   4  7 29
 *
 * Depth is where the key stands: the share of the filler that comes before it, 0 at the beginning, 1 right before the
 * question. auto draws `before` uniformly from 0 .. length - digits - 1, all there is. Digits are uniform and
 * independent.
 *
 * filler=sentence is the source's own, a token for each word and full stop: both stretches begin with its first word
 * and are cut where they end. filler=random draws each token from the same sixteen kinds.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "task.h"
#include "task_sources.h"

enum {
    PASSKEY_DIGITS = 10,
    PASSKEY_MARK = PASSKEY_DIGITS,
    PASSKEY_FILLER,
    PASSKEY_SYMBOLS = PASSKEY_FILLER + TASK_FILLERS
};
enum { PASSKEY_SENTENCE, PASSKEY_RANDOM };

typedef struct passkey_options {
    int digits;
    double depth; /* PE_AUTO_REAL: random */
    int filler;
} passkey_options;

static int passkey_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    const passkey_options *o = options;
    (void)max_len;
    if (min_len > o->digits)
        return 0;
    snprintf(message, size, "length %d is too short: the mark and digits=%d take %d tokens", min_len, o->digits,
             o->digits + 1);
    return -1;
}

static int passkey_symbols(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return PASSKEY_SYMBOLS;
}

static void passkey_sizes(const void *options, int len, int *prompt, int *answer)
{
    *prompt = len;
    *answer = ((const passkey_options *)options)->digits;
}

static double passkey_chance_token(const void *options, const void *state, int len)
{
    (void)options, (void)state, (void)len;
    return 1.0 / PASSKEY_DIGITS;
}

static double passkey_chance_exact(const void *options, const void *state, int len)
{
    (void)state, (void)len;
    return pow(PASSKEY_DIGITS, -((const passkey_options *)options)->digits);
}

static void passkey_fill(const passkey_options *o, rng *rest, int count, int *out)
{
    for (int i = 0; i < count; i++)
        out[i] = PASSKEY_FILLER + (o->filler == PASSKEY_RANDOM ? (int)rng_below(rest, TASK_FILLERS) : task_filler(i));
}

static void passkey_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const passkey_options *o = options;
    int filler = len - o->digits - 1;
    int before = o->depth == PE_AUTO_REAL ? (int)rng_below(rest, (uint32_t)filler + 1) : (int)(o->depth * filler + 0.5);
    int *key = out->prompt + before + 1;
    (void)state, (void)kind; /* places, keys and fillers are equally likely */
    out->prompt[before] = PASSKEY_MARK;
    for (int i = 0; i < o->digits; i++)
        key[i] = out->answer[i] = (int)rng_below(rest, PASSKEY_DIGITS);
    passkey_fill(o, rest, before, out->prompt);
    passkey_fill(o, rest, filler - before, key + o->digits);
    out->prompt_len = len;
    out->answer_len = o->digits;
}

static const pe_option passkey_rows[] = {
    {"digits", PE_OPTION_INT, offsetof(passkey_options, digits), "5", 1, 1024, 0, NULL,
     "digits of the key (5, as in the evaluations of context extension by Chen et al. and Peng et al. 2023)"},
    {"depth", PE_OPTION_REAL, offsetof(passkey_options, depth), "auto", 0, 1, 1, NULL,
     "share of the filler before the key, from 0, the beginning, to 1, right before the question; auto: uniform over "
     "all "
     "places (Mohtashami & Jaggi)"},
    {"filler", PE_OPTION_CHOICE, offsetof(passkey_options, filler), "sentence", 0, 0, 0, "sentence|random",
     "the source's sentences over and over, or tokens drawn from the same sixteen kinds"},
    {.name = NULL},
};

const task_descriptor task_descriptor_passkey = {
    .name = "passkey",
    .title = "Passkey retrieval",
    .source =
        "Mohtashami & Jaggi, Landmark Attention: Random-Access Infinite Context Length for Transformers, NeurIPS 2023",
    .format = "BOS the grass is KEY 4 7 1 9 0 the grass SEP 4 7 1 9 0 EOS",
    .notes =
        "Length is the number of tokens of the prompt, at least digits + 1. The source writes text and states the key "
        "twice, a number from 1 to 50000; here it is stated once, behind a mark, with all its digits. A run for each "
        "of "
        "several depths shows what a random depth averages.",
    .kind = TASK_ANSWER,
    .options = passkey_rows,
    .options_size = sizeof(passkey_options),
    .check = passkey_check,
    .symbols = passkey_symbols,
    .sizes = passkey_sizes,
    .chance_token = passkey_chance_token,
    .chance_exact = passkey_chance_exact,
    .pair = passkey_pair,
    .bibtex = TASK_BIB_MOHTASHAMI,
};
