/* task.h - the contract of a task: it makes token sequences and says which tokens are scored. It knows no model.
 *
 * A task is one file that ends in one `const task_descriptor`, plus one line in task_list.h. It includes this header and
 * rng.h only. Lengths here are the task's own (symbols to copy, numbers to sort, tokens of text); `tokens` turns them into
 * the tokens that the network sees.
 */
#ifndef TASK_H
#define TASK_H

#include <stdint.h>

#include "error.h"
#include "pe_option.h"
#include "rng.h"

enum { TASK_NOT_SCORED = -1 };

/* One sequence, teacher-forced: the network reads input[0..count-1] and is scored where target[t] is not
 * TASK_NOT_SCORED; target[t] is the token that follows input[t]. Buffers belong to the caller, [tokens(len)] each. */
typedef struct task_sample {
    int count;           /* tokens (=) */
    int *input;
    int *target;
    double *position;    /* [count] positions that the task proposes (=), or NULL when the caller wants none */
    int answer_begin;    /* the first scored index (=), for decoding; -1: the task has no answer to decode */
} task_sample;

typedef enum task_stream { TASK_TRAIN, TASK_VALIDATION, TASK_TEST } task_stream;

/* An opened task: parsed options and whatever the file keeps (a corpus). Shared read-only by all who sample. */
typedef struct task task;

typedef enum task_kind {
    TASK_ANSWER,         /* prompt and answer: exact match and token accuracy over the scored tokens */
    TASK_LANGUAGE        /* every token scored: loss, per-position loss, non-overlapping and sliding windows */
} task_kind;

typedef struct task_descriptor {
    const char *name, *title, *source;
    const char *format;      /* an example, as tokens: "BOS b a SEP b a EOS" */
    const char *notes;
    task_kind kind;
    int causal_only;         /* 1: has no meaning in a bidirectional network */
    const pe_option *options;
    size_t options_size;

    /* Refuses options and lengths that do not fit. 0, or -1 with one sentence in message. */
    int (*check)(const void *options, int min_len, int max_len, char *message, size_t size);
    int (*vocab)(const void *options, int max_len);
    int (*tokens)(const void *options, int len);
    /* Expected token accuracy and exact match of the best guess that ignores the input, in [0,1]. */
    double (*chance_token)(const void *options, int len);
    double (*chance_exact)(const void *options, int len);

    /* Optional: reads files into *state. state_free releases it. */
    int (*state_new)(const void *options, void **state, error *e);
    void (*state_free)(void *state);

    /* Answer tasks: one instance of exactly this length (=). All randomness comes from r. */
    void (*sample)(const void *options, const void *state, rng *r, int len, task_sample *out);

    /* Language tasks instead: a window drawn at random from the stream's own part of the text. */
    void (*window)(const void *options, const void *state, task_stream stream, rng *r, int len, task_sample *out);
    /* The stream's whole text, for evaluation: bytes of it and their number. */
    const unsigned char *(*text)(const void *state, task_stream stream, long *count);
    /* Optional. SHA-256 (hex) of what was read, for the record. */
    const char *(*digest)(const void *state);
} task_descriptor;

/* ------------------------------------------------------------------------------------------------ the task's user */

int task_count(void);
const task_descriptor *task_at(int i);

/* "mqar(pairs=8)" -> an opened task. ERROR_USAGE for the text, ERROR_ENVIRONMENT for files. The caller frees it. */
task *task_open(const char *text, int min_len, int max_len, error *e);
/* Parses and checks only: no file is read. */
int task_check(const char *text, int min_len, int max_len, error *e);
/* The one canonical text of it. */
int task_canonical(const char *text, char *out, size_t size, error *e);
void task_free(task *t);

const task_descriptor *task_of(const task *t);
const void *task_options(const task *t);
int task_vocab(const task *t);
int task_tokens(const task *t, int len);
double task_chance_token(const task *t, int len);
double task_chance_exact(const task *t, int len);
const char *task_digest(const task *t);                       /* NULL: nothing was read */
const unsigned char *task_text(const task *t, task_stream s, long *count); /* language tasks */

/* Draws one sequence of a stream. Streams cannot overlap: for answer tasks every instance belongs to one side by a hash of
 * its input tokens (one in eight is held out: half of those for validation, half for test), and a draw is repeated until
 * it lies on the right side. Where the space of short instances is so small that no side is found after 256 draws, the
 * last draw is taken and *shared is set to 1. Numbers come from (seed, stream, index, item) alone, so equal arguments
 * give equal sequences whatever encoding is trained. Language tasks: the sides are separate stretches of the text. */
void task_draw(const task *t, task_stream stream, uint64_t seed, uint64_t index, uint32_t item, int len,
               task_sample *out, int *shared);

/* The side to which an answer task's instance belongs, from its input tokens. */
task_stream task_side(const int *input, int count);

#endif
