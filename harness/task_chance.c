/* task_chance.c - what the best fixed guess is worth: by the task's own formula, or estimated from draws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "task_inside.h"

/* Estimates of one length. */
struct task_chances {
    task_chances *next;
    int len;
    double token, exact;
};

void task_chance_forget(task_chances *c)
{
    while (c) {
        task_chances *next = c->next;
        free(c);
        c = next;
    }
}

/* ------------------------------------------------------------------------------------------------ estimates */

enum { CHANCE_SEED = 0x5eed, CHANCE_HALF = TASK_CHANCE_DRAWS / 2 };

/* Draws are made one after the other; of each only its scored targets are looked at. */
typedef struct chance_count {
    int places, vocab;  /* scored places of the longest answer */
    int *seen;          /* [places][vocab] how often each token stood there, in the first half */
    int *guess;         /* [places] the most frequent one */
    uint64_t *answers;  /* [CHANCE_HALF] hashes of whole answers, of the first half */
    uint64_t favourite; /* the most frequent one */
    int *input, *target;
} chance_count;

static void chance_free(chance_count *c)
{
    free(c->seen);
    free(c->guess);
    free(c->answers);
    free(c->input);
    free(c->target);
}

static int chance_alloc(const task *t, int len, chance_count *c)
{
    size_t tokens = (size_t)task_tokens(t, len);
    *c = (chance_count){.places = (int)tokens, .vocab = task_vocab(t)};
    c->seen = calloc(tokens * (size_t)c->vocab, sizeof *c->seen);
    c->guess = calloc(tokens, sizeof *c->guess);
    c->answers = calloc(CHANCE_HALF, sizeof *c->answers);
    c->input = calloc(tokens, sizeof *c->input);
    c->target = calloc(tokens, sizeof *c->target);
    return c->seen && c->guess && c->answers && c->input && c->target ? 0 : -1;
}

/* Draw number i; the scored targets move to the front of c->target. Returns their number and the hash of them. */
static int chance_draw(const task *t, int len, uint32_t i, chance_count *c, uint64_t *hash)
{
    task_sample s = {.input = c->input, .target = c->target};
    rng rest = rng_stream(CHANCE_SEED, RNG_VALIDATION, (uint64_t)len, i), kind = rng_second(&rest);
    int scored = 0;
    task_sample_any(t, &kind, &rest, len, &s);
    *hash = 0;
    for (int k = 0; k < s.count; k++) {
        if (s.target[k] == TASK_NOT_SCORED)
            continue;
        *hash = rng_mix(*hash ^ (uint64_t)(s.target[k] + 1));
        c->target[scored++] = s.target[k];
    }
    return scored;
}

static int chance_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t chance_most_frequent(uint64_t *answers)
{
    uint64_t best = 0;
    int most = 0, run = 0;
    qsort(answers, CHANCE_HALF, sizeof *answers, chance_order);
    for (int i = 0; i < CHANCE_HALF; i++) {
        run = i > 0 && answers[i] == answers[i - 1] ? run + 1 : 1;
        if (run > most) {
            most = run;
            best = answers[i];
        }
    }
    return best;
}

static void chance_learn(const task *t, int len, chance_count *c)
{
    for (uint32_t i = 0; i < CHANCE_HALF; i++) {
        int scored = chance_draw(t, len, i, c, &c->answers[i]);
        for (int k = 0; k < scored; k++)
            c->seen[(size_t)k * (size_t)c->vocab + (size_t)c->target[k]]++;
    }
    c->favourite = chance_most_frequent(c->answers);
    for (int k = 0; k < c->places; k++)
        for (int v = 1; v < c->vocab; v++) {
            const int *row = c->seen + (size_t)k * (size_t)c->vocab;
            if (row[v] > row[c->guess[k]])
                c->guess[k] = v;
        }
}

static void chance_score(const task *t, int len, chance_count *c, task_chances *out)
{
    long right = 0, all = 0, exact = 0;
    for (uint32_t i = CHANCE_HALF; i < TASK_CHANCE_DRAWS; i++) {
        uint64_t hash;
        int scored = chance_draw(t, len, i, c, &hash);
        for (int k = 0; k < scored; k++)
            right += c->target[k] == c->guess[k];
        all += scored;
        exact += hash == c->favourite;
    }
    out->token = (double)right / (double)all;
    out->exact = (double)exact / CHANCE_HALF;
}

/* NULL: no memory, or the task was parsed only. */
static const task_chances *chance_estimate(const task *t, int len)
{
    for (const task_chances *c = t->chances; c; c = c->next)
        if (c->len == len)
            return c;
    if (t->descriptor->state_new && !t->state)
        return NULL;
    task_chances *made = calloc(1, sizeof *made);
    chance_count count;
    if (!made || chance_alloc(t, len, &count) < 0) {
        free(made);
        return NULL;
    }
    made->len = len;
    chance_learn(t, len, &count);
    chance_score(t, len, &count, made);
    chance_free(&count);
    made->next = t->chances;
    ((task *)t)->chances = made; /* remembered, not changed */
    return made;
}

/* ------------------------------------------------------------------------------------------------ questions */

/* The decoder's own EOS behind an answer of fixed length is always right. */
static double chance_with_frame(const task *t, int len, double symbols)
{
    int prompt, answer;
    if (t->regime == TASK_ENCODER || t->descriptor->answer_varies)
        return symbols;
    t->descriptor->sizes(t->options, len, &prompt, &answer);
    return (symbols * answer + 1) / (answer + 1);
}

double task_chance_token(const task *t, int len)
{
    const task_descriptor *d = t->descriptor;
    if (d->chance_token) {
        double chance = d->chance_token(t->options, t->state, len);
        return d->pair ? chance_with_frame(t, len, chance) : chance;
    }
    const task_chances *c = chance_estimate(t, len);
    return c ? c->token : NAN;
}

double task_chance_exact(const task *t, int len)
{
    const task_descriptor *d = t->descriptor;
    if (d->chance_exact)
        return d->chance_exact(t->options, t->state, len);
    if (d->kind != TASK_ANSWER)
        return NAN;
    const task_chances *c = chance_estimate(t, len);
    return c ? c->exact : NAN;
}
