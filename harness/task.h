/* task.h - the contract of a task: it makes token sequences and says which tokens are scored. It knows no model.
 *
 * A task is one file that ends in one `const task_descriptor`, plus one line in task_list.h. It includes this header
 * only (and system headers, and a header that its family shares). Lengths here are the task's own (symbols to copy,
 * numbers to sort, tokens of text); `tokens` turns them into the tokens that the network sees.
 */
#ifndef TASK_H
#define TASK_H

#include <stdint.h>

#include "error.h"
#include "pe_option.h"
#include "rng.h"

enum { TASK_NOT_SCORED = -1 };

/* One sequence, teacher-forced: the network reads input[0..count-1] and is scored where target[t] is not
 * TASK_NOT_SCORED; target[t] is what it should say after input[t]. Scoring goes by index, never by a token's value:
 * batches are ragged and there is no pad token. Buffers belong to the caller, [tokens(len)] each. */
typedef struct task_sample {
    int count;           /* tokens (=) */
    int *input;
    int *target;
    double *position;    /* [count] what the task proposes, else 0, 1, 2 ... (=); NULL: the caller wants none */
    int answer_begin;    /* the first scored index (=), for decoding; -1: the task has no answer to decode */
} task_sample;

typedef enum task_stream { TASK_TRAIN, TASK_VALIDATION, TASK_TEST } task_stream;

/* An instance of a task that asks for an answer, without the frame around it. prompt[] and answer[] have room for the
 * largest lengths of the task's `sizes`. */
typedef struct task_pair {
    int prompt_len, answer_len;               /* (=) at least 1 each; the answer may have 0 with answer_varies */
    int *prompt, *answer;                     /* symbols, 0 .. symbols-1 (=) */
    double *prompt_position, *answer_position; /* proposals, >= 0 (=); NULL: the caller wants none */
    double separator_position;                /* of SEP (=); 0 on entry. BOS stands at 0 */
} task_pair;

/* How a network meets a pair. The regime follows from the network's mask.
 *
 *   decoder (causal)         BOS x SEP y         scored: y and EOS, from SEP on; teacher-forced
 *   encoder (bidirectional)  x slot slot ..      scored: y at the slots, as many as the longest answer has symbols; not
 *                                                autoregressive (Deletang et al. 2023, Ruoss et al. 2023)
 *
 * Where answers of one length differ in length (`answer_varies`), the encoder has one slot more: y is followed by EOS, and
 * what comes after it is not scored. Symbols come first, then BOS = symbols, SEP = slot = symbols+1, EOS = symbols+2. */
typedef enum task_regime { TASK_DECODER, TASK_ENCODER } task_regime;

enum { TASK_SENTINEL_RATIO = 3 };

/* An opened task: parsed options and whatever the file keeps (a corpus). Shared read-only by all who sample. */
typedef struct task task;

typedef enum task_kind {
    TASK_ANSWER,         /* prompt and answer: exact match and token accuracy over the scored tokens */
    TASK_LANGUAGE        /* loss and per-position loss: of a text in non-overlapping and sliding windows, or of drawn ones */
} task_kind;

typedef struct task_descriptor {
    const char *name, *title, *source;
    const char *format;      /* an example, as tokens: "BOS b a SEP b a EOS" */
    const char *notes;
    task_kind kind;
    int causal_only;         /* 1: has no meaning in a bidirectional network: it would see the answer in the input */
    int bidirectional_only;  /* 1: has no meaning in a causal network: what is asked for depends on what follows */
    int proposes_positions;  /* 1: sample writes out->position when that is not NULL; 0: task_draw does, 0, 1, 2 ... */
    const char *positions;   /* in words, what it proposes; with proposes_positions only */
    /* A sentinel is a task that no encoding of ours can do far past its training length: a run that does it has seen its
     * answers. One sentence saying why nothing may succeed; NULL: none. With positions that the task proposes (a map with
     * needs_given) no task is a sentinel. */
    const char *sentinel;
    double sentinel_ratio;   /* from which multiple of the training length on; 0: TASK_SENTINEL_RATIO */
    int (*is_sentinel)(const void *options); /* optional: 0 where options (hints, a scratchpad) make the task another one */
    const pe_option *options;
    size_t options_size;

    /* Optional. Refuses options and lengths (1 <= min_len <= max_len) that do not fit. 0, or -1 with one sentence in
     * message. */
    int (*check)(const void *options, int min_len, int max_len, char *message, size_t size);
    /* Tasks with `pair` leave these two NULL: they follow from `symbols`, `sizes` and the regime. */
    int (*vocab)(const void *options, int max_len);
    int (*tokens)(const void *options, int len);
    /* With proposes_positions: the largest position that sample proposes for this length. */
    double (*farthest)(const void *options, int len);
    /* Expected token accuracy and exact match of the best fixed guess, which knows the length and ignores the input, in
     * [0,1]. NAN where a file would have to be read: state is NULL in a task that was parsed only. Language tasks have
     * no exact match: NULL. With `pair`: over the symbols of the answer, and EOS only with answer_varies (the frame's own
     * EOS is accounted for elsewhere); either may be NULL, and is then estimated from draws. */
    double (*chance_token)(const void *options, const void *state, int len);
    double (*chance_exact)(const void *options, const void *state, int len);

    /* Optional: makes *state for lengths up to max_len: reads files, builds tables. state_free releases it. */
    int (*state_new)(const void *options, int max_len, void **state, error *e);
    void (*state_free)(void *state);

    /* Answer tasks of the form prompt, answer: how many symbols there are, the largest number of them in a prompt and in
     * an answer of this length, and one instance (=). Randomness as in `sample`. */
    int (*symbols)(const void *options, int max_len);
    void (*sizes)(const void *options, int len, int *prompt, int *answer);
    int answer_varies;       /* 1: answers to prompts of one length differ in length */
    void (*pair)(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out);

    /* Other answer tasks: one instance of exactly this length (=). All randomness comes from the two generators. A task whose
     * instances are not equally likely takes from `kind` what weighs them (how many zeros) and from `rest` everything
     * else (where they stand): a draw on the wrong side is repeated with the same kind, so that the split does not bend
     * the distribution. Without this, 000..0 would be a third of the test items at one length and absent at another. */
    void (*sample)(const void *options, const void *state, rng *kind, rng *rest, int len, task_sample *out);

    /* Language tasks instead: a window drawn at random from the stream's own part of the text. */
    void (*window)(const void *options, const void *state, task_stream stream, rng *r, int len, task_sample *out);
    /* The stream's whole text, for evaluation: bytes of it and their number. A byte is what the window before it predicts. */
    const unsigned char *(*text)(const void *state, task_stream stream, long *count);
    /* Without `text`: how many tokens of a window of this length are scored. Evaluation then draws windows. */
    int (*scored)(const void *options, int len);
    /* Optional. SHA-256 (hex) of what was read, for the record. */
    const char *(*digest)(const void *state);

    /* 0 at first; raised when equal arguments no longer give equal sequences: records of two versions are of two tasks. */
    int version;

    /* Optional. Whole BibTeX entries of works that `source` names, as in pe_descriptor. */
    const char *bibtex;

    /* Language tasks, optional. From now on training reads `count` tokens in a row of its stretch alone (0: all of them);
     * share, in [0,1), says where they begin: at that share of the places where they can. With one share, less is a part
     * of more. Returns how many it reads, or, where the stretch holds fewer, minus their number. */
    long (*limit)(void *state, long count, double share);
} task_descriptor;

/* ------------------------------------------------------------------------------------------------ for writing tasks */

enum { TASK_SYMBOLS_MAX = 32768 }; /* of an alphabet that task_distinct draws from */

/* Proposals for an answer that copies the prompt: the i-th symbol of either, from 1, stands at i, SEP at 0. */
void task_couple_copy(task_pair *out);

/* For other answers that repeat symbols of the prompt. The symbols of the prompt from index `before` on stand at 1, 2 ...,
 * those in front of them at 0. */
void task_place_prompt(task_pair *out, int before);

/* The answer's next symbol, and where it stands. answer_len counts them and starts at 0. */
void task_answer(task_pair *out, int symbol, double position);

/* bits[0], bits[step] ... bits[(len-1) step] = an arrangement of `zeros` zeros and len-zeros ones, each equally likely. */
void task_arrange_bits(rng *r, int zeros, int len, int step, int *bits);

/* out[0 .. k-1] = k different values of first .. first+n-1 in random order, each ordered choice equally likely.
 * 0 <= k <= n <= TASK_SYMBOLS_MAX. */
void task_distinct(rng *r, int n, int k, int first, int *out);

/* Filler of retrieval tasks: the words and full stops of "The grass is green. The sky is blue. The sun is yellow. Here we
 * go. There and back again.", over and over. Token number i >= 0 of it, of TASK_FILLERS kinds. */
enum { TASK_FILLERS = 16 };
int task_filler(int i);

/* A text as language tasks read it: the bytes of a file. The first 90 % of them are for training, the next 5 % for
 * validation, the last 5 % for the test. */
enum { TASK_CORPUS_BYTES = 256 };
typedef struct task_corpus {
    unsigned char *bytes;
    long begin[4];    /* stream s is bytes begin[s] .. begin[s+1]-1 */
    long train_begin, train_count; /* what training may read of its own */
    double commonest; /* share of the test stretch's most frequent byte */
    char digest[65];  /* SHA-256, hex */
} task_corpus;
/* What the option `file` says in all of them. */
#define TASK_CORPUS_FILE "results/corpora/prose.txt"
#define TASK_CORPUS_HELP "what to read, of any content; a relative path starts at the folder where posbench runs"
/* *state = a new corpus of the file `path`, each stretch of which holds `window` bytes, as windows of length `len` need.
 * -1 with e set, which begins with `name`. The functions after it serve as a descriptor's state_free, text, digest,
 * chance_token and limit. */
int task_corpus_open(const char *name, const char *path, int len, int window, void **state, error *e);
void task_corpus_free(void *state);
const unsigned char *task_corpus_stretch(const void *state, task_stream stream, long *count);
const char *task_corpus_digest(const void *state);
double task_corpus_commonest(const void *options, const void *state, int len);
long task_corpus_limit(void *state, long count, double share);
/* `window` bytes in a row that lie in the stream's stretch, from a uniformly random place. */
const unsigned char *task_corpus_window(const void *state, task_stream stream, rng *r, int window);

/* The chance of guessing a random arrangement of k of n symbols: 1 / (n (n-1) ... (n-k+1)). */
double task_chance_arrangement(int n, int k);

/* ------------------------------------------------------------------------------------------------ the task's user */

int task_count(void);
const task_descriptor *task_at(int i);

/* "mqar(pairs=8)" -> an opened task. ERROR_USAGE for the text, ERROR_ENVIRONMENT for files. The caller frees it. */
task *task_open(const char *text, task_regime regime, int min_len, int max_len, error *e);
/* Parses and checks only: no file is read. */
int task_check(const char *text, task_regime regime, int min_len, int max_len, error *e);
/* As task_open, but reads no file: for questions about lengths, vocabulary and options before a run. task_draw and
 * task_text are not for it. The caller frees it with task_free. */
task *task_parse(const char *text, task_regime regime, int min_len, int max_len, error *e);
/* The multiple of the training length from which on nothing may succeed at this task, and why; NAN where it is no sentinel,
 * or no task. */
double task_sentinel(const char *text, const char **why);
/* The one canonical text of it. */
int task_canonical(const char *text, char *out, size_t size, error *e);
void task_free(task *t);

const task_descriptor *task_of(const task *t);
const void *task_options(const task *t);
task_regime task_regime_of(const task *t);
int task_vocab(const task *t);
int task_tokens(const task *t, int len);                      /* at most, of a sequence of this length */
int task_symbols(const task *t);                              /* of a task of pairs; 0: it has no frame */
int task_decodes(const task *t); /* 1: an answer behind its prompt, written token by token */
double task_farthest(const task *t, int len);                 /* largest position that is proposed, or tokens - 1 */
/* Of the best fixed guess. Where the task has no formula, estimated once for each length from TASK_CHANCE_DRAWS draws, half of
 * which choose the guess and half of which score it. */
enum { TASK_CHANCE_DRAWS = 8192 };
double task_chance_token(const task *t, int len);
double task_chance_exact(const task *t, int len);
const char *task_digest(const task *t);                       /* NULL: nothing was read */
const unsigned char *task_text(const task *t, task_stream s, long *count); /* language tasks with a text */
/* Language tasks: training reads that many tokens of its text alone, those that the seed names (0: all of them). Returns
 * how many it reads; -1 with ERROR_ENVIRONMENT where the text holds fewer. Before the first draw. */
long task_limit(task *t, long count, uint64_t seed, error *e);
/* Scored tokens of a drawn window; 0: the task has a text, or an answer. */
int task_scored(const task *t, int len);

/* Draws one sequence of a stream. Streams cannot overlap: for answer tasks every instance belongs to one side by a hash
 * of its input tokens (one in eight is held out: half of those for validation, half for test), and a draw is repeated
 * until it lies on the right side. Where the space of short instances is so small that no side is found after 256
 * draws, the last draw is taken and *shared is set to 1: other streams may meet it too. A held-out draw with 0 is one
 * that training does not meet. Numbers come from (seed, stream, index, item) alone, so equal arguments give equal
 * sequences whatever encoding is trained. Language tasks: the sides are separate stretches of the text. `shared` may be
 * NULL. */
void task_draw(const task *t, task_stream stream, uint64_t seed, uint64_t index, uint32_t item, int len,
               task_sample *out, int *shared);

/* The side to which an answer task's instance belongs, from its input tokens. */
task_stream task_side(const int *input, int count);

#endif
