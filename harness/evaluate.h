/* evaluate.h - what trained weights are worth at each length.
 *
 * Evaluation is teacher-forced. For a causal network "every answer token is the arg-max" is the same event as "greedy
 * decoding gives the whole answer", since what is decoded so far equals the answer so far. With eval.decode the same
 * sequences are also decoded, and scored under the mode "free_running": exact match must come out the same, token
 * accuracy need not, since a wrong token is then read by all that follow.
 */
#ifndef EVALUATE_H
#define EVALUATE_H

#include "config.h"
#include "model.h"
#include "run.h"
#include "task.h"
#include "train.h"

/* Sequences are evaluated in parts of about this many tokens, at least one sequence each. */
enum { EVALUATE_PART_TOKENS = 2048 };

typedef struct evaluation {
    const run_config *config;
    const task *task;
    const model *model;
    const pe_map *map;            /* of evaluation */
    const void *map_options;
    double reach;                 /* the largest position met in training */
    const run_watch *watch;
} evaluation;

/* Appends the values of all bins to out. -1 with e set: no memory. ERROR_INTERRUPTED when watch->stop was seen. */
int evaluate_all(const evaluation *v, run_result *out, error *e);

/* Sums over the sequences of a bin: exact_match is exact / sequences, token_accuracy right / tokens, loss loss / tokens. */
typedef struct answer_sums {
    long sequences, exact, tokens, right, shared;
    double loss, chance_exact, chance_token;
    int positions;           /* scored tokens of the longest answer */
    double *position_loss;   /* [positions] by place in the answer */
    long *position_n;
} answer_sums;

/* Counts one teacher-forced sequence of `count` tokens. Only what target scores counts: prompts, and whatever a batch puts
 * around a sequence, are neither right nor wrong. */
void evaluate_sequence(const int *target, const int *guess, const double *loss, int count, answer_sums *sums);

/* Mean of the losses of all tokens, however they were batched: sum / n; NAN for none. Perplexity is exp of it. */
double evaluate_mean_loss(double sum, long n);

/* Appends one value to a result. -1: no memory. */
int evaluate_append(run_result *out, run_value v, error *e);

/* Appends the mean loss at each of `count` positions: sum[i] / n[i]. -1: no memory. */
int evaluate_positions(run_result *out, length_bin bin, const char *mode, int count, const double *sum, const long *n,
                       error *e);

/* Points shared by both kinds of task: is this length inside the definition, and what must be said of it? */
typedef struct point_standing {
    int undefined;
    char flag[64];
} point_standing;
point_standing evaluate_standing(const evaluation *v, const double *pos, int len);

/* The same of all sequences of a batch in all layers, added to *worst: undefined as soon as one is. pos: room for the longest
 * of them. */
void evaluate_worst(const evaluation *v, workspace *w, const batch *b, double *pos, point_standing *worst);

/* -1 with ERROR_INTERRUPTED once watch->stop was seen. */
int evaluate_stopped(const evaluation *v, error *e);

/* ------------------------------------------------------------------------------------------------ evaluate_decode.c */

/* Greedy decoding of one sequence: tokens[0 .. prompt_len-1] is extended by arg-max tokens until there are `count`.
 * Each step runs the whole prefix; the final length is made known to hooks that read it. given[count]: positions that
 * the task proposes for all tokens, or NULL. work: an evaluation workspace for sequences of count tokens. */
void evaluate_decode(const model *m, workspace *work, int *tokens, const double *given, int prompt_len, int count,
                     uint64_t seed);

/* Buffers to decode the sequences of one batch, and what came out. */
typedef struct decode_room {
    int *start, *input, *target, *guess; /* of the batch at one step */
    double *given;
    int *written, *said;      /* [tokens] as the network wrote them; what it says behind each, -1 once it has ended */
    double *no_loss;          /* [longest] zeros: a token that nobody asked for has no loss */
    answer_sums sums;
} decode_room;

/* -1 with e set: no memory. max_sequences, max_tokens: of a batch; longest: tokens of its longest sequence. */
int decode_room_create(decode_room *r, arena *a, int max_sequences, int max_tokens, int longest, error *e);

/* Decodes the answers of a batch that was teacher-forced with this workspace, and counts them. An answer gets as many
 * tokens as the right one has, its end (the last target) included; what would follow an end that comes too early is
 * wrong. A sequence knows the length of the right one where hooks read total_len, and stands where it stood under
 * teacher forcing.
 *
 * Nothing is kept from one step to the next: each runs the network over the whole prefix, so an answer of n tokens
 * behind a prompt of p costs n p + n (n-1) / 2 tokens where teacher forcing costs p + n - 1. */
void evaluate_free_run(const model *m, workspace *work, const batch *forced, const int *answer_begin, decode_room *r);

/* Appends exact match and token accuracy under the mode "free_running". -1: no memory. */
int evaluate_free_values(length_bin bin, const decode_room *r, point_standing standing, run_result *out, error *e);

/* ------------------------------------------------------------------------------------------------ evaluate_text.c */

/* The same for language tasks: a text in windows and sliding windows, or windows that are drawn. */
int evaluate_text_bin(const evaluation *v, length_bin bin, run_result *out, error *e);

/* What windows a text of `count` tokens (count - 1 predictions) is scored in. Window i reads tokens begin .. begin+len-1 and
 * scores its last `scored` predictions. Non-overlapping: stride = window. Every prediction is scored exactly once; the last
 * window is shorter or moved back. Returns 0 when there are no more. */
typedef struct text_window {
    long begin;
    int len, scored;
} text_window;
int evaluate_window(long count, int window, int stride, long i, text_window *out);

#endif
