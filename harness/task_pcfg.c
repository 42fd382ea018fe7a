/* PCFG SET (Hupkes et al. 2020): a nested expression of functions over strings, to be worked out: a small artificial
 * translation.
 *
 *   length    functions in the expression
 *   tokens    0 .. A-1 the letters, A = symbols, then the ten functions in the order below, ',' = A+10, BOS, SEP, EOS
 *   prompt    the expression, functions in front of their arguments, ',' between the two of a binary one, no brackets
 *   answer    the string that it stands for
 *
 *   expression -> function
 *   function   -> unary argument | binary argument , argument
 *   argument   -> function | string                      string -> 2 to 5 letters, each number equally likely
 *
 *   unary    copy x = x, reverse x, shift x: the first letter goes to the end, swap x: first and last letter change
 *            places, repeat x = x x, echo x: the last letter once more
 *   binary   append x , y = x y, prepend x , y = y x, remove_first x , y = y, remove_second x , y = x
 *
 *   symbols=26, length 2, letters written a to z:
 *   prompt     append swap a b c , d e
 *   answer     c b a d e
 *
 * A function is unary with probability p = `unary`, an argument is a function with 1/4 (both as in the authors'
 * generator); an expression is drawn from what this gives among those of exactly `length` functions, and, with `depth`,
 * of no more than that many functions inside one another. Trees are drawn with their exact probabilities: log_weight[n]
 * is the logarithm of what all trees of n functions weigh together. Once the length is given only (1-p) 3/4 / p
 * matters: what a binary function weighs with its second string where a unary one weighs 1.
 *
 * Functions are uniform over those of their kind whose result, their arguments being known, has no more than `limit`
 * letters (auto: 5 (length+1), as many as appending can ever give); reverse, shift, swap and copy always fit, and so do
 * remove_first and remove_second. Letters are uniform and independent.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task.h"
#include "task_sources.h"

enum {
    PCFG_COPY,
    PCFG_REVERSE,
    PCFG_SHIFT,
    PCFG_SWAP,
    PCFG_REPEAT,
    PCFG_ECHO,
    PCFG_APPEND,
    PCFG_PREPEND,
    PCFG_REMOVE_FIRST,
    PCFG_REMOVE_SECOND,
    PCFG_COMMA,
    PCFG_MARKS
};
enum { PCFG_UNARY = PCFG_APPEND, PCFG_BINARY = PCFG_COMMA - PCFG_APPEND };
enum { PCFG_SHORTEST = 2, PCFG_LONGEST = 5, PCFG_LENGTH_MAX = 1024, PCFG_DEPTH_MAX = 32 };
#define PCFG_NESTED 0.25 /* chance that an argument is a function */

typedef struct pcfg_options {
    int symbols;
    double unary;
    int depth; /* PE_AUTO_INT: any */
    int limit; /* PE_AUTO_INT: PCFG_LONGEST * (length + 1) */
} pcfg_options;

/* Row r is for trees of depth at most r+1; without a bound there is one row, which refers to itself. */
typedef struct pcfg_state {
    int rows, size;
    double *log_weight; /* [rows][size], of 0 .. size-1 functions; of 0, a string: log(1 - PCFG_NESTED) */
} pcfg_state;

/* ------------------------------------------------------------------------------------------------ weights */

/* What an argument of n functions weighs: PCFG_NESTED for being a function is counted here, that for a string in the
 * row. */
static double pcfg_argument(const double *row, int n)
{
    return n == 0 ? row[0] : row[n] + log(PCFG_NESTED);
}

static double pcfg_log_add(double a, double b)
{
    double most = a > b ? a : b;
    return most == -INFINITY ? most : most + log(exp(a - most) + exp(b - most));
}

/* The row for arguments of a tree whose weights stand in row r; NULL: they can only be strings. */
static const double *pcfg_inside(const pcfg_state *s, const pcfg_options *o, int r)
{
    if (o->depth == PE_AUTO_INT)
        return s->log_weight;
    return r == 0 ? NULL : s->log_weight + (size_t)(r - 1) * (size_t)s->size;
}

/* The logarithm of what trees of n functions weigh whose root is binary and whose first argument has k; k < 0: whose
 * root is unary. */
static double pcfg_split(const pcfg_options *o, const double *inside, int n, int k)
{
    double string = log(1 - PCFG_NESTED);
    if (!inside)
        return n > 1 ? -INFINITY : k < 0 ? log(o->unary) + string : log(1 - o->unary) + 2 * string;
    if (k < 0)
        return log(o->unary) + pcfg_argument(inside, n - 1);
    return log(1 - o->unary) + pcfg_argument(inside, k) + pcfg_argument(inside, n - 1 - k);
}

static int pcfg_state_new(const void *options, int max_len, void **state, error *e)
{
    const pcfg_options *o = options;
    pcfg_state *s = malloc(sizeof *s);
    int rows = o->depth == PE_AUTO_INT ? 1 : o->depth;
    double *weight = malloc((size_t)rows * (size_t)(max_len + 1) * sizeof *weight);
    if (!s || !weight) {
        free(s);
        free(weight);
        return error_set(e, ERROR_ENVIRONMENT, "pcfg: no memory for length %d", max_len);
    }
    *s = (pcfg_state){.rows = rows, .size = max_len + 1, .log_weight = weight};
    for (int r = 0; r < rows; r++) {
        double *row = weight + (size_t)r * (size_t)s->size;
        row[0] = log(1 - PCFG_NESTED);
        for (int n = 1; n <= max_len; n++) {
            row[n] = -INFINITY;
            for (int k = -1; k < n; k++)
                row[n] = pcfg_log_add(row[n], pcfg_split(o, pcfg_inside(s, o, r), n, k));
        }
    }
    *state = s;
    return 0;
}

static void pcfg_state_free(void *state)
{
    pcfg_state *s = state;
    free(s->log_weight);
    free(s);
}

/* ------------------------------------------------------------------------------------------------ drawing */

/* What stands at a token of the prompt: a function, or the first letter of a string. */
typedef struct pcfg_node {
    int count;  /* letters of what it stands for */
    int second; /* token of a binary function's second argument */
} pcfg_node;

/* An expression is written from its left end. Functions are drawn once it is known how long their arguments are. */
typedef struct pcfg_writer {
    const pcfg_options *options;
    const pcfg_state *state;
    rng *kind, *rest;
    int limit;
    int written;
    int *prompt;
    pcfg_node *node; /* one for each token */
} pcfg_writer;

/* How many functions the first argument of a binary root has, or -1 for a unary root. */
static int pcfg_draw_split(const pcfg_writer *w, int n, int row)
{
    const double *inside = pcfg_inside(w->state, w->options, row);
    double total = w->state->log_weight[(size_t)row * (size_t)w->state->size + (size_t)n], aim = rng_uniform(w->kind);
    int possible = -1;
    for (int k = -1; k < n; k++) {
        double share = exp(pcfg_split(w->options, inside, n, k) - total);
        if (share > 0)
            possible = k;
        aim -= share;
        if (aim < 0)
            return k;
    }
    return possible; /* shares may add up to a rounding less than 1 */
}

/* Letters of a function's result. */
static int pcfg_count(int function, int first, int second)
{
    switch (function) {
    case PCFG_REPEAT:
        return 2 * first;
    case PCFG_ECHO:
        return first + 1;
    case PCFG_APPEND:
    case PCFG_PREPEND:
        return first + second;
    case PCFG_REMOVE_FIRST:
        return second;
    default:
        return first;
    }
}

/* Uniform over the functions of the kind whose result fits. */
static int pcfg_draw_function(const pcfg_writer *w, int binary, int first, int second)
{
    int begin = binary ? PCFG_UNARY : 0, count = binary ? PCFG_BINARY : PCFG_UNARY, fits[PCFG_COMMA], fitting = 0;
    for (int f = begin; f < begin + count; f++)
        if (pcfg_count(f, first, second) <= w->limit)
            fits[fitting++] = f;
    return fits[rng_below(w->kind, (uint32_t)fitting)];
}

static void pcfg_write_string(pcfg_writer *w)
{
    int count = PCFG_SHORTEST + (int)rng_below(w->kind, PCFG_LONGEST - PCFG_SHORTEST + 1);
    w->node[w->written].count = count;
    for (int i = 0; i < count; i++)
        w->prompt[w->written++] = (int)rng_below(w->rest, (uint32_t)w->options->symbols);
}

/* An argument of n functions whose weights stand in this row. */
static void pcfg_write(pcfg_writer *w, int n, int row)
{
    if (n == 0) {
        pcfg_write_string(w);
        return;
    }
    int at = w->written++, inside = w->options->depth == PE_AUTO_INT ? row : row - 1;
    int split = pcfg_draw_split(w, n, row), binary = split >= 0, second = 0;
    pcfg_write(w, binary ? split : n - 1, inside);
    if (binary) {
        w->prompt[w->written++] = w->options->symbols + PCFG_COMMA;
        w->node[at].second = w->written;
        pcfg_write(w, n - 1 - split, inside);
        second = w->node[w->node[at].second].count;
    }
    int first = w->node[at + 1].count, function = pcfg_draw_function(w, binary, first, second);
    w->prompt[at] = w->options->symbols + function;
    w->node[at].count = pcfg_count(function, first, second);
}

/* ------------------------------------------------------------------------------------------------ meaning */

/* Letter i of a unary function's result is letter .. of its argument, which has `count`. */
static int pcfg_unary_letter(int function, int count, int i)
{
    switch (function) {
    case PCFG_REVERSE:
        return count - 1 - i;
    case PCFG_SHIFT:
        return (i + 1) % count;
    case PCFG_SWAP:
        return i == 0 ? count - 1 : i == count - 1 ? 0 : i;
    case PCFG_REPEAT:
        return i % count;
    case PCFG_ECHO:
        return i == count ? count - 1 : i;
    default:
        return i;
    }
}

/* Letter i of what the expression stands for: followed inwards to the letter of the prompt that it is. */
static int pcfg_letter(const pcfg_writer *w, int i)
{
    int at = 0;
    while (w->prompt[at] >= w->options->symbols) {
        int function = w->prompt[at] - w->options->symbols, first = at + 1, second = w->node[at].second, in_front;
        if (function < PCFG_UNARY) {
            i = pcfg_unary_letter(function, w->node[first].count, i);
            at = first;
            continue;
        }
        switch (function) { /* letters of the result that come from the first argument lie below or above in_front */
        case PCFG_APPEND:
            in_front = w->node[first].count;
            at = i < in_front ? first : second;
            i = i < in_front ? i : i - in_front;
            break;
        case PCFG_PREPEND:
            in_front = w->node[second].count;
            at = i < in_front ? second : first;
            i = i < in_front ? i : i - in_front;
            break;
        default:
            at = function == PCFG_REMOVE_FIRST ? second : first;
            break;
        }
    }
    return w->prompt[at + i];
}

/* ------------------------------------------------------------------------------------------------ task */

static int pcfg_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    const pcfg_options *o = options;
    int most = o->depth == PE_AUTO_INT || (o->depth > 10 && o->unary < 1) ? PCFG_LENGTH_MAX
               : o->unary < 1                                             ? (1 << o->depth) - 1
                                                                          : o->depth;
    (void)min_len;
    if (max_len <= most)
        return 0;
    if (most == PCFG_LENGTH_MAX)
        snprintf(message, size, "length %d: at most %d functions can be drawn", max_len, PCFG_LENGTH_MAX);
    else
        snprintf(message, size, "length %d: depth=%d leaves room for %d functions", max_len, o->depth, most);
    return -1;
}

static int pcfg_symbols(const void *options, int max_len)
{
    (void)max_len;
    return ((const pcfg_options *)options)->symbols + PCFG_MARKS;
}

static int pcfg_limit(const pcfg_options *o, int len)
{
    return o->limit == PE_AUTO_INT ? PCFG_LONGEST * (len + 1) : o->limit;
}

/* With n binary functions there are n commas and n+1 strings. */
static void pcfg_sizes(const void *options, int len, int *prompt, int *answer)
{
    *prompt = 2 * len + PCFG_LONGEST * (len + 1);
    *answer = pcfg_limit(options, len);
}

static void pcfg_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const pcfg_options *o = options;
    const pcfg_state *s = state;
    pcfg_node node[2 * len + PCFG_LONGEST * (len + 1)];
    pcfg_writer w = {.options = o,
                     .state = s,
                     .kind = kind,
                     .rest = rest,
                     .limit = pcfg_limit(o, len),
                     .prompt = out->prompt,
                     .node = node};
    pcfg_write(&w, len, s->rows - 1);
    out->prompt_len = w.written;
    out->answer_len = node[0].count;
    for (int i = 0; i < out->answer_len; i++)
        out->answer[i] = pcfg_letter(&w, i);
}

static const pe_option pcfg_rows[] = {
    {"symbols", PE_OPTION_INT, offsetof(pcfg_options, symbols), "520", 1, TASK_SYMBOLS_MAX, 0, NULL,
     "letters (Hupkes et al.: 520)"},
    {"unary", PE_OPTION_REAL, offsetof(pcfg_options, unary), "0.75", 0, 1, 0, NULL,
     "probability that a function takes one argument (the authors' generator: 0.75)"},
    {"depth", PE_OPTION_INT, offsetof(pcfg_options, depth), "auto", 1, PCFG_DEPTH_MAX, 1, NULL,
     "most functions inside one another, the outermost counted; auto: as many as there are"},
    {"limit", PE_OPTION_INT, offsetof(pcfg_options, limit), "auto", PCFG_LONGEST, 1 << 20, 1, NULL,
     "most letters of any result, inner ones too; auto: 5 (length+1)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_pcfg = {
    .name = "pcfg",
    .title = "PCFG SET: nested edits of strings",
    .source = "Hupkes et al., Compositionality Decomposed: How Do Neural Networks Generalise?, JAIR 67, 2020",
    .format = "BOS append swap a b c , d e SEP c b a d e EOS",
    .notes = "Length is the number of functions, by which the source's productivity test splits: up to 8 for training, "
             "from 9 on "
             "for the test. The source fits its grammar's probabilities to dependency trees of English, mixes all "
             "numbers of "
             "functions and repeats no string; here the number is given, the authors' default probabilities hold, and "
             "a limit "
             "bounds what repeat, which doubles, can reach. The encoder regime has as many slots as the limit.",
    .kind = TASK_ANSWER,
    .options = pcfg_rows,
    .options_size = sizeof(pcfg_options),
    .check = pcfg_check,
    .symbols = pcfg_symbols,
    .sizes = pcfg_sizes,
    .answer_varies = 1,
    .state_new = pcfg_state_new,
    .state_free = pcfg_state_free,
    .pair = pcfg_pair,
    .bibtex = TASK_BIB_HUPKES,
};
