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
 *
 * reassign (zoology's forgetting_mqar): behind the list that share of the keys, drawn anew, is stated once more with a
 * value that the list has not; the latest value is the answer, so order counts. Same task, pairs=2, reassign=0.5:
 *   input      2  8  4  7  2 10 | 4  0  0  0  2  0  0  0
 *   target     .  .  .  .  .  . | 7  .  .  . 10  .  .  .
 *
 * decoys (zoology's compositional_mqar): a key is two tokens, a first one of g and a second one of h, g =
 * ceil(sqrt(pairs)) and h = ceil(pairs/g); the pairs take that many different cells of the g x h grid in random order.
 * From two pairs on every key shares a token with another one, and where the grid is full (4, 9, 16 ... pairs) neither
 * token alone tells the value. Statements and slots are three tokens long, all else is as above; the value is predicted
 * after the key's second token. pairs=4:
 *   input      2  5  8  3  4  7  3  5 10  2  4  9 | 3  5  0  0  0  0 ...
 *   target     .  .  .  .  .  .  .  .  .  .  .  . | . 10  .  .  .  . ...
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task.h"

enum { MQAR_FILLER = 0, MQAR_TOKENS_PER_PAIR = 16 };

typedef struct mqar_options {
    int vocab;
    int pairs; /* PE_AUTO_INT: length / MQAR_TOKENS_PER_PAIR */
    int random_non_queries;
    double power;
    double reassign; /* share of the pairs */
    int decoys;
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

/* How many of them are stated a second time. */
static int mqar_updates(const mqar_options *o, int len)
{
    return (int)(o->reassign * mqar_pairs(o, len) + 0.5);
}

/* Tokens of a statement, and of the place of a query. */
static int mqar_width(const mqar_options *o)
{
    return o->decoys ? 3 : 2;
}

static int mqar_keys(const mqar_options *o)
{
    return o->vocab / 2 - 1;
}

static int mqar_values(const mqar_options *o)
{
    return o->vocab - o->vocab / 2;
}

/* Different first tokens of `pairs` keys of two tokens; seconds are as many as it takes. */
static int mqar_firsts(int pairs)
{
    int firsts = 1;
    while (firsts * firsts < pairs)
        firsts++;
    return firsts;
}

static int mqar_seconds(int pairs)
{
    int firsts = mqar_firsts(pairs);
    return (pairs + firsts - 1) / firsts;
}

static int mqar_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    const mqar_options *o = options;
    int least = mqar_pairs(o, min_len), most = mqar_pairs(o, max_len);
    int list = mqar_width(o) * (least + mqar_updates(o, min_len)), queries = mqar_width(o) * least;
    if (min_len - list < queries) {
        snprintf(message, size, "length %d is too short for pairs=%d: %d tokens state them and %d ask for them",
                 min_len, least, list, queries);
        return -1;
    }
    int firsts = mqar_firsts(most), seconds = mqar_seconds(most);
    int keys = o->decoys ? firsts + seconds : most, values = most + mqar_updates(o, max_len);
    if (o->decoys && firsts * seconds > TASK_SYMBOLS_MAX) {
        snprintf(message, size, "pairs=%d need a grid of %d keys; with decoys at most %d can be drawn from", most,
                 firsts * seconds, TASK_SYMBOLS_MAX);
        return -1;
    }
    if (keys > mqar_keys(o)) {
        snprintf(message, size, "pairs=%d at length %d need %d different key tokens, but vocab=%d has %d", most,
                 max_len, keys, o->vocab, mqar_keys(o));
        return -1;
    }
    if (values > mqar_values(o)) {
        snprintf(message, size, "pairs=%d at length %d need %d different values, but vocab=%d has %d", most, max_len,
                 values, o->vocab, mqar_values(o));
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

/* The keys of the list, one behind the other: [pairs] tokens, or [pairs][2] with decoys. scratch: [2 pairs + 1]. */
static void mqar_draw_keys(const mqar_options *o, rng *rest, int pairs, int *keys, int *scratch)
{
    if (!o->decoys) {
        task_distinct(rest, mqar_keys(o), pairs, 1, keys);
        return;
    }
    int firsts = mqar_firsts(pairs), seconds = mqar_seconds(pairs), *token = scratch,
        *cell = scratch + firsts + seconds;
    task_distinct(rest, mqar_keys(o), firsts + seconds, 1, token);
    task_distinct(rest, firsts * seconds, pairs, 0, cell);
    for (int j = 0; j < pairs; j++) {
        keys[2 * j] = token[cell[j] % firsts];
        keys[2 * j + 1] = token[firsts + cell[j] / firsts];
    }
}

/* input = all pairs, then the reassigned ones with their new values. scratch: as long as the sequence. */
static void mqar_write_list(const mqar_options *o, rng *rest, int pairs, int updates, int *input, int *scratch)
{
    int width = mqar_width(o), size = width - 1; /* tokens of a key */
    int *keys = scratch, *values = keys + size * pairs, *again = values + pairs + updates;
    mqar_draw_keys(o, rest, pairs, keys, input);
    task_distinct(rest, mqar_values(o), pairs + updates, o->vocab / 2, values);
    task_distinct(rest, pairs, updates, 0, again);
    for (int j = 0; j < pairs + updates; j++) {
        const int *key = keys + size * (j < pairs ? j : again[j - pairs]);
        memcpy(input + width * j, key, (size_t)size * sizeof *key);
        input[width * j + size] = values[j];
    }
}

/* The value that the last statement with pair j's key gives it. */
static int mqar_latest(const int *input, int width, int statements, int j)
{
    int last = statements - 1;
    while (memcmp(input + width * last, input + width * j, (size_t)(width - 1) * sizeof *input) != 0)
        last--;
    return input[width * last + width - 1];
}

static void mqar_sample(const void *options, const void *state, rng *kind, rng *rest, int len, task_sample *out)
{
    const mqar_options *o = options;
    int pairs = mqar_pairs(o, len), updates = mqar_updates(o, len), width = mqar_width(o);
    int list = width * (pairs + updates), slots = (len - list) / width;
    mqar_write_list(o, rest, pairs, updates, out->input, out->target);
    for (int t = list; t < len; t++)
        out->input[t] = o->random_non_queries ? (int)rng_below(rest, (uint32_t)o->vocab) : MQAR_FILLER;
    for (int t = 0; t < len; t++)
        out->target[t] = TASK_NOT_SCORED;
    for (int j = 0; j < pairs; j++) {
        int t, last; /* drawing again what is taken is drawing without replacement */
        do {
            t = list + width * mqar_slot(state, kind, slots);
            last = t + width - 2;
        } while (out->target[last] != TASK_NOT_SCORED);
        memcpy(out->input + t, out->input + width * j, (size_t)(width - 1) * sizeof *out->input);
        out->target[last] = mqar_latest(out->input, width, pairs + updates, j);
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
    {"reassign", PE_OPTION_REAL, offsetof(mqar_options, reassign), "0", 0, 1, 0, NULL,
     "share of the pairs, rounded to whole ones, whose key is stated again with a new value, which counts (zoology's "
     "forgetting_mqar: 0.5)"},
    {"decoys", PE_OPTION_BOOL, offsetof(mqar_options, decoys), "false", 0, 1, 0, NULL,
     "keys of two tokens that other keys share in part: both are needed to tell the value (zoology's "
     "compositional_mqar)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_mqar = {
    .name = "mqar",
    .title = "Multi-query associative recall",
    .source = "Arora et al., Zoology: Measuring and Improving Recall in Efficient Language Models, 2023",
    .format = "k1 v1 k2 v2 k2 . . . k1 .   asked: v2 after k2, v1 after k1",
    .notes =
        "Length is the number of tokens. pairs=auto grows the load with it (length/16); a number keeps the load "
        "and grows the "
        "distance. Random tokens between queries may repeat a key: only true queries are scored. Who knows the "
        "values of the "
        "list, but not their keys, is right with 1/pairs; with reassign, who does not tell old values from new ones, "
        "too often with the old. New values differ from all others of the list, where zoology only keeps them from "
        "repeating the one that they replace; grids of keys need not be full, where zoology takes square numbers of "
        "pairs only and first and second tokens from two alphabets.",
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
