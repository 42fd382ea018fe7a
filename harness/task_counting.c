/* Counting: the value of a variable after a program of assignments and increments (Golovneva et al. 2024, "counting
 * task").
 *
 *   length    statements
 *   tokens    0 .. variables-1 their names, then the numbers 0 .. most, then  =  ;  ++;  pass;  print
 *   prompt    the statements, each one of  a = 0 ;   a ++;   pass;   and at the end  print a
 *   answer    the number that a holds
 *
 *   variables=3, most=10, length 4: a = 0 ; pass; a ++; a ++; print a
 *   input     19  0 14  3 15 17  0 16  0 16 18  0 20  5
 *   target     .  .  .  .  .  .  .  .  .  .  .  .  5 21
 *
 * A statement is drawn by the weights `set`, `increment` and `pass`. A variable to set is any one; one to increment or
 * to print is one of those that have been set. Where there is none, or where it holds `most` already, the statement is
 * drawn anew, and the whole program where no variable has been set at its end.
 *
 * Programs with many passes are frequent, so which statements a program has comes from `kind`, and where they stand
 * from `rest`. Both follow from the definition: before the first assignment there are only passes; behind it statements
 * are independent, so all orders of the same statements are equally likely; the place of the first assignment, given
 * what else there is, is drawn by counting_first.
 */
#include <math.h>
#include <stddef.h>

#include "task.h"
#include "task_sources.h"

enum { COUNTING_VARIABLES_MAX = 26, COUNTING_WEIGHT_MAX = 1000 };
enum { COUNTING_SET, COUNTING_INCREMENT, COUNTING_PASS, COUNTING_KINDS };
enum { COUNTING_EQUALS, COUNTING_END, COUNTING_PLUS, COUNTING_SKIP, COUNTING_PRINT, COUNTING_WORDS };
enum { COUNTING_TOKENS = 4 }; /* of the longest statement */

typedef struct counting_options {
    int variables, most;
    int set, increment, pass; /* weights */
} counting_options;

static int counting_symbols(const void *options, int max_len)
{
    const counting_options *o = options;
    (void)max_len;
    return o->variables + o->most + 1 + COUNTING_WORDS;
}

static void counting_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = COUNTING_TOKENS * len + 2;
    *answer = 1;
}

static int counting_number(const counting_options *o, int value)
{
    return o->variables + value;
}

static int counting_word(const counting_options *o, int word)
{
    return o->variables + o->most + 1 + word;
}

/* ------------------------------------------------------------------------------------------------ which statements */

static int counting_statement(const counting_options *o, rng *r)
{
    int aim = (int)rng_below(r, (uint32_t)(o->set + o->increment + o->pass));
    return aim < o->set ? COUNTING_SET : aim < o->set + o->increment ? COUNTING_INCREMENT : COUNTING_PASS;
}

/* left[] = how many statements of each kind stand behind the first assignment, or, passes, before it. */
static void counting_kinds(const counting_options *o, rng *kind, int len, int left[COUNTING_KINDS])
{
    int first = len;
    while (first == len) {
        first = 0;
        while (first < len && rng_below(kind, (uint32_t)(o->set + o->pass)) >= (uint32_t)o->set)
            first++;
    }
    left[COUNTING_SET] = left[COUNTING_INCREMENT] = 0;
    left[COUNTING_PASS] = first;
    for (int t = first + 1; t < len; t++)
        left[counting_statement(o, kind)]++;
}

/* Where the first assignment stands, 0 .. passes, given what else the program has. With f passes in front of it, each
 * of probability pass/(set+pass), and the others behind, each of pass/(set+increment+pass), a program is
 * ((set+increment+pass)/(set+pass))^f times as likely as with none, and there are C(len-1-f, active) orders of what
 * stands behind. Weights are kept as logarithms relative to the largest so far: one pass over f draws by them (a new
 * one takes the place of the old one with its share of the sum). */
static int counting_first(const counting_options *o, rng *rest, const int left[COUNTING_KINDS])
{
    int active = left[COUNTING_SET] + left[COUNTING_INCREMENT], passes = left[COUNTING_PASS], first = 0;
    double ratio = log((double)(o->set + o->increment + o->pass) / (o->set + o->pass));
    double weight = 0.0, top = 0.0, sum = 1.0; /* log weight of f = 0, the largest, and the sum relative to that */
    for (int f = 1; f <= passes; f++) {
        int behind = active + passes - f; /* C(behind, active) = C(behind+1, active) (behind+1-active) / (behind+1) */
        weight += ratio + log((behind + 1.0 - active) / (behind + 1.0));
        if (weight > top) {
            sum *= exp(top - weight);
            top = weight;
        }
        double share = exp(weight - top);
        sum += share;
        if (rng_uniform(rest) * sum < share)
            first = f;
    }
    return first;
}

/* One of the statements that are left, each equally likely; takes it away. */
static int counting_deal(rng *rest, int left[COUNTING_KINDS])
{
    int chosen = (int)rng_below(rest, (uint32_t)(left[0] + left[1] + left[2])), which = 0;
    while (chosen >= left[which])
        chosen -= left[which++];
    left[which]--;
    return which;
}

/* ------------------------------------------------------------------------------------------------ the program */

typedef struct counting_memory {
    int count;                         /* variables that have been set */
    int name[COUNTING_VARIABLES_MAX];  /* [count] which ones */
    int value[COUNTING_VARIABLES_MAX]; /* by name; -1: not set */
} counting_memory;

static int counting_known(const counting_memory *m, rng *rest)
{
    return m->name[rng_below(rest, (uint32_t)m->count)];
}

static int counting_set(const counting_options *o, counting_memory *m, rng *rest, int *tokens)
{
    int name = (int)rng_below(rest, (uint32_t)o->variables);
    if (m->value[name] < 0)
        m->name[m->count++] = name;
    m->value[name] = 0;
    tokens[0] = name;
    tokens[1] = counting_word(o, COUNTING_EQUALS);
    tokens[2] = counting_number(o, 0);
    tokens[3] = counting_word(o, COUNTING_END);
    return COUNTING_TOKENS;
}

/* Writes one statement; returns its tokens. */
static int counting_write(const counting_options *o, counting_memory *m, rng *rest, int statement, int *tokens)
{
    int name = 0;
    while (statement == COUNTING_INCREMENT && m->value[name = counting_known(m, rest)] == o->most)
        statement = counting_statement(o, rest);
    if (statement == COUNTING_SET)
        return counting_set(o, m, rest, tokens);
    if (statement == COUNTING_PASS) {
        tokens[0] = counting_word(o, COUNTING_SKIP);
        return 1;
    }
    m->value[name]++;
    tokens[0] = name;
    tokens[1] = counting_word(o, COUNTING_PLUS);
    return 2;
}

static void counting_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const counting_options *o = options;
    int left[COUNTING_KINDS];
    counting_memory memory = {0};
    (void)state;
    for (int v = 0; v < o->variables; v++)
        memory.value[v] = -1;
    counting_kinds(o, kind, len, left);
    int first = counting_first(o, rest, left);
    left[COUNTING_PASS] -= first;
    out->prompt_len = 0;
    for (int t = 0; t < len; t++) {
        int statement = t < first ? COUNTING_PASS : t == first ? COUNTING_SET : counting_deal(rest, left);
        out->prompt_len += counting_write(o, &memory, rest, statement, out->prompt + out->prompt_len);
    }
    int asked = counting_known(&memory, rest);
    out->prompt[out->prompt_len++] = counting_word(o, COUNTING_PRINT);
    out->prompt[out->prompt_len++] = asked;
    out->answer[0] = counting_number(o, memory.value[asked]);
    out->answer_len = 1;
}

static const pe_option counting_rows[] = {
    {"variables", PE_OPTION_INT, offsetof(counting_options, variables), "3", 1, COUNTING_VARIABLES_MAX, 0, NULL,
     "how many there are (Golovneva et al.: 3 and 5)"},
    {"most", PE_OPTION_INT, offsetof(counting_options, most), "10", 1, 1000, 0, NULL,
     "the largest value of a variable (Golovneva et al.: 10)"},
    {"set", PE_OPTION_INT, offsetof(counting_options, set), "1", 1, COUNTING_WEIGHT_MAX, 0, NULL,
     "weight of a = 0 ; (Golovneva et al.: 1)"},
    {"increment", PE_OPTION_INT, offsetof(counting_options, increment), "7", 0, COUNTING_WEIGHT_MAX, 0, NULL,
     "weight of a ++; (Golovneva et al.: 7)"},
    {"pass", PE_OPTION_INT, offsetof(counting_options, pass), "50", 0, COUNTING_WEIGHT_MAX, 0, NULL,
     "weight of pass; (Golovneva et al.: 50)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_counting = {
    .name = "counting",
    .title = "Counting",
    .source = "Golovneva et al., Contextual Position Encoding: Learning to Count What's Important, 2024",
    .format = "BOS a = 0 ; pass; a ++; a ++; print a SEP 2 EOS",
    .notes = "Length counts statements, which have one to four tokens. The source draws 3 to 512 of them and cuts "
             "prompts to their last 512 tokens; here length is fixed and nothing is cut. Chance is estimated: a fixed "
             "guess says the value that is most frequent. Short programs are mostly passes and few: streams share "
             "some.",
    .kind = TASK_ANSWER,
    .options = counting_rows,
    .options_size = sizeof(counting_options),
    .symbols = counting_symbols,
    .sizes = counting_sizes,
    .pair = counting_pair,
    .bibtex = TASK_BIB_GOLOVNEVA,
};
