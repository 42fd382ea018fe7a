/* task.c - names to tasks, and the draws that keep streams apart. */
#include "task.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "scan.h"
#include "task_inside.h"

enum { TASK_NAME_MAX = 64, TASK_SHOWN_MAX = 80, TASK_LEN_MAX = 1 << 24 };

/* A kind that has no instance on the training side (a string of one bit only, held out) must not trap training, so
 * training moves on to another kind now and then. Held-out streams keep theirs to the end: there the distribution
 * counts more than one shared instance, which is reported. */
enum { TASK_TRIES = 256, TASK_TRIES_OF_KIND = 8 };

#define TASK(name) extern const task_descriptor task_descriptor_##name;
#include "task_list.h"

static const task_descriptor *const task_all[] = {
#define TASK(name) &task_descriptor_##name,
#include "task_list.h"
};

int task_count(void)
{
    return (int)(sizeof task_all / sizeof *task_all);
}

const task_descriptor *task_at(int i)
{
    assert(i >= 0 && i < task_count());
    return task_all[i];
}

/* ------------------------------------------------------------------------------------------------ text to task */

static const task_descriptor *task_find(scan_span name, error *e)
{
    const char *names[sizeof task_all / sizeof *task_all];
    char word[TASK_NAME_MAX] = "", list[1024] = "";
    for (int i = 0; i < task_count(); i++) {
        names[i] = task_all[i]->name;
        if (strlen(names[i]) == name.length && memcmp(names[i], name.at, name.length) == 0)
            return task_all[i];
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    }
    if (name.length < sizeof word)
        memcpy(word, name.at, name.length);
    const char *near = nearest_word(word, names, (size_t)task_count());
    int shown = name.length < TASK_SHOWN_MAX ? (int)name.length : TASK_SHOWN_MAX;
    if (near)
        error_set(e, ERROR_USAGE, "unknown task '%.*s'; did you mean '%s'?", shown, name.at, near);
    else
        error_set(e, ERROR_USAGE, "unknown task '%.*s'; there are: %s", shown, name.at, list);
    return NULL;
}

/* "name" or "name(inside)", with spaces around either. */
static int task_split(const char *text, scan_span *name, scan_span *inside, error *e)
{
    scan_span whole = scan_trim((scan_span){text, strlen(text)}), rest = whole;
    int shown = whole.length < TASK_SHOWN_MAX ? (int)whole.length : TASK_SHOWN_MAX;
    const char *fault;
    size_t end = strcspn(whole.at, "(");
    if (end > whole.length)
        end = whole.length;
    *name = scan_take(&rest, end);
    *inside = (scan_span){whole.at + whole.length, 0};
    if (name->length == 0)
        return error_set(e, ERROR_USAGE, "'%.*s' names no task; it is written name or name(option=value,...)", shown,
                         whole.at);
    if (end == whole.length)
        return 0;
    scan_span behind = {whole.at + end + 1, whole.length - end - 1};
    if (scan_until(behind, ")", &end, &fault) < 0)
        return error_set(e, ERROR_USAGE, "task '%.*s': %s", shown, whole.at, fault);
    if (end == behind.length)
        return error_set(e, ERROR_USAGE, "task '%.*s': the ')' of the options is missing", shown, whole.at);
    if (end + 1 < behind.length)
        return error_set(e, ERROR_USAGE, "task '%.*s': nothing may follow the ')' of the options", shown, whole.at);
    *inside = (scan_span){behind.at, end};
    return 0;
}

static int task_check_lengths(const task *t, error *e)
{
    const task_descriptor *d = t->descriptor;
    char message[512] = "";
    if (t->min_len < 1 || t->max_len < t->min_len || t->max_len > TASK_LEN_MAX)
        return error_set(e, ERROR_USAGE, "%s: lengths %d to %d (wanted: 1 <= shortest <= longest <= %d)", d->name,
                         t->min_len, t->max_len, TASK_LEN_MAX);
    if (d->causal_only && t->regime == TASK_ENCODER)
        return error_set(e, ERROR_USAGE, "%s has no meaning in a bidirectional network (model.causal is false)", d->name);
    if (d->bidirectional_only && t->regime == TASK_DECODER)
        return error_set(e, ERROR_USAGE, "%s has no meaning in a causal network (set model.causal to false)", d->name);
    if (d->check && d->check(t->options, t->min_len, t->max_len, message, sizeof message) < 0)
        return error_set(e, ERROR_USAGE, "%s: %s", d->name, message);
    return 0;
}

/* Name and options; lengths are not looked at. */
static task *task_read(const char *text, error *e)
{
    scan_span name, inside;
    if (task_split(text, &name, &inside, e) < 0)
        return NULL;
    const task_descriptor *d = task_find(name, e);
    if (!d)
        return NULL;
    task *t = calloc(1, sizeof *t);
    void *options = calloc(1, d->options_size + 1); /* never of size 0, which may give NULL */
    if (!t || !options) {
        free(t);
        free(options);
        error_set(e, ERROR_ENVIRONMENT, "%s: no memory", d->name);
        return NULL;
    }
    *t = (task){.descriptor = d, .options = options};
    if (options_parse(d->options, d->name, inside.at, inside.length, options, e) == 0)
        return t;
    task_free(t);
    return NULL;
}

task *task_parse(const char *text, task_regime regime, int min_len, int max_len, error *e)
{
    task *t = task_read(text, e);
    if (!t)
        return NULL;
    t->regime = regime;
    t->min_len = min_len;
    t->max_len = max_len;
    if (task_check_lengths(t, e) == 0)
        return t;
    task_free(t);
    return NULL;
}

task *task_open(const char *text, task_regime regime, int min_len, int max_len, error *e)
{
    task *t = task_parse(text, regime, min_len, max_len, e);
    if (!t || !t->descriptor->state_new || t->descriptor->state_new(t->options, max_len, &t->state, e) == 0)
        return t;
    task_free(t);
    return NULL;
}

int task_check(const char *text, task_regime regime, int min_len, int max_len, error *e)
{
    task *t = task_parse(text, regime, min_len, max_len, e);
    task_free(t);
    return t ? 0 : -1;
}

double task_sentinel(const char *text, const char **why)
{
    error unknown = ERROR_INIT;
    task *t = task_read(text, &unknown);
    double ratio = NAN;
    if (t) {
        const task_descriptor *d = t->descriptor;
        if (d->sentinel && (!d->is_sentinel || d->is_sentinel(t->options))) {
            ratio = d->sentinel_ratio > 0 ? d->sentinel_ratio : TASK_SENTINEL_RATIO;
            *why = d->sentinel;
        }
    }
    task_free(t);
    return ratio;
}

int task_canonical(const char *text, char *out, size_t size, error *e)
{
    char options[4096];
    task *t = task_read(text, e);
    if (!t)
        return -1;
    const task_descriptor *d = t->descriptor;
    int printed = options_print(d->options, t->options, options, sizeof options);
    int length = printed == 0 ? snprintf(out, size, "%s", d->name) : snprintf(out, size, "%s(%s)", d->name, options);
    task_free(t);
    if (printed < (int)sizeof options && length < (int)size)
        return 0;
    return error_set(e, ERROR_USAGE, "%s: its canonical text needs %d characters; there is room for %zu", d->name,
                     length > printed ? length : printed, size - 1);
}

void task_free(task *t)
{
    if (!t)
        return;
    if (t->state)
        t->descriptor->state_free(t->state);
    task_chance_forget(t->chances);
    free(t->options);
    free(t);
}

/* ------------------------------------------------------------------------------------------------ questions */

const task_descriptor *task_of(const task *t)
{
    return t->descriptor;
}

const void *task_options(const task *t)
{
    return t->options;
}

task_regime task_regime_of(const task *t)
{
    return t->regime;
}

int task_symbols(const task *t)
{
    return t->descriptor->pair ? t->descriptor->symbols(t->options, t->max_len) : 0;
}

int task_vocab(const task *t)
{
    return t->descriptor->pair ? task_symbols(t) + TASK_FRAME_TOKENS : t->descriptor->vocab(t->options, t->max_len);
}

int task_tokens(const task *t, int len)
{
    return t->descriptor->pair ? task_frame_tokens(t, len) : t->descriptor->tokens(t->options, len);
}

int task_decodes(const task *t)
{
    return t->descriptor->pair && t->regime == TASK_DECODER;
}

double task_farthest(const task *t, int len)
{
    return t->descriptor->proposes_positions ? t->descriptor->farthest(t->options, len) : task_tokens(t, len) - 1;
}

const char *task_digest(const task *t)
{
    return t->descriptor->digest && t->state ? t->descriptor->digest(t->state) : NULL;
}

const unsigned char *task_text(const task *t, task_stream s, long *count)
{
    assert(t->descriptor->text && t->state);
    return t->descriptor->text(t->state, s, count);
}

long task_limit(task *t, long count, uint64_t seed, error *e)
{
    const task_descriptor *d = t->descriptor;
    assert(d->limit && t->state);
    rng r = rng_stream(seed, RNG_DATA, 0, 0);
    long read = d->limit(t->state, count, rng_uniform(&r));
    if (read < 0)
        return error_set(e, ERROR_ENVIRONMENT, "train.data: %ld tokens, but only %ld of the text are for training", count,
                         -read);
    return read;
}

int task_scored(const task *t, int len)
{
    return t->descriptor->scored ? t->descriptor->scored(t->options, len) : 0;
}

/* ------------------------------------------------------------------------------------------------ draws */

task_stream task_side(const int *input, int count)
{
    uint64_t hash = 0x510e527fade682d1; /* fraction of sqrt(11): far from any token */
    for (int t = 0; t < count; t++)
        hash = rng_mix(hash ^ (uint32_t)input[t]);
    switch (hash >> 60) { /* 0 .. 15 */
    case 0:
        return TASK_VALIDATION;
    case 1:
        return TASK_TEST;
    default:
        return TASK_TRAIN;
    }
}

/* Both generators before a try. Copied, so that a try can be made again. */
typedef struct task_dice {
    rng kind, rest;
} task_dice;

/* One try (=); the dice move on, the kind only with next_kind. Returns the instance's side. */
static task_stream task_try(const task *t, task_dice *dice, int next_kind, int len, task_sample *out)
{
    rng kind = dice->kind;
    task_sample_any(t, &kind, &dice->rest, len, out);
    if (next_kind)
        dice->kind = kind;
    return task_side(out->input, out->count);
}

/* Does training find a side of its own at this length? If not, it takes what is held out (and says so). */
static int task_training_has_side(const task *t, task_dice dice, int len, task_sample *out)
{
    for (int i = 0; i < TASK_TRIES; i++)
        if (task_try(t, &dice, 1, len, out) == TASK_TRAIN)
            return 1;
    return 0;
}

/* Returns whether another stream may meet the instance. */
static int task_draw_answer(const task *t, task_stream stream, task_dice dice, int len, task_sample *out)
{
    int training_has_side = stream == TASK_TRAIN;
    for (int i = 1; i <= TASK_TRIES; i++) {
        task_dice before = dice;
        task_stream side = task_try(t, &dice, stream == TASK_TRAIN && i % TASK_TRIES_OF_KIND == 0, len, out);
        training_has_side |= side == TASK_TRAIN;
        if (side != stream)
            continue;
        if (training_has_side)
            return 0;
        int shared = !task_training_has_side(t, dice, len, out);
        task_try(t, &before, 0, len, out); /* the instance again: the search has written over it */
        return shared;
    }
    return 1;
}

void task_draw(const task *t, task_stream stream, uint64_t seed, uint64_t index, uint32_t item, int len,
               task_sample *out, int *shared)
{
    static const rng_purpose purposes[] = {
        [TASK_TRAIN] = RNG_TRAIN, [TASK_VALIDATION] = RNG_VALIDATION, [TASK_TEST] = RNG_TEST};
    const task_descriptor *d = t->descriptor;
    rng rest = rng_stream(seed, purposes[stream], index, item);
    int is_shared = 0;
    assert(t->min_len <= len && len <= t->max_len && (t->state || !d->state_new));
    if (d->kind == TASK_LANGUAGE)
        d->window(t->options, t->state, stream, &rest, len, out);
    else
        is_shared = task_draw_answer(t, stream, (task_dice){rng_second(&rest), rest}, len, out);
    if (out->position && !d->proposes_positions)
        for (int i = 0; i < out->count; i++)
            out->position[i] = i;
    if (shared)
        *shared = is_shared;
}
