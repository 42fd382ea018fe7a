/* golden_case.h - one case of a file of reference vectors: reading it, running a stack on it, comparing. Private to
 * golden_*.c.
 *
 * Nothing here returns a status: a case that cannot go on has become a skipped or failed one, or c->e is set, and
 * whoever gets a NULL or a -1 just returns.
 */
#ifndef GOLDEN_CASE_H
#define GOLDEN_CASE_H

#include <jansson.h>

#include "golden.h"
#include "refhost.h"

enum { GOLDEN_RANK_MAX = 4, GOLDEN_NAMES_MAX = 32, GOLDEN_WIDTH_MAX = 4096 };

typedef struct golden_array {
    int rank, shape[GOLDEN_RANK_MAX];
    size_t count;
    double *data;
} golden_array;

typedef struct golden_case {
    const registry *registry;
    const json_t *json;
    const char *op, *variant; /* variant: "" when there is none */
    double atol, rtol;
    golden_outcome outcome;
    int compared;
    double worst;
    char remark[600];
    const char *read[GOLDEN_NAMES_MAX]; /* keys of params, in and out that somebody looked at */
    int read_count;
    void *memory[256]; /* freed with the case */
    int memory_count;
    error *e; /* of golden_run_file */
} golden_case;

typedef void golden_op_fn(golden_case *c);

typedef struct golden_op {
    const char *name;
    golden_op_fn *run;
} golden_op;

/* Each group's operations, NULL-ended. */
extern const golden_op golden_absolute_ops[], golden_rotary_ops[], golden_scaling_ops[], golden_bias_ops[],
    golden_decay_ops[], golden_relative_ops[], golden_contextual_ops[], golden_randomized_ops[];

/* ------------------------------------------------------------------------------------------------ reading */

/* Zeroed; NULL with c->e set when memory is short. */
void *golden_memory(golden_case *c, size_t count, size_t size);

/* A scalar of params; missing or null: the default. Booleans are 0 and 1. */
double golden_number(golden_case *c, const char *name, double otherwise);
/* The same for a string. */
const char *golden_text(golden_case *c, const char *name, const char *otherwise);
/* Like golden_number, but a missing one skips the case and gives 0. */
int golden_whole(golden_case *c, const char *name);
/* A whole number that may be missing. */
int golden_whole_or(golden_case *c, const char *name, int otherwise);
/* 1 if params has it and it is not null. */
int golden_has(golden_case *c, const char *name);

/* An array of `in` or `out`. rank 0: any. NULL: it is missing or of another rank, so the case is skipped; or no memory.
 */
const golden_array *golden_in(golden_case *c, const char *name, int rank);
const golden_array *golden_out(golden_case *c, const char *name, int rank);
/* Whether it is there at all. */
int golden_has_in(const golden_case *c, const char *name);
int golden_has_out(const golden_case *c, const char *name);

/* The first reason stays, but a failure replaces a skip or a remark. */
void golden_skip(golden_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void golden_fail(golden_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says how a case was adapted. */
void golden_remark(golden_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------------------------------------------ comparing */

/* Compares got[count] with the expected array; another count skips the case. got NULL: nothing, as there is a reason
 * already. hidden[count]: entries to leave out; NULL: none. */
void golden_compare(golden_case *c, const char *name, const double *got, size_t count, const unsigned char *hidden);
/* The same without tolerance. alternative: as good as the expected array where ambiguous is 1; both NULL: none. */
void golden_compare_exact(golden_case *c, const char *name, const double *got, size_t count,
                          const unsigned char *hidden, const golden_array *alternative, const golden_array *ambiguous);

/* ------------------------------------------------------------------------------------------------ running */

/* Parses and checks a stack. 0: use it, and stack_free it; -1: the encoding refuses, so the case is skipped. */
int golden_stack(golden_case *c, const char *text, const pe_shape *shape, pe_stack *out);

/* A shape of one layer; width 0 when it is not between 1 and GOLDEN_WIDTH_MAX: golden_stack then skips the case.
 * train_len 1: no reference vector depends on it. */
pe_shape golden_shape(int heads, int head_dim, int causal);

/* Where queries and keys stand in one sequence that holds both: sorted by position, a query after the keys of its own
 * position, or on the last of them. */
typedef struct golden_tokens {
    int len, queries, keys;
    double *pos;      /* [len] */
    int *query, *key; /* token of each */
} golden_tokens;

int golden_place(golden_case *c, const double *pos_q, int queries, const double *pos_k, int keys, golden_tokens *out);

/* The same tokens as [0, 1 .. keys-1], the queries being the last of them. */
int golden_place_last(golden_case *c, int queries, int keys, golden_tokens *out);

/* mask[len][len] in which each query sees the keys j with sees(i, j) only; other tokens see nothing. */
unsigned char *golden_mask(golden_case *c, const golden_tokens *t, const unsigned char *sees);

/* [heads][count][dim] of the file <-> [len][heads*dim] of the host, by the token of each row. */
real *golden_scatter(golden_case *c, const golden_array *from, const int *token, int len);
double *golden_gather(golden_case *c, const real *from, int heads, int rows, int dim, const int *token);
/* [heads][len][len] of the host -> [heads][queries][keys]. */
double *golden_gather_pairs(golden_case *c, const real *from, int heads, const golden_tokens *t);

/* Writes an array of the file into the parameter of that name. Skips on another size. */
int golden_set_param(golden_case *c, refhost *h, const char *param, const golden_array *values);
/* Compares the gradient of a parameter, plus[count] added to its first elements; NULL: nothing. */
void golden_compare_param_gradient(golden_case *c, const char *name, const refhost *h, const char *param,
                                   const double *plus, size_t count);

/* ------------------------------------------------------------------------------------------------ biases */

/* Queries from params.query_offset on (0), keys from 0 on. */
int golden_place_offset(golden_case *c, int queries, int keys, golden_tokens *out);

/* A host for golden_bias; NULL with c->e set when memory is short. */
refhost *golden_bias_host(golden_case *c, const pe_stack *stack, const pe_shape *shape, const golden_tokens *t);

/* The bias of every query and key [heads][queries][keys], from a host whose q, k and v are 0. visible[queries][keys];
 * NULL: not wanted. */
double *golden_bias(golden_case *c, refhost *h, int heads, const golden_tokens *t, unsigned char *visible);

/* Of all heads the pairs that the causal limit hides: whatever stands there is removed. */
unsigned char *golden_bias_hidden(golden_case *c, int heads, const golden_tokens *t, const unsigned char *visible);

/* Follows golden_bias: runs backward from grad [heads][queries][keys], the gradient of the bias. Returns 0, or -1 when
 * it does not fit. */
int golden_bias_backward(golden_case *c, refhost *h, const golden_tokens *t, const golden_array *grad);

/* ------------------------------------------------------------------------------------------------ attention */

/* Attention of the given q, k, v [heads][T][dim] through the stack; compares probs and out and, when there is grad_out,
 * grad_q, grad_k, grad_v. causal: keys after a query are hidden; which they are is read off the expected probabilities,
 * which are exactly 0 there. The host is left to the caller, for gradients of parameters. */
typedef struct golden_attention {
    const pe_stack *stack;
    const golden_tokens *tokens;
    int causal;
    double scale;
    void (*start)(golden_case *c, refhost *h); /* sets parameters; may be NULL */
} golden_attention;

refhost *golden_attend(golden_case *c, const golden_attention *a);
/* The same with an input of the layer, x[len][heads*dim], for gates to see. dx[len][heads*dim] (=): its gradient, when
 * there is grad_out. */
refhost *golden_attend_gated(golden_case *c, const golden_attention *a, const real *x, real *dx);

/* Compares scale q.k of one head, q[queries][dim] and k[keys][dim], with out.<name>[queries][keys]; a causal stack's
 * hidden pairs are left out. total_len 0: as many tokens as there are. */
void golden_compare_scores(golden_case *c, const golden_attention *a, const char *name, const golden_array *q,
                           const golden_array *k, int total_len);

#endif
