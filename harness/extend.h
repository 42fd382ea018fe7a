/* extend.h - what a run does behind training when extend.methods names something: to longer sequences, with a stretched
 * encoding, and what that costs.
 *
 * Once trained at train.len, the network is taken from there anew for each factor f of extend.factors and each method
 * of extend.methods. The method stretches the trained encoding (layered_extend); training then goes on at lengths up to
 * f train.len, and after each number of extend.steps the network is tested at train.len and at f train.len
 * (extension.h).
 *
 * Fine-tuning differs from training in this alone: lengths are drawn as before but from train.min_len to f train.len
 * (from f train.len alone where training had one length); the batch is smaller by the ratio of the mean numbers of
 * tokens, so that a step has as many tokens as one of training had, on average; AdamW begins anew, with the rate
 * extend.lr, constant after a short warm-up; the batches are those that would have followed the last one of training,
 * the same for all methods.
 */
#ifndef EXTEND_H
#define EXTEND_H

#include "config.h"
#include "error.h"
#include "registry.h"

struct task; /* task.h */

enum { EXTEND_METHODS_MAX = 32, EXTEND_METHOD_MAX = 128, EXTEND_WARMUP = 20 };

/* Methods, or options of the task. */
typedef struct extend_words {
    int count;
    char name[EXTEND_METHODS_MAX][EXTEND_METHOD_MAX]; /* canonical, in the order of the alphabet */
} extend_words;

/* Brings c->extend.methods to canonical text: each method as stack_method_canonical writes it, in the order of the
 * alphabet, which is the order of the rows. Unknown methods and one that stands there twice are refused. ERROR_USAGE.
 */
int extend_canonical(run_config *c, const registry *r, error *e);

static inline int extend_is_on(const run_config *c)
{
    return c->extend.methods[0] != '\0';
}

/* The methods of a canonical configuration, and the options of the task under which its tests are repeated. */
void extend_read(const run_config *c, extend_words *out);
void extend_read_tasks(const run_config *c, extend_words *out);

/* The task with these options added, "passkey(digits=3,depth=0.5)". -1: longer than size. */
int extend_task(const run_config *c, const char *options, char *out, size_t size);

/* Brings c->extend.task_options to canonical text and refuses what the task does not have, or what makes sequences of
 * another vocabulary or length of it. t: parsed for all lengths. *row is the row to blame. ERROR_USAGE. */
int extend_check_tasks(run_config *c, const struct task *t, const char **row, error *e);

/* f train.len, rounded. */
int extend_len(const run_config *c, double factor);

/* The longest of these; 0: nothing follows training. */
int extend_longest(const run_config *c);

/* The most steps of fine-tuning that are asked for. */
int extend_most(const run_config *c);

double extend_rate(const run_config *c);

/* Refuses values of extend.* that do not fit each other or the rest; *row is the row to blame. What a method means for
 * the encoding is not asked here. ERROR_USAGE. */
int extend_check(const run_config *c, const char **row, error *e);

/* The mean number of tokens of a training sequence under c. */
double extend_mean_tokens(const run_config *c, const struct task *t);

/* The configuration with which training goes on, train.* alone, and the one with which it is tested, eval.* alone. */
void extend_train_config(const run_config *c, const struct task *t, double factor, run_config *out);
void extend_test_config(const run_config *c, double factor, run_config *out);

/* The trained stacks as this method stretches them. Returns 0; 1 with a sentence in reason[size] where that has no
 * meaning, in itself or at this length in training (a table that ends before); or -1 with e set when memory is short.
 * Free with layered_free when 0 was returned. shape: of the trained model. */
int extend_stacks(const run_config *c, const registry *r, const struct task *t, const pe_shape *shape, double factor,
                  const char *method, layered_stack *out, char *reason, size_t size, error *e);

#endif
