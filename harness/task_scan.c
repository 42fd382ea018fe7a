/* SCAN (Lake & Baroni 2018): commands in a small English, to be translated into actions.
 *
 *   length    actions, at most 48; see `split`
 *   tokens    0 .. 12 the words (walk look run jump turn left right opposite around twice thrice and after),
 *             13 .. 18 the actions (WALK LOOK RUN JUMP LTURN RTURN), then BOS = 19, SEP = 20, EOS = 21
 *   prompt    the command, 1 to 9 words
 *   answer    its actions
 *
 *   jump left twice and look, length 5:
 *   input     19  3  5  9 11  1 20 17 16 17 16 14
 *   target     .  .  .  .  .  . 17 16 17 16 14 21
 *
 * The grammar (Fig. 6 of the source) and what it means:
 *
 *   C -> S and S | S after S | S       the first, then the second; with `after` the second, then the first
 *   S -> V twice | V thrice | V        that many times
 *   V -> D | D opposite dir | D around dir, or U | U dir | turn dir, with D = U or turn:
 *        U dir = turn, U;   U opposite dir = turn, turn, U;   U around dir = turn, U, four times; `turn` as U does
 *        nothing itself
 *   U -> walk | look | run | jump      dir -> left | right
 *
 * That are 34 V, 102 S and 20910 C, all different. They are written down once, in order of their actions, and drawn
 * from uniformly. Some numbers of actions from 23 on have no command: 23, 29, 31, 34, 35, 37 to 39 and 41 to 47.
 *
 * split says which commands a length stands for:
 *   exact     those of as many actions, or of the next smaller number that has any
 *   simple    those of at most as many: all of them at length 48
 *   length    the same up to 23; above that, those of 24 actions at least. Training at length 22 and testing at 48 are
 *             the 16990 and 3920 commands of the source's length split.
 *   mdlen     the same with 25 as the border, which is that of Kazemnejad et al. 2023, and 26 above it
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "task.h"
#include "task_sources.h"

enum {
    SCAN_WALK,
    SCAN_LOOK,
    SCAN_RUN,
    SCAN_JUMP,
    SCAN_TURN,
    SCAN_LEFT,
    SCAN_RIGHT,
    SCAN_OPPOSITE,
    SCAN_AROUND,
    SCAN_TWICE,
    SCAN_THRICE,
    SCAN_AND,
    SCAN_AFTER,
    SCAN_ACTIONS, /* the first action */
    SCAN_LTURN = SCAN_ACTIONS + 4,
    SCAN_SYMBOLS = SCAN_LTURN + 2
};
enum { SCAN_VERBS = 34, SCAN_SENTENCES = 3 * SCAN_VERBS, SCAN_COMMANDS = SCAN_SENTENCES * (1 + 2 * SCAN_SENTENCES) };
enum { SCAN_WORDS_MAX = 9, SCAN_LONGEST = 48 };
enum { SCAN_SPLIT_EXACT, SCAN_SPLIT_SIMPLE, SCAN_SPLIT_LENGTH, SCAN_SPLIT_MDLEN };

typedef struct scantask_options {
    int split;
} scantask_options;

/* A phrase of the grammar with its meaning. */
typedef struct scantask_phrase {
    int words, actions;
    signed char word[SCAN_WORDS_MAX], action[SCAN_LONGEST];
} scantask_phrase;

/* Commands are numbered: number c is sentence[first] alone, or with a second one behind `and` or `after`. */
typedef struct scantask_state {
    scantask_phrase sentence[SCAN_SENTENCES];
    int order[SCAN_COMMANDS];    /* command numbers, by actions */
    int below[SCAN_LONGEST + 2]; /* how many commands have fewer actions than that */
} scantask_state;

/* ------------------------------------------------------------------------------------------------ grammar */

static void scantask_say(scantask_phrase *p, int word)
{
    p->word[p->words++] = (signed char)word;
}

static void scantask_do(scantask_phrase *p, int action)
{
    p->action[p->actions++] = (signed char)action;
}

/* manner: 0, SCAN_OPPOSITE, SCAN_AROUND. */
static scantask_phrase scantask_directed(int what, int manner, int direction)
{
    int times = manner == SCAN_AROUND ? 4 : 1, turns = manner == SCAN_OPPOSITE ? 2 : 1;
    scantask_phrase p = {0};
    scantask_say(&p, what);
    if (manner)
        scantask_say(&p, manner);
    scantask_say(&p, direction);
    for (int i = 0; i < times; i++) {
        for (int k = 0; k < turns; k++)
            scantask_do(&p, SCAN_LTURN + direction - SCAN_LEFT);
        if (what != SCAN_TURN)
            scantask_do(&p, SCAN_ACTIONS + what);
    }
    return p;
}

static scantask_phrase scantask_repeated(const scantask_phrase *verb, int times)
{
    scantask_phrase p = *verb;
    if (times > 1)
        scantask_say(&p, times == 2 ? SCAN_TWICE : SCAN_THRICE);
    for (int i = 1; i < times; i++) {
        memcpy(p.action + p.actions, verb->action, (size_t)verb->actions);
        p.actions += verb->actions;
    }
    return p;
}

static void scantask_sentences(scantask_phrase out[SCAN_SENTENCES])
{
    static const int manners[] = {0, SCAN_OPPOSITE, SCAN_AROUND};
    int count = 0;
    for (int what = SCAN_WALK; what <= SCAN_TURN; what++) {
        if (what != SCAN_TURN)
            out[count++] = (scantask_phrase){
                .words = 1, .word = {(signed char)what}, .actions = 1, .action = {(signed char)(SCAN_ACTIONS + what)}};
        for (int m = 0; m < 3; m++)
            for (int direction = SCAN_LEFT; direction <= SCAN_RIGHT; direction++)
                out[count++] = scantask_directed(what, manners[m], direction);
    }
    for (int v = 0; v < SCAN_VERBS; v++)
        for (int times = 2; times <= 3; times++)
            out[count++] = scantask_repeated(&out[v], times);
}

/* ------------------------------------------------------------------------------------------------ commands */

/* Command c's sentences: the first said, the second said (-1: none) and the word between them. */
static void scantask_command(int c, int *first, int *second, int *joint)
{
    *first = c % SCAN_SENTENCES;
    *second = c / SCAN_SENTENCES - 1;
    *joint = *second < SCAN_SENTENCES ? SCAN_AND : SCAN_AFTER;
    if (*second >= SCAN_SENTENCES)
        *second -= SCAN_SENTENCES;
}

static int scantask_length(const scantask_state *s, int c)
{
    int first, second, joint;
    scantask_command(c, &first, &second, &joint);
    return s->sentence[first].actions + (second < 0 ? 0 : s->sentence[second].actions);
}

static int scantask_state_new(const void *options, int max_len, void **state, error *e)
{
    scantask_state *s = calloc(1, sizeof *s);
    int next[SCAN_LONGEST + 1];
    (void)options, (void)max_len;
    if (!s)
        return error_set(e, ERROR_ENVIRONMENT, "scan: no memory");
    scantask_sentences(s->sentence);
    for (int c = 0; c < SCAN_COMMANDS; c++)
        s->below[scantask_length(s, c) + 1]++;
    for (int actions = 0; actions <= SCAN_LONGEST; actions++) {
        next[actions] = s->below[actions];
        s->below[actions + 1] += s->below[actions];
    }
    for (int c = 0; c < SCAN_COMMANDS; c++)
        s->order[next[scantask_length(s, c)]++] = c;
    *state = s;
    return 0;
}

static void scantask_state_free(void *state)
{
    free(state);
}

/* ------------------------------------------------------------------------------------------------ task */

static int scantask_check(const void *options, int min_len, int max_len, char *message, size_t size)
{
    (void)options, (void)min_len;
    if (max_len <= SCAN_LONGEST)
        return 0;
    snprintf(message, size, "length %d: no command has more than %d actions", max_len, SCAN_LONGEST);
    return -1;
}

static int scantask_symbols(const void *options, int max_len)
{
    (void)options, (void)max_len;
    return SCAN_SYMBOLS;
}

static void scantask_sizes(const void *options, int len, int *prompt, int *answer)
{
    (void)options;
    *prompt = SCAN_WORDS_MAX;
    *answer = len;
}

/* The fewest actions that a command of this length has. */
static int scantask_fewest(const scantask_options *o, const scantask_state *s, int len)
{
    int border = o->split == SCAN_SPLIT_LENGTH ? 23 : o->split == SCAN_SPLIT_MDLEN ? 25 : SCAN_LONGEST;
    if (o->split != SCAN_SPLIT_EXACT)
        return len > border ? border + 1 : 1;
    while (s->below[len] == s->below[len + 1])
        len--;
    return len;
}

static void scantask_append(const scantask_phrase *p, task_pair *out)
{
    for (int i = 0; i < p->actions; i++)
        out->answer[out->answer_len++] = p->action[i];
}

static void scantask_pair(const void *options, const void *state, rng *kind, rng *rest, int len, task_pair *out)
{
    const scantask_state *s = state;
    int from = s->below[scantask_fewest(options, s, len)], to = s->below[len + 1], first, second, joint;
    (void)kind; /* all commands that a length stands for are equally likely */
    scantask_command(s->order[from + (int)rng_below(rest, (uint32_t)(to - from))], &first, &second, &joint);
    const scantask_phrase *said = &s->sentence[first], *then = second < 0 ? NULL : &s->sentence[second];
    out->prompt_len = out->answer_len = 0;
    for (int i = 0; i < said->words; i++)
        out->prompt[out->prompt_len++] = said->word[i];
    if (then)
        out->prompt[out->prompt_len++] = joint;
    for (int i = 0; then && i < then->words; i++)
        out->prompt[out->prompt_len++] = then->word[i];
    if (then && joint == SCAN_AFTER)
        scantask_append(then, out);
    scantask_append(said, out);
    if (then && joint == SCAN_AND)
        scantask_append(then, out);
}

static const pe_option scantask_rows[] = {
    {"split", PE_OPTION_CHOICE, offsetof(scantask_options, split), "exact", 0, 0, 0, "exact|simple|length|mdlen",
     "which commands a length stands for: exactly as many actions; at most as many; the same, but above 23 those of 24 "
     "at least (Lake & Baroni's length split), or above 25 those of 26 at least (Kazemnejad et al.)"},
    {.name = NULL},
};

const task_descriptor task_descriptor_scan = {
    .name = "scan",
    .title = "SCAN: commands into actions",
    .source =
        "Lake & Baroni, Generalization without Systematicity: On the Compositional Skills of Sequence-to-Sequence "
        "Recurrent Networks, ICML 2018",
    .format = "BOS jump left twice and look SEP LTURN JUMP LTURN JUMP LOOK EOS",
    .notes = "Length is the number of actions, 48 at most; 20910 commands in all. The published length split: "
             "split=length, train.min_len=22, train.len=22 and eval.bins=22-22;48-48, each set drawn from uniformly. "
             "That of Kazemnejad et al.: split=mdlen, the same with 25. The published simple split: split=simple with "
             "every length at 48. As in every task the test draws from one in sixteen of a set and training from "
             "seven in eight, where the published length split tests with all long commands and the simple one with a "
             "fifth. With split=exact a number of actions that no command has (23, 29, 31, 34, 35, 37-39, 41-47) "
             "stands for the next smaller one. Short commands are so few that streams share some: see the overlap in "
             "the record.",
    .kind = TASK_ANSWER,
    .options = scantask_rows,
    .options_size = sizeof(scantask_options),
    .check = scantask_check,
    .symbols = scantask_symbols,
    .sizes = scantask_sizes,
    .answer_varies = 1,
    .state_new = scantask_state_new,
    .state_free = scantask_state_free,
    .pair = scantask_pair,
    .bibtex = TASK_BIB_LAKE,
};
