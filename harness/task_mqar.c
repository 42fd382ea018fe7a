/* Multi-query associative recall (Arora et al. 2023, Zoology): a list of key-value pairs, then each key once more,
 * whose value is asked for.
 *
 *   length    tokens of the sequence, T
 *   tokens    0 a filler; 1 .. V/2-1 keys; V/2 .. V-1 values, for V = vocab
 *   input     k v k v ... k v | T - 2*pairs tokens: each key once at an even offset, fillers or random tokens elsewhere
 *   target    at each query its key's value, nothing elsewhere; the value itself is not fed, so nothing is decoded
 *
 *   vocab=12, pairs=2, random_non_queries=false, length 12:
 *   input      2  8  4  7  4  0  0  0  2  0  0  0
 *   target     .  .  .  .  7  .  .  .  8  .  .  .
 *
 * Keys are drawn without replacement, and so are values. The query of pair j = 0, 1 ... is put 2 g tokens into the
 * second part, with g drawn without replacement from 0 .. (T - 2*pairs)/2 - 1 with p(g) ~ (g+1)^(power-1): with power =
 * 0.01 nearly a power law, so most queries come soon, as in language; power = 1 is uniform.
 *
 * How pairs grow with length decides what "longer" means. auto: T/16 pairs (at least one), as in the source's grid of
 * (T, pairs) = (64,4) (128,8) (256,16): longer sequences hold more facts and ask for more. A number: the same facts at
 * greater distance. Both need T >= 4*pairs, so that each query has a place.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "task.h"

enum { MQAR_FILLER = 0, MQAR_TOKENS_PER_PAIR = 16 };

typedef struct mqar_options {
    int vocab;
    int pairs; /* PE_AUTO_INT: length / MQAR_TOKENS_PER_PAIR */
    int random_non_queries;
    double power;
} mqar_options;

/* weight[g] = sum of (i+1)^(power-1) over i <= g, for every slot that the longest sequence can have. */
typedef struct mqar_state {
    double *weight;
} mqar_state;

static int mqar_pairs(const mqar_options *o, int len)
{
    if (o->pairs != PE_AUTO_INT)
        return o->pairs;
    return len < MQAR_TOKENS_PER_PAIR ? 1 : len / MQAR_TOKENS_PER_PAIR;
}

static int mqar_keys(const mqar_options *o)
{
    return o->vocab / 2 - 1;
}

static int mqar_values(const mqar_options *o)
{
    return o->vocab - o->vocab / 2;
}

static int mqar_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    const mqar_options *o = options;
    int least = mqar_pairs(o, min_len), most = mqar_pairs(o, max_len);
    if (min_len / 4 < least) {
        snprintf(message, size,
                 "length %d is too short for pairs=%d: each takes two tokens to state and two to ask for", min_len,
                 least);
        return -1;
    }
    if (most > mqar_keys(o)) {
        snprintf(message, size, "pairs=%d at length %d need that many different keys, but vocab=%d has %d", most,
                 max_len, o->vocab, mqar_keys(o));
        return -1;
    }
    return 0;
}

static int mqar_vocab(const void *options, int max_len)
{
    (void)max_len;
    return ((const mqar_options *)options)->vocab;
}

static int mqar_tokens(const void *options, int len)
{
    (void)options;
    return len;
}

/* One of vocab/2 values, each equally likely. (Whoever knows which values the list holds, but not whose they are, is
 * right with 1/pairs.) */
static double mqar_chance_token(const void *options, const void *state, int len)
{
    (void)state, (void)len;
    return 1.0 / mqar_values(options);
}

static double mqar_chance_exact(const void *options, const void *state, int len)
{
    (void)state;
    return task_chance_arrangement(mqar_values(options), mqar_pairs(options, len));
}

static int mqar_state_new(const void *options, int max_len, void **state, error *e)
{
    const mqar_options *o = options;
    int slots = max_len / 2;
    mqar_state *s = malloc(sizeof *s);
    double *weight = malloc((size_t)slots * sizeof *weight);
    if (!s || !weight) {
        free(s);
        free(weight);
        return error_set(e, ERROR_ENVIRONMENT, "mqar: no memory for length %d", max_len);
    }
    double sum = 0.0;
    for (int g = 0; g < slots; g++)
        weight[g] = sum += pow(g + 1.0, o->power - 1.0);
    s->weight = weight;
    *state = s;
    return 0;
}

static void mqar_state_free(void *state)
{
    mqar_state *s = state;
    free(s->weight);
    free(s);
}

/* One of slots 0 .. slots-1 by weight: the first whose sum lies above a uniform number. */
static int mqar_slot(const mqar_state *s, rng *kind, int slots)
{
    double aim = rng_uniform(kind) * s->weight[slots - 1];
    int low = 0, high = slots - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (s->weight[middle] > aim)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* input[0 .. 2 pairs-1] = k v k v ...; target is scratch until the queries are placed. */
static void mqar_write_pairs(const mqar_options *o, rng *rest, int pairs, int *input, int *scratch)
{
    int *keys = scratch, *values = scratch + pairs;
    task_distinct(rest, mqar_keys(o), pairs, 1, keys);
    task_distinct(rest, mqar_values(o), pairs, o->vocab / 2, values);
    for (int j = 0; j < pairs; j++) {
        input[2 * j] = keys[j];
        input[2 * j + 1] = values[j];
    }
}

static void mqar_sample(const void *options, const void *state, rng *kind, rng *rest, int len, task_sample *out)
{
    const mqar_options *o = options;
    int pairs = mqar_pairs(o, len), slots = (len - 2 * pairs) / 2;
    mqar_write_pairs(o, rest, pairs, out->input, out->target);
    for (int t = 2 * pairs; t < len; t++)
        out->input[t] = o->random_non_queries ? (int)rng_below(rest, (uint32_t)o->vocab) : MQAR_FILLER;
    for (int t = 0; t < len; t++)
        out->target[t] = TASK_NOT_SCORED;
    for (int j = 0; j < pairs; j++) {
        int t; /* drawing again what is taken is drawing without replacement */
        do
            t = 2 * (pairs + mqar_slot(state, kind, slots));
        while (out->target[t] != TASK_NOT_SCORED);
        out->input[t] = out->input[2 * j];
        out->target[t] = out->input[2 * j + 1];
    }
    out->count = len;
    out->answer_begin = -1;
}

static const pe_option mqar_rows[] = {
    {"vocab", PE_OPTION_INT, offsetof(mqar_options, vocab), "8192", 4, 2 * TASK_SYMBOLS_MAX, 0, NULL,
     "tokens in all: 0 is the filler, then keys below vocab/2, values from there on (Arora et al.: 8192)"},
    {"pairs", PE_OPTION_INT, offsetof(mqar_options, pairs), "auto", 1, TASK_SYMBOLS_MAX, 1, NULL,
     "key-value pairs, all of which are asked for; auto: length/16, at least 1 (Arora et al.: 4 in 64 tokens)"},
    {"random_non_queries", PE_OPTION_BOOL, offsetof(mqar_options, random_non_queries), "true", 0, 1, 0, NULL,
     "random tokens between queries; false: the filler 0"},
    {"power", PE_OPTION_REAL, offsetof(mqar_options, power), "0.01", 0, 4, 0, NULL,
     "a of p(gap) ~ gap^(a-1): small, most queries come soon; 1: uniform (Arora et al.: 0.01)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_mqar = {
    .name = "mqar",
    .title = "Multi-query associative recall",
    .source = "Arora et al., Zoology: Measuring and Improving Recall in Efficient Language Models, 2023",
    .format = "k1 v1 k2 v2 k2 . . . k1 .   asked: v2 after k2, v1 after k1",
    .notes = "Length is the number of tokens. pairs=auto grows the load with it (length/16); a number keeps the load "
             "and grows the "
             "distance. Random tokens between queries may repeat a key: only true queries are scored. Who knows the "
             "values of the "
             "list, but not their keys, is right with 1/pairs.",
    .kind = TASK_ANSWER,
    .options = mqar_rows,
    .options_size = sizeof(mqar_options),
    .check = mqar_check,
    .vocab = mqar_vocab,
    .tokens = mqar_tokens,
    .chance_token = mqar_chance_token,
    .chance_exact = mqar_chance_exact,
    .state_new = mqar_state_new,
    .state_free = mqar_state_free,
    .sample = mqar_sample,
    .bibtex = "@inproceedings{arora2024zoology, title = {Zoology: Measuring and Improving Recall in Efficient "
              "Language Models}, author = {Arora, Simran and Eyuboglu, Sabri and Timalsina, Aman and Johnson, Isys "
              "and Poli, Michael and Zou, James and Rudra, Atri and R{\\'e}, Christopher}, booktitle = {International "
              "Conference on Learning Representations}, year = {2024}, eprint = {2312.04927}, archiveprefix = {arXiv}}",
};
